//! The board's arithmetic.

use super::*;

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(100);
const SHORT: Duration = Duration::from_secs(1);

fn region(x0: u32, x1: u32) -> Region {
    Region::new([x0, 0, x1, 1]).expect("not empty")
}

/// A board with one region of ten pixels and that much work, and open devices.
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
    assert_eq!(board.balance(lives[0], region(0, 4)).unbegun, 11, "estimates of parts may add up to more");
    assert!(board.begin(lives[0], region(0, 4)));
    assert_eq!(board.balance(lives[0], region(4, 10)).unbegun, 6);
    board.fail(lives[0], Failure::Lost(String::new()), true, NOW).expect("the first failure");
    assert_eq!(board.unbegun, 11);
}

#[test]
fn clock_of_patience_starts_with_the_first_region() {
    let (mut board, lives) = board(1);
    assert_eq!(board.overdue(LONG, SHORT, SHORT), [], "nothing to do is no hang");
    board.hold(lives[0], region(0, 10), false, NOW);
    assert_eq!(board.stalled(lives[0]), Duration::ZERO);
    assert_eq!(board.overdue(SHORT, SHORT, SHORT), []);
    assert_eq!(board.stalled(lives[0]), SHORT);
    board.progress(lives[0]);
    assert_eq!(board.overdue(SHORT * 2, SHORT, SHORT), []);
    let [(life, Failure::Hang { waited, .. })] = &board.overdue(SHORT, SHORT, SHORT)[..] else {
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
    assert_eq!(board.balance(lives[0], regions[0]).share, 20, "an eighth of a third: its speed is not known");
    // The first device takes one second for a hundred, the second three.
    for (device, seconds) in [(0, 1), (1, 3)] {
        board.hold(lives[device], regions[device], false, NOW);
        board.begin(lives[device], regions[device]);
        assert!(board.finish(lives[device], regions[device], SHORT * seconds));
    }
    // Speeds 100 and 33.3; the third counts as average: shares of 300 are 3/4, 1/4 of two thirds.
    assert_eq!(board.balance(lives[0], regions[2]).share, 150);
    assert_eq!(board.balance(lives[1], regions[2]).share, 50);
    assert_eq!(board.balance(lives[2], regions[2]).share, 12);
}

#[test]
fn a_second_region_is_begun_beside_a_small_one_only() {
    let room = |board: &Board, life| matches!(board.outlook(life), Outlook::Stay { room: true, .. });
    let works = [(region(0, 1), 10), (region(1, 2), 30), (region(2, 3), 20), (region(3, 4), 80), (region(4, 5), 160)];
    let mut board = Board::new(works, 2, 8);
    let lives = [0, 1].map(|device| board.open(device, 2, NOW).expect("opens"));
    let begin = |board: &mut Board, device: usize, part: Region| {
        assert!(board.hold(lives[device], part, false, NOW) && board.begin(lives[device], part));
    };
    begin(&mut board, 0, region(0, 1));
    assert!(!room(&board, lives[0]), "its speed is not known");
    assert!(board.finish(lives[0], region(0, 1), SHORT));
    begin(&mut board, 0, region(1, 2));
    // Its share of 260 is a half.
    assert!(room(&board, lives[0]), "30 is less than a quarter of its share");
    begin(&mut board, 0, region(2, 3));
    assert!(!room(&board, lives[0]), "two are all it has memory for");
    assert!(board.finish(lives[0], region(2, 3), SHORT));
    begin(&mut board, 1, region(4, 5));
    assert!(!room(&board, lives[0]), "30 is more than a quarter of its share of 80");
    board.leave(1, SHORT);
    assert!(room(&board, lives[0]), "nobody else could draw it");
}

#[test]
fn busy_and_idle_time() {
    let (mut board, lives) = board(1);
    board.hold(lives[0], region(0, 10), false, SHORT * 2);
    board.begin(lives[0], region(0, 10));
    board.finish(lives[0], region(0, 10), SHORT * 5);
    board.leave(0, SHORT * 6);
    let report = &board.reports()[0];
    assert_eq!((report.busy, report.idle), (SHORT * 3, SHORT * 3));
}

#[test]
#[should_panic(expected = "holds")]
fn devices_speak_of_their_own_regions() {
    let (mut board, lives) = board(2);
    board.hold(lives[0], region(0, 10), false, NOW);
    board.finish(lives[1], region(0, 10), NOW);
}
