//! What renders said of themselves, and what is typical of several.

use super::ForecastError;
use crate::stats::CostStats;
use serde::{Deserialize, Serialize};

/// The part of a render's statistics that a forecast is made of. Keys and meanings are those of [`Stats`](crate::stats::Stats).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRun {
    /// From the program's start to its end.
    pub wall_s: f64,
    /// Opening all devices.
    pub open_s: f64,
    /// Each opened device.
    pub devices: Vec<MeasuredDevice>,
    /// Each world that was drawn.
    pub worlds: Vec<MeasuredWorld>,
}

/// An opened device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredDevice {
    /// Its name.
    pub name: String,
}

/// A world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWorld {
    /// The pixels that were drawn.
    pub crop_px: [u32; 4],
    /// Geometry brought to devices, primitives counted.
    pub count_s: f64,
    /// Regions drawn.
    pub draw_s: f64,
    /// Files written.
    pub write_s: f64,
    /// Its regions.
    pub regions: Vec<RegionTimes>,
    /// What their times follow from.
    pub cost: Option<CostStats>,
}

/// A region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionTimes {
    /// Its pixels.
    pub px: [u32; 4],
    /// Vertices that colour was computed at.
    pub shaded_vertices: u64,
    /// Translucent entries.
    pub entries: u64,
    /// When it was begun.
    pub begin_s: f64,
    /// When it was finished.
    pub end_s: f64,
    /// What its submissions took, by the device's clock.
    pub device_s: f64,
}

impl MeasuredRun {
    /// What is typical of runs on one device that drew the same: medians. The times of regions become those of the host as well: the
    /// device's clock leaves out what the host does between submissions, and each region gets its share of that.
    ///
    /// # Errors
    /// If the runs are not alike, or not on one device.
    pub(super) fn typical(runs: &[Self]) -> Result<Self, ForecastError> {
        let mut runs = runs.to_vec();
        for run in &mut runs {
            if run.devices.len() != 1 {
                return Err(ForecastError::NotOneDevice(run.devices.len()));
            }
            run.worlds.iter_mut().for_each(MeasuredWorld::share_out);
        }
        let first = runs.first().ok_or(ForecastError::NothingDrawn)?;
        if !runs.iter().all(|run| run.is_like(first)) {
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
        let outside_s = median(&runs, Self::outside_s);
        typical.wall_s += outside_s - typical.outside_s();
        Ok(typical)
    }

    /// Seconds outside worlds, devices' opening apart: whatever is not told of a world was before it, such as reading and compiling.
    pub(super) fn outside_s(&self) -> f64 {
        let told: f64 = self.worlds.iter().map(|world| world.count_s + world.draw_s + world.write_s).sum();
        self.wall_s - self.open_s - told
    }

    fn is_like(&self, other: &Self) -> bool {
        let what = |world: &MeasuredWorld| {
            let regions: Vec<_> = world.regions.iter().map(|region| region.px).collect();
            (world.crop_px, regions, world.cost.as_ref().map(|cost| cost.micropolygons.clone()))
        };
        self.worlds.len() == other.worlds.len()
            && self.worlds.iter().zip(&other.worlds).all(|(a, b)| what(a) == what(b))
    }
}

impl MeasuredWorld {
    /// Adds what the host took to what the regions took by the device's clock, in proportion, and puts them in an order of their own.
    fn share_out(&mut self) {
        let by_device: f64 = self.regions.iter().map(|region| region.device_s).sum();
        let share = busy_seconds(&self.regions) / by_device;
        self.regions.iter_mut().for_each(|region| region.device_s *= share);
        self.regions.sort_by_key(|region| region.px);
    }
}

/// The middle value; of an even number, the smaller one in the middle.
fn median(runs: &[MeasuredRun], get: impl Fn(&MeasuredRun) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(get).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// Seconds with at least one region in flight.
fn busy_seconds(regions: &[RegionTimes]) -> f64 {
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
