//! The Reyes pipeline: stages, their kernels, and the recordings that devices execute. Knows nothing of Vulkan.

pub mod kernels;
pub mod recording;
