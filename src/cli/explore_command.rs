//! `anthill explore`: draws a scene, or one of its own, with each pipeline on each device, prints what they take, and
//! keeps the fastest.

use super::console::{Console, MessageStream};
use super::devices_command::{WRONG_USAGE, refuse};
use super::explore_flags::ExploreFlags;
use super::render_command::{check_readable, overrides};
use super::scale_command::{describe, exit_code, to_arguments};
use anthill::gpu::{DeviceInfo, GpuError, devices, select};
use anthill::pipeline::plan::{CATALOGUE, NamedPipeline};
use anthill::pipeline_choice::KeptPipelines;
use anthill::scale::study::Series;
use anthill::scale::{FinishedRun, Measurements, Plan, PlanError, RunError, RunSettings, measure, tables};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::{fs, io};
use tempfile::TempDir;

/// The scene that is measured where none is given: it takes about a second on two cores.
const CALIBRATION: &str = include_str!("calibration.rib");

/// Runs the command and returns the exit code.
pub(super) fn run(flags: &ExploreFlags, console: &mut Console) -> u8 {
    if let Err(message) = check(flags) {
        console.err.error(&message);
        return WRONG_USAGE;
    }
    let planned = devices(false).and_then(|known| Ok((plan(flags, &known)?, known)));
    let (plan, known) = match planned {
        Ok(planned) => planned,
        Err(error) => return refuse(&error, console),
    };
    match explore(flags, &plan, console) {
        Ok(measured) => show(flags, &measured, &known, console),
        Err(code) => code,
    }
}

fn check(flags: &ExploreFlags) -> Result<(), String> {
    if let Some(scene) = &flags.scene {
        if scene.as_os_str() == "-" {
            return Err("the scene is read once for each run, so it cannot be standard input".into());
        }
        check_readable(scene)?;
    }
    overrides(&flags.work).map(|_| ())
}

/// Each device by itself with each pipeline; without `--devices` one of each model that is used by default.
fn plan(flags: &ExploreFlags, known: &[DeviceInfo]) -> Result<Plan, GpuError> {
    let mut indices: Vec<usize> = Vec::new();
    for index in select(known, flags.devices.as_deref().unwrap_or("all"))? {
        let is_same = |&other: &usize| match flags.devices {
            Some(_) => other == index,
            None => known[other].is_like(&known[index]),
        };
        if !indices.iter().any(is_same) {
            indices.push(index);
        }
    }
    let selections: Vec<String> = indices.iter().map(usize::to_string).collect();
    let plan = Plan::new(&selections, known).map_err(|error| match error {
        PlanError::Devices(error) => error,
        other => unreachable!("each device is there once, by itself: {other}"),
    })?;
    let pipelines: Vec<&NamedPipeline> = match flags.pipelines.is_empty() {
        true => CATALOGUE.iter().collect(),
        false => CATALOGUE.iter().filter(|one| flags.pipelines.iter().any(|wanted| wanted.name == one.name)).collect(),
    };
    Ok(plan.with_pipelines(&pipelines))
}

/// What is run with each pipeline of a plan.
pub(super) struct Runs<'a> {
    /// The scene; the program's own if there is none.
    pub(super) scene: Option<&'a Path>,
    /// Further flags of `anthill render`.
    pub(super) flags: Vec<String>,
    /// How often it is run with each pipeline.
    pub(super) repeat: u32,
}

impl Runs<'_> {
    /// Runs everything in a temporary folder, which stays if pictures differ. `report` is called after each run.
    pub(super) fn measure(
        self,
        plan: &Plan,
        cancelled: &AtomicBool,
        messages: &MessageStream,
        report: &mut dyn FnMut(FinishedRun<'_>),
    ) -> Result<Measurements, RunError> {
        let cannot_begin = |reason| RunError::Io { what: "cannot begin".into(), reason };
        let settings = self.settings().map_err(cannot_begin)?;
        let measured = measure(&settings, plan, cancelled, report);
        if measured.as_ref().is_ok_and(|measured| !measured.differing.is_empty()) {
            messages.line(&format!("anthill: the pictures are kept in {}", settings.folder.display()));
        } else if let Err(error) = fs::remove_dir_all(&settings.folder) {
            messages.line(&format!("anthill: warning: {} cannot be removed: {error}", settings.folder.display()));
        }
        measured
    }

    fn settings(self) -> io::Result<RunSettings> {
        let folder = tempfile::tempdir()?;
        Ok(RunSettings {
            program: std::env::current_exe()?,
            scene: scene(self.scene, &folder)?,
            flags: self.flags.into_iter().map(Into::into).collect(),
            repeat: self.repeat,
            pin: false,
            rates: false,
            folder: folder.keep(),
        })
    }
}

/// Runs everything; the error is an exit code.
fn explore(flags: &ExploreFlags, plan: &Plan, console: &Console) -> Result<Measurements, u8> {
    let cancelled = (console.listen)();
    let messages = &console.err;
    let runs = Runs { scene: flags.scene.as_deref(), flags: to_arguments(&flags.work), repeat: flags.repeat };
    runs.measure(plan, &cancelled, messages, &mut |run| messages.line(&describe(run))).map_err(|error| {
        messages.block(&format!("anthill: error: {error}"));
        exit_code(&error)
    })
}

/// The scene that was given, or the program's own in the folder of the runs.
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

/// Prints a table for each device and what was fastest, and keeps what was fastest if that is wanted.
fn show(flags: &ExploreFlags, measured: &Measurements, known: &[DeviceInfo], console: &mut Console) -> u8 {
    report_differing(measured, &console.err);
    let mut fastest = Vec::new();
    for of_device in measured.series.chunk_by(|a, b| a.configuration.indices == b.configuration.indices) {
        let device = &known[of_device[0].configuration.indices[0]];
        let table = tables::pipelines(of_device);
        let (index, name, driver, note) = (device.index, &device.name, &device.driver_info, &table.note);
        console.print(&format!("device {index}: {name}, {driver}\n{}\n{note}\n", table.to_markdown()));
        if let Some(pipeline) = fastest_of(of_device).filter(|_| measured.differing.is_empty()) {
            console.print(&format!("the fastest that device {index} can have for itself: {}\n", pipeline.name));
            fastest.push((device, pipeline));
        }
    }
    if !measured.differing.is_empty() {
        return 1;
    }
    if flags.keep { keep(&fastest, console) } else { 0 }
}

/// Says which runs drew another picture.
pub(super) fn report_differing(measured: &Measurements, messages: &MessageStream) {
    for differing in &measured.differing {
        let (selection, round) = (&differing.selection, differing.round);
        messages.error(&format!(
            "--devices {selection} drew another picture in round {round}, which is a defect: please report it"
        ));
    }
}

/// The pipeline with the least median time among those that a device can have for itself: buckets cut the whole
/// picture.
pub(super) fn fastest_of(series: &[Series]) -> Option<&'static NamedPipeline> {
    let named = |one: &Series| NamedPipeline::find(one.configuration.pipeline?);
    let own = series.iter().filter(|one| named(one).is_some_and(|named| named.colours.bucket_px().is_none()));
    named(own.min_by(|a, b| a.render().median.total_cmp(&b.render().median))?)
}

fn keep(fastest: &[(&DeviceInfo, &'static NamedPipeline)], console: &Console) -> u8 {
    let Some(path) = KeptPipelines::default_file() else {
        console.err.error("--keep: there is no folder to keep anything in: set HOME or XDG_CACHE_HOME");
        return 1;
    };
    match write(fastest, &path) {
        Ok(()) => {
            fastest.iter().for_each(|(device, pipeline)| console.err.line(&kept_message(device, pipeline)));
            0
        }
        Err(error) => {
            console.err.error(&format!("--keep: cannot write \"{}\": {error}", path.display()));
            1
        }
    }
}

/// What is said when a pipeline was kept for a device.
pub(super) fn kept_message(device: &DeviceInfo, pipeline: &NamedPipeline) -> String {
    format!("anthill: {} draws with pipeline {} from now on", device.name, pipeline.name)
}

/// Adds to what was kept; a file that cannot be read is replaced.
pub(super) fn write(fastest: &[(&DeviceInfo, &'static NamedPipeline)], path: &Path) -> io::Result<()> {
    let mut kept = KeptPipelines::read(path).unwrap_or_default();
    fastest.iter().for_each(|(device, pipeline)| kept.keep(device, pipeline));
    kept.write(path)
}
