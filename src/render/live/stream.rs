//! A batch render whose edits come as a stream: the pictures of a live session, written to their displays.

use super::fragments::{Fragment, Fragments};
use super::inbox::Inbox;
use super::{LiveEdit, LiveEvent, LiveOptions, LiveSession};
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::options::RenderOptions;
use crate::outcome::{Ending, Outcome};
use crate::progress::Observer;
use crate::stats::Stats;
use crossbeam::channel::unbounded;
use std::io::Read;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How often to check whether the session has ended by itself.
const POLL: Duration = Duration::from_millis(50);

/// Turns a fragment of RIB into edits; what is wrong with it is reported when they are made.
pub type FragmentReader = dyn FnMut(&Fragment) -> Vec<LiveEdit> + Send;

/// Renders as [`crate::render()`], and again for edits as they come: `read` turns each fragment of `input`, up to an
/// EditEnd, into edits. When no edit comes for a moment the displays are written, and at the end of `input` in any
/// case. Of several worlds only the last is drawn again for each edit.
pub fn render_edits(
    options: &RenderOptions,
    reporter: &Arc<Reporter>,
    observer: &dyn Observer,
    input: impl Read + Send + 'static,
    read: Box<FragmentReader>,
) -> Outcome {
    let (sender, events) = unbounded();
    let live = LiveOptions {
        render: options.clone(),
        coarse: false,
        writes: true,
        watch: false,
        interrupt: observer.interrupt(),
    };
    let session = match LiveSession::begin(live, move |event| drop(sender.send(event))) {
        Ok(session) => session,
        Err(error) => {
            let severe = Diagnostic::new(Severity::Severe, "usage", SourceLocation::default(), error.to_string());
            reporter.report(severe);
            return Outcome { ending: Ending::WrongUsage, displays: Vec::new(), stats: Stats::default() };
        }
    };
    let (inbox, own) = (Arc::clone(&session.shared.inbox), Arc::clone(reporter));
    // It may wait for input when the session ends; then it is left behind.
    thread::spawn(move || read_stream(input, read, &inbox, &own));
    let pass_on = |event: LiveEvent| match event {
        LiveEvent::State { event, .. } => observer.notify(event),
        // Messages are printed once, whichever revision they belong to.
        LiveEvent::Message { diagnostic, .. } => reporter.report(diagnostic),
        _ => {}
    };
    while !session.has_ended() {
        events.recv_timeout(POLL).into_iter().for_each(pass_on);
    }
    let outcome = session.join();
    events.try_iter().for_each(pass_on);
    outcome
}

fn read_stream(input: impl Read, mut read: Box<FragmentReader>, inbox: &Inbox, reporter: &Reporter) {
    let mut fragments = Fragments::new(input);
    loop {
        match fragments.next() {
            Ok(Some(fragment)) => drop(inbox.edit(read(&fragment))),
            Ok(None) => break,
            Err(error) => {
                reporter.error("badfile", &SourceLocation::default(), format!("cannot read edits: {error}"));
                break;
            }
        }
    }
    inbox.close();
}
