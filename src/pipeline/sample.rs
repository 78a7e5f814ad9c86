//! Sample: translucent grids leave entries (micropolygon, coverage mask, depth plane) in the pixels they cover, slab by
//! slab of depth.

use super::buffers::{ActiveRegion, GeometrySources, RegionSlices};
use super::dice::Piece;
use super::hide::{HidePass, KeyedPositions, SampleTests, record_passes};
use super::kernels::constants::VISIBLE_WORDS;
use super::kernels::records::{Appended, Entry};
use super::kernels::{nearest_keys, sample, sample_blurred, scatter_entries, sort_entries};
use super::needed_kernels::{KernelList, KernelVariants};
use super::plan::Division;
use super::recording::Recording;
use super::scan::PrefixSum;
use super::{covering, hide, portion, scan};
use std::ops::Range;

/// Entries of one cell that can be sorted and composited: few enough that `composite_slab`, which moves up to
/// `NEAREST_ENTRIES` entries for each, stays within its loop trips (docs/pipeline.md).
pub const CELL_ENTRIES_MAX: u32 = 512;

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

const _: () = assert!(size_of::<Entry>() == 32, "entries are stored as four words");

/// Appends the start of a slab: no entries, nothing visible of the `selected` grids, and how deep each cell sees.
pub fn record_clear(recording: &mut Recording, region: &ActiveRegion, selected: u64) {
    let (slices, cells) = (&region.slices, region.cells());
    recording.concurrent(|recording| {
        recording.fill(slices.cell_counts.part(0..cells), 0);
        recording.fill(slices.visible.part(0..u64::from(VISIBLE_WORDS) * selected.max(1)), 0);
        recording.write(slices.appended, &[Appended { appended: 0, longest_cell: 0 }]);
        recording.write(slices.rest, &[hide::rest_start()]);
    });
    // Nothing is filled in yet: until then the cells' nearest depths are there.
    let bindings = nearest_keys::Bindings { keys: slices.keys, nearest: slices.cell_filled };
    let push = nearest_keys::Push {
        cell_count: cells as u32,
        cells: region.capacity.cells() as u32,
        pixel_samples: region.pixel_samples(),
    };
    recording.dispatch(nearest_keys::dispatch(covering(cells, nearest_keys::LOCAL_SIZE), &bindings, &push));
}

fn variant(pass: HidePass, tests: SampleTests, division: Division) -> sample::Variant {
    sample::Variant {
        expanded: division == Division::Expanded,
        rest: pass == HidePass::Rest,
        clipped: tests.clipped,
        trimmed: tests.trimmed,
    }
}

fn blurred_variant(pass: HidePass, tests: SampleTests, division: Division) -> sample_blurred::Variant {
    sample_blurred::Variant {
        expanded: division == Division::Expanded,
        rest: pass == HidePass::Rest,
        clipped: tests.clipped,
        trimmed: tests.trimmed,
        motion: tests.motion,
    }
}

/// Appends the sampling of a piece.
pub fn record_piece(
    recording: &mut Recording,
    sources: GeometrySources<'_>,
    region: &ActiveRegion,
    slab: Slab,
    piece: &Piece,
    positions: KeyedPositions,
    division: Division,
) {
    if positions.tests(sources.frame).blurred {
        record_blurred(recording, sources, region, slab, piece, positions, division);
    } else {
        record_sharp(recording, sources, region, slab, piece, positions, division);
    }
}

fn record_blurred(
    recording: &mut Recording,
    GeometrySources { frame, page }: GeometrySources<'_>,
    region: &ActiveRegion,
    slab: Slab,
    piece: &Piece,
    positions: KeyedPositions,
    division: Division,
) {
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = sample_blurred::Bindings {
        frame_buffer: frame.frame,
        slots: slices.slots,
        arena: slices.arena.cast(),
        keys: slices.keys,
        entries: slices.entries.cast(),
        cell_counts: slices.cell_counts,
        visible: slices.visible,
        appended: slices.appended,
        rest: slices.rest,
        pieces: slices.pieces,
        clip_planes: frame.clip_planes,
        grids: slices.grids.grids,
        primitives: page.primitives,
        data: page.data,
        motion: frame.motion,
        blur_samples: slices.blur_samples,
    };
    let push = sample_blurred::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: positions.base,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
        key_count: positions.keys,
        key_stride: piece.vertices(),
        capacity: region.capacity.entries as u32,
        cells: region.capacity.cells() as u32,
        slab_low_z: (slab.low >> 32) as u32,
        slab_low_number: slab.low as u32,
        slab_high_z: (slab.high >> 32) as u32,
        slab_high_number: slab.high as u32,
    };
    let tests = positions.tests(frame);
    record_passes(recording, slices, piece, |pass, groups| {
        sample_blurred::dispatch(blurred_variant(pass, tests, division), groups, &bindings, &push)
    });
}

fn record_sharp(
    recording: &mut Recording,
    GeometrySources { frame, page }: GeometrySources<'_>,
    region: &ActiveRegion,
    slab: Slab,
    piece: &Piece,
    positions: KeyedPositions,
    division: Division,
) {
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = sample::Bindings {
        frame_buffer: frame.frame,
        slots: slices.slots,
        arena: slices.arena.cast(),
        keys: slices.keys,
        entries: slices.entries.cast(),
        cell_counts: slices.cell_counts,
        visible: slices.visible,
        appended: slices.appended,
        rest: slices.rest,
        pieces: slices.pieces,
        clip_planes: frame.clip_planes,
        grids: slices.grids.grids,
        primitives: page.primitives,
        data: page.data,
        nearest: slices.cell_filled,
    };
    let push = sample::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: positions.base,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
        capacity: region.capacity.entries as u32,
        cells: region.capacity.cells() as u32,
        slab_low_z: (slab.low >> 32) as u32,
        slab_low_number: slab.low as u32,
        slab_high_z: (slab.high >> 32) as u32,
        slab_high_number: slab.high as u32,
    };
    let tests = positions.tests(frame);
    record_passes(recording, slices, piece, |pass, groups| {
        sample::dispatch(variant(pass, tests, division), groups, &bindings, &push)
    });
}

/// Appends the numbering of entries by cell: where each cell's list begins. Nothing is filled in yet.
pub fn record_lists(recording: &mut Recording, variants: KernelVariants, region: &ActiveRegion) {
    let slices = &region.slices;
    recording.fill(slices.cell_filled.part(0..region.cells()), 0);
    let sum = PrefixSum {
        values: slices.cell_counts,
        offsets: slices.cell_offsets,
        count: region.cells() as u32,
        summed: scan::Summed::WORD,
        total: slices.scan.total,
    };
    scan::record(recording, variants, slices.scan, &sum);
}

/// Appends the distribution of `some` of `entries` entries to their cells' lists.
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
pub fn record_sort(recording: &mut Recording, region: &ActiveRegion, some: &Range<u64>) {
    let slices = &region.slices;
    let bindings = sort_entries::Bindings {
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        appended: slices.appended,
    };
    let ([first, last], groups) = portion(some, region.cells(), sort_entries::LOCAL_SIZE);
    let push = sort_entries::Push { first, last, cell_max: CELL_ENTRIES_MAX };
    recording.dispatch(sort_entries::dispatch(groups, &bindings, &push));
}

/// The kernels that sample.
pub(super) fn kernels(tests: SampleTests, division: Division) -> KernelList {
    let kernel = |pass| match tests.blurred {
        true => sample_blurred::kernel(blurred_variant(pass, tests, division)),
        false => sample::kernel(variant(pass, tests, division)),
    };
    HidePass::ALL.map(kernel).into_iter().chain([nearest_keys::kernel()]).collect()
}

/// The kernels that number entries by cell.
pub(super) fn list_kernels(variants: KernelVariants) -> KernelList {
    scan::kernels(variants, scan::Summed::WORD)
}

/// The kernels that put entries into lists.
pub(super) fn scatter_kernels() -> KernelList {
    vec![scatter_entries::kernel()]
}

/// The kernels that sort lists.
pub(super) fn sort_kernels() -> KernelList {
    vec![sort_entries::kernel()]
}
