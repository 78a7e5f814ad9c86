//! How many grids a single pixel needs at most: a region of one pixel cannot be cut, so each has to have room for them.

use crate::pipeline::kernels::records::GridBound;

/// Cells of the map at most; those of larger pictures are several pixels wide.
const CELLS_MAX: u64 = 1 << 22;

/// The most grids whose bounds meet what a region of one pixel samples, its filter's apron included. `sampled_px` is what the picture
/// samples: x0, y0, x1, y1, half-open. In pictures of more than four million pixels it may be a little more than the truth.
pub(crate) fn grids_of_any_pixel_max(bounds: &[GridBound], sampled_px: [i32; 4], apron_px: [u32; 2]) -> u64 {
    let [x0, y0, x1, y1] = sampled_px.map(i64::from);
    let size = [(x1 - x0).max(1), (y1 - y0).max(1)];
    let cell = (1..).find(|cell| (size[0] / cell + 2) * (size[1] / cell + 2) <= CELLS_MAX as i64).unwrap_or(1);
    let [columns, rows] = size.map(|size| (size / cell + 2) as usize);
    // Differences along both axes; their running sums are the counts.
    let mut map = vec![0_i32; columns * rows];
    for bound in bounds {
        let along = |packed: u32, first: i64, size: i64, apron: u32| {
            let [low, high] = super::tiles::range(packed).map(|px| i64::from(px) - first);
            let apron = i64::from(apron);
            if high < 0 || low >= size {
                return None;
            }
            let place = |px: i64| (px.clamp(0, size - 1) / cell) as usize;
            Some((place(low - apron), place(high + apron) + 1))
        };
        let (Some((left, right)), Some((top, bottom))) =
            (along(bound.x, x0, size[0], apron_px[0]), along(bound.y, y0, size[1], apron_px[1]))
        else {
            continue;
        };
        for (y, x, step) in [(top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)] {
            map[y * columns + x] += step;
        }
    }
    let mut most = 0;
    for y in 0..rows {
        let mut along = 0;
        for x in 0..columns {
            along += map[y * columns + x];
            let above = if y > 0 { map[(y - 1) * columns + x] } else { 0 };
            map[y * columns + x] = along + above;
            most = most.max(along + above);
        }
    }
    u64::from(most.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound([x0, x1]: [i16; 2], [y0, y1]: [i16; 2]) -> GridBound {
        let pack = |low: i16, high: i16| u32::from(low as u16) | u32::from(high as u16) << 16;
        GridBound { x: pack(x0, x1), y: pack(y0, y1), zmin: 1.0, zmax: 1.0 }
    }

    #[test]
    fn the_fullest_pixel_counts() {
        let bounds = [bound([0, 5], [0, 5]), bound([4, 9], [5, 9]), bound([6, 20], [-3, 4]), bound([-9, -2], [0, 0])];
        let most = |apron| grids_of_any_pixel_max(&bounds, [-1, -1, 11, 11], apron);
        assert_eq!(most([0, 0]), 2, "the first two share pixels (4, 5) and (5, 5)");
        assert_eq!(most([1, 1]), 3, "one pixel away lies the third");
        assert_eq!(grids_of_any_pixel_max(&[], [0, 0, 4, 4], [0, 0]), 0);
    }

    #[test]
    fn huge_pictures_take_a_small_map_and_never_count_too_few() {
        let bounds = vec![bound([100, 100], [100, 100]); 7];
        assert_eq!(grids_of_any_pixel_max(&bounds, [0, 0, 30_000, 30_000], [2, 2]), 7);
    }
}
