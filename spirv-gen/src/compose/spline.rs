//! Splines as arithmetic: the segment, its four values, their weights.

use crate::interp::spline::{BISECTIONS, segments, step, weights};
use crate::ir::{Basis, Binary, Compare, Const, MachineType, Op, Unary, Value};
use crate::passes::writer::BodyWriter;

/// Segments up to which the four values are selected; more are read from a local array.
const SELECTED_MAX: usize = 8;

/// Writes `spline` (`args`: the parameter, then the values).
pub(super) fn lower(out: &mut BodyWriter, basis: Basis, solve: bool, args: &[Value]) -> Value {
    let spline = Spline::new(out, basis, &args[1..]);
    if solve { spline.solve(out, args[0]) } else { spline.at(out, args[0]) }
}

/// Values, and how one of them is found.
struct Spline {
    basis: Basis,
    values: Vec<Value>,
    array: Option<crate::ir::Slot>,
}

fn binary(out: &mut BodyWriter, op: Binary, a: Value, b: Value) -> Value {
    out.op(Op::Binary(op), &[a, b])
}

impl Spline {
    fn new(out: &mut BodyWriter, basis: Basis, values: &[Value]) -> Self {
        let mut array = None;
        if segments(basis, values.len()) > SELECTED_MAX {
            let slot = out.add_slot(out.ty(values[0]), values.len() as u32);
            for (i, &value) in values.iter().enumerate() {
                let i = out.constant(i as f32);
                out.emit(Op::SlotStore(slot), &[i, value], &[]);
            }
            array = Some(slot);
        }
        Self { basis, values: values.to_vec(), array }
    }

    /// Returns the spline at a parameter, clamped to 0..1.
    fn at(&self, out: &mut BodyWriter, x: Value) -> Value {
        let count = segments(self.basis, self.values.len());
        let (zero, one, scale) = (out.constant(0.0), out.constant(1.0), out.constant(count as f32));
        let x = binary(out, Binary::Max, x, zero);
        let x = binary(out, Binary::Min, x, one);
        let place = binary(out, Binary::Mul, x, scale);
        let last = out.constant((count - 1) as f32);
        let segment = out.op(Op::Unary(Unary::Floor), &[place]);
        let segment = binary(out, Binary::Min, segment, last);
        let t = binary(out, Binary::Sub, place, segment);
        let (mut sum, mut values) = (None, Vec::new());
        for (k, coefficients) in weights(self.basis).into_iter().enumerate() {
            let Some(weight) = polynomial(out, t, coefficients) else { continue };
            let value = self.value(out, segment, count, k);
            values.push(value);
            let weight =
                if out.ty(value) == MachineType::Vec3 { out.op(Op::Unary(Unary::Splat), &[weight]) } else { weight };
            let term = binary(out, Binary::Mul, value, weight);
            sum = Some(sum.map_or(term, |sum| binary(out, Binary::Add, sum, term)));
        }
        let sum = sum.expect("a basis has weights");
        if is_mean(self.basis) { unless_equal(out, &values, sum) } else { sum }
    }

    /// Returns value `k` of the four of a segment.
    fn value(&self, out: &mut BodyWriter, segment: Value, count: usize, k: usize) -> Value {
        let step = step(self.basis);
        if let Some(slot) = self.array {
            let (step, k) = (out.constant(step as f32), out.constant(k as f32));
            let first = binary(out, Binary::Mul, segment, step);
            let index = binary(out, Binary::Add, first, k);
            let ty = out.ty(self.values[0]);
            return out.emit(Op::SlotLoad(slot), &[index], &[ty])[0];
        }
        let mut found = self.values[(count - 1) * step + k];
        for s in (0..count - 1).rev() {
            let number = out.constant(s as f32);
            let here = out.op(Op::Compare(Compare::Le), &[segment, number]);
            found = out.op(Op::Select, &[here, self.values[s * step + k], found]);
        }
        found
    }

    /// Returns the parameter at which monotonic values reach `y`, by bisection.
    fn solve(&self, out: &mut BodyWriter, y: Value) -> Value {
        let (zero, one) = (out.constant(0.0), out.constant(1.0));
        let (first, last) = (self.at(out, zero), self.at(out, one));
        let rising = out.op(Op::Compare(Compare::Lt), &[first, last]);
        let start = out.constant(Const::U32(0));
        let params = out.open(&[MachineType::U32, MachineType::F32, MachineType::F32], true);
        let trips = out.constant(Const::U32(BISECTIONS));
        let more = out.op(Op::Compare(Compare::Lt), &[params[0], trips]);
        out.open_body();
        let half = out.constant(0.5);
        let sum = binary(out, Binary::Add, params[1], params[2]);
        let middle = binary(out, Binary::Mul, sum, half);
        let value = self.at(out, middle);
        let below = out.op(Op::Compare(Compare::Lt), &[value, y]);
        let right = out.op(Op::Compare(Compare::Eq), &[below, rising]);
        let low = out.op(Op::Select, &[right, middle, params[1]]);
        let high = out.op(Op::Select, &[right, params[2], middle]);
        let step = out.constant(Const::U32(1));
        let next = binary(out, Binary::Add, params[0], step);
        let body = out.close(&[next, low, high]);
        let condition = out.close(&[more]);
        let types = [MachineType::U32, MachineType::F32, MachineType::F32];
        let ends = out.push(Op::Loop, vec![start, zero, one], vec![condition, body], &types);
        let (sum, half) = (binary(out, Binary::Add, ends[1], ends[2]), out.constant(0.5));
        binary(out, Binary::Mul, sum, half)
    }
}

/// Returns whether the weights of a basis add up to 1 everywhere, so that the spline of equal values is their value.
fn is_mean(basis: Basis) -> bool {
    let sum = |degree: usize| weights(basis).iter().map(|weight| weight[degree]).sum::<f64>();
    [1.0, 0.0, 0.0, 0.0].into_iter().enumerate().all(|(degree, wanted)| (sum(degree) - wanted).abs() < 1e-9)
}

/// Returns what all values are if they are equal, whatever the rounding of their mean; else the mean.
fn unless_equal(out: &mut BodyWriter, values: &[Value], mean: Value) -> Value {
    let mut all = out.constant(Const::Bool(true));
    for &value in &values[1..] {
        let same = out.op(Op::Compare(Compare::Eq), &[value, values[0]]);
        all = binary(out, Binary::And, all, same);
    }
    out.op(Op::Select, &[all, values[0], mean])
}

/// `c0 + t (c1 + t (c2 + t c3))`, or nothing where all are 0.
fn polynomial(out: &mut BodyWriter, t: Value, coefficients: [f64; 4]) -> Option<Value> {
    let mut sum = None;
    for c in coefficients.into_iter().rev() {
        let scaled = sum.map(|sum| binary(out, Binary::Mul, sum, t));
        let constant = (c != 0.0).then(|| out.constant(c as f32));
        sum = match (scaled, constant) {
            (Some(a), Some(b)) => Some(binary(out, Binary::Add, a, b)),
            (a, b) => a.or(b),
        };
    }
    sum
}
