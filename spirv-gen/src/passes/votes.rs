//! Branches that a workgroup skips where none of its points wants them. Derivatives are taken by whole workgroups: a
//! branch around them is taken by all points, or derivatives are moved out of it, so each of the modes of a shader
//! would cost what all of them cost. Where the condition is the same for a whole grid, most workgroups agree. A vote
//! costs one barrier, so a workgroup votes on all branches at once whose conditions are known.

use super::rates::varying;
use super::translate::{Translator, is_dear};
use crate::ir::{Binary, Body, Inst, MachineType, Op, Region, Unary, VOTES_MAX, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The least cost of a side of a branch that is worth a vote, in operations.
const COST_MIN: usize = 16;

/// Operations that a dear one counts as.
const DEAR_COST: usize = 16;

/// Returns the branches around derivatives, of uniform conditions, that have a side which is worth a vote.
pub(super) fn voted_branches(body: &Body) -> FxHashSet<Inst> {
    let varying = varying(body);
    let mut found = FxHashSet::default();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        let is_uniform = data.op == Op::If && !varying[data.args[0].0 as usize];
        if is_uniform && data.regions.iter().any(|&region| is_worth_a_vote(body, region)) {
            found.insert(inst);
        }
    });
    found
}

/// Returns whether a side of a branch with derivatives costs more than a vote. What is in branches in it may have votes
/// of its own.
fn is_worth_a_vote(body: &Body, region: Region) -> bool {
    let mut takes_derivatives = false;
    body.walk(region, &mut |inst| takes_derivatives |= matches!(body.inst(inst).op, Op::Derivative(_)));
    takes_derivatives && cost(body, region) >= COST_MIN
}

fn cost(body: &Body, region: Region) -> usize {
    let cost_of = |&inst: &Inst| {
        let data = body.inst(inst);
        match &data.op {
            Op::If | Op::Switch => 1,
            op if op.has_regions() => data.regions.iter().map(|&region| cost(body, region)).sum(),
            op if is_dear(op) => DEAR_COST,
            _ => 1,
        }
    };
    body.region(region).insts.iter().map(cost_of).sum()
}

/// A side of a branch: its number among the regions.
type Side = (Inst, usize);

/// The votes of a program that is being written.
pub(super) struct BranchVotes {
    /// Branches of the program that is read.
    voted: FxHashSet<Inst>,
    /// For sides on which the workgroup has voted, whether any point wants them.
    taken: FxHashMap<Side, Value>,
}

impl BranchVotes {
    pub(super) fn new(voted: FxHashSet<Inst>) -> Self {
        Self { voted, taken: FxHashMap::default() }
    }

    /// Returns whether any point wants a side, if the workgroup has voted on it.
    pub(super) fn of(&self, branch: Inst, side: usize) -> Option<Value> {
        self.taken.get(&(branch, side)).copied()
    }

    /// Has the workgroup vote on a branch, and on those in it, unless it has. Points for which `guard` is false want
    /// nothing.
    pub(super) fn take(&mut self, t: &mut Translator<'_, '_>, branch: Inst, guard: Option<Value>) {
        let is_taken = (0..2).any(|side| self.of(branch, side).is_some());
        if is_taken || !self.voted.contains(&branch) {
            return;
        }
        let mut ballot = Vec::new();
        self.branch(t, branch, guard, &mut ballot);
        ballot.truncate(VOTES_MAX);
        let (sides, wanted): (Vec<Side>, Vec<Value>) = ballot.into_iter().unzip();
        if !sides.is_empty() {
            let types = vec![MachineType::Bool; sides.len()];
            let any = t.out.push(Op::Any, wanted, Vec::new(), &types);
            self.taken.extend(sides.into_iter().zip(any));
        }
    }

    /// Appends the sides of a branch, and of those in it, with the conditions under which points want them.
    fn branch(&self, t: &mut Translator<'_, '_>, branch: Inst, guard: Option<Value>, ballot: &mut Vec<(Side, Value)>) {
        let data = t.from.inst(branch);
        let Some(condition) = t.written(data.args[0]) else { return };
        let not = t.out.op(Op::Unary(Unary::Not), &[condition]);
        for (side, (&region, condition)) in data.regions.iter().zip([condition, not]).enumerate() {
            let wanted = guard.map_or(condition, |guard| t.out.op(Op::Binary(Binary::And), &[guard, condition]));
            if is_worth_a_vote(t.from, region) {
                ballot.push(((branch, side), wanted));
            }
            self.region(t, region, wanted, ballot);
        }
    }

    fn region(&self, t: &mut Translator<'_, '_>, region: Region, wanted: Value, ballot: &mut Vec<(Side, Value)>) {
        let from = t.from;
        for &inst in &from.region(region).insts {
            if self.voted.contains(&inst) {
                self.branch(t, inst, Some(wanted), ballot);
            } else {
                from.inst(inst).regions.iter().for_each(|&inner| self.region(t, inner, wanted, ballot));
            }
        }
    }
}
