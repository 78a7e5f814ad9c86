//! Bytes to tokens: the ASCII encoding of RISpec C.2, over a whole file in memory.
//!
//! Tokens need no allocation. Strings without escapes are slices of the input; numbers are pushed directly to the
//! caller's vector.

use super::fault::{Parsed, RequestFault};
use super::number::{self, Number};
use super::source::Source;
use crate::diagnostic::SourceLocation;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// What the next token begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A request's name.
    Word,
    /// An integer or a float.
    Number,
    /// A string.
    String,
    /// `[`.
    Open,
    /// `]`.
    Close,
    /// A lone `-`, as in `DepthOfField -`.
    Dash,
    /// A byte of the binary encoding.
    Binary,
    /// A byte that begins no token.
    Unknown,
    /// The end: of the file, 0377 or Control-Z.
    End,
}

/// Tokens of one source, or of a part of it (an inline archive).
pub(super) struct Lexer<'a> {
    source: &'a Arc<Source>,
    bytes: &'a [u8],
    position: usize,
    /// Where the current request begins, at or before every position whose location may still be needed.
    mark: LineMark,
    /// The furthest position located so far, so that many faults in one long request cost only one pass over it.
    furthest: Cell<LineMark>,
}

/// A position whose line is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineMark {
    /// Offset into the source.
    pub(super) offset: usize,
    /// Its line, from 1.
    pub(super) line: u32,
    /// Where that line begins.
    pub(super) line_start: usize,
}

impl LineMark {
    /// The beginning of a file.
    pub(super) const START: Self = Self { offset: 0, line: 1, line_start: 0 };

    /// Moves the line information forward to `offset`. LF, CRLF and CR end lines.
    fn advanced(mut self, bytes: &[u8], offset: usize) -> Self {
        let part = &bytes[self.offset.min(offset)..offset];
        for end in memchr::memchr2_iter(b'\n', b'\r', part) {
            let end = self.offset + end;
            let before_lf = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            if !before_lf {
                self.line = self.line.saturating_add(1);
                self.line_start = end + 1;
            }
        }
        self.offset = offset;
        self
    }
}

impl<'a> Lexer<'a> {
    /// Creates a lexer for `range` of `source`; `mark` is the line on which it begins.
    pub(super) fn new(source: &'a Arc<Source>, range: Range<usize>, mark: LineMark) -> Self {
        Self { source, bytes: &source.bytes[..range.end], position: range.start, mark, furthest: Cell::new(mark) }
    }

    /// The source it reads.
    pub(super) fn source(&self) -> &'a Arc<Source> {
        self.source
    }

    /// The offset of the next unread byte.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Moves back to the beginning of a value.
    pub(super) fn go_back(&mut self, position: usize) {
        debug_assert!(position <= self.position, "going back never goes forward");
        self.position = position;
    }

    /// Skips to the end, because the rest cannot be read.
    pub(super) fn abandon(&mut self) {
        self.position = self.bytes.len();
    }

    /// The location of a byte.
    pub(super) fn location(&self, offset: usize) -> SourceLocation {
        let known = [self.furthest.get(), self.mark, LineMark::START];
        let base = known.into_iter().find(|mark| mark.offset <= offset).unwrap_or(LineMark::START);
        let mark = base.advanced(self.bytes, offset);
        self.furthest.set(mark);
        let column = (offset - mark.line_start).saturating_add(1).min(u32::MAX as usize) as u32;
        SourceLocation { file: self.source.name.clone(), line: mark.line, column }
    }

    /// The location of a request's name. Advances the line count, so that lines of the whole file are counted only
    /// once.
    pub(super) fn request_location(&mut self, offset: usize) -> SourceLocation {
        self.mark = self.mark_at(offset);
        self.location(offset)
    }

    /// The line information at `offset`, for a lexer that begins there.
    pub(super) fn mark_at(&self, offset: usize) -> LineMark {
        if offset < self.mark.offset { self.mark } else { self.mark.advanced(self.bytes, offset) }
    }

    /// Skips white space and comments and returns the kind of the next token.
    pub(super) fn peek(&mut self) -> TokenKind {
        loop {
            let Some(&byte) = self.bytes.get(self.position) else { return TokenKind::End };
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c => self.position += 1,
                b'#' => self.skip_comment(),
                _ => return self.kind_of(byte),
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.position..];
        self.position += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    fn kind_of(&self, byte: u8) -> TokenKind {
        match byte {
            b'"' => TokenKind::String,
            b'[' => TokenKind::Open,
            b']' => TokenKind::Close,
            b'0'..=b'9' | b'.' => TokenKind::Number,
            b'-' | b'+' => match self.bytes.get(self.position + 1) {
                Some(b'0'..=b'9' | b'.') => TokenKind::Number,
                _ if number::is_non_finite(&self.bytes[self.position + 1..]) => TokenKind::Number,
                _ if byte == b'-' => TokenKind::Dash,
                _ => TokenKind::Unknown,
            },
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                if number::is_non_finite(&self.bytes[self.position..]) {
                    TokenKind::Number
                } else {
                    TokenKind::Word
                }
            }
            0xff | 0x1a => TokenKind::End,
            0x80..=0xfe => TokenKind::Binary,
            _ => TokenKind::Unknown,
        }
    }

    /// The end of the word that begins at `start`.
    fn word_end(&self, start: usize) -> usize {
        let rest = &self.bytes[start..];
        let inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        start + rest.iter().take_while(inside).count()
    }

    /// Reads the next word, a request's name, if the next token is one.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        if self.peek() != TokenKind::Word {
            return None;
        }
        let start = self.position;
        self.position = self.word_end(start);
        Some(&self.bytes[start..self.position])
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Parsed<Cow<'a, [u8]>> {
        let start = self.position + 1;
        let rest = &self.bytes[start..];
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(end) if rest[end] == b'"' => {
                self.position = start + end + 1;
                Ok(Cow::Borrowed(&rest[..end]))
            }
            Some(_) => self.string_with_escapes(start),
            None => Err(self.unterminated(start)),
        }
    }

    fn string_with_escapes(&mut self, start: usize) -> Parsed<Cow<'a, [u8]>> {
        let mut text = Vec::new();
        let mut at = start;
        loop {
            let rest = &self.bytes[at..];
            let Some(stop) = memchr::memchr2(b'"', b'\\', rest) else { return Err(self.unterminated(start)) };
            text.extend_from_slice(&rest[..stop]);
            at += stop + 1;
            if rest[stop] == b'"' {
                self.position = at;
                return Ok(Cow::Owned(text));
            }
            at = self.escape(at, &mut text);
        }
    }

    /// Reads an escape after its backslash; returns where it ends.
    fn escape(&self, at: usize, text: &mut Vec<u8>) -> usize {
        let Some(&byte) = self.bytes.get(at) else { return at };
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(0x08),
            b'f' => text.push(0x0c),
            b'\n' => {}
            b'\r' => return at + 1 + usize::from(self.bytes.get(at + 1) == Some(&b'\n')),
            b'0'..=b'7' => {
                let digits = self.bytes[at..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let value = self.bytes[at..at + digits].iter().fold(0u32, |sum, b| sum * 8 + u32::from(b - b'0'));
                text.push((value & 0xff) as u8);
                return at + digits;
            }
            other => text.push(other),
        }
        at + 1
    }

    /// Reports a string without an end and continues after its first line, so that one missing quote does not consume
    /// the file.
    fn unterminated(&mut self, start: usize) -> RequestFault {
        let rest = &self.bytes[start..];
        self.position = start + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        RequestFault::error("syntaxerror", start - 1, "the string that begins here has no closing quote")
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Parsed<Number> {
        let parsed = number::number(&self.bytes[self.position..]);
        self.take_number(parsed)
    }

    /// Moves past a number that was parsed here, or past the text that is not a number.
    #[inline]
    fn take_number<T>(&mut self, parsed: Option<(T, usize)>) -> Parsed<T> {
        let start = self.position;
        if let Some((value, length)) = parsed {
            self.check_end(start + length)?;
            self.position = start + length;
            return Ok(value);
        }
        self.position = self.word_end(start + 1);
        Err(RequestFault::error("syntaxerror", start, "this is not a number"))
    }

    /// Checks that a number is followed by something that cannot belong to it.
    #[inline]
    fn check_end(&mut self, end: usize) -> Parsed<()> {
        match self.bytes.get(end) {
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') => {
                let start = self.position;
                self.position = self.word_end(end + usize::from(*byte == b'.'));
                Err(RequestFault::error("syntaxerror", start, "this is not a number"))
            }
            _ => Ok(()),
        }
    }

    /// Reads `[ numbers ]` and appends them to `out`.
    pub(super) fn float_array(&mut self, out: &mut Vec<f32>) -> Parsed<()> {
        let open = self.position;
        self.position += 1;
        loop {
            match self.peek() {
                TokenKind::Number => out.push(self.float32()?),
                other => return self.close_array(other, open, "numbers"),
            }
        }
    }

    /// Reads a number as a 32-bit float.
    #[inline]
    pub(super) fn float32(&mut self) -> Parsed<f32> {
        let parsed = number::float32(&self.bytes[self.position..]);
        self.take_number(parsed)
    }

    /// Reads `[ integers ]` and appends them to `out`.
    pub(super) fn int_array(&mut self, out: &mut Vec<i32>) -> Parsed<()> {
        let open = self.position;
        self.position += 1;
        loop {
            match self.peek() {
                TokenKind::Number => out.push(self.int()?),
                other => return self.close_array(other, open, "integers"),
            }
        }
    }

    /// Reads an integer; a float is a type error.
    pub(super) fn int(&mut self) -> Parsed<i32> {
        let start = self.position;
        match self.number()? {
            Number::Int(value) => i32::try_from(value)
                .map_err(|_| RequestFault::error("range", start, "this integer does not fit into 32 bits")),
            Number::Float(_) => Err(RequestFault::error("badargument", start, "expected an integer, found a float")),
        }
    }

    /// Reads `[ strings ]` and calls `each` for every one.
    pub(super) fn string_array(&mut self, each: &mut dyn FnMut(Cow<'a, [u8]>)) -> Parsed<()> {
        let open = self.position;
        self.position += 1;
        loop {
            match self.peek() {
                TokenKind::String => each(self.string()?),
                other => return self.close_array(other, open, "strings"),
            }
        }
    }

    fn close_array(&mut self, found: TokenKind, open: usize, wanted: &str) -> Parsed<()> {
        if found == TokenKind::Close {
            self.position += 1;
            return Ok(());
        }
        let location = self.location(open);
        let message = format!("{} inside an array of {wanted}", describe(found));
        Err(RequestFault::error("syntaxerror", self.position, message)
            .hint(format!("the array begins at line {}, column {}; is its ] missing?", location.line, location.column)))
    }

    /// Whether the next value is a string or an array that begins with one.
    pub(super) fn next_value_is_strings(&mut self) -> bool {
        let start = self.position;
        if self.peek() == TokenKind::Open {
            self.position += 1;
        }
        let strings = self.peek() == TokenKind::String;
        self.position = start;
        strings
    }

    /// Skips one value: a number, a string or an array.
    pub(super) fn skip_value(&mut self) -> Parsed<()> {
        match self.peek() {
            TokenKind::Number => self.number().map(drop),
            TokenKind::String => self.string().map(drop),
            TokenKind::Open => {
                let open = self.position;
                self.position += 1;
                loop {
                    match self.peek() {
                        TokenKind::Number => drop(self.number()?),
                        TokenKind::String => drop(self.string()?),
                        other => return self.close_array(other, open, "numbers or strings"),
                    }
                }
            }
            other => Err(RequestFault::error(
                "syntaxerror",
                self.position,
                format!("expected a value, found {}", describe(other)),
            )),
        }
    }

    /// Skips to the next request, after an error or to ignore the arguments of an unsupported request.
    pub(super) fn skip_to_request(&mut self) {
        loop {
            match self.peek() {
                TokenKind::Word | TokenKind::End | TokenKind::Binary => return,
                // Reading a malformed string or number has moved the position already; the request's fault covers it.
                TokenKind::Number => drop(self.number()),
                TokenKind::String => drop(self.string()),
                TokenKind::Open | TokenKind::Close | TokenKind::Dash | TokenKind::Unknown => self.position += 1,
            }
        }
    }

    /// Skips one byte, a bracket or a dash that was peeked at.
    pub(super) fn skip_byte(&mut self) {
        self.position += 1;
    }
}

/// Describes a token for messages.
pub(super) fn describe(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Word => "a request",
        TokenKind::Number => "a number",
        TokenKind::String => "a string",
        TokenKind::Open => "[",
        TokenKind::Close => "]",
        TokenKind::Dash => "-",
        TokenKind::Binary => "a byte of the binary encoding",
        TokenKind::Unknown => "an invalid byte",
        TokenKind::End => "the end of the file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: impl AsRef<[u8]>) -> Arc<Source> {
        Arc::new(Source::of_test(text.as_ref()))
    }

    /// Returns what `read` gives for the text, and the kind of the next token.
    fn lexed<T>(text: impl AsRef<[u8]>, read: impl FnOnce(&mut Lexer<'_>) -> T) -> (T, TokenKind) {
        let source = source(text);
        let mut lexer = Lexer::new(&source, 0..source.bytes.len(), LineMark::START);
        lexer.peek();
        let value = read(&mut lexer);
        (value, lexer.peek())
    }

    #[test]
    fn malformed_numbers_are_faults_and_are_skipped() {
        for text in ["1abc", "1.2.3", "1e", ".", "-.", "0x10", "1..2"] {
            let source = source(text);
            let mut lexer = Lexer::new(&source, 0..text.len(), LineMark::START);
            let fault = lexer.float32().expect_err(text);
            assert_eq!((fault.code, fault.offset), ("syntaxerror", 0), "{text}");
            assert!(lexer.position() > 0, "{text}");
        }
    }

    #[test]
    fn integers_and_floats_are_distinguished() {
        assert_eq!(lexed("42", |lexer| lexer.int().ok()).0, Some(42));
        assert_eq!(lexed("-2147483648", |lexer| lexer.int().ok()).0, Some(i32::MIN));
        assert_eq!(lexed("1.0", |lexer| lexer.int().map_err(|fault| fault.code)).0, Err("badargument"));
        assert_eq!(lexed("4000000000", |lexer| lexer.int().map_err(|fault| fault.code)).0, Err("range"));
        assert_eq!(
            lexed("99999999999999999999", |lexer| lexer.int().map_err(|fault| fault.code)).0,
            Err("badargument")
        );
    }

    #[test]
    fn strings_and_their_escapes() {
        for (text, wanted) in [
            (&br#""""#[..], &b""[..]),
            (br#""plain # [text]""#, b"plain # [text]"),
            (br#""a\nb\tc\rd\be\ff""#, b"a\nb\tc\rd\x08e\x0cf"),
            (br#""\\ \" \q""#, b"\\ \" q"),
            (br#""\101\60\0601""#, b"A001"),
            (b"\"one\\\ntwo\\\r\nthree\"", b"onetwothree"),
            (b"\"line\nline\"", b"line\nline"),
            (b"\"\xff\"", b"\xff"),
        ] {
            let (value, next) = lexed(text, |lexer| lexer.string().expect("a string").into_owned());
            assert_eq!((value.as_slice(), next), (wanted, TokenKind::End), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn an_unterminated_string_ends_with_its_line() {
        let (fault, next) = lexed("\"lost\nSphere", |lexer| lexer.string().expect_err("no end"));
        assert_eq!((fault.code, fault.offset, next), ("syntaxerror", 0, TokenKind::Word));
    }

    #[test]
    fn comments_and_white_space() {
        let text = "# a \" comment [\r## hint\r\n \t\x0c \n WorldBegin#x";
        assert_eq!(
            lexed(text, |lexer| lexer.word().map(<[u8]>::to_vec)),
            (Some(b"WorldBegin".to_vec()), TokenKind::End)
        );
    }

    #[test]
    fn lines_end_with_lf_crlf_or_cr() {
        for text in ["a\nb\n  c", "a\r\nb\r\n  c", "a\rb\r  c"] {
            let source = source(text);
            let mut lexer = Lexer::new(&source, 0..text.len(), LineMark::START);
            let mut locations = Vec::new();
            while lexer.peek() == TokenKind::Word {
                let location = lexer.request_location(lexer.position());
                locations.push((location.line, location.column));
                lexer.word();
            }
            assert_eq!(locations, [(1, 1), (2, 1), (3, 3)], "{text:?}");
            // A location after the mark and one before it.
            assert_eq!((lexer.location(0).line, lexer.location(text.len()).line), (1, 3));
        }
    }

    #[test]
    fn arrays() {
        let mut floats = Vec::new();
        assert_eq!(lexed("[1 2.5-3 # c\n 4e0]", |lexer| lexer.float_array(&mut floats)), (Ok(()), TokenKind::End));
        assert_eq!(floats, [1.0, 2.5, -3.0, 4.0]);
        let mut ints = Vec::new();
        assert_eq!(lexed("[]", |lexer| lexer.int_array(&mut ints)), (Ok(()), TokenKind::End));
        for text in ["[1 2 Sphere", "[1 \"a\"]", "[1 [2]]", "[1 2", "[1 @]"] {
            let (fault, _) = lexed(text, |lexer| lexer.float_array(&mut floats).expect_err("not closed"));
            assert_eq!(fault.code, "syntaxerror", "{text}");
        }
    }

    #[test]
    fn skipping_always_ends_at_a_request() {
        let text = "1 [2 3] \"s WorldEnd\" ] @ 1..2 \"open\n - + TransformEnd";
        let (word, _) = lexed(text, |lexer| {
            lexer.skip_to_request();
            lexer.word().map(<[u8]>::to_vec)
        });
        assert_eq!(word, Some(b"TransformEnd".to_vec()));
        assert_eq!(lexed(b"WorldEnd\xff Sphere", |lexer| lexer.word().map(<[u8]>::len)), (Some(8), TokenKind::End));
        assert_eq!(lexed("WorldEnd\r\n\x1a", |lexer| lexer.word().map(<[u8]>::len)), (Some(8), TokenKind::End));
        assert_eq!(lexed(b"\x80", |_| ()).1, TokenKind::Binary);
    }
}
