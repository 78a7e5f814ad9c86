//! The parametric surface of every primitive, in double precision, from the formulas of RISpec 5.

use super::{edge, limit};
use anthill::pipeline::kernels::records::Subpatch;
use anthill::scene::{CurveSegments, Facets, LimitPatches, Patches, PointForm, Points, Quadric, QuadricShape, Shape};
use glam::{DMat3, DMat4, DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// One primitive in camera space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface<'a> {
    pub shape: &'a Shape,
    pub primitive: usize,
    pub camera_from_object: DMat4,
    pub perspective: bool,
    /// Chords of a point's rim, whose polygon has the disk's area; 0: a true circle.
    pub rim_chords: f64,
}

fn vec(p: [f32; 3]) -> DVec3 {
    DVec3::from(p.map(f64::from))
}

fn weighted(patches: &LimitPatches, weights: Vec<(usize, f64)>) -> DVec3 {
    weights.into_iter().map(|(point, weight)| vec(patches.control[point]) * weight).sum()
}

fn mix(a: DVec3, b: DVec3, t: f64) -> DVec3 {
    a * (1.0 - t) + b * t
}

impl Surface<'_> {
    /// P(u, v) in camera space.
    pub(crate) fn position(&self, u: f64, v: f64) -> DVec3 {
        let object = |p: DVec3| self.camera_from_object.transform_point3(p);
        match self.shape {
            Shape::Quadric(q) => object(quadric(q, u, v)),
            Shape::Facets(f) => object(facet(f, self.primitive, u, v)),
            Shape::Patches(p) => object(patch(p, self.primitive, u, v)),
            Shape::Limit(p) => object(weighted(p, limit::weights(p, self.primitive, [u, v]))),
            Shape::Curves(c) => self.curve(c, u, v),
            Shape::Points(p) => self.point(p, u, v),
            Shape::Blobs(b) => object(super::blob::position(b, self.primitive, u, v)),
        }
    }

    /// dP/du and dP/dv by differences: central inside, one-sided at the rim of the parameter square.
    pub(crate) fn tangents(&self, u: f64, v: f64) -> [DVec3; 2] {
        const STEP: f64 = 1e-5;
        let along = |t: f64, at: &dyn Fn(f64) -> DVec3| {
            let (low, high) = ((t - STEP).max(0.0), (t + STEP).min(1.0));
            if low > 0.0 && high < 1.0 {
                return (at(high) - at(low)) / (high - low);
            }
            // Second order, one-sided.
            let step = if low > 0.0 { -STEP } else { STEP };
            (4.0 * at(t + step) - 3.0 * at(t) - at(t + 2.0 * step)) / (2.0 * step)
        };
        // Derivatives on a triangle are by its barycentric coordinates.
        if let Shape::Limit(patches) = self.shape
            && patches.triangles
        {
            let [s, t] = limit::barycentric([u, v]);
            let first = patches.first_point(self.primitive);
            let at = |s: f64, t: f64| {
                let weights = limit::triangle(s, t).into_iter().enumerate().map(|(k, w)| (first + k, w)).collect();
                self.camera_from_object.transform_point3(weighted(patches, weights))
            };
            let half = 1.0 / (2.0 * STEP);
            return [(at(s + STEP, t) - at(s - STEP, t)) * half, (at(s, t + STEP) - at(s, t - STEP)) * half];
        }
        // A ribbon's dP/dv is that of its centre line: what its width and turning add has no place on a hair.
        let across = if matches!(self.shape, Shape::Curves(_)) { 0.5 } else { u };
        [along(u, &|t| self.position(t, v)), along(v, &|t| self.position(across, t))]
    }

    /// The direction of dP/du x dP/dv, taken a little inside where a border has collapsed. Polygons have their face's
    /// normal.
    pub(crate) fn normal(&self, u: f64, v: f64) -> DVec3 {
        if let Shape::Facets(facets) = self.shape
            && facets.polygon
        {
            let n = vec(facets.face_normals[facets.face[self.primitive] as usize]);
            let matrix = DMat3::from_mat4(self.camera_from_object);
            return (matrix.inverse().transpose() * n * matrix.determinant()).normalize_or_zero();
        }
        if let Shape::Points(_) = self.shape {
            let toward = if self.perspective { self.position(0.0, 0.0).normalize() } else { DVec3::Z };
            return -toward; // faces the eye
        }
        for inside in [0.0, 1e-4, 1e-3] {
            let [du, dv] = self.tangents(u + (0.5 - u) * inside, v + (0.5 - v) * inside);
            let n = du.cross(dv);
            if n.length() > 1e-9 * (du.length_squared() + dv.length_squared()) {
                return n.normalize();
            }
        }
        DVec3::ZERO
    }

    /// Camera space from object space, without the place.
    fn linear(&self) -> DMat3 {
        DMat3::from_mat4(self.camera_from_object)
    }

    /// A ribbon about its centre line: perpendicular to the line of sight (or to its normals) in object space, where
    /// its width is measured, u from one side to the other so that dP/du x dP/dv looks towards the eye (along the
    /// normals).
    fn curve(&self, curves: &CurveSegments, u: f64, v: f64) -> DVec3 {
        let each = if curves.cubic { 4 } else { 2 };
        let control: Vec<DVec3> = curves.control[self.primitive * each..][..each]
            .iter()
            .map(|p| self.camera_from_object.transform_point3(vec(*p)))
            .collect();
        let centre = if curves.cubic { bezier(&control, v) } else { mix(control[0], control[1], v) };
        let derivative = |v: f64| {
            if curves.cubic { bezier_derivative(&control, v) } else { control[1] - control[0] }
        };
        let mut along = derivative(v);
        if along == DVec3::ZERO {
            along = control[each - 1] - control[0];
        }
        let inverse = self.linear().inverse();
        let eye_ward = match curves.normals.get(self.primitive) {
            Some([first, last]) => mix(vec(*first), vec(*last), v),
            None => inverse * if self.perspective { -centre } else { -DVec3::Z } * self.linear().determinant().signum(),
        };
        // across x along must look along eye_ward: across = along x eye_ward.
        let across = self.linear() * (inverse * along).cross(eye_ward).normalize_or(DVec3::X);
        let [w0, w1, w2, w3] = curves.widths[self.primitive].map(|width| DVec3::splat(f64::from(width)));
        let width = if curves.cubic { bezier(&[w0, w1, w2, w3], v) } else { mix(w0, w3, v) }.x;
        centre + across * ((u - 0.5) * width)
    }

    /// Whether a grid is a small disk: 3x3 vertices, of which the middle one is its centre.
    pub(crate) fn is_octagon(&self, grid: &Subpatch) -> bool {
        let is_disk = matches!(self.shape, Shape::Points(points) if points.form == PointForm::Disk);
        is_disk && edge::levels(grid) == [0, 0] && grid.micropolygons() == [2, 2]
    }

    /// (u, v) of vertex (i, j) of a grid, which of a small disk is on the rim around its centre.
    pub(crate) fn parameters(&self, grid: &Subpatch, i: u32, j: u32) -> [f64; 2] {
        if !self.is_octagon(grid) {
            return edge::vertex(grid, i, j).map(edge::number);
        }
        let [right, up] = [f64::from(i) - 1.0, 1.0 - f64::from(j)];
        let turns = (up.atan2(right) / TAU).rem_euclid(1.0);
        if [i, j] == [1, 1] { [0.0, 0.0] } else { [turns, 1.0] }
    }

    /// A disk that faces the eye in object space, u around and v from the centre.
    fn point(&self, points: &Points, u: f64, v: f64) -> DVec3 {
        let centre = self.camera_from_object.transform_point3(vec(points.positions[self.primitive]));
        let toward = if self.perspective { centre.normalize() } else { DVec3::Z };
        let axis = if toward.y.abs() < 0.9 { DVec3::Y } else { DVec3::X };
        let matrix = self.linear();
        let placed = |across: DVec3| matrix * (matrix.transpose() * across).normalize();
        let right = placed(axis.cross(toward));
        let up = placed(toward.cross(right));
        let mut radius = 0.5 * f64::from(points.widths[self.primitive]);
        if self.rim_chords > 0.0 {
            radius *= equal_area(self.rim_chords);
        }
        let (sin, cos) = (TAU * u).sin_cos();
        centre + (right * cos + up * sin) * (radius * v)
    }
}

/// Radius of the regular polygon with `n` corners whose area is that of the unit circle: n/2 r^2 sin(2 pi / n) = pi.
pub(crate) fn equal_area(n: f64) -> f64 {
    (PI / (0.5 * n * (TAU / n).sin())).sqrt()
}

fn quadric(quadric: &Quadric, u: f64, v: f64) -> DVec3 {
    let theta = u * f64::from(quadric.sweep_degrees).to_radians();
    let of = |a: f32, b: f32| f64::from(a) * (1.0 - v) + f64::from(b) * v;
    let (profile, z) = match quadric.shape {
        QuadricShape::Sphere { radius, zmin, zmax } => {
            let radius = f64::from(radius);
            let angle = |z: f32| (f64::from(z) / radius).clamp(-1.0, 1.0).asin();
            let phi = angle(zmin) * (1.0 - v) + angle(zmax) * v;
            (DVec2::new(radius * phi.cos(), 0.0), radius * phi.sin())
        }
        QuadricShape::Cone { height, radius } => {
            (DVec2::new(f64::from(radius) * (1.0 - v), 0.0), f64::from(height) * v)
        }
        QuadricShape::Cylinder { radius, zmin, zmax } => (DVec2::new(f64::from(radius), 0.0), of(zmin, zmax)),
        QuadricShape::Hyperboloid { p1, p2 } => (DVec2::new(of(p1[0], p2[0]), of(p1[1], p2[1])), of(p1[2], p2[2])),
        QuadricShape::Paraboloid { rmax, zmin, zmax } => {
            let z = of(zmin, zmax);
            (DVec2::new(f64::from(rmax) * (z / f64::from(zmax)).max(0.0).sqrt(), 0.0), z)
        }
        QuadricShape::Disk { height, radius } => (DVec2::new(f64::from(radius) * (1.0 - v), 0.0), f64::from(height)),
        QuadricShape::Torus { major, minor, phi_min, phi_max } => {
            let phi = of(phi_min, phi_max);
            let minor = f64::from(minor);
            (DVec2::new(f64::from(major) + minor * phi.cos(), 0.0), minor * phi.sin())
        }
    };
    DVec2::from_angle(theta).rotate(profile).extend(z)
}

fn facet(facets: &Facets, primitive: usize, u: f64, v: f64) -> DVec3 {
    let [a, b, c, d] = facets.corners[primitive].map(|corner| vec(facets.positions[corner as usize]));
    mix(mix(a, b, u), mix(c, d, u), v)
}

/// De Casteljau.
fn bezier(control: &[DVec3], t: f64) -> DVec3 {
    let mut points = control.to_vec();
    while points.len() > 1 {
        points = points.windows(2).map(|pair| mix(pair[0], pair[1], t)).collect();
    }
    points[0]
}

fn bezier_derivative(control: &[DVec3], t: f64) -> DVec3 {
    let steps: Vec<DVec3> = control.windows(2).map(|pair| pair[1] - pair[0]).collect();
    bezier(&steps, t) * 3.0
}

fn patch(patches: &Patches, primitive: usize, u: f64, v: f64) -> DVec3 {
    let each = patches.control_count();
    let weight = |k: usize| patches.weights.get(each * primitive + k).map_or(1.0, |&weight| f64::from(weight));
    let control = &patches.control[each * primitive..][..each];
    let tensor = |points: Vec<DVec3>| {
        let rows: Vec<DVec3> = points.chunks(patches.degrees[0] as usize + 1).map(|row| bezier(row, u)).collect();
        bezier(&rows, v)
    };
    let weight = tensor((0..each).map(|k| DVec3::splat(weight(k))).collect()).x;
    tensor(control.iter().map(|p| vec(*p)).collect()) / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrics_satisfy_their_equations() {
        let at = |shape, u, v| quadric(&Quadric { shape, sweep_degrees: 270.0 }, u, v);
        for (u, v) in [(0.0, 0.0), (0.3, 0.7), (1.0, 1.0), (0.5, 0.01)] {
            let p = at(QuadricShape::Sphere { radius: 2.0, zmin: -1.0, zmax: 2.0 }, u, v);
            assert!((p.length() - 2.0).abs() < 1e-12);
            let p = at(QuadricShape::Paraboloid { rmax: 0.5, zmin: 0.25, zmax: 2.0 }, u, v);
            assert!((p.x * p.x + p.y * p.y - 0.25 * p.z / 2.0).abs() < 1e-12);
            let p = at(QuadricShape::Cone { height: 3.0, radius: 1.5 }, u, v);
            assert!((p.truncate().length() / 1.5 + p.z / 3.0 - 1.0).abs() < 1e-12);
            let p = at(QuadricShape::Torus { major: 1.0, minor: 0.25, phi_min: 0.0, phi_max: 3.0 }, u, v);
            assert!(((p.truncate().length() - 1.0).hypot(p.z) - 0.25).abs() < 1e-7);
        }
        let end = at(QuadricShape::Disk { height: 1.0, radius: 1.0 }, 1.0, 0.0);
        assert!((end - DVec3::new(0.0, -1.0, 1.0)).length() < 1e-12, "{end}");
    }

    #[test]
    fn a_grown_polygon_has_the_circles_area() {
        for n in [3.0, 8.0, 60.0] {
            let turn = TAU / n;
            let area = n * 0.5 * equal_area(n).powi(2) * turn.sin();
            assert!((area - PI).abs() < 1e-12);
        }
    }
}
