//! The runs of a study in turn, round by round: which are made, and what is kept when some fail.

use super::pictures::ComparedPictures;
use super::plan::{Configuration, Plan};
use super::run::{FinishedRun, PlannedRun, Purpose, RunError, RunSettings, StudyRunner, io_error};
use super::study::{Differing, Series, StudyRun};
use super::work::StudyWork;
use crate::outcome::exit_code::INTERRUPTED;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The rounds that have a run for rates: the median of three tolerates one that was disturbed, and more would make
/// studies long.
const RATES_ROUNDS: u32 = 3;

/// The runs of a work.
#[derive(Debug)]
pub struct Measurements {
    /// The runs of each configuration. Only those that failed or did not come to their turn have none.
    pub series: Vec<Series>,
    /// Runs of the baseline that rates can be fitted to, or why there are none.
    pub for_rates: Result<Vec<StudyRun>, String>,
    /// Runs whose pictures differ.
    pub differing: Vec<Differing>,
    /// The picture of each world of the first run, for worlds that have one.
    pub pictures: Vec<PathBuf>,
    /// Runs that failed. Their configurations were not run again.
    pub failed: Vec<FailedRun>,
}

/// A run that failed while others went on.
#[derive(Debug)]
pub struct FailedRun {
    /// The place of its configuration in the plan.
    pub configuration: usize,
    /// Its round, from 1; 0 for one that fills caches.
    pub round: u32,
    /// Why it failed.
    pub error: RunError,
}

/// All runs of a study.
#[derive(Debug)]
pub struct AllRuns {
    /// The runs of each work.
    pub works: Vec<Measurements>,
    /// Why the study ended before its last run.
    pub ended: Option<RunError>,
}

impl AllRuns {
    /// Returns the runs of the first work, if all were made.
    ///
    /// # Errors
    /// If a run failed, or the study ended before its last run.
    pub fn into_whole(self) -> Result<Measurements, RunError> {
        if let Some(error) = self.ended {
            return Err(error);
        }
        let mut first = self.works.into_iter().next().ok_or(RunError::Interrupted)?;
        if first.failed.is_empty() { Ok(first) } else { Err(first.failed.swap_remove(0).error) }
    }
}

/// Runs all configurations of a plan with all works in turn, round by round, after runs that fill the drivers' caches
/// of compiled kernels. In each of the first three rounds the baseline is run once more, for rates. `report` is called
/// after each run.
///
/// A configuration that fails is not run again with that work, and what was measured is kept, as it is if the study
/// ends early: when `cancelled` becomes true, when files cannot be read, and when all runs would fail alike.
///
/// # Errors
/// If there can be no run, because no file can be made.
pub fn measure(
    settings: &RunSettings,
    plan: &Plan,
    cancelled: &AtomicBool,
    report: &mut dyn FnMut(FinishedRun<'_>),
) -> Result<AllRuns, RunError> {
    let scratch = tempfile::tempdir_in(&settings.folder)
        .map_err(|reason| io_error("cannot make a temporary folder for the runs", reason))?;
    let runner = StudyRunner::new(settings, scratch.path(), cancelled, report);
    let mut study = RoundsOfRuns::new(runner, plan, settings);
    let ended = study.run_all().err();
    Ok(AllRuns { works: study.into_measurements(), ended })
}

/// The runs of a study, made one after the other.
struct RoundsOfRuns<'a> {
    runner: StudyRunner<'a>,
    plan: &'a Plan,
    settings: &'a RunSettings,
    works: Vec<Measurements>,
}

impl<'a> RoundsOfRuns<'a> {
    fn new(runner: StudyRunner<'a>, plan: &'a Plan, settings: &'a RunSettings) -> Self {
        let nothing = |work: &StudyWork| {
            let series = |configuration: &Configuration| Series {
                amount: work.amount(configuration.indices.len()),
                configuration: configuration.clone(),
                runs: Vec::new(),
            };
            let series = plan.configurations.iter().map(series).collect();
            let (differing, pictures, failed) = (Vec::new(), Vec::new(), Vec::new());
            Measurements { series, for_rates: Ok(Vec::new()), differing, pictures, failed }
        };
        let works = settings.works.iter().map(nothing).collect();
        Self { runner, plan, settings, works }
    }

    fn run_all(&mut self) -> Result<(), RunError> {
        let (works, configurations) = (self.works.len(), self.plan.configurations.len());
        for work in 0..works {
            for place in self.plan.warm_up(self.settings.pin) {
                self.run(work, place, 0, Purpose::Caches)?;
            }
        }
        let count = works * configurations * self.settings.repeat as usize;
        let mut places = 1..;
        for round in 1..=self.settings.repeat {
            for work in 0..works {
                for (configuration, place) in (0..configurations).zip(&mut places) {
                    let run = self.run(work, configuration, round, Purpose::Measure { place, count })?;
                    self.works[work].series[configuration].runs.extend(run);
                }
            }
            // After all that is compared, which would else not follow one right after the other.
            if self.settings.rates && round <= RATES_ROUNDS {
                (0..works).try_for_each(|work| self.run_for_rates(work, round))?;
            }
        }
        Ok(())
    }

    /// Makes a run, unless its configuration or what it is compared with has failed before.
    fn run(
        &mut self,
        work: usize,
        configuration: usize,
        round: u32,
        purpose: Purpose,
    ) -> Result<Option<StudyRun>, RunError> {
        let matters = |failed: &FailedRun| [configuration, self.plan.baseline].contains(&failed.configuration);
        if self.works[work].failed.iter().any(matters) {
            return Ok(None);
        }
        let planned = PlannedRun { work, configuration: &self.plan.configurations[configuration], round, purpose };
        match self.runner.run(planned) {
            Err(error) if self.settings.keeps_going && !error.ends_all() => {
                self.works[work].failed.push(FailedRun { configuration, round, error });
                Ok(None)
            }
            run => run.map(Some),
        }
    }

    /// Makes a run for rates. If it fails there are no runs for rates, but the study goes on with what was measured.
    fn run_for_rates(&mut self, work: usize, round: u32) -> Result<(), RunError> {
        let (baseline, measurements) = (self.plan.baseline, &mut self.works[work]);
        let is_lost = measurements.failed.iter().any(|failed| failed.configuration == baseline);
        let Ok(runs) = &mut measurements.for_rates else { return Ok(()) };
        if is_lost {
            return Ok(());
        }
        let configuration = &self.plan.configurations[baseline];
        match self.runner.run(PlannedRun { work, configuration, round, purpose: Purpose::Rates }) {
            Ok(run) => runs.push(run),
            Err(failed @ RunError::Failed { code, .. }) if code != Some(INTERRUPTED.into()) => {
                measurements.for_rates = Err(failed.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn into_measurements(self) -> Vec<Measurements> {
        let with = |(mut work, found): (Measurements, ComparedPictures)| {
            (work.differing, work.pictures) = (found.differing, found.kept);
            work
        };
        self.works.into_iter().zip(self.runner.into_found()).map(with).collect()
    }
}
