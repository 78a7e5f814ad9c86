//! The flags of `anthill shader`.

use crate::cli::flags::values::parse_pass_limits;
use anthill::shading::standalone::PassLimits;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Compile and describe RSL shaders
#[derive(Debug, Subcommand)]
pub(crate) enum ShaderCommand {
    Compile(ShaderCompileFlags),
    Info(ShaderInfoFlags),
}

/// Compile RSL to SPIR-V, one stand-alone kernel for each shader
#[derive(Debug, Args)]
#[command(after_help = SHADER_COMPILE_HELP)]
pub(crate) struct ShaderCompileFlags {
    #[command(flatten)]
    pub(crate) sources: ShaderSources,

    /// File for a single shader, or an existing folder. [default: SHADER.spv in the current folder]
    #[arg(short, long, value_name = "OUT.spv")]
    pub(crate) output: Option<PathBuf>,

    /// Print the optimised program as text instead of writing files
    #[arg(long, conflicts_with = "output")]
    pub(crate) ir: bool,
}

const SHADER_COMPILE_HELP: &str = "\
Parameters come from the kernel's parameter block. A surface is lit by the standard lights \"ambientlight\" and \
\"distantlight\"; a light illuminates the standard surface \"matte\". `anthill render` compiles .sl files itself; use \
this command to inspect the result, or to check for errors.

Exits with 1 if a shader has errors or cannot be written.

Examples:
  anthill shader compile wood.sl
  anthill shader compile wood.sl brick.sl -o kernels/
  anthill shader compile plastic --ir";

/// Show the kinds of shaders and their parameters, with types and defaults
#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 1 if a shader has errors.\n\nExamples:\n  anthill shader info wood.sl\n  anthill shader info \
    plastic --json"
)]
pub(crate) struct ShaderInfoFlags {
    #[command(flatten)]
    pub(crate) sources: ShaderSources,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Show how the program is cut into passes on CPU devices (cpu) or on GPUs (gpu), or how it would be cut into
    /// passes of at most this many operations: what each saves, restores and recomputes
    #[arg(long, value_name = "cpu|gpu|OPERATIONS", value_parser = parse_pass_limits, conflicts_with = "json")]
    pub(crate) passes: Option<PassLimits>,
}

/// The sources of shaders.
#[derive(Debug, Args)]
pub(crate) struct ShaderSources {
    /// Shader sources (- is standard input), or names of standard shaders
    #[arg(required = true, value_name = "FILE.sl|NAME")]
    pub(crate) files: Vec<PathBuf>,

    /// Search this folder for #include files too
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub(crate) includes: Vec<PathBuf>,

    /// Define a macro: NAME or NAME=VALUE
    #[arg(short = 'D', long = "define", value_name = "MACRO")]
    pub(crate) defines: Vec<String>,
}
