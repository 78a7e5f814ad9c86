//! Where `#include` finds its files.

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

/// Where included files are looked for: in the directory of the including file (for `"path"`), then along a list of
/// directories.
#[derive(Clone, Debug, Default)]
pub struct IncludeFolders {
    directories: Vec<PathBuf>,
}

impl IncludeFolders {
    /// Searches these directories in order.
    pub fn new(directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { directories: directories.into_iter().map(Into::into).collect() }
    }

    /// Returns the file that a [`SourceLoader`] is to load. Those for which `is_allowed` returns an error are passed
    /// over.
    ///
    /// # Errors
    /// That of `is_allowed`, or what was looked at, if there is no other file.
    pub fn find(
        &self,
        path: &str,
        angled: bool,
        from: &str,
        is_allowed: &dyn Fn(&Path) -> Result<(), String>,
    ) -> Result<PathBuf, String> {
        let beside = Path::new(from).parent().filter(|_| !angled).map(Path::to_path_buf);
        let places: Vec<_> = beside.iter().chain(&self.directories).collect();
        let mut refused = None;
        for directory in &places {
            let file = directory.join(path);
            if let Err(reason) = is_allowed(&file) {
                refused = Some(reason);
            } else if file.is_file() {
                return Ok(file);
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
        for directory in [&beside, &library] {
            std::fs::write(directory.join("x.h"), "").expect("a file in the temporary folder");
        }
        let folders = IncludeFolders::new([&library]);
        let from = beside.join("shader.sl").display().to_string();
        let find = |path: &str, angled| folders.find(path, angled, &from, &|_| Ok(()));
        assert_eq!(find("x.h", false), Ok(beside.join("x.h")));
        assert_eq!(find("x.h", true), Ok(library.join("x.h")));
        let missing = find("y.h", true).expect_err("no such file");
        assert!(missing.starts_with("looked in `"), "{missing}");
        assert!(find(".", false).is_err(), "a directory is no header");
        std::fs::remove_dir_all(&root).expect("the folder that this test made");
    }
}
