//! anthill renders RenderMan scenes with the Reyes algorithm, every stage in Vulkan compute kernels, on every device of the machine.

#![deny(unsafe_code)]

pub mod diagnostic;
pub mod film;
pub mod gpu;
pub mod pipeline;
pub mod render;
pub mod rib;
pub mod scene;
pub mod schedule;
pub mod shading;
pub mod texture;
