//! Draws worlds on devices: plugs scene, shading, pipeline, scheduler, devices and film together.

mod count;
mod driver;
mod load;
mod memory;
mod pages;
mod record;
mod region;
mod slabs;

#[cfg(test)]
mod tests;
