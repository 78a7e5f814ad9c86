//! Mistakes in a request, before they are reported.

use crate::diagnostic::{Diagnostic, Severity, SourceLocation};
use std::ops::{Deref, DerefMut};

/// The result of reading something; a fault ends only the request that contains it.
pub(crate) type Parsed<T> = Result<T, RequestFault>;

/// One mistake in a request. Boxed, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestFault(Box<FaultDetails>);

/// The content of a [`RequestFault`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultDetails {
    /// How serious it is.
    pub(crate) severity: Severity,
    /// Its code.
    pub(crate) code: &'static str,
    /// The byte of the source that it is about.
    pub(crate) offset: usize,
    /// Whether the request ended before all of its arguments were found; the fault is then about the request itself.
    pub(crate) lacks_arguments: bool,
    message: String,
    hint: String,
}

impl Deref for RequestFault {
    type Target = FaultDetails;

    fn deref(&self) -> &FaultDetails {
        &self.0
    }
}

impl DerefMut for RequestFault {
    fn deref_mut(&mut self) -> &mut FaultDetails {
        &mut self.0
    }
}

impl RequestFault {
    fn new(severity: Severity, code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), String::new());
        Self(Box::new(FaultDetails { severity, code, offset, lacks_arguments: false, message, hint }))
    }

    /// Creates an error at `offset`.
    pub(crate) fn error(code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, offset, message)
    }

    /// Creates a warning at `offset`.
    pub(crate) fn warning(code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, offset, message)
    }

    /// Creates a note at `offset`: information that the user may want.
    pub(crate) fn note(code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, offset, message)
    }

    /// Adds a hint: what the user can do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Names the request that the fault is in, unless the message does, or is about a limit.
    #[must_use]
    pub(crate) fn of_request(mut self, request: &str) -> Self {
        if std::mem::take(&mut self.lacks_arguments) {
            self.message = format!("{request} lacks arguments: {}", self.message);
        } else if self.code != "limitcheck" && !self.message.contains(request) {
            self.message = format!("{request}: {}", self.message);
        }
        self
    }

    /// Converts the fault to a message for the user.
    pub(crate) fn diagnostic(self, location: SourceLocation) -> Diagnostic {
        Diagnostic::new(self.severity, self.code, location, self.0.message).hint(self.0.hint)
    }
}
