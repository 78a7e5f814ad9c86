//! Composite: what each subpixel sees, translucent surfaces front to back, then the opaque one.

use super::buffers::{ActiveRegion, RegionSlices, StageMemory};
use super::kernels::constants::CELL_SAMPLES;
use super::kernels::{composite, composite_clear, composite_slab, place_entries};
use super::look::Interpolation;
use super::portion::portion;
use super::recording::Recording;
use super::stage::{
    AssignBin, Bins, Composition, Execution, Feature, Finding, Need, Process, RecordTask, Repeat, Repeats,
    StageDescriptor, Task, Units, When, Work, WorkSpread,
};
use std::ops::Range;

/// See [`Process::ClearResolved`].
pub(super) const CLEAR_RESOLVED: StageDescriptor = StageDescriptor {
    stage: "composite",
    needs: &[],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Subpixels),
    repeats: Repeats::Free,
    only_with: Some(Feature::Translucency),
    kernels: |_| vec![composite_clear::kernel()],
    run: Execution::Task(Task {
        work: Work::Clear,
        units: |_| Units::Even(1.0),
        spread: None,
        record: RecordTask::Region(|recording, input, some| record_clear(recording, input.region, some)),
    }),
    finding: None,
};

/// See [`Process::PlaceEntries`].
pub(super) const PLACE_ENTRIES: StageDescriptor = StageDescriptor {
    stage: "sample",
    needs: &[Need::always(Process::NumberVisible)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Entries),
    repeats: Repeats::Inside,
    only_with: None,
    kernels: |_| vec![place_entries::kernel()],
    run: Execution::Task(Task {
        work: Work::PlaceEntries,
        units: |_| Units::Even(1.0),
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            record_places(recording, &input.region.slices, input.state.entries, some);
        }),
    }),
    finding: None,
};

/// See [`Process::CompositeSlab`].
pub(super) const COMPOSITE_SLAB: StageDescriptor = StageDescriptor {
    stage: "composite",
    needs: &[
        Need::always(Process::ListLayers),
        Need::always(Process::ClearResolved),
        Need::always(Process::SortEntries),
        Need::always(Process::PlaceEntries),
        Need::always(Process::Shade),
        // It changes what samples see.
        Need::when(When::With(Process::KeepVisible), Process::KeepVisible),
    ],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Pixels),
    repeats: Repeats::Last(Repeat::Slabs),
    only_with: None,
    kernels: |demand| {
        let (displays, interpolation) = (demand.displays, demand.traits.interpolation);
        vec![composite_slab::kernel(slab_variant(interpolation, displays.midpoints(), displays.variables))]
    },
    run: Execution::Task(Task {
        work: Work::Slab,
        units: |input| {
            let all = slab_units(input.region, input.state.entries);
            Units::Even(all / input.region.pixels.count().max(1) as f64)
        },
        spread: Some(WorkSpread::Compositing),
        record: RecordTask::Region(|recording, input, some| {
            let samples = input.region.capacity.pixel_samples;
            let subpixels = some.start * samples..some.end * samples;
            record_slab(recording, input.memory(), &input.settings.composition, input.state.again, &subpixels);
        }),
    }),
    finding: Some(Finding::Unfinished),
};

/// See [`Process::CompositeOpaque`].
pub(super) const COMPOSITE_OPAQUE: StageDescriptor = StageDescriptor {
    stage: "composite",
    needs: &[Need::always(Process::Shade)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Pixels),
    repeats: Repeats::Last(Repeat::Rounds),
    only_with: None,
    kernels: |demand| {
        let traits = demand.traits;
        vec![composite::kernel(variant(traits.translucent, traits.interpolation))]
    },
    run: Execution::Task(Task {
        work: Work::Composite,
        units: |input| Units::Even(input.region.pixel_samples().into()),
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            record(recording, input.memory(), &input.settings.composition, input.state.places.clone(), some);
        }),
    }),
    finding: None,
};

/// Returns the units of work of compositing a slab of `entries` entries: the subpixels, and the entries that they look
/// at.
pub fn slab_units(region: &ActiveRegion, entries: u32) -> f64 {
    let looks = u64::from(entries) * region.capacity.pixel_samples.min(CELL_SAMPLES.into());
    (region.subpixels() + looks) as f64
}

/// Appends the start of compositing where anything is translucent: the subpixels `some` have collected nothing, and let
/// everything through.
pub fn record_clear(recording: &mut Recording, region: &ActiveRegion, some: &Range<u64>) {
    let bindings = composite_clear::Bindings { resolved: region.slices.resolved };
    let ([first, last], groups) = portion(some, region.subpixels(), composite_clear::LOCAL_SIZE);
    let push = composite_clear::Push { first, last, resolved_records: region.capacity.resolved_records() as u32 };
    recording.dispatch(composite_clear::dispatch(groups, &bindings, &push));
}

/// Appends the look-up of where the colours of `some` of a slab's entries are.
pub fn record_places(recording: &mut Recording, slices: &RegionSlices, entries: u32, some: &Range<u64>) {
    let bindings = place_entries::Bindings {
        entries: slices.entries,
        visible: slices.visible,
        visible_before: slices.visible_before,
        colour_base: slices.colour_base,
    };
    let ([first, last], groups) = portion(some, entries.into(), place_entries::LOCAL_SIZE);
    recording.dispatch(place_entries::dispatch(groups, &bindings, &place_entries::Push { first, last }));
}

/// Appends the compositing of a slab's entries, or what an earlier round of the same slab left over (`again`), in the
/// subpixels `some` of the region; a round begins with subpixel 0. Values of variables are weighted by the opacity of
/// their entry, unless `composition` says otherwise.
pub fn record_slab(
    recording: &mut Recording,
    StageMemory { frame, region }: StageMemory<'_>,
    composition: &Composition,
    again: bool,
    some: &Range<u64>,
) {
    let (slices, capacity) = (&region.slices, &region.capacity);
    let ([region_width, region_height], subpixels) = (region.pixels.size(), region.subpixels());
    if !again && some.start == 0 {
        recording.fill(slices.resume.part(0..subpixels), 0);
    }
    if some.start == 0 {
        recording.fill(slices.unfinished, 0);
    }
    let bindings = composite_slab::Bindings {
        frame_buffer: frame.frame,
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        colours: slices.colours,
        resolved: slices.resolved,
        keys: slices.keys,
        resume: slices.resume,
        blur_samples: slices.blur_samples,
        motion: frame.motion,
        unfinished: slices.unfinished,
        behind: slices.behind,
    };
    let ([first, last], groups) = portion(some, subpixels, composite_slab::LOCAL_SIZE);
    let push = composite_slab::Push {
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
        cells: capacity.cells() as u32,
        value_records: capacity.value_records() as u32,
        position_records: capacity.interpolation.position_records(),
        resolved_records: capacity.resolved_records() as u32,
        variables: capacity.variables as u32,
        weighted_first: composition.weighted[0],
        weighted_second: composition.weighted[1],
        nearest_from: composition.nearest_from,
        first,
        last,
    };
    recording.dispatch(composite_slab::dispatch(
        slab_variant(capacity.interpolation, capacity.behind, capacity.variables > 0),
        groups,
        &bindings,
        &push,
    ));
}

/// Appends the compositing of the opaque surfaces whose colours are at `places`, in the pixels `some` of the region.
pub fn record(
    recording: &mut Recording,
    StageMemory { frame, region }: StageMemory<'_>,
    composition: &Composition,
    places: Range<u32>,
    some: &Range<u64>,
) {
    let (slices, capacity) = (&region.slices, &region.capacity);
    let bindings = composite::Bindings {
        keys: slices.keys,
        visible: slices.visible,
        colour_base: slices.colour_base,
        colours: slices.colours,
        resolved: slices.resolved,
        visible_before: slices.visible_before,
        frame_buffer: frame.frame,
        blur_samples: slices.blur_samples,
        motion: frame.motion,
    };
    let ([first, last], groups) = portion(some, region.pixels.count(), composite::LOCAL_SIZE);
    let push = composite::Push {
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        first,
        last,
        pixel_samples: region.pixel_samples(),
        value_records: capacity.value_records() as u32,
        position_records: capacity.interpolation.position_records(),
        resolved_records: capacity.resolved_records() as u32,
        variables: capacity.variables as u32,
        nearest_from: composition.nearest_from,
        first_place: places.start,
        last_place: places.end,
    };
    let variant = variant(capacity.translucent(), capacity.interpolation);
    recording.dispatch(composite::dispatch(variant, groups, &bindings, &push));
}

fn slab_variant(interpolation: Interpolation, midpoint: bool, variables: bool) -> composite_slab::Variant {
    composite_slab::Variant { plain: !variables, midpoint, smooth: interpolation.smooth() }
}

fn variant(translucent: bool, interpolation: Interpolation) -> composite::Variant {
    composite::Variant { translucent, smooth: interpolation.smooth() }
}
