//! One micropolygon: four corners, rounded once to 1/1024 pixel, as two triangles; a plane for its depth.

use super::sampling::PIXEL_PARTS;
use anthill::pipeline::kernels::constants::{DEPTH_MAX, FRAME_PERSPECTIVE, RASTER_MAX};
use anthill::pipeline::kernels::records::Frame;

/// A micropolygon in raster space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Micropolygon {
    /// Corners (i, j), (i+1, j), (i, j+1), (i+1, j+1) in 1/1024 pixel.
    pub corners: [[i64; 2]; 4],
    /// Nearest and farthest depth of the corners.
    pub z: [f32; 2],
    plane: [f32; 3],
    perspective: bool,
    /// Whether the screen window mirrors the picture, so that front sides turn the other way in raster space.
    mirrored: bool,
}

impl Micropolygon {
    /// Projects camera-space corners; none when one of them is not in front of the eye, or all of them are beyond a
    /// clipping plane.
    pub(crate) fn new(frame: &Frame, corners: [[f32; 3]; 4]) -> Option<Self> {
        Self::through_lens(frame, corners, [0.0; 2])
    }

    /// The same, seen from a point of the lens.
    pub(crate) fn through_lens(frame: &Frame, corners: [[f32; 3]; 4], lens: [f32; 2]) -> Option<Self> {
        let depths = corners.map(|p| p[2]);
        let beyond = depths.iter().all(|z| *z < frame.near) || depths.iter().all(|z| *z > frame.far);
        if beyond || !depths.iter().all(|z| *z >= frame.eye_z && *z <= DEPTH_MAX) {
            return None;
        }
        let perspective = frame.flags & FRAME_PERSPECTIVE != 0;
        let rounded = corners.map(|p| project(frame, p, perspective, lens));
        let z = [depths.into_iter().fold(f32::INFINITY, f32::min), depths.into_iter().fold(0.0, f32::max)];
        let plane = plane(&rounded, depths.map(|z| if perspective { 1.0 / z } else { z }));
        let [right, down] = frame.raster_scale.map(|scale| scale < 0.0);
        Some(Self { corners: rounded, z, plane, perspective, mirrored: right == down })
    }

    /// The corner of its box that depth is measured from.
    pub(crate) fn low(&self) -> [i64; 2] {
        [0, 1].map(|axis| self.corners.iter().map(|p| p[axis]).min().unwrap_or(0))
    }

    /// Whether it faces the eye: dP/du x dP/dv points at it, so u to the right and v down in a picture that is not
    /// mirrored.
    pub(crate) fn faces_eye(&self) -> bool {
        let [a, b, c, d] = self.corners.map(|p| p.map(|x| x as f64));
        let (e1, e2) = ([d[0] - a[0], d[1] - a[1]], [c[0] - b[0], c[1] - b[1]]);
        (e1[0] * e2[1] - e1[1] * e2[0] > 0.0) != self.mirrored
    }

    /// Whether it covers a point, in 1/1024 pixel.
    pub(crate) fn covers(&self, at: [i64; 2]) -> bool {
        let [a, b, c, d] = self.corners;
        triangle_covers([a, b, d], at) || triangle_covers([a, d, c], at)
    }

    /// Depth at a point: f0 + fx x + fy y from an origin, where f is z, or 1/z in perspective; never outside the
    /// corners' depths.
    fn depth_from(&self, f0: f32, [x, y]: [i64; 2]) -> f32 {
        let [_, fx, fy] = self.plane;
        let f = f0 + (fx * x as f32 + fy * y as f32);
        let z = if self.perspective { 1.0 / f } else { f };
        if z > self.z[0] { z.min(self.z[1]) } else { self.z[0] }
    }

    /// Depth at a point, measured from the corner of the micropolygon's box: the hider's.
    pub(crate) fn depth(&self, at: [i64; 2]) -> f32 {
        let low = self.low();
        self.depth_from(self.plane[0], [at[0] - low[0], at[1] - low[1]])
    }

    /// Depth at a point, measured from a pixel's corner: that of translucent entries.
    pub(crate) fn depth_in_pixel(&self, pixel: [i32; 2], at: [i64; 2]) -> f32 {
        let corner = pixel.map(|x| i64::from(x) * PIXEL_PARTS);
        let low = self.low();
        let [f0, fx, fy] = self.plane;
        let f0 = f0 + (fx * (corner[0] - low[0]) as f32 + fy * (corner[1] - low[1]) as f32);
        self.depth_from(f0, [at[0] - corner[0], at[1] - corner[1]])
    }
}

/// The one rounding of raster positions, in single precision as the kernel's.
fn project(frame: &Frame, [x, y, z]: [f32; 3], perspective: bool, lens: [f32; 2]) -> [i64; 2] {
    let inverse = 1.0 / z;
    let plane = if perspective { [x * inverse, y * inverse] } else { [x, y] };
    [0, 1].map(|axis| {
        let r = plane[axis] * frame.raster_scale[axis] + frame.raster_offset[axis];
        let displaced = lens[axis] * (frame.lens_far[axis] - frame.lens_near[axis] * inverse);
        let r = if lens == [0.0; 2] { r } else { r + displaced };
        (r.clamp(-RASTER_MAX, RASTER_MAX) + 0.5).floor() as i64
    })
}

/// The plane through the centre of the corners and parallel to both diagonals, relative to the corner of the box; flat
/// on where it would stand on edge.
fn plane(corners: &[[i64; 2]; 4], f: [f32; 4]) -> [f32; 3] {
    let low = [0, 1].map(|axis| corners.iter().map(|p| p[axis]).min().unwrap_or(0));
    let [a, b, c, d] = corners;
    let vector = |p: &[i64; 2], q: &[i64; 2]| [(q[0] - p[0]) as f32, (q[1] - p[1]) as f32];
    let (e1, e2) = (vector(a, d), vector(b, c));
    let (d1, d2) = (f[3] - f[0], f[2] - f[1]);
    let area = e1[0] * e2[1] - e1[1] * e2[0];
    let steep = area.abs() < 1.0;
    let fx = if steep { 0.0 } else { (d1 * e2[1] - d2 * e1[1]) / area };
    let fy = if steep { 0.0 } else { (d2 * e1[0] - d1 * e2[0]) / area };
    let middle = [0, 1].map(|axis| 0.25 * corners.iter().map(|p| p[axis] - low[axis]).sum::<i64>() as f32);
    let centre = 0.25 * ((f[0] + f[3]) + (f[1] + f[2]));
    [centre - (fx * middle[0] + fy * middle[1]), fx, fy]
}

/// Whether a triangle covers a point by the top-left rule: whether it holds the point moved to the right by very
/// little, and down by very much less. No point is then on an edge.
fn triangle_covers(triangle: [[i64; 2]; 3], [x, y]: [i64; 2]) -> bool {
    // Differences stay below 2^29: in units of 2^-62, a move by 2^30 to the right outweighs one by 1 down.
    const UNIT: i128 = 1 << 62;
    const RIGHT: i128 = 1 << 30;
    let side = |p: [i64; 2], q: [i64; 2]| {
        let [dx, dy] = [q[0] - p[0], q[1] - p[1]].map(i128::from);
        dx * (i128::from(y - p[1]) * UNIT + 1) - dy * (i128::from(x - p[0]) * UNIT + RIGHT)
    };
    let [p, q, r] = triangle;
    let sides = [side(p, q), side(q, r), side(r, p)];
    sides.iter().all(|s| *s > 0) || sides.iter().all(|s| *s < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_and_left_edges_belong_to_a_triangle() {
        let square =
            |at| triangle_covers([[0, 0], [8, 0], [8, 8]], at) || triangle_covers([[0, 0], [8, 8], [0, 8]], at);
        assert!(square([0, 0]) && square([7, 0]) && square([0, 7]) && square([4, 4]));
        assert!(!square([8, 0]) && !square([0, 8]) && !square([8, 8]) && !square([-1, 4]));
        let both = |at| triangle_covers([[0, 0], [8, 0], [8, 8]], at) && triangle_covers([[0, 0], [8, 8], [0, 8]], at);
        assert!((0..8).all(|i| !both([i, i])), "the diagonal belongs to one");
        assert!(!triangle_covers([[0, 0], [4, 4], [8, 8]], [4, 4]), "no area");
    }
}
