//! Passes of a program whose lookups are calls: each is answered by a kernel that all lookups of its kind share, so
//! that drivers compile it once (`crate::passes::calls`).
//!
//! A lookup's *level* is the number of calls, one after the other, that it takes to know its arguments. There is a pass
//! for each level, which leaves requests, and one that reads the last answers.

use super::dag::NodeId;
use super::shader::ShaderDag;
use super::weights::{shared_loops, weight};
use crate::ir::{Body, Inst, Op, Region};
use crate::passes::{Call, PassPlan};

/// Calls of a level at most: so many requests are kept at once. A request of `texture()` is 32 bytes as a rule.
const CALLS_OF_LEVEL_MAX: usize = 4;

/// Returns the operations of code that the lookups of a region are that could be called: those outside of loops.
pub(super) fn lookup_operations(body: &Body, region: Region) -> u32 {
    let shared = shared_loops(body, region);
    let operations = |&inst: &Inst| match &body.inst(inst).op {
        Op::Lookup(_) | Op::Points(_) => weight(body, inst, &shared, 0).size,
        Op::If => body.inst(inst).regions.iter().map(|&region| lookup_operations(body, region)).sum(),
        _ => 0,
    };
    body.region(region).insts.iter().map(operations).sum()
}

/// Returns the passes of a program whose lookups are called; `None` if it has none outside of loops and branches
/// ([`crate::passes::lift_calls`]). What a level computes is one pass of at most `whole_max` operations, or several of
/// at most `pass_max`.
pub(super) fn call_passes(body: &Body, shader: &ShaderDag, [whole_max, pass_max]: [u32; 2]) -> Option<Vec<PassPlan>> {
    let levels = Levels::of(body, shader);
    let count = levels.of.iter().flatten().max()? + 1;
    let mut plans = Vec::new();
    for level in 0..=count {
        let here = |&node: &NodeId| levels.of[node.index()] == Some(level);
        let (calls, runs): (Vec<NodeId>, Vec<NodeId>) =
            shader.dag.ids().filter(here).partition(|&node| levels.is_call[node.index()]);
        // The last pass is there for outputs that are free.
        if !runs.is_empty() || !calls.is_empty() {
            plans.extend(cut_level(shader, &runs, [whole_max, pass_max]).iter().map(|nodes| shader.run(nodes)));
        }
        plans.extend(calls.into_iter().map(|call| PassPlan::Call(shader.insts(call)[0])));
    }
    if matches!(plans.last(), Some(PassPlan::Call(_))) {
        plans.push(PassPlan::Run(Vec::new()));
    }
    plans.iter().any(|plan| matches!(plan, PassPlan::Call(_))).then_some(plans)
}

/// Cuts the nodes of a level, each behind what it needs, into those of its passes.
fn cut_level<'a>(shader: &ShaderDag, nodes: &'a [NodeId], [whole_max, pass_max]: [u32; 2]) -> Vec<&'a [NodeId]> {
    let size = |node: NodeId| shader.dag.node(node).size;
    if nodes.iter().fold(0_u32, |sum, &node| sum.saturating_add(size(node))) <= whole_max {
        return vec![nodes];
    }
    let (mut passes, mut first, mut sum) = (Vec::new(), 0, 0_u32);
    for (at, &node) in nodes.iter().enumerate() {
        if at > first && sum.saturating_add(size(node)) > pass_max {
            passes.push(&nodes[first..at]);
            (first, sum) = (at, 0);
        }
        sum = sum.saturating_add(size(node));
    }
    passes.push(&nodes[first..]);
    passes
}

/// The levels of nodes.
struct Levels {
    /// For each node the level that it is computed or called at; `None` for those that no output needs.
    of: Vec<Option<usize>>,
    is_call: Vec<bool>,
}

impl Levels {
    fn of(body: &Body, shader: &ShaderDag) -> Self {
        let dag = &shader.dag;
        let is_call = |node: NodeId| match shader.insts(node) {
            &[inst] => dag.node(node).is_operation() && Call::of(body, inst).is_some(),
            _ => false,
        };
        let mut levels = Self { of: vec![None; dag.len()], is_call: dag.ids().map(is_call).collect() };
        let mut wanted = dag.postorder();
        wanted.sort_unstable();
        let mut calls: Vec<usize> = Vec::new();
        for &node in &wanted {
            let mut level = levels.earliest(shader, node);
            if levels.is_call[node.index()] {
                calls.resize(calls.len().max(level + 1), 0);
                while calls.get(level).is_some_and(|&count| count >= CALLS_OF_LEVEL_MAX) {
                    level += 1;
                }
                calls.resize(calls.len().max(level + 1), 0);
                calls[level] += 1;
            }
            levels.of[node.index()] = Some(level);
        }
        levels.delay(shader, &wanted);
        levels
    }

    /// Returns the first level at which all that a node needs is known.
    fn earliest(&self, shader: &ShaderDag, node: NodeId) -> usize {
        let known = |kid: NodeId| Some(self.of[kid.index()]? + usize::from(self.is_call[kid.index()]));
        let effect = shader.dag.node(node).earlier.and_then(known);
        shader.dag.operands(node).filter_map(known).chain(effect).max().unwrap_or(0)
    }

    /// Computes nodes at the last level at which they can be, if they are larger than what they are made of.
    fn delay(&mut self, shader: &ShaderDag, wanted: &[NodeId]) {
        let dag = &shader.dag;
        let mut last: Vec<Option<usize>> = vec![None; dag.len()];
        for &node in wanted.iter().rev() {
            let words: u32 = dag.operands(node).map(|kid| dag.node(kid).words).sum();
            let grows = dag.node(node).words > words && !self.is_call[node.index()];
            if let Some(late) = last[node.index()].filter(|_| grows) {
                self.of[node.index()] = Some(late);
            }
            let level = self.of[node.index()];
            for kid in dag.operands(node).chain(dag.node(node).earlier) {
                let known = &mut last[kid.index()];
                *known = known.map_or(level, |before| level.map(|level| level.min(before)));
            }
        }
    }
}
