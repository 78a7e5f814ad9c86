//! Named cases: each shows one thing that the protocol promises.

use super::super::policy::{BALANCE_SIDE_MIN_PX, Policy};
use super::super::region::Region;
use super::super::report::{CutReason, Failure, MissingReason, ScheduleEventKind};
use super::super::summed_area::{Rates, SquareCounts, SquareGrid, SquareGrids, SummedArea};
use super::device::{FakeDeviceSetup, Trouble};
use super::{Scenario, SimulationResult};
use std::sync::Arc;
use std::time::Duration;

fn table(width: u32, height: u32, square: impl Fn(u32, u32) -> u64) -> Arc<SummedArea> {
    let picture = Region::new([0, 0, width.cast_signed(), height.cast_signed()]).expect("not empty");
    let grid = SquareGrid::of(picture);
    let squares: Vec<_> = (0..grid.square_count() as u32)
        .map(|index| {
            let micropolygons = square(index % grid.size[0], index / grid.size[0]);
            SquareCounts { micropolygons, grids: SquareGrids::inside(micropolygons / 50), translucent: 0 }
        })
        .collect();
    Arc::new(SummedArea::new(picture, &squares, Rates::default()))
}

fn scenario(table: &Arc<SummedArea>, devices: Vec<FakeDeviceSetup>) -> Scenario {
    let policy = Policy {
        hang_timeout: Duration::from_millis(500),
        open_timeout: Duration::from_secs(2),
        ..Policy::new(table.work(table.picture()), devices.len())
    };
    Scenario { table: table.clone(), policy, devices, cancel_at: None, seed: 0 }
}

fn sound(count: usize) -> Vec<FakeDeviceSetup> {
    vec![FakeDeviceSetup::sound(2000.0); count]
}

fn hd() -> Arc<SummedArea> {
    table(1920, 1080, |_, _| 2000)
}

fn pixels(regions: &[Region]) -> u64 {
    regions.iter().map(|region| region.pixel_count()).sum()
}

fn assert_whole(ending: &SimulationResult, table: &SummedArea) {
    assert_eq!(ending.missing, None);
    assert_eq!(pixels(&ending.delivered), table.picture().pixel_count());
}

#[test]
fn stampede() {
    // All devices open at once on one region: each gets work before long, and the time is near the ideal.
    let table = hd();
    let ending = scenario(&table, sound(16)).run();
    assert_whole(&ending, &table);
    let first_work = |device| {
        ending
            .events
            .iter()
            .find(|event| event.device == device && matches!(event.kind, ScheduleEventKind::Begun { .. }))
    };
    for device in 0..16 {
        let at = first_work(device).expect("every device works").at;
        assert!(at < Duration::from_millis(10), "device {device} begins only at {at:?}");
    }
}

#[test]
fn no_starvation() {
    // A slow device has the whole picture to itself until the fast one comes; from then on the fast one does nearly
    // all.
    let table = hd();
    let slow = FakeDeviceSetup::sound(100.0);
    let fast = FakeDeviceSetup { opens_after: Duration::from_millis(300), ..FakeDeviceSetup::sound(10_000.0) };
    let ending = scenario(&table, vec![slow, fast]).run();
    assert_whole(&ending, &table);
    assert!(ending.reports[1].stolen > 0);
    // The slow device's first region is all that it is left alone with.
    assert!(ending.makespan < Duration::from_secs(8), "{:?} instead of 160 s alone", ending.makespan);
}

#[test]
fn late_device_joins() {
    let table = hd();
    let late = FakeDeviceSetup { opens_after: Duration::from_millis(1500), ..FakeDeviceSetup::sound(2000.0) };
    let mut devices = sound(2);
    devices.push(late);
    let ending = scenario(&table, devices).run();
    assert_whole(&ending, &table);
    assert!(ending.reports[2].regions > 0 && ending.reports[2].stolen > 0, "{:?}", ending.reports);
    assert!(ending.reports[2].idle >= Duration::from_millis(1500));
}

#[test]
fn one_device_lost_at_the_last_region() {
    let table = hd();
    let regions = scenario(&table, sound(2)).run().reports[1].regions;
    let mut devices = sound(2);
    devices[1].troubles = [Trouble::Lost(regions), Trouble::Lost(1)];
    let ending = scenario(&table, devices).run();
    assert_whole(&ending, &table);
    assert_eq!(ending.reports[1].failures.len(), 2, "lost, opened again, lost");
    assert!(ending.reports[1].dropped && !ending.reports[0].dropped);
}

#[test]
fn all_lost() {
    let table = hd();
    let mut devices = sound(3);
    for device in &mut devices {
        device.troubles = [Trouble::Lost(4), Trouble::Lost(4)];
    }
    let ending = scenario(&table, devices).run();
    let (reason, missing) = ending.missing.expect("nobody is left");
    assert_eq!(reason, MissingReason::DevicesFailed);
    assert!(!ending.delivered.is_empty(), "the rest stands");
    assert_eq!(pixels(&missing) + pixels(&ending.delivered), table.picture().pixel_count());
    assert!(ending.reports.iter().all(|device| device.dropped && device.failures.len() == 2));
}

#[test]
fn more_devices_than_regions() {
    let table = table(20, 20, |_, _| 10);
    let ending = scenario(&table, sound(16)).run();
    assert_whole(&ending, &table);
    assert_eq!(ending.delivered.len(), 1, "not worth a cut");
}

#[test]
fn single_pixel() {
    let table = table(1, 1, |_, _| 1_000_000);
    let ending = scenario(&table, sound(3)).run();
    assert_whole(&ending, &table);
    let perturbed = scenario(&table, sound(3));
    let policy = Policy { perturb: Some(1), ..perturbed.policy };
    assert_whole(&Scenario { policy, ..perturbed }.run(), &table);
}

#[test]
fn one_device_is_never_cut_for_balance() {
    let table = table(640, 480, |_, _| 20_000);
    let ending = scenario(&table, sound(1)).run();
    assert_eq!(ending.delivered, [table.picture()]);
}

#[test]
fn what_is_in_flight_takes_no_longer_than_it_may() {
    // One device would draw all of it as one region, in six seconds, of which nothing is saved before the end.
    let table = table(1280, 960, |column, _| if column < 40 { 3_750 } else { 1_250 });
    let time_max = Duration::from_millis(400);
    for depth in [1, 2] {
        let devices = vec![FakeDeviceSetup { depth, ..FakeDeviceSetup::sound(2000.0) }];
        let plain = scenario(&table, devices);
        let policy = Policy { in_flight_time_max: Some(time_max), ..plain.policy };
        let ending = Scenario { policy, ..plain }.run();
        assert_whole(&ending, &table);
        let mut begun = Vec::new();
        for event in &ending.events {
            match &event.kind {
                ScheduleEventKind::Begun { region, .. } => begun.push((*region, event.at)),
                ScheduleEventKind::Finished { region } => {
                    let place = begun.iter().position(|(other, _)| other == region).expect("it was begun");
                    let took = event.at - begun.remove(place).1;
                    assert!(took < time_max * 13 / 10, "{region} took {took:?}");
                }
                _ => {}
            }
        }
        let count = ending.delivered.len();
        assert!((12..70).contains(&count), "{count} regions: no smaller than they must be");
    }
}

/// A program is killed at any moment. What it must draw again is the time that went into pixels that were not saved: a
/// quarter of the interval after they are finished, they are.
#[test]
fn a_kill_loses_little_more_than_the_interval() {
    let interval = Duration::from_millis(800);
    let near = |column: u32, row: u32| u64::from(column.abs_diff(30) + row.abs_diff(20));
    let plain = table(1280, 960, |column, row| 4_000 + 16_000 / (1 + near(column, row)));
    let loss = |in_flight_time_max, depth| {
        let scenario = scenario(&plain, vec![FakeDeviceSetup { depth, ..FakeDeviceSetup::sound(2000.0) }]);
        let policy = Policy { in_flight_time_max, ..scenario.policy };
        let ending = Scenario { policy, ..scenario }.run();
        assert_whole(&ending, &plain);
        let end_of = |kind: &ScheduleEventKind| matches!(kind, ScheduleEventKind::Finished { .. });
        let mut ends = vec![Duration::ZERO];
        ends.extend(ending.events.iter().filter(|event| end_of(&event.kind)).map(|event| event.at));
        // The device works on one region after another. A region is saved `interval / 4` after its end; just before
        // that, all since its begin is lost.
        let kill = |(begin, end): (Duration, Duration)| (end + interval / 4).min(*ends.last().expect("one")) - begin;
        ends.iter().copied().zip(ends.iter().copied().skip(1)).map(kill).max().expect("a region")
    };
    assert!(loss(None, 2) > 4 * interval, "one region");
    for depth in [1, 2] {
        let lost = loss(Some(interval.mul_f64(0.7)), depth);
        assert!(lost < interval * 11 / 10, "{lost:?} are lost");
    }
}

#[test]
fn cut_never_below_the_minimum() {
    // Everything is in one corner, and sixteen devices want some of it.
    let table = table(1920, 1080, |column, row| if column + row < 8 { 1_000_000 } else { 0 });
    let ending = scenario(&table, sound(16)).run();
    assert_whole(&ending, &table);
    for region in &ending.delivered {
        assert!(region.width().min(region.height()) >= BALANCE_SIDE_MIN_PX, "{region}");
    }
}

#[test]
fn small_device_takes_small_regions() {
    let table = hd();
    let mut devices = sound(2);
    devices[0].capacity.subpixel_count_max = 300_000;
    let ending = scenario(&table, devices.clone()).run();
    assert_whole(&ending, &table);
    let mut small_begun = 0;
    for event in ending.events.iter().filter(|event| event.device == 0) {
        match &event.kind {
            ScheduleEventKind::Begun { region, .. } => {
                small_begun += 1;
                assert!(devices[0].capacity.subpixel_count(*region) <= 300_000);
            }
            ScheduleEventKind::Cut { why, .. } => {
                assert!(matches!(why, CutReason::Memory { .. } | CutReason::Balance(_)));
            }
            _ => {}
        }
    }
    assert!(small_begun > 2);
}

#[test]
fn found_too_large_on_the_device() {
    // The estimate is wrong by three: what was let in comes back in halves, and nothing is lost.
    let table = hd();
    let mut device = FakeDeviceSetup { truth: 3.0, ..FakeDeviceSetup::sound(2000.0) };
    device.capacity.part_bytes = device.capacity.bytes(&table, table.picture());
    let ending = scenario(&table, vec![device]).run();
    assert_whole(&ending, &table);
    assert!(ending.reports[0].retries > 0 && ending.delivered.len() >= 4);
}

#[test]
fn pixel_too_large_for_one_device() {
    let table = table(3, 2, |_, _| 10);
    let mut devices = sound(2);
    devices[0].capacity.part_bytes = 0;
    let ending = scenario(&table, devices.clone()).run();
    assert_whole(&ending, &table);
    assert_eq!(ending.reports[0].regions, 0);
    devices[1].capacity.part_bytes = 0;
    let (reason, missing) = scenario(&table, devices).run().missing.expect("too large for both");
    assert_eq!((reason, missing.len()), (MissingReason::TooLarge, 6));
}

#[test]
fn poisonous_region_takes_nothing_with_it() {
    // One region brings down whatever renders it. Every other pixel is rendered before it has brought down the last
    // device.
    let table = table(640, 480, |_, _| 2000);
    for count in 2..5 {
        for place in 0..48 {
            let [x, y] = [place % 8 * 80 + 40, place / 8 * 80 + 40];
            let mut devices = sound(count);
            for device in &mut devices {
                device.poison = Some([x, y]);
                device.capacity.subpixel_count_max = 200_000;
            }
            let ending = scenario(&table, devices).run();
            let (reason, missing) = ending.missing.expect("the poisonous region");
            assert_eq!((reason, missing.len()), (MissingReason::DevicesFailed, 1), "{count} devices, pixel ({x}, {y})");
            let pixel = Region::new([x, y, x + 1, y + 1].map(u32::cast_signed)).expect("not empty");
            assert!(missing[0].intersection(pixel).is_some());
        }
    }
}

#[test]
fn hang_is_named_and_survived() {
    let table = hd();
    let mut devices = sound(2);
    devices[0].troubles = [Trouble::Hang(2), Trouble::None];
    let ending = scenario(&table, devices).run();
    assert_whole(&ending, &table);
    let failure = &ending.reports[0].failures[0];
    assert!(matches!(failure, Failure::Hang { waiting_for, .. } if waiting_for == "nothing"), "{failure:?}");
    assert!(!ending.reports[0].dropped, "it was opened again");
    assert!(ending.reports[0].regions > 1);
}

#[test]
fn compiling_for_minutes_is_no_hang() {
    let table = hd();
    let mut devices = sound(2);
    devices[1].troubles = [Trouble::Compiles(2, Duration::from_secs(300)), Trouble::None];
    let ending = scenario(&table, devices).run();
    assert_whole(&ending, &table);
    assert!(ending.reports.iter().all(|report| report.failures.is_empty()), "{:?}", ending.reports);
    assert!(ending.makespan >= Duration::from_secs(300), "the region that it had begun is its own");
}

#[test]
fn stuck_driver_is_survived_and_its_late_pixels_are_void() {
    let table = hd();
    let mut devices = sound(2);
    devices[0].troubles = [Trouble::Stuck(1, Duration::from_secs(3)), Trouble::None];
    let ending = scenario(&table, devices).run();
    assert_whole(&ending, &table);
    assert_eq!(ending.void, 1);
    assert!(ending.reports[0].dropped && ending.reports[0].regions == 0);
}

#[test]
fn cancel_gives_up_what_is_in_flight() {
    let table = hd();
    let whole = scenario(&table, sound(2));
    let ending = Scenario { cancel_at: Some(Duration::from_millis(700)), ..whole }.run();
    let (reason, missing) = ending.missing.expect("cancelled half-way");
    assert_eq!(reason, MissingReason::Cancelled);
    assert_eq!(pixels(&missing) + pixels(&ending.delivered), table.picture().pixel_count());
    let late =
        |what: &ScheduleEventKind| matches!(what, ScheduleEventKind::Begun { .. } | ScheduleEventKind::Cut { .. });
    let begun_late = ending.events.iter().any(|event| event.at > Duration::from_millis(700) && late(&event.kind));
    assert!(!begun_late && ending.delivered.len() > 2);
    assert!(ending.reports.iter().all(|device| !device.dropped));
}

#[test]
fn cancel_wakes_who_waits() {
    // The first region is handed over to a device that is not open yet, so the other one waits until it is cancelled.
    let table = table(16, 16, |_, _| 2000);
    let mut devices = sound(2);
    devices[1].troubles[0] = Trouble::NeverOpens;
    let plain = scenario(&table, devices);
    let policy = Policy { perturb: Some(1), ..plain.policy };
    let ending = Scenario { policy, cancel_at: Some(Duration::from_millis(100)), ..plain }.run();
    assert_eq!(ending.missing, Some((MissingReason::Cancelled, vec![table.picture()])));
    assert!(ending.ended_at < Duration::from_millis(150), "ended only at {:?}", ending.ended_at);
}

#[test]
fn cancelled_is_not_too_large() {
    // The second device leaves when it is cancelled; then the first finds the pixel too large for it.
    let table = table(1, 1, |_, _| 2000);
    let mut devices = sound(2);
    devices[0].capacity.part_bytes = 0;
    devices[0].overhead = Duration::from_millis(50);
    devices[1].opens_after = Duration::from_millis(1);
    let whole = scenario(&table, devices);
    let ending = Scenario { cancel_at: Some(Duration::from_millis(20)), ..whole }.run();
    assert_eq!(ending.missing, Some((MissingReason::Cancelled, vec![table.picture()])));
    assert_eq!(ending.reports[0].retries, 1);
}

#[test]
fn device_given_up_does_not_come_back() {
    let table = hd();
    let mut devices = sound(2);
    devices[1].opens_after = Duration::from_millis(2500);
    let ending = scenario(&table, devices).run();
    assert_whole(&ending, &table);
    assert!(ending.reports[1].dropped && ending.reports[1].regions == 0);
}

#[test]
fn unusable_devices_only() {
    let table = hd();
    let mut devices = sound(2);
    devices[0].troubles[0] = Trouble::Unusable;
    devices[1].troubles[0] = Trouble::NeverOpens;
    let ending = scenario(&table, devices).run();
    let (reason, missing) = ending.missing.expect("no device");
    assert_eq!((reason, missing), (MissingReason::DevicesFailed, vec![table.picture()]));
    let failure = ending.reports[1].failures[0].to_string();
    assert!(failure.ends_with("waiting for the device to open"), "{failure}");
}

/// What the share rule is for: the time of a render over the ideal one, without it and with it.
#[test]
fn speed_up() {
    let heap = table(1920, 1080, |column, row| 100 + 20_000 / (1 + u64::from(column.abs_diff(30) + row.abs_diff(20))));
    for (table, count, bound) in
        [(&hd(), 2, 1.15), (&hd(), 4, 1.25), (&hd(), 16, 1.6), (&heap, 2, 1.2), (&heap, 4, 1.35)]
    {
        // Speeds that differ by up to four.
        let devices: Vec<_> = (0..count).map(|i| FakeDeviceSetup::sound(1000.0 * (1 + i * 7 % 4) as f64)).collect();
        let ideal = table.work(table.picture()) as f64 / devices.iter().map(|device| device.speed).sum::<f64>();
        let full = scenario(table, devices);
        let plain = Scenario { policy: Policy { share_percent: 0, ..full.policy.clone() }, ..full.clone() };
        let [with, without] = [full, plain].map(|scenario| scenario.run().makespan.as_secs_f64() * 1e3 / ideal);
        assert!(with < bound, "{count} devices: {with:.3} of the ideal time");
        assert!(with < without, "{count} devices: {with:.3} with the rule, {without:.3} without");
    }
}
