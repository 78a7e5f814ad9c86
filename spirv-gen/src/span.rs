//! Locations in the source: spans, the files of a compilation, macro expansions.
//!
//! All texts of one compilation are concatenated in one address space, so that a [`Span`] is three numbers and
//! needs no file index. What came out of a macro has the span of the macro's use and names an [`Expansion`] that knows
//! where the token was spelled.

use std::sync::Arc;

/// Bytes of source text of one compilation, all files together.
pub const SOURCE_BYTES_MAX: u32 = 16 << 20;

/// A range of bytes in the texts of a compilation ([`SourceMap`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// First byte after it; `start` for a place between two bytes.
    pub end: u32,
    /// Index of an [`Expansion`] plus one; 0 for what is in the file as written.
    expansion: u32,
}

impl Span {
    /// Returns the span of something that is in a file as written.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end, expansion: 0 }
    }

    /// Returns the span from the beginning of `self` to the end of `last`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        let expansion = if self.expansion == last.expansion { self.expansion } else { 0 };
        Self { start: self.start, end: last.end.max(self.start), expansion }
    }

    /// Returns the empty span after `self`.
    #[must_use]
    pub fn after(self) -> Self {
        Self { start: self.end, end: self.end, expansion: self.expansion }
    }
}

/// A token that a macro produced.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The outermost macro's name at the place of use.
    pub macro_name: Arc<str>,
    /// Where the token is spelled: in a macro's definition.
    pub spelling: Span,
}

/// A line of a file as a person names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourcePosition {
    /// The file's name as it was given, or as a `#line` directive set it.
    pub file: Arc<str>,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in bytes, counted from 1.
    pub column: u32,
}

/// The texts of a compilation.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

/// One text. A header that is included twice is two files.
#[derive(Debug)]
struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    base: u32,
    /// Offsets in `text` at which lines begin.
    line_starts: Vec<u32>,
    /// `#line` directives in order.
    markers: Vec<LineMarker>,
    included_at: Option<Span>,
}

/// From physical line `from` (counted from 0) on, lines are called `name`:`line`, ...
#[derive(Debug)]
struct LineMarker {
    from: u32,
    line: u32,
    name: Arc<str>,
}

/// Lines of a file that spans touch, cut out for a message.
#[derive(Debug)]
pub(crate) struct Excerpt {
    /// The whole lines.
    pub(crate) text: String,
    /// Number of the first line.
    pub(crate) line: u32,
    /// The spans inside `text`.
    pub(crate) ranges: Vec<std::ops::Range<usize>>,
}

/// Lines that an excerpt shows of a span that runs over more.
const EXCERPT_LINES_MAX: usize = 4;

/// Bytes between the places of one excerpt.
const JOINT_EXCERPT_BYTES_MAX: u32 = 1 << 15;

/// Bytes of an excerpt; of longer lines it is the text around the span's beginning.
const EXCERPT_BYTES_MAX: usize = 2000;

impl SourceMap {
    /// Adds a text, unless it would make the compilation larger than [`SOURCE_BYTES_MAX`]; the result is the offset of
    /// its first byte.
    pub(crate) fn add(&mut self, name: Arc<str>, text: Arc<str>, included_at: Option<Span>) -> Option<u32> {
        // One byte between two files, so that the end of one is not the start of the next.
        let base = self.files.last().map_or(0, |f| f.base + f.text.len() as u32 + 1);
        let bytes = u32::try_from(text.len()).ok()?;
        if bytes > SOURCE_BYTES_MAX - base.min(SOURCE_BYTES_MAX) {
            return None;
        }
        self.files.push(SourceFile {
            name,
            line_starts: line_starts(&text),
            text,
            base,
            markers: Vec::new(),
            included_at,
        });
        Some(base)
    }

    /// Notes a `#line` directive: the line after the one that holds `offset` is `line` of `name` (the name so far if
    /// `None`).
    pub(crate) fn mark_line(&mut self, offset: u32, line: u32, name: Option<Arc<str>>) {
        let index = self.file_index(offset);
        let Some(file) = self.files.get_mut(index) else { return };
        let from = file.physical_line(offset) + 1;
        let name = name.unwrap_or_else(|| file.markers.last().map_or_else(|| file.name.clone(), |m| m.name.clone()));
        file.markers.push(LineMarker { from, line, name });
    }

    /// Returns a span at `site` for a token spelled at `spelling` by the macro `macro_name`.
    pub(crate) fn expanded(&mut self, site: Span, spelling: Span, macro_name: &Arc<str>) -> Span {
        self.expansions.push(Expansion { macro_name: macro_name.clone(), spelling });
        Span { expansion: self.expansions.len() as u32, ..site }
    }

    /// Returns what macro produced `span`, if one did.
    pub fn expansion(&self, span: Span) -> Option<&Expansion> {
        self.expansions.get(span.expansion.checked_sub(1)? as usize)
    }

    /// Returns where `span` begins.
    pub fn place(&self, span: Span) -> SourcePosition {
        let Some(file) = self.files.get(self.file_index(span.start)) else { return SourcePosition::default() };
        let offset = (span.start - file.base).min(file.text.len() as u32);
        let line = file.physical_line(span.start);
        let (name, number) = file.presumed(line);
        SourcePosition { file: name, line: number, column: offset - file.line_starts[line as usize] + 1 }
    }

    /// Returns the number of the file in which `span` begins, if there is one, with line and column as written,
    /// whatever `#line` says.
    pub(crate) fn in_file(&self, span: Span) -> Option<(usize, u32, u32)> {
        let index = self.file_index(span.start);
        let file = self.files.get(index)?;
        let offset = (span.start - file.base).min(file.text.len() as u32);
        let line = file.physical_line(span.start);
        Some((index, line + 1, offset - file.line_starts[line as usize] + 1))
    }

    /// Returns name and text of a file.
    pub(crate) fn file(&self, index: usize) -> (&Arc<str>, &str) {
        let file = &self.files[index];
        (&file.name, &file.text)
    }

    /// Returns where the file that holds `span` was included, if it was.
    pub fn included_at(&self, span: Span) -> Option<Span> {
        self.files.get(self.file_index(span.start)).and_then(|f| f.included_at)
    }

    /// Returns the source text of `span`, or empty when it runs over a file's end.
    pub fn text(&self, span: Span) -> &str {
        let Some(file) = self.files.get(self.file_index(span.start)) else { return "" };
        let (start, end) = (span.start.saturating_sub(file.base), span.end.saturating_sub(file.base));
        file.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Returns the lines that `span` touches.
    pub(crate) fn excerpt(&self, span: Span) -> Option<Excerpt> {
        let file = self.files.get(self.file_index(span.start))?;
        let text_end = file.text.len() as u32;
        let start = (span.start - file.base).min(text_end);
        let end = span.end.saturating_sub(file.base).clamp(start, text_end);
        let first = file.physical_line(span.start) as usize;
        let last = file.physical_line(file.base + end) as usize;
        let behind = last.min(first + EXCERPT_LINES_MAX - 1) + 1;
        let from = file.line_starts[first];
        let to = file.line_starts.get(behind).copied().unwrap_or(text_end);
        let (_, line) = file.presumed(first as u32);
        let text = file.text.get(from as usize..to as usize)?.trim_end_matches(['\n', '\r']);
        let start = ((start - from) as usize).min(text.len());
        let end = ((end - from) as usize).clamp(start, text.len());
        let window = window(text, start);
        let range = start - window.start..end.min(window.end) - window.start;
        Some(Excerpt { text: text[window].to_owned(), line, ranges: vec![range] })
    }

    /// Returns the lines from the first to the last that `spans` touch, if they are near each other in one file.
    pub(crate) fn joint_excerpt(&self, spans: &[Span]) -> Option<Excerpt> {
        let index = self.file_index(spans.first()?.start);
        let file = self.files.get(index)?;
        let text_end = file.text.len() as u32;
        let inside = |s: &Span| self.file_index(s.start) == index && s.start <= s.end && s.end <= file.base + text_end;
        if !spans.iter().all(inside) {
            return None;
        }
        let first = file.physical_line(spans.iter().map(|s| s.start).min()?);
        let last = file.physical_line(spans.iter().map(|s| s.end).max()?);
        let ((name, line), (last_name, last_line)) = (file.presumed(first), file.presumed(last));
        let from = file.line_starts[first as usize];
        let to = file.line_starts.get(last as usize + 1).copied().unwrap_or(text_end);
        if name != last_name || last_line.wrapping_sub(line) != last - first || to - from > JOINT_EXCERPT_BYTES_MAX {
            return None;
        }
        let text = file.text.get(from as usize..to as usize)?.trim_end_matches(['\n', '\r']).to_owned();
        let range = |s: &Span| {
            let start = ((s.start - file.base - from) as usize).min(text.len());
            start..((s.end - file.base - from) as usize).clamp(start, text.len())
        };
        let ranges = spans.iter().map(range).collect();
        Some(Excerpt { text, line, ranges })
    }

    /// Returns the index of the file that holds the byte at `offset`.
    fn file_index(&self, offset: u32) -> usize {
        self.files.partition_point(|f| f.base <= offset).saturating_sub(1)
    }
}

impl SourceFile {
    /// Returns the index of the line, counted from 0 and without `#line`, of a byte of the compilation.
    fn physical_line(&self, offset: u32) -> u32 {
        let offset = offset.saturating_sub(self.base);
        self.line_starts.partition_point(|&s| s <= offset).saturating_sub(1) as u32
    }

    /// Returns the name and number of a line after `#line` directives.
    fn presumed(&self, line: u32) -> (Arc<str>, u32) {
        let behind = self.markers.partition_point(|m| m.from <= line);
        match behind.checked_sub(1).and_then(|i| self.markers.get(i)) {
            Some(marker) => (marker.name.clone(), marker.line.saturating_add(line - marker.from)),
            None => (self.name.clone(), line + 1),
        }
    }
}

/// Returns the part of `text` around `start` that an excerpt shows.
fn window(text: &str, start: usize) -> std::ops::Range<usize> {
    if text.len() <= EXCERPT_BYTES_MAX {
        return 0..text.len();
    }
    let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    let from = boundary(start.saturating_sub(EXCERPT_BYTES_MAX / 2));
    from..boundary(from + EXCERPT_BYTES_MAX).max(start)
}

/// Returns the offsets at which lines begin; LF, CRLF and CR end a line.
fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (i, &byte) in bytes.iter().enumerate() {
        if byte == b'\n' || (byte == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
            starts.push(i as u32 + 1);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(map: &SourceMap, offset: u32) -> (String, u32, u32) {
        let place = map.place(Span::new(offset, offset));
        (place.file.to_string(), place.line, place.column)
    }

    #[test]
    fn places_over_all_line_ends_and_files() {
        let mut map = SourceMap::default();
        assert_eq!(map.add("a.sl".into(), "x\r\ny\rz\nw".into(), None), Some(0));
        assert_eq!(map.add("b.h".into(), "k".into(), Some(Span::new(3, 4))), Some(9));
        assert_eq!(place(&map, 0), ("a.sl".into(), 1, 1));
        assert_eq!(place(&map, 3), ("a.sl".into(), 2, 1));
        assert_eq!(place(&map, 5), ("a.sl".into(), 3, 1));
        assert_eq!(place(&map, 8), ("a.sl".into(), 4, 2), "the end of a file");
        assert_eq!(place(&map, 9), ("b.h".into(), 1, 1));
        assert_eq!(map.included_at(Span::new(9, 10)), Some(Span::new(3, 4)));
        assert_eq!(map.text(Span::new(9, 10)), "k");
    }

    #[test]
    fn line_directives_rename_what_follows() {
        let mut map = SourceMap::default();
        map.add("a.sl".into(), "#line 40 \"b.h\"\nx\ny\n".into(), None);
        map.mark_line(0, 40, Some("b.h".into()));
        assert_eq!(place(&map, 0), ("a.sl".into(), 1, 1));
        assert_eq!(place(&map, 15), ("b.h".into(), 40, 1));
        assert_eq!(place(&map, 17), ("b.h".into(), 41, 1));
    }

    #[test]
    fn an_empty_map_has_places_too() {
        assert_eq!(SourceMap::default().place(Span::new(3, 4)), SourcePosition::default());
        assert!(SourceMap::default().excerpt(Span::new(3, 4)).is_none());
    }

    #[test]
    fn too_much_text_is_refused() {
        let mut map = SourceMap::default();
        let text: Arc<str> = " ".repeat(10 << 20).into();
        assert!(map.add("a".into(), text.clone(), None).is_some());
        assert!(map.add("b".into(), text, None).is_none());
    }
}
