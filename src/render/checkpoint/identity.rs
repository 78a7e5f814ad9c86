//! Hashes of what pixels depend on: a checkpoint is only valid for the program, the devices and the world that it was
//! made from.

use crate::film::PixelLayout;
use crate::gpu::DeviceInfo;
use crate::pipeline::kernels;
use crate::pipeline::recording::hash;
use crate::render::device::picture::{Picture, WorldImager};
use crate::scene::{Display, World};
use std::fmt::Debug;

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
pub(crate) fn of_world(world: &World, picture: &Picture, imager: Option<&WorldImager>, layout: &PixelLayout) -> String {
    let mut hasher = WorldHasher::default();
    let drawn = &picture.world;
    hasher.bytes(bytemuck::bytes_of(&drawn.frame));
    hasher.bytes(bytemuck::cast_slice(&drawn.clip_planes));
    for page in drawn.pages.iter() {
        hasher.bytes(bytemuck::cast_slice(&page.primitives));
        hasher.bytes(bytemuck::cast_slice(&page.data));
    }
    hasher.bytes(bytemuck::cast_slice(&drawn.instances));
    hasher.bytes(bytemuck::cast_slice(&drawn.motion));
    hasher.bytes(bytemuck::cast_slice(&drawn.lens));
    hasher.bytes(bytemuck::cast_slice(&drawn.primvar_bindings));
    hasher.bytes(bytemuck::cast_slice(&drawn.solids.primitives));
    hasher.bytes(bytemuck::cast_slice(&drawn.solids.steps));
    hasher.debug(&(
        &drawn.runs,
        &drawn.hide_sublists,
        &drawn.shade_sublists,
        drawn.interpolation,
        drawn.full,
        &drawn.unbounded,
    ));
    for shading in picture.kernels.iter() {
        shading.passes.iter().for_each(|pass| hasher.bytes(&pass.kernel.digest().to_le_bytes()));
        let channels = (shading.geometry_channels, shading.input_channels, shading.uniform_records);
        hasher.debug(&(channels, shading.output_channels, shading.opacity_channel, &shading.variable_channels));
    }
    hasher.bytes(bytemuck::cast_slice(&picture.params));
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
        hasher.bytes(&imager.kernel.digest().to_le_bytes());
        hasher.bytes(bytemuck::cast_slice(&imager.params));
        hasher.debug(&(imager.block, imager.space_table, imager.input_channels, imager.reads_position));
        hasher.debug(&(imager.colour_channel, imager.opacity_channel));
    }
    let displays = world.options.displays.iter();
    let displays = displays.map(|display| Display { location: Default::default(), ..display.clone() });
    hasher.debug(&(&world.camera, world.options.frame, layout, displays.collect::<Vec<_>>()));
    hasher.finish()
}

/// Hashes values in order. Each is hashed by itself, so that it matters where one ends.
#[derive(Default)]
struct WorldHasher {
    hashes: Vec<[u8; 16]>,
}

impl WorldHasher {
    fn bytes(&mut self, bytes: &[u8]) {
        self.hashes.push(hash([bytes]).to_le_bytes());
    }

    /// Small data; floats are written so that they can be read back exactly.
    fn debug(&mut self, value: &dyn Debug) {
        self.bytes(format!("{value:?}").as_bytes());
    }

    fn finish(self) -> String {
        format!("{:032x}", hash([self.hashes.as_flattened()]))
    }
}
