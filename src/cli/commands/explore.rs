//! `anthill explore`: draws a scene, or one of its own, with each pipeline on each device, prints what they take, and
//! keeps the fastest.

use crate::cli::console::Console;
use crate::cli::device_errors::refuse;
use crate::cli::file_errors::{cannot_write, check_readable};
use crate::cli::flags::explore::ExploreFlags;
use crate::cli::kept_pipelines::{keep_pipelines, kept_message};
use crate::cli::runs::{PipelineRuns, describe, exit_code, fastest_of, report_differing};
use anthill::gpu::{DeviceInfo, GpuError, devices, select};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};
use anthill::pipeline::plan::{CATALOGUE, NamedPipeline};
use anthill::pipeline_choice::KeptPipelines;
use anthill::scale::{Measurements, Plan, PlanError, tables};

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &ExploreFlags, console: &mut Console) -> u8 {
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
    flags.work.overrides().map(|_| ())
}

/// Returns each device by itself with each pipeline; without `--devices` one of each model that is used by default.
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

/// Runs everything; the error is an exit code.
fn explore(flags: &ExploreFlags, plan: &Plan, console: &Console) -> Result<Measurements, u8> {
    let cancelled = (console.listen)();
    let messages = &console.err;
    let runs = PipelineRuns { scene: flags.scene.as_deref(), flags: flags.work.to_arguments(), repeat: flags.repeat };
    runs.measure(plan, &cancelled, messages, &mut |run| messages.line(&describe(run))).map_err(|error| {
        messages.block(&format!("anthill: error: {error}"));
        exit_code(&error)
    })
}

/// Prints a table for each device and what was fastest, and keeps what was fastest if that is wanted.
fn show(flags: &ExploreFlags, measured: &Measurements, known: &[DeviceInfo], console: &mut Console) -> u8 {
    report_differing(&measured.differing, &console.err);
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
        return INCOMPLETE;
    }
    if flags.keep { keep(&fastest, console) } else { DONE }
}

fn keep(fastest: &[(&DeviceInfo, &'static NamedPipeline)], console: &Console) -> u8 {
    let Some(path) = KeptPipelines::default_file() else {
        console.err.error("--keep: there is no folder to keep anything in: set HOME or XDG_CACHE_HOME");
        return INCOMPLETE;
    };
    match keep_pipelines(fastest, &path) {
        Ok(()) => {
            fastest.iter().for_each(|(device, pipeline)| {
                console.err.line(&format!("anthill: {}", kept_message(device, pipeline)));
            });
            DONE
        }
        Err(error) => {
            console.err.error(&format!("--keep: {}", cannot_write(&path, &error)));
            INCOMPLETE
        }
    }
}
