//! When devices end that divide the remaining work so that they end together.

/// The speed of a device, and the work that it has begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DeviceLoad {
    /// Work per second; more than 0.
    pub(super) speed: f64,
    /// Work that the device has begun and not yet done.
    pub(super) ahead: f64,
}

impl DeviceLoad {
    /// Returns the seconds until the device has done what it has begun.
    fn free_s(&self) -> f64 {
        self.ahead / self.speed
    }
}

/// Returns the seconds until all devices are done if `unbegun` work is divided so that they end together: the solution
/// t of `sum(max(0, speed * t - ahead)) = unbegun` (water filling). 0 if there are no devices.
pub(super) fn end_s(mut loads: Vec<DeviceLoad>, unbegun: f64) -> f64 {
    loads.sort_unstable_by(|a, b| a.free_s().total_cmp(&b.free_s()));
    let (mut work, mut speed, mut end) = (unbegun, 0.0, 0.0);
    for load in loads {
        // A device that already has at least this much to do gets nothing.
        if speed > 0.0 && load.free_s() >= end {
            break;
        }
        work += load.ahead;
        speed += load.speed;
        end = work / speed;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(loads: &[(f64, f64)], unbegun: f64) -> f64 {
        end_s(loads.iter().map(|&(speed, ahead)| DeviceLoad { speed, ahead }).collect(), unbegun)
    }

    #[test]
    fn all_end_together() {
        assert_eq!(end(&[], 5.0), 0.0);
        assert_eq!(end(&[(2.0, 0.0)], 10.0), 5.0);
        assert_eq!(end(&[(1.0, 0.0), (3.0, 0.0)], 8.0), 2.0);
        assert_eq!(end(&[(1.0, 4.0), (3.0, 0.0)], 16.0), 5.0, "what has been begun counts");
        assert_eq!(end(&[(3.0, 0.0), (1.0, 4.0)], 16.0), 5.0, "in any order");
        assert_eq!(end(&[(1.0, 100.0), (3.0, 0.0)], 6.0), 2.0, "a device that is late anyway gets nothing");
    }
}
