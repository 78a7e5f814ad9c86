//! Bilinear meshes: each face is a facet, or one for each of its corners where a face is no quadrilateral.

use super::control_mesh::ControlMesh;
use super::tags::ordered;
use crate::rib::geometry::batch::FacetBatch;
use crate::rib::geometry::column::{Column, PrimvarValues};
use crate::scene::Class;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Facets whose corners are vertices, or means of some.
#[derive(Default)]
struct Split {
    facets: FacetBatch,
    /// The vertices whose mean each further vertex is.
    vertex_means: Vec<Vec<i32>>,
    /// The corners whose mean each further facevarying value is.
    corner_means: Vec<Vec<i32>>,
}

impl ControlMesh<'_> {
    /// Returns the facets, with the columns' values for them.
    pub(super) fn bilinear(&self, mut positions: Vec<[f32; 3]>, columns: &mut [Column]) -> FacetBatch {
        let split =
            if self.sizes.iter().all(|&size| size == 4) { self.whole() } else { self.split(positions.len() as u32) };
        let mut facets = split.facets;
        // Facevarying values are numbered by the corners that are left.
        for column in columns.iter_mut() {
            let width = column.declaration.width() as usize;
            let PrimvarValues::Floats(values) = &mut column.values else { continue };
            match column.declaration.class {
                Class::Constant | Class::Uniform => {}
                Class::Vertex | Class::Varying => append_means(values, width, &split.vertex_means),
                Class::FaceVarying => {
                    let own = |&corner: &u32| values[corner as usize * width..][..width].to_vec();
                    *values = self.corner_origins.iter().flat_map(own).collect();
                    append_means(values, width, &split.corner_means);
                }
            }
        }
        let mut flat = positions.as_flattened().to_vec();
        append_means(&mut flat, 3, &split.vertex_means);
        positions = flat.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        facets.positions = positions;
        facets.face_varying_count = (self.vertices.len() + split.corner_means.len()) as u32;
        facets.face_count = self.face_origins.last().map_or(0, |last| last + 1);
        let mut hasher = FxHasher::default();
        facets.corners.hash(&mut hasher);
        facets.signature = hasher.finish();
        facets
    }

    fn drawn(&self) -> impl Iterator<Item = usize> {
        (0..self.sizes.len()).filter(|face| self.rules.holes.binary_search(&(*face as i32)).is_err())
    }

    fn whole(&self) -> Split {
        let mut split = Split::default();
        for face in self.drawn() {
            let (at, start) = (self.face(face), self.starts[face] as u32);
            split.facets.corners.push([at[0], at[1], at[3], at[2]].map(|vertex| vertex as u32));
            split.facets.face_corners.push([start, start + 1, start + 3, start + 2]);
            split.facets.face.push(self.face_origins[face]);
        }
        split
    }

    /// Cuts every face at the middles of its edges, so that neighbours fit.
    fn split(&self, vertex_count: u32) -> Split {
        let mut split = Split::default();
        let mut middles: FxHashMap<[i32; 2], u32> = FxHashMap::default();
        for face in self.drawn() {
            let (at, start) = (self.face(face), self.starts[face]);
            let (count, origin) = (at.len(), self.face_origins[face]);
            let corner = |i: usize| (start + i % count) as i32;
            let first_mean = (self.vertices.len() + split.corner_means.len()) as u32;
            split.corner_means.extend((0..count).map(|i| vec![corner(i), corner(i + 1)]));
            split.corner_means.push((0..count).map(corner).collect());
            let means = &mut split.vertex_means;
            let mut mean = |vertices: Vec<i32>| {
                means.push(vertices);
                vertex_count + means.len() as u32 - 1
            };
            let edges: Vec<u32> = (0..count)
                .map(|i| {
                    let edge = ordered([at[i], at[(i + 1) % count]]);
                    *middles.entry(edge).or_insert_with(|| mean(edge.to_vec()))
                })
                .collect();
            let centre = mean(at.to_vec());
            for i in 0..count {
                let before = (i + count - 1) % count;
                let middle = |edge: usize| first_mean + edge as u32;
                let corners = [at[i] as u32, edges[i], edges[before], centre];
                let face_corners = [corner(i) as u32, middle(i), middle(before), middle(count)];
                split.facets.corners.push(arranged(i, count, corners));
                split.facets.face_corners.push(arranged(i, count, face_corners));
                split.facets.face.push(origin);
                split.facets.uv_range.push(covered(i, count));
            }
        }
        split
    }
}

/// Returns the corners of the facet at corner `i` of a face: the vertex, the middles of the next and the previous edge,
/// the centre. Those of a quadrilateral are turned so that u and v run as over the whole face; the facet covers a
/// quarter of it. Other faces have a (u,v) square for each corner.
fn arranged<T>(i: usize, count: usize, [vertex, next, previous, centre]: [T; 4]) -> [T; 4] {
    match (count, i) {
        (4, 1) => [previous, vertex, centre, next],
        (4, 2) => [centre, previous, next, vertex],
        (4, 3) => [next, centre, vertex, previous],
        _ => [vertex, next, previous, centre],
    }
}

fn covered(i: usize, count: usize) -> [f32; 4] {
    match (count, i) {
        (4, 0) => [0.0, 0.0, 0.5, 0.5],
        (4, 1) => [0.5, 0.0, 1.0, 0.5],
        (4, 2) => [0.5, 0.5, 1.0, 1.0],
        (4, 3) => [0.0, 0.5, 0.5, 1.0],
        _ => [0.0, 0.0, 1.0, 1.0],
    }
}

fn append_means(values: &mut Vec<f32>, width: usize, means: &[Vec<i32>]) {
    for mean in means {
        for i in 0..width {
            let sum: f64 = mean.iter().map(|&index| f64::from(values[index as usize * width + i])).sum();
            values.push((sum / mean.len() as f64) as f32);
        }
    }
}
