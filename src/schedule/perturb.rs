//! Perturbation: a test aid that makes the schedule as different as it can be, while the picture must stay the same.
//!
//! `ANTHILL_PERTURB=SEED` turns it on (the caller passes the number to [`Policy`](super::Policy)). Then
//! - every region larger than a sixteenth of the picture is cut, and a smaller one with probability 1/2, if both sides
//!   keep 16 pixels; half of the cuts are at a random pixel instead of the balanced place;
//! - a device waits 0 to 2 ms before it begins a region;
//! - with two or more devices the first region taken, and one in eight afterwards, is put where its owner must not take
//!   it, so that another device has to steal it; the search for a victim starts at a random device;
//! - a device has 1 to [`IN_FLIGHT_MAX`] regions in flight, but no more than it has memory for.
//!
//! Renderers may use the seed too, for submissions of random lengths.
//!
//! The seed determines each device's random decisions. Which device takes which region still depends on timing.

use super::cut::Cut;
use super::region::{Axis, Region};
use super::summed_area::SummedArea;
use std::time::Duration;

/// Shortest side that a forced cut leaves, in pixels.
pub const FORCED_SIDE_MIN_PX: u32 = 16;

/// Largest number of regions in flight that the perturbation chooses; the memory limit must be divided by as many.
pub const IN_FLIGHT_MAX: usize = 4;

/// A cut is forced for every region that holds more than 1 / this of the picture.
const FORCED_REGIONS_MIN: u64 = 16;

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every platform and in every version.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0. The bias of at most `end` in 2^64 does not matter here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Returns true once in `n` times.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// The random decisions of one device.
#[derive(Clone, Debug)]
pub(crate) struct Perturbation {
    random: Random,
}

impl Perturbation {
    /// Returns the random decisions of `device` for `seed`.
    pub(crate) fn new(seed: u64, device: usize) -> Self {
        let mut random = Random::new(seed ^ (device as u64).wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.next();
        Self { random }
    }

    /// Returns the number of regions in flight, at least 1.
    pub(crate) fn depth(&mut self) -> usize {
        1 + self.random.below(IN_FLIGHT_MAX as u64) as usize
    }

    /// Returns the delay before a region is begun, 0 to 2 ms.
    pub(crate) fn delay(&mut self) -> Duration {
        Duration::from_micros(self.random.below(2001))
    }

    /// Whether a region is handed to other devices although this one could take it.
    pub(crate) fn hands_over(&mut self) -> bool {
        self.random.one_in(8)
    }

    /// Returns the first of `count` victims to try.
    pub(crate) fn first_victim(&mut self, count: usize) -> usize {
        self.random.below(count as u64) as usize
    }

    /// Returns a cut that only the perturbation asks for.
    pub(crate) fn forced_cut(&mut self, table: &SummedArea, region: Region) -> Option<Cut> {
        let large = region.pixel_count() > table.picture().pixel_count() / FORCED_REGIONS_MIN;
        if !large && self.random.one_in(2) {
            return None;
        }
        let balanced = table.balanced_cut(region, FORCED_SIDE_MIN_PX)?;
        if self.random.one_in(2) { Some(balanced) } else { self.random_cut(table, region) }
    }

    /// Returns a cut at any pixel that leaves at least 16 pixels on both sides, across any axis that permits it.
    fn random_cut(&mut self, table: &SummedArea, region: Region) -> Option<Cut> {
        let room = |axis| (region.length(axis) + 1).saturating_sub(2 * FORCED_SIDE_MIN_PX);
        let (x, y) = (u64::from(room(Axis::X)), u64::from(room(Axis::Y)));
        let place = self.random.below(x + y);
        let (axis, place) = if place < x { (Axis::X, place) } else { (Axis::Y, place - x) };
        table.cut_at(region, axis, region.span(axis).0.saturating_add_unsigned(FORCED_SIDE_MIN_PX + place as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::super::summed_area::{Rates, SquareCounts, SquareGrid};
    use super::*;

    #[test]
    fn known_answer() {
        // First outputs of the published SplitMix64 for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn decisions_stay_in_their_ranges() {
        let mut perturbation = Perturbation::new(7, 3);
        let mut depths = [0; 5];
        for _ in 0..400 {
            depths[perturbation.depth()] += 1;
            assert!(perturbation.delay() <= Duration::from_millis(2));
            assert!(perturbation.first_victim(3) < 3);
        }
        assert!(depths[0] == 0 && depths[1..].iter().all(|&count| count > 50), "{depths:?}");
        assert_eq!(Random::new(1).below(0), 0);
    }

    #[test]
    fn vga_gives_sixteen_regions_and_no_short_side() {
        let picture = Region::new([0, 0, 640, 480]).expect("not empty");
        let squares = vec![SquareCounts::default(); SquareGrid::of(picture).square_count()];
        let table = SummedArea::new(picture, &squares, Rates::default());
        for seed in 0..200 {
            let mut perturbation = Perturbation::new(seed, 0);
            let (mut todo, mut leaves) = (vec![picture], 0);
            while let Some(region) = todo.pop() {
                assert!(region.width() >= 16 && region.height() >= 16, "seed {seed}: {region}");
                match perturbation.forced_cut(&table, region) {
                    Some(cut) => todo.extend([cut.kept, cut.left]),
                    None => leaves += 1,
                }
            }
            assert!(leaves >= 16, "seed {seed}: {leaves} regions");
        }
    }
}
