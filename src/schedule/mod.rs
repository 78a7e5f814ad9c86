//! (docs later)
mod board;
mod capacity;
mod cut;
#[cfg(test)]
mod model;
pub mod perturb;
mod policy;
mod region;
mod render;
mod report;
mod scheduler;
mod seat;
#[cfg(test)]
mod simulator;
mod summed_area;
mod sync;
pub use capacity::{Capacity, Fit, Resource, part_bytes};
pub use cut::Cut;
pub use policy::{BALANCE_SIDE_MIN_PX, BALANCE_WORK_MIN, Policy, SHARE_PARTS, balance_work_min};
pub use region::{Axis, Region, TILE_PX};
pub use render::{Job, Opener, Poll, RegionRenderer, render};
pub use report::{
    Balance, CutReason, DeviceReport, Event, Failure, Happening, Hook, Incomplete, MissingReason, Report,
};
pub use summed_area::{Estimate, Rates, SummedArea, TileCounts, TileGrid};
