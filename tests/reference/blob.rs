//! Implicit surfaces: the field as RISpec 5.6 and its application note have it, and the points where it is 27/64.

use anthill::scene::{BlobStep, Blobs};
use glam::DVec3;

const THRESHOLD: f64 = 27.0 / 64.0;

fn local(rows: &[[f32; 4]; 3], p: DVec3) -> DVec3 {
    DVec3::from(rows.map(|[x, y, z, w]| DVec3::from([x, y, z].map(f64::from)).dot(p) + f64::from(w)))
}

fn bump(r2: f64) -> f64 {
    if r2 < 1.0 { 1.0 - 3.0 * r2 + 3.0 * r2 * r2 - r2 * r2 * r2 } else { 0.0 }
}

/// The bump along a segment, summed up by many small steps, over that of the middle of a long one.
fn segment(q: DVec3, start: DVec3, axis: DVec3, length: f64) -> f64 {
    const STEPS: u32 = 2_000;
    let step = length / f64::from(STEPS);
    let at = |i: u32| start + axis * ((f64::from(i) + 0.5) * step);
    (0..STEPS).map(|i| bump((q - at(i)).length_squared())).sum::<f64>() * step * 35.0 / 32.0
}

fn field(steps: &[BlobStep], p: DVec3) -> f64 {
    let mut stack = Vec::new();
    for step in steps {
        let last = |stack: &mut Vec<f64>| stack.pop().expect("a value");
        let value = match step {
            BlobStep::Constant(value) => f64::from(*value),
            BlobStep::Ellipsoid(rows) => bump(local(rows, p).length_squared()),
            BlobStep::Segment { rows, start, axis, length } => {
                let [start, axis] = [start, axis].map(|v| DVec3::from(v.map(f64::from)));
                segment(local(rows, p), start, axis, f64::from(*length))
            }
            BlobStep::Negate => -last(&mut stack),
            operation => {
                let (b, a) = (last(&mut stack), last(&mut stack));
                match operation {
                    BlobStep::Add => a + b,
                    BlobStep::Multiply => a * b,
                    BlobStep::Max => a.max(b),
                    BlobStep::Min => a.min(b),
                    BlobStep::Subtract => a - b,
                    _ => a / b,
                }
            }
        };
        stack.push(value);
    }
    stack[0]
}

/// How far a facet's point is from the surface, to first order.
pub(crate) fn distance(blobs: &Blobs, primitive: usize, p: DVec3) -> f64 {
    let steps = &blobs.programs[blobs.program[primitive] as usize];
    let gradient = gradient(steps, p);
    (THRESHOLD - field(steps, p)).abs() / gradient.length()
}

fn gradient(steps: &[BlobStep], p: DVec3) -> DVec3 {
    const STEP: f64 = 1e-5;
    let along = |axis: DVec3| (field(steps, p + STEP * axis) - field(steps, p - STEP * axis)) / (2.0 * STEP);
    DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
}

/// The direction in which the field falls.
pub(crate) fn outwards(blobs: &Blobs, primitive: usize, p: DVec3) -> DVec3 {
    -gradient(&blobs.programs[blobs.program[primitive] as usize], p)
}

/// Where a point of a facet of the mesh is moved to: along the gradient, by Newton's method.
pub(crate) fn position(blobs: &Blobs, primitive: usize, u: f64, v: f64) -> DVec3 {
    let steps = &blobs.programs[blobs.program[primitive] as usize];
    let [a, b, c, d] =
        blobs.corners[primitive].map(|corner| DVec3::from(blobs.positions[corner as usize].map(f64::from)));
    let mut p = a.lerp(b, u).lerp(c.lerp(d, u), v);
    for _ in 0..4 {
        let gradient = gradient(steps, p);
        p += gradient * ((THRESHOLD - field(steps, p)) / gradient.length_squared());
    }
    p
}
