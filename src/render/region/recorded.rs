//! The recordings that regions submit, for tests that look at them.

use crate::pipeline::recording::Recording;
use std::cell::RefCell;

thread_local! {
    static RECORDED: RefCell<Vec<Recording>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a recording of a region that this thread draws.
pub(super) fn keep(recording: &Recording) {
    RECORDED.with_borrow_mut(|recorded| recorded.push(recording.clone()));
}

/// The recordings of the regions that this thread has drawn since the last call, in order.
pub(crate) fn take() -> Vec<Recording> {
    RECORDED.take()
}
