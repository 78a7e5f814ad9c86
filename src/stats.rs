//! What a render cost: counts, times and bytes, as one JSON object with stable keys and as one line for people.
//!
//! Each device's thread fills a [`DeviceStats`] of its own; [`Stats::add_device`] adds it to the whole when the thread is done. Nothing
//! is shared while drawing. [`Measured`] is what others read of that JSON again.

mod estimate;
mod measured;
mod world_cost;

pub use estimate::EstimateStats;
pub use measured::{Measured, MeasuredDevice, MeasuredOutput, MeasuredRegion, MeasuredWorld};
pub use world_cost::{CostStats, tile_rows, tile_values};

use crate::diagnostic::{Diagnostic, Reporter, Severity};
use crate::film::{DisplayOutcome, DisplayState};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// The steps that time is measured of, in the order of the data's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// RIB to scene, on the host.
    Parse,
    /// RSL to pipelines.
    Compile,
    /// Scene to device.
    Upload,
    /// Primitives to subpatches to grids.
    BoundSplit,
    /// Primitives that meet a region.
    Select,
    /// Grids to vertices.
    Dice,
    /// Displacement shaders.
    Displace,
    /// Depth, and what it culls.
    Hide,
    /// Surface, light and volume shaders.
    Shade,
    /// Visible points.
    Sample,
    /// Translucent layers.
    Composite,
    /// Sample points to pixels.
    Filter,
    /// Film to files, on the host.
    Write,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 13] = [
        Self::Parse,
        Self::Compile,
        Self::Upload,
        Self::BoundSplit,
        Self::Select,
        Self::Dice,
        Self::Displace,
        Self::Hide,
        Self::Shade,
        Self::Sample,
        Self::Composite,
        Self::Filter,
        Self::Write,
    ];

    /// The stage's one name: of its kernel, its file, its trace slices and its statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Compile => "compile",
            Self::Upload => "upload",
            Self::BoundSplit => "bound_split",
            Self::Select => "select",
            Self::Dice => "dice",
            Self::Displace => "displace",
            Self::Hide => "hide",
            Self::Shade => "shade",
            Self::Sample => "sample",
            Self::Composite => "composite",
            Self::Filter => "filter",
            Self::Write => "write",
        }
    }
}

/// Time spent in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes([Duration; Stage::ALL.len()]);

impl StageTimes {
    /// Adds time to a stage.
    pub fn add(&mut self, stage: Stage, time: Duration) {
        self.0[stage as usize] += time;
    }

    /// Time spent in a stage so far.
    pub fn get(&self, stage: Stage) -> Duration {
        self.0[stage as usize]
    }

    fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, time)| *sum += time);
    }
}

impl Serialize for StageTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Stage::ALL.len()))?;
        for stage in Stage::ALL {
            map.serialize_entry(stage.name(), &self.get(stage).as_secs_f64())?;
        }
        map.end()
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// How much there was of everything. What regions share is counted as often as it was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Primitives that met a region.
    pub primitives: u64,
    /// Grids diced.
    pub grids: u64,
    /// Micropolygons diced.
    pub micropolygons: u64,
    /// Vertices that colour was computed at.
    pub shaded_vertices: u64,
    /// Sample points, that is subpixels.
    pub sample_points: u64,
}

/// What the texture cache did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextureStats {
    /// Tiles asked for.
    pub requests: u64,
    /// Tiles that were not there.
    pub misses: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
}

/// One opened device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceStats {
    /// Index in `anthill devices`; the same for a device that is opened twice.
    pub index: u32,
    /// The device's name.
    pub name: String,
    /// The driver's name and version.
    pub driver: String,
    /// Regions drawn.
    pub regions: u64,
    /// How many of them came from other devices.
    pub stolen: u64,
    /// Regions that were split.
    pub splits: u64,
    /// Batches done again after an overflow.
    pub retries: u64,
    /// How often it failed.
    pub failures: u64,
    /// How often it was opened anew.
    pub reopened: u64,
    /// Time with work on the device.
    #[serde(rename = "busy_s", serialize_with = "seconds")]
    pub busy: Duration,
    /// Time without.
    #[serde(rename = "idle_s", serialize_with = "seconds")]
    pub idle: Duration,
    /// Time that its thread spent on scheduling: taking, cutting, stealing and handing in regions.
    #[serde(rename = "scheduling_s", serialize_with = "seconds")]
    pub scheduling: Duration,
    /// The longest that one submission took, by the device's clock.
    #[serde(rename = "submission_max_s", serialize_with = "seconds")]
    pub submission_max: Duration,
    /// Most device memory taken at once.
    pub peak_bytes: u64,
    /// The bound it was given.
    pub limit_bytes: u64,
    /// Its time in each stage.
    #[serde(rename = "stages_s")]
    pub stages: StageTimes,
    /// Its part of the whole's counts.
    #[serde(skip)]
    pub counts: Counts,
    /// Its part of the whole's texture requests.
    #[serde(skip)]
    pub texture: TextureStats,
}

/// One region of a world: who drew it, when, and what it took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RegionStats {
    /// The device, as a place in [`Stats::devices`].
    pub device: usize,
    /// Its pixels in raster space: x0, y0, x1, y1, half-open.
    pub px: [u32; 4],
    /// Whether its device took it, or what it was cut from, from another one.
    pub stolen: bool,
    /// Its work in micropolygons, as estimated before it was begun.
    pub work: u64,
    /// Grids that it would select, as estimated.
    pub grids_estimated: u64,
    /// Grids that it selected.
    pub grids: u64,
    /// Bytes of a buffer that would have been just large enough for it by the estimate,
    pub bytes_estimated: u64,
    /// and for what it selected and sampled.
    pub bytes_used: u64,
    /// Micropolygons that a sample saw.
    pub visible_micropolygons: u64,
    /// Vertices that colour was computed at.
    pub shaded_vertices: u64,
    /// Translucent micropolygons in cells of 32 samples.
    pub entries: u64,
    /// When it was begun: time since the first submission of its world.
    #[serde(rename = "begin_s", serialize_with = "seconds")]
    pub begin: Duration,
    /// When its last pixel was there, likewise.
    #[serde(rename = "end_s", serialize_with = "seconds")]
    pub end: Duration,
    /// What its submissions took, by the device's clock.
    pub device_s: f64,
    /// How many there were.
    pub submissions: u64,
}

/// One world that was drawn. Its times follow one another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorldStats {
    /// FrameBegin's number.
    pub frame: Option<i32>,
    /// The pixels that were drawn: x0, y0, x1, y1, half-open.
    pub crop_px: [u32; 4],
    /// Shaders compiled and geometry lowered, on the host.
    #[serde(rename = "prepare_s", serialize_with = "seconds")]
    pub prepare: Duration,
    /// From the first submission until regions can begin: geometry brought to every device, primitives split and counted.
    #[serde(rename = "count_s", serialize_with = "seconds")]
    pub count: Duration,
    /// From then to the last pixel read back.
    #[serde(rename = "draw_s", serialize_with = "seconds")]
    pub draw: Duration,
    /// Film to files.
    #[serde(rename = "write_s", serialize_with = "seconds")]
    pub write: Duration,
    /// Every region that was finished, in the order in which they were begun.
    pub regions: Vec<RegionStats>,
    /// What was estimated of them, beside what they came to.
    pub estimates: EstimateStats,
    /// What their times follow from; none if nothing was left to draw.
    pub cost: Option<CostStats>,
}

/// One file that a display wrote or should have written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputStats {
    /// Its name.
    pub file: String,
    /// `whole`, `partial` or `missing`.
    pub state: String,
    /// Pixels that were not finished; 0 unless partial.
    pub missing_pixels: u64,
}

/// A warning or error that the user was told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarningStats {
    /// `warning` or `error`.
    pub severity: &'static str,
    /// Its short stable name.
    pub code: &'static str,
    /// Where in the input: file, line and column.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// How often it came.
    pub count: u64,
}

/// A whole render. Field order is the order of the JSON keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Version of the program.
    pub version: &'static str,
    /// The scene files as named, separated by blanks.
    pub scene: String,
    /// What became of each display.
    pub outputs: Vec<OutputStats>,
    /// From the program's start to its end.
    #[serde(rename = "wall_s", serialize_with = "seconds")]
    pub wall: Duration,
    /// From the first submission to the last pixel read back, added up over the worlds.
    #[serde(rename = "render_s", serialize_with = "seconds")]
    pub render: Duration,
    /// Opening all devices, side by side; under validation one after the other.
    #[serde(rename = "open_s", serialize_with = "seconds")]
    pub open: Duration,
    /// Time in each stage, host and all devices added up.
    #[serde(rename = "stages_s")]
    pub stages: StageTimes,
    /// Counts of all devices.
    #[serde(flatten)]
    pub counts: Counts,
    /// Errors after which rendering went on, repeats included.
    pub errors_survived: u64,
    /// The texture cache, all devices added up.
    pub texture: TextureStats,
    /// Each opened device.
    pub devices: Vec<DeviceStats>,
    /// Each world that was drawn, in order.
    pub worlds: Vec<WorldStats>,
    /// Every distinct warning and error, in order of first appearance.
    pub warnings: Vec<WarningStats>,
}

impl Stats {
    /// Adds what a device did: its counts, stage times and texture requests become part of the whole. Numbers of a device that was
    /// added before (of an earlier world, told apart by their place `slot` among the opened devices) are added to it.
    pub fn add_device(&mut self, slot: usize, device: DeviceStats) {
        self.stages.merge(&device.stages);
        add_counts(&mut self.counts, &device.counts);
        add_texture(&mut self.texture, &device.texture);
        match self.devices.get_mut(slot) {
            Some(known) => known.merge(&device),
            None => self.devices.push(device),
        }
    }

    /// Takes over what was written.
    pub fn add_outputs(&mut self, displays: &[DisplayOutcome]) {
        self.outputs.extend(displays.iter().map(|display| OutputStats {
            file: display.path.display().to_string(),
            state: display.state.to_string(),
            missing_pixels: match display.state {
                DisplayState::Partial { missing } => missing,
                DisplayState::Whole | DisplayState::Missing => 0,
            },
        }));
    }

    /// Takes over what was reported.
    pub fn set_warnings(&mut self, reporter: &Reporter) {
        self.errors_survived = reporter.count_at_least(Severity::Error);
        let row = |(diagnostic, count): (Diagnostic, u64)| WarningStats {
            severity: if diagnostic.severity == Severity::Warning { "warning" } else { "error" },
            code: diagnostic.code,
            place: diagnostic.location.to_string(),
            message: diagnostic.message,
            count,
        };
        self.warnings = reporter.all().into_iter().filter(|(d, _)| d.severity >= Severity::Warning).map(row).collect();
    }

    /// The JSON object, with a line end.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("statistics have string keys and finite numbers");
        json.push('\n');
        json
    }

    /// One line for people: what was written, how long it took, on what.
    pub fn summary(&self) -> String {
        let files = match &self.outputs[..] {
            [] => "nothing to write".into(),
            [one] => one.file.clone(),
            many => format!("{} files", many.len()),
        };
        let mut line = files;
        for state in ["partial", "missing"] {
            let count = self.outputs.iter().filter(|output| output.state == state).count();
            match (count, self.outputs.len()) {
                (0, _) => {}
                (_, 1) => line += &format!(" ({state})"),
                _ => line += &format!(" ({count} {state})"),
            }
        }
        line += &format!(": {:.2} s", self.wall.as_secs_f64());
        if !self.devices.is_empty() {
            let peak = self.devices.iter().map(|device| device.peak_bytes).max().unwrap_or(0);
            let plural = if self.devices.len() == 1 { "" } else { "s" };
            line += &format!(
                ", {:.2} s on {} device{plural}; {} micropolygons, {} sample points, {} of device memory at most",
                self.render.as_secs_f64(),
                self.devices.len(),
                in_thousands(self.counts.micropolygons),
                in_thousands(self.counts.sample_points),
                human_bytes(peak)
            );
        }
        match self.errors_survived {
            0 => {}
            1 => line += "; 1 error survived",
            count => line += &format!("; {count} errors survived"),
        }
        line
    }
}

impl DeviceStats {
    fn merge(&mut self, other: &Self) {
        self.regions += other.regions;
        self.stolen += other.stolen;
        self.splits += other.splits;
        self.retries += other.retries;
        self.failures += other.failures;
        self.reopened += other.reopened;
        self.busy += other.busy;
        self.idle += other.idle;
        self.scheduling += other.scheduling;
        self.submission_max = self.submission_max.max(other.submission_max);
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
        self.limit_bytes = self.limit_bytes.max(other.limit_bytes);
        self.stages.merge(&other.stages);
        add_counts(&mut self.counts, &other.counts);
        add_texture(&mut self.texture, &other.texture);
    }
}

fn add_counts(sum: &mut Counts, other: &Counts) {
    sum.primitives += other.primitives;
    sum.grids += other.grids;
    sum.micropolygons += other.micropolygons;
    sum.shaded_vertices += other.shaded_vertices;
    sum.sample_points += other.sample_points;
}

fn add_texture(sum: &mut TextureStats, other: &TextureStats) {
    sum.requests += other.requests;
    sum.misses += other.misses;
    sum.bytes_read += other.bytes_read;
}

/// 999, 1.2 k, 34.5 M, 6.7 G.
fn in_thousands(count: u64) -> String {
    scaled(count, 1000.0, &["", " k", " M", " G", " T"])
}

/// Bytes for people: 999 B, 1.2 KiB, 34.5 MiB, 6.7 GiB.
pub fn human_bytes(count: u64) -> String {
    scaled(count, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB"])
}

fn scaled(count: u64, base: f64, units: &[&str]) -> String {
    let (mut value, mut unit) = (count as f64, 0);
    while value >= base && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    if unit == 0 { format!("{count}{}", units[0]) } else { format!("{value:.1}{}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceLocation;

    fn device(peak_bytes: u64) -> DeviceStats {
        let mut device =
            DeviceStats { name: "gpu".into(), regions: 2, stolen: 1, peak_bytes, ..DeviceStats::default() };
        device.stages.add(Stage::Shade, Duration::from_millis(250));
        device.counts.micropolygons = 1_200_000;
        device.texture.misses = 3;
        device
    }

    fn sample() -> Stats {
        let mut stats = Stats { version: "1", scene: "a.rib".into(), ..Stats::default() };
        stats.wall = Duration::from_millis(1500);
        stats.stages.add(Stage::Parse, Duration::from_millis(500));
        stats.add_device(0, device(1 << 20));
        stats.add_device(1, device(3 << 20));
        stats.add_device(0, device(2 << 20));
        stats
    }

    #[test]
    fn devices_add_up() {
        let stats = sample();
        assert_eq!(stats.counts.micropolygons, 3_600_000);
        assert_eq!(stats.texture.misses, 9);
        assert_eq!(stats.stages.get(Stage::Shade), Duration::from_millis(750));
        let rows: Vec<_> = stats.devices.iter().map(|d| (d.regions, d.peak_bytes)).collect();
        assert_eq!(rows, [(4, 2 << 20), (2, 3 << 20)]);
    }

    #[test]
    fn the_json_has_the_keys_that_were_promised_in_their_order() {
        let json = sample().to_json();
        let keys_at = |indent: &str| -> Vec<String> {
            let lines = json.lines().filter_map(|line| line.strip_prefix(indent)?.strip_prefix('"'));
            lines.filter_map(|line| Some(line.split_once('"')?.0.to_string())).collect()
        };
        let top = [
            "version",
            "scene",
            "outputs",
            "wall_s",
            "render_s",
            "open_s",
            "stages_s",
            "primitives",
            "grids",
            "micropolygons",
            "shaded_vertices",
            "sample_points",
            "errors_survived",
            "texture",
            "devices",
            "worlds",
            "warnings",
        ];
        assert_eq!(keys_at("  "), top);
        let device = [
            "index",
            "name",
            "driver",
            "regions",
            "stolen",
            "splits",
            "retries",
            "failures",
            "reopened",
            "busy_s",
            "idle_s",
            "scheduling_s",
            "submission_max_s",
            "peak_bytes",
            "limit_bytes",
            "stages_s",
        ];
        assert_eq!(keys_at("      ")[..device.len()], device);
        let value: serde_json::Value = serde_json::from_str(&json).expect("valid JSON");
        let stages: Vec<&str> = Stage::ALL.map(Stage::name).into();
        let order = "parse compile upload bound_split select dice displace hide shade sample composite filter write";
        assert_eq!(stages.join(" "), order);
        assert!(stages.iter().all(|stage| value["stages_s"][stage].is_f64()));
        assert_eq!((value["wall_s"].as_f64(), value["stages_s"]["shade"].as_f64()), (Some(1.5), Some(0.75)));
        let texture = value["texture"].as_object().expect("an object");
        assert!(["requests", "misses", "bytes_read"].iter().all(|key| texture.contains_key(*key)));
    }

    #[test]
    fn outputs_and_warnings_are_taken_over() {
        let mut stats = sample();
        stats.add_outputs(&[
            DisplayOutcome { path: "a.exr".into(), state: DisplayState::Whole },
            DisplayOutcome { path: "b.exr".into(), state: DisplayState::Partial { missing: 7 } },
        ]);
        let reporter = Reporter::silent();
        let place = SourceLocation { file: "a.rib".into(), line: 3, column: 4 };
        reporter.warn("badtoken", &place, "odd");
        reporter.error("noshader", &place, "no shader");
        reporter.error("noshader", &place, "no shader");
        reporter.report(Diagnostic::new(Severity::Info, "x", place, "never mind"));
        stats.set_warnings(&reporter);
        let value: serde_json::Value = serde_json::from_str(&stats.to_json()).expect("valid JSON");
        assert_eq!(value["outputs"][1], serde_json::json!({"file": "b.exr", "state": "partial", "missing_pixels": 7}));
        assert_eq!(value["errors_survived"], 2);
        let error = serde_json::json!(
            {"severity": "error", "code": "noshader", "place": "a.rib:3:4", "message": "no shader", "count": 2}
        );
        assert_eq!((value["warnings"].as_array().map(Vec::len), &value["warnings"][1]), (Some(2), &error));
        assert_eq!(
            stats.summary(),
            "2 files (1 partial): 1.50 s, 0.00 s on 2 devices; 3.6 M micropolygons, 0 sample points, \
             3.0 MiB of device memory at most; 2 errors survived"
        );
        stats.outputs.truncate(1);
        stats.devices.clear();
        stats.errors_survived = 0;
        assert_eq!(stats.summary(), "a.exr: 1.50 s");
    }
}
