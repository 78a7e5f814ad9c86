//! The failures of a device: each is reported and counted, and decides whether the device is opened again.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::gpu::{GpuError, MORE_TIME, OpenDeviceTitle};
use crate::render::device::error::DeviceError;
use crate::render::report::world_statistics::FailureCounts;
use crate::schedule::Failure;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The failures of a device. Each is reported once, and counted. In each world a device is opened again at most once.
pub(super) struct FailureLog {
    title: OpenDeviceTitle,
    reporter: Arc<Reporter>,
    /// Set when it is lost or hangs, for how devices are opened afterwards.
    has_failed: Arc<AtomicBool>,
    retry: Mutex<RetryState>,
}

#[derive(Default)]
struct RetryState {
    /// The device was opened again in this world, or must not be.
    used: bool,
    /// The scheduler was promised that the device is opened again, and has not yet asked for it.
    promised: bool,
    counts: FailureCounts,
    /// The device was open at some time.
    opened: bool,
}

impl FailureLog {
    pub(super) fn new(title: OpenDeviceTitle, reporter: Arc<Reporter>, has_failed: Arc<AtomicBool>) -> Self {
        Self { title, reporter, has_failed, retry: Mutex::default() }
    }

    pub(super) fn begin_world(&self) {
        let mut retry = self.retry.lock();
        (retry.used, retry.promised) = (false, false);
    }

    pub(super) fn note_open(&self) {
        self.retry.lock().opened = true;
    }

    pub(super) fn has_opened(&self) -> bool {
        self.retry.lock().opened
    }

    pub(super) fn count_reopening(&self) {
        self.retry.lock().counts.reopened += 1;
    }

    /// Reports that the device failed; returns whether it is to be opened again now.
    pub(super) fn report(&self, error: &DeviceError) -> bool {
        if error.is_interruption() {
            return false;
        }
        if error.is_lost_or_hangs() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        self.report_text(&error.to_string(), error.hint(), error.ends_device())
    }

    /// Reports that the device failed, and promises to open it again where the scheduler would, if it still may be: see
    /// [`Self::take_promise`].
    pub(super) fn report_and_promise(&self, error: &DeviceError) {
        let again = self.report(error);
        self.retry.lock().promised = again;
    }

    /// Reports a failure that the scheduler met, which is `reopening` the device if it may: see [`Self::take_promise`].
    pub(super) fn report_at_work(&self, failure: &Failure, reopening: bool) {
        if matches!(failure, Failure::Lost(_) | Failure::Hang { .. }) {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        let (text, hint) = match failure {
            // Reported when the device was opened.
            Failure::Unopened(_) => return,
            Failure::Lost(text) | Failure::OutOfMemory(text) | Failure::Unusable(text) => (text.clone(), ""),
            Failure::Hang { .. } => (failure.to_string(), MORE_TIME),
        };
        let title = self.title.to_string();
        let text = if text.contains(&title) { text } else { format!("{title}: {text}") };
        let again = self.report_text(&text, hint, reopening);
        self.retry.lock().promised = again;
    }

    /// Reports that the device failed and was closed after all its regions were drawn. Whatever needs it next may open
    /// it again.
    pub(super) fn report_when_done(&self, error: &GpuError) {
        self.warn(&error.to_string(), error.hint(), "everything that it was to draw is drawn");
    }

    /// Whether the device may be opened again after a failure at work; once for each such failure.
    pub(super) fn take_promise(&self) -> bool {
        std::mem::take(&mut self.retry.lock().promised)
    }

    /// Whether a closed device may be opened again in this world; counts it as opened again.
    pub(super) fn use_retry(&self) -> bool {
        let mut retry = self.retry.lock();
        let unused = !std::mem::replace(&mut retry.used, true);
        retry.counts.reopened += u64::from(unused);
        unused
    }

    fn report_text(&self, text: &str, hint: &str, worth_a_retry: bool) -> bool {
        let again = worth_a_retry && self.use_retry();
        self.retry.lock().used = true;
        self.warn(text, hint, if again { "it is opened again" } else { "it is not used again for this picture" });
        again
    }

    fn warn(&self, text: &str, hint: &str, consequence: &str) {
        self.retry.lock().counts.failures += 1;
        let message = format!("{text}; {consequence}");
        let warning = Diagnostic::new(Severity::Warning, "system", SourceLocation::default(), message);
        self.reporter.report(warning.hint(hint));
    }

    /// Returns what was counted since this was last called.
    pub(super) fn take_counts(&self) -> FailureCounts {
        std::mem::take(&mut self.retry.lock().counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_opened_again_once_a_world_and_each_failure_is_reported() {
        let title = OpenDeviceTitle { number: 1, name: "gpu".into() };
        let reporter = Arc::new(Reporter::silent());
        let has_failed = Arc::new(AtomicBool::new(false));
        let log = FailureLog::new(title.clone(), Arc::clone(&reporter), Arc::clone(&has_failed));
        let found = "; it was in hide: 37 grids".into();
        let lost =
            || GpuError::Lost { device: title.clone(), doing: "hide".into(), found: String::clone(&found) }.into();
        let hang = Failure::Hang { waiting_for: "hide".into(), waited: std::time::Duration::from_secs(2) };
        log.begin_world();
        let invalid = GpuError::Kernel { device: title.clone(), kernel: "dice".into(), reason: "no".into() };
        assert!(!has_failed.load(Ordering::Relaxed));
        assert!(log.report(&lost()) && has_failed.load(Ordering::Relaxed));
        log.report_at_work(&Failure::Unopened("reported".into()), true);
        log.report_at_work(&hang, true);
        assert!(!log.take_promise(), "a second time in one world");
        log.begin_world();
        assert!(!log.report(&invalid.into()), "opening it again would not help");
        log.begin_world();
        log.report_at_work(&hang, true);
        assert!(log.take_promise() && !log.take_promise());
        let counts = FailureCounts { failures: 4, reopened: 2 };
        assert_eq!((log.take_counts(), log.take_counts()), (counts, FailureCounts::default()));
        let messages: Vec<String> = reporter.all().into_iter().map(|(diagnostic, _)| diagnostic.message).collect();
        let expected = [
            "device 1 (gpu) was lost while hide; it was in hide: 37 grids; it is opened again",
            "device 1 (gpu): no progress for 2.0 s, waiting for hide; it is not used again for this picture",
            "device 1 (gpu): kernel dice cannot be used: no; it is not used again for this picture",
            "device 1 (gpu): no progress for 2.0 s, waiting for hide; it is opened again",
        ];
        assert_eq!(messages, expected);
        let hints: Vec<String> = reporter.all().into_iter().map(|(diagnostic, _)| diagnostic.hint).collect();
        assert!(hints[1].contains("--timeout"), "{hints:?}");
    }
}
