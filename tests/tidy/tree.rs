//! The files of the repository that people write.

use super::code;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folders that hold them. The repository's own folder is read too, without its other folders.
const FOLDERS: [&str; 12] =
    [".cargo", ".ci", "bench", "build", "docs", "fuzz", "glsl", "osd", "scenes", "spirv-gen", "src", "tests"];

/// What tools leave behind in these folders.
const LEFT_OUT: [&str; 3] = ["target", "corpus", "artifacts"];

/// Kinds of files that are read, by the ends of their names.
const TEXTS: [&str; 15] = [
    ".rs",
    ".comp",
    ".glsl",
    ".sl",
    ".h",
    ".cpp",
    ".rib",
    ".md",
    ".toml",
    ".dict",
    ".py",
    "Makefile",
    "run",
    "lint",
    ".gitignore",
];

/// A file: its path from the repository's root, with `/`; its text, empty when it is no text; its size in bytes.
pub(super) struct File {
    pub path: String,
    pub text: String,
    pub bytes: u64,
    /// Of Rust, the code alone (see [`code::code`]).
    pub code: String,
}

impl File {
    /// Whether it lies in this folder (`src/gpu/`), or is this file.
    pub(super) fn is_in(&self, place: &str) -> bool {
        if place.ends_with('/') { self.path.starts_with(place) } else { self.path == place }
    }

    /// Whether it is Rust that is part of the program or its build, as opposed to tests and benches.
    pub(super) fn is_product(&self) -> bool {
        let is_test = self.path.contains("/tests/") || self.path.ends_with("/tests.rs");
        let is_source =
            ["src/", "osd/src/", "spirv-gen/src/", "build/", "build.rs"].iter().any(|place| self.is_in(place));
        self.is_rust() && is_source && !is_test
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(super) fn is_glsl(&self) -> bool {
        self.path.ends_with(".comp") || self.path.ends_with(".glsl")
    }

    /// The name without folders and extension.
    pub(super) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    /// `path:line` of a byte of the text or the code.
    pub(super) fn at(&self, offset: usize) -> String {
        format!("{}:{}", self.path, self.code.get(..offset).unwrap_or_default().matches('\n').count() + 1)
    }
}

/// The repository's root, or, where `TIDY_ROOT` is set, another checkout's.
pub(super) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| std::env::var_os("TIDY_ROOT").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into())
}

/// Every file, in order of paths.
pub(super) fn files() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut paths: Vec<PathBuf> = list(root()).into_iter().filter(|path| path.is_file()).collect();
        FOLDERS.iter().for_each(|folder| walk(&root().join(folder), &mut paths));
        paths.sort();
        paths.iter().map(|path| read(path)).collect()
    })
}

/// The file of this path.
pub(super) fn file(path: &str) -> &'static File {
    files().iter().find(|file| file.path == path).unwrap_or_else(|| panic!("there is no file {path}"))
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.expect("a readable folder").path()).collect()
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for path in list(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !LEFT_OUT.contains(&&*name) {
                walk(&path, paths);
            }
        } else {
            paths.push(path);
        }
    }
}

fn read(path: &Path) -> File {
    let relative = path.strip_prefix(root()).expect("below the root");
    let path_text = relative.to_string_lossy().replace('\\', "/");
    let bytes = fs::metadata(path).map_or(0, |data| data.len());
    let is_text = TEXTS.iter().any(|end| path_text.ends_with(end));
    let text = if is_text { fs::read(path).expect("a readable file") } else { Vec::new() };
    let text = String::from_utf8_lossy(&text).into_owned();
    let code = if path_text.ends_with(".rs") { code::code(&text) } else { String::new() };
    File { path: path_text, text, bytes, code }
}
