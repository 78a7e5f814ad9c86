//! Runs of `anthill render` that studies measure: the scene, the line that reports a run, and what a failure means.

use crate::cli::console::MessageStream;
use anthill::outcome::exit_code::{INCOMPLETE, INTERRUPTED, NO_USABLE_DEVICE, WRONG_USAGE};
use anthill::pipeline::plan::NamedPipeline;
use anthill::scale::study::{Differing, Series};
use anthill::scale::{
    AllRuns, Challenge, Fastest, FinishedRun, Measurements, Plan, Purpose, RunError, RunSettings, StudyWork,
    find_fastest, measure,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{fs, io};
use tempfile::TempDir;

/// The scene that is measured where none is given: it takes about a second on two cores.
const CALIBRATION: &str = include_str!("calibration.rib");

/// Returns the line that reports a run.
pub(crate) fn describe(run: FinishedRun<'_>) -> String {
    let FinishedRun { purpose, work, configuration, render_s, process_s } = run;
    let which = match purpose {
        Purpose::Caches => "caches filled".into(),
        Purpose::Measure { place, count } => format!("run {place} of {count}"),
        Purpose::Rates => "rates for predictions".into(),
    };
    let work = work.map_or_else(String::new, |work| format!("{work}: "));
    format!("anthill: {which}: {work}--devices {configuration}: {render_s:.3} s, whole process {process_s:.3} s")
}

/// Returns the exit code of a study whose run failed. If the run could not even begin, its exit code says why.
pub(crate) fn exit_code(error: &RunError) -> u8 {
    match error {
        RunError::Interrupted => INTERRUPTED,
        RunError::Failed { code: Some(code), .. } => match u8::try_from(*code) {
            Ok(code @ (WRONG_USAGE | NO_USABLE_DEVICE | INTERRUPTED)) => code,
            _ => INCOMPLETE,
        },
        RunError::Failed { code: None, .. } | RunError::Io { .. } | RunError::OutOfTime => INCOMPLETE,
    }
}

/// What is run with each pipeline of a plan.
pub(crate) struct PipelineRuns<'a> {
    /// The scene; the program's own if there is none.
    pub(crate) scene: Option<&'a Path>,
    /// Further flags of `anthill render`.
    pub(crate) flags: Vec<String>,
    /// How often it is run with each pipeline.
    pub(crate) repeat: u32,
}

impl PipelineRuns<'_> {
    /// Runs everything in a temporary folder, which stays if pictures differ. `report` is called after each run.
    pub(crate) fn measure(
        self,
        plan: &Plan,
        cancelled: &AtomicBool,
        messages: &MessageStream,
        report: &mut dyn FnMut(FinishedRun<'_>),
    ) -> Result<Measurements, RunError> {
        let settings = self.settings()?;
        let measured = measure(&settings, plan, cancelled, report).and_then(AllRuns::into_whole);
        let differ = measured.as_ref().is_ok_and(|measured| !measured.differing.is_empty());
        leave_folder(&settings.folder, differ, messages);
        measured
    }

    /// Finds the fastest within a time, in a temporary folder, which stays if pictures differ. `report` is called after
    /// each comparison.
    pub(crate) fn find_fastest(
        self,
        plan: &Plan,
        time: Duration,
        cancelled: &AtomicBool,
        messages: &MessageStream,
        report: &mut dyn FnMut(Challenge<'_>),
    ) -> Result<Fastest, RunError> {
        let settings = self.settings()?;
        let found = find_fastest(&settings, plan, time, cancelled, report);
        let differ = found.as_ref().is_ok_and(|found| !found.differing.is_empty());
        leave_folder(&settings.folder, differ, messages);
        found
    }

    fn settings(self) -> Result<RunSettings, RunError> {
        self.settings_in_folder().map_err(|reason| RunError::Io { what: "cannot begin".into(), reason })
    }

    fn settings_in_folder(self) -> io::Result<RunSettings> {
        let folder = tempfile::tempdir()?;
        Ok(RunSettings {
            program: std::env::current_exe()?,
            works: vec![StudyWork { scene: scene(self.scene, &folder)?, ..StudyWork::default() }],
            flags: self.flags.into_iter().map(Into::into).collect(),
            repeat: self.repeat,
            pin: false,
            rates: false,
            keeps_going: false,
            folder: folder.keep(),
        })
    }
}

/// Removes the folder of runs, or says where it is if pictures differ.
fn leave_folder(folder: &Path, differ: bool, messages: &MessageStream) {
    if differ {
        messages.line(&format!("anthill: the pictures are kept in {}", folder.display()));
    } else if let Err(error) = fs::remove_dir_all(folder) {
        messages.line(&format!("anthill: warning: {} cannot be removed: {error}", folder.display()));
    }
}

/// Returns the scene that was given, or the program's own in the folder of the runs.
fn scene(given: Option<&Path>, folder: &TempDir) -> io::Result<PathBuf> {
    if let Some(scene) = given {
        return Ok(scene.into());
    }
    let own = folder.path().join("calibration.rib");
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("\"{}\" cannot be written: {error}", own.display()));
    fs::write(&own, CALIBRATION).map_err(named)?;
    Ok(own)
}

/// Reports which runs drew another picture.
pub(crate) fn report_differing(differing: &[Differing], messages: &MessageStream) {
    for differing in differing {
        let (selection, round) = (&differing.selection, differing.round);
        messages.error(&format!(
            "--devices {selection} drew another picture in round {round}, which is a defect: please report it"
        ));
    }
}

/// Returns the pipeline with the least median time among those that a device can have for itself: buckets cut the whole
/// picture.
pub(crate) fn fastest_of(series: &[Series]) -> Option<&'static NamedPipeline> {
    let named = |one: &Series| NamedPipeline::find(one.configuration.pipeline?);
    let own = series.iter().filter(|one| named(one).is_some_and(|named| named.colours.bucket_px().is_none()));
    named(own.min_by(|a, b| a.render().median.total_cmp(&b.render().median))?)
}
