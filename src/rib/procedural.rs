//! Procedural primitives: geometry that is read, or made by a program, where it is needed (RISpec 5.5).
//!
//! A procedural is read at its place in the stream, inside a block of its own, unless its bound lies outside of the
//! picture. What the second one of the same archive does is recorded as an object, which all later ones are instances
//! of: thousands cost one geometry and a matrix each, and the picture does not depend on when they are read.

use super::blocks::BlockKind;
use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::geometry::TrimState;
use super::lexer::Lexer;
use super::objects::Object;
use super::reader::Reader;
use super::source::Source;
use crate::scene::Basis;
use std::path::PathBuf;
use std::sync::Arc;

/// The name of an archive and the folder of the text that asks for it.
pub(super) type ArchiveRequest = (Arc<str>, Option<PathBuf>);

/// The number of archives per world that are remembered.
const REMEMBERED_MAX: usize = 1 << 12;

/// An archive that a procedural has read in this world.
pub(super) struct ReadBefore {
    /// What its text depends on: the definitions so far, the bases and the trim curves.
    definitions: u64,
    basis: [Basis; 2],
    trim: TrimState,
    /// What it does, once it was read twice.
    object: Option<Arc<Object>>,
    /// The primitives in it that are left out.
    left_out: u64,
}

impl Reader<'_> {
    pub(super) fn procedural(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let kind = lexer.text()?;
        let arguments = lexer.texts()?;
        lexer.peek();
        let start = lexer.position();
        let bound = lexer.floats::<6>()?;
        // Later renderers allow a parameter list here; none of its pairs is known.
        lexer.skip_to_request();
        if (0..3).any(|axis| bound[2 * axis] > bound[2 * axis + 1]) {
            let message = "the bound is not xmin xmax ymin ymax zmin zmax: a side ends before it begins";
            return Err(RequestFault::error("range", start, message));
        }
        match (&*kind, &arguments[..]) {
            ("DelayedReadArchive", [name]) => self.delayed_archive(name, &bound, lexer.source()),
            ("RunProgram", [program]) => self.run_program(program, "", &bound),
            ("RunProgram", [program, arguments]) => self.run_program(program, arguments, &bound),
            ("DelayedReadArchive" | "RunProgram", _) => {
                let message = format!("{kind} does not take {} strings", arguments.len());
                let fault = RequestFault::error("badarray", self.current.offset, message);
                Err(fault.hint("it takes [\"archive\"], or [\"program\" \"arguments\"]"))
            }
            ("DynamicLoad", _) => {
                self.note_left_out(true);
                let message = "Procedural \"DynamicLoad\": plug-ins in C are not supported; it is left out";
                self.warn_once(message, "unimplement", message);
                Ok(())
            }
            _ => {
                let fault =
                    RequestFault::error("badtoken", self.current.offset, format!("there is no procedural \"{kind}\""));
                Err(fault.hint("use DelayedReadArchive or RunProgram"))
            }
        }
    }

    fn delayed_archive(&mut self, name: &Arc<str>, bound: &[f64; 6], asking: &Source) -> Parsed<()> {
        // In an object, the place is not known yet.
        if self.recording.is_some() {
            return self.in_procedural(|reader| reader.read_named_archive(name, asking));
        }
        if !self.may_be_seen(bound) {
            return Ok(());
        }
        let request = (Arc::clone(name), asking.directory.clone());
        let Some(left_out) = self.read_before(&request).map(|before| before.left_out) else {
            return self.read_once(request, asking);
        };
        let object = match self.read_before(&request).and_then(|before| before.object.clone()) {
            Some(object) => object,
            None => {
                let read = |reader: &mut Self| reader.read_named_archive(name, asking);
                let object = self.recorded(|reader| reader.in_procedural(read))?;
                if let Some(before) = self.world.as_mut().and_then(|world| world.read_before.get_mut(&request)) {
                    before.object = Some(Arc::clone(&object));
                }
                object
            }
        };
        self.summary.left_out += left_out;
        if let Some(world) = &mut self.world {
            world.left_out += left_out;
        }
        self.perform(RequestEffect::Instance(object));
        Ok(())
    }

    /// The archive as it was read before in this world, if its text would mean the same now.
    fn read_before(&self, request: &ArchiveRequest) -> Option<&ReadBefore> {
        let before = self.world.as_ref()?.read_before.get(request)?;
        (before.definitions == self.definitions && before.basis == self.state.basis && before.trim == self.state.trim)
            .then_some(before)
    }

    /// Reads an archive and remembers it, if it defines nothing and asks for nothing that may differ the next time.
    fn read_once(&mut self, request: ArchiveRequest, asking: &Source) -> Parsed<()> {
        let (definitions, basis, trim) = (self.definitions, self.state.basis, self.state.trim.clone());
        let left_out = |reader: &Self| reader.world.as_ref().map_or(0, |world| world.left_out);
        let left_out_before = left_out(self);
        self.in_procedural(|reader| reader.read_named_archive(&request.0, asking))?;
        let left_out = left_out(self) - left_out_before;
        if let Some(world) = &mut self.world
            && self.definitions == definitions
            && world.read_before.len() < REMEMBERED_MAX
        {
            world.read_before.insert(request, ReadBefore { definitions, basis, trim, object: None, left_out });
        }
        Ok(())
    }

    /// Reads what a procedural is made of, inside a block that nothing in it can end.
    pub(super) fn in_procedural(&mut self, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.open(BlockKind::Procedural)?;
        let current = self.current.clone();
        let result = read(self);
        self.current = current;
        self.close(BlockKind::Procedural)?;
        result
    }
}
