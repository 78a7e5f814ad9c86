//! `anthill scale`: measures a scaling study, writes its report, and prints its table.

use crate::cli::console::Console;
use crate::cli::device_errors::refuse;
use crate::cli::file_errors::{cannot_write, check_readable};
use crate::cli::flags::scale::ScaleFlags;
use crate::cli::runs::{describe, exit_code};
use anthill::files::{FileClaims, FileRole, check_writable};
use anthill::gpu::{DeviceInfo, devices};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};
use anthill::scale::machine::Machine;
use anthill::scale::study::quoted;
use anthill::scale::{Plan, PlanError, RunSettings, Study, StudyForecast, available_cpus, measure, report, tables};

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &ScaleFlags, console: &mut Console) -> u8 {
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
    flags.work.overrides()?;
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
            return INCOMPLETE;
        }
    };
    let settings = RunSettings {
        program,
        scene: flags.scene.clone(),
        flags: flags.work.to_arguments().into_iter().map(Into::into).collect(),
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
        flags: joined(&flags.work.to_arguments()),
        pinned: flags.cpus,
        forecast: StudyForecast::new(&measured.series, plan.baseline, &machine.devices, &measured.for_rates),
        machine,
        series: measured.series,
        baseline: plan.baseline,
        differing: measured.differing,
    };
    if let Err(error) = report::write(&study, &measured.pictures, &flags.output) {
        console.err.error(&error.to_string());
        return INCOMPLETE;
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
        return DONE;
    }
    console.err.error(&format!("{}: {}", page.display(), study.verdict()));
    INCOMPLETE
}

/// Returns the command line of the study itself.
fn command(flags: &ScaleFlags) -> String {
    let mut words = vec!["anthill".to_string(), "scale".into(), flags.scene.display().to_string()];
    words.extend(flags.devices.iter().flat_map(|selection| ["--devices".into(), selection.clone()]));
    words.extend(["--repeat".into(), flags.repeat.to_string()]);
    words.extend(flags.cpus.then(|| "--cpus".into()));
    words.extend(flags.work.to_arguments());
    words.extend(["-o".into(), flags.output.display().to_string()]);
    joined(&words)
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
