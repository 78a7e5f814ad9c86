//! Standard output and standard error. Results go to standard output, everything else to standard error.

use super::interrupt;
use anthill::diagnostic::printable;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The longest message in bytes.
const MESSAGE_BYTES_MAX: usize = 4096;

/// Where a command prints, and how it is interrupted.
pub(crate) struct Console {
    /// Standard output, for results.
    pub(super) out: Box<dyn Write>,
    /// Standard error, for messages.
    pub(super) err: MessageStream,
    /// Starts to listen for Ctrl-C. The returned flag becomes true at the first one.
    pub(super) listen: Box<dyn Fn() -> Arc<AtomicBool>>,
}

impl Console {
    /// Returns a console of the process's own streams.
    pub(crate) fn of_process() -> Self {
        let err = MessageStream::new(std::io::stderr(), std::io::stderr().is_terminal());
        Self { out: Box::new(std::io::stdout()), err, listen: Box::new(interrupt::listen) }
    }

    /// Prints a result. If standard output is closed, there is nowhere to report that.
    pub(super) fn print(&mut self, text: &str) {
        let text = printable::block(text, usize::MAX);
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// Standard error, shared by all threads. Lines are never interleaved, and a progress bar is redrawn below them.
#[derive(Clone)]
pub(super) struct MessageStream {
    state: Arc<Mutex<MessageState>>,
}

struct MessageState {
    stream: Box<dyn Write + Send>,
    is_terminal: bool,
    bar: Option<ProgressBar>,
}

impl MessageStream {
    pub(super) fn new(stream: impl Write + Send + 'static, is_terminal: bool) -> Self {
        let state = MessageState { stream: Box::new(stream), is_terminal, bar: None };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.state.lock().is_terminal
    }

    /// Prints one line, whatever the names in it hold.
    pub(super) fn line(&self, text: &str) {
        self.write(&printable::line(text, MESSAGE_BYTES_MAX));
    }

    /// Prints a message that may have several lines.
    pub(super) fn block(&self, text: &str) {
        self.write(&printable::block(text, MESSAGE_BYTES_MAX));
    }

    /// Prints printable text and a line end. If that fails, there is nowhere to report it.
    fn write(&self, text: &str) {
        let mut state = self.state.lock();
        let MessageState { stream, bar, .. } = &mut *state;
        let mut print = || {
            let _ = writeln!(stream, "{text}").and_then(|()| stream.flush());
        };
        match bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Prints an error about the command itself.
    pub(super) fn error(&self, text: &str) {
        self.line(&format!("anthill: error: {text}"));
    }

    /// Sets the progress bar that later lines are printed above.
    pub(super) fn set_bar(&self, bar: Option<ProgressBar>) {
        self.state.lock().bar = bar;
    }
}
