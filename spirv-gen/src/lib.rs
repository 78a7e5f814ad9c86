//! The compiler of the RenderMan Shading Language 3.2: RSL source text to SPIR-V compute kernels.
//!
//! # Use
//!
//! [`parse_shaders`] reads a file, [`lower()`] turns a checked shader into the intermediate representation ([`ir`]),
//! and [`compile()`] makes kernels of the shaders of a pipeline. Diagnostics come from the first step alone; what
//! passes it compiles. [`Reflection`] says what a kernel reads and writes, [`abi`] how it is dispatched, and
//! [`standard`] has the shaders that the standard defines.
//!
//! ```
//! use spirv_gen::compose::{Binding, OutputRequest, ShaderUse, Slice, compose};
//! use spirv_gen::emit::{EmitError, Library};
//! use spirv_gen::ir::RslType;
//! use spirv_gen::partition::CutRule;
//! use spirv_gen::syntax::loader::NoIncludes;
//! use spirv_gen::syntax::preprocess::Source;
//! use spirv_gen::{Compiled, PipelineRequest, compile, lower, parse_shader};
//!
//! let text = "surface half(color tint = 1) { Ci = 0.5 * tint * Cs; Oi = Os; }";
//! let (shader, diagnostics) = parse_shader(&Source { name: "half.sl", text, loader: &NoIncludes, defines: &[] });
//! assert!(diagnostics.is_empty());
//! let half = lower(&shader.expect("a shader without errors"));
//!
//! let request = PipelineRequest {
//!     slice: Slice::Colour,
//!     surface: Some(ShaderUse::new(&half)),
//!     displacement: None,
//!     atmosphere: None,
//!     lights: Vec::new(),
//!     colour: Binding::Block,
//!     opacity: Binding::Block,
//!     outputs: vec![OutputRequest { name: "Ci".into(), ty: RslType::Color, primvar: Binding::Default }],
//!     displaced: false,
//!     prints: false,
//!     textures: false,
//!     roll: true,
//!     tokens: &|_| 0,
//! };
//! let reflection = compose(&request).reflection;
//! assert_eq!(reflection.block.slots.len(), 3, "the block holds `tint`, `Cs`, and what becomes of them");
//!
//! /// Compiles a pipeline with the helper library, which is the SPIR-V module of `glsl/lib/rsl/library.comp`.
//! fn kernel(request: &PipelineRequest<'_>, library: &[u32]) -> Result<Vec<u32>, EmitError> {
//!     let Compiled { mut passes, .. } = compile(request, &Library::load(library)?, &CutRule::NEVER)?;
//!     Ok(passes.kernels.remove(0))
//! }
//! ```
//!
//! # Phases
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
//!  sema         syntax tree -> `CheckedShader`: names resolved, every expression typed   shadeops/, sema/
//!      |
//!  lower        `CheckedShader` -> `ir::Shader`: calls inlined, variables become values  lower/
//!      |
//!  passes       IR -> simpler IR: dead code, light loops, derivatives (run by compose)   interp/, passes/
//!      |
//!  compose      the shaders of a pipeline -> one bound `ir::Body` and its `Reflection`   compose/
//!      |
//!  emit         bound body and helper library (glsl/lib/rsl) -> SPIR-V words             emit/
//! ```
//!
//! A phase uses only earlier ones, and what several of them share: places in source text and messages about them
//! ([`span`], [`diagnostic`]); the representation of one shader in SSA form, with printer, parser and verifier
//! ([`ir`]), whose operations `shadeops` and `sema` name, and which `lower` builds and the later phases rewrite; the
//! interface between a kernel and the program that dispatches it ([`abi`], [`text`], [`bake`]). The modules `front`
//! and `compile` run the phases up to `sema`, and from `compose` on. The whole table is in the repository's
//! `tests/tidy/directions.rs`, which fails when a phase uses a later one.
//!
//! Partitioners ([`partition`]) cut the graph of a composed program into passes where it is too large for one kernel.
//!
//! The interpreter ([`interp`]) runs IR on the CPU, both as `lower` made it and after `compose` has bound it to
//! buffers. Tests compare the kernels on a device with it, and the passes fold constants with its arithmetic.

#![forbid(unsafe_code)]

pub mod abi;
pub mod bake;
mod compile;
pub mod compose;
pub mod diagnostic;
pub mod emit;
mod front;
pub mod interp;
pub mod ir;
pub mod lower;
pub mod partition;
pub mod passes;
pub mod sema;
pub mod shadeops;
pub mod span;
pub mod standard;
pub mod syntax;
pub mod text;

pub use compile::{Compiled, ForTools, Resumable, compile, compile_program};
pub use compose::{PipelineRequest, Reflection};
pub use front::{ParsedFile, parse_shader, parse_shaders};
pub use lower::{CastShadow, LightScale, MovingSurface, SHARE_PARAM, light_parts, lower, lower_moving, lower_scaled};
pub use sema::hir::CheckedShader;
