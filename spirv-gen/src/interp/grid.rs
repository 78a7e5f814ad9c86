//! The grid that a program is run on, and differences between its vertices.

use crate::abi::work;
use crate::ir::{Axis, Const};

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
    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        ((self.nu + 1) * (self.nv + 1)) as usize
    }

    /// Returns 1, or -1 where the normal is flipped.
    pub fn orientation(&self) -> f32 {
        if self.flags & work::FLAG_FLIP_NORMAL == 0 { 1.0 } else { -1.0 }
    }

    /// Returns the vertices and weights of the difference at a vertex: `w1 (f[b] - f[a]) + w2 (f[c] - f[a])`, to be
    /// divided by the step.
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

    /// Returns the derivative at a vertex of a value known at all vertices.
    pub(super) fn derivative(&self, values: &[Const], vertex: usize, axis: Axis) -> Const {
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
