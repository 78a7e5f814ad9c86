//! Moving transformations: lists of (time, matrix) and how they are combined (RISpec 6.3, `MotionBegin`).

use crate::scene::{MatrixStep, Motion};
use glam::{DMat3, DMat4, DVec3};
use std::sync::Arc;

pub(crate) use crate::scene::{KEYFRAMES_MAX, inverse, is_invertible, product};

/// The largest angle between two keyframes of a rotation, in degrees, where it is cut. Points move on straight lines
/// between keyframes, which are inside of the arc by up to r (1 - cos 7.5): 0.9% of the radius.
const ARC_DEGREES: f64 = 15.0;

/// The largest angle where [`ARC_DEGREES`] would make too many keyframes.
const LONG_ARC_DEGREES: f64 = 45.0;

/// Rotations up to this are not cut: other renderers draw them as chords too.
const CHORD_DEGREES: f64 = 60.0;

/// Smaller parts of a matrix that would divide by depth are taken for rounding.
const PERSPECTIVE_LEAST: f64 = 1e-6;

/// Whether points are divided by more than one number.
pub(crate) fn divides_by_depth(matrix: &DMat4) -> bool {
    let [x, y, z, w] = matrix.row(3).to_array();
    [x, y, z].iter().any(|value| value.abs() > PERSPECTIVE_LEAST * w.abs())
}

/// Creates a shared value that does not move.
pub(crate) fn still<T>(value: T) -> Arc<Motion<T>> {
    Arc::new(Motion::still(value))
}

/// What a transformation request does to the current transformation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TransformStep {
    /// Replaces the transformation.
    Set(DMat4),
    /// Multiplies the transformation by a matrix.
    Concat(DMat4),
    /// Rotates by degrees about an axis. Kept as an angle, so that a moving rotation turns instead of shearing.
    Rotate(f64, DVec3),
}

impl TransformStep {
    fn matrix(&self) -> DMat4 {
        match *self {
            Self::Set(matrix) | Self::Concat(matrix) => matrix,
            Self::Rotate(degrees, axis) => rotation(degrees, axis),
        }
    }
}

/// Returns a rotation by `degrees` about `axis`; quarter turns are exact.
pub(crate) fn rotation(degrees: f64, axis: DVec3) -> DMat4 {
    let turn = degrees.rem_euclid(360.0);
    let (sin, cos) = match turn {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        _ => turn.to_radians().sin_cos(),
    };
    let a = axis.normalize();
    // Rodrigues' formula, column by column.
    let column = |e: DVec3| e * cos + a.cross(e) * sin + a * (a.dot(e) * (1.0 - cos));
    DMat4::from_mat3(DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)))
}

/// Returns the matrices of a step given at one or more times. Rotations of more than [`CHORD_DEGREES`] get more
/// keyframes, so that no arc is longer than `arc_degrees`, if [`KEYFRAMES_MAX`] permits; the authored keyframes are
/// kept.
fn matrices(steps: &Motion<TransformStep>, arc_degrees: f64) -> Motion<DMat4> {
    let keyframes = steps.keyframes();
    let mut result = Vec::with_capacity(keyframes.len());
    for (index, (time, step)) in keyframes.iter().enumerate() {
        result.push((*time, step.matrix()));
        if let (TransformStep::Rotate(a, axis), Some((next, TransformStep::Rotate(b, next_axis)))) =
            (step, keyframes.get(index + 1))
        {
            let arc = (b - a).abs();
            let pieces = if arc <= CHORD_DEGREES { 1.0 } else { (arc / arc_degrees).ceil() };
            let pieces = pieces.min((KEYFRAMES_MAX / keyframes.len()) as f64) as usize;
            for piece in 1..pieces {
                let t = piece as f64 / pieces as f64;
                let between = (f64::from(*time) + (f64::from(*next) - f64::from(*time)) * t) as f32;
                // Two nearly equal times may leave no float between them.
                if between > result[result.len() - 1].0 && between < *next {
                    let axis = axis.lerp(*next_axis, t);
                    let axis = if axis.length_squared() > 0.0 { axis } else { *next_axis };
                    result.push((between, rotation(a + (b - a) * t, axis)));
                }
            }
        }
    }
    Motion::new(result).expect("keyframes between increasing keyframes are increasing")
}

/// Returns what a step does, for transformations that are not known yet.
pub(crate) fn matrix_step(steps: &Motion<TransformStep>) -> MatrixStep {
    let step = matrices(steps, ARC_DEGREES);
    if matches!(steps.first(), TransformStep::Set(_)) { MatrixStep::Set(step) } else { MatrixStep::Concat(step) }
}

/// Why a step could not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransformError {
    /// The result cannot be inverted.
    Singular,
    /// The result would have too many keyframes.
    TooManyKeyframes,
}

/// Returns the transformation after a step. Fails if it cannot be inverted, or has too many keyframes.
pub(crate) fn transformed(
    current: &Motion<DMat4>,
    steps: &Motion<TransformStep>,
) -> Result<Motion<DMat4>, TransformError> {
    let replaces = matches!(steps.first(), TransformStep::Set(_));
    let cut_at = |arc_degrees: f64| {
        let step = matrices(steps, arc_degrees);
        let result = if replaces { Some(step) } else { product(current, &step) };
        result.filter(|result| result.keyframes().len() <= KEYFRAMES_MAX)
    };
    let result = cut_at(ARC_DEGREES).or_else(|| cut_at(LONG_ARC_DEGREES)).ok_or(TransformError::TooManyKeyframes)?;
    let invertible = result.keyframes().iter().all(|(_, matrix)| is_invertible(matrix));
    if invertible { Ok(result) } else { Err(TransformError::Singular) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving<T>(keyframes: Vec<(f32, T)>) -> Motion<T> {
        Motion::new(keyframes).expect("increasing times")
    }

    fn translation(x: f64) -> DMat4 {
        DMat4::from_translation(DVec3::new(x, 0.0, 0.0))
    }

    #[test]
    fn quarter_turns_are_exact_and_turn_x_to_y() {
        assert_eq!(rotation(90.0, DVec3::Z) * DVec3::X.extend(0.0), DVec3::Y.extend(0.0));
        assert_eq!(rotation(-270.0, DVec3::Z * 5.0), rotation(90.0, DVec3::Z));
        assert_eq!(rotation(720.0, DVec3::new(1.0, 2.0, 3.0)), DMat4::IDENTITY);
        let ours = rotation(33.0, DVec3::new(1.0, -2.0, 0.5));
        let theirs = DMat4::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 33f64.to_radians());
        assert!(ours.abs_diff_eq(theirs, 1e-14));
    }

    #[test]
    fn a_moving_rotation_gets_keyframes_every_15_degrees_and_keeps_its_own() {
        let steps =
            moving(vec![(0.0, TransformStep::Rotate(0.0, DVec3::Z)), (1.0, TransformStep::Rotate(180.0, DVec3::Z))]);
        let result = transformed(&Motion::still(DMat4::IDENTITY), &steps).expect("invertible");
        let times: Vec<f32> = result.keyframes().iter().map(|keyframe| keyframe.0).collect();
        assert_eq!(times, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(|twelfth| (f64::from(twelfth) / 12.0) as f32));
        assert_eq!(result.keyframes()[6].1, rotation(90.0, DVec3::Z));
        // A whole turn does not stand still.
        let steps =
            moving(vec![(0.0, TransformStep::Rotate(0.0, DVec3::Z)), (1.0, TransformStep::Rotate(360.0, DVec3::Z))]);
        assert_eq!(transformed(&Motion::still(DMat4::IDENTITY), &steps).expect("invertible").keyframes().len(), 25);
        // Many turns are bounded.
        let steps =
            moving(vec![(0.0, TransformStep::Rotate(0.0, DVec3::Z)), (1.0, TransformStep::Rotate(1e12, DVec3::Z))]);
        let many = transformed(&Motion::still(DMat4::IDENTITY), &steps).map(|m| m.keyframes().len());
        assert!(many.expect("invertible") <= KEYFRAMES_MAX);
    }

    #[test]
    fn products_have_the_keyframes_of_both() {
        let a = moving(vec![(0.0, translation(0.0)), (1.0, translation(2.0))]);
        let b = moving(vec![(0.0, DMat4::IDENTITY), (0.5, translation(10.0)), (1.0, translation(10.0))]);
        let result = product(&a, &b).expect("few keyframes");
        let xs: Vec<(f32, f64)> = result.keyframes().iter().map(|(time, m)| (*time, m.w_axis.x)).collect();
        assert_eq!(xs, [(0.0, 0.0), (0.5, 11.0), (1.0, 12.0)]);
        // Outside its keyframes a motion stands still.
        assert_eq!(a.at(-1.0), translation(0.0));
        assert_eq!(a.at(9.0), translation(2.0));
    }

    #[test]
    fn flat_matrices_and_too_many_keyframes_are_refused() {
        let flat = Motion::still(TransformStep::Concat(DMat4::from_scale(DVec3::new(1.0, 1.0, 0.0))));
        assert_eq!(transformed(&Motion::still(DMat4::IDENTITY), &flat), Err(TransformError::Singular));
        let many = |start: usize| {
            moving((0..200).map(|i| ((start + 2 * i) as f32, TransformStep::Concat(DMat4::IDENTITY))).collect())
        };
        let first = transformed(&Motion::still(DMat4::IDENTITY), &many(0)).expect("200 keyframes");
        // Beside as many keyframes a rotation of three turns has 23 of its own, not 71.
        let turns = (0.0, TransformStep::Rotate(0.0, DVec3::Z));
        let turns = moving(vec![turns, (399.7, TransformStep::Rotate(1080.0, DVec3::Z))]);
        assert_eq!(transformed(&first, &turns).expect("fewer keyframes").keyframes().len(), 200 + 23 + 1);
        assert_eq!(transformed(&first, &many(1)), Err(TransformError::TooManyKeyframes));
    }
}
