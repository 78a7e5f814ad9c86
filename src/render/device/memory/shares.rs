//! The shares of a device's memory besides grids and regions, and of the host's memory for lists of grids.

use crate::gpu::MemoryUse;
use crate::pipeline::buffers::CountSlices;
use crate::pipeline::imager::ImagerSlices;
use crate::pipeline::look::ImagerProgram;
use crate::pipeline::recording::BINDING_BYTES_MAX;
use crate::render::resident::geometry_pages::PagesBytes;

/// Bytes of a page of geometry, at most.
const GEOMETRY_PAGE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a page of geometry, at least, unless there is less geometry.
const GEOMETRY_PAGE_BYTES_MIN: u64 = 1 << 18;
/// The part of a device's limit that a page of geometry may take: 1 / this, so that some are resident at once.
const GEOMETRY_PAGE_PART: u64 = 16;
/// The part of the memory left after the frame that pages of geometry may take: 1 / this.
const GEOMETRY_PART: u64 = 3;
/// The part of the memory left that the counting pass may take: 1 / this.
const COUNTING_PART: u64 = 2;
/// Subpatches that a chunk of the counting pass has room for, at most.
const SUBPATCHES_MAX: u64 = 1 << 17;
/// Subpatches that a chunk of the counting pass has room for, at least.
const SUBPATCHES_MIN: u64 = 256;
/// Regions in flight on a GPU: while the host looks at one, the device works on the other.
const REGIONS_IN_FLIGHT: usize = 2;
/// Tiles that the imager runs over at once, at most: 262,144 pixels.
const IMAGER_TILES_MAX: u64 = 1024;
/// Tiles that the imager runs over at once, at least; where they do not fit, it does not run.
const IMAGER_TILES_MIN: u64 = 8;

/// The part of what all devices may use that lists of grids may take of the host's memory, before they go to a file: 1
/// / this.
const HOST_LIST_PART: u64 = 16;

/// Returns the bytes of a list of grids that stay in the host's memory where the limits of all devices come to
/// `limits_bytes`.
pub(crate) fn host_list_bytes(limits_bytes: u64) -> u64 {
    limits_bytes / HOST_LIST_PART
}

/// Returns the number of regions in flight on a device, as long as no other number is asked for. A CPU device shares
/// its processor with the host, so a second region only takes longer to begin with: fresh pages of its memory are
/// expensive.
pub(crate) fn regions_in_flight(on_cpu: bool) -> usize {
    if on_cpu { 1 } else { REGIONS_IN_FLIGHT }
}

/// Returns the bytes of a device's limit that are not in use yet, without a reserve that is to stay free.
pub(crate) fn free_bytes(memory: MemoryUse, reserve_bytes: u64) -> u64 {
    memory.budget_bytes.saturating_sub(memory.used_bytes + reserve_bytes)
}

/// Returns the bytes of a page of geometry, at most, where no device has a smaller limit than `limit_bytes`.
pub(crate) fn geometry_page_bytes(limit_bytes: u64) -> u64 {
    (limit_bytes / GEOMETRY_PAGE_PART).clamp(GEOMETRY_PAGE_BYTES_MIN, GEOMETRY_PAGE_BYTES_MAX)
}

/// Returns the bytes of the pages of geometry that are resident at once on a device with `free` bytes, where at most
/// `bytes_max` are wanted.
pub(crate) fn geometry_bytes(pages: PagesBytes, free: u64, bytes_max: u64) -> u64 {
    pages.all.min((free / GEOMETRY_PART).min(bytes_max).max(pages.largest))
}

/// Subpatches that a chunk of the counting pass has room for, where there are `drawables` drawables and `free` bytes.
pub(crate) fn counting_capacity(drawables: u64, free: u64) -> u64 {
    let fits = |capacity: u64| CountSlices::bytes(drawables, capacity) <= free / COUNTING_PART;
    let mut capacity = SUBPATCHES_MAX;
    while capacity > SUBPATCHES_MIN && !fits(capacity) {
        capacity /= 2;
    }
    capacity
}

/// Returns the bytes of the counting pass with the least capacity.
pub(super) fn smallest_counting_bytes(drawables: u64) -> u64 {
    CountSlices::bytes(drawables, SUBPATCHES_MIN)
}

/// Returns the number of tiles that the imager runs over at once on a device with `free` bytes and `slots` slots for
/// texture tiles.
pub(crate) fn imager_tiles(program: &ImagerProgram, texture_slots: u64, free: u64) -> u64 {
    let most = free.min(BINDING_BYTES_MAX);
    let mut tiles = IMAGER_TILES_MAX;
    while tiles > IMAGER_TILES_MIN && ImagerSlices::bytes(program, tiles, texture_slots) > most {
        tiles /= 2;
    }
    tiles
}
