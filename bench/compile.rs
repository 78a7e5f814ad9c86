//! Measures the shader compiler: RSL text to IR, and IR to a shading pipeline's SPIR-V, for standard shaders and a long
//! one.
//!
//! `cargo bench --bench compile` uses no device; the bench `kernels` includes what a driver makes of the modules.

use anthill::pipeline::kernels::RSL_LIBRARY;
use criterion::{Criterion, criterion_group, criterion_main};
use spirv_gen::compose::{Binding, OutputRequest, ShaderUse, Slice};
use spirv_gen::emit::Library;
use spirv_gen::ir::{RslType, Shader};
use spirv_gen::partition::CutRule;
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{PipelineRequest, compile, lower, parse_shader, standard};

/// A shader with fifty layers of noise, each with different code.
fn layered() -> String {
    let layer = |i: u32| {
        let before = i - 1;
        format!(
            "p{i} = {i} * transform(\"shader\", P) + vector noise(p{before});\n\
             if (noise(p{i}) > 0.5) c = mix(c, color noise(p{i}), smoothstep(0, 1, sin(xcomp(p{i})))); else c *= {i} / 50;\n"
        )
    };
    let points: Vec<String> = (0..=50).map(|i| format!("p{i}")).collect();
    let body: String = (1..=50).map(layer).collect();
    format!(
        "surface layered() {{ point {}; color c = Cs; p0 = P;\n{body}Oi = Os; Ci = Oi * c * diffuse(N); }}",
        points.join(", ")
    )
}

fn read(name: &str, text: &str) -> Shader {
    let (shader, diagnostics) = parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{name}: {diagnostics:?}")))
}

fn sources() -> Vec<(&'static str, String)> {
    let standard = ["matte", "paintedplastic", "spotlight"];
    let mut sources: Vec<_> = standard.map(|name| (name, standard::source(name).unwrap_or_default().to_owned())).into();
    sources.push(("layered", layered()));
    sources
}

/// Measures text to optimised IR.
fn front(c: &mut Criterion) {
    let mut group = c.benchmark_group("front");
    for (name, text) in sources() {
        group.bench_function(name, |b| b.iter(|| read(name, &text)));
    }
    group.finish();
}

/// Measures shaders and lights to one SPIR-V module.
fn pipeline(c: &mut Criterion) {
    let library = Library::load(RSL_LIBRARY).expect("the library was built with the program");
    let lights = ["ambientlight", "spotlight"].map(|name| read(name, standard::source(name).unwrap_or_default()));
    let mut group = c.benchmark_group("pipeline");
    for (name, text) in sources().into_iter().filter(|(name, _)| *name != "spotlight") {
        let surface = read(name, &text);
        let request = PipelineRequest {
            slice: Slice::Colour,
            surface: Some(ShaderUse::new(&surface)),
            displacement: None,
            atmosphere: None,
            lights: lights.iter().map(ShaderUse::new).collect(),
            colour: Binding::VaryingInput,
            opacity: Binding::VaryingInput,
            outputs: vec![OutputRequest { name: "Ci".into(), ty: RslType::Color, primvar: Binding::Default }],
            displaced: false,
            prints: false,
            textures: false,
            roll: true,
            tokens: &|_| 0,
        };
        group.bench_function(name, |b| b.iter(|| compile(&request, &library, &CutRule::NEVER).expect("it compiles")));
    }
    group.finish();
}

criterion_group!(benches, front, pipeline);
criterion_main!(benches);
