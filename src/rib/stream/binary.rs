//! The binary encoding (RISpec C.2.2): tokens that begin with a byte from 0200 on and may stand anywhere between tokens
//! of text. Integers are written with their most significant byte first.

use super::number::Number;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// What a token of the binary encoding is; offsets count from its first byte.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BinaryToken {
    /// A fixed-point number (0200 to 0217), a float (0244) or a double (0245).
    Number(Number),
    /// A string without escapes (0220 to 0243).
    String(Range<usize>),
    /// The code of a request (0246).
    Request(u8),
    /// An array of this number of floats (0310 to 0313), whose bytes follow.
    Floats(usize),
    /// The next string is the name of the request with this code (0314).
    DefineRequest(u8),
    /// The next string gets this code (0315, 0316).
    DefineString(u16),
    /// The string with this code (0317, 0320).
    StringCode(u16),
}

/// Parses the token at the start of `bytes`; returns it with its length, without the floats of an array. `None` for a
/// reserved byte, and where the file ends inside the token.
pub(crate) fn token(bytes: &[u8]) -> Option<(BinaryToken, usize)> {
    let byte = *bytes.first()?;
    // The integer in the `count` bytes behind the first.
    let integer = |count: usize| {
        let digits = bytes.get(1..=count)?;
        Some(digits.iter().fold(0usize, |value, digit| value << 8 | usize::from(*digit)))
    };
    let low = usize::from(byte & 3);
    let token = match byte {
        0o200..=0o217 => (BinaryToken::Number(fixed_point(bytes, low + 1, (byte >> 2) & 3)?), low + 2),
        0o220..=0o237 => string(bytes, 1, usize::from(byte & 15))?,
        0o240..=0o243 => string(bytes, low + 2, integer(low + 1)?)?,
        0o244 => (BinaryToken::Number(Number::Float(f32::from_be_bytes(array(bytes)?).into())), 5),
        0o245 => (BinaryToken::Number(Number::Float(f64::from_be_bytes(array(bytes)?))), 9),
        0o246 => (BinaryToken::Request(*bytes.get(1)?), 2),
        0o310..=0o313 => {
            let (count, head) = (integer(low + 1)?, low + 2);
            bytes.get(head..)?.get(..count.checked_mul(FLOAT_BYTES)?)?;
            (BinaryToken::Floats(count), head)
        }
        0o314 => (BinaryToken::DefineRequest(*bytes.get(1)?), 2),
        0o315 | 0o316 => {
            let width = usize::from(byte - 0o315) + 1;
            (BinaryToken::DefineString(integer(width)? as u16), width + 1)
        }
        0o317 | 0o320 => {
            let width = usize::from(byte - 0o317) + 1;
            (BinaryToken::StringCode(integer(width)? as u16), width + 1)
        }
        _ => return None,
    };
    Some(token)
}

/// Bytes of a float in an array.
pub(crate) const FLOAT_BYTES: usize = 4;

/// Returns the `N` bytes behind the first.
fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.get(1..=N)?.try_into().ok()
}

fn string(bytes: &[u8], start: usize, length: usize) -> Option<(BinaryToken, usize)> {
    let end = start.checked_add(length)?;
    bytes.get(start..end)?;
    Some((BinaryToken::String(start..end), end))
}

/// Returns the signed number in `width` bytes behind the first, of which the last `fraction` are behind the binary
/// point.
fn fixed_point(bytes: &[u8], width: usize, fraction: u8) -> Option<Number> {
    let digits = bytes.get(1..=width)?;
    let sign = if digits[0] >= 0x80 { -1 } else { 0 };
    let value = digits.iter().fold(sign, |value: i64, digit| value << 8 | i64::from(*digit));
    Some(match fraction {
        0 => Number::Int(value),
        _ => Number::Float(value as f64 / f64::from(1u32 << (8 * u32::from(fraction)))),
    })
}

/// Iterates over the floats of an array.
pub(crate) fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_be_bytes(*bytes))
}

/// A string that a code stands for.
#[derive(Clone, Debug)]
pub(crate) enum CodedText {
    /// These bytes of the source.
    Inside(Range<usize>),
    /// A string that was written with escapes.
    Escaped(Arc<[u8]>),
}

/// The codes of one stream, defined so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamCodes {
    /// Names of requests.
    pub(crate) requests: FxHashMap<u8, Range<usize>>,
    /// Strings.
    pub(crate) strings: FxHashMap<u16, CodedText>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> Number {
        match token(bytes) {
            Some((BinaryToken::Number(number), length)) if length == bytes.len() => number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_are_signed_and_have_a_binary_point() {
        assert_eq!(number(&[0o200, 5]), Number::Int(5));
        assert_eq!(number(&[0o200, 0xff]), Number::Int(-1));
        assert_eq!(number(&[0o201, 0x80, 0]), Number::Int(-32_768));
        assert_eq!(number(&[0o202, 1, 0, 0]), Number::Int(65_536));
        assert_eq!(number(&[0o203, 0x80, 0, 0, 0]), Number::Int(i32::MIN.into()));
        assert_eq!(number(&[0o204, 0x80]), Number::Float(-0.5));
        assert_eq!(number(&[0o205, 3, 0x40]), Number::Float(3.25));
        assert_eq!(number(&[0o215, 0, 1]), Number::Float(1.0 / 16_777_216.0));
        assert_eq!(number(&[0o244, 0x3f, 0x80, 0, 0]), Number::Float(1.0));
        assert_eq!(number(&[0o245, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]), Number::Float(1.5));
    }

    #[test]
    fn strings_arrays_and_codes_have_lengths() {
        assert_eq!(token(b"\x93abcd"), Some((BinaryToken::String(1..4), 4)));
        assert_eq!(token(b"\xa1\x00\x02ab"), Some((BinaryToken::String(3..5), 5)));
        assert_eq!(token(b"\xc8\x01\x3f\x80\x00\x00"), Some((BinaryToken::Floats(1), 2)));
        assert_eq!(token(b"\xa6\x07"), Some((BinaryToken::Request(7), 2)));
        assert_eq!(token(b"\xcc\x07\"x\""), Some((BinaryToken::DefineRequest(7), 2)));
        assert_eq!(token(b"\xce\x01\x02"), Some((BinaryToken::DefineString(258), 3)));
        assert_eq!(token(b"\xd0\x01\x02"), Some((BinaryToken::StringCode(258), 3)));
        assert_eq!(token(b"\xcf\x02"), Some((BinaryToken::StringCode(2), 2)));
    }

    #[test]
    fn reserved_bytes_and_cut_tokens_are_none() {
        for byte in (0o247..=0o307u8).chain(0o321..=0o376) {
            assert_eq!(token(&[byte, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None, "{byte:o}");
        }
        let whole: [&[u8]; 9] = [
            &[0o203, 0, 0, 0, 0],
            b"\x93abc",
            b"\xa0\x02ab",
            &[0o244, 0, 0, 0, 0],
            &[0o245, 0, 0, 0, 0, 0, 0, 0, 0],
            b"\xa6\x01",
            b"\xc8\x01\0\0\0\0",
            b"\xce\x01\x02",
            b"\xd0\x01\x02",
        ];
        for bytes in whole {
            assert!(token(bytes).is_some(), "{bytes:?}");
            for length in 0..bytes.len() {
                assert_eq!(token(&bytes[..length]), None, "{bytes:?} cut to {length}");
            }
        }
        assert_eq!(token(b"\xcb\xff\xff\xff\xff"), None);
    }
}
