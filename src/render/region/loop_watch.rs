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
}

/// Vertices of a load of long loops, where a submission should have so many trips.
pub(crate) fn long_load_vertices(trips: u64) -> u64 {
    (trips / TRIPS_WANTED).clamp(*VERTICES.start(), *VERTICES.end())
}

/// Trips for each of so many invocations, where a submission should have so many together.
pub(crate) fn trips_for(together: u64, invocations: u64) -> u32 {
    (together / invocations.max(1)).clamp(TRIPS_MIN, LOOP_TRIPS_MAX.into()) as u32
}
