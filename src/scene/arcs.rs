//! Quadrics whose angles change while they move: every point turns about the axis, so keyframes are added between those
//! given, as for rotations.

use super::{Motion, QuadricShape, Shape};

/// The most that an angle changes between two keyframes, in degrees: points move on straight lines between keyframes,
/// which are inside of the arc by up to r (1 - cos 7.5): 0.9% of the radius.
const ARC_DEGREES: f32 = 15.0;

impl Motion<Shape> {
    /// Returns the same motion with more keyframes where angles of a quadric change by more than `ARC_DEGREES`.
    #[must_use]
    pub fn along_arcs(self) -> Self {
        let mut keyframes = vec![(self.keyframes[0].0, self.keyframes[0].1.clone())];
        for pair in self.keyframes.windows(2) {
            let [(start, from), (end, to)] = [&pair[0], &pair[1]];
            let parts = (change_degrees(from, to) / ARC_DEGREES).ceil().max(1.0) as u16;
            for part in 1..parts {
                let time = start + (end - start) * (f32::from(part) / f32::from(parts));
                if keyframes.last().is_some_and(|last| last.0 < time) && time < *end {
                    keyframes.push((time, self.at(time)));
                }
            }
            keyframes.push((*end, to.clone()));
        }
        Self { keyframes }
    }
}

/// Returns the most that an angle of a quadric changes.
fn change_degrees(from: &Shape, to: &Shape) -> f32 {
    let (Shape::Quadric(a), Shape::Quadric(b)) = (from, to) else { return 0.0 };
    let [a_low, a_high] = section_degrees(&a.shape);
    let [b_low, b_high] = section_degrees(&b.shape);
    [a.sweep_degrees - b.sweep_degrees, a_low - b_low, a_high - b_high]
        .into_iter()
        .fold(0.0, |most, d| most.max(d.abs()))
}

/// Returns the angles at which the section that sweeps begins and ends, where it is an arc.
fn section_degrees(shape: &QuadricShape) -> [f32; 2] {
    match *shape {
        QuadricShape::Sphere { radius, zmin, zmax } => {
            [zmin, zmax].map(|z| (z / radius).clamp(-1.0, 1.0).asin().to_degrees())
        }
        QuadricShape::Torus { phi_min, phi_max, .. } => [phi_min, phi_max].map(f32::to_degrees),
        _ => [0.0; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Quadric;

    #[test]
    fn a_disk_that_opens_gets_keyframes_and_one_that_grows_does_not() {
        let disk = |radius, sweep_degrees| {
            Shape::Quadric(Quadric { shape: QuadricShape::Disk { height: 0.0, radius }, sweep_degrees })
        };
        let opens = Motion::new(vec![(0.0, disk(1.0, 90.0)), (1.0, disk(1.0, 180.0))]).expect("keyframes").along_arcs();
        let sweeps: Vec<(f32, Shape)> =
            (0..=6_u8).map(|i| (f32::from(i) / 6.0, disk(1.0, 90.0 + 15.0 * f32::from(i)))).collect();
        assert_eq!(opens.keyframes(), sweeps);
        let grows = Motion::new(vec![(0.0, disk(1.0, 90.0)), (1.0, disk(9.0, 90.0))]).expect("keyframes");
        assert_eq!(grows.clone().along_arcs(), grows);
    }
}
