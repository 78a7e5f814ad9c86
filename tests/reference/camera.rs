//! Projection to raster space in double precision (RISpec 4.1.1).

use anthill::scene::{Camera, Projection};
use glam::{DVec2, DVec3};

/// Raster position of a camera-space point, in pixels, y down. Perspective divides by the distance along the axis.
pub(crate) fn raster(camera: &Camera, p: DVec3) -> DVec2 {
    let screen = match camera.projection {
        Projection::Perspective { fov_degrees } => p.truncate() / p.z / (fov_degrees.to_radians() / 2.0).tan(),
        Projection::Orthographic => p.truncate(),
    };
    let [left, right, bottom, top] = camera.screen_window;
    let [width, height] = camera.resolution.map(f64::from);
    DVec2::new((screen.x - left) / (right - left) * width, (top - screen.y) / (top - bottom) * height)
}

/// Whether a point is between the clipping planes and can be projected.
pub(crate) fn in_depth(camera: &Camera, p: DVec3) -> bool {
    let [near, far] = camera.clip.map(f64::from);
    p.z > near && p.z < far
}

#[test]
fn the_axis_is_in_the_middle_and_y_runs_down() {
    let camera = crate::kernels::scene::camera([200, 100], true);
    assert_eq!(raster(&camera, DVec3::new(0.0, 0.0, 3.0)), DVec2::new(100.0, 50.0));
    let edge = raster(&camera, DVec3::new(0.0, 22.5_f64.to_radians().tan() * 2.0, 2.0));
    assert!((edge - DVec2::new(100.0, 0.0)).length() < 1e-9, "{edge}");
}
