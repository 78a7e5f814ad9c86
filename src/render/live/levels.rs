//! Which pictures of a revision are drawn, and when.

use super::event::Level;
use std::time::Duration;

/// How long edits must rest before a picture is refined.
pub(super) const REST: Duration = Duration::from_millis(120);
/// What the first picture of a revision should take.
const FIRST_S: f64 = 0.1;
/// A final picture that takes longer than this may have one of its format with one sample before it.
const LONG_S: f64 = 0.5;
/// The part of a final picture's time at which one with one sample pays.
const PART_MAX: f64 = 0.6;
const DIVIDER_MAX: u32 = 8;

/// Chooses levels by the times of the last pictures.
#[derive(Debug)]
pub(super) struct LevelChoice {
    /// Whether any but final pictures are drawn.
    is_coarse: bool,
    final_s: Option<f64>,
    one_sample_s: Option<f64>,
    divider: u32,
}

impl LevelChoice {
    pub(super) fn new(is_coarse: bool) -> Self {
        Self { is_coarse, final_s: None, one_sample_s: None, divider: 4 }
    }

    /// Notes that pictures of this scene are final or none.
    pub(super) fn only_final(&mut self) {
        self.is_coarse = false;
    }

    /// Returns the first picture of a revision, and whether it waits until edits rest.
    pub(super) fn first(&self) -> (Level, bool) {
        match self.final_s {
            _ if !self.is_coarse => (Level::Final, true),
            Some(seconds) if seconds <= FIRST_S => (Level::Final, false),
            _ => (Level::Coarse { divider: self.divider }, false),
        }
    }

    /// Returns the picture that follows one that was drawn.
    pub(super) fn after(&self, level: Level) -> Option<Level> {
        match level {
            Level::Coarse { .. } if self.wants_one_sample() => Some(Level::OneSample),
            Level::Coarse { .. } | Level::OneSample => Some(Level::Final),
            Level::Final => None,
        }
    }

    fn wants_one_sample(&self) -> bool {
        let Some(whole_s) = self.final_s else { return true };
        whole_s > LONG_S && self.one_sample_s.is_none_or(|seconds| seconds < PART_MAX * whole_s)
    }

    /// Notes the time that a whole picture took.
    pub(super) fn took(&mut self, level: Level, time: Duration) {
        let seconds = time.as_secs_f64();
        match level {
            Level::Final => self.final_s = Some(seconds),
            Level::OneSample => self.one_sample_s = Some(seconds),
            Level::Coarse { divider } if seconds > 1.5 * FIRST_S => self.divider = (divider * 2).min(DIVIDER_MAX),
            Level::Coarse { divider } if seconds < FIRST_S / 4.0 => self.divider = (divider / 2).max(2),
            Level::Coarse { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COARSE: Level = Level::Coarse { divider: 4 };

    #[test]
    fn pictures_that_take_long_have_coarse_ones_first() {
        let mut levels = LevelChoice::new(true);
        assert_eq!((levels.first(), levels.after(COARSE)), ((COARSE, false), Some(Level::OneSample)));
        levels.took(Level::Final, Duration::from_millis(300));
        assert_eq!((levels.first(), levels.after(COARSE)), ((COARSE, false), Some(Level::Final)));
        levels.took(Level::Final, Duration::from_secs(2));
        levels.took(Level::OneSample, Duration::from_millis(1900));
        assert_eq!(levels.after(COARSE), Some(Level::Final), "one sample takes nearly as long");
        levels.took(Level::Final, Duration::from_millis(40));
        assert_eq!((levels.first(), levels.after(Level::Final)), ((Level::Final, false), None));
    }

    #[test]
    fn dividers_follow_the_time_that_they_take() {
        let mut levels = LevelChoice::new(true);
        let mut divider_after = |ms| {
            let (level, _) = levels.first();
            levels.took(level, Duration::from_millis(ms));
            levels.first().0.divider()
        };
        assert_eq!([200, 200, 100, 20, 20, 20].map(&mut divider_after), [8, 8, 8, 4, 2, 2]);
    }

    #[test]
    fn without_coarse_pictures_final_ones_wait_for_rest() {
        assert_eq!(LevelChoice::new(false).first(), (Level::Final, true));
    }
}
