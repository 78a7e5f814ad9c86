//! Bytes to tokens: the encodings of RISpec C.2, text and binary, over a whole file in memory.
//!
//! Tokens need no allocation. Strings without escapes are slices of the input; numbers are pushed directly to the
//! caller's vector.

mod arrays;
mod short_numbers;

use super::binary::{self, BinaryToken, CodedText, FLOAT_BYTES, StreamCodes};
use super::fault::{Parsed, RequestFault};
use super::number::{self, Number};
use super::source::Source;
use super::windows_path::letter_behind_slash;
use crate::diagnostic::SourceLocation;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// What the next token begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
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
    /// A byte of the binary encoding that begins no token.
    Binary,
    /// A byte that begins no token.
    Unknown,
    /// The end: of the file, 0377 or Control-Z.
    End,
}

/// Tokens of one source, or of a part of it (an inline archive).
pub(crate) struct Lexer<'a> {
    source: &'a Arc<Source>,
    bytes: &'a [u8],
    position: usize,
    /// Where the current request begins, at or before every position whose location may still be needed.
    mark: LineMark,
    /// The furthest position located so far, so that many faults in one long request cost only one pass over it.
    furthest: Cell<LineMark>,
    /// What codes of the binary encoding stand for here.
    codes: Rc<StreamCodes>,
    /// Inside a binary array: floats that are left.
    packed: Option<usize>,
    /// Where a string begins that is probably a path with single back slashes, and the letter behind the first of them.
    windows_path: Option<(usize, u8)>,
}

/// A position whose line is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineMark {
    /// Offset into the source.
    pub(crate) offset: usize,
    /// Its line, from 1.
    pub(crate) line: u32,
    /// Where that line begins.
    pub(crate) line_start: usize,
}

impl LineMark {
    /// The beginning of a file.
    pub(crate) const START: Self = Self { offset: 0, line: 1, line_start: 0 };

    /// Moves the line information forward to `offset`. LF, CRLF and CR end lines.
    pub(crate) fn advanced(mut self, bytes: &[u8], offset: usize) -> Self {
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
    pub(crate) fn new(source: &'a Arc<Source>, range: Range<usize>, mark: LineMark) -> Self {
        Self {
            source,
            bytes: &source.bytes[..range.end],
            position: range.start,
            mark,
            furthest: Cell::new(mark),
            codes: Rc::default(),
            packed: None,
            windows_path: None,
        }
    }

    /// Returns where a string begins, of those read since the last call, that is probably a path with single back
    /// slashes, and the letter behind the first of them.
    pub(crate) fn take_windows_path(&mut self) -> Option<(usize, u8)> {
        self.windows_path.take()
    }

    /// Returns the same lexer with codes that are known where it begins.
    pub(crate) fn with_codes(self, codes: Rc<StreamCodes>) -> Self {
        Self { codes, ..self }
    }

    /// Returns the codes that are known here.
    pub(crate) fn codes(&self) -> Rc<StreamCodes> {
        Rc::clone(&self.codes)
    }

    /// Returns the source that it reads.
    pub(crate) fn source(&self) -> &'a Arc<Source> {
        self.source
    }

    /// Returns the offset of the next unread byte.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Moves back to the beginning of a value.
    pub(crate) fn go_back(&mut self, position: usize) {
        debug_assert!(position <= self.position, "going back never goes forward");
        self.position = position;
        self.packed = None;
    }

    /// Returns the location of a byte.
    pub(crate) fn location(&self, offset: usize) -> SourceLocation {
        let known = [self.furthest.get(), self.mark, LineMark::START];
        let base = known.into_iter().find(|mark| mark.offset <= offset).unwrap_or(LineMark::START);
        let mark = base.advanced(self.bytes, offset);
        self.furthest.set(mark);
        let column = (offset - mark.line_start).saturating_add(1).min(u32::MAX as usize) as u32;
        SourceLocation { file: self.source.name.clone(), line: mark.line, column }
    }

    /// Returns the location of a request's name. Advances the line count, so that lines of the whole file are counted
    /// only once.
    pub(crate) fn request_location(&mut self, offset: usize) -> SourceLocation {
        self.mark = self.mark_at(offset);
        self.location(offset)
    }

    /// Returns the line information at `offset`, for a lexer that begins there.
    pub(crate) fn mark_at(&self, offset: usize) -> LineMark {
        if offset < self.mark.offset { self.mark } else { self.mark.advanced(self.bytes, offset) }
    }

    /// Skips white space and comments and returns the kind of the next token.
    pub(crate) fn peek(&mut self) -> TokenKind {
        if let Some(left) = self.packed {
            return if left > 0 { TokenKind::Number } else { TokenKind::Close };
        }
        loop {
            match self.next_byte() {
                None => return TokenKind::End,
                Some(0o314..=0o316) if self.define() => {}
                Some(byte) => return self.kind_of(byte),
            }
        }
    }

    /// Skips white space and comments and returns the byte behind them.
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.position)? {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c => self.position += 1,
                b'#' => self.skip_comment(),
                byte => return Some(byte),
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
            0x80..=0xfe => self.kind_of_binary(),
            _ => TokenKind::Unknown,
        }
    }

    fn kind_of_binary(&self) -> TokenKind {
        match self.binary() {
            Some((BinaryToken::Number(_), _)) => TokenKind::Number,
            Some((BinaryToken::String(_) | BinaryToken::StringCode(_), _)) => TokenKind::String,
            Some((BinaryToken::Floats(_), _)) => TokenKind::Open,
            Some((BinaryToken::Request(code), _)) if self.codes.requests.contains_key(&code) => TokenKind::Word,
            _ => TokenKind::Binary,
        }
    }

    /// Returns the binary token that begins here.
    #[inline]
    fn binary(&self) -> Option<(BinaryToken, usize)> {
        let rest = self.bytes.get(self.position..)?;
        rest.first().filter(|byte| !byte.is_ascii()).and_then(|_| binary::token(rest))
    }

    /// Reads the definition of a code, if it is whole.
    fn define(&mut self) -> bool {
        let start = self.position;
        let Some((token, length)) = self.binary() else { return false };
        self.position += length;
        let is_defined = self.next_byte().is_some_and(|byte| self.kind_of(byte) == TokenKind::String)
            && match (token, self.coded_text()) {
                (BinaryToken::DefineString(code), Ok(text)) => {
                    Rc::make_mut(&mut self.codes).strings.insert(code, text);
                    true
                }
                (BinaryToken::DefineRequest(code), Ok(CodedText::Inside(name))) => {
                    Rc::make_mut(&mut self.codes).requests.insert(code, name);
                    true
                }
                _ => false,
            };
        if !is_defined {
            self.position = start;
        }
        is_defined
    }

    /// Reads a string that is to get a code.
    fn coded_text(&mut self) -> Parsed<CodedText> {
        Ok(match self.string()? {
            Cow::Borrowed(text) => {
                let start = text.as_ptr().addr() - self.bytes.as_ptr().addr();
                CodedText::Inside(start..start + text.len())
            }
            Cow::Owned(text) => CodedText::Escaped(text.into()),
        })
    }

    /// Returns the end of the word that begins at `start`.
    fn word_end(&self, start: usize) -> usize {
        let rest = &self.bytes[start..];
        let inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        start + rest.iter().take_while(inside).count()
    }

    /// Reads the next word, a request's name, if the next token is one.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        if self.peek() != TokenKind::Word {
            return None;
        }
        let start = self.position;
        if let Some((BinaryToken::Request(code), length)) = self.binary() {
            self.position += length;
            return self.codes.requests.get(&code).map(|name| &self.bytes[name.clone()]);
        }
        self.position = self.word_end(start);
        Some(&self.bytes[start..self.position])
    }

    /// Reads a string.
    pub(crate) fn string(&mut self) -> Parsed<Cow<'a, [u8]>> {
        if self.bytes.get(self.position).is_some_and(|byte| !byte.is_ascii()) {
            return self.binary_string();
        }
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

    fn binary_string(&mut self) -> Parsed<Cow<'a, [u8]>> {
        let start = self.position;
        let (token, length) = self.binary().unwrap_or((BinaryToken::Floats(0), 1));
        self.position += length;
        match token {
            BinaryToken::String(inside) => Ok(Cow::Borrowed(&self.bytes[start + inside.start..start + inside.end])),
            BinaryToken::StringCode(code) => match self.codes.strings.get(&code) {
                Some(CodedText::Inside(text)) => Ok(Cow::Borrowed(&self.bytes[text.clone()])),
                Some(CodedText::Escaped(text)) => Ok(Cow::Owned(text.to_vec())),
                None => {
                    let message = format!("no string was defined for code {code}");
                    Err(RequestFault::error("syntaxerror", start, message))
                }
            },
            _ => Err(RequestFault::error("syntaxerror", start, "this is not a string")),
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
                let path = letter_behind_slash(&self.bytes[start..at - 1]).map(|letter| (start - 1, letter));
                self.windows_path = self.windows_path.or(path);
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
    pub(crate) fn number(&mut self) -> Parsed<Number> {
        if let Some(left) = self.packed.filter(|left| *left > 0) {
            let value = binary::floats(&self.bytes[self.position..]).next().unwrap_or(f32::NAN);
            self.packed = Some(left - 1);
            self.position += FLOAT_BYTES;
            return Ok(Number::Float(value.into()));
        }
        match self.binary() {
            Some((BinaryToken::Number(number), length)) => {
                self.position += length;
                Ok(number)
            }
            _ => {
                let parsed = number::number(&self.bytes[self.position..]);
                self.take_number(parsed)
            }
        }
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

    /// Reads a number as a 32-bit float.
    #[inline]
    pub(crate) fn float32(&mut self) -> Parsed<f32> {
        let parsed = number::float32(&self.bytes[self.position..]);
        if parsed.is_none() {
            return self.number().map(Number::to_f32);
        }
        self.take_number(parsed)
    }

    /// Reads an integer, which may be written as a float; one with a fraction is a type error.
    pub(crate) fn int(&mut self) -> Parsed<i32> {
        let start = self.position;
        let value = match self.number()? {
            Number::Int(value) => value,
            // What does not fit becomes the largest or the least, which does not either.
            Number::Float(value) if value.fract() == 0.0 => value as i64,
            Number::Float(value) => {
                let message = format!("expected an integer, found {value}");
                return Err(RequestFault::error("badargument", start, message));
            }
        };
        i32::try_from(value).map_err(|_| RequestFault::error("range", start, "this integer does not fit into 32 bits"))
    }

    /// Whether the next value is a string or an array that begins with one.
    pub(crate) fn next_value_is_strings(&mut self) -> bool {
        let start = self.position;
        if self.peek() == TokenKind::Open {
            self.open();
        }
        let strings = self.peek() == TokenKind::String;
        self.go_back(start);
        strings
    }

    /// Skips one value: a number, a string or an array.
    pub(crate) fn skip_value(&mut self) -> Parsed<()> {
        match self.peek() {
            TokenKind::Number => self.number().map(drop),
            TokenKind::String => self.string().map(drop),
            TokenKind::Open => {
                let open = self.position;
                self.open();
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
    pub(crate) fn skip_to_request(&mut self) {
        loop {
            match self.peek() {
                TokenKind::Word | TokenKind::End | TokenKind::Binary => return,
                // Reading a malformed string or number has moved the position already; the request's fault covers it.
                TokenKind::Number => drop(self.number()),
                TokenKind::String => drop(self.string()),
                TokenKind::Open => self.open(),
                TokenKind::Close => self.close(),
                TokenKind::Dash | TokenKind::Unknown => self.position += 1,
            }
        }
    }

    /// Moves past a `[`, or past the head of a binary array.
    pub(crate) fn open(&mut self) {
        match self.binary() {
            Some((BinaryToken::Floats(count), head)) => {
                self.position += head;
                self.packed = Some(count);
            }
            _ => self.position += 1,
        }
    }

    /// Moves past the end of an array.
    pub(crate) fn close(&mut self) {
        if self.packed.take().is_none() {
            self.position += 1;
        }
    }

    /// Returns what is wrong with the binary byte that was peeked at.
    pub(crate) fn binary_problem(&self) -> String {
        let byte = self.bytes.get(self.position).copied().unwrap_or_default();
        match self.binary() {
            Some((BinaryToken::Request(code), _)) => format!("no request was defined for code {code}"),
            Some(_) => "the definition of a code lacks its string".to_owned(),
            None => {
                format!("the byte {byte:o} (octal) begins no token of the binary encoding, or its token is cut off")
            }
        }
    }

    /// Skips one byte, such as a dash, that was peeked at.
    pub(crate) fn skip_byte(&mut self) {
        self.position += 1;
    }
}

/// Describes a token for messages.
pub(crate) fn describe(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Word => "a request",
        TokenKind::Number => "a number",
        TokenKind::String => "a string",
        TokenKind::Open => "[",
        TokenKind::Close => "]",
        TokenKind::Dash => "-",
        TokenKind::Binary => "a wrong byte of the binary encoding",
        TokenKind::Unknown => "an invalid byte",
        TokenKind::End => "the end of the file",
    }
}

#[cfg(test)]
mod tests;
