//! The devices that the user named: how they are kept between worlds, and opened again after failures.

use crate::gpu::{Device, DeviceInfo, GpuError, OpenOptions, Opening, reopen};
use crate::render::device::error::DeviceError;
use crate::render::device::imager::DeviceSource;
use crate::render::device::kept::KeptOnDevice;
use crate::render::device::picture::Picture;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::device::tracks::DeviceTracks;
use crate::render::session::failures::FailureLog;
use crate::trace::{Trace, TracedDevice};
use std::sync::Arc;

/// A device that fails in this many worlds in a row is no longer used.
const REOPENED_MAX: u32 = 3;

/// One of the devices that the user named: what it is, how it is opened again, and the open device between worlds.
pub(super) struct DeviceSlot {
    pub info: DeviceInfo,
    pub open_options: OpenOptions,
    pub device: Option<Device>,
    /// What the device keeps of pictures that are edited, as long as it is open.
    pub kept: KeptOnDevice,
    pub failures: Arc<FailureLog>,
    /// The number of worlds in a row that began without it.
    reopened: u32,
    /// It never opened, so that the first world does without it.
    unopened: bool,
}

impl DeviceSlot {
    /// Keeps a device; one that did not open is opened again, as after any failure.
    pub(super) fn new(opening: Opening, open_options: &OpenOptions) -> Self {
        let Opening { title, info, budget_bytes, device } = opening;
        let open_options =
            OpenOptions { memory_bytes: Some(budget_bytes), first_number: title.number, ..open_options.clone() };
        let reporter = Arc::clone(&open_options.reporter);
        let failures = Arc::new(FailureLog::new(title, reporter, Arc::clone(&open_options.has_failed)));
        let kept = KeptOnDevice::default();
        let mut slot = Self { info, open_options, device: None, kept, failures, reopened: 0, unopened: false };
        slot.device = device.or_else(|error| slot.reopen_after(&error.into()).ok_or(())).ok();
        slot.unopened = slot.device.is_none();
        slot
    }

    /// Whether it has ever opened.
    pub(super) fn has_opened(&self) -> bool {
        self.device.is_some() || self.failures.has_opened()
    }

    /// Returns the device for a new world with what it keeps, opened again where it failed in the world before. One
    /// that always fails is given up for good.
    pub(super) fn take(&mut self) -> Option<(Device, KeptOnDevice)> {
        if std::mem::take(&mut self.unopened) {
            return None;
        }
        self.failures.begin_world();
        let kept = std::mem::take(&mut self.kept);
        if let Some(device) = self.device.take() {
            self.reopened = 0;
            return Some((device, kept));
        }
        self.reopened += 1;
        if self.reopened > REOPENED_MAX {
            return None;
        }
        self.failures.count_reopening();
        Some((self.open()?, KeptOnDevice::default()))
    }

    /// Keeps the device until the next world.
    pub(super) fn give_back(&mut self, (device, kept): (Device, KeptOnDevice)) {
        (self.device, self.kept) = (Some(device), kept);
    }

    /// Opens it again, and once more if this world's retry is unused; reports why it does not open.
    fn open(&self) -> Option<Device> {
        let opened = reopen(&self.info, &self.open_options).map_err(DeviceError::from);
        opened.or_else(|error| self.reopen_after(&error).ok_or(())).ok()
    }

    /// Returns the device in place of one that failed, if it may be opened again.
    fn reopen_after(&self, error: &DeviceError) -> Option<Device> {
        if self.failures.report(error) { self.open() } else { None }
    }

    /// Returns what it is called in a trace.
    pub(super) fn traced(&self) -> TracedDevice {
        traced(&self.info, &self.open_options)
    }

    /// Returns what opens it again while a picture is drawn.
    pub(super) fn reopener(&self, picture: &Arc<Picture>, trace: &Trace) -> DeviceReopener {
        DeviceReopener {
            info: self.info.clone(),
            open_options: self.open_options.clone(),
            failures: Arc::clone(&self.failures),
            picture: Arc::clone(picture),
            trace: trace.clone(),
        }
    }
}

impl Drop for DeviceSlot {
    fn drop(&mut self) {
        if let Some(device) = &mut self.device {
            self.kept.free(device);
        }
    }
}

/// Returns what a device is called in a trace.
fn traced(info: &DeviceInfo, open_options: &OpenOptions) -> TracedDevice {
    let number = open_options.first_number;
    TracedDevice { number, title: format!("device {number}: {}", info.name) }
}

/// Opens a device again for a picture, on any thread.
pub(super) struct DeviceReopener {
    info: DeviceInfo,
    open_options: OpenOptions,
    pub failures: Arc<FailureLog>,
    picture: Arc<Picture>,
    trace: Trace,
}

impl DeviceReopener {
    /// Returns a renderer on a device that keeps something of earlier pictures.
    pub(super) fn renderer(&self, device: Device, kept: KeptOnDevice) -> Result<DeviceRenderer, DeviceError> {
        self.failures.note_open();
        DeviceRenderer::with_kept(device, kept, Arc::clone(&self.picture), self.tracks())
    }

    /// Returns a renderer on the device, opened again. What failed was closed before, so that it no longer holds
    /// memory.
    pub(super) fn reopen(&self) -> Option<DeviceRenderer> {
        let device = reopen(&self.info, &self.open_options).map_err(DeviceError::from);
        self.or_reopen(device.and_then(|device| self.renderer(device, KeptOnDevice::default())))
    }

    /// Returns the renderer, or another one after a failure.
    pub(super) fn or_reopen(&self, renderer: Result<DeviceRenderer, DeviceError>) -> Option<DeviceRenderer> {
        renderer.or_else(|error| self.reopen_after(&error).ok_or(())).ok()
    }

    /// Returns a renderer in place of one that failed and was closed; `None` if the device is not used again for this
    /// picture.
    pub(super) fn reopen_after(&self, error: &DeviceError) -> Option<DeviceRenderer> {
        if self.failures.report(error) { self.reopen() } else { None }
    }

    fn tracks(&self) -> DeviceTracks {
        DeviceTracks::new(&self.trace, &traced(&self.info, &self.open_options), self.picture.textures.names.used)
    }
}

/// The devices of slots, one after another; one that failed is opened again first.
pub(super) struct DevicesInTurn<'a> {
    slots: &'a mut [DeviceSlot],
    next: usize,
}

impl<'a> DevicesInTurn<'a> {
    pub(super) fn new(slots: &'a mut [DeviceSlot]) -> Self {
        Self { slots, next: 0 }
    }
}

impl DeviceSource for DevicesInTurn<'_> {
    fn take(&mut self) -> Option<Device> {
        loop {
            let slot = self.slots.get_mut(self.next)?;
            if let Some(device) = slot.device.take() {
                return Some(device);
            }
            if slot.open_options.interrupt.is_raised() {
                // What a stopped render has is written as it is.
                self.next += 1;
            } else if slot.failures.take_promise() || slot.failures.use_retry() {
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

    fn make_room(&mut self, device: &mut Device) -> bool {
        self.slots[self.next].kept.free(device)
    }

    fn failed(&mut self, mut device: Device, error: GpuError) {
        // What it keeps is gone with it.
        self.make_room(&mut device);
        drop(device);
        self.slots[self.next].failures.report_and_promise(&error.into());
    }
}
