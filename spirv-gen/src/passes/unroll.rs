//! Loops that make texts, such as the names of numbered textures: they are written trip by trip, so that each text is
//! known when the program is compiled, or is one of a block.

use super::simplify::simplify;
use super::translate::{Rules, Translator, translate};
use super::trips::trip_count;
use crate::ir::{Body, Inst, Op, Value};
use rustc_hash::FxHashMap;

/// Instructions that all trips of the loops of a program may have together.
const INSTS_MAX: u64 = 1 << 14;

/// Writes loops that make texts, and whose trips are known, trip by trip: inner ones first, and others where that is
/// not enough. For simplified bodies, in which what does not change in a loop is before it.
pub(crate) fn unroll_texts(mut body: Body) -> Body {
    let mut left = INSTS_MAX;
    loop {
        let loops = loops_of_texts(&body, &mut left);
        if loops.is_empty() {
            return body;
        }
        body = simplify(&translate(&body, &mut Unroll { loops }, true));
    }
}

/// Returns the innermost loops that make texts, with their trips. Their instructions are taken from `left`.
fn loops_of_texts(body: &Body, left: &mut u64) -> FxHashMap<Inst, u64> {
    let mut found = FxHashMap::default();
    body.walk(body.root(), &mut |inst| {
        if body.inst(inst).op != Op::Loop {
            return;
        }
        let (mut insts, mut makes_texts, mut is_innermost) = (0, false, true);
        body.walk_inst(inst, &mut |inner| {
            insts += 1;
            makes_texts |= is_text(&body.inst(inner).op);
            is_innermost &= inner == inst || body.inst(inner).op != Op::Loop || !holds_texts(body, inner);
        });
        let Some(trips) = trip_count(body, inst).filter(|_| makes_texts && is_innermost) else { return };
        if let Some(rest) = left.checked_sub(trips.saturating_mul(insts)) {
            *left = rest;
            found.insert(inst, trips);
        }
    });
    found
}

fn is_text(op: &Op) -> bool {
    matches!(op, Op::Format(_) | Op::FormatBy | Op::Match)
}

fn holds_texts(body: &Body, inst: Inst) -> bool {
    let mut found = false;
    body.walk_inst(inst, &mut |inst| found |= is_text(&body.inst(inst).op));
    found
}

struct Unroll {
    loops: FxHashMap<Inst, u64>,
}

impl Rules for Unroll {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let trips = *self.loops.get(&inst)?;
        let regions = &t.from.inst(inst).regions;
        let params = &t.from.region(regions[0]).params;
        let mut carried = args.to_vec();
        for _ in 0..trips {
            t.bind(params, &carried);
            t.region(self, regions[0]);
            carried = t.region(self, regions[1]);
        }
        Some(carried)
    }
}
