//! What the camera sees of a world: whether something is in the picture, and how large it is there.

use super::scene::SceneBuilder;
use crate::scene::{Camera, Projection};
use glam::{DMat4, DVec3, DVec4};

/// Pixels around the picture that count as seen, besides half of the filter's width.
const APRON_PX: f64 = 2.0;

/// Coordinates of a bound from here on stand for infinity.
const INFINITE: f64 = 1e30;

impl SceneBuilder<'_> {
    /// Whether anything within `bound`, as Procedural has it in the current coordinates, may be in the picture.
    /// Crop windows do not count, so that a crop equals the whole, but overscan does.
    pub(crate) fn may_be_seen(&self, bound: &[f64; 6]) -> bool {
        let Some(world) = &self.world else { return true };
        if !self.state.detail.is_visible() {
            return false;
        }
        let is_displaced = self.state.attributes.displacement_bound.as_ref().is_some_and(|bound| bound.radius > 0.0);
        // Negated, so that NaN counts as infinite.
        if is_displaced || !bound.iter().all(|side| side.abs() < INFINITE) {
            return true;
        }
        let planes = outer_planes(&world.camera, world.options.widest_filter().width);
        let cameras = world.camera.camera_from_world.keyframes();
        let places = self.state.transform.keyframes();
        // Matrices are linear between their keyframes, so that points stay within what they span.
        let ways = cameras.iter().flat_map(|camera| places.iter().map(|place| camera.1 * place.1));
        let corners: Vec<DVec4> = ways.flat_map(|matrix| corners(bound, matrix)).collect();
        !planes.iter().any(|plane| corners.iter().all(|corner| plane.dot(*corner) > 0.0))
    }

    /// Returns the size of a detail box as the area in pixels of its projection's bounding rectangle; infinite if the
    /// box crosses the eye plane.
    pub(crate) fn detail_size(&self, bounds: &[f64; 6]) -> f64 {
        let Some(world) = &self.world else { return f64::INFINITY };
        let camera = &world.camera;
        let camera_from_object: DMat4 = *camera.camera_from_world.first() * *self.state.transform.first();
        let scale = match camera.projection {
            Projection::Orthographic => None,
            Projection::Perspective { fov_degrees } => Some((fov_degrees.to_radians() / 2.0).tan()),
        };
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for corner in 0..8 {
            let side = |axis: usize| bounds[2 * axis + (corner >> axis & 1)];
            let point = camera_from_object.project_point3(DVec3::new(side(0), side(1), side(2)));
            let depth = scale.map_or(1.0, |scale| point.z * scale);
            if depth <= 0.0 {
                return f64::INFINITY;
            }
            for (axis, value) in [point.x / depth, point.y / depth].into_iter().enumerate() {
                low[axis] = low[axis].min(value);
                high[axis] = high[axis].max(value);
            }
        }
        let [left, right, bottom, top] = camera.screen_window;
        let x_px = (high[0] - low[0]) / (right - left).abs() * f64::from(camera.resolution[0]);
        let y_px = (high[1] - low[1]) / (top - bottom).abs() * f64::from(camera.resolution[1]);
        x_px * y_px * f64::from(self.options.options.relative_detail)
    }
}

/// Iterates over the corners of a box in homogeneous coordinates.
fn corners(bound: &[f64; 6], matrix: DMat4) -> impl Iterator<Item = DVec4> {
    (0..8).map(move |corner| {
        let side = |axis: usize| bound[2 * axis + (corner >> axis & 1)];
        matrix * DVec3::new(side(0), side(1), side(2)).extend(1.0)
    })
}

/// Returns where the picture and its overscan begin and end along an axis of the screen.
fn seen_screen(camera: &Camera, axis: usize) -> (f64, f64) {
    let (low, high) = (camera.screen_window[2 * axis], camera.screen_window[2 * axis + 1]);
    // Raster y goes down.
    let (start, end) = if axis == 0 { (low, high) } else { (high, low) };
    let at = |place: f64| start + (end - start) * place;
    (at(camera.whole_window[2 * axis]), at(camera.whole_window[2 * axis + 1]))
}

/// Planes around what the camera sees: a point of camera space is outside where its product with one is positive.
fn outer_planes(camera: &Camera, filter_width: [f32; 2]) -> Vec<DVec4> {
    let [near, far] = camera.clip.map(f64::from);
    let mut planes =
        vec![DVec4::new(0.0, 0.0, -1.0, near * (1.0 - 1e-6)), DVec4::new(0.0, 0.0, 1.0, -far * (1.0 + 1e-6))];
    // A lens sees around the edges.
    if camera.depth_of_field.is_some() {
        return planes;
    }
    for (axis, width) in filter_width.into_iter().enumerate() {
        let (a, b) = seen_screen(camera, axis);
        let screen_size = camera.screen_window[2 * axis + 1] - camera.screen_window[2 * axis];
        let apron = screen_size.abs() / f64::from(camera.resolution[axis]) * (f64::from(width) / 2.0 + APRON_PX);
        let (low, high) = (a.min(b) - apron, a.max(b) + apron);
        let unit = if axis == 0 { DVec4::X } else { DVec4::Y };
        planes.extend(match camera.projection {
            Projection::Orthographic => [unit - DVec4::W * high, DVec4::W * low - unit],
            Projection::Perspective { fov_degrees } => {
                let depth = DVec4::Z * (fov_degrees.to_radians() / 2.0).tan();
                [unit - depth * high, depth * low - unit]
            }
        });
    }
    planes
}
