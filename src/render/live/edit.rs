//! What edits a live session: changes of the scene's worlds, and files that have changed.

use crate::diagnostic::Reporter;
use crate::scene::World;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Changes a world, and returns whether it changed anything.
type ChangeFn = dyn Fn(&mut World, &Reporter) -> bool + Send + Sync;

/// One edit of the scene.
#[derive(Clone)]
pub struct LiveEdit {
    kind: Cow<'static, str>,
    /// Edits of the same key replace one another.
    key: Option<String>,
    change: Change,
}

#[derive(Clone)]
enum Change {
    World(Arc<ChangeFn>),
    File(PathBuf),
}

impl LiveEdit {
    /// Returns an edit that changes each world as `change` does when the world was read, and again whenever it is read
    /// again. `change` reports its mistakes, and returns whether it changed anything. `kind` is its name in statistics.
    pub fn new(
        kind: impl Into<Cow<'static, str>>,
        change: impl Fn(&mut World, &Reporter) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { kind: kind.into(), key: None, change: Change::World(Arc::new(change)) }
    }

    /// Says that it sets all that earlier edits of the same key have set, so that these need not be kept: as when a
    /// light is dragged.
    #[must_use]
    pub fn replacing(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// Returns the edit that a file of the scene has changed: the scene itself, an archive, a shader or a texture.
    pub fn file_changed(path: impl Into<PathBuf>) -> Self {
        Self { kind: "file".into(), key: None, change: Change::File(path.into()) }
    }

    /// Returns its name in statistics.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the file that has changed, if it is that.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.change {
            Change::File(path) => Some(path),
            Change::World(_) => None,
        }
    }

    /// Changes a world, and returns whether anything changed.
    pub(super) fn apply(&self, world: &mut World, reporter: &Reporter) -> bool {
        match &self.change {
            Change::World(change) => change(world, reporter),
            Change::File(_) => false,
        }
    }
}

impl fmt::Debug for LiveEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveEdit").field("kind", &self.kind).field("file", &self.file()).finish_non_exhaustive()
    }
}

/// The edits of the scene so far, in order.
#[derive(Debug, Default)]
pub(super) struct EditLog(Vec<LiveEdit>);

impl EditLog {
    /// Adds an edit; those that it replaces are forgotten.
    pub(super) fn push(&mut self, edit: LiveEdit) {
        if edit.key.is_some() {
            self.0.retain(|other| other.key != edit.key);
        }
        self.0.push(edit);
    }

    /// Applies all edits to a world that was read.
    pub(super) fn apply(&self, world: &mut World, reporter: &Reporter) -> bool {
        self.0.iter().fold(false, |changed, edit| edit.apply(world, reporter) | changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_one_key_replace_one_another() {
        let mut log = EditLog::default();
        let edit = |kind: &'static str| LiveEdit::new(kind, |_, _| true);
        log.push(edit("other"));
        (0..1000).for_each(|_| log.push(edit("camera").replacing("camera")));
        log.push(edit("light").replacing("light"));
        let kinds: Vec<_> = log.0.iter().map(LiveEdit::kind).collect();
        assert_eq!(kinds, ["other", "camera", "light"]);
    }
}
