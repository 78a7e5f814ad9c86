//! The *uniform slice* of a program: what is the same at all vertices that read one block of values, the instance's or
//! that of a light. It is computed once for each block, on the host, and kernels load its results.
//!
//! A value is in the slice if it depends on one block alone. Operations without effects are total, so it does not
//! matter whether the branches that they are in are taken; loops are in the slice as a whole, if the number of their
//! trips is known.

mod count;
mod dependence;
mod program;

use super::dead::remove_dead;
use super::decide::decided_cost;
use crate::ir::{Body, Buffer, Builtin, Compare, Const, Inst, MachineType, Op, Region, Value};
pub use count::{OperationCounts, count_operations};
pub(crate) use dependence::Blocks;
use dependence::{Dependences, TRIPS_MAX};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// The least cost of a side of a branch about which kernels may be decided, in operations.
const DECIDING_COST_MIN: usize = 16;

/// A program without its uniform slice.
pub(crate) struct UniformSlice {
    /// What is left.
    pub(crate) body: Body,
    /// For each block, the program that computes values of it.
    pub(crate) programs: BTreeMap<u32, Body>,
    /// The instructions of `body` that load such a value.
    pub(crate) loads: Vec<UniformLoad>,
    /// The results of the instance's program that decide about branches.
    pub(crate) decisions: BTreeSet<u32>,
}

/// An instruction that loads a value of the uniform slice.
pub(crate) struct UniformLoad {
    /// Its argument is the address of the block.
    pub(crate) inst: Inst,
    pub(crate) block: u32,
    /// The number of the result of the block's program.
    pub(crate) result: u32,
    /// The type that is stored.
    pub(crate) ty: MachineType,
}

/// Takes the uniform slice out of a bound program.
pub(crate) fn take_uniform(body: &Body, blocks: &dyn Blocks) -> UniformSlice {
    let known = Dependences::of(body, blocks, TRIPS_MAX);
    let deciding = deciding(&known);
    let mut rest = Rest::new(&known, &deciding, body.clone());
    rest.replace(body.root());
    let (left, wanted) = rest.finish();
    let mut by_block: BTreeMap<u32, Vec<(Inst, Value)>> = BTreeMap::new();
    for (inst, block, value) in wanted {
        by_block.entry(block).or_default().push((inst, value));
    }
    let mut slice =
        UniformSlice { body: left, programs: BTreeMap::new(), loads: Vec::new(), decisions: BTreeSet::new() };
    for (block, loads) in by_block {
        let values: Vec<Value> = loads.iter().map(|load| load.1).collect();
        let (program, numbers) = program::program(&known, &values);
        slice.programs.insert(block, program);
        let numbered = loads.iter().zip(&numbers);
        slice.decisions.extend(numbered.filter(|(load, _)| deciding.contains(&load.1)).map(|(_, &number)| number));
        let load = |(&(inst, value), result)| UniformLoad { inst, block, result, ty: stored_as(body.ty(value)) };
        slice.loads.extend(loads.iter().zip(numbers).map(load));
    }
    slice
}

/// Returns the conditions of branches that are the same for an instance, where a side costs so much that a kernel may
/// be made without it.
fn deciding(known: &Dependences<'_>) -> FxHashSet<Value> {
    let body = known.body;
    let mut found = FxHashSet::default();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        let costs = |&region: &Region| decided_cost(body, region, &[]) >= DECIDING_COST_MIN;
        if data.op == Op::If && known.is_of_instance(data.args[0]) && data.regions.iter().any(costs) {
            found.insert(data.args[0]);
        }
    });
    found
}

/// Returns the type as which a value is stored: blocks have no truth values.
fn stored_as(ty: MachineType) -> MachineType {
    if ty == MachineType::Bool { MachineType::F32 } else { ty }
}

/// The program that kernels run, while loads take the place of what is in the slice.
struct Rest<'a> {
    known: &'a Dependences<'a>,
    /// What is kept in the block of the instance whatever it costs.
    deciding: &'a FxHashSet<Value>,
    body: Body,
    /// What gives the address of the instance's block.
    instance: Inst,
    /// Loads, each with the block and the value that it stands for.
    loads: Vec<(Inst, u32, Value)>,
    new: FxHashMap<Value, Value>,
}

impl<'a> Rest<'a> {
    fn new(known: &'a Dependences<'a>, deciding: &'a FxHashSet<Value>, mut body: Body) -> Self {
        let address = Builtin::Block;
        let instance = body.add_inst(Op::Builtin(address), Vec::new(), Vec::new(), &[address.ty()]);
        Self { known, deciding, body, instance, loads: Vec::new(), new: FxHashMap::default() }
    }

    /// Writes loads before the instructions whose results they replace.
    fn replace(&mut self, region: Region) {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut self.body.region_mut(region).insts) {
            let data = self.body.inst(inst).clone();
            data.regions.into_iter().for_each(|inner| self.replace(inner));
            self.body.go_to_inst(inst);
            for value in data.results {
                let own = self.deciding.contains(&value).then_some(0);
                if let Some(block) = own.or_else(|| self.known.home(value)) {
                    let load = self.load(&mut insts, block, value);
                    self.new.insert(value, load);
                }
            }
            insts.push(inst);
        }
        self.body.region_mut(region).insts = insts;
    }

    fn push(&mut self, insts: &mut Vec<Inst>, op: Op, args: &[Value], ty: MachineType) -> Value {
        let inst = self.body.add_inst(op, args.to_vec(), Vec::new(), &[ty]);
        insts.push(inst);
        self.body.inst(inst).results[0]
    }

    /// Appends the load of a value. Where it is in the block is not known yet.
    fn load(&mut self, insts: &mut Vec<Inst>, block: u32, value: Value) -> Value {
        let ty = self.body.ty(value);
        let stored = stored_as(ty);
        let instance = self.body.inst(self.instance).results[0];
        let address = if block == 0 { None } else { self.known.address(value) };
        let op = Op::Load { buffer: Buffer::Params, record: 0, lane: 0, ty: stored };
        let loaded = self.push(insts, op, &[address.unwrap_or(instance)], stored);
        self.loads.extend(insts.last().map(|&inst| (inst, block, value)));
        if ty == stored {
            return loaded;
        }
        let zero = self.push(insts, Op::Const(Const::F32(0.0)), &[], stored);
        self.push(insts, Op::Compare(Compare::Ne), &[loaded, zero], ty)
    }

    /// Returns what is left, and the loads in it.
    fn finish(self) -> (Body, Vec<(Inst, u32, Value)>) {
        let Self { mut body, mut loads, new, instance, .. } = self;
        let root = body.root();
        body.region_mut(root).insts.insert(0, instance);
        body.substitute(root, &new);
        remove_dead(&mut body);
        let mut alive = vec![false; body.inst_count()];
        body.walk(root, &mut |inst| alive[inst.0 as usize] = true);
        loads.retain(|(inst, ..)| alive[inst.0 as usize]);
        (body, loads)
    }
}
