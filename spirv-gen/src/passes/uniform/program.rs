//! The program that computes what is uniform, for a host.

use super::dependence::Dependences;
use crate::ir::{Binary, Body, Builtin, Compare, Const, Def, Inst, InstData, MachineType, Op, Region, Unary, Value};
use crate::passes::writer::BodyWriter;
use rustc_hash::FxHashMap;

/// Returns a program that computes some values, all of one block, and for each of them the number of its result.
/// Branches become selections between what both sides compute.
pub(super) fn program(known: &Dependences<'_>, values: &[Value]) -> (Body, Vec<u32>) {
    let body = known.body;
    let mut writer = ProgramWriter {
        known,
        body,
        wanted: wanted(known, values),
        out: BodyWriter::new(true),
        new: vec![None; body.value_count()],
    };
    writer.out.share_places(body);
    writer.region(body.root());
    let mut results: Vec<Value> = Vec::new();
    let number = |&value: &Value| {
        let mut new = writer.value(value);
        if writer.out.ty(new) == MachineType::Bool {
            new = writer.out.op(Op::Unary(Unary::FloatFromBool), &[new]);
        }
        let at = results.iter().position(|&known| known == new).unwrap_or_else(|| {
            results.push(new);
            results.len() - 1
        });
        at as u32
    };
    let numbers = values.iter().map(number).collect();
    (writer.out.finish(&results), numbers)
}

/// Returns for each value whether it takes part in some others.
fn wanted(known: &Dependences<'_>, values: &[Value]) -> Vec<bool> {
    let body = known.body;
    let mut owners: FxHashMap<Region, Inst> = FxHashMap::default();
    body.walk(body.root(), &mut |inst| owners.extend(body.inst(inst).regions.iter().map(|&region| (region, inst))));
    let (mut todo, mut wanted) = (values.to_vec(), vec![false; body.value_count()]);
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut wanted[value.0 as usize], true) {
            continue;
        }
        let (inst, number) = match body.value(value).def {
            Def::Inst(inst, number) => (inst, number as usize),
            Def::Param(region, number) => (owners[&region], number as usize),
        };
        let data = body.inst(inst);
        let yielded = |region: &Region| body.region(*region).results[number];
        match data.op {
            Op::If | Op::Switch => {
                todo.push(data.args[0]);
                todo.extend(data.regions.iter().map(yielded));
            }
            Op::Loop => {
                let condition = body.region(data.regions[0]);
                todo.extend([data.args[number], data.results[number], condition.params[number]]);
                todo.extend([condition.results[0], yielded(&data.regions[1])]);
            }
            _ => todo.extend(known.block_offsets(data).unwrap_or_else(|| data.args.clone())),
        }
    }
    wanted
}

struct ProgramWriter<'a> {
    known: &'a Dependences<'a>,
    body: &'a Body,
    wanted: Vec<bool>,
    out: BodyWriter,
    new: Vec<Option<Value>>,
}

impl ProgramWriter<'_> {
    fn is_wanted(&self, value: &Value) -> bool {
        self.wanted[value.0 as usize]
    }

    fn value(&self, value: Value) -> Value {
        self.new[value.0 as usize].expect("a value is written before it is used")
    }

    fn bind(&mut self, old: Value, new: Value) {
        self.new[old.0 as usize] = Some(new);
    }

    /// Writes what is wanted of a region, wherever it is.
    fn region(&mut self, region: Region) {
        let body = self.body;
        for &inst in &body.region(region).insts {
            let data = body.inst(inst);
            self.out.go_to(body.place(inst));
            let is_wanted = data.results.iter().any(|value| self.is_wanted(value));
            if data.op == Op::Loop && is_wanted {
                self.repeat(data);
                continue;
            }
            data.regions.iter().for_each(|&inner| self.region(inner));
            self.out.go_to(body.place(inst));
            match data.op {
                _ if !is_wanted => {}
                Op::If | Op::Switch => self.branch(data),
                _ => {
                    let args = self.arguments(data);
                    let types: Vec<MachineType> = data.results.iter().map(|&result| body.ty(result)).collect();
                    let results = self.out.emit(data.op.clone(), &args, &types);
                    data.results.iter().zip(results).for_each(|(&old, new)| self.bind(old, new));
                }
            }
        }
    }

    /// Returns the new arguments of an operation. There is one block, whatever the address of that which is read.
    fn arguments(&mut self, data: &InstData) -> Vec<Value> {
        match self.known.block_offsets(data) {
            None => data.args.iter().map(|&arg| self.value(arg)).collect(),
            Some(offsets) => {
                let mut at = self.out.op(Op::Builtin(Builtin::Block), &[]);
                for offset in offsets {
                    at = self.out.op(Op::Binary(Binary::Add), &[at, self.value(offset)]);
                }
                vec![at]
            }
        }
    }

    /// Selects the results of a branch.
    fn branch(&mut self, data: &InstData) {
        let condition = self.value(data.args[0]);
        for (i, &result) in data.results.iter().enumerate() {
            if !self.is_wanted(&result) {
                continue;
            }
            let yielded: Vec<Value> =
                data.regions.iter().map(|&r| self.value(self.body.region(r).results[i])).collect();
            let new = if data.op == Op::If {
                self.out.op(Op::Select, &[condition, yielded[0], yielded[1]])
            } else {
                self.case(condition, &yielded)
            };
            self.bind(result, new);
        }
    }

    /// Returns the value of the number `selector`, or the last.
    fn case(&mut self, selector: Value, values: &[Value]) -> Value {
        let (last, cases) = values.split_last().expect("a switch has a default");
        (0..).zip(cases).fold(*last, |other, (number, &value)| {
            let number = self.out.constant(Const::U32(number));
            let is_this = self.out.op(Op::Compare(Compare::Eq), &[selector, number]);
            self.out.op(Op::Select, &[is_this, value, other])
        })
    }

    /// Writes a loop with those of its values that are wanted.
    fn repeat(&mut self, data: &InstData) {
        let body = self.body;
        let (condition, inner) = (body.region(data.regions[0]), body.region(data.regions[1]));
        let kept: Vec<usize> = (0..data.results.len()).filter(|&i| self.is_wanted(&data.results[i])).collect();
        let init: Vec<Value> = kept.iter().map(|&i| self.value(data.args[i])).collect();
        let types: Vec<MachineType> = kept.iter().map(|&i| body.ty(data.results[i])).collect();
        let params = self.out.open(&types, true);
        kept.iter().zip(params).for_each(|(&i, param)| self.bind(condition.params[i], param));
        self.region(data.regions[0]);
        let test = self.value(condition.results[0]);
        self.out.open_body();
        self.region(data.regions[1]);
        let next: Vec<Value> = kept.iter().map(|&i| self.value(inner.results[i])).collect();
        let inner = self.out.close(&next);
        let test = self.out.close(&[test]);
        let results = self.out.push(Op::Loop, init, vec![test, inner], &types);
        kept.iter().zip(results).for_each(|(&i, result)| self.bind(data.results[i], result));
    }
}
