//! Pages that come and go on a device: geometry, and the list of grids.

pub(super) mod geometry_pages;
pub(super) mod grid_pages;
