//! After a render: measures which pipeline is the fastest on devices that have drawn for long without one kept for
//! them, and keeps it: once for each model and driver, so that with the usual limit it takes little against what was
//! drawn.

use crate::cli::console::Console;
use crate::cli::file_errors::cannot_write;
use crate::cli::flags::render::RenderFlags;
use crate::cli::kept_pipelines::{keep_pipelines, kept_message};
use crate::cli::runs::{PipelineRuns, fastest_of, report_differing};
use anthill::gpu::{DeviceInfo, DeviceKind, devices};
use anthill::outcome::{Ending, Outcome};
use anthill::pipeline::plan::{CATALOGUE, NamedPipeline};
use anthill::pipeline_choice::{DrawnTimes, KeptPipelines, model_and_driver};
use anthill::scale::Plan;
use anthill::stats::DeviceStats;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the program's own scene is drawn with each pipeline.
const REPEAT: u32 = 2;

/// What makes the scene large enough for GPUs.
const FOR_GPUS: [&str; 3] = ["--format", "2048", "2048"];

/// Adds what devices drew to what they drew before, and measures those that are due. Whatever fails here changes
/// neither the pictures nor the exit code.
pub(crate) fn after_render(flags: &RenderFlags, outcome: &Outcome, cancelled: &AtomicBool, console: &Console) {
    let Some(limit) = flags.calibrate_after.0 else { return };
    // With fewer cores CPU devices are not what they are in other renders.
    if flags.pipeline.is_some() || flags.threads.is_some() || outcome.ending != Ending::Finished {
        return;
    }
    let Some(_lock) = lock() else { return };
    let kept = KeptPipelines::default_file().and_then(|path| KeptPipelines::read(&path).ok()).unwrap_or_default();
    let due = due(&drawn(&outcome.stats.devices, &kept), limit);
    if due.is_empty() {
        return;
    }
    let Ok(known) = devices(false) else { return };
    for model in due {
        if cancelled.load(Ordering::Relaxed) {
            return;
        }
        if let Some(device) = known.iter().find(|device| model_and_driver(device) == model) {
            calibrate(device, &known, flags, cancelled, console);
        }
    }
}

/// Returns what is held while times are added up and pipelines are measured; `None` while another process does so,
/// whose measurement this one would disturb, or where there is no folder for it. What this one drew then does not
/// count.
fn lock() -> Option<File> {
    let path = DrawnTimes::default_file()?.with_file_name("calibration.lock");
    fs::create_dir_all(path.parent()?).ok()?;
    let file = File::create(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Returns how long each model and driver was busy for which nothing is kept; the longest where several devices are
/// alike.
fn drawn(devices: &[DeviceStats], kept: &KeptPipelines) -> BTreeMap<String, Duration> {
    let mut drawn = BTreeMap::new();
    for device in devices.iter().filter(|device| kept.of_model(&device.model).is_none()) {
        let longest: &mut Duration = drawn.entry(device.model.clone()).or_default();
        *longest = device.busy.max(*longest);
    }
    drawn
}

/// Adds to the file of times, and returns what has reached the limit. Where the file cannot be written, a pipeline
/// could not be kept either: then nothing is due.
fn due(drawn: &BTreeMap<String, Duration>, limit: Duration) -> Vec<String> {
    let Some(path) = DrawnTimes::default_file().filter(|_| !drawn.is_empty()) else { return Vec::new() };
    let mut times = DrawnTimes::read(&path);
    let mut due = Vec::new();
    for (model, time) in drawn {
        if times.add(model, *time, limit) {
            due.push(model.clone());
        }
    }
    if times.write(&path).is_ok() { due } else { Vec::new() }
}

/// Measures all pipelines that a device can have for itself, and keeps the fastest.
fn calibrate(
    device: &DeviceInfo,
    known: &[DeviceInfo],
    flags: &RenderFlags,
    cancelled: &AtomicBool,
    console: &Console,
) {
    let say = |line: &str| {
        if !flags.quiet {
            console.err.line(line);
        }
    };
    let name = &device.name;
    say(&format!(
        "anthill: measuring once which pipeline is the fastest on {name}; Ctrl-C skips it, and so does \
         --calibrate-after never"
    ));
    let kept = fastest(device, known, cancelled, console).and_then(|pipeline| {
        let path = KeptPipelines::default_file().ok_or("there is no folder for it")?;
        keep_pipelines(&[(device, pipeline)], &path).map_err(|error| cannot_write(&path, &error))?;
        Ok(pipeline)
    });
    match kept {
        Ok(pipeline) => say(&kept_message(device, pipeline)),
        Err(reason) => console.err.block(&format!(
            "anthill: warning: no pipeline is kept for {name}, which goes on as before: {reason}\n  help: measure it \
             with `anthill explore --keep`, or turn this off with --calibrate-after never"
        )),
    }
}

/// Returns the fastest pipeline of a device, or why there is none.
fn fastest(
    device: &DeviceInfo,
    known: &[DeviceInfo],
    cancelled: &AtomicBool,
    console: &Console,
) -> Result<&'static NamedPipeline, String> {
    let own: Vec<&NamedPipeline> = CATALOGUE.iter().filter(|one| one.colours.bucket_px().is_none()).collect();
    let plan = Plan::new(&[device.index.to_string()], known).map_err(|error| error.to_string())?.with_pipelines(&own);
    let flags = if device.kind == DeviceKind::Cpu { &[][..] } else { &FOR_GPUS };
    let runs = PipelineRuns { scene: None, flags: flags.iter().map(ToString::to_string).collect(), repeat: REPEAT };
    let measured = runs.measure(&plan, cancelled, &console.err, &mut |_| ()).map_err(|error| error.to_string())?;
    report_differing(&measured, &console.err);
    if !measured.differing.is_empty() {
        return Err("pictures differ".into());
    }
    fastest_of(&measured.series).ok_or_else(|| "nothing was measured".into())
}
