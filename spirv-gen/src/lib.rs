//! RenderMan Shading Language to SPIR-V.

#![forbid(unsafe_code)]

pub mod abi;
pub mod ir;
