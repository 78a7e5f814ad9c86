//! Programs of real shaders: those of `scenes/`, lit by two standard lights, and others given as text.

use spirv_gen::compose::{Binding, OutputRequest, ShaderUse, Slice, compose};
use spirv_gen::ir::{Body, RslType, Shader};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{PipelineRequest, lower, parse_shader, standard};
use std::path::Path;

/// Shaders of `scenes/shaders` to cut.
pub(crate) const SURFACES: [&str; 6] = ["tally", "checker", "granite", "wood", "wax", "paint_ornament"];

/// Reads a shader.
fn read(name: &str, text: &str) -> Shader {
    let (shader, diagnostics) = parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{name}: {diagnostics:?}")))
}

/// Returns the bound program of a surface shader that is given as text.
pub(crate) fn program_of(name: &str, text: &str) -> Body {
    let lights = ["ambientlight", "distantlight"].map(|name| read(name, standard::source(name).unwrap_or_default()));
    let surface = read(name, text);
    let output = |name: &str| OutputRequest { name: name.into(), ty: RslType::Color, primvar: Binding::Default };
    let request = PipelineRequest {
        slice: Slice::Colour,
        surface: Some(ShaderUse::new(&surface)),
        displacement: None,
        atmosphere: None,
        lights: lights.iter().map(ShaderUse::new).collect(),
        colour: Binding::VaryingInput,
        opacity: Binding::Block,
        outputs: vec![output("Ci"), output("Oi")],
        displaced: false,
        prints: true,
        textures: true,
        // Call sites in loops would be one node each.
        roll: false,
        tokens: &|_| 0,
    };
    compose(&request).body
}

/// Returns the bound program of one of [`SURFACES`].
pub(crate) fn program(name: &str) -> Body {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/shaders");
    let path = folder.join(format!("{name}.sl"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    program_of(&path.display().to_string(), &text)
}
