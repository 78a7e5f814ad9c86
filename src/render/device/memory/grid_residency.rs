//! How much of the list of grids is on a device at once.

use crate::pipeline::buffers::GridPageSlices;

/// Grids of a page, at most.
const PAGE_GRIDS_MAX: u64 = 1 << 20;
/// Grids of a page where not all pages are resident.
const PAGED_GRIDS: u64 = 1 << 17;
/// Grids of the one page that is resident where memory is shortest.
const PAGE_GRIDS_MIN: u64 = 1 << 14;
/// The part of the memory left that the whole list may take: 1 / this.
const WHOLE_LIST_PART: u64 = 2;
/// The part of the memory left that some pages of a longer list may take: 1 / this.
const PAGED_LIST_PART: u64 = 4;

/// How much of the list of grids is on a device at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GridResidency {
    /// Grids of a page.
    pub page_grids: u64,
    /// Pages that are resident at once.
    pub pages: u64,
}

impl GridResidency {
    /// Returns the residency of all pages.
    pub(crate) fn whole(grids: u64) -> Self {
        let page_grids = grids.clamp(1, PAGE_GRIDS_MAX);
        Self { page_grids, pages: grids.div_ceil(page_grids).max(1) }
    }

    /// Returns as many pages as `bytes` hold, but at least one, and no more than there are.
    pub(crate) fn within(grids: u64, bytes: u64) -> Self {
        let page_grids = grids.clamp(1, PAGED_GRIDS);
        let all = grids.div_ceil(page_grids).max(1);
        Self { page_grids, pages: (bytes / GridPageSlices::bytes(page_grids)).clamp(1, all) }
    }

    /// Returns the residency of one small page.
    pub(crate) fn least(grids: u64) -> Self {
        Self { page_grids: grids.clamp(1, PAGE_GRIDS_MIN), pages: 1 }
    }

    /// Returns the bytes of all resident pages.
    pub(crate) fn bytes(self) -> u64 {
        self.pages * GridPageSlices::bytes(self.page_grids)
    }

    /// Returns what to try on a device with `free` bytes for grids and regions: the fastest first, the smallest last.
    pub(crate) fn choices(grids: u64, free: u64) -> Vec<Self> {
        let whole = Some(Self::whole(grids)).filter(|whole| whole.bytes() <= free / WHOLE_LIST_PART);
        let paged = Self::within(grids, free / PAGED_LIST_PART);
        whole.into_iter().chain([paged, Self::least(grids)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_takes_no_more_than_its_share_and_at_least_a_page() {
        for grids in [0, 1, 20_000, 3_000_000, 100_000_000] {
            for mib in [1, 16, 256, 8192] {
                let choices = GridResidency::choices(grids, mib << 20);
                let whole = choices.iter().any(|c| c.page_grids * c.pages >= grids);
                assert!(whole || GridPageSlices::bytes(grids) * 4 > mib << 20, "{grids} in {mib} MiB");
                assert!(choices.iter().all(|c| c.pages == 1 || c.bytes() <= (mib << 20) / 2), "{choices:?}");
                assert!(choices.last().is_some_and(|c| c.bytes() <= 1 << 20), "{choices:?}");
            }
        }
    }
}
