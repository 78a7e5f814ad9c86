//! Messages to the user: errors and warnings with their location in a file, and the reporter that collects them.
//!
//! Bad input never stops a render by itself: code that finds a mistake reports a [`Diagnostic`] to a [`Reporter`] and
//! continues with something sensible. Identical messages are counted, not repeated.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// A position in an input file. Every request, shader instance and primitive keeps one, so that a later error can name
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct SourceLocation {
    /// The file's name as the user wrote it; `-` for standard input; empty when there is no file.
    pub file: Arc<str>,
    /// Line, counted from 1; 0 when unknown.
    pub line: u32,
    /// Column in bytes, counted from 1; 0 when unknown.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, _) => write!(f, "anthill"),
            (false, 0) => write!(f, "{}", self.file),
            (false, line) => write!(f, "{}:{}:{}", self.file, line, self.column),
        }
    }
}

/// How serious a message is (RISpec severity; after a severe error a display is missing or partial).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Information that the user may want.
    Info,
    /// The picture may differ from what was intended.
    Warning,
    /// Something was skipped or replaced; the rest is rendered.
    Error,
    /// A display cannot be written completely.
    Severe,
}

/// One message for the user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How serious the message is.
    pub severity: Severity,
    /// Short stable name of the kind of error, as in RISpec table C.2 (`badtoken`, `syntaxerror`, `noshader`, ...).
    pub code: &'static str,
    /// Where in the input the mistake is.
    pub location: SourceLocation,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// What to do about it, or empty.
    pub hint: String,
    /// An excerpt of the source with a caret below the mistake (RSL errors), or empty.
    pub excerpt: String,
}

impl Diagnostic {
    /// Creates a diagnostic without hint or excerpt.
    pub fn new(severity: Severity, code: &'static str, location: SourceLocation, message: impl Into<String>) -> Self {
        Self { severity, code, location, message: message.into(), hint: String::new(), excerpt: String::new() }
    }

    /// Adds a hint: what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Info => "note",
            Severity::Warning => "warning",
            Severity::Error | Severity::Severe => "error",
        };
        write!(f, "{}: {word}: {} [{}]", self.location, self.message, self.code)?;
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt.trim_end())?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  help: {}", self.hint)?;
        }
        Ok(())
    }
}

/// Collects diagnostics from any thread, passes the first of several identical ones to a sink and counts the rest.
pub struct Reporter {
    sink: Box<dyn Fn(&Diagnostic) + Send + Sync>,
    seen: Mutex<SeenMessages>,
}

/// The number of distinct messages that are kept and shown, because an input can hold any number of different mistakes.
/// Severe messages are always shown.
const DISTINCT_MAX: usize = 1 << 14;

#[derive(Default)]
struct SeenMessages {
    counts: FxHashMap<(Severity, &'static str, String), u64>,
    distinct: Vec<Diagnostic>,
    /// The number of messages beyond [`DISTINCT_MAX`], by severity.
    uncollected: FxHashMap<Severity, u64>,
}

impl Reporter {
    /// Creates a reporter that passes each new message to `sink`.
    pub fn new(sink: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        Self { sink: Box::new(sink), seen: Mutex::default() }
    }

    /// Creates a reporter that only collects.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Reports a message. A message with the same severity, code and text as an earlier one is only counted.
    pub fn report(&self, diagnostic: Diagnostic) {
        let key = (diagnostic.severity, diagnostic.code, diagnostic.message.clone());
        let mut messages = self.seen.lock();
        if diagnostic.severity < Severity::Severe
            && messages.distinct.len() >= DISTINCT_MAX
            && !messages.counts.contains_key(&key)
        {
            if messages.uncollected.is_empty() {
                let message = format!("more than {DISTINCT_MAX} different messages: further ones are only counted");
                (self.sink)(&Diagnostic::new(Severity::Warning, "limitcheck", SourceLocation::default(), message));
            }
            *messages.uncollected.entry(diagnostic.severity).or_insert(0) += 1;
            return;
        }
        let count = messages.counts.entry(key).or_insert(0);
        *count += 1;
        if *count == 1 {
            (self.sink)(&diagnostic);
            messages.distinct.push(diagnostic);
        }
    }

    /// Reports a warning.
    pub fn warn(&self, code: &'static str, location: &SourceLocation, message: impl Into<String>) {
        self.report(Diagnostic::new(Severity::Warning, code, location.clone(), message));
    }

    /// Reports an error after which the render continues.
    pub fn error(&self, code: &'static str, location: &SourceLocation, message: impl Into<String>) {
        self.report(Diagnostic::new(Severity::Error, code, location.clone(), message));
    }

    /// Returns the number of messages of at least this severity, repeats included.
    pub fn count_at_least(&self, severity: Severity) -> u64 {
        let messages = self.seen.lock();
        let kept = messages.counts.iter().map(|((severity, ..), count)| (severity, count));
        kept.chain(&messages.uncollected).filter(|(s, _)| **s >= severity).map(|(_, count)| count).sum()
    }

    /// Returns every distinct message with the number of times it was reported, in order of first appearance.
    pub fn all(&self) -> Vec<(Diagnostic, u64)> {
        let messages = self.seen.lock();
        let count =
            |d: &Diagnostic| messages.counts.get(&(d.severity, d.code, d.message.clone())).copied().unwrap_or(1);
        messages.distinct.iter().map(|d| (d.clone(), count(d))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_beyond_the_limit_are_only_counted() {
        let shown = Arc::new(Mutex::new(0));
        let sink = Arc::clone(&shown);
        let reporter = Reporter::new(move |_| *sink.lock() += 1);
        for number in 0..2 * DISTINCT_MAX {
            reporter.error("badtoken", &SourceLocation::default(), format!("unknown token {number}"));
        }
        reporter.report(Diagnostic::new(Severity::Severe, "limitcheck", SourceLocation::default(), "no memory"));
        assert_eq!((*shown.lock(), reporter.all().len()), (DISTINCT_MAX + 2, DISTINCT_MAX + 1));
        assert_eq!(reporter.count_at_least(Severity::Error), 2 * DISTINCT_MAX as u64 + 1);
    }

    #[test]
    fn repeats_are_counted_not_repeated() {
        let reporter = Reporter::silent();
        let location = SourceLocation { file: "a.rib".into(), line: 3, column: 7 };
        reporter.warn("badtoken", &location, "unknown token \"x\"");
        reporter.warn("badtoken", &location, "unknown token \"x\"");
        reporter.error("syntaxerror", &location, "expected a request");
        assert_eq!(reporter.all().len(), 2);
        assert_eq!(reporter.all()[0].1, 2);
        assert_eq!(reporter.count_at_least(Severity::Error), 1);
        assert_eq!(reporter.all()[1].0.to_string(), "a.rib:3:7: error: expected a request [syntaxerror]");
    }
}
