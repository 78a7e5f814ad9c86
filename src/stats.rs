//! Statistics of a render: counts, times and bytes, as one JSON object with stable keys and as one line for people.
//!
//! Each device's thread fills a [`DeviceStats`] of its own; [`Stats::add_device`] adds it to the whole when the thread
//! is done. Nothing is shared while rendering. [`Measured`] is the part of that JSON that other commands read.

mod command_stats;
mod cost_stats;
mod counts;
mod estimate;
mod kernel_stats;
mod live_stats;
mod measured;
mod memory_stats;
mod pipeline_times;
mod texture_stats;
mod world_stats;

pub use command_stats::{CommandStats, CommandTimeStats};
pub use cost_stats::{CostStats, square_rows, square_values};
pub use counts::Counts;
pub use estimate::EstimateStats;
pub use kernel_stats::KernelStats;
pub use live_stats::{LivePictureState, LivePictureStats, LiveStats};
pub use measured::{Measured, MeasuredDevice, MeasuredOutput, MeasuredRegion, MeasuredTextureLoss, MeasuredWorld};
pub use memory_stats::{CategoryBytes, MemoryCategory};
pub use pipeline_times::PipelineTime;
pub use texture_stats::{TextureFileStats, TextureLossStats, TextureStats};
pub use world_stats::{ProgramStats, RegionStats, WorldStats};

use crate::diagnostic::{CountedMessage, Reporter, Severity, SourceLocation};
use crate::film::{DisplayOutcome, DisplayState};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// The stages that time is measured for, in the order in which data passes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Turns RIB into a scene, on the host.
    Parse,
    /// Turns RSL into Vulkan pipelines.
    Compile,
    /// Uploads the scene to the device.
    Upload,
    /// Splits primitives into subpatches and these into grids.
    BoundSplit,
    /// Selects the grids that overlap a region.
    Select,
    /// Computes the vertices of grids.
    Dice,
    /// Runs displacement shaders.
    Displace,
    /// Finds the nearest depth of each sample, and culls what is behind it.
    Hide,
    /// Runs surface, light and volume shaders.
    Shade,
    /// Finds the samples that translucent micropolygons cover.
    Sample,
    /// Composites the colours of each sample.
    Composite,
    /// Filters samples to pixels.
    Filter,
    /// Writes the film to files, on the host.
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

    /// Returns the name of the stage, which its kernel, its file, its trace slices and its statistics share.
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

    /// Returns the time spent in a stage so far.
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

/// Statistics of an opened device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceStats {
    /// Its index in `anthill devices`, which is the same for a device that is opened twice.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The name and version of its driver.
    pub driver: String,
    /// Its model and driver, by which a pipeline is kept for it.
    #[serde(skip)]
    pub model: String,
    /// The name of the pipeline that it drew with.
    pub pipeline: &'static str,
    /// Regions that it rendered.
    pub regions: u64,
    /// Regions among them that it took from other devices.
    pub stolen: u64,
    /// Regions that were split.
    pub splits: u64,
    /// Batches that were repeated after an overflow.
    pub retries: u64,
    /// How often it failed.
    pub failures: u64,
    /// How often it was opened again.
    pub reopened: u64,
    /// Time in which it had work.
    #[serde(rename = "busy_s", serialize_with = "seconds")]
    pub busy: Duration,
    /// Time in which it had no work.
    #[serde(rename = "idle_s", serialize_with = "seconds")]
    pub idle: Duration,
    /// Time that its thread spent on scheduling: taking, cutting and stealing regions, and delivering their results.
    #[serde(rename = "scheduling_s", serialize_with = "seconds")]
    pub scheduling: Duration,
    /// The time of its longest submission, by the device's clock.
    #[serde(rename = "submission_max_s", serialize_with = "seconds")]
    pub submission_max: Duration,
    /// The most device memory that was allocated at once.
    pub peak_bytes: u64,
    /// The limit of its memory.
    pub limit_bytes: u64,
    /// The most device memory of each category; they need not have been in use at the same time.
    #[serde(rename = "categories_peak_bytes")]
    pub categories_peak: CategoryBytes,
    /// Time that it spent in each stage.
    #[serde(rename = "stages_s")]
    pub stages: StageTimes,
    /// The times of its commands; `None` unless they were timed.
    pub command_times: Option<CommandTimeStats>,
    /// Its share of the counts of the render.
    #[serde(skip)]
    pub counts: Counts,
}

/// A file that a display wrote or should have written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputStats {
    /// Its name.
    pub file: String,
    /// `whole`, `partial` or `missing`.
    pub state: String,
    /// Pixels that were not finished; 0 unless the state is `partial`.
    pub missing_pixels: u64,
}

/// A warning or error that was reported to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarningStats {
    /// `warning` or `error`.
    pub severity: &'static str,
    /// Its short stable name.
    pub code: &'static str,
    /// Its location in the input: file, line and column.
    pub place: String,
    /// The next few places at which it occurred.
    pub more_places: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// How often it occurred.
    pub count: u64,
}

/// Statistics of a render. The order of the fields is the order of the JSON keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Version of the program.
    pub version: &'static str,
    /// The scene files as typed, separated by blanks.
    pub scene: String,
    /// The files of all displays.
    pub outputs: Vec<OutputStats>,
    /// Time from the program's start to its end.
    #[serde(rename = "wall_s", serialize_with = "seconds")]
    pub wall: Duration,
    /// Time from the first submission until the last pixel was read back, added up over all worlds.
    #[serde(rename = "render_s", serialize_with = "seconds")]
    pub render: Duration,
    /// Time for opening all devices, in parallel; under validation, one after the other.
    #[serde(rename = "open_s", serialize_with = "seconds")]
    pub open: Duration,
    /// Time in each stage, host and all devices added up.
    #[serde(rename = "stages_s")]
    pub stages: StageTimes,
    /// Counts of all devices.
    #[serde(flatten)]
    pub counts: Counts,
    /// Errors that were survived, repeats included.
    pub errors_survived: u64,
    /// Requests for geometry that were left out, and objects of which parts were left out.
    #[serde(rename = "geometry_left_out")]
    pub left_out: u64,
    /// Textures and files of points that could not be read, and files of points that could not be written.
    #[serde(rename = "files_lost")]
    pub lost_files: u64,
    /// Texture statistics of all textures added up.
    pub texture: TextureStats,
    /// Time lost because devices lacked tiles.
    pub texture_loss: TextureLossStats,
    /// Every texture that was opened.
    pub textures: Vec<TextureFileStats>,
    /// Every kernel that was compiled, the slowest first.
    pub kernels: Vec<KernelStats>,
    /// Time that devices waited for kernels, added up over all devices.
    #[serde(rename = "kernels_wait_s", serialize_with = "seconds")]
    pub kernels_wait: Duration,
    /// Every opened device.
    pub devices: Vec<DeviceStats>,
    /// Every world that was rendered, in order.
    pub worlds: Vec<WorldStats>,
    /// What a live session has drawn; `None` for batch renders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveStats>,
    /// Every distinct warning and error, in order of first appearance.
    pub warnings: Vec<WarningStats>,
}

impl Stats {
    /// Adds the statistics of a device, which is identified by its index `slot` among the opened devices. Its counts
    /// and stage times become part of the total. If the device was added before, for an earlier world, the numbers are
    /// added up.
    pub fn add_device(&mut self, slot: usize, device: DeviceStats) {
        self.stages.merge(&device.stages);
        self.counts.add(&device.counts);
        match self.devices.get_mut(slot) {
            Some(known) => known.merge(&device),
            None => self.devices.push(device),
        }
    }

    /// Adds times of a device that was added before.
    pub fn add_times(&mut self, slot: usize, stages: StageTimes, command_times: Option<CommandTimeStats>) {
        if slot < self.devices.len() {
            self.add_device(slot, DeviceStats { stages, command_times, ..DeviceStats::default() });
        }
    }

    /// Adds the state of displays.
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

    /// Sets warnings and errors to those that were reported.
    pub fn set_warnings(&mut self, reporter: &Reporter) {
        self.errors_survived = reporter.count_at_least(Severity::Error);
        let row = |CountedMessage { diagnostic, count, more_places }: CountedMessage| WarningStats {
            severity: if diagnostic.severity == Severity::Warning { "warning" } else { "error" },
            code: diagnostic.code,
            place: diagnostic.location.to_string(),
            more_places: more_places.iter().map(SourceLocation::to_string).collect(),
            message: diagnostic.message,
            count,
        };
        let all = reporter.counted().into_iter().filter(|message| message.diagnostic.severity >= Severity::Warning);
        self.warnings = all.map(row).collect();
    }

    /// Returns the JSON object, followed by a line end.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("statistics have string keys and finite numbers");
        json.push('\n');
        json
    }

    /// Returns one line for people: what was written, how long it took, and on how many devices.
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
        line += if self.devices.is_empty() { "" } else { " in all" };
        if !self.devices.is_empty() {
            let peak = self.devices.iter().map(|device| device.peak_bytes).max().unwrap_or(0);
            let plural = if self.devices.len() == 1 { "" } else { "s" };
            line += &format!(
                ", {:.2} s of it drawing on {} device{plural}; {} micropolygons, {} sample points, {} of device memory at most",
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
        self.counts.add(&other.counts);
        self.categories_peak.raise(&other.categories_peak);
        if let Some(times) = &other.command_times {
            self.command_times.get_or_insert_default().merge(times);
        }
    }
}

/// Returns a count for people: 999, 1.2 k, 34.5 M, 6.7 G.
fn in_thousands(count: u64) -> String {
    scaled(count, 1000.0, &["", " k", " M", " G", " T"])
}

/// Returns a number of bytes for people: 999 B, 1.2 KiB, 34.5 MiB, 6.7 GiB.
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
    use crate::diagnostic::Diagnostic;

    fn device(peak_bytes: u64) -> DeviceStats {
        let mut device =
            DeviceStats { name: "gpu".into(), regions: 2, stolen: 1, peak_bytes, ..DeviceStats::default() };
        device.stages.add(Stage::Shade, Duration::from_millis(250));
        device.counts.micropolygons = 1_200_000;
        device
    }

    fn sample() -> Stats {
        let mut stats = Stats { version: "1", scene: "a.rib".into(), ..Stats::default() };
        stats.wall = Duration::from_millis(1500);
        stats.stages.add(Stage::Parse, Duration::from_millis(500));
        stats.add_device(0, device(1 << 20));
        stats.add_device(1, device(3 << 20));
        stats.add_device(0, device(2 << 20));
        for file in ["a.tex", "b.tex"] {
            stats.add_texture(file.into(), TextureStats { misses: 3, reruns: 1, ..TextureStats::default() });
        }
        stats
    }

    #[test]
    fn devices_add_up() {
        let stats = sample();
        assert_eq!(stats.counts.micropolygons, 3_600_000);
        assert_eq!((stats.texture.misses, stats.texture.reruns), (6, 2));
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
            "replaced_micropolygons",
            "recalled_regions",
            "errors_survived",
            "geometry_left_out",
            "files_lost",
            "texture",
            "texture_loss",
            "textures",
            "kernels",
            "kernels_wait_s",
            "devices",
            "worlds",
            "warnings",
        ];
        assert_eq!(keys_at("  "), top);
        let device = [
            "index",
            "name",
            "driver",
            "pipeline",
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
            "categories_peak_bytes",
        ];
        let keys = keys_at("      ");
        assert!(keys.windows(device.len()).any(|keys| keys == device), "{keys:?}");
        let value: serde_json::Value = serde_json::from_str(&json).expect("valid JSON");
        let stages: Vec<&str> = Stage::ALL.map(Stage::name).into();
        let order = "parse compile upload bound_split select dice displace hide shade sample composite filter write";
        assert_eq!(stages.join(" "), order);
        assert!(stages.iter().all(|stage| value["stages_s"][stage].is_f64()));
        assert_eq!((value["wall_s"].as_f64(), value["stages_s"]["shade"].as_f64()), (Some(1.5), Some(0.75)));
        let texture = value["texture"].as_object().expect("an object");
        assert!(
            ["requests", "misses", "prefetched", "redundant_reads", "read_s"]
                .iter()
                .all(|key| texture.contains_key(*key))
        );
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
            {"severity": "error", "code": "noshader", "place": "a.rib:3:4", "more_places": [], "message": "no shader", "count": 2}
        );
        assert_eq!((value["warnings"].as_array().map(Vec::len), &value["warnings"][1]), (Some(2), &error));
        assert_eq!(
            stats.summary(),
            "2 files (1 partial): 1.50 s in all, 0.00 s of it drawing on 2 devices; 3.6 M micropolygons, 0 sample points, \
             3.0 MiB of device memory at most; 2 errors survived"
        );
        stats.outputs.truncate(1);
        stats.devices.clear();
        stats.errors_survived = 0;
        assert_eq!(stats.summary(), "a.exr: 1.50 s");
    }
}
