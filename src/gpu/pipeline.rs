//! Making Vulkan's compute pipelines and their layouts.

use super::error::GpuError;
use super::shared::DeviceShared;
use super::specialise::specialised;
use crate::pipeline::recording::{BindingForm, DRIVER_THREADS_ID, Kernel};
use ash::vk;
use std::sync::Arc;

/// A compiled kernel.
#[derive(Clone, Copy)]
pub(super) struct ComputePipeline {
    pub(super) raw: vk::Pipeline,
    pub(super) layout: KernelLayout,
}

/// The forms of a kernel's bindings in order.
pub(super) type BindingForms = Arc<[BindingForm]>;

/// Returns the forms of what a kernel binds.
pub(super) fn binding_forms(kernel: &Kernel) -> BindingForms {
    kernel.bindings().iter().map(|binding| binding.form).collect()
}

/// Returns what Vulkan calls a form of bindings.
pub(super) fn descriptor_type(form: BindingForm) -> vk::DescriptorType {
    match form {
        BindingForm::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BindingForm::Records | BindingForm::Words => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
    }
}

/// The layout of what is bound: kernels with equal forms of bindings share descriptor sets.
#[derive(Clone, Copy)]
pub(super) struct KernelLayout {
    pub(super) set: vk::DescriptorSetLayout,
    pub(super) pipeline: vk::PipelineLayout,
}

/// Returns the layout of descriptor sets of bindings of these forms.
pub(super) fn make_set_layout(
    shared: &DeviceShared,
    forms: &[BindingForm],
) -> Result<vk::DescriptorSetLayout, GpuError> {
    let binding = |(number, form): (usize, &BindingForm)| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number as u32)
            .descriptor_type(descriptor_type(*form))
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings: Vec<_> = forms.iter().enumerate().map(binding).collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: this runs in a compile job, for which the device waits before it is destroyed; the bindings are numbered
    // from 0, each once, and `bindings` outlives the call.
    let made = unsafe { shared.raw.create_descriptor_set_layout(&info, None) };
    let set = shared.check("making a descriptor set layout", made)?;
    shared.name(set, &format!("{} buffers", forms.len()));
    Ok(set)
}

/// Creates the layout of kernels with these sets and `push_bytes` bytes of push constants.
pub(super) fn make_layout(
    shared: &DeviceShared,
    set: vk::DescriptorSetLayout,
    push_bytes: u32,
) -> Result<KernelLayout, GpuError> {
    let sets = [set];
    let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_bytes)];
    let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
    if push_bytes > 0 {
        info = info.push_constant_ranges(&push);
    }
    // SAFETY: this runs in a compile job, for which the device waits before it is destroyed; callers made `set` with
    // `make_set_layout` of the same device; `sets` and `push` outlive the call.
    let made = unsafe { shared.raw.create_pipeline_layout(&info, None) };
    let pipeline = shared.check("making a pipeline layout", made)?;
    shared.name(pipeline, &format!("{push_bytes} bytes"));
    Ok(KernelLayout { set, pipeline })
}

/// Makes a kernel's pipeline with these values of its constants, and gives what the driver wants to be kept of it.
/// `known` is what it wanted to be kept the last time, or empty.
pub(super) fn make_pipeline(
    shared: &DeviceShared,
    kernel: &Kernel,
    constants: &[u32],
    layout: KernelLayout,
    known: &[u8],
) -> Result<(ComputePipeline, Vec<u8>), GpuError> {
    let raw = &shared.raw;
    let doing = format!("compiling kernel {}", kernel.label());
    let words = shared.as_gpu.words(kernel.words());
    let words = specialised(&words, values(shared, constants));
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the module is valid SPIR-V: tests run spirv-val on the kernels of the build and on the output of the
    // shader compiler. `Kernels::check_usable` has found its capabilities enabled on this device.
    let module = shared.check(&doing, unsafe { raw.create_shader_module(&info, None) })?;
    shared.name(module, kernel.label());
    let info = vk::PipelineCacheCreateInfo::default().initial_data(known);
    // SAFETY: `known` is empty or what this model and version of driver returned for this kernel: both are in the
    // cache's key, and `Cache::load` verified the checksum of what it read from disk.
    let cache = shared.check("making a pipeline cache", unsafe { raw.create_pipeline_cache(&info, None) });
    let made = cache.and_then(|cache| {
        let pipeline = create(shared, module, cache, layout, constants);
        // SAFETY: the cache was created above, and no other thread has its handle.
        let data = unsafe { raw.get_pipeline_cache_data(cache) }.unwrap_or_default();
        // SAFETY: the cache was created above and is destroyed here only; a pipeline does not refer to it once it is
        // created.
        unsafe { raw.destroy_pipeline_cache(cache, None) };
        Ok((shared.check(&doing, pipeline)?, data))
    });
    // SAFETY: the module was created above and is destroyed here only; a pipeline does not refer to it once it is
    // created.
    unsafe { raw.destroy_shader_module(module, None) };
    let (pipeline, data) = made?;
    shared.name(pipeline, kernel.label());
    Ok((ComputePipeline { raw: pipeline, layout }, data))
}

fn create(
    shared: &DeviceShared,
    module: vk::ShaderModule,
    cache: vk::PipelineCache,
    layout: KernelLayout,
    constants: &[u32],
) -> Result<vk::Pipeline, vk::Result> {
    let data: Vec<u8> = values(shared, constants).flat_map(|(_, value)| value.to_le_bytes()).collect();
    let entry = |(at, (id, _)): (u32, _)| vk::SpecializationMapEntry::default().constant_id(id).offset(4 * at).size(4);
    let entries: Vec<_> = (0..).zip(values(shared, constants)).map(entry).collect();
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main")
        .specialization_info(&specialization);
    let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.pipeline);
    // SAFETY: `make_pipeline`, the only caller, created module and cache from this device, and its callers the layout;
    // `specialization`, `entries` and `data`, to which `info` points, outlive the call, and the entries are inside the
    // data.
    let made = unsafe { shared.raw.create_compute_pipelines(cache, &[info], None) };
    made.map(|pipelines| pipelines[0]).map_err(|(_, code)| code)
}

/// The specialisation constants of a kernel: ids and values.
fn values(shared: &DeviceShared, constants: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    (0..).zip(constants.iter().copied()).chain([(DRIVER_THREADS_ID, shared.driver_threads)])
}
