//! Analyses and transformations of the IR.

pub mod derivatives;
pub mod trips;
