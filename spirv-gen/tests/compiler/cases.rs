//! Case files: shaders that test themselves, on the interpreter as the front end made them, and compiled on the device.
//!
//! Every surface, displacement, volume and imager shader of a file is run over a small grid; each of its `output float`
//! parameters must be 1 at every point at the end. Light shaders of the file are the lights that the others see, with
//! their default parameters.

use crate::pack::ShadedGrid;
use crate::test_pipeline::TestPipeline;
use rustc_hash::FxHashMap;
use spirv_gen::compose::Slice;
use spirv_gen::diagnostic::{Diagnostic, Severity};
use spirv_gen::interp::{Grid, LightInstance, Outcome, Scene, shade};
use spirv_gen::ir::{self, Const, Direction, Global, RslType, ShaderKind};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use std::path::Path;

const GRID: Grid = Grid { nu: 3, nv: 2, du: 1.0 / 3.0, dv: 0.5, flags: 0, seed: 7 };

/// A matrix that moves by (1, 2, 3), and the one that moves back.
const MOVED: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 1.0];
const MOVED_BACK: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, -2.0, -3.0, 1.0];

/// A square of side 2 at z = 5, and what belongs to it.
fn globals() -> FxHashMap<Global, Vec<Const>> {
    let places = (0..=GRID.nv).flat_map(|j| (0..=GRID.nu).map(move |i| (i, j)));
    let places: Vec<_> = places.map(|(i, j)| (i as f32 * GRID.du, j as f32 * GRID.dv)).collect();
    let column = |f: &dyn Fn(f32, f32) -> Const| places.iter().map(|&(u, v)| f(u, v)).collect::<Vec<_>>();
    let same = |x: [f32; 3]| vec![Const::Vec3(x)];
    FxHashMap::from_iter([
        (Global::P, column(&|u, v| Const::Vec3([2.0 * u, 2.0 * v, 5.0]))),
        (Global::U, column(&|u, _| Const::F32(u))),
        (Global::V, column(&|_, v| Const::F32(v))),
        (Global::S, column(&|u, _| Const::F32(u))),
        (Global::T, column(&|_, v| Const::F32(v))),
        (Global::DPdu, same([2.0, 0.0, 0.0])),
        (Global::DPdv, same([0.0, 2.0, 0.0])),
        (Global::N, same([0.0, 0.0, 4.0])),
        (Global::Cs, same([0.2, 0.4, 0.6])),
        (Global::Os, same([1.0, 0.5, 0.25])),
        (Global::Ci, same([0.1, 0.2, 0.3])),
        (Global::Oi, same([0.5; 3])),
        (Global::Alpha, vec![Const::F32(0.5)]),
        (Global::Hither, vec![Const::F32(1.0)]),
        (Global::Yon, vec![Const::F32(9.0)]),
    ])
}

fn scene<'a>(lights: &'a [ir::Shader]) -> Scene<'a> {
    let spaces = [(Direction::CameraFromSpace, MOVED), (Direction::SpaceFromCamera, MOVED_BACK)];
    let light = |shader: &'a ir::Shader| LightInstance {
        shader,
        params: vec![None; shader.params.len()],
        space: spaces.into_iter().collect(),
        category: category(shader),
    };
    Scene {
        globals: globals(),
        spaces: spaces.into_iter().map(|(d, m)| (("shader".into(), d), m)).collect(),
        lights: lights.iter().map(light).collect(),
        queries: FxHashMap::from_iter([(
            (ir::QuerySource::Option, "Format".into()),
            vec![Const::F32(640.0), Const::F32(480.0), Const::F32(1.0)],
        )]),
        ..Scene::default()
    }
}

/// The default of a light's `__category`.
fn category(shader: &ir::Shader) -> String {
    let parameter = shader.params.iter().find(|p| &*p.name == "__category");
    match parameter.map(|p| &p.default) {
        Some(ir::ParamDefault::Values(values)) => values[0].to_string().trim_matches('"').to_owned(),
        _ => String::new(),
    }
}

/// The lights and the other shaders of a file.
fn load(file: &Path) -> (Vec<ir::Shader>, Vec<ir::Shader>) {
    let text = std::fs::read_to_string(file).expect("a case file");
    let name = file.display().to_string();
    let parsed = spirv_gen::parse_shaders(&Source { name: &name, text: &text, loader: &NoIncludes, defines: &[] });
    let tolerated = file.file_stem().is_some_and(|name| name == "tolerated");
    let unwanted = |d: &&Diagnostic| !tolerated || d.severity == Severity::Error;
    let messages: Vec<_> = parsed.diagnostics.iter().filter(unwanted).map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
    let shaders = parsed.shaders.iter().map(|shader| {
        let shader = spirv_gen::lower(shader);
        if let Err(error) = ir::verify(&shader) {
            panic!("{name}, {}: {error}\n{}", shader.name, ir::print(&shader));
        }
        shader
    });
    shaders.partition(|s| matches!(s.kind, ShaderKind::Light | ShaderKind::AmbientLight))
}

/// What is wrong after a shader has been run.
fn problems(shader: &ir::Shader, lights: &[ir::Shader]) -> Vec<String> {
    let (outputs, Outcome { exhausted, printed, .. }) = shade(shader, &scene(lights), &GRID);
    let mut problems = Vec::new();
    for (name, column) in outputs.iter().skip(shader.kind.outputs().len()) {
        if let Some(vertex) = column.iter().position(|c| *c != Const::F32(1.0)) {
            problems.push(format!("{}: {name} is {} at vertex {vertex}", shader.name, column[vertex]));
        }
    }
    if exhausted > 0 {
        problems.push(format!("{}: a loop has no end", shader.name));
    }
    if let Some(line) = printed.iter().find(|line| line.contains("wrong")) {
        problems.push(format!("{}: printed {line:?}", shader.name));
    }
    problems
}

/// What is wrong after a shader has been compiled and run on the device.
fn problems_on_device(shader: &ir::Shader, lights: &[ir::Shader]) -> Vec<String> {
    let head = shader.kind.outputs().len();
    let names: Vec<(&str, RslType)> = shader.outputs.iter().skip(head).map(|o| (&*o.name, RslType::Float)).collect();
    let mut pipeline = TestPipeline::surface(shader, lights, &names);
    match shader.kind {
        ShaderKind::Displacement => {
            pipeline.slice = Slice::Position;
            pipeline.displacement = pipeline.surface.take();
        }
        // A volume shader finds Ci and Oi where an imager shader finds them.
        ShaderKind::Volume | ShaderKind::Imager => pipeline.slice = Slice::Imager,
        _ => {}
    }
    let ran = pipeline.run(&[ShadedGrid { grid: GRID, scene: scene(lights), others: Vec::new() }]);
    let mut problems = Vec::new();
    for ((name, _), column) in names.iter().zip(&ran.on_device[0]) {
        if let Some(vertex) = column.iter().position(|c| *c != Const::F32(1.0)) {
            problems.push(format!("{}: {name} is {} at vertex {vertex} on the device", shader.name, column[vertex]));
        }
    }
    if ran.exhausted > 0 {
        problems.push(format!("{}: a loop has no end on the device", shader.name));
    }
    problems
}

#[test]
fn case_files() {
    check_files(problems);
}

#[test]
fn case_files_on_the_device() {
    check_files(problems_on_device);
}

fn check_files(problems: impl Fn(&ir::Shader, &[ir::Shader]) -> Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = std::fs::read_dir(&folder).expect("the folder of case files");
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in &files {
        let (lights, shaders) = load(file);
        assert!(!shaders.is_empty(), "{}: nothing to run", file.display());
        let found = shaders.iter().flat_map(|shader| problems(shader, &lights));
        all.extend(found.map(|problem| format!("{}: {problem}", file.display())));
    }
    assert!(files.len() > 4, "case files are there");
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn what_is_printed() {
    let text = "surface p() { if (s == 0 && t == 0) printf(\"%f %s %p\\n\", 0.5, concat(\"a\", \"b\"), P); }";
    let source = Source { name: "p.sl", text, loader: &NoIncludes, defines: &[] };
    let (shader, diagnostics) = spirv_gen::parse_shader(&source);
    let shader = spirv_gen::lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")));
    let (_, outcome) = shade(&shader, &scene(&[]), &GRID);
    assert_eq!(outcome.printed, ["0.500000 ab 0.000000 0.000000 5.000000\n"]);
}
