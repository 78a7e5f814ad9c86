//! Implicit surfaces: a field over space, and a coarse mesh around where it has the threshold (RISpec 5.6).

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
