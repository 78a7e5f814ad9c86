//! How the entries of a slab, and so its work, are spread over its cells.

use crate::pipeline::kernels::constants::{CELL_SAMPLES, NEAREST_ENTRIES};
use crate::pipeline::slab::layers_of_cell;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

/// Units of work before each item of a task, and in all.
pub(crate) type CumulativeWork = Arc<[u64]>;

/// Where the list of each cell begins, and where the last one ends.
#[derive(Debug)]
pub(crate) struct CellLists {
    offsets: Vec<u32>,
}

impl CellLists {
    /// Made from where the lists of `entries` entries begin.
    pub(crate) fn new(mut offsets: Vec<u32>, entries: u32) -> Self {
        offsets.push(entries);
        Self { offsets }
    }

    /// The work of sorting: a unit for each cell and each entry.
    pub(crate) fn sorting(&self) -> CumulativeWork {
        (0..).zip(&self.offsets).map(|(cell, &before)| cell + u64::from(before)).collect()
    }

    /// The work of listing layers, for pixels of `cells` cells and `samples` subpixels: a unit for each layer that
    /// there must be room for.
    pub(crate) fn layers(&self, cells: u64, samples: u64) -> CumulativeWork {
        let rooms = |lists: &[u32]| layers_of_cell(samples, u64::from(lists[1] - lists[0]));
        let pixels = (0..self.offsets.len() - 1).step_by(cells as usize);
        let of_pixels = pixels.map(|first| self.offsets[first..=first + cells as usize].windows(2).map(rooms).sum());
        let before = of_pixels.scan(0, |sum, rooms: u64| {
            *sum += rooms;
            Some(*sum)
        });
        iter::once(0).chain(before).collect()
    }

    /// The work of compositing after `calls` calls, for pixels of `cells` cells and `samples` subpixels: a unit for
    /// each subpixel and for each entry that it looks at. A cell is finished after [`NEAREST_ENTRIES`] entries for each
    /// call.
    pub(crate) fn compositing(&self, cells: u64, samples: u64, calls: u32) -> CumulativeWork {
        let finished = u64::from(NEAREST_ENTRIES) * u64::from(calls);
        let looks = |lists: &[u32]| match u64::from(lists[1] - lists[0]) {
            entries if entries > finished => entries * samples.min(CELL_SAMPLES.into()),
            _ => 0,
        };
        let (mut before, mut sum) = (vec![0], 0);
        for pixel in (0..self.offsets.len() - 1).step_by(cells as usize) {
            sum += samples + self.offsets[pixel..=pixel + cells as usize].windows(2).map(looks).sum::<u64>();
            before.push(sum);
        }
        before.into()
    }
}

/// The pixels whose layers are listed, and the rooms for layers before each pixel of the region.
#[derive(Clone, Debug)]
pub(crate) struct ListedLayers {
    pub pixels: Range<u64>,
    pub rooms: CumulativeWork,
}

impl ListedLayers {
    /// The rooms of some of the pixels among those that are listed.
    pub(crate) fn rooms_of(&self, pixels: Range<u64>) -> Range<u64> {
        let before = |pixel: u64| self.rooms[pixel as usize] - self.rooms[self.pixels.start as usize];
        before(pixels.start)..before(pixels.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_where_the_entries_are() {
        // Two pixels of two cells: 0 and 10 entries, 100 and 60.
        let lists = CellLists::new(vec![0, 0, 10, 110], 170);
        assert_eq!(*lists.sorting(), [0, 1, 12, 113, 174]);
        assert_eq!(*lists.layers(2, 64), [0, 32 * 12, 32 * 12 + 32 * 162]);
        assert_eq!(*lists.compositing(2, 64, 0), [0, 64 + 320, 128 + 320 + 32 * 160]);
        assert_eq!(*lists.compositing(2, 64, 1), [0, 64, 128 + 32 * 160]);
        assert_eq!(*lists.compositing(2, 64, 2), [0, 64, 128 + 32 * 100]);
        assert_eq!(*lists.compositing(2, 64, 3), [0, 64, 128]);
        assert_eq!(
            *CellLists::new(vec![0, 3], 7).compositing(1, 4, 0),
            [0, 16, 4 + 12 + 4 + 16],
            "fewer samples than a cell"
        );
    }
}
