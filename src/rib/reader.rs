//! Reads a source request by request and holds the state that requests work on.

use super::archives::InlineArchive;
use super::blocks::Block;
use super::declare::Dictionary;
use super::fault::{Parsed, RequestFault};
use super::geometry::Batch;
use super::lexer::{Lexer, LineMark, TokenKind};
use super::moving::MovingBlock;
use super::objects::{Object, ObjectRecording};
use super::options::OptionState;
use super::params::ParamList;
use super::program::RunningProgram;
use super::requests::{self, Request, Scope};
use super::resource::SavedResource;
use super::scoped::ScopedMap;
use super::source::{Source, Truncated};
use super::state::GraphicsState;
use super::tokens::TokenGroup;
use super::worlds::{LightSlot, WorldBuilder};
use super::{Input, Settings, Stopped, Summary, WorldConsumer};
use crate::diagnostic::{Reporter, Severity, SourceLocation};
use crate::host_memory::Charge;
use crate::scene::{Emitter, Light, LightId, NamedSpace};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

/// How errors are handled, as `ErrorHandler` sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorHandling {
    /// Report nothing.
    Ignore,
    /// Report the error and continue.
    Print,
    /// Report the error and stop.
    Abort,
}

/// Reports faults as `ErrorHandler` says.
pub(super) struct FaultReporter<'r> {
    reporter: &'r Reporter,
    /// How errors are handled, as `ErrorHandler` sets it.
    pub(super) handling: Cell<ErrorHandling>,
    /// The request that is being read, which messages name; empty between requests.
    request: Cell<&'static str>,
    errors: Cell<u64>,
    aborted: Cell<bool>,
}

impl FaultReporter<'_> {
    /// Reports a fault at a location.
    pub(super) fn report_at(&self, location: SourceLocation, fault: RequestFault) {
        let is_error = fault.severity >= Severity::Error;
        self.errors.set(self.errors.get() + u64::from(is_error));
        if self.handling.get() != ErrorHandling::Ignore {
            self.reporter.report(fault.of_request(self.request.get()).diagnostic(location));
        }
        if is_error && self.handling.get() == ErrorHandling::Abort {
            self.aborted.set(true);
        }
    }

    /// Reports a fault in the text that `lexer` reads.
    pub(super) fn report(&self, lexer: &Lexer<'_>, fault: RequestFault) {
        self.report_at(lexer.location(fault.offset), fault);
    }
}

/// The request that is being read.
#[derive(Clone, Debug)]
pub(super) struct CurrentRequest {
    /// Its name.
    pub(super) name: &'static str,
    /// Where it is in the input.
    pub(super) location: SourceLocation,
    /// Its offset in the source.
    pub(super) offset: usize,
}

/// The interpreter of one input.
pub(super) struct Reader<'r> {
    pub(super) settings: &'r Settings,
    pub(super) messages: FaultReporter<'r>,
    pub(super) worlds: &'r mut dyn WorldConsumer,
    pub(super) summary: Summary,
    /// Set when the consumer wants no more worlds.
    pub(super) refused: bool,
    pub(super) current: CurrentRequest,
    pub(super) dictionary: Dictionary,
    /// The parameter list of the current request, reused to save allocations.
    pub(super) params: ParamList,
    pub(super) options: OptionState,
    pub(super) state: GraphicsState,
    pub(super) blocks: Vec<Block>,
    pub(super) world: Option<WorldBuilder>,
    /// Primitives that are not a geometry yet, because the next ones may be joined with them.
    pub(super) pending: Option<Batch>,
    pub(super) moving: Option<MovingBlock>,
    pub(super) recording: Option<ObjectRecording>,
    pub(super) objects: ScopedMap<Arc<Object>>,
    pub(super) resources: ScopedMap<SavedResource>,
    /// The depth of object instances that are being drawn.
    pub(super) instance_depth: u32,
    pub(super) lights: Vec<Arc<Light>>,
    /// What the area lights of the open world shine from, each with the first of its lights.
    pub(super) emitters: Vec<(LightId, Emitter)>,
    pub(super) light_handles: ScopedMap<LightSlot>,
    /// Named coordinate systems, relative to the world, or before WorldBegin to the camera.
    pub(super) spaces: Vec<NamedSpace>,
    pub(super) archives: FxHashMap<Arc<str>, InlineArchive>,
    pub(super) open_archives: Vec<super::archives::ArchiveIdentity>,
    pub(super) archive_reads: u64,
    /// Programs that wait for another request.
    pub(super) programs: FxHashMap<Arc<str>, RunningProgram>,
    /// Counts what may give the same text another meaning: declarations, archives, objects, lights, conditions.
    pub(super) definitions: u64,
    /// Where the conditionals begin of which a branch is being read.
    pub(super) open_branches: Vec<SourceLocation>,
    /// Keys of the warnings that were already given.
    pub(super) warned: rustc_hash::FxHashSet<String>,
    /// The charge of the innermost frame or world, or of the input outside of both.
    pub(super) charge: Arc<Charge>,
    /// The folder of the input, for its archives.
    pub(super) directory: Option<PathBuf>,
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

/// The number of misspelt requests for which the nearest name is searched, which costs more than reading a request.
const SUGGESTIONS_MAX: u32 = 8;

impl<'r> Reader<'r> {
    /// Creates a reader in the default state.
    pub(super) fn new(settings: &'r Settings, reporter: &'r Reporter, worlds: &'r mut dyn WorldConsumer) -> Self {
        Self {
            settings,
            messages: FaultReporter {
                reporter,
                handling: Cell::new(ErrorHandling::Print),
                request: Cell::new(""),
                errors: Cell::new(0),
                aborted: Cell::new(false),
            },
            worlds,
            summary: Summary::default(),
            refused: false,
            current: CurrentRequest { name: "", location: SourceLocation::default(), offset: 0 },
            dictionary: Dictionary::new(),
            params: ParamList::default(),
            options: OptionState::new(&settings.search),
            state: GraphicsState::new(settings.overrides.shading_rate.unwrap_or(1.0)),
            blocks: Vec::new(),
            world: None,
            pending: None,
            moving: None,
            recording: None,
            objects: ScopedMap::new(),
            resources: ScopedMap::new(),
            instance_depth: 0,
            suggestions_left: SUGGESTIONS_MAX,
            lights: Vec::new(),
            emitters: Vec::new(),
            light_handles: ScopedMap::new(),
            spaces: Vec::new(),
            archives: FxHashMap::default(),
            open_archives: Vec::new(),
            archive_reads: 0,
            programs: FxHashMap::default(),
            definitions: 0,
            open_branches: Vec::new(),
            warned: rustc_hash::FxHashSet::default(),
            charge: Arc::new(Charge::new(&settings.memory)),
            directory: None,
            first_request: 1,
            earlier_worlds: 0,
            end: SourceLocation::default(),
            cut: false,
            unreadable: false,
        }
    }

    /// Reads the next input of the stream.
    pub(super) fn read_input(&mut self, source: &Arc<Source>) {
        self.directory.clone_from(&source.directory);
        self.end = SourceLocation { file: source.name.clone(), line: 0, column: 0 };
        self.cut |= source.is_cut();
        self.messages.request.set("");
        self.check_capabilities(source);
        self.first_request = self.summary.requests + 1;
        self.read_source(source);
    }

    /// Resets the state for an input that says by its first request, `version`, that it is a whole scene, if those
    /// before it have drawn something and left nothing open: default options and graphics state, and no names.
    pub(super) fn begin_scene(&mut self) {
        let is_first = self.summary.requests == self.first_request;
        let has_drawn = self.summary.worlds > self.earlier_worlds;
        if !is_first || !has_drawn || !self.blocks.is_empty() || self.world.is_some() || self.moving.is_some() {
            return;
        }
        self.earlier_worlds = self.summary.worlds;
        self.dictionary = Dictionary::new();
        self.options = OptionState::new(&self.settings.search);
        self.state = GraphicsState::new(self.settings.overrides.shading_rate.unwrap_or(1.0));
        (self.objects, self.resources, self.light_handles) = (ScopedMap::new(), ScopedMap::new(), ScopedMap::new());
        (self.lights, self.spaces, self.archives) = (Vec::new(), Vec::new(), FxHashMap::default());
        self.messages.handling.set(ErrorHandling::Print);
        self.definitions += 1;
        self.read_prologue();
    }

    /// Reports an input that cannot be opened or read. The stream continues with the next one.
    pub(super) fn skip_input(&mut self, input: &Input, error: &std::io::Error) {
        let location = SourceLocation { file: input.name().into(), line: 0, column: 0 };
        let mut fault = RequestFault::error("nofile", 0, format!("cannot read it: {error}"));
        fault.severity = Severity::Severe;
        self.messages.request.set("");
        self.messages.report_at(location, fault);
        self.unreadable = true;
    }

    /// Ends the stream after its last input.
    pub(super) fn finish(mut self) -> Summary {
        if !self.is_stopped() {
            self.close_all(self.end.clone(), self.cut);
        }
        self.summary.errors = self.messages.errors.get();
        let refused = self.refused || self.settings.interrupt.is_raised();
        self.summary.stopped = match (self.messages.aborted.get(), refused) {
            (true, _) => Some(Stopped::Aborted),
            (false, true) => Some(Stopped::Consumer),
            (false, false) if self.unreadable => Some(Stopped::Unreadable),
            (false, false) => None,
        };
        self.summary
    }

    /// Reads the requests of the command line.
    pub(super) fn read_prologue(&mut self) {
        for text in &self.settings.prologue {
            let input = Input::Memory { name: "--option".to_owned(), bytes: text.clone().into_bytes() };
            // Memory can always be read.
            if let Ok(source) = Source::load(&input, &self.settings.memory) {
                self.read_source(&Arc::new(source));
            }
        }
    }

    /// Whether no more requests are to be read.
    pub(super) fn is_stopped(&self) -> bool {
        self.refused || self.messages.aborted.get() || self.settings.interrupt.is_raised()
    }

    /// Reads all of a source.
    pub(super) fn read_source(&mut self, source: &Arc<Source>) {
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
                self.summary.incomplete = true;
                self.messages.report_at(location, fault);
            }
            Some(Truncated::TooLong(problem)) => {
                self.summary.incomplete = true;
                let hint = "the part before this is drawn; raise --host-memory, or split the file";
                let mut fault = RequestFault::error("limitcheck", source.bytes.len(), problem.clone()).hint(hint);
                fault.severity = Severity::Severe;
                self.messages.report(&lexer, fault);
            }
        }
    }

    /// Reads requests to the end of the lexer's range, where conditionals end that begin in it.
    pub(super) fn read_requests(&mut self, lexer: &mut Lexer<'_>) {
        let outer = std::mem::take(&mut self.open_branches);
        self.read_to_end(lexer);
        if !self.is_stopped() {
            self.close_branches();
        }
        self.open_branches = outer;
    }

    fn read_to_end(&mut self, lexer: &mut Lexer<'_>) {
        while !self.is_stopped() {
            self.messages.request.set("");
            let kind = lexer.peek();
            let offset = lexer.position();
            match kind {
                TokenKind::End => return,
                TokenKind::Word => self.read_request(lexer, offset),
                TokenKind::Binary => self.refuse_binary(lexer, offset),
                other => {
                    let message = format!("expected a request, found {}", super::lexer::describe(other));
                    self.messages.report(lexer, RequestFault::error("syntaxerror", offset, message));
                    lexer.skip_to_request();
                }
            }
        }
    }

    fn read_request(&mut self, lexer: &mut Lexer<'_>, offset: usize) {
        let Some(word) = lexer.word() else { return };
        let Some(request) = requests::find(word) else {
            let suggest = self.suggestions_left > 0;
            self.suggestions_left = self.suggestions_left.saturating_sub(1);
            self.messages.report(lexer, requests::unknown(word, offset, suggest));
            lexer.skip_to_request();
            return;
        };
        self.summary.requests += 1;
        self.messages.request.set(request.name);
        self.current = CurrentRequest { name: request.name, location: lexer.request_location(offset), offset };
        let result = self.check_scope(request).and_then(|()| (request.read)(self, lexer));
        match result {
            // An archive or a refused request may have stopped the reading.
            Ok(()) if self.is_stopped() => {}
            Ok(()) => self.check_end(lexer, request.name),
            // The request continues beyond the cut, which is reported.
            Err(_) if lexer.source().is_cut() && lexer.peek() == TokenKind::End => {}
            Err(mut fault) => {
                self.note_left_out(request.scope == Scope::Primitive);
                if fault.lacks_arguments {
                    fault.offset = offset;
                }
                // The text may have been cut off here.
                let is_cut = fault.lacks_arguments || fault.code == "syntaxerror";
                self.summary.incomplete |= is_cut && lexer.peek() == TokenKind::End;
                self.messages.request.set(request.name);
                self.messages.report(lexer, fault);
                lexer.skip_to_request();
            }
        }
    }

    /// Counts a primitive that is not drawn.
    pub(super) fn note_left_out(&mut self, is_primitive: bool) {
        if is_primitive {
            self.summary.left_out += 1;
            if let Some(world) = &mut self.world {
                world.left_out += 1;
            }
        }
    }

    /// Rejects requests where they have no meaning.
    fn check_scope(&mut self, request: &Request) -> Parsed<()> {
        self.leave_motion_for(request)?;
        let offset = self.current.offset;
        let name = request.name;
        match request.scope {
            Scope::Option if self.world.is_some() => Err(RequestFault::error(
                "illstate",
                offset,
                format!("{name} is an option and cannot change inside the world"),
            )
            .hint("move it before WorldBegin")),
            Scope::Option | Scope::Outside if self.recording.is_some() => Err(RequestFault::error(
                "illstate",
                offset,
                format!("{name} is not allowed between ObjectBegin and ObjectEnd"),
            )),
            Scope::Outside if self.world.is_some() => {
                Err(RequestFault::error("nesting", offset, format!("{name} is not allowed inside the world")))
            }
            Scope::Primitive if self.world.is_none() && self.recording.is_none() => {
                Err(RequestFault::error("illstate", offset, format!("{name} is outside of any world"))
                    .hint("primitives belong between WorldBegin and WorldEnd"))
            }
            Scope::Anywhere | Scope::Option | Scope::Outside | Scope::Primitive => Ok(()),
        }
    }

    /// Reports surplus arguments of a request.
    fn check_end(&mut self, lexer: &mut Lexer<'_>, name: &str) {
        let kind = lexer.peek();
        if !matches!(kind, TokenKind::Word | TokenKind::End | TokenKind::Binary) {
            let message = format!("found {} after the arguments of {name}", super::lexer::describe(kind));
            self.messages.report(lexer, RequestFault::error("syntaxerror", lexer.position(), message));
            lexer.skip_to_request();
        }
    }

    /// Reports a byte that begins no token, and goes on at the next request.
    fn refuse_binary(&mut self, lexer: &mut Lexer<'_>, offset: usize) {
        let fault = RequestFault::error("syntaxerror", offset, lexer.binary_problem());
        self.messages.report(lexer, fault.hint("reading goes on at the next request"));
        self.summary.incomplete = true;
        lexer.skip_byte();
        lexer.skip_to_request();
    }

    /// Reads the parameter list of the current request into [`Self::params`].
    pub(super) fn read_params(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let Self { params, dictionary, messages, options, .. } = self;
        params.set_samples(Arc::clone(&options.rgb_from_samples));
        let mut resolve = |token: &[u8], _| dictionary.look_up(token);
        params.read(lexer, &mut resolve, &mut |lexer, fault| messages.report(lexer, fault))
    }

    /// Reads the parameter list of a shader, whose tokens need no declarations.
    pub(super) fn read_shader_params(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let Self { params, dictionary, messages, options, .. } = self;
        params.set_samples(Arc::clone(&options.rgb_from_samples));
        let mut resolve = |token: &[u8], strings| dictionary.look_up_parameter(token, strings);
        params.read(lexer, &mut resolve, &mut |lexer, fault| messages.report(lexer, fault))
    }

    /// Reads the parameter list of a request with tokens of its own. Unknown ones only cause a warning, because
    /// renderers differ in them, and none at all where the whole `group` is unknown.
    pub(super) fn read_params_in(&mut self, lexer: &mut Lexer<'_>, group: Option<&TokenGroup>) -> Parsed<()> {
        let Self { params, dictionary, messages, .. } = self;
        params.set_samples(Arc::default());
        let known = group.map_or(&[][..], |group| group.tokens);
        let mut resolve = |token: &[u8], strings| dictionary.look_up_in(known, token, strings);
        params.read(lexer, &mut resolve, &mut |lexer, mut fault| {
            if fault.code == "badtoken" {
                fault.severity = Severity::Warning;
            }
            if fault.code != "badtoken" || group.is_some() {
                messages.report(lexer, fault);
            }
        })
    }

    /// Reports a fault at the current request.
    pub(super) fn report_here(&self, fault: RequestFault) {
        self.messages.report_at(self.current.location.clone(), fault);
    }

    /// Warns at the current request, once for each `key`.
    pub(super) fn warn_once(&mut self, key: &str, code: &'static str, message: &str) {
        if self.warned.insert(key.to_owned()) {
            self.report_here(RequestFault::warning(code, self.current.offset, message));
        }
    }
}
