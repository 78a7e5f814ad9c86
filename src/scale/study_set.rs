//! A whole study: what was measured of each work, by which program, on which machine, and whether it can be believed.

use super::doubts::Doubt;
use super::machine::{Conditions, Machine, StudyDevice};
use super::plan::Plan;
use super::predictions::StudyForecast;
use super::rounds::{AllRuns, FailedRun, Measurements};
use super::study::{Failing, Study};
use super::work::{Scaling, StudyWork};
use serde::Serialize;
use std::path::PathBuf;

/// A whole study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudySet {
    /// Version of the program.
    pub version: String,
    /// The command line of the study.
    pub command: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// When it ran, and how busy the machine was.
    pub conditions: Conditions,
    /// Why it ended before its last run, if it did.
    pub stopped: Option<String>,
    /// The study of each work; at least one.
    pub studies: Vec<Study>,
}

/// What a study is made from, apart from its runs.
#[derive(Clone, Debug)]
pub struct StudyOrigin {
    /// The command line of the study.
    pub command: String,
    /// The flags of `anthill render` that all runs have in common.
    pub flags: String,
    /// Whether each run was restricted to as many cores as it had devices.
    pub pinned: bool,
    /// The machine that it ran on.
    pub machine: Machine,
    /// When it ran.
    pub conditions: Conditions,
}

impl StudySet {
    /// Makes the study of some runs, and returns it with the pictures of each work. Configurations without runs are
    /// left out, and so are works of which the baseline has none; if none is left there is no study.
    pub fn new(
        origin: StudyOrigin,
        works: &[StudyWork],
        plan: &Plan,
        runs: AllRuns,
    ) -> Option<(Self, Vec<Vec<PathBuf>>)> {
        let StudyOrigin { command, flags, pinned, machine, conditions } = origin;
        let (mut studies, mut pictures) = (Vec::new(), Vec::new());
        for ((work, name), measured) in works.iter().zip(StudyWork::names(works)).zip(runs.works) {
            let of_work = measured.pictures.clone();
            if let Some(study) = study_of(work, name, plan, measured, &machine.devices) {
                studies.push(Study { flags: flags.clone(), pinned, ..study });
                pictures.push(of_work);
            }
        }
        let stopped = runs.ended.map(|error| error.to_string());
        let version = env!("CARGO_PKG_VERSION").into();
        let set = Self { version, command, machine, conditions, stopped, studies };
        (!set.studies.is_empty()).then_some((set, pictures))
    }

    /// Returns its title.
    pub fn title(&self) -> String {
        let mut scenes: Vec<String> = self.studies.iter().map(|study| study.work.scene.display().to_string()).collect();
        scenes.dedup();
        format!("Scaling study: {}", scenes.join(", "))
    }

    /// Returns a sentence for each work: its result.
    pub fn findings(&self) -> Vec<String> {
        let doubts = self.doubts();
        let finding = |study: &Study| {
            let concerns = |doubt: &Doubt| doubt.study.as_ref().is_none_or(|name| *name == study.name);
            let finding = study.finding(doubts.iter().any(concerns));
            if self.studies.len() > 1 { format!("{}: {finding}", study.name) } else { finding }
        };
        self.studies.iter().map(finding).collect()
    }

    /// Returns a sentence that says what is missing, if the study ended early or runs failed.
    pub fn missing(&self) -> Vec<String> {
        let ended = self.stopped.iter().map(|why| {
            let runs =
                self.studies.iter().flat_map(|study| &study.series).map(|series| series.runs.len()).sum::<usize>();
            format!("The study ended after {runs} measured runs, before its last: {why}. What was measured is shown.")
        });
        let failed = self.studies.iter().flat_map(|study| {
            study.failed.iter().map(|failing| {
                let why = failing.message.lines().collect::<Vec<_>>().join(" ");
                format!("{}: --devices {} was not run again: {why}", study.name, failing.selection)
            })
        });
        ended.chain(failed).collect()
    }

    /// Returns by which program the study was made, when, and on which machine.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Conditions { begun, ended, commit, load_before, load_after } = &self.conditions;
        let unknown = || "unknown".to_string();
        let mut facts = vec![
            ("program", format!("anthill {}", self.version)),
            ("commit", commit.clone().unwrap_or_else(unknown)),
            ("command", self.command.clone()),
            ("date", format!("{begun} to {ended}")),
            ("processor", format!("{}, up to {} cores used", self.machine.processor, self.machine.cores)),
            ("system", self.machine.system.clone()),
        ];
        for (name, load) in [("load before", load_before), ("load after", load_after)] {
            let shown =
                load.map(|load| format!("{:.2} in the last minute, {:.2} in five", load.minute, load.five_minutes));
            facts.push((name, shown.unwrap_or_else(unknown)));
        }
        for device in &self.machine.devices {
            facts.push(("device", format!("{}: {}, {}", device.index, device.name, device.driver)));
        }
        for (name, value) in &self.machine.environment {
            facts.push(("environment", format!("{name}={value}")));
        }
        if self.studies.iter().any(|study| study.pinned) {
            facts.push(("cores", "each run restricted to as many cores as it had devices (--cpus)".into()));
        }
        facts
    }
}

/// Returns the study of a work, if its baseline was run.
fn study_of(
    work: &StudyWork,
    name: String,
    plan: &Plan,
    measured: Measurements,
    devices: &[StudyDevice],
) -> Option<Study> {
    let Measurements { mut series, for_rates, differing, failed, .. } = measured;
    let baseline = series[..plan.baseline].iter().filter(|series| !series.runs.is_empty()).count();
    if series[plan.baseline].runs.is_empty() {
        return None;
    }
    series.retain(|series| !series.runs.is_empty());
    let fitted = match work.scaling {
        Scaling::Strong => for_rates,
        Scaling::Weak => Err("in weak scaling each number of devices draws another picture".into()),
    };
    let failing = |FailedRun { configuration, round, error }: FailedRun| Failing {
        selection: plan.configurations[configuration].to_string(),
        round,
        message: error.to_string(),
    };
    Some(Study {
        name,
        work: work.clone(),
        flags: String::new(),
        pinned: false,
        forecast: StudyForecast::new(&series, baseline, devices, &fitted),
        series,
        baseline,
        differing,
        failed: failed.into_iter().map(failing).collect(),
    })
}
