//! Analyses and transformations of the IR.

mod algebra;
mod dead;
pub mod derivatives;
mod illuminance;
mod simplify;
mod translate;
pub mod trips;

pub use dead::remove_dead;
pub use illuminance::merge_illuminance;
pub use simplify::simplify;
