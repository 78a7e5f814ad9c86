//! The shader as partitioners see it: a directed acyclic graph of operations.

use rustc_hash::FxHashSet;

/// A node. Those that a node uses have smaller numbers than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns its place in tables of nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An operation without a texture (i).
    Arithmetic,
    /// An access (t) of the texture of this number.
    Fetch(u32),
    /// A value that every pass is given (v). It is never saved.
    Interpolant,
    /// A value that costs nothing (c). It is never saved.
    Constant,
}

/// A node with all that resources and costs are counted from.
#[derive(Clone, Debug)]
pub struct DagNode {
    /// What it is.
    pub kind: NodeKind,
    /// Its operands in order (*kids*). One may stand there twice.
    pub kids: Vec<NodeId>,
    /// Operations of code.
    pub size: u32,
    /// Steps of arithmetic that it takes to run it.
    pub work: u32,
    /// Words of its value: what it occupies in registers, and what is saved and restored.
    pub words: u32,
    /// A node with an effect that comes before the effect of this one.
    pub earlier: Option<NodeId>,
}

impl DagNode {
    /// Returns a node as in the papers, where every operation counts as one, and every value is one word.
    pub fn new(kind: NodeKind, kids: &[NodeId]) -> Self {
        let operations = u32::from(matches!(kind, NodeKind::Arithmetic | NodeKind::Fetch(_)));
        let work = u32::from(kind == NodeKind::Arithmetic);
        Self { kind, kids: kids.to_vec(), size: operations, work, words: 1, earlier: None }
    }

    /// Returns whether it is an operation, no leaf: only operations are ever saved.
    pub fn is_operation(&self) -> bool {
        matches!(self.kind, NodeKind::Arithmetic | NodeKind::Fetch(_))
    }
}

/// A graph with one or more outputs.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    nodes: Vec<DagNode>,
    outputs: Vec<NodeId>,
}

impl Dag {
    /// Adds a node whose kids have been added.
    pub fn add(&mut self, node: DagNode) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        assert!(node.kids.iter().chain(&node.earlier).all(|&kid| kid < id), "what a node needs is added before it");
        self.nodes.push(node);
        id
    }

    /// Adds an operation as in the papers: one of arithmetic, of one word.
    pub fn arithmetic(&mut self, kids: &[NodeId]) -> NodeId {
        self.add(DagNode::new(NodeKind::Arithmetic, kids))
    }

    /// Makes an operation an output, if it is none yet.
    pub fn add_output(&mut self, node: NodeId) {
        assert!(self.node(node).is_operation(), "an output is an operation");
        if !self.outputs.contains(&node) {
            self.outputs.push(node);
        }
    }

    /// Returns a node.
    pub fn node(&self, id: NodeId) -> &DagNode {
        &self.nodes[id.index()]
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns all nodes, kids before what uses them.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Returns the outputs.
    pub fn outputs(&self) -> &[NodeId] {
        &self.outputs
    }

    /// Returns the same graph with these outputs alone.
    pub fn with_outputs(&self, outputs: &[NodeId]) -> Dag {
        Dag { nodes: self.nodes.clone(), outputs: outputs.to_vec() }
    }

    /// Returns the operations among the kids of a node, each once, in order.
    pub fn operands(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let kids = &self.node(id).kids;
        let is_first = |at: usize| !kids[..at].contains(&kids[at]);
        (0..kids.len()).filter(move |&at| self.node(kids[at]).is_operation() && is_first(at)).map(|at| kids[at])
    }

    /// Returns the operations that the outputs need, in postorder: operands in order before what uses them.
    pub fn postorder(&self) -> Vec<NodeId> {
        self.postorder_from(&self.outputs, |_| false)
    }

    /// The same from other roots, not past nodes at which the walk stops. Roots are walked in any case.
    pub fn postorder_from(&self, roots: &[NodeId], stops: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let (mut order, mut seen) = (Vec::new(), FxHashSet::default());
        for &root in roots {
            let mut stack = Vec::new();
            if seen.insert(root) {
                stack.push((root, self.operands(root)));
            }
            while let Some((node, operands)) = stack.last_mut() {
                match operands.find(|&kid| !stops(kid) && !seen.contains(&kid)) {
                    Some(kid) => {
                        seen.insert(kid);
                        stack.push((kid, self.operands(kid)));
                    }
                    None => {
                        order.push(*node);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// Returns for each node the number of operations that use it; only those that the outputs need count.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.len()];
        for node in self.postorder() {
            self.operands(node).for_each(|kid| counts[kid.index()] += 1);
        }
        counts
    }

    /// Returns the *multiply referenced* (MR) nodes: operations that more than one node uses and that are no outputs,
    /// in postorder.
    pub fn multiply_referenced(&self) -> Vec<NodeId> {
        let counts = self.use_counts();
        let mut nodes = self.postorder();
        nodes.retain(|node| counts[node.index()] > 1 && !self.outputs.contains(node));
        nodes
    }
}

/// A set of nodes: those whose values are saved, each the root of a pass or one of the outputs of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marks(Vec<bool>);

impl Marks {
    /// Marks the outputs alone.
    pub(super) fn of_outputs(dag: &Dag) -> Self {
        Self::of(dag, dag.outputs())
    }

    /// Marks these nodes.
    pub(super) fn of(dag: &Dag, nodes: &[NodeId]) -> Self {
        let mut marks = Self(vec![false; dag.len()]);
        nodes.iter().for_each(|&node| marks.set(node, true));
        marks
    }

    /// Returns whether a node is marked.
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.0[node.index()]
    }

    /// Marks a node, or unmarks it.
    pub(super) fn set(&mut self, node: NodeId, marked: bool) {
        self.0[node.index()] = marked;
    }

    /// Returns the marked nodes, those that others need before these.
    pub(super) fn nodes(&self) -> Vec<NodeId> {
        (0..).map(NodeId).zip(&self.0).filter(|(_, marked)| **marked).map(|(node, _)| node).collect()
    }
}
