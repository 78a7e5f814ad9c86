//! What is known of the opacity that a program computes.

use super::reflection::{Content, Input, Opacity};
use super::request::PipelineRequest;
use super::table::BindingTable;
use crate::ir::{Binary, Body, Const, Inst, Op, Unary, Value};

/// Returns what is known of `Oi`, if it is among the outputs.
pub(super) fn opacity(body: &Body, request: &PipelineRequest<'_>, table: &BindingTable) -> Opacity {
    let at = request.outputs.iter().position(|o| &*o.name == "Oi");
    let value = at.and_then(|i| body.region(body.root()).results.get(i).copied());
    let Some(value) = value else { return Opacity::Computed };
    let is_os = |op: &Op| table.content(op) == Some(&Content::Opacity) || table.read_input(op) == Some(&Input::Opacity);
    match body.def_inst(value).map(|d| &d.op) {
        Some(Op::Const(Const::Vec3(c))) => Opacity::Constant(*c),
        Some(op) if is_os(op) => Opacity::FromOs,
        _ if KnownNumbers::of(body, &is_os).one[value.0 as usize] => Opacity::KeepsOne,
        _ => Opacity::Computed,
    }
}

/// How many factors and repetitions are looked through to find that a value is 1 minus another.
const DEPTH_MAX: u32 = 8;

/// Which values are 0 or 1 in all components, but for rounding, where `Os` is 1. What is not finite counts as any
/// number: where that reaches the opacity, it is replaced by 1.
struct KnownNumbers<'a> {
    body: &'a Body,
    is_os: &'a dyn Fn(&Op) -> bool,
    one: Vec<bool>,
    zero: Vec<bool>,
    changed: bool,
}

impl<'a> KnownNumbers<'a> {
    /// Supposes everything of every value, and takes back what does not follow, until nothing changes: so what a loop
    /// keeps is found, too.
    fn of(body: &'a Body, is_os: &'a dyn Fn(&Op) -> bool) -> Self {
        let all = vec![true; body.value_count()];
        let mut known = Self { body, is_os, one: all.clone(), zero: all, changed: true };
        while std::mem::take(&mut known.changed) {
            body.walk(body.root(), &mut |inst| known.inst(inst));
        }
        known
    }

    fn is_one(&self, value: Value) -> bool {
        self.one[value.0 as usize]
    }

    fn is_zero(&self, value: Value) -> bool {
        self.zero[value.0 as usize]
    }

    fn keep(&mut self, value: Value, one: bool, zero: bool) {
        let at = value.0 as usize;
        self.changed |= self.one[at] && !one || self.zero[at] && !zero;
        self.one[at] &= one;
        self.zero[at] &= zero;
    }

    /// Keeps of a value what holds for all of some others.
    fn keep_common(&mut self, value: Value, others: &[Value]) {
        let one = others.iter().all(|&v| self.is_one(v));
        let zero = others.iter().all(|&v| self.is_zero(v));
        self.keep(value, one, zero);
    }

    fn inst(&mut self, inst: Inst) {
        let body = self.body;
        let data = body.inst(inst);
        match &data.op {
            Op::If | Op::Switch => {
                for (i, &result) in data.results.iter().enumerate() {
                    let yielded: Vec<Value> = data.regions.iter().map(|&r| body.region(r).results[i]).collect();
                    self.keep_common(result, &yielded);
                }
            }
            Op::Loop => {
                for (i, &param) in body.region(data.regions[0]).params.iter().enumerate() {
                    self.keep_common(param, &[data.args[i], body.region(data.regions[1]).results[i]]);
                    self.keep_common(data.results[i], &[param]);
                }
            }
            op => {
                let (one, zero) = (self.gives_one(op, &data.args), self.gives_zero(op, &data.args));
                let params = data.regions.iter().flat_map(|&r| &body.region(r).params);
                for &value in params.chain(&data.results) {
                    self.keep(value, one, zero);
                }
            }
        }
    }

    fn gives_one(&self, op: &Op, args: &[Value]) -> bool {
        let one = |i: usize| self.is_one(args[i]);
        match op {
            Op::Binary(Binary::Add) => {
                one(0) && self.is_zero(args[1])
                    || self.is_zero(args[0]) && one(1)
                    || self.completes(args[0], args[1], 0)
                    || self.completes(args[1], args[0], 0)
            }
            Op::Binary(Binary::Sub) => one(0) && self.is_zero(args[1]),
            Op::Binary(Binary::Mul | Binary::Div) => one(0) && one(1),
            Op::Const(constant) => is_all(constant, 1.0),
            op => (self.is_os)(op) || self.passes_on(op, args, Self::is_one),
        }
    }

    fn gives_zero(&self, op: &Op, args: &[Value]) -> bool {
        let zero = |i: usize| self.is_zero(args[i]);
        match op {
            Op::Binary(Binary::Mul) => zero(0) || zero(1),
            Op::Binary(Binary::Div) => zero(0),
            Op::Binary(Binary::Add) => zero(0) && zero(1),
            Op::Binary(Binary::Sub) => {
                args[0] == args[1] || zero(0) && zero(1) || self.is_one(args[0]) && self.is_one(args[1])
            }
            Op::Unary(Unary::Neg) => zero(0),
            Op::Const(constant) => is_all(constant, 0.0),
            op => self.passes_on(op, args, Self::is_zero),
        }
    }

    /// Returns whether an operation gives a number because its arguments are that number.
    fn passes_on(&self, op: &Op, args: &[Value], is: fn(&Self, Value) -> bool) -> bool {
        let all = |args: &[Value]| args.iter().all(|&v| is(self, v));
        match op {
            Op::Unary(Unary::Splat | Unary::Abs | Unary::Sqrt) | Op::Comp(_) | Op::Vec3 | Op::SetComp(_) => all(args),
            Op::Binary(Binary::Min | Binary::Max) => all(args),
            Op::CompAt => all(&args[..1]),
            Op::Select => all(&args[1..]),
            _ => false,
        }
    }

    /// Returns whether a value is 1 minus another.
    fn completes(&self, value: Value, other: Value, depth: u32) -> bool {
        let Some(def) = self.body.def_inst(value).filter(|_| depth < DEPTH_MAX) else { return false };
        match def.op {
            Op::Unary(Unary::Splat) => self.completes(def.args[0], other, depth + 1),
            Op::Binary(Binary::Sub) => self.is_one(def.args[0]) && self.is_same(def.args[1], other),
            Op::Binary(Binary::Mul) => [(0, 1), (1, 0)]
                .iter()
                .any(|&(a, b)| self.is_one(def.args[a]) && self.completes(def.args[b], other, depth + 1)),
            _ => false,
        }
    }

    /// Returns whether two values are the same, where one may be the float that the other one repeats, or its product
    /// with 1.
    fn is_same(&self, a: Value, b: Value) -> bool {
        self.bare(a) == self.bare(b)
    }

    /// Returns the value that one repeats, and multiplies by 1.
    fn bare(&self, mut value: Value) -> Value {
        for _ in 0..DEPTH_MAX {
            let Some(def) = self.body.def_inst(value) else { break };
            value = match def.op {
                Op::Unary(Unary::Splat) => def.args[0],
                Op::Binary(Binary::Mul) if self.is_one(def.args[0]) => def.args[1],
                Op::Binary(Binary::Mul) if self.is_one(def.args[1]) => def.args[0],
                _ => break,
            };
        }
        value
    }
}

/// Returns whether a constant is a number in all components.
fn is_all(constant: &Const, number: f32) -> bool {
    match constant {
        Const::F32(x) => *x == number,
        Const::Vec3(x) => x.iter().all(|&x| x == number),
        _ => false,
    }
}
