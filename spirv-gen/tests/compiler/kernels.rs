//! What only a kernel has: budgets of loop trips, slots of every size, whole workgroups that stay together.

use crate::generate::Random;
use crate::pack::ShadedGrid;
use crate::test_pipeline::{RunMode, TestPipeline};
use spirv_gen::abi::LOOP_TRIPS_MAX;
use spirv_gen::interp::{Grid, Scene, shade};
use spirv_gen::ir::{Const, Global, RslType, Shader, parse, verify};

const COLOURS: [(&str, RslType); 2] = [("Ci", RslType::Color), ("Oi", RslType::Color)];

fn surface(code: &str) -> Shader {
    let text = format!("shader surface \"s\"\ncode {{\n{code}\nyield %90 %90\n}}\noutput \"Ci\" \"Oi\"\n");
    let shader = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&shader).expect("valid");
    shader
}

fn square(nu: u32, nv: u32) -> ShadedGrid<'static> {
    let grid = Grid { nu, nv, du: 1.0 / nu as f32, dv: 1.0 / nv as f32, flags: 0, seed: 1 };
    let mut scene = Scene::default();
    let column = |f: &dyn Fn(u32, u32) -> f32| -> Vec<Const> {
        (0..grid.vertices() as u32).map(|v| Const::F32(f(v % (nu + 1), v / (nu + 1)))).collect()
    };
    scene.globals.insert(Global::S, column(&|i, _| i as f32));
    scene.globals.insert(Global::T, column(&|_, j| j as f32));
    ShadedGrid { grid, scene, others: Vec::new() }
}

fn floats(column: &[Const]) -> Vec<f32> {
    column.iter().map(|c| c.as_vec3().expect("a triple")[0]).collect()
}

/// Counts up to a bound.
fn counting(bound: &str, body: &str) -> String {
    format!(
        "%0: f32 = global s\n%1: f32 = const 1.0\n%2: f32 = const 0.0\n%3: f32 = const {bound}\n%4: f32 = add(%0, %3)\n\
         %5: f32, %6: f32 = loop(%2, %2) |%7: f32, %8: f32| {{\n%9: bool = lt(%7, %4)\nyield %9\n}} {{\n\
         %10: f32 = add(%7, %1)\n{body}\nyield %10 %11\n}}\n%12: f32 = add(%5, %6)\n%90: vec3 = splat(%12)"
    )
}

#[test]
fn endless_loops_end_and_are_counted() {
    // Without and with a derivative in the loop, where the whole workgroup must leave together.
    for body in ["%11: f32 = add(%8, %1)", "%11: f32 = derivative u(%7)"] {
        let shader = surface(&counting("1e9", body));
        let pipeline = TestPipeline::surface(&shader, &[], &COLOURS);
        let slots = [square(3, 3), square(2, 1)];
        let vertices: usize = slots.iter().map(|s| s.grid.vertices()).sum();
        let mode = RunMode { trips: LOOP_TRIPS_MAX, resume: false, interpret: false, cut: None, decides: false };
        let ran = pipeline.run_as(&slots, mode);
        assert_eq!(ran.exhausted as usize, vertices, "{body}");
        let trips = floats(&ran.on_device[0][0])[0];
        assert!(trips >= LOOP_TRIPS_MAX as f32, "{trips} trips: {body}");
    }
}

#[test]
fn loops_that_end_are_not_counted() {
    let shader = surface(&counting("1000.0", "%11: f32 = add(%8, %1)"));
    let ran = TestPipeline::surface(&shader, &[], &COLOURS).run(&[square(3, 3)]);
    assert_eq!(ran.exhausted, 0);
    let expected: Vec<f32> = (0..16).map(|v| 2.0 * (1000.0 + (v % 4) as f32)).collect();
    assert_eq!(floats(&ran.on_device[0][0]), expected);
}

#[test]
fn a_loop_of_ten_million_trips_is_right() {
    // Ten million is no float that grows by one alone; so 10 trips of a million each, counted apart.
    let code = "%0: f32 = const 0.0\n%1: f32 = const 1.0\n%2: f32 = const 10.0\n%3: f32 = const 1000000.0\n\
                %4: f32 = global s\n%5: f32 = add(%2, %4)\n\
                %6: f32, %7: f32 = loop(%0, %0) |%8: f32, %9: f32| {\n%10: bool = lt(%8, %5)\nyield %10\n} {\n\
                %11: f32 = add(%8, %1)\n\
                %12: f32, %13: f32 = loop(%0, %9) |%14: f32, %15: f32| {\n%16: bool = lt(%14, %3)\nyield %16\n} {\n\
                %17: f32 = add(%14, %1)\n%18: f32 = sub(%1, %15)\nyield %17 %18\n}\n\
                %19: f32 = add(%13, %12)\n%20: f32 = mod(%19, %2)\n%21: f32 = add(%20, %8)\nyield %11 %21\n}\n\
                %22: f32 = add(%6, %7)\n%90: vec3 = splat(%22)";
    let shader = surface(code);
    let mode = RunMode { trips: LOOP_TRIPS_MAX, resume: true, interpret: false, cut: None, decides: false };
    let ran = TestPipeline::surface(&shader, &[], &COLOURS).run_as(&[square(1, 1)], mode);
    // The inner loop has an even number of trips, so it leaves its value as it was.
    let expected = |s: u32| {
        let trips = 10 + s;
        (0..trips).fold(0.0_f32, |y, i| (y + 1e6) % 10.0 + i as f32) + trips as f32
    };
    assert_eq!(floats(&ran.on_device[0][0]), [expected(0), expected(1), expected(0), expected(1)]);
    assert!(ran.dispatches > 300, "{} dispatches", ran.dispatches);
}

#[test]
fn differences_of_a_parabola_are_exact() {
    // s^2 + t: centred inside, second order at the rim, so exact everywhere with three vertices or more.
    let code = "%0: f32 = global s\n%1: f32 = global t\n%2: f32 = mul(%0, %0)\n%3: f32 = add(%2, %1)\n\
                %4: f32 = derivative u(%3)\n%5: f32 = derivative v(%3)\n%6: f32 = const 0.0\n%90: vec3 = vec3(%4, %5, %6)";
    let shader = surface(code);
    let pipeline = TestPipeline::surface(&shader, &[], &COLOURS);
    // One slot of every size: 4, 8, 16, ... vertices and odd numbers between.
    for (nu, nv) in [(2, 2), (3, 3), (7, 2), (4, 9), (15, 15), (15, 2), (2, 15)] {
        let ran = pipeline.run(&[square(nu, nv), square(nu, nv), square(nu, nv)]);
        for slot in 0..3 {
            for (vertex, c) in ran.on_device[slot][0].iter().enumerate() {
                let s = (vertex as u32 % (nu + 1)) as f32;
                let got = c.as_vec3().expect("a triple");
                let expected = [2.0 * s * nu as f32, nv as f32, 0.0];
                let close = got.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-4 * b.abs().max(1.0));
                assert!(close, "{nu}x{nv}, slot {slot}, vertex {vertex}: {got:?}, not {expected:?}");
            }
        }
    }
}

#[test]
fn grids_of_one_micropolygon_have_first_order_differences() {
    let code = "%0: f32 = global s\n%1: f32 = mul(%0, %0)\n%2: f32 = derivative u(%1)\n%90: vec3 = splat(%2)";
    let shader = surface(code);
    let ran = TestPipeline::surface(&shader, &[], &COLOURS).run(&[square(1, 1), square(1, 1)]);
    for slot in 0..2 {
        assert_eq!(floats(&ran.on_device[slot][0]), [1.0; 4]);
    }
}

#[test]
fn slots_of_many_grids_do_not_mix() {
    // Small grids share workgroups; every grid differs, loops take different numbers of trips in each.
    let body = "%13: f32 = mul(%7, %8)\n%14: f32 = derivative u(%13)\n%11: f32 = add(%14, %0)";
    let shader = surface(&counting("0.5", body));
    let pipeline = TestPipeline::surface(&shader, &[], &COLOURS);
    let mut random = Random::new(2);
    let slots: Vec<_> = (0..40)
        .map(|_| {
            let mut slot = square(1 + random.below(3) as u32, 1 + random.below(3) as u32);
            let s = (0..slot.grid.vertices()).map(|_| Const::F32(random.float(0.0, 6.0))).collect();
            slot.scene.globals.insert(Global::S, s);
            slot
        })
        .collect();
    let ran = pipeline.run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let named = shade(&shader, &slot.scene, &slot.grid).0;
        assert_eq!(floats(&named[0].1), floats(&ran.on_device[i][0]), "slot {i}");
    }
}
