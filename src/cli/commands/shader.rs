//! `anthill shader`: compiles RSL to SPIR-V and describes shaders.

use crate::cli::console::Console;
use crate::cli::file_errors::cannot_write;
use crate::cli::flags::shader::{ShaderCommand, ShaderCompileFlags, ShaderInfoFlags, ShaderSources};
use anthill::files::{FileClaims, FileRole, write_bytes};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};
use anthill::shading::standalone::{Preprocessing, StandaloneShader, read};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs the command and returns the exit code.
pub(crate) fn run(command: &ShaderCommand, console: &mut Console) -> u8 {
    let result = match command {
        ShaderCommand::Compile(flags) => compile(flags, console),
        ShaderCommand::Info(flags) => info(flags, console),
    };
    result.unwrap_or_else(|message| {
        console.err.error(&message);
        WRONG_USAGE
    })
}

/// Reads shaders and prints the compiler's messages. Returns the shaders without errors, and whether that is all of
/// them.
fn read_all(
    sources: &ShaderSources,
    claims: &FileClaims,
    console: &Console,
) -> Result<(Vec<StandaloneShader>, bool), String> {
    let preprocessing = Preprocessing { includes: sources.includes.clone(), defines: sources.defines.clone() };
    let files: Vec<_> =
        sources.files.iter().map(|file| read(file, &preprocessing, claims)).collect::<Result<_, _>>()?;
    let mut is_whole = true;
    for message in files.iter().flat_map(|file| &file.messages) {
        is_whole &= !message.is_error;
        console.err.block(&message.text);
    }
    Ok((files.into_iter().flat_map(|file| file.shaders).collect(), is_whole))
}

fn info(flags: &ShaderInfoFlags, console: &mut Console) -> Result<u8, String> {
    let (shaders, is_whole) = read_all(&flags.sources, &FileClaims::default(), console)?;
    let text = if let Some(limits) = flags.passes {
        let described =
            |shader: &StandaloneShader| format!("{} {}: {}", shader.kind(), shader.name(), shader.passes(limits));
        shaders.iter().map(described).collect()
    } else if flags.json {
        let infos: Vec<_> = shaders.iter().map(StandaloneShader::info).collect();
        serde_json::to_string_pretty(&infos).expect("descriptions of shaders have string keys") + "\n"
    } else {
        shaders.iter().map(|shader| format!("{shader}\n")).collect()
    };
    console.print(&text);
    Ok(if is_whole { DONE } else { INCOMPLETE })
}

fn compile(flags: &ShaderCompileFlags, console: &mut Console) -> Result<u8, String> {
    let claims = FileClaims::default();
    let (shaders, mut is_whole) = read_all(&flags.sources, &claims, console)?;
    if flags.ir {
        shaders
            .iter()
            .for_each(|shader| console.print(&format!("{} {}\n{}", shader.kind(), shader.name(), shader.program())));
        return Ok(if is_whole { DONE } else { INCOMPLETE });
    }
    let paths = paths(&shaders, flags.output.as_deref())?;
    for path in &paths {
        claims.claim(path, FileRole::Kernel).map_err(|refused| refused.to_string())?;
    }
    for (shader, path) in shaders.iter().zip(&paths) {
        let kernel = shader.compile();
        for shortfall in &kernel.shortfalls {
            console.err.line(&format!("warning: {} shader {}: {shortfall}", shader.kind(), shader.name()));
        }
        let bytes: Vec<u8> = kernel.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        match write_bytes(path, &bytes) {
            Ok(()) => console.err.line(&format!(
                "anthill: {}: {} shader {}, {} bytes",
                path.display(),
                shader.kind(),
                shader.name(),
                bytes.len()
            )),
            Err(error) => {
                console.err.error(&cannot_write(path, &error));
                is_whole = false;
            }
        }
    }
    Ok(if is_whole { DONE } else { INCOMPLETE })
}

/// Returns the file that each shader is written to.
fn paths(shaders: &[StandaloneShader], output: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    let folder = match output {
        Some(output) if !output.is_dir() && shaders.len() > 1 => {
            let names: Vec<&str> = shaders.iter().map(StandaloneShader::name).collect();
            let hint = "give an existing folder, or omit -o";
            return Err(format!(
                "-o {} is one file, but there are several shaders ({}): {hint}",
                output.display(),
                names.join(", ")
            ));
        }
        Some(output) if !output.is_dir() => return Ok(vec![output.to_path_buf()]),
        folder => folder.unwrap_or(Path::new("")),
    };
    let mut seen = BTreeSet::new();
    let path = |shader: &StandaloneShader| {
        let is_new = seen.insert(shader.name().to_string());
        let path = folder.join(format!("{}.spv", shader.name()));
        is_new
            .then_some(path)
            .ok_or(format!("two shaders are named {}: compile them one at a time, with -o", shader.name()))
    };
    shaders.iter().map(path).collect()
}
