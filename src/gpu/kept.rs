//! Devices that stay open between the renders of a process, so that kernels are compiled once.

use super::as_gpu::AsGpu;
use super::device::{Device, OpenOptions};
use super::error::GpuError;
use super::open::{Opening, open_each};
use super::trail::Breadcrumbs;
use parking_lot::Mutex;

/// Devices that renders leave open for later ones of the same process.
#[derive(Default)]
pub struct KeptDevices {
    sets: Mutex<Vec<KeptSet>>,
}

/// The devices of a selection.
struct KeptSet {
    key: KeptKey,
    devices: Vec<Device>,
}

/// What the devices of two renders must have in common.
#[derive(PartialEq, Eq)]
struct KeptKey {
    selection: String,
    validate: bool,
    memory_bytes: Option<u64>,
    as_gpu: AsGpu,
    breadcrumbs: Breadcrumbs,
}

impl KeptKey {
    /// The key of devices; `None` if they must not be kept, because failures are injected.
    fn new(selection: &str, options: &OpenOptions) -> Option<Self> {
        let OpenOptions { validate, memory_bytes, ref as_gpu, ref faults, breadcrumbs, .. } = *options;
        let (selection, as_gpu) = (selection.to_owned(), as_gpu.clone());
        faults.is_none().then_some(Self { selection, validate, memory_bytes, as_gpu, breadcrumbs })
    }
}

impl KeptDevices {
    /// Like [`open_each`], but returns devices that an earlier render left, if there are such.
    ///
    /// # Errors
    /// Those of [`open_each`].
    pub fn open_each(&self, selection: &str, options: &OpenOptions) -> Result<Vec<Opening>, GpuError> {
        let Some(devices) = self.take(selection, options) else { return open_each(selection, options) };
        let opening = |mut device: Device| {
            device.begin_render(options);
            let (title, info, budget_bytes) =
                (device.title().clone(), device.info().clone(), device.memory().budget_bytes);
            Opening { title, info, budget_bytes, device: Ok(device) }
        };
        Ok(devices.into_iter().map(opening).collect())
    }

    fn take(&self, selection: &str, options: &OpenOptions) -> Option<Vec<Device>> {
        let key = KeptKey::new(selection, options)?;
        let mut sets = self.sets.lock();
        let at = sets.iter().position(|set| set.key == key)?;
        Some(sets.swap_remove(at).devices)
    }

    /// Keeps all devices that a selection named. They are closed if one of them failed, or still uses memory.
    pub fn keep(&self, selection: &str, options: &OpenOptions, mut devices: Vec<Device>) {
        let Some(key) = KeptKey::new(selection, options) else { return };
        if !devices.is_empty() && devices.iter_mut().all(Device::end_render) {
            self.sets.lock().push(KeptSet { key, devices });
        }
    }
}
