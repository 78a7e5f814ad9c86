//! Identities that hold to the bit, so that simplified programs compute what they computed before.

use super::writer::BodyWriter;
use crate::interp::index;
use crate::ir::{
    Binary, Body, Compare, Const, Direction, InstData, MachineType, Op, Unary, Value, is_current, power_by_products,
};

impl BodyWriter {
    /// Returns a value that an operation equals, if it need not be computed.
    pub(super) fn equal_value(&mut self, op: &Op, args: &[Value]) -> Option<Value> {
        let out = self;
        match op {
            Op::Binary(Binary::Pow) => {
                let exponent = out.body().constant(args[1])?.as_f32()?;
                power_by_products(&args[0], exponent, &mut |op, args| out.op(op, args))
            }
            Op::Binary(op) => binary(out, *op, args[0], args[1]),
            Op::Unary(op) => unary(out, *op, args[0]),
            Op::Select => select(out.body(), args),
            Op::Compare(op @ (Compare::Eq | Compare::Ne)) if args[0] == args[1] && is_discrete(out.ty(args[0])) => {
                Some(out.constant(Const::Bool(*op == Compare::Eq)))
            }
            Op::Comp(i) => component(out.body(), *i, args[0]),
            Op::CompAt => {
                let i = constant_index(out.body(), args[1], 3)?;
                Some(out.op(Op::Comp(i), &args[..1]))
            }
            Op::SetCompAt => {
                let i = constant_index(out.body(), args[1], 3)?;
                Some(out.op(Op::SetComp(i), &[args[0], args[2]]))
            }
            Op::SetComp(i) => {
                let parts = [0, 1, 2].map(|k| if k == *i { args[1] } else { out.op(Op::Comp(k), &args[..1]) });
                Some(out.op(Op::Vec3, &parts))
            }
            Op::Vec3 => whole(out, args),
            Op::Space(name, _) if is_current(name) => Some(out.constant(Const::diagonal(1.0))),
            Op::SpaceOf(direction) => known_space(out, *direction, args[0]),
            Op::ColorTransform(from, to) if from == to => Some(args[0]),
            Op::CategoryMatches => {
                let all =
                    matches!(out.body().constant(args[0]), Some(Const::Str(pattern)) if pattern.trim().is_empty());
                all.then(|| out.constant(Const::Bool(true)))
            }
            _ => None,
        }
    }
}

/// Returns whether a type has no values that differ from themselves.
fn is_discrete(ty: MachineType) -> bool {
    matches!(ty, MachineType::Bool | MachineType::U32 | MachineType::Str)
}

fn constant_index(body: &Body, number: Value, len: usize) -> Option<u8> {
    body.constant(number)?.as_f32().map(|i| index(i, len) as u8)
}

fn definition<'a>(body: &'a Body, value: Value, op: &Op) -> Option<&'a InstData> {
    body.def_inst(value).filter(|d| d.op == *op)
}

/// Returns the float that a value repeats in all components.
fn splatted(body: &Body, value: Value) -> Option<Value> {
    definition(body, value, &Op::Unary(Unary::Splat)).map(|d| d.args[0])
}

/// Returns whether a value is a constant all of whose floats have these bits.
fn is_all(body: &Body, value: Value, x: f32) -> bool {
    let same = |y: &f32| y.to_bits() == x.to_bits();
    match body.constant(value) {
        Some(Const::F32(y)) => same(y),
        Some(Const::Vec3(y)) => y.iter().all(same),
        _ => false,
    }
}

/// Returns whether a value is the matrix 1.
fn is_matrix_one(body: &Body, value: Value) -> bool {
    body.constant(value).is_some_and(Const::is_matrix_one)
}

fn truth(body: &Body, value: Value) -> Option<bool> {
    body.constant(value).and_then(Const::as_bool)
}

fn binary(out: &mut BodyWriter, op: Binary, a: Value, b: Value) -> Option<Value> {
    let body = out.body();
    match op {
        // 1 is neutral to the bit; -0 is for sums, 0 for differences.
        Binary::Mul if is_all(body, b, 1.0) => return Some(a),
        Binary::Mul if is_all(body, a, 1.0) => return Some(b),
        Binary::Div if is_all(body, b, 1.0) => return Some(a),
        Binary::Add if is_all(body, b, -0.0) => return Some(a),
        Binary::Add if is_all(body, a, -0.0) => return Some(b),
        Binary::Sub if is_all(body, b, 0.0) => return Some(a),
        Binary::Add if body.constant(b) == Some(&Const::U32(0)) => return Some(a),
        // A matrix 1 moves nothing.
        Binary::XformPoint | Binary::XformVector | Binary::XformNormal if is_matrix_one(body, a) => return Some(b),
        Binary::Mul if is_matrix_one(body, b) => return Some(a),
        Binary::Mul if is_matrix_one(body, a) => return Some(b),
        Binary::Min | Binary::Max | Binary::And | Binary::Or if a == b => return Some(a),
        Binary::And if truth(body, a) == Some(true) || truth(body, b) == Some(false) => return Some(b),
        Binary::And if truth(body, b) == Some(true) || truth(body, a) == Some(false) => return Some(a),
        Binary::Or if truth(body, a) == Some(false) || truth(body, b) == Some(true) => return Some(b),
        Binary::Or if truth(body, b) == Some(false) || truth(body, a) == Some(true) => return Some(a),
        _ => {}
    }
    // Arithmetic on repeated floats is done once.
    if !matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max) {
        return None;
    }
    let (a, b) = (repeated(out, a), repeated(out, b));
    let (Some(a), Some(b)) = (a, b) else { return None };
    let once = out.op(Op::Binary(op), &[a, b]);
    Some(out.op(Op::Unary(Unary::Splat), &[once]))
}

/// Returns the float that a triple repeats, whether constant or not.
fn repeated(out: &mut BodyWriter, value: Value) -> Option<Value> {
    if let Some(x) = splatted(out.body(), value) {
        return Some(x);
    }
    match out.body().constant(value) {
        Some(Const::Vec3([x, y, z])) if x.to_bits() == y.to_bits() && x.to_bits() == z.to_bits() => {
            let x = *x;
            Some(out.constant(x))
        }
        _ => None,
    }
}

fn unary(out: &mut BodyWriter, op: Unary, x: Value) -> Option<Value> {
    let body = out.body();
    let same = |op: Unary| definition(body, x, &Op::Unary(op)).map(|d| d.args[0]);
    match op {
        Unary::Neg | Unary::Not | Unary::Transpose => same(op),
        Unary::Abs | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc => same(op).map(|_| x),
        _ => None,
    }
}

fn select(body: &Body, args: &[Value]) -> Option<Value> {
    match truth(body, args[0]) {
        Some(cond) => Some(args[if cond { 1 } else { 2 }]),
        None if args[1] == args[2] => Some(args[1]),
        None if truth(body, args[1]) == Some(true) && truth(body, args[2]) == Some(false) => Some(args[0]),
        None => None,
    }
}

fn component(body: &Body, i: u8, v: Value) -> Option<Value> {
    let def = body.def_inst(v)?;
    match def.op {
        Op::Vec3 => Some(def.args[usize::from(i)]),
        Op::Unary(Unary::Splat) => Some(def.args[0]),
        _ => None,
    }
}

/// Returns a triple of the three components of one triple, or of the same float.
fn whole(out: &mut BodyWriter, args: &[Value]) -> Option<Value> {
    if args[0] == args[1] && args[0] == args[2] {
        return Some(out.op(Op::Unary(Unary::Splat), &args[..1]));
    }
    let source = |i: u8| definition(out.body(), args[usize::from(i)], &Op::Comp(i)).map(|d| d.args[0]);
    let first = source(0)?;
    (source(1)? == first && source(2)? == first).then_some(first)
}

fn known_space(out: &mut BodyWriter, direction: Direction, name: Value) -> Option<Value> {
    let Some(Const::Str(name)) = out.body().constant(name) else { return None };
    let name = name.clone();
    Some(out.op(Op::Space(name, direction), &[]))
}
