//! Forecasts: from the statistics of renders on one device, how long renders on other devices take.
//!
//! The statistics ([`Measured`]) say how long each region took, and [`CostStats`] what each part of the picture holds.
//! Rates are fitted to the regions, and [`predict()`] runs the real scheduler with them on a virtual clock. Worlds are
//! drawn one after the other, so their times add up.
//!
//! A run on one device cuts its picture only where it must, and rates cannot be fitted to a few regions; `--regions`
//! cuts the picture into regions of different sizes. Several runs of the same scene are reduced to their medians, so
//! that other load on the machine matters less.

mod predict;
mod region_cost;
mod typical;

pub use predict::{CostModel, DeviceModel, DevicePrediction, Prediction, SerialCost, predict};
pub use region_cost::{
    CostRates, FIT_REGIONS_MIN, FitError, FittedRates, PictureCost, RegionLoad, RegionShading, TimedRegion, fit_rates,
};

use crate::schedule::{Capacity, Incomplete, Rates, Region, SquareCounts, SquareGrid, SquareGrids, SummedArea};
use crate::stats::{CostStats, Measured, MeasuredRegion, MeasuredWorld, square_values};
use serde::Serialize;
use std::sync::Arc;
use thiserror::Error;

/// Why there is no forecast.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ForecastError {
    /// The runs cannot be reduced to medians because they are not of the same scene, or do not have the same regions.
    #[error("the runs differ in what they drew, or in the regions that they drew")]
    Differ,
    /// The run was not on one device.
    #[error("the statistics are of {0} devices: a forecast needs a run on one device")]
    NotOneDevice(usize),
    /// No world was drawn.
    #[error("the statistics have no world that was drawn")]
    NothingDrawn,
    /// Rates cannot be fitted to the regions of a world.
    #[error("world {place}: {error}")]
    Rates {
        /// Number of the world, from 1.
        place: usize,
        /// Why the fit failed.
        error: FitError,
    },
    /// The statistics are inconsistent.
    #[error("world {place}: {what}")]
    Inconsistent {
        /// Number of the world, from 1.
        place: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// The picture cannot be drawn on the given devices.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
}

impl ForecastError {
    /// Returns what the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotOneDevice(_) => "render with --devices 0 --stats FILE.json",
            Self::Rates { .. } => "render with --regions 40, which cuts the picture into about 40 regions",
            Self::NothingDrawn | Self::Inconsistent { .. } => "give a file that `render --stats` of this version wrote",
            Self::Differ => "give runs of the same scene with the same flags",
            Self::Incomplete(_) => "",
        }
    }
}

/// The cost model of a world, from which renders on other devices are predicted.
#[derive(Clone, Debug)]
pub struct WorldModel {
    /// The cost of the world.
    pub model: CostModel,
    /// The rates, and how well they explain the measured regions.
    pub fitted: FittedRates,
    /// The device that was measured.
    pub device: DeviceModel,
}

/// What was derived from the measured regions of a world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorldRates {
    /// The rates, and how well they explain the measured regions.
    pub fitted: FittedRates,
    /// Time spent on everything except drawing.
    pub serial: SerialCost,
    /// Seconds from the start of drawing until a device can begin a region.
    pub start_s: f64,
}

/// The cost model of a render.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// The worlds that the render draws, in order.
    pub worlds: Vec<WorldModel>,
}

impl Forecast {
    /// Fits rates to the measurements of one run, or of several runs of the same scene.
    ///
    /// # Errors
    /// See [`ForecastError`].
    pub fn new(runs: &[Measured]) -> Result<Self, ForecastError> {
        let run = &typical::typical(runs)?;
        let drawn = run.worlds.iter().zip(1..).filter_map(|(world, place)| Some((world, world.cost.as_ref()?, place)));
        let worlds: Result<Vec<_>, _> = drawn.map(|(world, cost, place)| world_model(world, cost, place)).collect();
        let mut worlds = worlds?;
        let first = worlds.first_mut().ok_or(ForecastError::NothingDrawn)?;
        first.model.serial.before_s += typical::outside_s(run).max(0.0);
        first.model.serial.open_s += run.open_s;
        Ok(Self { worlds })
    }

    /// Returns the rates of each world.
    pub fn rates(&self) -> Vec<WorldRates> {
        let rates = |world: &WorldModel| WorldRates {
            fitted: world.fitted,
            serial: world.model.serial,
            start_s: world.device.start_s,
        };
        self.worlds.iter().map(rates).collect()
    }

    /// Predicts the render on devices with these speeds, which are multiples of the measured device's speed. There must
    /// be at least one device, and each speed must be more than 0.
    ///
    /// # Errors
    /// If part of a picture is too large for every device.
    pub fn predict(&self, speeds: &[f64]) -> Result<Prediction, ForecastError> {
        let each = |world: &WorldModel| {
            let devices: Vec<_> = speeds.iter().map(|&speed| DeviceModel { speed, ..world.device }).collect();
            predict(&world.model, &devices)
        };
        let predictions: Vec<Prediction> = self.worlds.iter().map(each).collect::<Result<_, _>>()?;
        predictions.into_iter().reduce(one_after_the_other).ok_or(ForecastError::NothingDrawn)
    }
}

/// Returns the prediction for two worlds drawn one after the other on the same devices.
fn one_after_the_other(a: Prediction, b: Prediction) -> Prediction {
    let alone = a.total_s * a.speed_up + b.total_s * b.speed_up;
    let alone_rendering = a.render_s * a.render_speed_up + b.render_s * b.render_speed_up;
    let alone_drawing = a.drawing_s * a.drawing_speed_up + b.drawing_s * b.drawing_speed_up;
    let total_s = a.total_s + b.total_s;
    let (render_s, drawing_s) = (a.render_s + b.render_s, a.drawing_s + b.drawing_s);
    let speed_up = alone / total_s;
    let device = |(a, b): (&DevicePrediction, &DevicePrediction)| DevicePrediction {
        speed: a.speed,
        regions: a.regions + b.regions,
        stolen: a.stolen + b.stolen,
        busy_s: a.busy_s + b.busy_s,
        idle_s: a.idle_s + b.idle_s,
    };
    let devices: Vec<_> = a.devices.iter().zip(&b.devices).map(device).collect();
    Prediction {
        total_s,
        render_s,
        drawing_s,
        speed_up,
        render_speed_up: alone_rendering / render_s,
        drawing_speed_up: alone_drawing / drawing_s,
        efficiency: speed_up / devices.iter().map(|device| device.speed).sum::<f64>(),
        regions: a.regions + b.regions,
        stolen: a.stolen + b.stolen,
        devices,
    }
}

fn world_model(world: &MeasuredWorld, cost: &CostStats, place: usize) -> Result<WorldModel, ForecastError> {
    let inconsistent = |what| ForecastError::Inconsistent { place, what };
    let mut picture = picture_cost(world, cost).map_err(inconsistent)?;
    let shading_of = |row: &MeasuredRegion| {
        let region = Region::new(row.px)?;
        Some(RegionShading { region, shaded_vertices: row.shaded_vertices, entries: row.entries })
    };
    let shadings: Option<Vec<_>> = world.regions.iter().map(shading_of).collect();
    let shadings = shadings.ok_or(inconsistent("a region has no pixels"))?;
    picture.add_measured_shading(&shadings);
    let measured = |(row, shading): (&MeasuredRegion, &RegionShading)| TimedRegion {
        load: picture.load(shading.region),
        seconds: row.device_s,
    };
    let regions: Vec<_> = world.regions.iter().zip(&shadings).map(measured).collect();
    let fitted = fit_rates(&regions).map_err(|error| ForecastError::Rates { place, error })?;
    let serial = SerialCost {
        before_s: 0.0,
        open_s: 0.0,
        set_up_s: cost.devices_s,
        table_s: cost.table_s,
        counting_s: (world.count_s - cost.devices_s).max(0.0),
        counting_jobs: cost.count_jobs,
        pixel_s: cost.deposit_s / picture.table.picture().pixel_count() as f64,
        after_s: world.write_s,
    };
    let lists = [cost.samples, cost.apron_px];
    let device = DeviceModel {
        speed: 1.0,
        start_s: cost.start_s.first().copied().unwrap_or(0.0),
        in_flight: cost.in_flight,
        capacity: Capacity::of_lists(lists, cost.region_subpixels_max, cost.region_grids_max),
    };
    Ok(WorldModel { model: CostModel { picture, rates: fitted.rates, serial }, fitted, device })
}

fn picture_cost(world: &MeasuredWorld, cost: &CostStats) -> Result<PictureCost, &'static str> {
    let whole = Region::new(world.crop_px).ok_or("no pixels were drawn")?;
    let values = |rows: &[String]| {
        let values = square_values(rows).ok_or("a row of squares holds something other than numbers")?;
        let all = values.len() == SquareGrid::of(whole).square_count();
        all.then_some(values).ok_or("the number of squares does not match the pixels")
    };
    let (micropolygons, translucent) = (values(&cost.micropolygons)?, values(&cost.translucent)?);
    let [meet, right, below, both] = &cost.grids;
    let (meet, right, below, both) = (values(meet)?, values(right)?, values(below)?, values(both)?);
    let square = |i: usize| SquareCounts {
        micropolygons: micropolygons[i],
        grids: SquareGrids { meet: meet[i], right: right[i], below: below[i], both: both[i] },
        translucent: translucent[i],
    };
    let squares: Vec<SquareCounts> = (0..micropolygons.len()).map(square).collect();
    let table = Arc::new(SummedArea::new(whole, &squares, Rates::at(cost.samples)));
    Ok(PictureCost::new(table, cost.samples, cost.apron_px, cost.grid_px))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{MeasuredDevice, square_rows};

    const RATES: CostRates =
        CostRates { region_s: 0.004, micropolygon_s: 1e-6, subpixel_s: 2e-8, shaded_vertex_s: 5e-7, entry_s: 3e-6 };

    fn cost() -> CostStats {
        let squares = 40 * 30;
        let columns = 40;
        CostStats {
            samples: [4, 4],
            apron_px: [1, 1],
            grid_px: [8.0, 8.0],
            micropolygons: square_rows((0..squares).map(|i| i * 7 % 900), columns),
            grids: std::array::from_fn(|_| square_rows((0..squares).map(|i| i % 5), columns)),
            translucent: square_rows((0..squares).map(|i| i * 7 % 900 * u64::from(i % 3 == 0)), columns),
            devices_s: 0.25,
            count_jobs: 2,
            table_s: 0.125,
            deposit_s: 0.0,
            start_s: vec![0.0],
            in_flight: 2,
            region_subpixels_max: 1 << 24,
            region_grids_max: 1 << 24,
        }
    }

    /// Returns a run that follows the rates, with a third more time on the host; two regions are in flight all the
    /// time.
    fn run() -> Measured {
        let mut world =
            MeasuredWorld { crop_px: [0, 0, 640, 480], count_s: 0.75, write_s: 0.5, ..MeasuredWorld::default() };
        let picture = picture_cost(&world, &cost()).expect("squares of these pixels");
        let mut now = 1.0;
        let parts = picture.table.uneven_parts(picture.table.picture(), 34);
        for (part, place) in parts.into_iter().zip(0..) {
            let (shaded_vertices, entries) = (place * 37 % 11 * 9000, place * 53 % 7 * 2000);
            let load = picture.load(part);
            let shaded = RegionLoad { shaded_vertices: shaded_vertices as f64, entries: entries as f64, ..load };
            let device_s = RATES.seconds(shaded);
            let (begin_s, end_s) = (now - 0.001, now + device_s * 4.0 / 3.0);
            let px = part.to_array();
            let times = MeasuredRegion { begin_s, end_s, device_s, ..MeasuredRegion::default() };
            let region = MeasuredRegion { px, shaded_vertices, entries, ..times };
            now = region.end_s;
            world.regions.push(region);
        }
        world.draw_s = now - 1.0 + 0.125;
        world.cost = Some(cost());
        let wall_s = 0.25 + 0.5 + world.count_s + world.draw_s + world.write_s;
        let devices = vec![MeasuredDevice::default()];
        Measured { wall_s, open_s: 0.5, devices, worlds: vec![world], ..Measured::default() }
    }

    fn forecast(run: &Measured) -> Result<Forecast, ForecastError> {
        Forecast::new(std::slice::from_ref(run))
    }

    #[test]
    fn rates_and_serial_times_are_found_again() {
        let run = run();
        let world = &forecast(&run).expect("a run on one device").worlds[0];
        assert!(world.fitted.relative_error < 0.02, "{:?}", world.fitted);
        let host = 4.0 / 3.0;
        assert!(
            (world.model.rates.micropolygon_s / RATES.micropolygon_s / host - 1.0).abs() < 0.1,
            "{:?}",
            world.model.rates
        );
        let serial = &world.model.serial;
        assert!((serial.before_s - 0.25).abs() < 1e-9, "0.25 before the world: {serial:?}");
        assert_eq!((serial.open_s, serial.set_up_s, serial.table_s, serial.after_s), (0.5, 0.25, 0.125, 0.5));
        assert_eq!((serial.counting_s, serial.counting_jobs), (0.5, 2));
    }

    #[test]
    fn one_device_is_forecast_as_measured_except_for_the_cuts() {
        let run = run();
        let one = forecast(&run).and_then(|f| f.predict(&[1.0])).expect("a run on one device");
        assert!(
            one.regions == 1 && one.total_s < run.wall_s && one.total_s > 0.8 * run.wall_s,
            "{one:?}, {}",
            run.wall_s
        );
        let four = forecast(&run).and_then(|f| f.predict(&[1.0; 4])).expect("a run on one device");
        assert!(four.drawing_s < one.drawing_s && four.devices.len() == 4);
        // Four devices set up, half of the counting (two jobs), the table.
        assert!((four.render_s - four.drawing_s - (4.0 * 0.25 + 0.25 + 0.125)).abs() < 1e-9, "{four:?}");
        assert!((four.render_speed_up - one.render_s / four.render_s).abs() < 1e-12);
    }

    #[test]
    fn one_disturbed_run_of_three_changes_nothing() {
        let good = run();
        let mut disturbed = good.clone();
        let world = &mut disturbed.worlds[0];
        world.regions[3].device_s *= 5.0;
        world.regions.reverse();
        (world.draw_s, world.count_s) = (world.draw_s * 2.0, world.count_s * 3.0);
        disturbed.wall_s *= 4.0;
        let one = forecast(&good).and_then(|f| f.predict(&[1.0; 3]));
        let three = Forecast::new(&[good.clone(), disturbed, good.clone()]).and_then(|f| f.predict(&[1.0; 3]));
        let (one, three) = (one.expect("a run on one device"), three.expect("runs on one device"));
        assert!((one.total_s - three.total_s).abs() < 1e-6 * one.total_s, "{one:?} {three:?}");
        let mut other = good.clone();
        other.worlds[0].regions.pop();
        assert_eq!(Forecast::new(&[good, other]).map(drop), Err(ForecastError::Differ));
        assert_eq!(Forecast::new(&[]).map(drop), Err(ForecastError::NothingDrawn));
    }

    #[test]
    fn worlds_follow_one_another() {
        let mut two = run();
        let one = forecast(&two).and_then(|f| f.predict(&[1.0, 1.0])).expect("a run on one device");
        two.worlds.push(two.worlds[0].clone());
        let world = &two.worlds[0];
        two.wall_s += world.count_s + world.draw_s + world.write_s;
        let both = forecast(&two).and_then(|f| f.predict(&[1.0, 1.0])).expect("a run on one device");
        assert!((both.drawing_s - 2.0 * one.drawing_s).abs() < 1e-9);
        assert!((both.drawing_speed_up - one.drawing_speed_up).abs() < 1e-9);
        assert!((both.render_s - 2.0 * one.render_s).abs() < 1e-9);
        assert!((both.render_speed_up - one.render_speed_up).abs() < 1e-9);
        assert!(both.total_s < 2.0 * one.total_s, "devices are opened once");
    }

    #[test]
    fn unusable_statistics_are_refused() {
        let good = run();
        let refused = |change: &dyn Fn(&mut Measured)| {
            let mut bad = good.clone();
            change(&mut bad);
            forecast(&bad).expect_err("no forecast is possible").to_string()
        };
        let with_cost =
            |change: fn(&mut CostStats)| refused(&move |run| run.worlds[0].cost.iter_mut().for_each(change));
        let cases = [
            (refused(&|run| run.devices.clear()), "the statistics are of 0 devices"),
            (refused(&|run| run.worlds.clear()), "no world that was drawn"),
            (refused(&|run| run.worlds[0].cost = None), "no world that was drawn"),
            (refused(&|run| run.worlds[0].regions.truncate(3)), "world 1: 3 measured regions are too few"),
            (refused(&|run| run.worlds[0].crop_px = [0; 4]), "world 1: no pixels were drawn"),
            (
                refused(&|run| run.worlds[0].crop_px[2] = 700),
                "world 1: the number of squares does not match the pixels",
            ),
            (refused(&|run| run.worlds[0].regions[0].px = [9, 9, 3, 3]), "world 1: a region has no pixels"),
            (
                with_cost(|cost| cost.grids[0][2] = "x".into()),
                "world 1: a row of squares holds something other than numbers",
            ),
        ];
        for (message, part) in cases {
            assert!(message.contains(part), "{message}");
        }
    }
}
