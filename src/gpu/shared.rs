//! What all parts of an opened device share: its functions, its queue, object names and error handling.

use super::as_gpu::AsGpu;
use super::error::{GpuError, OpenDeviceTitle};
use super::profile::DeviceClock;
use crate::diagnostic::{Reporter, SourceLocation};
use ash::{ext, vk};
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The validation layer keeps the labels of all command buffers of an instance in one table. That of Vulkan 1.3.239
/// looks for labels under a lock, but removes those of a destroyed pool without it, which may end the process.
static LAYER_LABELS: RwLock<()> = RwLock::new(());

/// A `VkDevice` with one queue.
pub(super) struct CreatedDevice {
    pub(super) raw: ash::Device,
    /// The queue's family.
    pub(super) family: u32,
    /// The queue's clock, if it has one and stages are to be timed.
    pub(super) clock: Option<DeviceClock>,
    /// The extension that names objects and labels commands, if the instance has it and somebody reads names.
    pub(super) names: Option<ext::debug_utils::Device>,
    /// Whether the validation layer is on.
    pub(super) validates: bool,
    /// For tests: how it is used as a GPU.
    pub(super) as_gpu: AsGpu,
    /// Threads among which the driver divides the workgroups of a dispatch; 1 for GPUs.
    pub(super) driver_threads: u32,
}

/// Shared by the host thread that drives the device and the threads that compile kernels for it. Owns nothing of
/// Vulkan: the [`super::Device`] destroys the `VkDevice`, after it has waited for those threads.
pub(super) struct DeviceShared {
    pub(super) raw: ash::Device,
    pub(super) title: OpenDeviceTitle,
    reporter: Mutex<Arc<Reporter>>,
    /// Vulkan permits one thread at a time to use a queue.
    queue: Mutex<vk::Queue>,
    pub(super) family: u32,
    /// `None` where nobody reads names, so that none are made.
    names: Option<ext::debug_utils::Device>,
    /// The device's clock, if its queue has one.
    pub(super) clock: Option<DeviceClock>,
    /// Whether the validation layer is on.
    pub(super) validates: bool,
    /// For tests: how it is used as a GPU.
    pub(super) as_gpu: AsGpu,
    /// Threads among which the driver divides the workgroups of a dispatch; 1 for GPUs.
    pub(super) driver_threads: u32,
    lost: AtomicBool,
}

impl DeviceShared {
    pub(super) fn new(created: CreatedDevice, title: OpenDeviceTitle, reporter: Arc<Reporter>) -> Self {
        let CreatedDevice { raw, family, clock, names, validates, as_gpu, driver_threads } = created;
        // SAFETY: `device::create` requested one queue of this family, so queue 0 exists.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        let (queue, reporter, lost) = (Mutex::new(queue), Mutex::new(reporter), AtomicBool::new(false));
        Self { raw, title, reporter, queue, family, names, clock, validates, as_gpu, driver_threads, lost }
    }

    /// Converts Vulkan's error code, and remembers if the device was lost. `doing` says what was being done, for
    /// messages.
    pub(super) fn check<T>(&self, doing: &str, result: Result<T, vk::Result>) -> Result<T, GpuError> {
        result.map_err(|code| {
            let (device, doing) = (self.title.clone(), doing.to_string());
            match code {
                vk::Result::ERROR_DEVICE_LOST => {
                    self.lost.store(true, Ordering::Relaxed);
                    GpuError::Lost { device, doing }
                }
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                    GpuError::DriverOutOfMemory { device, doing }
                }
                _ => GpuError::Vulkan { device, doing, reason: code.to_string() },
            }
        })
    }

    /// Returns an error once the device is known to be lost.
    pub(super) fn check_alive(&self, doing: &str) -> Result<(), GpuError> {
        if self.is_lost() { self.check(doing, Err(vk::Result::ERROR_DEVICE_LOST)) } else { Ok(()) }
    }

    /// Whether the device was lost.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Submits command buffers to the queue; `label` names them in errors.
    pub(super) fn submit(&self, label: &str, info: vk::SubmitInfo<'_>, fence: vk::Fence) -> Result<(), GpuError> {
        let queue = self.queue.lock();
        // SAFETY: the lock held above keeps other threads from the queue. Both callers (`Device::submit_resources` and
        // `empty_dispatch::run`) pass the command buffer that `encode` has just ended, which is not pending, and a
        // semaphore or a fence that they created from this device.
        let submitted = unsafe { self.raw.queue_submit(*queue, &[info], fence) };
        if submitted.is_ok() { Ok(()) } else { self.check(&format!("running {label}"), submitted) }
    }

    /// Gives an object a name that captures and validation messages show.
    pub(super) fn name(&self, handle: impl vk::Handle, name: &str) {
        let Some(names) = &self.names else { return };
        let Ok(name) = CString::new(name) else { return };
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: callers name objects of this device that they have just created, or a command buffer of their own
        // that is not pending, so no other thread uses them. Failing to set a name changes nothing else, so the result
        // is ignored.
        let _ = unsafe { names.set_debug_utils_object_name(&info) };
    }

    /// Whether somebody reads names and labels.
    pub(super) fn wants_names(&self) -> bool {
        self.names.is_some()
    }

    /// Returns the lock to be held while a command buffer is emptied, begun or labelled.
    pub(super) fn recording(&self) -> Option<RwLockReadGuard<'static, ()>> {
        self.validates.then(|| LAYER_LABELS.read())
    }

    /// Returns the lock to be held while a command pool is destroyed.
    pub(super) fn removing_commands(&self) -> Option<RwLockWriteGuard<'static, ()>> {
        self.validates.then(|| LAYER_LABELS.write())
    }

    /// Begins a named part of a command buffer.
    pub(super) fn begin_label(&self, commands: vk::CommandBuffer, text: &str) {
        let Some(names) = &self.names else { return };
        let Ok(text) = CString::new(text) else { return };
        let info = vk::DebugUtilsLabelEXT::default().label_name(&text);
        let _recording = self.recording();
        // SAFETY: `names` exists only if the instance has the extension; `encode` passes the command buffer that it is
        // recording.
        unsafe { names.cmd_begin_debug_utils_label(commands, &info) };
    }

    /// Ends a named part of a command buffer.
    pub(super) fn end_label(&self, commands: vk::CommandBuffer) {
        if let Some(names) = &self.names {
            let _recording = self.recording();
            // SAFETY: `names` exists only if the instance has the extension; `encode` passes the command buffer that it
            // is recording, into which it has recorded the matching `begin_label`.
            unsafe { names.cmd_end_debug_utils_label(commands) };
        }
    }

    /// Reports a warning about this device.
    pub(super) fn warn(&self, code: &'static str, message: impl Into<String>) {
        self.reporter().warn(code, &SourceLocation::default(), format!("{}: {}", self.title, message.into()));
    }

    /// Where messages about this device go.
    pub(super) fn reporter(&self) -> Arc<Reporter> {
        Arc::clone(&self.reporter.lock())
    }

    /// Sends messages about this device elsewhere from now on.
    pub(super) fn report_to(&self, reporter: &Arc<Reporter>) {
        *self.reporter.lock() = Arc::clone(reporter);
    }
}
