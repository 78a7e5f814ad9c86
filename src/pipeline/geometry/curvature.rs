//! How far a rational patch can be from the points that bound it.

/// Returns the most that the second derivatives of a rational Bezier patch by u and by v can be, for each coordinate.
/// `control` holds (w x, w y, w z, w), u fastest.
///
/// With A(u, v) = w S for the surface S, moved so that the middle of its control points' box is the origin, which the
/// surface is never farther from than the half sizes R of the box:
///
/// S_u = (A_u - S w_u) / w and S_uu = (A_uu - 2 S_u w_u - S w_uu) / w.
///
/// Derivatives of A and w are at most the largest differences of control values times the degree (twice: times the
/// degree less 1), and w is at least the least weight.
pub(super) fn second_derivative_bounds(control: &[[f32; 4]], degrees: [u32; 2]) -> [[f32; 3]; 2] {
    let control: Vec<[f64; 4]> = control.iter().map(|p| p.map(f64::from)).collect();
    let least = control.iter().map(|p| p[3]).fold(f64::INFINITY, f64::min);
    let stride = degrees[0] as usize + 1;
    let rows = degrees[1] as usize + 1;
    std::array::from_fn(|axis| {
        let (degree, step) = if axis == 0 { (degrees[0], 1) } else { (degrees[1], stride) };
        let curves = if axis == 0 { rows } else { stride };
        let start = |curve: usize| if axis == 0 { curve * stride } else { curve };
        let degree = degree as usize;
        let largest = |order: usize, value: &dyn Fn(usize) -> f64| {
            let difference = |at: usize| match order {
                1 => value(at + step) - value(at),
                _ => (value(at + 2 * step) - value(at + step)) - (value(at + step) - value(at)),
            };
            let factor = if order == 1 { degree } else { degree * (degree - 1) } as f64;
            let places = (0..curves).flat_map(|c| (0..(degree + 1).saturating_sub(order)).map(move |k| (c, k)));
            factor * places.map(|(c, k)| difference(start(c) + k * step).abs()).fold(0.0, f64::max)
        };
        let weight = |at: usize| control[at][3];
        let (w1, w2) = (largest(1, &weight), largest(2, &weight));
        std::array::from_fn(|i| {
            let (low, high) = control
                .iter()
                .map(|p| p[i] / p[3])
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            let (middle, reach) = ((low + high) / 2.0, (high - low) / 2.0);
            let moved = |at: usize| control[at][i] - middle * control[at][3];
            let s1 = (largest(1, &moved) + reach * w1) / least;
            let s2 = (largest(2, &moved) + 2.0 * s1 * w1 + reach * w2) / least;
            // A millionth more for rounding.
            (s2 * 1.000_001).min(f64::from(f32::MAX)) as f32
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_a_polynomial_are_those_of_its_differences() {
        // z = u^2 over x = u, y = v: linear in v.
        let control = [
            [0.0, 0.0, 0.0, 1.0],
            [0.5, 0.0, 0.0, 1.0],
            [1.0, 0.0, 1.0, 1.0],
            [0.0, 1.0, 0.0, 1.0],
            [0.5, 1.0, 0.0, 1.0],
            [1.0, 1.0, 1.0, 1.0],
        ];
        let [uu, vv] = second_derivative_bounds(&control, [2, 1]);
        assert!((uu[2] - 2.0).abs() < 1e-5 && uu[0] == 0.0 && uu[1] == 0.0, "{uu:?}");
        assert_eq!(vv, [0.0; 3]);
    }

    #[test]
    fn the_bounds_of_a_quarter_circle_hold_it() {
        let w = 0.5_f32.sqrt();
        let arc = [[1.0, 0.0, 0.0, 1.0], [w, w, 0.0, w], [0.0, 1.0, 0.0, 1.0]];
        let raised = arc.map(|[x, y, _, w]| [x, y, w, w]);
        let [uu, _] = second_derivative_bounds(&[arc, raised].concat(), [2, 1]);
        let at = |t: f64| {
            let weights = [(1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t];
            let sum = |k: usize| (0..3).map(|i| weights[i] * f64::from(arc[i][k])).sum::<f64>();
            [sum(0) / sum(3), sum(1) / sum(3)]
        };
        for i in 1..100 {
            let (t, h) = (f64::from(i) / 100.0, 1e-3);
            for (k, &bound) in uu[..2].iter().enumerate() {
                let second = (at(t + h)[k] - 2.0 * at(t)[k] + at(t - h)[k]) / (h * h);
                assert!(second.abs() <= f64::from(bound), "{second} at {t}, at most {bound}");
            }
        }
        assert!(uu[0] < 40.0, "{uu:?}: not far too large either");
    }
}
