//! Compiles every kernel under `glsl/` to SPIR-V, reflects it, and writes Rust for it to `OUT_DIR/kernels.rs`.
//!
//! *Kernels.* Each `glsl/NAME.comp` is one kernel of that name (or several, see [`variants`]) and becomes the module
//! `NAME` of `anthill::pipeline::kernels`; kernels of a folder `glsl/FOLDER/` become the module `FOLDER::NAME`.
//! `glsl/lib/` holds includes, named from `glsl/`: `#include "lib/x.glsl"`. `glsl/lib/rsl/library.comp` is the library
//! of helper functions for compiled shaders: its words become `RSL_LIBRARY`. Words are files of their own, which the
//! Rust includes (see [`words`]).
//!
//! *Interfaces.* A storage block is either one runtime array or fixed members, std430, in descriptor set 0, bindings
//! counted from 0 without gaps. Record structs and push constants become `#[repr(C)]` structs whose offsets are
//! asserted, so that the GLSL is the only place where a layout is written. What the rules forbid is a build error with
//! the kernel's name.
//!
//! *Texels.* What a kernel only reads becomes texel buffers in its words (see [`texels`]); Rust sees no difference.
//!
//! *Constants.* Named constants of the sources become `constants::NAME` (see [`constants`]), so that the GLSL is the
//! only place where flags, sizes and the numbers of kinds are written.
//!
//! *Optimisation.* The GLSL compiler's is off: it folds float arithmetic before this script can decorate it with
//! `NoContraction` (see [`decorate`]). Afterwards kernels are made small by passes that change no arithmetic (see
//! [`optimise`]).

#[path = "build/check.rs"]
mod check;
#[path = "build/compile.rs"]
mod compile;
#[path = "build/constants.rs"]
mod constants;
#[path = "build/decorate.rs"]
mod decorate;
#[path = "build/generate.rs"]
mod generate;
#[path = "build/layout.rs"]
mod layout;
#[path = "src/pipeline/recording/limits.rs"]
#[allow(unreachable_pub, reason = "public where it belongs")]
mod limits;
#[path = "build/optimise.rs"]
mod optimise;
#[path = "build/reflect.rs"]
mod reflect;
#[path = "build/texels.rs"]
mod texels;
#[path = "build/variants.rs"]
mod variants;
#[path = "build/words.rs"]
mod words;

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=glsl");
    println!("cargo::rerun-if-changed=src/pipeline/recording/limits.rs");
    if let Err(message) = run() {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
        std::process::exit(1);
    }
}

fn run() -> Result<(), String> {
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|e| format!("OUT_DIR: {e}"))?);
    let compiler = compile::Compiler::new("glsl")?;
    let sources = sources(Path::new("glsl"))?;
    let constants = constants::Constants::read(&sources)?;
    for (path, text) in sources.iter().filter(|(path, _)| path.ends_with(".comp")) {
        let variants = variants::parse(&file_stem(Path::new(path)), text).map_err(|e| format!("{path}:{e}"))?;
        constants.check_variants(&variants).map_err(|e| format!("{path}: {e}"))?;
    }
    let mut code = String::new();
    let mut records = generate::Records::default();
    let mut index = generate::Index::default();
    let mut words = words::Words::new(&out)?;
    generate_folder(&compiler, Path::new("glsl"), "", &mut words, &mut index, &mut records, &mut code)?;
    for folder in folders(Path::new("glsl"))? {
        let name = file_stem(&folder);
        let mut inner = String::new();
        let module = format!("{name}::");
        generate_folder(&compiler, &folder, &module, &mut words, &mut index, &mut records, &mut inner)?;
        generate::folder(&name, &inner, &mut code);
    }
    records.generate(&mut code);
    constants.generate(&mut code);
    let library = Path::new("glsl/lib/rsl/library.comp");
    let plain = decorate::no_contraction(&compiler.compile(library, &[])?)?;
    let naming = [("RSL_ONLY_NAMES".to_owned(), "1".to_owned())];
    let naming = decorate::no_contraction(&compiler.compile(library, &naming)?)?;
    let (plain, naming) = (words.add("rsl_library", &plain)?, words.add("rsl_naming_library", &naming)?);
    generate::library(&plain, &naming, &mut code);
    words.generate(&mut code);
    index.generate(&mut code);
    fs::write(out.join("kernels.rs"), code).map_err(|e| format!("{}: {e}", out.display()))
}

/// Generates the modules of every kernel file directly in `folder`, which become modules of `module` (`""` or
/// `"test::"`).
fn generate_folder(
    compiler: &compile::Compiler,
    folder: &Path,
    module: &str,
    words: &mut words::Words,
    index: &mut generate::Index,
    records: &mut generate::Records,
    code: &mut String,
) -> Result<(), String> {
    for file in kernel_files(folder)? {
        let stem = file_stem(&file);
        let source = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut built = Vec::new();
        for variant in variants::parse(&stem, &source).map_err(|e| format!("{}:{e}", file.display()))? {
            let spirv = compiler.compile(&file, &variant.macros)?;
            let named = |e: String| format!("{}: {}: {e}", file.display(), variant.name);
            let mut reflection = reflect::reflect(&spirv).map_err(named)?;
            check::check(&reflection).map_err(named)?;
            let spirv = decorate::no_contraction(&spirv).map_err(named)?;
            let (spirv, forms) = texels::texel_buffers(&spirv).map_err(named)?;
            for (number, form) in forms {
                reflection.bindings[number as usize].form = form;
            }
            let spirv = optimise::optimised(&spirv).map_err(named)?;
            let words = words.add(&variant.name, &spirv).map_err(named)?;
            built.push(generate::Built { variant, words, reflection });
        }
        let unit = generate::Unit { file: &file, stem: &stem, source: &source, built };
        generate::kernel(&unit, module, index, records, code).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

/// The kernels directly in a folder, in order of their names, so that the output does not depend on the file system.
fn kernel_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let is_kernel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "comp");
    Ok(entries(folder)?.into_iter().filter(is_kernel).collect())
}

/// The folders of kernels: all but `lib`, which holds includes.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir() && file_stem(path) != "lib").collect())
}

/// Paths and texts of the GLSL files in a folder and the folders in it, but for the library of compiled shaders.
fn sources(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() && !path.ends_with("lib/rsl") {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "comp" || extension == "glsl") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            found.push((path.to_string_lossy().into_owned(), text));
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
