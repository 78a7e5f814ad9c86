//! Numbers what `printf` prints and `bake3d` bakes, so that the records of a point can be put in order, and repeats be
//! recognised.
//!
//! The number is kept in a local array of one element, which loops that stop and go on save as they save any other.

use super::translate::{BodyWriter, Rules, Translator, translate};
use crate::ir::{Binary, Body, Inst, MachineType, Op, Slot, Value};

/// Whether a program prints or bakes.
pub fn prints(body: &Body) -> bool {
    let mut found = false;
    body.walk(body.root(), &mut |inst| found |= body.inst(inst).op.record().is_some());
    found
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
