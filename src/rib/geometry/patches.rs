//! Patches and patch meshes (RISpec 5.2).

use super::batch::{Batch, BatchShape, BezierLayout, FacetBatch, PatchBatch};
use super::primvars::{ClassCounts, ControlPoints, Gather, PrimitiveCall};
use crate::rib::state::basis::ToBezier;
use crate::scene::{Basis, Class};

/// The control vertices of a mesh and the patches over them. Index 0 is u, 1 is v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mesh {
    /// Control vertices.
    vertices: [usize; 2],
    /// Patches.
    segments: [usize; 2],
    /// Number of vertices from one patch to the next.
    step: [usize; 2],
    /// Whether the last patch joins the first.
    periodic: [bool; 2],
}

/// One direction of a mesh as its request gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshDirection {
    /// Control vertices.
    pub(crate) count: i32,
    /// Whether it wraps around.
    pub(crate) periodic: bool,
}

impl Mesh {
    /// Returns the number of parametric corners.
    fn corners(&self, axis: usize) -> usize {
        self.segments[axis] + usize::from(!self.periodic[axis])
    }

    fn counts(&self) -> ClassCounts {
        let product = |pair: [usize; 2]| pair[0] as u64 * pair[1] as u64;
        ClassCounts {
            uniform: product(self.segments),
            varying: product([self.corners(0), self.corners(1)]),
            vertex: product(self.vertices),
            face_varying: 4 * product(self.segments),
        }
    }

    /// Iterates over the patches, u fastest.
    fn patches(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let [nu, nv] = self.segments;
        (0..nv).flat_map(move |j| (0..nu).map(move |i| [i, j]))
    }

    /// Returns the varying indices of a patch's corners.
    fn corner_indices(&self, [i, j]: [usize; 2]) -> [u32; 4] {
        let (nu, nv) = (self.corners(0), self.corners(1));
        [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| ((j % nv) * nu + i % nu) as u32)
    }

    /// Returns the part of the mesh's unit square that a patch covers.
    fn uv_range(&self, [i, j]: [usize; 2]) -> [f32; 4] {
        let at = |index: usize, axis: usize| (index as f64 / self.segments[axis] as f64) as f32;
        [at(i, 0), at(j, 1), at(i + 1, 0), at(j + 1, 1)]
    }

    /// Returns the control vertices of a patch, `N` a side, u fastest.
    fn control<const N: usize>(&self, [i, j]: [usize; 2]) -> impl Iterator<Item = usize> + use<N> {
        let ([nu, nv], [step_u, step_v]) = (self.vertices, self.step);
        (0..N * N).map(move |k| {
            let (u, v) = (i * step_u + k % N, j * step_v + k / N);
            (v % nv) * nu + u % nu
        })
    }

    fn layout(&self, degree: u32) -> BezierLayout {
        BezierLayout {
            degrees: [degree; 2],
            corners: self.patches().map(|patch| self.corner_indices(patch)).collect(),
            uv_range: self.patches().map(|patch| self.uv_range(patch)).collect(),
            varying_count: self.counts().varying as u32,
        }
    }

    /// Returns the values of `width` floats at the corners of all patches from those at the vertices.
    fn to_corners(self, values: &[f32], width: usize) -> Vec<f32> {
        let vertices = self.patches().flat_map(|patch| self.control::<2>(patch));
        vertices.flat_map(|vertex| &values[vertex * width..][..width]).copied().collect()
    }

    /// Computes the Bezier values of all patches from values of `width` floats at the control vertices.
    ///
    /// Rows are converted along u first, then along v. A boundary row of the result is therefore computed from the
    /// control values of the boundary alone by one fixed expression, and neighbours get the same bits.
    fn to_bezier(self, values: &[f32], width: usize, bases: &[ToBezier; 2]) -> Vec<f32> {
        let mut result = Vec::with_capacity(self.segments[0] * self.segments[1] * 16 * width);
        let identity = bases.iter().all(ToBezier::is_identity);
        for patch in self.patches() {
            let mut vertices = self.control::<4>(patch);
            let control: [usize; 16] = std::array::from_fn(|_| vertices.next().unwrap_or(0));
            if identity {
                for vertex in control {
                    result.extend_from_slice(&values[vertex * width..][..width]);
                }
                continue;
            }
            let first = result.len();
            result.resize(first + 16 * width, 0.0);
            for component in 0..width {
                let value = |k: usize| f64::from(values[control[k] * width + component]);
                let rows: [[f64; 4]; 4] = std::array::from_fn(|v| {
                    let inputs = std::array::from_fn(|u| value(4 * v + u));
                    std::array::from_fn(|row| bases[0].apply(row, &inputs))
                });
                for u in 0..4 {
                    let inputs = rows.map(|row| row[u]);
                    for v in 0..4 {
                        result[first + (4 * v + u) * width + component] = bases[1].apply(v, &inputs) as f32;
                    }
                }
            }
        }
        result
    }
}

impl PrimitiveCall<'_> {
    /// Reads `Patch`: one patch, independent of the step of the basis.
    pub(crate) fn patch(&self, cubic: bool, basis: &[Basis; 2]) -> Option<Batch> {
        let side = if cubic { 4 } else { 2 };
        let mesh = Mesh { vertices: [side; 2], segments: [1; 2], step: [1; 2], periodic: [false; 2] };
        if cubic { self.cubic_mesh(mesh, basis) } else { self.bilinear_mesh(mesh, true) }
    }

    /// Reads `PatchMesh`.
    pub(crate) fn patch_mesh(&self, cubic: bool, directions: [MeshDirection; 2], basis: &[Basis; 2]) -> Option<Batch> {
        let mut mesh = Mesh { vertices: [0; 2], segments: [0; 2], step: [1; 2], periodic: [false; 2] };
        for (axis, direction) in directions.into_iter().enumerate() {
            mesh.periodic[axis] = direction.periodic;
            mesh.vertices[axis] = usize::try_from(direction.count).unwrap_or(0);
            if cubic {
                mesh.step[axis] = basis[axis].step as usize;
            }
            mesh.segments[axis] = self.segments(&mesh, axis, cubic)?;
        }
        if cubic { self.cubic_mesh(mesh, basis) } else { self.bilinear_mesh(mesh, false) }
    }

    /// Returns the number of patches along one axis (RISpec 5.2), or `None`, with a message, if there are too few
    /// vertices.
    fn segments(&self, mesh: &Mesh, axis: usize, cubic: bool) -> Option<usize> {
        let (count, step, periodic) = (mesh.vertices[axis], mesh.step[axis], mesh.periodic[axis]);
        let name = ["u", "v"][axis];
        let fewest = match (cubic, periodic) {
            (true, false) => 4,
            (true, true) => step.max(2),
            (false, _) => 2,
        };
        if count < fewest {
            self.error("range", &format!("{count} vertices in {name} are too few; it needs {fewest}"));
            return None;
        }
        let surplus = match (cubic, periodic) {
            (true, false) => (count - 4) % step,
            (true, true) => count % step,
            (false, _) => 0,
        };
        if surplus != 0 && periodic {
            self.error(
                "consistency",
                &format!("{count} vertices in {name} are not a multiple of the step of the basis ({step})"),
            );
            return None;
        }
        if surplus != 0 {
            self.warning(
                "consistency",
                &format!("the last {surplus} of {count} vertices in {name} do not make a whole patch and are ignored"),
            );
        }
        Some(match (cubic, periodic) {
            (true, false) => (count - 4) / step + 1,
            (true, true) => count / step,
            (false, false) => count - 1,
            (false, true) => count,
        })
    }

    fn bilinear_mesh(&self, mesh: Mesh, single: bool) -> Option<Batch> {
        let counts = mesh.counts();
        let points = self.control_points(counts.vertex, Some(mesh.vertices))?;
        if !points.weights.is_empty() {
            return self.bezier_patches(mesh.layout(1), &counts, &points, &|class, values, width| match class {
                Class::Vertex => mesh.to_corners(values, width),
                _ => values.to_vec(),
            });
        }
        let patch_count = counts.uniform as u32;
        let facets = FacetBatch {
            corners: mesh.patches().map(|patch| mesh.corner_indices(patch)).collect(),
            face_corners: (0..patch_count).map(|patch| std::array::from_fn(|i| 4 * patch + i as u32)).collect(),
            face: (0..patch_count).collect(),
            uv_range: if single { Vec::new() } else { mesh.patches().map(|patch| mesh.uv_range(patch)).collect() },
            face_varying_count: 4 * patch_count,
            face_count: patch_count,
            positions: points.positions,
            ..FacetBatch::default()
        };
        Some(Batch {
            form: BatchShape::Facets(facets),
            columns: self.columns(&counts, &[], None),
            location: self.location.clone(),
        })
    }

    fn cubic_mesh(&self, mesh: Mesh, basis: &[Basis; 2]) -> Option<Batch> {
        let counts = mesh.counts();
        let points = self.control_points(counts.vertex, Some(mesh.vertices))?;
        let bases = basis.each_ref().map(ToBezier::new);
        self.bezier_patches(mesh.layout(3), &counts, &points, &|class, values, width| match class {
            Class::Vertex => mesh.to_bezier(values, width, &bases),
            _ => values.to_vec(),
        })
    }

    /// Makes Bezier patches. `gather` converts the request's values, without weights, to those of the patches.
    pub(super) fn bezier_patches(
        &self,
        layout: BezierLayout,
        counts: &ClassCounts,
        points: &ControlPoints,
        gather: Gather<'_>,
    ) -> Option<Batch> {
        let control = gather(Class::Vertex, points.positions.as_flattened(), 3);
        if !control.iter().all(|value| value.is_finite()) {
            self.note("math", "its basis gives a position that is not a finite number");
            return None;
        }
        let weights = if points.weights.is_empty() { Vec::new() } else { gather(Class::Vertex, &points.weights, 1) };
        if !self.check_weights(&weights) {
            return None;
        }
        let weighted = |class: Class, values: &[f32], width: usize| {
            if class != Class::Vertex || points.weights.is_empty() {
                return gather(class, values, width);
            }
            gather(class, &points.weighted(values, width), width)
        };
        let columns = self.columns(counts, &[], Some(&weighted));
        let control = bytemuck::cast_slice::<f32, [f32; 3]>(&control).to_vec();
        let form = BatchShape::Patches(PatchBatch { layout, control, weights, trim: None });
        Some(Batch { form, columns, location: self.location.clone() })
    }
}
