//! Scaling studies: how much faster several devices render than one, and where the remaining time goes.
//!
//! A [`Plan`] lists what is run: configurations of devices, round by round. [`measure()`] runs each as a child process
//! of the program itself, so that everything a user waits for is measured, and reads its statistics. From further runs,
//! cut into many regions, [`predictions`] computes how long the same devices should take, and how long more of them
//! should. The result is a [`Study`], plain data. Everything shown is computed from it alone: [`tables`] for people and
//! programs, [`plots`] and [`timeline`] as SVG, and [`device_map`], the picture of which device rendered what.
//! [`report::write`] puts all of it into a folder, with one self-contained page.
//!
//! The figures follow the scaling study of RenderAnts (Zhou et al. 2009): the breakdown of its figure 10, the speed-up
//! of its figure 11.

mod colours;
mod cpus;
pub mod device_map;
pub mod machine;
mod page;
mod pairs;
pub mod plan;
pub mod plots;
pub mod predictions;
pub mod report;
mod run;
pub mod study;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod timeline;

pub use cpus::{available_cpus, keep_to_cpus};
pub use pairs::{Challenge, Fastest, find_fastest};
pub use plan::{Configuration, Plan, PlanError};
pub use predictions::StudyForecast;
pub use run::{FinishedRun, Measurements, Purpose, RunError, RunSettings, measure};
pub use study::Study;
