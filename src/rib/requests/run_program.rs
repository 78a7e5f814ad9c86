//! Requests that run programs: `Procedural "RunProgram"` and archives whose name begins with `|`.

use crate::rib::reader::Reader;
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::program::{AnswerEnd, RunningProgram};
use crate::rib::stream::search;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::SearchPaths;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The number of programs that run at the same time.
const PROGRAMS_MAX: usize = 64;

/// The interface's number for infinity.
const INFINITY: f64 = 1e38;

/// Reads what a program makes of a line with the detail (the area in pixels) and the arguments.
pub(super) fn run_program(
    reader: &mut Reader<'_>,
    program: &Arc<str>,
    arguments: &str,
    bound: &[f64; 6],
) -> Parsed<()> {
    // The same request may get another answer the next time.
    reader.scene.definitions += 1;
    let is_placed = reader.scene.recording.is_none();
    if is_placed && !reader.scene.may_be_seen(bound) {
        return Ok(());
    }
    let Some(time) = program_time(&mut reader.scene, &format!("RunProgram \"{program}\"")) else {
        reader.scene.note_left_out();
        return Ok(());
    };
    let is_bounded = bound.iter().all(|side| side.is_finite());
    let detail = if is_placed && is_bounded { reader.scene.detail_size(bound).min(INFINITY) } else { INFINITY };
    // Line ends would begin another request.
    let request = format!("{detail:e} {}\n", arguments.replace(['\n', '\r'], " "));
    let running = match reader.programs.remove(program) {
        Some(running) => running,
        None if reader.programs.len() >= PROGRAMS_MAX => {
            let message = format!("more than {PROGRAMS_MAX} programs at once; \"{program}\" is not run");
            return Err(reader.scene.messages.error("limitcheck", message));
        }
        None => {
            let command = command_of(&reader.scene, program);
            started(&mut reader.scene, command, program)?
        }
    };
    running.ask(request.into_bytes());
    reader.in_procedural(|reader| read_answer(reader, running, program, time, true))
}

/// Reads the output of a shell command as an archive.
pub(super) fn read_output_of(reader: &mut Reader<'_>, command: &str) -> Parsed<()> {
    reader.scene.definitions += 1;
    let Some(time) = program_time(&mut reader.scene, &format!("the archive \"|{command}\"")) else { return Ok(()) };
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    let mut running = started(&mut reader.scene, shell, command)?;
    running.ask_no_more();
    let current = reader.scene.messages.current.clone();
    let result = read_answer(reader, running, command, time, false);
    reader.scene.messages.current = current;
    result
}

/// Returns how long a program may take for an answer, or `None` if no program may run, which is reported once.
fn program_time(scene: &mut SceneBuilder<'_>, what: &str) -> Option<Duration> {
    if scene.settings.programs.is_none() {
        scene.summary.incomplete = true;
        if scene.messages.is_first("programs") {
            let message = format!("{what} would run a program, which is not allowed; it is left out");
            let fault = scene.messages.error("incapable", message);
            scene.messages.report_here(fault.hint("--allow-programs runs the programs of scenes that you trust"));
        }
    }
    scene.settings.programs
}

/// Returns a program of the procedural path, with its arguments. No shell reads them.
fn command_of(scene: &SceneBuilder<'_>, program: &str) -> Command {
    let mut words = program.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (first, none) = (&scene.settings.search_first, SearchPaths::default());
    let search = &search::with_others(&scene.options.options.search, first, &none).procedural;
    let last = scene.settings.search_last.procedural.iter().map(Path::new);
    let folders = search.iter().map(Path::new).chain(scene.directory.as_deref()).chain(last);
    let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
    let found = found.filter(|_| !name.is_empty()).map(|path| path.canonicalize().unwrap_or(path));
    let mut command = Command::new(found.unwrap_or_else(|| PathBuf::from(name)));
    command.args(words);
    command
}

fn started(scene: &mut SceneBuilder<'_>, command: Command, name: &str) -> Parsed<RunningProgram> {
    RunningProgram::start(command).map_err(|error| {
        scene.summary.incomplete = true;
        let message = format!("cannot run the program \"{name}\": {error}");
        scene
            .messages
            .error("nofile", message)
            .hint("it is searched on the procedural path (--procedurals) and then on PATH")
    })
}

/// Reads one answer; a program that `may_go_on` is kept for the next request.
fn read_answer(
    reader: &mut Reader<'_>,
    mut running: RunningProgram,
    name: &str,
    time: Duration,
    may_go_on: bool,
) -> Parsed<()> {
    reader.count_archive()?;
    let settings = reader.scene.settings;
    let (answer, end) = running.answer(&format!("output of {name}"), &settings.memory, time, &settings.interrupt);
    let fault = |message: String| reader.scene.messages.error("badfile", message);
    let fault = match &end {
        AnswerEnd::Marked | AnswerEnd::TooLong | AnswerEnd::Interrupted => None,
        AnswerEnd::Ended(Some(status)) if status.success() => None,
        AnswerEnd::Ended(Some(status)) => Some(fault(format!("the program \"{name}\" failed with {status}"))),
        AnswerEnd::Ended(None) => Some(fault(format!("the program \"{name}\" closed its output, but did not end"))),
        AnswerEnd::Late => {
            let message = format!("the program \"{name}\" did not end its answer with 0377 within {time:?}");
            Some(fault(message).hint("it was ended; --program-timeout sets the time"))
        }
    };
    if let Some(fault) = fault {
        reader.scene.summary.incomplete = true;
        let words = running.last_words();
        reader.scene.messages.report_here(if words.is_empty() {
            fault
        } else {
            fault.hint(format!("it says: {words}"))
        });
    }
    match end {
        AnswerEnd::Marked if may_go_on => drop(reader.programs.insert(name.into(), running)),
        AnswerEnd::Late | AnswerEnd::TooLong | AnswerEnd::Interrupted => running.kill(),
        AnswerEnd::Marked | AnswerEnd::Ended(_) => {}
    }
    reader.archives.enter_output();
    reader.read_source(&Arc::new(answer));
    reader.archives.leave();
    Ok(())
}
