//! Draws worlds on devices: plugs scene, shading, pipeline, scheduler, devices and film together.

mod checkpoint;
mod device;
mod grids;
pub mod live;
mod region;
mod report;
mod resident;
mod session;

#[cfg(test)]
mod tests;

pub(crate) use session::run::run;
