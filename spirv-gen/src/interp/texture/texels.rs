//! Texels: what the words of tiles hold, and where a texture that is one list of words has each of them.

use crate::abi::textures::{SLOT_WORDS, TILE_SIZE};

/// Bits of the mantissa of a float.
pub(super) const MANTISSA_BITS: u32 = f32::MANTISSA_DIGITS - 1;

/// The biased exponent of 1 as a float.
pub(super) const EXPONENT_OF_ONE: u32 = 127;

/// Bits of the mantissa of a half.
const HALF_MANTISSA_BITS: u32 = 10;

/// The biased exponent of 1 as a half; that of what is not finite is `2 * HALF_EXPONENT_OF_ONE + 1`.
const HALF_EXPONENT_OF_ONE: u32 = 15;

/// The sign of a half.
const HALF_SIGN: u32 = 1 << 15;

/// Returns a half as a float; what is not finite counts as 0.
fn half(h: u32) -> f32 {
    const INFINITE: u32 = 2 * HALF_EXPONENT_OF_ONE + 1;
    let size = h & (HALF_SIGN - 1);
    let mantissa = size & ((1 << HALF_MANTISSA_BITS) - 1);
    let value = match size >> HALF_MANTISSA_BITS {
        INFINITE => 0.0,
        0 => mantissa as f32 * (1.0 / (1 << 24) as f32),
        _ => {
            let bias = (EXPONENT_OF_ONE - HALF_EXPONENT_OF_ONE) << MANTISSA_BITS;
            f32::from_bits((size << (MANTISSA_BITS - HALF_MANTISSA_BITS)) + bias)
        }
    };
    if h & HALF_SIGN == 0 { value } else { -value }
}

/// Returns the two halves of a word, the lower one first.
fn halves(word: u32) -> [u32; 2] {
    [word & u32::from(u16::MAX), word >> 16]
}

/// Returns the channels of a texel word.
pub(super) fn word_channels(word: u32, format: u32) -> [f32; 4] {
    let [low, high] = halves(word);
    match format {
        0 => word.to_le_bytes().map(|b| f32::from(b) * (1.0 / 255.0)),
        1 => [low as f32 * (1.0 / 65_535.0), high as f32 * (1.0 / 65_535.0), 0.0, 0.0],
        2 => [half(low), half(high), 0.0, 0.0],
        _ => {
            let number = f32::from_bits(word);
            [if number.is_finite() { number } else { 0.0 }, 0.0, 0.0, 0.0]
        }
    }
}

/// Returns the number of channels of a word.
pub(super) fn channels_of_word(format: u32) -> u32 {
    [4, 2, 2, 1][format as usize & 3]
}

/// Returns the tile of a word of a list of words, counted from the first tile, and the word's column and row in it.
pub(super) fn tile_and_place(word: u32) -> (u32, [u32; 2]) {
    let place = word % SLOT_WORDS;
    (word / SLOT_WORDS, [place % TILE_SIZE, place / TILE_SIZE])
}

/// Returns the column and the row of a tile among the tiles of a point cloud ([`crate::abi::points`]).
pub(super) fn column_and_row(tile: u32) -> [u32; 2] {
    let [row, column] = halves(tile);
    [column, row]
}
