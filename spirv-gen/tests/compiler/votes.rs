//! Branches with derivatives whose conditions are the same for a grid: a workgroup takes those alone that its grids
//! want.

use crate::generate::{Random, grid, scene};
use crate::pack::ShadedGrid;
use crate::pipelines::close;
use crate::test_pipeline::{RunMode, TestPipeline};
use spirv_gen::abi::LOOP_TRIPS_MAX;
use spirv_gen::interp::{Grid, shade};
use spirv_gen::ir::{Body, Const, Inst, Op, RslType, Shader, print_region};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader};

/// A surface with eight modes, each with derivatives of its own.
fn modes() -> String {
    let mode = |number: usize| {
        format!(
            "if (mode == {number}) {{ float x = noise({}.3 * P); Ci = color (Du(x), Dv(x), x) * Du(x * x) + {number}; }}",
            number + 1
        )
    };
    let chain = (0..8).map(mode).collect::<Vec<_>>().join(" else ");
    format!("surface modes(float mode = 0) {{ {chain} else Ci = 0.5; Oi = Du(Ci); }}")
}

/// Returns a shader of a text.
fn shader_of(text: &str) -> Shader {
    let (shader, diagnostics) = parse_shader(&Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

/// Returns a grid in a scene that has this mode, of a size of which four are a workgroup.
fn in_mode<'a>(mode: usize, seed: u64) -> ShadedGrid<'a> {
    let mut random = Random::new(seed);
    let grid = Grid { nu: 5, nv: 6, du: 0.2, dv: 0.1, ..grid(&mut random) };
    let mut scene = scene(&mut random, &grid, &[]);
    scene.params = vec![Some(vec![vec![Const::F32(mode as f32)]])];
    ShadedGrid { grid, scene, others: Vec::new() }
}

/// Returns the number of a program's instructions.
fn size(body: &Body) -> usize {
    let mut size = 0;
    body.walk(body.root(), &mut |_| size += 1);
    size
}

#[test]
fn a_program_for_one_mode_has_nothing_of_the_others() {
    let shader = shader_of(&modes());
    let one = shader_of(
        "surface one() { float x = noise(4.3 * P); Ci = color (Du(x), Dv(x), x) * Du(x * x) + 3; Oi = Du(Ci); }",
    );
    let outputs = [("Ci", RslType::Color), ("Oi", RslType::Color)];
    let alone = TestPipeline::surface(&one, &[], &outputs).compose().body;
    let pipeline = TestPipeline::surface(&shader, &[], &outputs);
    let slots: Vec<_> = (0..5).map(|seed| in_mode(3, seed)).collect();
    let mode = RunMode { trips: LOOP_TRIPS_MAX, resume: false, interpret: false, cut: None, decides: false };
    let run = |decides| pipeline.run_as(&slots, RunMode { decides, ..mode });
    let [all, own] = [false, true].map(run);
    assert_eq!(all.on_device, own.on_device);
    assert_eq!(own.decided, 8);
    assert_eq!(
        size(&own.composed.body),
        size(&alone),
        "{}",
        print_region(&own.composed.body, own.composed.body.root())
    );
    assert!(size(&all.composed.body) > 4 * size(&alone));
}

#[test]
fn grids_of_a_workgroup_take_the_branches_that_any_of_them_wants() {
    let shader = shader_of(&modes());
    let slots: Vec<_> =
        [0, 0, 3, 7, 8, 1, 5, 5, 2].into_iter().zip(0..).map(|(mode, seed)| in_mode(mode, seed)).collect();
    let pipeline = TestPipeline::surface(&shader, &[], &[("Ci", RslType::Color), ("Oi", RslType::Color)]);
    let ran = pipeline.run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let named = shade(&shader, &slot.scene, &slot.grid).0;
        for (output, (name, column)) in named.iter().take(2).enumerate() {
            for (vertex, (a, b)) in column.iter().zip(&ran.on_device[i][output]).enumerate() {
                assert!(close(a, b, 1e-3), "{name} at vertex {vertex} of grid {i} is {b}, not {a}");
            }
        }
    }
    let body = &ran.composed.body;
    let outside = body.region(body.root()).insts.iter().filter(|&&inst| body.inst(inst).op == Op::Any).count();
    let is_noise = |inst: Inst| matches!(body.inst(inst).op, Op::Noise { .. });
    assert!(body.region(body.root()).insts.iter().all(|&inst| !is_noise(inst)), "modes stay in their branches");
    assert!(outside > 0, "the workgroup votes");
}
