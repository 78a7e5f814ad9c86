//! A render session: devices that outlive worlds, and worlds drawn on them one after another.
//!
//! `run` opens the devices and draws the worlds that `reading` reads ahead on a thread of its own. `draw` draws one
//! world: its `picture` is built, the `counting_pass` finds its grids, and `regions` has the scheduler render what the
//! film lacks. `made_textures` makes textures between worlds.
//! `live_renderer` is what a live session draws with, and `live_scene` the scene that it edits.

mod auto_shadows;
mod baked_files;
mod capture;
mod counting_pass;
mod devices;
mod draw;
mod drawn_picture;
mod failures;
mod limits;
pub(super) mod live_renderer;
pub(super) mod live_scene;
mod made_textures;
mod outputs;
mod picture;
mod progress_ticker;
mod read_passes;
mod reading;
mod regions;
mod resident;
mod result;
pub(super) mod run;
mod sameness;
mod shadow_keys;
mod test_aids;
#[cfg(test)]
mod test_sessions;
mod tiling_watch;
mod tuning;
mod worker;
