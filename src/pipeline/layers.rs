//! Layers: what samples see, and how much light is left behind it in each pixel, for deep shadow maps.

use super::buffers::{ActiveRegion, StageMemory};
use super::kernels::constants::CELL_SAMPLES;
use super::kernels::records::Layer;
use super::kernels::{layers, merge_layers};
use super::look::Interpolation;
use super::portion::portion;
use super::recording::{Recording, Slice};
use super::slab::Slab;
use super::stage::{
    AssignBin, Bins, Execution, Feature, Need, Process, RecordTask, Repeats, StageDescriptor, Task, Units, Work,
    WorkSpread,
};
use std::ops::Range;

/// See [`Process::ListLayers`].
pub(super) const LIST_LAYERS: StageDescriptor = StageDescriptor {
    stage: "composite",
    needs: &[Need::always(Process::SortEntries), Need::always(Process::PlaceEntries), Need::always(Process::Shade)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Pixels),
    repeats: Repeats::Inside,
    only_with: Some(Feature::DeepShadows),
    kernels: |demand| vec![layers::kernel(variant(demand.traits.interpolation)), merge_layers::kernel()],
    run: Execution::Task(Task {
        work: Work::Layers,
        units: |_| Units::Even(1.0),
        spread: Some(WorkSpread::Layers),
        record: RecordTask::Region(|recording, input, some| {
            record(recording, input.memory(), input.state.slab, some);
        }),
    }),
    finding: None,
};

/// Appends the listing of what the samples of `some` of the pixels see in a slab, and the merging by depth. They have
/// at most [`layers_capacity`](super::slab::layers_capacity) layers.
pub fn record(recording: &mut Recording, memory: StageMemory<'_>, slab: Slab, some: &Range<u64>) {
    let region = memory.region;
    let pixels = some.start.min(region.pixels.count())..some.end.min(region.pixels.count());
    recording.fill(region.slices.pixel_layers.part(pixels.clone()), 0);
    record_list(recording, memory, slab, &pixels);
    record_merge(recording, region, &pixels);
}

/// How often runs of samples are merged until they are whole pixels.
fn merges(pixel_samples: u64) -> usize {
    pixel_samples.next_power_of_two().ilog2() as usize
}

/// The merged layers that were recorded last: each pixel's from its first room on.
pub fn merged(region: &ActiveRegion) -> Slice<Layer> {
    region.slices.layers[merges(region.capacity.pixel_samples) % 2]
}

fn record_list(recording: &mut Recording, memory: StageMemory<'_>, slab: Slab, pixels: &Range<u64>) {
    let StageMemory { frame, region } = memory;
    let (slices, capacity) = (&region.slices, &region.capacity);
    let bindings = layers::Bindings {
        frame_buffer: frame.frame,
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        colours: slices.colours,
        resolved: slices.resolved,
        keys: slices.keys,
        blur_samples: slices.blur_samples,
        motion: frame.motion,
        layers: slices.layers[0],
        layer_counts: slices.layer_counts[0],
        pixel_layers: slices.pixel_layers,
    };
    let of_pixel = capacity.cells() * u64::from(CELL_SAMPLES);
    let samples = pixels.start * of_pixel..pixels.end * of_pixel;
    let ([first, last], groups) = portion(&samples, samples.end, layers::LOCAL_SIZE);
    let push = layers::Push {
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        cells: capacity.cells() as u32,
        value_records: capacity.value_records() as u32,
        position_records: capacity.interpolation.position_records(),
        resolved_records: capacity.resolved_records() as u32,
        slab_low_z: (slab.low >> 32) as u32,
        slab_low_number: slab.low as u32,
        slab_high_z: (slab.high >> 32) as u32,
        slab_high_number: slab.high as u32,
        first,
        last,
    };
    recording.dispatch(layers::dispatch(variant(capacity.interpolation), groups, &bindings, &push));
}

/// Appends the merging of runs of samples, each time of twice as many.
fn record_merge(recording: &mut Recording, region: &ActiveRegion, pixels: &Range<u64>) {
    let (slices, capacity) = (&region.slices, &region.capacity);
    let samples = pixels.start * capacity.pixel_samples..pixels.end * capacity.pixel_samples;
    let ([first, last], groups) = portion(&samples, samples.end, merge_layers::LOCAL_SIZE);
    for merge in 0..merges(capacity.pixel_samples) {
        let (from, to) = (merge % 2, (merge + 1) % 2);
        let bindings = merge_layers::Bindings {
            cell_offsets: slices.cell_offsets,
            cell_counts: slices.cell_counts,
            layers: slices.layers[from],
            layer_counts: slices.layer_counts[from],
            merged: slices.layers[to],
            merged_counts: slices.layer_counts[to],
        };
        let push = merge_layers::Push {
            cells: capacity.cells() as u32,
            pixel_samples: capacity.pixel_samples as u32,
            first_cell: (pixels.start * capacity.cells()) as u32,
            run: 1 << merge,
            first,
            last,
        };
        recording.dispatch(merge_layers::dispatch(groups, &bindings, &push));
    }
}

fn variant(interpolation: Interpolation) -> layers::Variant {
    layers::Variant { smooth: interpolation.smooth() }
}
