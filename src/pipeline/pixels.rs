//! The pixels of a region.

use super::frame::sampled_px;
use super::kernels::constants::{BLOCK_PX, PIXEL_FIRST, PIXEL_LAST, PIXELS_BEFORE, STEP_LOG2, STEPS_BEFORE};
use crate::scene::{FILTER_WIDTH_MAX, Filter, OVERSCAN_BEFORE_MAX, RESOLUTION_MAX};
use crate::schedule::Region;

// Scenes are read without knowing kernels.
const _: () = assert!(FILTER_WIDTH_MAX as i32 / 2 < PIXELS_BEFORE);
const _: () = assert!(RESOLUTION_MAX.cast_signed() + FILTER_WIDTH_MAX as i32 / 2 < PIXEL_LAST);
const _: () = assert!(PIXEL_FIRST + LAST_OF_STEP < -OVERSCAN_BEFORE_MAX.cast_signed() - FILTER_WIDTH_MAX as i32 / 2);

/// From the first pixel of a step to its last one.
const LAST_OF_STEP: i32 = (1 << STEP_LOG2) - 1;

/// The ranges of pixels that have no pixel in common with any other.
pub const NO_PIXELS: [i32; 2] = [PIXEL_LAST, PIXEL_FIRST + LAST_OF_STEP];

/// Unpacks a range of pixels along x or y as kernels have it: the first and the last one.
pub fn unpacked_range(packed: u32) -> [i32; 2] {
    let [first, last] = [packed & 0xffff, packed >> 16].map(|name| name.cast_signed() - STEPS_BEFORE);
    let pixel = |name: i32, steps: i32| name + steps.min(0) * LAST_OF_STEP - PIXELS_BEFORE;
    [pixel(first, first), pixel(last, last + 1)]
}

/// Packs a range of pixels, the first and the last one, which are clamped to those that a range can name. Far before
/// the format it grows to whole steps.
pub fn packed_range(range: [i32; 2]) -> u32 {
    let name = |px: i32| {
        let place = px.clamp(PIXEL_FIRST, PIXEL_LAST) + PIXELS_BEFORE;
        (if place < 0 { place >> STEP_LOG2 } else { place } + STEPS_BEFORE).cast_unsigned()
    };
    let [first, last] = range.map(name);
    first | last << 16
}

/// A region's pixels: what is sampled, and what of it is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionPixels {
    /// Sampled: x0, y0, x1, y1, half-open; includes the filter's apron, so it may begin at negative pixels.
    pub sampled: [i32; 4],
    /// Delivered.
    pub inside: Region,
}

impl RegionPixels {
    /// The pixels of a region whose samples go through a filter.
    pub fn new(inside: Region, filter: &Filter) -> Self {
        Self { sampled: sampled_px(inside.to_array(), filter), inside }
    }

    /// Sampled pixels along x and y.
    pub fn size(&self) -> [u32; 2] {
        let [x0, y0, x1, y1] = self.sampled;
        [(x1 - x0).cast_unsigned(), (y1 - y0).cast_unsigned()]
    }

    /// Sampled pixels.
    pub fn count(&self) -> u64 {
        let [width, height] = self.size();
        u64::from(width) * u64::from(height)
    }

    /// Where the delivered rectangle begins inside the sampled one.
    pub fn inside_offset(&self) -> [u32; 2] {
        let ([x, y], [x0, y0, ..]) = (self.inside.corner(), self.sampled);
        [x.abs_diff(x0), y.abs_diff(y0)]
    }

    /// 4x4-pixel blocks.
    pub fn blocks(&self) -> u64 {
        let [width, height] = self.size();
        u64::from(width.div_ceil(BLOCK_PX)) * u64::from(height.div_ceil(BLOCK_PX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::FilterKind;

    #[test]
    fn ranges_name_all_pixels_of_the_largest_picture_and_those_around_it() {
        let (last, apron) = (RESOLUTION_MAX.cast_signed() - 1, FILTER_WIDTH_MAX as i32 / 2);
        for range in [[0, 0], [-apron, last + apron], [-144, -129], [32_767, 32_768], [last, last], NO_PIXELS] {
            assert_eq!(unpacked_range(packed_range(range)), range);
        }
        assert_eq!(unpacked_range(packed_range([-200_000, 200_000])), [PIXEL_FIRST, PIXEL_LAST]);
        for (range, named) in [([-129, 3], [-144, 3]), ([-5_063, -5_000], [-5_072, -4_993]), ([-128, -128], [-128; 2])]
        {
            assert_eq!(unpacked_range(packed_range(range)), named, "{range:?}");
        }
    }

    #[test]
    fn a_region_knows_its_inside() {
        let inside = Region::new([0, 8, 11, 19]).expect("not empty");
        let region = RegionPixels::new(inside, &Filter { kind: FilterKind::Box, width: [2.0, 2.0] });
        assert_eq!(region.sampled, [-1, 7, 12, 20]);
        assert_eq!(region.size(), [13, 13]);
        assert_eq!(region.inside_offset(), [1, 1]);
        assert_eq!(region.blocks(), 16);
    }
}
