//! From shapes to primitive records and control data.

use super::curvature::{self, BOUND_RECORDS};
use super::{Page, PrimitiveKind, blob, trim};
use crate::pipeline::kernels::constants::{
    ORDER_MAX, PRIMITIVE_DEGREE_U, PRIMITIVE_DEGREE_V, PRIMITIVE_LINEAR, PRIMITIVE_POLYGON, PRIMITIVE_RIBBON,
    PRIMITIVE_SPHERE, PRIMITIVE_SQUARE, PRIMITIVE_WEIGHTED, QUADRIC_CONE, QUADRIC_CYLINDER, QUADRIC_DISK,
    QUADRIC_HYPERBOLOID, QUADRIC_PARABOLOID, QUADRIC_SPHERE, QUADRIC_TORUS,
};
use crate::pipeline::kernels::records::Primitive;
use crate::scene::{
    Blobs, Class, CurveSegments, Facets, Geometry, LimitPatches, PATCH_DEGREE_MAX, Patches, PointForm, Points, Quadric,
    QuadricShape, Shape,
};
use rustc_hash::FxHashMap;
use std::ops::Range;

const _: () = assert!(PATCH_DEGREE_MAX + 1 == ORDER_MAX, "the kernels take patches of the highest degree");

const WHOLE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

/// How the indices of a geometry are renumbered for a run: not at all when the run is the whole geometry, else by first
/// use.
pub(super) struct Indices {
    whole: bool,
    range: Range<usize>,
    varying: Renumber,
    face_varying: Renumber,
    face: Renumber,
}

#[derive(Default)]
struct Renumber {
    to: FxHashMap<u32, u32>,
    from: Vec<u32>,
}

impl Renumber {
    fn number(&mut self, index: u32) -> u32 {
        let next = self.from.len() as u32;
        let from = &mut self.from;
        *self.to.entry(index).or_insert_with(|| {
            from.push(index);
            next
        })
    }
}

impl Indices {
    pub(super) fn new(count: usize, range: &Range<usize>) -> Self {
        Self {
            whole: *range == (0..count),
            range: range.clone(),
            varying: Renumber::default(),
            face_varying: Renumber::default(),
            face: Renumber::default(),
        }
    }

    fn varying(&mut self, index: u32) -> u32 {
        if self.whole { index } else { self.varying.number(index) }
    }

    fn face_varying(&mut self, index: u32) -> u32 {
        if self.whole { index } else { self.face_varying.number(index) }
    }

    fn face(&mut self, index: u32) -> u32 {
        if self.whole { index } else { self.face.number(index) }
    }

    /// First control vertex of primitive `i` in the run's numbering, with `each` of them a primitive.
    fn control(&self, i: usize, each: usize) -> u32 {
        ((i - self.range.start) * each) as u32
    }

    /// Which values of a class the run holds, in order; `None` when all, as they stand.
    pub(super) fn order(&self, class: Class, shape: &Shape) -> Option<Vec<u32>> {
        if self.whole {
            return None;
        }
        Some(match class {
            Class::Constant => vec![0],
            Class::Uniform => self.face.from.clone(),
            Class::Varying | Class::FaceVarying if let Shape::Limit(patches) = shape => {
                let each = patches.corner_count();
                (self.range.start * each..self.range.end * each).map(|i| i as u32).collect()
            }
            Class::Vertex if let Shape::Limit(patches) = shape => {
                (patches.first_point(self.range.start)..patches.first_point(self.range.end)).map(|i| i as u32).collect()
            }
            Class::Varying => self.varying.from.clone(),
            Class::FaceVarying => self.face_varying.from.clone(),
            Class::Vertex => match control_vertices(shape) {
                Some(each) => (self.range.start * each..self.range.end * each).map(|i| i as u32).collect(),
                None => self.varying.from.clone(),
            },
        })
    }
}

/// Control vertices a primitive, where vertex-class values are numbered by primitive; `None` where they follow the
/// varying indices.
fn control_vertices(shape: &Shape) -> Option<usize> {
    match shape {
        Shape::Patches(patches) => Some(patches.control_count()),
        Shape::Curves(curves) => curves.cubic.then_some(4),
        Shape::Limit(patches) => Some(patches.gregory_count()),
        Shape::Quadric(_) | Shape::Facets(_) | Shape::Points(_) | Shape::Blobs(_) => None,
    }
}

/// Bytes that the geometry takes up when lowered whole.
pub(super) fn whole_bytes(geometry: &Geometry) -> u64 {
    let shape = geometry.shape.first();
    let records = match shape {
        Shape::Quadric(_) => 2,
        Shape::Facets(facets) => facets.positions.len() + facets.face_normals.len(),
        Shape::Patches(patches) => {
            let each = BOUND_RECORDS + usize::from(patches.trim.is_some());
            patches.control.len() + each * patches.corners.len() + trim_records(shape)
        }
        Shape::Limit(patches) => patches.control.len() + patches.seam_points.len(),
        Shape::Curves(curves) => curves.control.len() + curves.weights.len() + 2 * curves.normals.len(),
        Shape::Points(points) => points.positions.len(),
        Shape::Blobs(blobs) => {
            let programs: usize = blobs.programs.iter().map(|steps| blob::records(steps)).sum();
            4 * blobs.corners.len() + programs + blob::depth_records(blobs)
        }
    };
    let values: usize = geometry.primvars.iter().map(primvar_bytes).sum();
    let keyframes = geometry.shape.keyframes().len();
    (shape.primitive_count() * size_of::<Primitive>() + keyframes * records * 16 + values) as u64
}

/// Records that every run of a shape has, however few its primitives are.
pub(super) fn trim_records(shape: &Shape) -> usize {
    shape.trim().map_or(0, |trim| trim::records(trim))
}

fn primvar_bytes(primvar: &crate::scene::Primvar) -> usize {
    match &primvar.data {
        crate::scene::PrimvarData::Floats(values) => values.len() * 4 + 16,
        crate::scene::PrimvarData::Strings(_) => 0,
    }
}

/// Bytes that one primitive takes up at most, with everything it names.
pub(super) fn primitive_bytes_max(geometry: &Geometry) -> u64 {
    let shape = geometry.shape.first();
    let records = match shape {
        Shape::Quadric(_) => 2,
        Shape::Facets(_) => 5,
        Shape::Patches(patches) => patches.control_count() + BOUND_RECORDS + 1,
        Shape::Limit(patches) => patches.gregory_count() + 4 * patches.seam_count(),
        Shape::Curves(_) => 7,
        Shape::Points(_) => 1,
        Shape::Blobs(blobs) => {
            let program = blobs.programs.iter().map(|steps| blob::records(steps)).max().unwrap_or(0);
            4 + program + blob::depth_records(blobs)
        }
    };
    let floats: usize = geometry
        .primvars
        .iter()
        .map(|primvar| {
            let values = match primvar.class {
                Class::Constant | Class::Uniform => 1,
                Class::Varying | Class::FaceVarying => 4,
                Class::Vertex => control_vertices(shape).unwrap_or(4),
            };
            // four more for the padding of each primvar's array
            values * primvar.ty.floats() * primvar.array_len as usize + 4
        })
        .sum();
    (size_of::<Primitive>() + geometry.shape.keyframes().len() * records * 16 + floats * 4) as u64
}

/// Appends primitives `range` of a shape, with control data, and notes the indices they use.
pub(super) fn append_primitives(shape: &Shape, range: Range<usize>, indices: &mut Indices, page: &mut Page) {
    match shape {
        Shape::Quadric(quadric) => append_quadric(quadric, page),
        Shape::Facets(facets) => append_facets(facets, range, indices, page),
        Shape::Patches(patches) => append_patches(patches, range, indices, page),
        Shape::Limit(patches) => append_limit_patches(patches, range, indices, page),
        Shape::Curves(curves) => append_curves(curves, range, indices, page),
        Shape::Points(points) => append_points(points, range, indices, page),
        Shape::Blobs(blobs) => append_blobs(blobs, range, indices, page),
    }
}

fn append_quadric(quadric: &Quadric, page: &mut Page) {
    let turns = |angle: f64| (angle / std::f64::consts::TAU) as f32;
    // Exact quarter turns at the poles: asin of the clamped ratio, in double precision.
    let profile = |z: f32, radius: f32| turns((f64::from(z) / f64::from(radius)).clamp(-1.0, 1.0).asin());
    let sweep = (f64::from(quadric.sweep_degrees) / 360.0) as f32;
    let (number, sizes) = match quadric.shape {
        QuadricShape::Sphere { radius, zmin, zmax } => {
            (QUADRIC_SPHERE, [radius, profile(zmin, radius), profile(zmax, radius), 0.0, 0.0, 0.0])
        }
        QuadricShape::Cone { height, radius } => (QUADRIC_CONE, [height, radius, 0.0, 0.0, 0.0, 0.0]),
        QuadricShape::Cylinder { radius, zmin, zmax } => (QUADRIC_CYLINDER, [radius, zmin, zmax, 0.0, 0.0, 0.0]),
        QuadricShape::Hyperboloid { p1, p2 } => (QUADRIC_HYPERBOLOID, [p1[0], p1[1], p1[2], p2[0], p2[1], p2[2]]),
        QuadricShape::Paraboloid { rmax, zmin, zmax } => (QUADRIC_PARABOLOID, [rmax, zmin, zmax, 0.0, 0.0, 0.0]),
        QuadricShape::Disk { height, radius } => (QUADRIC_DISK, [height, radius, 0.0, 0.0, 0.0, 0.0]),
        QuadricShape::Torus { major, minor, phi_min, phi_max } => {
            (QUADRIC_TORUS, [major, minor, turns(f64::from(phi_min)), turns(f64::from(phi_max)), 0.0, 0.0])
        }
    };
    page.primitives.push(Primitive {
        kind_flags: PrimitiveKind::Quadric.number(),
        data: page.data.len() as u32,
        face: 0,
        extra: 0,
        corners: [0, 1, 2, 3],
        face_corners: [0, 1, 2, 3],
        uv_range: WHOLE,
    });
    let [a, b, c, d, e, f] = sizes;
    page.data.push([number as f32, sweep, a, b]);
    page.data.push([c, d, e, f]);
}

fn append_facets(facets: &Facets, range: Range<usize>, indices: &mut Indices, page: &mut Page) {
    let start = page.primitives.len();
    for i in range {
        page.primitives.push(Primitive {
            kind_flags: PrimitiveKind::Facet.number() | if facets.polygon { PRIMITIVE_POLYGON } else { 0 },
            data: 0,
            face: indices.face(facets.face[i]),
            extra: 0,
            corners: facets.corners[i].map(|c| indices.varying(c)),
            face_corners: facets.face_corners[i].map(|c| indices.face_varying(c)),
            uv_range: facets.uv_range.get(i).copied().unwrap_or(WHOLE),
        });
    }
    let data = page.data.len() as u32;
    append_points3(page, &facets.positions, (!indices.whole).then_some(&indices.varying.from));
    let extra = page.data.len() as u32;
    if facets.polygon {
        append_points3(page, &facets.face_normals, (!indices.whole).then_some(&indices.face.from));
    }
    for primitive in &mut page.primitives[start..] {
        primitive.data = data;
        primitive.extra = extra;
    }
}

fn append_points3(page: &mut Page, points: &[[f32; 3]], order: Option<&Vec<u32>>) {
    let record = |p: &[f32; 3]| [p[0], p[1], p[2], 0.0];
    match order {
        None => page.data.extend(points.iter().map(record)),
        Some(order) => page.data.extend(order.iter().map(|&i| record(&points[i as usize]))),
    }
}

fn append_patches(patches: &Patches, range: Range<usize>, indices: &mut Indices, page: &mut Page) {
    let each = patches.control_count();
    let [u, v] = patches.degrees;
    let kind_flags = if patches.is_plain_bicubic() {
        PrimitiveKind::Patch.number()
    } else {
        PrimitiveKind::Rational.number() | u << PRIMITIVE_DEGREE_U | v << PRIMITIVE_DEGREE_V
    };
    let trim_base = page.data.len() as f32;
    if let Some(trim) = &patches.trim {
        trim::append(trim, page);
    }
    for i in range {
        if patches.trim.is_some() {
            page.data.push([trim_base, 0.0, 0.0, 0.0]);
        }
        page.primitives.push(Primitive {
            kind_flags,
            data: page.data.len() as u32,
            face: indices.face(patches.face[i]),
            extra: indices.control(i, each),
            corners: patches.corners[i].map(|c| indices.varying(c)),
            face_corners: patches.face_corners[i].map(|c| indices.face_varying(c)),
            uv_range: patches.uv_range.get(i).copied().unwrap_or(WHOLE),
        });
        let control = &patches.control[each * i..each * (i + 1)];
        if patches.is_plain_bicubic() {
            append_points3(page, control, None);
            continue;
        }
        let weight = |k: usize| patches.weights.get(each * i + k).copied().unwrap_or(1.0);
        let first = page.data.len();
        page.data.extend(control.iter().enumerate().map(|(k, [x, y, z])| [*x, *y, *z, weight(k)]));
        let bounds = curvature::derivative_bounds(&page.data[first..], patches.degrees);
        page.data.extend(bounds);
    }
}

fn append_limit_patches(patches: &LimitPatches, range: Range<usize>, indices: &mut Indices, page: &mut Page) {
    let (first_corner, first_point) = (range.start * patches.corner_count(), patches.first_point(range.start));
    for i in range {
        let corners = patches.corners(i).map(|corner| corner - first_corner as u32);
        let data = page.data.len() as u32;
        append_points3(page, &patches.control[patches.first_point(i)..patches.first_point(i + 1)], None);
        let (kind, face_corners) = match i.checked_sub(patches.plain_count) {
            None => (PrimitiveKind::Patch, corners),
            Some(gregory) => {
                let kind = if patches.triangles { PrimitiveKind::Triangle } else { PrimitiveKind::Gregory };
                (kind, patches.seams[gregory].map(|seam| append_seam(patches, seam, page)))
            }
        };
        page.primitives.push(Primitive {
            kind_flags: kind.number(),
            data,
            face: indices.face(patches.face[i]),
            extra: (patches.first_point(i) - first_point) as u32,
            corners,
            face_corners,
            uv_range: patches.uv_range[i],
        });
    }
}

/// Appends the points of a seam, counted from 1; returns the record of the first, 0 for none.
fn append_seam(patches: &LimitPatches, seam: u32, page: &mut Page) -> u32 {
    let Some(seam) = (seam as usize).checked_sub(1) else { return 0 };
    let record = page.data.len() as u32;
    let each = patches.seam_count();
    append_points3(page, &patches.seam_points[each * seam..each * (seam + 1)], None);
    record
}

fn append_curves(curves: &CurveSegments, range: Range<usize>, indices: &mut Indices, page: &mut Page) {
    let each = if curves.cubic { 4 } else { 2 };
    for i in range {
        let [start, end] = curves.ends[i].map(|e| indices.varying(e));
        let [v0, v1] = curves.v_range[i];
        let (normals, weights) = (curves.normals.get(i), curves.weights.get(i));
        let data = page.data.len() as u32;
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        let flags = bit(!curves.cubic, PRIMITIVE_LINEAR)
            | bit(normals.is_some(), PRIMITIVE_RIBBON)
            | bit(weights.is_some(), PRIMITIVE_WEIGHTED);
        // Varying values do not change across a curve: (u,v) = (0,0) and (1,0) are its start. A cubic's third index is
        // that of its first control vertex instead; its varying ones are the first and the last.
        page.primitives.push(Primitive {
            kind_flags: PrimitiveKind::Curve.number() | flags,
            data,
            face: indices.face(curves.face[i]),
            extra: data + (each + usize::from(weights.is_some())) as u32,
            corners: [start, start, end, end],
            face_corners: [start, start, end, indices.control(i, each)],
            uv_range: [0.0, v0, 1.0, v1],
        });
        append_points3(page, &curves.control[each * i..each * (i + 1)], None);
        let widths = curves.widths[i];
        let used = if curves.cubic { &widths[..] } else { &[widths[0], widths[3]] };
        for (record, &width) in page.data[data as usize..].iter_mut().zip(used) {
            record[3] = width;
        }
        page.data.extend(weights);
        if let Some(normals) = normals {
            append_points3(page, normals, None);
        }
    }
}

fn append_points(points: &Points, range: Range<usize>, indices: &mut Indices, page: &mut Page) {
    let form = match points.form {
        PointForm::Disk => 0,
        PointForm::Sphere => PRIMITIVE_SPHERE,
        PointForm::Square => PRIMITIVE_SQUARE,
    };
    for i in range {
        let index = indices.varying(i as u32);
        let [x, y, z] = points.positions[i];
        page.primitives.push(Primitive {
            kind_flags: PrimitiveKind::Point.number() | form,
            data: page.data.len() as u32,
            face: indices.face(0),
            extra: 0,
            corners: [index; 4],
            face_corners: [index; 4],
            uv_range: WHOLE,
        });
        page.data.push([x, y, z, points.widths[i]]);
    }
}

fn append_blobs(blobs: &Blobs, range: Range<usize>, indices: &mut Indices, page: &mut Page) {
    let mut programs = FxHashMap::default();
    let grounds = blob::append_depths(blobs, page);
    for i in range {
        let number = blobs.program[i];
        let steps = &blobs.programs[number as usize];
        let (program, count) = *programs.entry(number).or_insert_with(|| {
            let first = page.data.len();
            (first, blob::append(steps, &grounds, page))
        });
        let corners = blobs.corners[i].map(|corner| indices.varying(corner));
        page.primitives.push(Primitive {
            kind_flags: PrimitiveKind::Blob.number(),
            data: page.data.len() as u32,
            face: indices.face(0),
            extra: 0,
            corners,
            face_corners: blobs.corners[i].map(|corner| indices.face_varying(corner)),
            uv_range: WHOLE,
        });
        // Record numbers are floats, which are exact up to 2^24; a page has fewer.
        for (corner, w) in blobs.corners[i].iter().zip([program as f32, count as f32, blobs.reach, blobs.threshold]) {
            let [x, y, z] = blobs.positions[*corner as usize];
            page.data.push([x, y, z, w]);
        }
    }
}
