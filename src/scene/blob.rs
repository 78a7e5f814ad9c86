//! Implicit surfaces: a field over space, and a coarse mesh around where it has the threshold (RISpec 5.6).

use glam::{DMat4, DVec3, DVec4};
use std::sync::Arc;

/// A step of the program that computes a field. Values are pushed on a stack; operations take them from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlobStep {
    /// Pushes a value.
    Constant(f32),
    /// Pushes (1 - r^2)^3, where r is the distance from the origin of what the rows make of the point; 0 beyond 1.
    Ellipsoid([[f32; 4]; 3]),
    /// Pushes the same bump, summed up along a segment.
    Segment {
        /// What takes a point to where the segment's radius is 1.
        rows: [[f32; 4]; 3],
        /// Where the segment begins.
        start: [f32; 3],
        /// Its unit direction.
        axis: [f32; 3],
        /// Its length.
        length: f32,
    },
    /// The sum of two values.
    Add,
    /// Their product.
    Multiply,
    /// The larger.
    Max,
    /// The smaller.
    Min,
    /// The first less the second.
    Subtract,
    /// The first divided by the second, which is kept so far from 0.
    Divide(f32),
    /// The negative of a value.
    Negate,
}

/// Facets of a mesh that is moved onto an implicit surface. Varying, vertex and facevarying index = vertex; uniform
/// index 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Blobs {
    /// The vertices of the mesh.
    pub positions: Arc<[[f32; 3]]>,
    /// The vertices of each facet at (u,v) = (0,0) (1,0) (0,1) (1,1).
    pub corners: Arc<[[u32; 4]]>,
    /// Programs that agree wherever they are used.
    pub programs: Arc<[Vec<BlobStep>]>,
    /// The program of each facet.
    pub program: Arc<[u32]>,
    /// What the field is on the surface.
    pub threshold: f32,
    /// How far a point may move along an axis.
    pub reach: f32,
}

impl Blobs {
    /// Returns roughly how many bytes they need, here and in the form that devices take.
    pub fn bytes(&self) -> usize {
        let steps: usize = self.programs.iter().map(|steps| steps.len() * 2 * size_of::<BlobStep>()).sum();
        self.positions.len() * 12 + self.corners.len() * (20 + 64) + steps
    }
}

fn matrix(rows: &[[f32; 4]; 3]) -> DMat4 {
    let row = |i: usize| DVec4::from(rows[i].map(f64::from));
    DMat4::from_cols(row(0), row(1), row(2), DVec4::W).transpose()
}

/// What takes a point to a leaf's own space, at a time at which what comes back from there is between two keys.
fn rows_between(a: &[[f32; 4]; 3], b: &[[f32; 4]; 3], t: f64) -> [[f32; 4]; 3] {
    let back = matrix(a).inverse() * (1.0 - t) + matrix(b).inverse() * t;
    let rows = back.inverse().transpose();
    [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| row.as_vec4().to_array())
}

impl BlobStep {
    /// Whether a leaf has numbers that floats can hold.
    pub(crate) fn is_finite(&self) -> bool {
        let all = |rows: &[[f32; 4]; 3]| rows.iter().flatten().all(|x| x.is_finite());
        match self {
            Self::Constant(value) => value.is_finite(),
            Self::Ellipsoid(rows) => all(rows),
            Self::Segment { rows, start, axis, length } => {
                all(rows) && start.iter().chain(axis).chain([length]).all(|x| x.is_finite())
            }
            _ => true,
        }
    }

    fn between(&self, other: &Self, t: f32) -> Self {
        let mix = |a: f32, b: f32| a * (1.0 - t) + b * t;
        match (self, other) {
            (Self::Constant(a), Self::Constant(b)) => Self::Constant(mix(*a, *b)),
            (Self::Ellipsoid(a), Self::Ellipsoid(b)) => Self::Ellipsoid(rows_between(a, b, t.into())),
            (
                Self::Segment { rows, start, axis, length },
                Self::Segment { rows: rows1, start: start1, axis: axis1, length: length1 },
            ) => {
                let ends = |start: &[f32; 3], axis: &[f32; 3], length: f32| {
                    let [start, axis] = [start, axis].map(|v| DVec3::from(v.map(f64::from)));
                    [start, start + axis * f64::from(length)]
                };
                let ([a, b], [a1, b1]) = (ends(start, axis, *length), ends(start1, axis1, *length1));
                let (start, end) = (a.lerp(a1, t.into()), b.lerp(b1, t.into()));
                let rows = rows_between(rows, rows1, t.into());
                let axis = (end - start).normalize_or_zero().as_vec3().to_array();
                let length = (end - start).length() as f32;
                Self::Segment { rows, start: start.as_vec3().to_array(), axis, length }
            }
            _ => *self,
        }
    }
}

impl Blobs {
    /// The programs at a time between two keys: leaves' matrices, ends and values are linear. The points are those of
    /// the first.
    pub(super) fn between(&self, other: &Self, t: f32) -> Self {
        let program =
            |(a, b): (&Vec<BlobStep>, &Vec<BlobStep>)| a.iter().zip(b).map(|(a, b)| a.between(b, t)).collect();
        Self {
            programs: self.programs.iter().zip(other.programs.iter()).map(program).collect(),
            reach: self.reach.max(other.reach),
            ..self.clone()
        }
    }
}
