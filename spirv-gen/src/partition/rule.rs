//! When a program is cut into passes, and into which.

use super::architecture::{Architecture, CostModel, Limits, UNLIMITED};
use super::calls::{call_passes, lookup_operations};
use super::cut::cut;
use super::describe::describe;
use super::mio::mio;
use super::outcome::Partition;
use super::shader::ShaderDag;
use super::weights::{LOOKUP_SIZE, region_weight};
use crate::ir::Body;
use crate::passes::{PassPlan, lift_calls};

/// Words that a pass saves of a vertex at most: 100 bytes.
pub const SAVED_WORDS_MAX: u32 = 25;

/// Times the steps of a whole program that its passes may take together.
const SLOWDOWN_MAX: f64 = 1.3;

/// Limits that are tried for a number of passes.
const TRIES: u32 = 16;

/// When a program is cut into passes, and into which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutRule {
    /// What a program may use that stays whole.
    pub whole: Limits,
    /// What a pass may use, and what passes cost.
    pub passes: Architecture,
    /// Operations of lookups beyond which these are calls.
    pub called_beyond: u32,
    /// How every program is cut, whatever else is said here; for tests.
    pub forced: Option<ForcedCut>,
}

/// How every program is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedCut {
    /// Into so many passes, as far as that can be done.
    Passes(u32),
    /// Its lookups are calls.
    Calls,
}

/// The passes of a program that is cut.
#[derive(Clone, Debug)]
pub struct CutPlan {
    /// The program: where lookups are called, those in branches are brought out of them.
    pub body: Body,
    /// What each pass does.
    pub passes: Vec<PassPlan>,
    /// The graph, and how it is cut; `None` where passes are levels of calls.
    pub partition: Option<(ShaderDag, Partition)>,
}

impl CutRule {
    /// Nothing is cut.
    pub const NEVER: CutRule = CutRule {
        whole: Limits::NONE,
        passes: Architecture::loading(Limits::NONE, CostModel::LLVMPIPE),
        called_beyond: UNLIMITED,
        forced: None,
    };

    /// CPU drivers compile long kernels slowly: 16 lookups that depend on each other in 5.2 s, but in four kernels in
    /// 1.9 s; 1,000 calls of noise in 69 s, but 25 at a time in 11 s; 100 in 1.4 s, whether in one kernel or in ten.
    pub const CPU: CutRule = {
        let limits = Limits { operations: 6_000, outputs: SAVED_WORDS_MAX, ..Limits::NONE };
        CutRule {
            whole: Limits { operations: 20_000, ..Limits::NONE },
            passes: Architecture::loading(limits, CostModel::LLVMPIPE),
            called_beyond: 8 * LOOKUP_SIZE,
            forced: None,
        }
    };

    /// GPUs compile long kernels quickly, but have few registers. The limit is an estimate, four times the 255
    /// registers of a thread on NVIDIA GPUs: no GPU was measured.
    pub const GPU: CutRule = {
        let limits = Limits { registers: 1_000, outputs: SAVED_WORDS_MAX, ..Limits::NONE };
        CutRule {
            whole: Limits { registers: 1_000, ..Limits::NONE },
            passes: Architecture::loading(limits, CostModel::H200),
            called_beyond: UNLIMITED,
            forced: None,
        }
    };

    /// Returns the same rule where every program is cut as `forced` says, if it says anything.
    #[must_use]
    pub fn forced(self, forced: Option<ForcedCut>) -> Self {
        Self { forced, ..self }
    }

    /// Returns the passes of a program that is cut; `None` for one that stays whole.
    pub fn cut(&self, body: &Body) -> Option<CutPlan> {
        let costs = &self.passes.costs;
        let may_be_large = || {
            let used = region_weight(body, body.root(), costs.fetch as u32).size;
            used > self.whole.operations.min(self.whole.registers).min(self.called_beyond)
        };
        if self.forced.is_none() && !may_be_large() {
            return None;
        }
        if let Some(plan) = self.called(body) {
            return Some(plan);
        }
        let shader = ShaderDag::of(body, costs);
        let partition = match self.forced {
            Some(ForcedCut::Passes(0 | 1) | ForcedCut::Calls) => None,
            Some(ForcedCut::Passes(count)) => self.of_count(&shader, count as usize),
            None => self.of_limits(&shader),
        };
        let partition = partition.filter(|partition| partition.passes.len() > 1)?;
        Some(CutPlan { body: body.clone(), passes: shader.plans(&partition), partition: Some((shader, partition)) })
    }

    /// Returns the passes of a program whose lookups are called; `None` where they are not.
    fn called(&self, body: &Body) -> Option<CutPlan> {
        let wanted = match self.forced {
            Some(forced) => forced == ForcedCut::Calls,
            None => lookup_operations(body, body.root()) > self.called_beyond,
        };
        let body = wanted.then(|| lift_calls(body))?;
        let shader = ShaderDag::of(&body, &self.passes.costs);
        let passes = call_passes(&body, &shader, [self.whole.operations, self.passes.limits.operations])?;
        Some(CutPlan { body, passes, partition: None })
    }

    /// Returns what the passes of a program do, as text.
    pub fn describe(&self, body: &Body) -> String {
        let whole = Architecture::loading(Limits::NONE, self.passes.costs);
        match self.cut(body) {
            Some(CutPlan { partition: Some((shader, partition)), .. }) => {
                describe(body, &shader, &partition, &self.passes)
            }
            Some(CutPlan { passes, partition: None, .. }) => {
                let answers = passes.iter().filter(|pass| matches!(pass, PassPlan::Call(_))).count();
                let asks = |pair: &&[PassPlan]| matches!(pair, [PassPlan::Run(_), PassPlan::Call(_)]);
                let (all, levels) = (passes.len(), passes.windows(2).filter(asks).count());
                format!("{all} passes, of which {answers} answer lookups, in {levels} levels\n")
            }
            None => {
                let shader = ShaderDag::of(body, &whole.costs);
                describe(body, &shader, &mio(&shader.dag, &whole).partition, &whole)
            }
        }
    }

    fn of_limits(&self, shader: &ShaderDag) -> Option<Partition> {
        let unlimited = Architecture::loading(Limits::NONE, self.passes.costs);
        let whole = mio(&shader.dag, &unlimited).partition;
        let used = whole.passes.first().map(|pass| pass.resources)?;
        if Architecture::loading(self.whole, self.passes.costs).fits(&used) {
            return None;
        }
        let partition = cut(&shader.dag, &self.passes);
        let is_slow = partition.cost(&self.passes) > SLOWDOWN_MAX * whole.cost(&self.passes);
        Some(partition).filter(|_| !is_slow)
    }

    /// Searches the limit of operations at which there are so many passes, or a little more.
    fn of_count(&self, shader: &ShaderDag, count: usize) -> Option<Partition> {
        let cut_by = |operations: u32| {
            let limits = Limits { operations, outputs: SAVED_WORDS_MAX, ..Limits::NONE };
            mio(&shader.dag, &Architecture::loading(limits, self.passes.costs)).partition
        };
        let unlimited = Architecture::loading(Limits::NONE, self.passes.costs);
        let all = mio(&shader.dag, &unlimited).partition.passes.first()?.resources.operations;
        let (mut low, mut high, mut best) = (1, all, None);
        for _ in 0..TRIES {
            let middle = u32::midpoint(low, high);
            let partition = cut_by(middle);
            match partition.passes.len() {
                found if found == count => return Some(partition),
                found if found > count => (low, best) = (middle, Some(partition)),
                _ => high = middle,
            }
        }
        best.or_else(|| Some(cut_by(1)))
    }
}
