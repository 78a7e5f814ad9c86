//! Light loops: one for each kind of light, or one for all.

use crate::messages::{shaded, shader};
use crate::pipelines::close;
use crate::test_pipeline::{RunOutput, TestPipeline};
use spirv_gen::compose::Content;
use spirv_gen::interp::shade;
use spirv_gen::ir::{Op, RslType, Shader};

/// Runs a surface under lights; its output `sum` is what the interpreter says.
fn agreed(surface: &Shader, lights: &[Shader]) -> RunOutput {
    let slots: Vec<_> = (90..96).map(|seed| shaded(seed, lights)).collect();
    let ran = TestPipeline::surface(surface, lights, &[("sum", RslType::Float)]).run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let named = shade(surface, &slot.scene, &slot.grid).0;
        let sums = &named.iter().find(|output| &*output.0 == "sum").expect("an output").1;
        for (vertex, sum) in sums.iter().enumerate() {
            let (bound, device) = (&ran.bound[i][0][vertex], &ran.on_device[i][0][vertex]);
            assert!(close(sum, bound, 1e-4) && close(bound, device, 0.0), "{sum}, {bound}, {device}");
        }
    }
    ran
}

/// Returns the number of light loops, and of switches over kinds of lights, that a body of some statements has under
/// four kinds of lights.
fn loops_and_switches(statements: usize) -> [usize; 2] {
    let body: String =
        (0..statements).map(|i| format!("sum += mod({}.25 * comp(Cl, {}), 0.75);\n", i, i % 3)).collect();
    let surface = shader(&format!("surface s(output varying float sum = 0;) {{ illuminance (P) {{ {body} }} }}"));
    let lights = [
        shader("light sun() { solar (vector (0, 0, 1), 0) Cl = 0.5; }"),
        shader("light lamp() { illuminate (point (1, 2, 3)) Cl = 1 / (1 + L . L); }"),
        shader("light sky() { Cl = 0.25; }"),
        shader("light moon(float k = 0.125;) { solar (vector (0, 1, 0), 0) Cl = color (k, 2 * k, 3 * k); }"),
    ];
    let ran = agreed(&surface, &lights);
    let body = &ran.composed.body;
    let (mut loops, mut switches) = (0, 0);
    body.walk(body.root(), &mut |i| match body.inst(i).op {
        Op::Loop => loops += 1,
        Op::Switch => switches += 1,
        _ => {}
    });
    [loops, switches]
}

#[test]
fn each_kind_of_light_has_its_loop_unless_the_body_is_long() {
    assert_eq!(loops_and_switches(3), [3, 0], "the ambient light is not among those of illuminance");
    assert_eq!(loops_and_switches(150), [1, 1]);
}

/// Arrays that one loop stores to are read in the next, which knows nothing of them: there may have been no light.
#[test]
fn arrays_go_on_from_one_kind_to_the_next() {
    let surface = shader(
        "surface s(output varying float sum = 0;) {
            float sums[2] = {0, 0}, hits[1] = {0};
            illuminance (P) {
                sums[0] += comp(Cl, 0) + 3 * hits[0];
                hits[0] = 1;
            }
            sum = sums[0] + 0.5 * hits[0];
        }",
    );
    let lights = [
        shader("light sun() { solar (vector (0, 0, 1), 0) Cl = 0.5; }"),
        shader("light moon() { solar (vector (0, 1, 0), 0) Cl = 0.125; }"),
    ];
    agreed(&surface, &lights);
}

#[test]
fn without_lights_there_is_no_list_of_them() {
    let ran = agreed(&shader("surface s(output varying float sum = 0;) { illuminance (P) sum += comp(Cl, 0); }"), &[]);
    assert!(ran.composed.reflection.slots.iter().all(|slot| slot.content != Content::LightList));
}
