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
//! *Lines.* Which lines of GLSL instructions come from is kept beside the words, for captures (see [`lines`]).
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
#[path = "build/lines.rs"]
mod lines;
#[path = "build/macros.rs"]
mod macros;
#[path = "build/optimise.rs"]
mod optimise;
#[path = "build/reflect.rs"]
mod reflect;
#[path = "build/texels.rs"]
mod texels;
#[path = "build/variant_code.rs"]
mod variant_code;
#[path = "build/variants.rs"]
mod variants;
#[path = "build/words.rs"]
mod words;

use std::collections::BTreeMap;
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
    let sources = sources(Path::new("glsl"))?;
    let constants = constants::Constants::read(&sources)?;
    let mut library = Library::new(&sources, &constants, words::Words::new(&out)?)?;
    macros::check(&sources, &library.declarations)?;
    let mut code = String::new();
    library.generate_folder(Path::new("glsl"), "", &mut code)?;
    for folder in folders(Path::new("glsl"))? {
        let name = file_stem(&folder);
        let mut inner = String::new();
        library.generate_folder(&folder, &format!("{name}::"), &mut inner)?;
        generate::folder(&name, &inner, &mut code);
    }
    library.generate_rsl(Path::new("glsl/lib/rsl/library.comp"), &mut code)?;
    library.generate_shared(&constants, &mut code);
    fs::write(out.join("kernels.rs"), code).map_err(|e| format!("{}: {e}", out.display()))
}

/// All kernels: how they are compiled, and what they share.
struct Library<'a> {
    compiler: compile::Compiler,
    sources: &'a macros::Sources,
    /// By the paths of kernels.
    declarations: BTreeMap<String, variants::Declaration>,
    index: generate::Index,
    records: generate::Records,
    choices: variant_code::Choices,
    words: words::Words,
    /// The files that lines of kernels are of.
    files: lines::Files,
}

impl<'a> Library<'a> {
    fn new(
        sources: &'a macros::Sources,
        constants: &constants::Constants,
        words: words::Words,
    ) -> Result<Self, String> {
        let compiler = compile::Compiler::new("glsl")?;
        let (index, records, mut choices, files) = <(_, _, variant_code::Choices, _)>::default();
        let mut declarations = BTreeMap::new();
        for (path, text) in sources.iter().filter(|(path, _)| path.ends_with(".comp")) {
            let declaration = variants::Declaration::read(&file_stem(Path::new(path)), text, constants)
                .map_err(|e| format!("{path}:{e}"))?;
            choices.add(&declaration).map_err(|e| format!("{path}: {e}"))?;
            declarations.insert(path.clone(), declaration);
        }
        Ok(Self { compiler, sources, declarations, index, records, choices, words, files })
    }

    /// Generates the modules of every kernel file directly in `folder`, which become modules of `module` (`""` or
    /// `"test::"`).
    fn generate_folder(&mut self, folder: &Path, module: &str, code: &mut String) -> Result<(), String> {
        for file in kernel_files(folder)? {
            let (stem, path) = (file_stem(&file), file.to_string_lossy().into_owned());
            let declaration = self.declarations[&path].clone();
            let built = declaration.variants.iter().map(|variant| self.built(&file, &declaration, variant));
            let built = built.collect::<Result<_, _>>()?;
            let source = &self.sources[&path];
            let unit = generate::Unit { file: &file, stem: &stem, source, declaration: &declaration, built };
            generate::kernel(&unit, module, &mut self.index, &mut self.records, code)
                .map_err(|e| format!("{path}: {e}"))?;
        }
        Ok(())
    }

    /// Compiles one variant of a file.
    fn built(
        &mut self,
        file: &Path,
        declaration: &variants::Declaration,
        variant: &variants::Variant,
    ) -> Result<generate::Built, String> {
        let words = self.compiler.compile(file, &declaration.macros(variant), true)?;
        let named = |e: String| format!("{}: {}: {e}", file.display(), variant.label);
        let mut reflection = reflect::reflect(&words).map_err(named)?;
        check::check(&reflection).map_err(named)?;
        let words = decorate::no_contraction(&words).map_err(named)?;
        let (words, forms) = texels::texel_buffers(&words).map_err(named)?;
        for (number, form) in forms {
            reflection.bindings[number as usize].form = form;
        }
        let words = optimise::optimised(&words).map_err(named)?;
        let (words, lines) = lines::without_lines(&words, &mut self.files).map_err(named)?;
        self.words.add_lines(&variant.label, &lines)?;
        let words = self.words.add(&variant.label, &words).map_err(named)?;
        Ok(generate::Built { variant: variant.clone(), words, reflection })
    }

    /// Generates the library of helper functions for compiled shaders. It is not made small as kernels are: that would
    /// inline all its functions away, and without inlining nothing is won. With the other passes (29% fewer
    /// instructions), llvmpipe made a kernel of noises in 22 ms instead of 27, but one of textures and shadows in
    /// 0.89 s instead of 0.83, one of occlusion() in 0.39 s instead of 0.35.
    fn generate_rsl(&mut self, file: &Path, code: &mut String) -> Result<(), String> {
        let mut form = |name: &str, macros: &[(String, String)]| {
            let words = decorate::no_contraction(&self.compiler.compile(file, macros, false)?)?;
            self.words.add(name, &words)
        };
        let words = form("rsl_library", &[])?;
        let naming = form("rsl_naming_library", &[("RSL_ONLY_NAMES".to_owned(), "1".to_owned())])?;
        generate::library(&words, &naming, code);
        Ok(())
    }

    /// Generates what belongs to no kernel alone.
    fn generate_shared(&self, constants: &constants::Constants, code: &mut String) {
        self.records.generate(code);
        constants.generate(code);
        self.choices.generate(constants, code);
        self.words.generate(&self.files, code);
        self.index.generate(code);
    }
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
fn sources(folder: &Path) -> Result<macros::Sources, String> {
    let mut found = macros::Sources::new();
    for path in entries(folder)? {
        if path.is_dir() && !path.ends_with("lib/rsl") {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "comp" || extension == "glsl") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            found.insert(path.to_string_lossy().into_owned(), text);
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
