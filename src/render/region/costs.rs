//! What the parts of a region should cost, for progress: in units of a vertex that is hidden, rounded from the rates of
//! docs/cost.md.

use crate::pipeline::buffers::ActiveRegion;
use crate::pipeline::kernels::constants::{BATCHES, SIZE_CLASSES};
use crate::pipeline::piece::slot_log2;
use std::ops::Range;

/// Cost of a translucent vertex: it is diced twice, sampled, shaded and composited.
const TRANSLUCENT: f64 = 5.0;
/// Cost of shading what is seen of an opaque vertex, half of which is seen.
const SHADED: f64 = 0.5;
/// Cost of a subpixel.
const SUBPIXEL: f64 = 0.3;
/// The costs of the parts of a region, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RegionCosts {
    /// Hiding.
    pub hide: f64,
    /// Slabs of what is translucent.
    pub slabs: f64,
    /// Rounds of what opaque samples see.
    pub rounds: f64,
}

impl RegionCosts {
    /// Returns the costs of a region by its grids of each sort key, of which the first sublists are opaque.
    pub(crate) fn new(region: &ActiveRegion, counts: &[u32], opaque_sublists: usize) -> Self {
        let classes = SIZE_CLASSES as usize;
        let per_batch = region.capacity.sublists as usize * classes;
        let opaque = opaque_sublists * classes;
        let vertices = |sublists: Range<usize>| -> f64 {
            let batches = (0..BATCHES as usize).filter_map(|batch| counts.get(batch * per_batch..));
            let counts = batches.flat_map(|counts| counts.iter().enumerate().take(sublists.end).skip(sublists.start));
            counts.map(|(i, &count)| (u64::from(count) << slot_log2((i % classes) as u32)) as f64).sum()
        };
        let (opaque, translucent) = (vertices(0..opaque), vertices(opaque..per_batch));
        let subpixels = SUBPIXEL * region.subpixels() as f64;
        Self { hide: opaque, slabs: TRANSLUCENT * translucent, rounds: SHADED * opaque + subpixels }
    }
}
