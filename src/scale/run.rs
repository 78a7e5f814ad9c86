//! The runs of a study. Each is a child process of the program itself, so that what is measured is what a user waits
//! for.

use super::cpus::restrict_to_cpus;
use super::load::CpuTimes;
use super::pictures::{ComparedPictures, PictureComparison};
use super::plan::Configuration;
use super::study::StudyRun;
use super::work::StudyWork;
use crate::outcome::exit_code::{INTERRUPTED, NO_USABLE_DEVICE, WRONG_USAGE};
use crate::stats::Measured;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// What all runs have in common.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The program to run.
    pub program: PathBuf,
    /// What is rendered; at least one.
    pub works: Vec<StudyWork>,
    /// Further flags of `anthill render`, the same for each run.
    pub flags: Vec<OsString>,
    /// How often each configuration is run.
    pub repeat: u32,
    /// Whether each run is restricted to as many cores as it has devices.
    pub pin: bool,
    /// Whether the baseline is run for rates too.
    pub rates: bool,
    /// Whether others go on when a run fails.
    pub keeps_going: bool,
    /// The folder for the picture, and for pictures that differ from it.
    pub folder: PathBuf,
}

/// The flag of `anthill render` that cuts a picture into regions of different sizes, and about how many: enough to fit
/// rates to.
pub(super) const REGIONS_FOR_RATES: [&str; 2] = ["--regions", "40"];

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The run fills the drivers' caches of compiled kernels.
    Caches,
    /// The run is measured.
    Measure {
        /// Its number among the measured runs, from 1.
        place: usize,
        /// The number of measured runs.
        count: usize,
    },
    /// Rates for predictions are fitted to the run.
    Rates,
}

/// A run that has finished.
#[derive(Clone, Copy, Debug)]
pub struct FinishedRun<'a> {
    /// What it was for.
    pub purpose: Purpose,
    /// What it drew; `None` if all runs draw the same.
    pub work: Option<&'a StudyWork>,
    /// What was run.
    pub configuration: &'a Configuration,
    /// Its time from the first submission to the last pixel.
    pub render_s: f64,
    /// The time of the whole process.
    pub process_s: f64,
}

/// Why there is no study.
#[derive(Debug, Error)]
pub enum RunError {
    /// A run failed.
    #[error("the run on --devices {selection} failed{}:\n{messages}", exit(*.code))]
    Failed {
        /// Its devices, as typed.
        selection: String,
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// What it wrote to standard error.
        messages: String,
    },
    /// A file or a process could not be created, read or written.
    #[error("{what}: {reason}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        reason: io::Error,
    },
    /// The user stopped the study.
    #[error("interrupted")]
    Interrupted,
    /// The time for all runs was over.
    #[error("the time for it was over")]
    OutOfTime,
}

fn exit(code: Option<i32>) -> String {
    code.map_or_else(|| " (ended by a signal)".into(), |code| format!(" (exit code {code})"))
}

impl RunError {
    /// Whether other runs would fail alike, so that none of them is made.
    pub(super) fn ends_all(&self) -> bool {
        let general = [WRONG_USAGE, NO_USABLE_DEVICE, INTERRUPTED].map(i32::from);
        !matches!(self, Self::Failed { code, .. } if code.is_none_or(|code| !general.contains(&code)))
    }
}

/// A run that is to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedRun<'a> {
    /// The place of what it draws among the study's works.
    pub(super) work: usize,
    /// What it draws on.
    pub(super) configuration: &'a Configuration,
    /// Its round, from 1; 0 for one that fills caches.
    pub(super) round: u32,
    /// What it is for.
    pub(super) purpose: Purpose,
}

/// How often a run with a deadline is asked whether it has ended.
const DEADLINE_POLL: Duration = Duration::from_millis(2);

/// Runs the program for one study.
pub(super) struct StudyRunner<'a> {
    settings: &'a RunSettings,
    scratch: &'a Path,
    cancelled: &'a AtomicBool,
    report: &'a mut dyn FnMut(FinishedRun<'_>),
    comparison: PictureComparison<'a>,
    /// When a run that has not ended is killed.
    deadline: Option<Instant>,
}

impl<'a> StudyRunner<'a> {
    /// Returns one whose runs write to `scratch`, and take as long as they take.
    pub(super) fn new(
        settings: &'a RunSettings,
        scratch: &'a Path,
        cancelled: &'a AtomicBool,
        report: &'a mut dyn FnMut(FinishedRun<'_>),
    ) -> Self {
        let comparison = PictureComparison::new(&settings.folder, scratch, settings.works.len());
        Self { settings, scratch, cancelled, report, comparison, deadline: None }
    }

    /// Returns one whose runs all end within `time`.
    pub(super) fn within(self, time: Duration) -> Self {
        Self { deadline: Some(Instant::now() + time), ..self }
    }

    /// Returns what was found about the pictures of each work.
    pub(super) fn into_found(self) -> Vec<ComparedPictures> {
        self.comparison.into_found()
    }

    /// Makes a run, compares its pictures, and reports it.
    pub(super) fn run(&mut self, planned: PlannedRun<'_>) -> Result<StudyRun, RunError> {
        let PlannedRun { work, configuration, purpose, .. } = planned;
        let work = &self.settings.works[work];
        let size_px = work.size_for(configuration.indices.len());
        let mut run = self.run_process(work, configuration, purpose)?;
        self.comparison.compare(&planned, size_px, &run.stats.outputs)?;
        if purpose != Purpose::Rates {
            // Only predictions need what the picture contains where; it is the same in each run, and long.
            run.stats.worlds.iter_mut().for_each(|world| world.cost = None);
        }
        let (render_s, process_s) = (run.stats.render_s, run.process_s);
        let work = (self.settings.works.len() > 1).then_some(work);
        (self.report)(FinishedRun { purpose, work, configuration, render_s, process_s });
        Ok(run)
    }

    /// Runs the program once and reads the statistics that it wrote.
    fn run_process(
        &self,
        work: &StudyWork,
        configuration: &Configuration,
        purpose: Purpose,
    ) -> Result<StudyRun, RunError> {
        let stats = self.scratch.join("stats.json");
        let mut command = self.command(work, configuration, purpose, &stats);
        let (begin, cpu_begin) = (Instant::now(), CpuTimes::now());
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        let mut start = || command.spawn();
        let child = match self.settings.pin {
            true => restrict_to_cpus(configuration.indices.len(), start),
            false => start(),
        };
        let ended = child.and_then(|child| output_by(child, self.deadline));
        let process_s = begin.elapsed().as_secs_f64();
        let others_share = cpu_begin.and_then(|begin| CpuTimes::now()?.others_since(begin));
        let Output { status, stderr, .. } = ended.map_err(|reason| io_error("cannot run this program", reason))?;
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over {
            return Err(RunError::OutOfTime);
        }
        if !status.success() {
            let messages = String::from_utf8_lossy(&stderr).trim_end().to_string();
            return Err(RunError::Failed { selection: configuration.to_string(), code: status.code(), messages });
        }
        let unreadable = |reason| io_error("cannot read the statistics of a run", reason);
        let text = fs::read(&stats).map_err(unreadable)?;
        let stats: Measured = serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
        Ok(StudyRun { process_s, others_share, stats })
    }

    /// Returns the command line of a run.
    fn command(&self, work: &StudyWork, configuration: &Configuration, purpose: Purpose, stats: &Path) -> Command {
        let settings = self.settings;
        let mut command = Command::new(&settings.program);
        command.arg("render").arg(&work.scene).args(&settings.flags);
        if let Some(size) = work.size_for(configuration.indices.len()) {
            command.arg("--format").args(size.map(|side| side.to_string()));
        }
        command.arg("--devices").arg(&configuration.selection);
        command.args(["--progress", "off", "--stats"]).arg(stats);
        // If there are several worlds, the # becomes the frame's number.
        command.arg("-o").arg(self.scratch.join("picture.#.exr"));
        command.args(configuration.pipeline.iter().flat_map(|name| ["--pipeline", name]));
        if purpose == Purpose::Rates {
            command.args(REGIONS_FOR_RATES);
        }
        // Nothing else is measured meanwhile.
        command.args(["--calibrate-after", "never"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

/// Waits for the end of a run, which is killed at the deadline.
fn output_by(mut child: Child, deadline: Option<Instant>) -> io::Result<Output> {
    let Some(deadline) = deadline else { return child.wait_with_output() };
    let errors = child.stderr.take().map(|mut stderr| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).map(|_| bytes)
        })
    });
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() >= deadline => {
                // It may just have ended by itself.
                let _ = child.kill();
                break child.wait()?;
            }
            None => thread::sleep(DEADLINE_POLL),
        }
    };
    let stderr = errors.and_then(|errors| errors.join().ok()).transpose()?.unwrap_or_default();
    Ok(Output { status, stdout: Vec::new(), stderr })
}

pub(super) fn io_error(what: &str, reason: io::Error) -> RunError {
    RunError::Io { what: what.into(), reason }
}

#[cfg(all(test, unix))]
pub(super) mod tests;
