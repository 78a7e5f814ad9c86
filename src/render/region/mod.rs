//! The chain of submissions that draws one region.

pub(super) mod cell_lists;
pub(super) mod chain;
pub(super) mod loads;
pub(super) mod pace;
pub(super) mod parts;
pub(super) mod record;
pub(super) mod slabs;
