//! What waits for the thread of a live session, and how the picture under way is stopped for it.

use super::edit::LiveEdit;
use crate::progress::Interrupt;
use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Edits and wishes that wait, and the interrupts of the thread that serves them.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    state: Mutex<InboxState>,
    changed: Condvar,
    /// Stops the picture under way.
    pub(super) cancel: Interrupt,
    /// Ends the session.
    pub(super) stop: Interrupt,
}

#[derive(Debug, Default)]
struct InboxState {
    edits: Vec<LiveEdit>,
    /// The number of batches of edits so far.
    revision: u64,
    /// When the first and the last of the edits came that wait.
    first_edit: Option<Instant>,
    last_edit: Option<Instant>,
    saves: bool,
    /// No more edits come, and what they are is to be finished.
    is_closing: bool,
    /// Whether a picture is under way that edits may stop.
    is_drawing: bool,
    cancelled: Option<Instant>,
}

/// What waited.
#[derive(Debug)]
pub(super) struct Taken {
    /// All edits since the last call, in order.
    pub(super) edits: Vec<LiveEdit>,
    /// The number of the last batch of edits.
    pub(super) revision: u64,
    /// When the first edit among them came, and the last one ever.
    pub(super) first_edit: Option<Instant>,
    pub(super) last_edit: Option<Instant>,
    /// Whether displays are to be written.
    pub(super) saves: bool,
    pub(super) is_closing: bool,
}

impl Inbox {
    /// Adds a batch of edits, stops the picture under way, and returns the number of the revision that shows them.
    pub(super) fn edit(&self, edits: impl IntoIterator<Item = LiveEdit>) -> u64 {
        let now = Instant::now();
        let mut state = self.state.lock();
        state.edits.extend(edits);
        state.revision += 1;
        state.first_edit.get_or_insert(now);
        state.last_edit = Some(now);
        if state.is_drawing && state.cancelled.is_none() {
            state.cancelled = Some(now);
            self.cancel.raise();
        }
        self.changed.notify_all();
        state.revision
    }

    /// Asks for the displays of the newest revision.
    pub(super) fn save(&self) {
        self.state.lock().saves = true;
        self.changed.notify_all();
    }

    /// Says that no more edits come.
    pub(super) fn close(&self) {
        self.state.lock().is_closing = true;
        self.changed.notify_all();
    }

    /// Ends the session at once.
    pub(super) fn stop(&self) {
        let _state = self.state.lock();
        self.stop.raise();
        self.cancel.raise();
        self.changed.notify_all();
    }

    /// Waits until something is to be done: until `until`, if that is given, or for ever.
    pub(super) fn take(&self, until: Option<Instant>) -> Taken {
        let mut state = self.state.lock();
        while state.edits.is_empty() && !state.saves && !state.is_closing && !self.stop.is_raised() {
            match until {
                Some(until) if self.changed.wait_until(&mut state, until).timed_out() => break,
                Some(_) => {}
                None => self.changed.wait(&mut state),
            }
        }
        Taken {
            edits: std::mem::take(&mut state.edits),
            revision: state.revision,
            first_edit: state.first_edit.take(),
            last_edit: state.last_edit,
            saves: std::mem::take(&mut state.saves),
            is_closing: state.is_closing,
        }
    }

    /// Begins a picture that edits stop from now on. Returns whether there is none yet.
    pub(super) fn begin_picture(&self) -> bool {
        let mut state = self.state.lock();
        if !state.edits.is_empty() || self.stop.is_raised() {
            return false;
        }
        self.cancel.rearm();
        (state.is_drawing, state.cancelled) = (true, None);
        true
    }

    /// Ends a picture: edits wait from now on. Returns how long ago it was stopped, if it was.
    pub(super) fn end_picture(&self) -> Option<Duration> {
        let mut state = self.state.lock();
        state.is_drawing = false;
        if !self.stop.is_raised() {
            self.cancel.rearm();
        }
        state.cancelled.take().map(|at| at.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit() -> [LiveEdit; 1] {
        [LiveEdit::new("test", |_, _| true)]
    }

    #[test]
    fn edits_stop_only_a_picture_under_way_and_are_taken_together() {
        let inbox = Inbox::default();
        assert_eq!((inbox.edit(edit()), inbox.edit(edit())), (1, 2));
        assert!(!inbox.cancel.is_raised(), "nothing is drawn");
        assert!(!inbox.begin_picture(), "edits wait");
        let taken = inbox.take(None);
        assert_eq!((taken.edits.len(), taken.revision), (2, 2));
        assert!(inbox.begin_picture());
        assert_eq!(inbox.edit(edit()), 3);
        assert!(inbox.cancel.is_raised() && !inbox.stop.is_raised());
        assert!(inbox.end_picture().is_some() && !inbox.cancel.is_raised());
        assert_eq!(inbox.take(None).revision, 3);
        assert!(inbox.begin_picture() && inbox.end_picture().is_none());
        inbox.stop();
        assert!(!inbox.begin_picture() && inbox.end_picture().is_none());
        assert!(inbox.cancel.is_raised(), "the end of the session stays");
    }

    #[test]
    fn waits_end_at_their_time() {
        let inbox = Inbox::default();
        let taken = inbox.take(Some(Instant::now() + Duration::from_millis(2)));
        assert!(taken.edits.is_empty() && !taken.is_closing);
        inbox.close();
        assert!(inbox.take(None).is_closing);
    }
}
