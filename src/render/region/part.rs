//! How far a region is, for progress: by what its stages have gone through, weighted by what they usually cost.
//!
//! An estimate of time is all that is wanted: it must move steadily and end at the end. docs/cost.md has the rates that
//! the weights are rounded from, in units of a vertex that is hidden.

use crate::pipeline::kernels::constants::{BATCHES, SIZE_CLASSES};
use crate::pipeline::plan::{PipelineStage, Process, Repeat};
use crate::pipeline::select::slot_log2;
use crate::render::region::chain::{Chain, opaque_bins};
use crate::render::region::record::DeviceWorld;
use std::ops::Range;

/// Cost of a translucent vertex: it is diced twice, sampled, shaded and composited.
const TRANSLUCENT: f64 = 5.0;
/// Cost of shading what is seen of an opaque vertex, half of which is seen.
const SHADED: f64 = 0.5;
/// Cost of a subpixel.
const SUBPIXEL: f64 = 0.3;
/// Cost of a stage of loads in a slab or a round, relative to one that is not.
const LOADS: f64 = 6.0;

/// The costs of the parts of a region, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RegionCosts {
    hide: f64,
    slabs: f64,
    rounds: f64,
}

impl Chain {
    /// The costs of the region's parts, once its grids are selected.
    pub(super) fn costs(&self, world: &DeviceWorld) -> RegionCosts {
        let classes = SIZE_CLASSES as usize;
        let per_batch = self.region.capacity.bins as usize * classes;
        let opaque = opaque_bins(world) * classes;
        let vertices = |bins: Range<usize>| -> f64 {
            let batches = (0..BATCHES as usize).filter_map(|batch| self.hide_counts.get(batch * per_batch..));
            let counts = batches.flat_map(|counts| counts.iter().enumerate().take(bins.end).skip(bins.start));
            counts.map(|(i, &count)| (u64::from(count) << slot_log2((i % classes) as u32)) as f64).sum()
        };
        let (opaque, translucent) = (vertices(0..opaque), vertices(opaque..per_batch));
        let subpixels = SUBPIXEL * self.region.subpixels() as f64;
        RegionCosts { hide: opaque, slabs: TRANSLUCENT * translucent, rounds: SHADED * opaque + subpixels }
    }

    /// The part of the region that is done, or submitted, from 0 to 1.
    pub(super) fn part(&self) -> f64 {
        let (Some(&first), RegionCosts { hide, slabs, rounds }) = (self.under_way.first(), self.costs) else {
            return 0.0;
        };
        let stages = self.pipeline.stages();
        let under_way = if stages[first].assign_bin.is_loads() { self.part_of_loads() } else { self.tasks.part() };
        let done = match stages[first].repeat {
            Repeat::Once if stages[..first].iter().any(|stage| stage.repeat == Repeat::Slabs) => hide + slabs,
            Repeat::Once => {
                let is_hidden = stages[..first].iter().any(|stage| stage.process == Process::Hide);
                let under_way = if stages[first].assign_bin.is_loads() { under_way } else { 0.0 };
                if is_hidden { hide } else { hide * under_way.min(1.0) }
            }
            Repeat::Slabs => {
                let [from, to] = self.slabs.parts();
                hide + slabs * (from + (to - from) * self.part_of(Repeat::Slabs, under_way))
            }
            Repeat::Rounds => {
                let visible = f64::from(self.opaque_visible.max(1));
                let [from, to] = [self.round.start, self.round.end].map(|place| (f64::from(place) / visible).min(1.0));
                hide + slabs + rounds * (from + (to - from) * self.part_of(Repeat::Rounds, under_way))
            }
        };
        (done / (hide + slabs + rounds).max(1.0)).clamp(0.0, 1.0)
    }

    /// The part of the loads that is done, or submitted where loops are short.
    fn part_of_loads(&self) -> f64 {
        let vertices = |index: usize| self.loads.loads.get(index).map_or(0, |load| load.vertices);
        let left = self.watch.under_way(vertices).map_or(0.0, |(some, left)| left * self.loads.part_of(some));
        (self.loads.part() - left).max(0.0)
    }

    /// The part of a slab or a round that is done, where this part of the stages under way is.
    fn part_of(&self, repeat: Repeat, under_way: f64) -> f64 {
        let cost = |stage: &PipelineStage| if stage.assign_bin.is_loads() { LOADS } else { 1.0 };
        let (mut all, mut done) = (0.0, 0.0);
        for (at, stage) in self.pipeline.stages().iter().enumerate().filter(|(_, stage)| stage.repeat == repeat) {
            all += cost(stage);
            done += match (self.under_way.first(), self.under_way.last()) {
                (Some(&first), _) if at < first => cost(stage),
                (_, Some(&last)) if at <= last => cost(stage) * under_way,
                _ => 0.0,
            };
        }
        done / f64::max(all, 1.0)
    }
}
