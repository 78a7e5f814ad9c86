//! How long a render takes on other devices: the scheduler runs on a virtual clock (`schedule::virtual_clock`), with
//! devices that follow a [cost model](super::region_cost), and everything that is not drawing is added.
//!
//! ```text
//! total = before + open + render + after
//! render = devices * set_up + counting + table + drawing
//! counting = counting_s * ceil(jobs / devices) / jobs / slowest speed
//! ```
//! Drawing is simulated with the real board, scheduler, deques, cuts and steals. Each region lasts as long as the
//! formula says, and each device works on its regions one after the other. The film takes in one region at a time. The
//! same input gives the same output.

use super::region_cost::{CostRates, PictureCost};
use crate::schedule::virtual_clock::{VirtualDevice, VirtualObserver, VirtualRender};
use crate::schedule::{Capacity, DeviceReport, Failure, Fit, Incomplete, Policy, Poll, Region, Report, SummedArea};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Time between the wake-up of a parked thread and its next look for work.
const WAKE: Duration = Duration::from_micros(50);

/// The longest time that a step may last, in seconds, whatever the rates say.
const SECONDS_MAX: f64 = 1e9;

/// A device of a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceModel {
    /// Speed relative to the device that the rates were measured on; more than 0.
    pub speed: f64,
    /// Seconds from the start of drawing until the device first looks for work: the picture's grids are uploaded to it,
    /// and its memory is divided.
    pub start_s: f64,
    /// Number of regions in flight.
    pub in_flight: usize,
    /// Limits on the size of a region.
    pub capacity: Capacity,
}

/// Time spent on everything except drawing, in seconds on the measured machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SerialCost {
    /// Time on the host before any device works: reading, compiling, lowering.
    pub before_s: f64,
    /// Time on the host to open the devices, all at once.
    pub open_s: f64,
    /// Time on the host for each device, one after the other, when the render of a world begins: its kernels and the
    /// frame's constants.
    pub set_up_s: f64,
    /// Time that one device of speed 1 takes to bound and split the whole picture; devices share this in equal parts.
    pub counting_s: f64,
    /// Number of parts into which counting can be divided; at least 1.
    pub counting_jobs: u64,
    /// Time on the host between counting and drawing: building the table of counts.
    pub table_s: f64,
    /// Time on the host for each pixel while drawing: the film takes it in.
    pub pixel_s: f64,
    /// Time on the host after drawing: the film is developed and written.
    pub after_s: f64,
}

/// The predicted work of one device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DevicePrediction {
    /// Its speed.
    pub speed: f64,
    /// Number of regions drawn.
    pub regions: u64,
    /// Number of regions stolen from other devices.
    pub stolen: u64,
    /// Time with regions in flight.
    pub busy_s: f64,
    /// Time without regions in flight while drawing, the device's start included.
    pub idle_s: f64,
}

/// The predicted time of a render.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Total time in seconds.
    pub total_s: f64,
    /// Time in seconds from the first submission until the last pixel is read back.
    pub render_s: f64,
    /// Time in seconds of drawing alone.
    pub drawing_s: f64,
    /// Speed-up of the total time over one device of speed 1.
    pub speed_up: f64,
    /// Speed-up of `render_s` over one device of speed 1.
    pub render_speed_up: f64,
    /// Speed-up of `drawing_s` over one device of speed 1.
    pub drawing_speed_up: f64,
    /// `speed_up` divided by the sum of the devices' speeds.
    pub efficiency: f64,
    /// Number of regions drawn.
    pub regions: u64,
    /// Number of regions stolen.
    pub stolen: u64,
    /// The predicted work of each device.
    pub devices: Vec<DevicePrediction>,
}

/// Everything that is known about the cost of drawing a picture.
#[derive(Clone, Debug)]
pub struct CostModel {
    /// What each region of the picture holds.
    pub picture: PictureCost,
    /// Cost rates of a device of speed 1.
    pub rates: CostRates,
    /// Time spent on everything except drawing.
    pub serial: SerialCost,
}

/// Predicts how long a picture takes on the given devices, of which there must be at least one.
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
    let row = |(report, device): (&DeviceReport, &DeviceModel)| DevicePrediction {
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

/// Returns the seconds before a render begins and after it.
fn outside_render(serial: &SerialCost) -> f64 {
    serial.before_s + serial.open_s + serial.after_s
}

/// Returns the seconds of a render before drawing.
fn before_drawing(serial: &SerialCost, devices: &[DeviceModel]) -> f64 {
    let count = devices.len().max(1) as u64;
    let jobs = serial.counting_jobs.max(1);
    let share = jobs.div_ceil(count) as f64 / jobs as f64;
    let slowest = devices.iter().map(|device| device.speed).fold(f64::INFINITY, f64::min);
    let counting = serial.counting_s * share / slowest;
    serial.set_up_s * count as f64 + counting + serial.table_s
}

/// Returns the seconds of drawing, with a report of what the devices did.
fn draw(model: &CostModel, devices: &[DeviceModel]) -> Result<(f64, Report), Incomplete> {
    let table = &model.picture.table;
    let policy = Policy::new(table.work(table.picture()), devices.len());
    let simulation = VirtualRender {
        table: Arc::clone(table),
        policy: if devices.windows(2).all(|pair| pair[0].speed == pair[1].speed) { policy.of_alike() } else { policy },
        hook: Arc::new(|_| {}),
        devices: devices.iter().map(|device| ModelledDevice::new(model, *device)).collect(),
        watched: false,
        cancel_at: None,
    };
    let mut film = ModelledFilm { pixel_s: model.serial.pixel_s, free_at: Duration::ZERO };
    let outcome = simulation.run(&mut film);
    let report = Report { devices: outcome.reports };
    match outcome.missing {
        None => Ok((outcome.at.max(film.free_at).as_secs_f64(), report)),
        Some((reason, missing)) => Err(Incomplete { reason, missing, report }),
    }
}

/// Returns a duration computed from rates; never negative or infinite.
fn duration(seconds: f64) -> Duration {
    // NaN becomes zero.
    Duration::try_from_secs_f64(seconds.clamp(0.0, SECONDS_MAX)).unwrap_or_default()
}

/// A virtual device whose regions take as long as the cost model says.
struct ModelledDevice<'a> {
    model: &'a CostModel,
    device: DeviceModel,
    free_at: Duration,
    /// Regions in flight, each with the time at which it is done.
    in_flight: VecDeque<(Region, Duration)>,
}

impl<'a> ModelledDevice<'a> {
    fn new(model: &'a CostModel, device: DeviceModel) -> Self {
        Self { model, device, free_at: Duration::ZERO, in_flight: VecDeque::new() }
    }
}

impl VirtualDevice for ModelledDevice<'_> {
    fn opens_after(&self) -> Option<Duration> {
        Some(duration(self.device.start_s))
    }

    fn open(&mut self) -> Result<usize, Failure> {
        Ok(self.device.in_flight)
    }

    fn reopen(&mut self) {
        self.in_flight.clear();
    }

    fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        self.device.capacity.fit(table, region)
    }

    fn begin(&mut self, _: &SummedArea, region: Region, now: Duration) -> Result<(), Failure> {
        let seconds = self.model.rates.seconds(self.model.picture.load(region)) / self.device.speed;
        self.free_at = self.free_at.max(now) + duration(seconds);
        self.in_flight.push_back((region, self.free_at));
        Ok(())
    }

    fn poll(&mut self, now: Duration, _: Duration) -> (Duration, Result<Poll<()>, Failure>) {
        let (region, done_at) = self.in_flight.pop_front().expect("only devices with regions in flight are polled");
        (done_at.max(now), Ok(Poll::Finished(region, ())))
    }

    fn wakes_after(&mut self) -> Duration {
        WAKE
    }
}

/// The film, which takes in regions one after the other.
struct ModelledFilm {
    pixel_s: f64,
    free_at: Duration,
}

impl VirtualObserver for ModelledFilm {
    fn finished(&mut self, region: Region, at: Duration, _: bool) {
        self.free_at = self.free_at.max(at) + duration(self.pixel_s * region.pixel_count() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::region_cost::RegionShading;
    use super::*;
    use crate::schedule::{Rates, SquareCounts, SquareGrid, SquareGrids};

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

    /// 1920x1080 pixels with the same in each square; a micropolygon takes 1 us, and nothing else takes time.
    fn even() -> CostModel {
        let picture = Region::new([0, 0, 1920, 1080]).expect("not empty");
        let square = SquareCounts { micropolygons: 5000, grids: SquareGrids::inside(50), translucent: 0 };
        let squares = vec![square; SquareGrid::of(picture).square_count()];
        CostModel {
            picture: costed(SummedArea::new(picture, &squares, Rates::default())),
            rates: CostRates { micropolygon_s: 1e-6, ..CostRates::default() },
            serial: SerialCost { counting_jobs: 1, ..SerialCost::default() },
        }
    }

    fn costed(table: SummedArea) -> PictureCost {
        PictureCost::new(Arc::new(table), [4, 4], [0, 0], [0.0, 0.0])
    }

    fn devices(speeds: &[f64]) -> Vec<DeviceModel> {
        speeds.iter().map(|&speed| DeviceModel { speed, ..DEVICE }).collect()
    }

    struct RegionRecorder(Vec<Region>);

    impl VirtualObserver for RegionRecorder {
        fn finished(&mut self, region: Region, _: Duration, counts: bool) {
            assert!(counts);
            self.0.push(region);
        }
    }

    #[test]
    fn one_device_takes_the_sum_of_its_regions() {
        let costs = even();
        let rates = CostRates { region_s: 0.02, subpixel_s: 1e-8, ..costs.rates };
        let picture = PictureCost { apron_px: [1, 1], grid_px: [12.0, 12.0], ..costs.picture };
        let model = CostModel { picture, rates, ..costs };
        let capacity = Capacity { subpixel_count_max: 1 << 20, ..UNBOUNDED };
        let small = DeviceModel { start_s: 0.5, capacity, ..DEVICE };
        let mut recorder = RegionRecorder(Vec::new());
        let table = Arc::clone(&model.picture.table);
        let policy = Policy::new(table.work(table.picture()), 1);
        let devices = vec![ModelledDevice::new(&model, small)];
        VirtualRender { table, policy, hook: Arc::new(|_| {}), devices, watched: false, cancel_at: None }
            .run(&mut recorder);
        assert!(recorder.0.len() > 16, "{}", recorder.0.len());
        let sum: f64 = recorder.0.iter().map(|region| model.rates.seconds(model.picture.load(*region))).sum();
        let prediction = predict(&model, &[small]).expect("everything fits when it is cut");
        assert!((prediction.drawing_s - 0.5 - sum).abs() < 1e-6, "{prediction:?}, not {sum}");
        assert_eq!((prediction.speed_up, prediction.efficiency), (1.0, 1.0));
        assert_eq!(prediction.regions as usize, recorder.0.len());
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
        uneven.picture.add_measured_shading(&[RegionShading { region: lower, shaded_vertices, entries: 0 }]);
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
        let table = SummedArea::new(one_pixel, &[SquareCounts::default()], Rates::default());
        let model = CostModel { picture: costed(table), ..model };
        assert!(predict(&model, &[DeviceModel { capacity: tiny, ..DEVICE }]).is_ok(), "a pixel is begun all the same");
    }
}
