//! Sample points: one in each subpixel (Cook 1986), multi-jittered (Chiu, Shirley and Wang 1994).

use anthill::pipeline::kernels::constants::{FIXED, JITTER_LOG2, JITTER_SALT, STEP_X, STEP_Y};

/// How pixels are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Subpixels of a pixel along x and y.
    pub samples: [u32; 2],
    /// Whether samples are anywhere in their subpixel, or in its middle.
    pub jitter: bool,
}

/// Parts of a pixel in which raster coordinates are integers.
pub(crate) const PIXEL_PARTS: i64 = FIXED as i64;

impl Pattern {
    /// Samples of a pixel.
    pub(crate) fn pixel_samples(&self) -> u32 {
        self.samples[0] * self.samples[1]
    }

    /// The order of a pixel's samples: the number of 65536 by which the ny-ths of columns are turned, and the nx-ths of
    /// rows; and the number of 65536 that says where in its N-th of the pixel a sample is, along x and y.
    fn numbers(&self, [px, py]: [i32; 2], [x, y]: [u32; 2]) -> [[u32; 2]; 2] {
        let row = hash([0, py.cast_unsigned()]);
        let turn = row.wrapping_add(px.cast_unsigned().wrapping_mul(STEP_X));
        let column = px.cast_unsigned().wrapping_mul(self.samples[0]).wrapping_add(x);
        let steps = column.wrapping_mul(STEP_X).wrapping_add(y.wrapping_mul(STEP_Y));
        [turn, row.wrapping_mul(JITTER_SALT).wrapping_add(steps)].map(|both| [both >> 16, both & 0xffff])
    }

    /// Position in 1/1024 pixel of the sample in subpixel `k` of a pixel.
    pub(crate) fn position(&self, pixel: [i32; 2], k: [u32; 2]) -> [i64; 2] {
        let [turns, jitter] = self.numbers(pixel, k);
        let [nx, ny] = self.samples;
        let [right, down] = [(turns[0] * ny) >> 16, (turns[1] * nx) >> 16];
        let nth = [(halves(k[1], ny) + right) % ny, (halves(k[0], nx) + down) % nx];
        [0, 1].map(|axis| {
            let step = (PIXEL_PARTS << 16) / i64::from(self.samples[axis]);
            let nths = i64::from((nth[axis] << JITTER_LOG2) + (jitter[axis] >> (16 - JITTER_LOG2)));
            let place = (nths * i64::from((1 << 22) / (nx * ny))) >> 6;
            let within = if self.jitter { place } else { step / 2 };
            i64::from(pixel[axis]) * PIXEL_PARTS + ((i64::from(k[axis]) * step + within) >> 16)
        })
    }

    /// The same for sample number `s` of a pixel, row by row.
    pub(crate) fn sample(&self, pixel: [i32; 2], s: u32) -> [i64; 2] {
        self.position(pixel, [s % self.samples[0], s / self.samples[0]])
    }
}

/// The place of a number below n in an order that takes the lower half and the upper in turn.
pub(crate) fn halves(x: u32, n: u32) -> u32 {
    x / 2 + x % 2 * n.div_ceil(2)
}

/// A 32-bit hash of two coordinates: products with odd constants, then a permutation of two multiplications and three
/// shifts.
pub(crate) fn hash([x, y]: [u32; 2]) -> u32 {
    let h = x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77);
    let h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    let h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    h ^ (h >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where subpixel `k` of `n` begins, in 1/1024 pixel, rounded down.
    fn border(k: u32, n: u32) -> i64 {
        let step = (PIXEL_PARTS << 16) / i64::from(n);
        (i64::from(k) * step) >> 16
    }

    /// All samples of a square of pixels around the origin: offsets inside their subpixels, 0 to 1.
    fn offsets(samples: [u32; 2], side: i32) -> Vec<[f64; 2]> {
        let pattern = Pattern { samples, jitter: true };
        let mut offsets = Vec::new();
        for (y, x) in (-side..side).flat_map(|y| (-side..side).map(move |x| (y, x))) {
            for s in 0..pattern.pixel_samples() {
                let k = [s % samples[0], s / samples[0]];
                let p = pattern.position([x, y], k);
                offsets.push([0, 1].map(|axis| {
                    let n = samples[axis];
                    let [low, high] = [k[axis], k[axis] + 1].map(|k| border(k, n));
                    let at = p[axis] - i64::from([x, y][axis]) * PIXEL_PARTS;
                    // A border that is no whole number leaves the place before it to both sides.
                    let rounding = i64::from(PIXEL_PARTS % i64::from(n) != 0);
                    assert!(at >= low && at < high + rounding, "{p:?} in subpixel {k:?} of pixel {x} {y}");
                    (at - low) as f64 / (high - low) as f64
                }));
            }
        }
        offsets
    }

    /// Chi-square of counts that should be equal, in standard deviations from its mean.
    fn chi_square(counts: &[u32]) -> f64 {
        let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - mean).powi(2) / mean).sum();
        let freedom = (counts.len() - 1) as f64;
        (chi - freedom) / (2.0 * freedom).sqrt()
    }

    /// How often pairs of numbers fall into each of 8 x 8 boxes.
    fn boxes(pairs: impl Iterator<Item = (f64, f64)>) -> Vec<u32> {
        let mut counts = vec![0; 64];
        pairs.for_each(|(a, b)| counts[(a * 8.0) as usize * 8 + (b * 8.0) as usize] += 1);
        counts
    }

    #[test]
    fn samples_lie_in_their_subpixels_evenly_on_the_whole() {
        for (samples, side) in [([1, 1], 16), ([2, 2], 16), ([4, 4], 16), ([3, 5], 16), ([13, 13], 16), ([150, 150], 2)]
        {
            let offsets = offsets(samples, side);
            for axis in 0..2 {
                let mean = offsets.iter().map(|o| o[axis]).sum::<f64>() / offsets.len() as f64;
                // 1/sqrt(12) is the deviation of one; what is lost by rounding down is part of a 1/1024 pixel.
                let rounding = 0.5 * f64::from(samples[axis]) / 1024.0;
                let deviation = 1.0 / (12.0 * offsets.len() as f64).sqrt();
                assert!((mean - 0.5 + rounding).abs() < 4.0 * deviation + rounding, "{samples:?}: {mean}");
            }
        }
    }

    #[test]
    fn samples_of_a_pixel_are_in_different_parts_of_its_width_and_height() {
        for samples in [[1, 1], [2, 2], [3, 3], [4, 4], [5, 3], [2, 8], [8, 4], [1, 4], [1, 6], [6, 6]] {
            let pattern = Pattern { samples, jitter: true };
            let n = pattern.pixel_samples();
            for pixel in [[0, 0], [5, -3], [-1000, 77], [123, 456]] {
                for axis in 0..2 {
                    let at = (0..n).map(|s| pattern.sample(pixel, s)[axis] - i64::from(pixel[axis]) * PIXEL_PARTS);
                    let mut places: Vec<i64> = at.map(|at| at * i64::from(n)).collect();
                    places.sort_unstable();
                    for (part, at) in (0..).zip(places) {
                        // Rounded down, by way of steps that are, which powers of two divide.
                        let rounding = if n.is_power_of_two() { 0 } else { 2 * i64::from(n) };
                        let from_part = at - part * PIXEL_PARTS;
                        let near = (-rounding..PIXEL_PARTS).contains(&from_part);
                        assert!(near, "{samples:?} at {pixel:?}, axis {axis}, part {part}: {from_part}");
                    }
                }
            }
        }
    }

    #[test]
    fn where_a_sample_is_in_its_subpixel_differs_evenly_from_row_to_row() {
        for n in [1, 2, 4] {
            let pattern = Pattern { samples: [n, n], jitter: true };
            for k in (0..n * n).map(|s| [s % n, s / n]) {
                let across = (0..2304).map(|y| {
                    let at = pattern.position([7, y], k);
                    let inside = |axis: usize, pixel: i64, k: u32| {
                        (at[axis] - pixel * PIXEL_PARTS) as f64 * f64::from(n) / PIXEL_PARTS as f64 - f64::from(k)
                    };
                    (inside(0, 7, k[0]), inside(1, i64::from(y), k[1]))
                });
                let chi = chi_square(&boxes(across));
                assert!(chi < 4.5, "{n} x {n}, sample {k:?}: {chi} deviations");
            }
        }
    }

    #[test]
    fn samples_of_pixels_in_a_row_are_far_from_each_other() {
        for n in [1, 2, 4] {
            let pattern = Pattern { samples: [n, n], jitter: true };
            for y in 0..20 {
                let places = |k: [u32; 2]| {
                    (0..64).map(move |x| {
                        let at = pattern.position([x, y], k);
                        let parts = PIXEL_PARTS / i64::from(n);
                        (at[0].rem_euclid(parts) as f64 / parts as f64, at[1].rem_euclid(parts) as f64 / parts as f64)
                    })
                };
                // Four are expected in each of 4 x 4 boxes.
                let mut counts = [0; 16];
                places([0, n - 1]).for_each(|(a, b)| counts[(a * 4.0) as usize * 4 + (b * 4.0) as usize] += 1);
                assert!(counts.iter().all(|count| (1..=9).contains(count)), "{n} x {n}, row {y}: {counts:?}");
            }
        }
    }

    #[test]
    fn without_jitter_samples_are_centres() {
        let pattern = Pattern { samples: [2, 4], jitter: false };
        assert_eq!(pattern.position([3, -1], [1, 0]), [3 * 1024 + 768, -1024 + 128]);
        assert_eq!(pattern.sample([0, 0], 7), [768, 896]);
    }
}
