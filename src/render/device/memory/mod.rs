//! How the memory that a device may use (its limit) is divided, in closed form: every share, its constants, and what a
//! picture needs at least.
//!
//! With F grids of the picture, and *left* the bytes that remain of the limit after everything above in the table and the
//! scene's reserve:
//!
//! | what takes memory | how much | by | used in |
//! |---|---|---|---|
//! | staging | nothing where the host sees device memory, else two buffers for uploads and one for reading back | `gpu` | `gpu::transfer` |
//! | the frame: instances, shader parameters, bindings of primvars, clipping planes | 148 bytes an instance, 16 each of the others, and the frame record | [`frame_parts`](crate::render::device::frame) | `device::frame` |
//! | the reserve of the scene, which stays free | `Option "limits" "reserve"` in KiB | `Picture::reserve_bytes` | [`free_bytes`] |
//! | pages of geometry | all of them, up to a third of *left*; one page in any case | [`GEOMETRY_PART`], [`GEOMETRY_PAGE_BYTES`] | `device::renderer`, `resident::geometry_pages` |
//! | the counting pass, freed before regions begin | lists of 2^17 subpatches, halved while they take more than half of *left*, down to 256 | [`COUNTING_PART`], [`SUBPATCHES_MAX`], [`SUBPATCHES_MIN`] | `device::bound_split` |
//! | the list of grids | 52 F bytes and 8 for each 64 grids, up to half of *left*; else as many pages of 2^17 grids as a quarter holds; at least one page of 2^14 grids | [`GridResidency`] and its constants | `device::begin_picture`, `resident::grid_pages` |
//! | regions in flight | equal parts of all that is left, each up to the largest buffer that the device allows, of which `largest_region` makes the most | [`REGIONS_IN_FLIGHT`] and the constants of [`regions`] | `device::begin_picture`, `region` |
//! | the imager, when all else is freed | memory for 1024 tiles of pixels, halved until it fits, down to 8 | [`IMAGER_TILES_MAX`], [`IMAGER_TILES_MIN`] | `device::imager` |
//!
//! On the host, lists of grids are kept in memory up to a sixteenth of all devices' limits (`HOST_LIST_PART`,
//! `grids::list`), and in a file beyond that.
//!
//! Where a share cannot be allocated, the next smaller one is tried (`device::begin_picture`): a shorter list of resident
//! grids, one page of geometry, smaller regions, fewer regions in flight. Where even the smallest shares do not fit,
//! [`MemoryNeeds`] adds them up for the message. `docs/memory.md` has the formulas.

mod grid_residency;
mod needs;
mod regions;

pub(crate) use grid_residency::GridResidency;
pub(crate) use needs::{LastingBytes, MemoryNeeds};
use regions::smallest_region_bytes;
pub(crate) use regions::{Demand, region_choices};

use crate::gpu::MemoryUse;
use crate::pipeline::buffers::CountSlices;
use crate::pipeline::imager::ImagerSlices;
use crate::pipeline::look::ImagerProgram;
use crate::pipeline::recording::BINDING_BYTES_MAX;
use crate::render::resident::geometry_pages::PagesBytes;

/// Bytes of a page of geometry.
pub(crate) const GEOMETRY_PAGE_BYTES: u64 = 64 << 20;
/// The part of the memory left after the frame that pages of geometry may take: 1 / this.
const GEOMETRY_PART: u64 = 3;
/// The part of the memory left that the counting pass may take: 1 / this.
const COUNTING_PART: u64 = 2;
/// Subpatches that a chunk of the counting pass has room for, at most.
const SUBPATCHES_MAX: u64 = 1 << 17;
/// Subpatches that a chunk of the counting pass has room for, at least.
const SUBPATCHES_MIN: u64 = 256;
/// Regions in flight on each device: while the host looks at one, the device works on the other.
pub(crate) const REGIONS_IN_FLIGHT: usize = 2;
/// Tiles that the imager runs over at once, at most: 262,144 pixels.
const IMAGER_TILES_MAX: u64 = 1024;
/// Tiles that the imager runs over at once, at least; where they do not fit, it does not run.
const IMAGER_TILES_MIN: u64 = 8;

/// The part of what all devices may use that lists of grids may take of the host's memory, before they go to a file: 1 / this.
const HOST_LIST_PART: u64 = 16;

/// Bytes of a list of grids that stay in the host's memory where the limits of all devices come to `limits_bytes`.
pub(crate) fn host_list_bytes(limits_bytes: u64) -> u64 {
    limits_bytes / HOST_LIST_PART
}

/// Bytes of a device's limit that are not in use yet, without a reserve that is to stay free.
pub(crate) fn free_bytes(memory: MemoryUse, reserve_bytes: u64) -> u64 {
    memory.budget_bytes.saturating_sub(memory.used_bytes + reserve_bytes)
}

/// Bytes of the pages of geometry that are resident at once on a device with `free` bytes, where at most `bytes_max` are wanted.
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

/// Bytes of the counting pass with the least capacity.
fn smallest_counting_bytes(drawables: u64) -> u64 {
    CountSlices::bytes(drawables, SUBPATCHES_MIN)
}

/// Tiles that the imager runs over at once on a device with `free` bytes.
pub(crate) fn imager_tiles(program: &ImagerProgram, free: u64) -> u64 {
    let most = free.min(BINDING_BYTES_MAX);
    let mut tiles = IMAGER_TILES_MAX;
    while tiles > IMAGER_TILES_MIN && ImagerSlices::bytes(program, tiles) > most {
        tiles /= 2;
    }
    tiles
}
