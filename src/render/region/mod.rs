//! The chain of submissions that draws one region.

pub(crate) mod bakes;
pub(super) mod cell_lists;
pub(super) mod chain;
pub(super) mod findings;
pub(super) mod layers;
pub(super) mod loads;
pub(super) mod long_loops;
pub(super) mod loop_watch;
pub(super) mod pace;
mod part;
pub(crate) mod prints;
pub(super) mod record;
pub(super) mod region_result;
pub(super) mod slabs;
pub(super) mod stage_tasks;
pub(crate) mod texture_watch;

#[cfg(test)]
pub(super) mod recorded;
