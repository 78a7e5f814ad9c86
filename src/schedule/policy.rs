//! The parameters of scheduling, and the rules for cuts that balance work.

use super::report::Balance;
use std::time::Duration;

/// Shortest side that a cut for balance may leave, in pixels: aprons, and grids that extend across a border, are
/// rendered twice. With 64 the last regions of slow devices take too long where a small part of the picture holds much
/// of the work (see [`SHARE_PERCENT`] for how this was found).
pub const BALANCE_SIDE_MIN_PX: u32 = 32;

/// Shortest side that a cut for time may leave, in pixels. On one CPU device, translucent grids in regions of 95
/// pixels a side (35 regions) took 15% longer than in one region, and in regions of 47 pixels (120 to 140) half as
/// long again or twice as long; and as slower regions are cut smaller, nothing else would end that.
pub(crate) const TIMED_SIDE_MIN_PX: u32 = 64;

/// Least work of a region that is worth a cut for balance on a device of mean speed: at a million micropolygons a
/// second (a CPU driver on two cores) it lasts about as long as one submission of 50 ms.
pub const BALANCE_WORK_MIN: u64 = 1 << 16;

/// Percentage of its share of the remaining work, plus n_min, that a device may have in flight: a region that would
/// exceed it is cut before it is begun.
///
/// The rest of the share makes up for errors of the table and of the measured speed: a region that has begun cannot be
/// cut.
///
/// This number, the shortest side, the parts, and the cost of a pixel ([`Rates`](super::Rates)) were found together,
/// from forecasts (`crate::forecast`) for four measured pictures (hair, teapots, grass, 500,000 polygons at 1600x1200)
/// on 41 combinations of 2 to 8 devices whose speeds differ by up to a factor of ten: drawing takes 1.10 times the
/// ideal time on average, borders included, and two devices of speeds 1 and about 3 end 0.6% of it apart (median; 90%
/// of them within 1.4%). With 90% of the share, drawing takes a little less, and where estimates are wrong by 15% the
/// devices end up to 15% apart; with halves instead of parts, the whole share, and a quarter of a micropolygon for a
/// pixel, as it was before, drawing takes 1.14 times the ideal time and they end 1.9% apart (90% within 4.5%).
pub const SHARE_PERCENT: u64 = 70;

/// Divisor of an equal share for a device whose speed is not known yet, if all devices are of one kind: a device that
/// is slowed down by something else can still finish in time what it begins.
pub const ALIKE_SHARE_PARTS: u64 = 4;

/// Divisor of an equal share for a device whose speed is not known yet, if the devices may differ greatly.
pub const UNLIKE_SHARE_PARTS: u64 = 16;

/// A device may begin a second region while what it has begun is at most its share of the remaining work divided by
/// this: the second region hides the host's part of the first one's steps, but it waits behind the first while other
/// devices may have nothing to do.
pub(super) const AHEAD_PARTS: u64 = 4;

/// With n_min = total / (devices * this), the last device works alone for at most 1 / this of the ideal time.
const TAIL_PART: u64 = 128;

/// What decisions depend on besides the table and the devices' capacities. None of it can change the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// n_min of RenderAnts, section 6, for a device of mean speed: a region that fits and holds no more work than this
    /// (in micropolygons, by the table's rates) is not cut for balance. Slower devices have a smaller minimum. See
    /// [`balance_work_min`].
    pub balance_work_min: u64,
    /// Shortest side that a cut for balance may leave, in pixels.
    pub balance_side_min_px: u32,
    /// Percentage of its share of the remaining work, plus n_min, that a device may have in flight; a region that would
    /// exceed it is cut. 0 turns the rule off.
    pub share_percent: u64,
    /// Divisor of an equal share for a device whose speed is not known yet; at least 1.
    pub unknown_share_parts: u64,
    /// A device with regions in flight that makes no progress for this long is considered hung. If a call of the driver
    /// does not return, the device is given up after twice this time.
    pub hang_timeout: Duration,
    /// A device that does not open within this time is given up.
    pub open_timeout: Duration,
    /// The longest time that a device's thread waits in one call, for a step of a region or for work.
    pub poll_timeout: Duration,
    /// The time that a device should need for the regions that it has in flight, at most, by its measured speed: what a
    /// killed program loses besides what was finished since the last checkpoint. Regions are cut for it, down to
    /// 64 pixels a side, because nothing is saved of a region in flight.
    pub in_flight_time_max: Option<Duration>,
    /// The seed of `ANTHILL_PERTURB`, a test aid: see [`perturb`](super::perturb).
    pub perturb: Option<u64>,
}

/// Returns n_min for a picture of `total_work` on `device_count` devices: large enough to be worth a region, and small
/// enough that the tail, during which the last device works alone, is at most 1/128 of the ideal time.
pub fn balance_work_min(total_work: u64, device_count: usize) -> u64 {
    (total_work / TAIL_PART / (device_count as u64).max(1)).max(BALANCE_WORK_MIN)
}

impl Policy {
    /// Returns the policy for a picture of `total_work` micropolygons on `device_count` devices, which may differ.
    pub fn new(total_work: u64, device_count: usize) -> Self {
        Self {
            balance_work_min: balance_work_min(total_work, device_count),
            balance_side_min_px: BALANCE_SIDE_MIN_PX,
            share_percent: SHARE_PERCENT,
            unknown_share_parts: UNLIKE_SHARE_PARTS,
            hang_timeout: Duration::from_secs(60),
            open_timeout: Duration::from_secs(60),
            poll_timeout: Duration::from_millis(100),
            in_flight_time_max: None,
            perturb: None,
        }
    }

    /// Returns the same policy for devices of one kind.
    #[must_use]
    pub fn of_alike(self) -> Self {
        Self { unknown_share_parts: ALIKE_SHARE_PARTS, ..self }
    }

    /// Returns how to cut a region that fits, so that other devices get work: RenderAnts, section 6, with a second
    /// condition of our own.
    ///
    /// The paper cuts a region that holds more than n_min while another device lacks work. That alone starts regions
    /// that are far larger than what the other devices have left, and then they cannot help. So if a region holds
    /// clearly more than most of its device's share of the remaining work, less what the device has in flight, a part
    /// of that size is cut off: regions are large at first and shrink towards n_min at the end (guided self-scheduling,
    /// Polychronopoulos and Kuck 1987; with shares by measured speed, as in weighted factoring, Flynn Hummel et al.
    /// 1996). A device whose speed is not known yet begins with a small region.
    pub(crate) fn balance_cut(&self, balance: &Balance) -> BalanceCut {
        let work_min = scaled(self.balance_work_min, balance.speed_permille, 1000);
        let part = scaled(balance.share, self.share_percent, 100).saturating_sub(balance.ahead);
        if balance.devices < 2 || balance.work <= work_min {
            BalanceCut::Keep
        } else if balance.waiting_devices > balance.queued {
            BalanceCut::Halve
        } else if self.share_percent > 0 && balance.work > part.saturating_add(work_min) {
            BalanceCut::CutOff(part.max(work_min))
        } else {
            BalanceCut::Keep
        }
    }
}

/// Returns `value * times / parts`, saturating.
fn scaled(value: u64, times: u64, parts: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(times) / u128::from(parts)).unwrap_or(u64::MAX)
}

/// How a region that fits is cut for balance before it is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BalanceCut {
    /// It is begun whole.
    Keep,
    /// It is cut at the balanced place, since other devices have nothing to do; the smaller half is begun.
    Halve,
    /// A part with about this much work is cut off and begun.
    CutOff(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_min_follows_picture_and_devices() {
        assert_eq!(balance_work_min(0, 4), BALANCE_WORK_MIN);
        assert_eq!(balance_work_min(128 << 20, 1), 1 << 20);
        assert_eq!(balance_work_min(128 << 20, 4), 1 << 18);
        assert_eq!(balance_work_min(u64::MAX, 0), u64::MAX / 128);
    }

    const CALM: Balance = Balance {
        work: 101,
        unbegun: 10_000,
        share: 5_000,
        ahead: 0,
        speed_permille: 1000,
        devices: 2,
        waiting_devices: 0,
        queued: 0,
    };

    fn policy() -> Policy {
        Policy { balance_work_min: 100, share_percent: 80, ..Policy::new(0, 2) }
    }

    #[test]
    fn regions_are_halved_for_waiting_devices() {
        let policy = policy();
        assert_eq!(policy.balance_cut(&CALM), BalanceCut::Keep, "a small part of what is left");
        assert_eq!(
            policy.balance_cut(&Balance { waiting_devices: 1, ..CALM }),
            BalanceCut::Halve,
            "another device has nothing"
        );
        assert_eq!(
            policy.balance_cut(&Balance { waiting_devices: 1, queued: 1, ..CALM }),
            BalanceCut::Keep,
            "and can steal"
        );
        assert_eq!(policy.balance_cut(&Balance { waiting_devices: 1, work: 100, ..CALM }), BalanceCut::Keep, "n_min");
    }

    #[test]
    fn no_more_than_the_share() {
        let (policy, much) = (policy(), Balance { work: 4_101, ..CALM });
        assert_eq!(
            policy.balance_cut(&much),
            BalanceCut::CutOff(4_000),
            "more than four fifths of its share and n_min"
        );
        assert_eq!(policy.balance_cut(&Balance { work: 4_100, ..much }), BalanceCut::Keep);
        assert_eq!(
            policy.balance_cut(&Balance { ahead: 1_000, ..much }),
            BalanceCut::CutOff(3_000),
            "in flight in all"
        );
        assert_eq!(policy.balance_cut(&Balance { devices: 1, ..much }), BalanceCut::Keep, "no other device to help");
        assert_eq!(policy.balance_cut(&Balance { share: 0, ..much }), BalanceCut::CutOff(100), "n_min at least");
        assert_eq!(Policy { share_percent: 0, ..policy }.balance_cut(&much), BalanceCut::Keep, "rule off");
    }

    #[test]
    fn slow_devices_have_a_smaller_minimum() {
        let policy = policy();
        let slow = Balance { work: 51, share: 2_500, speed_permille: 500, waiting_devices: 1, ..CALM };
        assert_eq!(policy.balance_cut(&slow), BalanceCut::Halve, "half of n_min at half of the mean speed");
        assert_eq!(policy.balance_cut(&Balance { work: 50, ..slow }), BalanceCut::Keep);
        assert_eq!(policy.balance_cut(&Balance { work: 2_051, waiting_devices: 0, ..slow }), BalanceCut::CutOff(2_000));
        let buckets = Policy { balance_work_min: u64::MAX, ..policy };
        assert_eq!(
            buckets.balance_cut(&Balance { work: 1 << 40, speed_permille: 1500, ..slow }),
            BalanceCut::Keep,
            "never"
        );
        assert_eq!(
            buckets.balance_cut(&Balance { work: 1 << 40, speed_permille: 1, ..slow }),
            BalanceCut::Keep,
            "never, not even on a slow device"
        );
    }
}
