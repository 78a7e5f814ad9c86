//! Values that are known when the shader is compiled: lengths of arrays, defaults of parameters.
//!
//! Only operations that are exact to the bit are folded (IEEE 754 arithmetic), so that it makes no difference whether a
//! value was computed here or by the shader.

pub(super) use super::hir::Constant;
use super::hir::{Arithmetic, ChainStep, Conversion, Expr, ExprKind, Link, ShadeopCall};
use crate::ir::Unary;
use crate::shadeops::{DEGREES_PER_RADIAN, MathOp, Opcode, RADIANS_PER_DEGREE};

/// Returns the value of `expr` if it is known.
pub(crate) fn evaluate(expr: &Expr) -> Option<Constant> {
    match &expr.kind {
        ExprKind::Float(value) => Some(Constant::Float(*value)),
        ExprKind::String(text) => Some(Constant::String(text.clone())),
        ExprKind::Triple(parts) => {
            let [x, y, z] = &**parts;
            Some(Constant::Triple([float(x)?, float(y)?, float(z)?]))
        }
        ExprKind::Matrix(parts) => {
            let values: Vec<_> = parts.iter().map(float).collect::<Option<_>>()?;
            Some(Constant::Matrix(Box::new(values.try_into().ok()?)))
        }
        ExprKind::Negate(value) => map(evaluate(value)?, |x| -x),
        ExprKind::Convert(conversion, value) => convert(*conversion, evaluate(value)?),
        ExprKind::Chain(first, links) => links.iter().try_fold(evaluate(first)?, step),
        ExprKind::Shadeop(call) => shadeop(call),
        _ => None,
    }
}

/// Returns what a step of a chain makes of a known value.
fn step(before: Constant, link: &Link) -> Option<Constant> {
    match &link.step {
        ChainStep::Arithmetic(operator, value) => arithmetic(*operator, before, evaluate(value)?),
        ChainStep::Convert(conversion) => convert(*conversion, before),
        ChainStep::Compare(..) | ChainStep::And(_) | ChainStep::Or(_) => None,
    }
}

fn float(expr: &Expr) -> Option<f32> {
    match evaluate(expr)? {
        Constant::Float(value) => Some(value),
        _ => None,
    }
}

/// `f` of a float, or of each component.
fn map(value: Constant, f: impl Fn(f32) -> f32) -> Option<Constant> {
    Some(match value {
        Constant::Float(x) => Constant::Float(f(x)),
        Constant::Triple(x) => Constant::Triple(x.map(f)),
        Constant::Matrix(x) => Constant::Matrix(Box::new(x.map(f))),
        Constant::String(_) => return None,
    })
}

fn convert(conversion: Conversion, value: Constant) -> Option<Constant> {
    match (conversion, value) {
        (Conversion::Rename, value) => Some(value),
        (Conversion::Spread, Constant::Float(x)) => Some(Constant::Triple([x; 3])),
        (Conversion::Diagonal, Constant::Float(x)) => {
            let mut rows = [0.0; 16];
            for i in 0..4 {
                rows[5 * i] = x;
            }
            Some(Constant::Matrix(Box::new(rows)))
        }
        _ => None,
    }
}

fn arithmetic(operator: Arithmetic, left: Constant, right: Constant) -> Option<Constant> {
    let f = |a: f32, b: f32| {
        let value = match operator {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
            Arithmetic::Multiply => a * b,
            Arithmetic::Divide if b == 0.0 => 0.0,
            Arithmetic::Divide => a / b,
            Arithmetic::Cross | Arithmetic::Dot => return None,
        };
        // What overflows is left to the rules of the IR.
        value.is_finite().then_some(value)
    };
    match (left, right) {
        (Constant::Float(a), Constant::Float(b)) => Some(Constant::Float(f(a, b)?)),
        (Constant::Triple(a), Constant::Triple(b)) => {
            Some(Constant::Triple([f(a[0], b[0])?, f(a[1], b[1])?, f(a[2], b[2])?]))
        }
        _ => None,
    }
}

fn shadeop(call: &ShadeopCall) -> Option<Constant> {
    let argument = |i: usize| call.arguments.get(i).and_then(evaluate);
    let x = argument(0)?;
    match call.opcode {
        Opcode::Math(MathOp::Radians) => map(x, |x| x * RADIANS_PER_DEGREE),
        Opcode::Math(MathOp::Degrees) => map(x, |x| x * DEGREES_PER_RADIAN),
        Opcode::Math(MathOp::Unary(Unary::Abs)) => map(x, f32::abs),
        Opcode::Math(MathOp::Unary(Unary::Floor)) => map(x, f32::floor),
        Opcode::Math(MathOp::Unary(Unary::Ceil)) => map(x, f32::ceil),
        Opcode::Math(MathOp::Unary(Unary::Sqrt)) => map(x, |x| if x > 0.0 { x.sqrt() } else { 0.0 }),
        Opcode::Concat => {
            let mut text = String::new();
            for i in 0..call.arguments.len() {
                let Constant::String(part) = argument(i)? else { return None };
                text.push_str(&part);
            }
            Some(Constant::String(text.into()))
        }
        _ => None,
    }
}
