//! What noise must be like (RISpec 15.1), on the interpreter; that the device does the same to the bit is tested with
//! the operations.

use crate::generate::Random;
use spirv_gen::interp::evaluate;
use spirv_gen::ir::{Const, MachineType, NoiseKind, Op};

fn noise(kind: NoiseKind, args: &[f32]) -> f32 {
    let n = if kind == NoiseKind::Periodic { args.len() / 2 } else { args.len() };
    let shape = |x: &[f32]| match *x {
        [x] => vec![Const::F32(x)],
        [x, y] => vec![Const::F32(x), Const::F32(y)],
        [x, y, z] => vec![Const::Vec3([x, y, z])],
        _ => vec![Const::Vec3([x[0], x[1], x[2]]), Const::F32(x[3])],
    };
    let args: Vec<Const> = args.chunks(n).flat_map(shape).collect();
    let op = Op::Noise { kind, dimension: n as u8, ty: MachineType::F32 };
    evaluate(&op, &args).and_then(|c| c.as_f32()).expect("noise")
}

fn place(random: &mut Random, n: usize) -> Vec<f32> {
    (0..n).map(|_| random.float(-500.0, 500.0)).collect()
}

#[test]
fn mean_range_and_contrast() {
    for n in 1..=4 {
        let mut random = Random::new(n as u64);
        let count = 40_000;
        let values: Vec<f64> = (0..count).map(|_| noise(NoiseKind::Gradient, &place(&mut random, n)).into()).collect();
        let mean = values.iter().sum::<f64>() / count as f64;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count as f64).sqrt();
        assert!((mean - 0.5).abs() < 0.005, "mean {mean} in {n} dimensions");
        // All dimensions have the same contrast.
        assert!((deviation - 0.135).abs() < 0.004, "deviation {deviation} in {n} dimensions");
        assert!(values.iter().all(|v| (0.0..=1.0).contains(v)));
    }
}

#[test]
fn one_half_at_lattice_points() {
    for n in 1..=4 {
        let mut random = Random::new(n as u64);
        for _ in 0..200 {
            let at: Vec<f32> = place(&mut random, n).into_iter().map(f32::round).collect();
            assert_eq!(noise(NoiseKind::Gradient, &at), 0.5, "{at:?}");
        }
    }
}

/// Across a cell's border value, slope and curvature go on.
#[test]
fn two_continuous_derivatives() {
    let h = 1e-3f32;
    let at = |x: f32| f64::from(noise(NoiseKind::Gradient, &[x, 0.37, 12.81]));
    let curvature = |x: f32| (at(x + h) - 2.0 * at(x) + at(x - h)) / f64::from(h * h);
    for border in [1.0f32, 2.0, 7.0] {
        // Curvature is a bounded multiple of the distance from the border on both sides: it goes through one value
        // there.
        let (left, right) = (curvature(border - 0.02), curvature(border + 0.02));
        assert!((left - right).abs() < 1.5, "curvature jumps from {left} to {right} at {border}");
    }
}

#[test]
fn neighbouring_cells_differ() {
    let mut random = Random::new(9);
    let mut correlation = [0.0f64; 3];
    let count = 20_000;
    for _ in 0..count {
        let p = place(&mut random, 3);
        let here = f64::from(noise(NoiseKind::Gradient, &p)) - 0.5;
        for (k, sum) in correlation.iter_mut().enumerate() {
            let mut q = p.clone();
            q[k] += 2.0;
            *sum += here * (f64::from(noise(NoiseKind::Gradient, &q)) - 0.5) / (0.135 * 0.135);
        }
    }
    for (axis, c) in correlation.iter().enumerate() {
        assert!((c / f64::from(count)).abs() < 0.03, "cells two apart along axis {axis} are alike: {c}");
    }
}

#[test]
fn periodic_noise_repeats() {
    let mut random = Random::new(4);
    for n in 1..=4 {
        let period: Vec<f32> = (0..n).map(|k| 3.0 + k as f32).collect();
        for _ in 0..200 {
            let at = place(&mut random, n);
            // Whole periods in sixteenths of a cell, so that the sum is exact.
            let at: Vec<f32> = at.into_iter().map(|x| (x * 16.0).round() / 16.0).collect();
            let moved: Vec<f32> = at.iter().zip(&period).map(|(x, p)| x + 2.0 * p).collect();
            let (a, b) = ([&at[..], &period].concat(), [&moved[..], &period].concat());
            assert_eq!(noise(NoiseKind::Periodic, &a), noise(NoiseKind::Periodic, &b), "{at:?}");
        }
    }
}

#[test]
fn cellnoise_is_constant_in_a_cell_and_even() {
    let mut random = Random::new(5);
    let mut histogram = [0usize; 10];
    for _ in 0..20_000 {
        let cell = place(&mut random, 3).into_iter().map(f32::floor);
        let (a, b): (Vec<f32>, Vec<f32>) = cell.map(|c| (c + 0.001, c + 0.999)).unzip();
        let value = noise(NoiseKind::Cell, &a);
        assert_eq!(value, noise(NoiseKind::Cell, &b));
        histogram[(value * 10.0) as usize] += 1;
    }
    assert!(histogram.iter().all(|&n| (1850..2150).contains(&n)), "{histogram:?}");
}

#[test]
fn hashnoise_differs_for_every_value_and_is_even() {
    let mut random = Random::new(6);
    for n in 1..=4 {
        let (mut histogram, mut unequal) = ([0usize; 10], 0);
        for _ in 0..20_000 {
            let at = place(&mut random, n);
            let mut next = at.clone();
            next[n - 1] = f32::from_bits(next[n - 1].to_bits() + 1);
            let value = noise(NoiseKind::Hash, &at);
            histogram[(value * 10.0) as usize] += 1;
            unequal += usize::from(value != noise(NoiseKind::Hash, &next));
        }
        assert!(histogram.iter().all(|&n| (1850..2150).contains(&n)), "{n} dimensions: {histogram:?}");
        assert!(unequal > 19_990, "{n} dimensions: only {unequal} neighbours differ");
    }
    assert_eq!(noise(NoiseKind::Hash, &[0.0]), noise(NoiseKind::Hash, &[-0.0]));
    assert_eq!(noise(NoiseKind::Hash, &[0.0]), noise(NoiseKind::Hash, &[1e-40]));
}
