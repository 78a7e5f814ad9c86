//! Where `#include` finds its files.

use crate::span::SOURCE_BYTES_MAX;
use std::path::{Path, PathBuf};

/// A text and the name to give it in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedSource {
    /// The file's name; a file that it includes is looked for relative to this.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Finds the files that shaders include.
pub trait SourceLoader {
    /// Returns the file that `#include "path"` (or `<path>` if `angled`) in the file `from` means. The error says what
    /// was looked at.
    fn load(&self, path: &str, angled: bool, from: &str) -> Result<LoadedSource, String>;
}

/// Finds nothing: for sources that include nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoIncludes;

impl SourceLoader for NoIncludes {
    fn load(&self, _path: &str, _angled: bool, _from: &str) -> Result<LoadedSource, String> {
        Err("files cannot be included here".to_owned())
    }
}

/// Looks in the directory of the including file (for `"path"`), then along a list of directories.
#[derive(Clone, Debug, Default)]
pub struct DirectoryLoader {
    directories: Vec<PathBuf>,
}

impl DirectoryLoader {
    /// Returns a loader for these directories, searched in order.
    pub fn new(directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { directories: directories.into_iter().map(Into::into).collect() }
    }

    /// Loads as [`SourceLoader::load`] does, but does not look at files for which `is_allowed` returns an error. The
    /// error is returned if there is no other file.
    pub fn load_if(
        &self,
        path: &str,
        angled: bool,
        from: &str,
        is_allowed: &dyn Fn(&Path) -> Result<(), String>,
    ) -> Result<LoadedSource, String> {
        let beside = Path::new(from).parent().filter(|_| !angled).map(Path::to_path_buf);
        let places: Vec<_> = beside.iter().chain(&self.directories).collect();
        let mut refused = None;
        for directory in &places {
            let file = directory.join(path);
            if let Err(reason) = is_allowed(&file) {
                refused = Some(reason);
            } else if file.is_file() {
                return read(&file);
            }
        }
        if let Some(reason) = refused {
            return Err(reason);
        }
        let list: Vec<_> = places.iter().map(|p| format!("`{}`", p.join("").display())).collect();
        Err(if list.is_empty() {
            "no include path is set".to_owned()
        } else {
            format!("looked in {}", list.join(", "))
        })
    }
}

impl SourceLoader for DirectoryLoader {
    fn load(&self, path: &str, angled: bool, from: &str) -> Result<LoadedSource, String> {
        self.load_if(path, angled, from, &|_| Ok(()))
    }
}

/// Reads a regular file of a bounded size; bytes that are not UTF-8 (comments in old shaders) are replaced.
fn read(file: &Path) -> Result<LoadedSource, String> {
    let name = file.display().to_string();
    let bytes = std::fs::metadata(file).map_err(|e| format!("cannot read `{name}`: {e}"))?.len();
    if bytes > u64::from(SOURCE_BYTES_MAX) {
        return Err(format!("`{name}` is larger than {} MiB", SOURCE_BYTES_MAX >> 20));
    }
    let bytes = std::fs::read(file).map_err(|e| format!("cannot read `{name}`: {e}"))?;
    Ok(LoadedSource { name, text: String::from_utf8_lossy(&bytes).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_files_are_found_beside_angled_ones_on_the_path() {
        let root = std::env::temp_dir().join(format!("spirv-gen-loader-{}", std::process::id()));
        let (beside, library) = (root.join("a"), root.join("b"));
        for directory in [&beside, &library] {
            std::fs::create_dir_all(directory).expect("a directory in the temporary folder");
        }
        for (directory, text) in [(&beside, "beside"), (&library, "library")] {
            std::fs::write(directory.join("x.h"), text).expect("a file in the temporary folder");
        }
        let loader = DirectoryLoader::new([&library]);
        let from = beside.join("shader.sl").display().to_string();
        let text = |angled| loader.load("x.h", angled, &from).map(|s| s.text);
        assert_eq!(text(false), Ok("beside".to_owned()));
        assert_eq!(text(true), Ok("library".to_owned()));
        let missing = loader.load("y.h", true, &from).expect_err("no such file");
        assert!(missing.starts_with("looked in `"), "{missing}");
        assert!(loader.load(".", false, &from).is_err(), "a directory is no header");
        std::fs::remove_dir_all(&root).expect("the folder that this test made");
    }
}
