//! Second devices on which CPU drivers compile kernels ahead of time.
//!
//! These drivers generate code when a kernel is first dispatched, in the one thread that handles a device's
//! submissions: kernels would be compiled one after the other, and rendering would wait meanwhile. So each compile
//! thread has a `VkDevice` of its own and dispatches new kernels on it; the driver's cache on disk, which all devices
//! share, then has the code when the kernel is dispatched on the real device. Measured on two cores: all kernels in 1.8
//! s instead of 2.1 s (Mesa 22), 3.9 s instead of 6.6 s (Mesa 25), and submissions no longer wait; processor time grows
//! by 40% and 5%, since the first half of the work is done twice.

use super::device::create;
use super::empty_dispatch;
use super::encode::EMPTY_BYTES;
use super::error::GpuError;
use super::memory::{HostAccess, Memory, Usage};
use super::physical::Physical;
use super::pipeline::{ComputePipeline, KernelLayout, binding_forms, make_layout, make_pipeline, make_set_layout};
use super::shared::{CreatedDevice, DeviceShared};
use super::trail::Trail;
use crate::pipeline::recording::Kernel;
use ash::vk;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Memory of a second device: one block of the allocator.
const BUDGET_BYTES: u64 = 4 << 20;

/// The second devices of an opened device.
pub(super) struct PrecompileDevices {
    instance: ash::Instance,
    physical: Physical,
    pool: Mutex<PrecompilePool>,
}

#[derive(Default)]
struct PrecompilePool {
    idle: Vec<PrecompileDevice>,
    /// Whether opening one failed, as under capture tools, which permit one device per instance.
    refused: bool,
}

/// A second device.
struct PrecompileDevice {
    shared: Arc<DeviceShared>,
    memory: Memory,
    empty: vk::Buffer,
}

impl PrecompileDevices {
    /// Begins without devices. The instance must live until [`PrecompileDevices::close`] has returned.
    pub(super) fn new(instance: &ash::Instance, physical: Physical) -> Self {
        Self { instance: instance.clone(), physical, pool: Mutex::default() }
    }

    /// Makes the driver compile a kernel into its cache on disk. `main` is the device that the kernel is for. A failure
    /// is not an error: the driver then compiles the kernel when it is dispatched on the real device, and reports
    /// errors there.
    pub(super) fn compile(&self, main: &DeviceShared, kernel: &Arc<Kernel>, constants: &[u32], timeout: Duration) {
        if self.pool.lock().refused {
            return;
        }
        let idle = self.pool.lock().idle.pop();
        let Ok(precompile) = idle.map_or_else(|| self.open(main), Ok) else {
            self.pool.lock().refused = true;
            return;
        };
        // A failure will happen again on the real device, or does not matter.
        let _ = precompile.compile(kernel, constants, timeout);
        self.pool.lock().idle.push(precompile);
    }

    fn open(&self, main: &DeviceShared) -> Result<PrecompileDevice, GpuError> {
        let title = main.title.clone();
        let (raw, family) = create(&self.instance, &self.physical, &title, false)?;
        let opened = CreatedDevice {
            raw,
            family,
            clock: None,
            names: None,
            validates: main.validates,
            as_gpu: main.as_gpu.clone(),
            driver_threads: main.driver_threads,
            trail: Trail::default(),
            marks_frames: false,
        };
        let shared = Arc::new(DeviceShared::new(opened, title, main.reporter()));
        let memory = Memory::new(&shared, &self.instance, &self.physical, BUDGET_BYTES, HostAccess::Direct).and_then(
            |mut memory| {
                let empty = memory.allocate("an unused binding", EMPTY_BYTES, Usage::DeviceOnly);
                let empty = empty.inspect_err(|_| drop(memory.close()))?;
                Ok((memory, empty))
            },
        );
        if memory.is_err() {
            // SAFETY: the device was created above and only this thread knows it; if `Memory::new` failed nothing was
            // created from it, and if the allocation failed `memory.close` destroyed what was.
            unsafe { shared.raw.destroy_device(None) };
        }
        let (memory, empty) = memory?;
        let empty = memory.raw(empty).expect("it was just allocated");
        Ok(PrecompileDevice { shared, memory, empty })
    }

    /// Closes the second devices; no thread may still be compiling.
    pub(super) fn close(&self) {
        self.pool.lock().idle.drain(..).for_each(PrecompileDevice::close);
    }
}

impl PrecompileDevice {
    fn compile(&self, kernel: &Arc<Kernel>, constants: &[u32], timeout: Duration) -> Result<(), GpuError> {
        let shared = &self.shared;
        let set = make_set_layout(shared, &binding_forms(kernel))?;
        let layout = make_layout(shared, set, kernel.push_bytes());
        let pipeline = layout.clone().and_then(|layout| make_pipeline(shared, kernel, constants, layout, &[]));
        let done = match &pipeline {
            Ok((pipeline, _)) => empty_dispatch::dispatch_no_workgroups(shared, *pipeline, kernel, self.empty, timeout),
            Err(error) => Err(error.clone()),
        };
        if !matches!(done, Err(GpuError::Timeout { .. })) {
            self.destroy(set, layout.ok(), pipeline.ok().map(|(pipeline, _)| pipeline));
        }
        done
    }

    fn destroy(&self, set: vk::DescriptorSetLayout, layout: Option<KernelLayout>, pipeline: Option<ComputePipeline>) {
        // SAFETY: `compile`, the only caller, created the objects for one dispatch and calls this unless that timed
        // out, so the dispatch is over or was never submitted; destroying a null handle does nothing.
        unsafe {
            self.shared.raw.destroy_pipeline(pipeline.map_or(vk::Pipeline::null(), |p| p.raw), None);
            self.shared.raw.destroy_pipeline_layout(layout.map_or(vk::PipelineLayout::null(), |l| l.pipeline), None);
            self.shared.raw.destroy_descriptor_set_layout(set, None);
        }
    }

    fn close(mut self) {
        // The names of leaked buffers are of no interest: the one buffer belongs to this device.
        drop(self.memory.close());
        // SAFETY: `PrecompileDevices::close` runs when no compile job does, each dispatch was waited for, and
        // `memory.close` has just destroyed the one buffer; what a timed-out dispatch left behind belongs to a device
        // that has hung.
        unsafe { self.shared.raw.destroy_device(None) };
    }
}
