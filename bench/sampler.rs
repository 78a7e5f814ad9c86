//! Measures what a device's own sampler takes for plain trilinear lookups of a texture with all its levels. They are as
//! many, of as large footprints, as those of `textures`, to compare both.
//!
//! `cargo bench --bench sampler` uses the device of the number in `ANTHILL_DEVICE` (default: 0), as Vulkan counts them.
//! Each point looks up 64 times; `nothing` is the same loop without a lookup. The numbers are times by the
//! device's clock.

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::env;
use std::time::Duration;

/// Points that look up, and lookups of each.
const POINTS: u32 = 32_768;
const LOOKUPS: u32 = 64;

/// Texels of the texture along each side, and its levels.
const SIDE: u32 = 1024;
const LEVELS: u32 = SIDE.ilog2() + 1;

/// What is measured: name, and what is added for the place `at`.
const CASES: [(&str, &str); 2] = [
    ("nothing", "vec3(at, 0.0)"),
    ("trilinear", "textureGrad(map, at, vec2(1.5 / 1024.0, 0.0), vec2(0.0, 1.5 / 1024.0)).rgb"),
];

const BINDINGS: [vk::DescriptorType; 2] =
    [vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::DescriptorType::STORAGE_BUFFER];

/// A device with a texture and a place for results. All of it ends with the process.
struct Bench {
    device: ash::Device,
    memory: vk::PhysicalDeviceMemoryProperties,
    ns_per_tick: f64,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    stamps: vk::QueryPool,
    layout: vk::DescriptorSetLayout,
    set: vk::DescriptorSet,
}

impl Bench {
    fn open() -> Result<Self, vk::Result> {
        let number: usize =
            env::var("ANTHILL_DEVICE").map_or(0, |text| text.parse().expect("ANTHILL_DEVICE is a number"));
        // SAFETY: all handles are valid, since nothing is destroyed; the entry lives as long as the process.
        unsafe {
            let entry = Box::leak(Box::new(ash::Entry::load().expect("a Vulkan loader")));
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let instance =
                entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&application), None)?;
            let devices = instance.enumerate_physical_devices()?;
            let physical = *devices.get(number).expect("a device of the number in ANTHILL_DEVICE");
            let families = instance.get_physical_device_queue_family_properties(physical);
            let can_compute = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
            let family = families.iter().position(can_compute).expect("a queue that computes") as u32;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let device =
                instance.create_device(physical, &vk::DeviceCreateInfo::default().queue_create_infos(&queues), None)?;
            let pool = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = device.create_command_pool(&pool, None)?;
            let commands = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let stamps = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            let places = [0, 1].map(|place| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(place)
                    .descriptor_type(BINDINGS[place as usize])
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            });
            let layout = vk::DescriptorSetLayoutCreateInfo::default().bindings(&places);
            let layout = device.create_descriptor_set_layout(&layout, None)?;
            let sizes = BINDINGS.map(|kind| vk::DescriptorPoolSize { ty: kind, descriptor_count: 1 });
            let sets = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let sets = device.create_descriptor_pool(&sets, None)?;
            let layouts = [layout];
            let set = vk::DescriptorSetAllocateInfo::default().descriptor_pool(sets).set_layouts(&layouts);
            Ok(Self {
                memory: instance.get_physical_device_memory_properties(physical),
                ns_per_tick: f64::from(instance.get_physical_device_properties(physical).limits.timestamp_period),
                queue: device.get_device_queue(family, 0),
                commands: device.allocate_command_buffers(&commands)?[0],
                stamps: device.create_query_pool(&stamps, None)?,
                set: device.allocate_descriptor_sets(&set)?[0],
                layout,
                device,
            })
        }
    }

    /// Memory of a kind.
    fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        flags: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory, vk::Result> {
        let is_right = |&(index, kind): &(u32, vk::MemoryType)| {
            needs.memory_type_bits >> index & 1 == 1 && kind.property_flags.contains(flags)
        };
        let (index, _) = (0..).zip(self.memory.memory_types).find(is_right).expect("memory of this kind");
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        // SAFETY: the device is valid.
        unsafe { self.device.allocate_memory(&info, None) }
    }

    /// A buffer, and where the host sees it.
    fn buffer(&self, bytes: u64, usage: vk::BufferUsageFlags) -> Result<(vk::Buffer, *mut u8), vk::Result> {
        // SAFETY: the device is valid; the memory is bound once, is large enough, and stays mapped.
        unsafe {
            let buffer = self.device.create_buffer(&vk::BufferCreateInfo::default().size(bytes).usage(usage), None)?;
            let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let memory = self.allocate(self.device.get_buffer_memory_requirements(buffer), seen)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            let mapped = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            Ok((buffer, mapped.cast()))
        }
    }

    /// Records commands, runs them, and waits. Returns the seconds between their begin and their end.
    fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<Duration, vk::Result> {
        let mut stamps = [0_u64; 2];
        // SAFETY: the commands are not in use: each run waits for its end. Queries are reset before they are written.
        unsafe {
            let begin = vk::CommandBufferBeginInfo::default();
            self.device.begin_command_buffer(self.commands, &begin)?;
            self.device.cmd_reset_query_pool(self.commands, self.stamps, 0, 2);
            self.device.cmd_write_timestamp(self.commands, vk::PipelineStageFlags::TOP_OF_PIPE, self.stamps, 0);
            record(self.commands);
            self.device.cmd_write_timestamp(self.commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, self.stamps, 1);
            self.device.end_command_buffer(self.commands)?;
            let commands = [self.commands];
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            self.device.queue_submit(self.queue, &submit, vk::Fence::null())?;
            self.device.queue_wait_idle(self.queue)?;
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            self.device.get_query_pool_results(self.stamps, 0, &mut stamps, flags)?;
        }
        Ok(Duration::from_nanos(((stamps[1] - stamps[0]) as f64 * self.ns_per_tick) as u64))
    }

    /// Puts a texture of noise and a place for results into the set.
    fn bind(&self) -> Result<(), vk::Result> {
        let bytes = u64::from(4 * SIDE * SIDE);
        let (noise, mapped) = self.buffer(bytes, vk::BufferUsageFlags::TRANSFER_SRC)?;
        let (results, _) = self.buffer(u64::from(16 * POINTS), vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
            .mip_levels(LEVELS)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        let sampler = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE);
        // SAFETY: the memory of the noise has as many bytes; handles are valid; nothing of it is in use yet.
        unsafe {
            (0..bytes as usize)
                .for_each(|at| mapped.add(at).write((at as u32).wrapping_mul(2_654_435_761).to_le_bytes()[3]));
            let image = self.device.create_image(&info, None)?;
            let memory =
                self.allocate(self.device.get_image_memory_requirements(image), vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            self.device.bind_image_memory(image, memory, 0)?;
            self.run(|commands| self.fill(commands, image, noise))?;
            let view = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(vk::Format::R8G8B8A8_UNORM)
                .subresource_range(all_levels());
            let images = [vk::DescriptorImageInfo {
                sampler: self.device.create_sampler(&sampler, None)?,
                image_view: self.device.create_image_view(&view, None)?,
                image_layout: vk::ImageLayout::GENERAL,
            }];
            let buffers = [vk::DescriptorBufferInfo { buffer: results, offset: 0, range: vk::WHOLE_SIZE }];
            let write = |place: u32| {
                let write = vk::WriteDescriptorSet::default().dst_set(self.set).dst_binding(place);
                write.descriptor_count(1).descriptor_type(BINDINGS[place as usize])
            };
            self.device.update_descriptor_sets(&[write(0).image_info(&images), write(1).buffer_info(&buffers)], &[]);
        }
        Ok(())
    }

    /// Records copies of noise into all levels.
    fn fill(&self, commands: vk::CommandBuffer, image: vk::Image, noise: vk::Buffer) {
        let barrier = vk::ImageMemoryBarrier::default()
            .image(image)
            .new_layout(vk::ImageLayout::GENERAL)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .subresource_range(all_levels());
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let copy = |level: u32| {
            let extent = vk::Extent3D { width: SIDE >> level, height: SIDE >> level, depth: 1 };
            vk::BufferImageCopy::default().image_subresource(layers.mip_level(level)).image_extent(extent)
        };
        let copies: Vec<_> = (0..LEVELS).map(copy).collect();
        let (from, to) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
        // SAFETY: commands are being recorded; the noise is as large as the largest level.
        unsafe {
            self.device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[], &[], &[barrier]);
            self.device.cmd_copy_buffer_to_image(commands, noise, image, vk::ImageLayout::GENERAL, &copies);
            let written = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::SHADER_READ);
            let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::COMPUTE_SHADER);
            self.device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[written], &[], &[]);
        }
    }

    /// A pipeline that adds up values.
    fn pipeline(&self, value: &str) -> Result<(vk::Pipeline, vk::PipelineLayout), vk::Result> {
        let source = format!(
            "#version 450\nlayout(local_size_x = 64) in;\n\
             layout(set = 0, binding = 0) uniform sampler2D map;\n\
             layout(set = 0, binding = 1) buffer Results {{ vec4 results[]; }};\n\
             void main() {{\n\
               uint point = gl_GlobalInvocationID.x;\n\
               vec2 begin = vec2(point % 256u, point / 256u) / 256.0;\n\
               vec3 sum = vec3(0.0);\n\
               for (int i = 0; i < {LOOKUPS}; i++) {{ vec2 at = begin + float(i) * vec2(0.013, 0.007); sum += {value}; }}\n\
               results[point] = vec4(sum, 1.0);\n\
             }}"
        );
        let compiler = shaderc::Compiler::new().expect("the GLSL compiler");
        let code = compiler.compile_into_spirv(&source, shaderc::ShaderKind::Compute, "look", "main", None);
        let code = code.expect("the kernel is valid");
        let layouts = [self.layout];
        // SAFETY: the code is SPIR-V; the layout is valid.
        unsafe {
            let layout = self
                .device
                .create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts), None)?;
            let module = self
                .device
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(code.as_binary()), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            Ok((made.map_err(|(_, error)| error)?[0], layout))
        }
    }

    /// The time of all points.
    fn measure(&self, (pipeline, layout): (vk::Pipeline, vk::PipelineLayout)) -> Result<Duration, vk::Result> {
        // SAFETY: commands are being recorded; the set fits the layout.
        self.run(|commands| unsafe {
            let compute = vk::PipelineBindPoint::COMPUTE;
            self.device.cmd_bind_pipeline(commands, compute, pipeline);
            self.device.cmd_bind_descriptor_sets(commands, compute, layout, 0, &[self.set], &[]);
            self.device.cmd_dispatch(commands, POINTS / 64, 1, 1);
        })
    }
}

fn all_levels() -> vk::ImageSubresourceRange {
    let levels = vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR);
    levels.level_count(LEVELS).layer_count(1)
}

fn sampler(c: &mut Criterion) {
    let bench = Bench::open().expect("a device can be opened");
    bench.bind().expect("memory");
    let mut group = c.benchmark_group("sampler");
    group.sample_size(10).warm_up_time(Duration::from_millis(1));
    group.throughput(Throughput::Elements(u64::from(POINTS * LOOKUPS)));
    for (name, value) in CASES {
        let pipeline = bench.pipeline(value).expect("a pipeline can be made");
        group.bench_function(name, |b| {
            b.iter_custom(|times| (0..times).map(|_| bench.measure(pipeline).expect("it runs")).sum());
        });
    }
    group.finish();
}

criterion_group!(benches, sampler);
criterion_main!(benches);
