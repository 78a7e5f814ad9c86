//! Limit patches of subdivision meshes: Bezier points, interior ones in pairs that are blended rationally.

use super::primvar::bernstein;
use anthill::scene::LimitPatches;

/// Weights of the control points of a patch at (u, v) of the square that covers it.
pub(crate) fn weights(patches: &LimitPatches, primitive: usize, [u, v]: [f64; 2]) -> Vec<(usize, f64)> {
    let first = patches.first_point(primitive);
    let own = if patches.triangles {
        let [s, t] = barycentric([u, v]);
        triangle(s, t)
    } else if primitive < patches.plain_count {
        tensor(u, v)
    } else {
        gregory(u, v)
    };
    own.into_iter().enumerate().map(|(k, weight)| (first + k, weight)).collect()
}

/// The coordinates s and t in a triangle of a point of the square.
pub(crate) fn barycentric([u, v]: [f64; 2]) -> [f64; 2] {
    [u * (1.0 - v), v]
}

fn tensor(u: f64, v: f64) -> Vec<f64> {
    let along_u = bernstein(3, u);
    bernstein(3, v).into_iter().flat_map(|v| along_u.iter().map(move |u| u * v).collect::<Vec<f64>>()).collect()
}

/// The part of a pair's first point; at its corner it has no weight.
fn part(a: f64, b: f64) -> f64 {
    if (a + b).abs() < 1e-9 { 0.5 } else { a / (a + b) }
}

fn paired(mut weights: Vec<f64>, pairs: &[(usize, f64)]) -> Vec<f64> {
    for &(point, part) in pairs {
        weights.push(weights[point] * (1.0 - part));
        weights[point] *= part;
    }
    weights
}

fn gregory(u: f64, v: f64) -> Vec<f64> {
    let (s, t) = (1.0 - u, 1.0 - v);
    paired(tensor(u, v), &[(5, part(u, v)), (6, part(v, s)), (10, part(s, t)), (9, part(t, u))])
}

/// Weights at barycentric coordinates s, t, a little outside too.
pub(crate) fn triangle(s: f64, t: f64) -> Vec<f64> {
    let factorial = |n: i32| f64::from((1..=n).product::<i32>());
    let w = 1.0 - s - t;
    let mut weights = Vec::new();
    for j in 0..=4 {
        for i in 0..=4 - j {
            let k = 4 - i - j;
            let multiple = 24.0 / (factorial(i) * factorial(j) * factorial(k));
            weights.push(multiple * s.powi(i) * t.powi(j) * w.powi(k));
        }
    }
    paired(weights, &[(6, part(s, t)), (7, part(t, w)), (10, part(w, s))])
}
