//! Exposure and quantization (RISpec 4.1.4): the last two steps from a filtered colour to a number in a file.

use crate::scene::Quantize;

/// Returns `(value gain)^(1/gamma)`. Negative values keep their sign: the curve is odd, so that float files lose
/// nothing.
pub(super) fn expose(value: f32, [gain, gamma]: [f32; 2]) -> f32 {
    let exposed = f64::from(value) * f64::from(gain);
    // Most pictures are exposed by 1 1 and must pass unchanged, bit for bit.
    if gamma == 1.0 {
        return exposed as f32;
    }
    (exposed.abs().powf(1.0 / f64::from(gamma)).copysign(exposed)) as f32
}

/// Returns `round(one value + dither noise)`, clamped to `[min, max]` and to what the integer holds: 0 to `limit`.
/// `noise` is in (-1, 1). A value that is not a number becomes the smallest.
pub(super) fn quantize(value: f32, quantize: &Quantize, limit: u16, noise: f32) -> u16 {
    let scaled = f64::from(quantize.one) * f64::from(value) + f64::from(quantize.dither) * f64::from(noise);
    let rounded = scaled + 0.5;
    let low = f64::from(quantize.min).clamp(0.0, f64::from(limit));
    let high = f64::from(quantize.max).clamp(low, f64::from(limit));
    // What is between whole numbers is cut off: it is no longer negative.
    if rounded.is_nan() { low as u16 } else { rounded.clamp(low, high) as u16 }
}

/// Returns noise in (-1, 1), uniform with mean 0: a hash of only the absolute pixel coordinates and the channel's
/// number, so that a picture does not depend on regions or crop windows.
pub(super) fn dither_noise([x, y]: [i32; 2], channel: u32) -> f32 {
    let mut hash = 0x9e37_79b9_u32;
    for word in [x.cast_unsigned(), y.cast_unsigned(), channel] {
        hash = mix(hash ^ word);
    }
    // 23 bits and a half: the ends -1 and 1 are never reached, and the set is symmetric around 0.
    ((hash >> 9) as f32 + 0.5) / (1 << 22) as f32 - 1.0
}

/// Maps 32 bits by a bijection in which every input bit flips every output bit half of the time (the finalizer of
/// MurmurHash3).
fn mix(mut bits: u32) -> u32 {
    bits ^= bits >> 16;
    bits = bits.wrapping_mul(0x85eb_ca6b);
    bits ^= bits >> 13;
    bits = bits.wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTE: Quantize = Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.0 };

    #[test]
    fn quantize_rounds_and_clamps() {
        let ten_bits = Quantize { one: 1023.0, min: 64.0, max: 940.0, dither: 0.0 };
        let words = Quantize { one: 65535.0, min: 0.0, max: 65535.0, dither: 0.0 };
        let beyond = Quantize { one: 1e9, min: -5.0, max: 1e9, dither: 0.0 };
        let table: [(f32, Quantize, u16, u16); 14] = [
            (0.0, BYTE, 255, 0),
            (1.0, BYTE, 255, 255),
            (0.5, BYTE, 255, 128),
            (0.499 / 255.0, BYTE, 255, 0),
            (0.5 / 255.0, BYTE, 255, 1),
            (2.0, BYTE, 255, 255),
            (-1.0, BYTE, 255, 0),
            (f32::NAN, BYTE, 255, 0),
            (f32::INFINITY, BYTE, 255, 255),
            (0.0, ten_bits, 65535, 64),
            (1.0, ten_bits, 65535, 940),
            (0.5, words, 65535, 32768),
            (1.0, beyond, 65535, 65535),
            (-1.0, beyond, 65535, 0),
        ];
        for (value, settings, limit, expected) in table {
            assert_eq!(quantize(value, &settings, limit, 0.0), expected, "{value} by {settings:?}");
        }
    }

    #[test]
    fn dither_keeps_the_mean_and_leaves_exact_values_alone() {
        let dithered = Quantize { dither: 0.5, ..BYTE };
        let (mut sum, mut low, mut high) = (0.0_f64, f32::MAX, f32::MIN);
        for y in 0..256 {
            for x in 0..256 {
                let noise = dither_noise([x, y], 1);
                (low, high) = (low.min(noise), high.max(noise));
                sum += f64::from(quantize(100.3 / 255.0, &dithered, 255, noise));
                assert_eq!(quantize(100.0 / 255.0, &dithered, 255, noise), 100);
                assert_eq!(quantize(0.0, &dithered, 255, noise), 0);
            }
        }
        // The standard error of 65536 values of a coin with p = 0.3 is 0.0018.
        let mean = sum / 65536.0;
        assert!((mean - 100.3).abs() < 0.008, "{mean}");
        assert!(low > -1.0 && low < -0.999 && high < 1.0 && high > 0.999, "{low} {high}");
    }

    #[test]
    fn channels_are_dithered_independently() {
        let pairs = (0..4096).map(|i| (dither_noise([i % 64, i / 64], 0), dither_noise([i % 64, i / 64], 1)));
        let correlation = pairs.map(|(a, b)| f64::from(a * b)).sum::<f64>() / 4096.0;
        assert!(correlation.abs() < 0.02, "{correlation}");
    }

    #[test]
    fn exposure_is_gain_then_gamma() {
        assert_eq!(expose(0.123_456_7, [1.0, 1.0]), 0.123_456_7);
        assert_eq!(expose(0.25, [2.0, 1.0]), 0.5);
        assert_eq!(expose(0.125, [2.0, 2.0]), 0.5);
        assert_eq!(expose(-0.25, [1.0, 2.0]), -0.5);
        assert_eq!(expose(0.0, [1.0, 2.2]), 0.0);
        assert!((expose(0.18, [1.0, 2.2]) - 0.458_66).abs() < 1e-5);
    }
}
