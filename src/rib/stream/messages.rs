//! Messages about requests, reported as `ErrorHandler` says.

use super::fault::RequestFault;
use super::lexer::Lexer;
use crate::diagnostic::{Reporter, Severity, SourceLocation};
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// How errors are handled, as `ErrorHandler` sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorHandling {
    /// Report nothing.
    Ignore,
    /// Report the error and continue.
    Print,
    /// Report the error and stop.
    Abort,
}

/// The request that is being read.
#[derive(Clone, Debug)]
pub(crate) struct CurrentRequest {
    /// Its name.
    pub(crate) name: &'static str,
    /// Whether it is for geometry.
    pub(crate) is_primitive: bool,
    /// Where it is in the input.
    pub(crate) location: SourceLocation,
    /// Its offset in the source.
    pub(crate) offset: usize,
}

/// The messages of a stream.
pub(crate) struct Messages<'r> {
    reporter: &'r Reporter,
    /// How errors are handled, as `ErrorHandler` sets it.
    pub(crate) handling: ErrorHandling,
    /// The request that is being read.
    pub(crate) current: CurrentRequest,
    /// The name of the request that messages are about; empty between requests.
    pub(crate) named: &'static str,
    errors: Cell<u64>,
    aborted: Cell<bool>,
    /// Keys of the warnings that were already given.
    warned: FxHashSet<String>,
}

impl<'r> Messages<'r> {
    /// Creates the messages of a stream that begins.
    pub(crate) fn new(reporter: &'r Reporter) -> Self {
        let location = SourceLocation::default();
        Self {
            reporter,
            handling: ErrorHandling::Print,
            current: CurrentRequest { name: "", is_primitive: false, location, offset: 0 },
            named: "",
            errors: Cell::new(0),
            aborted: Cell::new(false),
            warned: FxHashSet::default(),
        }
    }

    /// Returns the number of errors so far, including those that were not shown.
    pub(crate) fn errors(&self) -> u64 {
        self.errors.get()
    }

    /// Whether an error occurred under `ErrorHandler "abort"`.
    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.get()
    }

    /// Creates an error about the current request.
    pub(crate) fn error(&self, code: &'static str, message: impl Into<String>) -> RequestFault {
        RequestFault::error(code, self.current.offset, message)
    }

    /// Creates a warning about the current request.
    pub(crate) fn warning(&self, code: &'static str, message: impl Into<String>) -> RequestFault {
        RequestFault::warning(code, self.current.offset, message)
    }

    /// Reports a fault at a location.
    pub(crate) fn report_at(&self, location: SourceLocation, fault: RequestFault) {
        let is_error = fault.severity >= Severity::Error;
        self.errors.set(self.errors.get() + u64::from(is_error));
        if self.handling != ErrorHandling::Ignore {
            self.reporter.report(fault.of_request(self.named).diagnostic(location));
        }
        if is_error && self.handling == ErrorHandling::Abort {
            self.aborted.set(true);
        }
    }

    /// Reports a fault in the text that `lexer` reads.
    pub(crate) fn report(&self, lexer: &Lexer<'_>, fault: RequestFault) {
        self.report_at(lexer.location(fault.offset), fault);
    }

    /// Reports a fault at the current request.
    pub(crate) fn report_here(&self, fault: RequestFault) {
        self.report_at(self.current.location.clone(), fault);
    }

    /// Reports an error at the current request.
    pub(crate) fn report_error(&self, code: &'static str, message: impl Into<String>) {
        self.report_here(self.error(code, message));
    }

    /// Reports a warning at the current request.
    pub(crate) fn report_warning(&self, code: &'static str, message: impl Into<String>) {
        self.report_here(self.warning(code, message));
    }

    /// Returns whether this is the first warning with this key.
    pub(crate) fn is_first(&mut self, key: &str) -> bool {
        self.warned.insert(key.to_owned())
    }

    /// Warns at the current request, once for each `key`.
    pub(crate) fn warn_once(&mut self, key: &str, code: &'static str, message: &str) {
        if self.is_first(key) {
            self.report_warning(code, message);
        }
    }
}
