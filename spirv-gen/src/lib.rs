//! RenderMan Shading Language to SPIR-V.

#![forbid(unsafe_code)]

pub mod abi;
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

pub use compose::{Compiled, PipelineRequest, Reflection, compile};
pub use front::{ParsedFile, parse_shader, parse_shaders};
pub use lower::lower;
pub use sema::hir::CheckedShader;
