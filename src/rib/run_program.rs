//! Requests that run programs: `Procedural "RunProgram"` and archives whose name begins with `|`.

use super::archives::ArchiveIdentity;
use super::fault::{Parsed, RequestFault};
use super::program::{AnswerEnd, RunningProgram};
use super::reader::Reader;
use super::search;
use crate::scene::SearchPaths;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The number of programs that run at the same time.
const PROGRAMS_MAX: usize = 64;

/// The interface's number for infinity.
const INFINITY: f64 = 1e38;

impl Reader<'_> {
    /// Reads what a program makes of a line with the detail (the area in pixels) and the arguments.
    pub(super) fn run_program(&mut self, program: &Arc<str>, arguments: &str, bound: &[f64; 6]) -> Parsed<()> {
        // The same request may get another answer the next time.
        self.definitions += 1;
        let is_placed = self.recording.is_none();
        if is_placed && !self.may_be_seen(bound) {
            return Ok(());
        }
        let Some(time) = self.program_time(&format!("RunProgram \"{program}\"")) else {
            self.note_left_out(true);
            return Ok(());
        };
        let is_bounded = bound.iter().all(|side| side.is_finite());
        let detail = if is_placed && is_bounded { self.detail_size(bound).min(INFINITY) } else { INFINITY };
        // Line ends would begin another request.
        let request = format!("{detail:e} {}\n", arguments.replace(['\n', '\r'], " "));
        let running = match self.programs.remove(program) {
            Some(running) => running,
            None if self.programs.len() >= PROGRAMS_MAX => {
                let message = format!("more than {PROGRAMS_MAX} programs at once; \"{program}\" is not run");
                return Err(RequestFault::error("limitcheck", self.current.offset, message));
            }
            None => self.started(self.command_of(program), program)?,
        };
        running.ask(request.into_bytes());
        self.in_procedural(|reader| reader.read_answer(running, program, time, true))
    }

    /// Reads the output of a shell command as an archive.
    pub(super) fn read_output_of(&mut self, command: &str) -> Parsed<()> {
        self.definitions += 1;
        let Some(time) = self.program_time(&format!("the archive \"|{command}\"")) else { return Ok(()) };
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        let mut running = self.started(shell, command)?;
        running.ask_no_more();
        let current = self.current.clone();
        let result = self.read_answer(running, command, time, false);
        self.current = current;
        result
    }

    /// How long a program may take for an answer; `None` if none may run, which is reported once.
    fn program_time(&mut self, what: &str) -> Option<Duration> {
        if self.settings.programs.is_none() {
            self.summary.incomplete = true;
            if self.warned.insert("programs".to_owned()) {
                let message = format!("{what} would run a program, which is not allowed; it is left out");
                let fault = RequestFault::error("incapable", self.current.offset, message);
                self.report_here(fault.hint("--allow-programs runs the programs of scenes that you trust"));
            }
        }
        self.settings.programs
    }

    /// A program of the procedural path, with its arguments. No shell reads them.
    fn command_of(&self, program: &str) -> Command {
        let mut words = program.split_whitespace();
        let name = words.next().unwrap_or_default();
        let (first, none) = (&self.settings.search_first, SearchPaths::default());
        let search = &search::with_others(&self.options.options.search, first, &none).procedural;
        let last = self.settings.search_last.procedural.iter().map(Path::new);
        let folders = search.iter().map(Path::new).chain(self.directory.as_deref()).chain(last);
        let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
        let found = found.filter(|_| !name.is_empty()).map(|path| path.canonicalize().unwrap_or(path));
        let mut command = Command::new(found.unwrap_or_else(|| PathBuf::from(name)));
        command.args(words);
        command
    }

    fn started(&mut self, command: Command, name: &str) -> Parsed<RunningProgram> {
        RunningProgram::start(command).map_err(|error| {
            self.summary.incomplete = true;
            let message = format!("cannot run the program \"{name}\": {error}");
            RequestFault::error("nofile", self.current.offset, message)
                .hint("it is searched on the procedural path (--procedurals) and then on PATH")
        })
    }

    /// Reads one answer; a program that `may_go_on` is kept for the next request.
    fn read_answer(&mut self, mut running: RunningProgram, name: &str, time: Duration, may_go_on: bool) -> Parsed<()> {
        self.count_archive()?;
        let settings = self.settings;
        let (answer, end) = running.answer(&format!("output of {name}"), &settings.memory, time, &settings.interrupt);
        let fault = |message: String| RequestFault::error("badfile", self.current.offset, message);
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
            self.summary.incomplete = true;
            let words = running.last_words();
            self.report_here(if words.is_empty() { fault } else { fault.hint(format!("it says: {words}")) });
        }
        match end {
            AnswerEnd::Marked if may_go_on => drop(self.programs.insert(name.into(), running)),
            AnswerEnd::Late | AnswerEnd::TooLong | AnswerEnd::Interrupted => running.kill(),
            AnswerEnd::Marked | AnswerEnd::Ended(_) => {}
        }
        self.open_archives.push(ArchiveIdentity::Output);
        self.read_source(&Arc::new(answer));
        self.open_archives.pop();
        Ok(())
    }
}
