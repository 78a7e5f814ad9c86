//! Cuts a text into preprocessing tokens: comments are white space, backslash and line end join lines, CR and CRLF end
//! lines too.

use crate::diagnostic::{Report, Reports};
use crate::span::Span;
use crate::syntax::token::{Names, Punct, RawKind, RawToken};
use std::sync::Arc;

/// Reads a text from front to back. Cheap to copy: looking ahead is copying.
#[derive(Clone, Debug)]
pub(crate) struct Lexer {
    text: Arc<str>,
    /// Offset of the text in the compilation's address space.
    base: u32,
    at: usize,
}

impl Lexer {
    /// Returns a lexer for the text that was added to the source map at `base`.
    pub(crate) fn new(text: Arc<str>, base: u32) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, base, at }
    }

    /// Returns the next token. Faults in it are reported, unless there are no `reports` (text that a condition skips).
    pub(crate) fn next(&mut self, names: &mut Names, mut reports: Option<&mut Reports>) -> RawToken {
        let space = self.skip_space(reports.as_deref_mut());
        let start = self.at;
        let kind = match self.peek() {
            // Control-Z ends files of old editors.
            None | Some('\u{1a}') => RawKind::End,
            Some('\n' | '\r') => {
                self.bump_line_end();
                RawKind::Newline
            }
            Some('"') => self.string(reports),
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                self.skip_while(|c| c == '_' || c.is_ascii_alphanumeric());
                RawKind::Ident
            }
            Some(c) if c.is_ascii_digit() || (c == '.' && self.second().is_some_and(|c| c.is_ascii_digit())) => {
                self.number()
            }
            Some(_) => self.punct(),
        };
        let span = self.span(start);
        let text = match kind {
            RawKind::Punct(_) | RawKind::Newline | RawKind::End => names.empty(),
            _ => self.spelling(start, names),
        };
        RawToken { kind, text, span, space, hidden: 0 }
    }

    /// Returns the name of a header if one is next: `"name"` or `<name>`, and whether it was the latter.
    pub(crate) fn header(&mut self) -> Option<(String, bool, Span)> {
        self.skip_space(None);
        let close = match self.peek()? {
            '"' => '"',
            '<' => '>',
            _ => return None,
        };
        let (start, rest) = (self.at, &self.text[self.at + 1..]);
        let end = rest.find(['\n', '\r', close]).filter(|&i| rest[i..].starts_with(close))?;
        let name = rest[..end].to_owned();
        self.at += end + 2;
        Some((name, close == '>', self.span(start)))
    }

    /// Returns what is left of the line, without the white space around it.
    pub(crate) fn rest_of_line(&mut self) -> String {
        let start = self.at;
        self.skip_while(|c| c != '\n' && c != '\r');
        self.text[start..self.at].trim().to_owned()
    }

    /// Returns the empty span at the present place.
    pub(crate) fn here(&self) -> Span {
        self.span(self.at)
    }

    /// Returns the span from `start`, an offset in the text, to here.
    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.at as u32)
    }

    /// Returns the text from `start` to here without spliced line ends.
    fn spelling(&self, start: usize, names: &mut Names) -> Arc<str> {
        let raw = &self.text[start..self.at];
        if !raw.contains('\\') {
            return names.intern(raw);
        }
        let (mut part, mut joined) = (Self { text: self.text.clone(), base: 0, at: start }, String::new());
        while part.at < self.at {
            let Some(c) = part.peek() else { break };
            joined.push(c);
            part.bump();
        }
        names.intern(&joined)
    }

    /// Returns the next character.
    fn peek(&self) -> Option<char> {
        self.char_at(self.at).map(|(c, _)| c)
    }

    /// Returns the one after it.
    fn second(&self) -> Option<char> {
        let (_, end) = self.char_at(self.at)?;
        self.char_at(end).map(|(c, _)| c)
    }

    /// Advances past the next character.
    fn bump(&mut self) {
        self.at = self.char_at(self.at).map_or(self.text.len(), |(_, end)| end);
    }

    /// Returns the character at `at`, or after spliced line ends there, and the place behind it.
    fn char_at(&self, at: usize) -> Option<(char, usize)> {
        match *self.text.as_bytes().get(at)? {
            byte if byte.is_ascii() && byte != b'\\' => Some((char::from(byte), at + 1)),
            _ => {
                let at = self.spliced(at);
                let c = self.text[at..].chars().next()?;
                Some((c, at + c.len_utf8()))
            }
        }
    }

    /// `at`, or the place after backslashes that end lines.
    fn spliced(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        while bytes.get(at) == Some(&b'\\') {
            at += match (bytes.get(at + 1), bytes.get(at + 2)) {
                (Some(b'\r'), Some(b'\n')) => 3,
                (Some(b'\r' | b'\n'), _) => 2,
                _ => return at,
            };
        }
        at
    }

    fn bump_line_end(&mut self) {
        let carriage_return = self.peek() == Some('\r');
        self.bump();
        if carriage_return && self.text[self.at..].starts_with('\n') {
            self.at += 1;
        }
    }

    fn skip_while(&mut self, test: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&test) {
            self.bump();
        }
    }

    /// Skips blanks and comments, not line ends; true if there were any.
    fn skip_space(&mut self, mut reports: Option<&mut Reports>) -> bool {
        let start = self.at;
        loop {
            self.skip_while(|c| c.is_whitespace() && c != '\n' && c != '\r');
            match (self.peek(), self.second()) {
                (Some('/'), Some('/')) => self.skip_while(|c| c != '\n' && c != '\r'),
                (Some('/'), Some('*')) => self.block_comment(reports.as_deref_mut()),
                _ => return self.at > start,
            }
        }
    }

    fn block_comment(&mut self, reports: Option<&mut Reports>) {
        let start = self.at;
        self.bump();
        self.bump();
        let opening = self.span(start);
        loop {
            match self.peek() {
                None => {
                    if let Some(reports) = reports {
                        reports.push(Report::error(opening, "this comment is not closed").hint("close it with `*/`"));
                    }
                    return;
                }
                Some('*') if self.second() == Some('/') => {
                    self.bump();
                    self.bump();
                    return;
                }
                Some(_) => self.bump(),
            }
        }
    }

    /// Reads from the opening quote to the closing one, or to the end of the line if there is none.
    fn string(&mut self, reports: Option<&mut Reports>) -> RawKind {
        let start = self.at;
        self.bump();
        loop {
            match self.peek() {
                Some('"') => {
                    self.bump();
                    return RawKind::String;
                }
                None | Some('\n' | '\r') => break,
                Some('\\') if !matches!(self.second(), None | Some('\n' | '\r')) => {
                    self.bump();
                    self.bump();
                }
                Some(_) => self.bump(),
            }
        }
        if let Some(reports) = reports {
            let hint = "close it with `\"`; write a line break as `\\n`";
            reports.push(Report::error(self.span(start), "this string is not closed on its line").hint(hint));
        }
        RawKind::String
    }

    /// Reads digits, fraction, exponent, and whatever letters follow: [`crate::syntax::preprocess`] judges them.
    fn number(&mut self) -> RawKind {
        let mut before = '0';
        while let Some(c) = self.peek() {
            let sign_of_exponent = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            if !(c == '_' || c == '.' || c.is_ascii_alphanumeric() || sign_of_exponent) {
                break;
            }
            before = c;
            self.bump();
        }
        RawKind::Number
    }

    fn punct(&mut self) -> RawKind {
        let (mut next, mut at) = ([0u8; 3], self.at);
        for byte in &mut next {
            let Some((c, end)) = self.char_at(at).filter(|(c, _)| c.is_ascii()) else { break };
            (*byte, at) = (c as u8, end);
        }
        let Some((text, punct)) = Punct::ALL.iter().find(|(text, _)| next.starts_with(text.as_bytes())) else {
            self.bump();
            return RawKind::Other;
        };
        for _ in 0..text.len() {
            self.bump();
        }
        RawKind::Punct(*punct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tokens of a text: kind, spelling, and `_` where space comes before.
    fn lex(text: &str) -> String {
        let (mut names, mut reports) = (Names::default(), Reports::default());
        let mut lexer = Lexer::new(text.into(), 0);
        let mut words = Vec::new();
        loop {
            let token = lexer.next(&mut names, Some(&mut reports));
            let space = if token.space { "_" } else { "" };
            let kind = match token.kind {
                RawKind::Ident => "i:",
                RawKind::Number => "n:",
                RawKind::String => "s:",
                RawKind::Other => "?:",
                RawKind::Newline => "nl",
                RawKind::Punct(_) => "",
                RawKind::End => {
                    words.push(format!("errors:{}", reports.error_count()));
                    return words.join(" ");
                }
            };
            words.push(format!("{space}{kind}{}", token.spelling()));
        }
    }

    #[test]
    fn tokens() {
        for (text, expected) in [
            ("", "errors:0"),
            ("a_1 B", "i:a_1 _i:B errors:0"),
            ("a--b", "i:a - - i:b errors:0"),
            ("1 1. .5 1e-3 1.5E+2f", "n:1 _n:1. _n:.5 _n:1e-3 _n:1.5E+2f errors:0"),
            ("N.L", "i:N . i:L errors:0"),
            ("x+=1;/* c\n d */y", "i:x += n:1 ; _i:y errors:0"),
            ("a//b\nc", "i:a _nl i:c errors:0"),
            ("\"a\\\"b\" c", "s:\"a\\\"b\" _i:c errors:0"),
            ("\"open\nb", "s:\"open nl i:b errors:1"),
            ("\"end\\", "s:\"end\\ errors:1"),
            ("a /* open", "i:a errors:1"),
            ("ab\\\ncd \\\r\n ef", "i:abcd _i:ef errors:0"),
            ("a\rb\r\nc", "i:a nl i:b nl i:c errors:0"),
            ("+\\\n=", "+= errors:0"),
            ("\u{feff}a\u{1a}b", "i:a errors:0"),
            ("é@ $", "?:é ?:@ _?:$ errors:0"),
            ("#define x ##", "# i:define _i:x _## errors:0"),
        ] {
            assert_eq!(lex(text), expected, "{text:?}");
        }
    }

    #[test]
    fn headers() {
        for (text, expected) in [
            (" \"a b.h\" x", Some(("a b.h", false))),
            ("<lib/x.h>", Some(("lib/x.h", true))),
            ("<open\n>", None),
            ("NAME", None),
        ] {
            let found = Lexer::new(text.into(), 0).header();
            assert_eq!(found.as_ref().map(|(name, angled, _)| (name.as_str(), *angled)), expected, "{text:?}");
        }
    }
}
