//! Exhaustive search for the cheapest partition (Chan et al. 2002, section 3.1), with bounds that make it feasible for
//! small graphs.

use super::architecture::Architecture;
use super::dag::{Dag, Marks, NodeId, NodeKind};
use super::gauge::Gauge;
use super::outcome::Partition;
use super::pass::Resources;
use super::rds::{cost, search};

/// A pass of which nothing is known yet.
const EMPTY: Resources = Resources {
    operations: 0,
    registers: 0,
    textures: 0,
    interpolants: 0,
    outputs: 0,
    steps: 0,
    fetches: 0,
    restored: 0,
};

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The cheapest partition that was met.
    pub partition: Partition,
    /// Whether all others were looked at, or cannot be cheaper.
    pub is_optimal: bool,
}

/// Looks at all sets of marks, and gives up after `steps_max` decisions.
///
/// Decides on nodes in postorder, so that a node's subregion is known when it is decided on. Goes no further where that
/// does not fit into a pass, or where the passes so far, every other operation once, and the passes of the outputs to
/// come cost what the best partition does, which RDS gives to begin with.
pub fn exhaustive(dag: &Dag, architecture: &Architecture, steps_max: u64) -> Found {
    let mut gauge = Gauge::new(dag, architecture);
    let best = search(dag, architecture);
    let best_cost = cost(&mut gauge, architecture, &best);
    let mut search = Exhaustive {
        dag,
        architecture,
        gauge,
        order: dag.postorder(),
        marks: Marks::of_outputs(dag),
        covered: vec![0; dag.len()],
        closed: Vec::new(),
        uncovered: EMPTY,
        best,
        best_cost,
        steps_left: steps_max,
    };
    for at in 0..search.order.len() {
        search.count_uncovered(search.order[at], true);
    }
    let is_optimal = search.decide(0);
    Found { partition: Partition::of_marks(dag, architecture, &search.best), is_optimal }
}

struct Exhaustive<'a> {
    dag: &'a Dag,
    architecture: &'a Architecture,
    gauge: Gauge<'a>,
    order: Vec<NodeId>,
    marks: Marks,
    /// For each node, how many closed passes compute it.
    covered: Vec<u32>,
    /// What closed passes use.
    closed: Vec<Resources>,
    /// Operations in no closed pass, each once.
    uncovered: Resources,
    best: Marks,
    best_cost: f64,
    steps_left: u64,
}

impl Exhaustive<'_> {
    /// Decides on the nodes from a place of the order on; returns whether all was looked at.
    fn decide(&mut self, at: usize) -> bool {
        if self.bound(at) >= self.best_cost {
            return true;
        }
        let Some(&node) = self.order.get(at) else {
            (self.best, self.best_cost) = (self.marks.clone(), self.architecture.cost(&self.closed));
            return true;
        };
        let Some(steps_left) = self.steps_left.checked_sub(1) else { return false };
        self.steps_left = steps_left;
        let used = self.gauge.subregion(node, &self.marks);
        if !self.architecture.fits(&used) {
            return true;
        }
        let operations = self.gauge.operations().to_vec();
        let is_output = self.dag.outputs().contains(&node);
        let merged = is_output || self.decide(at + 1);
        self.marks.set(node, true);
        let saved = self.close(at, used, &operations);
        self.marks.set(node, is_output);
        merged && saved
    }

    /// Goes on with the subregion of a node as a pass.
    fn close(&mut self, at: usize, used: Resources, operations: &[NodeId]) -> bool {
        self.closed.push(used);
        for &node in operations {
            self.covered[node.index()] += 1;
            if self.covered[node.index()] == 1 {
                self.count_uncovered(node, false);
            }
        }
        let ended = self.decide(at + 1);
        for &node in operations {
            self.covered[node.index()] -= 1;
            if self.covered[node.index()] == 0 {
                self.count_uncovered(node, true);
            }
        }
        self.closed.pop();
        ended
    }

    fn count_uncovered(&mut self, id: NodeId, is_uncovered: bool) {
        let node = self.dag.node(id);
        let fetches = u32::from(matches!(node.kind, NodeKind::Fetch(_)));
        if is_uncovered {
            self.uncovered.steps += u64::from(node.work);
            self.uncovered.fetches += fetches;
        } else {
            self.uncovered.steps -= u64::from(node.work);
            self.uncovered.fetches -= fetches;
        }
    }

    /// Returns what any partition with the marks up to a place of the order costs at least.
    fn bound(&self, at: usize) -> f64 {
        let passes_to_come = self.order[at..].iter().filter(|node| self.dag.outputs().contains(node)).count();
        let Some(passes_besides) = passes_to_come.checked_sub(1) else {
            return self.architecture.cost(&self.closed);
        };
        let besides = std::iter::repeat_n(&EMPTY, passes_besides);
        self.architecture.cost(self.closed.iter().chain([&self.uncovered]).chain(besides))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::{CostModel, DagNode, Limits, UNLIMITED};

    /// A graph of ten operations, in which node `n` uses others by a rule that `seed` changes.
    fn dag(seed: u32) -> Dag {
        let mut dag = Dag::default();
        let leaf = dag.add(DagNode::new(NodeKind::Interpolant, &[]));
        let mut made = vec![leaf];
        for number in 1..=10u32 {
            let back = |step: u32| made[(number * step + seed) as usize % made.len()];
            let last = made[made.len() - 1];
            let kind = if number % 4 == 1 { NodeKind::Fetch(number) } else { NodeKind::Arithmetic };
            let kids = if number % 4 == 1 { vec![last] } else { vec![back(7), last, back(5)] };
            made.push(dag.add(DagNode::new(kind, &kids)));
        }
        dag.add_output(made[10]);
        dag
    }

    /// Returns the cost of the cheapest of all sets of marks.
    fn cheapest(dag: &Dag, architecture: &Architecture) -> f64 {
        let (operations, mut gauge) = (dag.postorder(), Gauge::new(dag, architecture));
        let mut best = f64::INFINITY;
        for set in 0..1u32 << (operations.len() - 1) {
            let chosen = operations.iter().zip(0..).filter(|(_, at)| set >> at & 1 == 1).map(|(&node, _)| node);
            let marks = Marks::of(dag, &chosen.chain(dag.outputs().iter().copied()).collect::<Vec<_>>());
            if marks.nodes().into_iter().all(|root| architecture.fits(&gauge.subregion(root, &marks))) {
                best = best.min(cost(&mut gauge, architecture, &marks));
            }
        }
        best
    }

    #[test]
    fn nothing_that_is_left_out_is_cheaper() {
        let limits = [
            Limits { operations: 4, ..Limits::NONE },
            Limits { textures: 4, ..Limits::NONE },
            Limits { operations: 7, registers: 3, textures: 4, interpolants: 1, outputs: UNLIMITED },
        ];
        for seed in 0..7 {
            let dag = dag(seed);
            for (limits, pass) in limits.into_iter().zip([15.0, 3.0, 0.0]) {
                let architecture = Architecture::fetching(limits, CostModel::linear(pass, 2.0, 1.0));
                let found = exhaustive(&dag, &architecture, 100_000);
                assert!(found.is_optimal);
                let cost = found.partition.cost(&architecture);
                assert_eq!(cost, cheapest(&dag, &architecture), "seed {seed}, {architecture:?}");
            }
        }
    }
}
