//! The meaning of operations without effects on constants: one definition for the interpreter and for constant folding,
//! written without looking at the helper library. Arithmetic is that of f32 in the order that [`crate::ir::op`] gives;
//! library functions are computed in f64 and rounded.

use super::{color, noise, spline};
use crate::ir::{Binary, ColorSpace, Compare, Const, Op, Unary, power_by_products};
use crate::text;

/// Returns the result of an operation with one result that depends on its arguments only, or `None` for others.
pub fn evaluate(op: &Op, args: &[Const]) -> Option<Const> {
    use Const::{Bool, F32, Mat4, Vec3};
    Some(match (op, args) {
        (Op::Const(c), []) => c.clone(),
        (Op::Unary(op), [x]) => unary(*op, x)?,
        (Op::Binary(op), [a, b]) => binary(*op, a, b)?,
        (Op::Compare(op), [a, b]) => Bool(compare(*op, a, b)?),
        (Op::Select, [Bool(c), a, b]) => if *c { a } else { b }.clone(),
        (Op::Vec3, [F32(x), F32(y), F32(z)]) => Vec3([*x, *y, *z]),
        (Op::Comp(i), [Vec3(v)]) => F32(v[usize::from(*i)]),
        (Op::CompAt, [Vec3(v), F32(i)]) => F32(v[index(*i, 3)]),
        (Op::SetComp(i), [Vec3(v), F32(x)]) => {
            let mut v = *v;
            v[usize::from(*i)] = *x;
            Vec3(v)
        }
        (Op::SetCompAt, [Vec3(v), F32(i), F32(x)]) => {
            let mut v = *v;
            v[index(*i, 3)] = *x;
            Vec3(v)
        }
        (Op::Mat4, parts) => {
            let floats: Option<Vec<f32>> = parts.iter().map(Const::as_f32).collect();
            Mat4(Box::new(floats?.try_into().ok()?))
        }
        (Op::MatComp, [Mat4(m), F32(row), F32(column)]) => F32(m[index(*row, 4) * 4 + index(*column, 4)]),
        (Op::SetMatComp, [Mat4(m), F32(row), F32(column), F32(x)]) => {
            let mut m = m.clone();
            m[index(*row, 4) * 4 + index(*column, 4)] = *x;
            Mat4(m)
        }
        (Op::Noise { kind, dimension, ty }, args) => {
            let coordinates: Vec<f32> = args.iter().flat_map(floats).copied().collect();
            noise::noise(*kind, usize::from(*dimension), *ty, &coordinates)
        }
        (Op::Spline { basis, solve }, [F32(x), values @ ..]) => spline::spline(*basis, *solve, *x, values)?,
        (Op::Format(format), values) => Const::Str(text::format(format, values).into()),
        (Op::FormatBy, [Const::Str(format), values @ ..]) => Const::Str(text::format(format, values).into()),
        (Op::Match, [Const::Str(pattern), Const::Str(subject)]) => {
            F32(f32::from(u8::from(text::matches(pattern, subject))))
        }
        (Op::Table(constants), [Const::U32(i)]) => constants[(*i as usize).min(constants.len() - 1)].clone(),
        (Op::ColorTransform(from, to), [Vec3(c)]) if from == to => Vec3(*c),
        (Op::ColorTransform(from, to), [Vec3(c)]) => {
            let rgb = if *from == ColorSpace::Rgb { *c } else { color::to_rgb(*from, *c) };
            Vec3(if *to == ColorSpace::Rgb { rgb } else { color::from_rgb(*to, rgb) })
        }
        _ => return None,
    })
}

/// Returns a float as an index: its integer part, at least 0 and below `len`. NaN counts as 0.
pub fn index(x: f32, len: usize) -> usize {
    (x as usize).min(len - 1)
}

fn floats(c: &Const) -> &[f32] {
    match c {
        Const::F32(x) => std::slice::from_ref(x),
        Const::Vec3(x) => x,
        Const::Mat4(x) => &x[..],
        Const::Bool(_) | Const::U32(_) | Const::Str(_) => &[],
    }
}

/// Applies a function to every float of a constant.
fn each(c: &Const, f: impl Fn(f32) -> f32) -> Option<Const> {
    Some(match c {
        Const::F32(x) => Const::F32(f(*x)),
        Const::Vec3(x) => Const::Vec3(x.map(f)),
        Const::Mat4(x) => Const::Mat4(Box::new(x.map(f))),
        Const::Bool(_) | Const::U32(_) | Const::Str(_) => return None,
    })
}

/// Applies a function to pairs of floats.
fn both(a: &Const, b: &Const, f: impl Fn(f32, f32) -> f32) -> Option<Const> {
    Some(match (a, b) {
        (Const::F32(a), Const::F32(b)) => Const::F32(f(*a, *b)),
        (Const::Vec3(a), Const::Vec3(b)) => Const::Vec3(std::array::from_fn(|i| f(a[i], b[i]))),
        (Const::Mat4(a), Const::Mat4(b)) => Const::Mat4(Box::new(std::array::from_fn(|i| f(a[i], b[i])))),
        _ => return None,
    })
}

/// Returns a function of f64, rounded. Where it overflows, the result is the largest float.
fn through_f64(x: f32, f: impl Fn(f64) -> f64) -> f32 {
    (f(x.into()) as f32).clamp(f32::MIN, f32::MAX)
}

fn unary(op: Unary, x: &Const) -> Option<Const> {
    let library = |f: fn(f64) -> f64| each(x, |x| through_f64(x, f));
    match (op, x) {
        (Unary::Neg, _) => each(x, |x| -x),
        (Unary::Abs, _) => each(x, f32::abs),
        (Unary::Sign, _) => each(x, |x| f32::from(x > 0.0) - f32::from(x < 0.0)),
        (Unary::Floor, _) => each(x, f32::floor),
        (Unary::Ceil, _) => each(x, f32::ceil),
        (Unary::Round, _) => each(x, f32::round),
        (Unary::Trunc, _) => each(x, f32::trunc),
        (Unary::Sqrt, _) => each(x, |x| if x > 0.0 { x.sqrt() } else { 0.0 }),
        (Unary::Normalize, Const::Vec3(v)) => Some(Const::Vec3(normalized(*v))),
        (Unary::Sin, _) => library(f64::sin),
        (Unary::Cos, _) => library(f64::cos),
        (Unary::Tan, _) => library(f64::tan),
        (Unary::Asin, _) => library(|x| x.clamp(-1.0, 1.0).asin()),
        (Unary::Acos, _) => library(|x| x.clamp(-1.0, 1.0).acos()),
        (Unary::Atan, _) => library(f64::atan),
        (Unary::Exp, _) => library(f64::exp),
        (Unary::Log, _) => library(|x| x.max(f32::MIN_POSITIVE.into()).ln()),
        (Unary::Not, Const::Bool(x)) => Some(Const::Bool(!x)),
        (Unary::Splat, Const::F32(x)) => Some(Const::Vec3([*x; 3])),
        (Unary::FloatFromBool, Const::Bool(x)) => Some(Const::F32(f32::from(*x))),
        (Unary::FloatFromU32, Const::U32(x)) => Some(Const::F32(*x as f32)),
        (Unary::U32FromFloat, Const::F32(x)) => Some(Const::U32((*x as u32).min(1 << 31))),
        (Unary::Token, Const::U32(x)) => Some(Const::U32(*x)),
        (Unary::Bits, Const::F32(x)) => Some(Const::U32(x.to_bits())),
        (Unary::Inverse, Const::Mat4(m)) => Some(Const::Mat4(Box::new(inverse(m)))),
        (Unary::Transpose, Const::Mat4(m)) => {
            Some(Const::Mat4(Box::new(std::array::from_fn(|i| m[(i % 4) * 4 + i / 4]))))
        }
        (Unary::Determinant, Const::Mat4(m)) => Some(Const::F32(determinant(m) as f32)),
        _ => None,
    }
}

fn binary(op: Binary, a: &Const, b: &Const) -> Option<Const> {
    use Const::{Bool, F32, Mat4, U32, Vec3};
    match (op, a, b) {
        (Binary::Add, U32(a), U32(b)) => Some(U32(a.wrapping_add(*b))),
        (Binary::Sub, U32(a), U32(b)) => Some(U32(a.wrapping_sub(*b))),
        (Binary::Mul, U32(a), U32(b)) => Some(U32(a.wrapping_mul(*b))),
        (Binary::BitAnd, U32(a), U32(b)) => Some(U32(a & b)),
        (Binary::Hash, U32(a), U32(b)) => Some(U32(noise::hash(*a, *b))),
        // A matrix 1 is neutral and moves nothing, whatever the signs of zeros.
        (Binary::Mul, Mat4(_), b) if a.is_matrix_one() => Some(b.clone()),
        (Binary::Mul, a, Mat4(_)) if b.is_matrix_one() => Some(a.clone()),
        (Binary::XformPoint | Binary::XformVector | Binary::XformNormal, m, v) if m.is_matrix_one() => Some(v.clone()),
        (Binary::Mul, Mat4(a), Mat4(b)) => Some(Mat4(Box::new(product(a, b)))),
        (Binary::Add, ..) => both(a, b, |a, b| a + b),
        (Binary::Sub, ..) => both(a, b, |a, b| a - b),
        (Binary::Mul, ..) => both(a, b, |a, b| a * b),
        (Binary::Div, ..) => both(a, b, |a, b| if b == 0.0 { 0.0 } else { a / b }),
        (Binary::Min, ..) => both(a, b, |a, b| if b < a { b } else { a }),
        (Binary::Max, ..) => both(a, b, |a, b| if a < b { b } else { a }),
        (Binary::Mod, ..) => both(a, b, |a, b| if b == 0.0 { 0.0 } else { a - b * (a / b).floor() }),
        (Binary::Atan2, F32(y), F32(x)) => Some(F32(angle(*y, *x))),
        (Binary::Pow, F32(x), F32(y)) => Some(F32(power(*x, *y))),
        (Binary::Dot, Vec3(a), Vec3(b)) => Some(F32(dot(*a, *b))),
        (Binary::Cross, Vec3(a), Vec3(b)) => {
            Some(Vec3([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]))
        }
        (Binary::And, Bool(a), Bool(b)) => Some(Bool(*a && *b)),
        (Binary::Or, Bool(a), Bool(b)) => Some(Bool(*a || *b)),
        (Binary::XformPoint, Mat4(m), Vec3(p)) => {
            let q: [f32; 4] = std::array::from_fn(|c| row_times(m, *p, c) + m[12 + c]);
            let w = if q[3] == 0.0 { 1.0 } else { q[3] };
            Some(Vec3([q[0] / w, q[1] / w, q[2] / w]))
        }
        (Binary::XformVector, Mat4(m), Vec3(v)) => Some(Vec3(std::array::from_fn(|c| row_times(m, *v, c)))),
        (Binary::XformNormal, Mat4(m), Vec3(n)) => {
            Some(Vec3(std::array::from_fn(|r| dot([m[4 * r], m[4 * r + 1], m[4 * r + 2]], *n))))
        }
        _ => None,
    }
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

/// Returns a vector of unit length: see [`Unary::Normalize`].
fn normalized(v: [f32; 3]) -> [f32; 3] {
    let square = dot(v, v);
    let factor = match square {
        tiny if tiny < 1e-24 => f32::powi(2.0, 80),
        huge if huge > 1e24 => f32::powi(2.0, -80),
        _ => 1.0,
    };
    let v = v.map(|x| x * factor);
    let length = dot(v, v).sqrt();
    let inverse = if length == 0.0 { 0.0 } else { 1.0 / length };
    v.map(|x| x * inverse)
}

/// Returns component c of `(v, 0) * M`.
fn row_times(m: &[f32; 16], v: [f32; 3], c: usize) -> f32 {
    dot(v, [m[c], m[4 + c], m[8 + c]])
}

/// `atan(y, x)`; a zero counts as positive where only its sign would tell 0 from pi.
fn angle(y: f32, x: f32) -> f32 {
    if x == 0.0 && y == 0.0 { 0.0 } else { f64::from(y).atan2(f64::from(x) + 0.0) as f32 }
}

fn power(x: f32, y: f32) -> f32 {
    let mut apply = |op: Op, args: &[Const]| evaluate(&op, args).expect("arithmetic on numbers");
    if let Some(Const::F32(power)) = power_by_products(&Const::F32(x), y, &mut apply) {
        return power;
    }
    if x == 0.0 || (x < 0.0 && y.floor() != y) {
        return 0.0;
    }
    through_f64(x, |x| x.powf(y.into()))
}

fn product(a: &[f32; 16], b: &[f32; 16]) -> [f32; 16] {
    std::array::from_fn(|i| {
        let (r, c) = (i / 4, i % 4);
        (1..4).fold(a[4 * r] * b[c], |sum, k| sum + a[4 * r + k] * b[4 * k + c])
    })
}

fn minor(m: &[f64; 16], row: usize, column: usize) -> f64 {
    let at = |i: usize, j: usize| m[(i + usize::from(i >= row)) * 4 + j + usize::from(j >= column)];
    at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) - at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0))
        + at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0))
}

fn determinant(m: &[f32; 16]) -> f64 {
    let m = m.map(f64::from);
    (0..4).map(|c| if c % 2 == 0 { 1.0 } else { -1.0 } * m[c] * minor(&m, 0, c)).sum()
}

fn inverse(m: &[f32; 16]) -> [f32; 16] {
    let det = determinant(m);
    if det as f32 == 0.0 {
        return std::array::from_fn(|i| f32::from(i % 5 == 0));
    }
    let m = m.map(f64::from);
    std::array::from_fn(|i| {
        let (r, c) = (i / 4, i % 4);
        let sign = if (r + c) % 2 == 0 { 1.0 } else { -1.0 };
        (sign * minor(&m, c, r) / det) as f32
    })
}

fn compare(op: Compare, a: &Const, b: &Const) -> Option<bool> {
    use Const::{Bool, F32, Mat4, Str, U32, Vec3};
    let equal = match (a, b) {
        (Bool(a), Bool(b)) => a == b,
        (U32(a), U32(b)) => a == b,
        (F32(a), F32(b)) => a == b,
        (Vec3(a), Vec3(b)) => a == b,
        (Mat4(a), Mat4(b)) => a == b,
        (Str(a), Str(b)) => a == b,
        _ => return None,
    };
    match (op, a, b) {
        (Compare::Eq, ..) => Some(equal),
        (Compare::Ne, ..) => Some(!equal),
        (Compare::Lt, F32(a), F32(b)) => Some(a < b),
        (Compare::Le, F32(a), F32(b)) => Some(a <= b),
        (Compare::Lt, U32(a), U32(b)) => Some(a < b),
        (Compare::Le, U32(a), U32(b)) => Some(a <= b),
        _ => None,
    }
}
