//! Sample: translucent grids leave entries (micropolygon, coverage mask, depth plane) in the pixels they cover, slab by slab of depth.

use super::buffers::{FrameSlices, RegionCapacity, RegionSlices};
use super::dice::{Per, Piece};
use super::kernels::constants::VISIBLE_WORDS;
use super::kernels::records::Appended;
use super::kernels::{sample, scatter_entries, sort_entries};
use super::recording::Recording;
use super::select::RegionPixels;
use super::{Device, hide, portion, scan};
use std::ops::Range;

/// Entries of one cell that can be sorted and composited: so few that `composite_slab`, which moves up to
/// `NEAREST_ENTRIES` entries for each, stays
/// within its loop trips (ARCHITECTURE.md, 7).
pub const CELL_ENTRIES_MAX: u32 = 512;

/// A slab of depth: keys (depth bits, number) from `low`, inclusive, to `high`, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slab {
    /// First key.
    pub low: u64,
    /// First key beyond.
    pub high: u64,
}

impl Slab {
    /// All depths.
    pub const WHOLE: Self = Self { low: 0, high: u64::MAX };
}

/// Appends the start of a slab: no entries, nothing visible of the `selected` grids.
pub fn record_clear(
    recording: &mut Recording,
    (slices, capacity): (&RegionSlices, &RegionCapacity),
    region: &RegionPixels,
    selected: u64,
) {
    recording.concurrent(|recording| {
        let cells = cells(capacity, region);
        recording.fill(slices.cell_counts.part(0..cells), 0);
        recording.fill(slices.cell_filled.part(0..cells), 0);
        recording.fill(slices.visible.part(0..u64::from(VISIBLE_WORDS) * selected.max(1)), 0);
        recording.write(slices.appended, &[Appended { appended: 0, longest_cell: 0 }]);
        recording.write(slices.rest, &[hide::rest_start()]);
    });
}

/// Appends the sampling of a piece whose positions begin at record `vertex_base`.
pub fn record_piece(
    recording: &mut Recording,
    frame: &FrameSlices,
    (slices, capacity): (&RegionSlices, &RegionCapacity),
    (region, slab): (&RegionPixels, Slab),
    (piece, vertex_base): (&Piece, u32),
) {
    let [region_width, region_height] = region.size();
    let bindings = sample::Bindings {
        frame_buffer: frame.frame,
        slots: slices.slots,
        arena: slices.arena,
        keys: slices.keys,
        entries: slices.entries,
        cell_counts: slices.cell_counts,
        visible: slices.visible,
        appended: slices.appended,
        rest: slices.rest,
        pieces: slices.pieces,
        clip_planes: frame.clip_planes,
    };
    let push = sample::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base,
        region_x: region.sampled[0],
        region_y: region.sampled[1],
        region_width,
        region_height,
        capacity: capacity.entries as u32,
        cells: capacity.cells() as u32,
        slab_low_z: (slab.low >> 32) as u32,
        slab_low_number: slab.low as u32,
        slab_high_z: (slab.high >> 32) as u32,
        slab_high_number: slab.high as u32,
    };
    let groups = piece.groups(slices, Per::Micropolygon);
    let (first, rest) = match frame.clip_planes.is_empty() {
        true => (sample::Variant::First, sample::Variant::Rest),
        false => (sample::Variant::FirstClipped, sample::Variant::RestClipped),
    };
    recording.dispatch(sample::dispatch(first, groups, &bindings, &push));
    recording.dispatch(sample::dispatch(rest, slices.rest.cast::<[u32; 3]>().part(0..1), &bindings, &push));
    hide::record_disarm(recording, slices);
}

/// Cells of a region.
pub fn cells(capacity: &RegionCapacity, region: &RegionPixels) -> u64 {
    region.count() * capacity.cells()
}

/// Appends the numbering of entries by cell: where each cell's list begins.
pub fn record_lists(
    recording: &mut Recording,
    device: Device,
    (slices, capacity): (&RegionSlices, &RegionCapacity),
    region: &RegionPixels,
) {
    let cells = cells(capacity, region) as u32;
    let total = (slices.scan, slices.scan.total);
    scan::record(recording, device, slices.cell_counts, slices.cell_offsets, cells, scan::Summed::WORD, total);
}

/// Appends the putting of `some` of `entries` entries into their cells' lists.
pub fn record_scatter(recording: &mut Recording, slices: &RegionSlices, entries: u32, some: &Range<u64>) {
    let bindings = scatter_entries::Bindings {
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_filled: slices.cell_filled,
        order: slices.order,
    };
    let ([first, last], groups) = portion(some, entries.into(), scatter_entries::LOCAL_SIZE);
    recording.dispatch(scatter_entries::dispatch(groups, &bindings, &scatter_entries::Push { first, last }));
}

/// Appends the sorting by depth of the lists of `some` of the cells.
pub fn record_sort(
    recording: &mut Recording,
    (slices, capacity): (&RegionSlices, &RegionCapacity),
    region: &RegionPixels,
    some: &Range<u64>,
) {
    let bindings = sort_entries::Bindings {
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        appended: slices.appended,
    };
    let ([first, last], groups) = portion(some, cells(capacity, region), sort_entries::LOCAL_SIZE);
    let push = sort_entries::Push { first, last, cell_max: CELL_ENTRIES_MAX };
    recording.dispatch(sort_entries::dispatch(groups, &bindings, &push));
}
