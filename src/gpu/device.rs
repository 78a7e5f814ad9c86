//! Opened devices.

use super::as_gpu::AsGpu;
use super::breadcrumbs::CrumbBuffer;
use super::cache::default_cache_folder;
use super::capture_kernels::CaptureKernels;
use super::compile::CompileThreads;
use super::compile_log::CompileLog;
use super::encode::EMPTY_BYTES;
use super::error::{GpuError, OpenDeviceTitle};
use super::execute::Submissions;
use super::fault::Faults;
use super::instance::Instance;
use super::kernel::{CompileTerms, KernelCounts, Kernels};
use super::memory::{BLOCK_BYTES, HostAccess, Memory, MemoryUse, Usage};
use super::open::{OPENING, RequestedDevice};
use super::physical::{DeviceInfo, DeviceKind, Physical, enumerate};
use super::precompile::PrecompileDevices;
use super::requirements::{DEVICE_FAULT, FEATURES, FRAME_BOUNDARY, Features};
use super::shared::{CreatedDevice, DeviceShared};
use super::threads::cpu_driver_threads;
use super::trail::{Breadcrumbs, Trail};
use super::transfer::Staging;
use crate::diagnostic::Reporter;
use crate::pipeline::recording::{Buffer, Recording};
use crate::progress::Interrupt;
use ash::{ext, khr, nv, vk};
use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// How many times longer than a submission a kernel may take to compile: a compiler shows no progress, and another
/// device would not be faster. 256 inlined calls of noise took 11 s on an idle machine; a busy one may need many times
/// that.
const COMPILE_TIMES: u32 = 10;

/// How devices are opened.
#[derive(Clone)]
pub struct OpenOptions {
    /// Whether core and synchronization validation report to `reporter`.
    pub validate: bool,
    /// Whether RenderDoc's layer is on, for a [`Capture`](super::Capture). Memory that only the device needs is then
    /// not mapped, because the layer copies mapped memory at each submission.
    pub capture: bool,
    /// Limit of the memory of each opened device in bytes, everything included; by default three quarters of what the
    /// device has, divided by the number of times that it is opened.
    pub memory_bytes: Option<u64>,
    /// Folder in which compiled kernels are kept between runs; `None` keeps them in memory only.
    pub cache_folder: Option<PathBuf>,
    /// Whether CPU devices compute on one thread each, unless `LP_NUM_THREADS` is set (see
    /// [`super::single_threaded_cpu_devices`]).
    pub single_threaded_cpu: bool,
    /// The time-out of waits on the device that have no time-out of their own. Compiling one kernel may take ten
    /// times as long.
    pub timeout: Duration,
    /// Receives messages of validation, and about kernels that cannot be cached and buffers that were not freed.
    pub reporter: Arc<Reporter>,
    /// For tests: whether to also open devices that run kernels but lack what rendering needs.
    pub partial: bool,
    /// For tests: in which respects devices are used as GPUs are.
    pub as_gpu: AsGpu,
    /// The number of the first device; a device that is opened again keeps its number.
    pub first_number: u32,
    /// For tests: failures to inject.
    pub faults: Option<Arc<Faults>>,
    /// Ends waits for kernels that are being compiled.
    pub interrupt: Interrupt,
    /// Receives the kernels that are compiled.
    pub compile_log: Arc<CompileLog>,
    /// Whether each command of a stage is timed by itself, for which all commands run one after another.
    pub time_commands: bool,
    /// When devices leave breadcrumbs, for which all commands run one after another.
    pub breadcrumbs: Breadcrumbs,
    /// Whether a device that was opened with these options has failed.
    pub has_failed: Arc<AtomicBool>,
}

impl OpenOptions {
    /// Options without validation, with the user's cache folder and a time-out of a minute.
    pub fn new(reporter: Arc<Reporter>) -> Self {
        Self {
            validate: false,
            capture: false,
            memory_bytes: None,
            cache_folder: default_cache_folder(),
            single_threaded_cpu: false,
            timeout: Duration::from_secs(60),
            reporter,
            partial: false,
            as_gpu: AsGpu::default(),
            first_number: 0,
            faults: None,
            interrupt: Interrupt::default(),
            compile_log: Arc::default(),
            time_commands: false,
            breadcrumbs: Breadcrumbs::default(),
            has_failed: Arc::default(),
        }
    }
}

/// An opened device. One host thread drives it at a time.
pub struct Device {
    pub(super) shared: Arc<DeviceShared>,
    pub(super) memory: Memory,
    pub(super) submissions: Submissions,
    pub(super) kernels: Arc<Kernels>,
    /// The forms of kernels that it runs if it is captured.
    pub(super) capture_kernels: Option<CaptureKernels>,
    pub(super) staging: Staging,
    pub(super) limits: vk::PhysicalDeviceLimits,
    pub(super) timeout: Duration,
    info: DeviceInfo,
    /// The buffer to which empty slices and empty dispatches are bound.
    pub(super) empty: Buffer,
    opened_at: Instant,
    /// Whether the device is known to hang: it is not waited for again.
    pub(super) hangs: bool,
    /// Taken by `drop` after the device is destroyed, unless the device hangs.
    instance: ManuallyDrop<Instance>,
    threads: Arc<CompileThreads>,
}

impl Device {
    /// Opens a listed device, which takes over `instance`.
    pub(super) fn open(
        instance: Instance,
        requested: &RequestedDevice<'_>,
        options: &OpenOptions,
        threads: &Arc<CompileThreads>,
    ) -> Result<Self, GpuError> {
        let (info, title, budget_bytes) = (requested.info, requested.title.clone(), requested.budget_bytes);
        if options.faults.as_ref().is_some_and(|faults| faults.fails_to_open(title.number)) {
            return Err(open_error(&title, vk::Result::ERROR_INITIALIZATION_FAILED));
        }
        let physical = find(&instance, info, &title)?;
        let checkpoints = physical.checkpoints && options.breadcrumbs != Breadcrumbs::Never && !options.capture;
        let (raw, family) = create(instance.raw(), &physical, &title, checkpoints)?;
        let asked = options.validate || options.capture || options.time_commands;
        let reads_names = asked || instance.is_observed(physical.raw);
        let wants_names = instance.debug_utils() && reads_names;
        let names = wants_names.then(|| ext::debug_utils::Device::new(instance.raw(), &raw));
        let (validates, as_gpu) = (options.validate, options.as_gpu.clone());
        let clock = physical.clock.filter(|_| !as_gpu.clockless);
        let driver_threads = if info.kind == DeviceKind::Cpu { cpu_driver_threads() } else { 1 };
        let means = [checkpoints, physical.info.has(DEVICE_FAULT)];
        let trail = Trail::new(instance.raw(), &raw, means);
        let marks_frames = physical.info.has(FRAME_BOUNDARY);
        let created =
            CreatedDevice { raw, family, clock, names, validates, as_gpu, driver_threads, trail, marks_frames };
        let shared = Arc::new(DeviceShared::new(created, title, Arc::clone(&options.reporter)));
        let resources = check_budget(&shared, budget_bytes)
            .and_then(|()| DeviceResources::new(&shared, &instance, &physical, budget_bytes, host_access(options)));
        if resources.is_err() {
            // SAFETY: the device was created above, no other thread knows it yet, and `DeviceResources::new` destroys
            // what it has created from it when it fails.
            unsafe { shared.raw.destroy_device(None) };
        }
        let DeviceResources { memory, submissions, empty, raw_empty } = resources?;
        let several_cores = thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        let compiles_late = info.kind == DeviceKind::Cpu;
        // Validation layers of 2023 keep devices in a table that no lock guards: no device may be created while others
        // are in use. RenderDoc permits one device per instance.
        let precompile_devices = (compiles_late && several_cores && !options.validate && !options.capture)
            .then(|| PrecompileDevices::new(instance.raw(), physical.clone()));
        // Mesa's CPU driver takes debug information, though it does not say so.
        let takes_debug_info = physical.takes_debug_info || info.kind == DeviceKind::Cpu;
        let capture_kernels = options.capture.then(|| CaptureKernels::new(takes_debug_info));
        let kernels = Kernels::new(
            &shared,
            &physical.info,
            threads.compilers(),
            precompile_devices,
            raw_empty,
            compile_terms(options),
        );
        let mut device = Self {
            shared,
            memory,
            submissions,
            kernels,
            capture_kernels,
            staging: Staging::default(),
            limits: physical.limits,
            timeout: options.timeout,
            info: physical.info,
            empty,
            opened_at: Instant::now(),
            hangs: false,
            instance: ManuallyDrop::new(instance),
            threads: Arc::clone(threads),
        };
        device.start_clock()?;
        device.time_commands(options.time_commands)?;
        device.leave_breadcrumbs(options)?;
        device.submissions.inject(options.faults.clone());
        Ok(device)
    }

    /// Leaves breadcrumbs from now on, if that is wanted.
    fn leave_breadcrumbs(&mut self, options: &OpenOptions) -> Result<(), GpuError> {
        if options.breadcrumbs.are_left(&options.has_failed) && !options.capture {
            let types = self.memory.types();
            self.shared.trail.leave_crumbs(Some(CrumbBuffer::new(&self.shared, types)?));
        }
        Ok(())
    }

    /// Reads the device's clock once, together with the host's.
    fn start_clock(&mut self) -> Result<(), GpuError> {
        let mut recording = Recording::new("start of the clock");
        recording.stage("open", |_| {});
        let ticket = self.submit_transfer(&recording)?;
        self.wait(ticket, self.timeout)?;
        self.opened_at = Instant::now();
        Ok(())
    }

    /// Serves another render, opened with `options`.
    pub(super) fn begin_render(&mut self, options: &OpenOptions) {
        self.timeout = options.timeout;
        self.shared.report_to(&options.reporter);
        self.instance.report_to(&options.reporter);
        self.kernels.set_terms(compile_terms(options));
        // A failure is found again when the device is used.
        let _ = self.time_commands(options.time_commands);
    }

    /// Gives back what a render leaves behind. Returns whether the device can serve another one: it has not failed, and
    /// every buffer was freed.
    pub(super) fn end_render(&mut self) -> bool {
        self.staging.take().into_iter().for_each(|buffer| self.free(buffer));
        let idle = !self.hangs && !self.shared.is_lost() && self.collect().is_ok();
        self.memory.end_render();
        // The empty buffer is the only one that lives as long as the device.
        idle && self.memory.held_count() == 1
    }

    /// Returns the properties of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Returns the name of the device in messages.
    pub fn title(&self) -> &OpenDeviceTitle {
        &self.shared.title
    }

    /// Returns the time-out of waits on the device that have no time-out of their own.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether the device computes on the host's processor.
    pub fn is_cpu(&self) -> bool {
        self.info.kind == DeviceKind::Cpu
    }

    /// Whether kernels without barriers are faster, as on the host's processor.
    pub fn prefers_serial_kernels(&self) -> bool {
        self.is_cpu() && !self.shared.as_gpu.parallel
    }

    /// Returns what is waited for, and the command that the device is in, if it leaves breadcrumbs.
    pub(crate) fn with_position(&self, waited_for: String) -> String {
        self.shared.with_position(waited_for)
    }

    /// Returns the host time from which [`super::StageTime::start_s`] is measured.
    pub fn opened_at(&self) -> Instant {
        self.opened_at
    }

    /// Gives the blocks of freed buffers that are kept for others back to the driver.
    pub(crate) fn give_up_blocks(&mut self) {
        self.memory.give_up_spares(u64::MAX);
    }

    /// Returns the device's memory in use.
    pub fn memory(&self) -> MemoryUse {
        self.memory.usage()
    }

    /// Counts of the device's kernels.
    pub fn kernel_counts(&self) -> KernelCounts {
        self.kernels.counts()
    }

    /// Returns how many kernels are kept, compiled or not.
    pub fn kept_kernel_count(&self) -> usize {
        self.kernels.count()
    }

    /// Allocates a buffer, whose contents are undefined.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] and [`GpuError::TooLarge`], which name the buffer.
    pub fn allocate(&mut self, name: &'static str, bytes: u64, usage: Usage) -> Result<Buffer, GpuError> {
        self.shared.check_alive("allocating memory")?;
        self.memory.allocate(name, bytes, usage)
    }

    /// Frees a buffer as soon as the submissions that use it are done. Its handle is rejected from now on; freeing it
    /// again does nothing.
    pub fn free(&mut self, buffer: Buffer) {
        self.memory.free(buffer, self.submissions.done());
    }

    /// Closes a device that did not respond in time: it is not waited for again, and what it may still use is leaked.
    pub fn abandon(mut self) {
        self.hangs = true;
    }

    /// Returns the buffer to which empty slices are bound.
    pub(super) fn empty_buffer(&self) -> vk::Buffer {
        self.memory.raw(self.empty).expect("it lives as long as the device")
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let timeout = if self.hangs { Duration::ZERO } else { self.timeout };
        let closed = self.submissions.close(&self.shared, timeout);
        let stays = closed.is_err() || !self.kernels.stops_soon();
        if stays {
            // Destroying what a hanging device uses could end the process.
            if let (Err(error), false) = (closed, self.hangs) {
                self.shared.warn("leak", format!("its resources were not released: {error}"));
            }
            self.memory.forget();
            self.kernels.abandon();
            // Nor may the compile threads be joined, one of which may wait for the device.
            std::mem::forget(Arc::clone(&self.threads));
            return;
        }
        self.kernels.close();
        if let Some(crumbs) = self.shared.trail.leave_crumbs(None) {
            crumbs.destroy(&self.shared);
        }
        self.staging.take().into_iter().for_each(|buffer| self.free(buffer));
        self.free(self.empty);
        for name in self.memory.close() {
            self.shared.warn("leak", format!("buffer {name} was not freed"));
        }
        // SAFETY: `submissions.close` waited for the queue and destroyed its objects, `kernels.close` waited for the
        // compile jobs and destroyed theirs, and `memory.close` destroyed every buffer. `drop` runs once, so the
        // instance is taken once.
        let instance = unsafe {
            self.shared.raw.destroy_device(None);
            ManuallyDrop::take(&mut self.instance)
        };
        self.threads.retire(instance);
    }
}

fn compile_terms(options: &OpenOptions) -> CompileTerms {
    CompileTerms {
        timeout: options.timeout.saturating_mul(COMPILE_TIMES),
        interrupt: options.interrupt.clone(),
        log: Arc::clone(&options.compile_log),
        faults: options.faults.clone(),
    }
}

/// What is created together with a device.
struct DeviceResources {
    memory: Memory,
    submissions: Submissions,
    empty: Buffer,
    raw_empty: vk::Buffer,
}

impl DeviceResources {
    /// Creates all of it, or destroys what was created.
    fn new(
        shared: &Arc<DeviceShared>,
        instance: &Instance,
        physical: &Physical,
        budget_bytes: u64,
        access: HostAccess,
    ) -> Result<Self, GpuError> {
        let mut memory = Memory::new(shared, instance.raw(), physical, budget_bytes, access)?;
        let made = memory
            .allocate("an unused binding", EMPTY_BYTES, Usage::DeviceOnly)
            .and_then(|empty| Ok((empty, Submissions::new(shared)?)));
        let (empty, submissions) = made.inspect_err(|_| drop(memory.close()))?;
        let raw_empty = memory.raw(empty).expect("it was just allocated");
        Ok(Self { memory, submissions, empty, raw_empty })
    }
}

/// Returns what the host does with memory that only the device needs to access.
fn host_access(options: &OpenOptions) -> HostAccess {
    if options.capture {
        HostAccess::Unmapped
    } else if options.as_gpu.staged {
        HostAccess::Staged
    } else {
        HostAccess::Direct
    }
}

/// Checks that an idle device fits the budget.
fn check_budget(shared: &DeviceShared, budget_bytes: u64) -> Result<(), GpuError> {
    let needed_bytes = BLOCK_BYTES;
    if budget_bytes < needed_bytes {
        return Err(GpuError::TooLittleMemory { device: shared.title.clone(), needed_bytes, budget_bytes });
    }
    Ok(())
}

/// Returns the device that was listed as `info`. Not by index alone: if a GPU was unplugged meanwhile, an equal one may
/// have its index.
fn find(instance: &Instance, info: &DeviceInfo, title: &OpenDeviceTitle) -> Result<Physical, GpuError> {
    let physical = enumerate(instance)?.into_iter().filter(|physical| physical.info.is_same(info));
    let physical = physical.min_by_key(|physical| physical.info.index != info.index);
    physical.ok_or_else(|| GpuError::Lost {
        device: title.clone(),
        doing: "being opened".to_string(),
        found: String::new(),
    })
}

/// Creates the Vulkan device with one queue, and enables those features of the table that it offers, and checkpoints if
/// they are wanted.
pub(super) fn create(
    instance: &ash::Instance,
    physical: &Physical,
    title: &OpenDeviceTitle,
    checkpoints: bool,
) -> Result<(ash::Device, u32), GpuError> {
    let family = physical.family.ok_or_else(|| super::select::lacking(&physical.info))?;
    let mut features = Features::default();
    let mut extensions: Vec<&CStr> = Vec::new();
    for row in FEATURES.iter().filter(|row| physical.info.has(row.name)) {
        *(row.field)(&mut features) = vk::TRUE;
        extensions.extend(row.extension);
    }
    extensions.extend(checkpoints.then_some(nv::device_diagnostic_checkpoints::NAME));
    extensions.extend(physical.takes_debug_info.then_some(khr::shader_non_semantic_info::NAME));
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let Features { core, v12, clock, fault, boundary } = &mut features;
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .enabled_features(core)
        .push_next(v12);
    if extensions.contains(&khr::shader_clock::NAME) {
        info = info.push_next(clock);
    }
    if extensions.contains(&ext::device_fault::NAME) {
        info = info.push_next(fault);
    }
    if extensions.contains(&ext::frame_boundary::NAME) {
        info = info.push_next(boundary);
    }
    // SAFETY: `enumerate` listed the physical device from this instance and found that it has the queue family; only
    // features and extensions that it reported are enabled; `queues`, `names` and `features`, to which `info` points,
    // are locals that outlive the call.
    let raw = unsafe { instance.create_device(physical.raw, &info, None) };
    Ok((raw.map_err(|code| open_error(title, code))?, family))
}

/// Returns the error for a device that the driver does not open.
fn open_error(title: &OpenDeviceTitle, code: vk::Result) -> GpuError {
    GpuError::Vulkan { device: title.clone(), doing: OPENING.to_string(), reason: code.to_string() }
}
