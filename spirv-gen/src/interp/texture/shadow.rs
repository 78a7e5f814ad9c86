//! Shadow maps.

use super::arithmetic::{bounded, bounded_all, reciprocal, widened};
use super::filter::Window;
use super::store::{FoundTexture, TextureStore, WantedChannels};
use super::texels::{channels_of_word, word_channels};
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
fn transformed(m: &Matrix, v: [f32; 3], w: f32) -> [f32; 4] {
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

/// Returns the light that reaches depth `z` at a texel of a deep shadow map, whose channels are the depths of knots and
/// the light there in turn.
fn deep_light(store: &dyn TextureStore, number: u32, knots: u32, texel: [u32; 2], z: f32) -> f32 {
    let channel = |plane| f32::from_bits(store.word(number, 0, plane, texel));
    let (mut low, mut high) = (0, knots);
    while low < high {
        let middle = (low + high) / 2;
        if channel(2 * middle) < z {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if low == 0 {
        return 1.0;
    }
    let before = channel(2 * low - 1);
    if low == knots || channel(2 * low) >= 1e37 {
        return before;
    }
    let (from, to) = (channel(2 * low - 2), channel(2 * low));
    before + (channel(2 * low + 1) - before) * ((z - from) * reciprocal(to - from))
}

/// `shadow()`: the fraction of the area about `p` that lies behind what the map sees.
pub fn shadow(store: &dyn TextureStore, token: u32, channel: f32, area: [[f32; 3]; 3], how: &ShadowSampling) -> f32 {
    let FoundTexture::Number(number) = store.texture(token) else { return 0.0 };
    let shape = store.shape(number);
    let window = Window::whole(&shape, number, WantedChannels { first: channel, count: 1 });
    if window.first >= window.end || !area[0].iter().all(|x| x.is_finite()) {
        return 0.0;
    }
    let (Some(matrices), [x, y]) = (shape.matrices.as_ref(), how.sides([area[1], area[2]])) else { return 0.0 };
    let Some(area) = ShadowArea::new(matrices, [bounded_all(area[0], 1e15), x, y], how.blur, shape.size) else {
        return 0.0;
    };
    let each = channels_of_word(shape.format);
    let plane = window.first / each;
    area.mean(shape.size, &how.bounded(), |texel, z| {
        if shape.kind == 4 {
            return 1.0 - deep_light(store, number, shape.channels / 2, texel, z);
        }
        let word = store.word(number, 0, plane, texel);
        let open = shape.format == 3 && !f32::from_bits(word).is_finite();
        let depth = word_channels(word, shape.format)[(window.first - plane * each) as usize];
        if !open && z > depth { 1.0 } else { 0.0 }
    })
}
