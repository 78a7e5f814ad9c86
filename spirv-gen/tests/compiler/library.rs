//! The helper library, compiled once, and the checker of emitted modules.

use spirv_gen::emit::Library;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{fs, io::Write};

/// The helper library.
pub(crate) fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::load(&compile_library()).expect("readable"))
}

/// Compiles `glsl/lib/rsl/library.comp` as the build script of the package anthill does.
fn compile_library() -> Vec<u32> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../glsl");
    let file = root.join("lib/rsl/library.comp");
    let source = fs::read_to_string(&file).expect("the library's source");
    let compiler = shaderc::Compiler::new().expect("the GLSL compiler");
    let mut options = shaderc::CompileOptions::new().expect("options");
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_2 as u32);
    options.set_target_spirv(shaderc::SpirvVersion::V1_5);
    options.set_optimization_level(shaderc::OptimizationLevel::Zero);
    options.set_warnings_as_errors();
    options.set_include_callback(|name, _, _, _| {
        let content = fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"))?;
        Ok(shaderc::ResolvedInclude { resolved_name: name.into(), content })
    });
    let name = file.to_string_lossy();
    let compiled = compiler.compile_into_spirv(&source, shaderc::ShaderKind::Compute, &name, "main", Some(&options));
    compiled.expect("the library compiles").as_binary().to_vec()
}

/// Passes a module through `spirv-val --target-env vulkan1.2`.
pub(crate) fn validate(words: &[u32]) {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spirv-val (package spirv-tools)");
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    child.stdin.take().expect("piped").write_all(&bytes).expect("spirv-val reads");
    let output = child.wait_with_output().expect("spirv-val ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "spirv-val: {text}");
}
