//! What drawing a world took, for the statistics.

use crate::gpu::Device;
use crate::render::device::renderer::Picture;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::region::chain::RegionCounts;
use crate::render::session::devices::DeviceSlot;
use crate::schedule::Report;
use crate::stats::{Counts, DeviceStats, Stage, Stats};
use std::time::Duration;

/// Adds what was counted, sampled and shaded.
pub(crate) fn add_counts(counts: &mut Counts, picture: &Picture, counted: &PictureGrids, totals: &RegionCounts) {
    let frame = &picture.world.frame;
    let [x0, y0, x1, y1] = frame.sampled_px.map(i64::from);
    counts.grids += counted.list.len() as u64;
    counts.micropolygons += counted.totals.micropolygons;
    counts.shaded_vertices += totals.shaded_vertices;
    let samples = u64::from(frame.samples[0] * frame.samples[1]);
    counts.sample_points += ((x1 - x0) * (y1 - y0)).cast_unsigned() * samples;
}

/// Adds what each device did.
pub(crate) fn add_devices(stats: &mut Stats, slots: &[DeviceSlot], report: &Report) {
    for (number, (slot, report)) in slots.iter().zip(&report.devices).enumerate() {
        let mut device = DeviceStats {
            index: slot.info.index as u32,
            name: slot.info.name.clone(),
            driver: slot.info.driver.clone(),
            regions: report.regions,
            stolen: report.stolen,
            splits: report.splits,
            retries: report.retries,
            busy: report.busy,
            idle: report.idle,
            scheduling: report.scheduling,
            ..DeviceStats::default()
        };
        if let Some(open) = &slot.device {
            add_use(&mut device, open);
        }
        stats.add_device(number, device);
    }
}

/// Adds what befell each device; where nothing befell any, nothing.
pub(crate) fn add_failures(stats: &mut Stats, slots: &[DeviceSlot]) {
    let counts: Vec<(u64, u64)> = slots.iter().map(|slot| slot.record.take_counts()).collect();
    if counts.iter().all(|counts| *counts == (0, 0)) {
        return;
    }
    for (number, (slot, (failures, reopened))) in slots.iter().zip(counts).enumerate() {
        let (index, name, driver) = (slot.info.index as u32, slot.info.name.clone(), slot.info.driver.clone());
        stats.add_device(number, DeviceStats { index, name, driver, failures, reopened, ..DeviceStats::default() });
    }
}

/// Memory and time that a device took.
fn add_use(stats: &mut DeviceStats, device: &Device) {
    stats.peak_bytes = device.memory().peak_bytes;
    stats.submission_max = Duration::from_secs_f64(device.submission_max_s());
    stats.limit_bytes = device.memory().budget_bytes;
    for stage in Stage::ALL {
        if let Some(seconds) = device.stage_seconds().get(stage.name()) {
            stats.stages.add(stage, Duration::from_secs_f64(*seconds));
        }
    }
}
