//! Runs of short numbers between white space, as nearly all arrays consist of.
//!
//! White space is found in blocks of 64 bytes, and a number is read from the bytes before the white space that ends it,
//! eight at a time, so that no number waits for the end of the one before. Whatever is not short and plain ends a run:
//! the lexer reads it by its own rules.

/// The bytes that are searched for white space together.
pub(super) const BLOCK_BYTES: usize = 64;
/// The most numbers that end in one block.
const BLOCK_NUMBERS: usize = BLOCK_BYTES / 2;

/// The same byte in all places of a word.
const fn everywhere(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

const HIGH_BITS: u64 = everywhere(0x80);
const LOW_BITS: u64 = everywhere(0x7f);

/// A number as it was written: its digits, and what makes a value of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortDecimal {
    /// The digits without the point, at most 16.
    digits: u64,
    /// The number of digits after the point, if there is one.
    decimals: Option<usize>,
    is_negative: bool,
}

/// A type that short numbers are read as.
pub(super) trait FromShort: Sized {
    /// Returns the value, or `None` if the number is not of this type or does not show its nearest value easily.
    fn from_short(number: ShortDecimal) -> Option<Self>;
}

/// The powers of ten that are exact as 32-bit floats.
const POWERS_OF_TEN: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];

impl FromShort for f32 {
    /// Digits below 2^24 and these powers of ten are exact, and so their quotient is the nearest float (Clinger 1990).
    #[inline(always)]
    fn from_short(number: ShortDecimal) -> Option<Self> {
        let decimals = number.decimals.unwrap_or(0);
        let size = match POWERS_OF_TEN.get(decimals) {
            Some(power) if number.digits < 1 << 24 => number.digits as u32 as Self / power,
            _ => nearest_by_double(number.digits, decimals)?,
        };
        Some(if number.is_negative { -size } else { size })
    }
}

/// Returns the nearest float by way of one of 64 bits, which is the nearest of its kind (Clinger 1990). It is on the
/// same side of every middle between floats of 32 bits as the number, or in that middle: then nothing is returned.
fn nearest_by_double(digits: u64, decimals: usize) -> Option<f32> {
    const MIDDLE: u64 = 1 << 28;
    // At most 15 decimals: their power of ten is exact.
    let double = digits as f64 / 10u64.pow(decimals as u32) as f64;
    let is_known = digits < 1 << 53 && double.to_bits() & (2 * MIDDLE - 1) != MIDDLE;
    is_known.then_some(double as f32)
}

impl FromShort for i32 {
    #[inline(always)]
    fn from_short(number: ShortDecimal) -> Option<Self> {
        let size = Self::try_from(number.digits).ok().filter(|_| number.decimals.is_none())?;
        Some(if number.is_negative { -size } else { size })
    }
}

/// Reads numbers from `start` on that are followed by white space, appends them to `out`, and returns where the last
/// one ends, or `start`. It stops before what is no short number of the type, and near the end of the text.
pub(super) fn read_run<T: FromShort>(bytes: &[u8], start: usize, out: &mut Vec<T>) -> usize {
    let (mut end, mut block) = (start, start);
    // Where the number begins that goes on in this block.
    let mut begin = None;
    while let Some(text) = bytes.get(block..).and_then(<[u8]>::first_chunk::<BLOCK_BYTES>) {
        let white = white_space(text);
        let before = white << 1 | u64::from(begin.is_none());
        let (mut begins, mut ends) = (before & !white, white & !before);
        out.reserve(BLOCK_NUMBERS);
        while ends != 0 {
            let at = block + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let first = begin.take().unwrap_or_else(|| next(block, &mut begins));
            let Some(value) = short_decimal(bytes, first, at).and_then(T::from_short) else { return end };
            out.push(value);
            end = at;
        }
        block += BLOCK_BYTES;
        if begin.is_none() && begins != 0 {
            begin = Some(next(block - BLOCK_BYTES, &mut begins));
        }
        if begin.is_some_and(|begin| block - begin > BLOCK_BYTES) {
            break;
        }
    }
    end
}

/// Takes the lowest place of a set out of it.
#[inline(always)]
fn next(block: usize, places: &mut u64) -> usize {
    let place = places.trailing_zeros() as usize;
    *places &= places.wrapping_sub(1);
    block + place
}

/// Returns a bit for each byte that is white space.
#[inline(always)]
fn white_space(text: &[u8; BLOCK_BYTES]) -> u64 {
    let (words, _) = text.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, word| bits << 8 | white_space_of(u64::from_le_bytes(*word)))
}

/// Returns a bit for each of eight bytes, the first one lowest, that is white space.
#[inline(always)]
fn white_space_of(word: u64) -> u64 {
    // All sums stay in their bytes, because the bytes have seven bits.
    let low = word & LOW_BITS;
    let differs = |byte: u8| (low ^ everywhere(byte)) + LOW_BITS;
    let at_least = |byte: u8| low + everywhere(0x80 - byte);
    // Tab to carriage return, without the vertical tab.
    let control = at_least(b'\t') & !at_least(b'\r' + 1) & differs(0x0b);
    let white = (control | !differs(b' ')) & !word & HIGH_BITS;
    // Brings the highest bit of byte i to bit 56 + i; no two products share a bit.
    (white >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Reads the number of the bytes from `start` to `end`, if it has at most 16 of them and no exponent.
#[inline(always)]
fn short_decimal(bytes: &[u8], start: usize, end: usize) -> Option<ShortDecimal> {
    let is_negative = bytes[start] == b'-';
    let length = end - start - usize::from(is_negative);
    let (digits, decimals) = match length {
        1..=8 => {
            let (digits, decimals) = without_point(u64::from_le_bytes(*bytes[..end].last_chunk()?), length)?;
            (value_of(digits), decimals)
        }
        9..=16 => {
            let [front, back] = *bytes[..end].last_chunk::<16>()?.as_chunks().0 else { return None };
            long_number(u64::from_le_bytes(front), u64::from_le_bytes(back), length)?
        }
        _ => return None,
    };
    Some(ShortDecimal { digits, decimals, is_negative })
}

/// Returns the digits of a number of 9 to 16 bytes, and how many of them follow the point, if it has one.
fn long_number(front: u64, back: u64, length: usize) -> Option<(u64, Option<usize>)> {
    const PLACE: u64 = 100_000_000;
    match without_point(back, 8)? {
        (back, None) => {
            let (front, decimals) = without_point(front, length - 8)?;
            Some((value_of(front) * PLACE + value_of(back), decimals.map(|decimals| decimals + 8)))
        }
        (back, Some(decimals)) => match without_point(front, length - 8)? {
            (front, None) => Some((value_of(front) * (PLACE / 10) + value_of(back), Some(decimals))),
            _ => None,
        },
    }
}

/// Returns the digits in the last `length` bytes of a word, without the point among them, and how many follow it; or
/// `None` if other bytes are among them, or nothing but a point.
#[inline(always)]
fn without_point(word: u64, length: usize) -> Option<(u64, Option<usize>)> {
    let others = 8 * (8 - length) as u32;
    // Digits have their values; what does not belong to the number is 0, as digits before it may be.
    let values = (word ^ everywhere(b'0')) >> others << others;
    let not_digits = (((values & LOW_BITS) + everywhere(0x7f - 9)) | values) & HIGH_BITS;
    if not_digits == 0 {
        return Some((values, None));
    }
    let point = not_digits.trailing_zeros() / 8;
    let is_plain = not_digits & (not_digits - 1) == 0 && (values >> (8 * point)) as u8 == b'.' ^ b'0' && length > 1;
    let before = (1u64 << (8 * point)) - 1;
    is_plain.then(|| ((values & before) << 8 | values & !(before << 8 | 0xff), Some(7 - point as usize)))
}

/// Returns the number that eight digits make, the first one in the lowest byte: pairs of them, then pairs of those.
#[inline(always)]
fn value_of(digits: u64) -> u64 {
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours * 10_000 + (fours >> 32)) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a number that is followed by enough text, if it is a short one.
    fn read<T: FromShort>(text: &str) -> Option<T> {
        let mut out = Vec::new();
        // In front as in an array, where more than 16 bytes precede all numbers but the first.
        let line = format!("{:16}{text}\n{:BLOCK_BYTES$}", "", "");
        let end = read_run(line.as_bytes(), 16, &mut out);
        assert_eq!(end, if out.is_empty() { 16 } else { 16 + text.len() }, "{text}");
        out.pop()
    }

    /// Checks that a number is the nearest one if it is read, and returns whether it is.
    fn check_nearest(text: &str) -> bool {
        let wanted: f32 = text.parse().expect("a float");
        let read: Option<f32> = read(text);
        assert!(read.is_none_or(|value| value.to_bits() == wanted.to_bits()), "{text} is {read:?}");
        read.is_some()
    }

    #[test]
    fn white_space_is_that_of_the_lexer() {
        for byte in 0..=u8::MAX {
            let is_white = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
            for place in 0..8 {
                let mut word = [if place % 2 == 0 { 0xff } else { b' ' }; 8];
                word[place] = byte;
                let others = if place % 2 == 0 { 0 } else { 0xff & !(1 << place) };
                assert_eq!(white_space_of(u64::from_le_bytes(word)), others | u64::from(is_white) << place, "{byte}");
            }
        }
    }

    #[test]
    fn short_numbers_are_the_nearest_floats() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 11
        };
        for _ in 0..30_000 {
            let (digits, decimals, sign) = (random() % 17 + 1, random() % 17, ["", "-"][random() as usize % 2]);
            let number = format!("{:017}", random() % 10u64.pow(digits as u32));
            let (whole, fraction) = number.split_at(number.len() - decimals as usize);
            let whole = if random() % 2 == 0 { whole.trim_start_matches('0') } else { whole };
            let text =
                if fraction.is_empty() { format!("{sign}{whole}0") } else { format!("{sign}{whole}.{fraction}") };
            let is_read = check_nearest(&text);
            assert!(is_read || text.len() > 8 || !text.contains('.'), "{text}");
        }
    }

    #[test]
    fn numbers_in_the_middle_of_two_floats_and_beside_it_are_the_nearest() {
        let mut seed = 3u32;
        for _ in 0..5_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // From 2^-3 to 2^40: the middles of larger and smaller floats have more digits.
            let low = f32::from_bits((124 + seed % 43) << 23 | seed >> 9);
            let middle = f64::midpoint(f64::from(low), f64::from(low.next_up()));
            let exact = format!("{middle}");
            for decimals in 0..12 {
                check_nearest(&format!("{middle:.decimals$}"));
            }
            for last in b'0'..=b'9' {
                check_nearest(&format!("{}{}", &exact[..exact.len() - 1], char::from(last)));
            }
            check_nearest(&exact);
        }
        for text in
            ["16777217", "16777219", "-16777217.0", "33554434", "8388608.5", "0.50000002980232", "9007199254740993"]
        {
            check_nearest(text);
        }
    }

    #[test]
    fn other_texts_end_a_run() {
        for text in
            [".", "-", "-.", "--1", "+1", "1-2", "1.2.3", "1e5", "0x10", "nan", "1]", "\"1\"", "#", "1\u{b}", "\u{b}1"]
        {
            assert_eq!((read::<f32>(text), read::<i32>(text)), (None, None), "{text:?}");
        }
        assert_eq!(
            (read::<i32>("1."), read::<i32>("-12345678"), read::<i32>("2147483647")),
            (None, Some(-12_345_678), Some(i32::MAX))
        );
        assert_eq!((read::<i32>("2147483648"), read::<f32>("-0").map(f32::to_bits)), (None, Some(1 << 31)));
        assert_eq!(
            (read::<f32>("123456789.12345678"), read::<f32>(".5"), read::<f32>("5.")),
            (None, Some(0.5), Some(5.0))
        );
    }
}
