//! Boxes around geometry.

use super::{Drawable, QuadricShape, Shape};
use glam::{DMat4, DVec3};

/// A box along the axes of some space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceBox {
    /// The least coordinates.
    pub low: DVec3,
    /// The greatest coordinates; less than `low` where the box is empty.
    pub high: DVec3,
}

impl SpaceBox {
    /// A box with nothing in it.
    pub const EMPTY: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.low.cmpgt(self.high).any()
    }

    fn add(&mut self, point: DVec3) {
        (self.low, self.high) = (self.low.min(point), self.high.max(point));
    }

    fn of(points: impl Iterator<Item = DVec3>) -> Self {
        let mut bound = Self::EMPTY;
        points.for_each(|point| bound.add(point));
        bound
    }

    /// Returns the box that has both in it.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns the box with this much more on all sides.
    #[must_use]
    pub fn grown(self, by: f64) -> Self {
        if self.is_empty() { self } else { Self { low: self.low - by, high: self.high + by } }
    }

    /// Creates a box in another space around this one.
    #[must_use]
    pub fn transformed(self, matrix: &DMat4) -> Self {
        if self.is_empty() {
            return self;
        }
        let side = |corner: usize, axis: usize| {
            if corner >> axis & 1 == 0 { self.low[axis] } else { self.high[axis] }
        };
        Self::of((0..8).map(|i| matrix.project_point3(DVec3::new(side(i, 0), side(i, 1), side(i, 2)))))
    }
}

impl Shape {
    /// Returns a box around the shape in object space, without displacement.
    pub fn bound(&self) -> SpaceBox {
        let points = |points: &[[f32; 3]]| SpaceBox::of(points.iter().map(|p| DVec3::from_array(p.map(f64::from))));
        let widest =
            |widths: &mut dyn Iterator<Item = &f32>| f64::from(widths.fold(0.0_f32, |most, w| most.max(w.abs())));
        match self {
            Self::Quadric(quadric) => quadric.shape.bound(),
            Self::Facets(facets) => points(&facets.positions),
            Self::Patches(patches) if patches.weights.is_empty() => points(&patches.control),
            Self::Patches(patches) => {
                let weighted = patches.control.iter().zip(patches.weights.iter());
                SpaceBox::of(weighted.map(|(p, w)| DVec3::from_array(p.map(f64::from)) / f64::from(*w)))
            }
            // The limit surface is within the hull of its Bezier points.
            Self::Limit(patches) => points(&patches.control),
            Self::Curves(curves) => {
                points(&curves.control).grown(0.5 * widest(&mut curves.widths.as_flattened().iter()))
            }
            Self::Points(cloud) => points(&cloud.positions).grown(0.5 * widest(&mut cloud.widths.iter())),
            Self::Blobs(blobs) => points(&blobs.positions).grown(f64::from(blobs.reach)),
        }
    }
}

impl QuadricShape {
    /// Returns a box around the whole quadric, whatever its sweep.
    fn bound(&self) -> SpaceBox {
        let round = |radius: f32, low: f32, high: f32| {
            let [r, low, high] = [radius.abs(), low.min(high), low.max(high)].map(f64::from);
            SpaceBox { low: DVec3::new(-r, -r, low), high: DVec3::new(r, r, high) }
        };
        match *self {
            Self::Sphere { radius, zmin, zmax } => round(radius, zmin, zmax),
            Self::Cone { height, radius } => round(radius, 0.0, height),
            Self::Cylinder { radius, zmin, zmax } => round(radius, zmin, zmax),
            Self::Hyperboloid { p1, p2 } => round(p1[0].hypot(p1[1]).max(p2[0].hypot(p2[1])), p1[2], p2[2]),
            Self::Paraboloid { rmax, zmin, zmax } => round(rmax, zmin, zmax),
            Self::Disk { height, radius } => round(radius, height, height),
            Self::Torus { major, minor, .. } => round(major.abs() + minor.abs(), -minor, minor),
        }
    }
}

impl Drawable {
    /// Returns a box around the drawable in another space, displaced as far as it declares.
    pub fn bound_in(&self, space_from_world: &DMat4) -> SpaceBox {
        let shapes = self.geometry.shape.keyframes().iter().map(|(_, shape)| shape.bound());
        let bound = shapes.fold(SpaceBox::EMPTY, SpaceBox::with);
        let radius = self.attributes.displacement_bound.as_ref().map_or(0.0, |bound| f64::from(bound.radius));
        let matrices = self.world_from_object.keyframes().iter().map(|(_, matrix)| *space_from_world * *matrix);
        matrices.fold(SpaceBox::EMPTY, |all, matrix| {
            // The radius counts in object space or in the world's, whichever makes it larger.
            let scale = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate().length());
            let radius = radius * scale.into_iter().fold(1.0, f64::max);
            all.with(bound.transformed(&matrix).grown(radius))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Quadric;

    #[test]
    fn boxes_hold_what_is_in_them() {
        let torus = Shape::Quadric(Quadric {
            shape: QuadricShape::Torus { major: 2.0, minor: 0.5, phi_min: 0.0, phi_max: 6.0 },
            sweep_degrees: 360.0,
        });
        let bound = torus.bound();
        assert_eq!((bound.low, bound.high), (DVec3::new(-2.5, -2.5, -0.5), DVec3::new(2.5, 2.5, 0.5)));
        let turned = bound.transformed(&DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2)).grown(0.5);
        assert!(turned.high.abs_diff_eq(DVec3::new(3.0, 1.0, 3.0), 1e-12), "{turned:?}");
        assert!(SpaceBox::EMPTY.grown(9.0).is_empty() && SpaceBox::EMPTY.with(bound) == bound);
    }
}
