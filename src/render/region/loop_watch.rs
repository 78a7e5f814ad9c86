//! What is known of the loops that a region's submissions run, and how much of them goes into a submission.

use crate::pipeline::look::LOOP_TRIPS_MAX;
use std::ops::{Range, RangeInclusive};

/// Fewer trips than this would mostly be spent on the way back to where a loop stopped.
const TRIPS_MIN: u64 = 64;

/// A load of long loops has as many vertices as have this many trips each in a submission.
const TRIPS_WANTED: u64 = 512;

/// Vertices of a load of long loops.
const VERTICES: RangeInclusive<u64> = 512..=1 << 16;

/// What is known of the loops that the last submission ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopWatch {
    /// The load that is watched.
    pub load: Option<WatchedLoad>,
    /// The loads of the last submission, if their results can be computed again.
    pub unwatched: Option<Range<usize>>,
    /// Loads before this one are watched.
    pub until: usize,
    /// Invocations whose loops had not ended.
    pub going: u64,
    /// Trips of each invocation of the long load that is watched, so far; of the longest such load that has ended.
    pub made: [u64; 2],
}

impl LoopWatch {
    /// The loads of the last submission that may not be done, and an estimate of the fraction of them that is left.
    pub(crate) fn under_way(&self, vertices: impl Fn(usize) -> u64) -> Option<(Range<usize>, f64)> {
        let Some(load) = self.load else { return self.unwatched.clone().map(|some| (some, 1.0)) };
        let [made, before] = self.made;
        let left = match load.long && made > 0 {
            // Points end one after another, and how many trips the last one needs is not known. A few points take
            // nearly as long as many, because they share their workgroups with those that have ended.
            true => {
                let points = (self.going as f64 / vertices(load.index).max(1) as f64).min(1.0);
                left_of_trips(made, before) * points.cbrt()
            }
            false => 1.0,
        };
        Some((load.index..load.index + 1, left))
    }
}

/// Returns the fraction of the trips that is left when `made` are made, where other loads needed `before`.
fn left_of_trips(made: u64, before: u64) -> f64 {
    let usual = before.max(u64::from(LOOP_TRIPS_MAX)) as f64;
    usual / (usual + made as f64)
}

/// A load of which one program runs at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchedLoad {
    pub index: usize,
    /// The stage whose program runs; `None` before the first.
    pub at: Option<usize>,
    /// Whether its loops are saved.
    pub long: bool,
    /// Trips of the last submission.
    pub trips: u32,
    /// Whether it went on with loops that were saved.
    pub resumed: bool,
}

/// Returns the vertices of a load of long loops, where a submission should have `trips` trips.
pub(crate) fn long_load_vertices(trips: u64) -> u64 {
    (trips / TRIPS_WANTED).clamp(*VERTICES.start(), *VERTICES.end())
}

/// Returns the trips for each of `invocations`, where a submission should have `together` in all.
pub(crate) fn trips_for(together: u64, invocations: u64) -> u32 {
    (together / invocations.max(1)).clamp(TRIPS_MIN, LOOP_TRIPS_MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_long_load_shrinks_with_trips_and_with_points_that_end() {
        let load = WatchedLoad { index: 3, at: None, long: true, trips: 64, resumed: false };
        let watch = |going, made| LoopWatch { load: Some(load), going, made, ..LoopWatch::default() };
        let left = |going, made| watch(going, made).under_way(|_| 100).map_or(0.0, |(_, left)| left);
        assert_eq!(left(100, [0, 0]), 1.0);
        assert_eq!(left(100, [32_768, 0]), 0.5);
        assert!((left(1, [98_304, 0]) - 0.25 * 0.01_f64.cbrt()).abs() < 1e-9);
        assert_eq!(left(100, [98_304, 98_304]), 0.5);
        let unwatched = LoopWatch { unwatched: Some(2..5), ..LoopWatch::default() };
        assert_eq!(unwatched.under_way(|_| 0), Some((2..5, 1.0)));
        assert_eq!(LoopWatch::default().under_way(|_| 0), None);
    }
}
