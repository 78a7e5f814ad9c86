//! Control meshes of subdivision surfaces.

use super::tags::SubdivisionRules;

/// The faces that can be subdivided, with the tags' rules for them.
pub(super) struct ControlMesh<'m> {
    pub(super) rules: &'m SubdivisionRules,
    pub(super) sizes: Vec<i32>,
    pub(super) vertices: Vec<i32>,
    /// The first corner of each face.
    pub(super) starts: Vec<usize>,
    /// Which face of the request each is.
    pub(super) face_origins: Vec<u32>,
    /// Which corner of the request each is.
    pub(super) corner_origins: Vec<u32>,
}

impl ControlMesh<'_> {
    pub(super) fn face(&self, face: usize) -> &[i32] {
        &self.vertices[self.starts[face]..][..self.sizes[face] as usize]
    }

    pub(super) fn faces(&self) -> impl Iterator<Item = &[i32]> {
        (0..self.sizes.len()).map(|face| self.face(face))
    }
}
