//! The Reyes pipeline: stages, their kernels, and the recordings that devices execute. Knows nothing of Vulkan.
//!
//! A stage is one file here, of the name of its kernel in `glsl/`; it appends commands to a [`recording::Recording`]. What is drawn is a
//! [`world::DrawnWorld`]; which memory the stages work in is said in [`buffers`]; [`plan::Pipeline`] says in which order and in what
//! portions they run. Who runs recordings, reads results back and decides what is next is [`crate::render`](mod@crate::render).

pub mod bound_split;
pub mod buffers;
pub mod composite;
pub mod dice;
pub mod displace;
pub mod filter;
pub mod frame;
pub mod geometry;
pub mod hide;
pub mod imager;
pub mod kernels;
pub mod look;
pub mod plan;
pub mod recording;
pub mod sample;
pub mod scan;
pub mod select;
pub mod shade;
pub mod world;

#[cfg(test)]
mod tests;

use recording::{Groups, Kernel};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// What stages must know of the device that will run a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Use the variants without barriers (CPU drivers).
    pub serial: bool,
}

/// The kernels that drawing a world will need, compiled shaders apart: to be compiled ahead.
pub fn kernels_of(world: &world::DrawnWorld, serial: bool) -> Vec<Arc<Kernel>> {
    let kinds: BTreeSet<geometry::Kind> = world.hide_bins.iter().map(|bin| bin.kind).collect();
    let translucent = world.hide_bins.iter().any(|bin| bin.translucent);
    let needed = |label: &str| {
        let of_other_kind = |stage: &str| {
            let kind = label.strip_prefix(stage).and_then(|kind| kind.strip_prefix('_'));
            kind.is_some_and(|kind| !kinds.iter().any(|k| k.name() == kind))
        };
        let of_translucency = ["sample", "scatter_entries", "sort_entries", "place_entries", "composite_slab"];
        let for_translucent = of_translucency.iter().any(|stage| label.starts_with(stage))
            || label.starts_with("composite_close")
            || label == "composite_clear";
        let of_clipping = label.starts_with("hide_") || label.starts_with("sample_");
        let of_other_clipping = of_clipping && label.ends_with("_clipped") == world.clip_planes.is_empty();
        let of_other_interpolation = match label.strip_suffix("_smooth") {
            Some(_) => !world.smooth,
            None => {
                world.smooth
                    && matches!(
                        label,
                        "pack_constant" | "composite_opaque" | "composite_close" | "composite_slab_constant"
                    )
            }
        };
        let of_other_device = label.ends_with(if serial { "_parallel" } else { "_serial" });
        !of_other_kind("bound_split")
            && !of_other_kind("dice")
            && (translucent || !for_translucent)
            && (!translucent || !label.starts_with("composite_opaque"))
            && !of_other_clipping
            && !of_other_interpolation
            && !of_other_device
    };
    kernels::all().into_iter().filter(|kernel| needed(kernel.label())).cloned().collect()
}

/// All items of a stage: what is recorded in one portion.
pub const ALL: Range<u64> = 0..u64::MAX;

/// First and last (exclusive) of the `count` items that a dispatch of `some` of them goes through, and the workgroups for it.
fn portion(some: &Range<u64>, count: u64, local_size: [u32; 3]) -> ([u32; 2], Groups) {
    let some = some.start.min(count)..some.end.min(count);
    ([some.start as u32, some.end as u32], covering(some.end - some.start, local_size))
}

/// Workgroups for `count` invocations, going on along y where they do not fit along x (glsl/lib/invocation.glsl).
fn covering(count: u64, local_size: [u32; 3]) -> Groups {
    const X_MAX: u64 = 32_768;
    let groups = count.div_ceil(u64::from(local_size[0]));
    let rows = groups.div_ceil(X_MAX).max(1);
    Groups::Direct([groups.div_ceil(rows) as u32, rows as u32, 1])
}
