//! Scaling studies: how much faster several devices render than one, and where the remaining time goes.
//!
//! A list of [`StudyWork`]s says what is drawn, and a [`Plan`] on what: configurations of devices. [`measure()`] runs
//! all of them in turn, round by round, each as a child process of the program itself, so that everything a user waits
//! for is measured, and reads its statistics. From further runs, cut into many regions, [`predictions`] computes how
//! long the same devices should take, and how long more of them should. The result is a [`StudySet`], plain data, with
//! a [`Study`] for each work. Everything shown is computed from it alone: [`doubts`] about what was measured,
//! [`tables`] for people and programs, [`figures`] as SVG, and [`device_map`], the picture of which device rendered
//! what. [`report::write`] puts all of it into a folder, with one self-contained page.
//!
//! [`render_page`] is a page of a single render, made of its statistics by the same means, with [`heat_map`]s.
//!
//! The figures follow the scaling study of RenderAnts (Zhou et al. 2009): the breakdown of its figure 10, the speed-up
//! of its figure 11.

mod colours;
mod cpus;
pub mod device_map;
pub mod doubts;
pub mod figures;
pub mod heat_map;
mod latex;
pub mod load;
pub mod machine;
mod page;
mod pairs;
mod pictures;
pub mod plan;
pub mod plots;
pub mod predictions;
pub mod render_page;
mod render_tables;
pub mod report;
mod rounds;
mod run;
pub mod spread;
pub mod study;
pub mod study_set;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod timeline;
mod work;

pub use cpus::{available_cpus, keep_to_cpus};
pub use pairs::{Challenge, Fastest, find_fastest};
pub use plan::{Configuration, Plan, PlanError};
pub use predictions::StudyForecast;
pub use rounds::{AllRuns, FailedRun, Measurements, measure};
pub use run::{FinishedRun, Purpose, RunError, RunSettings};
pub use study::Study;
pub use study_set::{StudyOrigin, StudySet};
pub use work::{Scaling, StudyWork, WorkError};
