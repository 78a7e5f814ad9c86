//! What all parts of an opened device share: its functions, its queue, object names and error handling.

use super::as_gpu::AsGpu;
use super::error::{GpuError, OpenDeviceTitle};
use super::profile::DeviceClock;
use super::trail::Trail;
use crate::diagnostic::{Reporter, SourceLocation};
use ash::{ext, vk};
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
    /// By what it is found where the device is.
    pub(super) trail: Trail,
    /// Whether the driver takes marks of where frames end.
    pub(super) marks_frames: bool,
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
    /// By what it is found where the device is.
    pub(super) trail: Trail,
    lost: AtomicBool,
    /// The number of the next frame, where the driver takes marks of where frames end.
    frames: Option<AtomicU64>,
}

impl DeviceShared {
    pub(super) fn new(created: CreatedDevice, title: OpenDeviceTitle, reporter: Arc<Reporter>) -> Self {
        let CreatedDevice { raw, family, clock, names, validates, as_gpu, driver_threads, trail, marks_frames } =
            created;
        // SAFETY: `device::create` requested one queue of this family, so queue 0 exists.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        let (queue, reporter, lost) = (Mutex::new(queue), Mutex::new(reporter), AtomicBool::new(false));
        let frames = marks_frames.then(|| AtomicU64::new(1));
        Self {
            raw,
            title,
            reporter,
            queue,
            family,
            names,
            clock,
            validates,
            as_gpu,
            driver_threads,
            trail,
            lost,
            frames,
        }
    }

    /// Converts Vulkan's error code, and remembers if the device was lost. `doing` says what was being done, for
    /// messages.
    pub(super) fn check<T>(&self, doing: &str, result: Result<T, vk::Result>) -> Result<T, GpuError> {
        result.map_err(|code| {
            let (device, doing) = (self.title.clone(), doing.to_string());
            match code {
                vk::Result::ERROR_DEVICE_LOST => {
                    self.lost.store(true, Ordering::Relaxed);
                    let found = unless_said(self.trail.lost(Some(*self.queue.lock())), &doing);
                    GpuError::Lost { device, doing, found }
                }
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                    GpuError::DriverOutOfMemory { device, doing }
                }
                _ => GpuError::Vulkan { device, doing, reason: code.to_string() },
            }
        })
    }

    /// Has the device count as lost from now on, although it is not (tests), and returns the error. What was submitted
    /// is waited for.
    pub(super) fn simulate_loss<T>(&self, doing: &str) -> Result<T, GpuError> {
        let queue = self.queue.lock();
        // SAFETY: the lock held above keeps other threads from the device's only queue.
        let idle = unsafe { self.raw.queue_wait_idle(*queue) };
        drop(queue);
        self.check("waiting", idle)?;
        // Its driver knows of no loss.
        self.trail.lost(None);
        self.check(doing, Err(vk::Result::ERROR_DEVICE_LOST))
    }

    /// Returns an error once the device is known to be lost.
    pub(super) fn check_alive(&self, doing: &str) -> Result<(), GpuError> {
        if self.is_lost() { self.check(doing, Err(vk::Result::ERROR_DEVICE_LOST)) } else { Ok(()) }
    }

    /// Returns what is waited for, and the command that the device is in, if it leaves breadcrumbs.
    pub(super) fn with_position(&self, waited_for: String) -> String {
        match self.trail.position() {
            Some(position) => format!("{waited_for}, which is in {}", unless_said(&position, &waited_for)),
            None => waited_for,
        }
    }

    /// Whether the device was lost.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Submits command buffers to the queue; `label` names them in errors.
    pub(super) fn submit(&self, label: &str, info: vk::SubmitInfo<'_>, fence: vk::Fence) -> Result<(), GpuError> {
        let queue = self.queue.lock();
        // SAFETY: the lock held above keeps other threads from the queue. Two callers (`Device::submit_resources` and
        // `empty_dispatch::run`) pass the command buffer that `encode` has just ended, which is not pending, and a
        // semaphore or a fence that they created from this device; `frame_boundary::submit_end` passes no command
        // buffer, and a chained struct only where the device was created with its extension.
        let submitted = unsafe { self.raw.queue_submit(*queue, &[info], fence) };
        drop(queue);
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

    /// Whether the driver takes marks of where frames end.
    pub(super) fn marks_frames(&self) -> bool {
        self.frames.is_some()
    }

    /// Returns the number of the frame that ends.
    pub(super) fn next_frame(&self) -> u64 {
        self.frames.as_ref().map_or(0, |frames| frames.fetch_add(1, Ordering::Relaxed))
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

/// Returns a text about a command without its submission, where the beginning of the message names that.
fn unless_said(text: &str, beginning: &str) -> String {
    match text.split_once(&format!(" of {}", beginning.trim_start_matches("running "))) {
        Some((command, rest)) if rest.is_empty() || rest.starts_with(';') => format!("{command}{rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::unless_said;

    #[test]
    fn a_submission_is_named_once() {
        let text = "; it was in fill: 8 bytes of hide [0, 8); its driver reports: a fault";
        let short = "; it was in fill: 8 bytes; its driver reports: a fault";
        assert_eq!(unless_said(text, "running hide [0, 8)"), short);
        assert_eq!(unless_said("fill: 8 bytes of hide [0, 8)", "hide [0, 8)"), "fill: 8 bytes");
        assert_eq!(unless_said("fill of hide [0, 8)", "hide"), "fill of hide [0, 8)", "the region was not named");
        assert_eq!(unless_said("fill of hide", ""), "fill of hide");
    }
}
