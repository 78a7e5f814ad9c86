//! What a program finds around it: values from outside, textures, lights.

use super::grid::Grid;
use super::texture::TextureStore;
use crate::ir::{Const, Op};
use std::f32::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// A value at every vertex; or one entry, which holds everywhere.
pub type Column = Vec<Const>;

/// What a program reads from outside.
pub trait InterpreterHost {
    /// Returns the results of a reading operation at a vertex.
    ///
    /// # Panics
    /// When the program reads what these surroundings do not have.
    fn read(&self, op: &Op, args: &[Const], vertex: usize) -> Vec<Const>;

    /// Returns the token of a string literal.
    fn token(&self, text: &str) -> u32;

    /// Returns the text of a token.
    fn text(&self, token: u32) -> String;

    /// Returns where lookups find textures. By default they find none.
    fn textures(&self) -> Option<&dyn TextureStore> {
        None
    }

    /// Returns, in a light, its number in the light list, on which its random numbers depend.
    fn light_number(&self) -> Option<u32> {
        None
    }

    /// Runs the lights: for each in order, what it sends to each of the positions. They see nothing of the surface but
    /// what is sent instead of their parameters, by name.
    fn lights(&self, grid: &Grid, positions: &[Const], sent: &[(Arc<str>, Column)]) -> Vec<LightRays>;
}

/// What one light sends to every vertex.
#[derive(Clone, Debug)]
pub struct LightRays {
    /// Ambient lights are seen by `ambient()` only.
    pub ambient: bool,
    /// Its categories, comma separated.
    pub category: String,
    /// What arrives at each vertex.
    pub rays: Vec<Ray>,
    /// Parameters and outputs that messages may ask for: name, and for each element the value at each vertex.
    pub variables: Vec<(Arc<str>, Vec<Column>)>,
}

/// What a light sends to a point.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Towards the light.
    pub l: [f32; 3],
    /// Colour.
    pub cl: [f32; 3],
    /// Opacity.
    pub ol: [f32; 3],
    /// Whether the light shines there at all.
    pub active: bool,
}

/// Returns whether a direction lies in a cone: its angle with the axis is at most `angle` (radians). The cosine of a
/// right angle counts as 0, so that a hemisphere needs no lengths.
pub(super) fn in_cone(l: [f32; 3], axis: [f32; 3], angle: f32) -> bool {
    let dot = |a: [f32; 3], b: [f32; 3]| (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
    let along = dot(l, axis);
    if angle == FRAC_PI_2 {
        return along >= 0.0;
    }
    let limit = f64::from(angle.clamp(0.0, PI)).cos() as f32;
    angle >= PI || along >= limit * (dot(l, l).sqrt() * dot(axis, axis).sqrt())
}
