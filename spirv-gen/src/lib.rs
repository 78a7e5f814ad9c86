//! The compiler of the RenderMan Shading Language 3.2: RSL source text to SPIR-V compute kernels.
//!
//! ```text
//!  phase        takes -> gives                                                           folder
//!
//!  source text  a `.sl` file, its include files and macro definitions
//!      |
//!  preprocess   text -> tokens, with directives executed and macros expanded             syntax/preprocess/
//!      |
//!  lex, parse   tokens -> syntax tree: what was written (`AstExpr`, `AstStmt`, ...)      syntax/
//!      |
//!  sema         syntax tree -> `CheckedShader`: names resolved, every expression typed   sema/, shadeops/
//!      |
//!  lower        `CheckedShader` -> `ir::Shader`: calls inlined, variables become values  lower/
//!      |
//!  ir           one shader in SSA form, with printer, parser and verifier                ir/    <-.
//!      |                                                                                          |
//!  passes       IR -> simpler IR: dead code, light loops, derivatives (run by compose)   passes/  |-- interp/
//!      |                                                                                          |
//!  compose      the shaders of a pipeline -> one bound `ir::Body` and its `Reflection`   compose/ <'
//!      |
//!  emit         bound body and helper library (glsl/lib/rsl) -> SPIR-V words             emit/
//! ```
//!
//! [`parse_shaders`] runs the phases up to `sema`, [`lower()`] the next one, and [`compile()`] the rest. Diagnostics
//! come from the phases up to `sema` alone; what passes them compiles.
//!
//! The interpreter ([`interp`]) runs IR on the CPU, both as `lower` made it and after `compose` has bound it to
//! buffers. Tests compare the kernels on a device with it, and the passes fold constants with its arithmetic.
//!
//! [`abi`] is the interface between a compiled kernel and the program that dispatches it.

#![forbid(unsafe_code)]

pub mod abi;
pub mod bake;
pub mod compose;
pub mod diagnostic;
pub mod emit;
mod front;
pub mod interp;
pub mod ir;
pub mod lower;
pub mod passes;
pub mod sema;
pub mod shadeops;
pub mod span;
pub mod standard;
pub mod syntax;
pub mod text;

pub use compose::{Compiled, PipelineRequest, Reflection, Resumable, compile};
pub use front::{ParsedFile, parse_shader, parse_shaders};
pub use lower::{CastShadow, LightScale, SHARE_PARAM, lower, lower_scaled};
pub use sema::hir::CheckedShader;
