//! Draws worlds on devices: plugs scene, shading, pipeline, scheduler, devices and film together.

mod advice;
mod aids;
mod cell_lists;
mod checkpoint;
mod chronicle;
mod cost;
mod count;
mod counted;
mod counting;
mod decisions;
mod devices;
mod division;
mod driver;
mod grid_list;
mod grid_pages;
mod imager;
mod load;
mod memory;
mod needs;
mod neighbours;
mod pace;
mod pages;
mod parts;
mod pixel_grids;
mod record;
mod region;
mod result;
mod run;
mod session;
mod slabs;
mod tally;
mod tiles;
mod worker;

#[cfg(test)]
mod tests;

pub(crate) use run::run;
