//! The order of the list of grids: neighbours in the picture are neighbours in the list, so that a region skips most of
//! it, page by page and cluster by cluster. Each grid keeps its place in authored order, from which its number follows.

use crate::pipeline::kernels::records::{GridBound, Subpatch};
use crate::pipeline::pixels::unpacked_range;
use crate::render::grids::list::{BLOCK_GRIDS, GridColumns, GridList, GridStore, GridWriter, ListError};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Height of the strips that the list goes through, in pixels, as a power of two. A cluster of grids of 8x8 pixels that
/// are side by side is a square of a strip.
const STRIP_LOG2: u32 = 6;
/// Width of the columns of a strip, in pixels, as a power of two.
const COLUMN_LOG2: u32 = 4;

/// A cell of the picture: a strip, and a column of it.
type Cell = [i16; 2];

/// Grids that the counting pass found in one share of the primitives, or in a part of it, in authored order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareGrids {
    pub grids: Vec<Subpatch>,
    pub bounds: Vec<GridBound>,
    /// Subpatches lost at the eye plane, by instance (one example for each chunk of primitives).
    pub lost: Vec<(u32, u32)>,
}

/// Grids that follow one another in authored order, sorted by cells, and in each cell in that order. Their places count
/// from the first of them.
#[derive(Debug)]
pub(crate) struct SortedRun {
    list: GridList,
    /// The cells that have grids, and how many.
    cells: Vec<(Cell, u32)>,
    lost: Vec<(u32, u32)>,
}

impl SortedRun {
    /// Sorts the grids of a share, or of a part of it, by a counting sort.
    pub(crate) fn of(share: ShareGrids, store: &Arc<GridStore>) -> Result<Self, ListError> {
        let cells = Cells::around(&share.bounds);
        let counts = cells.counts(&share.bounds);
        let mut next = starts(&counts);
        let count = share.grids.len();
        let mut columns = GridColumns {
            grids: vec![Subpatch::default(); count],
            bounds: vec![GridBound::default(); count],
            order: vec![0; count],
        };
        for (place, (grid, bound)) in (0..).zip(share.grids.into_iter().zip(share.bounds)) {
            let at = &mut next[cells.number(cell_of(&bound))];
            let to = *at as usize;
            (columns.grids[to], columns.bounds[to], columns.order[to]) = (grid, bound, place);
            *at += 1;
        }
        let filled = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
        let cells = filled.map(|(number, count)| (cells.cell(number), count)).collect();
        Ok(Self { list: store.keep(columns)?, cells, lost: share.lost })
    }

    /// Returns its grids.
    pub(crate) fn list(&self) -> &GridList {
        &self.list
    }
}

/// Merges runs, which are in authored order, into one list sorted by cells, in which authored order stays within a
/// cell. Returns the list and what was lost.
pub(crate) fn merge_runs(runs: &[SortedRun], store: &Arc<GridStore>) -> Result<(GridList, Vec<(u32, u32)>), ListError> {
    let mut writer = store.writer(runs.iter().map(|run| run.list.len()).sum())?;
    let window = (BLOCK_GRIDS / runs.len().max(1)).max(WINDOW_GRIDS_MIN);
    let mut first_place = 0;
    let mut cursors: Vec<RunCursor<'_>> = Vec::with_capacity(runs.len());
    for run in runs {
        cursors.push(RunCursor::new(run, first_place, window));
        first_place += run.list.len() as u32;
    }
    let next =
        |cursor: &RunCursor<'_>, number| cursor.run.cells.get(cursor.cell).map(|(cell, _)| Reverse((*cell, number)));
    let mut queue: BinaryHeap<_> =
        cursors.iter().enumerate().filter_map(|(number, cursor)| next(cursor, number)).collect();
    while let Some(Reverse((_, number))) = queue.pop() {
        cursors[number].write_cell(&mut writer)?;
        queue.extend(next(&cursors[number], number));
    }
    let lost = runs.iter().flat_map(|run| run.lost.iter().copied()).collect();
    Ok((writer.finish()?, lost))
}

/// Grids that are read at once from a run in a file, at least.
const WINDOW_GRIDS_MIN: usize = 64;

/// A run that is being merged.
struct RunCursor<'a> {
    run: &'a SortedRun,
    /// The place of its first grid in authored order.
    first_place: u32,
    /// Grids that are read at once.
    window: usize,
    /// Number in the run of the cell that comes next.
    cell: usize,
    /// Number in the run of the grid that comes next.
    at: usize,
    /// Grids that were read.
    grids: Cow<'a, [Subpatch]>,
    /// Their bounds.
    bounds: Cow<'a, [GridBound]>,
    /// Their places in authored order.
    order: Cow<'a, [u32]>,
    /// Number in the run of the first of them.
    read_from: usize,
}

impl<'a> RunCursor<'a> {
    fn new(run: &'a SortedRun, first_place: u32, window: usize) -> Self {
        let window = if run.list.is_in_memory() { run.list.len() } else { window };
        let (grids, bounds, order) = (Cow::default(), Cow::default(), Cow::default());
        Self { run, first_place, window, cell: 0, at: 0, grids, bounds, order, read_from: 0 }
    }

    fn write_cell(&mut self, writer: &mut GridWriter) -> Result<(), ListError> {
        let end = self.at + self.run.cells[self.cell].1 as usize;
        while self.at < end {
            if self.at == self.read_from + self.grids.len() {
                self.read()?;
            }
            let some = self.at - self.read_from..(end - self.read_from).min(self.grids.len());
            let order = self.order[some.clone()].iter().map(|place| self.first_place + place);
            writer.push(&self.grids[some.clone()], &self.bounds[some.clone()], order)?;
            self.at += some.len();
        }
        self.cell += 1;
        Ok(())
    }

    fn read(&mut self) -> Result<(), ListError> {
        let list = &self.run.list;
        let some = self.at..(self.at + self.window).min(list.len());
        self.read_from = self.at;
        self.grids = list.grids(some.clone())?;
        self.bounds = list.bounds(some.clone())?;
        self.order = list.order(some)?;
        Ok(())
    }
}

/// The cells around some grids: by strip, and in a strip by column.
#[derive(Debug)]
struct Cells {
    /// The first strip and column.
    first: Cell,
    /// How many strips and columns there are.
    count: [usize; 2],
}

impl Cells {
    fn around(bounds: &[GridBound]) -> Self {
        let (low, high) = bounds.iter().map(cell_of).fold(([i16::MAX; 2], [i16::MIN; 2]), |(low, high), at| {
            ([0, 1].map(|axis| low[axis].min(at[axis])), [0, 1].map(|axis| high[axis].max(at[axis])))
        });
        let count = [0, 1].map(|axis| (i32::from(high[axis]) - i32::from(low[axis]) + 1).max(0) as usize);
        Self { first: low, count }
    }

    fn number(&self, [strip, column]: Cell) -> usize {
        let place = |at: i16, axis: usize| (i32::from(at) - i32::from(self.first[axis])) as usize;
        place(strip, 0) * self.count[1] + place(column, 1)
    }

    fn cell(&self, number: usize) -> Cell {
        [self.first[0] + (number / self.count[1]) as i16, self.first[1] + (number % self.count[1]) as i16]
    }

    /// Returns how many grids each cell has.
    fn counts(&self, bounds: &[GridBound]) -> Vec<u32> {
        let mut counts = vec![0; self.count[0] * self.count[1]];
        bounds.iter().for_each(|bound| counts[self.number(cell_of(bound))] += 1);
        counts
    }
}

/// Returns where each of some consecutive parts begins.
fn starts(counts: &[u32]) -> Vec<u32> {
    let before = |next: &mut u32, count: &u32| {
        *next += count;
        Some(*next - count)
    };
    counts.iter().scan(0, before).collect()
}

/// Returns the cell that has the middle of a grid.
fn cell_of(bound: &GridBound) -> Cell {
    let middle = |packed| unpacked_range(packed).iter().sum::<i32>() >> 1;
    [(middle(bound.y) >> STRIP_LOG2) as i16, (middle(bound.x) >> COLUMN_LOG2) as i16]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::HostMemory;
    use crate::pipeline::pixels::packed_range;
    use std::ops::Range;

    /// Returns the list of some shares, of which all lists together may take `memory_bytes` of memory.
    fn merged_of(shares: Vec<ShareGrids>, memory_bytes: u64) -> (GridColumns, Vec<(u32, u32)>) {
        let store = GridStore::new(&HostMemory::new(u64::MAX), memory_bytes);
        let runs: Vec<SortedRun> =
            shares.into_iter().map(|share| SortedRun::of(share, &store).expect("kept")).collect();
        let (list, lost) = merge_runs(&runs, &store).expect("merged");
        let all = 0..list.len();
        let columns = GridColumns {
            grids: list.grids(all.clone()).expect("read").into_owned(),
            bounds: list.bounds(all.clone()).expect("read").into_owned(),
            order: list.order(all).expect("read").into_owned(),
        };
        (columns, lost)
    }

    fn share(places: Range<u32>, bounds: &[GridBound]) -> ShareGrids {
        ShareGrids {
            grids: places.clone().map(|primitive| Subpatch { primitive, ..Subpatch::default() }).collect(),
            bounds: bounds[places.start as usize..places.end as usize].to_vec(),
            lost: vec![(places.start, 1)],
        }
    }

    fn bound([x, y]: [i32; 2]) -> GridBound {
        GridBound { x: packed_range([x, x]), y: packed_range([y, y]), ..GridBound::default() }
    }

    #[test]
    fn grids_are_sorted_strip_by_strip_and_keep_their_places() {
        let at = [[500, 70], [3, 5], [-9, 60], [3, 63], [20, 2], [i32::from(i16::MAX), -1], [2, 5]];
        let bounds = at.map(bound);
        for memory_bytes in [u64::MAX, 0] {
            let shares = [0..2, 2..2, 2..7].map(|places| share(places, &bounds)).to_vec();
            let (columns, lost) = merged_of(shares, memory_bytes);
            assert_eq!(columns.order, [5, 2, 1, 3, 6, 4, 0], "strips from the top, columns of 16 pixels, then places");
            assert_eq!(lost, [(0, 1), (2, 1), (2, 1)]);
            let primitives: Vec<u32> = columns.grids.iter().map(|grid| grid.primitive).collect();
            assert_eq!(primitives, columns.order);
            let moved: Vec<GridBound> = columns.order.iter().map(|&place| bounds[place as usize]).collect();
            assert_eq!(columns.bounds, moved);
            assert_eq!(merged_of(vec![share(0..0, &[])], memory_bytes).0, GridColumns::default());
            assert_eq!(merged_of(Vec::new(), memory_bytes).0, GridColumns::default());
        }
    }

    #[test]
    fn long_runs_in_a_file_merge_as_in_memory_and_do_not_depend_on_shares() {
        let count = 2 * BLOCK_GRIDS as u32 + 100;
        let bounds: Vec<GridBound> =
            (0..count).map(|i| bound([i * 7919 % 640, i / 3 % 480].map(u32::cast_signed))).collect();
        let shares = |size: u32| -> Vec<ShareGrids> {
            let firsts = (0..count).step_by(size as usize);
            firsts.map(|first| share(first..(first + size).min(count), &bounds)).collect()
        };
        let (whole, _) = merged_of(shares(count), u64::MAX);
        let mut places = whole.order.clone();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..count));
        for (size, memory_bytes) in [(1000, u64::MAX), (1000, 0), (BLOCK_GRIDS as u32 + 7, 0), (50, 1 << 20)] {
            assert!(merged_of(shares(size), memory_bytes).0 == whole, "{size} {memory_bytes}");
        }
    }
}
