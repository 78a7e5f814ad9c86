//! A partition: passes in an order in which they can run, and what may be wrong with them.

use super::architecture::Architecture;
use super::dag::{Dag, Marks, NodeId};
use super::gauge::Gauge;
use super::pass::Pass;
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

/// Passes that together compute the outputs of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The passes, each after those whose values it restores.
    pub passes: Vec<Pass>,
}

/// What is wrong with a partition. Passes count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartitionFault {
    /// A pass uses too much, and could be cut.
    #[error("pass {pass} uses {used} {resource}, and {limit} are allowed")]
    OverLimit {
        /// Which pass.
        pass: usize,
        /// Of what.
        resource: &'static str,
        /// How much it uses.
        used: u32,
        /// How much it may use.
        limit: u32,
    },
    /// A pass computes a node whose operand it neither restores nor computed before.
    #[error("pass {pass} computes node {node}, but not all that it needs")]
    Needs {
        /// Which pass.
        pass: usize,
        /// Which node.
        node: u32,
    },
    /// A pass restores what no earlier one saved.
    #[error("pass {pass} restores node {node}, which no earlier pass saves")]
    Restores {
        /// Which pass.
        pass: usize,
        /// Which node.
        node: u32,
    },
    /// An output of the graph is saved by no pass or by several, or an effect happens too often or too early.
    #[error("node {node} is an output, and is not computed and saved once, in its order")]
    Output {
        /// Which node.
        node: u32,
    },
}

impl Partition {
    /// Returns the passes of marked nodes, a pass for each.
    pub(super) fn of_marks(dag: &Dag, architecture: &Architecture, marks: &Marks) -> Self {
        let mut gauge = Gauge::new(dag, architecture);
        // Whatever a node needs has a smaller number.
        let passes = marks.nodes().into_iter().map(|root| gauge.pass(&[root], marks)).collect();
        Self { passes }
    }

    /// Returns these passes, in an order in which they can run.
    ///
    /// # Panics
    /// Panics if there is none, because two of them need each other.
    pub(super) fn of_passes(dag: &Dag, passes: Vec<Pass>) -> Self {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        passes.iter().for_each(|_| _ = graph.add_node(()));
        for (before, after) in dependences(dag, &passes) {
            graph.update_edge(NodeIndex::new(before), NodeIndex::new(after), ());
        }
        let order = toposort(&graph, None).expect("passes do not need each other in a circle");
        let mut passes: Vec<Option<Pass>> = passes.into_iter().map(Some).collect();
        Self { passes: order.into_iter().filter_map(|at| passes[at.index()].take()).collect() }
    }

    /// Returns what it costs.
    pub fn cost(&self, architecture: &Architecture) -> f64 {
        architecture.cost(self.passes.iter().map(|pass| &pass.resources))
    }

    /// Checks all passes again: their resources, that they have what they need, and that each output is saved once.
    pub fn faults(&self, dag: &Dag, architecture: &Architecture) -> Vec<PartitionFault> {
        let mut faults = Vec::new();
        let mut saved: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut computed = vec![0u32; dag.len()];
        for (pass, number) in self.passes.iter().zip(1..) {
            faults.extend(over_limit(architecture, pass, number));
            let lacking = pass.restores.iter().filter(|node| !saved.contains_key(node));
            faults.extend(lacking.map(|node| PartitionFault::Restores { pass: number, node: node.0 }));
            let mut has: FxHashSet<NodeId> = pass.restores.iter().copied().collect();
            for &node in &pass.operations {
                if dag.operands(node).any(|kid| !has.contains(&kid)) {
                    faults.push(PartitionFault::Needs { pass: number, node: node.0 });
                }
                has.insert(node);
                computed[node.index()] += 1;
            }
            // A pass runs the effects that it has in their order.
            let is_early =
                |node: &&NodeId| dag.node(**node).earlier.is_some_and(|effect| computed[effect.index()] == 0);
            let early = pass.operations.iter().filter(is_early);
            faults.extend(early.map(|node| PartitionFault::Output { node: node.0 }));
            let missing = pass.outputs.iter().filter(|output| !has.contains(output));
            faults.extend(missing.map(|node| PartitionFault::Needs { pass: number, node: node.0 }));
            pass.outputs.iter().for_each(|&output| *saved.entry(output).or_default() += 1);
        }
        let is_wrong = |node: &&NodeId| saved.get(node) != Some(&1) || computed[node.index()] != 1;
        let outputs = dag.outputs().iter().filter(is_wrong);
        faults.extend(outputs.map(|node| PartitionFault::Output { node: node.0 }));
        faults
    }
}

fn over_limit(architecture: &Architecture, pass: &Pass, number: usize) -> Option<PartitionFault> {
    // One value is saved as a whole, and one operation is run as a whole.
    let (resource, used, limit) = match pass.outputs.len() {
        1 => architecture.exceeded_inside(&pass.resources),
        _ => architecture.exceeded(&pass.resources),
    }?;
    let fault = PartitionFault::OverLimit { pass: number, resource, used, limit };
    (!pass.is_indivisible()).then_some(fault)
}

/// Returns pairs of passes of which the first must run before the second: what the second restores, and effects.
pub(super) fn dependences(dag: &Dag, passes: &[Pass]) -> Vec<(usize, usize)> {
    let mut saving: FxHashMap<NodeId, usize> = FxHashMap::default();
    for (pass, at) in passes.iter().zip(0..) {
        pass.outputs.iter().for_each(|&output| _ = saving.insert(output, at));
    }
    let mut pairs = Vec::new();
    for (pass, at) in passes.iter().zip(0..) {
        let effects = pass.operations.iter().filter_map(|&node| dag.node(node).earlier);
        let needed = pass.restores.iter().copied().chain(effects);
        pairs.extend(needed.filter_map(|node| saving.get(&node)).filter(|&&from| from != at).map(|&from| (from, at)));
    }
    pairs
}
