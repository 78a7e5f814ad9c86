//! Cubic bases and their conversion to Bezier (RISpec 5.2, `Basis`).

use crate::scene::Basis;

/// Bezier, step 3: the default.
pub(crate) const BEZIER: Basis =
    Basis { matrix: [[-1., 3., -3., 1.], [3., -6., 3., 0.], [-3., 3., 0., 0.], [1., 0., 0., 0.]], step: 3 };
/// B-spline, step 1.
const B_SPLINE: Basis = Basis {
    matrix: [
        [-1. / 6., 3. / 6., -3. / 6., 1. / 6.],
        [3. / 6., -6. / 6., 3. / 6., 0.],
        [-3. / 6., 0., 3. / 6., 0.],
        [1. / 6., 4. / 6., 1. / 6., 0.],
    ],
    step: 1,
};
/// Catmull-Rom, step 1.
const CATMULL_ROM: Basis =
    Basis { matrix: [[-0.5, 1.5, -1.5, 0.5], [1., -2.5, 2., -0.5], [-0.5, 0., 0.5, 0.], [0., 1., 0., 0.]], step: 1 };
/// Hermite (point, tangent, point, tangent), step 2.
const HERMITE: Basis =
    Basis { matrix: [[2., 1., -2., 1.], [-3., -2., 3., -1.], [0., 1., 0., 0.], [1., 0., 0., 0.]], step: 2 };
/// Power: coefficients of t^3, t^2, t, 1; step 4.
const POWER: Basis =
    Basis { matrix: [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]], step: 4 };

/// Returns the basis with this name and its natural step.
pub(crate) fn named(name: &str) -> Option<Basis> {
    Some(match name {
        "bezier" => BEZIER,
        "b-spline" | "bspline" => B_SPLINE,
        "catmull-rom" => CATMULL_ROM,
        "hermite" => HERMITE,
        "power" => POWER,
        _ => return None,
    })
}

/// Converts four control values of a basis to four Bezier control values.
///
/// The last value of a segment and the first of the next have the same bits: both are one sum over the same inputs in
/// the same order with the same coefficients, and coefficients that are zero contribute nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToBezier {
    rows: [[f64; 4]; 4],
    identity: bool,
}

/// Differences below this are rounding errors of a basis that was written in decimals, five digits or more.
const TINY: f64 = 1e-4;

impl ToBezier {
    /// Creates the conversion from `basis`.
    pub(crate) fn new(basis: &Basis) -> Self {
        // With M = [rows of t^3, t^2, t, 1], the Bezier values are Mb^-1 M; rows of Mb^-1 are the blossoms of the
        // cubic.
        let m = basis.matrix.map(|row| row.map(f64::from));
        let mut rows = [[0.0; 4]; 4];
        for i in 0..4 {
            let (cubic, quadratic, linear, constant) = (m[0][i], m[1][i], m[2][i], m[3][i]);
            rows[0][i] = constant;
            rows[1][i] = constant + linear / 3.0;
            rows[2][i] = constant + (2.0 * linear + quadratic) / 3.0;
            rows[3][i] = constant + linear + quadratic + cubic;
        }
        for value in rows.iter_mut().flatten() {
            // Snapping to sixths gives the named bases their exact coefficients again: 1/6 is not a float.
            let sixths = (*value * 6.0).round();
            if (*value * 6.0 - sixths).abs() < TINY {
                *value = sixths / 6.0;
            }
        }
        Self::share_ends(&mut rows, basis.step as usize);
        let identity = rows == [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]];
        Self { rows, identity }
    }

    /// If a segment ends where the next one, `step` inputs later, begins, except for rounding, makes both use the same
    /// coefficients.
    fn share_ends(rows: &mut [[f64; 4]; 4], step: usize) {
        let first = rows[0];
        let shifted: [f64; 4] = std::array::from_fn(|i| i.checked_sub(step).map_or(0.0, |i| first[i]));
        let lost = first[4usize.saturating_sub(step)..].iter().all(|value| value.abs() < TINY);
        let alike = rows[3].iter().zip(shifted).all(|(a, b)| (a - b).abs() < TINY);
        if lost && alike {
            rows[3] = shifted;
            for value in &mut rows[0][4usize.saturating_sub(step)..] {
                *value = 0.0;
            }
        }
    }

    /// Whether values are Bezier already.
    pub(crate) fn is_identity(&self) -> bool {
        self.identity
    }

    /// Appends the four Bezier values of four control values, each of equally many floats.
    pub(crate) fn extend(&self, values: &mut Vec<f32>, inputs: [&[f32]; 4]) {
        if let [Ok(a), Ok(b), Ok(c), Ok(d)] = inputs.map(<&[f32; 3]>::try_from) {
            values.extend_from_slice(self.apply_to([*a, *b, *c, *d]).as_flattened());
            return;
        }
        let width = inputs[0].len();
        let start = values.len();
        values.resize(start + 4 * width, 0.0);
        for component in 0..width {
            let [a, b, c, d] = self.apply_to(inputs.map(|input| [input[component]]));
            for (row, [value]) in [a, b, c, d].into_iter().enumerate() {
                values[start + row * width + component] = value;
            }
        }
    }

    /// Returns the Bezier values of vectors.
    fn apply_to<const N: usize>(&self, inputs: [[f32; N]; 4]) -> [[f32; N]; 4] {
        let inputs = inputs.map(|input| input.map(f64::from));
        std::array::from_fn(|row| self.row(row, &inputs).map(|value| value as f32))
    }

    /// Returns the Bezier value `row` of the control values `inputs`.
    pub(crate) fn apply(&self, row: usize, inputs: &[f64; 4]) -> f64 {
        let [value] = self.row(row, &inputs.map(|input| [input]));
        value
    }

    /// Returns the Bezier vector `row` of the vectors `inputs`.
    #[inline(always)]
    fn row<const N: usize>(&self, row: usize, inputs: &[[f64; N]; 4]) -> [f64; N] {
        let mut sum = None;
        for (coefficient, input) in self.rows[row].iter().zip(inputs) {
            if *coefficient != 0.0 {
                let term = input.map(|value| coefficient * value);
                sum = Some(sum.map_or(term, |sum: [f64; N]| std::array::from_fn(|i| sum[i] + term[i])));
            }
        }
        sum.unwrap_or([0.0; N])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubic(basis: &Basis, values: [f64; 4], t: f64) -> f64 {
        let powers = [t * t * t, t * t, t, 1.0];
        let mut sum = 0.0;
        for (row, power) in basis.matrix.iter().zip(powers) {
            for (m, value) in row.iter().zip(values) {
                sum += power * f64::from(*m) * value;
            }
        }
        sum
    }

    fn bezier(values: [f64; 4], t: f64) -> f64 {
        let s = 1.0 - t;
        values[0] * s * s * s + 3.0 * values[1] * s * s * t + 3.0 * values[2] * s * t * t + values[3] * t * t * t
    }

    const NAMES: [&str; 5] = ["bezier", "b-spline", "catmull-rom", "hermite", "power"];

    #[test]
    fn the_converted_curve_is_the_same_curve() {
        for name in NAMES {
            let basis = named(name).expect("a basis");
            let conversion = ToBezier::new(&basis);
            let values = [0.3, -1.7, 2.9, 0.8];
            let converted = std::array::from_fn(|row| conversion.apply(row, &values));
            for t in [0.0, 0.2, 0.5, 0.9, 1.0] {
                let (a, b) = (cubic(&basis, values, t), bezier(converted, t));
                assert!((a - b).abs() < 1e-6, "{name} at {t}: {a} and {b}");
            }
        }
    }

    #[test]
    fn bezier_is_the_identity() {
        assert!(ToBezier::new(&BEZIER).is_identity());
        let values = [1e-38, f64::from(0.1f32), -0.0, 1e30];
        let conversion = ToBezier::new(&BEZIER);
        for (row, value) in values.iter().enumerate() {
            assert_eq!(conversion.apply(row, &values).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn neighbouring_segments_share_their_end_bit_for_bit() {
        let values: Vec<f64> = (0..40).map(|i| f64::from((f64::from(i) * 12.9898).sin() as f32) * 437.585).collect();
        for name in ["bezier", "b-spline", "catmull-rom", "hermite"] {
            let basis = named(name).expect("a basis");
            let conversion = ToBezier::new(&basis);
            let step = basis.step as usize;
            for start in (0..40 - 4 - step).step_by(step) {
                let segment = |at: usize| [values[at], values[at + 1], values[at + 2], values[at + 3]];
                let end = conversion.apply(3, &segment(start));
                let begin = conversion.apply(0, &segment(start + step));
                assert_eq!(end.to_bits(), begin.to_bits(), "{name} at {start}");
            }
        }
    }

    #[test]
    fn a_b_spline_written_in_decimals_shares_its_ends_too() {
        let rounded = |digits: f32| Basis {
            matrix: B_SPLINE.matrix.map(|row| row.map(|v| (v * digits).round() / digits)),
            step: 1,
        };
        assert_eq!(ToBezier::new(&rounded(1e5)).rows, ToBezier::new(&B_SPLINE).rows);
        assert_eq!(ToBezier::new(&rounded(1e7)).rows, ToBezier::new(&B_SPLINE).rows);
        // Two digits are another basis.
        assert_ne!(ToBezier::new(&rounded(1e2)).rows, ToBezier::new(&B_SPLINE).rows);
    }

    #[test]
    fn a_zero_coefficient_keeps_other_values_out() {
        let conversion = ToBezier::new(&B_SPLINE);
        let values = [1.0, 2.0, 3.0, f64::NAN];
        assert!(conversion.apply(0, &values).is_finite());
        assert!(conversion.apply(3, &values).is_nan());
    }
}
