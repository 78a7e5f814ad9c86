//! What a shadow map sees of an area, and how it is sampled.

use super::arithmetic::{bounded, bounded_all, reciprocal, widened};
use crate::interp::noise::{hash, scramble};

/// How a shadow is sampled.
#[derive(Clone, Copy, Debug)]
pub struct ShadowSampling {
    /// Factors of dx and of dy.
    pub width: [f32; 2],
    /// What is added to it, in parts of the map.
    pub blur: [f32; 2],
    /// Samples; 0: 16.
    pub samples: f32,
    /// Each sample is moved towards the light by something between these.
    pub bias: [f32; 2],
    /// Of the samples' places.
    pub seed: u32,
}

/// Four columns.
pub(super) type Matrix = [[f32; 4]; 4];

/// The most samples of a lookup.
pub(super) const SAMPLES_MAX: f32 = 256.0;

/// Returns m * (v, w).
pub(super) fn transformed(m: &Matrix, v: [f32; 3], w: f32) -> [f32; 4] {
    std::array::from_fn(|i| ((m[0][i] * v[0] + m[1][i] * v[1]) + m[2][i] * v[2]) + m[3][i] * w)
}

/// The map seen from a point: its place there, what it moves along x and y, and the same of its depth.
pub(super) struct ShadowArea {
    place: [f32; 2],
    along: [[f32; 2]; 2],
    spread: [f32; 2],
    depths: [f32; 3],
}

impl ShadowArea {
    /// Returns what a map of a size sees of the parallelogram about `p` with sides x and y. None behind the map's
    /// camera.
    pub(super) fn new(
        [camera, picture]: &[Matrix; 2],
        [p, x, y]: [[f32; 3]; 3],
        blur: [f32; 2],
        size: [u32; 2],
    ) -> Option<Self> {
        let q = transformed(picture, p, 1.0);
        let depths = [transformed(camera, p, 1.0)[2], transformed(camera, x, 0.0)[2], transformed(camera, y, 0.0)[2]];
        if !(q[3] > 1e-30 && q[3] < 1e30 && depths[0] > 0.0) {
            return None;
        }
        let near = reciprocal(q[3]);
        let place = [q[0] * near, q[1] * near];
        let along = [x, y].map(|v| {
            let v = transformed(picture, v, 0.0);
            [0, 1].map(|i| (v[i] - place[i] * v[3]) * near)
        });
        let spread = [0, 1].map(|i| bounded(blur[i], 4.0) + reciprocal(size[i] as f32));
        Some(Self { place, along, spread, depths })
    }

    /// Returns what lies behind depths at sample `i`, at a place in texels of a map of this size: `behind(texel, z)`; 0
    /// beside the map.
    fn sample(&self, i: u32, size: [u32; 2], how: &ShadowSampling, behind: impl Fn([u32; 2], f32) -> f32) -> f32 {
        let unit = |h: u32| (h >> 8) as f32 * (1.0 / 16_777_216.0);
        let random = hash(how.seed, i);
        let jx = (i as f32 + unit(random)) * reciprocal(how.samples) - 0.5;
        let jy = unit(i.reverse_bits() ^ scramble(how.seed)) - 0.5;
        let j = [jx, jy];
        let at: [f32; 2] = std::array::from_fn(|k| {
            let moved = (self.along[0][k] * jx + self.along[1][k] * jy) + self.spread[k] * j[k];
            (self.place[k] + moved) * size[k] as f32
        });
        let lot = unit(scramble(random.wrapping_add(0x02e5_be93)));
        let [bias0, bias1] = how.bias;
        let z = (self.depths[0] + (self.depths[1] * jx + self.depths[2] * jy)) - (bias0 + (bias1 - bias0) * lot);
        if !(0..2).all(|k| at[k] >= 0.0 && at[k] < size[k] as f32) {
            return 0.0;
        }
        behind(std::array::from_fn(|k| (at[k] as u32).min(size[k] - 1)), z)
    }

    /// Returns which samples lie behind, as [`Self::sample`] has it.
    pub(super) fn each_behind<'a>(
        &'a self,
        size: [u32; 2],
        how: &'a ShadowSampling,
        behind: impl Fn([u32; 2], f32) -> bool + 'a,
    ) -> impl Iterator<Item = bool> + 'a {
        let behind = move |texel, z| if behind(texel, z) { 1.0 } else { 0.0 };
        (0..how.samples as u32).map(move |i| self.sample(i, size, how, &behind) > 0.0)
    }

    /// Returns the mean of its samples.
    pub(super) fn mean(&self, size: [u32; 2], how: &ShadowSampling, behind: impl Fn([u32; 2], f32) -> f32) -> f32 {
        let sum = (0..how.samples as u32).fold(0.0, |sum, i| sum + self.sample(i, size, how, &behind));
        sum * reciprocal(how.samples)
    }
}

impl ShadowSampling {
    /// Returns what its numbers count as.
    pub(super) fn bounded(&self) -> Self {
        let samples = bounded(self.samples, SAMPLES_MAX);
        let samples = if samples < 1.0 { 16.0 } else { samples.floor() };
        Self { samples, bias: bounded_all(self.bias, 1e30), ..*self }
    }

    /// Returns an area's sides, times the widths.
    pub(super) fn sides(&self, [dx, dy]: [[f32; 3]; 2]) -> [[f32; 3]; 2] {
        [widened(dx, [self.width[0]; 3], 1e9), widened(dy, [self.width[1]; 3], 1e9)]
    }
}
