//! The seven quadrics (RISpec 5.3).

use super::batch::{Batch, BatchShape};
use super::primvars::{ClassCounts, PrimitiveCall};
use crate::scene::{Quadric, QuadricShape};

/// The positional arguments of a quadric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QuadricSizes {
    /// radius zmin zmax sweep
    Sphere([f64; 4]),
    /// height radius sweep
    Cone([f64; 3]),
    /// radius zmin zmax sweep
    Cylinder([f64; 4]),
    /// x1 y1 z1 x2 y2 z2 sweep
    Hyperboloid([f64; 7]),
    /// rmax zmin zmax sweep
    Paraboloid([f64; 4]),
    /// height radius sweep
    Disk([f64; 3]),
    /// major minor phimin phimax sweep
    Torus([f64; 5]),
}

const COUNTS: ClassCounts = ClassCounts { uniform: 1, varying: 4, vertex: 4, face_varying: 4 };

impl PrimitiveCall<'_> {
    /// Reads a quadric. Returns `None`, with a note, if no part of it can be visible.
    pub(crate) fn quadric(&self, sizes: QuadricSizes) -> Option<Batch> {
        let (shape, sweep) = self.shape(sizes);
        let sweep_degrees = sweep.clamp(-360.0, 360.0) as f32;
        if sweep.abs() > 360.0 {
            self.warning("range", "the sweep angle is more than one turn and was clamped");
        }
        if !is_visible(shape) || sweep_degrees == 0.0 {
            self.note("range", "it has no area");
            return None;
        }
        let form = BatchShape::Quadric(Quadric { shape, sweep_degrees });
        Some(Batch { form, columns: self.columns(&COUNTS, &[], None), location: self.location.clone() })
    }

    fn shape(&self, sizes: QuadricSizes) -> (QuadricShape, f64) {
        let single = |value: f64| value as f32;
        match sizes {
            QuadricSizes::Sphere([radius, zmin, zmax, sweep]) => {
                let cut = |z: f64| single(z.clamp(-radius.abs(), radius.abs()));
                (QuadricShape::Sphere { radius: single(radius), zmin: cut(zmin), zmax: cut(zmax) }, sweep)
            }
            QuadricSizes::Cone([height, radius, sweep]) => {
                (QuadricShape::Cone { height: single(height), radius: single(radius) }, sweep)
            }
            QuadricSizes::Cylinder([radius, zmin, zmax, sweep]) => {
                (QuadricShape::Cylinder { radius: single(radius), zmin: single(zmin), zmax: single(zmax) }, sweep)
            }
            QuadricSizes::Hyperboloid([x1, y1, z1, x2, y2, z2, sweep]) => {
                let (p1, p2) = ([x1, y1, z1].map(single), [x2, y2, z2].map(single));
                (QuadricShape::Hyperboloid { p1, p2 }, sweep)
            }
            QuadricSizes::Paraboloid([rmax, zmin, zmax, sweep]) => {
                // The surface z = zmax (r / rmax)^2 is on zmax's side of 0.
                let cut = |z: f64| if zmax < 0.0 { z.min(0.0) } else { z.max(0.0) };
                if cut(zmin) != zmin {
                    self.warning("range", "zmin is on the other side of the tip and was clamped");
                }
                (QuadricShape::Paraboloid { rmax: single(rmax), zmin: single(cut(zmin)), zmax: single(zmax) }, sweep)
            }
            QuadricSizes::Disk([height, radius, sweep]) => {
                (QuadricShape::Disk { height: single(height), radius: single(radius) }, sweep)
            }
            QuadricSizes::Torus([major, minor, phi_min, phi_max, sweep]) => {
                let turn = (phi_max - phi_min).clamp(-360.0, 360.0);
                if turn != phi_max - phi_min {
                    self.warning("range", "the minor angle is more than one turn and was clamped");
                }
                // Angles of many turns would lose their digits as 32-bit floats.
                let start = if phi_min.abs() > 720.0 { phi_min % 360.0 } else { phi_min };
                let (phi_min, phi_max) = (single(start.to_radians()), single((start + turn).to_radians()));
                let shape = QuadricShape::Torus { major: single(major), minor: single(minor), phi_min, phi_max };
                (shape, sweep)
            }
        }
    }
}

/// Whether the profile has a length and is not entirely on the axis.
fn is_visible(shape: QuadricShape) -> bool {
    match shape {
        QuadricShape::Sphere { radius, zmin, zmax } => radius != 0.0 && zmin != zmax,
        QuadricShape::Cone { radius, .. } | QuadricShape::Disk { radius, .. } => radius != 0.0,
        QuadricShape::Cylinder { radius, zmin, zmax } => radius != 0.0 && zmin != zmax,
        QuadricShape::Hyperboloid { p1, p2 } => p1 != p2 && [p1, p2].iter().any(|[x, y, _]| *x != 0.0 || *y != 0.0),
        QuadricShape::Paraboloid { rmax, zmin, zmax } => rmax != 0.0 && zmax != 0.0 && zmin != zmax,
        QuadricShape::Torus { minor, phi_min, phi_max, .. } => minor != 0.0 && phi_min != phi_max,
    }
}
