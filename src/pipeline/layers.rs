//! Layers: what samples see, and how much light is left behind it in each pixel, for deep shadow maps.

use super::buffers::{ActiveRegion, FrameSlices};
use super::kernels::constants::CELL_SAMPLES;
use super::kernels::{layers, merge_layers};
use super::needed_kernels::KernelList;
use super::recording::Recording;
use super::sample::{CELL_ENTRIES_MAX, Slab};
use super::{covering, portion};
use std::ops::Range;

/// Layers that there is room for, at least.
const LAYERS_MIN: u64 = 1 << 17;

/// Samples of a pixel that one dispatch merges, at most: few enough for its loop trips (docs/pipeline.md), of which
/// each sample takes twice the logarithm of its layers.
const MERGED_SAMPLES_MAX: u64 = 1 << 10;

/// Layers that a pixel of so many samples has room for in a slab, with so many entries in the longest list of its
/// cells: one for each entry of each sample's cell, and an opaque one.
fn pixel_layers(pixel_samples: u64, longest_cell: u64) -> u64 {
    pixel_samples.div_ceil(CELL_SAMPLES.into()) * layers_of_cell(pixel_samples, longest_cell)
}

/// Layers that a cell of pixels of so many samples has room for, by its entries.
pub fn layers_of_cell(pixel_samples: u64, entries: u64) -> u64 {
    (entries + 1) * pixel_samples.min(CELL_SAMPLES.into())
}

/// Layers that a region has room for: all of any pixel in a slab of one key, which has at most an entry a sample.
pub fn layers_capacity(pixel_samples: u64) -> u64 {
    pixel_layers(pixel_samples, CELL_SAMPLES.into()).max(LAYERS_MIN)
}

/// Sums that are kept between dispatches.
pub fn merging_capacity(pixel_samples: u64) -> u64 {
    if pixel_samples > MERGED_SAMPLES_MAX { layers_capacity(pixel_samples) } else { 1 }
}

/// Entries of a cell in a slab, at most, so that there is room for all layers of its pixel.
pub fn cell_entries_max(pixel_samples: u64) -> u32 {
    let fitting = layers_capacity(pixel_samples) / pixel_layers(pixel_samples, 0) - 1;
    fitting.min(CELL_ENTRIES_MAX.into()) as u32
}

/// Appends the listing of what the samples of `some` of the pixels see in a slab, and the merging by depth, in `rooms`
/// rooms for layers: at most [`layers_capacity`].
pub fn record(
    recording: &mut Recording,
    frame: &FrameSlices,
    region: &ActiveRegion,
    slab: Slab,
    rooms: u64,
    some: &Range<u64>,
) {
    let pixels = some.start..some.end.min(region.pixels.count());
    let cells = region.capacity.cells();
    let cells = (some.start * cells).min(region.cells())..(some.end * cells).min(region.cells());
    recording.fill(region.slices.pixel_layers.part(pixels), 0);
    record_list(recording, frame, region, slab, &cells);
    record_merge(recording, region, rooms, &cells);
}

fn record_list(recording: &mut Recording, frame: &FrameSlices, region: &ActiveRegion, slab: Slab, cells: &Range<u64>) {
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
        layer_keys: slices.layer_keys,
        layer_light: slices.layer_light,
        layer_counts: slices.layer_counts,
        pixel_layers: slices.pixel_layers,
    };
    let samples = cells.start * u64::from(CELL_SAMPLES)..cells.end * u64::from(CELL_SAMPLES);
    let ([first, last], groups) = portion(&samples, samples.end, layers::LOCAL_SIZE);
    let push = layers::Push {
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        cells: capacity.cells() as u32,
        value_records: capacity.value_records() as u32,
        resolved_records: capacity.resolved_records() as u32,
        slab_low_z: (slab.low >> 32) as u32,
        slab_low_number: slab.low as u32,
        slab_high_z: (slab.high >> 32) as u32,
        slab_high_number: slab.high as u32,
        first,
        last,
    };
    recording.dispatch(layers::dispatch(variant(capacity.smooth), groups, &bindings, &push));
}

fn record_merge(recording: &mut Recording, region: &ActiveRegion, rooms: u64, cells: &Range<u64>) {
    let (slices, capacity) = (&region.slices, &region.capacity);
    let bindings = merge_layers::Bindings {
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        resolved: slices.resolved,
        layer_keys: slices.layer_keys,
        layer_light: slices.layer_light,
        layer_counts: slices.layer_counts,
        merging: slices.merging,
        merged: slices.merged,
    };
    for first in (0..capacity.pixel_samples).step_by(MERGED_SAMPLES_MAX as usize) {
        let push = merge_layers::Push {
            cells: capacity.cells() as u32,
            pixel_samples: capacity.pixel_samples as u32,
            resolved_records: capacity.resolved_records() as u32,
            first_cell: cells.start as u32,
            last_cell: cells.end as u32,
            rooms: rooms as u32,
            sample_first: first as u32,
            sample_last: (first + MERGED_SAMPLES_MAX).min(capacity.pixel_samples) as u32,
        };
        recording.dispatch(merge_layers::dispatch(covering(rooms, merge_layers::LOCAL_SIZE), &bindings, &push));
    }
}

fn variant(smooth: bool) -> layers::Variant {
    if smooth { layers::Variant::Smooth } else { layers::Variant::Constant }
}

/// The kernels that list and merge layers.
pub(super) fn kernels(smooth: bool) -> KernelList {
    vec![layers::kernel(variant(smooth)), merge_layers::kernel()]
}
