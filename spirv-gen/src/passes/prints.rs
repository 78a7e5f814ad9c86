//! Numbers what `printf` prints and `bake3d` bakes, so that the records of a point can be put in order, and repeats be
//! recognised.
//!
//! What loops and branches print is counted in local arrays of one element, which loops that stop and go on save as
//! they save any other.

use super::translate::{Rules, Translator, translate};
use super::trips::trip_count;
use super::writer::BodyWriter;
use crate::abi::print::HEAD_WORDS;
use crate::ir::{Binary, Body, Inst, MachineType, Op, Region, Slot, Value};
use rustc_hash::FxHashMap;

/// Returns whether a program prints or bakes.
pub fn prints(body: &Body) -> bool {
    let mut found = false;
    body.walk(body.root(), &mut |inst| found |= body.inst(inst).op.record().is_some());
    found
}

/// Returns the words of the records that a numbered program leaves at a point: those of `printf` and of loops whose
/// trips are not known count once. What is baked must be kept to the last point, but of what is printed only the
/// beginning is.
pub fn print_words(body: &Body) -> u32 {
    u32::try_from(words_in(body, body.root(), 1)).unwrap_or(u32::MAX)
}

/// Returns the words of a region that is run `times` times.
fn words_in(body: &Body, region: Region, times: u64) -> u64 {
    let words_of = |&inst: &Inst| {
        let data = body.inst(inst);
        let trips = if data.op == Op::Loop { trip_count(body, inst).unwrap_or(1).max(1) } else { 1 };
        let inner = data.regions.iter().map(|&region| words_in(body, region, times.saturating_mul(trips)));
        let below = inner.fold(0, u64::saturating_add);
        if data.op.record().is_none() {
            return below;
        }
        let values: u64 = data.args.iter().skip(1).map(|&value| u64::from(body.ty(value).words())).sum();
        (HEAD_WORDS as u64 + values).saturating_mul(if matches!(data.op, Op::Bake(_)) { times } else { 1 })
    };
    body.region(region).insts.iter().map(words_of).fold(0, u64::saturating_add)
}

/// Gives each `printf` and `bake3d` a first argument: how many were executed before it at this point, plus `first`.
pub fn number_prints(body: &Body, first: f32) -> Body {
    let mut owners = FxHashMap::default();
    for &owner in &body.region(body.root()).insts {
        body.walk_inst(owner, &mut |inner| _ = owners.insert(inner, owner));
    }
    translate(body, &mut Number { first, owners, next: None, counter: None }, false)
}

/// Numbers are values of the root region. Only what is below an instruction of it is counted in an array, which is that
/// instruction's own, so that a program can be cut between two of them.
struct Number {
    first: f32,
    /// For each instruction the one of the root region that owns it, which may be itself.
    owners: FxHashMap<Inst, Inst>,
    /// The number of the next record behind the last instruction that is finished.
    next: Option<Value>,
    /// The instruction at work, and the array in which its records are counted.
    counter: Option<(Inst, Slot)>,
}

impl Number {
    /// Returns the number of the next record, before which the instruction at work is finished.
    fn next(&mut self, out: &mut BodyWriter) -> Value {
        let inner = out.leave(1);
        let mut next = self.next.unwrap_or_else(|| out.constant(self.first));
        if let Some((_, slot)) = self.counter.take() {
            let counted = counted(out, slot);
            next = out.op(Op::Binary(Binary::Add), &[next, counted]);
        }
        out.enter(inner);
        self.next = Some(next);
        next
    }

    /// Returns the number of the first record of an instruction of the root region, and the array in which its records
    /// are counted.
    fn count(&mut self, out: &mut BodyWriter, owner: Inst) -> (Value, Slot) {
        match (self.counter, self.next) {
            (Some((at, slot)), Some(next)) if at == owner => (next, slot),
            _ => {
                let (next, slot) = (self.next(out), out.add_slot(MachineType::F32, 1));
                self.counter = Some((owner, slot));
                (next, slot)
            }
        }
    }
}

/// Returns the number in a counter.
fn counted(out: &mut BodyWriter, slot: Slot) -> Value {
    let at = out.constant(0.0);
    out.emit(Op::SlotLoad(slot), &[at], &[MachineType::F32])[0]
}

impl Rules for Number {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let op = &t.from.inst(inst).op;
        op.record()?;
        let (owner, one) = (self.owners[&inst], t.out.constant(1.0));
        if owner == inst {
            let next = self.next(t.out);
            t.out.emit(op.clone(), &[&[next], args].concat(), &[]);
            self.next = Some(t.out.op(Op::Binary(Binary::Add), &[next, one]));
            return Some(Vec::new());
        }
        let (next, slot) = self.count(t.out, owner);
        let (at, before) = (t.out.constant(0.0), counted(t.out, slot));
        let number = t.out.op(Op::Binary(Binary::Add), &[next, before]);
        t.out.emit(op.clone(), &[&[number], args].concat(), &[]);
        let after = t.out.op(Op::Binary(Binary::Add), &[before, one]);
        t.out.emit(Op::SlotStore(slot), &[at, after], &[]);
        Some(Vec::new())
    }
}
