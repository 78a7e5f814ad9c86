//! Kernels of a device: compiled in the background, kept in caches, warmed before they count as ready.

use super::cache::{self, CacheKey};
use super::compile::Compilers;
use super::error::GpuError;
use super::link::Link;
use super::physical::{DeviceInfo, DeviceKind};
use super::requirements::missing_capability;
use super::warm;
use crate::pipeline::recording::Kernel;
use ash::vk;
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What tells compiled kernels apart: the SPIR-V's key and the values of the constants.
type Key = (u128, Vec<u32>);

/// A compiled kernel.
#[derive(Clone, Copy)]
pub(super) struct Pipeline {
    pub(super) raw: vk::Pipeline,
    pub(super) layout: Layout,
}

/// The shape of what is bound: kernels with equally many bindings share descriptor sets.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) set: vk::DescriptorSetLayout,
    pub(super) pipeline: vk::PipelineLayout,
}

enum State {
    Compiling,
    Ready(Pipeline),
    Failed(GpuError),
}

/// How compiled kernels came to be, counted since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Kernels that are ready.
    pub ready: u32,
    /// Of those, kernels that were in the cache.
    pub from_cache: u32,
    /// Kernels that cannot be used.
    pub failed: u32,
}

#[derive(Default)]
struct Table {
    states: FxHashMap<Key, State>,
    counts: KernelCounts,
    sets: FxHashMap<usize, vk::DescriptorSetLayout>,
    layouts: FxHashMap<(usize, u32), Layout>,
    /// Jobs that were given to the compiling threads and have not ended.
    running: u32,
    closed: bool,
}

/// The kernels of a device.
pub(super) struct Kernels {
    link: Arc<Link>,
    info: DeviceInfo,
    enabled: Vec<&'static str>,
    identity: Arc<str>,
    compilers: Arc<Compilers>,
    /// What a warming dispatch binds.
    dummy: vk::Buffer,
    table: Mutex<Table>,
    changed: Condvar,
}

impl Kernels {
    /// No kernels yet. `dummy` must live until [`Kernels::close`] has returned.
    pub(super) fn new(
        link: &Arc<Link>,
        info: &DeviceInfo,
        enabled: Vec<&'static str>,
        compilers: &Arc<Compilers>,
        dummy: vk::Buffer,
    ) -> Arc<Self> {
        Arc::new(Self {
            link: Arc::clone(link),
            info: info.clone(),
            enabled,
            identity: cache::identity(info),
            compilers: Arc::clone(compilers),
            dummy,
            table: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Begins to compile a kernel unless that was begun before.
    pub(super) fn prepare(self: &Arc<Self>, kernel: &Arc<Kernel>, constants: &[u32]) {
        let key = (kernel.key(), constants.to_vec());
        let mut table = self.table.lock();
        if table.closed || table.states.contains_key(&key) {
            return;
        }
        table.states.insert(key.clone(), State::Compiling);
        table.running += 1;
        drop(table);
        let (kernels, kernel) = (Arc::clone(self), Arc::clone(kernel));
        self.compilers.run(CacheKey::new(&self.identity, key.0, &key.1), move || {
            let made = kernels.compile(&kernel, &key.1);
            kernels.finish(key, made);
        });
    }

    /// Notes the end of a job.
    fn finish(&self, key: Key, made: Result<(Pipeline, bool), GpuError>) {
        let mut table = self.table.lock();
        table.running -= 1;
        let state = match made {
            Ok((pipeline, from_cache)) => {
                table.counts.ready += 1;
                table.counts.from_cache += u32::from(from_cache);
                State::Ready(pipeline)
            }
            Err(error) => {
                table.counts.failed += 1;
                State::Failed(error)
            }
        };
        table.states.insert(key, state);
        self.changed.notify_all();
    }

    /// Whether a kernel is compiled; false also when nobody asked for it.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub(super) fn is_ready(&self, kernel: &Kernel, constants: &[u32]) -> Result<bool, GpuError> {
        match self.table.lock().states.get(&(kernel.key(), constants.to_vec())) {
            Some(State::Ready(_)) => Ok(true),
            Some(State::Failed(error)) => Err(error.clone()),
            Some(State::Compiling) | None => Ok(false),
        }
    }

    /// How many there are.
    pub(super) fn counts(&self) -> KernelCounts {
        self.table.lock().counts
    }

    /// The compiled kernel; compiles it or waits for it where needed.
    pub(super) fn get(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        constants: &[u32],
        timeout: Duration,
    ) -> Result<Pipeline, GpuError> {
        self.prepare(kernel, constants);
        let key = (kernel.key(), constants.to_vec());
        let deadline = Instant::now() + timeout;
        let mut table = self.table.lock();
        loop {
            match table.states.get(&key) {
                Some(State::Ready(pipeline)) => return Ok(*pipeline),
                Some(State::Failed(error)) => return Err(error.clone()),
                Some(State::Compiling) | None => {}
            }
            if self.changed.wait_until(&mut table, deadline).timed_out() {
                let waited_for = format!("compiling kernel {}", kernel.label());
                return Err(GpuError::Timeout { device: self.link.title.clone(), waited_for, timeout });
            }
        }
    }

    /// Compiles and warms a kernel: the pipeline, and whether the cache had it.
    fn compile(&self, kernel: &Arc<Kernel>, constants: &[u32]) -> Result<(Pipeline, bool), GpuError> {
        let refuse = |reason: String| {
            let (device, kernel) = (self.link.title.clone(), kernel.label().to_string());
            Err(GpuError::Kernel { device, kernel, reason })
        };
        if self.table.lock().closed {
            return refuse("the device is closing".to_string());
        }
        self.link.check_alive("compiling kernels")?;
        let enabled = |feature: &str| self.enabled.contains(&feature);
        if let Some(reason) = missing_capability(kernel.words(), enabled) {
            return refuse(reason);
        }
        let [x, y, z] = kernel.local_size();
        let invocations = u64::from(x) * u64::from(y) * u64::from(z);
        let most = self.info.limits.get("maxComputeWorkGroupInvocations").copied().unwrap_or(0);
        if invocations > most {
            return refuse(format!("its workgroups have {invocations} invocations, the device permits {most}"));
        }
        let layout = self.layout(kernel.bindings().len(), kernel.push_bytes())?;
        let cache_key = CacheKey::new(&self.identity, kernel.key(), constants);
        let known = self.compilers.cache.load(&cache_key);
        let (raw, data) = self.create(kernel, constants, layout, known.as_ref().map_or(&[], |data| data.as_slice()))?;
        let from_cache = known.is_some();
        if known.is_none_or(|known| *known != data)
            && let Err(reason) = self.compilers.cache.store(&cache_key, data)
        {
            self.link.warn("cache", format!("compiled kernels cannot be kept: {reason}"));
        }
        let pipeline = Pipeline { raw, layout };
        // Drivers of GPUs have finished by now; CPU drivers compile when a kernel is first dispatched.
        if self.info.kind == DeviceKind::Cpu
            && let Err(error) = warm::dispatch_nothing(&self.link, pipeline, kernel, self.dummy)
        {
            // SAFETY: nobody else has the pipeline yet, and the warming dispatch has ended or the device is lost.
            unsafe { self.link.raw.destroy_pipeline(raw, None) };
            return Err(error);
        }
        Ok((pipeline, from_cache))
    }

    /// The layout for kernels with so many bindings and push constants.
    fn layout(&self, binding_count: usize, push_bytes: u32) -> Result<Layout, GpuError> {
        let mut table = self.table.lock();
        if let Some(layout) = table.layouts.get(&(binding_count, push_bytes)) {
            return Ok(*layout);
        }
        let raw = &self.link.raw;
        let set = match table.sets.get(&binding_count) {
            Some(set) => *set,
            None => {
                let binding = |number| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(number)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                };
                let bindings: Vec<_> = (0..binding_count as u32).map(binding).collect();
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
                // SAFETY: the device is alive until `close` has waited for this job; binding numbers are distinct.
                let made = unsafe { raw.create_descriptor_set_layout(&info, None) };
                let set = self.link.check("making a descriptor set layout", made)?;
                self.link.name(set, &format!("{binding_count} buffers"));
                table.sets.insert(binding_count, set);
                set
            }
        };
        let sets = [set];
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_bytes)];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        if push_bytes > 0 {
            info = info.push_constant_ranges(&push);
        }
        // SAFETY: as above; the set layout is this device's.
        let made = unsafe { raw.create_pipeline_layout(&info, None) };
        let layout = Layout { set, pipeline: self.link.check("making a pipeline layout", made)? };
        self.link.name(layout.pipeline, &format!("{binding_count} buffers, {push_bytes} bytes"));
        table.layouts.insert((binding_count, push_bytes), layout);
        Ok(layout)
    }

    /// Makes the pipeline, and gives what the driver wants to be kept of it.
    fn create(
        &self,
        kernel: &Kernel,
        constants: &[u32],
        layout: Layout,
        known: &[u8],
    ) -> Result<(vk::Pipeline, Vec<u8>), GpuError> {
        let raw = &self.link.raw;
        let doing = || format!("compiling kernel {}", kernel.label());
        let info = vk::ShaderModuleCreateInfo::default().code(kernel.words());
        // SAFETY: kernels are valid SPIR-V whose capabilities are enabled: those of the build and those that the shader compiler emits
        // are checked by spirv-val in tests. The device is alive until `close` has waited for this job.
        let module = self.link.check(&doing(), unsafe { raw.create_shader_module(&info, None) })?;
        let info = vk::PipelineCacheCreateInfo::default().initial_data(known);
        // SAFETY: the data was written by this driver for this kernel, and its checksum was right.
        let cache = self.link.check("making a pipeline cache", unsafe { raw.create_pipeline_cache(&info, None) });
        let made = cache.and_then(|cache| {
            let pipeline = self.create_pipeline(module, cache, layout, constants);
            // SAFETY: the cache is this function's own.
            let data = unsafe { raw.get_pipeline_cache_data(cache) }.unwrap_or_default();
            // SAFETY: as above, and the pipeline does not need it any more.
            unsafe { raw.destroy_pipeline_cache(cache, None) };
            Ok((self.link.check(&doing(), pipeline)?, data))
        });
        // SAFETY: the module is this function's own, and the pipeline does not need it any more.
        unsafe { raw.destroy_shader_module(module, None) };
        let (pipeline, data) = made?;
        self.link.name(pipeline, kernel.label());
        Ok((pipeline, data))
    }

    fn create_pipeline(
        &self,
        module: vk::ShaderModule,
        cache: vk::PipelineCache,
        layout: Layout,
        constants: &[u32],
    ) -> Result<vk::Pipeline, vk::Result> {
        let data: Vec<u8> = constants.iter().flat_map(|word| word.to_le_bytes()).collect();
        let entry = |id: u32| vk::SpecializationMapEntry::default().constant_id(id).offset(4 * id).size(4);
        let entries: Vec<_> = (0..constants.len() as u32).map(entry).collect();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&specialization);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.pipeline);
        // SAFETY: module, cache and layout are this device's, and all that `info` points to lives until the call returns.
        let made = unsafe { self.link.raw.create_compute_pipelines(cache, &[info], None) };
        made.map(|pipelines| pipelines[0]).map_err(|(_, code)| code)
    }

    /// Waits for the compiling threads to let go of the device and destroys all kernels. No submission may use one any more.
    pub(super) fn close(&self) {
        let mut table = self.table.lock();
        table.closed = true;
        while table.running > 0 {
            self.changed.wait(&mut table);
        }
        let table = std::mem::take(&mut *table);
        // SAFETY: the caller waited for the queue, the jobs have ended, and the objects are taken out of the table: nobody uses them.
        unsafe {
            for state in table.states.values() {
                if let State::Ready(pipeline) = state {
                    self.link.raw.destroy_pipeline(pipeline.raw, None);
                }
            }
            for layout in table.layouts.values() {
                self.link.raw.destroy_pipeline_layout(layout.pipeline, None);
            }
            for set in table.sets.values() {
                self.link.raw.destroy_descriptor_set_layout(*set, None);
            }
        }
    }
}
