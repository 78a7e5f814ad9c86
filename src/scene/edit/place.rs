//! Edits of transformations.

use crate::scene::Motion;
use crate::scene::motion::{KEYFRAMES_MAX, is_invertible, product};
use glam::DMat4;
use std::sync::Arc;

/// One step of a transformation.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixStep {
    /// Replaces the transformation: world space from the object's.
    Set(Motion<DMat4>),
    /// Multiplies the transformation, so that it comes before what there is.
    Concat(Motion<DMat4>),
}

/// Returns the transformation after steps, one after the other. A step whose result cannot be inverted or has too many
/// keyframes is left out, as it is while reading. Without any steps it keeps its address.
pub(super) fn after(current: &Arc<Motion<DMat4>>, steps: &[MatrixStep]) -> Arc<Motion<DMat4>> {
    let mut result = Arc::clone(current);
    for step in steps {
        let next = match step {
            MatrixStep::Set(motion) => Some(motion.clone()),
            MatrixStep::Concat(motion) => product(&result, motion),
        };
        let is_usable = |next: &Motion<DMat4>| {
            next.keyframes().len() <= KEYFRAMES_MAX && next.keyframes().iter().all(|(_, matrix)| is_invertible(matrix))
        };
        if let Some(next) = next.filter(is_usable) {
            result = Arc::new(next);
        }
    }
    result
}
