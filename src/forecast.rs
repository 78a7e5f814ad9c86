//! Forecasts: from the statistics of renders on one device, what renders on other numbers of devices will take.
//!
//! The statistics ([`Measured`]) say what each region took and what the picture holds where ([`CostStats`]). Rates are fitted to the regions, and
//! [`schedule::predict()`](predict()) runs the real scheduler with them on a virtual clock. Several worlds are drawn one after the
//! other, so their times add up.
//!
//! A run on one device cuts its picture only where it must, and a few regions tell no rates: `ANTHILL_REGIONS` cuts it into regions of
//! different sizes. Of several runs that are alike medians are taken, so that a busy machine disturbs less.

mod typical;

pub use crate::schedule::{DevicePrediction, FittedRates, Prediction, SerialCost};

use crate::schedule::{
    self, Capacity, CostModel, CostedPicture, DeviceModel, FitError, Incomplete, Rates, Region, RegionSight,
    SummedArea, TileCounts, TileGrid, TileGrids, fit_rates, predict,
};
use crate::stats::{CostStats, Measured, MeasuredRegion, MeasuredWorld, tile_values};
use serde::Serialize;
use std::sync::Arc;
use thiserror::Error;

/// Why there is no forecast.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ForecastError {
    /// Of several runs medians are taken.
    #[error("the runs differ in what they drew, or in the regions that they drew it in")]
    Differ,
    /// It is told from one device.
    #[error("the statistics are of {0} devices: what one device takes is told from a run on one")]
    NotOneDevice(usize),
    /// Nothing was drawn.
    #[error("the statistics have no world that was drawn")]
    NothingDrawn,
    /// The regions do not tell rates.
    #[error("world {place}: {error}")]
    Rates {
        /// Its place, from 1.
        place: usize,
        /// Why.
        error: FitError,
    },
    /// The file contradicts itself.
    #[error("world {place}: {what}")]
    Nonsense {
        /// Its place, from 1.
        place: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// It cannot be drawn on those devices.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
}

impl ForecastError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotOneDevice(_) => "render with --devices 0 --stats FILE.json",
            Self::Rates { .. } => {
                "render with ANTHILL_REGIONS=40 in the environment, which cuts the picture into so many regions"
            }
            Self::NothingDrawn | Self::Nonsense { .. } => {
                "the file must be what this version's render --stats has written"
            }
            Self::Differ => "give runs with the same scene, flags and ANTHILL_REGIONS",
            Self::Incomplete(_) => "",
        }
    }
}

/// A world that can be drawn on other devices.
#[derive(Clone, Debug)]
pub struct WorldModel {
    /// Its cost.
    pub model: CostModel,
    /// The rates, and how well they explain the measured regions.
    pub fitted: FittedRates,
    /// The device that was measured.
    pub device: DeviceModel,
}

/// What is told of a world from its measured regions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorldRates {
    /// The rates, and how well they explain the measured regions.
    pub fitted: FittedRates,
    /// What is not drawing.
    pub serial: SerialCost,
    /// From the beginning of drawing until a device can begin a region.
    pub start_s: f64,
}

/// A render of which it is known what it costs.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Its worlds.
    pub worlds: Vec<WorldModel>,
}

impl Forecast {
    /// Fits rates to what was measured, in one run or several that are alike.
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

    /// What is told of each world.
    pub fn rates(&self) -> Vec<WorldRates> {
        let rates = |world: &WorldModel| WorldRates {
            fitted: world.fitted,
            serial: world.model.serial,
            start_s: world.device.start_s,
        };
        self.worlds.iter().map(rates).collect()
    }

    /// What the render takes on devices of these speeds, in multiples of the measured device's; there is at least one, and each is
    /// more than 0.
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

/// Two worlds on the same devices.
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
    let nonsense = |what| ForecastError::Nonsense { place, what };
    let mut picture = costed_picture(world, cost).map_err(nonsense)?;
    let sight = |row: &MeasuredRegion| {
        let region = Region::new(row.px)?;
        Some(RegionSight { region, shaded_vertices: row.shaded_vertices, entries: row.entries })
    };
    let sights: Option<Vec<_>> = world.regions.iter().map(sight).collect();
    let sights = sights.ok_or(nonsense("a region has no pixels"))?;
    picture.see(&sights);
    let measured = |(row, sight): (&MeasuredRegion, &RegionSight)| schedule::MeasuredRegion {
        load: picture.load(sight.region),
        seconds: row.device_s,
    };
    let regions: Vec<_> = world.regions.iter().zip(&sights).map(measured).collect();
    let fitted = fit_rates(&regions).map_err(|error| ForecastError::Rates { place, error })?;
    let [x, y] = [0, 1].map(|i| u64::from(world.crop_px[i + 2] - world.crop_px[i]));
    let serial = SerialCost {
        before_s: 0.0,
        open_s: 0.0,
        set_up_s: cost.devices_s,
        table_s: cost.table_s,
        counting_s: (world.count_s - cost.devices_s).max(0.0),
        counting_jobs: cost.count_jobs,
        pixel_s: cost.deposit_s / (x * y) as f64,
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

fn costed_picture(world: &MeasuredWorld, cost: &CostStats) -> Result<CostedPicture, &'static str> {
    let whole = Region::new(world.crop_px).ok_or("no pixels were drawn")?;
    let values = |rows: &[String]| {
        let values = tile_values(rows).ok_or("a row of tiles is not made of numbers")?;
        let all = values.len() == TileGrid::of(whole).tile_count();
        all.then_some(values).ok_or("the tiles are not those of the pixels")
    };
    let (micropolygons, translucent) = (values(&cost.micropolygons)?, values(&cost.translucent)?);
    let [meet, right, below, both] = &cost.grids;
    let (meet, right, below, both) = (values(meet)?, values(right)?, values(below)?, values(both)?);
    let tile = |i: usize| TileCounts {
        micropolygons: micropolygons[i],
        grids: TileGrids { meet: meet[i], right: right[i], below: below[i], both: both[i] },
        translucent: translucent[i],
    };
    let tiles: Vec<TileCounts> = (0..micropolygons.len()).map(tile).collect();
    let table = Arc::new(SummedArea::new(whole, &tiles, Rates::at(cost.samples)));
    Ok(CostedPicture::new(table, cost.samples, cost.apron_px, cost.grid_px))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{CostRates, RegionLoad};
    use crate::stats::{MeasuredDevice, tile_rows};

    const RATES: CostRates =
        CostRates { region_s: 0.004, micropolygon_s: 1e-6, subpixel_s: 2e-8, shaded_vertex_s: 5e-7, entry_s: 3e-6 };

    fn cost() -> CostStats {
        let tiles = 40 * 30;
        let columns = 40;
        CostStats {
            samples: [4, 4],
            apron_px: [1, 1],
            grid_px: [8.0, 8.0],
            micropolygons: tile_rows((0..tiles).map(|i| i * 7 % 900), columns),
            grids: std::array::from_fn(|_| tile_rows((0..tiles).map(|i| i % 5), columns)),
            translucent: tile_rows((0..tiles).map(|i| i * 7 % 900 * u64::from(i % 3 == 0)), columns),
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

    /// A run that took what the rates say, with a third more on the host; two regions in flight all the time.
    fn run() -> Measured {
        let mut world =
            MeasuredWorld { crop_px: [0, 0, 640, 480], count_s: 0.75, write_s: 0.5, ..MeasuredWorld::default() };
        let picture = costed_picture(&world, &cost()).expect("tiles of these pixels");
        let mut now = 1.0;
        let parts = picture.table.uneven_parts(picture.table.picture(), 34);
        for (part, place) in parts.into_iter().zip(0..) {
            let (shaded_vertices, entries) = (place * 37 % 11 * 9000, place * 53 % 7 * 2000);
            let load = picture.load(part);
            let seen = RegionLoad { shaded_vertices: shaded_vertices as f64, entries: entries as f64, ..load };
            let device_s = RATES.seconds(seen);
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
    fn one_device_is_forecast_as_it_was_but_for_the_cuts() {
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
    fn what_says_nothing_is_refused() {
        let good = run();
        let refused = |change: &dyn Fn(&mut Measured)| {
            let mut bad = good.clone();
            change(&mut bad);
            forecast(&bad).expect_err("nothing can be said").to_string()
        };
        let with_cost =
            |change: fn(&mut CostStats)| refused(&move |run| run.worlds[0].cost.iter_mut().for_each(change));
        let cases = [
            (refused(&|run| run.devices.clear()), "the statistics are of 0 devices"),
            (refused(&|run| run.worlds.clear()), "no world that was drawn"),
            (refused(&|run| run.worlds[0].cost = None), "no world that was drawn"),
            (refused(&|run| run.worlds[0].regions.truncate(3)), "world 1: 3 measured regions are too few"),
            (refused(&|run| run.worlds[0].crop_px = [0; 4]), "world 1: no pixels were drawn"),
            (refused(&|run| run.worlds[0].crop_px[2] = 700), "world 1: the tiles are not those of the pixels"),
            (refused(&|run| run.worlds[0].regions[0].px = [9, 9, 3, 3]), "world 1: a region has no pixels"),
            (with_cost(|cost| cost.grids[0][2] = "x".into()), "world 1: a row of tiles is not made of numbers"),
        ];
        for (message, part) in cases {
            assert!(message.contains(part), "{message}");
        }
    }
}
