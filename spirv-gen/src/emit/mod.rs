//! SPIR-V from bound programs: the only part of the compiler that knows rspirv.
//!
//! * `spirv` is a module under construction, `import` brings in functions of the helper library;
//! * `kernel` is the frame around a program ([`crate::abi`]): buffers, vertex, channels;
//! * `emitter` is a kernel that is being written; `code` turns regions into blocks, `ops` operations into instructions;
//!   `together` is what a workgroup does together, by the shared memory of `exchange`; `lookup` looks textures up,
//!   `gather` makes a loop of many lookups, `print` writes what is printed, `suspend` lets loops stop and go on,
//!   `passes` are the kernels of a program that is cut.
//!
//! What was measured on a CPU driver (lavapipe of Mesa 22) and decided the shape of the code: both sides of every
//! branch are executed, so branches are kept for effects and for GPUs only; a loop that tests at its top runs its body
//! once more than it has trips, so loops test at their end; reading a record of 16 bytes costs about 1 ns a point
//! whether its address is the same for a workgroup or not, so records are loaded once and nothing is done about
//! addresses; 4 to 32 noise calls made one by a loop over arrays of their arguments compiled 20 to 40% faster but ran
//! 10 to 40% slower, so straight-line calls stay as they are, but for texture lookups, which are longer.

mod code;
mod emitter;
mod error;
mod exchange;
mod gather;
mod import;
mod kernel;
mod lookup;
mod ops;
mod passes;
mod print;
mod spirv;
mod suspend;
mod together;

pub use error::EmitError;
pub use import::{Library, LibraryError};
pub use passes::PassKernels;

use crate::ir::{Body, Value};
use crate::passes::{SavedLoops, Stored};
use emitter::Emitter;

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

/// What a kernel does beside running its program.
#[derive(Clone, Debug, Default)]
pub struct EmitOptions {
    /// The first output channels, as many as this, take over lane 3 of the input channels of the same numbers. The
    /// others then follow the channels of the geometry.
    pub carried: u32,
    /// The loops that stop when the trips of a dispatch are used up and go on in the next one.
    pub saved: SavedLoops,
    /// Where each value that the root yields is stored; by default they fill the output channels in order.
    pub stored: Option<Vec<Stored>>,
    /// For a pass, where passes leave for each other that a vertex has stopped.
    pub stop: Option<StopRecord>,
}

/// The channel in which passes leave for later ones how many loop trips a vertex has made, and whether it has stopped:
/// then what comes later is worthless, and its loops end at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopRecord {
    /// Among those that passes save values in.
    pub channel: u32,
    /// Whether an earlier pass has left something there.
    pub reads: bool,
    /// Whether something is left for later passes.
    pub writes: bool,
    /// Whether points that exchange values stop together, as in resumable kernels.
    pub together: bool,
}

impl StopRecord {
    /// Returns whether points may begin as stopped, and have to stop others.
    fn stops_here(self) -> bool {
        self.reads && self.together
    }
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
    let mut emitter = Emitter::begin(body, library, tokens, options);
    let root = body.root();
    let results = emitter.region(root)?;
    let yielded: Vec<(Value, u32)> = body.region(root).results.iter().copied().zip(results).collect();
    emitter.finish(&yielded, options);
    Ok(emitter.assemble())
}
