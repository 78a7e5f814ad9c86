//! How many grids a single pixel needs at most: a region of one pixel cannot be cut, so every region needs room for
//! them.

use crate::pipeline::kernels::records::GridBound;
use crate::pipeline::pixels::unpacked_range;

/// Cells of the map, at most; in larger pictures a cell is several pixels wide.
const CELLS_MAX: u64 = 1 << 22;

/// Counts how many grids each pixel of a picture needs.
#[derive(Debug)]
pub(crate) struct PixelGrids {
    first: [i64; 2],
    size: [i64; 2],
    apron: [i64; 2],
    /// Pixels of a cell along each axis.
    cell: i64,
    columns: usize,
    /// Differences along both axes; their running sums are the counts.
    map: Vec<i32>,
}

impl PixelGrids {
    /// Creates an empty count for a picture that samples `sampled_px` (x0, y0, x1, y1, half-open) and filters over
    /// `apron_px` beyond each pixel.
    pub(crate) fn new(sampled_px: [i32; 4], apron_px: [u32; 2]) -> Self {
        let [x0, y0, x1, y1] = sampled_px.map(i64::from);
        let size = [(x1 - x0).max(1), (y1 - y0).max(1)];
        let cell = (1..).find(|cell| (size[0] / cell + 2) * (size[1] / cell + 2) <= CELLS_MAX as i64).unwrap_or(1);
        let [columns, rows] = size.map(|size| (size / cell + 2) as usize);
        let apron = apron_px.map(i64::from);
        Self { first: [x0, y0], size, apron, cell, columns, map: vec![0; columns * rows] }
    }

    /// Counts a grid.
    pub(crate) fn add(&mut self, bound: &GridBound) {
        let (Some((left, right)), Some((top, bottom))) = (self.along(bound.x, 0), self.along(bound.y, 1)) else {
            return;
        };
        for (y, x, step) in [(top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)] {
            self.map[y * self.columns + x] += step;
        }
    }

    /// Returns the cells along an axis that a grid is needed in: the first, and the one after the last.
    fn along(&self, packed: u32, axis: usize) -> Option<(usize, usize)> {
        let [low, high] = unpacked_range(packed).map(|px| i64::from(px) - self.first[axis]);
        let (size, apron) = (self.size[axis], self.apron[axis]);
        if high < 0 || low >= size {
            return None;
        }
        let place = |px: i64| (px.clamp(0, size - 1) / self.cell) as usize;
        Some((place(low - apron), place(high + apron) + 1))
    }

    /// Returns the most grids whose bounds meet what a region of one pixel samples, including the filter's apron. In
    /// pictures of more than four million pixels it may be slightly too high.
    pub(crate) fn most(mut self) -> u64 {
        let mut most = 0;
        for y in 0..self.map.len() / self.columns {
            let mut along = 0;
            for x in 0..self.columns {
                along += self.map[y * self.columns + x];
                let above = if y > 0 { self.map[(y - 1) * self.columns + x] } else { 0 };
                self.map[y * self.columns + x] = along + above;
                most = most.max(along + above);
            }
        }
        u64::from(most.cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::pixels::packed_range;

    fn bound(x: [i32; 2], y: [i32; 2]) -> GridBound {
        GridBound { x: packed_range(x), y: packed_range(y), zmin: 1.0, zmax: 1.0 }
    }

    fn most_of(bounds: &[GridBound], sampled_px: [i32; 4], apron_px: [u32; 2]) -> u64 {
        let mut pixels = PixelGrids::new(sampled_px, apron_px);
        bounds.iter().for_each(|bound| pixels.add(bound));
        pixels.most()
    }

    #[test]
    fn the_fullest_pixel_counts() {
        let bounds = [bound([0, 5], [0, 5]), bound([4, 9], [5, 9]), bound([6, 20], [-3, 4]), bound([-9, -2], [0, 0])];
        let most = |apron| most_of(&bounds, [-1, -1, 11, 11], apron);
        assert_eq!(most([0, 0]), 2, "the first two share pixels (4, 5) and (5, 5)");
        assert_eq!(most([1, 1]), 3, "the third is one pixel away");
        assert_eq!(most_of(&[], [0, 0, 4, 4], [0, 0]), 0);
    }

    #[test]
    fn huge_pictures_take_a_small_map_and_never_count_too_few() {
        let bounds = vec![bound([100, 100], [100, 100]); 7];
        assert_eq!(most_of(&bounds, [0, 0, 30_000, 30_000], [2, 2]), 7);
    }
}
