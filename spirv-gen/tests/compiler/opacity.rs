//! What the compiler finds out about the opacity of a pipeline before any of it runs.

use crate::test_pipeline::TestPipeline;
use spirv_gen::compose::{Opacity, ShaderUse};
use spirv_gen::ir::{RslType, Shader};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader, standard};

fn compiled(text: &str) -> Shader {
    let source = Source { name: "shader.sl", text, loader: &NoIncludes, defines: &[] };
    let (shader, diagnostics) = parse_shader(&source);
    lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

/// What is known of a surface that is seen through a volume.
fn seen_through(surface: &str, volume: &str) -> Opacity {
    let (surface, volume) = (compiled(surface), compiled(volume));
    let mut pipeline = TestPipeline::surface(&surface, &[], &[("Ci", RslType::Color), ("Oi", RslType::Color)]);
    pipeline.atmosphere = Some(ShaderUse::new(&volume));
    pipeline.compose().reflection.opacity
}

/// The same where a volume shader ends with a statement. Before it `Cv` and `Ov` have been marched through.
fn marched(end: &str) -> Opacity {
    let text = format!(
        "volume smoke(float steps = 60; color tint = 1;) {{
            float t = 0, thin = 1; color Cv = 0, Ov = 0;
            while (t < length(I)) {{
                float thick = noise(P - I + t * normalize(I)) / steps;
                Cv += (1 - Ov) * thick; Ov += (1 - Ov) * thick * tint; thin *= 1 - thick; t += 1 / steps;
            }}
            Ci = Cv + (1 - Ov) * Ci; {end}
        }}"
    );
    seen_through("surface plain() { Oi = Os; Ci = Os * Cs; }", &text)
}

#[test]
fn what_is_opaque_stays_opaque_behind_a_volume() {
    let ends = [
        "Oi = Ov + (1 - Ov) * Oi;",
        "Oi = Ov + Oi * (1 - Ov);",
        "Oi = (1 - Ov) * Oi + Ov;",
        "Oi = Oi + (1 - Oi) * Ov;",
        "Oi += (1 - Oi) * Ov;",
        "Oi = 1 - thin * (1 - Oi);",
        "Oi = (1 - thin) + thin * Oi;",
        "Oi = mix(Oi, color 1, Ov);",
        "Oi = mix(Oi, color(1, 1, 1), 1 - thin);",
        "if (thin < 0.5) Oi = Ov + (1 - Ov) * Oi;",
        "float i; for (i = 0; i < steps; i += 1) Oi = mix(Oi, color 1, noise(i));",
    ];
    for end in ends {
        assert_eq!(marched(end), Opacity::KeepsOne, "{end}");
    }
    for name in ["fog", "depthcue"] {
        let volume = standard::source(name).expect("a standard shader");
        assert_eq!(seen_through("surface plain() { Oi = Os; Ci = Os * Cs; }", volume), Opacity::KeepsOne, "{name}");
    }
}

#[test]
fn nothing_else_is_taken_for_opaque() {
    let ends = [
        "Oi = Ov;",
        "Oi = Ov * Oi;",
        "Oi = Ov + (1 - thin) * Oi;",
        "Oi = Ov + (1 + Ov) * Oi;",
        "Oi = Ov + (Ov - 1) * Oi;",
        "Oi = Oi - Ov;",
        "Oi = 1 - thin * Oi;",
        "Oi = mix(Oi, color(1, 1, 0.5), Ov);",
        "if (thin < 0.5) Oi = Ov;",
        "float i; for (i = 0; i < steps; i += 1) Oi *= thin;",
    ];
    for end in ends {
        assert_eq!(marched(end), Opacity::Computed, "{end}");
    }
    assert_eq!(marched(""), Opacity::FromOs);
    let half = "surface half() { Oi = 0.5 * Os; Ci = Oi * Cs; }";
    let fog = standard::source("fog").expect("a standard shader");
    assert_eq!(seen_through(half, fog), Opacity::Computed);
}
