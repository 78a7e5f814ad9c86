//! Statistics of compiled kernels.

use serde::Serialize;

/// Statistics of a kernel that was compiled for a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelStats {
    /// The number of the device among the opened ones.
    pub device: u32,
    /// Its name: a stage, or a combination of shaders.
    pub kernel: String,
    /// The shading pipeline that it belongs to; `None` for kernels of stages.
    pub pipeline: Option<String>,
    /// The time that compiling took; several are compiled at once.
    pub compile_s: f64,
    /// Whether it was in the cache of compiled kernels. Drivers have caches of their own.
    pub from_cache: bool,
}
