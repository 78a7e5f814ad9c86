//! The Reyes pipeline: stages, their kernels, and the recordings that devices execute. It knows nothing of Vulkan.
//!
//! A stage is one file here, of the name of its kernel in `glsl/`; it appends commands to a [`recording::Recording`].
//! What is drawn is a [`world::DrawnWorld`]; [`buffers`] has the memory that the stages work in; [`plan::Pipeline`] has
//! their order and the bins that their work is cut into. [`crate::render`](mod@crate::render) runs recordings, reads
//! results back and decides what is next.

pub mod bin;
pub mod bound_split;
pub mod buffers;
pub mod composite;
pub mod dice;
pub mod displace;
pub mod filter;
pub mod frame;
pub mod fuse;
pub mod geometry;
pub mod hide;
pub mod imager;
pub mod kernels;
pub mod layers;
pub mod lens;
pub mod look;
mod motion;
mod needed_kernels;
mod outside;
pub mod plan;
pub mod recording;
pub mod sample;
pub mod scan;
pub mod select;
pub mod shade;
pub mod solids;
pub mod textures;
pub mod world;

#[cfg(test)]
pub(crate) mod tests;

pub use needed_kernels::{DisplayDemands, KernelVariants, kernels_of};

use recording::Groups;
use std::ops::Range;

/// All items of a stage: what is recorded in one portion.
pub const ALL: Range<u64> = 0..u64::MAX;

/// First and last (exclusive) of the `count` items that a dispatch of `some` of them goes through, and the workgroups
/// for it.
fn portion(some: &Range<u64>, count: u64, local_size: [u32; 3]) -> ([u32; 2], Groups) {
    let some = some.start.min(count)..some.end.min(count);
    ([some.start as u32, some.end as u32], covering(some.end - some.start, local_size))
}

/// Workgroups for `count` invocations, continued along y where they do not fit along x (glsl/lib/invocation.glsl).
fn covering(count: u64, local_size: [u32; 3]) -> Groups {
    const X_MAX: u64 = 32_768;
    let groups = count.div_ceil(u64::from(local_size[0]));
    let rows = groups.div_ceil(X_MAX).max(1);
    Groups::Direct([groups.div_ceil(rows) as u32, rows as u32, 1])
}
