//! Filter: resolved samples become pixels. Depths of pixels are not filtered but chosen (RISpec 4.1.3).

use super::buffers::{ActiveRegion, StageMemory};
use super::frame::filter_apron;
use super::kernels::axes::Filter as FilterNumber;
use super::kernels::constants::{
    DEPTH_FILTER_FARTHEST, DEPTH_FILTER_MEAN, DEPTH_FILTER_MIDPOINT, DEPTH_FILTER_NEAREST,
};
use super::kernels::{depth, filter, taps};
use super::portion::{covering, portion};
use super::recording::{DispatchExtent, Recording, Slice};
use super::stage::{
    AssignBin, Bins, Execution, Feature, FilteredRecord, KernelDemand, Need, Process, RecordTask, Repeats,
    StageDescriptor, Task, Units, When, Work,
};
use super::variants::KernelList;
use crate::scene::{DepthFilter, Filter, FilterKind};
use std::ops::Range;

/// See [`Process::Filter`].
pub(super) const FILTER: StageDescriptor = StageDescriptor {
    stage: "filter",
    needs: &[Need::always(Process::CompositeOpaque)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Delivered),
    repeats: Repeats::Free,
    only_with: None,
    kernels,
    run: Execution::Task(Task {
        work: Work::Filter,
        units: |input| {
            let visits = window_samples(input.region.capacity.pixel_samples, &input.settings.widest_filter);
            Units::Even((visits * input.region.capacity.filtered) as f64)
        },
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            record(recording, input.memory(), &input.settings.filtered, some);
        }),
    }),
    finding: None,
};

/// See [`Process::FilterDepth`].
pub(super) const FILTER_DEPTH: StageDescriptor = StageDescriptor {
    stage: "filter",
    needs: &[
        Need::always(Process::Hide),
        Need::when(When::With(Process::Filter), Process::CompositeOpaque),
        Need::when(When::With(Process::Filter), Process::Filter),
    ],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Delivered),
    repeats: Repeats::Free,
    only_with: Some(Feature::Depths),
    kernels: |_| vec![depth::kernel()],
    run: Execution::Task(Task {
        work: Work::Depth,
        units: |input| Units::Even(input.region.pixel_samples().into()),
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            let by = input.settings.depth_filter.unwrap_or_default();
            record_depth(recording, input.region, by, some);
        }),
    }),
    finding: None,
};

/// Samples that one invocation visits in a dispatch: half as many as it may make loop trips (docs/pipeline/loops.md).
/// Their taps take the place of vertices, which are not needed any more.
pub const TAPS_OF_A_PART: u32 = 16_000;

/// A filter's number in kernels. Each has its own kernels, because drivers of CPUs compute the weights of all that a
/// kernel knows.
fn number(kind: FilterKind) -> FilterNumber {
    match kind {
        FilterKind::Box => FilterNumber::Box,
        FilterKind::Triangle => FilterNumber::Triangle,
        FilterKind::Gaussian => FilterNumber::Gaussian,
        FilterKind::CatmullRom => FilterNumber::CatmullRom,
        FilterKind::Sinc => FilterNumber::Sinc,
        FilterKind::Mitchell => FilterNumber::Mitchell,
        FilterKind::Lanczos => FilterNumber::Lanczos,
        FilterKind::BlackmanHarris => FilterNumber::BlackmanHarris,
        FilterKind::Disk => FilterNumber::Disk,
        FilterKind::SeparableCatmullRom => FilterNumber::SeparableCatmullRom,
    }
}

/// The kernel that weighs the samples of pixels with more than one.
fn taps_variant(kind: FilterKind) -> taps::Variant {
    taps::Variant { kind: number(kind) }
}

/// The kernel that filters pixels, with one sample (`single`) or more.
fn variant(kind: FilterKind, single: bool) -> filter::Variant {
    filter::Variant { single, kind: number(kind) }
}

/// Samples of the window that a pixel's filter goes through.
pub fn window_samples(pixel_samples: u64, by: &Filter) -> u64 {
    filter_apron(by).map(|apron| u64::from(2 * apron + 1)).iter().product::<u64>() * pixel_samples
}

/// Appends the filtering of samples, in the pixels `some` of those that the region delivers. The pixels of each record
/// come after those of the ones before.
pub fn record(recording: &mut Recording, memory: StageMemory<'_>, records: &[FilteredRecord], some: &Range<u64>) {
    let mut filters: Vec<Filter> = Vec::new();
    for record in records {
        if !filters.contains(&record.filter) {
            filters.push(record.filter);
        }
    }
    for by in filters {
        let through: Vec<(u64, u64)> = (0..)
            .zip(records)
            .filter(|(_, record)| record.filter == by)
            .map(|(place, record)| (place, record.output))
            .collect();
        record_filter(recording, memory, &by, &through, some);
    }
}

/// Appends one filter of some records: the place of each among the finished ones, and what it filters.
fn record_filter(
    recording: &mut Recording,
    memory: StageMemory<'_>,
    by: &Filter,
    records: &[(u64, u64)],
    some: &Range<u64>,
) {
    let StageMemory { frame, region } = memory;
    let ActiveRegion { slices, capacity, .. } = region;
    let single = capacity.pixel_samples == 1;
    let count = window_samples(capacity.pixel_samples, by) as u32;
    let bindings = filter::Bindings {
        frame_buffer: frame.frame,
        resolved: slices.resolved,
        pixels: slices.pixels,
        // Depths come after colours, so their memory is free until then.
        totals: slices.depths,
        taps: slices.arena.cast().part(0..count.min(TAPS_OF_A_PART).into()),
    };
    let (groups, shared) = shared_push(region, by, some);
    let inside = region.pixels.inside.pixel_count() as u32;
    let first_of_variables = capacity.resolved_records() - capacity.variables;
    let first_place = records.first().map_or(0, |(place, _)| *place);
    let dispatches = |recording: &mut Recording, records: &[(u64, u64)], [first_tap, last_tap]: [u32; 2]| {
        recording.unordered(|recording| {
            for &(place, output) in records {
                let push = filter::Push {
                    record: if output == 0 { 0 } else { first_of_variables + output - 1 } as u32,
                    keeps_totals: u32::from(place == first_place),
                    first_pixel: place as u32 * inside,
                    first_tap,
                    last_tap,
                    ..shared
                };
                recording.dispatch(filter::dispatch(variant(by.kind, single), groups, &bindings, &push));
            }
        });
    };
    for first_tap in (0..count).step_by(TAPS_OF_A_PART as usize) {
        let part = [first_tap, count.min(first_tap + TAPS_OF_A_PART)];
        if !single {
            record_taps(recording, memory, bindings.taps, by, part);
        }
        if count > TAPS_OF_A_PART {
            // The first record replaces the totals that the others read.
            dispatches(recording, &records[1..], part);
            dispatches(recording, &records[..1], part);
        } else {
            dispatches(recording, records, part);
        }
    }
}

/// The workgroups of a filter for some pixels, and what its dispatches are given alike; the rest is 0.
fn shared_push(region: &ActiveRegion, by: &Filter, some: &Range<u64>) -> (DispatchExtent, filter::Push) {
    let ActiveRegion { pixels: region, capacity, .. } = region;
    let [inside_x, inside_y] = region.inside_offset();
    let ([first, last], groups) = portion(some, region.inside.pixel_count(), filter::LOCAL_SIZE);
    let push = filter::Push {
        region_x: region.sampled[0],
        region_y: region.sampled[1],
        region_width: region.size()[0],
        inside_x,
        inside_y,
        inside_width: region.inside.width(),
        resolved_records: capacity.resolved_records() as u32,
        record: 0,
        keeps_totals: 0,
        half_width_x: by.width[0] * 0.5,
        half_width_y: by.width[1] * 0.5,
        first_pixel: 0,
        first_tap: 0,
        last_tap: 0,
        first,
        last,
    };
    (groups, push)
}

/// Appends the weighing of a filter's taps `first_tap` to `last_tap` (exclusive).
fn record_taps(
    recording: &mut Recording,
    StageMemory { frame, region }: StageMemory<'_>,
    taps: Slice<[u32; 2]>,
    by: &Filter,
    [first_tap, last_tap]: [u32; 2],
) {
    let groups = covering((last_tap - first_tap).into(), taps::LOCAL_SIZE);
    let bindings = taps::Bindings { frame_buffer: frame.frame, taps };
    let [region_width, _] = region.pixels.size();
    let [half_width_x, half_width_y] = by.width.map(|width| width * 0.5);
    let push = taps::Push { region_width, half_width_x, half_width_y, first_tap, last_tap };
    recording.dispatch(taps::dispatch(taps_variant(by.kind), groups, &bindings, &push));
}

/// Appends the depth of the pixels `some` of those delivered, by the hider's depth filter.
pub fn record_depth(recording: &mut Recording, region: &ActiveRegion, by: DepthFilter, some: &Range<u64>) {
    let pixel_samples = region.pixel_samples();
    let ActiveRegion { pixels: region, slices, capacity } = region;
    let [inside_x, inside_y] = region.inside_offset();
    let bindings =
        depth::Bindings { keys: slices.keys, depths: slices.depths, resolved: slices.resolved, behind: slices.behind };
    let ([first, last], groups) = portion(some, region.inside.pixel_count(), depth::LOCAL_SIZE);
    let push = depth::Push {
        region_width: region.size()[0],
        inside_x,
        inside_y,
        inside_width: region.inside.width(),
        pixel_samples,
        depth_filter: match by {
            DepthFilter::Min => DEPTH_FILTER_NEAREST,
            DepthFilter::Max => DEPTH_FILTER_FARTHEST,
            DepthFilter::Average => DEPTH_FILTER_MEAN,
            DepthFilter::Midpoint => DEPTH_FILTER_MIDPOINT,
        },
        first_pixel: 0,
        resolved_records: capacity.resolved_records() as u32,
        translucent: u32::from(capacity.translucent()),
        first,
        last,
    };
    recording.dispatch(depth::dispatch(groups, &bindings, &push));
}

/// The kernels that filter colours and variables, of pixels with one sample or more.
fn kernels(demand: &KernelDemand<'_>) -> KernelList {
    let (kinds, single) = (&demand.displays.filters, demand.traits.single);
    let weigh: KernelList = kinds.iter().map(|&kind| taps::kernel(taps_variant(kind))).collect();
    let filter = kinds.iter().map(|&kind| filter::kernel(variant(kind, single)));
    if single { filter.collect() } else { weigh.into_iter().chain(filter).collect() }
}
