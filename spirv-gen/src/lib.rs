//! RenderMan Shading Language to SPIR-V.

#![forbid(unsafe_code)]

pub mod abi;
pub mod compose;
pub mod diagnostic;
pub mod emit;
pub mod interp;
pub mod ir;
pub mod passes;
pub mod span;
pub mod syntax;

pub use compose::{Compiled, PipelineRequest, Reflection, compile};
