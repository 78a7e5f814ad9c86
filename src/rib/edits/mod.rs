//! Edits as RIB: fragments are read (EditBegin to EditEnd) and written.
//!
//! A fragment is read by the ordinary reader of requests, whose effects an open block collects instead of drawing
//! anything. It inherits declarations and options from its scene.

pub(super) mod batch;
mod write;

pub use write::write_edits;

use super::interpreter::read_to_end;
use super::reader::Reader;
use super::settings::Settings;
use super::state::edit_scene::EditScene;
use super::stream::fault::RequestFault;
use super::stream::lexer::{Lexer, LineMark, TokenKind};
use super::stream::source::{Input, Source};
use super::world::editing::EditBlocks;
use crate::diagnostic::{Reporter, Severity, SourceLocation};
use crate::scene::World;
use memchr::memmem;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

pub use super::world::editing::EditBatch;

/// Where edits come from, and so what they may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditTrust {
    /// The user's own file: it may read archives.
    Own,
    /// Anywhere: it reads no files. No edits run programs, and none write files other than those of displays.
    Foreign,
}

/// The bytes that a stream of edits may hold without an EditEnd.
const UNFINISHED_BYTES_MAX: usize = 64 << 20;

/// Reads edits of one scene: whole fragments, or a stream of them piece by piece.
///
/// Mistakes are reported with their place. The request with the mistake is left out, or the whole block if it is not
/// clear what that is about; the rest counts. Blocks of options add up: the transformation of the camera continues
/// where the block before left it.
pub struct EditReader {
    scene: Option<EditScene>,
    settings: Settings,
    trust: EditTrust,
    /// Whether blocks of options are read elsewhere.
    skips_options: bool,
    stream: EditStream,
}

/// What came of a stream and was not read yet.
struct EditStream {
    name: String,
    bytes: Vec<u8>,
    /// Up to where it was looked for EditEnd: the beginning of a request.
    searched: LineMark,
    /// Where the next fragment begins.
    begin: LineMark,
}

impl EditReader {
    /// Creates a reader of edits of a scene, with the settings that it was read with. Messages about a stream call it
    /// `name`.
    pub fn new(scene: EditScene, settings: &Settings, trust: EditTrust, name: &str) -> Self {
        let settings =
            Settings { programs: None, prologue: Vec::new(), edits: Vec::new(), is_live: false, ..settings.clone() };
        let stream =
            EditStream { name: name.to_owned(), bytes: Vec::new(), searched: LineMark::START, begin: LineMark::START };
        Self { scene: Some(scene), settings, trust, skips_options: false, stream }
    }

    /// Reads a whole fragment: a batch for each block in it.
    ///
    /// # Errors
    /// When the input cannot be read at all.
    pub fn read(&mut self, input: &Input, world: &World, reporter: &Reporter) -> io::Result<Vec<EditBatch>> {
        let source = Arc::new(Source::load(input, &self.settings.memory)?);
        Ok(self.read_source(&source, world, reporter))
    }

    /// Reads all of a source.
    fn read_source(&mut self, source: &Arc<Source>, world: &World, reporter: &Reporter) -> Vec<EditBatch> {
        self.with_reader(world, reporter, |reader| reader.read_source(source))
    }

    /// Takes the next piece of a stream. Returns a batch for each block that it ends.
    pub fn push(&mut self, bytes: &[u8], world: &World, reporter: &Reporter) -> Vec<EditBatch> {
        self.stream.bytes.extend_from_slice(bytes);
        let end = self.find_end();
        if let Some(end) = end {
            return self.read_stream_to(end, world, reporter);
        }
        if self.stream.bytes.len() > UNFINISHED_BYTES_MAX {
            let message = format!("more than {UNFINISHED_BYTES_MAX} bytes without an EditEnd; they are left out");
            let location = SourceLocation { file: self.stream.name.as_str().into(), ..SourceLocation::default() };
            reporter.error("limitcheck", &location, message);
            let mark = self.stream.begin.advanced(&self.stream.bytes, self.stream.bytes.len());
            self.stream.begin = mark;
            self.stream.forget();
        }
        Vec::new()
    }

    /// Takes the end of a stream: what is left of it is read.
    pub fn finish(&mut self, world: &World, reporter: &Reporter) -> Vec<EditBatch> {
        self.read_stream_to(self.stream.bytes.len(), world, reporter)
    }

    /// Finds the end of the last EditEnd that is in the stream, if there is one. It counts once something follows it,
    /// because a longer word could.
    fn find_end(&mut self) -> Option<usize> {
        memmem::find(&self.stream.bytes[self.stream.searched.offset..], b"EditEnd")?;
        let source = Arc::new(self.stream.source(self.stream.bytes.len(), &self.settings));
        let range = self.stream.searched.offset..source.bytes.len();
        let mut lexer = Lexer::new(&source, range, self.stream.searched);
        let mut end = None;
        loop {
            lexer.skip_to_request();
            let kind = lexer.peek();
            let position = lexer.position();
            match kind {
                TokenKind::Word if position < source.bytes.len() => {
                    let word = lexer.word();
                    let after = lexer.position();
                    if after == source.bytes.len() {
                        break;
                    }
                    self.stream.searched = self.stream.searched.advanced(&source.bytes, position);
                    if word == Some(b"EditEnd") {
                        end = Some(after);
                    }
                }
                TokenKind::Binary => lexer.skip_byte(),
                _ => break,
            }
        }
        end
    }

    /// Reads the stream up to `end`.
    fn read_stream_to(&mut self, end: usize, world: &World, reporter: &Reporter) -> Vec<EditBatch> {
        let source = Arc::new(self.stream.source(end, &self.settings));
        let begin = self.stream.begin;
        let batches = self.with_reader(world, reporter, |reader| {
            let mut lexer = Lexer::new(&source, begin.offset..end, begin);
            reader.read_requests(&mut lexer);
        });
        self.stream.begin = begin.advanced(&self.stream.bytes, end);
        self.stream.forget();
        batches
    }

    /// Reads something with a reader that knows the scene and the world.
    fn with_reader(
        &mut self,
        world: &World,
        reporter: &Reporter,
        read: impl FnOnce(&mut Reader<'_>),
    ) -> Vec<EditBatch> {
        let Some(scene) = self.scene.take() else { return Vec::new() };
        let mut no_worlds = |_: World| ControlFlow::Continue(());
        let mut reader = Reader::new(&self.settings, reporter, &mut no_worlds, read_to_end);
        let blocks = if self.skips_options { EditBlocks::Objects } else { EditBlocks::All };
        reader.scene.begin_edits(scene, world, blocks, self.trust == EditTrust::Own);
        read(&mut reader);
        reader.scene.drop_open_edit();
        let (batches, scene) = reader.scene.end_edits();
        self.scene = scene;
        batches
    }
}

impl EditStream {
    /// Returns the first `end` bytes as a source.
    fn source(&self, end: usize, settings: &Settings) -> Source {
        let mut source = Source::empty(&self.name, &settings.memory);
        source.bytes = self.bytes[..end].to_vec();
        source
    }

    /// Forgets the lines before the one in which the next fragment begins.
    fn forget(&mut self) {
        let LineMark { offset, line, line_start } = self.begin;
        self.bytes.drain(..line_start);
        self.begin = LineMark { offset: offset - line_start, line, line_start: 0 };
        self.searched = self.begin;
    }
}

/// Reports an input of edits that cannot be read.
pub(super) fn report_unreadable(input: &Input, error: &io::Error, reporter: &Reporter) {
    let location = SourceLocation { file: input.name().into(), line: 0, column: 0 };
    let mut fault = RequestFault::error("nofile", 0, format!("cannot read the edits: {error}"));
    fault.severity = Severity::Severe;
    reporter.report(fault.diagnostic(location));
}
