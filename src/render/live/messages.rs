//! The messages of a revision: which of its errors the last good picture had not.

use crate::diagnostic::{Diagnostic, Severity};
use parking_lot::Mutex;
use rustc_hash::FxHashSet;

/// The code of warnings that nothing is drawn, which is an error while a scene is edited.
const NOTHING: &str = "nothing";

type Mistake = (&'static str, String);

/// Errors of the current revision, and of the last good picture.
#[derive(Debug, Default)]
pub(super) struct RevisionMessages {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    revision: u64,
    mistakes: FxHashSet<Mistake>,
    accepted: FxHashSet<Mistake>,
}

impl RevisionMessages {
    /// A revision begins.
    pub(super) fn begin(&self, revision: u64) {
        let mut state = self.state.lock();
        state.revision = revision;
        state.mistakes.clear();
    }

    /// Notes a message, and returns the revision that it belongs to.
    pub(super) fn note(&self, diagnostic: &Diagnostic) -> u64 {
        let mut state = self.state.lock();
        if diagnostic.severity >= Severity::Error || diagnostic.code == NOTHING {
            state.mistakes.insert((diagnostic.code, diagnostic.message.clone()));
        }
        state.revision
    }

    /// Forgets errors up to now: what edits report of themselves changes nothing.
    pub(super) fn pardon(&self) {
        self.state.lock().mistakes.clear();
    }

    /// Whether this revision has errors that the last good picture had not.
    pub(super) fn has_new_mistakes(&self) -> bool {
        let state = self.state.lock();
        !state.mistakes.is_subset(&state.accepted)
    }

    /// The picture of this revision is good, with the errors that it has.
    pub(super) fn accept(&self) {
        let mut state = self.state.lock();
        state.accepted = state.mistakes.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SourceLocation;

    #[test]
    fn errors_that_the_last_good_picture_had_are_no_mistakes() {
        let messages = RevisionMessages::default();
        let note = |severity, code, text: &str| {
            messages.note(&Diagnostic::new(severity, code, SourceLocation::default(), text))
        };
        note(Severity::Error, "noshader", "old");
        messages.accept();
        messages.begin(4);
        note(Severity::Warning, "displacement", "no bound");
        assert_eq!(note(Severity::Error, "noshader", "old"), 4);
        assert!(!messages.has_new_mistakes());
        note(Severity::Error, "noshader", "new");
        assert!(messages.has_new_mistakes());
        messages.begin(5);
        note(Severity::Warning, "nothing", "nothing is in view");
        assert!(messages.has_new_mistakes());
        messages.pardon();
        assert!(!messages.has_new_mistakes());
    }
}
