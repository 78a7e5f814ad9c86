//! Hiding: every sample against every micropolygon.

use super::micropolygon::Micropolygon;
use super::sampling::Pattern;
use anthill::pipeline::kernels::constants::{BLOCK_PX, KEY_EMPTY};
use anthill::pipeline::pixels::RegionPixels;

/// What a sample shows that nothing covers.
pub(crate) const EMPTY: u64 = (KEY_EMPTY as u64) << 32 | KEY_EMPTY as u64;

/// A micropolygon with what its grid says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub micropolygon: Micropolygon,
    pub number: u32,
    /// Pixels that the grid may touch, inclusive: x0, y0, x1, y1.
    pub bound_px: [i32; 4],
    /// Depths that it may have.
    pub bound_z: [f32; 2],
    /// It is only seen from one side: from that of dP/du x dP/dv, or (flipped) from the other.
    pub one_sided: Option<bool>,
}

impl Candidate {
    /// Whether the side that looks at the eye is to be seen.
    pub(crate) fn shows(&self) -> bool {
        self.one_sided.is_none_or(|flipped| self.micropolygon.faces_eye() != flipped)
    }

    /// Whether it covers a sample inside its bound's pixels.
    pub(crate) fn covers(&self, pixel: [i32; 2], at: [i64; 2]) -> bool {
        let [x0, y0, x1, y1] = self.bound_px;
        let inside = pixel[0] >= x0 && pixel[1] >= y0 && pixel[0] <= x1 && pixel[1] <= y1;
        inside && self.shows() && self.micropolygon.covers(at)
    }

    /// Its key at a depth: (depth bits, number); none outside the bound's depths.
    pub(crate) fn key(&self, z: f32) -> Option<u64> {
        let inside = z >= self.bound_z[0] && z <= self.bound_z[1];
        inside.then_some(u64::from(z.to_bits()) << 32 | u64::from(self.number))
    }
}

/// The samples of a region: its pixels row by row, the samples of each together.
pub(crate) fn samples(region: &RegionPixels, pattern: Pattern) -> impl Iterator<Item = ([i32; 2], [i64; 2])> {
    let [x0, y0, x1, y1] = region.sampled;
    let pixels = (y0..y1).flat_map(move |y| (x0..x1).map(move |x| [x, y]));
    pixels.flat_map(move |pixel| (0..pattern.pixel_samples()).map(move |s| (pixel, pattern.sample(pixel, s))))
}

/// The least key of what covers each sample: the nearest, at equal depth the lowest number.
pub(crate) fn hide(region: &RegionPixels, pattern: Pattern, candidates: &[Candidate]) -> Vec<u64> {
    let nearest = |(pixel, at)| {
        let keys = candidates.iter().filter(|c| c.covers(pixel, at)).filter_map(|c| c.key(c.micropolygon.depth(at)));
        keys.min().unwrap_or(EMPTY)
    };
    samples(region, pattern).map(nearest).collect()
}

/// The bits of the least depth behind the least key of what covers each sample.
pub(crate) fn behind(region: &RegionPixels, pattern: Pattern, candidates: &[Candidate]) -> Vec<u32> {
    let next = |(pixel, at)| {
        let covering = candidates.iter().filter(|c| c.covers(pixel, at));
        let mut keys: Vec<u64> = covering.filter_map(|c| c.key(c.micropolygon.depth(at))).collect();
        keys.sort_unstable();
        keys.get(1).map_or(KEY_EMPTY, |key| (key >> 32) as u32)
    };
    samples(region, pattern).map(next).collect()
}

/// The farthest depth (as bits) that each 4x4-pixel block of a region shows; all ones while a sample is empty.
pub(crate) fn blocks(region: &RegionPixels, pixel_samples: u32, keys: &[u64]) -> Vec<u32> {
    let [width, height] = region.size();
    let mut blocks = vec![0; (width.div_ceil(BLOCK_PX) * height.div_ceil(BLOCK_PX)) as usize];
    for (i, key) in keys.iter().enumerate() {
        let pixel = i as u32 / pixel_samples;
        let block =
            &mut blocks[(pixel / width / BLOCK_PX * width.div_ceil(BLOCK_PX) + pixel % width / BLOCK_PX) as usize];
        *block = (*block).max((key >> 32) as u32);
    }
    blocks
}
