//! Numbers what `printf` prints and `bake3d` bakes, so that the records of a point can be put in order, and repeats be
//! recognised.
//!
//! The number is kept in a local array of one element, which loops that stop and go on save as they save any other.

use super::translate::{Rules, Translator, translate};
use super::trips::trip_count;
use super::writer::BodyWriter;
use crate::abi::print::HEAD_WORDS;
use crate::ir::{Binary, Body, Inst, MachineType, Op, Region, Slot, Value};

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
    translate(body, &mut Number { first, counter: None }, false)
}

struct Number {
    first: f32,
    counter: Option<Slot>,
}

impl Number {
    fn counter(&mut self, out: &mut BodyWriter) -> Slot {
        *self.counter.get_or_insert_with(|| out.add_slot(MachineType::F32, 1))
    }
}

impl Rules for Number {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let op = &t.from.inst(inst).op;
        op.record()?;
        let slot = self.counter(t.out);
        let [at, one, first] = [0.0, 1.0, self.first].map(|x: f32| t.out.constant(x));
        let before = t.out.emit(Op::SlotLoad(slot), &[at], &[MachineType::F32])[0];
        let number = t.out.op(Op::Binary(Binary::Add), &[before, first]);
        t.out.emit(op.clone(), &[&[number], args].concat(), &[]);
        let after = t.out.op(Op::Binary(Binary::Add), &[before, one]);
        t.out.emit(Op::SlotStore(slot), &[at, after], &[]);
        Some(Vec::new())
    }
}
