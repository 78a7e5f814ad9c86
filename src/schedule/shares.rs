//! When devices end that share what nobody has begun so that they end together.

/// A device as shares see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Runner {
    /// Work per second; more than 0.
    pub(super) speed: f64,
    /// Work that it has begun and has yet to do.
    pub(super) ahead: f64,
}

impl Runner {
    /// Seconds until it has done what it has begun.
    fn free_s(&self) -> f64 {
        self.ahead / self.speed
    }
}

/// Seconds until all are done if `unbegun` work is divided so that they end together: the solution t of
/// `sum(max(0, speed * t - ahead)) = unbegun`, which is the level that water finds. 0 if there are none.
pub(super) fn end_s(mut runners: Vec<Runner>, unbegun: f64) -> f64 {
    runners.sort_unstable_by(|a, b| a.free_s().total_cmp(&b.free_s()));
    let (mut work, mut speed, mut end) = (unbegun, 0.0, 0.0);
    for runner in runners {
        // Who has as much to do as that already gets nothing.
        if speed > 0.0 && runner.free_s() >= end {
            break;
        }
        work += runner.ahead;
        speed += runner.speed;
        end = work / speed;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(runners: &[(f64, f64)], unbegun: f64) -> f64 {
        end_s(runners.iter().map(|&(speed, ahead)| Runner { speed, ahead }).collect(), unbegun)
    }

    #[test]
    fn all_end_together() {
        assert_eq!(end(&[], 5.0), 0.0);
        assert_eq!(end(&[(2.0, 0.0)], 10.0), 5.0);
        assert_eq!(end(&[(1.0, 0.0), (3.0, 0.0)], 8.0), 2.0);
        assert_eq!(end(&[(1.0, 4.0), (3.0, 0.0)], 16.0), 5.0, "what has been begun counts");
        assert_eq!(end(&[(3.0, 0.0), (1.0, 4.0)], 16.0), 5.0, "in any order");
        assert_eq!(end(&[(1.0, 100.0), (3.0, 0.0)], 6.0), 2.0, "who is late anyway gets nothing");
    }
}
