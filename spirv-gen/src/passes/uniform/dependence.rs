//! What the values of a bound program depend on: blocks, vertices, trips of loops.

use crate::ir::{Binary, Body, Inst, InstData, Op, Region, Unary, Value};
use crate::passes::trips::trip_count;
use rustc_hash::FxHashMap;

/// Trips of a loop on the host, with the loops in it.
pub(super) const TRIPS_MAX: u64 = 1 << 14;

/// Levels of nested loops that are distinguished; deeper loops stay in kernels.
const LEVELS_MAX: u32 = 64;

/// What the maker of a program knows of blocks.
pub(crate) trait Blocks {
    /// Returns the number of the block from which an instruction loads a value, if the host has it: 0 is the
    /// instance's.
    fn block_of(&self, body: &Body, data: &InstData) -> Option<u32>;
}

/// Where a value may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// It depends on no block.
    Anywhere,
    Block(u32),
    /// It may differ from vertex to vertex.
    Nowhere,
}

impl Home {
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anywhere, home) | (home, Self::Anywhere) => home,
            (a, b) if a == b => a,
            _ => Self::Nowhere,
        }
    }
}

/// What a value depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DependsOn {
    home: Home,
    /// The loops around it from whose trips it differs, a bit for each level.
    loops: u64,
}

impl DependsOn {
    const NONE: Self = Self { home: Home::Anywhere, loops: 0 };
    const VERTEX: Self = Self { home: Home::Nowhere, loops: 0 };

    fn with(self, other: Self) -> Self {
        Self { home: self.home.with(other.home), loops: self.loops | other.loops }
    }
}

/// What the values of a body depend on.
pub(super) struct Dependences<'a> {
    pub(super) body: &'a Body,
    blocks: &'a dyn Blocks,
    values: Vec<DependsOn>,
    addresses: Vec<Option<Value>>,
    /// For each loop that the host can run, its bit.
    loops: FxHashMap<Inst, u64>,
    changed: bool,
}

impl<'a> Dependences<'a> {
    /// Supposes that nothing depends on anything, and adds what does, until nothing changes. Loops of more trips than
    /// `trips_max` stay in kernels.
    pub(super) fn of(body: &'a Body, blocks: &'a dyn Blocks, trips_max: u64) -> Self {
        let values = vec![DependsOn::NONE; body.value_count()];
        let addresses = vec![None; body.value_count()];
        let mut known = Self { body, blocks, values, addresses, loops: FxHashMap::default(), changed: true };
        known.find_loops(body.root(), 0, trips_max);
        while std::mem::take(&mut known.changed) {
            known.region(body.root(), 0);
        }
        known.find_addresses(body.root());
        known
    }

    fn find_loops(&mut self, region: Region, level: u32, trips_max: u64) {
        let body = self.body;
        for &inst in &body.region(region).insts {
            let data = body.inst(inst);
            let is_short = data.op == Op::Loop && trips(body, inst).unwrap_or(u64::MAX) <= trips_max;
            if is_short && level < LEVELS_MAX {
                self.loops.insert(inst, 1 << level);
            }
            let inner = level + u32::from(data.op == Op::Loop);
            data.regions.iter().for_each(|&region| self.find_loops(region, inner, trips_max));
        }
    }

    /// Returns where a value could be kept if it did not differ from trip to trip of loops.
    pub(super) fn home_in_loops(&self, value: Value) -> Home {
        self.get(value).home
    }

    /// Returns whether a value differs from trip to trip of a loop that it is in.
    pub(super) fn differs_in_loops(&self, value: Value) -> bool {
        self.get(value).loops != 0
    }

    /// Returns whether a value is the same wherever the instance is shaded, and depends on it.
    pub(super) fn is_of_instance(&self, value: Value) -> bool {
        self.get(value) == DependsOn { home: Home::Block(0), loops: 0 }
    }

    fn get(&self, value: Value) -> DependsOn {
        self.values[value.0 as usize]
    }

    fn all(&self, values: &[Value]) -> DependsOn {
        values.iter().fold(DependsOn::NONE, |all, &value| all.with(self.get(value)))
    }

    fn mark(&mut self, value: Value, dependence: DependsOn) {
        let known = &mut self.values[value.0 as usize];
        let more = known.with(dependence);
        self.changed |= more != *known;
        *known = more;
    }

    /// `around` are the bits of the loops around the region that the host can run.
    fn region(&mut self, region: Region, around: u64) {
        let body = self.body;
        for &inst in &body.region(region).insts {
            self.inst(inst, around);
        }
    }

    fn inst(&mut self, inst: Inst, around: u64) {
        let body = self.body;
        let data = body.inst(inst);
        match &data.op {
            Op::If | Op::Switch => {
                data.regions.iter().for_each(|&region| self.region(region, around));
                for (i, &result) in data.results.iter().enumerate() {
                    let yielded: Vec<Value> = data.regions.iter().map(|&r| body.region(r).results[i]).collect();
                    self.mark(result, self.get(data.args[0]).with(self.all(&yielded)));
                }
            }
            Op::Loop => self.repeat(inst, around),
            op if op.has_regions() => {
                let params = data.regions.iter().flat_map(|&region| &body.region(region).params);
                params.chain(&data.results).for_each(|&value| self.mark(value, DependsOn::VERTEX));
                data.regions.iter().for_each(|&region| self.region(region, around));
            }
            op => {
                let own = match self.blocks.block_of(body, data).zip(self.block_offsets(data)) {
                    Some((block, offsets)) => DependsOn { home: Home::Block(block), loops: 0 }.with(self.all(&offsets)),
                    None if is_evaluated(op) => self.all(&data.args),
                    // The instance is asked.
                    None if matches!(op, Op::QueryBy { .. }) => {
                        DependsOn { home: Home::Block(0), loops: 0 }.with(self.all(&data.args))
                    }
                    None => DependsOn::VERTEX,
                };
                data.results.iter().for_each(|&result| self.mark(result, own));
            }
        }
    }

    fn repeat(&mut self, inst: Inst, around: u64) {
        let body = self.body;
        let data = body.inst(inst);
        let condition = body.region(data.regions[0]);
        let next = &body.region(data.regions[1]).results;
        let bit = self.loops.get(&inst).copied();
        for (i, &param) in condition.params.iter().enumerate() {
            let Some(bit) = bit else {
                self.mark(param, DependsOn::VERTEX);
                self.mark(data.results[i], DependsOn::VERTEX);
                continue;
            };
            let carried = self.all(&[data.args[i], next[i], condition.results[0]]);
            self.mark(param, DependsOn { loops: carried.loops | bit, ..carried });
            // A loop inside of another is not moved out of that one.
            self.mark(data.results[i], DependsOn { loops: carried.loops & !bit | around, ..carried });
        }
        data.regions.iter().for_each(|&region| self.region(region, around | bit.unwrap_or(0)));
    }

    /// Returns what an operation that loads from a block adds to the block's address.
    pub(super) fn block_offsets(&self, data: &InstData) -> Option<Vec<Value>> {
        self.blocks.block_of(self.body, data).and_then(|_| offsets(self.body, *data.args.first()?))
    }

    /// Returns the block in which a value is kept that kernels should not compute.
    pub(super) fn home(&self, value: Value) -> Option<u32> {
        let DependsOn { home, loops } = self.get(value);
        match home {
            _ if loops != 0 || !self.is_worth_a_load(value) => None,
            Home::Nowhere => None,
            Home::Block(block) => Some(block).filter(|_| block == 0 || self.address(value).is_some()),
            Home::Anywhere => Some(0),
        }
    }

    /// Returns whether a value costs more than loading it does.
    fn is_worth_a_load(&self, value: Value) -> bool {
        let Some(data) = self.body.def_inst(value) else { return false };
        let loads = |value: &Value| matches!(self.body.def_inst(*value).map(|d| &d.op), Some(Op::Load { .. }));
        match data.op {
            Op::Const(_) | Op::Load { .. } | Op::Unary(Unary::Splat | Unary::Token | Unary::Bits) => false,
            Op::Comp(_) => !data.args.iter().all(loads),
            // What is compared is loaded instead.
            Op::Compare(_) => self.body.ty(data.args[0]).words() > 1,
            _ => true,
        }
    }

    /// Returns the address of the block on which a value depends.
    pub(super) fn address(&self, value: Value) -> Option<Value> {
        self.addresses[value.0 as usize]
    }

    /// Finds the addresses of blocks on which values depend. Those of one light do not depend on another's.
    fn find_addresses(&mut self, region: Region) {
        let body = self.body;
        for &inst in &body.region(region).insts {
            let data = body.inst(inst);
            if data.op == Op::Loop {
                for (&param, &first) in body.region(data.regions[0]).params.iter().zip(&data.args) {
                    self.addresses[param.0 as usize] = self.address(first);
                }
            }
            data.regions.iter().for_each(|&inner| self.find_addresses(inner));
            let own = self.block_offsets(data).map(|_| root(body, data.args[0]));
            let of_args = data.args.iter().find_map(|&arg| self.address(arg));
            for (i, &result) in data.results.iter().enumerate() {
                let yielded = data.regions.iter().filter_map(|&inner| body.region(inner).results.get(i));
                let inside = yielded.chain(data.regions.first().and_then(|&r| body.region(r).results.first()));
                let inside = inside.copied().find_map(|value| self.address(value));
                self.addresses[result.0 as usize] = own.or(inside).or(of_args);
            }
        }
    }
}

/// Returns the trips that a loop makes with those in it, if they are known.
fn trips(body: &Body, inst: Inst) -> Option<u64> {
    let mut inner = Some(1_u64);
    for &region in &body.inst(inst).regions {
        body.region(region).insts.iter().for_each(|&i| {
            body.walk_inst(i, &mut |i| {
                if body.inst(i).op == Op::Loop {
                    inner = inner.zip(trip_count(body, i)).map(|(a, b)| a.saturating_mul(b.max(1)));
                }
            });
        });
    }
    inner.zip(trip_count(body, inst)).map(|(a, b)| a.saturating_mul(b))
}

/// Returns whether the interpreter's arithmetic gives the result of an operation.
fn is_evaluated(op: &Op) -> bool {
    matches!(
        op,
        Op::Const(_)
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Vec3
            | Op::Comp(_)
            | Op::CompAt
            | Op::SetComp(_)
            | Op::SetCompAt
            | Op::Mat4
            | Op::MatComp
            | Op::SetMatComp
            | Op::Noise { .. }
            | Op::ColorTransform(..)
            | Op::Format(_)
            | Op::FormatBy
            | Op::Match
    )
}

/// Returns what is added to the address of a block.
fn offsets(body: &Body, address: Value) -> Option<Vec<Value>> {
    let data = body.def_inst(address)?;
    match data.op {
        Op::Builtin(_) | Op::Load { .. } => Some(Vec::new()),
        Op::Binary(Binary::Add) => {
            let mut found = offsets(body, data.args[0])?;
            found.push(data.args[1]);
            Some(found)
        }
        _ => None,
    }
}

/// Returns the address of the block to which something is added.
pub(super) fn root(body: &Body, address: Value) -> Value {
    match body.def_inst(address) {
        Some(data) if data.op == Op::Binary(Binary::Add) => root(body, data.args[0]),
        _ => address,
    }
}
