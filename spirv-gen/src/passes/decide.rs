//! Branches whose conditions a block of values holds: a program for some values of them has only the sides that are
//! taken. It computes the same bits as one that loads them.

use super::dead::remove_dead;
use super::simplify::simplify;
use super::translate::{Rules, Translator, is_dear, translate};
use crate::ir::{Body, Buffer, Builtin, Compare, Const, Inst, InstData, MachineType, Op, Region, Value};

/// Operations that a dear one counts as.
const DEAR_COST: usize = 16;

/// The truth value of a word of the instance's block: its record, its lane, and what it is.
pub(crate) type Decided = (u32, u32, bool);

/// Returns a placed program for some truth values.
pub(crate) fn decide(body: &Body, decided: &[Decided]) -> Body {
    let mut exact = body.clone();
    exact.set_folds_exactly(true);
    let mut body = translate(&exact, &mut Decide { decided }, true);
    remove_dead(&mut body);
    simplify(&body)
}

struct Decide<'a> {
    decided: &'a [Decided],
}

impl Rules for Decide<'_> {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, _: &[Value]) -> Option<Vec<Value>> {
        let holds = known(t.from, t.from.inst(inst), self.decided)?;
        Some(vec![t.out.constant(Const::F32(if holds { 1.0 } else { 0.0 }))])
    }
}

/// Returns the truth value that an instruction loads, if it is known.
fn known(body: &Body, data: &InstData, decided: &[Decided]) -> Option<bool> {
    let Op::Load { buffer: Buffer::Params, record, lane, ty: MachineType::F32 } = data.op else { return None };
    let of_instance = body.def_inst(data.args[0])?.op == Op::Builtin(Builtin::Block);
    let place = |&&(at, of, _): &&Decided| of_instance && (at, of) == (record, u32::from(lane));
    decided.iter().find(place).map(|&(.., holds)| holds)
}

/// Returns about how many operations a placed program has for some truth values, with all sides of branches on which
/// these do not decide.
pub(crate) fn decided_cost(body: &Body, region: Region, decided: &[Decided]) -> usize {
    let cost_of = |&inst: &Inst| {
        let data = body.inst(inst);
        let taken = (data.op == Op::If).then(|| decides(body, data.args[0], decided)).flatten();
        let sides = data.regions.iter().zip([true, false].into_iter().cycle());
        let sides = sides.filter(|(_, side)| data.op != Op::If || taken.is_none_or(|taken| taken == *side));
        let inner: usize = sides.map(|(&inner, _)| decided_cost(body, inner, decided)).sum();
        inner + if is_dear(&data.op) { DEAR_COST } else { 1 }
    };
    body.region(region).insts.iter().map(cost_of).sum()
}

/// Returns what a condition is, if it is known: conditions in blocks are numbers that are not 0.
fn decides(body: &Body, condition: Value, decided: &[Decided]) -> Option<bool> {
    let data = body.def_inst(condition).filter(|data| data.op == Op::Compare(Compare::Ne))?;
    data.args.iter().find_map(|&arg| known(body, body.def_inst(arg)?, decided))
}
