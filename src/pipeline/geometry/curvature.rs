//! How fast a rational patch and its weight can change, from which bound/split knows how far the patch can be from the
//! points that it has looked at (`glsl/lib/surface/rational.glsl`).

/// Records of [`derivative_bounds`].
pub(super) const BOUND_RECORDS: usize = 6;

/// Returns what bounds a rational Bezier patch S = A / w, for each coordinate and for the weight. `control` holds
/// (w x, w y, w z, w), u fastest.
///
/// A is moved so that the origin is the mean of the control points by weight, near the heaviest ones: then it is small
/// wherever w is large. The records are:
///
/// - how far the surface can be from the origin, and the least weight;
/// - the most that A and w can be;
/// - the most that the first and the second derivative by u can be, of A and w; and the same by v.
///
/// Derivatives are at most the largest differences of control values times the degree (twice: times the degree less
/// 1).
pub(super) fn derivative_bounds(control: &[[f32; 4]], degrees: [u32; 2]) -> [[f32; 4]; BOUND_RECORDS] {
    let control: Vec<[f64; 4]> = control.iter().map(|p| p.map(f64::from)).collect();
    let sum = |i: usize| control.iter().map(|p| p[i]).sum::<f64>();
    let mean = [0, 1, 2].map(|i| sum(i) / sum(3));
    let moved: Vec<[f64; 4]> =
        control.iter().map(|&[x, y, z, w]| [x - mean[0] * w, y - mean[1] * w, z - mean[2] * w, w]).collect();
    let most = |of: &dyn Fn(&[f64; 4]) -> f64| moved.iter().map(|p| of(p).abs()).fold(0.0, f64::max);
    let least = moved.iter().map(|p| p[3]).fold(f64::INFINITY, f64::min);
    let [reach_x, reach_y, reach_z] = [0, 1, 2].map(|i| most(&|p| p[i] / p[3]));
    let [first_u, second_u, first_v, second_v] =
        [(0, 1), (0, 2), (1, 1), (1, 2)].map(|(axis, order)| derivative_bound(&moved, degrees, axis, order));
    let whole = [0, 1, 2, 3].map(|i| most(&|p| p[i]));
    // A millionth more, or less, for rounding.
    let up = |x: f64| (x * 1.000_001).min(f64::from(f32::MAX)) as f32;
    [
        [up(reach_x), up(reach_y), up(reach_z), (least * 0.999_999) as f32],
        whole.map(up),
        first_u.map(up),
        second_u.map(up),
        first_v.map(up),
        second_v.map(up),
    ]
}

/// The most that a derivative of order 1 or 2 along an axis can be.
fn derivative_bound(control: &[[f64; 4]], degrees: [u32; 2], axis: usize, order: usize) -> [f64; 4] {
    let [columns, rows] = degrees.map(|degree| degree as usize + 1);
    let (degree, step) = if axis == 0 { (columns - 1, 1) } else { (rows - 1, columns) };
    let factor = if order == 1 { degree } else { degree * (degree - 1) } as f64;
    let inside = |k: &usize| {
        let along = if axis == 0 { k % columns } else { k / columns };
        along + order <= degree
    };
    let difference = |k: usize, i: usize| match order {
        1 => control[k + step][i] - control[k][i],
        _ => (control[k + 2 * step][i] - control[k + step][i]) - (control[k + step][i] - control[k][i]),
    };
    let mut bound = [0.0_f64; 4];
    for k in (0..control.len()).filter(inside) {
        for (i, bound) in bound.iter_mut().enumerate() {
            *bound = bound.max(factor * difference(k, i).abs());
        }
    }
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_a_polynomial_are_those_of_its_differences() {
        // z = u^2 over x = u, y = v: linear in v.
        let row = |y: f32| [[0.0, y, 0.0, 1.0], [0.5, y, 0.0, 1.0], [1.0, y, 1.0, 1.0]];
        let bounds = derivative_bounds(&[row(0.0), row(1.0)].concat(), [2, 1]);
        let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near(bounds[0], [0.5, 0.5, 2.0 / 3.0, 1.0]), "{bounds:?}");
        assert!(near(bounds[1], [0.5, 0.5, 2.0 / 3.0, 1.0]), "{bounds:?}");
        assert!(near(bounds[2], [1.0, 0.0, 2.0, 0.0]) && near(bounds[3], [0.0, 0.0, 2.0, 0.0]), "{bounds:?}");
        assert!(near(bounds[4], [0.0, 1.0, 0.0, 0.0]) && near(bounds[5], [0.0; 4]), "{bounds:?}");
    }

    #[test]
    fn a_heavy_point_leaves_little_of_the_rest() {
        let mut control: Vec<[f32; 4]> = (0..16).map(|k| [(k % 4) as f32, (k / 4) as f32, 0.0, 1.0]).collect();
        control[5] = control[5].map(|x| x * 1e4);
        let bounds = derivative_bounds(&control, [3, 3]);
        assert!(bounds[3][0] < 200.0 && bounds[3][3] > 1e5, "{bounds:?}: of A and of w");
        assert!((bounds[0][3] - 1.0).abs() < 1e-5);
    }
}
