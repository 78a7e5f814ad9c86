//! Shares of the remaining work, by the devices' speeds and by what they have begun.

use super::{Board, Life};
use crate::schedule::policy::BALANCE_WORK_MIN;
use crate::schedule::region::Region;
use crate::schedule::report::Balance;
use crate::schedule::shares::{DeviceLoad, end_s};
use std::time::Duration;

/// Work per second that a slow device does: a quarter of what a CPU driver on two cores does of opaque scenes.
const SLOW_SPEED: f64 = 1e5;

/// Where the time in flight is limited, a second region is begun when the first has this part of the time left.
const OVERLAP_PARTS: u64 = 8;

impl Board {
    /// Returns the numbers that decide about a cut for balance, except how many regions are queued in deques.
    pub(crate) fn balance(&self, life: Life, region: Region, now: Duration) -> Balance {
        let (share, ahead) = self.share(life, now);
        Balance {
            work: self.leaves.get(&region).map_or(0, |leaf| leaf.work),
            unbegun: self.unbegun,
            share,
            ahead,
            speed_permille: self.speed_permille(life),
            devices: self.live_devices().count(),
            waiting_devices: self.waiting_devices(life.device),
            queued: self.set_aside.len(),
        }
    }

    /// Returns the device's share of the remaining work, with which it ends when all others do, by their speeds and by
    /// what they have begun; and the work that it has begun itself and should not have done yet. A device whose speed
    /// is not known counts as average in the shares of the others, and gets a small share itself, in case it is slow.
    pub(super) fn share(&self, life: Life, now: Duration) -> (u64, u64) {
        let Some((own, mean)) = self.entries[life.device].meter.speed().zip(self.mean_speed()) else {
            return (
                self.unbegun / (self.live_devices().count() as u64).saturating_mul(self.unknown_share_parts).max(1),
                0,
            );
        };
        let runner = |device: usize| {
            let meter = &self.entries[device].meter;
            let speed = meter.likely_speed(mean, now);
            DeviceLoad { speed, ahead: meter.ahead(speed, now) }
        };
        let end = end_s(self.live_devices().map(runner).collect(), self.unbegun as f64);
        ((own * end) as u64, self.entries[life.device].meter.ahead(own, now) as u64)
    }

    /// Returns the work that the device may begin so that it should have done all that it has in flight within
    /// [`Policy::in_flight_time_max`](crate::schedule::Policy::in_flight_time_max); `None` if that is not limited. A
    /// device whose speed is not known yet begins with what a slow one does in this time.
    pub(crate) fn timed_work(&self, life: Life, now: Duration) -> Option<u64> {
        let (most, ahead) = self.timed(life, now)?;
        Some(most.saturating_sub(ahead).max(1))
    }

    /// Whether nearly all that the device has in flight should be done: what it begins then replaces it, so that nearly
    /// one region at a time is not saved yet, and regions can be as large as the time allows.
    pub(super) fn is_timely(&self, life: Life, now: Duration) -> bool {
        self.timed(life, now).is_none_or(|(most, ahead)| ahead <= most / OVERLAP_PARTS)
    }

    /// Returns the work that the device should do in the time that regions in flight may take, and what should remain
    /// of those in flight.
    fn timed(&self, life: Life, now: Duration) -> Option<(u64, u64)> {
        let seconds = self.in_flight_time_max?.as_secs_f64();
        let meter = &self.entries[life.device].meter;
        Some(match meter.careful_speed() {
            Some(speed) => ((speed * seconds) as u64, meter.ahead(speed, now) as u64),
            None => (BALANCE_WORK_MIN.max((SLOW_SPEED * seconds) as u64), meter.begun_work()),
        })
    }

    /// Returns the device's speed relative to the mean of the known speeds, in thousandths, at least one; an unknown
    /// speed is assumed to be low.
    fn speed_permille(&self, life: Life) -> u64 {
        let permille = match self.entries[life.device].meter.speed().zip(self.mean_speed()) {
            Some((own, mean)) => (1000.0 * own / mean) as u64,
            None => 1000 / self.unknown_share_parts.max(1),
        };
        permille.max(1)
    }

    /// Returns the mean of the known speeds.
    fn mean_speed(&self) -> Option<f64> {
        let (sum, count) = self
            .live_devices()
            .filter_map(|device| self.entries[device].meter.speed())
            .fold((0.0, 0_u32), |(sum, count), speed| (sum + speed, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }
}
