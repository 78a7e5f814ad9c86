//! Hashes of what pixels depend on: a checkpoint is only valid for the program, the devices and the world that it was
//! made from.

use crate::film::PixelLayout;
use crate::gpu::DeviceInfo;
use crate::pipeline::kernels;
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::recording::hash;
use crate::render::device::picture::{Picture, WorldImager};
use crate::scene::{ContentHasher, Display, World};

/// Returns the identity of the program: its version and its kernels.
pub(super) fn of_renderer() -> String {
    let digests: Vec<[u8; 16]> = kernels::all().into_iter().map(|kernel| kernel.digest().to_le_bytes()).collect();
    format!("{} {:032x}", env!("CARGO_PKG_VERSION"), hash([digests.as_flattened()]))
}

/// Returns the models and drivers of devices, each once, sorted so that the order in which the user named them does not
/// matter.
pub(super) fn of_devices<'a>(devices: impl Iterator<Item = &'a DeviceInfo>) -> Vec<String> {
    let name = |info: &DeviceInfo| {
        let DeviceInfo { name, driver, driver_info, vendor_id, device_id, driver_version, .. } = info;
        format!("{name} {vendor_id:04x}-{device_id:04x}, {driver} {driver_info} {driver_version:08x}")
    };
    let mut names: Vec<String> = devices.map(name).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the identity of a world: everything that devices are given for it (geometry, camera, compiled shaders and
/// their parameters, whatever files they came from), and everything that the film does with their results. Locations in
/// files do not matter.
pub(super) fn of_world(world: &World, picture: &Picture, imager: Option<&WorldImager>, layout: &PixelLayout) -> String {
    let mut hasher = ContentHasher::default();
    let drawn = &picture.world;
    hasher.list(bytemuck::bytes_of(&drawn.frame));
    hasher.list(&drawn.clip_planes);
    for page in drawn.pages.iter() {
        hasher.list(&page.primitives);
        hasher.list(&page.data);
    }
    hasher.list(&drawn.instances);
    hasher.list(&drawn.motion);
    hasher.list(&drawn.lens);
    hasher.list(&drawn.primvar_bindings);
    hasher.list(&drawn.solids.primitives);
    hasher.list(&drawn.solids.steps);
    hasher.debug(&(
        &drawn.runs,
        &drawn.hide_sublists,
        &drawn.shade_sublists,
        drawn.interpolation,
        drawn.full,
        &drawn.unbounded,
    ));
    add_programs(&mut hasher, &picture.kernels, &picture.params);
    hasher.debug(&(
        picture.space_table,
        &picture.filtered,
        &picture.depth_filter,
        picture.variables,
        picture.composition,
    ));
    hasher.debug(&picture.deep);
    hasher.debug(&picture.textures.identities());
    if let Some(WorldImager { program: imager, textures, .. }) = imager {
        hasher.debug(&textures.identities());
        hasher.value(&imager.kernel.digest());
        hasher.list(&imager.params);
        hasher.debug(&(imager.block, imager.space_table, imager.input_channels, imager.reads_position));
        hasher.debug(&(imager.colour_channel, imager.opacity_channel));
    }
    let displays = world.options.displays.iter();
    let displays = displays.map(|display| Display { location: Default::default(), ..display.clone() });
    hasher.debug(&(&world.camera, world.options.frame, layout, displays.collect::<Vec<_>>()));
    format!("{:032x}", hasher.finish())
}

/// Adds the compiled shaders of a world and their parameters.
pub(crate) fn add_programs(hasher: &mut ContentHasher, kernels: &[ShadingKernel], params: &[[f32; 4]]) {
    for shading in kernels {
        shading.passes.iter().for_each(|pass| hasher.value(&pass.kernel.digest()));
        let channels = (shading.geometry_channels, shading.input_channels, shading.uniform_records);
        hasher.debug(&(channels, shading.output_channels, shading.opacity_channel, &shading.variable_channels));
    }
    hasher.list(params);
}
