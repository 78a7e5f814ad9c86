//! The filters of texture lookups that a shader does not spell out: names become numbers, and all that a name may turn
//! out to be is noted, as they cannot be numbered once a program runs.

use super::table::BindingTable;
use crate::ir::{Body, Compare, Const, Def, Inst, LookupKind, MachineType, Op, Region, Value};
use crate::passes::translate::{Rules, Translator, translate};
use crate::passes::writer::BodyWriter;
use rustc_hash::FxHashSet;

/// Replaces names of filters by their numbers, and notes in `table` what they may be. For simplified bodies, in which
/// branches that are never taken are gone.
pub(super) fn number_filters(body: Body, table: &mut BindingTable) -> Body {
    let mut names = Vec::new();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        names.extend((data.op == Op::LookupFilter).then(|| data.args[0]));
    });
    if names.is_empty() {
        return body;
    }
    for text in texts(&body, names) {
        let pattern = body.def_inst(text).and_then(|data| table.pattern(&data.op));
        table.filter_names.extend(pattern);
    }
    translate(&body, &mut NumberFilters, true)
}

struct NumberFilters;

impl Rules for NumberFilters {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        (t.from.inst(inst).op == Op::LookupFilter).then(|| vec![filter_number(t.out, args[0])])
    }
}

/// Returns the number of the filter of this name.
fn filter_number(out: &mut BodyWriter, name: Value) -> Value {
    let numbered = (0_u8..).zip(LookupKind::FILTERS).skip(1);
    let first = out.zero(MachineType::F32);
    numbered.fold(first, |number, (i, filter)| {
        let (filter, this) = (out.constant(filter), out.constant(f32::from(i)));
        let is_this = out.op(Op::Compare(Compare::Eq), &[name, filter]);
        out.op(Op::Select, &[is_this, this, number])
    })
}

/// Returns the constants and the values from outside that some texts may be.
pub(super) fn texts(body: &Body, mut todo: Vec<Value>) -> Vec<Value> {
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    while let Some(value) = todo.pop() {
        if !seen.insert(value) {
            continue;
        }
        match sources(body, value) {
            Some(sources) => todo.extend(sources),
            None => found.push(value),
        }
    }
    found
}

/// Returns the values of which a text is one, or `None` if it is a source itself.
fn sources(body: &Body, value: Value) -> Option<Vec<Value>> {
    let (inst, number) = match body.value(value).def {
        Def::Inst(inst, number) => (inst, number as usize),
        Def::Param(region, number) => (owner(body, region)?, number as usize),
    };
    let data = body.inst(inst);
    let yielded = |regions: &[Region]| regions.iter().map(|&r| body.region(r).results[number]).collect::<Vec<_>>();
    Some(match &data.op {
        Op::Select => data.args[1..].to_vec(),
        Op::If | Op::Switch => yielded(&data.regions),
        Op::Loop => [vec![data.args[number]], yielded(&data.regions[1..])].concat(),
        Op::SlotLoad(slot) => {
            // Arrays are cleared before their elements are set.
            let is_empty = |&text: &Value| matches!(body.constant(text), Some(Const::Str(text)) if text.is_empty());
            let mut stored = Vec::new();
            body.walk(body.root(), &mut |inst| {
                let data = body.inst(inst);
                stored.extend((data.op == Op::SlotStore(*slot)).then(|| data.args[1]).filter(|text| !is_empty(text)));
            });
            stored
        }
        _ => return None,
    })
}

/// Returns the instruction that a region belongs to.
fn owner(body: &Body, region: Region) -> Option<Inst> {
    let mut found = None;
    body.walk(body.root(), &mut |inst| {
        if body.inst(inst).regions.contains(&region) {
            found = Some(inst);
        }
    });
    found
}
