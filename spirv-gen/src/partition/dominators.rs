//! Dominators: the partial dominator tree (Chan et al. 2002, section 3.3).

use super::dag::{Dag, NodeId};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashSet;

/// The dominator tree of a graph without all nodes but *multiply referenced* (MR) ones, their immediate dominators, and
/// the outputs. At its top is the imaginary root, whose kids all outputs are (Foley et al. 2004).
#[derive(Clone, Debug)]
pub(super) struct PartialDominatorTree {
    /// MR nodes in postorder.
    pub(super) multiply_referenced: Vec<NodeId>,
    is_multiply_referenced: Vec<bool>,
    /// For each node its children, in postorder of the graph; the last entry is the imaginary root's.
    children: Vec<Vec<NodeId>>,
}

impl PartialDominatorTree {
    /// Returns that of a graph.
    pub(super) fn of(dag: &Dag) -> Self {
        let root = dag.len();
        let edges = dag.ids().flat_map(|node| dag.operands(node).map(move |kid| (node.0, kid.0)));
        let mut graph: DiGraph<(), ()> = DiGraph::from_edges(edges);
        while graph.node_count() <= root {
            graph.add_node(());
        }
        for output in dag.outputs() {
            graph.add_edge(NodeIndex::new(root), NodeIndex::new(output.index()), ());
        }
        let dominators = simple_fast(&graph, NodeIndex::new(root));
        let immediate = |node: usize| dominators.immediate_dominator(NodeIndex::new(node)).map(NodeIndex::index);

        let multiply_referenced = dag.multiply_referenced();
        let mut is_multiply_referenced = vec![false; dag.len()];
        let mut kept: FxHashSet<usize> = dag.outputs().iter().map(|output| output.index()).chain([root]).collect();
        for node in &multiply_referenced {
            is_multiply_referenced[node.index()] = true;
            kept.extend([Some(node.index()), immediate(node.index())].into_iter().flatten());
        }
        let mut children = vec![Vec::new(); root + 1];
        for node in dag.postorder().into_iter().filter(|node| kept.contains(&node.index())) {
            let above = std::iter::successors(immediate(node.index()), |&node| immediate(node));
            let parent = above.into_iter().find(|node| kept.contains(node)).unwrap_or(root);
            children[parent].push(node);
        }
        Self { multiply_referenced, is_multiply_referenced, children }
    }

    /// Returns whether a node is multiply referenced, and no output.
    pub(super) fn is_multiply_referenced(&self, node: NodeId) -> bool {
        self.is_multiply_referenced[node.index()]
    }

    /// Returns the children of a node, in postorder of the graph.
    pub(super) fn children(&self, node: NodeId) -> &[NodeId] {
        &self.children[node.index()]
    }

    /// Returns the children of the imaginary root.
    pub(super) fn top(&self) -> &[NodeId] {
        self.children.last().map_or(&[], Vec::as_slice)
    }
}
