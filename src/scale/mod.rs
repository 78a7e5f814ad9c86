//! Scaling studies: how much faster several devices draw than one, and where the rest goes.
//!
//! A [`Plan`] says what is run: configurations of devices, round by round. [`measure()`] runs each as a child process of the program
//! itself, so that everything a user waits for is measured, and reads its statistics. From further runs, cut into many regions, an
//! [`outlook`] tells what the same devices should take, and more of them. The outcome is a [`Study`], plain data. What is shown is
//! computed from that and from nothing else: [`tables`] for people and programs, [`plots`] and [`timeline`] as SVG, [`drew`] the picture
//! of who drew what. [`report::write`] puts all of it into a folder, with one self-contained page.
//!
//! The figures follow the scaling study of RenderAnts (Zhou et al. 2009): the breakdown of its figure 10, the speed-up of its figure 11.

mod colours;
mod cpus;
pub mod drew;
pub mod machine;
pub mod outlook;
mod page;
pub mod plan;
pub mod plots;
pub mod report;
mod run;
pub mod study;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod timeline;

pub use cpus::available_cpus;
pub use outlook::Outlook;
pub use plan::{Configuration, Plan, PlanError};
pub use run::{Order, Progress, Purpose, RunError, measure};
pub use study::Study;
