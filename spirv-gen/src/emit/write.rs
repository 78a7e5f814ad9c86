//! From a program to the words of a kernel.

use super::emitter::Emitter;
use super::error::EmitError;
use super::import::Library;
use super::options::EmitOptions;
use super::spirv::Assembled;
use crate::ir::{Body, Value};

/// Returns the kernel that runs a bound program at every vertex, and stores the results of its root region into the
/// output channels in order (a matrix takes four).
///
/// `tokens` gives the token of a string literal.
///
/// # Errors
/// Fails when the program is not bound, or the library lacks a function.
pub fn emit(body: &Body, library: &Library, tokens: &dyn Fn(&str) -> u32) -> Result<Vec<u32>, EmitError> {
    emit_with(body, library, tokens, &EmitOptions::default())
}

/// Returns the same kernel with options.
///
/// # Errors
/// See [`emit`].
pub fn emit_with(
    body: &Body,
    library: &Library,
    tokens: &dyn Fn(&str) -> u32,
    options: &EmitOptions,
) -> Result<Vec<u32>, EmitError> {
    Ok(emit_forms(body, library, tokens, options)?.words)
}

/// Returns the same kernel, and its form for debuggers if options ask for it.
pub(super) fn emit_forms(
    body: &Body,
    library: &Library,
    tokens: &dyn Fn(&str) -> u32,
    options: &EmitOptions,
) -> Result<Assembled, EmitError> {
    let mut emitter = Emitter::begin(body, library, tokens, options)?;
    let root = body.root();
    let results = emitter.region(root)?;
    let yielded: Vec<(Value, u32)> = body.region(root).results.iter().copied().zip(results).collect();
    emitter.finish(&yielded, options);
    Ok(emitter.assemble())
}
