//! Splines through values (RISpec 15.1), in f64.

use crate::ir::{Basis, Const};

/// Returns values from one segment to the next.
pub(crate) fn step(basis: Basis) -> usize {
    match basis {
        Basis::CatmullRom | Basis::BSpline | Basis::Linear => 1,
        Basis::Hermite => 2,
        Basis::Bezier => 3,
        Basis::Power => 4,
    }
}

/// Returns the weights of a segment's four values, each as coefficients of 1, t, t^2, t^3.
pub(crate) fn weights(basis: Basis) -> [[f64; 4]; 4] {
    const SIXTH: f64 = 1.0 / 6.0;
    match basis {
        Basis::CatmullRom => {
            [[0.0, -0.5, 1.0, -0.5], [1.0, 0.0, -2.5, 1.5], [0.0, 0.5, 2.0, -1.5], [0.0, 0.0, -0.5, 0.5]]
        }
        Basis::Bezier => [[1.0, -3.0, 3.0, -1.0], [0.0, 3.0, -6.0, 3.0], [0.0, 0.0, 3.0, -3.0], [0.0, 0.0, 0.0, 1.0]],
        Basis::BSpline => {
            [[SIXTH, -0.5, 0.5, -SIXTH], [4.0 * SIXTH, 0.0, -1.0, 0.5], [SIXTH, 0.5, 0.5, -0.5], [0.0, 0.0, 0.0, SIXTH]]
        }
        Basis::Hermite => [[1.0, 0.0, -3.0, 2.0], [0.0, 1.0, -2.0, 1.0], [0.0, 0.0, 3.0, -2.0], [0.0, 0.0, -1.0, 1.0]],
        Basis::Linear => [[0.0; 4], [1.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0; 4]],
        Basis::Power => [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    }
}

/// Returns the number of whole segments among `len` values.
pub(crate) fn segments(basis: Basis, len: usize) -> usize {
    (len - 4) / step(basis) + 1
}

/// Bisections of an inverse spline: to the resolution of a float in 0..1.
pub(crate) const BISECTIONS: u32 = 24;

fn at(basis: Basis, x: f64, values: &[f64]) -> f64 {
    let count = segments(basis, values.len());
    let place = x.clamp(0.0, 1.0) * count as f64;
    let segment = (place.floor() as usize).min(count - 1);
    let t = place - segment as f64;
    let four = &values[segment * step(basis)..][..4];
    let weight = |c: [f64; 4]| c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    weights(basis).into_iter().zip(four).map(|(c, v)| weight(c) * v).sum()
}

/// Returns the parameter at which monotonic values reach `y`.
fn solve(basis: Basis, y: f64, values: &[f64]) -> f64 {
    let rising = at(basis, 0.0, values) < at(basis, 1.0, values);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        if (at(basis, middle, values) < y) == rising {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

pub(super) fn spline(basis: Basis, solves: bool, x: f32, values: &[Const]) -> Option<Const> {
    let component = |pick: &dyn Fn(&Const) -> Option<f32>| {
        let values: Option<Vec<f64>> = values.iter().map(|v| pick(v).map(f64::from)).collect();
        let f = if solves { solve } else { at };
        values.map(|values| f(basis, x.into(), &values) as f32)
    };
    match values.first()? {
        Const::F32(_) => component(&Const::as_f32).map(Const::F32),
        Const::Vec3(_) => {
            let part = |i: usize| component(&|c| c.as_vec3().map(|v| v[i]));
            Some(Const::Vec3([part(0)?, part(1)?, part(2)?]))
        }
        _ => None,
    }
}
