//! Merging of light loops (RenderAnts, Appendix A): a light shader is evaluated once for a point however many
//! `diffuse()`, `specular()`, `ambient()` and illuminance statements look at it.
//!
//! Loops over the lights of the same point that stand in branches (`if (Kd > 0)`) merge too: the merged loop runs where
//! any of them would, and its body guards the parts. Loops in the two sides of one branch do not: each point runs one
//! of them.

use super::dead::remove_dead;
use super::guards::{added, are_alike, bring_out, choose, guard_region, light_loops, place_of, uses_any};
use crate::ir::{Binary, Body, Inst, MachineType, Op, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions that are copied at most to try whether loops in branches merge: no shader that people write needs a
/// tenth of it, and long ones with hundreds of such loops still compile in time.
const COPIED_MAX: usize = 1 << 22;

/// Merges light loops that may be merged.
pub fn merge_light_loops(mut body: Body) -> Body {
    let mut left = COPIED_MAX;
    while let Some(merged) = merged_once(&body, body.root(), &mut left) {
        body = merged;
    }
    remove_dead(&mut body);
    body
}

/// Returns the body after two of its light loops have become one, first of all in the innermost regions. Pairs are
/// tried while instructions are `left` that may be copied.
fn merged_once(body: &Body, region: Region, left: &mut usize) -> Option<Body> {
    let insts = &body.region(region).insts;
    if let Some(merged) = insts.iter().flat_map(|&i| &body.inst(i).regions).find_map(|&r| merged_once(body, r, left)) {
        return Some(merged);
    }
    let loops = light_loops(body, region);
    for (n, &(second, place)) in loops.iter().enumerate().skip(1) {
        for &(first, other) in loops[..n].iter().filter(|(_, other)| *other != place) {
            let pair = LoopPair { region, first: other, second: place, guards: [None; 2] };
            let are_in_branches = [insts[other], insts[place]] != [first, second];
            if see_the_same(body, first, second) && (are_in_branches || may_merge(body, &pair)) {
                *left = left.checked_sub(body.inst_count())?;
                let mut tried = body.clone();
                if merge(&mut tried, region, first, second).is_some() {
                    return Some(tried);
                }
            }
        }
    }
    None
}

/// Returns whether two loops light the same point, and show lights the same of it.
fn see_the_same(body: &Body, first: Inst, second: Inst) -> bool {
    let (a, b) = (body.inst(first), body.inst(second));
    let receivers = a.args[..a.op.fixed_args()].iter().zip(&b.args[..b.op.fixed_args()]);
    a.op.shown() == b.op.shown() && receivers.into_iter().all(|(&a, &b)| are_alike(body, a, b))
}

/// Two light loops of one region that become one: their places in it, and when they are to run.
struct LoopPair {
    region: Region,
    first: usize,
    second: usize,
    guards: [Option<Value>; 2],
}

/// Makes one loop of two, the first of which comes before the second, if they may be merged; else the body is of no
/// use any more.
fn merge(body: &mut Body, region: Region, first: Inst, second: Inst) -> Option<()> {
    let guards = [first, second].map(|light_loop| bring_out(body, region, light_loop));
    let [Ok(a), Ok(b)] = guards else { return None };
    let fixed = body.inst(first).op.fixed_args();
    let receiver = body.inst(first).args[..fixed].to_vec();
    body.inst_mut(second).args.splice(..fixed, receiver);
    let [first, second] = [first, second].map(|light_loop| place_of(body, region, light_loop));
    let pair = LoopPair { region, first: first?, second: second?, guards: [a, b] };
    may_merge(body, &pair).then(|| join(body, &pair))
}

fn may_merge(body: &Body, pair: &LoopPair) -> bool {
    let insts = &body.region(pair.region).insts;
    let effects = insts[pair.first..=pair.second].iter().any(|&i| touches_memory(body, i));
    !effects && !dependents(body, pair).contains(&insts[pair.second])
}

/// Returns whether an instruction, or one below it, reads or writes arrays, prints or bakes.
fn touches_memory(body: &Body, inst: Inst) -> bool {
    let data = body.inst(inst);
    matches!(data.op, Op::SlotLoad(_) | Op::SlotStore(_))
        || data.op.record().is_some()
        || data.regions.iter().flat_map(|&r| &body.region(r).insts).any(|&i| touches_memory(body, i))
}

/// Returns the instructions after the first loop, up to the second, that need its results.
fn dependents(body: &Body, pair: &LoopPair) -> FxHashSet<Inst> {
    let insts = &body.region(pair.region).insts;
    let mut tainted: FxHashSet<Value> = body.inst(insts[pair.first]).results.iter().copied().collect();
    let mut found = FxHashSet::default();
    for &inst in &insts[pair.first + 1..=pair.second] {
        let waits = inst == insts[pair.second] && pair.guards[1].is_some_and(|guard| tainted.contains(&guard));
        if waits || uses_any(body, inst, &tainted) {
            found.insert(inst);
            tainted.extend(&body.inst(inst).results);
        }
    }
    found
}

/// Puts the second loop's body after the first's, in one loop at the place of the second; what needs the
/// first's results follows it. Guards of the two are put around their bodies, and around the loop.
fn join(body: &mut Body, pair: &LoopPair) {
    let after = dependents(body, pair);
    let insts = body.region(pair.region).insts.clone();
    let loops = [insts[pair.first], insts[pair.second]];
    body.go_to_inst(loops[1]);
    let mut merged = Vec::new();
    let guard = guard_bodies(body, loops, pair.guards, &mut merged);
    let results: Vec<Value> = loops.iter().flat_map(|&i| body.inst(i).results.clone()).collect();
    let (light_loop, mut new) = joined(body, loops);
    merged.push(light_loop);
    if let Some(guard) = guard {
        let data = body.inst(light_loop).clone();
        let as_before = (Vec::new(), data.args[data.op.fixed_args()..].to_vec());
        let branch = choose(body, guard, (vec![light_loop], data.results), as_before);
        merged.splice(merged.len() - 1.., [branch]);
    }
    let last = *merged.last().expect("the loop, or the branch around it");
    new.extend(results.into_iter().zip(body.inst(last).results.clone()));

    let (before, between) = (&insts[..pair.first], &insts[pair.first + 1..pair.second]);
    let order = before.iter().chain(between.iter().filter(|i| !after.contains(i))).copied();
    let order: Vec<Inst> = order.chain(merged).chain(between.iter().filter(|i| after.contains(i)).copied()).collect();
    body.region_mut(pair.region).insts = [&order, &insts[pair.second + 1..]].concat();
    let root = body.root();
    body.substitute(root, &new);
}

/// Guards the bodies of two loops that become one, unless both run under the same condition. Returns the condition
/// under which the one runs, if it does not always; `insts` compute it.
fn guard_bodies(body: &mut Body, loops: [Inst; 2], guards: [Option<Value>; 2], insts: &mut Vec<Inst>) -> Option<Value> {
    if guards[0] == guards[1] {
        return guards[0];
    }
    for (light_loop, guard) in loops.into_iter().zip(guards) {
        if let Some(guard) = guard {
            guard_region(body, light_loop, guard);
        }
    }
    let [Some(a), Some(b)] = guards else { return None };
    Some(added(body, insts, Op::Binary(Binary::Or), &[a, b]))
}

/// Returns a loop that does what two do, and the values in its region that stand for parameters of the second's.
fn joined(body: &mut Body, loops: [Inst; 2]) -> (Inst, FxHashMap<Value, Value>) {
    let [a, b] = loops.map(|light_loop| body.inst(light_loop).clone());
    let fixed = a.op.fixed_params();
    let (first, second) = (a.regions[0], b.regions[0]);
    // One region: the first's parameters, then the second's carried ones.
    let (head, carried) = {
        let params = &body.region(second).params;
        (params[..fixed].to_vec(), params[fixed..].to_vec())
    };
    let mut new: FxHashMap<Value, Value> = head.iter().copied().zip(body.region(first).params.clone()).collect();
    for param in carried {
        let ty = body.ty(param);
        new.insert(param, body.add_region_param(first, ty));
    }
    let tail = body.region(second).clone();
    body.region_mut(first).insts.extend(tail.insts);
    body.region_mut(first).results.extend(tail.results);

    let (Op::LightLoop { local, ambient, shown }, Op::LightLoop { local: l, ambient: m, .. }) = (&a.op, &b.op) else {
        unreachable!("a pair is two light loops")
    };
    let op = Op::LightLoop { local: *local || *l, ambient: *ambient || *m, shown: shown.clone() };
    let args = [&a.args[..], &b.args[b.op.fixed_args()..]].concat();
    let types: Vec<MachineType> = a.results.iter().chain(&b.results).map(|&r| body.ty(r)).collect();
    (body.add_inst(op, args, vec![first], &types), new)
}
