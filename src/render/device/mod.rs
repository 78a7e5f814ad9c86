//! One device at work on one picture: memory divided, primitives counted, regions in flight, the imager.

pub(super) mod begin_picture;
pub(super) mod bound_split;
pub(super) mod imager;
pub(super) mod memory;
pub(super) mod renderer;
