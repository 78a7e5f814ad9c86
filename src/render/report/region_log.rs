//! Logs which device drew which region, and when, for the statistics.

use crate::pipeline::buffers::RegionCapacity;
use crate::render::region::region_result::RegionResult;
use crate::schedule::{Capacity, CutReason, Region, ScheduleEvent, ScheduleEventKind, SummedArea};
use crate::stats::{EstimateStats, RegionStats};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The regions of one world. Events are logged on the threads of devices, results on the session's.
pub(crate) struct RegionLog {
    /// When the scheduler's clock began, on the world's.
    offset: Duration,
    /// What regions are estimated from.
    table: Arc<SummedArea>,
    estimate: Capacity,
    kept: Mutex<LoggedRegions>,
}

#[derive(Default)]
struct LoggedRegions {
    /// Regions that devices stole, and what those were cut into.
    stolen: FxHashSet<Region>,
    /// Regions in flight.
    begun: FxHashMap<Region, RegionStats>,
    finished: FxHashMap<Region, RegionStats>,
    /// Regions that devices found too large.
    too_large: u64,
    /// When each device first opened, by the scheduler's clock.
    opened: BTreeMap<usize, Duration>,
}

impl RegionLog {
    /// Returns the log of a scheduler that starts now, `offset` after the world's first submission, and goes by
    /// `table`. `lists`: samples of a pixel, and the filter's apron in pixels.
    pub(crate) fn new(offset: Duration, table: Arc<SummedArea>, lists: [[u32; 2]; 2]) -> Self {
        Self { offset, table, estimate: Capacity::of_lists(lists, u64::MAX, u64::MAX), kept: Mutex::default() }
    }

    /// Logs an event.
    pub(crate) fn add_event(&self, event: &ScheduleEvent) {
        let kept = &mut *self.kept.lock();
        let now = self.offset + event.at;
        match &event.kind {
            ScheduleEventKind::Stolen { region, .. } => {
                kept.stolen.insert(*region);
            }
            ScheduleEventKind::Cut { region, kept: near, left: far, why } => {
                kept.begun.remove(region);
                kept.too_large += u64::from(*why == CutReason::TooLarge);
                if kept.stolen.contains(region) {
                    kept.stolen.extend([near, far]);
                }
            }
            ScheduleEventKind::Begun { region, work, .. } => {
                let stolen = kept.stolen.contains(region);
                let (device, px, work) = (event.device, region.to_array(), *work);
                let row = RegionStats { device, px, stolen, work, begin: now, ..RegionStats::default() };
                kept.begun.insert(*region, row);
            }
            ScheduleEventKind::Finished { region } => {
                if let Some(row) = kept.begun.remove(region) {
                    kept.finished.insert(*region, RegionStats { end: now, ..row });
                }
            }
            ScheduleEventKind::Failed { returned, .. } => {
                kept.begun.retain(|region, _| !returned.contains(region));
            }
            ScheduleEventKind::Opened { .. } => {
                kept.opened.entry(event.device).or_insert(event.at);
            }
            ScheduleEventKind::Refused { .. } => kept.too_large += 1,
            ScheduleEventKind::Adopted { .. } | ScheduleEventKind::HandedOver { .. } => {}
        }
    }

    /// Logs what a finished region took.
    pub(crate) fn add_result(&self, region: Region, result: &RegionResult) {
        let counts = &result.counts;
        if let Some(row) = self.kept.lock().finished.get_mut(&region) {
            row.device_s = result.device_s;
            // Of one byte each.
            row.grids_estimated = self.estimate.bytes(&self.table, region);
            let bytes = |grids, subpixels| {
                result.capacity.map_or(0, |capacity| RegionCapacity { grids, subpixels, ..capacity }.bytes())
            };
            row.bytes_estimated = bytes(row.grids_estimated, self.estimate.subpixel_count(region));
            row.bytes_used = bytes(counts.selected, result.subpixels);
            row.grids = counts.selected;
            row.visible_micropolygons = counts.visible_micropolygons;
            row.shaded_vertices = counts.shaded_vertices;
            row.submissions = counts.submissions;
            row.entries = counts.entries;
            row.subpixels = result.subpixels;
            row.missed_tiles = counts.missed_tiles;
            row.memory_bytes = result.memory_bytes;
        }
    }

    /// Returns the seconds from the scheduler's start until each device opened, for those that did.
    pub(crate) fn starts_s(&self) -> Vec<f64> {
        self.kept.lock().opened.values().map(Duration::as_secs_f64).collect()
    }

    /// Returns the estimates of finished regions, compared with what they needed.
    pub(crate) fn estimates(&self) -> EstimateStats {
        let too_large = self.kept.lock().too_large;
        EstimateStats::of(&self.regions(), too_large)
    }

    /// Returns all finished regions, in the order in which they were begun.
    pub(crate) fn regions(&self) -> Vec<RegionStats> {
        let mut rows: Vec<RegionStats> = self.kept.lock().finished.values().cloned().collect();
        rows.sort_by_key(|row| (row.begin, row.device, row.px));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::region::region_result::RegionCounts;
    use crate::schedule::{Balance, Failure, Rates, SquareCounts};

    #[test]
    fn regions_are_logged_with_their_device_and_times() {
        let region = |x0, x1| Region::new([x0, 0, x1, 8]).expect("not empty");
        let table = Arc::new(SummedArea::new(region(0, 16), &[SquareCounts::default()], Rates::default()));
        let log = RegionLog::new(Duration::from_millis(100), table, [[2, 2], [1, 1]]);
        let begun = |region| ScheduleEventKind::Begun { region, work: 7, in_flight: 1, balance: Balance::default() };
        let (whole, left, right) = (region(0, 16), region(0, 8), region(8, 16));
        let failure = Failure::Lost("no".into());
        let story = [
            (0, 0, ScheduleEventKind::Opened { depth: 2 }),
            (0, 0, ScheduleEventKind::Adopted { region: whole }),
            (1, 1, ScheduleEventKind::Stolen { region: whole, from: 0 }),
            (2, 1, ScheduleEventKind::Cut { region: whole, kept: left, left: right, why: CutReason::TooLarge }),
            (3, 1, begun(left)),
            (4, 0, begun(right)),
            (5, 1, ScheduleEventKind::Failed { failure, returned: vec![left], reopening: false }),
            (6, 0, ScheduleEventKind::Finished { region: right }),
            (7, 0, begun(left)),
            (9, 0, ScheduleEventKind::Finished { region: left }),
        ];
        for (millis, device, what) in story {
            log.add_event(&ScheduleEvent { at: Duration::from_millis(millis), device, kind: what });
        }
        let counts = RegionCounts { selected: 3, shaded_vertices: 5, missed_tiles: 2, ..RegionCounts::default() };
        let result = RegionResult { counts, device_s: 0.5, subpixels: 64, memory_bytes: 9, ..RegionResult::default() };
        log.add_result(left, &result);
        let rows = log.regions();
        let times = |row: &RegionStats| (row.begin.as_millis(), row.end.as_millis());
        assert_eq!(rows.iter().map(|row| (row.px[0], row.device)).collect::<Vec<_>>(), [(8, 0), (0, 0)]);
        assert_eq!(rows.iter().map(times).collect::<Vec<_>>(), [(104, 106), (107, 109)]);
        assert!(rows.iter().all(|row| row.stolen && row.work == 7));
        assert_eq!((rows[1].grids, rows[1].shaded_vertices, rows[0].grids), (3, 5, 0));
        assert_eq!((rows[1].device_s, log.starts_s()), (0.5, vec![0.0]));
        assert_eq!((rows[1].subpixels, rows[1].missed_tiles, rows[1].memory_bytes), (64, 2, 9));
        let estimates = log.estimates();
        assert_eq!((estimates.regions, estimates.grids_estimated, estimates.grids_selected), (2, 0, 3));
        assert_eq!((estimates.over_max_ratio, estimates.too_large), (4.0, 1));
    }
}
