//! Visibility: what the samples of a region see of opaque surfaces is kept, so that another drawing of the same region
//! need not hide them again.
//!
//! A key has the rank of its grid among those that the region selects. The same grids and the same rectangle give the
//! same ranks, so a recalled region is selected again, and nothing else is kept of it.

use super::buffers::ActiveRegion;
use super::hidden::HiddenSurfaces;
use super::hide;
use super::kept::{KeptSlices, REST_KEYS};
use super::kernels::block;
use super::recording::{Recording, Slice};
use super::select;
use super::stage::{
    Bins, Execution, Feature, Finding, Need, Process, RecordTask, Repeats, StageDescriptor, Task, TaskInput, Units,
    Work, no_kernels,
};

/// See [`Process::KeepVisible`].
pub(super) const KEEP_VISIBLE: StageDescriptor = StageDescriptor {
    stage: "hide",
    needs: &[Need::always(Process::Hide)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: Some(Feature::KeptVisibility),
    kernels: no_kernels,
    run: Execution::Task(Task {
        work: Work::Fill,
        units,
        spread: None,
        record: RecordTask::Region(|recording, input, _| record_keep(recording, input.region, &kept(input))),
    }),
    finding: None,
};

/// See [`Process::RecallVisible`].
pub(super) const RECALL_VISIBLE: StageDescriptor = StageDescriptor {
    stage: "hide",
    needs: &[],
    stands_for: &[Process::ClearSelection, Process::Hide],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| match demand.traits.translucent {
        true => vec![block::kernel(hide::block_variant(HiddenSurfaces::for_midpoints(demand.displays.midpoints())))],
        false => Vec::new(),
    },
    run: Execution::Task(Task {
        work: Work::Fill,
        units,
        spread: None,
        record: RecordTask::Region(|recording, input, _| record_recall(recording, input.region, &kept(input))),
    }),
    finding: Some(Finding::Culled),
};

fn units(input: &TaskInput<'_>) -> Units {
    let capacity = &input.region.capacity;
    Units::All((2 + u64::from(capacity.behind)) * input.region.subpixels() + capacity.choice_words())
}

fn kept(input: &TaskInput<'_>) -> KeptSlices {
    input.state.kept.expect("only a region with memory for it keeps or recalls what its samples see")
}

/// Appends copies between what a region works with and what is kept of it.
fn record_copies(
    recording: &mut Recording,
    region: &ActiveRegion,
    kept: &KeptSlices,
    copies: impl Fn(&mut Recording, [Slice<u32>; 2]),
) {
    let (slices, subpixels) = (&region.slices, region.subpixels());
    let rest = kept.keys.part(subpixels..subpixels + REST_KEYS);
    copies(recording, [slices.keys.part(0..subpixels).cast(), kept.keys.part(0..subpixels).cast()]);
    copies(recording, [slices.rest.cast(), rest.cast()]);
    if region.capacity.behind {
        copies(recording, [slices.behind.part(0..subpixels), kept.behind.part(0..subpixels)]);
    }
}

/// Appends the keeping of what the samples of a region see of opaque surfaces.
pub fn record_keep(recording: &mut Recording, region: &ActiveRegion, kept: &KeptSlices) {
    recording.concurrent(|recording| {
        record_copies(recording, region, kept, |recording, [of_region, kept]| recording.copy(of_region, kept));
    });
}

/// Appends the start of a region whose samples see what was kept: nothing is selected, and where anything is
/// translucent blocks have the depths that hiding would have given them.
pub fn record_recall(recording: &mut Recording, region: &ActiveRegion, kept: &KeptSlices) {
    recording.concurrent(|recording| {
        record_copies(recording, region, kept, |recording, [of_region, kept]| recording.copy(kept, of_region));
        recording.fill(region.slices.dirty.part(0..region.pixels.blocks()), 1);
        hide::record_clear_found(recording, region);
    });
    select::record_clear(recording, region);
    if region.capacity.translucent() {
        hide::record_blocks(recording, region);
    }
}
