//! How much goes into a submission: as much as the device does in a set time, by the rates that it has shown.

use std::time::Duration;

/// The time that one submission should take: short enough that no desktop GPU is reset.
const SUBMISSION: Duration = Duration::from_millis(50);

/// What a submission was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Portion {
    /// Vertices of its loads; 0 if it had none.
    pub vertices: u64,
    /// Subpixels that it composited; 0 if it did not.
    pub subpixels: u64,
}

/// A device's pace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// What the next submission should be made of, of either.
    pub next: Portion,
}

impl Pace {
    /// Before anything is known of the device's speed.
    pub(crate) fn new() -> Self {
        Self { next: Portion { vertices: 1 << 17, subpixels: 1 << 20 } }
    }

    /// Takes note of what a submission took.
    pub(crate) fn took(&mut self, portion: Portion, seconds: f64) {
        let Portion { vertices, subpixels } = &mut self.next;
        *vertices = adapted(*vertices, portion.vertices, seconds).clamp(1 << 12, 1 << 26);
        *subpixels = adapted(*subpixels, portion.subpixels, seconds).clamp(1 << 12, 1 << 32);
    }
}

/// A quarter of the way from `now` to what would have taken the wanted time, and at once where that is less than half: by a factor of two
/// at most. What was too little to tell (less than a sixteenth) tells nothing.
fn adapted(now: u64, done: u64, seconds: f64) -> u64 {
    if done == 0 || done < now / 16 || seconds <= 0.0 {
        return now;
    }
    let wanted = done as f64 * SUBMISSION.as_secs_f64() / seconds;
    let now = now as f64;
    let step = if wanted < now / 2.0 { 1.0 } else { 0.25 };
    (now + (wanted - now) * step).clamp(now / 2.0, now * 2.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_come_to_the_wanted_time_whatever_the_rate() {
        for rate in [1e5, 1e6, 1e8] {
            let mut pace = Pace::new();
            for _ in 0..60 {
                let portion = Portion { vertices: pace.next.vertices, subpixels: 0 };
                pace.took(portion, portion.vertices as f64 / rate);
            }
            let seconds = pace.next.vertices as f64 / rate;
            assert!((0.04..0.06).contains(&seconds), "{seconds} s at {rate} vertices a second");
            assert_eq!(pace.next.subpixels, Pace::new().next.subpixels, "nothing was composited");
        }
    }

    #[test]
    fn remnants_tell_nothing_and_slow_ones_halve_at_once() {
        let mut pace = Pace::new();
        pace.took(Portion { vertices: 100, subpixels: 0 }, 0.05);
        assert_eq!(pace.next, Pace::new().next);
        pace.took(Portion { vertices: 0, subpixels: 1 << 20 }, 4.0);
        assert_eq!(pace.next.subpixels, 1 << 19);
    }
}
