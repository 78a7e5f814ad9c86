//! The picture's grids on the host: their list, its order, and what follows from it. No device.

pub(super) mod list;
pub(super) mod order;
pub(super) mod picture_grids;
pub(super) mod pixel_grids;
pub(super) mod squares;
