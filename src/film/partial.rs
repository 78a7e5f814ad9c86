//! Pictures with missing pixels: they say so in the file, and replace no whole picture.

use crate::files::{FileClaims, FileRole, beside};
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

/// Removes the partial picture beside one that is whole now.
pub(super) fn remove_old(path: &Path, claims: &FileClaims) {
    let old = beside(path, SUFFIX);
    let is_file = old.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_file && is_partial(&old) && claims.check(&old, FileRole::Partial).is_ok() {
        // If it stays, it still says that it is partial.
        let _ = fs::remove_file(old);
    }
}

/// Whether a file is marked as partial.
pub(super) fn is_partial(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, NOTE.as_bytes()).is_some())
}
