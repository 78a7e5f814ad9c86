//! Lookups in branches are brought out of them, so that passes of their own can answer them ([`super::calls`]).
//!
//! What such a lookup needs is computed before its branch: by all points if that is little, else in a branch of the
//! same condition. Then comes the lookup, in a branch that has nothing else, and the branch itself follows with the
//! rest. Lookups in loops stay, and those whose arguments come from local arrays or with effects.

use super::calls::Call;
use super::checked::checked;
use super::dead::remove_dead;
use super::free_values::free_values;
use super::guards::{added, choose};
use super::translate::is_dear;
use crate::ir::{Binary, Body, Const, Inst, Op, Region, Unary, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the same program with its lookups outside of branches, as far as they can be.
pub(crate) fn lift_calls(body: &Body) -> Body {
    let mut lifting = Lifting { body: body.clone() };
    lifting.region(body.root());
    remove_dead(&mut lifting.body);
    checked(lifting.body)
}

struct Lifting {
    body: Body,
}

/// A side of a branch.
struct BranchSide {
    region: Region,
    /// The condition of the branch, and whether the side is taken where it holds.
    condition: Value,
    is_then: bool,
    /// Whether a point takes the side, once that was asked.
    taken: Option<Value>,
}

impl Lifting {
    /// Brings the calls of a region's branches out into it.
    fn region(&mut self, region: Region) {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut self.body.region_mut(region).insts) {
            if self.body.inst(inst).op == Op::If && Call::of(&self.body, inst).is_none() {
                self.branch(inst, &mut insts);
            }
            insts.push(inst);
        }
        self.body.region_mut(region).insts = insts;
    }

    /// Appends the calls of a branch, and what they need, to the instructions before it.
    fn branch(&mut self, branch: Inst, before: &mut Vec<Inst>) {
        let condition = self.body.inst(branch).args[0];
        for (region, is_then) in self.body.inst(branch).regions.clone().into_iter().zip([true, false]) {
            self.region(region);
            let mut side = BranchSide { region, condition, is_then, taken: None };
            let mut at = 0;
            while let Some(&inst) = self.body.region(region).insts.get(at) {
                let call = Call::of(&self.body, inst);
                let needed = call.as_ref().and_then(|_| self.needed(region, at));
                match call.zip(needed) {
                    Some((call, needed)) => {
                        at -= needed.len();
                        self.lift(&mut side, (inst, &call), needed, before);
                    }
                    None => at += 1,
                }
            }
        }
    }

    /// Returns the instructions of a region that the one at `at` needs, in order; `None` if they cannot be moved.
    fn needed(&self, region: Region, at: usize) -> Option<Vec<Inst>> {
        let (body, insts) = (&self.body, &self.body.region(region).insts);
        let mut values: FxHashSet<Value> = free_values(body, insts[at]).into_iter().collect();
        let mut needed = Vec::new();
        for &inst in insts[..at].iter().rev() {
            if body.inst(inst).results.iter().any(|result| values.contains(result)) {
                if has_effects(body, inst) {
                    return None;
                }
                values.extend(free_values(body, inst));
                needed.push(inst);
            }
        }
        needed.reverse();
        Some(needed)
    }

    /// Appends a call of a side, and what it needs.
    fn lift(&mut self, side: &mut BranchSide, (inst, call): (Inst, &Call), needed: Vec<Inst>, before: &mut Vec<Inst>) {
        let moved: FxHashSet<Inst> = needed.iter().copied().chain([inst]).collect();
        self.body.region_mut(side.region).insts.retain(|inst| !moved.contains(inst));
        let mut new = FxHashMap::default();
        if needed.iter().any(|&inst| is_long(&self.body, inst)) {
            before.push(self.needed_branch(side, needed, &mut new));
        } else {
            before.extend(needed);
        }
        let active = match call.active.map(|active| new.get(&active).copied().ok_or(active)) {
            None => self.taken(side, before),
            // It is false where the side is not taken.
            Some(Ok(active)) => active,
            Some(Err(active)) => {
                let taken = self.taken(side, before);
                added(&mut self.body, before, Op::Binary(Binary::And), &[taken, active])
            }
        };
        let asked = self.body.inst(call.asked).clone();
        let args = asked.args.iter().map(|arg| new.get(arg).copied().unwrap_or(*arg)).collect();
        let ty = self.body.ty(asked.results[0]);
        let asked = self.body.add_inst(asked.op, args, Vec::new(), &[ty]);
        let answer = self.body.inst(asked).results[0];
        let mut none = Vec::new();
        let other = call.other.clone().unwrap_or_else(|| ty.zero());
        let other = added(&mut self.body, &mut none, Op::Const(other), &[]);
        let lifted = choose(&mut self.body, active, (vec![asked], vec![answer]), (none, vec![other]));
        before.push(lifted);
        new.insert(self.body.inst(inst).results[0], self.body.inst(lifted).results[0]);
        self.body.substitute(side.region, &new);
    }

    /// Returns a branch that computes what a call needs, and zeros where its side is not taken; its results are `new`.
    fn needed_branch(&mut self, side: &BranchSide, needed: Vec<Inst>, new: &mut FxHashMap<Value, Value>) -> Inst {
        let body = &mut self.body;
        let values: Vec<Value> = needed.iter().flat_map(|&inst| body.inst(inst).results.clone()).collect();
        let mut zeros = Vec::new();
        let zero = |&value: &Value| {
            let constant: Const = body.ty(value).zero();
            added(body, &mut zeros, Op::Const(constant), &[])
        };
        let none: Vec<Value> = values.iter().map(zero).collect();
        let (taken, other) = ((needed, values.clone()), (zeros, none));
        let (then, otherwise) = if side.is_then { (taken, other) } else { (other, taken) };
        let branch = choose(body, side.condition, then, otherwise);
        new.extend(values.into_iter().zip(body.inst(branch).results.clone()));
        branch
    }

    /// Returns whether a point takes a side.
    fn taken(&mut self, side: &mut BranchSide, before: &mut Vec<Inst>) -> Value {
        if side.is_then {
            return side.condition;
        }
        let body = &mut self.body;
        *side.taken.get_or_insert_with(|| added(body, before, Op::Unary(Unary::Not), &[side.condition]))
    }
}

/// Returns whether an instruction, or one below it, has effects or sees those of others.
fn has_effects(body: &Body, inst: Inst) -> bool {
    let mut found = false;
    body.walk_inst(inst, &mut |inner| {
        let op = &body.inst(inner).op;
        found |= matches!(op, Op::SlotLoad(_) | Op::SlotStore(_)) || op.record().is_some();
    });
    found
}

/// Returns whether an instruction is not to be run where it need not be.
fn is_long(body: &Body, inst: Inst) -> bool {
    let op = &body.inst(inst).op;
    op.has_regions() || is_dear(op) || matches!(op, Op::Derivatives(_) | Op::Any)
}
