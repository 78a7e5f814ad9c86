//! Numbers of the ASCII encoding.
//!
//! A bare `NaN`, `inf`, `1.#IND` or `1.#INF` is a number that is not finite: programs write them, and the user of the
//! number drops the primitive or value that it would spoil.

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// Digits only.
    Int(i64),
    /// With a fraction or an exponent, or not finite.
    Float(f64),
}

impl Number {
    /// Returns the nearest 32-bit float.
    pub(crate) fn to_f32(self) -> f32 {
        match self {
            Self::Int(value) => value as f32,
            Self::Float(value) => value as f32,
        }
    }
}

/// Parses the number at the start of `bytes`; returns it with its length.
pub(crate) fn number(bytes: &[u8]) -> Option<(Number, usize)> {
    match integer(bytes) {
        Some((value, length)) => Some((Number::Int(value), length)),
        None => float(bytes).map(|(value, length)| (Number::Float(value), length)),
    }
}

/// Parses the number at the start of `bytes` as the nearest 32-bit float; returns it with its length.
#[inline]
pub(crate) fn float32(bytes: &[u8]) -> Option<(f32, usize)> {
    float(bytes)
}

/// Parses the integer at the start of `bytes` if the number consists of at most 18 digits.
fn integer(bytes: &[u8]) -> Option<(i64, usize)> {
    let first = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let digits = bytes[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = first + digits;
    let floating = matches!(bytes.get(end), Some(b'.' | b'e' | b'E'));
    if floating || digits == 0 || digits > 18 {
        return None;
    }
    let value = bytes[first..end].iter().fold(0i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    Some((if bytes[0] == b'-' { -value } else { value }, end))
}

/// A float type that numbers are parsed as.
trait FloatWidth: fast_float2::FastFloat {
    const NOT_A_NUMBER: Self;
}

impl FloatWidth for f32 {
    const NOT_A_NUMBER: Self = Self::NAN;
}

impl FloatWidth for f64 {
    const NOT_A_NUMBER: Self = Self::NAN;
}

fn float<F: FloatWidth>(bytes: &[u8]) -> Option<(F, usize)> {
    let (value, length) = fast_float2::parse_partial::<F, _>(bytes).ok()?;
    Some(windows_exception(bytes, length).map_or((value, length), |length| (F::NOT_A_NUMBER, length)))
}

/// Returns the end of a number as Windows' C library writes NaN and infinity (`1.#QNAN`), if this is one.
fn windows_exception(bytes: &[u8], length: usize) -> Option<usize> {
    let behind = bytes[length..].strip_prefix(b"#")?;
    let names: [&[u8]; 4] = [b"INF", b"IND", b"QNAN", b"SNAN"];
    let found = bytes[..length].ends_with(b".") && names.iter().any(|name| behind.starts_with(name));
    found.then(|| length + 1 + behind.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count())
}

/// Whether the word at the start of `bytes` is a C library's text for a number that is not finite.
pub(crate) fn is_non_finite(bytes: &[u8]) -> bool {
    if !matches!(bytes.first(), Some(b'n' | b'N' | b'i' | b'I')) {
        return false;
    }
    let length = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':')).count();
    let names: [&[u8]; 3] = [b"nan", b"inf", b"infinity"];
    names.iter().any(|name| bytes[..length].eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_the_nearest() {
        for (text, wanted) in [
            ("1", 1.0f32),
            ("-1.", -1.0),
            (".5", 0.5),
            ("1e-3", 1e-3),
            ("+4E5", 4e5),
            ("-0", -0.0),
            ("00012.500", 12.5),
            ("16777217", 16_777_216.0),
            ("0.1", 0.1),
            ("3.14159265358979", std::f32::consts::PI),
            ("123456789012345678901234567890", 1.234_567_9e29),
            ("1e39", f32::INFINITY),
            ("-inf", f32::NEG_INFINITY),
            ("Infinity", f32::INFINITY),
        ] {
            let (value, length) = float32(text.as_bytes()).expect("a number");
            assert_eq!((value.to_bits(), length), (wanted.to_bits(), text.len()), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_not_finite() {
        for text in ["NaN", "nan", "-nan", "1.#QNAN", "-1.#IND", "1.#INF00"] {
            let (value, length) = float32(text.as_bytes()).expect("a number");
            assert!(value.is_nan() && length == text.len(), "{text}");
        }
        assert!(
            is_non_finite(b"NaN]") && is_non_finite(b"INF ") && !is_non_finite(b"info") && !is_non_finite(b"IfBegin")
        );
        // A comment directly after a number ends it.
        assert_eq!(float32(b"1.#comment"), Some((1.0, 2)));
        assert_eq!(float32(b"15#INF"), Some((15.0, 2)));
    }

    #[test]
    fn integers_have_digits_only() {
        assert_eq!(number(b"-42]"), Some((Number::Int(-42), 3)));
        assert_eq!(number(b"42."), Some((Number::Float(42.0), 3)));
        assert_eq!(number(b"99999999999999999999"), Some((Number::Float(1e20), 20)));
        for text in [".", "-", "-.", "+e5", ""] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }
}
