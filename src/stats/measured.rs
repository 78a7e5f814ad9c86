//! The part of a run's `--stats` that scaling studies and forecasts read. Keys and meanings are those of
//! [`Stats`](super::Stats); times are in seconds.

use super::CostStats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The statistics of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Time from the program's start to its end, by its own clock.
    pub wall_s: f64,
    /// Time from the first submission until the last pixel was read back.
    pub render_s: f64,
    /// Time for opening all devices.
    pub open_s: f64,
    /// Time in each stage by its name, host and all devices added up.
    pub stages_s: BTreeMap<String, f64>,
    /// Micropolygons diced.
    pub micropolygons: u64,
    /// Sample points, that is, subpixels.
    pub sample_points: u64,
    /// Time lost because devices lacked tiles of textures.
    #[serde(default)]
    pub texture_loss: MeasuredTextureLoss,
    /// The files of all displays.
    pub outputs: Vec<MeasuredOutput>,
    /// Every opened device.
    pub devices: Vec<MeasuredDevice>,
    /// Every world that was rendered.
    pub worlds: Vec<MeasuredWorld>,
}

/// The time that a run lost because devices lacked tiles of textures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredTextureLoss {
    /// The time of submissions that missed tiles and were made again, by the devices' clocks.
    pub discarded_s: f64,
    /// The time of submissions that only named tiles, by the devices' clocks.
    pub naming_s: f64,
    /// The time in which devices' threads read and uploaded tiles.
    pub loading_s: f64,
}

/// A file that a run wrote or should have written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredOutput {
    /// Its name.
    pub file: String,
    /// `whole`, `partial` or `missing`.
    pub state: String,
}

/// The statistics of an opened device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredDevice {
    /// Its index in `anthill devices`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Regions that it rendered.
    pub regions: u64,
    /// Regions that it took from other devices.
    pub stolen: u64,
    /// Regions that it cut.
    pub splits: u64,
    /// Time in which it had regions in flight.
    pub busy_s: f64,
    /// Time in which it had none.
    pub idle_s: f64,
    /// Time that its thread spent on scheduling.
    #[serde(default)]
    pub scheduling_s: f64,
    /// The most device memory that was allocated at once.
    pub peak_bytes: u64,
    /// Time in each stage.
    pub stages_s: BTreeMap<String, f64>,
}

/// The statistics of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWorld {
    /// The number given to FrameBegin.
    pub frame: Option<i32>,
    /// The pixels that were rendered: x0, y0, x1, y1, half-open.
    pub crop_px: [i32; 4],
    /// Time for compiling shaders and lowering geometry.
    pub prepare_s: f64,
    /// Time for uploading geometry and counting primitives.
    pub count_s: f64,
    /// Time for rendering regions.
    pub draw_s: f64,
    /// Time for writing files.
    pub write_s: f64,
    /// Every region.
    pub regions: Vec<MeasuredRegion>,
    /// The causes of the regions' times; `None` if nothing was left to render, or if they are not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostStats>,
}

/// The statistics of a region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRegion {
    /// Its device, as an index into [`Measured::devices`].
    pub device: usize,
    /// Its pixels: x0, y0, x1, y1, half-open.
    pub px: [i32; 4],
    /// Whether its device took it from another one.
    pub stolen: bool,
    /// Its estimated work in micropolygons.
    pub work: u64,
    /// Vertices that were shaded.
    pub shaded_vertices: u64,
    /// Translucent entries.
    pub entries: u64,
    /// When it began, after the world's first submission.
    pub begin_s: f64,
    /// When it was finished, after the world's first submission.
    pub end_s: f64,
    /// The time of its submissions, by the device's clock.
    pub device_s: f64,
}

impl MeasuredWorld {
    /// Returns the width and the height of what was rendered, in pixels.
    pub fn size_px(&self) -> [u32; 2] {
        let [x0, y0, x1, y1] = self.crop_px;
        [x1.abs_diff(x0), y1.abs_diff(y0)]
    }
}

impl Measured {
    /// Returns the world that took longest to render, with its index.
    pub fn longest_world(&self) -> Option<(usize, &MeasuredWorld)> {
        self.worlds.iter().enumerate().max_by(|(_, a), (_, b)| a.draw_s.total_cmp(&b.draw_s))
    }

    /// Returns the share of the rendering time in which devices had regions in flight.
    pub fn busy_share(&self) -> f64 {
        let busy: f64 = self.devices.iter().map(|device| device.busy_s).sum();
        let all: f64 = self.devices.iter().map(|device| device.busy_s + device.idle_s).sum();
        if all > 0.0 { busy / all } else { 0.0 }
    }
}
