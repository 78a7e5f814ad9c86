//! Forms of kernels for debuggers: what they say, and that they are else the kernels that devices run.

use crate::library::{library, validate};
use crate::test_pipeline::TestPipeline;
use spirv_gen::compose::compose;
use spirv_gen::ir::{RslType, Shader};
use spirv_gen::partition::{CutRule, ForcedCut};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{CheckedShader, ForTools, Resumable, compile_program, lower, parse_shaders, standard};
use std::collections::BTreeMap;
use std::path::Path;

const OUTPUTS: &[(&str, RslType)] = &[("Ci", RslType::Color), ("Oi", RslType::Color)];

/// Opcodes of SPIR-V, and instructions of NonSemantic.Shader.DebugInfo.100.
const EXTENSION: u32 = 10;
const EXT_INST_IMPORT: u32 = 11;
const EXT_INST: u32 = 12;
const STRING: u32 = 7;
const CONSTANT: u32 = 43;
const CONSTANT_TRUE: u32 = 41;
const FUNCTION: u32 = 20;
const SCOPE: u32 = 23;
const INLINED_AT: u32 = 25;
const LOCAL_VARIABLE: u32 = 26;
const VALUE: u32 = 29;
const SOURCE: u32 = 35;
const LINE: u32 = 103;

fn read(text: &str, notes_assignments: bool) -> Vec<Shader> {
    let file = parse_shaders(&Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] });
    assert!(!file.shaders.is_empty(), "{:?}", file.diagnostics);
    let noting = file.shaders.into_iter().map(|shader| CheckedShader { notes_assignments, ..shader });
    noting.map(|shader| lower(&shader)).collect()
}

/// Returns the kernels of a shader, each with its form for debuggers if there is one.
fn kernels(shader: &Shader, lights: &[Shader], rule: &CutRule, debug: bool) -> Vec<(Vec<u32>, Option<Vec<u32>>)> {
    let pipeline = TestPipeline::of_kind(shader, lights, OUTPUTS);
    let request = pipeline.request(&|text| text.len() as u32);
    let tools = ForTools { debug, ..ForTools::default() };
    let compiled = compile_program(compose(&request), &request, library(), rule, tools).expect("it compiles");
    let resumable = compiled.resumable.map(|Resumable { passes, .. }| passes);
    let passes = [compiled.passes].into_iter().chain(resumable);
    passes.flat_map(|passes| passes.kernels.into_iter().zip(passes.debug)).collect()
}

fn insts(words: &[u32]) -> Vec<&[u32]> {
    let (mut all, mut rest) = (Vec::new(), &words[5..]);
    while let Some(first) = rest.first() {
        let (inst, after) = rest.split_at(*first as usize >> 16);
        all.push(inst);
        rest = after;
    }
    all
}

fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0);
    String::from_utf8(bytes.collect()).expect("UTF-8")
}

/// Returns a module without debug information, whose ids are from `bound` on.
fn stripped(words: &[u32], bound: u32) -> Vec<u32> {
    let mut left = words[..5].to_vec();
    left[3] = bound;
    for inst in insts(words) {
        let is_new = |at: usize| inst.get(at).is_some_and(|&id| id >= bound);
        let is_debug = match inst[0] & 0xffff {
            EXTENSION => text(&inst[1..]) == "SPV_KHR_non_semantic_info",
            EXT_INST_IMPORT | STRING => is_new(1),
            EXT_INST | CONSTANT | CONSTANT_TRUE => is_new(2),
            _ => false,
        };
        if !is_debug {
            left.extend(inst);
        }
    }
    left
}

/// Returns what a form for debuggers says in its code: lines with the functions that they are in, innermost first, and
/// variables that get a value.
fn said(words: &[u32]) -> Vec<String> {
    let (mut strings, mut numbers) = (BTreeMap::new(), BTreeMap::new());
    let (mut debug, mut scope): (BTreeMap<u32, Vec<u32>>, Vec<u32>) = Default::default();
    let mut said = Vec::new();
    for inst in insts(words) {
        match inst[0] & 0xffff {
            STRING => _ = strings.insert(inst[1], text(&inst[2..])),
            CONSTANT => _ = numbers.insert(inst[2], inst[3]),
            EXT_INST => {
                let name = |id: u32| strings[&debug[&id][1]].clone();
                match inst[4] {
                    SCOPE => scope = inst[5..].to_vec(),
                    LINE => {
                        let mut row = format!("{}:{}", name(scope[0]), numbers[&inst[6]]);
                        let mut outer = scope.get(1).copied();
                        while let Some(call) = outer.map(|outer| &debug[&outer]) {
                            row += &format!(" in {}:{}", name(call[2]), numbers[&call[1]]);
                            outer = call.get(3).copied();
                        }
                        said.push(row);
                    }
                    VALUE => said.push(format!("{} = ", name(inst[5]))),
                    _ => _ = debug.insert(inst[2], inst[4..].to_vec()),
                }
            }
            _ => {}
        }
    }
    said
}

fn count(words: &[u32], wanted: u32) -> usize {
    insts(words).iter().filter(|inst| inst[0] & 0xffff == EXT_INST && inst[4] == wanted).count()
}

/// Returns the form for debuggers of a surface, which is valid and else the kernel itself.
fn form(surface: &str, lights: &[Shader]) -> Vec<u32> {
    let shader = read(surface, true).remove(0);
    let (words, form) = kernels(&shader, lights, &CutRule::NEVER, true).remove(0);
    let form = form.expect("it was asked for");
    validate(&form);
    assert!(stripped(&form, words[3]) == words, "it differs from the kernel");
    form
}

#[test]
fn lines_and_values_of_a_plain_shader() {
    let text = "surface plain(float k = 2;) {\n  float a = k * s;\n  color c = color(a, t, 1);\n\n  if (t > 0.5)\n    a = noise(a);\n\
                \n  Ci = c * a;\n  Oi = Os;\n}\n";
    let form = form(text, &[]);
    let said = said(&form);
    let expected = ["plain:2", "k = ", "s = ", "a = ", "c = ", "plain:5", "plain:6", "a = ", "plain:8", "Ci = "];
    let mut left = said.iter();
    for wanted in expected {
        assert!(left.any(|row| row == wanted), "{wanted} is missing or not in order: {said:#?}");
    }
    let texts: Vec<String> =
        insts(&form).iter().filter(|inst| inst[0] & 0xffff == STRING).map(|inst| self::text(&inst[2..])).collect();
    assert!(texts.iter().any(|known| known == text) && texts.iter().any(|known| known == "a.sl"), "{texts:?}");
    assert_eq!(count(&form, SOURCE), 1);
}

#[test]
fn functions_and_lights_are_inlined_where_they_run() {
    let text = "float wavy(float x) {\n  float y = noise(3 * x);\n  return y * y;\n}\n\
                surface lit() {\n  color sum = 0;\n  illuminance (P)\n    sum += Cl * wavy(s);\n  Ci = sum;\n}\n";
    let lamp = "light lamp() {\n  illuminate (point \"shader\" 0)\n    Cl = cellnoise(Ps);\n}\n";
    let form = form(text, &read(lamp, true));
    let said = said(&form);
    for wanted in ["wavy:2 in lit:8", "lamp:3 in lit:7", "lit:8", "y = ", "x = ", "sum = ", "Cl = "] {
        assert!(said.iter().any(|row| row == wanted), "{wanted} is missing: {said:#?}");
    }
    assert_eq!((count(&form, FUNCTION), count(&form, SOURCE)), (3, 2));
    assert!(count(&form, INLINED_AT) >= 2 && count(&form, LOCAL_VARIABLE) >= 4);
}

/// Kernels are the same whether forms for debuggers are made or not, and these are the same but for what they say.
#[test]
fn forms_for_debuggers_are_the_kernels_that_devices_run() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = std::fs::read_dir(corpus).expect("the cases").map(|file| file.expect("a file").path());
    let mut texts: Vec<String> = files.map(|file| std::fs::read_to_string(file).expect("a case")).collect();
    texts.extend(standard::names().filter_map(standard::source).map(str::to_owned));
    let lights = |notes| -> Vec<Shader> {
        let names = ["ambientlight", "spotlight"];
        names.iter().flat_map(|name| read(standard::source(name).expect("a standard light"), notes)).collect()
    };
    let (plain, noting) = (lights(false), lights(true));
    let mut forms = 0;
    for text in texts {
        for (a, b) in read(&text, false).iter().zip(read(&text, true)) {
            for rule in [CutRule::NEVER, CutRule::CPU.forced(Some(ForcedCut::Passes(3)))] {
                let (a, b) = (kernels(a, &plain, &rule, false), kernels(&b, &noting, &rule, true));
                assert_eq!(a.len(), b.len());
                for ((words, none), (same, form)) in a.into_iter().zip(b) {
                    assert!(words == same && none.is_none(), "{text}");
                    if let Some(form) = form {
                        assert!(stripped(&form, words[3]) == words, "{text}");
                        forms += 1;
                        // Some of them: to look at one takes 20 ms.
                        (forms % 8 == 0).then(|| validate(&form));
                    }
                }
            }
        }
    }
    assert!(forms > 100, "{forms} forms");
}
