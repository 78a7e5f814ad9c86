//! Sample points: one in each subpixel (Cook 1986).

use anthill::pipeline::kernels::constants::FIXED;

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

    /// Where subpixel `k` of `n` begins, in 1/1024 pixel: rounded down, by way of 1/65536 of that.
    pub(crate) fn border(k: u32, n: u32) -> i64 {
        let step = (PIXEL_PARTS << 16) / i64::from(n);
        (i64::from(k) * step) >> 16
    }

    /// Position in 1/1024 pixel of the sample in subpixel `k` of a pixel. The jitter is a hash of the absolute
    /// subpixel's coordinates: 16 bits each of the way along x and y.
    pub(crate) fn position(&self, pixel: [i32; 2], k: [u32; 2]) -> [i64; 2] {
        let absolute = [0, 1].map(|axis| pixel[axis].cast_unsigned().wrapping_mul(self.samples[axis]) + k[axis]);
        let hash = hash(absolute);
        let jitter = if self.jitter { [hash & 0xffff, hash >> 16] } else { [0x8000; 2] };
        [0, 1].map(|axis| {
            let [low, high] = [k[axis], k[axis] + 1].map(|k| Self::border(k, self.samples[axis]));
            i64::from(pixel[axis]) * PIXEL_PARTS + low + (((high - low) * i64::from(jitter[axis])) >> 16)
        })
    }

    /// The same for sample number `s` of a pixel, row by row.
    pub(crate) fn sample(&self, pixel: [i32; 2], s: u32) -> [i64; 2] {
        self.position(pixel, [s % self.samples[0], s / self.samples[0]])
    }
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
                    let [low, high] = [k[axis], k[axis] + 1].map(|k| Pattern::border(k, n));
                    let at = p[axis] - i64::from([x, y][axis]) * PIXEL_PARTS;
                    assert!(at >= low && at < high, "{p:?} in subpixel {k:?} of pixel {x} {y}");
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
        for samples in [[1, 1], [2, 2], [4, 4], [3, 5], [13, 13]] {
            let offsets = offsets(samples, 16);
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
    fn samples_are_not_correlated() {
        let offsets = offsets([4, 4], 24);
        let n = offsets.len();
        let along = |lag: usize, a: usize, b: usize| {
            let offsets = &offsets;
            boxes((0..n - lag).map(move |i| (offsets[i][a], offsets[i + lag][b])))
        };
        // Inside a sample, with the next in its row, the next row's, the next pixel's and the one below it.
        for (lag, a, b) in
            [(0, 0, 1), (1, 0, 0), (1, 1, 1), (4, 0, 0), (4, 1, 1), (16, 0, 0), (16, 1, 1), (768, 0, 0), (768, 1, 1)]
        {
            let chi = chi_square(&along(lag, a, b));
            assert!(chi.abs() < 4.5, "lag {lag}, axes {a} {b}: {chi} deviations");
        }
    }

    #[test]
    fn without_jitter_samples_are_centres() {
        let pattern = Pattern { samples: [2, 4], jitter: false };
        assert_eq!(pattern.position([3, -1], [1, 0]), [3 * 1024 + 768, -1024 + 128]);
        assert_eq!(pattern.sample([0, 0], 7), [768, 896]);
    }
}
