//! Draws worlds on devices: plugs scene, shading, pipeline, scheduler, devices and film together.

mod count;
mod load;
mod memory;
mod pages;
mod record;
mod region;
mod slabs;
