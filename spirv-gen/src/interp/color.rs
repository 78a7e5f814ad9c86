//! Colour spaces, in f64 and by the textbook.

use crate::ir::ColorSpace;

type Triple = [f64; 3];

fn times(m: [Triple; 3], c: Triple) -> Triple {
    m.map(|row| row[0] * c[0] + row[1] * c[1] + row[2] * c[2])
}

/// Rec. 709 primaries, D65 white.
const XYZ_FROM_RGB: [Triple; 3] = [
    [0.412_390_799_3, 0.357_584_339_4, 0.180_480_788_4],
    [0.212_639_005_9, 0.715_168_678_8, 0.072_192_315_36],
    [0.019_330_818_72, 0.119_194_779_8, 0.950_532_152_2],
];
const RGB_FROM_XYZ: [Triple; 3] = [
    [3.240_969_942, -1.537_383_178, -0.498_610_760_3],
    [-0.969_243_636_3, 1.875_967_502, 0.041_555_057_41],
    [0.055_630_079_7, -0.203_976_958_9, 1.056_971_514],
];
/// NTSC.
const YIQ_FROM_RGB: [Triple; 3] =
    [[0.299, 0.587, 0.114], [0.595_716, -0.274_453, -0.321_263], [0.211_456, -0.522_591, 0.311_135]];
const RGB_FROM_YIQ: [Triple; 3] = [
    [1.0, 0.956_295_719_8, 0.621_024_416_5],
    [1.0, -0.272_122_099_3, -0.647_380_596_8],
    [1.0, -1.106_989_017, 1.704_614_998],
];

/// Returns hue (0..1), largest and smallest component.
fn hue([r, g, b]: Triple) -> Triple {
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    let d = high - low;
    let sector = if d == 0.0 {
        0.0
    } else if r == high {
        ((g - b) / d).rem_euclid(6.0)
    } else if g == high {
        2.0 + (b - r) / d
    } else {
        4.0 + (r - g) / d
    };
    [sector / 6.0, high, low]
}

/// Returns the colour of a hue whose components run from `low` to `high`.
fn of_hue(hue: f64, low: f64, high: f64) -> Triple {
    let h = hue.rem_euclid(1.0) * 6.0;
    let ramp = |x: f64| low + (high - low) * x.clamp(0.0, 1.0);
    [ramp((h - 3.0).abs() - 1.0), ramp(2.0 - (h - 2.0).abs()), ramp(2.0 - (h - 4.0).abs())]
}

pub(super) fn from_rgb(space: ColorSpace, c: [f32; 3]) -> [f32; 3] {
    let c = c.map(f64::from);
    let [h, high, low] = hue(c);
    let v = match space {
        ColorSpace::Rgb => c,
        ColorSpace::Hsv => [h, if high == 0.0 { 0.0 } else { (high - low) / high }, high],
        ColorSpace::Hsl => {
            let sum = high + low;
            let d = if sum <= 1.0 { sum } else { 2.0 - sum };
            [h, if d == 0.0 { 0.0 } else { (high - low) / d }, sum / 2.0]
        }
        ColorSpace::Yiq => times(YIQ_FROM_RGB, c),
        ColorSpace::Xyz => times(XYZ_FROM_RGB, c),
        ColorSpace::XyY => {
            let [x, y, z] = times(XYZ_FROM_RGB, c);
            let sum = x + y + z;
            if sum == 0.0 { [0.3127, 0.3290, 0.0] } else { [x / sum, y / sum, y] }
        }
    };
    v.map(|x| x as f32)
}

pub(super) fn to_rgb(space: ColorSpace, c: [f32; 3]) -> [f32; 3] {
    let c = c.map(f64::from);
    let v = match space {
        ColorSpace::Rgb => c,
        ColorSpace::Hsv => of_hue(c[0], c[2] * (1.0 - c[1]), c[2]),
        ColorSpace::Hsl => {
            let chroma = (1.0 - (2.0 * c[2] - 1.0).abs()) * c[1];
            of_hue(c[0], c[2] - chroma / 2.0, c[2] + chroma / 2.0)
        }
        ColorSpace::Yiq => times(RGB_FROM_YIQ, c),
        ColorSpace::Xyz => times(RGB_FROM_XYZ, c),
        ColorSpace::XyY => {
            let [x, y, luminance] = c;
            if y == 0.0 {
                return [0.0; 3];
            }
            let k = luminance / y;
            times(RGB_FROM_XYZ, [x * k, luminance, (1.0 - x - y) * k])
        }
    };
    v.map(|x| x as f32)
}
