//! The numbers that scheduling goes by.

use super::report::Balance;
use std::time::Duration;

/// No cut for balance leaves a shorter side, in pixels: aprons and grids that lie across a border are rendered twice.
pub const BALANCE_SIDE_MIN_PX: u32 = 128;

/// A region with less work than this is not worth a cut for balance: at a million micropolygons a second (a CPU driver on two cores)
/// it lasts about as long as one submission of 50 ms.
pub const BALANCE_WORK_MIN: u64 = 1 << 16;

/// A region is begun if it holds no more than one in this many parts of its device's share of what is left. In the simulator 2 is best
/// or near it everywhere (pictures of 1920x1080 pixels, 2 to 16 devices whose speeds differ by up to four): 1.08 of the ideal time with
/// two devices and 1.14 with four, where cutting only for waiting devices gives 1.35 and 2.2; about 0.06 of it are grids diced twice.
pub const SHARE_PARTS: u64 = 2;

/// With n_min = total / (devices * this), what the last device works alone on is at most this part of the ideal time.
const TAIL_PART: u64 = 64;

/// What decisions go by besides the table and the devices' capacities. None of it can change the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// n_min of RenderAnts, section 6: a region that fits and holds no more work (in micropolygons, by the table's rates) is not cut
    /// for balance. See [`balance_work_min`].
    pub balance_work_min: u64,
    /// No cut for balance leaves a shorter side, in pixels.
    pub balance_side_min_px: u32,
    /// A region that holds more than one in this many parts of its device's share of the work that nobody has begun is cut for
    /// balance; 0 turns the rule off.
    pub share_parts: u64,
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
    /// What is right for a picture of `total_work` micropolygons on `device_count` devices.
    pub fn new(total_work: u64, device_count: usize) -> Self {
        Self {
            balance_work_min: balance_work_min(total_work, device_count),
            balance_side_min_px: BALANCE_SIDE_MIN_PX,
            share_parts: SHARE_PARTS,
            hang_timeout: Duration::from_secs(60),
            open_timeout: Duration::from_secs(60),
            poll_timeout: Duration::from_millis(100),
            perturb: None,
        }
    }

    /// Whether a region that fits is cut so that others get work: RenderAnts, section 6, with a second condition of our own.
    ///
    /// The paper cuts a region that holds more than n_min while another device lacks work. That alone starts regions which are far
    /// larger than what the others have left, and then nobody can help. So a region is cut as well that holds more than half of its
    /// device's share of the work not yet begun: regions are large at first and shrink towards n_min at the end (guided
    /// self-scheduling, Polychronopoulos and Kuck 1987; with shares by measured speed, as in weighted factoring, Flynn Hummel et al.
    /// 1996). A device whose speed is not known yet begins with a region of about n_min.
    pub(crate) fn wants_cut(&self, balance: &Balance) -> bool {
        let starving = balance.hungry > balance.queued;
        let more_than_share = self.share_parts > 0 && balance.work > balance.share / self.share_parts;
        balance.devices > 1 && balance.work > self.balance_work_min && (starving || more_than_share)
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
        assert!(policy.wants_cut(&Balance { share: 201, ..calm }), "more than half of its share");
        assert!(!policy.wants_cut(&Balance { share: 202, ..calm }));
        assert!(policy.wants_cut(&Balance { share: 0, ..calm }), "its speed is not known");
        assert!(!policy.wants_cut(&Balance { share: 0, devices: 1, ..calm }), "nobody to help");
        assert!(!Policy { share_parts: 0, ..policy }.wants_cut(&Balance { share: 0, ..calm }), "rule off");
    }
}
