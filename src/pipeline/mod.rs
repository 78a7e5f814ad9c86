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
pub mod hidden;
pub mod hide;
pub mod imager;
pub mod kept;
pub mod kernels;
pub mod layers;
pub mod layout;
pub mod lens;
pub mod look;
mod motion;
mod needed_kernels;
mod outside;
pub mod piece;
pub mod pixels;
pub mod plan;
mod portion;
pub mod program;
pub mod recording;
mod sameness;
pub mod sample;
pub mod scan;
pub mod select;
pub mod shade;
pub mod slab;
pub mod slots;
pub mod solid_table;
pub mod solids;
pub mod stage;
mod stages;
pub mod textures;
mod variants;
pub mod visibility;
pub mod world;

#[cfg(test)]
pub(crate) mod tests;

pub use needed_kernels::kernels_of;
pub use portion::ALL;
pub use stage::DisplayDemands;
pub use variants::KernelVariants;
