//! Cameras that divide by depth because of their transformation (`Perspective` before `WorldBegin`), not by Projection.

use super::transforms::divides_by_depth;
use crate::scene::{Motion, Projection};
use glam::{DMat4, DVec4};

/// Takes a camera's transformation apart, if it divides by depth: a transformation that does not, and the perspective
/// with which it gives the same picture. What moves in the perspective becomes motion of the transformation. `None` if
/// the transformation does not divide, or not at every time.
pub(super) fn apart(camera_from_world: &Motion<DMat4>) -> Option<(Motion<DMat4>, Projection)> {
    let keys = camera_from_world.keys();
    if !keys.iter().all(|(_, matrix)| divides_by_depth(matrix)) {
        return None;
    }
    // The screen has x / w. With a perspective that is x / (z tan), so w becomes z tan: of the first key everywhere.
    let tan = |matrix: &DMat4| matrix.row(3).truncate().length() / matrix.row(0).truncate().length();
    let first = tan(camera_from_world.first());
    let without = |matrix: &DMat4| {
        let (zoom, [x, y, w]) = (first / tan(matrix), [0, 1, 3].map(|row| matrix.row(row)));
        DMat4::from_cols(x * zoom, y * zoom, w / tan(matrix), DVec4::W).transpose()
    };
    let keys = keys.iter().map(|(time, matrix)| (*time, without(matrix))).collect();
    let fov_degrees = 2.0 * first.atan().to_degrees();
    let is_whole = fov_degrees > 0.0 && fov_degrees < 180.0;
    Motion::new(keys).filter(|_| is_whole).map(|camera| (camera, Projection::Perspective { fov_degrees }))
}
