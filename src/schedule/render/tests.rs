//! The real threads on fake devices that paint each pixel with a number of its own.

use super::*;
use crate::schedule::{
    Capacity, MissingReason, Rates, SQUARE_PX, ScheduleEvent, ScheduleEventKind, SquareCounts, SquareGrid, SquareGrids,
};
use parking_lot::Mutex;
use std::collections::VecDeque;

const SIZE: [i32; 2] = [640, 480];

/// What goes wrong with a painter in one life, and when: counted in regions begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    Unusable,
    LostAt(u32),
    OutOfMemoryAt(u32),
    HangsAt(u32),
    /// A poll does not return for this long.
    StuckAt(u32, Duration),
    PanicsAt(u32),
    /// Finds every region larger than a square too large.
    TinyMemory,
}

struct Painter {
    flaw: Flaw,
    depth: usize,
    /// What painting a region takes.
    pace: Duration,
    capacity: Capacity,
    begun: u32,
    flights: VecDeque<Region>,
}

/// Returns what must be at a pixel.
fn paint(x: i32, y: i32) -> u32 {
    x.cast_unsigned().wrapping_mul(0x9e37_79b9) ^ y.cast_unsigned().wrapping_mul(0x85eb_ca6b)
}

impl Painter {
    fn reaches(&self, nth: u32) -> bool {
        self.begun >= nth
    }
}

impl RegionRenderer for Painter {
    type Payload = Vec<u32>;

    fn in_flight_max(&self) -> usize {
        self.depth
    }

    fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        self.capacity.fit(table, region)
    }

    fn begin(&mut self, region: Region) -> Result<(), Failure> {
        self.begun += 1;
        assert!(self.flights.len() < self.depth, "more regions than the painter has room for");
        self.flights.push_back(region);
        match self.flaw {
            Flaw::OutOfMemoryAt(nth) if self.reaches(nth) => Err(Failure::OutOfMemory("painted".into())),
            _ => Ok(()),
        }
    }

    fn poll(&mut self, timeout: Duration) -> Result<Poll<Vec<u32>>, Failure> {
        match self.flaw {
            Flaw::LostAt(nth) if self.reaches(nth) => return Err(Failure::Lost("painted".into())),
            Flaw::PanicsAt(nth) if self.reaches(nth) => panic!("painted"),
            Flaw::HangsAt(nth) if self.reaches(nth) => {
                thread::sleep(timeout);
                return Ok(Poll::Waiting("paint".into()));
            }
            Flaw::StuckAt(nth, time) if self.reaches(nth) => thread::sleep(time),
            _ => thread::sleep(self.pace),
        }
        let region = self.flights.pop_front().expect("polled with regions in flight only");
        if self.flaw == Flaw::TinyMemory && region.width().max(region.height()) > SQUARE_PX {
            return Ok(Poll::TooLarge(region));
        }
        let [x0, y0, x1, y1] = region.to_array();
        Ok(Poll::Finished(region, (y0..y1).flat_map(|y| (x0..x1).map(move |x| paint(x, y))).collect()))
    }

    fn abandon(&mut self) {
        self.flights.clear();
    }
}

const CAPACITY: Capacity = Capacity {
    samples: [4, 4],
    apron_px: [1, 1],
    subpixel_count_max: 1 << 20,
    part_bytes: 1 << 30,
    fixed_bytes: 0,
    bytes_per_subpixel: 16,
    bytes_per_pixel: 16,
    bytes_per_grid: 64,
};

/// Returns a painter whose lives have these flaws.
fn painter(flaws: [Flaw; 2]) -> Opener<Painter> {
    Box::new(move |attempt| {
        let flaw = flaws[attempt as usize];
        if flaw == Flaw::Unusable {
            return Err(Failure::Unusable("painted".into()));
        }
        let pace = Duration::from_micros(200);
        Ok(Painter { flaw, depth: 2, pace, capacity: CAPACITY, begun: 0, flights: VecDeque::new() })
    })
}

fn sound(count: usize) -> Vec<Opener<Painter>> {
    (0..count).map(|_| painter([Flaw::None; 2])).collect()
}

fn picture() -> Region {
    Region::new([0, 0, SIZE[0], SIZE[1]]).expect("not empty")
}

fn job() -> RenderJob {
    let squares = vec![
        SquareCounts { micropolygons: 1000, grids: SquareGrids::inside(10), translucent: 0 };
        SquareGrid::of(picture()).square_count()
    ];
    let table = Arc::new(SummedArea::new(picture(), &squares, Rates::default()));
    let policy = Policy { poll_timeout: Duration::from_millis(20), ..Policy::new(0, 4) };
    RenderJob { table, regions: vec![picture()], policy, hook: Arc::new(|_| ()), compiles: Box::new(|_| false) }
}

/// The picture, in which no pixel is painted twice.
struct Canvas(Vec<Option<u32>>);

impl Canvas {
    fn new() -> Self {
        Self(vec![None; (SIZE[0] * SIZE[1]) as usize])
    }

    fn add(&mut self, region: Region, payload: &[u32]) {
        let [x0, y0, x1, y1] = region.to_array();
        assert_eq!(payload.len() as u64, region.pixel_count());
        for (value, (y, x)) in payload.iter().zip((y0..y1).flat_map(|y| (x0..x1).map(move |x| (y, x)))) {
            let old = self.0[(y * SIZE[0] + x) as usize].replace(*value);
            assert_eq!(old, None, "pixel ({x}, {y}) came twice");
        }
    }

    /// Every pixel outside `missing` is right, and none inside is there.
    fn check(&self, missing: &[Region]) {
        for (index, value) in (0..).zip(&self.0) {
            let (x, y) = (index % SIZE[0], index / SIZE[0]);
            let pixel = Region::new([x, y, x + 1, y + 1]).expect("not empty");
            let lost = missing.iter().any(|region| region.intersection(pixel).is_some());
            assert_eq!(*value, (!lost).then(|| paint(x, y)), "pixel ({x}, {y})");
        }
    }
}

fn run(job: RenderJob, devices: Vec<Opener<Painter>>) -> (Canvas, Result<Report, Incomplete>) {
    let mut canvas = Canvas::new();
    let outcome = render(job, devices, &mut |region, payload| canvas.add(region, &payload), &AtomicBool::new(false));
    canvas.check(outcome.as_ref().err().map_or(&[], |incomplete| &incomplete.missing));
    (canvas, outcome)
}

fn run_whole(job: RenderJob, devices: Vec<Opener<Painter>>) -> Report {
    run(job, devices).1.expect("nothing is missing")
}

#[test]
fn any_number_of_devices_paints_the_same_picture() {
    for count in [1, 2, 3, 8] {
        let report = run_whole(job(), sound(count));
        assert_eq!(report.devices.len(), count);
        assert!(report.devices.iter().all(|device| device.failures.is_empty() && !device.stuck));
    }
}

#[test]
fn perturbed_runs_steal_and_cut() {
    for seed in 0..12 {
        for count in [1, 2, 4] {
            let mut job = job();
            job.policy.perturb = Some(seed);
            let report = run_whole(job, sound(count));
            let regions: u64 = report.devices.iter().map(|device| device.regions).sum();
            let stolen: u64 = report.devices.iter().map(|device| device.stolen).sum();
            assert!(regions >= 16, "seed {seed}: {regions} regions");
            assert!((stolen > 0) == (count > 1), "seed {seed}: {stolen} stolen by {count} devices");
        }
    }
}

#[test]
fn stress_on_real_deques() {
    // Over a thousand regions, found on the devices by halving again and again, on more threads than cores.
    for _ in 0..3 {
        let tiny = (0..8).map(|_| painter([Flaw::TinyMemory; 2])).collect();
        let report = run_whole(job(), tiny);
        let regions: u64 = report.devices.iter().map(|device| device.regions).sum();
        assert!(regions >= 1200, "{regions} regions");
    }
}

#[test]
fn failed_devices_leave_their_regions_to_others() {
    for flaw in [Flaw::LostAt(2), Flaw::OutOfMemoryAt(1), Flaw::Unusable, Flaw::LostAt(1)] {
        let devices = vec![painter([flaw; 2]), painter([Flaw::None; 2])];
        let report = run_whole(job(), devices);
        // A device that fails only when all is done is not noticed by any other, so it may be opened once or twice.
        assert!(!report.devices[0].failures.is_empty() || report.devices[0].regions < 2, "{flaw:?}");
        assert!(report.devices[1].failures.is_empty(), "{flaw:?}");
    }
}

#[test]
fn reopened_device_finishes_alone() {
    let report = run_whole(job(), vec![painter([Flaw::LostAt(2), Flaw::None])]);
    assert_eq!(report.devices[0].failures, [Failure::Lost("painted".into())]);
    assert!(!report.devices[0].dropped);
}

#[test]
fn all_lost_is_a_typed_error_and_the_rest_stands() {
    let small = |flaw| -> Opener<Painter> {
        let mut open = painter([flaw; 2]);
        Box::new(move |attempt| {
            let painter = open(attempt)?;
            Ok(Painter { capacity: Capacity { subpixel_count_max: 1 << 17, ..CAPACITY }, depth: 1, ..painter })
        })
    };
    let (_, outcome) = run(job(), vec![small(Flaw::LostAt(4)), small(Flaw::LostAt(4))]);
    let incomplete = outcome.expect_err("all are lost");
    assert_eq!(incomplete.reason, MissingReason::DevicesFailed);
    assert!(incomplete.to_string().contains("every device failed; device 0: device lost: painted"), "{incomplete}");
    let pixels: u64 = incomplete.missing.iter().map(|region| region.pixel_count()).sum();
    assert!(pixels > 0 && pixels < picture().pixel_count());
}

#[test]
fn hang_is_named() {
    let mut job = job();
    job.policy.hang_timeout = Duration::from_millis(200);
    let (_, outcome) = run(job, vec![painter([Flaw::HangsAt(1), Flaw::Unusable])]);
    let report = outcome.expect_err("nobody is left").report;
    let [Failure::Hang { waiting_for, waited }, Failure::Unusable(_)] = &report.devices[0].failures[..] else {
        panic!("{:?}", report.devices[0].failures)
    };
    assert_eq!(waiting_for, "paint");
    assert!(*waited > Duration::from_millis(200));
}

#[test]
fn stuck_driver_does_not_keep_the_picture() {
    let mut job = job();
    job.policy.hang_timeout = Duration::from_millis(150);
    let paced = |flaw| -> Opener<Painter> {
        let mut open = painter([flaw, Flaw::None]);
        Box::new(move |attempt| Ok(Painter { depth: 1, pace: Duration::from_millis(20), ..open(attempt)? }))
    };
    let start = Instant::now();
    // Stuck after it has delivered a region: waiting for the sink is forgiven, but no longer than it lasts.
    let report = run_whole(job, vec![paced(Flaw::StuckAt(2, Duration::from_secs(20))), paced(Flaw::None)]);
    assert!(report.devices[0].dropped && report.devices[0].stuck, "{report:?}");
    assert_eq!(report.devices[0].regions, 1);
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_driver_that_compiles_is_waited_for() {
    let mut job = job();
    job.policy.hang_timeout = Duration::from_millis(50);
    job.compiles = Box::new(|device| device == 0);
    let report = run_whole(job, vec![painter([Flaw::StuckAt(1, Duration::from_millis(500)), Flaw::Unusable])]);
    assert!(report.devices[0].failures.is_empty(), "{report:?}");
}

#[test]
fn slow_sink_is_no_hang() {
    let mut job = job();
    job.policy.hang_timeout = Duration::from_millis(50);
    job.policy.perturb = Some(5);
    let mut canvas = Canvas::new();
    let mut count = 0;
    let mut sink = |region, payload: Vec<u32>| {
        canvas.add(region, &payload);
        count += 1;
        thread::sleep(Duration::from_millis(if count < 4 { 150 } else { 0 }));
    };
    let report = render(job, sound(2), &mut sink, &AtomicBool::new(false)).expect("nothing is missing");
    canvas.check(&[]);
    assert!(report.devices.iter().all(|device| device.failures.is_empty()), "{report:?}");
}

#[test]
fn cancel_keeps_what_was_finished() {
    let mut job = job();
    job.policy.perturb = Some(3);
    let cancel = AtomicBool::new(false);
    let mut canvas = Canvas::new();
    let mut sink = |region, payload: Vec<u32>| {
        canvas.add(region, &payload);
        cancel.store(true, Ordering::Relaxed);
    };
    let incomplete = render(job, sound(2), &mut sink, &cancel).expect_err("cancelled at the first region");
    assert_eq!(incomplete.reason, MissingReason::Cancelled);
    canvas.check(&incomplete.missing);
}

#[test]
fn late_device_joins_and_steals() {
    let slow: Opener<Painter> = {
        let mut open = painter([Flaw::None; 2]);
        Box::new(move |attempt| Ok(Painter { pace: Duration::from_millis(20), ..open(attempt)? }))
    };
    let late: Opener<Painter> = {
        let mut open = painter([Flaw::None; 2]);
        Box::new(move |attempt| {
            thread::sleep(Duration::from_millis(60));
            open(attempt)
        })
    };
    let mut job = job();
    job.policy.balance_side_min_px = 16;
    job.policy.balance_work_min = 100;
    let report = run_whole(job, vec![slow, late]);
    assert!(report.devices[1].stolen > 0, "{report:?}");
    assert!(report.devices[1].idle >= Duration::from_millis(60));
}

#[test]
fn no_device_and_no_region() {
    let (_, outcome) = run(job(), Vec::new());
    assert_eq!(outcome.expect_err("no device").reason, MissingReason::DevicesFailed);
    let nothing = RenderJob { regions: Vec::new(), ..job() };
    let outcome = render(nothing, sound(2), &mut |_, _| panic!("no region"), &AtomicBool::new(false));
    assert!(outcome.is_ok());
}

#[test]
fn job_may_be_part_of_the_picture() {
    // As after a resumed checkpoint: two parts, one of them off the squares.
    let parts = [[0, 0, 100, 480], [333, 77, 640, 301]].map(|array| Region::new(array).expect("not empty"));
    let mut canvas = Canvas::new();
    let job = RenderJob { regions: parts.to_vec(), ..job() };
    let mut sink = |region, payload: Vec<u32>| canvas.add(region, &payload);
    render(job, sound(3), &mut sink, &AtomicBool::new(false)).expect("nothing is missing");
    let rest = [[100, 0, 640, 77], [100, 77, 333, 301], [100, 301, 640, 480]];
    canvas.check(&rest.map(|array| Region::new(array).expect("not empty")));
}

#[test]
#[should_panic(expected = "overlaps another region")]
fn overlapping_regions_are_refused() {
    let job = RenderJob { regions: vec![picture(), picture()], ..job() };
    let _ = run(job, sound(1));
}

#[test]
#[should_panic(expected = "painted")]
fn panic_in_a_renderer_is_not_hidden() {
    let devices = vec![painter([Flaw::PanicsAt(1), Flaw::None]), painter([Flaw::PanicsAt(1), Flaw::None])];
    let _ = run(job(), devices);
}

#[test]
fn panic_in_the_sink_ends_the_threads() {
    let held = Arc::new(());
    let openers = (0..2).map(|_| -> Opener<Painter> {
        let (mut open, held) = (painter([Flaw::None; 2]), held.clone());
        Box::new(move |attempt| {
            let _alive = &held;
            open(attempt)
        })
    });
    let devices: Vec<_> = openers.collect();
    let act = AssertUnwindSafe(|| render(job(), devices, &mut |_, _| panic!("sink"), &AtomicBool::new(false)));
    assert!(catch_unwind(act).is_err());
    let start = Instant::now();
    while Arc::strong_count(&held) > 1 && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(Arc::strong_count(&held), 1, "the devices' threads have ended");
}

#[test]
fn events_agree_with_the_report() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hook = heard.clone();
    let job = RenderJob { hook: Arc::new(move |event: &ScheduleEvent| hook.lock().push(event.clone())), ..job() };
    let report = run_whole(job, sound(2));
    let count =
        |wanted: fn(&ScheduleEventKind) -> bool| heard.lock().iter().filter(|event| wanted(&event.kind)).count() as u64;
    let regions = report.devices.iter().map(|device| device.regions).sum::<u64>();
    assert_eq!(count(|what| matches!(what, ScheduleEventKind::Begun { .. })), regions);
    assert_eq!(count(|what| matches!(what, ScheduleEventKind::Finished { .. })), regions);
    let cuts = report.devices.iter().map(|device| device.splits).sum::<u64>();
    assert_eq!(count(|what| matches!(what, ScheduleEventKind::Cut { .. })), cuts);
    let stolen = report.devices.iter().map(|device| device.stolen).sum::<u64>();
    assert_eq!(count(|what| matches!(what, ScheduleEventKind::Stolen { .. })), stolen);
    assert_eq!(count(|what| matches!(what, ScheduleEventKind::Adopted { .. })), 1, "the picture itself");
}
