//! The limits at which a render ends early: its time, and the bytes of its files. What is finished is written.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::options::RenderOptions;
use crate::outcome::Ending;
use crate::progress::{Interrupt, ReachedLimit};
use crate::stats::human_bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A picture is cut so that a region takes about this part of the time, 1 / this, and most are finished when it is
/// over.
const REGIONS_IN_TIME: u32 = 8;

/// How long after its time a render should have ended, apart from writing.
const END_MAX: Duration = Duration::from_secs(10);

/// The limits of a render.
pub(super) struct RenderLimits {
    begin: Instant,
    time_max: Option<Duration>,
    reporter: Arc<Reporter>,
    /// Whether a checkpoint keeps what is finished.
    is_kept: bool,
    is_reported: AtomicBool,
}

impl RenderLimits {
    /// Returns the limits of a render that begins now.
    pub(super) fn new(options: &RenderOptions, reporter: &Arc<Reporter>) -> Self {
        Self {
            begin: Instant::now(),
            time_max: options.time_max,
            reporter: Arc::clone(reporter),
            is_kept: options.checkpoint.is_some(),
            is_reported: AtomicBool::new(false),
        }
    }

    /// Raises the interrupt once the time is over.
    pub(super) fn check_time(&self, interrupt: &Interrupt) {
        if let Some(time) = self.time_max.filter(|time| self.begin.elapsed() >= *time) {
            self.reach(interrupt, ReachedLimit::Time, &format!("the {} s of --max-time are over", time.as_secs_f64()));
        }
    }

    /// Whether the render should have ended long ago.
    pub(super) fn is_overdue(&self) -> bool {
        self.time_max.is_some_and(|time| self.begin.elapsed() >= time.saturating_add(END_MAX))
    }

    /// Raises the interrupt once files needed more bytes than they may take.
    pub(super) fn check_output(&self, options: &RenderOptions, interrupt: &Interrupt) {
        if let Some(bytes) = options.files.budget().reached() {
            let message = format!("the {} of --max-output are used up", human_bytes(bytes));
            self.reach(interrupt, ReachedLimit::Output, &message);
        }
    }

    fn reach(&self, interrupt: &Interrupt, limit: ReachedLimit, message: &str) {
        interrupt.raise_at(limit);
        // After an interrupt by the user it does not matter any more.
        if interrupt.limit().is_none() || self.is_reported.swap(true, Ordering::Relaxed) {
            return;
        }
        let message = format!("{message}: the render ends, and what is finished is written");
        let warning = Diagnostic::new(Severity::Warning, "limit", SourceLocation::default(), message);
        let hint = match self.is_kept {
            true => "the same command with --resume continues",
            false => "with --checkpoint FILE such a render can be continued with --resume",
        };
        self.reporter.report(warning.hint(hint));
    }
}

/// Returns how a render ended that an interrupt may have ended. Nothing is amiss if the time was over when nothing was
/// left to do.
pub(super) fn ending_of(ending: Ending, interrupt: &Interrupt, is_all_done: bool) -> Ending {
    match (ending, interrupt.limit()) {
        (Ending::Interrupted, Some(ReachedLimit::Time)) if is_all_done => Ending::Finished,
        (Ending::Interrupted, Some(_)) => Ending::LimitReached,
        _ => ending,
    }
}

/// Returns how often finished regions should come in at least; `None` if that does not matter.
pub(super) fn region_interval(options: &RenderOptions) -> Option<Duration> {
    let of_checkpoint = options.checkpoint.as_ref().map(|checkpoint| checkpoint.interval);
    let of_limit = options.time_max.map(|time| time / REGIONS_IN_TIME);
    of_checkpoint.into_iter().chain(of_limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::CheckpointOptions;

    #[test]
    fn a_limit_is_reported_once_unless_the_user_was_first() {
        for by_user in [false, true] {
            let reporter = Arc::new(Reporter::silent());
            let options = RenderOptions { time_max: Some(Duration::ZERO), ..RenderOptions::default() };
            let (limits, interrupt) = (RenderLimits::new(&options, &reporter), Interrupt::default());
            if by_user {
                interrupt.raise();
            }
            (0..3).for_each(|_| limits.check_time(&interrupt));
            assert!(interrupt.is_raised() && !limits.is_overdue());
            let (expected, count) = if by_user { (Ending::Interrupted, 0) } else { (Ending::LimitReached, 1) };
            assert_eq!(ending_of(Ending::Interrupted, &interrupt, false), expected);
            let done = if by_user { Ending::Interrupted } else { Ending::Finished };
            assert_eq!(ending_of(Ending::Interrupted, &interrupt, true), done);
            assert_eq!(ending_of(Ending::Finished, &interrupt, false), Ending::Finished);
            assert_eq!(reporter.count_at_least(Severity::Warning), count);
        }
    }

    #[test]
    fn regions_come_in_as_often_as_either_needs() {
        let seconds = Duration::from_secs;
        let checkpoint = CheckpointOptions { path: "c".into(), interval: seconds(30), resume: false };
        let of =
            |time_max, checkpoint| region_interval(&RenderOptions { time_max, checkpoint, ..RenderOptions::default() });
        assert_eq!(of(None, None), None);
        assert_eq!(of(Some(seconds(80)), None), Some(seconds(10)));
        assert_eq!(of(Some(seconds(80)), Some(checkpoint.clone())), Some(seconds(10)));
        assert_eq!(of(Some(seconds(800)), Some(checkpoint)), Some(seconds(30)));
    }
}
