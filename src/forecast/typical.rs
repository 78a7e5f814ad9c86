//! The medians of several runs of the same scene.

use super::ForecastError;
use crate::stats::{CostStats, Measured, MeasuredRegion, MeasuredWorld};

/// Returns the medians of several runs of the same scene on one device. The times of regions are extended by host time:
/// the device's clock leaves out what the host does between submissions, and each region gets its share of that.
///
/// # Errors
/// If the runs differ, or are not on one device.
pub(super) fn typical(runs: &[Measured]) -> Result<Measured, ForecastError> {
    let mut runs = runs.to_vec();
    for run in &mut runs {
        if run.devices.len() != 1 {
            return Err(ForecastError::NotOneDevice(run.devices.len()));
        }
        run.worlds.iter_mut().for_each(add_host_time);
    }
    let first = runs.first().ok_or(ForecastError::NothingDrawn)?;
    if !runs.iter().all(|run| is_same_scene(run, first)) {
        return Err(ForecastError::Differ);
    }
    let mut typical = first.clone();
    typical.open_s = median(&runs, |run| run.open_s);
    for (place, world) in typical.worlds.iter_mut().enumerate() {
        let of = |get: &dyn Fn(&MeasuredWorld) -> f64| median(&runs, |run| get(&run.worlds[place]));
        (world.count_s, world.draw_s, world.write_s) = (of(&|w| w.count_s), of(&|w| w.draw_s), of(&|w| w.write_s));
        for (number, region) in world.regions.iter_mut().enumerate() {
            region.device_s = of(&|world| world.regions[number].device_s);
        }
        if let Some(cost) = &mut world.cost {
            let of = |get: &dyn Fn(&CostStats) -> f64| of(&|world| world.cost.as_ref().map_or(0.0, get));
            cost.devices_s = of(&|cost| cost.devices_s);
            cost.table_s = of(&|cost| cost.table_s);
            cost.deposit_s = of(&|cost| cost.deposit_s);
            cost.start_s = vec![of(&|cost| cost.start_s.first().copied().unwrap_or(0.0))];
        }
    }
    let outside = median(&runs, outside_s);
    typical.wall_s += outside - outside_s(&typical);
    Ok(typical)
}

/// Returns the seconds outside worlds, without opening devices: reading and compiling, for example.
pub(super) fn outside_s(run: &Measured) -> f64 {
    let in_worlds: f64 = run.worlds.iter().map(|world| world.count_s + world.draw_s + world.write_s).sum();
    run.wall_s - run.open_s - in_worlds
}

fn is_same_scene(run: &Measured, other: &Measured) -> bool {
    let identity = |world: &MeasuredWorld| {
        let regions: Vec<_> = world.regions.iter().map(|region| region.px).collect();
        (world.crop_px, regions, world.cost.as_ref().map(|cost| cost.micropolygons.clone()))
    };
    run.worlds.len() == other.worlds.len()
        && run.worlds.iter().zip(&other.worlds).all(|(a, b)| identity(a) == identity(b))
}

/// Adds the host's time to the regions' times by the device's clock, in proportion, and sorts the regions.
fn add_host_time(world: &mut MeasuredWorld) {
    let by_device: f64 = world.regions.iter().map(|region| region.device_s).sum();
    let share = busy_seconds(&world.regions) / by_device;
    world.regions.iter_mut().for_each(|region| region.device_s *= share);
    world.regions.sort_by_key(|region| region.px);
}

/// Returns the median; of an even number of values, the lower of the two in the middle.
fn median(runs: &[Measured], get: impl Fn(&Measured) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(get).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// Returns the seconds with at least one region in flight.
fn busy_seconds(regions: &[MeasuredRegion]) -> f64 {
    let mut spans: Vec<_> = regions.iter().map(|region| (region.begin_s, region.end_s)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut until = f64::NEG_INFINITY;
    let mut busy = 0.0;
    for (begin, end) in spans {
        busy += (end - begin.max(until)).max(0.0);
        until = until.max(end);
    }
    busy
}
