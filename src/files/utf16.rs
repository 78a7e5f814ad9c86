//! Texts in UTF-16, as some Windows programs save them.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use std::io::Read;

/// Returns the encoding if a text that begins with these bytes is UTF-16: with a mark, or with a letter or another
/// character that scenes and shaders may begin with. No other has a 0 there.
pub(crate) fn utf_16_of(begin: &[u8]) -> Option<&'static Encoding> {
    match *begin {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        [first, 0, ..] if first.is_ascii() && first != 0 => Some(UTF_16LE),
        [0, second, ..] if second.is_ascii() && second != 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// Reads UTF-16 as UTF-8, without its mark. What is not UTF-16 becomes U+FFFD.
pub(crate) fn read_utf_16<R: Read>(text: R, encoding: &'static Encoding) -> DecodeReaderBytes<R, Vec<u8>> {
    DecodeReaderBytesBuilder::new().encoding(Some(encoding)).bom_sniffing(false).build(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: &'static Encoding) -> String {
        let mut text = String::new();
        read_utf_16(bytes, encoding).read_to_string(&mut text).expect("memory can be read");
        text
    }

    #[test]
    fn text_is_read_in_both_orders_and_across_pieces() {
        // A pair that is split where a piece ends, at each of its bytes.
        for filler in 0..4 {
            let text = format!("{}\u{1f600}é", "x".repeat((1 << 13) - 2 + filler));
            let units = || text.encode_utf16();
            let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
            assert!(read(&little, UTF_16LE) == text && read(&big, UTF_16BE) == text, "{filler}");
        }
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(read(&[0x00, 0xd8, b'a', 0, 0x00, 0xd8], UTF_16LE), "\u{fffd}a\u{fffd}");
        assert_eq!(read(&[b'a', 0, b'b'], UTF_16LE), "a\u{fffd}");
        assert_eq!(read(&[], UTF_16BE), "");
    }

    #[test]
    fn utf_16_is_known_by_its_first_bytes() {
        for (begin, encoding) in [
            (&b"\xff\xfe#\0"[..], Some(UTF_16LE)),
            (b"\xfe\xff\0#", Some(UTF_16BE)),
            (b"#\0#\0", Some(UTF_16LE)),
            (b"\0#", Some(UTF_16BE)),
            (b"##RenderMan", None),
            (b"\xef\xbb\xbf#", None),
            (b"\xff", None),
            (b"\0\0", None),
            (b"", None),
        ] {
            assert_eq!(utf_16_of(begin), encoding, "{begin:?}");
        }
    }
}
