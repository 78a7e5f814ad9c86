//! An interpreter of the IR: the oracle of the compiler's tests.
//!
//! It runs a program at all vertices of one grid in lockstep, so that differences between neighbours work, in whatever
//! form the program is: as the front end made it, between passes, or bound to buffers. What a program reads from
//! outside comes from its [`InterpreterHost`]: [`Scene`] names things, [`Memory`] is buffers.
//!
//! Strings are tokens here, as on a device.

mod color;
mod evaluate;
mod exec;
mod memory;
pub(crate) mod noise;
mod scene;
pub(crate) mod spline;
pub mod texture;

pub use evaluate::{evaluate, index};
pub use exec::{Outcome, run};
pub use memory::Memory;
pub use scene::{Column, LightInstance, Outputs, Scene, shade};

use crate::abi::work;
use crate::ir::{Axis, Const, Op};
use std::sync::Arc;

/// The grid that a program is run on.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Micropolygons along u, 1 to 15.
    pub nu: u32,
    /// Micropolygons along v.
    pub nv: u32,
    /// Parametric distance of vertices along u.
    pub du: f32,
    /// The same along v.
    pub dv: f32,
    /// Flags of [`crate::abi::work`].
    pub flags: u32,
    /// Seed of `random()`.
    pub seed: u32,
}

impl Grid {
    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        ((self.nu + 1) * (self.nv + 1)) as usize
    }

    /// 1, or -1 where the normal is flipped.
    pub fn orientation(&self) -> f32 {
        if self.flags & work::FLAG_FLIP_NORMAL == 0 { 1.0 } else { -1.0 }
    }

    /// The vertices and weights of the difference at a vertex: `w1 (f[b] - f[a]) + w2 (f[c] - f[a])`, to be divided by
    /// the step.
    fn stencil(&self, vertex: usize, axis: Axis) -> ([usize; 3], [f32; 2], f32) {
        let width = self.nu as usize + 1;
        let place = [vertex % width, vertex / width];
        let last = [self.nu as usize, self.nv as usize];
        let snapped = [[work::FLAG_SNAPPED_U0, work::FLAG_SNAPPED_U1], [work::FLAG_SNAPPED_V0, work::FLAG_SNAPPED_V1]];
        let (along, step) = match axis {
            Axis::U => (0, self.du),
            Axis::V => (1, self.dv),
        };
        // The line on which differences are taken: one further inside where this one is snapped.
        let across = 1 - along;
        let flagged = |end: usize| self.flags & snapped[across][end] != 0;
        let trapped = last[across] == 1 && flagged(0) && flagged(1);
        let line = match place[across] {
            0 if flagged(0) && !trapped => 1,
            p if p == last[across] && flagged(1) && !trapped => p - 1,
            p => p,
        };
        let (p, end) = (place[along], last[along]);
        let ([a, b, c], weights) = match (p, end) {
            (0, 1) => ([0, 1, 0], [1.0, 0.0]),
            (1, 1) => ([1, 0, 1], [-1.0, 0.0]),
            (0, _) => ([0, 1, 2], [2.0, -0.5]),
            (p, end) if p == end => ([p, p - 1, p - 2], [-2.0, 0.5]),
            (p, _) => ([p - 1, p + 1, p - 1], [0.5, 0.0]),
        };
        let vertex_of = |p: usize| if along == 0 { line * width + p } else { p * width + line };
        ([a, b, c].map(vertex_of), weights, step)
    }

    /// The derivative at a vertex of a value known at all vertices.
    pub(crate) fn derivative(&self, values: &[Const], vertex: usize, axis: Axis) -> Const {
        let ([a, b, c], [w1, w2], step) = self.stencil(vertex, axis);
        let take = |f: &dyn Fn(&Const) -> f32| {
            let (fa, fb, fc) = (f(&values[a]), f(&values[b]), f(&values[c]));
            ((fb - fa) * w1 + (fc - fa) * w2) / step
        };
        match values[vertex] {
            Const::Vec3(_) => {
                let part = |i: usize| take(&|x| x.as_vec3().map_or(0.0, |v| v[i]));
                Const::Vec3([part(0), part(1), part(2)])
            }
            _ => Const::F32(take(&|x| x.as_f32().unwrap_or(0.0))),
        }
    }
}

/// What a program reads from outside.
pub trait InterpreterHost {
    /// The results of a reading operation at a vertex.
    ///
    /// # Panics
    /// When the program reads what these surroundings do not have.
    fn read(&self, op: &Op, args: &[Const], vertex: usize) -> Vec<Const>;

    /// The token of a string literal.
    fn token(&self, text: &str) -> u32;

    /// The text of a token.
    fn text(&self, token: u32) -> String;

    /// Where lookups find textures; without one they find none.
    fn textures(&self) -> Option<&dyn texture::TextureStore> {
        None
    }

    /// In a light: its number in the light list, on which its random numbers depend.
    fn light_number(&self) -> Option<u32> {
        None
    }

    /// Runs the lights: for each in order, what it sends to each of the positions. They see nothing of the surface.
    fn lights(&self, grid: &Grid, positions: &[Const]) -> Vec<LightRays>;
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

/// Whether a category pattern (`"diffuse,-specular"`) takes a light of these categories.
pub fn category_matches(pattern: &str, categories: &str) -> bool {
    let words = |s: &str| s.split(',').map(|w| w.trim().to_owned()).filter(|w| !w.is_empty()).collect::<Vec<_>>();
    let (pattern, categories) = (words(pattern), words(categories));
    let wanted: Vec<_> = pattern.iter().filter(|w| !w.starts_with('-')).collect();
    let unwanted = pattern.iter().filter_map(|w| w.strip_prefix('-')).any(|w| categories.iter().any(|c| c == w));
    !unwanted && (wanted.is_empty() || wanted.iter().any(|w| categories.contains(w)))
}

/// Whether a direction lies in a cone: its angle with the axis is at most `angle` (radians).
pub(crate) fn in_cone(l: [f32; 3], axis: [f32; 3], angle: f32) -> bool {
    let dot = |a: [f32; 3], b: [f32; 3]| (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
    let limit = f64::from(angle.clamp(0.0, std::f32::consts::PI)).cos() as f32;
    angle >= std::f32::consts::PI || dot(l, axis) >= limit * (dot(l, l).sqrt() * dot(axis, axis).sqrt())
}
