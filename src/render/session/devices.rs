//! The devices that the user named: what befalls them while worlds are drawn, and how they are opened anew.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::gpu::{Device, DeviceInfo, GpuError, OpenDeviceTitle, OpenOptions, Opening, reopen};
use crate::render::device::error::DeviceError;
use crate::render::device::imager::DeviceSource;
use crate::render::device::picture::Picture;
use crate::render::device::renderer::{DeviceRenderer, DeviceTracks};
use crate::render::report::world_statistics::FailureCounts;
use crate::schedule::Failure;
use crate::trace::Trace;
use parking_lot::Mutex;
use std::sync::Arc;

/// A device that fails in so many worlds one after the other draws no more.
const REOPENED_MAX: u32 = 3;

/// One of the devices that the user named: what it is, how it is opened again after a failure, and itself between worlds.
pub(crate) struct DeviceSlot {
    pub info: DeviceInfo,
    pub open_options: OpenOptions,
    pub device: Option<Device>,
    pub record: Arc<Record>,
    /// How often in a row a world began without it.
    reopened: u32,
    /// It never opened: the first world does without it.
    unopened: bool,
}

impl DeviceSlot {
    /// One that did not open is given a second try, as after any failure.
    pub(crate) fn new(opening: Opening, open_options: &OpenOptions) -> Self {
        let Opening { title, info, budget_bytes, device } = opening;
        let open_options =
            OpenOptions { memory_bytes: Some(budget_bytes), first_number: title.number, ..open_options.clone() };
        let record = Arc::new(Record::new(title, Arc::clone(&open_options.reporter)));
        let mut slot = Self { info, open_options, device: None, record, reopened: 0, unopened: false };
        slot.device = device.or_else(|error| slot.again(&error.into()).ok_or(())).ok();
        slot.unopened = slot.device.is_none();
        slot
    }

    /// The device for a new world, opened anew where it was given up in the world before. One that always fails is given up for good.
    pub(crate) fn take(&mut self) -> Option<Device> {
        if std::mem::take(&mut self.unopened) {
            return None;
        }
        self.record.begin_world();
        if let Some(device) = self.device.take() {
            self.reopened = 0;
            return Some(device);
        }
        self.reopened += 1;
        if self.reopened > REOPENED_MAX {
            return None;
        }
        self.record.count_opened();
        self.open()
    }

    /// Opens it anew, and once more if the world's second try is not used up; or tells why it does not open.
    fn open(&self) -> Option<Device> {
        let opened = reopen(&self.info, &self.open_options).map_err(DeviceError::from);
        opened.or_else(|error| self.again(&error).ok_or(())).ok()
    }

    /// The device in place of one that failed, if it gets a second try.
    fn again(&self, error: &DeviceError) -> Option<Device> {
        if self.record.failed(error) { self.open() } else { None }
    }

    /// What opens it anew while a picture is drawn.
    pub(crate) fn reopener(&self, picture: &Arc<Picture>, trace: &Trace) -> Reopener {
        Reopener {
            info: self.info.clone(),
            open_options: self.open_options.clone(),
            record: Arc::clone(&self.record),
            picture: Arc::clone(picture),
            trace: trace.clone(),
        }
    }
}

/// What befell a device: told once a failure, and counted. In each world it is opened anew once.
pub(crate) struct Record {
    title: OpenDeviceTitle,
    reporter: Arc<Reporter>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In this world it was opened anew, or shall not be.
    used: bool,
    /// The scheduler was told that it shall be, and has not asked for it yet.
    granted: bool,
    failures: u64,
    reopened: u64,
}

impl Record {
    fn new(title: OpenDeviceTitle, reporter: Arc<Reporter>) -> Self {
        Self { title, reporter, state: Mutex::default() }
    }

    fn begin_world(&self) {
        let mut state = self.state.lock();
        (state.used, state.granted) = (false, false);
    }

    fn count_opened(&self) {
        self.state.lock().reopened += 1;
    }

    /// The device failed: tells so, and whether it is now to be opened anew.
    pub(crate) fn failed(&self, error: &DeviceError) -> bool {
        self.tell(&error.to_string(), error.hint(), error.ends_device())
    }

    /// The scheduler says that the device failed, and whether it would have it opened anew: see [`Record::granted`].
    pub(crate) fn failed_at_work(&self, failure: &Failure, reopening: bool) {
        let text = match failure {
            // Whoever opens devices has told.
            Failure::Unopened(_) => return,
            Failure::Lost(text) | Failure::OutOfMemory(text) | Failure::Unusable(text) => text.clone(),
            Failure::Hang { .. } => failure.to_string(),
        };
        let title = self.title.to_string();
        let text = if text.contains(&title) { text } else { format!("{title}: {text}") };
        let granted = self.tell(&text, "", reopening);
        self.state.lock().granted = granted;
    }

    /// The device failed, and is closed, when its regions were all drawn; whoever needs it next may open it anew.
    pub(crate) fn failed_when_done(&self, error: &GpuError) {
        self.warn(&error.to_string(), error.hint(), "what it was to draw is drawn");
    }

    /// Whether the scheduler may open the device anew.
    pub(crate) fn granted(&self) -> bool {
        std::mem::take(&mut self.state.lock().granted)
    }

    /// Whether a device that is closed may be opened anew in this world; then it was.
    fn grant(&self) -> bool {
        let mut state = self.state.lock();
        let grant = !std::mem::replace(&mut state.used, true);
        state.reopened += u64::from(grant);
        grant
    }

    fn tell(&self, text: &str, hint: &str, worth: bool) -> bool {
        let again = worth && self.grant();
        self.state.lock().used = true;
        self.warn(text, hint, if again { "it is opened anew" } else { "it does no more for this picture" });
        again
    }

    fn warn(&self, text: &str, hint: &str, fate: &str) {
        self.state.lock().failures += 1;
        let warning =
            Diagnostic::new(Severity::Warning, "system", SourceLocation::default(), format!("{text}; {fate}"));
        self.reporter.report(warning.hint(hint));
    }

    /// What was counted since this was last called.
    pub(crate) fn take_counts(&self) -> FailureCounts {
        let mut state = self.state.lock();
        FailureCounts { failures: std::mem::take(&mut state.failures), reopened: std::mem::take(&mut state.reopened) }
    }
}

/// Opens a device anew for a picture, on any thread.
pub(crate) struct Reopener {
    info: DeviceInfo,
    open_options: OpenOptions,
    pub record: Arc<Record>,
    picture: Arc<Picture>,
    trace: Trace,
}

impl Reopener {
    /// A driver on a device.
    pub(crate) fn driver(&self, device: Device) -> Result<DeviceRenderer, DeviceError> {
        DeviceRenderer::new(device, Arc::clone(&self.picture), self.tracks())
    }

    /// A driver on the device, opened anew; what failed is gone already, so that it holds no memory any more.
    pub(crate) fn open(&self) -> Option<DeviceRenderer> {
        let driver = reopen(&self.info, &self.open_options).map_err(DeviceError::from);
        self.keep(driver.and_then(|device| self.driver(device)))
    }

    /// The driver, or after a failure another.
    pub(crate) fn keep(&self, driver: Result<DeviceRenderer, DeviceError>) -> Option<DeviceRenderer> {
        driver.or_else(|error| self.instead(&error).ok_or(())).ok()
    }

    /// A driver in place of one that failed and is gone; `None` if the device does no more for this picture.
    pub(crate) fn instead(&self, error: &DeviceError) -> Option<DeviceRenderer> {
        if self.record.failed(error) { self.open() } else { None }
    }

    fn tracks(&self) -> DeviceTracks {
        let device = self.open_options.first_number;
        DeviceTracks {
            regions: self.trace.track(&format!("device {device}: regions")),
            stages: self.trace.track(&format!("device {device}: stages")),
        }
    }
}

/// The slots' devices one after the other; one that failed is opened anew first.
pub(crate) struct InTurn<'a> {
    slots: &'a mut [DeviceSlot],
    next: usize,
}

impl<'a> InTurn<'a> {
    pub(crate) fn new(slots: &'a mut [DeviceSlot]) -> Self {
        Self { slots, next: 0 }
    }
}

impl DeviceSource for InTurn<'_> {
    fn take(&mut self) -> Option<Device> {
        loop {
            let slot = self.slots.get_mut(self.next)?;
            if let Some(device) = slot.device.take() {
                return Some(device);
            }
            if slot.record.granted() || slot.record.grant() {
                if let Some(device) = slot.open() {
                    return Some(device);
                }
            } else {
                self.next += 1;
            }
        }
    }

    fn give_back(&mut self, device: Device) {
        self.slots[self.next].device = Some(device);
    }

    fn failed(&mut self, error: GpuError) {
        let record = &self.slots[self.next].record;
        let again = record.failed(&error.into());
        record.state.lock().granted = again;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_opened_anew_once_a_world_and_each_failure_is_told() {
        let title = OpenDeviceTitle { number: 1, name: "gpu".into() };
        let reporter = Arc::new(Reporter::silent());
        let record = Record::new(title.clone(), Arc::clone(&reporter));
        let lost = || GpuError::Lost { device: title.clone(), doing: "hide".into() }.into();
        let hang = Failure::Hang { waiting_for: "hide".into(), waited: std::time::Duration::from_secs(2) };
        record.begin_world();
        assert!(record.failed(&lost()));
        record.failed_at_work(&Failure::Unopened("told".into()), true);
        record.failed_at_work(&hang, true);
        assert!(!record.granted(), "a second time in one world");
        record.begin_world();
        let invalid = GpuError::Kernel { device: title.clone(), kernel: "dice".into(), reason: "no".into() };
        assert!(!record.failed(&invalid.into()), "opening it anew would not help");
        record.begin_world();
        record.failed_at_work(&hang, true);
        assert!(record.granted() && !record.granted());
        let counts = FailureCounts { failures: 4, reopened: 2 };
        assert_eq!((record.take_counts(), record.take_counts()), (counts, FailureCounts::default()));
        let messages: Vec<String> = reporter.all().into_iter().map(|(diagnostic, _)| diagnostic.message).collect();
        let expected = [
            "device 1 (gpu) was lost while hide; it is opened anew",
            "device 1 (gpu): no progress for 2.0 s, waiting for hide; it does no more for this picture",
            "device 1 (gpu): kernel dice cannot be used: no; it does no more for this picture",
            "device 1 (gpu): no progress for 2.0 s, waiting for hide; it is opened anew",
        ];
        assert_eq!(messages, expected);
    }
}
