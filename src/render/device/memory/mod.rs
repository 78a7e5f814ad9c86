//! How the memory that a device may use (its limit) is divided, in closed form: every share, its constants, and what a
//! picture needs at least.
//!
//! F is the number of grids of the picture; *left* is what remains of the limit after the rows above and the reserve.
//!
//! | what | how much | constants | used in |
//! |---|---|---|---|
//! | staging | none where the host sees device memory, else 3/64, at most 24 MiB | `STAGING_*` | `gpu::transfer` |
//! | frame | 148 bytes an instance, 128 a keyframe of its motion, 16 a record of parameters | - | `frame` |
//! | scene's reserve | `Picture::reserve_bytes`, which stay free | - | `free_bytes` |
//! | tiles of textures | as asked, else 1/4 of *left*, at most 256 MiB | `MEMORY_PART` | `resident::texture_tiles` |
//! | pages of geometry, each 1/16 of the limit | all, up to 1/3 of *left*; at least one | `GEOMETRY_*` | `renderer` |
//! | counting, freed after it | 2^17 to 2^8 subpatches, up to 1/2 of *left* | `SUBPATCHES_*` | `bound_split` |
//! | list of grids | 52 F + F / 8, up to 1/2 of *left*; else pages in 1/4 | `grid_residency` | `begin_picture` |
//! | regions in flight | equal parts of all that is left | `REGIONS_IN_FLIGHT`, `regions` | `begin_picture` |
//! | what samples see, if kept | 8 or 12 bytes a subpixel, up to 1/2 of *left* | `VISIBILITY_*` | `begin_picture` |
//! | imager, when all is freed | 1024 to 8 tiles of pixels | `IMAGER_TILES_*` | `imager` |
//!
//! On the host, lists of grids are kept in memory up to a sixteenth of all devices' limits (`HOST_LIST_PART`), and in a
//! file beyond that (`grids::list`).
//!
//! Where a share cannot be allocated, `begin_picture` tries the next smaller one: smaller regions, then fewer regions
//! in flight, then fewer resident grids, and at last one page of geometry. Where even the smallest shares do
//! not fit, [`MemoryNeeds`] adds them up for the message. `docs/memory.md` has the formulas.

mod grid_residency;
mod needs;
mod regions;
mod shares;

pub(crate) use grid_residency::GridResidency;
pub(crate) use needs::{LastingBytes, MemoryNeeds};
pub(crate) use regions::{Demand, region_choices, visibility_bytes};
pub(crate) use shares::{
    counting_capacity, free_bytes, geometry_bytes, geometry_page_bytes, host_list_bytes, imager_tiles,
    regions_in_flight,
};
