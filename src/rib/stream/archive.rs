//! Archives that are known or open.

use super::binary::StreamCodes;
use super::fault::{Parsed, RequestFault};
use super::lexer::LineMark;
use super::messages::Messages;
use super::source::Source;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// How deeply archives may be nested.
const DEPTH_MAX: usize = 128;

/// Text between ArchiveBegin and ArchiveEnd.
#[derive(Clone, Debug)]
pub(crate) struct InlineArchive {
    pub(crate) source: Arc<Source>,
    pub(crate) range: Range<usize>,
    pub(crate) mark: LineMark,
    pub(crate) codes: Rc<StreamCodes>,
}

/// Identifies an open archive, to detect one that reads itself and would never end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveIdentity {
    File(PathBuf),
    /// An inline archive, by the location of its text: the address of the source and an offset.
    Inline(usize, usize),
    /// What a program wrote.
    Output,
}

/// The archives of a stream.
#[derive(Default)]
pub(crate) struct Archives {
    /// Inline archives, by name.
    pub(crate) inline: FxHashMap<Arc<str>, InlineArchive>,
    open: Vec<ArchiveIdentity>,
    reads: u64,
}

impl Archives {
    /// Counts an archive that is about to be read, if there may be `reads_max` and it is not nested too deeply.
    pub(crate) fn count(&mut self, reads_max: u64, messages: &Messages<'_>) -> Parsed<()> {
        if self.reads >= reads_max {
            let message = format!("more than {reads_max} archives were read; this one is skipped");
            return Err(messages.error("limitcheck", message));
        }
        self.reads += 1;
        if self.open.len() >= DEPTH_MAX {
            return Err(messages.error("limitcheck", format!("archives are nested more than {DEPTH_MAX} deep")));
        }
        Ok(())
    }

    /// Opens an archive that is named at `offset`, unless it is open already.
    pub(crate) fn enter(&mut self, identity: ArchiveIdentity, name: &str, offset: usize) -> Parsed<()> {
        if self.open.contains(&identity) {
            let message = format!("the archive \"{name}\" reads itself");
            let fault = RequestFault::error("limitcheck", offset, message);
            return Err(fault.hint("it would never end; it is not read here"));
        }
        self.open.push(identity);
        Ok(())
    }

    /// Opens what a program wrote.
    pub(crate) fn enter_output(&mut self) {
        self.open.push(ArchiveIdentity::Output);
    }

    /// Closes the archive that was opened last.
    pub(crate) fn leave(&mut self) {
        self.open.pop();
    }
}
