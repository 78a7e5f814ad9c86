//! What drawing a world took, for the statistics.

use crate::gpu::{CommandKind, CommandTimes, CommandTotal, Device, DeviceInfo, DeviceTimes};
use crate::pipeline::frame;
use crate::pipeline_choice::model_and_driver;
use crate::render::device::picture::Picture;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::region::region_result::RegionCounts;
use crate::schedule::Report;
use crate::stats::{CommandStats, CommandTimeStats, Counts, DeviceStats, Stage, StageTimes, Stats, TextureStats};
use crate::texture::TextureReads;
use std::path::PathBuf;
use std::time::Duration;

/// Adds what was counted, sampled and shaded.
pub(crate) fn add_counts(counts: &mut Counts, picture: &Picture, counted: &PictureGrids, totals: &RegionCounts) {
    counts.grids += counted.list.len() as u64;
    counts.micropolygons += counted.totals.micropolygons;
    counts.shaded_vertices += totals.shaded_vertices;
    counts.replaced_micropolygons += totals.replaced_values.micropolygons;
    counts.recalled_regions += totals.recalled_regions;
    counts.sample_points += frame::sample_count(&picture.world.frame);
}

/// A device after a world.
pub(crate) struct DrawnOn<'a> {
    pub info: &'a DeviceInfo,
    /// The name of its pipeline.
    pub pipeline: &'static str,
    /// The device; `None` if it failed and is closed.
    pub device: Option<&'a Device>,
}

/// How often a device failed, and how often it was opened again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FailureCounts {
    pub failures: u64,
    pub reopened: u64,
}

/// The failures of a device while a world was drawn.
pub(crate) struct FailedOn<'a> {
    pub info: &'a DeviceInfo,
    /// The name of its pipeline.
    pub pipeline: &'static str,
    pub counts: FailureCounts,
}

/// Adds what each device did.
pub(crate) fn add_devices<'a>(stats: &mut Stats, devices: impl Iterator<Item = DrawnOn<'a>>, report: &Report) {
    for (number, (DrawnOn { info, pipeline, device: open }, report)) in devices.zip(&report.devices).enumerate() {
        let mut device = DeviceStats {
            regions: report.regions,
            stolen: report.stolen,
            splits: report.splits,
            retries: report.retries,
            busy: report.busy,
            idle: report.idle,
            scheduling: report.scheduling,
            ..named(info, pipeline)
        };
        if let Some(open) = open {
            add_use(&mut device, open);
        }
        stats.add_device(number, device);
    }
}

/// Adds what was asked for and read of textures. `counted` says whether lookups were counted.
pub(crate) fn add_textures(stats: &mut Stats, textures: &[(PathBuf, TextureReads)], counted: bool) {
    for (path, texture) in textures {
        let reads = TextureStats {
            lookups: counted.then_some(texture.lookups),
            requests: texture.requests,
            misses: texture.misses,
            reruns: texture.reruns,
            prefetched: texture.prefetched,
            tiles_read: texture.tiles_read,
            redundant_reads: texture.redundant_reads,
            bytes_read: texture.bytes_read,
            read: texture.read,
        };
        stats.add_texture(path.display().to_string(), reads);
    }
}

/// Adds the failures of each device, if any device failed.
pub(crate) fn add_failures(stats: &mut Stats, devices: &[FailedOn<'_>]) {
    if devices.iter().all(|device| device.counts == FailureCounts::default()) {
        return;
    }
    for (number, &FailedOn { info, pipeline, counts }) in devices.iter().enumerate() {
        let FailureCounts { failures, reopened } = counts;
        let device = DeviceStats { failures, reopened, ..named(info, pipeline) };
        stats.add_device(number, device);
    }
}

/// Returns the statistics of a device that has done nothing yet.
fn named(info: &DeviceInfo, pipeline: &'static str) -> DeviceStats {
    let (index, name, driver) = (info.index as u32, info.name.clone(), info.driver.clone());
    DeviceStats { index, name, driver, model: model_and_driver(info), pipeline, ..DeviceStats::default() }
}

/// Adds the memory that a device took.
fn add_use(stats: &mut DeviceStats, device: &Device) {
    stats.peak_bytes = device.memory().peak_bytes;
    stats.submission_max = Duration::from_secs_f64(device.submission_max_s());
    stats.limit_bytes = device.memory().budget_bytes;
    stats.categories_peak = device.memory().peak_categories;
}

/// Adds what the clock of a device has measured of a world.
pub(crate) fn add_times(stats: &mut Stats, slot: usize, times: DeviceTimes) {
    let mut stages = StageTimes::default();
    for stage in Stage::ALL {
        if let Some(seconds) = times.stages_s.get(stage.name()) {
            stages.add(stage, Duration::from_secs_f64(*seconds));
        }
    }
    let command_times = times.commands.map(|CommandTimes { totals, untimed, pair_s, gap_s }| CommandTimeStats {
        commands: totals.into_iter().map(command_stats).collect(),
        untimed,
        timing_s: pair_s,
        gap_s,
    });
    stats.add_times(slot, stages, command_times);
}

fn command_stats(total: CommandTotal) -> CommandStats {
    let pipeline = match &total.kind {
        CommandKind::Kernel(kernel) => kernel.program().map(ToString::to_string),
        _ => None,
    };
    let CommandTotal { stage, kind, calls, items, unit, seconds } = total;
    CommandStats { stage, kernel: kind.name().to_string(), pipeline, calls, items, unit, device_s: seconds }
}
