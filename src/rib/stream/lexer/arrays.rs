//! Arrays of numbers and strings. Long arrays of numbers are read in pieces on all cores.

use super::short_numbers::{BLOCK_BYTES, FromShort, read_run};
use super::{Lexer, TokenKind, describe};
use crate::parallel::{cores, in_parallel};
use crate::rib::stream::binary::{self, FLOAT_BYTES};
use crate::rib::stream::fault::{Parsed, RequestFault};
use crate::rib::stream::number::{self, Number};
use std::borrow::Cow;
use std::ops::Range;

/// The least text that a thread gets. To read it takes a tenth of a millisecond, a start of a thread half of that.
const PIECE_BYTES_MIN: usize = 128 << 10;

/// The end of an array is searched for in this many times the text that was read of it.
const AHEAD: usize = 16;

/// A type that arrays of numbers have.
trait ArrayNumber: FromShort + Clone + Send {
    /// Parses the number at the start of a text, if it is of this type; returns it with its length.
    fn parse(text: &[u8]) -> Option<(Self, usize)>;
}

impl ArrayNumber for f32 {
    fn parse(text: &[u8]) -> Option<(Self, usize)> {
        number::float32(text)
    }
}

impl ArrayNumber for i32 {
    fn parse(text: &[u8]) -> Option<(Self, usize)> {
        match number::number(text)? {
            (Number::Int(value), length) => Some((Self::try_from(value).ok()?, length)),
            (Number::Float(_), _) => None,
        }
    }
}

impl<'a> Lexer<'a> {
    /// Reads `[ numbers ]` and appends them to `out`.
    pub(crate) fn float_array(&mut self, out: &mut Vec<f32>) -> Parsed<()> {
        let open = self.position;
        self.open();
        if let Some(count) = self.packed.take() {
            let end = self.position + count * FLOAT_BYTES;
            out.extend(binary::floats(&self.bytes[self.position..end]));
            self.position = end;
            return Ok(());
        }
        self.numbers(open, "numbers", out, Self::float32)
    }

    /// Reads `[ integers ]` and appends them to `out`.
    pub(crate) fn int_array(&mut self, out: &mut Vec<i32>) -> Parsed<()> {
        let open = self.position;
        self.open();
        self.numbers(open, "integers", out, Self::int)
    }

    /// Reads what is left of the array that begins at `open`, each number that is not a short one by `read`.
    fn numbers<T: ArrayNumber>(
        &mut self,
        open: usize,
        wanted: &str,
        out: &mut Vec<T>,
        read: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<()> {
        let (mut next_run, mut next_pieces) = (self.position, self.position + 2 * PIECE_BYTES_MIN);
        loop {
            if self.position >= next_run && self.packed.is_none() {
                let known = self.bytes.len().min(next_pieces + BLOCK_BYTES);
                self.position = read_run(&self.bytes[..known], self.position, out);
                if self.position >= next_pieces {
                    self.position = read_pieces(self.bytes, self.pieces(open), out).unwrap_or(self.position);
                    next_pieces = self.position + 2 * PIECE_BYTES_MIN;
                }
                // Where a run ended, the next one would soon, and the block would be searched for nothing.
                next_run = self.position + BLOCK_BYTES;
            }
            match self.peek() {
                TokenKind::Number => out.push(read(self)?),
                other => return self.close_array(other, open, wanted),
            }
        }
    }

    /// Divides the text from here to the end of the array that begins at `open` at white space, into at most one piece
    /// for each core. Of an array whose end is far, or missing, it is a multiple of what was read of it, so that the
    /// search for the end costs little. A text that is not worth it has no pieces.
    fn pieces(&self, open: usize) -> Vec<Range<usize>> {
        let furthest = self.position + AHEAD * (self.position - open);
        let text = &self.bytes[self.position..self.bytes.len().min(furthest)];
        // If this is in a comment, so is what the pieces end before.
        let end = memchr::memchr(b']', text).or_else(|| text.iter().rposition(|byte| is_white(*byte)));
        let text = &text[..end.unwrap_or(0)];
        let count = cores().min(text.len() / PIECE_BYTES_MIN);
        let cut = |piece: usize| {
            let at = text.len() * piece / count;
            self.position + at + text[at..].iter().take_while(|byte| piece > 0 && !is_white(**byte)).count()
        };
        if count < 2 { Vec::new() } else { (0..count).map(|piece| cut(piece)..cut(piece + 1)).collect() }
    }

    /// Reads `[ strings ]` and calls `each` for every one.
    pub(crate) fn string_array(&mut self, each: &mut dyn FnMut(Cow<'a, [u8]>)) -> Parsed<()> {
        let open = self.position;
        self.open();
        loop {
            match self.peek() {
                TokenKind::String => each(self.string()?),
                other => return self.close_array(other, open, "strings"),
            }
        }
    }

    pub(super) fn close_array(&mut self, found: TokenKind, open: usize, wanted: &str) -> Parsed<()> {
        if found == TokenKind::Close {
            self.close();
            return Ok(());
        }
        let location = self.location(open);
        let message = format!("{} inside an array of {wanted}", describe(found));
        Err(RequestFault::error("syntaxerror", self.position, message)
            .hint(format!("the array begins at line {}, column {}; is its ] missing?", location.line, location.column)))
    }
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Reads pieces of an array up to something that is no plain number, such as a comment, and appends their numbers to
/// `out`. Returns where they end; `None` if there are no pieces.
fn read_pieces<T: ArrayNumber>(bytes: &[u8], pieces: Vec<Range<usize>>, out: &mut Vec<T>) -> Option<usize> {
    let read = in_parallel(pieces, |piece| {
        let mut numbers = Vec::new();
        let end = read_piece(&bytes[..piece.end], piece.start, &mut numbers);
        (numbers, end, end == piece.end)
    });
    let mut last = None;
    for (numbers, end, is_whole) in read {
        out.extend_from_slice(&numbers);
        last = Some(end);
        if !is_whole {
            break;
        }
    }
    last
}

/// Reads numbers from `start` to the end of the bytes, or up to something else; returns where they end.
fn read_piece<T: ArrayNumber>(bytes: &[u8], start: usize, out: &mut Vec<T>) -> usize {
    let (mut at, mut next_run) = (start, start);
    loop {
        if at >= next_run {
            at = read_run(bytes, at, out);
            next_run = at + BLOCK_BYTES;
        }
        let begin = at + bytes[at..].iter().take_while(|byte| is_white(**byte)).count();
        if begin == bytes.len() {
            return begin;
        }
        match T::parse(&bytes[begin..]) {
            Some((number, length)) if bytes.get(begin + length).is_none_or(|byte| is_white(*byte)) => {
                out.push(number);
                at = begin + length;
            }
            _ => return at,
        }
    }
}
