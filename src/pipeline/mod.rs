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
pub mod kernels;
pub mod look;
pub mod plan;
pub mod recording;
pub mod sample;
pub mod scan;
pub mod select;
pub mod shade;
pub mod world;

use recording::Groups;

/// What stages must know of the device that will run a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Use the variants without barriers (CPU drivers).
    pub serial: bool,
}

/// Workgroups for `count` invocations, going on along y where they do not fit along x (glsl/lib/invocation.glsl).
fn covering(count: u64, local_size: [u32; 3]) -> Groups {
    const X_MAX: u64 = 32_768;
    let groups = count.div_ceil(u64::from(local_size[0]));
    let rows = groups.div_ceil(X_MAX).max(1);
    Groups::Direct([groups.div_ceil(rows) as u32, rows as u32, 1])
}
