//! What comes and goes on a device: pages of geometry and of the list of grids, tiles of textures, and what samples
//! see.

pub(super) mod geometry_pages;
pub(super) mod grid_pages;
pub(super) mod picture_textures;
mod prefetch;
mod slot_table;
pub(super) mod texture_tiles;
pub(super) mod visibility_store;
