//! A kernel that is being written: its beginning and end, the words of values, the records that it has loaded.

use super::error::EmitError;
use super::exchange::Exchange;
use super::import::{Imports, Library};
use super::kernel::{Interface, KernelIds};
use super::options::{EmitOptions, StopRecord};
use super::spirv::{Assembled, Spirv};
use super::stopwatch::Stopwatch;
use crate::abi::{self, channels, output_channel};
use crate::ir::{Body, Buffer, Inst, MachineType, Op as IrOp, Slot, Value};
use crate::passes::{SavedLoops, Stored, uncounted_loops};
use rspirv::spirv::{Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

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
    pub(super) records: Vec<FxHashMap<RecordKey, Word>>,
    /// Pointers to the local arrays.
    pub(super) slots: Vec<Word>,
    pub(super) trips: Option<TripCounter>,
    /// The next vote is a loop's condition, and ends with the budget of trips.
    pub(super) limit_vote: Option<TripCounter>,
    pub(super) uncounted: FxHashSet<Inst>,
    /// Loops that stop and go on in another dispatch.
    pub(super) saved: SavedLoops,
    pub(super) suspension: Suspension,
    /// Where passes leave for each other that a vertex has stopped.
    pub(super) stop: Option<StopRecord>,
    /// Counts what lines cost.
    pub(super) stopwatch: Option<Stopwatch>,
    /// Whether it is marked what debuggers are to know.
    pub(super) marks: bool,
}

/// A record in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum RecordKey {
    /// Of a buffer: base, and number from there.
    Record(Buffer, Word, u32),
    /// Of this vertex: channel, and further channels.
    Channel(u32, Option<Word>),
    /// Of this vertex: a channel in which passes save values.
    Saved(u32),
}

/// Counts loop trips ([`abi::Push::trips`]).
#[derive(Clone, Copy)]
pub(super) struct TripCounter {
    pub(super) count: Word,
    pub(super) exhausted: Word,
    pub(super) max: Word,
    /// Whether an earlier pass had stopped; `None` where there is none that may.
    pub(super) before: Option<Word>,
}

/// What a resumable kernel remembers of its loops while it runs.
#[derive(Default)]
pub(super) struct Suspension {
    /// Words with a bit for each loop that is saved.
    pub(super) marks: Vec<Word>,
    /// Whether points exchange values.
    pub(super) together: bool,
    /// Copies of local arrays.
    pub(super) copies: FxHashMap<ArrayCopy, Word>,
}

/// Why a local array is copied.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ArrayCopy {
    /// A trip of the loop began with it.
    OfTrip(Inst, Slot),
    /// The loop's condition was last evaluated with it.
    OfTest(Inst, Slot),
}

impl<'a> Emitter<'a> {
    /// Opens the kernel.
    pub(super) fn begin(
        body: &'a Body,
        library: &'a Library,
        tokens: &'a dyn Fn(&str) -> u32,
        options: &EmitOptions,
    ) -> Result<Self, EmitError> {
        let (saved, stop) = (options.saved.clone(), options.stop);
        let mut s = Spirv::new();
        let interface = Interface::new(&mut s, options.lines.map(|lines| lines.binding));
        let mut variables = interface.variables();
        let mut exchange = Exchange::new(&mut s, body, !saved.is_empty() || stop.is_some_and(StopRecord::stops_here));
        variables.extend(exchange.variables());
        let void = s.type_void();
        let main = s.begin_function(void, &[]);
        s.name(main, "main");
        let first = s.id();
        s.block(first);
        let frame = KernelIds::begin(&mut s, &interface);
        exchange.begin(&mut s, &frame);
        let stopwatch = options.lines.and_then(|lines| Stopwatch::begin(&mut s, &interface, body, lines));
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
            stop,
            stopwatch,
            marks: options.debug,
        };
        if options.waits_for_tiles {
            this.begin_pass()?;
        }
        this.make_slots();
        this.make_trips();
        this.begin_suspension();
        this.load_early();
        Ok(this)
    }

    /// Ends a pass where an earlier one missed tiles. One that has barriers goes on, and stores nothing.
    fn begin_pass(&mut self) -> Result<(), EmitError> {
        let bool = self.s.type_bool();
        let missed = self.call("rsl_begin_pass", bool, &[self.frame.pass, self.frame.pass_word])?;
        let mut meets = false;
        self.body.walk(self.body.root(), &mut |i| {
            meets |= matches!(self.body.inst(i).op, IrOp::Derivatives(_) | IrOp::Any);
        });
        if meets {
            let goes_on = self.s.inst(Op::LogicalNot, bool, &[missed]);
            self.frame.active = self.s.inst(Op::LogicalAnd, bool, &[self.frame.active, goes_on]);
            return Ok(());
        }
        let (leave, stay) = (self.s.id(), self.s.id());
        self.s.selection_merge(stay);
        self.s.effect(Op::BranchConditional, &[missed, leave, stay]);
        self.s.block(leave);
        self.s.effect(Op::Return, &[]);
        self.s.block(stay);
        Ok(())
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
        let before = self.stop.filter(|stop| stop.reads).map(|stop| stop.channel);
        if !loops && before.is_none() {
            return;
        }
        let (u32, bool) = (self.s.type_u32(), self.s.type_bool());
        let (zero, no) = (self.s.u32(0), self.s.bool(false));
        let most = self.s.u32(!abi::TRIPS_RESUME);
        let max = self.s.inst(Op::BitwiseAnd, u32, &[self.frame.trips, most]);
        let (count, exhausted) = (self.s.local(u32, Some(zero)), self.s.local(bool, Some(no)));
        let before = before.map(|channel| {
            let left = self.frame.load_state(&mut self.s, channel);
            let [made, stopped] = [0, 1].map(|lane| self.s.extract(u32, left, lane));
            let stopped = self.s.inst(Op::INotEqual, bool, &[stopped, zero]);
            self.s.effect(Op::Store, &[count, made]);
            self.s.effect(Op::Store, &[exhausted, stopped]);
            stopped
        });
        self.trips = Some(TripCounter { count, exhausted, max, before });
    }

    /// Leaves for later passes how many trips are made, and whether the vertex has stopped, in the open block that only
    /// vertices come to.
    fn store_stop(&mut self) {
        let (Some(stop), Some(trips)) = (self.stop.filter(|stop| stop.writes), self.trips) else { return };
        let (u32, bool) = (self.s.type_u32(), self.s.type_bool());
        let (zero, one) = (self.s.u32(0), self.s.u32(1));
        let made = self.s.load(u32, trips.count);
        let stopped = self.s.load(bool, trips.exhausted);
        let stopped = self.s.inst(Op::Select, u32, &[stopped, one, zero]);
        self.store_record(stop.channel, &[made, stopped, zero, zero]);
    }

    /// Returns a record with lane 3 of an input channel.
    fn carry(&mut self, record: Word, channel: u32) -> Word {
        let u32 = self.s.type_u32();
        let uvec4 = self.s.type_vector(u32, 4);
        let input = self.frame.channel(&mut self.s, channel, None);
        let lane = self.s.extract(u32, input, 3);
        self.s.insert(uvec4, lane, record, 3)
    }

    /// Stores a result from an output channel on. The first `carried` channels take lane 3 from the input channels.
    fn store_output(&mut self, (value, word): (Value, Word), channel: u32, carried: u32) {
        for (record, channel) in self.pack(self.body.ty(value), word).into_iter().zip(channel..) {
            let record = if channel < carried { self.carry(record, channel) } else { record };
            self.frame.store(&mut self.s, channel, record);
        }
    }

    /// Stores the results where `stored` says; by default one after the other into the output channels.
    fn store_results(&mut self, results: &[(Value, Word)], options: &EmitOptions) {
        let zero = self.s.u32(0);
        let (mut next, mut saved): (u32, BTreeMap<u32, [Word; 4]>) = (0, BTreeMap::new());
        for (at, &(value, word)) in results.iter().enumerate() {
            let ty = self.body.ty(value);
            let stored = options
                .stored
                .as_ref()
                .map_or_else(|| Stored::Output(output_channel(next, options.carried)), |stored| stored[at]);
            match stored {
                Stored::Output(channel) => {
                    self.store_output((value, word), channel, options.carried);
                    next = channel + channels(ty);
                }
                Stored::Saved { channel, lane } => {
                    let mut words = Vec::new();
                    self.words_of(ty, word, &mut words);
                    for (word, place) in words.into_iter().zip(4 * channel + u32::from(lane)..) {
                        saved.entry(place / 4).or_insert([zero; 4])[place as usize % 4] = word;
                    }
                }
            }
        }
        for (channel, words) in saved {
            self.store_record(channel, &words);
        }
    }

    /// Stores the results and closes the kernel.
    pub(super) fn finish(&mut self, results: &[(Value, Word)], options: &EmitOptions) {
        self.count_no_line();
        self.mark_no_place();
        let (store, end) = (self.s.id(), self.s.id());
        self.s.selection_merge(end);
        let active = self.frame.active;
        self.s.effect(Op::BranchConditional, &[active, store, end]);
        self.s.block(store);
        self.store_results(results, options);
        self.store_stop();
        if let Some(trips) = self.trips {
            let (bool, count, past) = (self.s.type_bool(), self.s.id(), self.s.id());
            let exhausted = self.s.load(bool, trips.exhausted);
            // What an empty slot computes is of no interest.
            let occupied = self.occupied();
            let mut exhausted = self.s.inst(Op::LogicalAnd, bool, &[exhausted, occupied]);
            if let Some(before) = trips.before {
                // The pass that stopped has counted it.
                let here = self.s.inst(Op::LogicalNot, bool, &[before]);
                exhausted = self.s.inst(Op::LogicalAnd, bool, &[exhausted, here]);
            }
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
        self.store_counts();
        self.s.effect(Op::Return, &[]);
        self.s.end_function();
        self.interface.append(&mut self.imports.variables);
        self.s.entry_point(self.main, &self.interface, abi::WORKGROUP_SIZE);
    }

    /// Returns the finished words.
    pub(super) fn assemble(self) -> Assembled {
        self.s.assemble(self.body.places())
    }

    /// Returns the id of a value.
    pub(super) fn value(&self, value: Value) -> Word {
        self.values[value.0 as usize]
    }

    pub(super) fn set(&mut self, values: &[Value], words: &[Word]) {
        for (value, &word) in values.iter().zip(words) {
            self.values[value.0 as usize] = word;
        }
    }

    pub(super) fn get(&self, values: &[Value]) -> Vec<Word> {
        values.iter().map(|&v| self.value(v)).collect()
    }

    /// Returns the SPIR-V type of a machine type. A matrix is four columns, which hold the rows of RI.
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

    /// Returns a pointer to an element of a local array.
    pub(super) fn slot_element(&mut self, slot: usize, index: Word) -> Word {
        self.element_of(self.slots[slot], slot, index)
    }

    /// Returns a pointer to an element of a local array, or of a copy of it.
    pub(super) fn element_of(&mut self, array: Word, slot: usize, index: Word) -> Word {
        let element = self.ty(self.body.slots()[slot].ty);
        self.element_pointer(array, element, index)
    }

    /// Returns a pointer to an element, of this type, of an array.
    pub(super) fn element_pointer(&mut self, array: Word, element: Word, index: Word) -> Word {
        let pointer = self.s.type_pointer(StorageClass::Function, element);
        self.s.inst(Op::AccessChain, pointer, &[array, index])
    }

    /// Returns a record: loaded once in the region where it is first needed, seen by all regions below.
    pub(super) fn record(&mut self, place: RecordKey) -> Word {
        if let Some(&word) = self.records.iter().rev().find_map(|scope| scope.get(&place)) {
            return word;
        }
        let word = match place {
            RecordKey::Record(buffer, base, record) => self.frame.record(&mut self.s, buffer, base, record),
            RecordKey::Channel(channel, further) => self.frame.channel(&mut self.s, channel, further),
            RecordKey::Saved(channel) => self.frame.load_state(&mut self.s, channel),
        };
        self.records.last_mut().expect("the root's scope is open").insert(place, word);
        word
    }
}
