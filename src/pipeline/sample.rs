//! Sample: translucent grids leave entries (micropolygon, coverage mask, depth plane) in the pixels they cover, slab by
//! slab of depth.

use super::buffers::{ActiveRegion, GeometrySources, RegionCapacity, RegionSlices};
use super::hidden::{Division, KeyframedPositions, SampleTests};
use super::hide::{self, HidePass, record_passes};
use super::kernels::constants::VISIBLE_WORDS;
use super::kernels::records::Entry;
use super::kernels::{nearest_keys, sample, sample_blurred, scatter_entries, sort_entries};
use super::piece::RegionPiece;
use super::portion::{covering, portion};
use super::recording::Recording;
use super::scan::{self, PrefixSum};
use super::slab::{Slab, list_entries_max, nothing_appended, solid_entries_max};
use super::stage::{
    AssignBin, Bins, Execution, Finding, Grids, LoadInput, LoadStage, Need, Process, RecordTask, Repeat, Repeats,
    StageDescriptor, Task, TaskInput, Units, When, Work, WorkSpread, no_kernels,
};
use super::variants::{KernelList, KernelVariants};
use std::ops::Range;

/// See [`Process::ClearEntries`].
pub(super) const CLEAR_ENTRIES: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::SortForHiding)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::First(Repeat::Slabs),
    only_with: None,
    kernels: no_kernels,
    run: Execution::Task(Task {
        work: Work::Fill,
        units: |input| {
            let region = input.region;
            Units::All(2 * region.cells() + region.subpixels() + u64::from(VISIBLE_WORDS) * input.state.grids)
        },
        spread: None,
        record: RecordTask::Region(|recording, input, _| record_clear(recording, input.region, input.state.grids)),
    }),
    finding: None,
};

/// See [`Process::Sample`].
pub(super) const SAMPLE: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::BlurSamples), Need::always(Process::Dice)],
    stands_for: &[],
    bins: Bins::Loads(AssignBin::Depth(Grids::Translucent)),
    repeats: Repeats::Inside,
    only_with: None,
    kernels: |demand| {
        let traits = demand.traits;
        traits.tests.iter().flat_map(|&tests| kernels(tests, traits.form.division)).collect()
    },
    run: Execution::Load(LoadStage { begins: false, program: None, is_idle: |_| false, record: record_load }),
    finding: Some(Finding::Entries),
};

/// See [`Process::ListEntries`].
pub(super) const LIST_ENTRIES: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::Sample)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Inside,
    only_with: None,
    kernels: |demand| scan::kernels(demand.variants, scan::Summed::WORD),
    run: Execution::Task(Task {
        work: Work::Scan,
        units: |input| Units::All(input.region.cells()),
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            record_lists(recording, input.settings.variants, input.region);
        }),
    }),
    finding: None,
};

/// See [`Process::ScatterEntries`].
pub(super) const SCATTER_ENTRIES: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::ListEntries)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Entries),
    repeats: Repeats::Inside,
    only_with: None,
    kernels: |_| vec![scatter_entries::kernel()],
    run: Execution::Task(Task {
        work: Work::Scatter,
        units: |_| Units::Even(1.0),
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            record_scatter(recording, &input.region.slices, input.state.entries, some);
        }),
    }),
    finding: None,
};

/// See [`Process::SortEntries`].
pub(super) const SORT_ENTRIES: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::ScatterEntries), Need::when(When::With(Process::KeepSolids), Process::KeepSolids)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Cells),
    repeats: Repeats::Inside,
    only_with: None,
    kernels: |_| vec![sort_entries::kernel()],
    run: Execution::Task(Task {
        work: Work::SortCells,
        units: |input| Units::Even(1.0 + entries_of_cell(input)),
        spread: Some(WorkSpread::Sorting),
        record: RecordTask::Region(|recording, input, some| record_sort(recording, input.region, some)),
    }),
    finding: None,
};

/// Entries of a cell, in the mean.
pub(super) fn entries_of_cell(input: &TaskInput<'_>) -> f64 {
    f64::from(input.state.entries) / input.region.cells().max(1) as f64
}

const _: () = assert!(size_of::<Entry>() == 32, "entries are stored as four words");

/// Appends the start of a slab: no entries, nothing visible of the `selected` grids, and how deep each cell sees.
pub fn record_clear(recording: &mut Recording, region: &ActiveRegion, selected: u64) {
    let (slices, cells) = (&region.slices, region.cells());
    recording.concurrent(|recording| {
        recording.fill(slices.cell_counts.part(0..cells), 0);
        recording.fill(slices.visible.part(0..u64::from(VISIBLE_WORDS) * selected.max(1)), 0);
        recording.write(slices.appended, &[nothing_appended()]);
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

/// Appends the sampling of a load.
fn record_load(recording: &mut Recording, input: &LoadInput<'_>) {
    for piece in input.pieces {
        let (_, _, layout) = input.hidden(piece);
        record_piece(recording, &input.in_region(piece), layout.positions, input.slab, input.form.division);
    }
}

/// Appends the sampling of a piece.
pub fn record_piece(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    positions: KeyframedPositions,
    slab: Slab,
    division: Division,
) {
    if positions.tests(of.sources.frame).blurred {
        record_blurred(recording, of, positions, slab, division);
    } else {
        record_sharp(recording, of, positions, slab, division);
    }
}

fn record_blurred(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    positions: KeyframedPositions,
    slab: Slab,
    division: Division,
) {
    let RegionPiece { region, sources: GeometrySources { frame, page }, piece } = of;
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
        keyframe_count: positions.keyframes,
        keyframe_stride: piece.vertices(),
        capacity: region.capacity.entries as u32,
        cells: region.capacity.cells() as u32,
        slab_low_z: (slab.low >> 32) as u32,
        slab_low_number: slab.low as u32,
        slab_high_z: (slab.high >> 32) as u32,
        slab_high_number: slab.high as u32,
    };
    let tests = positions.tests(frame);
    record_passes(recording, of, |pass, groups| {
        sample_blurred::dispatch(blurred_variant(pass, tests, division), groups, &bindings, &push)
    });
}

fn record_sharp(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    positions: KeyframedPositions,
    slab: Slab,
    division: Division,
) {
    let RegionPiece { region, sources: GeometrySources { frame, page }, piece } = of;
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
    record_passes(recording, of, |pass, groups| {
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
    let RegionCapacity { pixel_samples, deep, solids, .. } = region.capacity;
    let list_max = list_entries_max(pixel_samples, deep);
    let solid_max = if solids { solid_entries_max(pixel_samples) } else { 0 };
    let push = sort_entries::Push { first, last, list_max, solid_max };
    recording.dispatch(sort_entries::dispatch(groups, &bindings, &push));
}

/// The kernels that sample.
fn kernels(tests: SampleTests, division: Division) -> KernelList {
    let kernel = |pass| match tests.blurred {
        true => sample_blurred::kernel(blurred_variant(pass, tests, division)),
        false => sample::kernel(variant(pass, tests, division)),
    };
    HidePass::ALL.map(kernel).into_iter().chain([nearest_keys::kernel()]).collect()
}
