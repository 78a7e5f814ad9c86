//! Cuts a stream of RIB into fragments that end with EditEnd.

use std::io::{self, Read};

/// The request that ends a fragment.
const END: &[u8] = b"EditEnd";
/// The longest fragment.
const BYTES_MAX: usize = 256 << 20;
/// Bytes that are read at once, at most.
const CHUNK_BYTES: usize = 1 << 16;

/// Some edits of a stream, up to an EditEnd or the end of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The RIB.
    pub text: Vec<u8>,
    /// The line of the stream on which it begins, from 1.
    pub line: u32,
    /// The column at which it begins, in bytes, from 1.
    pub column: u32,
}

/// Reads fragments one after the other.
pub(super) struct Fragments<R> {
    input: R,
    text: Vec<u8>,
    scan: Scan,
    /// How much of the text was scanned.
    scanned: usize,
    line: u32,
    column: u32,
    is_over: bool,
}

/// Where in the syntax of RIB a position is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scan {
    #[default]
    Between,
    /// In a word that begins here.
    Word(usize),
    String,
    Escape,
    Comment,
}

impl<R: Read> Fragments<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, text: Vec::new(), scan: Scan::Between, scanned: 0, line: 1, column: 1, is_over: false }
    }

    /// Returns the next fragment, as soon as its EditEnd is read; `None` at the end.
    ///
    /// # Errors
    /// If the stream cannot be read, or a fragment is too long.
    pub(super) fn next(&mut self) -> io::Result<Option<Fragment>> {
        loop {
            if let Some(end) = self.scan_on() {
                return Ok(Some(self.cut(end)));
            }
            if self.is_over {
                let end = self.text.len();
                let is_blank = self.text.iter().all(u8::is_ascii_whitespace);
                return Ok((!is_blank).then(|| self.cut(end)));
            }
            if self.text.len() > BYTES_MAX {
                let message = format!("a fragment of edits has more than {} MiB without EditEnd", BYTES_MAX >> 20);
                return Err(io::Error::other(message));
            }
            let from = self.text.len();
            self.text.resize(from + CHUNK_BYTES, 0);
            let read = self.input.read(&mut self.text[from..]);
            self.text.truncate(from + *read.as_ref().unwrap_or(&0));
            self.is_over = read? == 0;
        }
    }

    /// Scans what was read, and returns where a fragment ends.
    fn scan_on(&mut self) -> Option<usize> {
        while self.scanned < self.text.len() {
            let (at, byte) = (self.scanned, self.text[self.scanned]);
            let ends = matches!(self.scan, Scan::Word(begin) if !is_word(byte) && self.text[begin..at] == *END);
            if ends {
                self.scan = Scan::Between;
                return Some(at);
            }
            self.scanned += 1;
            self.scan = match (self.scan, byte) {
                (Scan::String, b'\\') => Scan::Escape,
                (Scan::String, b'"') | (Scan::Comment, b'\n' | b'\r') => Scan::Between,
                (Scan::Escape, _) => Scan::String,
                (Scan::String | Scan::Comment, _) => self.scan,
                (_, b'"') => Scan::String,
                (_, b'#') => Scan::Comment,
                (Scan::Word(begin), _) if is_word(byte) => Scan::Word(begin),
                (Scan::Between, _) if is_word(byte) => Scan::Word(at),
                _ => Scan::Between,
            };
        }
        None
    }

    /// Takes the fragment that ends at a place.
    fn cut(&mut self, end: usize) -> Fragment {
        let rest = self.text.split_off(end);
        let text = std::mem::replace(&mut self.text, rest);
        self.scanned = 0;
        let fragment = Fragment { line: self.line, column: self.column, text };
        let lines = fragment.text.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        let last = fragment.text.iter().rev().take_while(|byte| **byte != b'\n').count();
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        self.column = if lines > 0 { 1 } else { self.column }.saturating_add(last);
        fragment
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time, as a slow writer does.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn fragments_end_with_the_request_and_nowhere_else() {
        let text = "EditBegin \"option\"\n# EditEnd\nDisplay \"EditEnd\\\"EditEnd \" EditEnd EditBegin \"a\"EditEnd\nEditEnds ";
        for chunk in [1, 2, 7, 1000] {
            let mut fragments = Fragments::new(Slow(text.as_bytes(), chunk));
            let mut found = Vec::new();
            while let Some(Fragment { text, line, column }) = fragments.next().expect("it is read") {
                found.push((String::from_utf8(text).expect("text"), line, column));
            }
            let first = text.find(" EditBegin \"a").expect("it is there");
            let second = text.find("\nEditEnds").expect("it is there");
            let expected = [
                (text[..first].to_owned(), 1, 1),
                (text[first..second].to_owned(), 3, 36),
                (text[second..].to_owned(), 3, 57),
            ];
            assert_eq!(found, expected, "{chunk} bytes at a time");
        }
    }
}
