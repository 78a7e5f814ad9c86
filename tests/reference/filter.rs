//! Pixel filters (RISpec 4.1.3 and its appendix on filter functions), and depth filters.

use super::sampling::{PIXEL_PARTS, Pattern};
use anthill::pipeline::kernels::constants::{DEPTH_MAX, KEY_EMPTY};
use anthill::scene::{DepthFilter, Filter, FilterKind};
use std::f64::consts::PI;

/// Weight of a sample `x`, `y` pixels from the centre of a pixel.
pub(crate) fn weight(filter: &Filter, x: f64, y: f64) -> f64 {
    let half = filter.width.map(|width| f64::from(width) / 2.0);
    if x.abs() > half[0] || y.abs() > half[1] {
        return 0.0;
    }
    match filter.kind {
        FilterKind::Box => 1.0,
        FilterKind::Triangle => (1.0 - x.abs() / half[0]) * (1.0 - y.abs() / half[1]),
        FilterKind::Gaussian => {
            let (x, y) = (x / half[0], y / half[1]);
            (-2.0 * (x * x + y * y)).exp()
        }
        FilterKind::CatmullRom => {
            let r2 = x * x + y * y;
            let r = r2.sqrt();
            match r {
                r if r >= 2.0 => 0.0,
                r if r < 1.0 => 3.0 * r * r2 - 5.0 * r2 + 2.0,
                _ => -r * r2 + 5.0 * r2 - 8.0 * r + 4.0,
            }
        }
        FilterKind::Sinc => {
            let windowed = |x: f64, width: f64| match x * PI {
                0.0 => 1.0,
                x => (0.5 * x / width).cos() * x.sin() / x,
            };
            windowed(x, 2.0 * half[0]) * windowed(y, 2.0 * half[1])
        }
        FilterKind::Mitchell => {
            let (b, c) = (1.0 / 3.0, 1.0 / 3.0);
            let along = |q: f64| match q.abs() {
                q if q < 1.0 => {
                    ((12.0 - 9.0 * b - 6.0 * c) * q.powi(3) + (-18.0 + 12.0 * b + 6.0 * c) * q.powi(2) + 6.0 - 2.0 * b)
                        / 6.0
                }
                q => {
                    let (cubic, square) = ((-b - 6.0 * c) * q.powi(3), (6.0 * b + 30.0 * c) * q.powi(2));
                    (cubic + square + (-12.0 * b - 48.0 * c) * q + 8.0 * b + 24.0 * c) / 6.0
                }
            };
            along(2.0 * x / half[0]) * along(2.0 * y / half[1])
        }
        FilterKind::Lanczos => {
            let sinc = |x: f64| if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) };
            sinc(x) * sinc(y) * sinc(x / half[0]) * sinc(y / half[1])
        }
        FilterKind::BlackmanHarris => {
            let along = |r: f64| {
                let terms = [0.35875, 0.48829, 0.14128, 0.01168];
                (0..).zip(terms).map(|(k, term)| term * (f64::from(k) * PI * r).cos()).sum::<f64>()
            };
            along(x / half[0]) * along(y / half[1])
        }
        FilterKind::Disk => f64::from(u8::from((x / half[0]).powi(2) + (y / half[1]).powi(2) <= 1.0)),
        FilterKind::SeparableCatmullRom => {
            let along = |q: f64| match q.abs() {
                q if q >= 2.0 => 0.0,
                q if q < 1.0 => 3.0 * q.powi(3) - 5.0 * q.powi(2) + 2.0,
                q => -q.powi(3) + 5.0 * q.powi(2) - 8.0 * q + 4.0,
            };
            along(x) * along(y)
        }
    }
}

/// Weight of the sample in subpixel `s` of the pixel that is `pixel` away: that of the middle of the part of the
/// subpixel that the filter reaches, times the size of the part.
fn subpixel_weight(filter: &Filter, samples: [u32; 2], pixel: [i32; 2], s: u32) -> f64 {
    let k = [s % samples[0], s / samples[0]];
    let along = [0, 1].map(|axis| {
        let [size, half] = [1.0 / f64::from(samples[axis]), f64::from(filter.width[axis]) / 2.0];
        let middle = f64::from(pixel[axis]) - 0.5 + (f64::from(k[axis]) + 0.5) * size;
        let [low, high] = [(middle - 0.5 * size).max(-half), (middle + 0.5 * size).min(half)];
        (0.5 * (low + high), if high - low < 1e-6 { 0.0 } else { high - low })
    });
    let inside = along[0].1 * along[1].1;
    if inside > 0.0 { weight(filter, along[0].0, along[1].0) * inside } else { 0.0 }
}

/// The weighted mean around a pixel of what samples hold; and how much its terms come to without their signs, for
/// judging errors: a weight is a difference of numbers that may be larger.
/// `value(pixel, s)` is that of sample `s`.
pub(crate) fn pixel(
    filter: &Filter,
    pattern: Pattern,
    [px, py]: [i32; 2],
    value: impl Fn([i32; 2], u32) -> [f32; 4],
) -> ([f64; 4], f64) {
    // The apron: pixels that hold any but single points of what the filter reaches.
    let reach = filter.width.map(|width| (f64::from(width) / 2.0 - 0.5).ceil() as i32);
    let (mut sum, mut total, mut size, mut weights) = ([0.0; 4], 0.0, 0.0, 0.0);
    for (y, x) in (py - reach[1]..=py + reach[1]).flat_map(|y| (px - reach[0]..=px + reach[0]).map(move |x| (y, x))) {
        for s in 0..pattern.pixel_samples() {
            let w = if pattern.pixel_samples() == 1 {
                let at = pattern.sample([x, y], s);
                let from_centre = |axis: usize, pixel: i32| {
                    (at[axis] - i64::from(pixel) * PIXEL_PARTS - PIXEL_PARTS / 2) as f64 / PIXEL_PARTS as f64
                };
                weight(filter, from_centre(0, px), from_centre(1, py))
            } else {
                subpixel_weight(filter, pattern.samples, [x - px, y - py], s)
            };
            if w != 0.0 {
                let value = value([x, y], s).map(f64::from);
                (0..4).for_each(|i| sum[i] += w * value[i]);
                total += w;
                weights += w.abs() + 0.5;
                size += (w.abs() + 0.5) * value.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
            }
        }
    }
    if total == 0.0 {
        return ([0.0; 4], 0.0);
    }
    // What weights are off by counts in the sum, and in the total as many times as the mean says.
    let mean = sum.map(|x| x / total);
    let largest = mean.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    (mean, (size + weights * largest) / total.abs())
}

/// Depth of a pixel whose samples have these keys: the nearest, the farthest, the mean of those that see anything,
/// or the nearest of those halfway to what is behind (depth bits). 1e38: nothing.
pub(crate) fn depth(keys: &[u64], behind: &[u32], by: DepthFilter) -> f64 {
    const NOTHING: f64 = DEPTH_MAX as f64;
    let seen = |key: &u64| *key != u64::MAX;
    let z = |key: &u64| if seen(key) { f64::from(f32::from_bits((key >> 32) as u32)) } else { NOTHING };
    let count = keys.iter().filter(|key| seen(key)).count();
    match by {
        DepthFilter::Max => keys.iter().map(z).fold(0.0, f64::max),
        DepthFilter::Average if count > 0 => keys.iter().filter(|key| seen(key)).map(z).sum::<f64>() / count as f64,
        DepthFilter::Midpoint => {
            let both = keys.iter().zip(behind).filter(|(key, next)| seen(key) && **next != KEY_EMPTY);
            both.map(|(key, next)| 0.5 * (z(key) + f64::from(f32::from_bits(*next)))).fold(NOTHING, f64::min)
        }
        _ => keys.iter().map(z).fold(NOTHING, f64::min),
    }
}

#[test]
fn filters_are_what_the_specification_says_at_a_few_places() {
    let at = |kind, width: f32, x, y| weight(&Filter { kind, width: [width, width] }, x, y);
    assert_eq!((at(FilterKind::Box, 2.0, 0.9, -1.0), at(FilterKind::Box, 2.0, 1.1, 0.0)), (1.0, 0.0));
    assert_eq!((at(FilterKind::Triangle, 2.0, 0.5, 0.5), at(FilterKind::Triangle, 4.0, 2.0, 0.0)), (0.25, 0.0));
    assert!((at(FilterKind::Gaussian, 2.0, 1.0, 0.0) - (-2.0_f64).exp()).abs() < 1e-15);
    assert_eq!((at(FilterKind::CatmullRom, 4.0, 0.0, 0.0), at(FilterKind::CatmullRom, 4.0, 1.0, 0.0)), (2.0, 0.0));
    // B = C = 1/3: 8/9 in the middle, 1/18 halfway to the rim.
    assert!((at(FilterKind::Mitchell, 4.0, 0.0, 1.0) - 8.0 / 9.0 / 18.0).abs() < 1e-15);
    assert!(at(FilterKind::Lanczos, 6.0, 2.0, 0.5).abs() < 1e-15 && at(FilterKind::Lanczos, 6.0, 1.5, 0.0) < -0.1);
    assert!((at(FilterKind::BlackmanHarris, 3.0, 0.0, 0.0) - 1.0).abs() < 1e-15);
    assert!((at(FilterKind::BlackmanHarris, 3.0, 1.5, 0.0) - 6e-5).abs() < 1e-15);
    assert_eq!((at(FilterKind::Disk, 2.0, 0.6, 0.7), at(FilterKind::Disk, 2.0, 0.8, 0.7)), (1.0, 0.0));
    assert_eq!(at(FilterKind::SeparableCatmullRom, 4.0, 0.5, 1.0), 0.0);
    assert!(at(FilterKind::Sinc, 4.0, 1.0, 0.3).abs() < 1e-15 && at(FilterKind::Sinc, 4.0, 1.5, 0.0) < -0.1);
}
