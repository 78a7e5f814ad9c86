//! Cameras that divide by depth because of their transformation (`Perspective` before `WorldBegin`), not by Projection.

use super::motion::divides_by_depth;
use crate::scene::{Motion, Projection};
use glam::{DMat4, DVec4};

/// Of products of matrices, as a part of their rows.
const ROUNDING: f64 = 1e-9;

/// Takes a camera's transformation apart, if it divides by depth: a transformation that does not, and the perspective
/// with which it gives the same picture. What moves in the perspective becomes motion of the transformation. `None` if
/// the transformation does not divide, or not at every time.
pub(crate) fn apart(camera_from_world: &Motion<DMat4>) -> Option<(Motion<DMat4>, Projection)> {
    let keyframes = camera_from_world.keyframes();
    if !keyframes.iter().all(|(_, matrix)| divides_by_depth(matrix)) {
        return None;
    }
    // The screen has x / w. With a perspective that is x / (z tan), so w becomes z tan, and what is left of x, if it is
    // longer than z, is zoom.
    let first = DepthDivision::of(camera_from_world.first());
    let tan = first.tan / first.zoom;
    let without = |matrix: &DMat4| {
        let (depth, [x, y, w]) = (DepthDivision::of(matrix).tan, [0, 1, 3].map(|row| matrix.row(row)));
        DMat4::from_cols(x * (tan / depth), y * (tan / depth), w / depth, DVec4::W).transpose()
    };
    let keyframes = keyframes.iter().map(|(time, matrix)| (*time, without(matrix))).collect();
    let fov_degrees = 2.0 * tan.atan().to_degrees();
    let is_whole = fov_degrees > 0.0 && fov_degrees < 180.0;
    Motion::new(keyframes).filter(|_| is_whole).map(|camera| (camera, Projection::Perspective { fov_degrees }))
}

/// How a matrix divides: by the depth times `tan`, and how much larger it makes things besides.
struct DepthDivision {
    tan: f64,
    zoom: f64,
}

impl DepthDivision {
    /// `Perspective` makes z' = tan (z - 1) and w' = tan z, so their difference is tan everywhere. Of other matrices it
    /// cannot be told from what the camera's space is scaled by, so they have no zoom.
    fn of(matrix: &DMat4) -> Self {
        let [x, z, w] = [0, 2, 3].map(|row| matrix.row(row));
        let (difference, long) = (w - z, w.truncate().length());
        if difference.truncate().length() <= ROUNDING * long && difference.w > 0.0 {
            let tan = difference.w;
            return Self { tan, zoom: x.truncate().length() * tan / long };
        }
        Self { tan: long / x.truncate().length(), zoom: 1.0 }
    }
}
