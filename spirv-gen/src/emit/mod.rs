//! SPIR-V from bound programs: the only part of the compiler that knows rspirv.
//!
//! * `spirv` is a module under construction, `import` brings in functions of the helper library;
//! * `kernel` is the frame around a program ([`crate::abi`]): buffers, vertex, channels;
//! * `emitter` is a kernel that is being written; `code` turns regions into blocks, `ops` operations into instructions;
//!   `together` is what a workgroup does together, by the shared memory of `exchange`; `lookup` looks textures up,
//!   `gather` makes a loop of many lookups, `print` writes what is printed, `suspend` lets loops stop and go on,
//!   `passes` are the kernels of a program that is cut, `stopwatch` counts what lines cost, as
//!   `count_lines` says where they are, `mark` says the same to debuggers, as `debug_info` writes it.
//!
//! What was measured on a CPU driver (lavapipe of Mesa 22) and decided the shape of the code: both sides of every
//! branch are executed, so branches are kept for effects and for GPUs only; a loop that tests at its top runs its body
//! once more than it has trips, so loops test at their end; reading a record of 16 bytes costs about 1 ns a point
//! whether its address is the same for a workgroup or not, so records are loaded once and nothing is done about
//! addresses; 4 to 32 noise calls made one by a loop over arrays of their arguments compiled 20 to 40% faster but ran
//! 10 to 40% slower, so straight-line calls stay as they are, but for texture lookups, which are longer.

mod code;
mod count_lines;
mod debug_info;
mod emitter;
mod error;
mod exchange;
mod gather;
mod import;
mod kernel;
mod lookup;
mod mark;
mod ops;
mod options;
mod passes;
mod print;
mod spirv;
mod stopwatch;
mod suspend;
mod together;
mod write;

pub use error::EmitError;
pub use import::{Library, LibraryError};
pub use options::{EmitOptions, LineCost, LineCounters, StopRecord};
pub use passes::{PassKernels, PassRun, PassRuns};
pub use write::{emit, emit_with};
