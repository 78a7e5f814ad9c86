//! Constants that kernels and the program share: written once, in glsl/, and generated for Rust (build/constants.rs).

use super::code::words;
use super::expect_none;
use super::tree::{File, files};
use crate::gpu::build::constants::{Constant, Constants, Value};

/// The constants that the build generates.
fn constants() -> Constants {
    let is_read = |file: &&File| file.is_glsl() && !file.is_in("glsl/lib/rsl/");
    let sources = files().iter().filter(is_read).map(|file| (file.path.clone(), file.text.clone())).collect();
    Constants::read(&sources).expect("the build reads them too")
}

/// Constants of Rust: where, name, and the value as it is written.
fn rust_constants() -> impl Iterator<Item = (String, &'static str, &'static str)> {
    files().iter().filter(|file| file.is_rust()).flat_map(|file| {
        words(&file.code, "const").filter_map(move |at| {
            let (declared, rest) = file.code[at + "const".len()..].split_once('=')?;
            let (name, _) = declared.split_once(':')?;
            Some((file.at(at), name.trim(), rest.split(';').next()?.trim()))
        })
    })
}

/// Whether a literal of Rust says a constant's value.
fn says(literal: &str, constant: &Constant) -> bool {
    let literal = literal.replace('_', "");
    let digits = literal.strip_prefix("0x");
    let whole = digits.map_or_else(|| literal.parse().ok(), |digits| i64::from_str_radix(digits, 16).ok());
    let float = literal.parse::<f32>().ok();
    match constant.value {
        Value::U32(u32::MAX) => literal == "u32::MAX" || whole == Some(u32::MAX.into()),
        Value::U32(value) => whole == Some(value.into()) || float == Some(value as f32),
        Value::I32(value) => whole == Some(value.into()) || float == Some(value as f32),
        Value::F32(value) => float == Some(value),
    }
}

#[test]
fn no_constant_of_the_kernels_is_copied() {
    let constants = constants();
    let mut found = Vec::new();
    let near = ["src/pipeline/", "src/render/", "src/shading/", "tests/kernels/", "tests/reference/"];
    for (at, name, value) in rust_constants() {
        // `TRANSLUCENT` copies `INSTANCE_TRANSLUCENT` if it has the same value. Far from kernels, names may be chance.
        let is_near = near.iter().any(|place| at.starts_with(place));
        let tail = format!("_{name}");
        let is_copy = |(known, constant): &(&str, &Constant)| {
            *known == name && is_near || (*known == name || known.ends_with(&tail)) && says(value, constant)
        };
        found.extend(
            constants.iter().find(is_copy).map(|(known, constant)| format!("{at}: {name} ({}: {known})", constant.at)),
        );
    }
    expect_none(found, "A kernel defines it: use the generated constant (anthill::pipeline::kernels::constants).");
}

#[test]
fn no_size_of_a_workgroup_is_copied() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.is_in("src/pipeline/") && file.is_product()) {
        for size in ["[64, 1, 1]", "[256, 1, 1]"] {
            found.extend(file.code.match_indices(size).map(|(at, _)| format!("{}: {size}", file.at(at))));
        }
    }
    expect_none(found, "Use the generated size (kernels::NAME::LOCAL_SIZE, or that of the variant's kernel).");
}

#[test]
fn every_constant_is_read() {
    // What a definition says after its name, and all other code.
    let kernels = files().iter().filter(|file| file.is_glsl()).flat_map(|file| file.text.lines());
    let kernels = kernels.filter(|line| !line.starts_with("#define ")).map(|line| {
        let code = line.split("//").next().unwrap_or_default();
        if code.starts_with("const ") { code.split_once('=').map_or(code, |(_, value)| value) } else { code }
    });
    let program = files().iter().filter(|file| file.is_product()).map(|file| file.code.as_str());
    let all: Vec<&str> = kernels.chain(program).collect();
    // An axis of a kernel reads all constants of its family: `// axes: KIND=FILTER_*`.
    let axes = files().iter().filter(|file| file.is_glsl()).flat_map(|file| file.text.lines());
    let axes = axes.filter_map(|line| line.strip_prefix("// axes:")).flat_map(str::split_whitespace);
    let families: Vec<&str> = axes.filter_map(|axis| axis.split_once('=')?.1.strip_suffix('*')).collect();
    let is_read = |name: &str| {
        families.iter().any(|family| name.starts_with(family))
            || all.iter().any(|code| words(code, name).next().is_some())
    };
    let constants = constants();
    let found =
        constants.iter().filter(|(name, _)| !is_read(name)).map(|(name, constant)| format!("{}: {name}", constant.at));
    expect_none(found, "Neither a kernel nor the program reads it: remove it.");
}
