//! How fast a device is, by the regions that it has finished, and what should be left of those that it has in flight.

use super::region::Region;
use std::time::Duration;

/// A region in flight.
#[derive(Clone, Debug)]
struct Flight {
    region: Region,
    work: u64,
    /// Time that went into it: regions in flight share a device's time evenly.
    spent: Duration,
}

/// Measures a device's speed in work per second. How much of a region in flight is done nobody knows before it is finished.
#[derive(Clone, Debug, Default)]
pub(super) struct Speedometer {
    flights: Vec<Flight>,
    /// Until when time is divided among the flights.
    since: Duration,
    finished_work: u64,
    /// Time that went into what is finished.
    finished_in: Duration,
}

impl Speedometer {
    /// A region is begun.
    pub(super) fn begin(&mut self, region: Region, work: u64, now: Duration) {
        self.account(now);
        self.flights.push(Flight { region, work, spent: Duration::ZERO });
    }

    /// A region is finished, or given back, which tells nothing.
    pub(super) fn end(&mut self, region: Region, finished: bool, now: Duration) {
        self.account(now);
        let Some(place) = self.flights.iter().position(|flight| flight.region == region) else { return };
        let Flight { work, spent, .. } = self.flights.swap_remove(place);
        if finished {
            self.finished_work = self.finished_work.saturating_add(work);
            self.finished_in += spent;
        }
    }

    /// All regions in flight are given back.
    pub(super) fn clear(&mut self) {
        self.flights.clear();
    }

    /// The speed of what is finished; `None` before there is any.
    pub(super) fn speed(&self) -> Option<f64> {
        let seconds = self.finished_in.as_secs_f64();
        (self.finished_work > 0 && seconds > 0.0).then(|| self.finished_work as f64 / seconds)
    }

    /// The speed for all that is known, where others have `mean` speed: before the first region is finished, the device cannot have been
    /// faster than if it were about to be.
    pub(super) fn likely_speed(&self, mean: f64, now: Duration) -> f64 {
        let spent: Duration = self.flights.iter().map(|flight| flight.spent + self.running(now)).sum();
        let at_most = self.begun_work() as f64 / spent.as_secs_f64();
        self.speed().unwrap_or(if at_most > 0.0 { mean.min(at_most) } else { mean })
    }

    /// Work of the regions in flight.
    pub(super) fn begun_work(&self) -> u64 {
        self.flights.iter().fold(0, |sum, flight| sum.saturating_add(flight.work))
    }

    /// What should be left of it at such a speed.
    pub(super) fn ahead(&self, speed: f64, now: Duration) -> f64 {
        let left =
            |flight: &Flight| (flight.work as f64 - speed * (flight.spent + self.running(now)).as_secs_f64()).max(0.0);
        self.flights.iter().map(left).sum()
    }

    /// Each flight's part of the time that has not been divided yet.
    fn running(&self, now: Duration) -> Duration {
        let flights = u32::try_from(self.flights.len()).unwrap_or(u32::MAX).max(1);
        now.saturating_sub(self.since) / flights
    }

    fn account(&mut self, now: Duration) {
        let each = self.running(now);
        self.flights.iter_mut().for_each(|flight| flight.spent += each);
        self.since = self.since.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn region(x: u32) -> Region {
        Region::new([x, 0, x + 1, 1]).expect("not empty")
    }

    #[test]
    fn finished_regions_tell_the_speed() {
        let mut speed = Speedometer::default();
        speed.begin(region(0), 60, SECOND);
        assert_eq!((speed.speed(), speed.likely_speed(100.0, SECOND)), (None, 100.0));
        assert_eq!(speed.likely_speed(100.0, SECOND * 3), 30.0, "not faster than if it were done");
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
