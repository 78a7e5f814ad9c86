//! Pictures with missing pixels: they say so in the file, and replace no whole picture.

use crate::files::beside;
use std::fs;
use std::path::{Path, PathBuf};

/// The end of the note in a file that marks it as partial.
pub(super) const NOTE: &str = "pixels were not rendered";

/// What is added to the name of a partial picture beside a whole one.
const SUFFIX: &str = ".partial";

/// Returns the file for a picture that is named `path`: beside it, if pixels are missing and an older picture is there.
pub(super) fn path_for(path: &Path, is_partial: bool) -> PathBuf {
    if !is_partial || !path.is_file() || self::is_partial(path) {
        return path.to_owned();
    }
    beside(path, SUFFIX)
}

/// Whether a file is marked as partial.
pub(super) fn is_partial(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, NOTE.as_bytes()).is_some())
}
