//! Devices and recordings, on whatever devices this machine has, under validation.

pub(crate) mod build;
mod devices;
mod kernels;
mod memory;
mod run;

use anthill::diagnostic::{Reporter, Severity};
use anthill::gpu::{AsGpu, Device, OpenOptions, open};
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Opened devices of a test, which fails when they leave a message of validation or an unfreed buffer behind.
pub(crate) struct Devices {
    devices: Vec<Device>,
    reporter: Arc<Reporter>,
    expects_messages: bool,
    /// Dropped last.
    _alone: ReentrantMutexGuard<'static, ()>,
}

/// Held by whoever opens devices in this process: validation layers of 2023 keep devices in a table that no lock
/// guards, so that one test may not open devices while another's are at work.
pub(crate) static ALONE: ReentrantMutex<()> = ReentrantMutex::new(());

/// How the tests' devices are used: the test aid that renders obey, so that all tests can be run in each way.
pub(crate) fn as_gpu() -> AsGpu {
    AsGpu::from_environment().expect("known")
}

/// Options for tests: validation, 64 MiB, nothing kept on disk.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new(Arc::new(Reporter::silent()));
    options.validate = true;
    options.cache_folder = None;
    options.memory_bytes = Some(64 << 20);
    options.as_gpu = as_gpu();
    options
}

/// Opens devices with validation.
pub(crate) fn open_devices(selection: &str) -> Devices {
    open_with(selection, &options())
}

/// The same with options of the test's own.
pub(crate) fn open_with(selection: &str, options: &OpenOptions) -> Devices {
    let _alone = ALONE.lock();
    let devices = open(selection, options).unwrap_or_else(|e| panic!("{e}\n  help: {}", e.hint()));
    Devices { devices, reporter: Arc::clone(&options.reporter), expects_messages: false, _alone }
}

impl Devices {
    /// Closes the devices and gives what was reported: for tests that expect messages.
    pub(crate) fn into_messages(mut self) -> Vec<String> {
        self.devices.clear();
        self.expects_messages = true;
        self.reporter.all().into_iter().map(|(d, _)| d.to_string()).collect()
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
        if !self.expects_messages && !std::thread::panicking() {
            let messages: Vec<String> = self.reporter.all().into_iter().map(|(d, _)| d.to_string()).collect();
            assert_eq!(self.reporter.count_at_least(Severity::Warning), 0, "{}", messages.join("\n"));
        }
    }
}
