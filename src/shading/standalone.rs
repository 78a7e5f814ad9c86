//! Shaders without a scene, which `anthill shader` compiles and describes.

use super::shortfall_text;
use super::sources::{ClaimingLoader, read_source, read_standard_input};
use super::tokens::Tokens;
use crate::files::{FileClaims, FileRole};
use serde::Serialize;
use spirv_gen::compose::{Binding, Composed, OutputRequest, PlacedShortfall, Reflection, ShaderUse, Slice, compose};
use spirv_gen::ir::{self, RslType, print_region};
use spirv_gen::partition::{Architecture, CostModel, CutRule, Limits, SAVED_WORDS_MAX, ShaderDag, cut, describe};
use spirv_gen::sema::hir::{Class, Constant, Parameter, Shape, Storage};
use spirv_gen::syntax::loader::{IncludeFolders, NoIncludes};
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{Compiled, PipelineRequest, compile, standard};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// How sources are read.
#[derive(Clone, Debug, Default)]
pub struct Preprocessing {
    /// Directories that `#include` searches after the directory of the file itself.
    pub includes: Vec<PathBuf>,
    /// Macros: `NAME`, `NAME=value` or `NAME(x)=value`.
    pub defines: Vec<String>,
}

/// The content of a source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its shaders that are free of errors, in order.
    pub shaders: Vec<StandaloneShader>,
    /// The compiler's messages, ordered by location.
    pub messages: Vec<CompilerMessage>,
}

/// A message of the compiler: several lines, with the line of source that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerMessage {
    /// Whether the shader is unusable.
    pub is_error: bool,
    /// The message, without a line end.
    pub text: String,
}

/// A shader without a scene. `Display` writes its kind and its parameters.
#[derive(Clone, Debug)]
pub struct StandaloneShader {
    shader: spirv_gen::CheckedShader,
}

/// What programs are cut into passes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassLimits {
    /// CPU devices: as a render does.
    Cpu,
    /// GPUs: as a render does.
    Gpu,
    /// Passes of at most so many operations, with what CPU devices cost.
    Operations(u32),
}

/// A kernel that computes one shader.
#[derive(Clone, Debug)]
pub struct StandaloneKernel {
    /// The SPIR-V module.
    pub words: Vec<u32>,
    /// How the kernel differs from the shader, one sentence each.
    pub shortfalls: Vec<String>,
}

/// The description of a shader for other programs, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShaderInfo {
    /// Its name.
    pub name: String,
    /// `surface`, `displacement`, `light`, `volume` or `imager`.
    pub kind: String,
    /// Its parameters in order.
    pub parameters: Vec<ParameterInfo>,
}

/// A parameter of a shader.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterInfo {
    /// Its name.
    pub name: String,
    /// `uniform` or `varying`.
    pub class: String,
    /// `float`, `color`, `point`, `vector`, `normal`, `matrix` or `string`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Number of elements, if it is an array.
    pub length: Option<u32>,
    /// Whether other shaders may read its value.
    pub output: bool,
    /// The space in which the default is written, if it is not the language's default.
    pub space: Option<String>,
    /// The default: a number, a list of numbers or a text, or a list of these for an array; null if the shader computes
    /// it.
    pub default: serde_json::Value,
}

/// Reads a source file (`-` is standard input), or the standard shader of this name if there is no such file. It is
/// claimed in `files`, and so are those that it includes.
///
/// # Errors
/// A sentence for the user if there is no such file or shader, or if it cannot be read. Mistakes in the source are in
/// the messages.
pub fn read(argument: &Path, preprocessing: &Preprocessing, files: &FileClaims) -> Result<SourceFile, String> {
    let name = argument.display().to_string();
    let built_in = standard::source(&name).filter(|_| !argument.exists());
    let text = match built_in {
        Some(text) => text.to_string(),
        None => {
            files.claim(argument, FileRole::Shader).map_err(|refused| refused.to_string())?;
            let is_input = argument.as_os_str() == "-";
            let text = if is_input { read_standard_input() } else { read_source(argument) };
            text.map_err(|error| not_read(&name, &error))?
        }
    };
    let loader = ClaimingLoader::new(IncludeFolders::new(&preprocessing.includes), files);
    let source = Source { name: &name, text: &text, loader: &loader, defines: &preprocessing.defines };
    let parsed = spirv_gen::parse_shaders(&source);
    let message = |diagnostic: &spirv_gen::diagnostic::Diagnostic| CompilerMessage {
        is_error: diagnostic.severity == spirv_gen::diagnostic::Severity::Error,
        text: diagnostic.to_string(),
    };
    Ok(SourceFile {
        shaders: parsed.shaders.into_iter().map(|shader| StandaloneShader { shader }).collect(),
        messages: parsed.diagnostics.iter().map(message).collect(),
    })
}

fn not_read(name: &str, error: &io::Error) -> String {
    let plain = !name.contains(['/', '\\', '.']);
    if error.kind() == io::ErrorKind::NotFound && plain {
        let near = standard::names().max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
        let near = near.filter(|near| strsim::jaro(near, name) > 0.8).map(|near| format!("; did you mean {near}?"));
        let known: Vec<&str> = standard::names().collect();
        let near = near.unwrap_or_else(|| format!(" ({})", known.join(", ")));
        return format!("there is no file \"{name}\" and no standard shader of this name{near}");
    }
    format!("cannot read \"{name}\": {error}")
}

impl StandaloneShader {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.shader.name
    }

    /// Returns `surface`, `displacement`, `light`, `volume` or `imager`.
    pub fn kind(&self) -> String {
        self.shader.kind.to_string()
    }

    /// Compiles it to a kernel: a pipeline of this shader alone, with all parameters in its block. A surface is lit by
    /// the standard lights `ambientlight` and `distantlight`; a light shines on the standard surface `matte`.
    pub fn compile(&self) -> StandaloneKernel {
        let helpers = super::helpers().expect("the helper library was built with the compiler");
        self.with_request(&mut |request| {
            let kernel = compile(request, &helpers, &CutRule::NEVER).expect("the helper library fits the compiler");
            let Compiled { mut passes, reflection, .. } = kernel;
            StandaloneKernel { words: passes.kernels.remove(0), shortfalls: shortfalls(&reflection) }
        })
    }

    /// Returns the optimised program of the kernel as text.
    pub fn program(&self) -> String {
        self.with_request(&mut |request| {
            let Composed { body, .. } = compose(request);
            print_region(&body, body.root())
        })
    }

    /// Returns how the program is cut into passes within some limits.
    pub fn passes(&self, limits: PassLimits) -> String {
        self.with_request(&mut |request| {
            let Composed { body, .. } = compose(request);
            let operations = match limits {
                PassLimits::Cpu => return CutRule::CPU.describe(&body),
                PassLimits::Gpu => return CutRule::GPU.describe(&body),
                PassLimits::Operations(operations) => operations,
            };
            let limits = Limits { operations, outputs: SAVED_WORDS_MAX, ..Limits::NONE };
            let architecture = Architecture::loading(limits, CostModel::LLVMPIPE);
            let shader = ShaderDag::of(&body, &architecture.costs);
            describe(&body, &shader, &cut(&shader.dag, &architecture), &architecture)
        })
    }

    /// Calls `then` with the pipeline of this shader alone.
    fn with_request<T>(&self, then: &mut dyn FnMut(&PipelineRequest<'_>) -> T) -> T {
        use ir::ShaderKind::{AmbientLight, Displacement, Imager, Light, Surface, Volume};
        let shader = spirv_gen::lower(&self.shader);
        let [matte, ambient, distant] = ["matte", "ambientlight", "distantlight"].map(standard_shader);
        let (tokens, kind) = (Tokens::default(), shader.kind);
        let only = |kinds: &[ir::ShaderKind]| kinds.contains(&kind).then(|| ShaderUse::new(&shader));
        let light = only(&[Light, AmbientLight]);
        let slice = match kind {
            Displacement => Slice::Position,
            Imager => Slice::Imager,
            Surface | Light | AmbientLight | Volume => Slice::Colour,
        };
        let output = |name: &str, ty| OutputRequest { name: name.into(), ty, primvar: Binding::Default };
        let outputs = match slice {
            Slice::Position => vec![output("P", RslType::Point), output("N", RslType::Normal)],
            Slice::Colour => vec![output("Ci", RslType::Color), output("Oi", RslType::Color)],
            Slice::Imager => {
                vec![output("Ci", RslType::Color), output("Oi", RslType::Color), output("alpha", RslType::Float)]
            }
        };
        then(&PipelineRequest {
            slice,
            surface: only(&[Surface, Imager]).or_else(|| light.is_some().then(|| ShaderUse::new(&matte))),
            displacement: only(&[Displacement]),
            atmosphere: only(&[Volume]),
            lights: match (light, kind) {
                (Some(light), _) => vec![light],
                (None, Surface) => [&ambient, &distant].map(ShaderUse::new).into(),
                (None, _) => Vec::new(),
            },
            colour: Binding::Block,
            opacity: Binding::Block,
            outputs,
            displaced: false,
            prints: slice != Slice::Imager,
            textures: true,
            roll: true,
            tokens: &|text| tokens.token(text),
        })
    }

    /// Returns its description for other programs.
    pub fn info(&self) -> ShaderInfo {
        let parameters = self.shader.parameters.iter().map(|parameter| self.parameter(parameter)).collect();
        ShaderInfo { name: self.name().to_string(), kind: self.kind(), parameters }
    }

    fn parameter(&self, parameter: &Parameter) -> ParameterInfo {
        let variable = self.shader.variable(parameter.variable);
        let length = if let Shape::Array(length) = variable.shape { Some(length) } else { None };
        let declared = parameter.default.declared();
        let values: Vec<_> = declared.iter().flat_map(|default| &default.values).map(value).collect();
        let default = match (declared.is_some(), length) {
            (true, None) => values.into_iter().next().unwrap_or_default(),
            (true, Some(_)) => values.into(),
            (false, _) => serde_json::Value::Null,
        };
        ParameterInfo {
            name: variable.name.to_string(),
            class: variable.class.unwrap_or(Class::Uniform).to_string(),
            ty: variable.ty.to_string(),
            length,
            output: variable.storage == Storage::Parameter { output: true },
            space: declared.and_then(|default| default.space).map(|space| space.to_string()),
            default,
        }
    }
}

impl fmt::Display for StandaloneShader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shader.fmt(f)
    }
}

fn value(constant: &Constant) -> serde_json::Value {
    match constant {
        Constant::Float(value) => (*value).into(),
        Constant::Triple(values) => values.to_vec().into(),
        Constant::Matrix(values) => values.to_vec().into(),
        Constant::String(text) => text.to_string().into(),
    }
}

fn shortfalls(reflection: &Reflection) -> Vec<String> {
    let text = |placed: &PlacedShortfall| {
        let text = shortfall_text(&placed.shortfall);
        let at = placed.position.as_ref();
        at.map_or_else(|| text.clone(), |at| format!("{}:{}:{}: {text}", at.file, at.line, at.column))
    };
    reflection.shortfalls.iter().map(text).collect()
}

/// Returns the standard shader of this name, independent of any files.
fn standard_shader(name: &str) -> ir::Shader {
    let text = standard::source(name).unwrap_or_default();
    let (shader, _) = spirv_gen::parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
    spirv_gen::lower(&shader.expect("a standard shader has no errors"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standalone(name: &str) -> StandaloneShader {
        let file = read(Path::new(name), &Preprocessing::default(), &FileClaims::default()).expect("a standard shader");
        assert!(file.messages.is_empty(), "{:?}", file.messages);
        file.shaders.into_iter().next().expect("one shader")
    }

    #[test]
    fn every_standard_shader_compiles_by_itself() {
        for name in standard::names() {
            let shader = standalone(name);
            let kernel = shader.compile();
            assert_eq!(kernel.words[0], 0x0723_0203, "{name}");
            assert!(!shader.program().is_empty());
        }
    }

    /// Lights need a surface to shine on, and surfaces need lights, to give kernels of their own.
    #[test]
    fn lights_shine_on_something_and_surfaces_are_lit() {
        let lines = |name: &str| standalone(name).program().lines().count();
        for name in ["spotlight", "matte", "plastic"] {
            assert!(lines(name) > 3 * lines("constant"), "{name}: {}", standalone(name).program());
        }
    }

    #[test]
    fn programs_are_cut_into_passes() {
        let passes = |limits| standalone("paintedplastic").passes(limits);
        for limits in [PassLimits::Cpu, PassLimits::Gpu, PassLimits::Operations(u32::MAX)] {
            assert!(passes(limits).starts_with("1 pass, 0 bytes kept a vertex"), "{}", passes(limits));
        }
        let cut = passes(PassLimits::Operations(20));
        assert!(cut.contains("pass 2: ") && cut.contains("  restores "), "{cut}");
    }

    #[test]
    fn parameters_are_described_for_programs() {
        let info = serde_json::to_value(standalone("spotlight").info()).expect("JSON");
        assert_eq!((&info["name"], &info["kind"]), (&"spotlight".into(), &"light".into()));
        let from = &info["parameters"][2];
        let expected = serde_json::json!({"name": "from", "class": "uniform", "type": "point", "length": null, "output": false,
            "space": "shader", "default": [0.0, 0.0, 0.0]});
        assert_eq!(from, &expected);
    }

    #[test]
    fn read_errors_suggest_standard_shaders() {
        let error =
            |name: &str| read(Path::new(name), &Preprocessing::default(), &FileClaims::default()).expect_err(name);
        assert!(error("plastik").ends_with("did you mean plastic?"));
        assert!(error("qqq").contains("(ambientlight, arealight, background, "));
        assert!(error("no/such.sl").starts_with("cannot read \"no/such.sl\": "));
    }
}
