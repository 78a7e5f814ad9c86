//! A Vulkan device in its smallest form, to run one kernel over buffers and read them back: the compiler's own
//! tests need no more. The renderer's device code is another matter, and lives in the package anthill.

use ash::{Device as Raw, Entry, Instance, vk};
use spirv_gen::abi::{Push, binding};
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// An open device with a queue.
pub(crate) struct Device {
    raw: Raw,
    queue: vk::Queue,
    family: u32,
    memory: vk::PhysicalDeviceMemoryProperties,
    _instance: Instance,
    _entry: Entry,
}

/// Open devices that nobody uses.
static IDLE: Mutex<Vec<Device>> = Mutex::new(Vec::new());

/// A device for as long as a test uses it.
pub(crate) struct LentDevice(Option<Device>);

/// An idle device, or one that is opened: drivers compile kernels for most of the time of these tests, and so they do
/// on all processors.
pub(crate) fn device() -> LentDevice {
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let device = idle.unwrap_or_else(|| Device::open().expect("a Vulkan driver, for example lavapipe"));
    LentDevice(Some(device))
}

impl Deref for LentDevice {
    type Target = Device;

    fn deref(&self) -> &Device {
        self.0.as_ref().expect("it is given back last")
    }
}

impl Drop for LentDevice {
    fn drop(&mut self) {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).extend(self.0.take());
    }
}

/// A kernel with its layout.
pub(crate) struct Kernel {
    module: vk::ShaderModule,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
}

struct Storage {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u32,
}

/// How wide to dispatch, and with what.
#[derive(Clone, Copy)]
pub(crate) struct DispatchArguments<'a> {
    /// Push constants.
    pub(crate) push: &'a [u32],
    /// Workgroups.
    pub(crate) groups: u32,
}

/// The texels of a binding; nothing where it is a storage buffer.
fn texels(number: u32) -> Option<vk::Format> {
    match number {
        binding::WORK | binding::PARAMS | binding::INPUTS | binding::TEXTURES => Some(vk::Format::R32G32B32A32_UINT),
        binding::TILES.. => Some(vk::Format::R32_SINT),
        _ => None,
    }
}

fn descriptor_type(number: u32) -> vk::DescriptorType {
    texels(number).map_or(vk::DescriptorType::STORAGE_BUFFER, |_| vk::DescriptorType::UNIFORM_TEXEL_BUFFER)
}

/// The buffer that is bound to a number: the arena is bound a second time, for reading.
fn buffer_of(number: u32) -> usize {
    match number {
        binding::INPUTS => binding::ARENA as usize,
        number if number > binding::INPUTS => number as usize - 1,
        number => number as usize,
    }
}

impl Device {
    fn open() -> Result<Device, vk::Result> {
        // SAFETY: the loader stays loaded as long as the entry, which the device owns.
        let entry = unsafe { Entry::load() }.map_err(|_| vk::Result::ERROR_INITIALIZATION_FAILED)?;
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        // SAFETY: the structures that the infos point to live in this function.
        unsafe {
            let info = vk::InstanceCreateInfo::default().application_info(&app);
            let instance = entry.create_instance(&info, None)?;
            let physical = *instance.enumerate_physical_devices()?.first().ok_or(vk::Result::ERROR_DEVICE_LOST)?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let compute = |f: &vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::COMPUTE);
            let family = families.iter().position(compute).ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)? as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let raw =
                instance.create_device(physical, &vk::DeviceCreateInfo::default().queue_create_infos(&queues), None)?;
            let memory = instance.get_physical_device_memory_properties(physical);
            Ok(Device {
                queue: raw.get_device_queue(family, 0),
                raw,
                family,
                memory,
                _instance: instance,
                _entry: entry,
            })
        }
    }

    /// Makes a pipeline of a module whose entry point is `main`, with this number of buffers and the push constants of
    /// the abi.
    pub(crate) fn kernel(&self, spirv: &[u32], buffers: usize) -> Kernel {
        let bindings: Vec<_> = (0..=buffers as u32)
            .map(|i| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(i)
                    .descriptor_type(descriptor_type(i))
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let push = [vk::PushConstantRange::default()
            .size(size_of::<Push>() as u32)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        // SAFETY: all handles are of this device; the slices live until the calls return.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = self.raw.create_descriptor_set_layout(&info, None).expect("set layout");
            let layouts = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = self.raw.create_pipeline_layout(&info, None).expect("pipeline layout");
            let info = vk::ShaderModuleCreateInfo::default().code(spirv);
            let module = self.raw.create_shader_module(&info, None).expect("shader module");
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipelines = self.raw.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            let pipeline = pipelines.map_err(|e| e.1).expect("compute pipeline")[0];
            Kernel { module, pipeline, layout, set_layout }
        }
    }

    /// Frees a kernel.
    pub(crate) fn free(&self, kernel: &Kernel) {
        // SAFETY: every run waits for the device, so nothing uses them.
        unsafe {
            self.raw.destroy_pipeline(kernel.pipeline, None);
            self.raw.destroy_shader_module(kernel.module, None);
            self.raw.destroy_pipeline_layout(kernel.layout, None);
            self.raw.destroy_descriptor_set_layout(kernel.set_layout, None);
        }
    }

    fn storage(&self, words: &[u32]) -> Storage {
        let size = (words.len().max(4) * 4) as u64;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER;
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: the buffer is bound to memory of at least its size; the mapping is as long as the words written to
        // it.
        unsafe {
            let buffer =
                self.raw.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None).expect("buffer");
            let needs = self.raw.get_buffer_memory_requirements(buffer);
            let fits = |&i: &u32| {
                let flags = self.memory.memory_types[i as usize].property_flags;
                needs.memory_type_bits & (1 << i) != 0 && flags.contains(wanted)
            };
            let kind = (0..self.memory.memory_type_count).find(fits).expect("host visible memory");
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = self.raw.allocate_memory(&info, None).expect("memory");
            self.raw.bind_buffer_memory(buffer, memory, 0).expect("bind");
            let mapped = self.raw.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).expect("map");
            let mapped = mapped.cast::<u32>();
            std::ptr::copy_nonoverlapping(words.as_ptr(), mapped, words.len());
            Storage { buffer, memory, mapped }
        }
    }

    /// Runs a kernel over buffers, which are replaced by what it left in them: those of the bindings in order, without
    /// the second one of the arena.
    pub(crate) fn run(&self, kernel: &Kernel, buffers: &mut [Vec<u32>], dispatch: DispatchArguments<'_>) {
        let storages: Vec<_> = buffers.iter().map(|words| self.storage(words)).collect();
        // SAFETY: the submission is waited for before anything that it uses is read or destroyed.
        unsafe {
            let count = storages.len() as u32;
            let types = [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::UNIFORM_TEXEL_BUFFER];
            let sizes = types.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: count + 1 });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = self.raw.create_descriptor_pool(&info, None).expect("descriptor pool");
            let layouts = [kernel.set_layout];
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = self.raw.allocate_descriptor_sets(&info).expect("descriptor set")[0];
            let mut views = Vec::new();
            for number in 0..=count {
                let (buffer, range) = (storages[buffer_of(number)].buffer, vk::WHOLE_SIZE);
                let info = [vk::DescriptorBufferInfo { buffer, offset: 0, range }];
                let mut write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(number)
                    .descriptor_type(descriptor_type(number))
                    .buffer_info(&info);
                let view = texels(number).map(|format| {
                    let info = vk::BufferViewCreateInfo::default().buffer(buffer).format(format).range(range);
                    [self.raw.create_buffer_view(&info, None).expect("view")]
                });
                if let Some(view) = &view {
                    write = write.texel_buffer_view(view);
                }
                self.raw.update_descriptor_sets(&[write], &[]);
                views.extend(view);
            }
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
            let commands = self.raw.create_command_pool(&info, None).expect("command pool");
            self.submit(kernel, commands, set, dispatch);
            views.iter().for_each(|[view]| self.raw.destroy_buffer_view(*view, None));
            for (storage, words) in storages.iter().zip(buffers) {
                std::ptr::copy_nonoverlapping(storage.mapped, words.as_mut_ptr(), words.len());
                self.raw.destroy_buffer(storage.buffer, None);
                self.raw.free_memory(storage.memory, None);
            }
            self.raw.destroy_command_pool(commands, None);
            self.raw.destroy_descriptor_pool(pool, None);
        }
    }

    /// # Safety
    /// The set is complete, and nothing else uses the pool or the queue.
    unsafe fn submit(
        &self,
        kernel: &Kernel,
        pool: vk::CommandPool,
        set: vk::DescriptorSet,
        dispatch: DispatchArguments<'_>,
    ) {
        let push: Vec<u8> = dispatch.push.iter().flat_map(|w| w.to_ne_bytes()).collect();
        // SAFETY: as promised by the caller; the command buffer is complete when it is submitted, and waited for.
        unsafe {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let buffer = self.raw.allocate_command_buffers(&info).expect("command buffer")[0];
            self.raw.begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default()).expect("begin");
            self.raw.cmd_bind_pipeline(buffer, vk::PipelineBindPoint::COMPUTE, kernel.pipeline);
            let bind = vk::PipelineBindPoint::COMPUTE;
            self.raw.cmd_bind_descriptor_sets(buffer, bind, kernel.layout, 0, &[set], &[]);
            self.raw.cmd_push_constants(buffer, kernel.layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            self.raw.cmd_dispatch(buffer, dispatch.groups, 1, 1);
            self.raw.end_command_buffer(buffer).expect("end");
            let buffers = [buffer];
            let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
            self.raw.queue_submit(self.queue, &submit, vk::Fence::null()).expect("submit");
            self.raw.queue_wait_idle(self.queue).expect("wait");
        }
    }
}

// SAFETY: the handles may be used from any thread as long as only one does at a time, which the mutex around the device
// sees to.
unsafe impl Send for Device {}
