//! B-splines of one parameter, cut into Bezier pieces by knot insertion.
//!
//! The Bezier control points of a piece \[a, b\] of a spline are its polar form ("blossom") at (a, ..., a, b, ..., b)
//! (Ramshaw 1987). All arguments are within one knot span, so that every weight is from 0 to 1.

use super::primvars::PrimitiveCall;
use crate::scene::PATCH_DEGREE_MAX;

/// One direction of a `NuPatch` as its request gives it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NurbsDirection {
    /// Control points.
    pub(crate) count: i32,
    /// Order of the polynomials: their degree plus 1.
    pub(crate) order: i32,
    /// The knots.
    pub(crate) knots: Vec<f32>,
    /// The least and the largest parameter of the surface.
    pub(crate) range: [f64; 2],
}

/// The weights with which consecutive control points make a Bezier control point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WeightedSum {
    /// The first control point.
    first: usize,
    weights: Vec<f64>,
}

/// A value between two neighbouring varying values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Between {
    pub(super) index: usize,
    /// The share of the second value, below 1.
    pub(super) share: f64,
}

/// A Bezier piece of one direction: a knot span, or the part of one that is within the surface's range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SplinePiece {
    /// Its Bezier control points.
    pub(super) points: Vec<WeightedSum>,
    /// The number of its span; spans of no length count.
    pub(super) segment: usize,
    /// The part of the span that it covers.
    pub(super) shares: [f64; 2],
    /// The numbers of its ends in [`Spline::corners`].
    pub(super) ends: [usize; 2],
    /// The part of the surface's parameter range that it covers, which runs from 0 to 1.
    pub(super) range: [f32; 2],
}

/// One direction of a surface.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spline {
    /// Control points.
    pub(super) count: usize,
    pub(super) degree: usize,
    /// Knot spans, those of no length included.
    pub(super) segments: usize,
    /// The parameters that it covers.
    pub(super) range: [f64; 2],
    pub(super) pieces: Vec<SplinePiece>,
    pub(super) corners: Vec<Between>,
}

/// The most weights of the control points of the pieces of one direction: some 100 MB.
const WEIGHTS_MAX: usize = 1 << 24;

/// Returns how the polar form of a spline at `arguments` depends on control points `span - degree` to `span`.
///
/// This is de Boor's algorithm backwards: from the weight 1 of the result to those of the control points.
fn polar_form(knots: &[f64], span: usize, arguments: &[f64]) -> WeightedSum {
    let degree = arguments.len();
    let mut weights = vec![0.0; degree + 1];
    weights[degree] = 1.0;
    for (round, &t) in arguments.iter().enumerate().map(|(i, t)| (i + 1, t)).rev() {
        for j in round..=degree {
            let (low, high) = (knots[span - degree + j], knots[span + 1 + j - round]);
            // Both quotients are exact at the ends, where neighbouring spans must agree.
            weights[j - 1] += weights[j] * ((high - t) / (high - low));
            weights[j] *= (t - low) / (high - low);
        }
    }
    WeightedSum { first: span - degree, weights }
}

impl WeightedSum {
    /// Returns the sum of the values of control points.
    pub(super) fn of(&self, value: impl Fn(usize) -> f64) -> f64 {
        let mut sum = None;
        for (k, &weight) in self.weights.iter().enumerate() {
            // A weight of zero keeps values out that are not finite.
            if weight != 0.0 {
                let term = weight * value(self.first + k);
                sum = Some(sum.map_or(term, |sum: f64| sum + term));
            }
        }
        sum.unwrap_or(0.0)
    }

    /// Whether no control point after `last` has a weight.
    fn ends_by(&self, last: usize) -> bool {
        self.weights.iter().enumerate().all(|(k, &weight)| weight == 0.0 || self.first + k <= last)
    }
}

impl Spline {
    /// Cuts a direction with valid knots into pieces. `low` and `high` are within the knots that it may use.
    fn new(count: usize, order: usize, knots: &[f64], [low, high]: [f64; 2]) -> Self {
        let degree = order - 1;
        let (segments, range) = (count + 1 - order, [low, high]);
        let mut spline = Self { count, degree, segments, range, pieces: Vec::new(), corners: Vec::new() };
        let share = |span: usize, t: f64| (t - knots[span]) / (knots[span + 1] - knots[span]);
        let part = |t: f64| ((t - low) / (high - low)) as f32;
        for span in degree..count {
            let (a, b) = (knots[span].max(low), knots[span + 1].min(high));
            if a >= b {
                continue;
            }
            let bezier = |k: usize| {
                let arguments: Vec<f64> = (0..degree).map(|i| if i < degree - k { a } else { b }).collect();
                polar_form(knots, span, &arguments)
            };
            let points: Vec<WeightedSum> = (0..=degree).map(bezier).collect();
            // Two pieces that meet end with the same numbers, unless there is a gap between them.
            if let Some(before) = spline.pieces.last_mut()
                && points[0].ends_by(before.segment + degree)
            {
                before.points[degree] = points[0].clone();
            }
            let (segment, shares) = (span - degree, [share(span, a), share(span, b)]);
            let ends = shares.map(|share| spline.corner(segment, share));
            spline.pieces.push(SplinePiece { points, segment, shares, ends, range: [part(a), part(b)] });
        }
        spline
    }

    /// Returns the number of a corner, which may be that of the one before.
    fn corner(&mut self, segment: usize, share: f64) -> usize {
        let corner =
            if share == 1.0 { Between { index: segment + 1, share: 0.0 } } else { Between { index: segment, share } };
        if self.corners.last() != Some(&corner) {
            self.corners.push(corner);
        }
        self.corners.len() - 1
    }
}

/// How far from a knot, as a part of all that the knots span, a limit of the range may be to count as that knot:
/// files have numbers of six digits.
const NEAR_KNOT: f64 = 2e-6;

impl PrimitiveCall<'_> {
    /// Checks one direction and cuts it into pieces.
    pub(super) fn spline(&self, name: &str, direction: &NurbsDirection) -> Option<Spline> {
        let NurbsDirection { count, order, knots, range } = direction;
        let (count, order) = (usize::try_from(*count).unwrap_or(0), usize::try_from(*order).unwrap_or(0));
        let order_max = PATCH_DEGREE_MAX as usize + 1;
        if order < 2 {
            let what = "is not a surface; it needs 2 (linear) or more";
            self.error("range", &format!("order {} in {name} {what}", direction.order));
        } else if order > order_max {
            self.error("limitcheck", &format!("order {order} in {name} is more than {order_max}"));
        } else if count < order {
            self.error("range", &format!("{count} points in {name} are too few for order {order}"));
        } else if (count + 1 - order).saturating_mul(order * order) > WEIGHTS_MAX {
            self.error("limitcheck", &format!("{count} points in {name} are too many for order {order}"));
        } else if knots.len() < count + order {
            let wanted = format!("needs {} ({count} points and order {order})", count + order);
            self.error("badarray", &format!("it has {} knots in {name} and {wanted}", knots.len()));
        } else {
            let surplus = knots.len() - count - order;
            if surplus > 0 {
                self.warning("badarray", &format!("the last {surplus} knots in {name} are too many and are ignored"));
            }
            let knots: Vec<f64> = knots[..count + order].iter().map(|&knot| f64::from(knot)).collect();
            let range = self.parameter_range(name, &knots, [knots[order - 1], knots[count]], *range)?;
            return Some(Spline::new(count, order, &knots, range));
        }
        None
    }

    /// Checks the knots and returns the range of the surface within the `whole` that they allow.
    fn parameter_range(&self, name: &str, knots: &[f64], whole: [f64; 2], range: [f64; 2]) -> Option<[f64; 2]> {
        if !knots.iter().all(|knot| knot.is_finite()) {
            self.error("math", &format!("a knot in {name} is not a finite number"));
            return None;
        }
        if let Some(at) = knots.windows(2).position(|pair| pair[0] > pair[1]) {
            let (a, b) = (knots[at], knots[at + 1]);
            self.error("range", &format!("its knots in {name} must not decrease, but after {a} comes {b}"));
            return None;
        }
        let [first, last] = whole;
        if first >= last {
            self.error("range", &format!("the knots in {name} between which it would be are all {first}"));
            return None;
        }
        let [low, high] = range;
        if low >= high {
            self.error("range", &format!("{name}min ({low}) must be less than {name}max ({high})"));
            return None;
        }
        let snapped = |t: f64| {
            let near = |knot: &&f64| (**knot - t).abs() <= NEAR_KNOT * (last - first);
            let nearest = knots.iter().filter(near).min_by(|a, b| (*a - t).abs().total_cmp(&(*b - t).abs()));
            nearest.copied().unwrap_or(t)
        };
        let inside = [snapped(low).max(first), snapped(high).min(last)];
        if inside[0] >= inside[1] {
            let what = format!("{name} from {low} to {high} is outside of its knots, {first} to {last}");
            self.error("range", &what);
            return None;
        }
        if snapped(low) < first || snapped(high) > last {
            let what = format!("{name} from {low} to {high} is more than its knots allow, {first} to {last}");
            self.warning("range", &format!("{what}; that part is drawn"));
        }
        Some(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spline(order: usize, knots: &[f64], range: [f64; 2]) -> Spline {
        Spline::new(knots.len() - order, order, knots, range)
    }

    /// Returns the value of a spline at t by Cox and de Boor's recurrence.
    fn de_boor(knots: &[f64], order: usize, values: &[f64], t: f64) -> f64 {
        let span = (order - 1..values.len()).rev().find(|&i| knots[i] <= t && knots[i] < knots[i + 1]).expect("inside");
        let mut d: Vec<f64> = values[span + 1 - order..=span].to_vec();
        for round in 1..order {
            for j in (round..order).rev() {
                let (low, high) = (knots[span + 1 - order + j], knots[span + 1 + j - round]);
                let share = (t - low) / (high - low);
                d[j] = d[j - 1] * (1.0 - share) + d[j] * share;
            }
        }
        d[order - 1]
    }

    fn bezier(mut points: Vec<f64>, t: f64) -> f64 {
        while points.len() > 1 {
            points = points.windows(2).map(|pair| pair[0] * (1.0 - t) + pair[1] * t).collect();
        }
        points[0]
    }

    #[test]
    fn pieces_are_the_spline_for_every_order() {
        for order in [2, 3, 4, 7, 24] {
            // Uneven, with a double knot and one of the highest multiplicity that is continuous; not clamped.
            let mut knots: Vec<f64> =
                (0..3 * order).map(|i| f64::from(i as u32) + 0.3 * f64::from(i as u32 % 3)).collect();
            if order > 2 {
                knots[order + 1] = knots[order];
            }
            let multiple = knots[2 * order - 1];
            knots.splice(2 * order..2 * order, vec![multiple; order - 2]);
            let count = knots.len() - order;
            let values: Vec<f64> = (0..count).map(|i| (f64::from(i as u32) * 12.9898).sin()).collect();
            let (low, high) = (knots[order - 1] + 0.4, knots[count] - 0.3);
            let spline = spline(order, &knots, [low, high]);
            let mut end = 0.0;
            for piece in &spline.pieces {
                assert_eq!(f64::from(piece.range[0]), end, "order {order}");
                end = f64::from(piece.range[1]);
                let points: Vec<f64> = piece.points.iter().map(|sum| sum.of(|i| values[i])).collect();
                for t in [0.001, 0.25, 0.7, 0.999] {
                    let [a, b] = piece.range.map(|part| low + (high - low) * f64::from(part));
                    let (found, wanted) = (bezier(points.clone(), t), de_boor(&knots, order, &values, a + (b - a) * t));
                    assert!((found - wanted).abs() < 1e-5, "order {order} at {t} of {a} to {b}: {found}, {wanted}");
                }
            }
            assert_eq!(end, 1.0);
            for pair in spline.pieces.windows(2) {
                assert_eq!(pair[0].points[order - 1], pair[1].points[0], "order {order}");
            }
        }
    }

    #[test]
    fn a_bezier_curve_is_its_own_only_piece() {
        let spline = spline(4, &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0]);
        assert_eq!(spline.pieces.len(), 1);
        for (k, sum) in spline.pieces[0].points.iter().enumerate() {
            let wanted: Vec<f64> = (0..4).map(|i| f64::from(u8::from(i == k))).collect();
            assert_eq!((sum.first, &sum.weights), (0, &wanted));
        }
    }

    #[test]
    fn spans_of_no_length_are_dropped_and_still_count() {
        // Three spans, the middle one of no length; then one that is a gap: order 3, a triple knot.
        let spline = spline(3, &[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0], [0.0, 3.0]);
        assert_eq!(spline.segments, 6);
        assert_eq!(spline.pieces.iter().map(|piece| piece.segment).collect::<Vec<_>>(), [0, 2, 5]);
        assert_eq!(spline.corners.iter().map(|corner| corner.index).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 6]);
        assert_eq!(spline.pieces[0].points[2], spline.pieces[1].points[0], "they meet");
        let ends = [&spline.pieces[1].points[2], &spline.pieces[2].points[0]];
        let control = |sum: &WeightedSum| sum.first + sum.weights.iter().position(|&w| w == 1.0).expect("one point");
        assert_eq!(ends.map(control), [4, 5], "they do not");
    }
}
