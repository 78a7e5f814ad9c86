//! Kernels of a device: compiled in the background, cached, and dispatched once without workgroups before they count as
//! ready.

use super::cache::{self, CacheKey};
use super::compile::Compilers;
use super::compile_log::{CompileLog, CompiledKernel};
use super::empty_dispatch;
use super::error::GpuError;
use super::fault::{Faults, SLOW_COMPILE};
use super::physical::{DeviceInfo, DeviceKind};
use super::pipeline::{BindingForms, ComputePipeline, KernelLayout, binding_forms};
use super::pipeline::{make_layout, make_pipeline, make_set_layout};
use super::precompile::PrecompileDevices;
use super::requirements::missing_capability;
use super::shared::DeviceShared;
use crate::pipeline::recording::Kernel;
use crate::progress::Interrupt;
use ash::vk;
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Time-out for the compile threads of a hanging device: a process that ends while they run may crash.
const ABANDON: Duration = Duration::from_secs(1);

/// Time-out for the compile threads of a device when the user has stopped the render.
const ABANDON_INTERRUPTED: Duration = Duration::from_millis(200);

/// How often a wait for a kernel checks whether the render is to stop.
const INTERRUPT_POLL: Duration = Duration::from_millis(20);

/// What a compiled kernel is found by: the SPIR-V's digest and the values of the constants.
type StateKey = (u128, Vec<u32>);

/// Pictures after which a kernel that none of them used is dropped. The maps of lights that cast shadows are pictures,
/// too.
const PICTURES_KEPT: u64 = 64;

/// A kernel of the table.
struct TableKernel {
    state: KernelState,
    /// The last picture that asked for it.
    used: u64,
}

enum KernelState {
    Compiling,
    Ready(ComputePipeline),
    Failed(GpuError),
}

/// Counts of compiled kernels since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Number of kernels that are ready.
    pub ready: u32,
    /// Number of ready kernels that were in the cache.
    pub from_cache: u32,
    /// Number of kernels that cannot be used.
    pub failed: u32,
}

#[derive(Default)]
struct KernelTable {
    kernels: FxHashMap<StateKey, TableKernel>,
    /// The number of the picture that is drawn.
    picture: u64,
    counts: KernelCounts,
    sets: FxHashMap<BindingForms, vk::DescriptorSetLayout>,
    layouts: FxHashMap<(BindingForms, u32), KernelLayout>,
    /// Number of jobs that were given to the compile threads and have not ended.
    running: u32,
    closed: bool,
}

impl KernelTable {
    /// Returns what is known of a kernel that the picture uses.
    fn find(&mut self, key: &StateKey) -> Option<&KernelState> {
        let kernel = self.kernels.get_mut(key)?;
        kernel.used = self.picture;
        Some(&kernel.state)
    }

    fn insert(&mut self, key: StateKey, state: KernelState) {
        self.kernels.insert(key, TableKernel { state, used: self.picture });
    }
}

/// How long kernels are waited for, and who is notified.
#[derive(Clone)]
pub(super) struct CompileTerms {
    /// Time-out for compiling one kernel.
    pub timeout: Duration,
    /// Ends waits for kernels.
    pub interrupt: Interrupt,
    /// Receives the kernels that are compiled.
    pub log: Arc<CompileLog>,
    /// For tests: kernels that take long.
    pub faults: Option<Arc<Faults>>,
}

/// The kernels of a device.
pub(super) struct Kernels {
    shared: Arc<DeviceShared>,
    info: DeviceInfo,
    identity: Arc<str>,
    compilers: Arc<Compilers>,
    /// Second devices for drivers that compile when a kernel is first dispatched.
    precompile_devices: Option<PrecompileDevices>,
    /// The buffer that an empty dispatch binds.
    empty: vk::Buffer,
    terms: Mutex<CompileTerms>,
    table: Mutex<KernelTable>,
    changed: Condvar,
}

impl Kernels {
    /// Begins without kernels. `empty` and what `precompile_devices` needs must live until [`Kernels::close`] has
    /// returned.
    pub(super) fn new(
        shared: &Arc<DeviceShared>,
        info: &DeviceInfo,
        compilers: &Arc<Compilers>,
        precompile_devices: Option<PrecompileDevices>,
        empty: vk::Buffer,
        terms: CompileTerms,
    ) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::clone(shared),
            info: info.clone(),
            identity: cache::identity(info, &shared.as_gpu, shared.driver_threads),
            compilers: Arc::clone(compilers),
            precompile_devices,
            empty,
            terms: Mutex::new(terms),
            table: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn terms(&self) -> CompileTerms {
        self.terms.lock().clone()
    }

    /// Compiles by other terms from now on.
    pub(super) fn set_terms(&self, terms: CompileTerms) {
        *self.terms.lock() = terms;
    }

    /// Begins to compile a kernel unless that was begun before.
    pub(super) fn prepare(self: &Arc<Self>, kernel: &Arc<Kernel>, constants: &[u32]) {
        let key = (kernel.digest(), constants.to_vec());
        let mut table = self.table.lock();
        if table.closed || table.find(&key).is_some() {
            return;
        }
        table.insert(key.clone(), KernelState::Compiling);
        table.running += 1;
        drop(table);
        let log = self.terms().log;
        log.asked();
        let (kernels, kernel) = (Arc::clone(self), Arc::clone(kernel));
        self.compilers.run(CacheKey::new(&self.identity, key.0, &key.1), move || {
            let begin = Instant::now();
            // A panic must not leave others waiting forever for the kernel, or for this job to release the device.
            let made = panic::catch_unwind(AssertUnwindSafe(|| kernels.compile(&kernel, &key.1)));
            let panicked = |_| Err(kernels.refuse(&kernel, "the thread that compiled it panicked".to_string()));
            let made = made.unwrap_or_else(panicked);
            let from_cache = made.as_ref().ok().map(|made| made.1);
            log.ended(from_cache.map(|from_cache| CompiledKernel {
                device: kernels.shared.title.number,
                kernel: kernel.label().to_string(),
                program: kernel.program().cloned(),
                thread: thread::current().name().unwrap_or_default().to_string(),
                begin,
                took: begin.elapsed(),
                from_cache,
            }));
            kernels.finish(key, made);
        });
    }

    /// Records the result of a job.
    fn finish(&self, key: StateKey, made: Result<(ComputePipeline, bool), GpuError>) {
        let mut table = self.table.lock();
        table.running -= 1;
        let state = match made {
            Ok((pipeline, from_cache)) => {
                table.counts.ready += 1;
                table.counts.from_cache += u32::from(from_cache);
                KernelState::Ready(pipeline)
            }
            Err(error) => {
                table.counts.failed += 1;
                KernelState::Failed(error)
            }
        };
        table.insert(key, state);
        self.changed.notify_all();
    }

    /// Whether a kernel is compiled; also false if it was never requested.
    ///
    /// # Errors
    /// Why the kernel cannot be compiled.
    pub(super) fn is_ready(&self, kernel: &Kernel, constants: &[u32]) -> Result<bool, GpuError> {
        match self.table.lock().find(&(kernel.digest(), constants.to_vec())) {
            Some(KernelState::Ready(_)) => Ok(true),
            Some(KernelState::Failed(error)) => Err(error.clone()),
            Some(KernelState::Compiling) | None => Ok(false),
        }
    }

    /// Whether submissions are to wait for a kernel that the driver compiles in the device's queue, which has a
    /// time-out of its own, unless the render is to stop.
    pub(super) fn keep_queue_busy(&self) -> bool {
        let terms = self.terms();
        !terms.interrupt.is_raised() && terms.log.is_queue_busy(self.shared.title.number)
    }

    /// Counts of compiled kernels.
    pub(super) fn counts(&self) -> KernelCounts {
        self.table.lock().counts
    }

    /// Returns the compiled kernel; compiles it or waits for it if necessary.
    pub(super) fn get(self: &Arc<Self>, kernel: &Arc<Kernel>, constants: &[u32]) -> Result<ComputePipeline, GpuError> {
        self.prepare(kernel, constants);
        let key = (kernel.digest(), constants.to_vec());
        let terms = self.terms();
        let deadline = Instant::now() + terms.timeout;
        let mut waits = None;
        let mut table = self.table.lock();
        loop {
            match table.find(&key) {
                Some(KernelState::Ready(pipeline)) => return Ok(*pipeline),
                Some(KernelState::Failed(error)) => return Err(error.clone()),
                Some(KernelState::Compiling) | None => {}
            }
            let (device, doing) = (&self.shared.title, || format!("compiling kernel {}", kernel.label()));
            if terms.interrupt.is_raised() {
                return Err(GpuError::Interrupted { device: device.clone(), doing: doing() });
            }
            if Instant::now() >= deadline {
                let timeout = terms.timeout;
                return Err(GpuError::Timeout { device: device.clone(), waited_for: doing(), timeout });
            }
            waits.get_or_insert_with(|| terms.log.wait(device.number, kernel.label()));
            self.changed.wait_until(&mut table, deadline.min(Instant::now() + INTERRUPT_POLL));
        }
    }

    /// Compiles a kernel, and returns its pipeline and whether the cache had it.
    fn compile(&self, kernel: &Arc<Kernel>, constants: &[u32]) -> Result<(ComputePipeline, bool), GpuError> {
        self.check_usable(kernel)?;
        let layout = self.layout(&binding_forms(kernel), kernel.push_bytes())?;
        let cache_key = CacheKey::new(&self.identity, kernel.digest(), constants);
        let CompileTerms { timeout, log, faults, .. } = self.terms();
        if faults.is_some_and(|faults| faults.compiles_slowly(self.shared.title.number)) {
            thread::sleep(SLOW_COMPILE);
        }
        let known = self.compilers.cache.load(&cache_key);
        if known.is_none()
            && let Some(precompile_devices) = &self.precompile_devices
        {
            precompile_devices.compile(&self.shared, kernel, constants, timeout);
        }
        let initial = known.as_ref().map_or([].as_slice(), |data| data.as_slice());
        let (pipeline, data) = make_pipeline(&self.shared, kernel, constants, layout, initial)?;
        // GPU drivers have finished compiling by now; CPU drivers compile when a kernel is first dispatched.
        let first_dispatch = || {
            let _busy = log.occupy_queue(self.shared.title.number);
            empty_dispatch::dispatch_no_workgroups(&self.shared, pipeline, kernel, self.empty, timeout)
        };
        if self.info.kind == DeviceKind::Cpu
            && let Err(error) = first_dispatch()
        {
            if !matches!(error, GpuError::Timeout { .. }) {
                // SAFETY: the pipeline was created above and is not in the table yet; without a time-out, the empty
                // dispatch was not submitted, or has ended, or the device is lost.
                unsafe { self.shared.raw.destroy_pipeline(pipeline.raw, None) };
            }
            return Err(error);
        }
        let from_cache = known.is_some();
        if known.is_none_or(|known| *known != data)
            && let Err(reason) = self.compilers.cache.store(&cache_key, data)
        {
            self.shared.warn("cache", format!("compiled kernels cannot be cached: {reason}"));
        }
        Ok((pipeline, from_cache))
    }

    /// Checks that the device has what a kernel needs.
    fn check_usable(&self, kernel: &Kernel) -> Result<(), GpuError> {
        if self.table.lock().closed {
            return Err(self.refuse(kernel, "the device is closing".to_string()));
        }
        self.shared.check_alive("compiling kernels")?;
        let enabled = |feature: &str| self.info.has(feature);
        if let Some(reason) = missing_capability(kernel.words(), enabled) {
            return Err(self.refuse(kernel, reason));
        }
        let [x, y, z] = kernel.local_size();
        let invocations = u64::from(x) * u64::from(y) * u64::from(z);
        let most = self.info.limits.get("maxComputeWorkGroupInvocations").copied().unwrap_or(0);
        if invocations > most {
            let reason = format!("its workgroups have {invocations} invocations, the device permits {most}");
            return Err(self.refuse(kernel, reason));
        }
        Ok(())
    }

    fn refuse(&self, kernel: &Kernel, reason: String) -> GpuError {
        GpuError::Kernel { device: self.shared.title.clone(), kernel: kernel.label().to_string(), reason }
    }

    /// Returns the layout for kernels with bindings of these forms and `push_bytes` bytes of push constants.
    fn layout(&self, forms: &BindingForms, push_bytes: u32) -> Result<KernelLayout, GpuError> {
        let mut table = self.table.lock();
        if let Some(layout) = table.layouts.get(&(Arc::clone(forms), push_bytes)) {
            return Ok(*layout);
        }
        let set = match table.sets.get(forms) {
            Some(set) => *set,
            None => {
                let set = make_set_layout(&self.shared, forms)?;
                *table.sets.entry(Arc::clone(forms)).or_insert(set)
            }
        };
        let layout = make_layout(&self.shared, set, push_bytes)?;
        table.layouts.insert((Arc::clone(forms), push_bytes), layout);
        Ok(layout)
    }

    /// Ends a picture, and drops the kernels that none of the last ones asked for. No submission may be under way, and
    /// none may be begun meanwhile.
    pub(super) fn end_picture(&self) {
        let mut table = self.table.lock();
        table.picture += 1;
        let oldest = table.picture.saturating_sub(PICTURES_KEPT);
        let is_old = |_: &StateKey, kernel: &mut TableKernel| {
            kernel.used < oldest && !matches!(kernel.state, KernelState::Compiling)
        };
        for (_, kernel) in table.kernels.extract_if(is_old) {
            if let KernelState::Ready(pipeline) = kernel.state {
                // SAFETY: `Device::end_picture`, the only caller, found that no submission is under way, and no command
                // is encoded meanwhile, as it has the device for itself; compile jobs use pipelines only before they
                // are in the table, from which this one was taken out.
                unsafe { self.shared.raw.destroy_pipeline(pipeline.raw, None) };
            }
        }
    }

    /// Returns how many kernels are in the table.
    pub(super) fn count(&self) -> usize {
        self.table.lock().kernels.len()
    }

    /// Stops compiling for a device that hangs, and gives running jobs a moment to end. Nothing is destroyed.
    pub(super) fn abandon(&self) {
        let deadline = Instant::now() + ABANDON;
        let mut table = self.table.lock();
        table.closed = true;
        while table.running > 0 && !self.changed.wait_until(&mut table, deadline).timed_out() {}
    }

    /// Whether no compile job would keep an interrupted render waiting: jobs that have not begun end at once from now
    /// on, but one that the driver is working on cannot be stopped.
    pub(super) fn stops_soon(&self) -> bool {
        if !self.terms().interrupt.is_raised() {
            return true;
        }
        let deadline = Instant::now() + ABANDON_INTERRUPTED;
        let mut table = self.table.lock();
        table.closed = true;
        while table.running > 0 && !self.changed.wait_until(&mut table, deadline).timed_out() {}
        table.running == 0
    }

    /// Waits until no compile job uses the device, and destroys all kernels. No submission may still use one.
    pub(super) fn close(&self) {
        let mut table = self.table.lock();
        table.closed = true;
        while table.running > 0 {
            self.changed.wait(&mut table);
        }
        if let Some(precompile_devices) = &self.precompile_devices {
            precompile_devices.close();
        }
        let table = std::mem::replace(&mut *table, KernelTable { closed: true, ..KernelTable::default() });
        // SAFETY: `Device::drop` calls this after `submissions.close`, which waited for the queue; `running` is 0, so
        // no compile job uses these objects; and they are taken out of the table, so none is destroyed twice.
        unsafe {
            for kernel in table.kernels.values() {
                if let KernelState::Ready(pipeline) = kernel.state {
                    self.shared.raw.destroy_pipeline(pipeline.raw, None);
                }
            }
            for layout in table.layouts.values() {
                self.shared.raw.destroy_pipeline_layout(layout.pipeline, None);
            }
            for set in table.sets.values() {
                self.shared.raw.destroy_descriptor_set_layout(*set, None);
            }
        }
    }
}
