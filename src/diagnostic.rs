//! What anthill tells the person who renders: errors and warnings with a place in a file, and where they are collected.
//!
//! Bad input never stops a render by itself: whoever finds something wrong reports a [`Diagnostic`] to a [`Reporter`] and goes on with
//! what is sensible. Identical messages are counted, not repeated.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// A position in an input file: what every request, shader instance and primitive carries, so that a late error can name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// The file's name as the user wrote it; `-` for standard input; empty when there is no file.
    pub file: Arc<str>,
    /// Line, counted from 1; 0 when unknown.
    pub line: u32,
    /// Column in bytes, counted from 1; 0 when unknown.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, _) => write!(f, "anthill"),
            (false, 0) => write!(f, "{}", self.file),
            (false, line) => write!(f, "{}:{}:{}", self.file, line, self.column),
        }
    }
}

/// How bad it is (RISpec severity; a severe error means a display will be missing or partial).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something the user may want to know.
    Info,
    /// The picture may differ from what was meant.
    Warning,
    /// Something was skipped or replaced; the rest is rendered.
    Error,
    /// A display cannot be written whole.
    Severe,
}

/// One message for the user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Short stable name of the kind of error, as in RISpec table C.2 (`badtoken`, `syntaxerror`, `noshader`, ...).
    pub code: &'static str,
    /// Where in the input.
    pub place: Place,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to do about it, or empty.
    pub hint: String,
    /// A rendered source excerpt with a caret (RSL errors), or empty.
    pub excerpt: String,
}

impl Diagnostic {
    /// A diagnostic without hint or excerpt.
    pub fn new(severity: Severity, code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self { severity, code, place, message: message.into(), hint: String::new(), excerpt: String::new() }
    }

    /// The same with a hint: what the user can do about it.
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
        write!(f, "{}: {word}: {} [{}]", self.place, self.message, self.code)?;
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt.trim_end())?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  help: {}", self.hint)?;
        }
        Ok(())
    }
}

/// Collects diagnostics from any thread, prints the first of each kind through a sink, counts the rest.
pub struct Reporter {
    sink: Box<dyn Fn(&Diagnostic) + Send + Sync>,
    state: Mutex<State>,
}

/// Distinct messages that are kept and shown; an input can hold any number of mistakes, no two alike. What is severe is always shown.
const DISTINCT_MAX: usize = 1 << 14;

#[derive(Default)]
struct State {
    seen: FxHashMap<(Severity, &'static str, String), u64>,
    all: Vec<Diagnostic>,
    /// Messages beyond [`DISTINCT_MAX`], by severity.
    more: FxHashMap<Severity, u64>,
}

impl Reporter {
    /// A reporter that hands each new message to `sink`.
    pub fn new(sink: impl Fn(&Diagnostic) + Send + Sync + 'static) -> Self {
        Self { sink: Box::new(sink), state: Mutex::default() }
    }

    /// A reporter that only collects.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Reports; a message with the same severity, code and text as an earlier one is only counted.
    pub fn report(&self, diagnostic: Diagnostic) {
        let key = (diagnostic.severity, diagnostic.code, diagnostic.message.clone());
        let mut state = self.state.lock();
        if diagnostic.severity < Severity::Severe && state.all.len() >= DISTINCT_MAX && !state.seen.contains_key(&key) {
            if state.more.is_empty() {
                let message = format!("more than {DISTINCT_MAX} different messages: others are only counted");
                (self.sink)(&Diagnostic::new(Severity::Warning, "limitcheck", Place::default(), message));
            }
            *state.more.entry(diagnostic.severity).or_insert(0) += 1;
            return;
        }
        let count = state.seen.entry(key).or_insert(0);
        *count += 1;
        if *count == 1 {
            (self.sink)(&diagnostic);
            state.all.push(diagnostic);
        }
    }

    /// Shorthand for a warning.
    pub fn warn(&self, code: &'static str, place: &Place, message: impl Into<String>) {
        self.report(Diagnostic::new(Severity::Warning, code, place.clone(), message));
    }

    /// Shorthand for an error that was survived.
    pub fn error(&self, code: &'static str, place: &Place, message: impl Into<String>) {
        self.report(Diagnostic::new(Severity::Error, code, place.clone(), message));
    }

    /// How many messages of at least this severity came, repeats included.
    pub fn count_at_least(&self, severity: Severity) -> u64 {
        let state = self.state.lock();
        let kept = state.seen.iter().map(|((severity, ..), count)| (severity, count));
        kept.chain(&state.more).filter(|(s, _)| **s >= severity).map(|(_, count)| count).sum()
    }

    /// Every distinct message with the number of times it came, in order of first appearance.
    pub fn all(&self) -> Vec<(Diagnostic, u64)> {
        let state = self.state.lock();
        let count = |d: &Diagnostic| state.seen.get(&(d.severity, d.code, d.message.clone())).copied().unwrap_or(1);
        state.all.iter().map(|d| (d.clone(), count(d))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_end_are_only_counted() {
        let shown = Arc::new(Mutex::new(0));
        let sink = Arc::clone(&shown);
        let reporter = Reporter::new(move |_| *sink.lock() += 1);
        for number in 0..2 * DISTINCT_MAX {
            reporter.error("badtoken", &Place::default(), format!("unknown token {number}"));
        }
        reporter.report(Diagnostic::new(Severity::Severe, "limitcheck", Place::default(), "no memory"));
        assert_eq!((*shown.lock(), reporter.all().len()), (DISTINCT_MAX + 2, DISTINCT_MAX + 1));
        assert_eq!(reporter.count_at_least(Severity::Error), 2 * DISTINCT_MAX as u64 + 1);
    }

    #[test]
    fn repeats_are_counted_not_repeated() {
        let reporter = Reporter::silent();
        let place = Place { file: "a.rib".into(), line: 3, column: 7 };
        reporter.warn("badtoken", &place, "unknown token \"x\"");
        reporter.warn("badtoken", &place, "unknown token \"x\"");
        reporter.error("syntaxerror", &place, "expected a request");
        assert_eq!(reporter.all().len(), 2);
        assert_eq!(reporter.all()[0].1, 2);
        assert_eq!(reporter.count_at_least(Severity::Error), 1);
        assert_eq!(reporter.all()[1].0.to_string(), "a.rib:3:7: error: expected a request [syntaxerror]");
    }
}
