//! Errors and warnings of the shader compiler, with an excerpt of the source that reads like rustc's.

use crate::span::{Excerpt, SourceMap, SourcePosition, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use rustc_hash::FxHashSet;
use std::fmt;

/// Errors of one compilation that are reported; further ones are counted.
pub const ERRORS_MAX: usize = 50;

/// Warnings of one compilation that are reported; further ones are counted.
pub const WARNINGS_MAX: usize = 50;

/// Characters of a message; names in shaders may be of any length.
const MESSAGE_CHARS_MAX: usize = 300;

/// Characters of a file's name, which `#line` may set.
const FILE_CHARS_MAX: usize = 200;

/// Places of an include chain that an excerpt names.
const INCLUDE_NOTES_MAX: usize = 8;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The shader compiles, but perhaps to something that was not meant.
    Warning,
    /// No shader comes out.
    Error,
}

/// One message about a shader's source. `Display` writes all of it: message, place, source line, caret, hint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it begins.
    pub place: SourcePosition,
    /// Bytes of the first line that it is about; 0 for a place between two bytes.
    pub width: u32,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to do about it, or empty.
    pub hint: String,
    /// Place, source line, caret and hint, several lines without a final line end.
    pub excerpt: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{word}: {}", self.message)?;
        if self.excerpt.is_empty() { Ok(()) } else { write!(f, "\n{}", self.excerpt) }
    }
}

/// A message while the source is still at hand.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    severity: Severity,
    span: Span,
    message: String,
    label: String,
    hint: String,
    also: Vec<(Span, String)>,
}

impl Report {
    /// Returns an error at `span`.
    pub(crate) fn error(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, span, message.into())
    }

    /// Returns a warning at `span`.
    pub(crate) fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, span, message.into())
    }

    fn new(severity: Severity, span: Span, mut message: String) -> Self {
        if let Some((cut, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
            message.truncate(cut);
            message.push_str("...");
        }
        if message.contains(char::is_control) {
            let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
            message = message.chars().map(escape).collect();
        }
        Self { severity, span, message, label: String::new(), hint: String::new(), also: Vec::new() }
    }

    /// Puts words at the caret.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds another place that matters, with words.
    pub(crate) fn also(mut self, span: Span, words: impl Into<String>) -> Self {
        self.also.push((span, words.into()));
        self
    }
}

/// The messages of a compilation in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    list: Vec<Report>,
    seen: FxHashSet<(Span, String)>,
    errors: usize,
    warnings: usize,
}

impl Reports {
    /// Takes a message, unless the same was given for the same place (a header that several shaders check).
    pub(crate) fn push(&mut self, report: Report) {
        let (count, max) = match report.severity {
            Severity::Error => (&mut self.errors, ERRORS_MAX),
            Severity::Warning => (&mut self.warnings, WARNINGS_MAX),
        };
        if *count < max && !self.seen.insert((report.span, report.message.clone())) {
            return;
        }
        *count += 1;
        if *count <= max {
            self.list.push(report);
        }
    }

    /// Returns the number of errors so far, those after the limit included.
    pub(crate) fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns whether more errors would only be counted: time to stop.
    pub(crate) fn is_full(&self) -> bool {
        self.errors > ERRORS_MAX
    }

    /// Returns all messages as the user sees them, by place. What a macro says several times of one use, and a header
    /// each time that it is included, is said once.
    pub(crate) fn finish(mut self, map: &SourceMap) -> Vec<Diagnostic> {
        self.list.sort_by_key(|r| r.span.start);
        let mut shown = FxHashSet::default();
        self.list.retain(|r| shown.insert((map.place(r.span), r.message.clone())));
        let mut all: Vec<_> = self.list.iter().map(|r| render(r, map)).collect();
        for (count, max, severity, word) in [
            (self.errors, ERRORS_MAX, Severity::Error, "errors"),
            (self.warnings, WARNINGS_MAX, Severity::Warning, "warnings"),
        ] {
            if count > max {
                let place = all.last().map(|d| d.place.clone()).unwrap_or_default();
                let message = format!("too many {word}: more than {max} in this file");
                let (hint, excerpt) = (String::new(), String::new());
                all.push(Diagnostic { severity, place, width: 0, message, hint, excerpt });
            }
        }
        all
    }
}

/// Finds places and draws the excerpt.
fn render(report: &Report, map: &SourceMap) -> Diagnostic {
    let (level, place) = (level(report.severity), map.place(report.span));
    let first_line = |e: Excerpt| e.text[e.ranges[0].clone()].lines().next().map_or(0, |line| line.len() as u32);
    let width = map.excerpt(report.span).map_or(0, first_line);
    let mut places = vec![(report.span, report.label.clone())];
    places.extend(report.also.iter().cloned().chain(notes(report.span, map)));
    let spans: Vec<_> = places.iter().map(|p| p.0).collect();
    let mut group = Group::with_title(level.primary_title(&report.message));
    let mut headings = vec![place.clone()];
    if let Some(excerpt) = map.joint_excerpt(&spans) {
        group = group.element(snippet(excerpt, &places, true));
    } else {
        for (i, place) in places.chunks(1).enumerate() {
            if let Some(excerpt) = map.excerpt(place[0].0) {
                group = group.element(snippet(excerpt, place, i == 0));
            }
        }
        headings.extend(spans[1..].iter().map(|span| map.place(*span)));
    }
    if !report.hint.is_empty() {
        group = group.element(Level::HELP.message(&report.hint));
    }
    let groups: &[Group<'_>] = &[group];
    let rendered = Renderer::plain().render(groups);
    let excerpt = rendered.split_once('\n').map_or("", |(_, rest)| rest).trim_end();
    let excerpt = with_headings(excerpt, &headings);
    Diagnostic {
        severity: report.severity,
        place,
        width,
        message: report.message.clone(),
        hint: report.hint.clone(),
        excerpt,
    }
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    }
}

/// Names the places of excerpts as the file has them: where an excerpt begins inside of a long line, its own columns
/// are smaller.
fn with_headings(excerpt: &str, headings: &[SourcePosition]) -> String {
    let mut headings = headings.iter();
    let mut line = |line: &str| {
        let arrow = ["--> ", "::: "].into_iter().find_map(|arrow| Some(line.split_once(arrow)?.0.len() + arrow.len()));
        let arrow = arrow.filter(|&end| line[..end - "--> ".len()].trim().is_empty());
        match arrow.and_then(|end| Some((end, headings.next()?))) {
            Some((end, place)) => {
                let name: String = place.file.chars().take(FILE_CHARS_MAX).flat_map(char::escape_debug).collect();
                format!("{}{name}:{}:{}", &line[..end], place.line, place.column)
            }
            None => line.to_owned(),
        }
    };
    excerpt.lines().map(&mut line).collect::<Vec<_>>().join("\n")
}

/// Returns an excerpt with its annotations.
fn snippet(excerpt: Excerpt, places: &[(Span, String)], with_primary: bool) -> Snippet<'static, Annotation<'static>> {
    let annotations = excerpt.ranges.into_iter().zip(places).enumerate().map(|(i, (range, (_, label)))| {
        let kind = if i == 0 && with_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(range).label((!label.is_empty()).then(|| label.clone()))
    });
    Snippet::source(excerpt.text).line_start(excerpt.line as usize).path(".").annotations(annotations)
}

/// Returns the macro that a span came from, and the chain of includes.
fn notes(span: Span, map: &SourceMap) -> Vec<(Span, String)> {
    let mut notes = Vec::new();
    if let Some(expansion) = map.expansion(span) {
        notes.push((expansion.spelling, format!("in the expansion of the macro `{}`", expansion.macro_name)));
    }
    let mut at = map.included_at(span);
    while let Some(include) = at.filter(|_| notes.len() < INCLUDE_NOTES_MAX) {
        notes.push((include, "included here".to_owned()));
        at = map.included_at(include);
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> SourceMap {
        let mut map = SourceMap::default();
        map.add("a.sl".into(), "surface a()\n{\n    Ci = Cx;\n}\n".into(), None);
        map
    }

    #[test]
    fn a_report_reads_like_rustc() {
        let mut reports = Reports::default();
        reports.push(
            Report::error(Span::new(23, 25), "unknown variable `Cx`").label("not found").hint("did you mean `Cs`?"),
        );
        let diagnostics = reports.finish(&map());
        let expected = "\
error: unknown variable `Cx`
 --> a.sl:3:10
  |
3 |     Ci = Cx;
  |          ^^ not found
  |
  = help: did you mean `Cs`?";
        assert_eq!(diagnostics[0].to_string(), expected);
        assert_eq!((diagnostics[0].place.line, diagnostics[0].place.column, diagnostics[0].width), (3, 10, 2));
    }

    /// The excerpt of a long line is cut out of its middle.
    #[test]
    fn columns_of_shortened_excerpts_agree() {
        let mut map = SourceMap::default();
        let text = format!("{}Cx;\n{}\n", " a = 1;".repeat(1000), " b = 1;".repeat(6000));
        map.add("a.sl".into(), text.into(), None);
        for also in [None, Some(20_000), Some(40_000)] {
            let report = Report::error(Span::new(7000, 7002), "unknown variable `Cx`");
            let report = also.into_iter().fold(report, |r, at| r.also(Span::new(at, at + 1), "declared here"));
            let mut reports = Reports::default();
            reports.push(report);
            let all = reports.finish(&map);
            assert_eq!((all[0].place.line, all[0].place.column), (1, 7001));
            assert!(all[0].excerpt.contains("--> a.sl:1:7001\n") && all[0].excerpt.len() < 1500, "{}", all[0].excerpt);
            let second = also.map_or(String::new(), |at| format!(" a.sl:2:{}\n", at - 7003));
            assert!(all[0].excerpt.contains(&second) || also == Some(20_000), "{}", all[0].excerpt);
        }
    }

    #[test]
    fn the_same_twice_is_told_once_and_too_many_are_counted() {
        let mut reports = Reports::default();
        for _ in 0..3 {
            reports.push(Report::error(Span::new(0, 7), "bad"));
        }
        assert_eq!(reports.error_count(), 1);
        for i in 0..100 {
            reports.push(Report::error(Span::new(0, 7), format!("bad {i}")));
        }
        assert!(reports.is_full());
        let all = reports.finish(&map());
        assert_eq!(all.len(), ERRORS_MAX + 1);
        assert_eq!(all[ERRORS_MAX].to_string(), "error: too many errors: more than 50 in this file");
    }

    #[test]
    fn one_place_says_a_thing_once() {
        let mut map = map();
        let name: std::sync::Arc<str> = "TWICE".into();
        let site = Span::new(23, 25);
        let uses = [10, 12].map(|spelled| map.expanded(site, Span::new(spelled, spelled + 1), &name));
        for offset in [100, 200] {
            map.add("a.h".into(), "float f() { return q; }".into(), Some(Span::new(offset, offset + 1)));
        }
        let mut reports = Reports::default();
        uses.into_iter().for_each(|span| reports.push(Report::error(span, "unknown variable `q`")));
        for base in [30, 54] {
            reports.push(Report::error(Span::new(base + 19, base + 20), "unknown variable `q`"));
        }
        let places: Vec<_> = reports.finish(&map).iter().map(|d| (d.place.file.to_string(), d.place.column)).collect();
        assert_eq!(places, [("a.sl".to_owned(), 10), ("a.h".to_owned(), 20)]);
    }

    #[test]
    fn places_at_the_end_and_over_many_lines() {
        let mut reports = Reports::default();
        reports.push(Report::error(Span::new(0, 27), "all of it"));
        reports.push(Report::warning(Span::new(27, 27), "the end"));
        reports.push(Report::warning(Span::new(900, 901), "nowhere"));
        assert_eq!(reports.finish(&map()).len(), 3);
    }
}
