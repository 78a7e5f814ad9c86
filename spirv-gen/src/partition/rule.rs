//! When a program is cut into passes, and into which.

use super::architecture::{Architecture, CostModel, Limits};
use super::cut::cut;
use super::mio::mio;
use super::outcome::Partition;
use super::shader::ShaderDag;
use super::weights::region_weight;
use crate::ir::Body;

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
    /// As many passes as a program is cut into, as far as that can be done, whatever else is said here; for tests.
    pub count: Option<u32>,
}

impl CutRule {
    /// Nothing is cut.
    pub const NEVER: CutRule =
        CutRule { whole: Limits::NONE, passes: Architecture::loading(Limits::NONE, CostModel::LLVMPIPE), count: None };

    /// CPU drivers compile long kernels slowly: 16 lookups that depend on each other in 5.2 s, but in four kernels in
    /// 1.9 s; 1,000 calls of noise in 69 s, but 25 at a time in 11 s; 100 in 1.4 s, whether in one kernel or in ten.
    pub const CPU: CutRule = {
        let limits = Limits { operations: 6_000, outputs: SAVED_WORDS_MAX, ..Limits::NONE };
        CutRule {
            whole: Limits { operations: 20_000, ..Limits::NONE },
            passes: Architecture::loading(limits, CostModel::LLVMPIPE),
            count: None,
        }
    };

    /// GPUs compile long kernels quickly, but have few registers: beyond what is spilled without harm, values are saved.
    pub const GPU: CutRule = {
        let limits = Limits { registers: 1_000, outputs: SAVED_WORDS_MAX, ..Limits::NONE };
        CutRule {
            whole: Limits { registers: 1_000, ..Limits::NONE },
            passes: Architecture::loading(limits, CostModel::H200),
            count: None,
        }
    };

    /// Returns the same rule with a number of passes that programs are cut into.
    #[must_use]
    pub fn counted(self, count: Option<u32>) -> Self {
        Self { count, ..self }
    }

    /// Returns the graph and the passes of a program that is cut; `None` for one that stays whole.
    pub fn cut(&self, body: &Body) -> Option<(ShaderDag, Partition)> {
        let costs = &self.passes.costs;
        let may_be_large = || {
            let used = region_weight(body, body.root(), costs.fetch as u32).size;
            used > self.whole.operations || used > self.whole.registers
        };
        if self.count.is_none() && !may_be_large() {
            return None;
        }
        let shader = ShaderDag::of(body, costs);
        let partition = match self.count {
            Some(0 | 1) => None,
            Some(count) => self.of_count(&shader, count as usize),
            None => self.of_limits(&shader),
        };
        partition.filter(|partition| partition.passes.len() > 1).map(|partition| (shader, partition))
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
