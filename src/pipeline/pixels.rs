//! The pixels of a region.

use super::kernels::constants::BLOCK_PX;

/// A region's pixels: what is sampled, and what of it is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionPixels {
    /// Sampled: x0, y0, x1, y1, half-open; includes the filter's apron, so it may begin at negative pixels.
    pub sampled: [i32; 4],
    /// Delivered: x0, y0, x1, y1, half-open.
    pub inside: [u32; 4],
}

impl RegionPixels {
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

    /// Delivered pixels along x and y.
    pub fn inside_size(&self) -> [u32; 2] {
        let [x0, y0, x1, y1] = self.inside;
        [x1 - x0, y1 - y0]
    }

    /// Where the delivered rectangle begins inside the sampled one.
    pub fn inside_offset(&self) -> [u32; 2] {
        [0, 1].map(|axis| (self.inside[axis].cast_signed() - self.sampled[axis]).cast_unsigned())
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

    #[test]
    fn a_region_knows_its_inside() {
        let region = RegionPixels { sampled: [-1, 7, 12, 20], inside: [0, 8, 11, 19] };
        assert_eq!(region.size(), [13, 13]);
        assert_eq!(region.inside_offset(), [1, 1]);
        assert_eq!(region.inside_size(), [11, 11]);
        assert_eq!(region.blocks(), 16);
    }
}
