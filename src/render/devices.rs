//! The devices that the user named, between worlds.

use super::imager::Devices;
use crate::gpu::{Device, DeviceInfo, OpenOptions, open};

/// A device that fails in so many worlds one after the other draws no more.
const REOPENED_MAX: u32 = 3;

/// One of the devices that the user named: what it is, how it is opened again after a failure, and itself between worlds.
pub(super) struct DeviceSlot {
    pub info: DeviceInfo,
    pub open_options: OpenOptions,
    pub device: Option<Device>,
    /// How often in a row it was opened anew.
    reopened: u32,
}

impl DeviceSlot {
    pub(super) fn new(device: Device, open_options: &OpenOptions) -> Self {
        let open_options = OpenOptions { memory_bytes: Some(device.memory().budget_bytes), ..open_options.clone() };
        Self { info: device.info().clone(), open_options, device: Some(device), reopened: 0 }
    }

    /// The device, opened anew where it failed in the world before. One that always fails is given up.
    pub(super) fn take(&mut self) -> Option<Device> {
        if let Some(device) = self.device.take() {
            self.reopened = 0;
            return Some(device);
        }
        self.reopened += 1;
        if self.reopened > REOPENED_MAX {
            return None;
        }
        self.open()
    }

    /// Opens it anew. Why it does not open was told when it failed.
    fn open(&self) -> Option<Device> {
        open(&self.info.index.to_string(), &self.open_options).ok()?.pop()
    }
}

/// The slots' devices one after the other; one that failed is opened anew.
pub(super) struct InTurn<'a> {
    slots: &'a mut [DeviceSlot],
    next: usize,
}

impl<'a> InTurn<'a> {
    pub(super) fn new(slots: &'a mut [DeviceSlot]) -> Self {
        Self { slots, next: 0 }
    }
}

impl Devices for InTurn<'_> {
    fn take(&mut self) -> Option<Device> {
        loop {
            let slot = self.slots.get_mut(self.next)?;
            self.next += 1;
            if let Some(device) = slot.device.take().or_else(|| slot.open()) {
                return Some(device);
            }
        }
    }

    fn give_back(&mut self, device: Device) {
        self.slots[self.next - 1].device = Some(device);
    }
}
