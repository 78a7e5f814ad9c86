//! The interface between partitioners and what they cut for: VALID, COST, RECOMPUTE, MERGE (Chan et al. 2002, section
//! 4), over limits and costs that are data.

use super::pass::Resources;

/// No limit.
pub const UNLIMITED: u32 = u32::MAX;

/// What a pass may use at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Operations of code (o): arithmetic, fetches and restores.
    pub operations: u32,
    /// Words of values alive at once (r).
    pub registers: u32,
    /// Distinct textures, and restores where these are fetches (t).
    pub textures: u32,
    /// Distinct interpolants (v).
    pub interpolants: u32,
    /// Words that a pass saves.
    pub outputs: u32,
}

impl Limits {
    /// Nothing is limited.
    pub const NONE: Limits = Limits {
        operations: UNLIMITED,
        registers: UNLIMITED,
        textures: UNLIMITED,
        interpolants: UNLIMITED,
        outputs: UNLIMITED,
    };

    /// Returns the names and values of the limits, with what is used of each.
    fn beside(&self, used: &Resources) -> [(&'static str, u32, u32); 5] {
        [
            ("operations", used.operations, self.operations),
            ("registers", used.registers, self.registers),
            ("textures", used.textures, self.textures),
            ("interpolants", used.interpolants, self.interpolants),
            ("outputs", used.outputs, self.outputs),
        ]
    }
}

/// What a partition costs: a sum of these for each pass. The unit is that of [`Self::step`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostModel {
    /// A pass.
    pub pass: f64,
    /// A fetch.
    pub fetch: f64,
    /// A step of arithmetic.
    pub step: f64,
    /// A word that is saved.
    pub save: f64,
    /// A word that is restored.
    pub restore: f64,
}

impl CostModel {
    /// Returns the model of Chan et al. (2002): saving is part of a pass, and restoring is a fetch.
    pub const fn linear(pass: f64, fetch: f64, step: f64) -> Self {
        Self { pass, fetch, step, save: 0.0, restore: fetch }
    }

    /// llvmpipe on two cores, in steps of 0.089 ns (bench/results/2026-11-floors.md and -texels.md): saving a record of
    /// four words takes 1.64 ns, restoring one 0.79 ns, an isotropic lookup 184 ns. A pass is a guess: a dispatch of 20
    /// us over 65,536 vertices.
    pub const LLVMPIPE: CostModel = CostModel { pass: 3.5, fetch: 2067.0, step: 1.0, save: 4.6, restore: 2.2 };

    /// An H200, in steps of 0.03 ps (bench/results/2026-11-h200.md and the data sheet): a record takes 3.5 ps each way,
    /// a lookup 1.5 ns, and a pass 7.4 us, over 2^20 vertices.
    pub const H200: CostModel = CostModel { pass: 235.0, fetch: 50_000.0, step: 1.0, save: 28.0, restore: 28.0 };
}

/// What partitions are made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Architecture {
    /// What a pass may use.
    pub limits: Limits,
    /// What is to be least.
    pub costs: CostModel,
    /// Textures that a restored value counts as: 1 where restores are fetches, as in the paper.
    pub restore_textures: u32,
}

impl Architecture {
    /// Returns one that restores by fetches.
    pub const fn fetching(limits: Limits, costs: CostModel) -> Self {
        Self { limits, costs, restore_textures: 1 }
    }

    /// Returns one that restores from memory.
    pub const fn loading(limits: Limits, costs: CostModel) -> Self {
        Self { limits, costs, restore_textures: 0 }
    }

    /// VALID: returns whether a pass is within all limits.
    pub fn valid(&self, used: &Resources) -> bool {
        self.exceeded(used).is_none()
    }

    /// Returns the name, use and value of the first limit that a pass exceeds.
    pub fn exceeded(&self, used: &Resources) -> Option<(&'static str, u32, u32)> {
        self.limits.beside(used).into_iter().find(|(_, used, limit)| used > limit)
    }

    /// COST of one pass.
    pub fn pass_cost(&self, used: &Resources) -> f64 {
        self.cost([used])
    }

    /// COST: what passes cost together. What is computed in several counts in each.
    pub fn cost<'p>(&self, passes: impl IntoIterator<Item = &'p Resources>) -> f64 {
        let mut sum = Resources::default();
        let mut count = 0;
        for pass in passes {
            count += 1;
            sum.steps += pass.steps;
            sum.fetches += pass.fetches;
            sum.restored += pass.restored;
            sum.outputs += pass.outputs;
        }
        // Sums of integers first, so that equal partitions cost the same.
        let costs = &self.costs;
        costs.pass * f64::from(count)
            + costs.fetch * f64::from(sum.fetches)
            + costs.step * sum.steps as f64
            + costs.save * f64::from(sum.outputs)
            + costs.restore * f64::from(sum.restored)
    }

    /// VALID of what is computed inside of a pass, where nothing needs to be saved.
    pub fn fits(&self, used: &Resources) -> bool {
        self.exceeded_inside(used).is_none()
    }

    /// Returns the same as [`Self::exceeded`] whatever is saved.
    pub fn exceeded_inside(&self, used: &Resources) -> Option<(&'static str, u32, u32)> {
        self.exceeded(&Resources { outputs: 0, ..*used })
    }

    /// RECOMPUTE: returns whether a subregion is so small that its root is rather computed again than saved: it uses
    /// less than half of all that is limited.
    pub fn recompute(&self, used: &Resources) -> bool {
        let limits = Limits { outputs: UNLIMITED, ..self.limits };
        limits.beside(used).iter().all(|&(_, used, limit)| limit == UNLIMITED || 2 * u64::from(used) < limit.into())
    }

    /// MERGE: returns the place of the pass that uses least: of its scarcest resource, then of operations, then the
    /// first.
    pub fn merge<'p>(&self, candidates: impl IntoIterator<Item = &'p Resources>) -> Option<usize> {
        let scarcest = |used: &Resources| {
            let shares = self.limits.beside(used).map(|(_, used, limit)| match limit {
                UNLIMITED => 0.0,
                _ => f64::from(used) / f64::from(limit),
            });
            shares.into_iter().fold(0.0, f64::max)
        };
        let key = |used: &Resources| (scarcest(used), used.operations);
        let mut best: Option<(usize, (f64, u32))> = None;
        for (at, used) in candidates.into_iter().enumerate() {
            let key = key(used);
            if best.is_none_or(|(_, least)| key < least) {
                best = Some((at, key));
            }
        }
        best.map(|(at, _)| at)
    }
}
