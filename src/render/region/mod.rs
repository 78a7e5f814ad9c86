//! The chain of submissions that draws one region.

pub(crate) mod bakes;
pub(super) mod cell_lists;
pub(super) mod chain;
mod costs;
pub(super) mod device_world;
pub(super) mod layers;
pub(super) mod loads;
pub(super) mod loop_watch;
pub(super) mod pace;
pub(crate) mod prints;
pub(super) mod record;
pub(super) mod region_result;
pub(super) mod slabs;
pub(super) mod stage_tasks;
pub(crate) mod texture_watch;

#[cfg(test)]
pub(super) mod recorded;
