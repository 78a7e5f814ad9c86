//! Writing the loop of some groups.

use super::groups::{Carried, Entry, Groups, Needs, Operand, is_long};
use crate::ir::{Binary, Body, Compare, Const, Def, Inst, MachineType, Op, Region, RegionData, Slot, Unary, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Words of the arrays that results may take, of all groups together.
const RESULT_WORDS_MAX: u32 = 256;

/// Words of tables that a loop may have.
const TABLE_WORDS_MAX: u32 = 1 << 14;

/// A result of a step that is needed after the loop.
struct Export {
    from: (usize, usize),
    /// The groups of which it is needed.
    groups: Vec<usize>,
}

impl Export {
    fn is_last(&self, groups: &Groups) -> bool {
        self.groups == [groups.count - 1]
    }
}

/// Replaces groups by a loop if that may be, and pays.
pub(super) fn loop_of(body: &mut Body, region: Region, dependence: &Needs, groups: &Groups, repeats: bool) -> bool {
    let exports = exports(body, dependence, groups);
    let Some(order) = order(groups) else { return false };
    let arrays = || exports.iter().filter(|export| !export.is_last(groups));
    let words = |&(step, result): &(usize, usize)| body.ty(body.inst(groups.inst_of(step)).results[result]).words();
    let result_words: u32 = arrays().map(|export| words(&export.from) * groups.count as u32).sum();
    // What a loop around it carries would have to be saved with it.
    let fits = result_words <= if repeats { 0 } else { RESULT_WORDS_MAX };
    let constants = groups.tables.iter().flatten().flatten();
    let is_idle = groups.steps.iter().any(|step| is_long(&step.op) && step.entries.contains(&Entry::Free));
    if !fits || is_idle || constants.map(|constant| constant.ty().words()).sum::<u32>() > TABLE_WORDS_MAX {
        return false;
    }
    body.go_to_inst(groups.inst_of(0));
    let mut writing = Writing { body, groups, insts: Vec::new(), results: FxHashMap::default() };
    let new = writing.write(&order, &exports);
    let insts = writing.insts;
    place(body, region, dependence, groups, insts);
    body.substitute(region, &new);
    true
}

/// Returns what is needed of the groups by others.
fn exports(body: &Body, dependence: &Needs, groups: &Groups) -> Vec<Export> {
    let members = groups.members();
    let is_needed = |value: &Value| {
        let users = dependence.users.get(value).into_iter().flatten();
        let has_others = users.into_iter().any(|user| !members.contains(user));
        dependence.of_value(*value) > groups.before && (has_others || dependence.yielded.contains(value))
    };
    let mut exports = Vec::new();
    for (step, number) in groups.steps.iter().zip(0..) {
        for result in 0..body.inst(groups.inst_of(number)).results.len() {
            let needed = |&group: &usize| match step.entries[group] {
                Entry::Inst(inst, _) => is_needed(&body.inst(inst).results[result]),
                Entry::Same(_) | Entry::Free => false,
            };
            let needed: Vec<usize> = (0..groups.count).filter(needed).collect();
            if !needed.is_empty() {
                exports.push(Export { from: (number, result), groups: needed });
            }
        }
    }
    exports
}

/// Returns the steps in an order in which each comes after those that it needs in the same trip, if there is one.
fn order(groups: &Groups) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < groups.steps.len() {
        let is_ready = |step: usize| {
            let mut args = groups.steps[step].args.iter();
            args.all(|arg| if let Operand::Step(needed, _) = arg { order.contains(needed) } else { true })
        };
        let next = (0..groups.steps.len()).find(|&step| !order.contains(&step) && is_ready(step))?;
        order.push(next);
    }
    Some(order)
}

/// Puts the loop behind all that it needs; what needs the loop comes after it.
fn place(body: &mut Body, region: Region, dependence: &Needs, groups: &Groups, loop_insts: Vec<Inst>) {
    let args = groups.steps.iter().flat_map(|step| &step.args);
    let outside = args.filter_map(|arg| if let Operand::Outside(value) = arg { Some(*value) } else { None });
    let carried = groups.carried.iter().flat_map(|carried| {
        let next = if let Operand::Outside(value) = carried.next { Some(value) } else { None };
        [carried.first, next]
    });
    let needed = outside.chain(carried.flatten());
    let place_of = |value: Value| match body.value(value).def {
        Def::Inst(inst, _) => dependence.places.get(&inst).copied(),
        Def::Param(..) => None,
    };
    // Constants that were added since come first.
    let added = body.region(region).insts.iter().take_while(|inst| !dependence.places.contains_key(inst)).count();
    let before = needed.filter_map(place_of).max().map_or(0, |place| place + 1) + added;
    let (ahead, behind) = body.region(region).insts.split_at(before);
    let waits = |inst: &&Inst| dependence.places.contains_key(inst) && dependence.of_inst(**inst) > groups.before;
    let (late, early): (Vec<Inst>, Vec<Inst>) = ahead.iter().partition(waits);
    let insts = [&early[..], &loop_insts, &late, behind].concat();
    body.region_mut(region).insts = insts;
}

/// A loop that is being written.
struct Writing<'a> {
    body: &'a mut Body,
    groups: &'a Groups,
    /// What has been written before the loop, the loop, and what follows it.
    insts: Vec<Inst>,
    /// What steps give in a trip.
    results: FxHashMap<(usize, usize), Value>,
}

/// What a trip knows.
struct Trip {
    region: Region,
    counter: Value,
    carried: Vec<Value>,
    tables: FxHashMap<usize, Value>,
}

impl Writing<'_> {
    /// Writes an instruction with one result.
    fn one(&mut self, insts: &mut Vec<Inst>, op: Op, args: &[Value], ty: MachineType) -> Value {
        let inst = self.body.add_inst(op, args.to_vec(), Vec::new(), &[ty]);
        insts.push(inst);
        self.body.inst(inst).results[0]
    }

    fn constant(&mut self, insts: &mut Vec<Inst>, constant: Const) -> Value {
        let ty = constant.ty();
        self.one(insts, Op::Const(constant), &[], ty)
    }

    /// Writes the loop; the new values of what is needed of it.
    fn write(&mut self, order: &[usize], exports: &[Export]) -> FxHashMap<Value, Value> {
        let mut insts = Vec::new();
        let (last, kept): (Vec<&Export>, Vec<&Export>) = exports.iter().partition(|export| export.is_last(self.groups));
        let (carried, numbers) = self.carry_results(&last);
        let arrays: Vec<(&Export, Slot)> = kept.into_iter().map(|export| (export, self.array(export))).collect();
        let mut init = vec![self.constant(&mut insts, Const::U32(0))];
        for carried in &carried {
            init.push(carried.first.unwrap_or_else(|| self.constant(&mut insts, carried.ty.zero())));
        }
        let types: Vec<MachineType> = init.iter().map(|&value| self.body.ty(value)).collect();
        let [count, one] = [self.groups.count as u32, 1].map(|n| self.constant(&mut insts, Const::U32(n)));
        let (condition, params) = self.condition(&types, count);
        let region = self.body.add_region();
        let trip = Trip { region, counter: params[0], carried: params[1..].to_vec(), tables: FxHashMap::default() };
        let here = self.body.here();
        self.trip(trip, order, one, &carried, &arrays);
        self.body.go_to(here);
        let looped = self.body.add_inst(Op::Loop, init, vec![condition, region], &types);
        insts.push(looped);
        let results = self.body.inst(looped).results.clone();
        let last_group = self.groups.count - 1;
        let ends = last.iter().map(|export| self.old(export.from, last_group));
        let mut new: FxHashMap<Value, Value> = ends.zip(numbers.iter().map(|number| results[number + 1])).collect();
        for (export, slot) in arrays {
            let ty = self.body.slot(slot).ty;
            for &group in &export.groups {
                let at = self.constant(&mut insts, Const::F32(group as f32));
                new.insert(self.old(export.from, group), self.one(&mut insts, Op::SlotLoad(slot), &[at], ty));
            }
        }
        self.insts = insts;
        new
    }

    /// Returns what the loop carries where it carries these results too, and under which number it does each.
    fn carry_results(&self, last: &[&Export]) -> (Vec<Carried>, Vec<usize>) {
        let mut all = self.groups.carried.clone();
        let numbers = last.iter().map(|export| {
            let next = Operand::Step(export.from.0, export.from.1);
            all.iter().position(|carried| carried.next == next).unwrap_or_else(|| {
                all.push(Carried { first: None, next, ty: self.ty(export.from) });
                all.len() - 1
            })
        });
        let numbers = numbers.collect();
        (all, numbers)
    }

    /// Adds an array for a result of all groups.
    fn array(&mut self, export: &Export) -> Slot {
        let ty = self.ty(export.from);
        self.body.add_slot(ty, self.groups.count as u32)
    }

    /// Returns the type of a result of a step.
    fn ty(&self, (step, result): (usize, usize)) -> MachineType {
        self.body.ty(self.body.inst(self.groups.inst_of(step)).results[result])
    }

    /// Writes the condition of the loop, and gives what it carries.
    fn condition(&mut self, types: &[MachineType], count: Value) -> (Region, Vec<Value>) {
        let condition = self.body.add_region();
        let params: Vec<Value> = types.iter().map(|&ty| self.body.add_region_param(condition, ty)).collect();
        let mut insts = Vec::new();
        let test = self.one(&mut insts, Op::Compare(Compare::Lt), &[params[0], count], MachineType::Bool);
        *self.body.region_mut(condition) = RegionData { params: params.clone(), insts, results: vec![test] };
        (condition, params)
    }

    /// Returns what a step gives in a group of the program that is replaced.
    fn old(&self, from: (usize, usize), group: usize) -> Value {
        self.groups.values_of(self.body, from)[group].expect("it is needed")
    }

    /// Writes the body of the loop.
    fn trip(&mut self, mut trip: Trip, order: &[usize], one: Value, carried: &[Carried], arrays: &[(&Export, Slot)]) {
        let mut insts = Vec::new();
        for &number in order {
            let step = &self.groups.steps[number];
            let args: Vec<Value> = step.args.iter().map(|&arg| self.argument(&mut insts, &mut trip, arg)).collect();
            self.body.go_to_inst(self.groups.inst_of(number));
            let like = self.body.inst(self.groups.inst_of(number));
            let types: Vec<MachineType> = like.results.iter().map(|&result| self.body.ty(result)).collect();
            let inst = self.body.add_inst(step.op.clone(), args, Vec::new(), &types);
            insts.push(inst);
            let results = self.body.inst(inst).results.clone();
            self.results.extend(results.into_iter().zip(0..).map(|(value, result)| ((number, result), value)));
        }
        if !arrays.is_empty() {
            let op = Op::Unary(Unary::FloatFromU32);
            let at = self.one(&mut insts, op, &[trip.counter], MachineType::F32);
            for (export, slot) in arrays {
                let value = self.results[&export.from];
                insts.push(self.body.add_inst(Op::SlotStore(*slot), vec![at, value], Vec::new(), &[]));
            }
        }
        let mut results = vec![self.one(&mut insts, Op::Binary(Binary::Add), &[trip.counter, one], MachineType::U32)];
        for carried in carried {
            results.push(self.argument(&mut insts, &mut trip, carried.next));
        }
        let region = trip.region;
        *self.body.region_mut(region) = RegionData { params: Vec::new(), insts, results };
    }

    /// Returns an argument in a trip.
    fn argument(&mut self, insts: &mut Vec<Inst>, trip: &mut Trip, source: Operand) -> Value {
        match source {
            Operand::Outside(value) => value,
            Operand::Step(step, result) => self.results[&(step, result)],
            Operand::Carried(number) => trip.carried[number],
            Operand::Table(number) => {
                if let Some(&value) = trip.tables.get(&number) {
                    return value;
                }
                let table = self.table(number);
                let repeated: Option<Arc<[Const]>> = table.iter().map(repeated).collect();
                let ty = table[0].ty();
                let value = match repeated {
                    Some(floats) => {
                        let float = self.one(insts, Op::Table(floats), &[trip.counter], MachineType::F32);
                        self.one(insts, Op::Unary(Unary::Splat), &[float], ty)
                    }
                    None => self.one(insts, Op::Table(table), &[trip.counter], ty),
                };
                trip.tables.insert(number, value);
                value
            }
        }
    }

    /// Returns the constants of a table; those that nobody needs are as the one before.
    fn table(&self, number: usize) -> Arc<[Const]> {
        let constants = &self.groups.tables[number];
        let mut before = constants.iter().flatten().next().expect("a table has a constant");
        constants
            .iter()
            .map(|constant| {
                before = constant.as_ref().unwrap_or(before);
                before.clone()
            })
            .collect()
    }
}

/// Returns the float that a triple repeats.
fn repeated(constant: &Const) -> Option<Const> {
    let [x, y, z] = constant.as_vec3()?;
    (x.to_bits() == y.to_bits() && x.to_bits() == z.to_bits()).then_some(Const::F32(x))
}
