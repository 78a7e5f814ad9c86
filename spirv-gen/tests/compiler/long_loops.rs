//! Loops of more trips than an invocation makes in a dispatch, against the interpreter, which makes them all at once.

use crate::pack::ShadedGrid;
use crate::pipelines::close;
use crate::test_pipeline::{RunMode, TestPipeline};
use spirv_gen::abi::LOOP_TRIPS_MAX;
use spirv_gen::interp::{Grid, LightInstance, Scene, shade};
use spirv_gen::ir::{Const, Direction, Global, RslType, Shader};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader};

/// Marches through turbulent fog, and asks the lights at each step, as volumes do.
const MARCH: &str = "surface march(float step_size = 0.006, octaves = 5) {
    float len = 0.25 + 5.75 * s * t, along = 0;
    color Cv = 0, Ov = 0;
    while (along < len) {
        point at = P + along * normalize(I);
        float sum = 0, f = 1, i;
        for (i = 0; i < octaves; i += 1) { sum += abs(2 * noise(at * f) - 1) / f; f *= 2; }
        float d = smoothstep(0.2, 0.9, sum) * step_size;
        color li = 0;
        illuminance(at, vector(0, 0, 1), PI) { li += Cl; }
        Cv += (1 - Ov) * li * d;
        Ov += (1 - Ov) * (1 - exp(-d));
        along += step_size;
    }
    Ci = Cv;
    Oi = Ov;
}";

const LAMP: &str = "light lamp() {
    illuminate(point \"shader\" (0, 0, 0)) { Cl = color(1, 2, 4) / (L . L); }
}";

fn compiled(name: &str, text: &str) -> Shader {
    let (shader, diagnostics) = parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

/// 20 points of a grid, of which the first march 42 steps and the last 1,000, and a lamp.
fn fog(lamp: &Shader) -> ShadedGrid<'_> {
    let grid = Grid { nu: 4, nv: 3, du: 0.25, dv: 1.0 / 3.0, flags: 0, seed: 1 };
    let place = |vertex: usize| [(vertex % 5) as f32 / 4.0, (vertex / 5) as f32 / 3.0];
    let column = |f: &dyn Fn([f32; 2]) -> Const| (0..20).map(|vertex| f(place(vertex))).collect();
    let mut scene = Scene::default();
    scene.globals.insert(Global::S, column(&|[s, _]| Const::F32(s)));
    scene.globals.insert(Global::T, column(&|[_, t]| Const::F32(t)));
    scene.globals.insert(Global::P, column(&|[s, t]| Const::Vec3([s - 0.5, t - 0.5, 2.0])));
    let at = |s: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, s, 3.0 * s, s, 1.0];
    let space = [(Direction::CameraFromSpace, at(1.0)), (Direction::SpaceFromCamera, at(-1.0))].into_iter().collect();
    scene.lights.push(LightInstance { shader: lamp, params: Vec::new(), space, category: String::new() });
    ShadedGrid { grid, scene, others: Vec::new() }
}

#[test]
fn marching_through_fog_is_what_the_interpreter_computes_at_20_points() {
    let (march, lamp) = (compiled("march.sl", MARCH), [compiled("lamp.sl", LAMP)]);
    let pipeline = TestPipeline::surface(&march, &lamp, &[("Ci", RslType::Color), ("Oi", RslType::Color)]);
    let shaded = fog(&lamp[0]);
    let (named, outcome) = shade(&march, &shaded.scene, &shaded.grid);
    assert_eq!(outcome.exhausted, 0);
    let ran =
        pipeline.run_as(&[shaded], RunMode { trips: 1024, resume: true, interpret: false, cut: None, decides: false });
    assert!(ran.dispatches > 5, "{} dispatches make 6,000 trips", ran.dispatches);
    for ((name, wanted), got) in named.iter().zip(&ran.on_device[0]) {
        for vertex in 0..20 {
            let (wanted, got) = (&wanted[vertex], &got[vertex]);
            assert!(close(wanted, got, 1e-4), "{name} at {vertex}: {got}, not {wanted}");
        }
        let sums = [&wanted[0], &wanted[19]].map(|c| c.as_vec3().map_or(0.0, |c| c[0]));
        assert!(sums[0] > 0.0 && sums[1] > 2.0 * sums[0], "{name}: {sums:?}");
    }
}

#[test]
fn the_interpreter_counts_on_where_a_dispatch_ends() {
    let count = compiled(
        "count.sl",
        "surface count() { float i, k = s; for (i = 0; i < 40000; i += 1) k = 1 - k; Ci = i + k; }",
    );
    let grid = Grid { nu: 1, nv: 1, du: 1.0, dv: 1.0, flags: 0, seed: 1 };
    let shaded = ShadedGrid { grid, scene: Scene::default(), others: Vec::new() };
    let (named, outcome) = shade(&count, &shaded.scene, &shaded.grid);
    assert_eq!((named[0].1[3].as_vec3(), outcome.exhausted), (Some([40_000.0; 3]), 0));
    let pipeline = TestPipeline::surface(&count, &[], &[("Ci", RslType::Color)]);
    let ran = pipeline.run_as(
        &[shaded],
        RunMode { trips: LOOP_TRIPS_MAX, resume: true, interpret: false, cut: None, decides: false },
    );
    assert_eq!((ran.on_device[0][0][3].as_vec3(), ran.dispatches), (Some([40_000.0; 3]), 2));
}
