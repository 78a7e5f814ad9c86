//! Statistics of worlds and their regions.

use super::{CostStats, EstimateStats, seconds};
use serde::Serialize;
use std::time::Duration;

/// Statistics of a region of a world: which device rendered it, when, and at what cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RegionStats {
    /// The device, as an index into [`Stats::devices`](super::Stats::devices).
    pub device: usize,
    /// Its pixels in raster space: x0, y0, x1, y1, half-open.
    pub px: [i32; 4],
    /// Whether its device took it, or the region that it was cut from, from another device.
    pub stolen: bool,
    /// Its work in micropolygons, as estimated before it began.
    pub work: u64,
    /// Grids that it was estimated to select.
    pub grids_estimated: u64,
    /// Grids that it selected.
    pub grids: u64,
    /// Bytes of the smallest buffer that was large enough by the estimate.
    pub bytes_estimated: u64,
    /// Bytes of the smallest buffer that was large enough for what it selected and sampled.
    pub bytes_used: u64,
    /// Micropolygons that a sample saw.
    pub visible_micropolygons: u64,
    /// Vertices that were shaded, and idle invocations among them: the vertices of each grid are rounded up to a
    /// power of two.
    pub shaded_vertices: u64,
    /// Translucent micropolygons in cells of 32 samples.
    pub entries: u64,
    /// When it began: the time since the first submission of its world.
    #[serde(rename = "begin_s", serialize_with = "seconds")]
    pub begin: Duration,
    /// When its last pixel was finished: the time since the first submission of its world.
    #[serde(rename = "end_s", serialize_with = "seconds")]
    pub end: Duration,
    /// The time of its submissions in seconds, by the device's clock.
    pub device_s: f64,
    /// The number of its submissions.
    pub submissions: u64,
    /// Sample points that it had, those around it for the filter included.
    pub subpixels: u64,
    /// Tiles of textures that its submissions lacked, each once a submission.
    pub missed_tiles: u64,
    /// The memory of its device in use when it was finished.
    pub memory_bytes: u64,
}

/// What was made of a world's shaders, and what was there from earlier worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProgramStats {
    /// Programs that were composed of shaders.
    pub composed: u32,
    /// Kernels that were compiled of programs.
    pub compiled: u32,
    /// Kernels that were there.
    pub kept: u32,
}

/// Statistics of a world that was rendered. Its times follow one another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorldStats {
    /// The number given to FrameBegin.
    pub frame: Option<i32>,
    /// The pixels that were rendered: x0, y0, x1, y1, half-open.
    pub crop_px: [i32; 4],
    /// Time for compiling shaders and lowering geometry, on the host.
    #[serde(rename = "prepare_s", serialize_with = "seconds")]
    pub prepare: Duration,
    /// Time from the first submission until regions can begin, for uploading geometry and for splitting and counting
    /// primitives.
    #[serde(rename = "count_s", serialize_with = "seconds")]
    pub count: Duration,
    /// Time from then until the last pixel was read back.
    #[serde(rename = "draw_s", serialize_with = "seconds")]
    pub draw: Duration,
    /// Time for writing the film to files.
    #[serde(rename = "write_s", serialize_with = "seconds")]
    pub write: Duration,
    /// What was made of its shaders, before it is drawn.
    pub programs: ProgramStats,
    /// Every region that was finished, in the order in which they began.
    pub regions: Vec<RegionStats>,
    /// How well their size was estimated.
    pub estimates: EstimateStats,
    /// The causes of their times; `None` if nothing was left to render.
    pub cost: Option<CostStats>,
}
