//! MRDS: RDS for several outputs, and for passes that save several values (Foley, Houston, Hanrahan 2004).
//!
//! All outputs are kids of an imaginary root, which is no pass. Then passes are merged, two at a time.

use super::architecture::Architecture;
use super::dag::{Dag, Marks, NodeId};
use super::gauge::Gauge;
use super::outcome::{Partition, dependences};
use super::pass::Pass;
use super::rds::search;
use rustc_hash::FxHashMap;

/// Cuts with RDS, then merges passes as long as that pays.
pub fn mrds(dag: &Dag, architecture: &Architecture) -> Partition {
    merge_passes(dag, architecture, search(dag, architecture))
}

/// Merges the passes of marked nodes: always the two of which the merged pass saves most, if it is valid and no other
/// must run between them. It saves what both saved, but for what only it needs, and shares what they restore and
/// compute.
fn merge_passes(dag: &Dag, architecture: &Architecture, marks: Marks) -> Partition {
    let mut gauge = Gauge::new(dag, architecture);
    let passes = marks.nodes().into_iter().map(|root| gauge.pass(&[root], &marks)).collect();
    let mut merger = PassMerger { dag, architecture, gauge, marks, scores: FxHashMap::default(), passes };
    while let Some((a, b)) = merger.best_pair() {
        merger.merge(a, b);
    }
    Partition::of_passes(dag, merger.passes)
}

struct PassMerger<'a> {
    dag: &'a Dag,
    architecture: &'a Architecture,
    gauge: Gauge<'a>,
    marks: Marks,
    passes: Vec<Pass>,
    /// By the outputs of two passes what merging them saves; nothing if it does not pay, or is not valid.
    scores: FxHashMap<[Vec<NodeId>; 2], Option<f64>>,
}

impl PassMerger<'_> {
    /// Returns the pair of passes with the highest score, the first of several.
    fn best_pair(&mut self) -> Option<(usize, usize)> {
        let order = PassOrder::of(self.dag, &self.passes);
        let mut best: Option<(f64, (usize, usize))> = None;
        for a in 0..self.passes.len() {
            for b in a + 1..self.passes.len() {
                let score = if order.are_neighbours(a, b) { self.score(a, b) } else { None };
                if let Some(score) = score
                    && best.is_none_or(|(most, _)| score > most)
                {
                    best = Some((score, (a, b)));
                }
            }
        }
        best.map(|(_, pair)| pair)
    }

    fn score(&mut self, a: usize, b: usize) -> Option<f64> {
        let key = [a, b].map(|at| self.passes[at].outputs.clone());
        if let Some(&score) = self.scores.get(&key) {
            return score;
        }
        let (outputs, inner) = self.outputs(a, b);
        inner.iter().for_each(|&node| self.marks.set(node, false));
        let merged = self.gauge.measure(&outputs, &self.marks);
        inner.iter().for_each(|&node| self.marks.set(node, true));
        let cost = |pass: &Pass| self.architecture.pass_cost(&pass.resources);
        let score = cost(&self.passes[a]) + cost(&self.passes[b]) - self.architecture.pass_cost(&merged);
        let score = (score >= 0.0 && self.architecture.valid(&merged)).then_some(score);
        self.scores.insert(key, score);
        score
    }

    /// Returns what the merged pass saves, and what it needs not save, as no other pass needs it.
    fn outputs(&self, a: usize, b: usize) -> (Vec<NodeId>, Vec<NodeId>) {
        let both = [&self.passes[a].outputs[..], &self.passes[b].outputs].concat();
        let others = || self.passes.iter().enumerate().filter(|(at, _)| *at != a && *at != b);
        let is_needed =
            |node: &NodeId| self.dag.outputs().contains(node) || others().any(|(_, pass)| pass.restores.contains(node));
        both.into_iter().partition(is_needed)
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (outputs, inner) = self.outputs(a, b);
        inner.into_iter().for_each(|node| self.marks.set(node, false));
        self.passes[a] = self.gauge.pass(&outputs, &self.marks);
        self.passes.remove(b);
    }
}

/// Which passes must run before which.
struct PassOrder {
    /// Pass by pass, those that must run after it: what restores its values, or has the next effect.
    followers: Vec<Vec<usize>>,
    /// Pass by pass, those that its followers lead to, and itself.
    after: Vec<Vec<bool>>,
}

impl PassOrder {
    fn of(dag: &Dag, passes: &[Pass]) -> Self {
        let mut order = Self { followers: vec![Vec::new(); passes.len()], after: Vec::new() };
        for (before, after) in dependences(dag, passes) {
            order.followers[before].push(after);
        }
        for pass in 0..passes.len() {
            let mut after = vec![false; passes.len()];
            let mut stack = vec![pass];
            while let Some(at) = stack.pop() {
                if !std::mem::replace(&mut after[at], true) {
                    stack.extend(&order.followers[at]);
                }
            }
            order.after.push(after);
        }
        order
    }

    /// Returns whether two passes can become one: no third must run between them.
    fn are_neighbours(&self, a: usize, b: usize) -> bool {
        let leads = |a: usize, b: usize| self.followers[a].iter().any(|&next| next != b && self.after[next][b]);
        !leads(a, b) && !leads(b, a)
    }
}
