//! What is the same for an instance, or for a light, is computed once, and the device shades as the interpreter does.

use crate::generate::{Random, grid, scene};
use crate::pack::ShadedGrid;
use crate::pipelines::close;
use crate::test_pipeline::TestPipeline;
use spirv_gen::interp::shade;
use spirv_gen::ir::{Body, Const, Op, RslType, Shader};
use spirv_gen::passes::{count_operations, text_params};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader, standard};

const COLOUR: [(&str, RslType); 1] = [("Ci", RslType::Color)];

fn shader(text: &str) -> Shader {
    let (shader, diagnostics) = parse_shader(&Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

fn count(body: &Body, is: impl Fn(&Op) -> bool) -> usize {
    let mut count = 0;
    body.walk(body.root(), &mut |inst| count += usize::from(is(&body.inst(inst).op)));
    count
}

/// Compares the device with the interpreter of the shader as it is written; the kernel's program.
fn agree(surface: &Shader, lights: &[Shader]) -> Body {
    let slots: Vec<_> = (0..3)
        .map(|seed| {
            let mut random = Random::new(seed);
            let grid = grid(&mut random);
            let mut scene = scene(&mut random, &grid, lights);
            scene.params = vec![None; surface.params.len()];
            for light in &mut scene.lights {
                light.params = vec![None; light.shader.params.len()];
            }
            ShadedGrid { grid, scene, others: Vec::new() }
        })
        .collect();
    let ran = TestPipeline::surface(surface, lights, &COLOUR).run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let named = shade(surface, &slot.scene, &slot.grid).0;
        for (vertex, (a, b)) in named[0].1.iter().zip(&ran.on_device[i][0]).enumerate() {
            assert!(close(a, b, 1e-4), "vertex {vertex} of grid {i} is {b}, not {a}");
        }
    }
    ran.composed.body
}

/// Returns the program of a surface whose results agree.
fn kernel(params: &str, code: &str) -> Body {
    agree(&shader(&format!("surface a({params}) {{ {code} }}")), &[])
}

#[test]
fn what_is_uniform_for_an_instance_is_computed_once() {
    let is_noise = |op: &Op| matches!(op, Op::Noise { .. });
    let body =
        kernel("float k = 2.5; color c = color(0.2, 0.4, 0.8)", "Ci = Cs * (noise(3 * k) * mix(c, 1 - c, k / 7));");
    assert_eq!(count(&body, is_noise), 0, "noise of a parameter");
    assert_eq!(count_operations(&body).all(), 1, "only Cs is multiplied");
    // Branches and loops move as a whole, the results of a branch in parts.
    let branch = "float x = 1, y = s; if (k > 2) { x = sin(k); y = t + x; } Ci = x * y * Cs;";
    assert_eq!(count(&kernel("float k = 2.5", branch), |op| matches!(op, Op::Unary(_))), 1, "the splat of x * y");
    let repeated =
        "float i, j, sum = 0; for (i = 0; i < 4; i += 1) { for (j = 0; j < 3; j += 1) sum += k * i + j; sum *= 1.25; }
        Ci = sum * Cs;";
    assert_eq!(count(&kernel("float k = 0.5", repeated), |op| matches!(op, Op::Loop)), 0);
    // In a loop or a branch that depends on the place, too.
    let inside = "float i, sum = 0; for (i = 0; i < 10 * s; i += 1) { sum += noise(k * 3.7); }
        if (t > 0.5) sum += noise(k + 0.3); Ci = sum * Cs;";
    assert_eq!(count(&kernel("float k = 2.5", inside), is_noise), 0);
}

#[test]
fn values_of_all_types_are_computed_once() {
    let code = "matrix n = m * m; float a[3] = { f[0] * 2, f[1] * 3, f[2] }; \
        string w = which; float b = (w == \"b\" && f[1] > 1) ? 0.5 : 0.25; \
        point q = transform(n, P); \
        Ci = color(xcomp(q), ycomp(q), zcomp(q)) + a[1] + b + color(f[k], 0, 0); if (f[0] > 0.5 && k > 0) Ci *= 2;";
    let params = "matrix m = 2; float f[3] = {1, 2, 3}; float k = 1; string which = \"b\"";
    let body = kernel(params, code);
    let counts = count_operations(&body);
    assert!(counts.instance <= 3, "truth values are compared again: {counts:?}");
}

/// The host answers for each object, also for elements of arrays.
#[test]
fn texts_are_matched_once() {
    let params = "string kind = \"b2\"; string kinds[3] = {\"a1\", \"b2\", \"a3\"}; float k = 1";
    let code = "string own[3] = { \"c\", concat(kind, \"x\"), \"a3\" };
        Ci = color (match(\"^b\", kind), match(\"^b\", kinds[k]), match(\"2x$\", own[k]) + match(\"c\", own[2 * k])) * Cs;";
    let body = kernel(params, code);
    assert_eq!(count(&body, |op| matches!(op, Op::Match | Op::Format(_))), 0);
    let decides = |text: &str| text_params(&shader(text));
    assert_eq!(decides(&format!("surface a({params}) {{ {code} }}")), [false; 3]);
    let asks = "surface a(string kind = \"x\") { string other = \"\";
        illuminance(P) { lightsource(\"kind\", other); Ci += match(kind, other) * Cl; } }";
    assert_eq!(decides(asks), [true], "the text of a light is in another block");
}

/// A sum of a loop that depends on the place, and of what changes with its trips, stays in the kernel.
#[test]
fn what_differs_from_trip_to_trip_stays_in_the_kernel() {
    let code = "float i, sum = 0, amp = k; for (i = 0; i < 5; i += 1) { sum += amp * noise(s * 3 * i); amp *= 0.5 * k; } Ci = sum * Cs;";
    let body = kernel("float k = 0.75", code);
    assert_eq!(count(&body, |op| matches!(op, Op::Noise { .. })), 1);
    assert_eq!(count(&body, |op| matches!(op, Op::Loop)), 1);
}

#[test]
fn what_is_uniform_for_a_light_is_in_its_block() {
    let light = |name: &str, k: f32| {
        shader(&format!(
            "light {name}(float k = {k}; color c = color(0.3, 0.6, 0.9); point from = point(0, 1, 2)) {{
                float angle = noise(k) * 2;
                illuminate(from + vector(k, 0, noise(k + 1)), normalize(vector(k, 1, 2)), 2)
                    Cl = c * noise(3 * k) * cos(angle) / (L . L + 1);
            }}"
        ))
    };
    let surface = shader("surface a(float Kd = 0.5) { Ci = Kd * Cs * diffuse(N) + specular(N, -I, 0.3); }");
    let body = agree(&surface, &[light("one", 0.7), light("two", 1.3)]);
    assert_eq!(count(&body, |op| matches!(op, Op::Noise { .. })), 0);
    assert_eq!(count_operations(&body).light, 0, "{:?}", count_operations(&body));
}

#[test]
fn standard_shaders_compute_hardly_anything_uniform() {
    let lights = ["ambientlight", "distantlight", "pointlight", "spotlight"]
        .map(|name| shader(standard::source(name).expect("a standard shader")));
    let (mut uniform, mut all) = (0, 0);
    for name in ["matte", "plastic", "metal", "paintedplastic", "shinymetal"] {
        let surface = shader(standard::source(name).expect("a standard shader"));
        let counts = count_operations(&TestPipeline::surface(&surface, &lights, &COLOUR).compose().body);
        uniform += counts.instance + counts.light;
        all += counts.all();
    }
    assert!(100 * uniform <= 3 * all, "{uniform} of {all} operations are uniform");
}

#[test]
fn results_of_constant_loops_are_constants_of_the_block() {
    let body = kernel("", "float i, x = 1; for (i = 0; i < 6; i += 1) x *= 1.5; Ci = x * Cs;");
    assert_eq!(count(&body, |op| matches!(op, Op::Loop)), 0);
    assert_eq!(count(&body, |op| matches!(op, Op::Const(Const::F32(_)))), 0);
}
