//! What a render will take on other devices: the scheduler on a [virtual clock](super::virtual_clock), with devices that keep to a
//! [cost model](super::cost), and around it what is not drawing.
//!
//! ```text
//! total = before + open + render + after
//! render = devices * set_up + counting + table + drawing
//! counting = counting_s * ceil(jobs / devices) / jobs / slowest speed
//! ```
//! Drawing is simulated: the real board, seats, deques, cuts and steals, each region as long as the formula says, each device working on
//! its regions one after the other. The sink is served one region at a time. The same input gives the same output.

use super::capacity::{Capacity, Fit};
use super::cost::{CostRates, CostedPicture};
use super::policy::Policy;
use super::region::Region;
use super::render::Poll;
use super::report::{Failure, Incomplete, Report};
use super::summed_area::SummedArea;
use super::virtual_clock::{Audience, Play, VirtualDevice};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// From the wake-up of a parked thread to its next look.
const WAKE: Duration = Duration::from_micros(50);

/// No step lasts longer, in seconds, whatever the rates say.
const SECONDS_MAX: f64 = 1e9;

/// A device as the prediction sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceModel {
    /// How many times as fast as the device that the rates are of; more than 0.
    pub speed: f64,
    /// From the beginning of drawing to its first look for work, in seconds: the picture's grids are brought to it, memory is divided.
    pub start_s: f64,
    /// Regions in flight.
    pub in_flight: usize,
    /// What a region may be at most.
    pub capacity: Capacity,
}

/// What is not drawing, in seconds on the measured machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SerialCost {
    /// On the host before any device works: reading, compiling, lowering.
    pub before_s: f64,
    /// On the host for the devices side by side: opening them.
    pub open_s: f64,
    /// On the host for each device, one after the other, as a world's render begins: its kernels, the frame's constants.
    pub set_up_s: f64,
    /// Bound/split of the whole picture by one device of speed 1. Devices share it in equal parts.
    pub counting_s: f64,
    /// Into so many parts it can be cut; at least 1.
    pub counting_jobs: u64,
    /// On the host between counting and drawing: the table of what there is where.
    pub table_s: f64,
    /// On the host for each pixel, while drawing: the film takes it in.
    pub pixel_s: f64,
    /// On the host when all is drawn: the film is developed and written.
    pub after_s: f64,
}

/// What one device will have done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DevicePrediction {
    /// Its speed.
    pub speed: f64,
    /// Regions drawn.
    pub regions: u64,
    /// Those of them that it took from others.
    pub stolen: u64,
    /// Time with regions in flight.
    pub busy_s: f64,
    /// Time of drawing without, its start included.
    pub idle_s: f64,
}

/// What a render will take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The whole, in seconds.
    pub total_s: f64,
    /// From the first submission to the last pixel read back.
    pub render_s: f64,
    /// Drawing alone.
    pub drawing_s: f64,
    /// How many times as fast as one device of speed 1, all counted.
    pub speed_up: f64,
    /// How many times as fast as one device of speed 1 renders.
    pub render_speed_up: f64,
    /// How many times as fast as one device of speed 1 draws.
    pub drawing_speed_up: f64,
    /// `speed_up` over the sum of the devices' speeds.
    pub efficiency: f64,
    /// Regions drawn.
    pub regions: u64,
    /// Those that were stolen.
    pub stolen: u64,
    /// Each device.
    pub devices: Vec<DevicePrediction>,
}

/// A picture with all that is known of what drawing it costs.
#[derive(Clone, Debug)]
pub struct CostModel {
    /// The picture.
    pub picture: CostedPicture,
    /// Rates of a device of speed 1.
    pub rates: CostRates,
    /// What is not drawing.
    pub serial: SerialCost,
}

/// Predicts what drawing a picture takes on some devices, of which there is at least one.
///
/// # Errors
/// If part of the picture is too large for every device.
pub fn predict(model: &CostModel, devices: &[DeviceModel]) -> Result<Prediction, Incomplete> {
    let alone = devices.first().map(|first| DeviceModel { speed: 1.0, ..*first });
    let (one, _) = draw(model, alone.as_slice())?;
    let (drawing, report) = draw(model, devices)?;
    let render_s = |devices: &[DeviceModel], drawing: f64| before_drawing(&model.serial, devices) + drawing;
    let (render_one, render_s) = (render_s(alone.as_slice(), one), render_s(devices, drawing));
    let outside = outside_render(&model.serial);
    let (total_one, total_s) = (outside + render_one, outside + render_s);
    let row = |(report, device): (&super::report::DeviceReport, &DeviceModel)| DevicePrediction {
        speed: device.speed,
        regions: report.regions,
        stolen: report.stolen,
        busy_s: report.busy.as_secs_f64(),
        idle_s: report.idle.as_secs_f64(),
    };
    let speed_up = total_one / total_s;
    Ok(Prediction {
        total_s,
        render_s,
        drawing_s: drawing,
        speed_up,
        render_speed_up: render_one / render_s,
        drawing_speed_up: one / drawing,
        efficiency: speed_up / devices.iter().map(|device| device.speed).sum::<f64>(),
        regions: report.devices.iter().map(|device| device.regions).sum(),
        stolen: report.devices.iter().map(|device| device.stolen).sum(),
        devices: report.devices.iter().zip(devices).map(row).collect(),
    })
}

/// Seconds before a render begins and after it.
fn outside_render(serial: &SerialCost) -> f64 {
    serial.before_s + serial.open_s + serial.after_s
}

/// Seconds of a render before drawing.
fn before_drawing(serial: &SerialCost, devices: &[DeviceModel]) -> f64 {
    let count = devices.len().max(1) as u64;
    let jobs = serial.counting_jobs.max(1);
    let share = jobs.div_ceil(count) as f64 / jobs as f64;
    let slowest = devices.iter().map(|device| device.speed).fold(f64::INFINITY, f64::min);
    let counting = serial.counting_s * share / slowest;
    serial.set_up_s * count as f64 + counting + serial.table_s
}

/// Seconds of drawing, and what the devices did.
fn draw(model: &CostModel, devices: &[DeviceModel]) -> Result<(f64, Report), Incomplete> {
    let table = &model.picture.table;
    let policy = Policy::new(table.work(table.picture()), devices.len());
    let play = Play {
        table: Arc::clone(table),
        policy: if devices.windows(2).all(|pair| pair[0].speed == pair[1].speed) { policy.of_alike() } else { policy },
        hook: Arc::new(|_| {}),
        devices: devices.iter().map(|device| Rehearsal::new(model, *device)).collect(),
        watched: false,
        cancel_at: None,
    };
    let mut sink = Sink { pixel_s: model.serial.pixel_s, free_at: Duration::ZERO };
    let ending = play.run(&mut sink);
    let report = Report { devices: ending.reports };
    match ending.missing {
        None => Ok((ending.at.max(sink.free_at).as_secs_f64(), report)),
        Some((reason, missing)) => Err(Incomplete { reason, missing, report }),
    }
}

/// A time that rates say; none is negative or endless.
fn time(seconds: f64) -> Duration {
    // What is no number takes no time.
    Duration::try_from_secs_f64(seconds.clamp(0.0, SECONDS_MAX)).unwrap_or_default()
}

/// A device that takes as long as the formula says.
struct Rehearsal<'a> {
    model: &'a CostModel,
    device: DeviceModel,
    free_at: Duration,
    flights: VecDeque<(Region, Duration)>,
}

impl<'a> Rehearsal<'a> {
    fn new(model: &'a CostModel, device: DeviceModel) -> Self {
        Self { model, device, free_at: Duration::ZERO, flights: VecDeque::new() }
    }
}

impl VirtualDevice for Rehearsal<'_> {
    fn opens_after(&self) -> Option<Duration> {
        Some(time(self.device.start_s))
    }

    fn open(&mut self) -> Result<usize, Failure> {
        Ok(self.device.in_flight)
    }

    fn reopen(&mut self) {
        self.flights.clear();
    }

    fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        self.device.capacity.fit(table, region)
    }

    fn begin(&mut self, _: &SummedArea, region: Region, now: Duration) -> Result<(), Failure> {
        let seconds = self.model.rates.seconds(self.model.picture.load(region)) / self.device.speed;
        self.free_at = self.free_at.max(now) + time(seconds);
        self.flights.push_back((region, self.free_at));
        Ok(())
    }

    fn poll(&mut self, now: Duration, _: Duration) -> (Duration, Result<Poll<()>, Failure>) {
        let (region, done_at) = self.flights.pop_front().expect("polls are for regions in flight");
        (done_at.max(now), Ok(Poll::Finished(region, ())))
    }

    fn wakes_after(&mut self) -> Duration {
        WAKE
    }
}

/// The film, which takes regions in one after the other.
struct Sink {
    pixel_s: f64,
    free_at: Duration,
}

impl Audience for Sink {
    fn finished(&mut self, region: Region, at: Duration, _: bool) {
        self.free_at = self.free_at.max(at) + time(self.pixel_s * region.pixel_count() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::cost::RegionSight;
    use super::super::summed_area::{Rates, TileCounts, TileGrid, TileGrids};
    use super::*;

    const UNBOUNDED: Capacity = Capacity {
        samples: [4, 4],
        apron_px: [1, 1],
        subpixel_count_max: u64::MAX,
        part_bytes: u64::MAX,
        fixed_bytes: 0,
        bytes_per_subpixel: 0,
        bytes_per_pixel: 0,
        bytes_per_grid: 0,
    };

    const DEVICE: DeviceModel = DeviceModel { speed: 1.0, start_s: 0.0, in_flight: 2, capacity: UNBOUNDED };

    /// 1920x1080 pixels with the same in each tile; a micropolygon takes 1 us, and nothing else takes time.
    fn even() -> CostModel {
        let picture = Region::new([0, 0, 1920, 1080]).expect("not empty");
        let tile = TileCounts { micropolygons: 5000, grids: TileGrids::inside(50), translucent: 0 };
        let tiles = vec![tile; TileGrid::of(picture).tile_count()];
        CostModel {
            picture: costed(SummedArea::new(picture, &tiles, Rates::default())),
            rates: CostRates { micropolygon_s: 1e-6, ..CostRates::default() },
            serial: SerialCost { counting_jobs: 1, ..SerialCost::default() },
        }
    }

    fn costed(table: SummedArea) -> CostedPicture {
        CostedPicture::new(Arc::new(table), [4, 4], [0, 0], [0.0, 0.0])
    }

    fn devices(speeds: &[f64]) -> Vec<DeviceModel> {
        speeds.iter().map(|&speed| DeviceModel { speed, ..DEVICE }).collect()
    }

    struct Listener(Vec<Region>);

    impl Audience for Listener {
        fn finished(&mut self, region: Region, _: Duration, counts: bool) {
            assert!(counts);
            self.0.push(region);
        }
    }

    #[test]
    fn one_device_takes_the_sum_of_its_regions() {
        let costs = even();
        let rates = CostRates { region_s: 0.02, subpixel_s: 1e-8, ..costs.rates };
        let picture = CostedPicture { apron_px: [1, 1], grid_px: [12.0, 12.0], ..costs.picture };
        let model = CostModel { picture, rates, ..costs };
        let capacity = Capacity { subpixel_count_max: 1 << 20, ..UNBOUNDED };
        let small = DeviceModel { start_s: 0.5, capacity, ..DEVICE };
        let mut listener = Listener(Vec::new());
        let table = Arc::clone(&model.picture.table);
        let policy = Policy::new(table.work(table.picture()), 1);
        let actors = vec![Rehearsal::new(&model, small)];
        Play { table, policy, hook: Arc::new(|_| {}), devices: actors, watched: false, cancel_at: None }
            .run(&mut listener);
        assert!(listener.0.len() > 16, "{}", listener.0.len());
        let sum: f64 = listener.0.iter().map(|region| model.rates.seconds(model.picture.load(*region))).sum();
        let prediction = predict(&model, &[small]).expect("everything fits when it is cut");
        assert!((prediction.drawing_s - 0.5 - sum).abs() < 1e-6, "{prediction:?}, not {sum}");
        assert_eq!((prediction.speed_up, prediction.efficiency), (1.0, 1.0));
        assert_eq!(prediction.regions as usize, listener.0.len());
    }

    #[test]
    fn equal_devices_approach_their_number() {
        let model = even();
        for (count, least) in [(2, 1.97), (4, 3.8), (16, 14.0), (64, 45.0)] {
            let prediction = predict(&model, &devices(&vec![1.0; count])).expect("all fits");
            let speed_up = prediction.speed_up;
            assert!((least..=count as f64 + 1e-6).contains(&speed_up), "{count} devices: {speed_up}");
            assert!((prediction.efficiency - speed_up / count as f64).abs() < 1e-12);
        }
    }

    #[test]
    fn devices_of_unequal_speed_finish_together() {
        let even = even();
        // The lower half takes twice as long for each micropolygon, which the table does not know.
        let mut uneven = even.clone();
        let lower = Region::new([0, 540, 1920, 1080]).expect("not empty");
        let shaded_vertices = even.picture.table.estimate(lower).micropolygons as u64;
        uneven.picture.see(&[RegionSight { region: lower, shaded_vertices, entries: 0 }]);
        uneven.rates.shaded_vertex_s = uneven.rates.micropolygon_s;
        for (name, model) in [("even", even), ("uneven", uneven)] {
            for speed in [2.6, 2.8, 3.0, 3.2, 3.4] {
                let prediction = predict(&model, &devices(&[1.0, speed])).expect("all fits");
                let [slow, fast] = [0, 1].map(|i| prediction.devices[i].busy_s);
                assert!((slow / fast - 1.0).abs() < 0.03, "{name}, 1 to {speed}: {slow} s and {fast} s");
                assert!(prediction.speed_up > 0.97 * (1.0 + speed), "{name}: {prediction:?}");
                assert!(prediction.stolen > 0);
            }
        }
    }

    #[test]
    fn serial_time_bounds_the_speed_up() {
        // Amdahl: with a tenth of one device's time serial, N devices are at most 1 / (0.1 + 0.9 / N) times as fast.
        let model = even();
        let alone = predict(&model, &devices(&[1.0])).expect("all fits").total_s;
        let serial = SerialCost { before_s: alone / 18.0, after_s: alone / 18.0, ..model.serial };
        let model = CostModel { serial, ..model };
        for count in [2, 8, 64] {
            let prediction = predict(&model, &devices(&vec![1.0; count])).expect("all fits");
            let bound = 1.0 / (0.1 + 0.9 / count as f64);
            assert!((0.85 * bound..=bound + 1e-9).contains(&prediction.speed_up), "{count}: {prediction:?}, {bound}");
        }
    }

    #[test]
    fn what_every_device_repeats_and_what_it_shares() {
        let serial = SerialCost {
            before_s: 0.75,
            open_s: 0.375,
            set_up_s: 0.125,
            counting_s: 8.0,
            counting_jobs: 4,
            table_s: 0.25,
            after_s: 2.0,
            pixel_s: 0.0,
        };
        let at = |speeds: &[f64]| {
            let devices = devices(speeds);
            outside_render(&serial) + before_drawing(&serial, &devices)
        };
        assert_eq!(at(&[1.0]), 3.375 + 0.125 + 8.0);
        assert_eq!(at(&[1.0, 1.0, 1.0]), 3.375 + 0.375 + 4.0, "four jobs for three: one has two");
        assert_eq!(at(&[1.0; 8]), 3.375 + 1.0 + 2.0, "no more parts than jobs");
        assert_eq!(at(&[2.0, 0.5]), 3.375 + 0.25 + 8.0, "the slowest has as much as the others");
    }

    #[test]
    fn a_slow_film_is_the_bound() {
        let mut model = even();
        model.serial.pixel_s = 1e-5;
        let prediction = predict(&model, &devices(&[1.0; 8])).expect("all fits");
        let film = 1e-5 * 1920.0 * 1080.0;
        assert!(prediction.drawing_s >= film && prediction.drawing_s < 1.05 * film, "{prediction:?}");
    }

    #[test]
    fn the_same_twice_and_nonsense_ends() {
        let model = even();
        let crew = devices(&[1.0, 2.0, 0.3, 7.0]);
        assert_eq!(predict(&model, &crew), predict(&model, &crew));
        let rates = CostRates { region_s: f64::NAN, micropolygon_s: f64::INFINITY, ..model.rates };
        let nonsense = predict(&CostModel { rates, ..model.clone() }, &crew).expect("still all fits");
        assert!(nonsense.drawing_s.is_finite());
        let tiny = Capacity { subpixel_count_max: 1, ..UNBOUNDED };
        let none = predict(&model, &[]).expect_err("nobody draws");
        assert_eq!(none.missing, [model.picture.table.picture()]);
        let one_pixel = Region::new([0, 0, 1, 1]).expect("not empty");
        let table = SummedArea::new(one_pixel, &[TileCounts::default()], Rates::default());
        let model = CostModel { picture: costed(table), ..model };
        assert!(predict(&model, &[DeviceModel { capacity: tiny, ..DEVICE }]).is_ok(), "a pixel is begun all the same");
    }
}
