//! Reading the sources of shaders, and of what they include.

use crate::files::{FileClaims, FileRole, read_text, with_handles};
use spirv_gen::span::SOURCE_BYTES_MAX;
use spirv_gen::syntax::loader::{IncludeFolders, LoadedSource, SourceLoader};
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

/// Finds included files, and claims them.
pub(super) struct ClaimingLoader<'a> {
    pub(super) folders: IncludeFolders,
    pub(super) files: &'a FileClaims,
}

impl SourceLoader for ClaimingLoader<'_> {
    fn load(&self, path: &str, angled: bool, from: &str) -> Result<LoadedSource, String> {
        let is_allowed = |file: &Path| self.files.check_inside(file).map_err(|outside| outside.to_string());
        let file = self.folders.find(path, angled, from, &is_allowed)?;
        let name = file.display().to_string();
        let text = read_source(&file).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        let claimed = self.files.claim(&file, FileRole::Shader);
        claimed.map(|()| LoadedSource { name, text }).map_err(|refused| refused.to_string())
    }
}
