//! Regions to blocks.

use super::exchange::Exchange;
use super::gather::{Step, steps};
use super::import::{Imports, Library};
use super::kernel::{Interface, KernelIds};
use super::spirv::Spirv;
use super::suspend::Suspension;
use super::{EmitError, LOCAL_SIZE, channels, output_channel};
use crate::abi;
use crate::ir::{Body, Buffer, Inst, MachineType, Op as IrOp, Region, Value};
use crate::passes::{SavedLoops, uncounted_loops};
use rspirv::spirv::{LoopControl, Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

/// A kernel being written.
pub(super) struct Emitter<'a> {
    pub(super) s: Spirv,
    pub(super) imports: Imports<'a>,
    pub(super) frame: KernelIds,
    pub(super) body: &'a Body,
    pub(super) tokens: &'a dyn Fn(&str) -> u32,
    pub(super) exchange: Exchange,
    main: Word,
    interface: Vec<Word>,
    values: Vec<Word>,
    /// Records loaded so far, by the regions that are open.
    records: Vec<FxHashMap<RecordKey, Word>>,
    /// Pointers to the local arrays.
    pub(super) slots: Vec<Word>,
    pub(super) trips: Option<TripCounter>,
    /// The next vote is a loop's condition, and ends with the budget of trips.
    limit_vote: Option<TripCounter>,
    uncounted: FxHashSet<Inst>,
    /// Loops that stop and go on in another dispatch.
    pub(super) saved: SavedLoops,
    pub(super) suspension: Suspension,
}

/// A record in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum RecordKey {
    /// Of a buffer: base, and number from there.
    Record(Buffer, Word, u32),
    /// Of this vertex: channel, and further channels.
    Channel(u32, Option<Word>),
}

/// Counts loop trips ([`abi::Push::trips`]).
#[derive(Clone, Copy)]
pub(super) struct TripCounter {
    pub(super) count: Word,
    pub(super) exhausted: Word,
    pub(super) max: Word,
}

impl<'a> Emitter<'a> {
    /// Opens the kernel, which saves the loops of `saved`.
    pub(super) fn begin(
        body: &'a Body,
        library: &'a Library,
        tokens: &'a dyn Fn(&str) -> u32,
        saved: SavedLoops,
    ) -> Self {
        let mut s = Spirv::new();
        let interface = Interface::new(&mut s);
        let mut variables = interface.variables();
        let mut exchange = Exchange::new(&mut s, body, !saved.is_empty());
        variables.extend(exchange.variables());
        let void = s.type_void();
        let main = s.begin_function(void, &[]);
        s.name(main, "main");
        let first = s.id();
        s.block(first);
        let frame = KernelIds::begin(&mut s, &interface);
        exchange.begin(&mut s, &frame);
        let mut this = Self {
            s,
            imports: Imports::new(library),
            frame,
            body,
            tokens,
            exchange,
            main,
            interface: variables,
            values: vec![0; body.value_count()],
            records: vec![FxHashMap::default()],
            slots: Vec::new(),
            trips: None,
            limit_vote: None,
            uncounted: uncounted_loops(body).into_iter().filter(|&inst| saved.get(inst).is_none()).collect(),
            saved,
            suspension: Suspension::default(),
        };
        this.make_slots();
        this.make_trips();
        this.begin_suspension();
        this.load_early();
        this
    }

    /// Loads the records whose addresses are known from the start: each record once, whatever branches and loops it is
    /// used in.
    fn load_early(&mut self) {
        let body = self.body;
        let mut places = Vec::new();
        body.walk(body.root(), &mut |i| {
            let data = body.inst(i);
            let base = data.args.first().and_then(|&a| body.def_inst(a)).map(|d| &d.op);
            match (&data.op, base) {
                (IrOp::Load { buffer, record, ty, .. }, Some(IrOp::Builtin(builtin))) => {
                    let base = self.frame.builtin(*builtin);
                    places.extend((0..channels(*ty)).map(|i| RecordKey::Record(*buffer, base, record + i)));
                }
                (IrOp::Channel { channel, ty, .. }, None) => {
                    places.extend((0..channels(*ty)).map(|i| RecordKey::Channel(channel + i, None)));
                }
                _ => {}
            }
        });
        for place in places {
            self.record(place);
        }
    }

    fn make_slots(&mut self) {
        for slot in self.body.slots() {
            let element = self.ty(slot.ty);
            let zero = self.zero(slot.ty);
            let array = self.s.type_array(element, slot.len);
            let init = self.s.composite(array, &vec![zero; slot.len as usize]);
            let pointer = self.s.local(array, Some(init));
            self.slots.push(pointer);
        }
    }

    fn make_trips(&mut self) {
        let mut loops = false;
        self.body.walk(self.body.root(), &mut |i| {
            loops |= matches!(self.body.inst(i).op, IrOp::Loop) && !self.uncounted.contains(&i);
        });
        if loops {
            let (u32, bool) = (self.s.type_u32(), self.s.type_bool());
            let (zero, no) = (self.s.u32(0), self.s.bool(false));
            let most = self.s.u32(!abi::TRIPS_RESUME);
            let max = self.s.inst(Op::BitwiseAnd, u32, &[self.frame.trips, most]);
            let (count, exhausted) = (self.s.local(u32, Some(zero)), self.s.local(bool, Some(no)));
            self.trips = Some(TripCounter { count, exhausted, max });
        }
    }

    /// A record with lane 3 of an input channel.
    fn carry(&mut self, record: Word, channel: u32) -> Word {
        let u32 = self.s.type_u32();
        let uvec4 = self.s.type_vector(u32, 4);
        let input = self.frame.channel(&mut self.s, channel, None);
        let lane = self.s.extract(u32, input, 3);
        self.s.insert(uvec4, lane, record, 3)
    }

    /// Stores the results and closes the kernel. The first `carried` channels take lane 3 from the input channels.
    pub(super) fn finish(&mut self, results: &[(Value, Word)], carried: u32) {
        let (store, end) = (self.s.id(), self.s.id());
        self.s.selection_merge(end);
        let active = self.frame.active;
        self.s.effect(Op::BranchConditional, &[active, store, end]);
        self.s.block(store);
        let mut next = 0;
        for &(value, word) in results {
            let ty = self.body.ty(value);
            let channel = output_channel(next, carried);
            for (record, i) in self.pack(ty, word).into_iter().zip(0..) {
                let record = if channel + i < carried { self.carry(record, channel + i) } else { record };
                self.frame.store(&mut self.s, channel + i, record);
            }
            next = channel + channels(ty);
        }
        if let Some(trips) = self.trips {
            let (bool, count, past) = (self.s.type_bool(), self.s.id(), self.s.id());
            let exhausted = self.s.load(bool, trips.exhausted);
            // What an empty slot computes is of no interest.
            let occupied = self.occupied();
            let exhausted = self.s.inst(Op::LogicalAnd, bool, &[exhausted, occupied]);
            self.s.selection_merge(past);
            self.s.effect(Op::BranchConditional, &[exhausted, count, past]);
            self.s.block(count);
            self.frame.count(&mut self.s, abi::STATUS_LOOP_TRIPS);
            self.s.branch(past);
            self.s.block(past);
        }
        self.store_marks();
        self.s.branch(end);
        self.s.block(end);
        self.s.effect(Op::Return, &[]);
        self.s.end_function();
        self.interface.append(&mut self.imports.variables);
        self.s.entry_point(self.main, &self.interface, LOCAL_SIZE);
    }

    /// The finished words.
    pub(super) fn assemble(self) -> Vec<u32> {
        self.s.assemble()
    }

    /// The id of a value.
    pub(super) fn value(&self, value: Value) -> Word {
        self.values[value.0 as usize]
    }

    fn set(&mut self, values: &[Value], words: &[Word]) {
        for (value, &word) in values.iter().zip(words) {
            self.values[value.0 as usize] = word;
        }
    }

    fn get(&self, values: &[Value]) -> Vec<Word> {
        values.iter().map(|&v| self.value(v)).collect()
    }

    /// The SPIR-V type of a machine type. A matrix is four columns, which hold the rows of RI.
    pub(super) fn ty(&mut self, ty: MachineType) -> Word {
        match ty {
            MachineType::Bool => self.s.type_bool(),
            MachineType::U32 | MachineType::Str => self.s.type_u32(),
            MachineType::F32 => self.s.type_f32(),
            MachineType::Vec3 => {
                let f32 = self.s.type_f32();
                self.s.type_vector(f32, 3)
            }
            MachineType::Mat4 => self.s.type_matrix(),
        }
    }

    /// Pointer to an element of a local array.
    pub(super) fn slot_element(&mut self, slot: usize, index: Word) -> Word {
        self.element_of(self.slots[slot], slot, index)
    }

    /// Pointer to an element of a local array, or of a copy of it.
    pub(super) fn element_of(&mut self, array: Word, slot: usize, index: Word) -> Word {
        let element = self.ty(self.body.slots()[slot].ty);
        self.element_pointer(array, element, index)
    }

    /// Pointer to an element, of this type, of an array.
    pub(super) fn element_pointer(&mut self, array: Word, element: Word, index: Word) -> Word {
        let pointer = self.s.type_pointer(StorageClass::Function, element);
        self.s.inst(Op::AccessChain, pointer, &[array, index])
    }

    /// A record: loaded once in the region where it is first needed, seen by all regions below.
    pub(super) fn record(&mut self, place: RecordKey) -> Word {
        if let Some(&word) = self.records.iter().rev().find_map(|scope| scope.get(&place)) {
            return word;
        }
        let word = match place {
            RecordKey::Record(buffer, base, record) => self.frame.record(&mut self.s, buffer, base, record),
            RecordKey::Channel(channel, further) => self.frame.channel(&mut self.s, channel, further),
        };
        self.records.last_mut().expect("the root's scope is open").insert(place, word);
        word
    }

    /// Writes a region at the end of the kernel so far; returns what it yields.
    pub(super) fn region(&mut self, region: Region) -> Result<Vec<Word>, EmitError> {
        let body = self.body;
        for step in steps(body, &body.region(region).insts) {
            match step {
                Step::One(inst) => {
                    let results = self.inst(inst)?;
                    self.set(&body.inst(inst).results, &results);
                }
                Step::Lookups(lookup, insts) => {
                    let args: Vec<_> = insts.iter().map(|&inst| self.get(&body.inst(inst).args)).collect();
                    let found = self.lookups(lookup, &args)?;
                    insts.iter().zip(found).for_each(|(&inst, word)| self.set(&body.inst(inst).results, &[word]));
                }
            }
        }
        Ok(self.get(&body.region(region).results))
    }

    /// The same in a scope of its own.
    fn scoped_region(&mut self, region: Region) -> Result<Vec<Word>, EmitError> {
        self.records.push(FxHashMap::default());
        let results = self.region(region);
        self.records.pop();
        results
    }

    fn inst(&mut self, inst: Inst) -> Result<Vec<Word>, EmitError> {
        let data = self.body.inst(inst);
        match &data.op {
            IrOp::If => {
                let (yes, no) = (self.s.id(), self.s.id());
                let merge = self.s.id();
                let cond = self.value(data.args[0]);
                self.s.selection_merge(merge);
                self.s.effect(Op::BranchConditional, &[cond, yes, no]);
                self.branches(inst, &[yes, no], merge)
            }
            IrOp::Switch => {
                let labels: Vec<_> = data.regions.iter().map(|_| self.s.id()).collect();
                let merge = self.s.id();
                let selector = self.value(data.args[0]);
                let (default, cases) = labels.split_last().expect("a switch has a default");
                self.s.selection_merge(merge);
                self.s.switch(selector, *default, cases);
                self.branches(inst, &labels, merge)
            }
            IrOp::Loop if self.is_cheap(data.regions[0]) => self.rotated_loop(inst),
            IrOp::Loop => self.plain_loop(inst),
            IrOp::Derivatives(items) => {
                self.stop_together();
                Ok(self.derivatives(items, &data.args))
            }
            IrOp::Any => {
                let mut cond = self.value(data.args[0]);
                match self.limit_vote.take() {
                    Some(trips) if !self.saved.is_empty() => return Ok(vec![self.go_together(trips, cond)]),
                    Some(trips) => cond = self.within_budget(trips, cond),
                    None => self.stop_together(),
                }
                Ok(vec![self.any(cond)])
            }
            _ => self.operation(inst),
        }
    }

    /// Writes the regions of a selection under their labels, and joins them.
    fn branches(&mut self, inst: Inst, labels: &[Word], merge: Word) -> Result<Vec<Word>, EmitError> {
        let data = self.body.inst(inst);
        let mut ends = Vec::new();
        for (&label, &region) in labels.iter().zip(&data.regions) {
            self.s.block(label);
            let results = self.scoped_region(region)?;
            ends.push((results, self.s.at()));
            self.s.branch(merge);
        }
        self.s.block(merge);
        let mut joined = Vec::new();
        for (i, &result) in data.results.iter().enumerate() {
            let from: Vec<_> = ends.iter().map(|(results, block)| (results[i], *block)).collect();
            let ty = self.ty(self.body.ty(result));
            joined.push(self.s.phi(ty, &from));
        }
        Ok(joined)
    }

    /// Whether a condition is worth evaluating in two places, before the loop and at its end: CPU drivers run every
    /// iteration of a loop to its end, also the one whose condition is false at the top.
    fn is_cheap(&self, condition: Region) -> bool {
        let insts = &self.body.region(condition).insts;
        insts.len() <= 32 && insts.iter().all(|&i| !self.is_dear(i))
    }

    fn is_dear(&self, inst: Inst) -> bool {
        let op = &self.body.inst(inst).op;
        op.has_regions() || super::ops::is_library_call(op)
    }

    fn loop_control(&self, inst: Inst) -> LoopControl {
        let mut dear = false;
        for &region in &self.body.inst(inst).regions {
            self.body.walk(region, &mut |i| dear |= super::ops::is_library_call(&self.body.inst(i).op));
        }
        if dear { LoopControl::DONT_UNROLL } else { LoopControl::NONE }
    }

    /// `if (condition) do { body } while (condition)`
    fn rotated_loop(&mut self, inst: Inst) -> Result<Vec<Word>, EmitError> {
        let body = self.body;
        let data = body.inst(inst);
        let (condition, inner) = (data.regions[0], data.regions[1]);
        let carried = &body.region(condition).params;
        // What the body sees of the condition: its parameters, and what it defined.
        let mut seen = carried.clone();
        let defined = body.region(condition).insts.iter().flat_map(|&i| &body.inst(i).results);
        seen.extend(defined.filter(|v| self.is_used(inner, **v)));

        let (init, stopped) = self.enter_loop(inst, self.get(&data.args));
        self.set(carried, &init);
        let first = self.loop_condition(inst, condition)?;
        let before = self.get(&seen);
        let entry = self.s.at();
        let [preheader, header, work, next, exit, merge] = std::array::from_fn(|_| self.s.id());
        self.s.selection_merge(merge);
        self.s.effect(Op::BranchConditional, &[first, preheader, merge]);
        self.s.block(preheader);
        self.s.branch(header);
        self.s.block(header);
        let mut phis = Vec::new();
        for (&value, &word) in seen.iter().zip(&before) {
            let ty = self.ty(body.ty(value));
            phis.push(self.s.phi(ty, &[(word, preheader)]));
        }
        self.set(&seen, &phis);
        let control = self.loop_control(inst);
        self.s.loop_merge(exit, next, control);
        self.s.branch(work);
        self.s.block(work);
        self.records.push(FxHashMap::default());
        self.count_trip(inst)?;
        self.begin_trip(inst);
        let results = self.region(inner)?;
        let results = self.end_trip(inst, &phis[..carried.len()], results);
        self.set(carried, &results);
        let again = self.loop_condition(inst, condition)?;
        self.records.pop();
        let last = self.s.at();
        self.s.effect(Op::BranchConditional, &[again, next, exit]);
        self.s.block(next);
        self.s.branch(header);
        for (&phi, word) in phis.iter().zip(self.get(&seen)) {
            self.s.extend_phi(phi, word, next);
        }
        self.s.block(exit);
        let ended = self.joined_types(&data.results);
        let from_loop: Vec<_> =
            ended.iter().zip(&results).map(|(&ty, &word)| self.s.phi(ty, &[(word, last)])).collect();
        self.s.branch(merge);
        self.s.block(merge);
        let all = ended.iter().zip(from_loop.iter().zip(&init));
        let ended: Vec<_> =
            all.map(|(&ty, (&looped, &init))| self.s.phi(ty, &[(init, entry), (looped, exit)])).collect();
        self.leave_loop(inst, stopped, &ended);
        Ok(ended)
    }

    fn joined_types(&mut self, values: &[Value]) -> Vec<Word> {
        values.iter().map(|&v| self.ty(self.body.ty(v))).collect()
    }

    /// `loop { if (!condition) break; body }`
    fn plain_loop(&mut self, inst: Inst) -> Result<Vec<Word>, EmitError> {
        let body = self.body;
        let data = body.inst(inst);
        let (condition, inner) = (data.regions[0], data.regions[1]);
        let carried = &body.region(condition).params;
        let (init, stopped) = self.enter_loop(inst, self.get(&data.args));
        let entry = self.s.at();
        let [header, test, work, next, merge] = std::array::from_fn(|_| self.s.id());
        self.s.branch(header);
        self.s.block(header);
        let types = self.joined_types(carried);
        let phis: Vec<_> = types.iter().zip(&init).map(|(&ty, &word)| self.s.phi(ty, &[(word, entry)])).collect();
        self.set(carried, &phis);
        let control = self.loop_control(inst);
        self.s.loop_merge(merge, next, control);
        self.s.branch(test);
        self.s.block(test);
        self.records.push(FxHashMap::default());
        self.begin_trip(inst);
        let go = self.loop_condition(inst, condition)?;
        self.s.effect(Op::BranchConditional, &[go, work, merge]);
        self.s.block(work);
        self.count_trip(inst)?;
        let results = self.region(inner)?;
        let results = self.end_trip(inst, &phis, results);
        self.records.pop();
        self.s.branch(next);
        self.s.block(next);
        self.s.branch(header);
        for (&phi, &word) in phis.iter().zip(&results) {
            self.s.extend_phi(phi, word, next);
        }
        self.s.block(merge);
        self.leave_loop(inst, stopped, &phis);
        Ok(phis)
    }

    /// Writes a loop's condition, cut by the budget of trips. Where the condition is a vote, the budget cuts the
    /// ballot, so that the workgroup stays together.
    fn loop_condition(&mut self, inst: Inst, condition: Region) -> Result<Word, EmitError> {
        self.begin_test(inst);
        let trips = self.trips.filter(|_| !self.uncounted.contains(&inst));
        let test = self.body.region(condition).results[0];
        if self.body.def_inst(test).is_some_and(|d| d.op == IrOp::Any) {
            self.limit_vote = trips;
            return Ok(self.region(condition)?[0]);
        }
        let go = self.region(condition)?[0];
        let Some(trips) = trips else { return Ok(go) };
        let go = self.unless_empty(go);
        Ok(self.within_budget(trips, go))
    }

    /// `go`, as long as there are trips left; notes when that is what ends a loop.
    pub(super) fn within_budget(&mut self, trips: TripCounter, go: Word) -> Word {
        let (u32, bool, max) = (self.s.type_u32(), self.s.type_bool(), trips.max);
        let count = self.s.load(u32, trips.count);
        let left = self.s.inst(Op::ULessThan, bool, &[count, max]);
        let none = self.s.inst(Op::LogicalNot, bool, &[left]);
        let cut = self.s.inst(Op::LogicalAnd, bool, &[go, none]);
        let exhausted = self.s.load(bool, trips.exhausted);
        let exhausted = self.s.inst(Op::LogicalOr, bool, &[exhausted, cut]);
        self.s.effect(Op::Store, &[trips.exhausted, exhausted]);
        self.s.inst(Op::LogicalAnd, bool, &[go, left])
    }

    /// Whether the slot has a grid.
    pub(super) fn occupied(&mut self) -> Word {
        let (bool, zero) = (self.s.type_bool(), self.s.u32(0));
        self.s.inst(Op::INotEqual, bool, &[self.frame.nu, zero])
    }

    /// In a resumable kernel, a loop's condition without empty slots: they would loop for ever.
    pub(super) fn unless_empty(&mut self, go: Word) -> Word {
        if self.saved.is_empty() {
            return go;
        }
        let (bool, occupied) = (self.s.type_bool(), self.occupied());
        self.s.inst(Op::LogicalAnd, bool, &[go, occupied])
    }

    /// Counts a trip that begins, those that lookups in it make in any case, and those that they have made since the
    /// last one was counted.
    fn count_trip(&mut self, inst: Inst) -> Result<(), EmitError> {
        let (Some(trips), false) = (self.trips, self.uncounted.contains(&inst)) else { return Ok(()) };
        let mut idle = 0;
        self.body.walk_inst(inst, &mut |i| idle += self.body.inst(i).op.idle_trips());
        let (u32, made) = (self.s.type_u32(), self.s.u32(1 + idle));
        let count = self.s.load(u32, trips.count);
        let mut count = self.s.inst(Op::IAdd, u32, &[count, made]);
        if idle > 0 {
            let inside = self.call("rsl_take_trips", u32, &[])?;
            count = self.s.inst(Op::IAdd, u32, &[count, inside]);
        }
        self.s.effect(Op::Store, &[trips.count, count]);
        Ok(())
    }

    /// Whether a value is used in a region or below.
    fn is_used(&self, region: Region, value: Value) -> bool {
        let data = self.body.region(region);
        data.results.contains(&value)
            || data.insts.iter().any(|&i| {
                let inst = self.body.inst(i);
                inst.args.contains(&value) || inst.regions.iter().any(|&r| self.is_used(r, value))
            })
    }
}
