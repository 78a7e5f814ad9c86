//! Messages to the user: errors and warnings with their location in a file, and the reporter that collects them.
//!
//! Bad input never stops a render by itself: code that finds a mistake reports a [`Diagnostic`] to a [`Reporter`] and
//! continues with something sensible. Identical messages are counted, not repeated, and every message is made
//! [printable] on its way to the user.

pub mod printable;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
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
    /// Information for those who ask for all of it.
    Detail,
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

    /// Escapes and shortens the names from files in it; nothing else does. The message and the hint become one line
    /// each, and all together are shorter than 4 KiB.
    fn made_printable(mut self) -> Self {
        self.message = printable::line(&self.message, MESSAGE_BYTES_MAX).into_owned();
        self.hint = printable::line(&self.hint, HINT_BYTES_MAX).into_owned();
        if let Cow::Owned(file) = printable::line(&self.location.file, FILE_BYTES_MAX) {
            self.location.file = file.into();
        }
        self.excerpt = printable::block(&self.excerpt, EXCERPT_BYTES_MAX).into_owned();
        self
    }
}

/// The longest message, hint, file name and excerpt, in bytes.
const MESSAGE_BYTES_MAX: usize = 900;
const HINT_BYTES_MAX: usize = 700;
const FILE_BYTES_MAX: usize = 300;
const EXCERPT_BYTES_MAX: usize = 2000;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Detail | Severity::Info => "note",
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

/// The number of places of a repeated message that are kept besides the first.
const PLACES_MAX: usize = 4;

/// A message with how often it was reported, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedMessage {
    /// The message, with its first place.
    pub diagnostic: Diagnostic,
    /// How often it was reported.
    pub count: u64,
    /// The next few places, in the order in which they were reported.
    pub more_places: Vec<SourceLocation>,
}

impl fmt::Display for CountedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { diagnostic: Diagnostic { location, message, .. }, count, more_places } = self;
        write!(f, "{count} times: {message}")?;
        if !location.file.is_empty() {
            write!(f, ": at {location}")?;
        }
        let mut file = &location.file;
        for place in more_places {
            // The name of the file once, as in a.rib:3:1, 4:1, 5:1.
            let is_same = place.file == *file && place.line > 0;
            file = &place.file;
            if is_same { write!(f, ", {}:{}", place.line, place.column)? } else { write!(f, ", {place}")? }
        }
        let is_cut = !more_places.is_empty() && *count > 1 + more_places.len() as u64;
        if is_cut { write!(f, " and elsewhere") } else { Ok(()) }
    }
}

#[derive(Default)]
struct SeenMessages {
    /// The index of each message in `distinct`.
    indices: FxHashMap<(Severity, &'static str, String), usize>,
    distinct: Vec<CountedMessage>,
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

    /// Reports a message, made printable. One with the same severity, code and text as an earlier one is only counted,
    /// with its place.
    pub fn report(&self, diagnostic: Diagnostic) {
        let diagnostic = diagnostic.made_printable();
        let key = (diagnostic.severity, diagnostic.code, diagnostic.message.clone());
        let mut messages = self.seen.lock();
        if let Some(&index) = messages.indices.get(&key) {
            let known = &mut messages.distinct[index];
            known.count += 1;
            let is_new = known.diagnostic.location != diagnostic.location
                && known.more_places.last() != Some(&diagnostic.location);
            if is_new && known.more_places.len() < PLACES_MAX {
                known.more_places.push(diagnostic.location);
            }
            return;
        }
        if diagnostic.severity < Severity::Severe && messages.distinct.len() >= DISTINCT_MAX {
            if messages.uncollected.is_empty() {
                let message = format!("more than {DISTINCT_MAX} different messages: further ones are only counted");
                (self.sink)(&Diagnostic::new(Severity::Warning, "limitcheck", SourceLocation::default(), message));
            }
            *messages.uncollected.entry(diagnostic.severity).or_insert(0) += 1;
            return;
        }
        let index = messages.distinct.len();
        messages.indices.insert(key, index);
        (self.sink)(&diagnostic);
        messages.distinct.push(CountedMessage { diagnostic, count: 1, more_places: Vec::new() });
    }

    /// Forgets all messages, so that the next ones are new.
    pub fn forget(&self) {
        *self.seen.lock() = SeenMessages::default();
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
        let kept = messages.distinct.iter().map(|message| (&message.diagnostic.severity, &message.count));
        kept.chain(&messages.uncollected).filter(|(s, _)| **s >= severity).map(|(_, count)| count).sum()
    }

    /// Returns every distinct message with the number of times it was reported, in order of first appearance.
    pub fn all(&self) -> Vec<(Diagnostic, u64)> {
        self.counted().into_iter().map(|message| (message.diagnostic, message.count)).collect()
    }

    /// Returns every distinct message with its count and places, in order of first appearance.
    pub fn counted(&self) -> Vec<CountedMessage> {
        self.seen.lock().distinct.clone()
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
    #[test]
    fn places_of_repeats_are_listed() {
        let reporter = Reporter::silent();
        let place = |file: &str, line| SourceLocation { file: file.into(), line, column: 1 };
        let places = [("a.rib", 3), ("a.rib", 4), ("a.rib", 9), ("b.rib", 2)];
        places.iter().for_each(|(file, line)| reporter.warn("x", &place(file, *line), "Sphere: no"));
        assert_eq!(reporter.counted()[0].to_string(), "4 times: Sphere: no: at a.rib:3:1, 4:1, 9:1, b.rib:2:1");
        (0..3).for_each(|line| reporter.warn("x", &place("b.rib", 7 + line), "Sphere: no"));
        assert!(reporter.counted()[0].to_string().ends_with(", b.rib:2:1, 7:1 and elsewhere"));
        (0..2).for_each(|_| reporter.warn("x", &SourceLocation::default(), "no place"));
        assert_eq!(reporter.counted()[1].to_string(), "2 times: no place");
    }

    #[test]
    fn every_part_of_a_message_is_printable_and_short() {
        let shown = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&shown);
        let reporter = Reporter::new(move |diagnostic| *sink.lock() = diagnostic.to_string());
        for evil in ["\x1b]0;title\x07", "a\nR90000 100%", "\"\x08\u{202e}"] {
            let evil = evil.repeat(10_000);
            let location = SourceLocation { file: evil.as_str().into(), line: 1, column: 1 };
            let message = Diagnostic::new(Severity::Error, "x", location, format!("no \"{evil}\"")).hint(evil.clone());
            reporter.report(Diagnostic { excerpt: evil, ..message });
            let shown = shown.lock();
            assert!(shown.len() <= 4096 && !shown.contains(|c: char| c.is_control() && c != '\n'), "{shown}");
            assert!(!shown.lines().next().is_some_and(|line| line.starts_with("R90000")), "{shown}");
        }
    }
}
