//! Bytes to tokens: the ASCII encoding of RISpec C.2, over a whole file in memory.
//!
//! Nothing is allocated for a token. Strings without escapes are slices of the input, numbers go straight into the caller's vector.
//! A bare `NaN`, `inf` or `1.#IND` is read as a number that is not finite: programs write them, and whoever uses the number drops
//! what it would have spoilt (RI-CHECKLIST PR-48).

use super::fault::{Fault, Parsed};
use super::source::Source;
use crate::diagnostic::Place;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// What the next token begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
    /// A byte that begins nothing.
    Unknown,
    /// The end: of the file, 0377 or Control-Z.
    End,
}

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Digits only.
    Int(i64),
    /// With a fraction or an exponent, or not finite.
    Float(f64),
}

/// Tokens of one source, or of a part of it (an inline archive).
pub(super) struct Lexer<'a> {
    source: &'a Arc<Source>,
    bytes: &'a [u8],
    position: usize,
    /// A place at or before every position that is still asked for.
    mark: Mark,
}

/// A position whose line is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Offset into the source.
    pub(super) offset: usize,
    /// Its line, from 1.
    pub(super) line: u32,
    /// Where that line begins.
    pub(super) line_start: usize,
}

impl Mark {
    /// The beginning of a file.
    pub(super) const START: Self = Self { offset: 0, line: 1, line_start: 0 };

    /// The same line information moved forward to `offset`. LF, CRLF and CR end lines (RIB-01).
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
    /// Reads `range` of `source`; `mark` says on which line it begins.
    pub(super) fn new(source: &'a Arc<Source>, range: Range<usize>, mark: Mark) -> Self {
        Self { source, bytes: &source.bytes[..range.end], position: range.start, mark }
    }

    /// The source it reads.
    pub(super) fn source(&self) -> &'a Arc<Source> {
        self.source
    }

    /// Where it stands: the offset of the next unread byte.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Goes back to where a value began.
    pub(super) fn go_back(&mut self, position: usize) {
        debug_assert!(position <= self.position, "going back never goes forward");
        self.position = position;
    }

    /// Jumps to the end: what is left cannot be read.
    pub(super) fn abandon(&mut self) {
        self.position = self.bytes.len();
    }

    /// The place of a byte.
    pub(super) fn place(&self, offset: usize) -> Place {
        let base = if offset < self.mark.offset { Mark::START } else { self.mark };
        let mark = base.advanced(self.bytes, offset);
        let column = (offset - mark.line_start).saturating_add(1).min(u32::MAX as usize) as u32;
        Place { file: self.source.name.clone(), line: mark.line, column }
    }

    /// The place of a request's name. Keeps the line count moving, so that the whole file is counted once.
    pub(super) fn request_place(&mut self, offset: usize) -> Place {
        self.mark = self.mark_at(offset);
        self.place(offset)
    }

    /// The line information at `offset`, for a lexer that begins there.
    pub(super) fn mark_at(&self, offset: usize) -> Mark {
        if offset < self.mark.offset { self.mark } else { self.mark.advanced(self.bytes, offset) }
    }

    /// Skips white space and comments, then says what comes.
    pub(super) fn peek(&mut self) -> Kind {
        loop {
            let Some(&byte) = self.bytes.get(self.position) else { return Kind::End };
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

    fn kind_of(&self, byte: u8) -> Kind {
        match byte {
            b'"' => Kind::String,
            b'[' => Kind::Open,
            b']' => Kind::Close,
            b'0'..=b'9' | b'.' => Kind::Number,
            b'-' | b'+' => match self.bytes.get(self.position + 1) {
                Some(b'0'..=b'9' | b'.') => Kind::Number,
                _ if self.non_finite_word(self.position + 1).is_some() => Kind::Number,
                _ if byte == b'-' => Kind::Dash,
                _ => Kind::Unknown,
            },
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                if self.non_finite_word(self.position).is_some() {
                    Kind::Number
                } else {
                    Kind::Word
                }
            }
            0xff | 0x1a => Kind::End,
            0x80..=0xfe => Kind::Binary,
            _ => Kind::Unknown,
        }
    }

    /// The end of the word that begins at `start`.
    fn word_end(&self, start: usize) -> usize {
        let rest = &self.bytes[start..];
        let inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        start + rest.iter().take_while(inside).count()
    }

    /// Whether a word is how a C library writes a number that is not finite, with its value.
    fn non_finite_word(&self, start: usize) -> Option<f64> {
        if !matches!(self.bytes.get(start), Some(b'n' | b'N' | b'i' | b'I')) {
            return None;
        }
        let word = &self.bytes[start..self.word_end(start)];
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("nan") { Some(f64::NAN) } else { (is("inf") || is("infinity")).then_some(f64::INFINITY) }
    }

    /// The next word, if one comes: a request's name.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        if self.peek() != Kind::Word {
            return None;
        }
        let start = self.position;
        self.position = self.word_end(start);
        Some(&self.bytes[start..self.position])
    }

    /// Reads a string (RIB-05).
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

    /// Reads what follows a backslash; returns where it ends.
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

    /// A string without an end: reading goes on behind its first line, so that one missing quote does not swallow the file.
    fn unterminated(&mut self, start: usize) -> Fault {
        let rest = &self.bytes[start..];
        self.position = start + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        Fault::error("syntaxerror", start - 1, "the string that begins here has no closing quote")
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Parsed<Number> {
        let (number, end) = match self.integer(self.position) {
            Some((int, end)) => (Number::Int(int), end),
            None => {
                let (float, end) = self.float::<f64>(self.position)?;
                (Number::Float(float), end)
            }
        };
        self.check_end(end)?;
        self.position = end;
        Ok(number)
    }

    /// The integer at `start` if all of the number is digits and it has at most 18 of them.
    #[inline]
    fn integer(&self, start: usize) -> Option<(i64, usize)> {
        let negative = self.bytes[start] == b'-';
        let first = start + usize::from(matches!(self.bytes[start], b'-' | b'+'));
        let mut value = 0i64;
        let mut at = first;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(at) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            at += 1;
        }
        let floating = matches!(self.bytes.get(at), Some(b'.' | b'e' | b'E'));
        if floating || at == first || at - first > 18 {
            return None;
        }
        Some((if negative { -value } else { value }, at))
    }

    /// The float at `start` and where it ends.
    #[inline]
    fn float<F: Float>(&mut self, start: usize) -> Parsed<(F, usize)> {
        let Ok((value, length)) = fast_float2::parse_partial::<F, _>(&self.bytes[start..]) else {
            self.position = self.word_end(start + 1);
            return Err(Fault::error("syntaxerror", start, "this is not a number"));
        };
        let end = start + length;
        Ok(self.exception_end(start, end).map_or((value, end), |end| (F::NOT_A_NUMBER, end)))
    }

    /// Where one of the numbers ends that Windows' C library writes for NaN and infinity (`1.#QNAN`), if this is one.
    #[inline]
    fn exception_end(&self, start: usize, end: usize) -> Option<usize> {
        if self.bytes.get(end) != Some(&b'#') || self.bytes[end - 1] != b'.' || start == end - 1 {
            return None;
        }
        let word_end = self.word_end(end + 1);
        let word = &self.bytes[end + 1..word_end];
        let names: [&[u8]; 4] = [b"INF", b"IND", b"QNAN", b"SNAN"];
        names.iter().any(|name| word.starts_with(name)).then_some(word_end)
    }

    /// A number must be followed by something that cannot belong to it.
    #[inline]
    fn check_end(&mut self, end: usize) -> Parsed<()> {
        match self.bytes.get(end) {
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') => {
                let start = self.position;
                self.position = self.word_end(end + usize::from(*byte == b'.'));
                Err(Fault::error("syntaxerror", start, "this is not a number"))
            }
            _ => Ok(()),
        }
    }

    /// Reads `[ numbers ]` behind whatever `out` holds.
    pub(super) fn float_array(&mut self, out: &mut Vec<f32>) -> Parsed<()> {
        let open = self.position;
        self.position += 1;
        loop {
            match self.peek() {
                Kind::Number => out.push(self.float32()?),
                other => return self.close_array(other, open, "numbers"),
            }
        }
    }

    /// Reads a number as a 32-bit float.
    #[inline]
    pub(super) fn float32(&mut self) -> Parsed<f32> {
        let (value, end) = match self.integer(self.position) {
            Some((int, end)) => (int as f32, end),
            None => self.float::<f32>(self.position)?,
        };
        self.check_end(end)?;
        self.position = end;
        Ok(value)
    }

    /// Reads `[ integers ]` behind whatever `out` holds.
    pub(super) fn int_array(&mut self, out: &mut Vec<i32>) -> Parsed<()> {
        let open = self.position;
        self.position += 1;
        loop {
            match self.peek() {
                Kind::Number => out.push(self.int()?),
                other => return self.close_array(other, open, "integers"),
            }
        }
    }

    /// Reads an integer. A float in its place is a type error (RIB-04).
    pub(super) fn int(&mut self) -> Parsed<i32> {
        let start = self.position;
        match self.number()? {
            Number::Int(value) => {
                i32::try_from(value).map_err(|_| Fault::error("range", start, "this integer does not fit into 32 bits"))
            }
            Number::Float(_) => Err(Fault::error("badargument", start, "a float stands where an integer is wanted")),
        }
    }

    /// Reads `[ strings ]`, handing each to `each`.
    pub(super) fn string_array(&mut self, each: &mut dyn FnMut(Cow<'a, [u8]>)) -> Parsed<()> {
        let open = self.position;
        self.position += 1;
        loop {
            match self.peek() {
                Kind::String => each(self.string()?),
                other => return self.close_array(other, open, "strings"),
            }
        }
    }

    fn close_array(&mut self, found: Kind, open: usize, wanted: &str) -> Parsed<()> {
        if found == Kind::Close {
            self.position += 1;
            return Ok(());
        }
        let place = self.place(open);
        let message = format!("{} inside an array of {wanted}", describe(found));
        Err(Fault::error("syntaxerror", self.position, message)
            .hint(format!("the array begins at line {}, column {}; is its ] missing?", place.line, place.column)))
    }

    /// Skips one value: a number, a string or an array.
    pub(super) fn skip_value(&mut self) -> Parsed<()> {
        match self.peek() {
            Kind::Number => self.number().map(drop),
            Kind::String => self.string().map(drop),
            Kind::Open => {
                let open = self.position;
                self.position += 1;
                loop {
                    match self.peek() {
                        Kind::Number => drop(self.number()?),
                        Kind::String => drop(self.string()?),
                        other => return self.close_array(other, open, "numbers or strings"),
                    }
                }
            }
            other => {
                Err(Fault::error("syntaxerror", self.position, format!("{} where a value is wanted", describe(other))))
            }
        }
    }

    /// Skips to the next request: what to do after an error (RIB-14), and with the arguments of what is not supported.
    pub(super) fn skip_to_request(&mut self) {
        loop {
            match self.peek() {
                Kind::Word | Kind::End | Kind::Binary => return,
                // A broken string or number has moved on already; it was reported, or belongs to what was.
                Kind::Number => drop(self.number()),
                Kind::String => drop(self.string()),
                Kind::Open | Kind::Close | Kind::Dash | Kind::Unknown => self.position += 1,
            }
        }
    }

    /// Skips one byte: a bracket or a dash that was looked at.
    pub(super) fn skip_byte(&mut self) {
        self.position += 1;
    }
}

/// What a token is, for messages.
pub(super) fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Word => "a request",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Open => "[",
        Kind::Close => "]",
        Kind::Dash => "-",
        Kind::Binary => "a byte of the binary encoding",
        Kind::Unknown => "a byte that begins nothing",
        Kind::End => "the end of the file",
    }
}

/// The two widths of float that numbers are read as.
trait Float: fast_float2::FastFloat {
    const NOT_A_NUMBER: Self;
}

impl Float for f32 {
    const NOT_A_NUMBER: Self = Self::NAN;
}

impl Float for f64 {
    const NOT_A_NUMBER: Self = Self::NAN;
}
