//! Pages of the list of grids on a device: contiguous parts of the list, in which [neighbours in the picture are
//! neighbours](crate::render::grids::order). Where the list is larger than its share of the device's memory, a region
//! selects from one page after another, of those that its pixels meet, and pages are evicted for others: the least
//! recently used (LRU) first.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{GridPageSlices, clusters};
use crate::pipeline::kernels::constants::CLUSTER_GRIDS;
use crate::pipeline::kernels::records::{Cluster, GridBound};
use crate::pipeline::pixels::{NO_PIXELS, RegionPixels, packed_range, unpacked_range};
use crate::render::grids::list::{GridList, ListError, blocks};
use crate::render::grids::picture_grids::PictureGrids;
use std::ops::Range;
use std::sync::Arc;

/// The list of grids of a picture, and which pages of it are on a device.
#[derive(Debug, Default)]
pub(crate) struct GridPages {
    picture_grids: Arc<PictureGrids>,
    /// Grids of a page.
    page_grids: u64,
    /// The pixels that each cluster meets, page by page.
    clusters: Vec<Cluster>,
    /// The pixels that each page meets.
    page_boxes: Vec<Cluster>,
    buffers: Vec<GridPageBuffer>,
    /// Counts uses of pages.
    clock: u64,
}

/// A buffer that holds one page at a time.
#[derive(Debug)]
struct GridPageBuffer {
    slices: GridPageSlices,
    page: Option<usize>,
    last_use: u64,
}

impl GridPages {
    /// Creates a list in pages of `page_grids` grids each, for which there are `buffers`; no page is resident yet.
    pub(crate) fn new(
        picture_grids: Arc<PictureGrids>,
        page_grids: u64,
        buffers: Vec<GridPageSlices>,
    ) -> Result<Self, ListError> {
        let buffers = buffers.into_iter().map(|slices| GridPageBuffer { slices, page: None, last_use: 0 }).collect();
        let (clusters, page_boxes) = (Vec::new(), Vec::new());
        let mut pages = Self { picture_grids, page_grids, clusters, page_boxes, buffers, clock: 0 };
        let all = pages.picture_grids.list.len();
        for page in 0..all.div_ceil(page_grids as usize) {
            let first = pages.clusters.len();
            for block in blocks(pages.grids_of(page)) {
                let bounds = pages.picture_grids.list.bounds(block)?;
                pages.clusters.extend(bounds.chunks(CLUSTER_GRIDS as usize).map(pixels_of));
            }
            pages.page_boxes.push(union(pages.clusters[first..].iter().copied()));
        }
        Ok(pages)
    }

    /// Returns the pages that may have grids for a region.
    pub(crate) fn pages_meeting(&self, region: &RegionPixels) -> Vec<usize> {
        (0..self.page_boxes.len()).filter(|&page| meets(&self.page_boxes[page], region)).collect()
    }

    /// Returns the most grids that a region can select.
    pub(crate) fn selected_max(&self, region: &RegionPixels) -> u64 {
        let met = self.clusters.iter().filter(|cluster| meets(cluster, region)).count() as u64;
        (met * u64::from(CLUSTER_GRIDS)).min(self.picture_grids.list.len() as u64)
    }

    /// Whether a page is on the device.
    pub(crate) fn is_resident(&self, page: usize) -> bool {
        self.buffers.iter().any(|buffer| buffer.page == Some(page))
    }

    /// Returns a page on the device. If it is not there, evicts another and uploads it. Submissions made before see
    /// what was there, those made after see the page. A region goes through the pages of `wanted` forth and back: the
    /// least recently used of them is needed again last, so it is evicted first; but any other page is evicted before.
    pub(crate) fn make_resident(
        &mut self,
        device: &mut Device,
        page: usize,
        wanted: &[usize],
    ) -> Result<GridPageSlices, GpuError> {
        self.clock += 1;
        let some = self.grids_of(page);
        let resident = self.buffers.iter().position(|buffer| buffer.page == Some(page));
        let place = resident.unwrap_or_else(|| self.evict_lru(wanted));
        let buffer = &mut self.buffers[place];
        buffer.last_use = self.clock;
        let count = some.len() as u64;
        let slices = buffer.slices.first(count);
        if resident.is_none() {
            let first = page * clusters(self.page_grids) as usize;
            upload(device, &self.picture_grids.list, some, &slices)?;
            device.upload(slices.clusters, &self.clusters[first..first + clusters(count) as usize])?;
            buffer.page = Some(page);
        }
        Ok(slices)
    }

    /// Evicts the least recently used (LRU) page, if all buffers are full, and returns the number of the empty buffer.
    /// Pages of `wanted` are evicted after all others.
    fn evict_lru(&mut self, wanted: &[usize]) -> usize {
        let place = lru(&self.buffers, wanted);
        self.buffers[place].page = None;
        place
    }

    /// Returns the number of grids of a page.
    pub(crate) fn grid_count(&self, page: usize) -> u64 {
        self.grids_of(page).len() as u64
    }

    fn grids_of(&self, page: usize) -> Range<usize> {
        let first = page * self.page_grids as usize;
        first..(first + self.page_grids as usize).min(self.picture_grids.list.len())
    }
}

/// Returns the number of the buffer whose page is evicted next.
fn lru(buffers: &[GridPageBuffer], wanted: &[usize]) -> usize {
    let is_wanted = |buffer: &GridPageBuffer| buffer.page.is_some_and(|page| wanted.binary_search(&page).is_ok());
    let order = |&i: &usize| (is_wanted(&buffers[i]), buffers[i].last_use);
    (0..buffers.len()).min_by_key(order).expect("a list has a buffer")
}

/// Uploads some grids of a list.
fn upload(device: &mut Device, list: &GridList, some: Range<usize>, slices: &GridPageSlices) -> Result<(), GpuError> {
    let title = device.title().clone();
    let unreadable = |error: ListError| GpuError::Source { device: title.clone(), reason: error.to_string() };
    for block in blocks(some.clone()) {
        let part = (block.start - some.start) as u64..(block.end - some.start) as u64;
        device.upload(slices.listed.grids.part(part.clone()), &list.grids(block.clone()).map_err(unreadable)?)?;
        device.upload(slices.listed.bounds.part(part.clone()), &list.bounds(block.clone()).map_err(unreadable)?)?;
        device.upload(slices.order.part(part), &list.order(block).map_err(unreadable)?)?;
    }
    Ok(())
}

/// Returns the pixels that some bounds meet together.
fn pixels_of(bounds: &[GridBound]) -> Cluster {
    union(bounds.iter().map(|bound| Cluster { x: bound.x, y: bound.y }))
}

/// Returns the pixels that some clusters meet together.
fn union(clusters: impl Iterator<Item = Cluster>) -> Cluster {
    let [x, y] = clusters.fold([NO_PIXELS; 2], |[x, y], one| [wider(x, one.x), wider(y, one.y)]);
    Cluster { x: packed_range(x), y: packed_range(y) }
}

fn wider([low, high]: [i32; 2], packed: u32) -> [i32; 2] {
    let [first, last] = unpacked_range(packed);
    [low.min(first), high.max(last)]
}

fn meets(pixels: &Cluster, region: &RegionPixels) -> bool {
    let ([x0, y0, x1, y1], [left, right], [top, bottom]) =
        (region.sampled, unpacked_range(pixels.x), unpacked_range(pixels.y));
    left < x1 && right >= x0 && top < y1 && bottom >= y0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::kernels::records::Subpatch;
    use crate::pipeline::recording::Buffer;
    use crate::render::grids::list::GridColumns;
    use crate::schedule::Region;

    fn page_buffer(page: Option<usize>, last_use: u64) -> GridPageBuffer {
        let buffer = Buffer::new("grids", 0, 0, 0, 0);
        let slices = GridPageSlices::cut(buffer, 0).expect("it takes nothing");
        GridPageBuffer { slices, page, last_use }
    }

    fn pages(bounds: Vec<GridBound>, page_grids: u64) -> GridPages {
        let count = bounds.len();
        let list = GridColumns { grids: vec![Subpatch::default(); count], bounds, order: vec![0; count] }.into();
        let picture_grids = PictureGrids { list, ..PictureGrids::default() };
        GridPages::new(Arc::new(picture_grids), page_grids, Vec::new()).expect("it is in memory")
    }

    #[test]
    fn pages_that_are_not_wanted_are_evicted_first_and_older_ones_first() {
        let buffers =
            [page_buffer(Some(4), 9), page_buffer(Some(1), 7), page_buffer(Some(2), 8), page_buffer(Some(7), 6)];
        assert_eq!(lru(&buffers, &[1, 2, 3]), 3, "4 and 7 are not wanted: 7 is older");
        assert_eq!(lru(&buffers, &[1, 2, 4]), 3, "7 is not wanted");
        assert_eq!(lru(&buffers, &[1, 2, 3, 4, 7]), 3, "all are wanted: 7 is the least recently used");
        assert_eq!(lru(&[page_buffer(Some(1), 5), page_buffer(None, 0)], &[0, 1]), 1, "an empty buffer");
    }

    fn region(x0: i32, x1: i32) -> RegionPixels {
        RegionPixels { sampled: [x0, 0, x1, 4], inside: Region::new([0, 0, 1, 1]).expect("not empty") }
    }

    #[test]
    fn regions_skip_pages_that_their_pixels_do_not_meet() {
        let bound = |x0, x1| GridBound { x: packed_range([x0, x1]), y: packed_range([0, 5]), zmin: 1.0, zmax: 1.0 };
        let bounds = vec![bound(-4, 3), bound(10, 12), bound(20, 29), bound(40, 41), bound(1, 2)];
        let pages = pages(bounds, 2);
        let meeting = |x0, x1| pages.pages_meeting(&region(x0, x1));
        assert_eq!(meeting(0, 50), [0, 1, 2]);
        assert_eq!(meeting(12, 20), [0], "inclusive bounds, half-open regions");
        assert_eq!(meeting(13, 21), [1]);
        assert_eq!(meeting(50, 60), [0_usize; 0]);
        assert_eq!(pages.grids_of(2), 4..5);
    }

    #[test]
    fn a_region_selects_no_more_than_the_clusters_that_it_meets() {
        let bounds = (0..200)
            .map(|x| GridBound { x: packed_range([x, x]), y: packed_range([0, 5]), zmin: 1.0, zmax: 1.0 })
            .collect();
        let pages = pages(bounds, 150);
        assert_eq!(pages.clusters.len(), 4, "64, 64 and 22 of a page, 50 of the next");
        assert_eq!(
            [region(0, 1), region(63, 65), region(140, 151)].map(|some| pages.selected_max(&some)),
            [64, 128, 128]
        );
        assert_eq!(pages.selected_max(&region(0, 200)), 200, "no more than there are");
        assert_eq!(pages.selected_max(&region(200, 300)), 0);
    }
}
