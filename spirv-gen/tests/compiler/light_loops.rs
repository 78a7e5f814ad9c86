//! Light loops: one for each kind of light, or one for all.

use crate::messages::{shaded, shader};
use crate::pipelines::close;
use crate::test_pipeline::{RunOutput, TestPipeline};
use spirv_gen::compose::Content;
use spirv_gen::interp::shade;
use spirv_gen::ir::{Body, Op, RslType, Shader, print, verify};
use spirv_gen::passes::{merge_light_loops, simplify, to_light_loops};

/// Runs a surface under lights; its output `sum` is what the interpreter says, to the bit on the bound program.
fn agreed(surface: &Shader, lights: &[Shader]) -> RunOutput {
    agreed_within(surface, lights, ("sum", RslType::Float), 0.0)
}

/// The same of some output, where functions of the library may differ.
fn agreed_within(surface: &Shader, lights: &[Shader], output: (&str, RslType), tolerance: f32) -> RunOutput {
    let slots: Vec<_> = (90..96).map(|seed| shaded(seed, lights)).collect();
    let ran = TestPipeline::surface(surface, lights, &[output]).run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let named = shade(surface, &slot.scene, &slot.grid).0;
        let sums = &named.iter().find(|found| &*found.0 == output.0).expect("an output").1;
        for (vertex, sum) in sums.iter().enumerate() {
            let (bound, device) = (&ran.bound[i][0][vertex], &ran.on_device[i][0][vertex]);
            assert!(close(sum, bound, 1e-4) && close(bound, device, tolerance), "{sum}, {bound}, {device}");
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

/// The number of light loops of a surface of some statements before and after merging, which must not change any bit
/// of what it computes at points of all kinds.
fn loops_merged(statements: &str) -> [usize; 2] {
    let surface = shader(&format!(
        "surface s(float one = 1;) {{
            float sum = 0, more = 0;
            normal n = normalize(N);
            vector v = normalize(vector (0.5, 1, -2));
            float grey(color c) {{ return comp(c, 0) + 2 * comp(c, 1) + 4 * comp(c, 2); }}
            {statements}
            Ci = color (sum, more, 0);
        }}"
    ));
    let lights = [
        shader("light sun(string __category = \"key\";) { solar (vector (0, 0, 1), 0) Cl = 0.5; }"),
        shader("light lamp() { illuminate (point (1, 2, 3)) Cl = color (1, s, 0.5) / (1 + L . L); }"),
        shader("light sky() { Cl = color (0.25, 0.5, 0.125); }"),
    ];
    let count = |body: &Body| {
        let mut count = 0;
        body.walk(body.root(), &mut |i| count += usize::from(matches!(body.inst(i).op, Op::LightLoop { .. })));
        count
    };
    let looped = to_light_loops(&simplify(&surface.body));
    let merged = merge_light_loops(looped.clone());
    let counts = [count(&looped), count(&merged)];
    let merged = Shader { body: merged, ..surface.clone() };
    verify(&merged).unwrap_or_else(|e| panic!("{e}: {}", print(&merged)));
    for seed in 90..96 {
        let slot = shaded(seed, &lights);
        let [before, after] = [&surface, &merged].map(|shader| shade(shader, &slot.scene, &slot.grid).0);
        assert_eq!(format!("{before:?}"), format!("{after:?}"), "{statements}");
    }
    agreed_within(&surface, &lights, ("Ci", RslType::Color), 1e-5);
    counts
}

#[test]
fn light_loops_merge_across_branches() {
    for (statements, loops) in [
        // Uniform guards, and a sum that goes through both.
        ("if (one > 0) sum += grey(diffuse(n)); if (one > 0.5) sum += grey(specular(n, v, 0.5));", [2, 1]),
        // One that varies, one whose light is needed always, an ambient one.
        ("if (s > 0.5) sum += grey(diffuse(n)); more = grey(specular(n, v, 0.25));", [2, 1]),
        (
            "sum = grey(diffuse(n)); if (s > t) more = grey(specular(n, v, 0.25)); if (t > 0.3) sum += grey(ambient());",
            [3, 1],
        ),
        // What one needs is computed in its branch.
        (
            "if (s > 0.5) { normal m = normalize(n + s * v); sum = t; sum += s * grey(diffuse(m)); } \
          if (one == 1) { float rough = 0.25 + noise(s); more = grey(specular(n, v, rough)) * rough; }",
            [2, 1],
        ),
        // The same guard twice, guards in guards, the other side of a branch.
        ("if (s > 0.5) sum = grey(diffuse(n)); if (s > 0.5) more = grey(specular(n, v, 0.25));", [2, 1]),
        (
            "if (s > 0.3) { sum = 2; if (t > 0.4) { if (one > 0) sum += s * grey(diffuse(n)); } } \
          if (s < 0.8) sum += 1; else more = grey(specular(n, v, 0.25)) + t;",
            [2, 1],
        ),
        (
            "if (s > 0.3) { if (t > s) sum += grey(diffuse(n)); } else { if (t < s) sum = 3; } \
          if (s + t > 1) { illuminance (\"key\", P, v, 1.5) more += grey(Cl); }",
            [2, 1],
        ),
        // A third.
        (
            "if (s > 0.3) sum += grey(diffuse(n)); if (t > 0.3) sum += grey(specular(n, v, 0.5)); \
          if (s > t) illuminance (P) more += grey(Cl) * s;",
            [3, 1],
        ),
        // The two sides of one branch, the same loop again and again, what depends on the first.
        ("if (one > 0) sum += grey(diffuse(n)); else sum += grey(specular(n, v, 0.5));", [2, 2]),
        ("float i; for (i = 0; i < 2 + one; i += 1) { if (one > 0) sum += grey(diffuse(n)); }", [1, 1]),
        ("if (one > 0) sum = grey(diffuse(n)); if (sum > 0.5) more = grey(specular(n, v, 0.5));", [2, 2]),
        ("if (one > 0) sum = grey(diffuse(n)); if (s > t) more = grey(specular(n, v, 0.5 + sum));", [2, 2]),
        // Another point; an effect between.
        ("if (one > 0) sum = grey(diffuse(n)); if (s > t) illuminance (P + v) more += grey(Cl);", [2, 2]),
        (
            "float a[2]; if (s > t) { a[s] = 1; sum = grey(diffuse(n)); } if (one > 0) more = a[t] + grey(specular(n, v, 0.5));",
            [2, 2],
        ),
        // A derivative of what only some points know.
        ("if (s > t) sum = Du(grey(diffuse(n))); if (one > 0) more = grey(specular(n, v, 0.5));", [2, 2]),
        ("if (s > t) sum = Du(s * t) * grey(diffuse(n)); if (one > 0) more = grey(specular(n, v, 0.5));", [2, 1]),
    ] {
        assert_eq!(loops_merged(statements), loops, "{statements}");
    }
}

#[test]
fn without_lights_there_is_no_list_of_them() {
    let ran = agreed(&shader("surface s(output varying float sum = 0;) { illuminance (P) sum += comp(Cl, 0); }"), &[]);
    assert!(ran.composed.reflection.block.slots.iter().all(|slot| slot.content != Content::LightList));
}
