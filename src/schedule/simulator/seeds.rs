//! Many seeds: any picture, any policy, any devices, any trouble; and what must hold in each.

use super::super::cut::Cut;
use super::super::perturb::{FORCED_SIDE_MIN_PX, Random};
use super::super::policy::{Policy, TIMED_SIDE_MIN_PX};
use super::super::region::Region;
use super::super::report::{CutReason, MissingReason, ScheduleEventKind};
use super::super::summed_area::{Rates, SquareCounts, SquareGrid, SquareGrids, SummedArea};
use super::device::{FakeDeviceSetup, Trouble};
use super::{Scenario, SimulationResult};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Seeds in an ordinary test run; `ANTHILL_SIMULATE=COUNT` asks for another number.
const SEED_COUNT: u64 = 10_000;

/// Returns a picture with a few heaps of micropolygons.
fn random_table(random: &mut Random) -> SummedArea {
    let mut side = || match random.below(8) {
        0 => 1,
        1 => 1 + random.below(12) as i32,
        2..=5 => 1 + random.below(400) as i32,
        _ => 480 + random.below(160) as i32,
    };
    let picture = Region::new([0, 0, side(), side()]).expect("not empty");
    let grid = SquareGrid::of(picture);
    let level = 1 + random.below(300);
    let (heap_x, heap_y) = (random.below(grid.size[0].into()) as u32, random.below(grid.size[1].into()) as u32);
    let squares: Vec<_> = (0..grid.square_count() as u32)
        .map(|index| {
            let (x, y) = (index % grid.size[0], index / grid.size[0]);
            let far = u64::from(x.abs_diff(heap_x) + y.abs_diff(heap_y));
            let micropolygons = random.below(level) + 2000 * level / 100 / (1 + far * far);
            SquareCounts {
                micropolygons,
                grids: SquareGrids::inside(micropolygons / 50),
                translucent: micropolygons / 4,
            }
        })
        .collect();
    SummedArea::new(picture, &squares, Rates::default())
}

fn random_scenario(seed: u64) -> Scenario {
    let mut random = Random::new(seed);
    let table = random_table(&mut random);
    let count = 1 + random.below(4).pow(2) as usize + random.below(7) as usize;
    let pixels = table.picture().pixel_count();
    let trouble = random.below(3);
    let doomed = |random: &mut Random| match trouble {
        0 => false,
        1 => random.one_in(3),
        _ => !random.one_in(4),
    };
    let devices = (0..count)
        .map(|_| {
            let doomed = doomed(&mut random);
            FakeDeviceSetup::random(&mut random, pixels, doomed)
        })
        .collect();
    let policy = Policy {
        balance_work_min: 100 << random.below(8),
        balance_side_min_px: 16 << random.below(4),
        share_percent: 70 * random.below(4),
        unknown_share_parts: 1 + random.below(20),
        hang_timeout: Duration::from_millis(500),
        open_timeout: Duration::from_millis(2000),
        poll_timeout: Duration::from_millis(100),
        in_flight_time_max: random.one_in(4).then(|| Duration::from_millis(20 + random.below(300))),
        perturb: random.one_in(4).then_some(seed),
    };
    let cancel_at = random.one_in(10).then(|| Duration::from_millis(random.below(1000)));
    Scenario { table: Arc::new(table), policy, devices, cancel_at, seed }
}

/// Each pixel was delivered once or is missing, and none is missing without a reason.
fn check_pixels(scenario: &Scenario, ending: &SimulationResult) {
    let missing = ending.missing.as_ref().map_or(&[][..], |(_, regions)| regions);
    let mut all: Vec<Region> = ending.delivered.iter().chain(missing).copied().collect();
    all.sort_unstable();
    let pixels: u64 = all.iter().map(|region| region.pixel_count()).sum();
    assert_eq!(pixels, scenario.table.picture().pixel_count(), "pixels delivered or missing");
    for (index, region) in all.iter().enumerate() {
        let overlap = all[index + 1..].iter().find(|other| region.intersection(**other).is_some());
        assert_eq!(overlap, None, "{region} is covered twice");
    }
    let survivor = ending.reports.iter().any(|device| !device.dropped);
    match &ending.missing {
        None => {}
        Some((MissingReason::Cancelled, _)) => assert!(scenario.cancel_at.is_some()),
        Some((MissingReason::DevicesFailed, _)) => assert!(!survivor, "a device was left"),
        Some((MissingReason::TooLarge, regions)) => {
            assert!(regions.iter().all(|region| region.pixel_count() == 1), "{regions:?} could be cut");
            let small = |(setup, device): (&FakeDeviceSetup, &super::DeviceReport)| {
                device.dropped || setup.capacity.part_bytes == 0 || setup.truth > 1.0
            };
            assert!(scenario.devices.iter().zip(&ending.reports).all(small), "a device was large enough");
        }
    }
}

/// Every cut obeys its minimum, and the events agree with the statistics.
fn check_events(scenario: &Scenario, ending: &SimulationResult) {
    let mut alive = BTreeSet::from([scenario.table.picture()]);
    let mut counts = vec![(0, 0, 0, 0); scenario.devices.len()];
    for event in &ending.events {
        let count = &mut counts[event.device];
        match &event.kind {
            ScheduleEventKind::Cut { region, kept, left, why } => {
                assert!(alive.remove(region), "{region} was cut but is no leaf");
                alive.extend([*kept, *left]);
                let side_min = match why {
                    CutReason::Memory { .. } | CutReason::TooLarge => 1,
                    CutReason::Balance(_) => scenario.policy.balance_side_min_px,
                    CutReason::Time { .. } => TIMED_SIDE_MIN_PX,
                    CutReason::Forced => FORCED_SIDE_MIN_PX,
                };
                let cut = Cut { axis: region.longer_axis(), at: 0, kept: *kept, left: *left };
                check_sides(*region, &cut, side_min);
                count.2 += 1;
                count.3 += u64::from(*why == CutReason::TooLarge);
            }
            ScheduleEventKind::Finished { region } => {
                assert!(alive.remove(region), "{region} was finished but is no leaf");
                count.0 += 1;
            }
            ScheduleEventKind::Stolen { from, .. } => {
                assert_ne!(*from, event.device, "nobody steals from himself");
                count.1 += 1;
            }
            ScheduleEventKind::Refused { .. } => count.3 += 1,
            _ => {}
        }
    }
    for (report, count) in ending.reports.iter().zip(counts) {
        assert_eq!((report.regions, report.stolen, report.splits, report.retries), count);
    }
    assert_eq!(ending.delivered.len() as u64, ending.reports.iter().map(|report| report.regions).sum::<u64>());
}

fn check_sides(region: Region, cut: &Cut, side_min: u32) {
    for half in [cut.kept, cut.left] {
        let shortened = if half.width() < region.width() { half.width() } else { half.height() };
        assert!(shortened >= side_min, "{half} of {region} is below {side_min}");
    }
}

/// The number of acts is bounded by what happened: no device goes round in circles.
fn check_steps(scenario: &Scenario, ending: &SimulationResult) {
    let devices = scenario.devices.len() as u64;
    let waits = ending.ended_at.as_millis() as u64 / 50 + 1;
    let bound = 20 * devices + 4 * devices * ending.events.len() as u64 + waits * (devices + 1);
    assert!(ending.steps <= bound, "{} steps, {bound} allowed", ending.steps);
}

/// With the perturbation on, two sound devices steal, and a picture gives 16 regions.
fn check_perturbed(scenario: &Scenario, ending: &SimulationResult) {
    let sound = |device: &FakeDeviceSetup| {
        device.troubles[0] == Trouble::None && device.opens_after < scenario.policy.open_timeout
    };
    let sound = scenario.devices.iter().all(sound);
    if scenario.policy.perturb.is_none() || !sound || ending.missing.is_some() {
        return;
    }
    if scenario.devices.len() > 1 {
        assert!(ending.reports.iter().any(|device| device.stolen > 0), "nothing was stolen");
    }
    let [.., width, height] = scenario.table.picture().to_array();
    if width.min(height) >= 480 {
        assert!(ending.delivered.len() >= 16, "only {} regions", ending.delivered.len());
    }
}

fn check(seed: u64) -> SimulationResult {
    let scenario = random_scenario(seed);
    let ending = scenario.clone().run();
    check_pixels(&scenario, &ending);
    check_events(&scenario, &ending);
    check_steps(&scenario, &ending);
    check_perturbed(&scenario, &ending);
    ending
}

#[test]
fn any_seed() {
    let count = std::env::var("ANTHILL_SIMULATE").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED_COUNT);
    let next = AtomicU64::new(0);
    let seen = [const { AtomicU64::new(0) }; 6];
    let work = || {
        while let seed = next.fetch_add(1, Ordering::Relaxed)
            && seed < count
        {
            let ending = std::panic::catch_unwind(|| check(seed))
                .unwrap_or_else(|_| panic!("the simulator failed at seed {seed}; its own message is above"));
            let numbers = [
                ending.void as u64,
                ending.reports.iter().filter(|device| device.dropped).count() as u64,
                ending.reports.iter().map(|device| device.stolen).sum(),
                u64::from(matches!(ending.missing, Some((MissingReason::TooLarge, _)))),
                u64::from(matches!(ending.missing, Some((MissingReason::DevicesFailed, _)))),
                u64::from(matches!(ending.missing, Some((MissingReason::Cancelled, _)))),
            ];
            for (sum, number) in seen.iter().zip(numbers) {
                sum.fetch_add(number, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let crew: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in crew {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    // The scenarios reach every corner that they are meant to reach.
    for (what, number) in ["void", "dropped", "stolen", "too large", "all failed", "cancelled"].iter().zip(seen) {
        assert!(number.into_inner() > count / 200, "hardly any seed shows: {what}");
    }
}

#[test]
fn seed_determines_everything() {
    for seed in [3, 1414] {
        let [one, two] = [check(seed), check(seed)];
        assert_eq!(one.events, two.events, "seed {seed}");
        assert_eq!(one.makespan, two.makespan, "seed {seed}");
    }
}
