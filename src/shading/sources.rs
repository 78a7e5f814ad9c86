//! Reading the sources of shaders, and of what they include.

use crate::files::{FileClaims, FileRole, read_text, with_handles};
use crate::pipeline::recording::hash;
use spirv_gen::span::SOURCE_BYTES_MAX;
use spirv_gen::syntax::loader::{IncludeFolders, LoadedSource, SourceLoader};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a file that are read: enough for the compiler to report the length of one that is too long, whatever its
/// encoding.
const READ_BYTES_MAX: u64 = 2 * (SOURCE_BYTES_MAX as u64 + 2);

/// Reads the source of a shader.
///
/// # Errors
/// Those of the file.
pub(super) fn read_source(file: &Path) -> io::Result<String> {
    read_limited(with_handles(|| File::open(file))?)
}

/// Reads the source of a shader that is written to standard input.
///
/// # Errors
/// Those of reading.
pub(super) fn read_standard_input() -> io::Result<String> {
    read_limited(io::stdin())
}

fn read_limited(input: impl Read) -> io::Result<String> {
    read_text(input.take(READ_BYTES_MAX))
}

/// What is known of a text: its hash and its length.
type TextDigest = (u128, usize);

fn digest(text: &str) -> TextDigest {
    (hash([text.as_bytes()]), text.len())
}

/// A file that a source includes: how it was asked for, and what was found: its name and its text, or nothing.
#[derive(Clone, Debug)]
pub(super) struct LoadedInclude {
    path: String,
    angled: bool,
    from: String,
    found: Option<(String, TextDigest)>,
}

/// What was read of a source: its text, and the files that it includes.
#[derive(Clone, Debug)]
pub(super) struct SourceContents {
    /// `None` if it could not be read.
    text: Option<TextDigest>,
    folders: Vec<String>,
    includes: Vec<LoadedInclude>,
}

impl SourceContents {
    /// The contents of a source that was read, with what it includes from `folders`.
    pub(super) fn new(text: &str, folders: &[String], includes: Vec<LoadedInclude>) -> Self {
        Self { text: Some(digest(text)), folders: folders.to_vec(), includes }
    }

    /// The contents of a source that could not be read.
    pub(super) fn unreadable() -> Self {
        Self { text: None, folders: Vec::new(), includes: Vec::new() }
    }

    /// Whether a file and what it includes are as they were.
    pub(super) fn are_same(&self, file: &Path, files: &FileClaims) -> bool {
        match (read_source(file), self.text) {
            (Ok(text), Some(_)) => self.are_those_of(&text, &self.folders, files),
            (Err(_), None) => true,
            _ => false,
        }
    }

    /// Whether these are the contents of a source of this text, with what it would include now.
    pub(super) fn are_those_of(&self, text: &str, folders: &[String], files: &FileClaims) -> bool {
        let loader = ClaimingLoader::new(IncludeFolders::new(folders), files);
        let is_same = |include: &LoadedInclude| {
            let LoadedInclude { path, angled, from, found } = include;
            loader.load(path, *angled, from).ok().map(|now| (now.name, digest(&now.text))) == *found
        };
        self.text == Some(digest(text)) && self.folders == folders && self.includes.iter().all(is_same)
    }
}

/// Finds included files, claims them, and notes what they are.
pub(super) struct ClaimingLoader<'a> {
    folders: IncludeFolders,
    files: &'a FileClaims,
    loaded: RefCell<Vec<LoadedInclude>>,
}

impl<'a> ClaimingLoader<'a> {
    /// Looks in these folders.
    pub(super) fn new(folders: IncludeFolders, files: &'a FileClaims) -> Self {
        Self { folders, files, loaded: RefCell::default() }
    }

    /// Returns what was loaded.
    pub(super) fn loaded(self) -> Vec<LoadedInclude> {
        self.loaded.into_inner()
    }

    fn find(&self, path: &str, angled: bool, from: &str) -> Result<LoadedSource, String> {
        let is_allowed = |file: &Path| self.files.check_inside(file).map_err(|outside| outside.to_string());
        let file = self.folders.find(path, angled, from, &is_allowed)?;
        let name = file.display().to_string();
        let text = read_source(&file).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        let claimed = self.files.claim(&file, FileRole::Shader);
        claimed.map(|()| LoadedSource { name, text }).map_err(|refused| refused.to_string())
    }
}

impl SourceLoader for ClaimingLoader<'_> {
    fn load(&self, path: &str, angled: bool, from: &str) -> Result<LoadedSource, String> {
        let source = self.find(path, angled, from);
        let found = source.as_ref().ok().map(|source| (source.name.clone(), digest(&source.text)));
        self.loaded.borrow_mut().push(LoadedInclude { path: path.into(), angled, from: from.into(), found });
        source
    }
}
