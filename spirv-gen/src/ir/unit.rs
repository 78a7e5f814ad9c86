//! Facts of unit length: vectors that were normalised, and what keeps the length.

use super::arithmetic::{Binary, Unary};
use super::body::{Body, Def, Inst, Value};
use super::op::Op;
use super::types::Const;

/// Definitions in a chain beyond which nothing is known.
const DEPTH_MAX: u32 = 8;

/// Returns whether a vector is known to have unit length, up to rounding, or to be zero where a normalised vector was.
/// Normals that face forward are, and reflections of unit vectors.
pub(super) fn is_unit(body: &Body, vector: Value) -> bool {
    is_unit_within(body, vector, DEPTH_MAX)
}

fn is_unit_within(body: &Body, vector: Value, depth: u32) -> bool {
    let (Some(depth), Def::Inst(inst, result)) = (depth.checked_sub(1), body.value(vector).def) else { return false };
    let data = body.inst(inst);
    let unit = |v: &Value| is_unit_within(body, *v, depth);
    match &data.op {
        Op::Unary(Unary::Normalize) => true,
        Op::Unary(Unary::Neg) => unit(&data.args[0]),
        Op::Select => data.args[1..].iter().all(unit),
        Op::If => data.regions.iter().all(|&r| unit(&body.region(r).results[result as usize])),
        Op::Const(Const::Vec3(x)) => is_axis(x),
        Op::Binary(Binary::Sub) => reflected(body, inst).is_some_and(|(i, n)| unit(&i) && unit(&n)),
        _ => false,
    }
}

/// Returns whether a vector is that of an axis, whose length is exact.
fn is_axis(x: &[f32; 3]) -> bool {
    x.iter().filter(|x| **x == 0.0).count() == 2 && x.iter().any(|x| x.abs() == 1.0)
}

/// Returns the arguments of `reflect(i, n)`, which is `i - 2 (i . n) n`, if that is what an instruction ends.
fn reflected(body: &Body, inst: Inst) -> Option<(Value, Value)> {
    let args = |value: Value, op: Op| body.def_inst(value).filter(|d| d.op == op).map(|d| &d.args[..]);
    let difference = &body.inst(inst).args;
    let [n, factor] = args(difference[1], Op::Binary(Binary::Mul))? else { return None };
    let [factor] = args(*factor, Op::Unary(Unary::Splat))? else { return None };
    let [two, cosine] = args(*factor, Op::Binary(Binary::Mul))? else { return None };
    let is_twice = matches!(body.constant(*two), Some(Const::F32(x)) if *x == 2.0);
    (is_twice && args(*cosine, Op::Binary(Binary::Dot))? == [difference[0], *n]).then_some((difference[0], *n))
}
