//! Implicit surfaces: a field over space, and a coarse mesh around where it has the threshold (RISpec 5.6).

use super::ShapeArray;
use glam::{DMat4, DVec3, DVec4};
use std::sync::Arc;

/// A ground that pushes an implicit surface away: a picture of depths, and how strongly (opcode 1003).
#[derive(Clone, Debug, PartialEq)]
pub struct Repeller {
    /// Width and height of the picture.
    pub size: [u32; 2],
    /// Camera z of the ground in each texel, rows from the top.
    pub depths: Arc<[f32]>,
    /// What takes a point to its place in the picture, from 0 to 1 from the upper left corner: x and y times w, and w.
    pub place: [[f32; 4]; 3],
    /// What takes a point to the camera's z.
    pub z: [f32; 4],
    /// A, beyond which height it does nothing; B, how strongly it pushes; C, at which height it bulges; D, how much.
    pub shape: [f32; 4],
}

/// Heights above the ground are at least this.
const REPELLER_HEIGHT_MIN: f64 = 1e-6;

/// A step of the program that computes a field. Values are pushed on a stack; operations take them from it.
#[derive(Clone, Debug, PartialEq)]
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
    /// Pushes what a ground pushes away with.
    Repeller(Arc<Repeller>),
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

impl BlobStep {
    /// Whether it pushes a value by itself.
    pub const fn is_leaf(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Ellipsoid(_) | Self::Segment { .. } | Self::Repeller(_))
    }

    /// Whether a device takes it in one with the step before, if there is one: a leaf that is added at once is one
    /// step.
    pub fn joins(&self, before: Option<&Self>) -> bool {
        *self == Self::Add && before.is_some_and(Self::is_leaf)
    }

    /// Steps of a program at all times of a motion together, at most: kernels look at a facet at each of them
    /// (docs/pipeline/loops.md).
    pub const MOVING_MAX: usize = 180;

    /// Returns how many steps a device takes for a program.
    pub fn count(program: &[Self]) -> usize {
        let joined = program.windows(2).filter(|pair| pair[1].joins(Some(&pair[0]))).count();
        program.len() - joined
    }
}

/// Facets of a mesh that is moved onto an implicit surface. Varying, vertex and facevarying index = vertex; uniform
/// index 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Blobs {
    /// The vertices of the mesh.
    pub positions: ShapeArray<[f32; 3]>,
    /// The vertices of each facet at (u,v) = (0,0) (1,0) (0,1) (1,1).
    pub corners: ShapeArray<[u32; 4]>,
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
    /// Returns the grounds of all programs, each once.
    pub fn repellers(&self) -> Vec<&Arc<Repeller>> {
        let mut found: Vec<&Arc<Repeller>> = Vec::new();
        for step in self.programs.iter().flatten() {
            if let BlobStep::Repeller(ground) = step
                && !found.iter().any(|other| Arc::ptr_eq(other, ground))
            {
                found.push(ground);
            }
        }
        found
    }

    /// Returns roughly how many bytes they need, here and in the form that devices take.
    pub fn bytes(&self) -> usize {
        let steps: usize = self.programs.iter().map(|steps| steps.len() * 2 * size_of::<BlobStep>()).sum();
        let depths: usize = self.repellers().iter().map(|ground| 8 * ground.depths.len()).sum();
        self.positions.len() * 12 + self.corners.len() * (20 + 64) + steps + depths
    }
}

fn matrix(rows: &[[f32; 4]; 3]) -> DMat4 {
    let row = |i: usize| DVec4::from(rows[i].map(f64::from));
    DMat4::from_cols(row(0), row(1), row(2), DVec4::W).transpose()
}

/// Returns what takes a point to a leaf's own space, at a time at which what comes back from there is between two
/// keyframes.
fn rows_between(a: &[[f32; 4]; 3], b: &[[f32; 4]; 3], t: f64) -> [[f32; 4]; 3] {
    let back = matrix(a).inverse() * (1.0 - t) + matrix(b).inverse() * t;
    let rows = back.inverse().transpose();
    [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| row.as_vec4().to_array())
}

fn dot(row: &[f32; 4], p: DVec3) -> f64 {
    DVec4::from(row.map(f64::from)).dot(p.extend(1.0))
}

impl Repeller {
    /// Returns how high a point is above the ground, in the direction in which the picture was taken; `None` behind its
    /// camera.
    pub(crate) fn height(&self, p: DVec3) -> Option<f64> {
        let [x, y, w] = [0, 1, 2].map(|i| dot(&self.place[i], p));
        if w.is_nan() || w <= 0.0 {
            return None;
        }
        let [width, height] = self.size;
        // Between the middles of texels.
        let axis = |at: f64, count: u32| {
            let at = (at / w * f64::from(count) - 0.5).clamp(0.0, f64::from(count - 1));
            let first = (at.floor() as u32).min(count.saturating_sub(2));
            (first as usize, (first + 1).min(count - 1) as usize, at - f64::from(first))
        };
        let ((x0, x1, u), (y0, y1, v)) = (axis(x, width), axis(y, height));
        let depth = |x: usize, y: usize| f64::from(self.depths[y * width as usize + x]);
        let row = |y: usize| depth(x0, y) * (1.0 - u) + depth(x1, y) * u;
        Some(row(y0) * (1.0 - v) + row(y1) * v - dot(&self.z, p))
    }

    /// Returns what it adds to a field at a point: nothing above A; below, a bulge of D about the height C less B over
    /// the height, faded out towards A (Pixar's Application Note 31).
    pub(crate) fn value(&self, p: DVec3) -> f64 {
        let [a, b, c, d] = self.shape.map(f64::from);
        let Some(z) = self.height(p).filter(|z| *z < a) else { return 0.0 };
        let z = z.max(REPELLER_HEIGHT_MIN);
        let (r, s) = (z / c, (z / a).clamp(0.0, 1.0));
        let bump = if r > 0.0 && r < 2.0 { (((6.0 - r) * r - 12.0) * r + 8.0) * r * r * r } else { 0.0 };
        (d * bump - b / z) * (1.0 - s * s * (3.0 - 2.0 * s))
    }
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
            _ => self.clone(),
        }
    }
}

impl Blobs {
    /// Returns the programs at a time between two keyframes: leaves' matrices, ends and values are linear. The points
    /// are those of the first.
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
