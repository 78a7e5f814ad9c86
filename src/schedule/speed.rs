//! A device's speed, measured by the regions that it has finished, and the work that should remain of those in flight.

use super::region::Region;
use std::time::Duration;

/// A region in flight.
#[derive(Clone, Debug)]
struct RegionInFlight {
    region: Region,
    work: u64,
    /// Time spent on the region so far: regions in flight share a device's time evenly.
    spent: Duration,
}

/// Measures a device's speed in work per second. How much of a region is done is unknown until it is finished.
#[derive(Clone, Debug, Default)]
pub(super) struct Speedometer {
    in_flight: Vec<RegionInFlight>,
    /// The time up to which time has been divided among the regions in flight.
    since: Duration,
    finished_work: u64,
    /// Time spent on finished regions.
    finished_in: Duration,
    /// The speed of the region that was finished last.
    last: Option<f64>,
}

impl Speedometer {
    /// Notes that a region has begun.
    pub(super) fn begin(&mut self, region: Region, work: u64, now: Duration) {
        self.account(now);
        self.in_flight.push(RegionInFlight { region, work, spent: Duration::ZERO });
    }

    /// Notes that a region was finished, or given back, which does not count.
    pub(super) fn end(&mut self, region: Region, finished: bool, now: Duration) {
        self.account(now);
        let Some(place) = self.in_flight.iter().position(|entry| entry.region == region) else { return };
        let RegionInFlight { work, spent, .. } = self.in_flight.swap_remove(place);
        if finished {
            self.finished_work = self.finished_work.saturating_add(work);
            self.finished_in += spent;
            self.last = (work > 0 && !spent.is_zero()).then(|| work as f64 / spent.as_secs_f64());
        }
    }

    /// Notes that all regions in flight were given back.
    pub(super) fn clear(&mut self) {
        self.in_flight.clear();
    }

    /// Returns the speed over all finished regions; `None` before there are any.
    pub(super) fn speed(&self) -> Option<f64> {
        let seconds = self.finished_in.as_secs_f64();
        (self.finished_work > 0 && seconds > 0.0).then(|| self.finished_work as f64 / seconds)
    }

    /// Returns the speed over all finished regions, or that of the last one if it was slower: estimates err alike in
    /// places near each other.
    pub(super) fn careful_speed(&self) -> Option<f64> {
        Some(self.last.map_or(f64::INFINITY, |last| last).min(self.speed()?))
    }

    /// Returns the likely speed where other devices have `mean` speed: before the first region is finished, at most the
    /// speed that the device would have if it finished the region now.
    pub(super) fn likely_speed(&self, mean: f64, now: Duration) -> f64 {
        let spent: Duration = self.in_flight.iter().map(|entry| entry.spent + self.running(now)).sum();
        let at_most = self.begun_work() as f64 / spent.as_secs_f64();
        self.speed().unwrap_or(if at_most > 0.0 { mean.min(at_most) } else { mean })
    }

    /// Returns the work of the regions in flight.
    pub(super) fn begun_work(&self) -> u64 {
        self.in_flight.iter().fold(0, |sum, entry| sum.saturating_add(entry.work))
    }

    /// Returns the work of the regions in flight that should remain at this speed.
    pub(super) fn ahead(&self, speed: f64, now: Duration) -> f64 {
        let left = |entry: &RegionInFlight| {
            (entry.work as f64 - speed * (entry.spent + self.running(now)).as_secs_f64()).max(0.0)
        };
        self.in_flight.iter().map(left).sum()
    }

    /// Returns each region's part of the time that has not been divided yet.
    fn running(&self, now: Duration) -> Duration {
        let in_flight = u32::try_from(self.in_flight.len()).unwrap_or(u32::MAX).max(1);
        now.saturating_sub(self.since) / in_flight
    }

    fn account(&mut self, now: Duration) {
        let each = self.running(now);
        self.in_flight.iter_mut().for_each(|entry| entry.spent += each);
        self.since = self.since.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn region(x: i32) -> Region {
        Region::new([x, 0, x + 1, 1]).expect("not empty")
    }

    #[test]
    fn speed_is_measured_by_finished_regions() {
        let mut speed = Speedometer::default();
        speed.begin(region(0), 60, SECOND);
        assert_eq!((speed.speed(), speed.likely_speed(100.0, SECOND)), (None, 100.0));
        assert_eq!(speed.likely_speed(100.0, SECOND * 3), 30.0, "not faster than if it finished now");
        assert_eq!((speed.begun_work(), speed.ahead(20.0, SECOND * 3)), (60, 20.0));
        speed.end(region(0), true, SECOND * 4);
        assert_eq!((speed.speed(), speed.likely_speed(100.0, SECOND * 9)), (Some(20.0), 20.0));
        speed.begin(region(1), 40, SECOND * 9);
        speed.end(region(1), false, SECOND * 99);
        assert_eq!(
            (speed.speed(), speed.begun_work()),
            (Some(20.0), 0),
            "idle time and what is given back do not count"
        );
        speed.begin(region(2), 10, SECOND * 100);
        speed.end(region(2), true, SECOND * 102);
        assert_eq!((speed.speed(), speed.careful_speed()), (Some(14.0), Some(5.0)), "the last one was slow");
        speed.begin(region(3), 100, SECOND * 102);
        speed.end(region(3), true, SECOND * 103);
        assert_eq!(speed.careful_speed(), speed.speed(), "one that was fast changes little");
    }

    #[test]
    fn regions_in_flight_share_the_time() {
        let mut speed = Speedometer::default();
        speed.begin(region(0), 30, Duration::ZERO);
        speed.begin(region(1), 50, SECOND * 2);
        assert_eq!(speed.ahead(10.0, SECOND * 4), 40.0);
        speed.end(region(0), true, SECOND * 4);
        assert_eq!(speed.speed(), Some(10.0), "half of the last two seconds went into the other");
        speed.end(region(1), true, SECOND * 8);
        assert_eq!(speed.speed(), Some(10.0));
    }
}
