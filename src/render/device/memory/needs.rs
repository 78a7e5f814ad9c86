//! The least device memory that a picture can be drawn with, and what takes it: for the message where there is less.

use crate::gpu::{BLOCK_BYTES, STAGING_BUFFERS, created_bytes};
use crate::pipeline::buffers::GridPageSlices;
use crate::render::device::memory::regions::{Demand, smallest_region_bytes};
use crate::render::device::memory::shares::{geometry_page_bytes, smallest_counting_bytes};
use crate::render::resident::geometry_pages::PagesBytes;
use crate::stats::human_bytes;
use std::fmt;

/// Sizes are rounded up to this, which no driver's alignment exceeds.
const ROUNDING_BYTES: u64 = 1 << 20;
/// Kinds of memory of staging buffers: what the host writes, and what it reads.
const STAGING_KINDS: u64 = 2;
/// Needs of fewer bytes are left out of the message.
const TINY_BYTES: u64 = 1 << 10;

/// Buffers of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NeededBuffers {
    /// What they are for.
    what: String,
    /// How many there are.
    count: u64,
    /// Bytes of each.
    bytes: u64,
    /// Kinds of memory that they take and nothing else does; 0 for memory that other buffers share.
    own_kinds: u64,
}

/// Everything that takes device memory while a picture is drawn with the smallest shares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryNeeds(Vec<NeededBuffers>);

/// What a picture takes on a device in every phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastingBytes {
    /// Bytes of the frame.
    pub frame: u64,
    /// Bytes of the pages of geometry.
    pub pages: PagesBytes,
    /// Bytes of each of the device's staging buffers.
    pub staging: u64,
    /// Bytes that the scene wants to stay free.
    pub reserve: u64,
}

impl MemoryNeeds {
    /// Returns what counting the primitives takes, with all that lasts.
    pub(crate) fn of_counting(lasting: LastingBytes, drawables: u64) -> Self {
        Self::of_lasting(lasting).with("counting", 1, smallest_counting_bytes(drawables))
    }

    /// Returns what drawing one region at a time takes, with all that lasts.
    pub(crate) fn of_drawing(lasting: LastingBytes, demand: &Demand) -> Self {
        let (page, all) = (demand.page_grids, demand.frame_grids);
        let whole = format!("the list of {all} grids");
        let list = if page < all { format!("a page of {whole}") } else { whole };
        Self::of_lasting(lasting).with(list, 1, GridPageSlices::bytes(page)).with(
            "the pixels of one region",
            1,
            smallest_region_bytes(demand),
        )
    }

    /// Returns the needs of a picture with such pages of geometry as it has where the limit is as much as it needs:
    /// pages grow with the limit. `needs` returns those with some pages.
    pub(crate) fn with_their_pages(pages: PagesBytes, needs: impl Fn(PagesBytes) -> Self) -> Self {
        let mut found = needs(pages);
        loop {
            let largest = geometry_page_bytes(found.mib() << 20).min(pages.all).max(pages.largest);
            let next = needs(PagesBytes { largest, ..pages });
            if next.mib() <= found.mib() {
                return next;
            }
            found = next;
        }
    }

    fn of_lasting(lasting: LastingBytes) -> Self {
        let LastingBytes { frame, pages, staging, reserve } = lasting;
        let page = if pages.all > pages.largest { "one page of geometry" } else { "geometry" };
        Self::default()
            .with("the device itself", 1, 1)
            .with("instances and shader parameters", 1, frame)
            .with(page, 1, pages.largest)
            .with_own_memory("staging", STAGING_BUFFERS, staging, STAGING_KINDS)
            .with("the scene's reserve", 1, reserve)
    }

    /// Returns these needs and `count` buffers of `bytes` each.
    #[must_use]
    fn with(mut self, what: impl Into<String>, count: u64, bytes: u64) -> Self {
        self.0.push(NeededBuffers { what: what.into(), count, bytes, own_kinds: 0 });
        self
    }

    /// Returns the same in `own_kinds` kinds of memory that nothing else takes.
    #[must_use]
    fn with_own_memory(mut self, what: impl Into<String>, count: u64, bytes: u64, own_kinds: u64) -> Self {
        self.0.push(NeededBuffers { what: what.into(), count, bytes, own_kinds });
        self
    }

    /// Returns a limit under which the picture can be drawn, in whole MiB. Large buffers have blocks of their own;
    /// small ones share blocks, of which at most one of a kind of memory is less than half full, because a buffer goes
    /// where there is room.
    pub(crate) fn mib(&self) -> u64 {
        let (large, small): (Vec<&NeededBuffers>, Vec<&NeededBuffers>) = self
            .0
            .iter()
            .filter(|buffers| buffers.bytes > 0)
            .partition(|buffers| created_bytes(buffers.bytes) >= BLOCK_BYTES);
        let large_bytes = |buffers: &NeededBuffers| created_bytes(buffers.bytes).next_multiple_of(ROUNDING_BYTES);
        let large: u64 = large.iter().map(|buffers| buffers.count * large_bytes(buffers)).sum();
        let (own, shared): (Vec<&NeededBuffers>, Vec<&NeededBuffers>) =
            small.into_iter().partition(|buffers| buffers.own_kinds > 0);
        let blocks = |buffers: &[&NeededBuffers], kinds: u64| {
            let count: u64 = buffers.iter().map(|buffers| buffers.count).sum();
            let bytes: u64 = buffers.iter().map(|buffers| buffers.count * created_bytes(buffers.bytes)).sum();
            count.min(2 * bytes / BLOCK_BYTES + kinds)
        };
        let own: u64 = own.iter().map(|buffers| blocks(&[buffers], buffers.own_kinds)).sum();
        (large + (own + blocks(&shared, 1)) * BLOCK_BYTES).div_ceil(1 << 20)
    }
}

/// `32.0 MiB for 655360 grids, 2.5 MiB for 2 regions, in blocks of 4.0 MiB`, the largest first, without tiny ones.
impl fmt::Display for MemoryNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<(u64, &str)> =
            self.0.iter().map(|buffers| (buffers.count * buffers.bytes, &*buffers.what)).collect();
        parts.retain(|(bytes, _)| *bytes >= TINY_BYTES);
        parts.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        for (bytes, what) in parts {
            write!(f, "{} for {what}, ", human_bytes(bytes))?;
        }
        write!(f, "in blocks of {}", human_bytes(BLOCK_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_buffers_share_blocks_and_the_largest_comes_first() {
        let needs = MemoryNeeds::default()
            .with("2 regions", 2, 3 << 20)
            .with("7 grids", 1, (9 << 20) + 1)
            .with("a frame", 1, 100);
        // Each region in a block, and the frame beside one of them; but the order of allocation is unknown.
        assert_eq!(needs.mib(), 10 + 3 * 4);
        assert_eq!(needs.to_string(), "9.0 MiB for 7 grids, 6.0 MiB for 2 regions, in blocks of 4.0 MiB");
        assert_eq!(
            MemoryNeeds::default().with("a frame", 1, 100).with("a page", 1, 100).with("nothing", 1, 0).mib(),
            4
        );
        let with_page = |pages: PagesBytes| needs.clone().with("a page", 1, pages.largest);
        let found = MemoryNeeds::with_their_pages(PagesBytes { all: 1 << 30, largest: 1 }, with_page).mib();
        let pages = PagesBytes { all: 1 << 30, largest: geometry_page_bytes(found << 20) };
        assert!(with_page(pages).mib() <= found, "there is room for the larger page of the larger limit");
        // Two kinds of memory beside that of the frame.
        let staged = MemoryNeeds::default().with("a frame", 1, 100).with_own_memory("staging", 3, 100, 2);
        assert_eq!(staged.mib(), 3 * 4);
    }
}
