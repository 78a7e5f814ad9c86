//! Greedy bottom-up merging (Chan et al. 2002, section 3.2).

use super::architecture::Architecture;
use super::dag::{Dag, Marks, NodeId};
use super::gauge::Gauge;

/// Kids of a node of which all subsets are tried.
const SUBSET_KIDS_MAX: usize = 6;

/// Marks on a graph, and what is needed to add to them.
pub(super) struct Merging<'a> {
    pub(super) dag: &'a Dag,
    pub(super) architecture: &'a Architecture,
    pub(super) gauge: Gauge<'a>,
    pub(super) marks: Marks,
}

impl<'a> Merging<'a> {
    /// Begins with marks on the outputs alone.
    pub(super) fn new(dag: &'a Dag, architecture: &'a Architecture) -> Self {
        Self { dag, architecture, gauge: Gauge::new(dag, architecture), marks: Marks::of_outputs(dag) }
    }

    /// Returns whether the subregion of a node can be run in one pass.
    pub(super) fn fits(&mut self, node: NodeId) -> bool {
        self.architecture.fits(&self.gauge.subregion(node, &self.marks))
    }

    /// Merges the subregion of `root` into as few passes as possible: goes up through what is unmarked, and at each
    /// node leaves as many of its kids unmarked as fit into a pass together with it. What is marked stays so.
    pub(super) fn merge(&mut self, root: NodeId) {
        for node in self.dag.postorder_from(&[root], |kid| self.marks.has(kid)) {
            let kids: Vec<NodeId> = self.dag.operands(node).filter(|&kid| !self.marks.has(kid)).collect();
            if self.fits(node) {
                continue;
            }
            if kids.len() > SUBSET_KIDS_MAX {
                self.merge_lightest(node, &kids);
            } else {
                self.merge_most(node, &kids);
            }
        }
    }

    /// Marks all kids but the largest subset that fits, of several that which MERGE chooses.
    fn merge_most(&mut self, node: NodeId, kids: &[NodeId]) {
        for unmarked in (0..kids.len() as u32).rev() {
            let mut fitting = Vec::new();
            // Subsets with early kids first.
            for subset in (0..1u32 << kids.len()).filter(|subset| subset.count_ones() == unmarked) {
                self.leave_unmarked(kids, subset);
                let used = self.gauge.subregion(node, &self.marks);
                if self.architecture.fits(&used) {
                    fitting.push((subset, used));
                }
            }
            if let Some(best) = self.architecture.merge(fitting.iter().map(|(_, used)| used)) {
                return self.leave_unmarked(kids, fitting[best].0);
            }
        }
        // Not even the node alone fits: it cannot be cut.
        self.leave_unmarked(kids, 0);
    }

    fn leave_unmarked(&mut self, kids: &[NodeId], subset: u32) {
        for (&kid, at) in kids.iter().zip(0..) {
            self.marks.set(kid, subset >> at & 1 == 0);
        }
    }

    /// Marks all kids, then unmarks the lightest ones that fit: branches, loops and calls have many.
    fn merge_lightest(&mut self, node: NodeId, kids: &[NodeId]) {
        let mut by_weight = kids.to_vec();
        by_weight.sort_by_cached_key(|&kid| self.gauge.subregion(kid, &self.marks).operations);
        self.leave_unmarked(kids, 0);
        for kid in by_weight {
            self.marks.set(kid, false);
            if !self.fits(node) {
                self.marks.set(kid, true);
            }
        }
    }

    /// Merges again at each root whose pass does not fit, until all do. A kid that is marked makes a pass that was
    /// accepted before restore where it computed, and restores use textures.
    pub(super) fn settle(&mut self) {
        loop {
            let before = self.marks.clone();
            for root in before.nodes() {
                if !self.fits(root) {
                    self.merge(root);
                }
            }
            if self.marks == before {
                return;
            }
        }
    }
}
