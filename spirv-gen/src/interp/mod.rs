//! An interpreter of the IR: the oracle of the compiler's tests.
//!
//! It runs a program at all vertices of one grid in lockstep, so that differences between neighbours work, in whatever
//! form the program is: as the front end made it, between passes, or bound to buffers. What a program reads from
//! outside comes from its [`InterpreterHost`]: [`Scene`] names things, [`Memory`] is buffers.
//!
//! Strings are tokens here, as on a device.

mod block;
mod color;
mod evaluate;
mod exec;
mod grid;
mod host;
mod memory;
pub(crate) mod noise;
mod scene;
pub(crate) mod spline;
pub mod texture;

pub use block::{BlockSurroundings, compute_block};
pub use evaluate::{evaluate, index};
pub use exec::{Outcome, run};
pub use grid::Grid;
pub use host::{Column, InterpreterHost, LightRays, Ray};
pub use memory::Memory;
pub use scene::{LightInstance, Outputs, Scene, shade};
