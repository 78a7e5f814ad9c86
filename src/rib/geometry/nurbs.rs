//! NURBS surfaces (RISpec 5.2, `NuPatch`), cut into Bezier patches.

use super::batch::{Batch, BatchShape, BezierLayout};
use super::primvars::{ClassCounts, PrimitiveCall};
use super::spline::{NurbsDirection, Spline, SplinePiece};
use crate::rib::state::trim::TrimState;
use crate::scene::Class;

/// The most control points of the patches of one surface: some 500 MB.
const CONTROL_MAX: usize = 1 << 25;

/// A surface: its directions u and v.
struct Surface([Spline; 2]);

impl Surface {
    fn counts(&self) -> ClassCounts {
        let product = |of: &dyn Fn(&Spline) -> usize| self.0.iter().map(|spline| of(spline) as u64).product::<u64>();
        let segments = product(&|spline| spline.segments);
        ClassCounts {
            uniform: segments,
            varying: product(&|spline| spline.segments + 1),
            vertex: product(&|spline| spline.count),
            face_varying: 4 * segments,
        }
    }

    /// Iterates over the pieces, u fastest.
    fn pieces(&self) -> impl Iterator<Item = [&SplinePiece; 2]> {
        let [u, v] = &self.0;
        v.pieces.iter().flat_map(|v| u.pieces.iter().map(move |u| [u, v]))
    }

    fn layout(&self) -> BezierLayout {
        let [u, v] = &self.0;
        let corner = |i: usize, j: usize| (j * u.corners.len() + i) as u32;
        let corners = |[u, v]: [&SplinePiece; 2]| {
            let ([u0, u1], [v0, v1]) = (u.ends, v.ends);
            [corner(u0, v0), corner(u1, v0), corner(u0, v1), corner(u1, v1)]
        };
        BezierLayout {
            degrees: [u.degree as u32, v.degree as u32],
            corners: self.pieces().map(corners).collect(),
            uv_range: self.pieces().map(|[u, v]| [u.range[0], v.range[0], u.range[1], v.range[1]]).collect(),
            varying_count: corner(0, v.corners.len()),
        }
    }

    /// Returns the values of the pieces from the values of the request.
    fn regroup(&self, class: Class, values: &[f32], width: usize) -> Vec<f32> {
        match class {
            Class::Constant => values.to_vec(),
            Class::Uniform => self.uniform(values, width),
            Class::Varying => self.varying(values, width),
            Class::FaceVarying => self.face_varying(values, width),
            Class::Vertex => self.to_bezier(values, width),
        }
    }

    fn uniform(&self, values: &[f32], width: usize) -> Vec<f32> {
        let each = |[u, v]: [&SplinePiece; 2]| {
            let segment = v.segment * self.0[0].segments + u.segment;
            values[segment * width..][..width].iter().copied()
        };
        self.pieces().flat_map(each).collect()
    }

    fn varying(&self, values: &[f32], width: usize) -> Vec<f32> {
        let [u, v] = &self.0;
        let at = |i: usize, j: usize, c: usize| f64::from(values[(j * (u.segments + 1) + i) * width + c]);
        let mut result = Vec::with_capacity(u.corners.len() * v.corners.len() * width);
        for (v, u) in v.corners.iter().flat_map(|v| u.corners.iter().map(move |u| (v, u))) {
            for c in 0..width {
                let row = |j: usize| mix(u.share, &|i| at(u.index + i, v.index + j, c));
                result.push(mix(v.share, &row) as f32);
            }
        }
        result
    }

    fn face_varying(&self, values: &[f32], width: usize) -> Vec<f32> {
        let mut result = Vec::new();
        for [u, v] in self.pieces() {
            let segment = v.segment * self.0[0].segments + u.segment;
            for (v, u) in v.shares.iter().flat_map(|v| u.shares.iter().map(move |u| (v, u))) {
                for c in 0..width {
                    let at = |i: usize, j: usize| f64::from(values[(4 * segment + 2 * j + i) * width + c]);
                    result.push(mix(*v, &|j| mix(*u, &|i| at(i, j))) as f32);
                }
            }
        }
        result
    }

    /// Returns the Bezier values of all pieces: along u first, then along v, so that points which neighbours share are
    /// made from the same numbers by the same sums.
    fn to_bezier(&self, values: &[f32], width: usize) -> Vec<f32> {
        let [u, v] = &self.0;
        let (side, each) = (u.degree + 1, (u.degree + 1) * (v.degree + 1));
        let mut result = vec![0.0; u.pieces.len() * v.pieces.len() * each * width];
        let mut strip = vec![0.0; v.count * side * width];
        for (column, u_piece) in u.pieces.iter().enumerate() {
            for (n, value) in strip.iter_mut().enumerate() {
                let (c, k, j) = (n % width, n / width % side, n / width / side);
                *value = u_piece.points[k].of(|i| f64::from(values[(j * u.count + i) * width + c]));
            }
            for (row, v_piece) in v.pieces.iter().enumerate() {
                let patch = &mut result[(row * u.pieces.len() + column) * each * width..][..each * width];
                for (n, value) in patch.iter_mut().enumerate() {
                    let (across, l) = (n % (side * width), n / (side * width));
                    *value = v_piece.points[l].of(|j| strip[j * side * width + across]) as f32;
                }
            }
        }
        result
    }
}

/// Interpolates between values 0 and 1. A value without a share is not asked for.
fn mix(share: f64, value: &dyn Fn(usize) -> f64) -> f64 {
    if share == 0.0 {
        value(0)
    } else if share == 1.0 {
        value(1)
    } else {
        value(0) * (1.0 - share) + value(1) * share
    }
}

impl PrimitiveCall<'_> {
    /// Reads `NuPatch`.
    pub(crate) fn nurbs(&self, directions: [&NurbsDirection; 2], trim: &TrimState) -> Option<Batch> {
        let [u, v] = directions;
        let surface = Surface([self.spline("u", u)?, self.spline("v", v)?]);
        let control: usize = surface.0.iter().map(|spline| spline.pieces.len() * (spline.degree + 1)).product();
        if control > CONTROL_MAX {
            self.error("limitcheck", &format!("its parts have {control} control points, more than {CONTROL_MAX}"));
            return None;
        }
        let counts = surface.counts();
        let points = self.control_points(counts.vertex, None)?;
        let mut batch = self.bezier_patches(surface.layout(), &counts, &points, &|class, values, width| {
            surface.regroup(class, values, width)
        })?;
        if let BatchShape::Patches(patches) = &mut batch.form {
            patches.trim = self.trim_loops(trim, surface.0.each_ref().map(|spline| spline.range));
        }
        Some(batch)
    }
}
