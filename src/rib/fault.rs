//! What is wrong with a request, before it is known whom to tell.

use crate::diagnostic::{Diagnostic, Severity, SourceLocation};
use std::ops::{Deref, DerefMut};

/// The result of reading something; a fault ends the request it is in and nothing else.
pub(super) type Parsed<T> = Result<T, RequestFault>;

/// One thing that is wrong. Boxed, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestFault(Box<FaultDetails>);

/// What a [`RequestFault`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FaultDetails {
    /// How bad it is.
    pub(super) severity: Severity,
    /// Its code name.
    pub(super) code: &'static str,
    /// The byte of the source that it is about.
    pub(super) offset: usize,
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
        Self(Box::new(FaultDetails { severity, code, offset, message: message.into(), hint: String::new() }))
    }

    /// An error at `offset`.
    pub(super) fn error(code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, offset, message)
    }

    /// A warning at `offset`.
    pub(super) fn warning(code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, offset, message)
    }

    /// Something the user may want to know.
    pub(super) fn note(code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, offset, message)
    }

    /// The same with a hint.
    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The message for the user.
    pub(super) fn diagnostic(self, location: SourceLocation) -> Diagnostic {
        Diagnostic::new(self.severity, self.code, location, self.0.message).hint(self.0.hint)
    }
}
