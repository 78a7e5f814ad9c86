//! Pixel filters (RISpec 4.1.3 and its appendix on filter functions), and depth filters.

use super::sampling::{PIXEL_PARTS, Pattern};
use anthill::pipeline::kernels::constants::DEPTH_MAX;
use anthill::scene::{Filter, FilterKind};
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
    }
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
    let (mut sum, mut total, mut size) = ([0.0; 4], 0.0, 0.0);
    for (y, x) in (py - reach[1]..=py + reach[1]).flat_map(|y| (px - reach[0]..=px + reach[0]).map(move |x| (y, x))) {
        for s in 0..pattern.pixel_samples() {
            let at = pattern.sample([x, y], s);
            let from_centre = |axis: usize, p: i32| {
                (at[axis] - i64::from(p) * PIXEL_PARTS - PIXEL_PARTS / 2) as f64 / PIXEL_PARTS as f64
            };
            let w = weight(filter, from_centre(0, px), from_centre(1, py));
            if w != 0.0 {
                let value = value([x, y], s).map(f64::from);
                (0..4).for_each(|i| sum[i] += w * value[i]);
                total += w;
                size += (w.abs() + 0.5) * value.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
            }
        }
    }
    if total == 0.0 { ([0.0; 4], 0.0) } else { (sum.map(|x| x / total), size / total.abs()) }
}

/// Depth of a pixel whose samples have these keys: the nearest, the farthest, or the mean of those that see anything.
/// 1e38: nothing.
pub(crate) fn depth(keys: &[u64], by: &str) -> f64 {
    const NOTHING: f64 = DEPTH_MAX as f64;
    let seen = |key: &u64| *key != u64::MAX;
    let z = |key: &u64| if seen(key) { f64::from(f32::from_bits((key >> 32) as u32)) } else { NOTHING };
    let count = keys.iter().filter(|key| seen(key)).count();
    match by {
        "max" => keys.iter().map(z).fold(0.0, f64::max),
        "average" if count > 0 => keys.iter().filter(|key| seen(key)).map(z).sum::<f64>() / count as f64,
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
    assert!(at(FilterKind::Sinc, 4.0, 1.0, 0.3).abs() < 1e-15 && at(FilterKind::Sinc, 4.0, 1.5, 0.0) < -0.1);
}
