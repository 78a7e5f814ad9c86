//! Layers: what samples see, and how much light is left behind it in each pixel, for deep shadow maps.

use super::buffers::{ActiveRegion, FrameSlices};
use super::kernels::constants::CELL_SAMPLES;
use super::kernels::records::Layer;
use super::kernels::{layers, merge_layers};
use super::look::Interpolation;
use super::needed_kernels::KernelList;
use super::portion;
use super::recording::{Recording, Slice};
use super::sample::{CELL_ENTRIES_MAX, Slab};
use std::ops::Range;

/// Layers that there is room for, at least.
const LAYERS_MIN: u64 = 1 << 17;

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

/// Entries of a cell in a slab, at most, so that there is room for all layers of its pixel.
pub fn cell_entries_max(pixel_samples: u64) -> u32 {
    let fitting = layers_capacity(pixel_samples) / pixel_layers(pixel_samples, 0) - 1;
    fitting.min(CELL_ENTRIES_MAX.into()) as u32
}

/// Appends the listing of what the samples of `some` of the pixels see in a slab, and the merging by depth. They have
/// at most [`layers_capacity`] layers.
pub fn record(recording: &mut Recording, frame: &FrameSlices, region: &ActiveRegion, slab: Slab, some: &Range<u64>) {
    let pixels = some.start.min(region.pixels.count())..some.end.min(region.pixels.count());
    recording.fill(region.slices.pixel_layers.part(pixels.clone()), 0);
    record_list(recording, frame, region, slab, &pixels);
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

fn record_list(recording: &mut Recording, frame: &FrameSlices, region: &ActiveRegion, slab: Slab, pixels: &Range<u64>) {
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

/// The kernels that list and merge layers.
pub(super) fn kernels(interpolation: Interpolation) -> KernelList {
    vec![layers::kernel(variant(interpolation)), merge_layers::kernel()]
}
