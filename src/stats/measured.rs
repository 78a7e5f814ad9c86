//! What a run of `anthill render` said of itself: the part of its `--stats` that scaling studies and forecasts read. Keys and meanings
//! are those of [`Stats`](super::Stats); times are in seconds.

use super::CostStats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run's statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// From the program's start to its end, by its own clock.
    pub wall_s: f64,
    /// From the first submission to the last pixel read back.
    pub render_s: f64,
    /// Opening all devices, one after the other.
    pub open_s: f64,
    /// Time in each stage, by its name: host and all devices added up.
    pub stages_s: BTreeMap<String, f64>,
    /// Micropolygons diced.
    pub micropolygons: u64,
    /// Sample points.
    pub sample_points: u64,
    /// What was written.
    pub outputs: Vec<MeasuredOutput>,
    /// Each opened device.
    pub devices: Vec<MeasuredDevice>,
    /// Each world that was drawn.
    pub worlds: Vec<MeasuredWorld>,
}

/// A file that a run wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredOutput {
    /// Its name.
    pub file: String,
    /// `whole`, `partial` or `missing`.
    pub state: String,
}

/// What one opened device did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredDevice {
    /// Index in `anthill devices`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Regions drawn.
    pub regions: u64,
    /// Regions taken from others.
    pub stolen: u64,
    /// Regions cut.
    pub splits: u64,
    /// Time with regions in flight.
    pub busy_s: f64,
    /// Time without.
    pub idle_s: f64,
    /// Most device memory taken at once.
    pub peak_bytes: u64,
    /// Time in each stage.
    pub stages_s: BTreeMap<String, f64>,
}

/// One world of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWorld {
    /// FrameBegin's number.
    pub frame: Option<i32>,
    /// The pixels drawn: x0, y0, x1, y1.
    pub crop_px: [u32; 4],
    /// Shaders compiled, geometry lowered.
    pub prepare_s: f64,
    /// Geometry brought to devices, primitives counted.
    pub count_s: f64,
    /// Regions drawn.
    pub draw_s: f64,
    /// Files written.
    pub write_s: f64,
    /// Every region.
    pub regions: Vec<MeasuredRegion>,
    /// What the regions' times follow from; none if nothing was left to draw, or if nobody wants to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostStats>,
}

/// One region of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRegion {
    /// A place in [`Measured::devices`].
    pub device: usize,
    /// Its pixels: x0, y0, x1, y1.
    pub px: [u32; 4],
    /// Whether it came to its device by a theft.
    pub stolen: bool,
    /// Its estimated work in micropolygons.
    pub work: u64,
    /// Vertices that colour was computed at.
    pub shaded_vertices: u64,
    /// Translucent entries.
    pub entries: u64,
    /// When it was begun, after the world's first submission.
    pub begin_s: f64,
    /// When it was finished.
    pub end_s: f64,
    /// What its submissions took, by the device's clock.
    pub device_s: f64,
}

impl Measured {
    /// The world that took longest to draw, with its place.
    pub fn longest_world(&self) -> Option<(usize, &MeasuredWorld)> {
        self.worlds.iter().enumerate().max_by(|(_, a), (_, b)| a.draw_s.total_cmp(&b.draw_s))
    }

    /// The share of time that devices had regions in flight while regions were drawn.
    pub fn busy_share(&self) -> f64 {
        let busy: f64 = self.devices.iter().map(|device| device.busy_s).sum();
        let all: f64 = self.devices.iter().map(|device| device.busy_s + device.idle_s).sum();
        if all > 0.0 { busy / all } else { 0.0 }
    }
}
