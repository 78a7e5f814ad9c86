//! Random graphs to cut, and random expressions.

use fastrand::Rng;
use spirv_gen::partition::{Dag, DagNode, NodeId, NodeKind};

/// Operations back from the last one that a new one may use.
const REACH: usize = 24;

/// Operations that wait for others to use them: beyond, new ones use these.
const UNUSED_MAX: usize = 12;

/// A graph with about so many operations, and so many outputs at most. An operation has at most three operands.
pub(crate) fn dag(seed: u64, operations: usize, outputs: usize) -> Dag {
    let mut growth = Growth { random: Rng::with_seed(seed), dag: Dag::default(), made: Vec::new(), unused: Vec::new() };
    let shared = growth.leaves();
    while growth.made.len() < operations {
        growth.operation(&shared);
    }
    while growth.unused.len() > outputs {
        let kids: Vec<NodeId> = growth.unused.drain(..2).collect();
        let joined = growth.dag.arithmetic(&kids);
        growth.unused.push(joined);
    }
    growth.unused.iter().for_each(|&output| growth.dag.add_output(output));
    growth.dag
}

/// A graph that grows operation by operation.
struct Growth {
    random: Rng,
    dag: Dag,
    made: Vec<NodeId>,
    /// Operations that no other uses.
    unused: Vec<NodeId>,
}

impl Growth {
    fn leaves(&mut self) -> Vec<NodeId> {
        let kinds = [NodeKind::Interpolant, NodeKind::Interpolant, NodeKind::Interpolant, NodeKind::Constant];
        kinds.map(|kind| self.dag.add(DagNode::new(kind, &[]))).to_vec()
    }

    fn operation(&mut self, shared: &[NodeId]) {
        let is_fetch = self.random.u32(..5) == 0;
        let count = if is_fetch { 1 } else { self.random.usize(1..=3) };
        let kids: Vec<NodeId> = (0..count).map(|_| self.operand(shared)).collect();
        let kind = if is_fetch { NodeKind::Fetch(self.random.u32(..8)) } else { NodeKind::Arithmetic };
        let node = self.dag.add(DagNode::new(kind, &kids));
        self.unused.retain(|unused| !kids.contains(unused));
        self.unused.push(node);
        self.made.push(node);
    }

    fn operand(&mut self, shared: &[NodeId]) -> NodeId {
        let reach = &self.made[self.made.len().saturating_sub(REACH)..];
        let choice = if self.unused.len() < UNUSED_MAX { self.random.u32(..10) } else { 0 };
        match choice {
            0..4 if !self.unused.is_empty() => self.unused[self.random.usize(..self.unused.len())],
            4..7 if !reach.is_empty() => reach[self.random.usize(..reach.len())],
            7 => self.dag.add(DagNode::new(NodeKind::Interpolant, &[])),
            _ => shared[self.random.usize(..shared.len())],
        }
    }
}

/// An expression with so many operations, no two of which share a kid, a texture or an interpolant.
pub(crate) fn tree(seed: u64, operations: usize) -> Dag {
    let (mut random, mut dag) = (Rng::with_seed(seed), Dag::default());
    let root = branch(&mut random, &mut dag, operations);
    dag.add_output(root);
    dag
}

fn branch(random: &mut Rng, dag: &mut Dag, operations: usize) -> NodeId {
    let Some(below) = operations.checked_sub(1) else {
        let kind = if random.bool() { NodeKind::Interpolant } else { NodeKind::Constant };
        return dag.add(DagNode::new(kind, &[]));
    };
    if below <= 1 && random.u32(..3) == 0 {
        let kid = branch(random, dag, below);
        let texture = dag.len() as u32;
        return dag.add(DagNode::new(NodeKind::Fetch(texture), &[kid]));
    }
    let count = random.usize(1..=3);
    let mut left = below;
    let kids: Vec<NodeId> = (1..=count)
        .map(|number| {
            let share = if number == count { left } else { random.usize(..=left) };
            left -= share;
            branch(random, dag, share)
        })
        .collect();
    dag.arithmetic(&kids)
}
