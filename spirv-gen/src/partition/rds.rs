//! Recursive Dominator Split (Chan et al. 2002, sections 3.4 and 3.5): RDS, and RDS_h, which does not search.

use super::architecture::Architecture;
use super::dag::{Dag, Marks, NodeId};
use super::dominators::PartialDominatorTree;
use super::gauge::Gauge;
use super::merging::Merging;
use super::outcome::Partition;
use rustc_hash::FxHashMap;

/// Cuts by the heuristic RECOMPUTE alone.
pub fn rds_h(dag: &Dag, architecture: &Architecture) -> Partition {
    let tree = PartialDominatorTree::of(dag);
    let marks = Subdivision::new(dag, architecture, &tree, &FxHashMap::default()).marks();
    Partition::of_marks(dag, architecture, &marks)
}

/// Cuts after deciding for each multiply referenced node, in turn, whether it costs less to save or to recompute it.
pub fn rds(dag: &Dag, architecture: &Architecture) -> Partition {
    Partition::of_marks(dag, architecture, &search(dag, architecture))
}

/// Returns the marks that RDS sets.
pub(super) fn search(dag: &Dag, architecture: &Architecture) -> Marks {
    let tree = PartialDominatorTree::of(dag);
    let mut gauge = Gauge::new(dag, architecture);
    let mut fixed = FxHashMap::default();
    let mut last = None;
    for &node in &tree.multiply_referenced {
        let mut attempt = |saved| {
            fixed.insert(node, saved);
            let marks = Subdivision::new(dag, architecture, &tree, &fixed).marks();
            let cost = cost(&mut gauge, architecture, &marks);
            (marks, cost)
        };
        let (saved, recomputed) = (attempt(true), attempt(false));
        let is_saved = saved.1 < recomputed.1;
        fixed.insert(node, is_saved);
        last = Some(if is_saved { saved.0 } else { recomputed.0 });
    }
    last.unwrap_or_else(|| Subdivision::new(dag, architecture, &tree, &fixed).marks())
}

/// COST of a pass for each marked node.
pub(super) fn cost(gauge: &mut Gauge<'_>, architecture: &Architecture, marks: &Marks) -> f64 {
    let passes: Vec<_> = marks.nodes().into_iter().map(|root| gauge.subregion(root, marks)).collect();
    architecture.cost(&passes)
}

/// Subdivide: marks nodes until the subregion of each is a valid pass.
struct Subdivision<'a> {
    merging: Merging<'a>,
    tree: &'a PartialDominatorTree,
    /// MR nodes that are known to be saved or recomputed.
    fixed: &'a FxHashMap<NodeId, bool>,
}

impl<'a> Subdivision<'a> {
    fn new(
        dag: &'a Dag,
        architecture: &'a Architecture,
        tree: &'a PartialDominatorTree,
        fixed: &'a FxHashMap<NodeId, bool>,
    ) -> Self {
        Self { merging: Merging::new(dag, architecture), tree, fixed }
    }

    fn marks(mut self) -> Marks {
        self.children(self.tree.top());
        self.merging.settle();
        self.merging.marks
    }

    fn subdivide(&mut self, node: NodeId) {
        if self.merging.fits(node) {
            return;
        }
        self.children(self.tree.children(node));
        self.merging.merge(node);
    }

    fn children(&mut self, children: &[NodeId]) {
        for &child in children {
            self.subdivide(child);
            if self.tree.is_multiply_referenced(child) {
                let saved = self.is_saved(child);
                self.merging.marks.set(child, saved);
            }
        }
    }

    fn is_saved(&mut self, node: NodeId) -> bool {
        self.fixed.get(&node).copied().unwrap_or_else(|| {
            let used = self.merging.gauge.subregion(node, &self.merging.marks);
            !self.merging.architecture.recompute(&used)
        })
    }
}
