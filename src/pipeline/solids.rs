//! Solids: what of translucent entries bounds a primitive solid is left, everything else of solids is cut away. The
//! trees of solids are in [`super::solid_table`].

use super::buffers::{ActiveRegion, StageMemory};
use super::kernels::records::Appended;
use super::kernels::{carry_solids, cut_solids, keep_solids};
use super::portion::{covering, portion};
use super::recording::Recording;
use super::sample::entries_of_cell;
use super::slab::{nothing_appended, solid_entries_max};
use super::stage::{
    AssignBin, Bins, CarriedStates, Execution, Feature, Need, Process, RecordTask, Repeats, StageDescriptor, Task,
    TaskState, Units, Work,
};
use std::ops::Range;

/// See [`Process::CarrySolids`].
pub(super) const CARRY_SOLIDS: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::ClearEntries)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Inside,
    only_with: Some(Feature::Solids),
    kernels: |_| vec![carry_solids::kernel()],
    run: Execution::Task(Task {
        work: Work::Fill,
        units: |input| Units::All(input.state.carried.count.into()),
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            record_carry(recording, input.region, input.state.carried);
        }),
    }),
    finding: None,
};

/// See [`Process::CutSolids`].
pub(super) const CUT_SOLIDS: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::CarrySolids), Need::always(Process::ScatterEntries)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Entries),
    repeats: Repeats::Inside,
    only_with: Some(Feature::Solids),
    kernels: |demand| vec![cut_solids::kernel(variant(demand.traits.clipped))],
    run: Execution::Task(Task {
        work: Work::CutSolids,
        // An entry looks at all of its cell.
        units: |input| Units::Even(1.0 + entries_of_cell(input)),
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            record_cut(recording, input.memory(), input.state, some);
        }),
    }),
    finding: None,
};

/// See [`Process::KeepSolids`].
pub(super) const KEEP_SOLIDS: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::CutSolids)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Entries),
    repeats: Repeats::Inside,
    only_with: Some(Feature::Solids),
    kernels: |_| vec![keep_solids::kernel()],
    run: Execution::Task(Task {
        work: Work::CutSolids,
        units: |input| Units::Even(1.0 + entries_of_cell(input)),
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            record_keep(recording, input.memory(), input.state.entries, some);
        }),
    }),
    finding: None,
};

/// Appends the entries that stand for the states in which the slab begins.
pub fn record_carry(recording: &mut Recording, region: &ActiveRegion, carried: CarriedStates) {
    let slices = &region.slices;
    let written = u64::from(1 - carried.list);
    recording.concurrent(|recording| {
        recording.write(slices.appended, &[Appended { appended: carried.count, ..nothing_appended() }]);
        recording.fill(slices.carried_counts.part(written..written + 1), 0);
    });
    if carried.count == 0 {
        return;
    }
    let bindings =
        carry_solids::Bindings { entries: slices.entries, cell_counts: slices.cell_counts, carried: slices.carried };
    let push = carry_solids::Push { first: carried.list * region.capacity.entries as u32, count: carried.count };
    let groups = covering(carried.count.into(), carry_solids::LOCAL_SIZE);
    recording.dispatch(carry_solids::dispatch(groups, &bindings, &push));
}

fn variant(clipped: bool) -> cut_solids::Variant {
    cut_solids::Variant { clipped }
}

/// Appends the cutting of `some` of a slab's entries: what of them bounds a solid.
pub fn record_cut(recording: &mut Recording, memory: StageMemory<'_>, state: &TaskState, some: &Range<u64>) {
    let StageMemory { frame, region } = memory;
    let slices = &region.slices;
    let bindings = cut_solids::Bindings {
        frame_buffer: frame.frame,
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        grids: slices.grids.grids,
        instances: frame.instances,
        solid_primitives: frame.solid_primitives,
        solid_steps: frame.solid_steps,
        cut: slices.cut_masks,
        carried: slices.carried,
        carried_counts: slices.carried_counts,
        keys: slices.keys,
        noted: slices.pixels.cast(),
        clip_planes: frame.clip_planes,
    };
    let ([first, last], groups) = portion(some, state.entries.into(), cut_solids::LOCAL_SIZE);
    let written = 1 - state.carried.list;
    let push = cut_solids::Push {
        first,
        last,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        cells: region.capacity.cells() as u32,
        cell_max: solid_entries_max(region.pixel_samples().into()),
        carried_list: written,
        carried_first: written * region.capacity.entries as u32,
        ends: u32::from(state.last_slab),
        noted_word: 4 * region.replaced_record() as u32 + 2,
    };
    recording.dispatch(cut_solids::dispatch(variant(!frame.clip_planes.is_empty()), groups, &bindings, &push));
}

/// Appends what becomes of `some` of `entries` entries that were cut: those that opaque solids hide are dropped, the
/// others' micropolygons are visible.
pub fn record_keep(
    recording: &mut Recording,
    StageMemory { frame, region }: StageMemory<'_>,
    entries: u32,
    some: &Range<u64>,
) {
    let slices = &region.slices;
    let bindings = keep_solids::Bindings {
        frame_buffer: frame.frame,
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        grids: slices.grids.grids,
        instances: frame.instances,
        cut: slices.cut_masks,
        visible: slices.visible,
    };
    let ([first, last], groups) = portion(some, entries.into(), keep_solids::LOCAL_SIZE);
    let push = keep_solids::Push {
        first,
        last,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        cells: region.capacity.cells() as u32,
        cell_max: solid_entries_max(region.pixel_samples().into()),
    };
    recording.dispatch(keep_solids::dispatch(groups, &bindings, &push));
}
