//! Coordinate systems by name, as shaders see them, relative to camera space.

use crate::diagnostic::{Reporter, SourceLocation};
use crate::pipeline::frame;
use crate::scene::{NamedSpace, World};
use glam::{DMat4, DVec3};

/// The spaces that only a shader itself knows: "shader", "object", and scoped coordinate systems.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalSpaces<'a> {
    pub camera_from_shader: DMat4,
    pub camera_from_object: DMat4,
    pub scoped: &'a [NamedSpace],
}

/// Returns camera space from a named space; `None` for an unknown name.
pub(super) fn camera_from(world: &World, local: &LocalSpaces<'_>, name: &str) -> Option<DMat4> {
    let camera_from_world = *world.camera.camera_from_world.first();
    if let Some(space) = world.spaces.iter().chain(local.scoped).rev().find(|space| &*space.name == name) {
        return Some(camera_from_world * *space.world_from_space.first());
    }
    Some(match name {
        "camera" | "current" => DMat4::IDENTITY,
        "world" => camera_from_world,
        "shader" => local.camera_from_shader,
        "object" => local.camera_from_object,
        "raster" => frame::raster_from_camera(&world.camera).inverse(),
        "NDC" => raster_from_ndc(world).map(|m| frame::raster_from_camera(&world.camera).inverse() * m)?,
        "screen" => frame::raster_from_camera(&world.camera).inverse() * raster_from_screen(world),
        _ => return None,
    })
}

fn raster_from_ndc(world: &World) -> Option<DMat4> {
    let [width, height] = world.camera.resolution.map(f64::from);
    Some(DMat4::from_scale(DVec3::new(width, height, 1.0)))
}

fn raster_from_screen(world: &World) -> DMat4 {
    let [width, height] = world.camera.resolution.map(f64::from);
    let [left, right, bottom, top] = world.camera.screen_window;
    let scale = DVec3::new(width / (right - left), -height / (top - bottom), 1.0);
    let offset = DVec3::new(-left * scale.x, -top * scale.y, 0.0);
    DMat4::from_translation(offset) * DMat4::from_scale(scale)
}

/// Returns camera space from a named space; an unknown name is reported and means camera space.
pub(super) fn camera_from_or_report(
    world: &World,
    local: &LocalSpaces<'_>,
    name: &str,
    location: &SourceLocation,
    reporter: &Reporter,
) -> DMat4 {
    camera_from(world, local, name).unwrap_or_else(|| {
        let message = format!("there is no coordinate system {name:?}; camera space is used");
        reporter.error("badtoken", location, message);
        DMat4::IDENTITY
    })
}

/// Converts a matrix to the form that kernels take: four records, the columns for column vectors.
pub(super) fn records(matrix: &DMat4) -> [[f32; 4]; 4] {
    matrix.to_cols_array_2d().map(|column| column.map(|x| x as f32))
}
