//! Puts derivatives together into exchanges, each of which costs a barrier (RenderAnts, Appendix A).
//!
//! The paper joins derivatives that may be moved to the same place by an edge and searches a minimum clique cover. Once
//! all derivatives of a region may move past each other, only two things keep two of them apart: that one needs the
//! other's result, and that an exchange holds so many floats. So this is list scheduling (Hu, 1961): of the derivatives
//! whose arguments are known, an exchange takes first those on which the longest chain of further exchanges depends,
//! and then, while there is room, others that could have waited. Tests compare it with an exhaustive search.

use super::free_values::free_values;
use crate::ir::{Axis, Body, Inst, MachineType, Op, Region, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Floats that one exchange may hold: two halves of 256 lanes are 16 KiB, the least that Vulkan promises.
pub(crate) const EXCHANGE_FLOATS_MAX: u32 = 8;

/// Puts the derivatives of a region and of those below it together.
pub(super) fn group(body: &mut Body, region: Region) {
    let insts = body.region(region).insts.clone();
    for &inst in &insts {
        for inner in body.inst(inst).regions.clone() {
            group(body, inner);
        }
    }
    let steps = Steps::of(body, &insts);
    if steps.exchanged.iter().all(Option::is_none) {
        return;
    }
    let exchanges = steps.exchanges();
    let places = steps.places(&exchanges);
    let mut by_place: Vec<Vec<Inst>> = vec![Vec::new(); exchanges.len() + 1];
    for (step, place) in places.into_iter().enumerate() {
        if steps.exchanged[step].is_none() {
            by_place[place].push(insts[step]);
        }
    }
    let mut order = Vec::new();
    let mut new = FxHashMap::default();
    for (place, plain) in by_place.into_iter().enumerate() {
        order.extend(plain);
        if let Some(exchange) = exchanges.get(place) {
            let derivatives: Vec<Inst> = exchange.iter().map(|&step| insts[step]).collect();
            order.push(make_exchange(body, &derivatives, &mut new));
        }
    }
    body.region_mut(region).insts = order;
    let root = body.root();
    body.substitute(root, &new);
}

/// Makes the exchange of some derivatives, whose results `new` maps to those of the exchange.
fn make_exchange(body: &mut Body, derivatives: &[Inst], new: &mut FxHashMap<Value, Value>) -> Inst {
    let mut args: Vec<Value> = Vec::new();
    let (mut items, mut old): (Vec<(u32, Axis)>, Vec<Value>) = (Vec::new(), Vec::new());
    for &inst in derivatives {
        let data = body.inst(inst);
        let Op::Derivative(axis) = data.op else { continue };
        // The argument may be the result of an exchange before this one.
        let arg = new.get(&data.args[0]).copied().unwrap_or(data.args[0]);
        let at = args.iter().position(|&a| a == arg).unwrap_or_else(|| {
            args.push(arg);
            args.len() - 1
        });
        items.push((at as u32, axis));
        old.push(data.results[0]);
    }
    let types: Vec<MachineType> = old.iter().map(|&r| body.ty(r)).collect();
    body.go_to_inst(derivatives[0]);
    let inst = body.add_inst(Op::Derivatives(items), args, Vec::new(), &types);
    new.extend(old.into_iter().zip(body.inst(inst).results.clone()));
    inst
}

/// Returns whether an instruction, or one below it, has effects or must keep its place among those that have.
pub(super) fn is_ordered(body: &Body, inst: Inst) -> bool {
    let data = body.inst(inst);
    let memory = matches!(data.op, Op::SlotLoad(_) | Op::SlotStore(_)) || data.op.record().is_some();
    memory || data.regions.iter().flat_map(|&r| &body.region(r).insts).any(|&i| is_ordered(body, i))
}

/// What is to be put in order, and what depends on what: the instructions of a region, each after what it needs.
#[derive(Debug, Default)]
struct Steps {
    /// The later steps that need a step.
    users: Vec<Vec<usize>>,
    /// Of derivatives, what is exchanged, and how many floats that is.
    exchanged: Vec<Option<(Value, u32)>>,
}

impl Steps {
    fn of(body: &Body, insts: &[Inst]) -> Self {
        let mut steps = Self { users: vec![Vec::new(); insts.len()], exchanged: Vec::new() };
        let mut defined: FxHashMap<Value, usize> = FxHashMap::default();
        let mut last_ordered = None;
        for (step, &inst) in insts.iter().enumerate() {
            let data = body.inst(inst);
            let is_derivative = matches!(data.op, Op::Derivative(_));
            steps.exchanged.push(is_derivative.then(|| (data.args[0], body.ty(data.args[0]).words())));
            let values = free_values(body, inst);
            let mut needed: BTreeSet<usize> = values.iter().filter_map(|value| defined.get(value).copied()).collect();
            if is_ordered(body, inst) {
                needed.extend(last_ordered.replace(step));
            }
            needed.into_iter().for_each(|before| steps.users[before].push(step));
            defined.extend(data.results.iter().map(|&result| (result, step)));
        }
        steps
    }

    /// Returns for each step the number of exchanges of the longest chain that begins with it.
    fn heights(&self) -> Vec<usize> {
        let mut heights = vec![0; self.users.len()];
        for step in (0..heights.len()).rev() {
            let after = self.users[step].iter().map(|&user| heights[user]).max().unwrap_or(0);
            heights[step] = after + usize::from(self.exchanged[step].is_some());
        }
        heights
    }

    /// Returns the derivatives of each exchange, in the order of the exchanges.
    fn exchanges(&self) -> Vec<Vec<usize>> {
        let heights = self.heights();
        let mut missing = vec![0_usize; self.users.len()];
        self.users.iter().flatten().for_each(|&user| missing[user] += 1);
        let mut known: Vec<usize> = (0..missing.len()).filter(|&step| missing[step] == 0).collect();
        let mut ready = BTreeSet::new();
        let mut exchanges = Vec::new();
        loop {
            let mut exchange = Vec::new();
            while let Some(step) = known.pop() {
                if self.exchanged[step].is_some() {
                    ready.insert((Reverse(heights[step]), step));
                } else {
                    release(&self.users[step], &mut missing, &mut known);
                }
            }
            if ready.is_empty() {
                return exchanges;
            }
            let (mut values, mut floats) = (Vec::new(), 0);
            ready.retain(|&(_, step)| {
                let (value, words) = self.exchanged[step].expect("only derivatives wait");
                let is_new = !values.contains(&value);
                let fits = !is_new || floats + words <= EXCHANGE_FLOATS_MAX;
                if fits {
                    values.extend(is_new.then_some(value));
                    floats += if is_new { words } else { 0 };
                    exchange.push(step);
                }
                !fits
            });
            exchange.sort_unstable();
            exchange.iter().for_each(|&step| release(&self.users[step], &mut missing, &mut known));
            exchanges.push(exchange);
        }
    }

    /// Returns for each step the number of exchanges that must be done before it.
    fn places(&self, exchanges: &[Vec<usize>]) -> Vec<usize> {
        let mut places = vec![0; self.users.len()];
        for (number, exchange) in exchanges.iter().enumerate() {
            exchange.iter().for_each(|&step| places[step] = number);
        }
        for step in 0..places.len() {
            let done = places[step] + usize::from(self.exchanged[step].is_some());
            for &user in &self.users[step] {
                if self.exchanged[user].is_none() {
                    places[user] = places[user].max(done);
                }
            }
        }
        places
    }
}

/// Notes that a step is done: those of its users that miss nothing else are known.
fn release(users: &[usize], missing: &mut [usize], known: &mut Vec<usize>) {
    for &user in users {
        missing[user] -= 1;
        if missing[user] == 0 {
            known.push(user);
        }
    }
}

#[cfg(test)]
mod tests;
