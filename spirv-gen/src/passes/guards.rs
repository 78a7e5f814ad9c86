//! Light loops in branches: how one is brought out of them, to be merged with others, and guarded again.

use super::free_values::free_values;
use super::translate::is_dear;
use crate::ir::{Binary, Body, Const, Inst, MachineType, Op, Region, Unary, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the light loops of a region, and those in its branches, each with its place in the region or that of the
/// outermost branch around it.
pub(super) fn light_loops(body: &Body, region: Region) -> Vec<(Inst, usize)> {
    let mut found = Vec::new();
    for (place, &inst) in body.region(region).insts.iter().enumerate() {
        match body.inst(inst).op {
            Op::LightLoop { .. } => found.push((inst, place)),
            Op::If => {
                let inner = body.inst(inst).regions.iter().flat_map(|&r| light_loops(body, r));
                found.extend(inner.map(|(inst, _)| (inst, place)));
            }
            _ => {}
        }
    }
    found
}

/// Returns the place in a region of an instruction, or of the branch that it is in.
pub(super) fn place_of(body: &Body, region: Region, inst: Inst) -> Option<usize> {
    body.region(region).insts.iter().position(|&i| {
        let is_branch = body.inst(i).op == Op::If;
        i == inst || is_branch && body.inst(i).regions.iter().any(|&r| place_of(body, r, inst).is_some())
    })
}

/// Definitions in a chain up to which two are compared.
const ALIKE_DEPTH_MAX: u32 = 8;

/// Returns whether two values are equal because they are made alike, in different branches say.
pub(super) fn are_alike(body: &Body, a: Value, b: Value) -> bool {
    are_alike_within(body, a, b, ALIKE_DEPTH_MAX)
}

fn are_alike_within(body: &Body, a: Value, b: Value, depth: u32) -> bool {
    let (Some(x), Some(y)) = (body.def_inst(a), body.def_inst(b)) else { return a == b };
    let is_same = x.op == y.op && x.op.is_pure() && x.results.len() == 1 && depth > 0;
    let alike = |(&a, &b): (&Value, &Value)| are_alike_within(body, a, b, depth - 1);
    a == b || is_same && x.args.iter().zip(&y.args).all(alike)
}

/// Brings a light loop out of the branches around it into `region`, as if they were always taken, and returns the
/// condition under which it is to run, if there is one. What it needs is computed in a branch before it; the branch
/// itself follows with the rest. The point that is lit and what lights are shown are computed always.
///
/// Fails, having changed the body, where those are dear or not pure, or where a derivative would see values of points
/// that do not take the branch.
pub(super) fn bring_out(body: &mut Body, region: Region, light_loop: Inst) -> Result<Option<Value>, Immovable> {
    let place = place_of(body, region, light_loop).ok_or(Immovable)?;
    let branch = body.region(region).insts[place];
    if branch == light_loop {
        return Ok(None);
    }
    let [then, otherwise] = body.inst(branch).regions[..] else { return Err(Immovable) };
    let is_then = place_of(body, then, light_loop).is_some();
    let inner = if is_then { then } else { otherwise };
    let guard = bring_out(body, inner, light_loop)?;
    let parts = BranchParts::of(body, inner, light_loop, guard).ok_or(Immovable)?;
    if parts.are_differentiated(body, light_loop) {
        return Err(Immovable);
    }
    body.go_to_inst(branch);
    let condition = body.inst(branch).args[0];
    let mut insts = parts.always;
    let mut new = FxHashMap::default();
    insts.extend(needed_branch(body, condition, is_then, parts.needed, &mut new));
    body.region_mut(inner).insts = parts.rest;
    body.substitute(inner, &new);
    replace(body, light_loop, &new);
    let taken = if is_then { condition } else { added(body, &mut insts, Op::Unary(Unary::Not), &[condition]) };
    let guard = match guard.map(|guard| new.get(&guard).copied().ok_or(guard)) {
        None => taken,
        // It is false where the branch is not taken.
        Some(Ok(guard)) => guard,
        Some(Err(guard)) => added(body, &mut insts, Op::Binary(Binary::And), &[taken, guard]),
    };
    insts.push(light_loop);
    body.region_mut(region).insts.splice(place..place, insts);
    Ok(Some(guard))
}

/// A light loop stays in its branch.
pub(super) struct Immovable;

/// The instructions of a branch around a light loop in it.
struct BranchParts {
    /// What the light loop's point and shown values need.
    always: Vec<Inst>,
    /// What else it needs.
    needed: Vec<Inst>,
    /// All others, before and after it.
    rest: Vec<Inst>,
}

impl BranchParts {
    fn of(body: &Body, region: Region, light_loop: Inst, guard: Option<Value>) -> Option<Self> {
        let data = body.inst(light_loop);
        let head = &data.args[..data.op.fixed_args()];
        // What the head needs too is found to be of `always` first.
        let needs = free_values(body, light_loop).into_iter().chain(guard);
        let (mut always, mut needed) =
            (head.iter().copied().collect::<FxHashSet<_>>(), needs.collect::<FxHashSet<_>>());
        let mut parts = Self { always: Vec::new(), needed: Vec::new(), rest: Vec::new() };
        for &inst in body.region(region).insts.iter().rev().filter(|i| **i != light_loop) {
            let data = body.inst(inst);
            let gives = |values: &FxHashSet<Value>| data.results.iter().any(|r| values.contains(r));
            if gives(&always) {
                if !data.op.is_pure() || is_dear(&data.op) {
                    return None;
                }
                always.extend(&data.args);
                parts.always.push(inst);
            } else if gives(&needed) {
                needed.extend(free_values(body, inst));
                parts.needed.push(inst);
            } else {
                parts.rest.push(inst);
            }
        }
        for part in [&mut parts.always, &mut parts.needed, &mut parts.rest] {
            part.reverse();
        }
        Some(parts)
    }

    /// Returns whether derivatives are taken of what will be known only where the branch is taken.
    fn are_differentiated(&self, body: &Body, light_loop: Inst) -> bool {
        let mut tainted: FxHashSet<Value> = self.needed.iter().flat_map(|&i| body.inst(i).results.clone()).collect();
        tainted.extend(&body.inst(light_loop).results);
        let mut rest = self.rest.iter().filter(|&&i| {
            let uses = uses_any(body, i, &tainted);
            tainted.extend(body.inst(i).results.iter().filter(|_| uses));
            uses
        });
        takes_derivatives(body, light_loop) || rest.any(|&i| takes_derivatives(body, i))
    }
}

/// Returns whether an instruction, or one below it, uses any of some values.
pub(super) fn uses_any(body: &Body, inst: Inst, values: &FxHashSet<Value>) -> bool {
    let data = body.inst(inst);
    data.args.iter().any(|a| values.contains(a))
        || data.regions.iter().any(|&r| {
            let region = body.region(r);
            region.results.iter().any(|v| values.contains(v)) || region.insts.iter().any(|&i| uses_any(body, i, values))
        })
}

fn takes_derivatives(body: &Body, inst: Inst) -> bool {
    let mut found = false;
    body.walk_inst(inst, &mut |i| found |= matches!(body.inst(i).op, Op::Derivative(_)));
    found
}

/// Returns a branch that computes what a light loop needs, and zeros where it is not taken; its results are `new`.
fn needed_branch(
    body: &mut Body,
    condition: Value,
    is_then: bool,
    insts: Vec<Inst>,
    new: &mut FxHashMap<Value, Value>,
) -> Option<Inst> {
    let values: Vec<Value> = insts.iter().flat_map(|&i| body.inst(i).results.clone()).collect();
    if values.is_empty() {
        return None;
    }
    let types: Vec<MachineType> = values.iter().map(|&v| body.ty(v)).collect();
    let mut zeros = Vec::new();
    let none = types.iter().map(|ty| added(body, &mut zeros, Op::Const(ty.zero()), &[])).collect();
    let (taken, other) = (filled(body, insts, values.clone()), filled(body, zeros, none));
    let regions = if is_then { vec![taken, other] } else { vec![other, taken] };
    let branch = body.add_inst(Op::If, vec![condition], regions, &types);
    new.extend(values.into_iter().zip(body.inst(branch).results.clone()));
    Some(branch)
}

/// Guards the region of a light loop: where `guard` is false, it leaves what it carries as it is.
pub(super) fn guard_region(body: &mut Body, light_loop: Inst, guard: Value) {
    let (region, fixed) = (body.inst(light_loop).regions[0], body.inst(light_loop).op.fixed_params());
    let data = body.region(region).clone();
    let results = data.results.len();
    let branch = choose(body, guard, (data.insts, data.results), (Vec::new(), data.params[fixed..].to_vec()));
    debug_assert_eq!(body.inst(branch).results.len(), results, "a light loop yields what it carries");
    body.region_mut(region).insts = vec![branch];
    body.region_mut(region).results = body.inst(branch).results.clone();
}

/// Returns a branch of two regions: instructions and what they yield.
pub(super) fn choose(
    body: &mut Body,
    condition: Value,
    then: (Vec<Inst>, Vec<Value>),
    otherwise: (Vec<Inst>, Vec<Value>),
) -> Inst {
    let types: Vec<MachineType> = then.1.iter().map(|&v| body.ty(v)).collect();
    let regions = [then, otherwise].map(|(insts, results)| filled(body, insts, results));
    body.add_inst(Op::If, vec![condition], regions.to_vec(), &types)
}

fn filled(body: &mut Body, insts: Vec<Inst>, results: Vec<Value>) -> Region {
    let region = body.add_region();
    (body.region_mut(region).insts, body.region_mut(region).results) = (insts, results);
    region
}

/// Appends an operation with one result, of the type of its arguments or the constant that it is.
pub(super) fn added(body: &mut Body, insts: &mut Vec<Inst>, op: Op, args: &[Value]) -> Value {
    let ty = match &op {
        Op::Const(constant) => Const::ty(constant),
        _ => body.ty(args[0]),
    };
    let inst = body.add_inst(op, args.to_vec(), Vec::new(), &[ty]);
    insts.push(inst);
    body.inst(inst).results[0]
}

/// Replaces values in an instruction and below it.
fn replace(body: &mut Body, inst: Inst, new: &FxHashMap<Value, Value>) {
    for arg in &mut body.inst_mut(inst).args {
        *arg = new.get(arg).copied().unwrap_or(*arg);
    }
    for region in body.inst(inst).regions.clone() {
        body.substitute(region, new);
    }
}
