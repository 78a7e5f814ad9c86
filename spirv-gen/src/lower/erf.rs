//! The error function, of operations that have the same bits on all devices.

use super::lowerer::Lowerer;
use crate::ir::{Unary, Value};
use std::f32::consts::FRAC_2_SQRT_PI;

/// `erf(x) / x` as a polynomial of `x * x` up to 1, fitted to 5e-11.
const NEAR: [f32; 8] = [
    FRAC_2_SQRT_PI,
    -0.376_126_38,
    0.112_837_8,
    -0.026_865_244,
    0.005_220_473,
    -0.000_847_551_5,
    0.000_112_010_91,
    -0.000_009_474_623,
];

/// `erfc(x) * exp(x * x)` as a polynomial of `t = 1 / (1 + TAIL_SCALE * x)` without a constant, from 1 on, fitted to
/// 4e-8.
const TAIL: [f32; 7] = [0.225_624_8, 0.226_727_3, 0.198_563_46, 0.213_762_31, 0.007_002_34, 0.244_758_96, -0.116_687_8];
const TAIL_SCALE: f32 = 0.4;

/// From here on `erfc` is 0: soon it would be too small for a normal float, which devices may take for 0.
const REACH: f32 = 9.0;

/// Both of a pair whose sum is 1.
pub(super) struct ErrorFunction {
    pub(super) erf: Value,
    pub(super) erfc: Value,
}

impl Lowerer<'_> {
    /// `erf(x)` and `erfc(x)`, each without the rounding of the other where it is small.
    pub(super) fn error_function(&mut self, x: Value) -> ErrorFunction {
        let b = &mut self.builder;
        let (zero, one, two) = (b.f32(0.0), b.f32(1.0), b.f32(2.0));
        let (low, high) = (b.f32(-REACH), b.f32(REACH));
        let x = b.clamp(x, low, high);
        let square = b.mul(x, x);
        let near = self.polynomial(&NEAR, square);
        let near = self.builder.mul(near, x);

        let b = &mut self.builder;
        let size = b.unary(Unary::Abs, x);
        let scale = b.f32(TAIL_SCALE);
        let t = b.mul(size, scale);
        let t = b.add(t, one);
        let t = b.div(one, t);
        let tail = self.polynomial(&TAIL, t);
        let b = &mut self.builder;
        let tail = b.mul(tail, t);
        let exponent = b.neg(square);
        let fall = b.unary(Unary::Exp, exponent);
        let tail = b.mul(tail, fall);
        let vanishes = b.le(high, size);
        let tail = b.select(vanishes, zero, tail);

        let (is_near, is_negative) = (b.lt(size, one), b.lt(x, zero));
        let (rest, mirrored) = (b.sub(one, tail), b.sub(two, tail));
        let below = b.neg(rest);
        let far = b.select(is_negative, below, rest);
        let far_complement = b.select(is_negative, mirrored, tail);
        let near_complement = b.sub(one, near);
        ErrorFunction { erf: b.select(is_near, near, far), erfc: b.select(is_near, near_complement, far_complement) }
    }

    /// Returns the value of a polynomial, whose coefficients begin with the constant.
    fn polynomial(&mut self, coefficients: &[f32], x: Value) -> Value {
        let b = &mut self.builder;
        let mut sum = b.f32(0.0);
        for &coefficient in coefficients.iter().rev() {
            let (product, coefficient) = (b.mul(sum, x), b.f32(coefficient));
            sum = b.add(product, coefficient);
        }
        sum
    }
}
