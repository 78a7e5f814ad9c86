//! What the thread of a live session shares with its owner.

use super::event::{Level, LiveEvent};
use super::inbox::Inbox;
use super::messages::RevisionMessages;
use crate::diagnostic::Diagnostic;
use crate::progress::{Event, Interrupt, Observer};
use parking_lot::Mutex;
use std::sync::Arc;

/// Receives the events of a session, on its threads.
pub(super) type EventSink = dyn Fn(LiveEvent) + Send + Sync;

/// What the thread of a session shares with its owner.
pub(super) struct Shared {
    pub(super) inbox: Arc<Inbox>,
    pub(super) messages: RevisionMessages,
    sink: Box<EventSink>,
    /// The user's own interrupt.
    user: Interrupt,
    /// What is drawn.
    drawn: Mutex<(u64, Option<Level>)>,
    /// What was last said of it: a session that rests says nothing.
    said: Mutex<Option<(u64, Option<Level>, Event)>>,
}

impl Shared {
    pub(super) fn new(sink: Box<EventSink>, user: Interrupt) -> Self {
        let (drawn, said) = (Mutex::default(), Mutex::default());
        Self { inbox: Arc::default(), messages: RevisionMessages::default(), sink, user, drawn, said }
    }

    pub(super) fn send(&self, event: LiveEvent) {
        (self.sink)(event);
    }

    /// Sends a message, with the revision that it belongs to.
    pub(super) fn send_message(&self, diagnostic: &Diagnostic) {
        let revision = self.messages.note(diagnostic);
        self.send(LiveEvent::Message { revision, diagnostic: diagnostic.clone() });
    }

    pub(super) fn set_drawn(&self, revision: u64, level: Option<Level>) {
        *self.drawn.lock() = (revision, level);
    }
}

/// Watches the render for the session, and the user's interrupt for the render.
impl Observer for Shared {
    fn notify(&self, event: Event) {
        // Limits raise the interrupt of the render.
        if self.user.is_raised() || self.inbox.cancel.limit().is_some() {
            self.inbox.stop();
        }
        let (revision, level) = *self.drawn.lock();
        let state = Some((revision, level, event.clone()));
        let mut said = self.said.lock();
        if *said != state {
            *said = state;
            drop(said);
            self.send(LiveEvent::State { revision, level, event });
        }
    }

    fn interrupt(&self) -> Interrupt {
        self.inbox.cancel.clone()
    }
}
