//! Polygons and polygon meshes (RISpec 5.1).

use super::batch::{Batch, BatchShape, FacetBatch};
use super::primvars::{ClassCounts, PrimitiveCall};
use super::triangulate::{NoFacets, Triangulator};
use crate::parallel::{cores, in_parallel};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;

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

/// Some of the faces of a mesh, one after the other.
#[derive(Clone, Default)]
struct FacePart {
    faces: Range<usize>,
    /// The first loop of the first face.
    first_loop: usize,
    /// Its first corner.
    first_corner: usize,
}

/// The fewest corners that a thread gets. To cut them takes half a millisecond, a start of a thread a tenth.
const PART_CORNERS_MIN: u64 = 1 << 15;

/// Faces of a mesh, cut into facets.
#[derive(Default)]
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

    /// Cuts all faces into facets, those of large meshes on all cores.
    fn facets(&self, positions: Vec<[f32; 3]>) -> CutFaces {
        self.facets_in((self.corner_count / PART_CORNERS_MIN).clamp(1, cores() as u64), positions)
    }

    /// Cuts all faces into facets, in so many parts at most.
    fn facets_in(&self, count: u64, positions: Vec<[f32; 3]>) -> CutFaces {
        let mut parts = in_parallel(self.parts(count), |part| self.cut(&part, &positions)).into_iter();
        let mut cut = parts.next().unwrap_or_default();
        parts.for_each(|part| cut.extend(part));
        cut.facets.face_varying_count = self.corner_count as u32;
        cut.facets.face_count = self.face_count as u32;
        cut.facets.signature = self.signature();
        cut.facets.positions = positions;
        cut
    }

    /// Divides the faces into parts of about equally many corners, at most `count`.
    fn parts(&self, count: u64) -> Vec<FacePart> {
        if count == 1 {
            return vec![FacePart { faces: 0..self.face_count, ..FacePart::default() }];
        }
        let part_corners = self.corner_count.div_ceil(count) as usize;
        let mut parts = Vec::new();
        let mut part = FacePart::default();
        let mut next = FacePart::default();
        for face in 0..self.face_count {
            let loop_count = self.loop_count(face);
            next.first_loop += loop_count;
            next.first_corner += self.loops_of(next.first_loop - loop_count, loop_count).sum::<usize>();
            if next.first_corner - part.first_corner >= part_corners && face + 1 < self.face_count {
                let first = face + 1;
                parts.push(FacePart { faces: part.faces.start..first, ..part });
                part = FacePart { faces: first..first, ..next.clone() };
            }
        }
        parts.push(FacePart { faces: part.faces.start..self.face_count, ..part });
        parts
    }

    fn loop_count(&self, face: usize) -> usize {
        self.faces.loops.map_or(1, |loops| loops[face] as usize)
    }

    /// Returns the numbers of vertices of some loops.
    fn loops_of(&self, first: usize, count: usize) -> impl Iterator<Item = usize> {
        self.faces.vertices[first..][..count].iter().map(|&count| count as usize)
    }

    /// Cuts some of the faces into facets.
    fn cut(&self, part: &FacePart, positions: &[[f32; 3]]) -> CutFaces {
        let count = part.faces.len();
        let mut batch = FacetBatch {
            polygon: true,
            corners: Vec::with_capacity(count),
            face_corners: Vec::with_capacity(count),
            face: Vec::with_capacity(count),
            face_normals: Vec::with_capacity(count),
            ..FacetBatch::default()
        };
        let mut triangulator = Triangulator::default();
        let (mut dropped, mut reason) = (0, None);
        let (mut first_loop, mut first_corner) = (part.first_loop, part.first_corner);
        let mut loops = Vec::new();
        for face in part.faces.clone() {
            let loop_count = self.loop_count(face);
            loops.clear();
            loops.extend(self.loops_of(first_loop, loop_count));
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
        CutFaces { facets: batch, dropped, reason }
    }
}

impl CutFaces {
    /// Appends the faces that follow those.
    fn extend(&mut self, later: Self) {
        self.facets.corners.extend_from_slice(&later.facets.corners);
        self.facets.face_corners.extend_from_slice(&later.facets.face_corners);
        self.facets.face.extend_from_slice(&later.facets.face);
        self.facets.face_normals.extend_from_slice(&later.facets.face_normals);
        self.dropped += later.dropped;
        self.reason = later.reason.or(self.reason);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles, quadrilaterals flat and bent, faces with holes and faces without area, all of their own vertices.
    fn mixed_faces(count: usize) -> (Vec<i32>, Vec<i32>, Vec<[f32; 3]>) {
        let square = |size: f32, z: f32| [[0.0, 0.0, 0.0], [size, 0.0, 0.0], [size, size, z], [0.0, size, 0.0]];
        let (mut loops, mut vertices, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for face in 0..count {
            let (own, corners): (&[i32], Vec<[f32; 3]>) = match face % 7 {
                0 | 1 => (&[4], square(1.0, 0.0).into()),
                2 => (&[4], square(1.0, 0.5).into()),
                3 => (&[3], square(2.0, 0.0)[..3].into()),
                4 => (&[4, 4], [square(3.0, 0.0), square(1.0, 0.0).map(|[x, y, z]| [x + 1.0, y + 1.0, z])].concat()),
                5 => (&[3], vec![[1.0; 3]; 3]),
                _ => (&[5], [&square(1.0, 0.0)[..], &[[-1.0, 0.5, 0.0]]].concat()),
            };
            loops.push(own.len() as i32);
            vertices.extend_from_slice(own);
            positions.extend(corners.iter().map(|[x, y, z]| [x + face as f32, *y, *z]));
        }
        (loops, vertices, positions)
    }

    #[test]
    fn meshes_cut_in_parts_are_those_cut_whole() {
        let (loops, vertices, positions) = mixed_faces(1000);
        let indices: Vec<i32> = (0..positions.len() as i32).rev().collect();
        let reversed: Vec<_> = positions.iter().rev().copied().collect();
        for (loops, indices, positions) in
            [(Some(&loops[..]), None, positions), (Some(&loops[..]), Some(&indices[..]), reversed)]
        {
            let faces = Faces { loops, vertices: &vertices, indices };
            let topology = faces.check().expect("a mesh");
            let whole = topology.facets_in(1, positions.clone());
            assert_eq!((whole.dropped, whole.facets.face_normals.len()), (143, 1000));
            for count in [2, 3, 7, 5000] {
                assert!(topology.parts(count).len() as u64 <= count && topology.parts(count).len() > 1);
                let parts = topology.facets_in(count, positions.clone());
                assert!(parts.facets == whole.facets, "{count} parts");
                assert_eq!((parts.dropped, parts.reason), (whole.dropped, whole.reason), "{count} parts");
            }
        }
    }
}
