//! A slab of depth, and what fits into one.

use super::kernels::constants::CELL_SAMPLES;
use super::kernels::records::Appended;

/// A slab of depth: keys (depth bits, number) from `low`, inclusive, to `high`, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slab {
    /// First key.
    pub low: u64,
    /// First key beyond it.
    pub high: u64,
}

impl Slab {
    /// All depths.
    pub const WHOLE: Self = Self { low: 0, high: u64::MAX };
}

/// Entries of one cell that can be sorted and composited: few enough that `composite_slab`, which moves up to
/// `NEAREST_ENTRIES` entries for each, stays within its loop trips (docs/pipeline/loops.md).
pub const CELL_ENTRIES_MAX: u32 = 512;

/// What a slab appended before anything of it is sampled.
pub fn nothing_appended() -> Appended {
    Appended { appended: 0, longest_cell: 0, list_cut: u32::MAX }
}

/// Entries of one cell of which what solids leave can be found. They need not be sorted for that, and an entry may look
/// at each other one at each of its samples: the fewer those are, the more entries stay within the loop trips of
/// `cut_solids`. Going once through as many leaves `sort_entries` enough trips to sort [`CELL_ENTRIES_MAX`].
pub fn solid_entries_max(pixel_samples: u64) -> u32 {
    const TRIPS: u64 = 24_576;
    (TRIPS / (1 + pixel_samples.min(CELL_SAMPLES.into()))).clamp(CELL_ENTRIES_MAX.into(), 1536) as u32
}

/// Layers that there is room for, at least.
const LAYERS_MIN: u64 = 1 << 17;

/// Returns the layers that a pixel has room for in a slab, by its samples and the entries in the longest list of its
/// cells: one for each entry of each sample's cell, and an opaque one.
fn pixel_layers(pixel_samples: u64, longest_cell: u64) -> u64 {
    pixel_samples.div_ceil(CELL_SAMPLES.into()) * layers_of_cell(pixel_samples, longest_cell)
}

/// Returns the layers that a cell has room for, by the samples of a pixel and the entries of the cell.
pub fn layers_of_cell(pixel_samples: u64, entries: u64) -> u64 {
    (entries + 1) * pixel_samples.min(CELL_SAMPLES.into())
}

/// Layers that a region has room for: all of any pixel in a slab of one key, which has at most an entry a sample.
pub fn layers_capacity(pixel_samples: u64) -> u64 {
    pixel_layers(pixel_samples, CELL_SAMPLES.into()).max(LAYERS_MIN)
}

/// Entries of a cell in a slab, at most, so that there is room for all layers of its pixel.
fn cell_entries_max(pixel_samples: u64) -> u32 {
    let fitting = layers_capacity(pixel_samples) / pixel_layers(pixel_samples, 0) - 1;
    fitting.min(CELL_ENTRIES_MAX.into()) as u32
}

/// Entries of a cell in a slab, at most: of pictures with deep shadow maps too.
pub fn list_entries_max(pixel_samples: u64, deep: bool) -> u32 {
    if deep { cell_entries_max(pixel_samples) } else { CELL_ENTRIES_MAX }
}
