//! `anthill scale`: measures a scaling study, writes its report, and prints its table.

use crate::cli::console::Console;
use crate::cli::device_errors::refuse;
use crate::cli::file_errors::{cannot_write, check_readable};
use crate::cli::flags::scale::{ScaleFlags, ScalingMode};
use crate::cli::runs::{describe, exit_code};
use anthill::files::{FileClaims, FileRole, check_writable};
use anthill::gpu::{DeviceInfo, devices};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};
use anthill::scale::doubts::DOUBT_ADVICE;
use anthill::scale::machine::{Conditions, Machine};
use anthill::scale::study::quoted;
use anthill::scale::{
    AllRuns, Plan, PlanError, RunError, RunSettings, StudyForecast, StudyOrigin, StudySet, StudyWork, available_cpus,
    measure, report, tables,
};
use clap::ValueEnum as _;
use std::path::PathBuf;

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
    let works = StudyWork::list(&flags.scenes, &flags.sizes, flags.scaling.list(), plan.devices_max());
    let works = works.map_err(|error| error.to_string());
    match works.and_then(|works| check_cores(flags, &plan).map(|()| works)) {
        Ok(works) => run_study(flags, &works, &plan, &known, console),
        Err(message) => {
            console.err.error(&message);
            WRONG_USAGE
        }
    }
}

/// Checks everything that can be checked before devices are listed.
fn check(flags: &ScaleFlags) -> Result<(), String> {
    if flags.scenes.iter().any(|scene| scene.as_os_str() == "-") {
        return Err("a study reads a scene once for each run, so the scene cannot be standard input".into());
    }
    flags.scenes.iter().try_for_each(|scene| check_readable(scene))?;
    flags.work.overrides()?;
    std::fs::create_dir_all(&flags.output).map_err(|error| cannot_write(&flags.output, &error))?;
    let claims = FileClaims::default();
    for scene in &flags.scenes {
        claims.claim(scene, FileRole::Scene).map_err(|refused| refused.to_string())?;
    }
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
fn run_study(flags: &ScaleFlags, works: &[StudyWork], plan: &Plan, known: &[DeviceInfo], console: &mut Console) -> u8 {
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
        works: works.to_vec(),
        flags: flags.work.to_arguments().into_iter().map(Into::into).collect(),
        repeat: flags.repeat,
        pin: flags.cpus,
        rates: true,
        keeps_going: true,
        folder: flags.output.clone(),
    };
    let conditions = Conditions::now();
    let messages = console.err.clone();
    let runs = match measure(&settings, plan, &cancelled, &mut |run| messages.line(&describe(run))) {
        Ok(runs) => runs,
        Err(error) => return fail(&error, console),
    };
    let code = failure_code(&runs);
    let first = runs.works.iter().flat_map(|work| &work.failed).map(|failed| failed.error.to_string()).next();
    let ended = runs.ended.as_ref().map(ToString::to_string).or(first);
    let origin = StudyOrigin {
        command: command(flags),
        flags: joined(&flags.work.to_arguments()),
        pinned: flags.cpus,
        machine: Machine::here(plan, known),
        conditions: conditions.ended_now(),
    };
    match StudySet::new(origin, works, plan, runs) {
        Some((set, pictures)) => write(flags, &set, &pictures, console).max(code),
        None => {
            let why = ended.unwrap_or_else(|| "nothing was measured".into());
            console.err.block(&format!("anthill: error: {why}"));
            code.max(INCOMPLETE)
        }
    }
}

fn fail(error: &RunError, console: &Console) -> u8 {
    console.err.block(&format!("anthill: error: {error}"));
    exit_code(error)
}

/// Returns the exit code for the runs that are missing.
fn failure_code(runs: &AllRuns) -> u8 {
    let failed = runs.works.iter().flat_map(|work| &work.failed).map(|failed| exit_code(&failed.error));
    runs.ended.as_ref().map(exit_code).into_iter().chain(failed).max().unwrap_or(DONE)
}

/// Writes the files of a study, prints its table, and says what is missing and in doubt.
fn write(flags: &ScaleFlags, set: &StudySet, pictures: &[Vec<PathBuf>], console: &mut Console) -> u8 {
    if let Err(error) = report::write(set, pictures, &flags.output) {
        console.err.error(&error.to_string());
        return INCOMPLETE;
    }
    let table = match &set.studies[..] {
        [study] => tables::speed_up(study),
        _ => tables::overview(set),
    };
    console.print(&format!("{}\n{}\n", table.to_markdown(), set.findings().join("\n")));
    let doubts = set.doubts();
    for doubt in &doubts {
        console.err.line(&format!("anthill: warning: in doubt: {}", doubt.text));
    }
    if !doubts.is_empty() {
        console.err.line(&format!("anthill: to be sure, {DOUBT_ADVICE}"));
    }
    for missing in set.missing() {
        console.err.error(&missing);
    }
    let page = flags.output.join(report::FILES[0]);
    let mut code = DONE;
    for study in &set.studies {
        let of = if set.studies.len() > 1 { format!("{}: ", study.name) } else { String::new() };
        if let StudyForecast::Refused { refused } = &study.forecast {
            console.err.line(&format!("anthill: {of}nothing is predicted: {refused}"));
        }
        let verdict = format!("{}: {of}{}", page.display(), study.verdict());
        if study.differing.is_empty() {
            console.err.line(&format!("anthill: {verdict}"));
        } else {
            console.err.error(&verdict);
            code = INCOMPLETE;
        }
    }
    code
}

/// Returns the command line of the study itself.
fn command(flags: &ScaleFlags) -> String {
    let mut words = vec!["anthill".to_string(), "scale".into()];
    words.extend(flags.scenes.iter().map(|scene| scene.display().to_string()));
    words.extend(flags.devices.iter().flat_map(|selection| ["--devices".into(), selection.clone()]));
    if !flags.sizes.is_empty() {
        let sizes: Vec<String> = flags.sizes.iter().map(|[width, height]| format!("{width}x{height}")).collect();
        words.extend(["--sizes".into(), sizes.join(",")]);
    }
    if let Some(name) = flags.scaling.to_possible_value().filter(|_| flags.scaling != ScalingMode::Strong) {
        words.extend(["--scaling".into(), name.get_name().to_owned()]);
    }
    words.extend(["--repeat".into(), flags.repeat.to_string()]);
    words.extend(flags.cpus.then(|| "--cpus".into()));
    words.extend(flags.work.to_arguments());
    words.extend(["-o".into(), flags.output.display().to_string()]);
    joined(&words)
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
