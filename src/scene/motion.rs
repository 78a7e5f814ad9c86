//! Products and inverses of moving matrices.

use super::Motion;
use glam::DMat4;

/// The largest number of keyframes of a transformation. Nested blocks add up their times; no sensible scene comes near
/// this.
pub(crate) const KEYFRAMES_MAX: usize = 256;

/// Returns `a * b` at every time for which one of them has a keyframe, or `None` if there would be more than
/// [`KEYFRAMES_MAX`] keyframes.
pub(crate) fn product(a: &Motion<DMat4>, b: &Motion<DMat4>) -> Option<Motion<DMat4>> {
    if !b.moves() {
        let keyframes = a.keyframes().iter().map(|(time, matrix)| (*time, *matrix * *b.first())).collect();
        return Motion::new(keyframes);
    }
    if !a.moves() {
        let keyframes = b.keyframes().iter().map(|(time, matrix)| (*time, *a.first() * *matrix)).collect();
        return Motion::new(keyframes);
    }
    let mut times: Vec<f32> = a.keyframes().iter().chain(b.keyframes()).map(|(time, _)| *time).collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    if times.len() > KEYFRAMES_MAX {
        return None;
    }
    Motion::new(times.into_iter().map(|time| (time, a.at(time) * b.at(time))).collect())
}

/// Returns the inverse at every keyframe.
pub(crate) fn inverse(motion: &Motion<DMat4>) -> Motion<DMat4> {
    let keyframes = motion.keyframes().iter().map(|(time, matrix)| (*time, matrix.inverse())).collect();
    Motion::new(keyframes).expect("the keyframes are those of a motion")
}

/// Whether a matrix is finite and can be inverted.
pub(crate) fn is_invertible(matrix: &DMat4) -> bool {
    let determinant = matrix.determinant();
    matrix.is_finite() && determinant != 0.0 && determinant.is_finite() && matrix.inverse().is_finite()
}
