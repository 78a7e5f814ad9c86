//! The numbers that scheduling goes by.

use super::report::Balance;
use std::time::Duration;

/// No cut for balance leaves a shorter side, in pixels: aprons and grids that lie across a border are rendered twice. With 64 the last
/// regions of slow devices last too long where a small part of the picture holds much (see [`SHARE_PERCENT`] for how this was found).
pub const BALANCE_SIDE_MIN_PX: u32 = 32;

/// For a device of mean speed a region with less work than this is not worth a cut for balance: at a million micropolygons a second (a
/// CPU driver on two cores) it lasts about as long as one submission of 50 ms.
pub const BALANCE_WORK_MIN: u64 = 1 << 16;

/// A region is begun if with what its device has in flight it holds no more than so many hundredths of the device's share of what is
/// left, and n_min on top.
///
/// What is left of the share makes up for what the table, or the speed so far, is wrong about: what is begun cannot be cut any more.
///
/// This number, the shortest side, the parts, and what a pixel costs ([`Rates`](super::Rates)) were found together, by the predictions
/// of `crate::forecast` for four measured pictures (hair, teapots, grass, 500,000 polygons at 1600x1200) on 41 crews of 2 to
/// 8 devices, whose speeds differ by up to ten: drawing takes 1.10 of the ideal time in the mean, borders included, and two devices of
/// speeds 1 and about 3 end 0.6% of it apart (median; 90% of them within 1.4%). With 90% of the share it takes a little less, and where
/// estimates are wrong by 15% they end up to 15% apart; with halves instead of parts, the whole share, and a quarter of a micropolygon
/// for a pixel, as it was before, it takes 1.14 and they end 1.9% apart (90% within 4.5%).
pub const SHARE_PERCENT: u64 = 70;

/// A device whose speed is not known yet has one in this many parts of an equal share, if all devices are of one kind: a device that is
/// slowed down by something else can still finish in time what it begins.
pub const ALIKE_SHARE_PARTS: u64 = 4;

/// The same where devices differ, maybe by a lot.
pub const UNLIKE_SHARE_PARTS: u64 = 16;

/// A device begins a second region while what it has begun is at most one in this many parts of its share of what is left: the second
/// hides the host's part of the first one's steps, but waits behind it while others may have nothing.
pub(super) const AHEAD_PARTS: u64 = 4;

/// With n_min = total / (devices * this), what the last device works alone on is at most this part of the ideal time.
const TAIL_PART: u64 = 128;

/// What decisions go by besides the table and the devices' capacities. None of it can change the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// n_min of RenderAnts, section 6, of a device of mean speed: a region that fits and holds no more work (in micropolygons, by the
    /// table's rates) is not cut for balance. Slower devices have less. See [`balance_work_min`].
    pub balance_work_min: u64,
    /// No cut for balance leaves a shorter side, in pixels.
    pub balance_side_min_px: u32,
    /// Of a region that with what its device has in flight holds more than so many hundredths of the device's share of what is left, and
    /// n_min on top, such a part is cut off; 0 turns the rule off.
    pub share_percent: u64,
    /// A device whose speed is not known yet has one in this many parts of an equal share; at least 1.
    pub unknown_share_parts: u64,
    /// A device with regions in flight that makes no progress for this long hangs. Where the driver's own call does not return, it is
    /// given up after twice this time.
    pub hang_timeout: Duration,
    /// A device that does not open within this time is given up.
    pub open_timeout: Duration,
    /// The longest time that a device's thread waits in one call, for a step of a region or for work, before it looks around.
    pub poll_timeout: Duration,
    /// The seed of `ANTHILL_PERTURB`, a test aid: see [`perturb`](super::perturb).
    pub perturb: Option<u64>,
}

/// n_min for a picture of `total_work` on `device_count` devices: enough to be worth a region, and little enough that the tail, during
/// which the last device works alone, is at most a 128th of the ideal time.
pub fn balance_work_min(total_work: u64, device_count: usize) -> u64 {
    (total_work / TAIL_PART / (device_count as u64).max(1)).max(BALANCE_WORK_MIN)
}

impl Policy {
    /// What is right for a picture of `total_work` micropolygons on `device_count` devices, which may differ.
    pub fn new(total_work: u64, device_count: usize) -> Self {
        Self {
            balance_work_min: balance_work_min(total_work, device_count),
            balance_side_min_px: BALANCE_SIDE_MIN_PX,
            share_percent: SHARE_PERCENT,
            unknown_share_parts: UNLIKE_SHARE_PARTS,
            hang_timeout: Duration::from_secs(60),
            open_timeout: Duration::from_secs(60),
            poll_timeout: Duration::from_millis(100),
            perturb: None,
        }
    }

    /// The same for devices of one kind.
    #[must_use]
    pub fn of_alike(self) -> Self {
        Self { unknown_share_parts: ALIKE_SHARE_PARTS, ..self }
    }

    /// How much of a region that fits its device takes, so that others get work: RenderAnts, section 6, with a second condition of
    /// our own.
    ///
    /// The paper cuts a region that holds more than n_min while another device lacks work. That alone starts regions which are far
    /// larger than what the others have left, and then nobody can help. So of a region that holds clearly more than most of its
    /// device's share of what is left, less what the device has in flight, such a part is cut off: regions are large at first and
    /// shrink towards n_min at the end (guided self-scheduling, Polychronopoulos and Kuck 1987; with shares by measured speed, as in
    /// weighted factoring, Flynn Hummel et al. 1996). A device whose speed is not known yet begins with a small region.
    pub(crate) fn wish(&self, balance: &Balance) -> Wish {
        let work_min = scaled(self.balance_work_min, balance.speed_permille, 1000);
        let part = scaled(balance.share, self.share_percent, 100).saturating_sub(balance.ahead);
        if balance.devices < 2 || balance.work <= work_min {
            Wish::Whole
        } else if balance.hungry > balance.queued {
            Wish::Half
        } else if self.share_percent > 0 && balance.work > part.saturating_add(work_min) {
            Wish::Part(part.max(work_min))
        } else {
            Wish::Whole
        }
    }
}

/// `value * times / parts`, at most what there are numbers for.
fn scaled(value: u64, times: u64, parts: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(times) / u128::from(parts)).unwrap_or(u64::MAX)
}

/// What of a region that fits is begun next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// All of it.
    Whole,
    /// The smaller half, since others have nothing.
    Half,
    /// A part with about so much work.
    Part(u64),
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
        hungry: 0,
        queued: 0,
    };

    fn policy() -> Policy {
        Policy { balance_work_min: 100, share_percent: 80, ..Policy::new(0, 2) }
    }

    #[test]
    fn halves_for_those_that_have_nothing() {
        let policy = policy();
        assert_eq!(policy.wish(&CALM), Wish::Whole, "a small part of what is left");
        assert_eq!(policy.wish(&Balance { hungry: 1, ..CALM }), Wish::Half, "another device has nothing");
        assert_eq!(policy.wish(&Balance { hungry: 1, queued: 1, ..CALM }), Wish::Whole, "and can steal");
        assert_eq!(policy.wish(&Balance { hungry: 1, work: 100, ..CALM }), Wish::Whole, "n_min");
    }

    #[test]
    fn no_more_than_the_share() {
        let (policy, much) = (policy(), Balance { work: 4_101, ..CALM });
        assert_eq!(policy.wish(&much), Wish::Part(4_000), "more than four fifths of its share and n_min");
        assert_eq!(policy.wish(&Balance { work: 4_100, ..much }), Wish::Whole);
        assert_eq!(policy.wish(&Balance { ahead: 1_000, ..much }), Wish::Part(3_000), "in flight in all");
        assert_eq!(policy.wish(&Balance { devices: 1, ..much }), Wish::Whole, "nobody to help");
        assert_eq!(policy.wish(&Balance { share: 0, ..much }), Wish::Part(100), "n_min at least");
        assert_eq!(Policy { share_percent: 0, ..policy }.wish(&much), Wish::Whole, "rule off");
    }

    #[test]
    fn slow_devices_have_a_smaller_minimum() {
        let policy = policy();
        let slow = Balance { work: 51, share: 2_500, speed_permille: 500, hungry: 1, ..CALM };
        assert_eq!(policy.wish(&slow), Wish::Half, "half of n_min at half of the mean speed");
        assert_eq!(policy.wish(&Balance { work: 50, ..slow }), Wish::Whole);
        assert_eq!(policy.wish(&Balance { work: 2_051, hungry: 0, ..slow }), Wish::Part(2_000));
        let buckets = Policy { balance_work_min: u64::MAX, ..policy };
        assert_eq!(buckets.wish(&Balance { work: 1 << 40, speed_permille: 1500, ..slow }), Wish::Whole, "never");
        assert_eq!(buckets.wish(&Balance { work: 1 << 40, speed_permille: 1, ..slow }), Wish::Whole, "never ever");
    }
}
