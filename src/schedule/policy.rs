//! The numbers that scheduling goes by.

use super::report::Balance;
use std::time::Duration;

/// No cut for balance leaves a shorter side, in pixels: aprons and grids that lie across a border are rendered twice. With 128 the last
/// regions of slow devices last too long, with 32 borders take too much (see [`SHARE_PERCENT`] for how this was found).
pub const BALANCE_SIDE_MIN_PX: u32 = 64;

/// A region with less work than this is not worth a cut for balance: at a million micropolygons a second (a CPU driver on two cores)
/// it lasts about as long as one submission of 50 ms.
pub const BALANCE_WORK_MIN: u64 = 1 << 16;

/// A region is begun if it holds no more than so many hundredths of its device's share of what is left, and n_min on top.
///
/// This number, the three below and the shortest side were found together, by the predictions of [`predict`](super::predict()) for three
/// measured pictures (grass, teapots, hair) in two sizes each on six crews of 2 to 8 devices, whose speeds differ by up to ten: drawing takes
/// 1.21 of the ideal time in the mean of all 36, borders included. With half of the share and sides of 128 pixels it takes 1.4; beyond
/// the share regions last too long at the end.
pub const SHARE_PERCENT: u64 = 100;

/// A device whose speed is not known yet has one in this many parts of an equal share, if all devices are of one kind: a device that is
/// slowed down by something else can still finish in time what it begins.
pub const ALIKE_SHARE_PARTS: u64 = 4;

/// The same where devices differ, maybe by a lot.
pub const UNLIKE_SHARE_PARTS: u64 = 16;

/// A device begins a second region while what it has begun is at most one in this many parts of its share of what is left: the second
/// hides the host's part of the first one's steps, but waits behind it while others may have nothing.
pub(super) const AHEAD_PARTS: u64 = 4;

/// With n_min = total / (devices * this), what the last device works alone on is at most this part of the ideal time.
const TAIL_PART: u64 = 64;

/// What decisions go by besides the table and the devices' capacities. None of it can change the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// n_min of RenderAnts, section 6, of a device of mean speed: a region that fits and holds no more work (in micropolygons, by the
    /// table's rates) is not cut for balance. Slower devices have less. See [`balance_work_min`].
    pub balance_work_min: u64,
    /// No cut for balance leaves a shorter side, in pixels.
    pub balance_side_min_px: u32,
    /// A region that holds more than so many hundredths of its device's share of the work that nobody has begun, and n_min on top, is
    /// cut for balance; 0 turns the rule off.
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
/// which the last device works alone, is at most a 64th of the ideal time.
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

    /// Whether a region that fits is cut so that others get work: RenderAnts, section 6, with a second condition of our own.
    ///
    /// The paper cuts a region that holds more than n_min while another device lacks work. That alone starts regions which are far
    /// larger than what the others have left, and then nobody can help. So a region is cut as well that holds clearly more than its
    /// device's share of the work not yet begun: regions are large at first and shrink towards n_min at the end (guided
    /// self-scheduling, Polychronopoulos and Kuck 1987; with shares by measured speed, as in weighted factoring, Flynn Hummel et al.
    /// 1996). A device whose speed is not known yet begins with a small region.
    pub(crate) fn wants_cut(&self, balance: &Balance) -> bool {
        let work_min = self.work_min_of(balance);
        let starving = balance.hungry > balance.queued;
        let share = (balance.share as f64 * self.share_percent as f64 / 100.0) as u64;
        let more_than_share = self.share_percent > 0 && balance.work > share.saturating_add(work_min);
        balance.devices > 1 && balance.work > work_min && (starving || more_than_share)
    }

    /// n_min of the device whose share stands in `balance`: what takes it as long as n_min takes a device of mean speed.
    fn work_min_of(&self, balance: &Balance) -> u64 {
        let even_share = balance.unbegun as f64 / balance.devices.max(1) as f64;
        let speed = if even_share > 0.0 { balance.share as f64 / even_share } else { 1.0 };
        (self.balance_work_min as f64 * speed) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_min_follows_picture_and_devices() {
        assert_eq!(balance_work_min(0, 4), BALANCE_WORK_MIN);
        assert_eq!(balance_work_min(64 << 20, 1), 1 << 20);
        assert_eq!(balance_work_min(64 << 20, 4), 1 << 18);
        assert_eq!(balance_work_min(u64::MAX, 0), u64::MAX / 64);
    }

    #[test]
    fn cuts_for_balance() {
        let policy = Policy { balance_work_min: 100, ..Policy::new(0, 2) };
        let calm = Balance { work: 101, unbegun: 10_000, share: 5_000, devices: 2, hungry: 0, queued: 0 };
        assert!(!policy.wants_cut(&calm), "a small part of what is left");
        assert!(policy.wants_cut(&Balance { hungry: 1, ..calm }), "another device has nothing");
        assert!(!policy.wants_cut(&Balance { hungry: 1, queued: 1, ..calm }), "and can steal");
        assert!(!policy.wants_cut(&Balance { hungry: 1, work: 100, ..calm }), "n_min");
        let much = Balance { work: 5_101, ..calm };
        assert!(policy.wants_cut(&much), "more than its share and n_min");
        assert!(!policy.wants_cut(&Balance { work: 5_100, ..much }));
        assert!(!policy.wants_cut(&Balance { devices: 1, ..much }), "nobody to help");
        assert!(!Policy { share_percent: 0, ..policy.clone() }.wants_cut(&much), "rule off");
        let twice = Policy { share_percent: 200, ..policy };
        assert!(twice.wants_cut(&Balance { work: 10_101, ..calm }), "twice its share");
        assert!(!twice.wants_cut(&Balance { work: 10_100, ..calm }));
    }

    #[test]
    fn slow_devices_have_a_smaller_minimum() {
        let policy = Policy { balance_work_min: 100, ..Policy::new(0, 2) };
        let slow = Balance { work: 51, unbegun: 10_000, share: 2_500, devices: 2, hungry: 1, queued: 0 };
        assert!(policy.wants_cut(&slow), "half of n_min at half of the mean speed");
        assert!(!policy.wants_cut(&Balance { work: 50, ..slow }));
        assert!(policy.wants_cut(&Balance { work: 2_551, hungry: 0, ..slow }));
        let buckets = Policy { balance_work_min: u64::MAX, ..policy };
        assert!(!buckets.wants_cut(&Balance { work: 1 << 40, ..slow }), "never");
    }
}
