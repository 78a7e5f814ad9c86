//! Kernels: each says what an invocation is, is dispatched by somebody, and stages bear one name everywhere.

use super::code::{without_tests, words};
use super::expect_none;
use super::tree::{File, file, files};
use anthill::pipeline::plan::Pipeline;
use std::collections::BTreeSet;

/// The stages whose kernels are compiled from shaders.
const COMPILED: [&str; 2] = ["displace", "shade"];

fn kernels() -> impl Iterator<Item = &'static File> {
    files().iter().filter(|file| file.is_in("glsl/") && file.path.ends_with(".comp") && !file.is_in("glsl/lib/"))
}

#[test]
fn kernels_begin_with_what_an_invocation_is() {
    let says = |file: &&File| {
        let header: String = file.text.lines().take_while(|line| line.starts_with("//")).collect();
        header.contains("ne invocation") && header.len() > 60
    };
    let found = kernels().filter(|file| !says(file)).map(|file| file.path.clone());
    expect_none(
        found,
        "A kernel begins with a comment: what one invocation is, what it reads and writes, what may overflow.",
    );
}

#[test]
fn every_kernel_is_dispatched() {
    let uses = |place: &str, product: bool| -> String {
        let users = files().iter().filter(|file| file.is_rust() && file.is_in(place));
        users.map(|file| if product { without_tests(&file.code) } else { file.code.clone() }).collect()
    };
    let (program, tests) = (uses("src/", true), uses("tests/", false) + &uses("bench/", false));
    let is_used = |file: &&File| {
        let code = if file.is_in("glsl/test/") { &tests } else { &program };
        words(code, file.stem()).any(|at| code[at + file.stem().len()..].starts_with("::"))
    };
    let found = kernels().filter(|file| !is_used(file)).map(|file| file.path.clone());
    expect_none(
        found,
        "No code names the kernel's module (`kernels::NAME::...`). Dispatch it from its stage, or remove the file.",
    );
}

#[test]
fn every_include_is_included() {
    let includes = files().iter().filter(|file| file.is_in("glsl/lib/") && file.path.ends_with(".glsl"));
    let is_used = |include: &&File| {
        let name = include.path.trim_start_matches("glsl/");
        let line = format!("#include \"{name}\"");
        files().iter().any(|file| file.is_glsl() && file.text.contains(&line))
    };
    let found = includes.filter(|include| !is_used(include)).map(|file| file.path.clone());
    expect_none(found, "Nobody includes it (by its path from glsl/). Remove it.");
}

#[test]
fn stages_bear_one_name() {
    let mut missing = Vec::new();
    let statistics = &file("src/stats.rs").text;
    let of_regions = Pipeline::ANTHILL.stages().iter().map(|stage| stage.process.descriptor().stage);
    let stages: BTreeSet<&str> = of_regions.chain(["bound_split"]).collect();
    for stage in stages {
        let kernel = format!("glsl/{stage}.comp");
        let mut wanted = vec![format!("src/pipeline/{stage}.rs"), format!("tests/kernels/{stage}.rs")];
        if !COMPILED.contains(&stage) {
            wanted.push(kernel);
        }
        missing.extend(wanted.into_iter().filter(|path| !files().iter().any(|file| file.path == *path)));
        if !statistics.contains(&format!("\"{stage}\"")) {
            missing.push(format!("src/stats.rs: the row \"{stage}\""));
        }
    }
    expect_none(
        missing,
        "A stage has one name for its kernel, its host file, its tests and its row of the statistics.",
    );
}
