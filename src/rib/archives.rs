//! Archives in files and inline, and requests about the stream itself.

use super::binary::StreamCodes;
use super::fault::{Parsed, RequestFault};
use super::lexer::{Lexer, LineMark, TokenKind};
use super::reader::{ErrorHandling, Reader};
use super::search;
use super::source::{self, Source};
use crate::files::FileRole;
use crate::scene::SearchPaths;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// How deeply archives may be nested.
const DEPTH_MAX: usize = 128;

/// Text between ArchiveBegin and ArchiveEnd.
#[derive(Clone, Debug)]
pub(super) struct InlineArchive {
    source: Arc<Source>,
    range: Range<usize>,
    mark: LineMark,
    codes: Rc<StreamCodes>,
}

/// Identifies an open archive, to detect one that reads itself and would never end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArchiveIdentity {
    File(PathBuf),
    /// An inline archive, by the location of its text: the address of the source and an offset.
    Inline(usize, usize),
    /// What a program wrote.
    Output,
}

impl Reader<'_> {
    pub(super) fn version(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let version = lexer.one_float()?;
        if !(3.0..3.205).contains(&version) {
            let message = format!("unknown RIB version {version}; the file is read as 3.2");
            self.report_here(RequestFault::warning("badversion", self.current.offset, message));
        }
        self.begin_scene();
        Ok(())
    }

    pub(super) fn declare(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        let declaration = lexer.text()?;
        let is_new = self.dictionary.declare(&name, &declaration).map_err(|message| {
            RequestFault::error("badargument", self.current.offset, message).hint("expected \"class type[n]\"")
        })?;
        self.definitions += u64::from(is_new);
        Ok(())
    }

    pub(super) fn error_handler(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let handling = match &*lexer.text()? {
            "ignore" => ErrorHandling::Ignore,
            "print" => ErrorHandling::Print,
            "abort" => ErrorHandling::Abort,
            other => {
                let message = format!("there is no error handler \"{other}\"");
                return Err(
                    RequestFault::error("badargument", self.current.offset, message).hint("use ignore, print or abort")
                );
            }
        };
        self.messages.handling.set(handling);
        Ok(())
    }

    pub(super) fn read_archive(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        // Later renderers allow a parameter list here; none of its pairs is known.
        lexer.skip_to_request();
        self.read_named_archive(&name, lexer.source())
    }

    /// Reads an archive that the text `asking` names.
    pub(super) fn read_named_archive(&mut self, name: &str, asking: &Source) -> Parsed<()> {
        if let Some(command) = name.strip_prefix('|') {
            return self.read_output_of(command);
        }
        let offset = self.current.offset;
        self.count_archive()?;
        let current = self.current.clone();
        match self.archives.get(name).cloned() {
            Some(archive) => {
                self.enter(
                    ArchiveIdentity::Inline(Arc::as_ptr(&archive.source).addr(), archive.range.start),
                    name,
                    offset,
                )?;
                let mut inner = Lexer::new(&archive.source, archive.range.clone(), archive.mark)
                    .with_codes(Rc::clone(&archive.codes));
                self.read_requests(&mut inner);
            }
            None => {
                let loaded = self.load_archive(name, asking, offset);
                self.summary.incomplete |= loaded.is_err();
                let (path, source) = loaded?;
                self.enter(ArchiveIdentity::File(path), name, offset)?;
                self.read_source(&Arc::new(source));
            }
        }
        self.open_archives.pop();
        self.current = current;
        Ok(())
    }

    /// Counts an archive that is about to be read, if the limits allow another one.
    pub(super) fn count_archive(&mut self) -> Parsed<()> {
        let offset = self.current.offset;
        if self.archive_reads >= self.settings.limits.archive_reads {
            let message =
                format!("more than {} archives were read; this one is skipped", self.settings.limits.archive_reads);
            return Err(RequestFault::error("limitcheck", offset, message));
        }
        self.archive_reads += 1;
        if self.open_archives.len() >= DEPTH_MAX {
            return Err(RequestFault::error(
                "limitcheck",
                offset,
                format!("archives are nested more than {DEPTH_MAX} deep"),
            ));
        }
        Ok(())
    }

    fn enter(&mut self, identity: ArchiveIdentity, name: &str, offset: usize) -> Parsed<()> {
        if self.open_archives.contains(&identity) {
            let message = format!("the archive \"{name}\" reads itself");
            let fault = RequestFault::error("limitcheck", offset, message);
            return Err(fault.hint("it would never end; it is not read here"));
        }
        self.open_archives.push(identity);
        Ok(())
    }

    fn load_archive(&self, name: &str, asking: &Source, offset: usize) -> Parsed<(PathBuf, Source)> {
        // Other archives of the user's are searched after those beside the input.
        let (first, none) = (&self.settings.search_first, SearchPaths::default());
        let search = &search::with_others(&self.options.options.search, first, &none);
        let beside = [asking.directory.as_deref(), self.directory.as_deref()];
        let last = self.settings.search_last.archive.iter().map(Path::new);
        let folders = search.archive.iter().map(Path::new).chain(beside.into_iter().flatten()).chain(last);
        let files = &self.settings.files;
        let Some(path) = source::find_archive(name, folders, files) else {
            let hint = match search.archive.as_slice() {
                [] => "no archive path is set (Option \"searchpath\" \"archive\", or --archives)".to_owned(),
                paths => format!("the archive path is {}", paths.join(":")),
            };
            return Err(RequestFault::error("nofile", offset, format!("cannot find the archive \"{name}\"")).hint(hint));
        };
        if let Err(refused) = files.claim(&path, FileRole::Archive) {
            return Err(RequestFault::error("badfile", offset, refused.to_string()).hint("it is not read"));
        }
        match Source::open(&path, &self.settings.memory) {
            Ok(source) => Ok((path.canonicalize().unwrap_or(path), source)),
            Err(error) => {
                Err(RequestFault::error("badfile", offset, format!("cannot read the archive \"{name}\": {error}")))
            }
        }
    }

    /// Keeps the text up to the matching ArchiveEnd. It is read token by token, so that ArchiveEnd in a string or
    /// comment does not count.
    pub(super) fn archive_begin(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        lexer.skip_to_request();
        let start = lexer.position();
        let (mark, codes) = (lexer.mark_at(start), lexer.codes());
        let (_, end) = self.skip_block(lexer, "ArchiveBegin", &["ArchiveEnd"])?;
        let archive = InlineArchive { source: Arc::clone(lexer.source()), range: start..end, mark, codes };
        self.archives.insert(name, archive);
        self.definitions += 1;
        Ok(())
    }

    pub(super) fn archive_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        Err(RequestFault::error("nesting", self.current.offset, "ArchiveEnd without ArchiveBegin"))
    }

    /// Skips past the first of `stops` that is not inside of a nested block from `begin` to the last of them; returns
    /// which it is and where it begins.
    pub(super) fn skip_block<'s>(
        &self,
        lexer: &mut Lexer<'_>,
        begin: &str,
        stops: &[&'s str],
    ) -> Parsed<(&'s str, usize)> {
        let (mut depth, end) = (1, stops[stops.len() - 1]);
        loop {
            lexer.skip_to_request();
            let kind = lexer.peek();
            let position = lexer.position();
            match lexer.word() {
                Some(word) if word == begin.as_bytes() => depth += 1,
                Some(word) => match stops.iter().find(|stop| word == stop.as_bytes()) {
                    Some(stop) if depth == 1 => return Ok((stop, position)),
                    Some(&stop) if stop == end => depth -= 1,
                    _ => {}
                },
                None if kind == TokenKind::Binary => lexer.skip_byte(),
                None => {
                    let fault = RequestFault::error("nesting", self.current.offset, format!("{begin} has no {end}"));
                    return Err(fault.hint("the rest of the file counts as part of it and is not read"));
                }
            }
        }
    }
}
