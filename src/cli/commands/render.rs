//! `anthill render`: turns flags into [`RenderOptions`], prints messages and progress, and writes statistics.

use crate::cli::calibration;
use crate::cli::console::Console;
use crate::cli::file_errors::{cannot_write, check_readable};
use crate::cli::flags::render::{FolderFlags, RenderFlags};
use crate::cli::flags::values::ProgressMode;
use crate::cli::kept_pipelines::kept_pipelines;
use crate::cli::watcher::{Watcher, report_interrupt};
use anthill::diagnostic::{Reporter, Severity};
use anthill::files::{FileClaims, FileRefused, FileRole, check_writable, write_bytes};
use anthill::film::OutputName;
use anthill::line_profile::LineProfile;
use anthill::options::{CaptureOptions, CheckpointOptions, RenderOptions};
use anthill::outcome::exit_code::{INCOMPLETE, WRONG_USAGE};
use anthill::outcome::{Ending, Outcome};
use anthill::pipeline_choice::{KeptPipelines, PipelineChoice};
use anthill::progress::{Interrupt, Observer};
use anthill::scale::{available_cpus, keep_to_cpus, render_page};
use anthill::scene::SearchPaths;
use anthill::stats::{Stage, Stats};
use anthill::trace::Trace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The function that renders: [`anthill::render`], or a stand-in in tests.
pub(crate) type RenderFn<'a> = dyn Fn(&RenderOptions, &Arc<Reporter>, &dyn Observer) -> Outcome + 'a;

/// What `anthill profile` adds to a render.
#[derive(Clone, Copy)]
pub(crate) struct Profiling<'a> {
    /// Its page.
    pub(crate) page: Option<&'a Path>,
    /// Where lines of shaders are counted, if they are.
    pub(crate) lines: Option<&'a Arc<LineProfile>>,
}

/// A render that has ended.
pub(crate) struct Rendered {
    pub(crate) exit_code: u8,
    /// What it took; `None` if nothing was begun.
    pub(crate) stats: Option<Stats>,
    /// The files that it used.
    pub(crate) files: Arc<FileClaims>,
}

impl Rendered {
    fn nothing(exit_code: u8) -> Self {
        Self { exit_code, stats: None, files: Arc::default() }
    }
}

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &RenderFlags, render: &RenderFn<'_>, console: &Console) -> u8 {
    draw(flags, None, render, console).exit_code
}

/// Renders, prints messages and writes all files that the flags name. With `profiling`, kernels are timed.
pub(crate) fn draw(
    flags: &RenderFlags,
    profiling: Option<Profiling<'_>>,
    render: &RenderFn<'_>,
    console: &Console,
) -> Rendered {
    let begin = Instant::now();
    let cancelled = (console.listen)();
    let interrupt = Interrupt::from(cancelled.clone());
    let mut options = match resolve(flags, profiling) {
        Ok(options) => options,
        Err(message) => {
            console.err.error(&message);
            return Rendered::nothing(WRONG_USAGE);
        }
    };
    if options.pipelines.named.is_none() {
        options.pipelines.kept = kept_pipelines(console);
    }
    let reporter = reporter(flags, console);
    let is_silent = flags.quiet && flags.progress == ProgressMode::Auto;
    let progress = if is_silent { ProgressMode::Off } else { flags.progress };
    let watcher = Watcher::new(progress, console.err.clone(), interrupt.clone());
    let message = interruption(flags);
    let render = || render(&options, &reporter, &watcher);
    let mut outcome = report_interrupt(&interrupt, &console.err, message, render);

    let nothing_begun = outcome.ending == Ending::NoDevice && outcome.stats.worlds.is_empty();
    if nothing_begun || outcome.ending == Ending::WrongUsage {
        options.trace.discard();
        return Rendered::nothing(outcome.exit_code(flags.strict));
    }
    let stats = &mut outcome.stats;
    stats.version = env!("CARGO_PKG_VERSION");
    stats.scene = flags.scenes.iter().map(|scene| scene.display().to_string()).collect::<Vec<_>>().join(" ");
    stats.add_outputs(&outcome.displays);
    stats.set_warnings(&reporter);
    stats.wall = begin.elapsed();
    let mut summary = stats.summary();
    if flags.check && stats.outputs.is_empty() {
        summary = summary.replacen("nothing to write", "checked, nothing rendered", 1);
    }
    if !flags.quiet {
        show_repeats(&reporter, flags.verbose, console);
        console.err.line(&format!("anthill: {summary}"));
    }
    if flags.verbose {
        show_devices(&outcome.stats, console);
    }
    let exit_code = outcome.exit_code(flags.strict);
    let write_stats = |path: &Path| write_bytes(path, outcome.stats.to_json().as_bytes());
    let finish_trace = |_: &Path| options.trace.finish();
    let write_report = |path: &Path| write_bytes(path, render_page::page(&outcome.stats).as_bytes());
    let written = [
        (&flags.stats, write_unwanted(flags.stats.as_deref(), &options.files, &write_stats)),
        (&flags.trace, write_unwanted(flags.trace.as_deref(), &options.files, &finish_trace)),
        (&flags.report, write_unwanted(flags.report.as_deref(), &options.files, &write_report)),
    ];
    let failed = written.into_iter().filter_map(|(path, result)| Some((path.as_ref()?, result.err()?)));
    // If it was not written.
    options.trace.discard();
    let failures = failed.map(|(path, error)| console.err.error(&cannot_write(path, &error))).count();
    if profiling.is_none() {
        calibration::after_render(flags, &outcome, &cancelled, console);
    }
    let exit_code = if failures > 0 { exit_code.max(INCOMPLETE) } else { exit_code };
    Rendered { exit_code, stats: Some(outcome.stats), files: options.files }
}

/// Writes a file, if there is one, unless the scene reads what is in it.
pub(crate) fn write_unwanted(
    path: Option<&Path>,
    files: &FileClaims,
    write: &dyn Fn(&Path) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let Some(path) = path else { return Ok(()) };
    files.check_unwanted(path).map_err(std::io::Error::other)?;
    write(path)
}

/// Prints messages as they are reported, as far as the user wants to see them.
fn reporter(flags: &RenderFlags, console: &Console) -> Arc<Reporter> {
    let messages = console.err.clone();
    let least = match (flags.quiet, flags.verbose) {
        (true, _) => Severity::Warning,
        (_, true) => Severity::Detail,
        _ => Severity::Info,
    };
    Arc::new(Reporter::new(move |diagnostic| {
        if diagnostic.severity >= least {
            messages.block(&diagnostic.to_string());
        }
    }))
}

/// Repeated messages that are listed at the end.
const REPEATS_SHOWN_MAX: usize = 10;

/// Lists messages that were shown once and occurred more often, the most frequent ones first.
fn show_repeats(reporter: &Reporter, all: bool, console: &Console) {
    let is_repeated = |count: u64, severity| count > 1 && severity > Severity::Detail;
    let mut repeated = reporter.counted();
    repeated.retain(|message| is_repeated(message.count, message.diagnostic.severity));
    repeated.sort_by_key(|message| std::cmp::Reverse(message.count));
    let shown = if all { repeated.len() } else { REPEATS_SHOWN_MAX };
    for message in repeated.iter().take(shown) {
        console.err.line(&format!("anthill: {message}"));
    }
    if let more @ 1.. = repeated.len().saturating_sub(shown) {
        console.err.line(&format!("anthill: {more} other messages occurred more than once too; --stats lists all"));
    }
}

/// Returns the message for an interrupt of the render.
fn interruption(flags: &RenderFlags) -> &'static str {
    match flags.checkpoint {
        Some(_) => {
            "anthill: interrupted: writing what is finished; the same command with --resume continues; interrupt again to exit at once"
        }
        None => {
            "anthill: interrupted: writing what is finished; interrupt again to exit at once (a render with --checkpoint FILE can \
             be continued with --resume)"
        }
    }
}

/// Prints what each device did, and in which stages.
fn show_devices(stats: &Stats, console: &Console) {
    for device in &stats.devices {
        let spent = |stage: &Stage| (device.stages.get(*stage).as_secs_f64(), stage.name());
        let mut stages: Vec<_> = Stage::ALL.iter().map(spent).filter(|(seconds, _)| *seconds >= 0.005).collect();
        stages.sort_by(|a, b| b.0.total_cmp(&a.0));
        let stages: Vec<_> = stages.iter().map(|(seconds, name)| format!("{name} {seconds:.2} s")).collect();
        console.err.line(&format!(
            "anthill: device {} ({}, {}), pipeline {}: {} regions, {} of them stolen; busy {:.2} s, idle {:.2} s: {}",
            device.index,
            device.name,
            device.driver,
            device.pipeline,
            device.regions,
            device.stolen,
            device.busy.as_secs_f64(),
            device.idle.as_secs_f64(),
            stages.join(", ")
        ));
    }
}

/// Checks the flags together and turns them into options. The error is one of usage; nothing has begun.
fn resolve(flags: &RenderFlags, profiling: Option<Profiling<'_>>) -> Result<RenderOptions, String> {
    for scene in flags.scenes.iter().filter(|scene| scene.as_os_str() != "-") {
        check_readable(scene)?;
    }
    let overrides = flags.work.overrides()?;
    let checkpoint = flags.checkpoint.clone().map(|path| CheckpointOptions {
        path,
        interval: flags.checkpoint_interval,
        resume: flags.resume,
    });
    let page = profiling.and_then(|profiling| profiling.page);
    let files = claim_files(flags, checkpoint.as_ref(), page)?;
    if let Some(cores) = flags.threads {
        let keep = available_cpus().and_then(|available| keep_to_cpus(cores.of(available)));
        keep.map_err(|error| format!("--threads: this system cannot restrict a program to some cores: {error}"))?;
    }
    if flags.report.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(
            "--report -: a page is not written to standard output; name a file, as in --report report.html".into()
        );
    }
    if flags.capture.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(
            "--capture -: a capture is not written to standard output; name a file, as in --capture region.rdc".into(),
        );
    }
    let files_named = [flags.stats.as_deref(), flags.report.as_deref(), flags.capture.as_deref(), page];
    for path in files_named.into_iter().flatten() {
        check_writable(path).map_err(|error| cannot_write(path, &error))?;
    }
    let trace = match &flags.trace {
        Some(path) => Trace::create(path).map_err(|error| cannot_write(path, &error))?,
        None => Trace::off(),
    };
    Ok(RenderOptions {
        scenes: flags.scenes.clone(),
        output: flags.output.clone(),
        display_type: flags.display_type.clone(),
        prologue: flags.option.clone(),
        edits: flags.edits.clone(),
        programs: flags.allow_programs.then_some(flags.program_timeout),
        search_first: folders(&flags.folders),
        search_last: folders_of_environment(),
        devices: flags.devices.clone(),
        memory_bytes: flags.work.memory,
        texture_memory_bytes: flags.work.texture_memory,
        host_memory_bytes: flags.work.host_memory,
        frames: flags.work.frames.clone(),
        overrides,
        regions: flags.regions,
        pipelines: PipelineChoice { named: flags.pipeline, kept: KeptPipelines::default() },
        check: flags.check,
        validate: flags.validate,
        timeout: flags.timeout,
        time_max: flags.max_time,
        checkpoint,
        capture: flags.capture.clone().map(|path| CaptureOptions { path, region: flags.capture_region }),
        profile: profiling.is_some(),
        breadcrumbs: flags.breadcrumbs.into(),
        trace,
        line_profile: profiling.and_then(|profiling| profiling.lines.map(Arc::clone)),
        files: Arc::new(files.with_output_limit(flags.max_output)),
    })
}

/// Returns the folders that the flags name.
fn folders(flags: &FolderFlags) -> SearchPaths {
    let split = |path: &Option<String>| path.as_deref().map(split_path).unwrap_or_default();
    SearchPaths {
        archive: split(&flags.archives),
        shader: split(&flags.shaders),
        texture: split(&flags.textures),
        procedural: split(&flags.procedurals),
        display: split(&flags.displays),
    }
}

/// Returns the folders that the user's environment names.
fn folders_of_environment() -> SearchPaths {
    let split = |name| std::env::var(name).map(|path| split_path(&path)).unwrap_or_default();
    SearchPaths {
        archive: split("ANTHILL_ARCHIVES"),
        shader: split("ANTHILL_SHADERS"),
        texture: split("ANTHILL_TEXTURES"),
        procedural: split("ANTHILL_PROCEDURALS"),
        display: split("ANTHILL_DISPLAYS"),
    }
}

/// Returns the folders of a list that the system's separator divides.
fn split_path(path: &str) -> Vec<String> {
    let folders = std::env::split_paths(path).map(|folder| folder.to_string_lossy().into_owned());
    folders.filter(|folder| !folder.is_empty()).collect()
}

/// Claims every file that the flags name, before any is opened.
fn claim_files(
    flags: &RenderFlags,
    checkpoint: Option<&CheckpointOptions>,
    page: Option<&Path>,
) -> Result<FileClaims, String> {
    let refused = |refused: FileRefused| refused.to_string();
    let claims = match &flags.confine {
        Some(folder) => FileClaims::confined_to(folder)
            .map_err(|error| format!("--confine: cannot use \"{}\": {error}", folder.display()))?,
        None => FileClaims::default(),
    };
    let mut claimed: Vec<(PathBuf, FileRole)> = Vec::new();
    let is_file = |scene: &&PathBuf| scene.as_os_str() != "-";
    // The same scene may be read twice.
    claimed.extend(flags.scenes.iter().filter(is_file).map(|scene| (scene.clone(), FileRole::Scene)));
    claimed.extend(flags.edits.iter().map(|edits| (edits.clone(), FileRole::Scene)));
    let checkpoints = checkpoint.map(CheckpointOptions::files).into_iter().flatten();
    claimed.extend(checkpoints.map(|path| (path, FileRole::Checkpoint)));
    claimed.extend(flags.stats.clone().map(|path| (path, FileRole::Statistics)));
    claimed.extend(flags.trace.clone().map(|path| (path, FileRole::Trace)));
    claimed.extend(flags.capture.clone().map(|path| (path, FileRole::Capture)));
    claimed.extend(page.map(|path| (path.to_owned(), FileRole::Profile)));
    claimed.extend(flags.report.clone().map(|path| (path, FileRole::Report)));
    for (path, role) in &claimed {
        claims.claim(path, *role).map_err(refused)?;
    }
    // The film claims it; with a # its name is not known yet.
    if let Some(path) = flags.output.as_ref().and_then(OutputName::single) {
        claims.check(Path::new(path), FileRole::Picture).map_err(refused)?;
    }
    if flags.scenes.iter().any(|scene| scene.as_os_str() == "-") && flags.confine.is_none() {
        // What standard input comes from, if it is a file.
        claims.claim(Path::new("/dev/stdin"), FileRole::Scene).map_err(refused)?;
    }
    Ok(claims)
}
