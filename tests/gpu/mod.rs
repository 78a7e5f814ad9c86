//! Devices and recordings, on whatever devices this machine has, under validation.

mod build;
mod devices;
mod kernels;
mod memory;
mod run;

use anthill::diagnostic::{Reporter, Severity};
use anthill::gpu::{Device, OpenOptions, open};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Opened devices of a test, which fails when they leave a message of validation or an unfreed buffer behind.
pub(crate) struct Devices {
    devices: Vec<Device>,
    reporter: Arc<Reporter>,
}

/// Options for tests: validation, 64 MiB, nothing kept on disk.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new(Arc::new(Reporter::silent()));
    options.validate = true;
    options.cache_folder = None;
    options.memory_bytes = Some(64 << 20);
    options
}

/// Opens devices with validation.
pub(crate) fn open_devices(selection: &str) -> Devices {
    open_with(selection, &options())
}

/// The same with options of the test's own.
pub(crate) fn open_with(selection: &str, options: &OpenOptions) -> Devices {
    let devices = open(selection, options).unwrap_or_else(|e| panic!("{e}\n  help: {}", e.hint()));
    Devices { devices, reporter: Arc::clone(&options.reporter) }
}

impl Devices {
    /// Closes the devices and gives what was reported: for tests that expect messages.
    pub(crate) fn into_messages(mut self) -> Vec<String> {
        self.devices.clear();
        let messages = self.reporter.all().into_iter().map(|(d, _)| d.to_string()).collect();
        std::mem::forget(self);
        messages
    }
}

impl Deref for Devices {
    type Target = Vec<Device>;
    fn deref(&self) -> &Vec<Device> {
        &self.devices
    }
}

impl DerefMut for Devices {
    fn deref_mut(&mut self) -> &mut Vec<Device> {
        &mut self.devices
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        self.devices.clear();
        if !std::thread::panicking() {
            let messages: Vec<String> = self.reporter.all().into_iter().map(|(d, _)| d.to_string()).collect();
            assert_eq!(self.reporter.count_at_least(Severity::Warning), 0, "{}", messages.join("\n"));
        }
    }
}
