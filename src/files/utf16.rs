//! Texts in UTF-16, as some Windows programs save them, read as UTF-8.

use std::io::{self, Read};

/// The bytes that are read at a time.
const PIECE_BYTES: usize = 1 << 14;

/// The order of the bytes of UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    /// The low byte first.
    Little,
    /// The high byte first.
    Big,
}

impl ByteOrder {
    /// Returns the order if a text that begins with these bytes is UTF-16: with a mark, or with a letter or another
    /// character that scenes and shaders may begin with. No other has a 0 there.
    pub(crate) fn of(begin: &[u8]) -> Option<Self> {
        match *begin {
            [0xff, 0xfe, ..] => Some(Self::Little),
            [0xfe, 0xff, ..] => Some(Self::Big),
            [first, 0, ..] if first.is_ascii() && first != 0 => Some(Self::Little),
            [0, second, ..] if second.is_ascii() && second != 0 => Some(Self::Big),
            _ => None,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// Reads UTF-16 as UTF-8. What is not UTF-16 becomes U+FFFD.
pub(crate) struct Utf16Reader<R> {
    inner: R,
    order: ByteOrder,
    /// What is read and not used yet: less than a character, after each piece.
    units: Vec<u8>,
    text: String,
    /// What was given out of the text.
    given: usize,
}

impl<R: Read> Utf16Reader<R> {
    pub(crate) fn new(inner: R, order: ByteOrder) -> Self {
        Self { inner, order, units: Vec::new(), text: String::new(), given: 0 }
    }

    /// Reads the next piece of text; it is empty at the end.
    fn next_piece(&mut self) -> io::Result<()> {
        self.text.clear();
        self.given = 0;
        while self.text.is_empty() {
            let read = self.inner.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut self.units)?;
            let units: Vec<u16> = self.units.as_chunks::<2>().0.iter().map(|bytes| self.order.unit(*bytes)).collect();
            // Half of a pair waits for the other half.
            let waits = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) && read > 0;
            let whole = units.len() - usize::from(waits);
            let characters = char::decode_utf16(units[..whole].iter().copied());
            self.text.extend(characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)));
            self.units.drain(..2 * whole);
            if read == 0 {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() {
            self.next_piece()?;
        }
        let rest = &self.text.as_bytes()[self.given..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], order: ByteOrder) -> String {
        let mut text = String::new();
        Utf16Reader::new(bytes, order).read_to_string(&mut text).expect("memory can be read");
        text
    }

    #[test]
    fn text_is_read_in_both_orders_and_across_pieces() {
        // A pair that is split where a piece ends, at each of its bytes.
        for filler in 0..4 {
            let text = format!("{}\u{1f600}é", "x".repeat(PIECE_BYTES / 2 - 2 + filler));
            let units = || text.encode_utf16();
            let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
            assert!(read(&little, ByteOrder::Little) == text && read(&big, ByteOrder::Big) == text, "{filler}");
        }
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(read(&[0x00, 0xd8, b'a', 0, 0x00, 0xd8], ByteOrder::Little), "\u{fffd}a\u{fffd}");
        assert_eq!(read(&[b'a', 0, b'b'], ByteOrder::Little), "a");
        assert_eq!(read(&[], ByteOrder::Big), "");
    }

    #[test]
    fn utf_16_is_known_by_its_first_bytes() {
        for (begin, order) in [
            (&b"\xff\xfe#\0"[..], Some(ByteOrder::Little)),
            (b"\xfe\xff\0#", Some(ByteOrder::Big)),
            (b"#\0#\0", Some(ByteOrder::Little)),
            (b"\0#", Some(ByteOrder::Big)),
            (b"##RenderMan", None),
            (b"\xef\xbb\xbf#", None),
            (b"\xff", None),
            (b"\0\0", None),
            (b"", None),
        ] {
            assert_eq!(ByteOrder::of(begin), order, "{begin:?}");
        }
    }
}
