//! Canonical points of grid borders, in exact arithmetic (the rules at the top of `glsl/lib/grid/edge.glsl`).

use anthill::pipeline::kernels::constants::{
    EDGE_I0, EDGE_I1, EDGE_INDEX_MASK, EDGE_LEVEL_MASK, EDGE_RATE, EDGE_RATE_MAX, SHAPE_LEVEL_MASK, SHAPE_V_LEVEL,
};
use anthill::pipeline::kernels::records::Subpatch;

/// A parameter 0 to 1 in units of which every canonical point is a whole number: 1/65536 over the least common multiple
/// of 1 to 15.
pub(crate) const UNIT: u64 = 65_536 * 360_360;

/// One of a subpatch's edges: 0 and 1 run along u at v0 and v1, 2 and 3 along v at u0 and u1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Level of the leaf edge that it is, or is part of.
    pub leaf_level: u32,
    /// Parts of the leaf edge.
    pub rate: u32,
    /// The points of the leaf edge that this edge covers: first and last.
    pub points: [u32; 2],
    /// Where the leaf begins.
    pub leaf_start: u64,
}

/// The rectangle of a subpatch: u0, v0, u1, v1 in 1 / [`UNIT`].
pub(crate) fn rectangle(subpatch: &Subpatch) -> [u64; 4] {
    let [u_level, v_level] = levels(subpatch);
    let [u0, v0] = [subpatch.start & 0xffff, subpatch.start >> 16].map(|start| u64::from(start) * (UNIT / 65_536));
    [u0, v0, u0 + (UNIT >> u_level), v0 + (UNIT >> v_level)]
}

/// How often a subpatch was halved in u and in v.
pub(crate) fn levels(subpatch: &Subpatch) -> [u32; 2] {
    [subpatch.shape & SHAPE_LEVEL_MASK, (subpatch.shape >> SHAPE_V_LEVEL) & SHAPE_LEVEL_MASK]
}

/// The edges of a grid.
pub(crate) fn edges(grid: &Subpatch) -> [Edge; 4] {
    let [u0, v0, ..] = rectangle(grid);
    [0, 1, 2, 3].map(|side| {
        let packed = grid.edges[side];
        let leaf_level = packed & EDGE_LEVEL_MASK;
        let start = if side < 2 { u0 } else { v0 };
        Edge {
            leaf_level,
            rate: (packed >> EDGE_RATE) & EDGE_INDEX_MASK,
            points: [(packed >> EDGE_I0) & EDGE_INDEX_MASK, (packed >> EDGE_I1) & EDGE_INDEX_MASK],
            leaf_start: start / (UNIT >> leaf_level) * (UNIT >> leaf_level),
        }
    })
}

impl Edge {
    /// Canonical point `index` of the leaf edge.
    pub(crate) fn point(&self, index: u32) -> u64 {
        assert!((1..=EDGE_RATE_MAX).contains(&self.rate) && index <= self.rate, "{self:?}");
        self.leaf_start + (UNIT >> self.leaf_level) * u64::from(index) / u64::from(self.rate)
    }

    /// The points that the edge covers, in order.
    pub(crate) fn canonical_points(&self) -> Vec<u64> {
        (self.points[0]..=self.points[1]).map(|index| self.point(index)).collect()
    }

    /// The index of border vertex `i` of `n`: of the canonical point nearest to i/n of the range, halves upwards.
    fn index(&self, i: u32, n: u32) -> u32 {
        let count = self.points[1] - self.points[0];
        self.points[0] + (2 * i * count + n) / (2 * n)
    }
}

/// Where corner `k` of a grid (bit 0: at u1, bit 1: at v1) is: u is that of a point of its edge along u, v of its edge
/// along v.
fn corner(grid: &Subpatch, k: usize) -> [u64; 2] {
    let edges = edges(grid);
    let (along_u, along_v) = (edges[k >> 1], edges[2 + (k & 1)]);
    [along_u.point(along_u.points[k & 1]), along_v.point(along_v.points[k >> 1])]
}

/// (u, v) of vertex (i, j) of a grid: regular inside; along a border the canonical points; a border vertex on the first
/// or last point is the corner there.
pub(crate) fn vertex(grid: &Subpatch, i: u32, j: u32) -> [u64; 2] {
    let [nu, nv] = grid.micropolygons();
    let [u0, v0, u1, v1] = rectangle(grid);
    let edges = edges(grid);
    let (at_v, at_u) = (usize::from(j == nv), usize::from(i == nu));
    let border = |edge: Edge, i, n, [first, last]: [usize; 2]| {
        let index = edge.index(i, n);
        match index {
            index if index == edge.points[0] => Err(first),
            index if index == edge.points[1] => Err(last),
            index => Ok(edge.point(index)),
        }
    };
    let regular = [u0 + (u1 - u0) * u64::from(i) / u64::from(nu), v0 + (v1 - v0) * u64::from(j) / u64::from(nv)];
    match (j == 0 || j == nv, i == 0 || i == nu) {
        (true, true) => corner(grid, at_u + 2 * at_v),
        (true, false) => match border(edges[at_v], i, nu, [2 * at_v, 2 * at_v + 1]) {
            Ok(u) => [u, regular[1]],
            Err(k) => corner(grid, k),
        },
        (false, true) => match border(edges[2 + at_u], j, nv, [at_u, at_u + 2]) {
            Ok(v) => [regular[0], v],
            Err(k) => corner(grid, k),
        },
        (false, false) => regular,
    }
}

/// A parameter as a number.
pub(crate) fn number(parameter: u64) -> f64 {
    parameter as f64 / UNIT as f64
}
