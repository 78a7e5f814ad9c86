//! Loops that stop when the trips of a dispatch are used up, and go on in the next one ([`crate::passes::SavedLoops`]).
//!
//! An invocation that has stopped runs on to the end of the kernel, because others may wait for it at a barrier; its
//! loops end at once, and what it computes is not used. Points that exchange values stop together: before each exchange
//! they vote, and if one of them has stopped, all have.

use super::emitter::{ArrayCopy, Emitter, Suspension, TripCounter};
use super::exchange::when;
use super::kernel::{unpack, unpack_row};
use super::options::StopRecord;
use crate::abi;
use crate::ir::{Inst, MachineType, Op as IrOp, Slot};
use crate::passes::SavedLoop;
use rspirv::spirv::{Op, Word};

impl Emitter<'_> {
    /// Writes what must be at the start of the kernel.
    pub(super) fn begin_suspension(&mut self) {
        if self.saved.is_empty() && !self.stop.is_some_and(StopRecord::stops_here) {
            return;
        }
        let mut together = false;
        self.body.walk(self.body.root(), &mut |i| {
            together |= matches!(self.body.inst(i).op, IrOp::Derivatives(_) | IrOp::Any);
        });
        let (u32, bool, zero) = (self.s.type_u32(), self.s.type_bool(), self.s.u32(0));
        let resume = self.s.u32(abi::TRIPS_RESUME);
        let resume = self.s.inst(Op::BitwiseAnd, u32, &[self.frame.trips, resume]);
        let resume = self.s.inst(Op::INotEqual, bool, &[resume, zero]);
        let mut marks = Vec::new();
        for number in 0..self.saved.marks() {
            let record = self.frame.load_state(&mut self.s, self.saved.first() + number / 4);
            let word = self.s.extract(u32, record, number % 4);
            let word = self.s.inst(Op::Select, u32, &[resume, word, zero]);
            let mark = self.s.local(u32, None);
            self.s.effect(Op::Store, &[mark, word]);
            marks.push(mark);
        }
        self.suspension = Suspension { marks, together, ..Suspension::default() };
    }

    /// Stores which loops are saved, in the open block that only vertices come to.
    pub(super) fn store_marks(&mut self) {
        let (u32, zero) = (self.s.type_u32(), self.s.u32(0));
        let marks = self.suspension.marks.clone();
        for (four, record) in marks.chunks(4).zip(self.saved.first()..) {
            let mut words: Vec<Word> = four.iter().map(|&mark| self.s.load(u32, mark)).collect();
            words.resize(4, zero);
            self.store_record(record, &words);
        }
    }

    /// Returns the values with which a loop begins, where `init` is what the program gives it, and whether the
    /// invocation had stopped before, or `None` for loops that are not saved.
    pub(super) fn enter_loop(&mut self, inst: Inst, init: Vec<Word>) -> (Vec<Word>, Option<Word>) {
        let Some((saved, trips)) = self.saved_loop(inst) else { return (init, None) };
        let bool = self.s.type_bool();
        let stopped = self.s.load(bool, trips.exhausted);
        let (u32, zero, bit) = (self.s.type_u32(), self.s.u32(0), self.s.u32(1 << (saved.number % 32)));
        let marks = self.s.load(u32, self.suspension.marks[saved.number as usize / 32]);
        let mark = self.s.inst(Op::BitwiseAnd, u32, &[marks, bit]);
        let marked = self.s.inst(Op::INotEqual, bool, &[mark, zero]);
        let (restore, begin) = (self.s.id(), self.s.id());
        let before = self.s.at();
        self.s.selection_merge(begin);
        self.s.effect(Op::BranchConditional, &[marked, restore, begin]);
        self.s.block(restore);
        // What leads to where it goes on costs nothing, so that however few trips a dispatch has, it makes one.
        let made = self.s.load(u32, trips.count);
        let made = self.s.inst(Op::Select, u32, &[stopped, made, zero]);
        self.s.effect(Op::Store, &[trips.count, made]);
        let types: Vec<MachineType> = self.body.inst(inst).results.iter().map(|&v| self.body.ty(v)).collect();
        let mut reader = StateReader { next: saved.record * 4, record: None };
        let restored: Vec<Word> = types.iter().map(|&ty| reader.read(self, ty)).collect();
        for (slot, at, ty) in self.elements(&saved) {
            let value = reader.read(self, ty);
            let element = self.slot_at(slot, at);
            self.s.effect(Op::Store, &[element, value]);
        }
        self.s.branch(begin);
        self.s.block(begin);
        let both = types.iter().zip(init.iter().zip(&restored));
        let joined = both.map(|(&ty, (&init, &restored))| {
            let ty = self.ty(ty);
            self.s.phi(ty, &[(init, before), (restored, restore)])
        });
        (joined.collect(), Some(stopped))
    }

    /// Saves a loop that was left, unless the invocation had `stopped` before it came to it.
    pub(super) fn leave_loop(&mut self, inst: Inst, stopped: Option<Word>, values: &[Word]) {
        let (Some((saved, _)), Some(stopped)) = (self.saved_loop(inst), stopped) else { return };
        let (u32, bool) = (self.s.type_u32(), self.s.type_bool());
        let went = self.s.inst(Op::LogicalNot, bool, &[stopped]);
        let went = self.s.inst(Op::LogicalAnd, bool, &[went, self.frame.active]);
        let (save, past) = (self.s.id(), self.s.id());
        self.s.selection_merge(past);
        self.s.effect(Op::BranchConditional, &[went, save, past]);
        self.s.block(save);
        let results = &self.body.inst(inst).results;
        let mut words = Vec::new();
        for (&result, &value) in results.iter().zip(values) {
            self.words_of(self.body.ty(result), value, &mut words);
        }
        for (slot, at, ty) in self.elements(&saved) {
            let kept = self.suspension.copies.get(&ArrayCopy::OfTest(inst, slot)).copied();
            let element = match kept {
                Some(array) => {
                    let index = self.s.u32(at);
                    self.element_of(array, slot.0 as usize, index)
                }
                None => self.slot_at(slot, at),
            };
            let ty_word = self.ty(ty);
            let value = self.s.load(ty_word, element);
            self.words_of(ty, value, &mut words);
        }
        let zero = self.s.u32(0);
        for (four, record) in words.chunks(4).zip(saved.record..) {
            let mut four = four.to_vec();
            four.resize(4, zero);
            self.store_record(record, &four);
        }
        let (mark, bit) = (self.suspension.marks[saved.number as usize / 32], self.s.u32(1 << (saved.number % 32)));
        let marks = self.s.load(u32, mark);
        let marks = self.s.inst(Op::BitwiseOr, u32, &[marks, bit]);
        self.s.effect(Op::Store, &[mark, marks]);
        self.s.branch(past);
        self.s.block(past);
    }

    /// Keeps the arrays with which a trip begins, if it may stop in the middle.
    pub(super) fn begin_trip(&mut self, inst: Inst) {
        let Some((saved, _)) = self.saved_loop(inst).filter(|(saved, _)| !saved.inner.is_empty()) else { return };
        for slot in saved.slots {
            self.keep(ArrayCopy::OfTrip(inst, slot), slot);
        }
    }

    /// Keeps the arrays that a loop's condition is about to write.
    pub(super) fn begin_test(&mut self, inst: Inst) {
        let Some((saved, _)) = self.saved_loop(inst) else { return };
        for slot in saved.tested {
            self.keep(ArrayCopy::OfTest(inst, slot), slot);
        }
    }

    fn keep(&mut self, copy: ArrayCopy, slot: Slot) {
        let array = self.slot_type(slot);
        let known = self.suspension.copies.get(&copy).copied();
        let kept = known.unwrap_or_else(|| self.s.local(array, None));
        self.suspension.copies.insert(copy, kept);
        let now = self.s.load(array, self.slots[slot.0 as usize]);
        self.s.effect(Op::Store, &[kept, now]);
    }

    /// Returns the values that a trip leaves: those with which it `began`, where it stopped in the middle.
    pub(super) fn end_trip(&mut self, inst: Inst, began: &[Word], results: Vec<Word>) -> Vec<Word> {
        let Some((saved, trips)) = self.saved_loop(inst).filter(|(saved, _)| !saved.inner.is_empty()) else {
            return results;
        };
        let test = self.body.region(self.body.inst(inst).regions[0]).results[0];
        if self.body.def_inst(test).is_some_and(|d| d.op == IrOp::Any) {
            self.stop_together();
        }
        let bool = self.s.type_bool();
        let stopped = self.s.load(bool, trips.exhausted);
        let [back, on, past] = std::array::from_fn(|_| self.s.id());
        self.s.selection_merge(past);
        self.s.effect(Op::BranchConditional, &[stopped, back, on]);
        self.s.block(back);
        for &slot in &saved.slots {
            let array = self.slot_type(slot);
            let kept = self.s.load(array, self.suspension.copies[&ArrayCopy::OfTrip(inst, slot)]);
            self.s.effect(Op::Store, &[self.slots[slot.0 as usize], kept]);
        }
        self.s.branch(past);
        self.s.block(on);
        self.forget(&saved);
        self.s.branch(past);
        self.s.block(past);
        let types: Vec<MachineType> = self.body.inst(inst).results.iter().map(|&v| self.body.ty(v)).collect();
        let both = types.iter().zip(began.iter().zip(&results));
        both.map(|(&ty, (&began, &result))| {
            let ty = self.ty(ty);
            self.s.phi(ty, &[(began, back), (result, on)])
        })
        .collect()
    }

    /// Takes the marks from the loops inside a loop, whose trip is over.
    fn forget(&mut self, saved: &SavedLoop) {
        let u32 = self.s.type_u32();
        for (mark, word) in self.suspension.marks.clone().into_iter().zip(0..) {
            let inner = saved.inner.clone().filter(|number| number / 32 == word);
            let bits = inner.fold(0, |bits: u32, number| bits | 1 << (number % 32));
            if bits != 0 {
                let (marks, others) = (self.s.load(u32, mark), self.s.u32(!bits));
                let marks = self.s.inst(Op::BitwiseAnd, u32, &[marks, others]);
                self.s.effect(Op::Store, &[mark, marks]);
            }
        }
    }

    /// Before an exchange: if one point of the workgroup has stopped, all have.
    pub(super) fn stop_together(&mut self) {
        let Some(trips) = self.trips.filter(|_| self.suspension.together) else { return };
        let bool = self.s.type_bool();
        let stopped = self.s.load(bool, trips.exhausted);
        self.vote_to_stop(trips, stopped);
    }

    /// Writes a loop's condition that is a vote: points go on as long as `cond` holds for any of them and none has
    /// stopped.
    pub(super) fn go_together(&mut self, trips: TripCounter, cond: Word) -> Word {
        let (bool, cond) = (self.s.type_bool(), self.unless_empty(cond));
        self.within_budget(trips, cond);
        let stopped = self.s.load(bool, trips.exhausted);
        let any = self.vote_to_stop(trips, stopped);
        let none = self.s.inst(Op::LogicalNot, bool, &[any]);
        let go = self.s.inst(Op::LogicalAnd, bool, &[cond, none]);
        self.any(&[go])[0]
    }

    /// Stops all points if one has stopped, so that none has trips left, and returns whether it did.
    fn vote_to_stop(&mut self, trips: TripCounter, stopped: Word) -> Word {
        let any = self.any(&[stopped])[0];
        let yes = self.s.bool(true);
        when(&mut self.s, any, |s| {
            s.effect(Op::Store, &[trips.exhausted, yes]);
            s.effect(Op::Store, &[trips.count, trips.max]);
        });
        any
    }

    fn saved_loop(&self, inst: Inst) -> Option<(SavedLoop, TripCounter)> {
        self.saved.get(inst).cloned().zip(self.trips)
    }

    /// Returns the elements of the arrays that a loop writes.
    fn elements(&self, saved: &SavedLoop) -> Vec<(Slot, u32, MachineType)> {
        let slots = saved.slots.iter().map(|&slot| (slot, self.body.slot(slot)));
        slots.flat_map(|(slot, data)| (0..data.len).map(move |at| (slot, at, data.ty))).collect()
    }

    fn slot_at(&mut self, slot: Slot, at: u32) -> Word {
        let index = self.s.u32(at);
        self.slot_element(slot.0 as usize, index)
    }

    fn slot_type(&mut self, slot: Slot) -> Word {
        let data = self.body.slot(slot).clone();
        let element = self.ty(data.ty);
        self.s.type_array(element, data.len)
    }

    pub(super) fn store_record(&mut self, record: u32, words: &[Word]) {
        let u32 = self.s.type_u32();
        let uvec4 = self.s.type_vector(u32, 4);
        let words = self.s.inst(Op::CompositeConstruct, uvec4, words);
        self.frame.store_state(&mut self.s, record, words);
    }

    /// Appends the words of a value.
    pub(super) fn words_of(&mut self, ty: MachineType, value: Word, words: &mut Vec<Word>) {
        let (u32, f32) = (self.s.type_u32(), self.s.type_f32());
        let vec4 = self.s.type_vector(f32, 4);
        let floats: Vec<Word> = match ty {
            MachineType::Bool => {
                let (zero, one) = (self.s.u32(0), self.s.u32(1));
                words.push(self.s.inst(Op::Select, u32, &[value, one, zero]));
                return;
            }
            MachineType::U32 | MachineType::Str => {
                words.push(value);
                return;
            }
            MachineType::F32 => vec![value],
            MachineType::Vec3 => (0..3).map(|i| self.s.extract(f32, value, i)).collect(),
            MachineType::Mat4 => {
                let rows: Vec<Word> = (0..4).map(|i| self.s.extract(vec4, value, i)).collect();
                rows.iter().flat_map(|&row| [0, 1, 2, 3].map(|i| self.s.extract(f32, row, i))).collect()
            }
        };
        words.extend(floats.iter().map(|&float| self.s.inst(Op::Bitcast, u32, &[float])));
    }
}

/// Reads what was saved, word after word.
struct StateReader {
    next: u32,
    record: Option<(u32, Word)>,
}

impl StateReader {
    fn word(&mut self, emitter: &mut Emitter<'_>) -> Word {
        let (number, lane) = (self.next / 4, self.next % 4);
        self.next += 1;
        let record = match self.record {
            Some((loaded, record)) if loaded == number => record,
            _ => emitter.frame.load_state(&mut emitter.s, number),
        };
        self.record = Some((number, record));
        let u32 = emitter.s.type_u32();
        emitter.s.extract(u32, record, lane)
    }

    fn four(&mut self, emitter: &mut Emitter<'_>, count: usize) -> Word {
        let u32 = emitter.s.type_u32();
        let uvec4 = emitter.s.type_vector(u32, 4);
        let mut words: Vec<Word> = (0..count).map(|_| self.word(emitter)).collect();
        words.resize(4, words[0]);
        emitter.s.inst(Op::CompositeConstruct, uvec4, &words)
    }

    fn read(&mut self, emitter: &mut Emitter<'_>, ty: MachineType) -> Word {
        match ty {
            MachineType::Bool => {
                let (bool, zero) = (emitter.s.type_bool(), emitter.s.u32(0));
                let word = self.word(emitter);
                emitter.s.inst(Op::INotEqual, bool, &[word, zero])
            }
            MachineType::Mat4 => {
                let rows: Vec<Word> = (0..4)
                    .map(|_| {
                        let row = self.four(emitter, 4);
                        unpack_row(&mut emitter.s, row)
                    })
                    .collect();
                let matrix = emitter.s.type_matrix();
                emitter.s.inst(Op::CompositeConstruct, matrix, &rows)
            }
            ty => {
                let record = self.four(emitter, ty.words() as usize);
                unpack(&mut emitter.s, record, 0, ty)
            }
        }
    }
}
