//! Places of instructions: what the passes leave of them, and that they decide nothing.

use crate::library::{library, validate};
use crate::test_pipeline::TestPipeline;
use spirv_gen::compose::{Role, ShaderUse, compose};
use spirv_gen::emit::LineCost;
use spirv_gen::ir::{Body, Inst, Op, PlaceId, RslType, Shader};
use spirv_gen::partition::{CutRule, ForcedCut};
use spirv_gen::syntax::loader::{LoadedSource, NoIncludes, SourceLoader};
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{
    Compiled, ForTools, PipelineRequest, Resumable, compile, compile_program, lower, parse_shaders, standard,
};
use std::path::Path;

/// The only file that there is to include.
struct Header(&'static str);

impl SourceLoader for Header {
    fn load(&self, path: &str, _: bool, _: &str) -> Result<LoadedSource, String> {
        Ok(LoadedSource { name: path.into(), text: self.0.into() })
    }
}

fn read(name: &str, text: &str, loader: &dyn SourceLoader) -> Vec<Shader> {
    let file = parse_shaders(&Source { name, text, loader, defines: &[] });
    assert!(!file.shaders.is_empty(), "{name}: {:?}", file.diagnostics);
    file.shaders.iter().map(lower).collect()
}

fn one(name: &str, text: &str) -> Shader {
    read(name, text, &NoIncludes).remove(0)
}

/// Returns the instructions of some kind, in order.
fn insts(body: &Body, is_wanted: impl Fn(&Op) -> bool) -> Vec<Inst> {
    let mut found = Vec::new();
    body.walk(body.root(), &mut |inst| found.extend(is_wanted(&body.inst(inst).op).then_some(inst)));
    found
}

/// Returns the places of an instruction, from the innermost out, each as `shader file:line:column`.
fn stack(body: &Body, inst: Inst) -> Vec<String> {
    let places = body.places();
    let name = |place: PlaceId| {
        let (shader, at) = places.shader(place).zip(places.position(place)).expect("a place in a shader");
        format!("{} {}:{}:{}", shader.name, at.file, at.line, at.column)
    };
    places.stack(body.place(inst)).map(name).collect()
}

const OUTPUTS: &[(&str, RslType)] = &[("Ci", RslType::Color), ("Oi", RslType::Color)];

#[test]
fn instructions_of_a_pipeline_know_their_shaders_and_lines() {
    let header = Header("float wavy(point p) {\n  return noise(p)\n    + cellnoise(xcomp(p));\n}\n");
    let text = "#include \"wavy.h\"\nsurface wood() {\n  color c = 0;\n  illuminance (P, N, PI / 2)\n    c += Cl;\n\
                \n  Ci = c * wavy(2 * P);\n  Oi = 1;\n}\n";
    let wood = read("wood.sl", text, &header).remove(0);
    let lamp = one("lamp.sl", "light lamp() {\n  illuminate (point \"shader\" 0)\n    Cl = noise(Ps);\n}\n");
    let lamp = [lamp];
    let haze = one("haze.sl", "volume haze() {\n\n  Ci *= noise(xcomp(P));\n}\n");
    let pipeline =
        TestPipeline { atmosphere: Some(ShaderUse::new(&haze)), ..TestPipeline::surface(&wood, &lamp, OUTPUTS) };
    let body = pipeline.compose().body;
    let stacks: Vec<Vec<String>> =
        insts(&body, |op| matches!(op, Op::Noise { .. })).into_iter().map(|inst| stack(&body, inst)).collect();
    let expected: [&[&str]; 4] = [
        &["lamp lamp.sl:3:10", "wood wood.sl:4:3"],
        &["wood wavy.h:2:10", "wood wood.sl:7:12"],
        &["wood wavy.h:3:7", "wood wood.sl:7:12"],
        &["haze haze.sl:3:9"],
    ];
    assert_eq!(stacks, expected);
    let roles: Vec<Option<Role>> = insts(&body, |op| matches!(op, Op::Noise { .. }))
        .into_iter()
        .map(|inst| body.places().shader(body.place(inst)).and_then(|shader| shader.role))
        .collect();
    assert_eq!(roles, [Role::Light(0), Role::Surface, Role::Surface, Role::Atmosphere].map(Some));
}

#[test]
fn rolled_exchanged_and_computed_instructions_have_places() {
    let octaves: String = (0..9).map(|n| format!("\n  sum += noise({}.5 * P);", 1 << n)).collect();
    let text = format!(
        "surface folded(float k = 2;) {{\n  float i, sum = Du(s * t) + sqrt(k);{octaves}\n  Ci = sum;\n  Oi = 1;\n}}\n"
    );
    let folded = one("folded.sl", &text);
    let composed = TestPipeline::surface(&folded, &[], OUTPUTS).compose();
    let body = &composed.body;
    let place = |body: &Body, is_wanted: &dyn Fn(&Op) -> bool| -> Vec<String> {
        insts(body, is_wanted).into_iter().map(|inst| stack(body, inst).remove(0)).collect()
    };
    assert_eq!(place(body, &|op| matches!(op, Op::Noise { .. })), ["folded folded.sl:3:10"]);
    assert_eq!(place(body, &|op| *op == Op::Loop), ["folded folded.sl:3:10"]);
    assert_eq!(place(body, &|op| matches!(op, Op::Derivatives(_))), ["folded folded.sl:2:18"]);
    let once = composed.reflection.block.program.expect("the root of k is computed once");
    let places = place(&once, &|op| matches!(op, Op::Unary(_)));
    assert_eq!(places, ["folded folded.sl:2:30"]);
    let mut nowhere = 0;
    body.walk(body.root(), &mut |inst| {
        let is_constant = matches!(body.inst(inst).op, Op::Const(_) | Op::Builtin(_));
        nowhere += usize::from(!is_constant && body.place(inst) == PlaceId::NOWHERE);
    });
    assert_eq!(nowhere, 0, "instructions that are from nowhere");
}

/// Returns the words of all kernels of a shader: whole and cut, for long loops, and of its demand slice.
fn words(shader: &Shader, lights: &[Shader]) -> Vec<Vec<u32>> {
    let pipeline = TestPipeline::of_kind(shader, lights, OUTPUTS);
    let mut all = Vec::new();
    let forced = [ForcedCut::Passes(3), ForcedCut::Calls].map(|cut| CutRule::CPU.forced(Some(cut)));
    for rule in [CutRule::NEVER].into_iter().chain(forced) {
        let request = pipeline.request(&|text| text.len() as u32);
        let Compiled { passes, resumable, demand, .. } = compile(&request, library(), &rule).expect("it compiles");
        all.extend(passes.kernels);
        all.extend(resumable.into_iter().flat_map(|Resumable { passes, .. }| passes.kernels));
        all.extend(demand);
    }
    all
}

/// Shaders whose lines are elsewhere have the same words, so the lines are in none.
#[test]
fn places_leave_no_trace_in_words() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = std::fs::read_dir(corpus).expect("the cases").map(|file| file.expect("a file").path());
    let mut texts: Vec<String> = files.map(|file| std::fs::read_to_string(file).expect("a case")).collect();
    texts.extend(standard::names().filter_map(standard::source).map(str::to_owned));
    let lights = |lines: &str| -> Vec<Shader> {
        let text = |name| format!("{lines}{}", standard::source(name).expect("a standard light"));
        ["ambientlight", "spotlight"].map(|name| one(name, &text(name))).into()
    };
    let moved = "\n\n/* elsewhere */";
    let (here, there) = (lights(""), lights(moved));
    let mut kernels = 0;
    for text in texts {
        let shaders = read("here.sl", &text, &NoIncludes);
        for (a, b) in shaders.iter().zip(read("there.sl", &format!("{moved}{text}"), &NoIncludes)) {
            let (a, b) = (words(a, &here), words(&b, &there));
            kernels += a.len();
            assert!(a == b, "{text}");
        }
    }
    assert!(kernels > 100, "{kernels} kernels");
}

/// Each line of a program that is cut is counted in some pass, and a lookup that is a call at the line of the call.
#[test]
fn passes_count_the_lines_that_they_run() {
    let text = "surface maps(string a = \"\", b = \"\";) {\n  float x = texture(a, s, t);\n  float i, sum = 0;\n\
                \n  for (i = 0; i < 3 * t; i += 1)\n    sum += noise(P * (i + x));\n\
                \n  Ci = sum * Du(x) + color texture(b, x, t);\n  Oi = 1;\n}\n";
    let maps = one("maps.sl", text);
    let pipeline = TestPipeline::surface(&maps, &[], OUTPUTS);
    let lines_of = |rule: &CutRule, cost| -> (Vec<u32>, usize) {
        let request = PipelineRequest { textures: true, ..pipeline.request(&|text| text.len() as u32) };
        let tools = ForTools { cost: Some(cost), ..ForTools::default() };
        let compiled = compile_program(compose(&request), &request, library(), rule, tools).expect("it compiles");
        let resumable = compiled.resumable.expect("its loop may be long").passes;
        let mut found = Vec::new();
        for passes in [&compiled.passes, &resumable] {
            passes.kernels.iter().for_each(|words| validate(words));
            assert_eq!(passes.lines.len(), passes.runs.len());
        }
        for line in compiled.passes.lines.iter().flatten() {
            assert_eq!((&*line.shader, &*line.file, line.role), ("maps", "maps.sl", Some(Role::Surface)));
            found.push(line.line);
        }
        found.sort_unstable();
        found.dedup();
        (found, compiled.passes.runs.len())
    };
    let forced = |cut| CutRule::CPU.forced(Some(cut));
    let rules = [CutRule::NEVER, forced(ForcedCut::Passes(3)), forced(ForcedCut::Calls)];
    for (rule, runs_min) in rules.iter().zip([1, 2, 4]) {
        for cost in [LineCost::Clocks, LineCost::Steps] {
            let (lines, runs) = lines_of(rule, cost);
            assert!([2, 5, 6, 8].iter().all(|line| lines.contains(line)), "{lines:?}");
            assert!(runs >= runs_min, "{runs} runs");
        }
    }
}
