//! The order of grids in their pages: neighbours in the picture are neighbours in the list, so that a region passes over most of it, page by
//! page and cluster by cluster. Each grid keeps its place in authored order, which is what numbers go by.

use super::count::Counted;
use super::tiles::range;
use crate::pipeline::kernels::records::{GridBound, Subpatch};

/// Height of the strips that grids are gone through by, in pixels, as a power of two. A cluster where grids of 8x8 pixels lie side by side
/// is a square of a strip.
const STRIP_LOG2: u32 = 6;
/// Width of what comes next in a strip.
const COLUMN_LOG2: u32 = 4;

/// Lists in authored order, as one in the order of pages: a counting sort by cells, in which authored order stays.
pub(super) fn arranged(lists: Vec<Counted>) -> Counted {
    let cells = Cells::around(bounds_of(&lists));
    let (mut next, count) = cells.starts(bounds_of(&lists));
    let mut all = Counted {
        grids: vec![Subpatch::default(); count],
        bounds: vec![GridBound::default(); count],
        order: vec![0; count],
        ..Counted::default()
    };
    let mut place = 0;
    for list in lists {
        for (grid, bound) in list.grids.into_iter().zip(list.bounds) {
            let at = &mut next[cells.of(&bound)];
            (all.grids[*at], all.bounds[*at], all.order[*at]) = (grid, bound, place);
            *at += 1;
            place += 1;
        }
        all.lost.extend(list.lost);
    }
    all
}

fn bounds_of(lists: &[Counted]) -> impl Iterator<Item = &GridBound> {
    lists.iter().flat_map(|list| &list.bounds)
}

/// The cells that some grids lie in: by strip, and in a strip by column.
#[derive(Debug)]
struct Cells {
    /// The first strip and column,
    first: [i32; 2],
    /// and how many there are.
    count: [usize; 2],
}

impl Cells {
    fn around<'a>(bounds: impl Iterator<Item = &'a GridBound>) -> Self {
        let (low, high) = bounds.map(strip_and_column).fold(([i32::MAX; 2], [i32::MIN; 2]), |(low, high), at| {
            ([0, 1].map(|axis| low[axis].min(at[axis])), [0, 1].map(|axis| high[axis].max(at[axis])))
        });
        let count = [0, 1].map(|axis| (i64::from(high[axis]) - i64::from(low[axis]) + 1).max(0) as usize);
        Self { first: low, count }
    }

    fn of(&self, bound: &GridBound) -> usize {
        let [strip, column] = strip_and_column(bound);
        (strip - self.first[0]) as usize * self.count[1] + (column - self.first[1]) as usize
    }

    /// Where the grids of each cell begin, and how many grids there are.
    fn starts<'a>(&self, bounds: impl Iterator<Item = &'a GridBound>) -> (Vec<usize>, usize) {
        let mut starts = vec![0; self.count[0] * self.count[1]];
        bounds.for_each(|bound| starts[self.of(bound)] += 1);
        let mut before = 0;
        for start in &mut starts {
            before += std::mem::replace(start, before);
        }
        (starts, before)
    }
}

/// Those of the middle of a grid.
fn strip_and_column(bound: &GridBound) -> [i32; 2] {
    let middle = |packed| range(packed).iter().sum::<i32>() >> 1;
    [middle(bound.y) >> STRIP_LOG2, middle(bound.x) >> COLUMN_LOG2]
}

#[cfg(test)]
mod tests {
    use super::super::tiles::packed;
    use super::*;
    use std::ops::Range;

    #[test]
    fn grids_lie_strip_by_strip_and_know_their_places() {
        let at = [[500, 70], [3, 5], [-9, 60], [3, 63], [20, 2], [i32::from(i16::MAX), -1], [2, 5]];
        let bound = |[x, y]: [i32; 2]| GridBound { x: packed([x, x]), y: packed([y, y]), ..GridBound::default() };
        let bounds: Vec<GridBound> = at.into_iter().map(bound).collect();
        let list = |places: Range<u32>| Counted {
            grids: places.clone().map(|primitive| Subpatch { primitive, ..Subpatch::default() }).collect(),
            bounds: bounds[places.start as usize..places.end as usize].to_vec(),
            lost: vec![(places.start, 1)],
            ..Counted::default()
        };
        let counted = arranged(vec![list(0..2), list(2..2), list(2..7)]);
        assert_eq!(counted.order, [5, 2, 1, 3, 6, 4, 0], "strips from the top, columns of 16 pixels, then places");
        assert_eq!(counted.lost, [(0, 1), (2, 1), (2, 1)]);
        assert!(arranged(vec![list(0..0)]).grids.is_empty() && arranged(Vec::new()).order.is_empty());
        let primitives: Vec<u32> = counted.grids.iter().map(|grid| grid.primitive).collect();
        assert_eq!(primitives, counted.order);
        let moved: Vec<GridBound> = counted.order.iter().map(|&place| bounds[place as usize]).collect();
        assert_eq!(counted.bounds, moved);
    }
}
