//! Pixel and depth filters against double precision; regions against the whole picture.

use super::random::Random;
use super::region::{Region, delivered, flat_frame, in_halves, pattern};
use crate::reference::filter::{depth, pixel};
use anthill::pipeline::buffers::Vec4;
use anthill::pipeline::filter;
use anthill::pipeline::pixels::RegionPixels;
use anthill::pipeline::stage::FilteredRecord;
use anthill::scene::{DepthFilter, Filter, FilterKind};

const VARIABLES: u64 = 2;

/// What sample `s` of a pixel holds in a record: the same whatever region it is in. Bright and dark.
fn value([x, y]: [i32; 2], s: u32, record: u64) -> Vec4 {
    let place = u64::from(x.cast_unsigned()) << 32 | u64::from(y.cast_unsigned());
    let mut random = Random::new(place ^ u64::from(s) << 20 ^ record << 50);
    [random.unit(), random.float(-1.0, 1.0), 10.0 * random.unit(), 1.0]
}

/// Filters a rectangle of pixels: colour, then each variable.
fn filtered(samples: [u32; 2], inside: [i32; 4], by: &Filter, translucent: bool) -> Vec<Vec<Vec4>> {
    let pixels = RegionPixels::new(delivered(inside), by);
    let mut device = Region::new(flat_frame(samples, true), pixels, |room| {
        (room.variables, room.filtered, room.entries) = (VARIABLES, 1 + VARIABLES, u64::from(translucent));
    });
    let records = device.capacity.resolved_records();
    let [x0, y0, x1, y1] = pixels.sampled;
    let mut resolved = Vec::new();
    for (y, x) in (y0..y1).flat_map(|y| (x0..x1).map(move |x| (y, x))) {
        for s in 0..device.pixel_samples() {
            // Record 0, then one that is not filtered when anything is translucent, then the variables.
            resolved.push(value([x, y], s, 0));
            resolved.extend((1..records - VARIABLES).map(|_| [f32::NAN; 4]));
            resolved.extend((1..=VARIABLES).map(|variable| value([x, y], s, variable)));
        }
    }
    device.lab.write(device.slices.resolved, &resolved);
    let (given, slices) = (device.given(), device.slices);
    let count = pixels.inside.pixel_count();
    device.lab.run(|recording| {
        in_halves(count, |some| {
            filter::record(recording, given.memory(), &FilteredRecord::all(VARIABLES, *by), some);
        });
    });
    (0..=VARIABLES).map(|group| device.lab.read(slices.pixels.part(group * count..(group + 1) * count))).collect()
}

fn filters() -> Vec<Filter> {
    let kinds = [
        FilterKind::Box,
        FilterKind::Triangle,
        FilterKind::Gaussian,
        FilterKind::CatmullRom,
        FilterKind::Sinc,
        FilterKind::Mitchell,
        FilterKind::Lanczos,
        FilterKind::BlackmanHarris,
        FilterKind::Disk,
        FilterKind::SeparableCatmullRom,
    ];
    let widths = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [0.5, 1.5], [4.0, 2.5], [6.3, 5.0]];
    kinds.into_iter().flat_map(|kind| widths.map(|width| Filter { kind, width })).collect()
}

#[test]
fn pixels_are_weighted_means_of_their_samples() {
    let inside = [3, 5, 9, 10];
    for by in filters() {
        for (samples, translucent) in [([1, 1], false), ([2, 3], true), ([5, 4], false)] {
            let found = filtered(samples, inside, &by, translucent);
            let pattern = pattern(&flat_frame(samples, true));
            for (group, found) in (0..).zip(&found) {
                for (i, found) in (0..).zip(found) {
                    let at = [3 + i % 6, 5 + i / 6];
                    let (expected, size) = pixel(&by, pattern, at, |pixel, s| value(pixel, s, group));
                    let error = (0..4).map(|k| (f64::from(found[k]) - expected[k]).abs()).fold(0.0, f64::max);
                    assert!(error <= 2e-6 * size, "{by:?} {samples:?} {at:?}: {found:?} for {expected:?}, size {size}");
                }
            }
        }
    }
}

#[test]
fn a_filter_over_more_samples_than_loop_trips_is_whole() {
    for (samples, width) in
        [([16, 16], [30.0, 22.0]), ([1, 1], [128.0, 128.0]), ([1, 2], [128.0, 128.0]), ([32, 32], [6.0, 9.0])]
    {
        let by = Filter { kind: FilterKind::Triangle, width };
        let found = filtered(samples, [0, 0, 2, 1], &by, false);
        let pattern = pattern(&flat_frame(samples, true));
        for (i, found) in (0..).zip(&found[1]) {
            let (expected, size) = pixel(&by, pattern, [i, 0], |pixel, s| value(pixel, s, 1));
            let error = (0..4).map(|k| (f64::from(found[k]) - expected[k]).abs()).fold(0.0, f64::max);
            assert!(error <= 5e-5 * size, "{samples:?} {width:?}: {found:?} for {expected:?}");
        }
    }
}

#[test]
fn a_constant_stays_what_it_is() {
    let narrow = filters().into_iter().map(|by| Filter { width: [0.25, 0.25], ..by });
    for by in filters().into_iter().chain(narrow) {
        for samples in [[2, 2], [3, 3], [4, 4]] {
            for found in filtered(samples, [0, 0, 4, 4], &by, false).iter().flatten() {
                // The last component is 1 everywhere.
                assert!((found[3] - 1.0).abs() < 1e-4, "{by:?} {samples:?}: {found:?}");
            }
        }
    }
}

#[test]
fn regions_filter_to_the_same_bits_as_the_whole() {
    for by in [
        Filter { kind: FilterKind::Gaussian, width: [2.0, 2.0] },
        Filter { kind: FilterKind::Sinc, width: [5.5, 4.0] },
        Filter { kind: FilterKind::Box, width: [1.0, 1.0] },
    ] {
        let whole = filtered([4, 4], [0, 0, 12, 9], &by, false);
        for part in [[0, 0, 5, 9], [5, 0, 12, 4], [5, 4, 12, 9], [11, 8, 12, 9], [3, 2, 4, 3]] {
            let found = filtered([4, 4], part, &by, false);
            for (found, whole) in found.iter().zip(&whole) {
                let [x0, y0, x1, _] = part;
                for (i, found) in (0..).zip(found) {
                    let (x, y) = (x0 + i % (x1 - x0), y0 + i / (x1 - x0));
                    assert_eq!(*found, whole[(y * 12 + x) as usize], "{by:?}, pixel {x} {y} of {part:?}");
                }
            }
        }
    }
}

/// The bits of a depth behind that of a key, or of nothing.
fn next_depth(random: &mut Random, key: u64) -> u32 {
    let z = f32::from_bits((key >> 32) as u32);
    if key == u64::MAX || random.one_in(3) { u32::MAX } else { (z * random.float(1.0, 4.0)).to_bits() }
}

#[test]
fn depths_are_the_nearest_the_farthest_the_mean_or_midpoints() {
    let mut random = Random::new(2);
    let pixels = RegionPixels { sampled: [-2, -1, 9, 8], inside: delivered([0, 1, 7, 6]) };
    let mut device = Region::new(flat_frame([3, 2], true), pixels, |capacity| capacity.behind = true);
    let key = |_| {
        let z = f32::exp(random.float(-3.0, 6.0));
        if random.one_in(4) { u64::MAX } else { u64::from(z.to_bits()) << 32 | u64::from(random.below(1000)) }
    };
    let mut keys: Vec<u64> = (0..11 * 9 * 6).map(key).collect();
    let pixel = |x: usize, y: usize| ((y + 2) * 11 + x + 2) * 6; // pixel (x, y) of the inside
    keys[pixel(3, 2)..][..6].fill(u64::MAX);
    device.lab.write(device.slices.keys, &keys);
    let behind: Vec<u32> = keys.iter().map(|&key| next_depth(&mut random, key)).collect();
    device.lab.write(device.slices.behind, &behind);
    for by in [DepthFilter::Min, DepthFilter::Max, DepthFilter::Average, DepthFilter::Midpoint] {
        let (slices, context) = (device.slices, device.context());
        device.lab.run(|recording| {
            in_halves(35, |some| filter::record_depth(recording, &context, by, some));
        });
        let found = device.lab.read(slices.depths.part(0..35));
        for (i, found) in found.into_iter().enumerate() {
            let samples = pixel(i % 7, i / 7)..pixel(i % 7, i / 7) + 6;
            let expected = depth(&keys[samples.clone()], &behind[samples], by);
            assert!(
                (f64::from(found) - expected).abs() <= 1e-6 * expected,
                "{by:?} of pixel {i}: {found} for {expected}"
            );
        }
    }
}
