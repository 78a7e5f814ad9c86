//! Which kernels a stage runs, and which of their variants suit a device.

use super::recording::Kernel;
use std::sync::Arc;

/// Kernels of a stage.
pub(super) type KernelList = Vec<&'static Arc<Kernel>>;

/// Which variants of kernels suit a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelVariants {
    /// The variants without barriers, for CPU drivers.
    pub serial: bool,
}
