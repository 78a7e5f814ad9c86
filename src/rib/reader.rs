//! Reads sources: the inputs of a stream, and what requests name, each inside of the one before.

use super::consumer::WorldConsumer;
use super::settings::Settings;
use super::stream::archive::Archives;
use super::stream::declare::Dictionary;
use super::stream::fault::{Parsed, RequestFault};
use super::stream::lexer::{Lexer, LineMark};
use super::stream::program::RunningProgram;
use super::stream::source::{Input, Source, Truncated};
use super::summary::{Stopped, Summary};
use super::world::block::BlockKind;
use super::world::editing::Editing;
use super::world::effect::Object;
use super::world::scene::SceneBuilder;
use crate::diagnostic::{Reporter, Severity, SourceLocation};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Reads requests to the end of a lexer's range.
pub(crate) type ReadToEnd = for<'s, 'r, 'l> fn(&'s mut Reader<'r>, &'s mut Lexer<'l>);

/// The number of misspelt requests for which the nearest name is searched, which costs more than reading a request.
const SUGGESTIONS_MAX: u32 = 8;

/// The reader of a stream.
pub(crate) struct Reader<'r> {
    /// What requests work on.
    pub(crate) scene: SceneBuilder<'r>,
    pub(crate) archives: Archives,
    /// Programs that wait for another request.
    pub(crate) programs: FxHashMap<Arc<str>, RunningProgram>,
    /// Where the conditionals begin of which a branch is being read.
    pub(crate) open_branches: Vec<SourceLocation>,
    /// The fragments of edits that are made of each world.
    pub(crate) edits: Vec<Arc<Source>>,
    /// Carries out requests; they may have other sources read.
    read_to_end: ReadToEnd,
    /// The number of the first request of the input.
    first_request: u64,
    /// Worlds read before the options and the graphics state were fresh.
    earlier_worlds: u32,
    /// The end of the last input.
    end: SourceLocation,
    /// Whether an input was cut off for lack of memory.
    cut: bool,
    /// Whether an input could not be read at all.
    unreadable: bool,
    suggestions_left: u32,
}

impl<'r> Reader<'r> {
    /// Creates a reader in the default state.
    pub(crate) fn new(
        settings: &'r Settings,
        reporter: &'r Reporter,
        worlds: &'r mut dyn WorldConsumer,
        read_to_end: ReadToEnd,
    ) -> Self {
        Self {
            scene: SceneBuilder::new(settings, reporter, worlds),
            archives: Archives::default(),
            programs: FxHashMap::default(),
            open_branches: Vec::new(),
            edits: Vec::new(),
            read_to_end,
            first_request: 1,
            earlier_worlds: 0,
            end: SourceLocation::default(),
            cut: false,
            unreadable: false,
            suggestions_left: SUGGESTIONS_MAX,
        }
    }

    /// Reads the next input of the stream.
    pub(crate) fn read_input(&mut self, source: &Arc<Source>) {
        self.scene.directory.clone_from(&source.directory);
        self.end = SourceLocation { file: source.name.clone(), line: 0, column: 0 };
        self.cut |= source.is_cut();
        self.scene.messages.named = "";
        self.scene.messages.check_capabilities(source);
        self.first_request = self.scene.summary.requests + 1;
        self.read_source(source);
    }

    /// Resets the state for an input that says by its first request, `version`, that it is a whole scene, if those
    /// before it have drawn something and left nothing open: default options and graphics state, and no names.
    pub(crate) fn begin_scene(&mut self) {
        let scene = &mut self.scene;
        let is_first = scene.summary.requests == self.first_request;
        let has_drawn = scene.summary.worlds > self.earlier_worlds;
        let is_open = !scene.blocks.is_empty() || scene.world.is_some() || scene.moving.is_some();
        if !is_first || !has_drawn || is_open {
            return;
        }
        self.earlier_worlds = scene.summary.worlds;
        scene.reset();
        self.archives.inline = FxHashMap::default();
        self.read_prologue();
    }

    /// Reports an input that cannot be opened or read. The stream continues with the next one.
    pub(crate) fn skip_input(&mut self, input: &Input, error: &std::io::Error) {
        let location = SourceLocation { file: input.name().into(), line: 0, column: 0 };
        let mut fault = RequestFault::error("nofile", 0, format!("cannot read it: {error}"));
        fault.severity = Severity::Severe;
        self.scene.messages.named = "";
        self.scene.messages.report_at(location, fault);
        self.unreadable = true;
    }

    /// Ends the stream after its last input.
    pub(crate) fn finish(mut self) -> Summary {
        if !self.scene.is_stopped() {
            self.scene.close_all(self.end.clone(), self.cut);
        }
        let messages = &self.scene.messages;
        let refused = self.scene.refused || self.scene.settings.interrupt.is_raised();
        let stopped = match (messages.is_aborted(), refused) {
            (true, _) => Some(Stopped::Aborted),
            (false, true) => Some(Stopped::Consumer),
            (false, false) if self.unreadable => Some(Stopped::Unreadable),
            (false, false) => None,
        };
        Summary { errors: messages.errors(), stopped, ..self.scene.summary }
    }

    /// Reads the options of the fragments of edits for a world that begins here.
    pub(crate) fn read_option_edits(&mut self) {
        let sources = std::mem::take(&mut self.edits);
        let (current, declarations) = (self.scene.messages.current.clone(), self.scene.dictionary.declarations());
        for source in &sources {
            self.scene.editing = Some(Editing::of_options(Arc::clone(&self.scene.state.transform)));
            self.read_source(source);
            self.scene.drop_open_edit();
            if let Some(editing) = self.scene.editing.take() {
                self.scene.state.transform = editing.camera;
            }
        }
        if !sources.is_empty() {
            self.scene.dictionary = Dictionary::of(declarations);
        }
        self.scene.messages.current = current;
        self.edits = sources;
    }

    /// Reads the requests of the command line.
    pub(crate) fn read_prologue(&mut self) {
        let settings = self.scene.settings;
        for text in &settings.prologue {
            let input = Input::Memory { name: "--option".to_owned(), bytes: text.clone().into_bytes() };
            // Memory can always be read.
            if let Ok(source) = Source::load(&input, &settings.memory) {
                self.read_source(&Arc::new(source));
            }
        }
    }

    /// Reads all of a source.
    pub(crate) fn read_source(&mut self, source: &Arc<Source>) {
        // Windows editors write a byte order mark first.
        let start = if source.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut lexer = Lexer::new(source, start..source.bytes.len(), LineMark::START);
        self.read_requests(&mut lexer);
        match &source.truncated {
            None => {}
            Some(Truncated::Damaged(problem)) => {
                let location = SourceLocation { file: source.name.clone(), line: 0, column: 0 };
                let fault = RequestFault::error("badfile", 0, problem.clone())
                    .hint("the part that could be decompressed was read");
                self.scene.summary.incomplete = true;
                self.scene.messages.report_at(location, fault);
            }
            Some(Truncated::TooLong(problem)) => {
                self.scene.summary.incomplete = true;
                let hint = "the part before this is drawn; raise --host-memory, or split the file";
                let mut fault = RequestFault::error("limitcheck", source.bytes.len(), problem.clone()).hint(hint);
                fault.severity = Severity::Severe;
                self.scene.messages.report(&lexer, fault);
            }
        }
    }

    /// Reads requests to the end of the lexer's range, where conditionals end that begin in it.
    pub(crate) fn read_requests(&mut self, lexer: &mut Lexer<'_>) {
        let outer = std::mem::take(&mut self.open_branches);
        (self.read_to_end)(self, lexer);
        if !self.scene.is_stopped() {
            self.close_branches();
        }
        self.open_branches = outer;
    }

    /// Reports conditionals that were begun and not ended.
    fn close_branches(&mut self) {
        for begin in std::mem::take(&mut self.open_branches) {
            self.scene.summary.incomplete = true;
            let fault = RequestFault::error("nesting", 0, "IfBegin has no IfEnd");
            self.scene.messages.report_at(begin, fault.hint("the file ends early; what was read is drawn"));
        }
    }

    /// Reads what a procedural is made of, inside a block that nothing in it can end.
    pub(crate) fn in_procedural(&mut self, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.scene.open(BlockKind::Procedural)?;
        let current = self.scene.messages.current.clone();
        let result = read(self);
        self.scene.messages.current = current;
        self.scene.close(BlockKind::Procedural)?;
        result
    }

    /// Reads what a procedural is made of as an object without a handle. The caller makes sure that no object is being
    /// recorded.
    pub(crate) fn recorded(&mut self, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<Arc<Object>> {
        self.scene.begin_recording();
        let result = self.in_procedural(read);
        let object = self.scene.end_recording();
        result?;
        let stray = || self.scene.messages.error("nesting", "an object ends inside of a procedural");
        object.ok_or_else(stray)
    }

    /// Returns whether the nearest name of a misspelt request is to be searched.
    pub(crate) fn may_suggest(&mut self) -> bool {
        let may = self.suggestions_left > 0;
        self.suggestions_left = self.suggestions_left.saturating_sub(1);
        may
    }

    /// Counts an archive that is about to be read, if the limits allow another one.
    pub(crate) fn count_archive(&mut self) -> Parsed<()> {
        self.archives.count(self.scene.settings.limits.archive_reads, &self.scene.messages)
    }
}
