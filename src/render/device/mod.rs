//! One device at work on one picture ([`DeviceRenderer`](renderer::DeviceRenderer)): its memory is divided, primitives
//! are counted, regions are in flight. Beside it the imager, which works on finished pixels.

mod begin_picture;
pub(super) mod bound_split;
mod counters;
pub(super) mod error;
mod frame;
pub(super) mod imager;
pub(super) mod kept;
pub(super) mod measure_displacement;
pub(super) mod memory;
pub(super) mod picture;
pub(super) mod regions_in_flight;
pub(super) mod renderer;
pub(super) mod tracks;
