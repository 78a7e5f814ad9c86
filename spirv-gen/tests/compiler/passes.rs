//! Passes leave what a program computes as it was: on random programs, to the bit.

use crate::generate::{Features, Random, grid, program, scene};
use spirv_gen::interp::{Outputs, shade};
use spirv_gen::ir::{Body, Const, Op, Shader, ShaderKind, parse, print, verify};
use spirv_gen::passes::{
    drop_uniform_derivatives, merge_light_loops, relocate_derivatives, roll, simplify, to_light_loops,
};
use std::cell::Cell;

const ALL: Features = Features {
    derivatives: true,
    lights: true,
    loops: true,
    arrays: true,
    noise: true,
    library: true,
    repeats: false,
    modes: false,
};

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

/// Runs a program before and after each pass.
fn check(seed: u64, features: Features, passes: &[&dyn Fn(&Body) -> Body]) {
    let mut random = Random::new(seed);
    let light_features = Features { lights: false, derivatives: false, ..features };
    let lights = [
        program(&mut random, ShaderKind::Light, 12, light_features),
        program(&mut random, ShaderKind::AmbientLight, 6, light_features),
    ];
    let size = 10 + random.below(60);
    let shader = program(&mut random, ShaderKind::Surface, size, features);
    verify(&shader).expect("generated programs are valid");
    let grid = grid(&mut random);
    let scene = scene(&mut random, &grid, if features.lights { &lights } else { &[] });
    let before = shade(&shader, &scene, &grid).0;
    for pass in passes {
        let changed = Shader { body: pass(&shader.body), ..shader.clone() };
        let what = || format!("seed {seed}\n{}\n->\n{}", print(&shader), print(&changed));
        verify(&changed).unwrap_or_else(|e| panic!("{e}: {}", what()));
        compare(&before, &shade(&changed, &scene, &grid).0, what);
    }
}

fn compare(before: &Outputs, after: &Outputs, what: impl Fn() -> String) {
    for ((name, a), (_, b)) in before.iter().zip(after) {
        for (vertex, (a, b)) in a.iter().zip(b).enumerate() {
            assert!(same(a, b), "{name} at vertex {vertex}: {a} became {b}, {}", what());
        }
    }
}

#[test]
fn simplified_programs_compute_the_same() {
    for seed in 0..300 {
        check(seed, ALL, &[&simplify]);
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
        compare(&shade(&shader, &scene, &grid).0, &shade(&again, &scene, &grid).0, || "through text".to_owned());
    }
}

#[test]
fn rolled_programs_compute_the_same() {
    let (features, rolled) = (Features { repeats: true, ..ALL }, Cell::new(0));
    let count = |body: Body| {
        let mut tables = 0;
        body.walk(body.root(), &mut |i| tables += usize::from(matches!(body.inst(i).op, Op::Table(_))));
        rolled.set(rolled.get() + tables);
        body
    };
    for seed in 4000..4120 {
        let plain = |body: &Body| count(roll(simplify(body)));
        check(seed, features, &[&plain, &|body| relocate_derivatives(&roll(simplify(body)))]);
    }
    assert!(rolled.get() > 60, "{} tables in 120 programs", rolled.get());
}

/// Transforms by the matrix 1, which is also that of a space known to be the current one, are none.
#[test]
fn the_matrix_1_moves_nothing() {
    for (operation, result) in [
        ("xform_point(%3, %1)", "vec3"),
        ("xform_vector(%3, %1)", "vec3"),
        ("xform_normal(%3, %1)", "vec3"),
        ("xform_point(%4, %1)", "vec3"),
        ("mul(%2, %3)", "mat4"),
        ("mul(%3, %2)", "mat4"),
    ] {
        let identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1].map(|x| format!("{x}.0")).join(" ");
        let used = if result == "vec3" { "%5" } else { "%6" };
        let text = format!(
            "shader surface \"m\"\ncode {{\n%0: str = const \"current\"\n%1: vec3 = global P\n\
             %2: mat4 = space \"shader\" camera_from_space\n%3: mat4 = const {identity}\n\
             %4: mat4 = space_of camera_from_space(%0)\n%5: {result} = {operation}\n{}yield {used} %1\n}}\n\
             output \"Ci\" \"Oi\"\n",
            if result == "mat4" { "%6: vec3 = xform_point(%5, %1)\n" } else { "" }
        );
        let body = simplify(&parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).body);
        let mut moves = 0;
        body.walk(body.root(), &mut |i| moves += usize::from(matches!(body.inst(i).op, Op::Binary(_))));
        assert_eq!(moves, usize::from(result == "mat4"), "{operation}");
    }
}

#[test]
fn merged_illuminance_computes_the_same() {
    for seed in 1000..1300 {
        let simple_first = |body: &Body| merge_light_loops(to_light_loops(&simplify(body)));
        let simple_last = |body: &Body| simplify(&merge_light_loops(to_light_loops(body)));
        check(seed, ALL, &[&simple_first, &simple_last]);
    }
}

/// Without derivatives, which keep loops in their branches.
#[test]
fn merged_illuminance_in_branches_computes_the_same() {
    for seed in 3000..3200 {
        let features = Features { derivatives: false, loops: seed % 3 == 0, arrays: seed % 5 == 0, ..ALL };
        let merged = |body: &Body| merge_light_loops(to_light_loops(&simplify(body)));
        check(seed, features, &[&merged, &|body| simplify(&merged(body))]);
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
        light_loops(&merge_light_loops(to_light_loops(&simplify(&shader.body))))
    };
    assert_eq!(merged("%1"), 1, "two illuminance and ambient");
    // The second starts with what the first summed: only ambient() merges.
    assert_eq!(merged("%12"), 2, "a dependent illuminance");
}

#[test]
fn relocated_derivatives_compute_the_same() {
    let features = Features { lights: false, ..ALL };
    for seed in 2000..2400 {
        check(seed, features, &[&|body| relocate_derivatives(&drop_uniform_derivatives(&simplify(body)))]);
    }
}

/// The number of exchanges, and whether the whole workgroup reaches each of them.
fn exchanges(body: &Body) -> usize {
    let mut count = 0;
    body.walk(body.root(), &mut |i| count += usize::from(matches!(body.inst(i).op, Op::Derivatives(_))));
    count
}

#[test]
fn derivatives_share_barriers() {
    let exchanged = |code: &str| {
        let text = format!(
            "shader surface \"d\"\ncode {{\n%0: f32 = global s\n%1: f32 = global t\n%2: vec3 = global P\n\
             %3: f32 = const 0.5\n%4: bool = lt(%0, %3)\n{code}\n}}\noutput \"Ci\" \"Oi\"\n"
        );
        let shader = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        exchanges(&relocate_derivatives(&drop_uniform_derivatives(&simplify(&shader.body))))
    };
    // Listing 3 of the paper: four derivatives in two branches, of two values.
    let swapped = "%10: f32, %11: f32 = if(%4) {\n%12: f32 = derivative u(%1)\n%13: f32 = derivative u(%0)\nyield %12 %13\n} {\n\
                   %14: f32 = derivative u(%0)\n%15: f32 = derivative u(%1)\nyield %14 %15\n}\n\
                   %16: vec3 = vec3(%10, %11, %10)\nyield %16 %16";
    assert_eq!(exchanged(swapped), 1);
    // A derivative of a derivative needs a second one, which a third of the first kind may not add to.
    let second = "%10: f32 = derivative u(%0)\n%11: f32 = derivative v(%10)\n%12: f32 = derivative u(%1)\n\
                  %13: vec3 = vec3(%10, %11, %12)\nyield %13 %13";
    assert_eq!(exchanged(second), 2);
    // Nine floats do not fit one exchange.
    let many = "%10: vec3 = derivative u(%2)\n%11: vec3 = global N\n%12: vec3 = derivative u(%11)\n%13: vec3 = mul(%2, %11)\n\
                %14: vec3 = derivative v(%13)\n%15: vec3 = add(%10, %12)\n%16: vec3 = add(%15, %14)\nyield %16 %16";
    assert_eq!(exchanged(many), 2);
    // Uniform values do not change from vertex to vertex.
    let uniform = "%10: f32 = global time\n%11: f32 = derivative u(%10)\n%12: vec3 = splat(%11)\nyield %12 %12";
    assert_eq!(exchanged(uniform), 0);
}
