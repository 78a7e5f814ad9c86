//! GLSL to SPIR-V 1.5 for Vulkan 1.2 (rspirv cannot read the compute modules that the front end writes for SPIR-V 1.6).

use std::fs;
use std::path::{Path, PathBuf};

/// The GLSL compiler, kept for the whole build: its symbol tables cost 80 ms each time the last one is dropped.
pub(crate) struct Compiler {
    compiler: shaderc::Compiler,
    root: PathBuf,
}

impl Compiler {
    /// A compiler that resolves `#include` under `root`.
    pub(crate) fn new(root: &str) -> Result<Self, String> {
        let compiler = shaderc::Compiler::new().map_err(|e| format!("the GLSL compiler could not be started: {e}"))?;
        Ok(Self { compiler, root: root.into() })
    }

    /// Compiles a file with macros; a warning is an error, and errors name file and line. The words say which lines
    /// instructions come from, if `lines`.
    pub(crate) fn compile(&self, file: &Path, macros: &[(String, String)], lines: bool) -> Result<Vec<u32>, String> {
        let source = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut options = shaderc::CompileOptions::new().map_err(|e| e.to_string())?;
        options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_2 as u32);
        options.set_target_spirv(shaderc::SpirvVersion::V1_5);
        options.set_optimization_level(shaderc::OptimizationLevel::Zero);
        options.set_warnings_as_errors();
        if lines {
            options.set_generate_debug_info();
        }
        for (name, value) in macros {
            options.add_macro_definition(name, Some(value));
        }
        options.set_include_callback(|name, _, from, _| self.include(name, from));
        let name = file.to_string_lossy();
        let compiled =
            self.compiler.compile_into_spirv(&source, shaderc::ShaderKind::Compute, &name, "main", Some(&options));
        Ok(compiled.map_err(|e| e.to_string())?.as_binary().to_vec())
    }

    fn include(&self, name: &str, from: &str) -> Result<shaderc::ResolvedInclude, String> {
        let path = self.root.join(name);
        let content = fs::read_to_string(&path)
            .map_err(|e| format!("{} (included from {from}; includes are named from {}/)", e, self.root.display()))?;
        Ok(shaderc::ResolvedInclude { resolved_name: path.to_string_lossy().into_owned(), content })
    }
}
