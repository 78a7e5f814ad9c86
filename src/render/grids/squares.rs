//! From counted grids to the summed-area table that every cut and estimate is read from.

use crate::pipeline::kernels::constants::INSTANCE_TRANSLUCENT;
use crate::pipeline::kernels::records::{GridBound, Instance, Subpatch};
use crate::pipeline::pixels::unpacked_range;
use crate::render::grids::list::{GridList, ListError, blocks};
use crate::schedule::{Region, SQUARE_PX, SquareCounts, SquareGrid};
use std::num::NonZero;
use std::ops::Range;

/// Grids of a thread, at least: fewer are not worth one.
const SHARE_MIN: usize = 1 << 15;

/// Returns the number of micropolygons of a grid.
pub(crate) fn micropolygons(grid: &Subpatch) -> u64 {
    let [nu, nv] = grid.micropolygons();
    u64::from(nu * nv)
}

/// Counts what the squares of a picture hold. A grid's micropolygons are spread over the squares that its bound meets.
/// All processors take part, with a part of the grids each.
pub(crate) fn square_counts(
    picture: Region,
    list: &GridList,
    instances: &[Instance],
) -> Result<Vec<SquareCounts>, ListError> {
    let layout = SquareGrid::of(picture);
    let count = |share: Range<usize>| -> Result<Vec<SquareCounts>, ListError> {
        let mut squares = vec![SquareCounts::default(); layout.square_count()];
        for block in blocks(share) {
            let (grids, bounds) = (list.grids(block.clone())?, list.bounds(block)?);
            for (grid, bound) in grids.iter().zip(bounds.iter()) {
                let translucent = instances[grid.instance as usize].flags & INSTANCE_TRANSLUCENT != 0;
                spread(&layout, &mut squares, bound, micropolygons(grid), translucent);
            }
        }
        Ok(squares)
    };
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = list.len().div_ceil(processors).max(SHARE_MIN);
    let of = |first: usize| first.min(list.len())..(first + share).min(list.len());
    std::thread::scope(|scope| {
        let firsts = (share..list.len()).step_by(share);
        let others: Vec<_> = firsts.map(|first| scope.spawn(move || count(of(first)))).collect();
        let mut all = count(of(0))?;
        for other in others {
            let squares = other.join().expect("counting does not panic")?;
            all.iter_mut().zip(squares).for_each(|(all, square)| *all += square);
        }
        Ok(all)
    })
}

fn spread(layout: &SquareGrid, squares: &mut [SquareCounts], bound: &GridBound, count: u64, translucent: bool) {
    let axis = |packed: u32, axis: usize| {
        let [low, high] = unpacked_range(packed);
        let first = i64::from(layout.first[axis]);
        let last = first + i64::from(layout.size[axis]) - 1;
        let square = |px: i32| (i64::from(px).div_euclid(i64::from(SQUARE_PX))).clamp(first, last) - first;
        (square(low) as usize, square(high) as usize)
    };
    let ((x0, x1), (y0, y1)) = (axis(bound.x, 0), axis(bound.y, 1));
    let cells = ((x1 - x0 + 1) * (y1 - y0 + 1)) as u64;
    let columns = layout.size[0] as usize;
    layout.count_grid(squares, [x0, x1], [y0, y1]);
    if cells == 1 {
        // As most do.
        let square = &mut squares[y0 * columns + x0];
        square.micropolygons += count;
        square.translucent += if translucent { count } else { 0 };
        return;
    }
    // The remainder of the division goes to the first square, so that the sum is exact.
    let share = count / cells;
    for y in y0..=y1 {
        for x in x0..=x1 {
            let here = if (x, y) == (x0, y0) { count - share * (cells - 1) } else { share };
            let square = &mut squares[y * columns + x];
            square.micropolygons += here;
            square.translucent += if translucent { here } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::HostMemory;
    use crate::pipeline::kernels::constants::{SHAPE_NU, SHAPE_NV};
    use crate::pipeline::pixels::packed_range;
    use crate::render::grids::list::{GridColumns, GridStore};
    use crate::schedule::SquareGrids;

    #[test]
    fn a_grid_is_spread_over_its_squares_and_nothing_is_lost() {
        let picture = Region::new([0, 0, 64, 32]).expect("not empty");
        let layout = SquareGrid::of(picture);
        let mut squares = vec![SquareCounts::default(); layout.square_count()];
        let bound = GridBound { x: packed_range([-5, 40]), y: packed_range([17, 19]), zmin: 1.0, zmax: 2.0 };
        spread(&layout, &mut squares, &bound, 100, false);
        let counts: Vec<u64> = squares.iter().map(|t| t.micropolygons).collect();
        assert_eq!(counts, [0, 0, 0, 0, 34, 33, 33, 0]);
        assert_eq!(squares[4].grids, SquareGrids { meet: 1, right: 1, below: 0, both: 0 });
        assert_eq!(squares[6].grids, SquareGrids::inside(1));
    }

    #[test]
    fn shares_of_the_grids_count_what_all_count() {
        let picture = Region::new([0, 0, 640, 480]).expect("not empty");
        let place = |i: u32| [i * 7919 % 650, i * 31 % 490].map(|at| at as i32 - 5);
        let grid = |i: u32| Subpatch {
            shape: (1 + i % 15) << SHAPE_NU | 3 << SHAPE_NV,
            instance: i % 2,
            ..Subpatch::default()
        };
        let bound = |i: u32| {
            let [x, y] = place(i);
            GridBound { x: packed_range([x, x + 20]), y: packed_range([y, y + 9]), ..GridBound::default() }
        };
        let count = 3 * SHARE_MIN as u32 + 5;
        let columns = GridColumns {
            grids: (0..count).map(grid).collect(),
            bounds: (0..count).map(bound).collect(),
            order: (0..count).collect(),
        };
        let instances = [Instance::default(), Instance { flags: INSTANCE_TRANSLUCENT, ..Instance::default() }];
        let layout = SquareGrid::of(picture);
        let mut alone = vec![SquareCounts::default(); layout.square_count()];
        for i in 0..count {
            spread(&layout, &mut alone, &bound(i), micropolygons(&grid(i)), i % 2 == 1);
        }
        for memory_bytes in [u64::MAX, 0] {
            let list = GridStore::new(&HostMemory::new(u64::MAX), memory_bytes).keep(columns.clone()).expect("kept");
            assert!(square_counts(picture, &list, &instances).expect("read") == alone, "{memory_bytes}");
        }
    }
}
