//! How far a region is, for progress: by what its stages have gone through, weighted by what they usually cost.
//!
//! An estimate of time is all that is wanted: it must move steadily and end at the end.

use super::Chain;
use crate::pipeline::plan::{PipelineStage, Process, Repeat};
use crate::render::region::costs::RegionCosts;

/// Cost of a stage of loads in a slab or a round, relative to one that is not.
const LOADS: f64 = 6.0;

impl Chain {
    /// The fraction of the region that is done, or submitted, from 0 to 1.
    pub(super) fn fraction(&self) -> f64 {
        let (Some(&first), RegionCosts { hide, slabs, rounds }) = (self.current.at.first(), self.costs) else {
            return 0.0;
        };
        let stages = self.pipeline.stages();
        let under_way =
            if stages[first].assign_bin.is_loads() { self.fraction_of_loads() } else { self.tasks.fraction() };
        let done = match stages[first].repeat {
            Repeat::Once if stages[..first].iter().any(|stage| stage.repeat == Repeat::Slabs) => hide + slabs,
            Repeat::Once => {
                let is_hidden = stages[..first].iter().any(|stage| stage.process == Process::Hide);
                let under_way = if stages[first].assign_bin.is_loads() { under_way } else { 0.0 };
                if is_hidden { hide } else { hide * under_way.min(1.0) }
            }
            Repeat::Slabs => {
                let [from, to] = self.slab.slabs.fractions();
                hide + slabs * (from + (to - from) * self.fraction_of(Repeat::Slabs, under_way))
            }
            Repeat::Rounds => {
                let visible = f64::from(self.rounds.visible.max(1));
                let [from, to] = [self.rounds.places.start, self.rounds.places.end]
                    .map(|place| (f64::from(place) / visible).min(1.0));
                hide + slabs + rounds * (from + (to - from) * self.fraction_of(Repeat::Rounds, under_way))
            }
        };
        (done / (hide + slabs + rounds).max(1.0)).clamp(0.0, 1.0)
    }

    /// The fraction of the loads that is done, or submitted where loops are short.
    fn fraction_of_loads(&self) -> f64 {
        let vertices = |index: usize| self.loads.loads.get(index).map_or(0, |load| load.vertices);
        let left = self.watch.under_way(vertices).map_or(0.0, |(some, left)| left * self.loads.fraction_of(some));
        (self.loads.fraction() - left).max(0.0)
    }

    /// The fraction of a slab or a round that is done, where this fraction of the stages under way is.
    fn fraction_of(&self, repeat: Repeat, under_way: f64) -> f64 {
        let cost = |stage: &PipelineStage| if stage.assign_bin.is_loads() { LOADS } else { 1.0 };
        let (mut all, mut done) = (0.0, 0.0);
        for (at, stage) in self.pipeline.stages().iter().enumerate().filter(|(_, stage)| stage.repeat == repeat) {
            all += cost(stage);
            done += match (self.current.at.first(), self.current.at.last()) {
                (Some(&first), _) if at < first => cost(stage),
                (_, Some(&last)) if at <= last => cost(stage) * under_way,
                _ => 0.0,
            };
        }
        done / f64::max(all, 1.0)
    }
}
