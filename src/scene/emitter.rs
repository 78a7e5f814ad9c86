//! Points on the surfaces of area lights (RISpec 4.2, AreaLightSource).

use super::{Facets, Geometry, Patches, Quadric, QuadricShape, Shape};
use glam::{DMat4, DVec3, DVec4, Vec3};
use std::f64::consts::TAU;
use std::sync::Arc;

/// The most cells that the surfaces of a light are cut into, unless they have more primitives.
const CELLS_MAX: usize = 1 << 16;
/// The finest cut of one primitive: cells along a side as a power of two.
const SIDE_BITS_MAX: u32 = 4;
/// The step in (u,v) by which tangents are measured.
const TANGENT_STEP: f64 = 1.0 / 64.0;

/// Geometry that an area light shines from.
#[derive(Clone, Debug)]
pub struct Emitter {
    /// The geometry; what deforms shines from its first shape.
    pub geometry: Arc<Geometry>,
    /// Where it is.
    pub world_from_object: DMat4,
    /// Whether the surface's normal is opposite to dP/du x dP/dv in world space.
    pub flipped: bool,
}

/// A point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Position in world space.
    pub position: DVec3,
    /// The unit normal in world space.
    pub normal: DVec3,
}

/// A part of a primitive's (u,v) square.
#[derive(Clone, Copy)]
struct SurfaceCell {
    emitter: usize,
    primitive: usize,
    uv: [f64; 2],
    area: f64,
}

impl Emitter {
    /// Whether points of this shape can be found: quadrics, polygons, bilinear patches, Bezier patches and NURBS.
    pub fn can_shine(shape: &Shape) -> bool {
        matches!(shape, Shape::Quadric(_) | Shape::Facets(_) | Shape::Patches(_))
    }

    fn position(&self, primitive: usize, u: f64, v: f64) -> DVec3 {
        let point = match self.geometry.shape.first() {
            Shape::Quadric(quadric) => quadric_point(quadric, u, v),
            Shape::Facets(facets) => facet_point(facets, primitive, u, v),
            Shape::Patches(patches) => patch_point(patches, primitive, u, v),
            _ => DVec3::ZERO,
        };
        self.world_from_object.transform_point3(point)
    }

    fn surface_point(&self, primitive: usize, [u, v]: [f64; 2]) -> SurfacePoint {
        let around = |x: f64| ((x - TANGENT_STEP).max(0.0), (x + TANGENT_STEP).min(1.0));
        let ((u0, u1), (v0, v1)) = (around(u), around(v));
        let along_u = self.position(primitive, u1, v) - self.position(primitive, u0, v);
        let along_v = self.position(primitive, u, v1) - self.position(primitive, u, v0);
        let normal = along_u.cross(along_v).normalize_or(DVec3::Z);
        let normal = if self.flipped { -normal } else { normal };
        SurfacePoint { position: self.position(primitive, u, v), normal }
    }

    /// Returns the cells of a primitive in Morton order, in which neighbours in the list are neighbours on the surface.
    fn cells(&self, emitter: usize, primitive: usize, side_bits: u32) -> impl Iterator<Item = SurfaceCell> {
        let side = f64::from(1 << side_bits);
        (0..1u32 << (2 * side_bits)).map(move |code| {
            let [u, v] = [code, code >> 1].map(|code| f64::from(even_bits(code)) / side);
            let at = |i: f64, j: f64| self.position(primitive, u + i / side, v + j / side);
            let area = 0.5 * (at(1.0, 1.0) - at(0.0, 0.0)).cross(at(0.0, 1.0) - at(1.0, 0.0)).length();
            SurfaceCell { emitter, primitive, uv: [u + 0.5 / side, v + 0.5 / side], area }
        })
    }
}

/// Returns the bits of even places, moved together; as many as a code of the finest cut has.
fn even_bits(code: u32) -> u32 {
    (0..SIDE_BITS_MAX).map(|bit| (code >> (2 * bit) & 1) << bit).sum()
}

/// Returns points on the surfaces, each in the middle of an equal part of their area; none if they have no area.
pub fn spread(emitters: &[Emitter], count: usize) -> Vec<SurfacePoint> {
    let cells = cells_of(emitters);
    let total: f64 = cells.iter().map(|cell| cell.area).sum();
    if !(total.is_finite() && total > 0.0) {
        return Vec::new();
    }
    let (mut points, mut at, mut before) = (Vec::with_capacity(count), 0, 0.0);
    for part in 1..=count {
        let end = total * part as f64 / count as f64;
        let first = at;
        while at < cells.len() && before + 0.5 * cells[at].area <= end {
            before += cells[at].area;
            at += 1;
        }
        // A part smaller than its cell has none of its own.
        let own = if first < at { &cells[first..at] } else { &cells[at.min(cells.len() - 1)..][..1] };
        points.push(middle(emitters, own));
    }
    points
}

fn cells_of(emitters: &[Emitter]) -> Vec<SurfaceCell> {
    let counts = emitters.iter().map(|emitter| emitter.geometry.shape.first().primitive_count());
    let primitives = counts.clone().sum::<usize>().max(1);
    let side_bits = ((CELLS_MAX / primitives).max(1).ilog2() / 2).min(SIDE_BITS_MAX);
    let numbered = emitters.iter().zip(counts).enumerate();
    let cells = numbered.flat_map(|(i, (emitter, count))| (0..count).flat_map(move |p| emitter.cells(i, p, side_bits)));
    cells.filter(|cell| cell.area > 0.0).collect()
}

/// Returns the point in the middle of the primitive that has the largest part of these cells.
fn middle(emitters: &[Emitter], cells: &[SurfaceCell]) -> SurfacePoint {
    let area = |cells: &[SurfaceCell]| cells.iter().map(|cell| cell.area).sum::<f64>();
    let of_one = cells.chunk_by(|a, b| (a.emitter, a.primitive) == (b.emitter, b.primitive));
    let largest = of_one.max_by(|a, b| area(a).total_cmp(&area(b))).unwrap_or(cells);
    let total = area(largest);
    let uv = [0, 1].map(|axis| largest.iter().map(|cell| cell.uv[axis] * cell.area).sum::<f64>() / total);
    emitters[largest[0].emitter].surface_point(largest[0].primitive, uv)
}

fn mix(a: f64, b: f64, t: f64) -> f64 {
    a + (b - a) * t
}

fn quadric_point(quadric: &Quadric, u: f64, v: f64) -> DVec3 {
    let between = |a: f32, b: f32| mix(f64::from(a), f64::from(b), v);
    let [x, y, z] = match quadric.shape {
        QuadricShape::Sphere { radius, zmin, zmax } => {
            let radius = f64::from(radius);
            let angle = |z: f32| (f64::from(z) / radius).clamp(-1.0, 1.0).asin();
            let angle = mix(angle(zmin), angle(zmax), v);
            [radius * angle.cos(), 0.0, radius * angle.sin()]
        }
        QuadricShape::Cone { height, radius } => [between(radius, 0.0), 0.0, between(0.0, height)],
        QuadricShape::Cylinder { radius, zmin, zmax } => [f64::from(radius), 0.0, between(zmin, zmax)],
        QuadricShape::Hyperboloid { p1, p2 } => [0, 1, 2].map(|axis| between(p1[axis], p2[axis])),
        QuadricShape::Paraboloid { rmax, zmin, zmax } => {
            let z = between(zmin, zmax);
            [f64::from(rmax) * (z / f64::from(zmax)).max(0.0).sqrt(), 0.0, z]
        }
        QuadricShape::Disk { height, radius } => [between(radius, 0.0), 0.0, f64::from(height)],
        QuadricShape::Torus { major, minor, phi_min, phi_max } => {
            let (sin, cos) = between(phi_min, phi_max).sin_cos();
            [f64::from(major) + f64::from(minor) * cos, 0.0, f64::from(minor) * sin]
        }
    };
    let (sin, cos) = (TAU * f64::from(quadric.sweep_degrees) / 360.0 * u).sin_cos();
    DVec3::new(x * cos - y * sin, x * sin + y * cos, z)
}

fn facet_point(facets: &Facets, facet: usize, u: f64, v: f64) -> DVec3 {
    let [a, b, c, d] = facets.corners[facet].map(|corner| Vec3::from(facets.positions[corner as usize]).as_dvec3());
    a.lerp(b, u).lerp(c.lerp(d, u), v)
}

fn patch_point(patches: &Patches, patch: usize, u: f64, v: f64) -> DVec3 {
    let first = patch * patches.control_count();
    let control = |i: usize| {
        let weight = patches.weights.get(first + i).copied().unwrap_or(1.0);
        Vec3::from(patches.control[first + i]).as_dvec3().extend(weight.into())
    };
    let row_length = patches.degrees[0] as usize + 1;
    let rows = (0..=patches.degrees[1] as usize).map(|row| row * row_length);
    let across = rows.map(|row| bezier((row..row + row_length).map(control).collect(), u)).collect();
    let point = bezier(across, v);
    point.truncate() / point.w
}

/// Evaluates a curve by De Casteljau's algorithm.
fn bezier(mut points: Vec<DVec4>, t: f64) -> DVec4 {
    while points.len() > 1 {
        points = points.windows(2).map(|pair| pair[0].lerp(pair[1], t)).collect();
    }
    points[0]
}
