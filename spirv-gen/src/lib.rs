//! RenderMan Shading Language to SPIR-V.

#![forbid(unsafe_code)]

pub mod abi;
pub mod emit;
pub mod interp;
pub mod ir;
pub mod passes;
