//! `anthill scale`: measures a scaling study, writes its report, and prints its table.

use super::console::Console;
use super::devices_command::{NO_USABLE_DEVICE, WRONG_USAGE, refuse};
use super::flags::{ScaleFlags, WorkFlags};
use super::interrupt::INTERRUPTED;
use super::render_command::{cannot_write, check_readable, overrides};
use anthill::files::{FileClaims, FileRole, check_writable};
use anthill::gpu::{DeviceInfo, devices};
use anthill::options::Frames;
use anthill::scale::machine::Machine;
use anthill::scale::study::quoted;
use anthill::scale::{
    FinishedRun, Plan, PlanError, Purpose, RunError, RunSettings, Study, StudyForecast, available_cpus, measure,
    report, tables,
};

/// Runs the command and returns the exit code.
pub(super) fn run(flags: &ScaleFlags, console: &mut Console) -> u8 {
    if let Err(message) = check(flags) {
        console.err.error(&message);
        return WRONG_USAGE;
    }
    let known = match devices(false) {
        Ok(known) => known,
        Err(error) => return refuse(&error, console),
    };
    let plan = match Plan::new(&flags.devices, &known) {
        Ok(plan) => plan,
        Err(PlanError::Devices(error)) => return refuse(&error, console),
        Err(error) => {
            console.err.error(&error.to_string());
            return WRONG_USAGE;
        }
    };
    if let Err(message) = check_cores(flags, &plan) {
        console.err.error(&message);
        return WRONG_USAGE;
    }
    run_study(flags, &plan, &known, console)
}

/// Checks everything that can be checked before devices are listed.
fn check(flags: &ScaleFlags) -> Result<(), String> {
    if flags.scene.as_os_str() == "-" {
        return Err("a study reads its scene once for each run, so the scene cannot be standard input".into());
    }
    check_readable(&flags.scene)?;
    overrides(&flags.work)?;
    std::fs::create_dir_all(&flags.output).map_err(|error| cannot_write(&flags.output, &error))?;
    let claims = FileClaims::default();
    claims.claim(&flags.scene, FileRole::Scene).map_err(|refused| refused.to_string())?;
    let files = report::files_in(&flags.output);
    for path in files.map_err(|error| cannot_write(&flags.output, &error))? {
        claims.claim(&path, FileRole::Study).map_err(|refused| refused.to_string())?;
        let checked = report::check_replaceable(&path).and_then(|()| check_writable(&path));
        checked.map_err(|error| cannot_write(&path, &error))?;
    }
    Ok(())
}

fn check_cores(flags: &ScaleFlags, plan: &Plan) -> Result<(), String> {
    if !flags.cpus {
        return Ok(());
    }
    let cores =
        available_cpus().map_err(|_| "--cpus: this system cannot restrict a process to some cores".to_string())?;
    let most = plan.devices_max();
    if most > cores {
        return Err(format!("--cpus: {most} devices need as many cores, but only {cores} are available"));
    }
    Ok(())
}

/// Runs the study, writes its files, and prints its table.
fn run_study(flags: &ScaleFlags, plan: &Plan, known: &[DeviceInfo], console: &mut Console) -> u8 {
    let cancelled = (console.listen)();
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            console.err.error(&format!("cannot find the path of this program: {error}"));
            return 1;
        }
    };
    let settings = RunSettings {
        program,
        scene: flags.scene.clone(),
        flags: to_arguments(&flags.work).into_iter().map(Into::into).collect(),
        repeat: flags.repeat,
        pin: flags.cpus,
        rates: true,
        folder: flags.output.clone(),
    };
    let messages = console.err.clone();
    let measured = measure(&settings, plan, &cancelled, &mut |run| messages.line(&describe(run)));
    let measured = match measured {
        Ok(measured) => measured,
        Err(error) => {
            console.err.block(&format!("anthill: error: {error}"));
            return exit_code(&error);
        }
    };
    let machine = Machine::here(plan, known);
    let study = Study {
        version: env!("CARGO_PKG_VERSION").into(),
        scene: flags.scene.display().to_string(),
        command: command(flags),
        flags: joined(&to_arguments(&flags.work)),
        pinned: flags.cpus,
        forecast: StudyForecast::new(&measured.series, plan.baseline, &machine.devices, &measured.for_rates),
        machine,
        series: measured.series,
        baseline: plan.baseline,
        differing: measured.differing,
    };
    if let Err(error) = report::write(&study, &measured.pictures, &flags.output) {
        console.err.error(&error.to_string());
        return 1;
    }
    console.print(&format!("{}\n{}\n", tables::speed_up(&study).to_markdown(), study.finding()));
    for doubt in study.doubts() {
        console.err.line(&format!("anthill: warning: {doubt}"));
    }
    if let StudyForecast::Refused { refused } = &study.forecast {
        console.err.line(&format!("anthill: nothing is predicted: {refused}"));
    }
    let page = flags.output.join(report::FILES[0]);
    if study.differing.is_empty() {
        console.err.line(&format!("anthill: {}: {}", page.display(), study.verdict()));
        return 0;
    }
    console.err.error(&format!("{}: {}", page.display(), study.verdict()));
    1
}

/// The line that reports a run.
pub(super) fn describe(run: FinishedRun<'_>) -> String {
    let FinishedRun { purpose, configuration, render_s, process_s } = run;
    let which = match purpose {
        Purpose::Caches => "caches filled".into(),
        Purpose::Measure { place, count } => format!("run {place} of {count}"),
        Purpose::Rates => "rates for predictions".into(),
    };
    format!("anthill: {which}: --devices {configuration}: {render_s:.3} s, whole process {process_s:.3} s")
}

/// The exit code of a study whose run failed. If the run could not even begin, its exit code says why.
pub(super) fn exit_code(error: &RunError) -> u8 {
    match error {
        RunError::Interrupted | RunError::Failed { code: Some(130), .. } => INTERRUPTED,
        RunError::Failed { code: Some(3), .. } => NO_USABLE_DEVICE,
        RunError::Failed { code: Some(2), .. } => WRONG_USAGE,
        RunError::Failed { .. } | RunError::Io { .. } => 1,
    }
}

/// The flags as arguments of `anthill render`.
pub(super) fn to_arguments(flags: &WorkFlags) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut add = |name: &str, values: Vec<String>| {
        arguments.push(format!("--{name}"));
        arguments.extend(values);
    };
    // A number of KiB is an exact float, whatever unit was typed.
    let size = |bytes: u64| vec![format!("{}K", bytes as f64 / 1024.0)];
    if let Some(bytes) = flags.memory {
        add("memory", size(bytes));
    }
    if let Some(bytes) = flags.texture_memory {
        add("texture-memory", size(bytes));
    }
    if let Some(bytes) = flags.host_memory {
        add("host-memory", size(bytes));
    }
    if let Some(Frames(ranges)) = &flags.frames {
        let ranges: Vec<String> = ranges.iter().map(|range| format!("{}-{}", range.start(), range.end())).collect();
        add("frames", vec![ranges.join(",")]);
    }
    if let Some(size) = &flags.format {
        add("format", size.iter().map(u32::to_string).collect());
    }
    if let Some(edges) = &flags.crop {
        add("crop", edges.iter().map(f64::to_string).collect());
    }
    if let Some(samples) = &flags.samples {
        add("samples", samples.iter().map(u32::to_string).collect());
    }
    if let Some(rate) = flags.shading_rate {
        add("shading-rate", vec![rate.to_string()]);
    }
    arguments
}

/// The command line of the study itself.
fn command(flags: &ScaleFlags) -> String {
    let mut words = vec!["anthill".to_string(), "scale".into(), flags.scene.display().to_string()];
    words.extend(flags.devices.iter().flat_map(|selection| ["--devices".into(), selection.clone()]));
    words.extend(["--repeat".into(), flags.repeat.to_string()]);
    words.extend(flags.cpus.then(|| "--cpus".into()));
    words.extend(to_arguments(&flags.work));
    words.extend(["-o".into(), flags.output.display().to_string()]);
    joined(&words)
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flags::{CliCommand, Flags};
    use clap::Parser;

    fn work(line: &str) -> WorkFlags {
        let words = format!("anthill render a.rib {line}");
        match Flags::try_parse_from(words.split_whitespace()).expect("good flags").command {
            CliCommand::Render(flags) => flags.work,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_are_passed_on_unchanged() {
        let all = "--memory 1.5G --texture-memory 8M --host-memory 10KB --frames -5--1,7 --format 64 48 --crop 0 0.5 0.1 1 --samples 4 2 --shading-rate 0.3";
        let passed = joined(&to_arguments(&work(all)));
        assert_eq!(
            passed,
            "--memory 1572864K --texture-memory 8192K --host-memory 9.765625K --frames -5--1,7-7 --format 64 48 --crop 0 0.5 0.1 1 --samples 4 2 --shading-rate 0.3"
        );
        let (once, twice) = (work(all), work(&passed));
        assert_eq!((once.memory, once.host_memory, &once.crop), (twice.memory, twice.host_memory, &twice.crop));
        assert_eq!((once.memory, once.host_memory), (Some(3 << 29), Some(10_000)));
        assert_eq!((once.shading_rate, once.samples, once.format), (twice.shading_rate, twice.samples, twice.format));
        assert!(to_arguments(&work("")).is_empty());
    }
}
