//! Standard output and standard error. Results go to the one, everything else to the other.

use super::interrupt;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where a command prints, and how it is interrupted.
pub(crate) struct Console {
    /// Standard output: what was asked for.
    pub(super) out: Box<dyn Write>,
    /// Standard error: messages.
    pub(super) err: Messages,
    /// Listens for Ctrl-C: the flag becomes true at the first one.
    pub(super) listen: Box<dyn Fn() -> Arc<AtomicBool>>,
}

impl Console {
    /// The process's own streams.
    pub(crate) fn of_process() -> Self {
        let err = Messages::new(std::io::stderr(), std::io::stderr().is_terminal());
        Self { out: Box::new(std::io::stdout()), err, listen: Box::new(interrupt::listen) }
    }

    /// Prints a result. Nobody is left to tell when standard output is closed.
    pub(super) fn print(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// Standard error, shared by all threads. Lines do not tear, and a progress bar makes room for them.
#[derive(Clone)]
pub(super) struct Messages {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    stream: Box<dyn Write + Send>,
    is_terminal: bool,
    bar: Option<ProgressBar>,
}

impl Messages {
    pub(super) fn new(stream: impl Write + Send + 'static, is_terminal: bool) -> Self {
        let shared = Shared { stream: Box::new(stream), is_terminal, bar: None };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.shared.lock().is_terminal
    }

    /// Prints a message and ends its line. There is nobody to tell when that fails.
    pub(super) fn line(&self, text: &str) {
        let mut shared = self.shared.lock();
        let Shared { stream, bar, .. } = &mut *shared;
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

    /// The bar that later lines make room for.
    pub(super) fn set_bar(&self, bar: Option<ProgressBar>) {
        self.shared.lock().bar = bar;
    }
}
