//! Accuracy of the elementary functions on the device, against f64.

use crate::run::run_body;
use spirv_gen::interp::evaluate;
use spirv_gen::ir::{Binary, Builder, Const, MachineType, Op, ShaderKind, Unary};
use spirv_gen::passes::simplify;

/// Distance of a result from the truth in units of the truth's last place; 0 where the truth is below the normal floats
/// and the result is too.
fn ulps(got: f32, truth: f64) -> f64 {
    let exponent = truth.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor();
    let unit = (exponent - 23.0).exp2();
    (f64::from(got) - truth).abs() / unit
}

/// xorshift: enough for choosing arguments.
struct ArgumentGenerator(u64);

impl ArgumentGenerator {
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    /// Uniform in an interval.
    fn within(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.bits() >> 8) as f32 / (1 << 24) as f32)
    }

    /// All magnitudes up to `limit` alike.
    fn magnitude(&mut self, limit: f32) -> f32 {
        loop {
            let x = f32::from_bits(self.bits());
            if x.is_normal() && x.abs() <= limit {
                return x;
            }
        }
    }
}

const SPECIAL: [f32; 16] =
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1e-30, -1e-30, 1e-38, 3.0, 10.0, 0.99999994, 1.0000001, 1.1754944e-38];

fn unary_arguments(seed: u64, low: f32, high: f32) -> Vec<f32> {
    let mut random = ArgumentGenerator(seed);
    let limit = low.abs().max(high.abs());
    let mut xs: Vec<f32> = SPECIAL.iter().copied().filter(|x| (low..=high).contains(x)).collect();
    while xs.len() < 1 << 18 {
        let x = if xs.len().is_multiple_of(2) { random.within(low, high) } else { random.magnitude(limit) };
        if (low..=high).contains(&x) {
            xs.push(x);
        }
    }
    xs
}

fn channel(xs: &[f32]) -> Vec<[u32; 4]> {
    xs.iter().map(|x| [x.to_bits(), 0, 0, 0]).collect()
}

fn apply(op: Op, arguments: &[Vec<f32>]) -> Vec<f32> {
    let mut b = Builder::new(ShaderKind::Imager, "math");
    let args: Vec<_> = (0..arguments.len() as u32)
        .map(|channel| b.op(Op::Channel { channel, lane: 0, ty: MachineType::F32 }, &[]))
        .collect();
    let result = b.op(op, &args);
    let inputs: Vec<_> = arguments.iter().map(|xs| channel(xs)).collect();
    let ran = run_body(&b.finish_body(&[result]), &inputs);
    ran[0].iter().map(|w| f32::from_bits(w[0])).collect()
}

fn worst(arguments: &[Vec<f32>], results: &[f32], truth: impl Fn(&[f64]) -> f64) -> (f64, Vec<f32>, f32) {
    let mut worst = (0.0, Vec::new(), 0.0);
    let mut exact = vec![0.0; arguments.len()];
    for (i, &got) in results.iter().enumerate() {
        for (exact, xs) in exact.iter_mut().zip(arguments) {
            *exact = xs[i].into();
        }
        let error = ulps(got, truth(&exact));
        if error.is_nan() || error > worst.0 {
            worst = (error, arguments.iter().map(|xs| xs[i]).collect(), got);
            if error.is_nan() {
                break;
            }
        }
    }
    worst
}

fn check_unary(op: Unary, low: f32, high: f32, truth: impl Fn(f64) -> f64) {
    let arguments = vec![unary_arguments(1, low, high)];
    let results = apply(Op::Unary(op), &arguments);
    let (error, args, got) = worst(&arguments, &results, |x| truth(x[0]));
    println!("{op:?}: {error:.3} ulp at {args:?}");
    assert!(error <= 2.0, "{op:?}({args:?}) = {got:e}: {error} ulp from {:e}", truth(args[0].into()));
}

#[test]
fn elementary_functions_are_within_two_ulp() {
    check_unary(Unary::Sin, -3.2e6, 3.2e6, f64::sin);
    check_unary(Unary::Sin, -10.0, 10.0, f64::sin);
    check_unary(Unary::Cos, -3.2e6, 3.2e6, f64::cos);
    check_unary(Unary::Cos, -10.0, 10.0, f64::cos);
    check_unary(Unary::Tan, -3.2e6, 3.2e6, f64::tan);
    check_unary(Unary::Tan, -10.0, 10.0, f64::tan);
    check_unary(Unary::Asin, -1.0, 1.0, f64::asin);
    check_unary(Unary::Acos, -1.0, 1.0, f64::acos);
    check_unary(Unary::Atan, -10.0, 10.0, f64::atan);
    check_unary(Unary::Atan, -1e30, 1e30, f64::atan);
    check_unary(Unary::Exp, -87.0, 88.7, f64::exp);
    check_unary(Unary::Exp, -1.0, 1.0, f64::exp);
    check_unary(Unary::Log, f32::MIN_POSITIVE, 3e38, f64::ln);
    check_unary(Unary::Log, 0.5, 2.0, f64::ln);
}

#[test]
fn pow_and_atan2_are_within_two_ulp() {
    let mut random = ArgumentGenerator(7);
    let n = 1 << 18;
    let angles = vec![
        (0..n).map(|_| random.magnitude(1e15)).collect::<Vec<_>>(),
        (0..n).map(|_| random.magnitude(1e15)).collect(),
    ];
    let results = apply(Op::Binary(Binary::Atan2), &angles);
    let (error, args, got) = worst(&angles, &results, |x| x[0].atan2(x[1]));
    println!("atan2: {error:.3} at {args:?}");
    assert!(error <= 2.0, "atan2({args:?}) = {got:e}: {error} ulp");

    let (mut bases, mut exponents) = (Vec::new(), Vec::new());
    while bases.len() < n {
        let near = bases.len().is_multiple_of(3);
        let x = if near { random.within(0.5, 2.0) } else { random.magnitude(1e30).abs() };
        let y = if bases.len().is_multiple_of(2) { random.within(-100.0, 100.0) } else { random.magnitude(1e4) };
        let result = f64::from(x).powf(y.into()).abs();
        if (1e-37..3e38).contains(&result) {
            bases.push(x);
            exponents.push(y);
        }
    }
    let powers = vec![bases, exponents];
    let results = apply(Op::Binary(Binary::Pow), &powers);
    let (error, args, got) = worst(&powers, &results, |x| x[0].powf(x[1]));
    println!("pow: {error:.3} at {args:?}");
    assert!(error <= 2.0, "pow({args:?}) = {got:e}: {error} ulp");
}

/// Powers of known exponents are products, quotients and roots: on the device what the interpreter says, to the bit,
/// and within 2 ulp of the truth.
#[test]
fn powers_of_known_exponents_are_products() {
    let infinity = f32::INFINITY;
    let mut bases = unary_arguments(3, -1e37, 1e37);
    bases.truncate(1 << 14);
    bases.extend([infinity, -infinity, f32::MAX, f32::MIN, 1e20, -1e20, 1e13, -1e13, 1e-13, 1e-20]);
    for exponent in [0.0, 1.0, 2.0, 3.0, 4.0, 0.5, 1.5, 2.5, -1.0, -2.0, -0.5] {
        let mut b = Builder::new(ShaderKind::Imager, "powers");
        let base = b.op(Op::Channel { channel: 0, lane: 0, ty: MachineType::F32 }, &[]);
        let exponent_value = b.f32(exponent);
        let power = b.binary(Binary::Pow, base, exponent_value);
        let body = simplify(&b.finish_body(&[power]));
        body.walk(body.root(), &mut |i| assert_ne!(body.inst(i).op, Op::Binary(Binary::Pow), "{exponent}"));
        let ran = run_body(&body, &[channel(&bases)]);
        for (&base, words) in bases.iter().zip(&ran[0]) {
            let got = f32::from_bits(words[0]);
            let expected = evaluate(&Op::Binary(Binary::Pow), &[Const::F32(base), Const::F32(exponent)]);
            let is_tiny = |x: f32| x.abs() < f32::MIN_POSITIVE;
            let same = matches!(expected, Some(Const::F32(x)) if x == got || is_tiny(x) && is_tiny(got));
            assert!(same, "pow({base:e}, {exponent}) is {got:e}, not {expected:?}");
            let truth = f64::from(base).powf(exponent.into());
            if (1e-37..3e38).contains(&truth.abs()) && base != 0.0 {
                assert!(ulps(got, truth) <= 2.0, "pow({base:e}, {exponent}) = {got:e}, not {truth:e}");
            }
        }
    }
    for (base, exponent, expected) in [
        (0.0, 0.0, 1.0),
        (0.0, -1.0, 0.0),
        (0.0, -0.5, 0.0),
        (-0.0, -2.0, 0.0),
        (-2.0, 3.0, -8.0),
        (-2.0, 0.5, 0.0),
        (-1e30, 2.5, 0.0),
        (-4.0, -2.0, 0.0625),
        (1e-30, -2.0, f32::MAX),
        (-1e-39, -1.0, f32::MIN),
        (-1e30, 3.0, f32::MIN),
        (infinity, 0.5, f32::MAX),
        (-infinity, 1.0, f32::MIN),
        (infinity, -1.0, 0.0),
    ] {
        let power = evaluate(&Op::Binary(Binary::Pow), &[Const::F32(base), Const::F32(exponent)]);
        assert_eq!(power, Some(Const::F32(expected)), "pow({base:e}, {exponent})");
    }
}

#[test]
fn functions_are_finite_where_mathematics_is_not() {
    let unary = |op, x| apply(Op::Unary(op), &[vec![x]])[0];
    assert_eq!(unary(Unary::Sqrt, -1.0), 0.0);
    assert_eq!(unary(Unary::Exp, 1000.0), f32::MAX);
    assert_eq!(unary(Unary::Exp, -1000.0), 0.0);
    assert!((unary(Unary::Log, 0.0) + 87.33655).abs() < 1e-4);
    assert_eq!(unary(Unary::Log, -3.0), unary(Unary::Log, 0.0));
    assert!(ulps(unary(Unary::Asin, 2.0), std::f64::consts::FRAC_PI_2) <= 2.0);
    assert!(ulps(unary(Unary::Acos, -2.0), std::f64::consts::PI) <= 2.0);
    for x in [1e7, -1e20, f32::MAX] {
        assert!(unary(Unary::Sin, x).abs() <= 1.0 && unary(Unary::Cos, x).abs() <= 1.0);
        assert!(unary(Unary::Tan, x).is_finite());
    }
    let binary = |op, x, y| apply(Op::Binary(op), &[vec![x], vec![y]])[0];
    assert_eq!(binary(Binary::Div, 1.0, 0.0), 0.0);
    assert_eq!(binary(Binary::Mod, 1.0, 0.0), 0.0);
    assert_eq!(binary(Binary::Atan2, 0.0, 0.0), 0.0);
    assert_eq!(binary(Binary::Pow, 0.0, 0.0), 1.0);
    assert_eq!(binary(Binary::Pow, 0.0, -1.0), 0.0);
    assert_eq!(binary(Binary::Pow, -2.0, 3.0), -8.0);
    assert_eq!(binary(Binary::Pow, -2.0, 2.0), 4.0);
    assert_eq!(binary(Binary::Pow, -2.0, 0.5), 0.0);
    assert_eq!(binary(Binary::Pow, 10.0, 1000.0), f32::MAX);
    assert_eq!(binary(Binary::Pow, 10.0, -1000.0), 0.0);
}
