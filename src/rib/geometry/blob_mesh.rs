//! A coarse mesh around an implicit surface. Devices move its points onto the surface (`glsl/lib/surface/blob.glsl`).
//!
//! It is that of surface nets (Gibson 1998): a vertex for each cell of a lattice in which the field crosses the
//! threshold, and around each side of the lattice that crosses it a facet. The lattice exists where leaves are, in
//! blocks; each has a program of the leaves that reach it alone.

use crate::scene::BlobStep;
use glam::{DMat4, DVec3, IVec3};
use std::collections::{BTreeMap, HashMap};

/// The field of a lone unit ellipsoid is 27/64 at half its radius: the threshold.
pub(super) const THRESHOLD: f64 = 0.421_875;
/// The most steps of a program, and values on its stack, that kernels take: with them a row of vertices makes fewer
/// loop trips than drivers allow (docs/pipeline/loops.md).
const STEPS_MAX: usize = 256;
const STACK_MAX: usize = 12;
/// Lattice cells along the smallest radius of a leaf.
const CELLS: f64 = 8.0;
/// Lattice cells along a side of a block.
const BLOCK: i32 = 8;
/// The most blocks of a lattice.
const BLOCKS_MAX: usize = 1 << 14;
/// How far from a block, in cells, the points of its facets may be and move.
const MARGIN: f64 = 2.5;

/// A leaf of the field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldLeaf {
    pub(super) step: BlobStep,
    /// Where it is not 0: its middle, and how far it reaches along each axis. Everywhere, if it is constant or a
    /// ground.
    pub(super) bound: Option<[DVec3; 2]>,
    /// Its smallest radius.
    pub(super) size: f64,
    /// From where it is the unit sphere, or a segment of radius 1 between its ends.
    pub(super) object_from_unit: DMat4,
    /// The same without the radius of a segment: the matrix that the request gives.
    pub(super) object_from_own: DMat4,
    pub(super) ends: [DVec3; 2],
}

impl FieldLeaf {
    /// Creates a leaf that has one value everywhere.
    pub(super) fn constant(value: f32) -> Self {
        Self::everywhere(BlobStep::Constant(value))
    }

    /// Creates a leaf without bounds.
    pub(super) fn everywhere(step: BlobStep) -> Self {
        let (object_from_unit, ends) = (DMat4::IDENTITY, [DVec3::ZERO; 2]);
        let object_from_own = object_from_unit;
        Self { step, bound: None, size: f64::INFINITY, object_from_unit, object_from_own, ends }
    }

    /// Whether it may be other than 0 within `half` of a point along each axis.
    fn reaches(&self, middle: DVec3, half: f64) -> bool {
        let (rows, from, to) = match &self.step {
            BlobStep::Ellipsoid(rows) => (rows, DVec3::ZERO, DVec3::ZERO),
            BlobStep::Segment { rows, start, axis, length } => {
                let [start, axis] = [start, axis].map(|v| DVec3::from(v.map(f64::from)));
                (rows, start, start + f64::from(*length) * axis)
            }
            _ => return true,
        };
        // In its own space, where it is 0 from a distance of 1 on. What is added makes up for roundings.
        let away = local(rows, middle);
        let spread = |row: &[f32; 4]| row[..3].iter().map(|x| f64::from(x.abs()) * half).sum::<f64>();
        let spread = DVec3::from(rows.each_ref().map(spread)).length();
        let along = to - from;
        let share = (away - from).dot(along) / along.length_squared();
        let nearest = from + along * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        away.distance(nearest) <= 1.0 + spread + 1e-3
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Leaf(usize),
    /// An operation on earlier instructions.
    Operation(BlobStep, Vec<usize>),
}

/// A field: the last instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) leaves: Vec<FieldLeaf>,
    pub(super) nodes: Vec<Node>,
}

/// Steps that are put together.
#[derive(Default)]
struct Assembly {
    steps: Vec<BlobStep>,
    /// As devices count them.
    count: usize,
    depth: usize,
    depth_max: usize,
}

impl Assembly {
    fn push(&mut self, step: BlobStep) {
        match step {
            _ if step.is_leaf() => self.depth += 1,
            BlobStep::Negate => {}
            _ => self.depth = self.depth.saturating_sub(1),
        }
        self.count += usize::from(!step.joins(self.steps.last()));
        self.depth_max = self.depth_max.max(self.depth);
        self.steps.push(step);
    }

    fn fits(&self, steps_max: usize) -> bool {
        self.count <= steps_max && self.depth_max <= STACK_MAX
    }
}

impl Field {
    /// Whether another field differs from this in numbers alone, and not in how many depths its grounds have.
    pub(super) fn has_instructions_of(&self, other: &Self) -> bool {
        let ground = |leaf: &FieldLeaf| match &leaf.step {
            BlobStep::Repeller(ground) => Some(ground.size),
            _ => None,
        };
        let kind = |leaf: &FieldLeaf| (std::mem::discriminant(&leaf.step), leaf.bound.is_some(), ground(leaf));
        self.nodes == other.nodes && self.leaves.iter().map(kind).eq(other.leaves.iter().map(kind))
    }

    /// Returns the program of the leaves of some place. Fails with the reason if there is none that devices take.
    pub(super) fn program(&self, near: &[u32]) -> Result<Vec<BlobStep>, String> {
        self.program_of(near, STEPS_MAX).ok_or_else(|| format!("{} in one place", too_many()))
    }

    /// Returns the program of the leaves of some place, if it has at most so many steps.
    fn program_of(&self, near: &[u32], steps_max: usize) -> Option<Vec<BlobStep>> {
        let (some, root) = (self.some(near), self.nodes.len() - 1);
        let mut assembly = Assembly::default();
        if some[root] {
            self.assemble(root, &some, steps_max, &mut assembly);
        }
        assembly.fits(steps_max).then_some(assembly.steps)
    }

    /// Returns which nodes are not 0 where only these leaves are not.
    fn some(&self, near: &[u32]) -> Vec<bool> {
        let mut leaves: Vec<bool> = self.leaves.iter().map(|leaf| leaf.bound.is_none()).collect();
        near.iter().for_each(|&leaf| leaves[leaf as usize] = true);
        let mut some: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            some.push(match node {
                Node::Leaf(leaf) => leaves[*leaf],
                Node::Operation(BlobStep::Multiply, operands) => operands.iter().all(|&i| some[i]),
                Node::Operation(BlobStep::Divide(_), operands) => some[operands[0]],
                Node::Operation(_, operands) => operands.iter().any(|&i| some[i]),
            });
        }
        some
    }

    /// Appends the steps of a node that is not 0. What is 0 is left out of sums, which leaves their bits as they are.
    fn assemble(&self, node: usize, some: &[bool], steps_max: usize, into: &mut Assembly) {
        if !into.fits(steps_max) {
            return;
        }
        let (step, operands) = match &self.nodes[node] {
            Node::Leaf(leaf) => return into.push(self.leaves[*leaf].step.clone()),
            Node::Operation(step, operands) => (step, operands),
        };
        match step {
            BlobStep::Add | BlobStep::Subtract | BlobStep::Negate => {
                let mut follows = false;
                for (i, &operand) in operands.iter().enumerate().filter(|(_, operand)| some[**operand]) {
                    self.assemble(operand, some, steps_max, into);
                    match step {
                        BlobStep::Negate => into.push(BlobStep::Negate),
                        BlobStep::Subtract if i > 0 && !follows => into.push(BlobStep::Negate),
                        step if follows => into.push(step.clone()),
                        _ => {}
                    }
                    follows = true;
                }
            }
            step => {
                for (i, &operand) in operands.iter().enumerate() {
                    if some[operand] {
                        self.assemble(operand, some, steps_max, into);
                    } else {
                        into.push(BlobStep::Constant(0.0));
                    }
                    if i > 0 {
                        into.push(step.clone());
                    }
                }
            }
        }
    }
}

/// Says what a program may not have.
fn too_many() -> String {
    format!("more than {STEPS_MAX} of its leaves and operations other than sums, or {STACK_MAX} nested ones, meet")
}

fn local(rows: &[[f32; 4]; 3], p: DVec3) -> DVec3 {
    let row = |r: &[f32; 4]| DVec3::new(r[0].into(), r[1].into(), r[2].into()).dot(p) + f64::from(r[3]);
    DVec3::new(row(&rows[0]), row(&rows[1]), row(&rows[2]))
}

/// Returns the value of a leaf at a point.
pub(super) fn leaf_value(step: &BlobStep, p: DVec3) -> f64 {
    match step {
        BlobStep::Constant(value) => f64::from(*value),
        BlobStep::Ellipsoid(rows) => (1.0 - local(rows, p).length_squared()).max(0.0).powi(3),
        BlobStep::Segment { rows, start, axis, length } => {
            let axis = DVec3::from(axis.map(f64::from));
            let q = local(rows, p) - DVec3::from(start.map(f64::from));
            let s = axis.dot(q);
            let k = 1.0 - (q - s * axis).length_squared();
            if k.is_nan() || k <= 0.0 {
                return 0.0;
            }
            let r = k.sqrt();
            let sum = |x: f64| {
                let (x, x2) = (x.clamp(-r, r), x.clamp(-r, r).powi(2));
                x * (k * k * k - x2 * (k * k - x2 * (0.6 * k - x2 / 7.0)))
            };
            35.0 / 32.0 * (sum(f64::from(*length) - s) - sum(-s))
        }
        BlobStep::Repeller(ground) => ground.value(p),
        _ => 0.0,
    }
}

/// Returns the value of a program at a point.
pub(super) fn value(steps: &[BlobStep], p: DVec3) -> f64 {
    let mut stack = [0.0_f64; STACK_MAX];
    let mut top = 0;
    for step in steps {
        let (a, b) = (stack[top.max(2) - 2], stack[top.max(1) - 1]);
        let result = match step {
            BlobStep::Negate => -b,
            BlobStep::Add => a + b,
            BlobStep::Multiply => a * b,
            BlobStep::Max => a.max(b),
            BlobStep::Min => a.min(b),
            BlobStep::Subtract => a - b,
            BlobStep::Divide(least) => a / if b.abs() < f64::from(*least) { f64::from(*least).copysign(b) } else { b },
            leaf => {
                stack[top] = leaf_value(leaf, p);
                top += 1;
                continue;
            }
        };
        top -= usize::from(!matches!(step, BlobStep::Negate));
        stack[top - 1] = result;
    }
    stack[0]
}

/// A mesh that grows block by block.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BlobMesh {
    pub(super) positions: Vec<DVec3>,
    /// The facets' vertices at (u,v) = (0,0) (1,0) (0,1) (1,1).
    pub(super) corners: Vec<[u32; 4]>,
    pub(super) programs: Vec<Vec<BlobStep>>,
    /// The program of each facet.
    pub(super) program: Vec<u32>,
    /// The length of a lattice cell.
    pub(super) cell: f64,
    /// Whether cells are much longer than the leaves ask for.
    pub(super) coarse: bool,
    /// What is wrong with a part of the surface that it leaves out.
    pub(super) gap: Option<String>,
    /// The vertex of each cell that has one.
    vertex: HashMap<IVec3, u32>,
    /// The program of each vertex, and the leaves of each program.
    vertex_program: Vec<u32>,
    leaves: Vec<Vec<u32>>,
}

/// Why there is no mesh.
pub(super) enum MeshFault {
    /// There is nothing to draw.
    Empty(&'static str),
    /// It would be too large.
    Limit(String),
}

/// A block of the lattice: its first point, and which of its points are inside the surface.
struct LatticeBlock {
    first: IVec3,
    program: u32,
    inside: Vec<bool>,
}

/// Lattice points along a side of a block.
const SIDE: i32 = BLOCK + 1;

fn place(p: IVec3) -> usize {
    ((p.z * SIDE + p.y) * SIDE + p.x) as usize
}

/// Iterates over the points of a cube of `side` points.
fn cube(side: i32) -> impl Iterator<Item = IVec3> {
    (0..side * side * side).map(move |i| IVec3::new(i % side, i / side % side, i / side / side))
}

impl BlobMesh {
    /// Leaves out the surface in the block that begins at a lattice point.
    fn leave_out(&mut self, first: IVec3) {
        let [x, y, z] = ((first.as_dvec3() + 0.5 * f64::from(BLOCK)) * self.cell).as_vec3().to_array();
        self.gap.get_or_insert_with(|| format!("{} around ({x}, {y}, {z}), and maybe elsewhere", too_many()));
    }

    /// Adds a vertex for each cell of a block through which the surface goes: the middle of where it crosses its sides.
    fn add_vertices(&mut self, block: &LatticeBlock, values: &[f64], steps: &[BlobStep]) {
        let steep = steps.iter().any(|step| matches!(step, BlobStep::Repeller(_)));
        for corner in cube(BLOCK) {
            let (mut sum, mut count) = (DVec3::ZERO, 0);
            for (axis, offset) in (0..3).flat_map(|axis| (0..4).map(move |k| (axis, k))) {
                let mut a = corner;
                a[(axis + 1) % 3] += offset & 1;
                a[(axis + 2) % 3] += offset >> 1;
                let mut b = a;
                b[axis] += 1;
                if block.inside[place(a)] != block.inside[place(b)] {
                    let (fa, fb) = (values[place(a)], values[place(b)]);
                    let (p, q) = (a.as_dvec3(), b.as_dvec3());
                    let at = |share: f64| value(steps, (block.first.as_dvec3() + p.lerp(q, share)) * self.cell);
                    let share = match steep {
                        true => halved(&at, fa < THRESHOLD),
                        false => ((THRESHOLD - fa) / (fb - fa)).clamp(0.0, 1.0),
                    };
                    sum += p.lerp(q, share);
                    count += 1;
                }
            }
            if count > 0 {
                let p = (block.first.as_dvec3() + sum / f64::from(count)) * self.cell;
                self.vertex.insert(block.first + corner, self.positions.len() as u32);
                self.positions.push(p);
                self.vertex_program.push(block.program);
            }
        }
    }

    /// Adds a facet for each side of the lattice in a block that crosses the surface, around it. Its normal, dP/du x
    /// dP/dv, points outwards.
    fn add_facets(&mut self, block: &LatticeBlock) {
        for a in cube(BLOCK) {
            for axis in 0..3 {
                let mut b = a;
                b[axis] += 1;
                let (from, to) = (block.inside[place(a)], block.inside[place(b)]);
                if from == to {
                    continue;
                }
                let at = |u: i32, v: i32| {
                    let mut cell = block.first + a;
                    cell[(axis + 1) % 3] += u - 1;
                    cell[(axis + 2) % 3] += v - 1;
                    self.vertex.get(&cell).copied()
                };
                let (Some(p00), Some(p10), Some(p01), Some(p11)) = (at(0, 0), at(1, 0), at(0, 1), at(1, 1)) else {
                    continue;
                };
                self.corners.push(if from { [p00, p10, p01, p11] } else { [p00, p01, p10, p11] });
                self.program.push(block.program);
            }
        }
    }
}

/// Returns where between 0 and 1 a field that is no straight line crosses the threshold, by halving.
fn halved(at: &dyn Fn(f64) -> f64, rises: bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if (at(middle) < THRESHOLD) == rises { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Lays a mesh around the surface of a field.
pub(super) fn mesh(field: &Field) -> Result<BlobMesh, MeshFault> {
    let smallest = field.leaves.iter().filter(|leaf| leaf.bound.is_some()).map(|leaf| leaf.size);
    let wanted = smallest.fold(f64::INFINITY, f64::min) / CELLS;
    if !wanted.is_finite() {
        return Err(MeshFault::Empty("none of its leaves has a size"));
    }
    let (cell, blocks) = blocks(field, wanted)?;
    let mut mesh = BlobMesh { cell, coarse: cell > 4.0 * wanted, ..BlobMesh::default() };
    let (mut known, mut full) = (HashMap::new(), Vec::new());
    for (first, near) in blocks {
        // Inside of the surface more leaves may meet than devices take: a sum needs two steps for each.
        let steps = field.program_of(&near, STEPS_MAX.max(2 * near.len()));
        let steps = steps.ok_or_else(|| MeshFault::Limit(format!("{} in one place", too_many())))?;
        let first = IVec3::from(first) * BLOCK;
        let at = |p: IVec3| value(&steps, (first + p).as_dvec3() * cell);
        let values: Vec<f64> = cube(SIDE).map(at).collect();
        let inside: Vec<bool> = values.iter().map(|value| *value >= THRESHOLD).collect();
        if inside.iter().all(|point| *point == inside[0]) {
            continue;
        }
        if field.program(&near).is_err() {
            mesh.leave_out(first);
            continue;
        }
        let program = *known.entry(near.clone()).or_insert(mesh.programs.len() as u32);
        if program as usize == mesh.programs.len() {
            mesh.programs.push(steps.clone());
            mesh.leaves.push(near);
        }
        let block = LatticeBlock { first, program, inside };
        mesh.add_vertices(&block, &values, &steps);
        full.push(block);
    }
    full.iter().for_each(|block| mesh.add_facets(block));
    mesh.vertex = HashMap::new();
    if mesh.corners.is_empty() {
        return Err(match mesh.gap {
            Some(gap) => MeshFault::Limit(gap),
            None => MeshFault::Empty("its field is nowhere large enough for a surface"),
        });
    }
    Ok(mesh)
}

/// The blocks that leaves reach, with the numbers of those leaves.
type Blocks = BTreeMap<[i32; 3], Vec<u32>>;

/// Returns the length of a lattice cell, as wanted or so much longer that blocks are not too many, and the blocks.
fn blocks(field: &Field, wanted: f64) -> Result<(f64, Blocks), MeshFault> {
    let bounds = || (0..).zip(&field.leaves).filter_map(|(number, leaf)| Some((number, leaf.bound?)));
    let mut cell = wanted;
    loop {
        let range = |[middle, reach]: [DVec3; 2]| {
            let (side, reach) = (cell * f64::from(BLOCK), reach + MARGIN * cell);
            [((middle - reach) / side).floor(), ((middle + reach) / side).floor()]
        };
        let visits = || bounds().map(|(_, bound)| range(bound)).map(|[a, b]| (b - a + 1.0).element_product());
        let mut blocks = Blocks::new();
        if visits().all(|of_leaf| of_leaf <= BLOCKS_MAX as f64) && visits().sum::<f64>() <= (64 * BLOCKS_MAX) as f64 {
            for (number, bound) in bounds() {
                let [low, high] = range(bound);
                if low.abs().max(high.abs()).max_element() > 1e7 {
                    return Err(MeshFault::Limit("it is too far from its origin for the size of its leaves".into()));
                }
                let (low, size) = (low.as_ivec3(), (high - low).as_ivec3() + 1);
                let half = (0.5 * f64::from(BLOCK) + MARGIN) * cell;
                for i in 0..size.x * size.y * size.z {
                    let block = low + IVec3::new(i % size.x, i / size.x % size.y, i / size.x / size.y);
                    let middle = (block.as_dvec3() + 0.5) * (f64::from(BLOCK) * cell);
                    if field.leaves[number as usize].reaches(middle, half) {
                        blocks.entry(block.to_array()).or_default().push(number);
                    }
                }
            }
            if blocks.len() <= BLOCKS_MAX {
                return Ok((cell, blocks));
            }
        }
        cell *= 1.25;
    }
}

impl BlobMesh {
    /// Iterates over the vertices, with the leaves of their programs.
    pub(super) fn vertices(&self) -> impl Iterator<Item = (&DVec3, &[u32])> {
        let leaves = self.vertex_program.iter().map(|&program| &self.leaves[program as usize][..]);
        self.positions.iter().zip(leaves)
    }

    /// Returns the program of each vertex.
    pub(super) fn vertex_programs(&self) -> &[u32] {
        &self.vertex_program
    }

    /// Returns a box for each program, around the vertices for which it counts, at other positions.
    pub(super) fn boxes(&self, positions: &[DVec3]) -> Vec<[DVec3; 2]> {
        let mut boxes = vec![[DVec3::INFINITY, DVec3::NEG_INFINITY]; self.programs.len()];
        let mut add = |program: u32, vertex: usize| {
            let [low, high] = &mut boxes[program as usize];
            (*low, *high) = (low.min(positions[vertex]), high.max(positions[vertex]));
        };
        self.vertex_program.iter().enumerate().for_each(|(vertex, &program)| add(program, vertex));
        for (corners, &program) in self.corners.iter().zip(&self.program) {
            corners.iter().for_each(|&corner| add(program, corner as usize));
        }
        boxes
    }

    /// Returns the values at the vertices, `width` floats each: the mean of those of the leaves, by their fields.
    pub(super) fn blended(&self, field: &Field, values: &[f32], width: usize) -> Vec<f32> {
        let mut result = Vec::with_capacity(self.positions.len() * width);
        for (p, near) in self.vertices() {
            let weights = weights(field, near, *p);
            let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
            for c in 0..width {
                let sum: f64 = weights.iter().map(|(leaf, weight)| weight * f64::from(values[leaf * width + c])).sum();
                result.push((sum / total) as f32);
            }
        }
        result
    }

    /// Returns where the vertices were when the leaves had other matrices, each of 16 floats: the mean of where each
    /// leaf takes them, by their fields.
    pub(super) fn placed(&self, field: &Field, matrices: &[f32]) -> Vec<f32> {
        let matrices: Vec<DMat4> = matrices
            .as_chunks::<16>()
            .0
            .iter()
            .zip(&field.leaves)
            .map(|(matrix, leaf)| DMat4::from_cols_array(&matrix.map(f64::from)) * leaf.object_from_own.inverse())
            .collect();
        let place = |(p, near): (&DVec3, &[u32])| {
            let weights = weights(field, near, *p);
            let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
            let sum: DVec3 = weights.iter().map(|(leaf, weight)| *weight * matrices[*leaf].transform_point3(*p)).sum();
            (sum / total).as_vec3().to_array()
        };
        self.vertices().flat_map(place).collect()
    }
}

/// Returns the leaves that count at a point, of those near it and those that have no bound, and for how much.
fn weights(field: &Field, near: &[u32], p: DVec3) -> Vec<(usize, f64)> {
    let constant = (0..).zip(&field.leaves).filter(|(_, leaf)| leaf.bound.is_none()).map(|(i, _)| i);
    let leaves = near.iter().copied().chain(constant);
    let weigh = |leaf: u32| (leaf as usize, leaf_value(&field.leaves[leaf as usize].step, p).max(0.0));
    let mut weights: Vec<(usize, f64)> = leaves.map(weigh).filter(|(_, weight)| *weight > 0.0).collect();
    if weights.is_empty() {
        weights.extend(near.iter().map(|&leaf| (leaf as usize, 1.0)));
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_reach_wherever_they_are_not_0() {
        let rows = [[0.9, 0.4, 0.0, 0.2], [-0.3, 1.2, 0.5, -0.1], [0.1, -0.2, 2.0, 0.3]];
        let segment = BlobStep::Segment { rows, start: [0.5, -1.0, 0.0], axis: [0.6, 0.8, 0.0], length: 3.0 };
        for step in [BlobStep::Ellipsoid(rows), segment] {
            let leaf = FieldLeaf::everywhere(step);
            let (mut reached, mut left_out) = (0, 0);
            for block in cube(24) {
                let (middle, half) = (0.5 * block.as_dvec3() - 6.0, 0.25);
                let points = cube(5).map(|p| middle + half * (0.5 * p.as_dvec3() - 1.0));
                let is_somewhere = points.map(|p| leaf_value(&leaf.step, p)).any(|value| value > 0.0);
                let reaches = leaf.reaches(middle, half);
                assert!(reaches || !is_somewhere, "{middle}");
                reached += u32::from(is_somewhere);
                left_out += u32::from(!reaches);
            }
            assert!(reached > 20 && left_out > 10_000, "{reached}, {left_out}");
        }
    }
}
