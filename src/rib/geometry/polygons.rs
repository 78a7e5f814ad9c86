//! Polygons and polygon meshes (RISpec 5.1).

use super::batch::{Batch, BatchShape, FacetBatch};
use super::primvars::{ClassCounts, PrimitiveCall};
use super::triangulate::{NoFacets, Triangulator};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The vertices of the faces of a mesh: three nested lists, as RIB writes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faces<'f> {
    /// Number of loops of each face; without it each face has one.
    pub(crate) loops: Option<&'f [i32]>,
    /// Number of vertices of each loop.
    pub(crate) vertices: &'f [i32],
    /// The vertex of each corner; without it the corners are the vertices, in order.
    pub(crate) indices: Option<&'f [i32]>,
}

/// The checked topology of a mesh.
struct Topology<'f> {
    faces: Faces<'f>,
    face_count: usize,
    corner_count: u64,
    vertex_count: u64,
}

/// The faces of a mesh, cut into facets.
struct CutFaces {
    facets: FacetBatch,
    /// The number of faces without facets.
    dropped: usize,
    /// Why the last of these has none.
    reason: Option<NoFacets>,
}

impl<'f> Faces<'f> {
    /// Checks that the lists are consistent; the error says what is not.
    fn check(self) -> Result<Topology<'f>, String> {
        let sum = |counts: &[i32], what: &str| {
            if counts.iter().any(|&count| count < 0) {
                return Err(format!("a number of {what} is negative"));
            }
            Ok(counts.iter().map(|&count| count as u64).sum::<u64>())
        };
        if let Some(loops) = self.loops {
            let wanted = sum(loops, "loops")?;
            if loops.contains(&0) {
                return Err("a face has no loop".to_owned());
            }
            if wanted != self.vertices.len() as u64 {
                return Err(format!("its faces have {wanted} loops, but it lists {}", self.vertices.len()));
            }
        }
        let corner_count = sum(self.vertices, "vertices")?;
        let vertex_count = match self.indices {
            None => corner_count,
            Some(indices) if indices.len() as u64 != corner_count => {
                return Err(format!("its faces have {corner_count} corners, but it lists {}", indices.len()));
            }
            Some(indices) if indices.iter().any(|&index| index < 0) => {
                return Err("a vertex index is negative".to_owned());
            }
            Some(indices) => indices.iter().max().map_or(0, |&largest| largest as u64 + 1),
        };
        let face_count = self.loops.map_or(self.vertices.len(), <[i32]>::len);
        Ok(Topology { faces: self, face_count, corner_count, vertex_count })
    }
}

impl Topology<'_> {
    fn counts(&self) -> ClassCounts {
        ClassCounts {
            uniform: self.face_count as u64,
            varying: self.vertex_count,
            vertex: self.vertex_count,
            face_varying: self.corner_count,
        }
    }

    /// Returns a hash that is equal for meshes with the same faces.
    fn signature(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.faces.loops, self.faces.vertices, self.faces.indices).hash(&mut hasher);
        hasher.finish()
    }

    /// Cuts all faces into facets.
    fn facets(&self, positions: Vec<[f32; 3]>) -> CutFaces {
        let mut batch = FacetBatch {
            polygon: true,
            face_varying_count: self.corner_count as u32,
            face_count: self.face_count as u32,
            signature: self.signature(),
            ..FacetBatch::default()
        };
        let mut triangulator = Triangulator::default();
        let (mut dropped, mut reason) = (0, None);
        let (mut first_loop, mut first_corner) = (0, 0);
        let mut loops = Vec::new();
        for face in 0..self.face_count {
            let loop_count = self.faces.loops.map_or(1, |loops| loops[face] as usize);
            loops.clear();
            loops.extend(self.faces.vertices[first_loop..][..loop_count].iter().map(|&count| count as usize));
            let corner_count: usize = loops.iter().sum();
            let vertex = |corner: usize| self.faces.indices.map_or(corner as u32, |indices| indices[corner] as u32);
            let corners = (first_corner..first_corner + corner_count).map(|corner| positions[vertex(corner) as usize]);
            match triangulator.face(corners, &loops) {
                Ok((facets, normal)) => {
                    batch.face_normals.push(normal);
                    for facet in facets {
                        let corners = facet.map(|corner| first_corner as u32 + corner);
                        batch.corners.push(corners.map(|corner| vertex(corner as usize)));
                        batch.face_corners.push(corners);
                        batch.face.push(face as u32);
                    }
                }
                Err(nothing) => {
                    // No facet refers to this normal, but the list has one for each face.
                    batch.face_normals.push([0.0, 0.0, 1.0]);
                    dropped += 1;
                    reason = Some(nothing);
                }
            }
            first_loop += loop_count;
            first_corner += corner_count;
        }
        batch.positions = positions;
        CutFaces { facets: batch, dropped, reason }
    }
}

/// Reads `Polygon`: one face with as many vertices as there are positions.
pub(crate) fn polygon(call: &PrimitiveCall<'_>) -> Option<Batch> {
    let positions = call.positions(None, None)?;
    let Ok(count) = i32::try_from(positions.len()) else {
        call.error("limitcheck", "it has too many vertices");
        return None;
    };
    call.mesh_of(Faces { loops: None, vertices: &[count], indices: None }, Some(positions))
}

impl PrimitiveCall<'_> {
    /// Reads `GeneralPolygon`, `PointsPolygons` or `PointsGeneralPolygons`.
    pub(crate) fn mesh(&self, faces: Faces<'_>) -> Option<Batch> {
        self.mesh_of(faces, None)
    }

    fn mesh_of(&self, faces: Faces<'_>, positions: Option<Vec<[f32; 3]>>) -> Option<Batch> {
        let topology = match faces.check() {
            Ok(topology) => topology,
            Err(what) => {
                self.error("consistency", &what);
                return None;
            }
        };
        if topology.face_count == 0 {
            self.note("range", "it has no faces");
            return None;
        }
        let positions = match positions {
            Some(positions) => positions,
            None => self.positions(Some(topology.vertex_count), None)?,
        };
        let CutFaces { facets, dropped, reason } = topology.facets(positions);
        let all = topology.face_count;
        let why = match reason {
            Some(NoFacets::TooManyCorners) => "too many corners",
            Some(NoFacets::NoArea) | None => "no area",
        };
        if dropped == all {
            self.note("range", &format!("it has {why}"));
            return None;
        }
        if dropped > 0 {
            self.note_partial("range", &format!("{dropped} of {all} faces are left out because they have {why}"));
        }
        let columns = self.columns(&topology.counts(), &[], None);
        Some(Batch { form: BatchShape::Facets(facets), columns, location: self.location.clone() })
    }
}
