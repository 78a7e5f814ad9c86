//! Passes leave what a program computes as it was: on random programs, to the bit.

use crate::generate::{Features, Random, grid, program, scene};
use spirv_gen::interp::{Outputs, shade};
use spirv_gen::ir::{Body, Const, Op, Shader, ShaderKind, parse, print, verify};
use spirv_gen::passes::{merge_illuminance, simplify};

const ALL: Features = Features { derivatives: true, lights: true, loops: true, arrays: true, library: true };

fn same(a: &Const, b: &Const) -> bool {
    let floats = |c: &Const| match c {
        Const::F32(x) => vec![*x],
        Const::Vec3(x) => x.to_vec(),
        _ => Vec::new(),
    };
    let (x, y) = (floats(a), floats(b));
    let equal = |(x, y): (&f32, &f32)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    x.len() == y.len() && x.iter().zip(&y).all(equal)
}

/// Runs a program before and after a pass.
fn check(seed: u64, features: Features, pass: impl Fn(&Body) -> Body) {
    let mut random = Random::new(seed);
    let light_features = Features { lights: false, derivatives: false, ..features };
    let lights = [
        program(&mut random, ShaderKind::Light, 12, light_features),
        program(&mut random, ShaderKind::AmbientLight, 6, light_features),
    ];
    let size = 10 + random.below(60);
    let shader = program(&mut random, ShaderKind::Surface, size, features);
    verify(&shader).expect("generated programs are valid");
    let changed = Shader { body: pass(&shader.body), ..shader.clone() };
    verify(&changed).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}\n->\n{}", print(&shader), print(&changed)));
    let grid = grid(&mut random);
    let scene = scene(&mut random, &grid, if features.lights { &lights } else { &[] });
    let (before, after) = (shade(&shader, &scene, &grid).0, shade(&changed, &scene, &grid).0);
    compare(&before, &after, &format!("seed {seed}\n{}\n->\n{}", print(&shader), print(&changed)));
}

fn compare(before: &Outputs, after: &Outputs, what: &str) {
    for ((name, a), (_, b)) in before.iter().zip(after) {
        for (vertex, (a, b)) in a.iter().zip(b).enumerate() {
            assert!(same(a, b), "{name} at vertex {vertex}: {a} became {b}, {what}");
        }
    }
}

#[test]
fn simplified_programs_compute_the_same() {
    for seed in 0..300 {
        check(seed, ALL, simplify);
    }
}

#[test]
fn programs_survive_their_text() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let shader = program(&mut random, ShaderKind::Surface, 40, ALL);
        let again = parse(&print(&shader)).expect("reads");
        verify(&again).expect("valid");
        let grid = grid(&mut random);
        let scene = scene(&mut random, &grid, &[]);
        compare(&shade(&shader, &scene, &grid).0, &shade(&again, &scene, &grid).0, "through text");
    }
}

#[test]
fn merged_illuminance_computes_the_same() {
    for seed in 1000..1300 {
        check(seed, ALL, |body| merge_illuminance(&simplify(body)));
        check(seed, ALL, |body| simplify(&merge_illuminance(body)));
    }
}

fn light_loops(body: &Body) -> usize {
    let mut count = 0;
    body.walk(body.root(), &mut |i| count += usize::from(matches!(body.inst(i).op, Op::LightLoop { .. })));
    count
}

/// Two illuminance statements over different cones and an ambient(): the second's axis is made between them.
const SPLIT: &str = r#"
shader surface "split"
code {
  %0: vec3 = global P
  %1: vec3 = global N
  %2: str = const ""
  %3: f32 = const 1.5
  %4: vec3 = const 0.0 0.0 0.0
  %5: vec3 = illuminance cone(%0, %1, %3, %2, %4) |%6: vec3, %7: vec3, %8: vec3, %9: vec3| {
    %10: vec3 = add(%9, %7)
    yield %10
  }
  %11: vec3 = neg(%1)
  %12: vec3 = mul(%5, %5)
  %13: vec3 = illuminance cone(%0, %11, %3, %2, AXIS) |%14: vec3, %15: vec3, %16: vec3, %17: vec3| {
    %18: vec3 = mul(%17, %15)
    yield %18
  }
  %19: vec3 = ambient
  %20: vec3 = add(%12, %13)
  %21: vec3 = add(%20, %19)
  yield %21 %4
}
output "Ci" "Oi"
"#;

#[test]
fn loops_over_the_same_lights_become_one() {
    let merged = |start: &str| {
        let shader = parse(&SPLIT.replace("AXIS", start)).expect("reads");
        light_loops(&merge_illuminance(&simplify(&shader.body)))
    };
    assert_eq!(merged("%1"), 1, "two illuminance and ambient");
    // The second starts with what the first summed: only ambient() merges.
    assert_eq!(merged("%12"), 2, "a dependent illuminance");
}
