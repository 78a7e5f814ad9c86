//! Watches the files of the scene: one that is saved is an edit.

use super::edit::LiveEdit;
use super::inbox::Inbox;
use crate::files::FileRole;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files that are watched, by where links lead.
type WatchedFiles = Arc<Mutex<FxHashMap<PathBuf, PathBuf>>>;

/// Watches files until it is dropped.
pub(super) struct FileWatch {
    watcher: RecommendedWatcher,
    files: WatchedFiles,
    /// Folders that are watched: files are replaced by others of their name.
    folders: FxHashSet<PathBuf>,
}

impl FileWatch {
    /// Begins to watch; what is saved is an edit in `inbox`.
    ///
    /// # Errors
    /// Why the system watches no files.
    pub(super) fn new(inbox: &Arc<Inbox>) -> notify::Result<Self> {
        let files = WatchedFiles::default();
        let (inbox, watched) = (Arc::clone(inbox), Arc::clone(&files));
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else { return };
            if !changes_files(event.kind) {
                return;
            }
            let changed = named(&watched.lock(), &event.paths);
            if !changed.is_empty() {
                inbox.edit(changed.into_iter().map(LiveEdit::file_changed));
            }
        })?;
        Ok(Self { watcher, files, folders: FxHashSet::default() })
    }

    /// Watches these files from now on, and returns why some cannot be.
    pub(super) fn follow(&mut self, files: impl Iterator<Item = PathBuf>) -> Vec<(PathBuf, notify::Error)> {
        let found: FxHashMap<_, _> = files.filter_map(|file| Some((standing(&file)?, file))).collect();
        let folders: FxHashSet<PathBuf> = found.keys().filter_map(|file| Some(file.parent()?.to_owned())).collect();
        // Files that are gone for now may come back.
        self.files.lock().extend(found);
        let mut unwatched = Vec::new();
        for folder in folders {
            if !self.folders.contains(&folder) {
                match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                    Ok(()) => drop(self.folders.insert(folder)),
                    Err(error) => unwatched.push((folder, error)),
                }
            }
        }
        unwatched
    }
}

/// Whether something happened after which a file is another. Where the system says when writing has ended, what comes
/// before is a file that is half written.
fn changes_files(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Data(_)) => !cfg!(target_os = "linux"),
        EventKind::Modify(ModifyKind::Metadata(_)) => false,
        EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Any | EventKind::Other => true,
    }
}

/// Returns the files among these paths that are watched, as the scene names them, each once.
fn named(files: &FxHashMap<PathBuf, PathBuf>, paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = paths.iter().filter_map(|path| files.get(path).cloned()).collect();
    found.dedup();
    found
}

/// Returns where a file is, without links in its folder.
fn standing(file: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(file).ok()?;
    Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?))
}

/// What must be done again when a file of this role has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileEffect {
    pub(super) reads_scene: bool,
    pub(super) reads_shaders: bool,
}

/// Returns what a changed file affects; its role is `None` if the scene has not used it so far.
pub(super) fn effect_of(role: Option<FileRole>) -> FileEffect {
    match role {
        Some(FileRole::Scene | FileRole::Archive) => FileEffect { reads_scene: true, reads_shaders: false },
        Some(FileRole::Shader) => FileEffect { reads_scene: false, reads_shaders: true },
        // Textures are looked at again for each picture.
        Some(FileRole::TextureRead | FileRole::MakeInput | FileRole::Input) => FileEffect::default(),
        _ => FileEffect { reads_scene: true, reads_shaders: true },
    }
}
