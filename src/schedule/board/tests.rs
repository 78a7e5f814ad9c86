//! The board's arithmetic.

use super::*;

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(100);
const SHORT: Duration = Duration::from_secs(1);

fn region(x0: i32, x1: i32) -> Region {
    Region::new([x0, 0, x1, 1]).expect("not empty")
}

/// Returns a board with one region of ten pixels and that much work, and open devices.
fn board(devices: usize) -> (Board, Vec<Life>) {
    let mut board = Board::new([(region(0, 10), 10)], devices, 8);
    let lives = (0..devices).map(|device| board.open(device, 2, NOW).expect("opens")).collect();
    (board, lives)
}

#[test]
fn work_not_begun_is_kept_through_cuts_and_failures() {
    let (mut board, lives) = board(1);
    assert!(board.hold(lives[0], region(0, 10), false, NOW));
    assert!(board.cut(lives[0], region(0, 10), [(region(0, 4), 5), (region(4, 10), 6)]));
    assert_eq!(board.balance(lives[0], region(0, 4), NOW).unbegun, 11, "estimates of parts may add up to more");
    assert!(board.begin(lives[0], region(0, 4), NOW));
    assert_eq!(board.balance(lives[0], region(4, 10), NOW).unbegun, 6);
    assert_eq!(board.entries[0].meter.begun_work(), 5);
    board.fail(lives[0], Failure::Lost(String::new()), true, NOW).expect("the first failure");
    assert_eq!(board.entries[0].meter.begun_work(), 0);
    assert_eq!(board.unbegun, 11);
}

#[test]
fn regions_given_back_do_not_measure_speed() {
    let (mut board, lives) = board(2);
    let halves = [(region(0, 4), 5), (region(4, 10), 6)];
    assert!(board.hold(lives[0], region(0, 10), false, NOW) && board.begin(lives[0], region(0, 10), NOW));
    assert!(board.halve(lives[0], region(0, 10), halves, SHORT));
    assert!(board.hold(lives[0], region(0, 4), false, SHORT) && board.begin(lives[0], region(0, 4), SHORT));
    assert!(board.refuse(lives[0], region(0, 4), SHORT * 2));
    let meter = &board.entries[0].meter;
    assert_eq!((meter.begun_work(), meter.speed()), (0, None));
}

const NONE: fn(usize) -> bool = |_| false;

#[test]
fn compiling_counts_as_progress_while_it_lasts() {
    let (mut board, lives) = board(2);
    board.hold(lives[0], region(0, 10), false, NOW);
    assert_eq!(board.overdue(LONG, [SHORT; 2], |device| device == 0), []);
    assert_eq!(board.stalled(lives[0]), Duration::ZERO);
    assert_eq!(board.overdue(SHORT * 2, [SHORT; 2], |device| device == 1), [], "from then on");
    assert_eq!(board.overdue(SHORT, [SHORT; 2], NONE).len(), 1);
}

#[test]
fn a_device_that_compiles_while_it_opens_is_waited_for() {
    let mut board = Board::new([(region(0, 10), 11)], 1, 4);
    assert_eq!(board.overdue(LONG, [SHORT; 2], |_| true), []);
    assert_eq!(board.overdue(LONG, [SHORT; 2], NONE).len(), 1);
}

#[test]
fn watchdog_starts_with_the_first_region() {
    let (mut board, lives) = board(1);
    assert_eq!(board.overdue(LONG, [SHORT; 2], NONE), [], "nothing to do is no hang");
    board.hold(lives[0], region(0, 10), false, NOW);
    assert_eq!(board.stalled(lives[0]), Duration::ZERO);
    assert_eq!(board.overdue(SHORT, [SHORT; 2], NONE), []);
    assert_eq!(board.stalled(lives[0]), SHORT);
    board.progress(lives[0]);
    assert_eq!(board.overdue(SHORT * 2, [SHORT; 2], NONE), []);
    let [(life, Failure::Hang { waited, .. })] = &board.overdue(SHORT, [SHORT; 2], NONE)[..] else {
        panic!("three times the limit is a hang")
    };
    assert_eq!((*life, *waited), (lives[0], SHORT * 3));
}

#[test]
fn shares_follow_speed() {
    let (mut board, lives) = board(3);
    let regions: Vec<_> = (0..5).map(|i| region(i * 2, i * 2 + 2)).collect();
    board.leaves = regions.iter().map(|region| (*region, Leaf { work: 100, ..Leaf::default() })).collect();
    board.unbegun = 500;
    assert_eq!(board.balance(lives[0], regions[0], NOW).share, 20, "an eighth of a third: its speed is not known");
    // The first device takes one second for a hundred, the second three.
    for (device, seconds) in [(0, 1), (1, 3)] {
        board.hold(lives[device], regions[device], false, NOW);
        board.begin(lives[device], regions[device], NOW);
        assert!(board.finish(lives[device], regions[device], SHORT * seconds));
    }
    // Speeds 100 and 33.3; the third counts as average: shares of 300 are 3/4, 1/4 of two thirds.
    let balance = |device: usize| board.balance(lives[device], regions[2], SHORT * 3);
    assert_eq!([0, 1, 2].map(|device| balance(device).share), [150, 50, 12]);
    assert_eq!([0, 1, 2].map(|device| balance(device).speed_permille), [1500, 500, 125]);
}

#[test]
fn shares_follow_what_is_begun() {
    let mut board =
        Board::new([(region(0, 1), 100), (region(1, 2), 100), (region(2, 3), 300), (region(3, 4), 600)], 2, 8);
    let lives = [0, 1].map(|device| board.open(device, 2, NOW).expect("opens"));
    let begin = |board: &mut Board, device: usize, part: Region, now: Duration| {
        assert!(board.hold(lives[device], part, false, now) && board.begin(lives[device], part, now));
    };
    let shares = |board: &Board, now: Duration| {
        let balances = lives.map(|life| board.balance(life, region(3, 4), now));
        balances.map(|balance| (balance.share, balance.ahead))
    };
    for device in [0, 1] {
        let part = region(device as i32, device as i32 + 1);
        begin(&mut board, device, part, NOW);
        assert!(board.finish(lives[device], part, SHORT));
    }
    assert_eq!(shares(&board, SHORT), [(450, 0), (450, 0)]);
    begin(&mut board, 0, region(2, 3), SHORT);
    assert_eq!(shares(&board, SHORT), [(450, 300), (450, 0)], "the first has begun a third of all");
    assert_eq!(shares(&board, SHORT * 3), [(350, 100), (350, 0)], "of which two seconds have done 200");
    assert_eq!(shares(&board, SHORT * 60), [(300, 0), (300, 0)], "and no more than all");
    assert_eq!(board.balance(lives[0], region(3, 4), SHORT * 60).speed_permille, 1000, "judged when it ends");
}

#[test]
fn a_first_region_that_lasts_shows_a_slow_device() {
    let mut board = Board::new([(region(0, 1), 100), (region(1, 2), 100), (region(2, 3), 1100)], 2, 8);
    let lives = [0, 1].map(|device| board.open(device, 2, NOW).expect("opens"));
    for device in [0, 1] {
        let part = region(device as i32, device as i32 + 1);
        assert!(board.hold(lives[device], part, false, NOW) && board.begin(lives[device], part, NOW));
    }
    assert!(board.finish(lives[0], region(0, 1), SHORT));
    // The second one has done 100 in 10 seconds at most, where the first has a speed of 100.
    assert_eq!(board.balance(lives[0], region(2, 3), SHORT * 10).share, 1000);
}

#[test]
fn a_second_region_is_begun_beside_a_small_one_only() {
    let later = SHORT;
    let may_begin =
        |board: &Board, life| matches!(board.status(life, later), DeviceStatus::Working { may_begin: true, .. });
    let works = [(region(0, 1), 10), (region(1, 2), 30), (region(2, 3), 20), (region(3, 4), 80), (region(4, 5), 160)];
    let mut board = Board::new(works, 2, 8);
    let lives = [0, 1].map(|device| board.open(device, 2, NOW).expect("opens"));
    let begin = |board: &mut Board, device: usize, part: Region, now: Duration| {
        assert!(board.hold(lives[device], part, false, now) && board.begin(lives[device], part, now));
    };
    begin(&mut board, 0, region(0, 1), NOW);
    assert!(!may_begin(&board, lives[0]), "its speed is not known");
    assert!(board.finish(lives[0], region(0, 1), later));
    begin(&mut board, 0, region(1, 2), later);
    // Its share is half of 260 + 30.
    assert!(may_begin(&board, lives[0]), "30 is less than a quarter of its share");
    begin(&mut board, 0, region(2, 3), later);
    assert!(!may_begin(&board, lives[0]), "two are all it has memory for");
    assert!(board.finish(lives[0], region(2, 3), later));
    begin(&mut board, 1, region(4, 5), later);
    assert!(!may_begin(&board, lives[0]), "30 is more than a quarter of its share of 80 + 30");
    board.leave(1, later);
    assert!(may_begin(&board, lives[0]), "nobody else could draw it");
}

#[test]
fn busy_and_idle_time() {
    let (mut board, lives) = board(1);
    board.hold(lives[0], region(0, 10), false, SHORT * 2);
    board.begin(lives[0], region(0, 10), SHORT * 2);
    board.finish(lives[0], region(0, 10), SHORT * 5);
    board.leave(0, SHORT * 6);
    let report = &board.reports()[0];
    assert_eq!((report.busy, report.idle), (SHORT * 3, SHORT * 3));
}

#[test]
#[should_panic(expected = "holds")]
fn devices_report_on_their_own_regions() {
    let (mut board, lives) = board(2);
    board.hold(lives[0], region(0, 10), false, NOW);
    board.finish(lives[1], region(0, 10), NOW);
}
