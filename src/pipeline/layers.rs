//! Layers: what each sample sees of translucent surfaces is listed, for deep shadow maps.

use super::buffers::{ActiveRegion, FrameSlices};
use super::kernels::constants::CELL_SAMPLES;
use super::kernels::layers;
use super::kernels::records::Listed;
use super::needed_kernels::KernelList;
use super::portion;
use super::recording::Recording;
use std::ops::Range;

/// Layers of a list, at most: more than the longest list of a cell has with all of its samples.
pub const LAYERS_MAX: u64 = 1 << 17;

/// Layers that the samples of a cell list at most for each entry of it.
pub fn layers_of_entry(pixel_samples: u64) -> u64 {
    pixel_samples.min(CELL_SAMPLES.into())
}

/// Appends the listing of what the samples of `some` of the cells see: at most [`LAYERS_MAX`] layers.
pub fn record(recording: &mut Recording, frame: &FrameSlices, region: &ActiveRegion, some: &Range<u64>) {
    let (slices, capacity) = (&region.slices, &region.capacity);
    recording.write(slices.listed, &[Listed { listed: 0 }]);
    let bindings = layers::Bindings {
        frame_buffer: frame.frame,
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        colours: slices.colours,
        layers: slices.layers,
        listed: slices.listed,
    };
    let samples = some.start.min(region.cells()) * u64::from(CELL_SAMPLES)
        ..some.end.min(region.cells()) * u64::from(CELL_SAMPLES);
    let ([first, last], groups) = portion(&samples, samples.end, layers::LOCAL_SIZE);
    let push = layers::Push {
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        cells: capacity.cells() as u32,
        value_records: capacity.value_records() as u32,
        capacity: capacity.layers as u32,
        first,
        last,
    };
    recording.dispatch(layers::dispatch(variant(capacity.smooth), groups, &bindings, &push));
}

fn variant(smooth: bool) -> layers::Variant {
    if smooth { layers::Variant::Smooth } else { layers::Variant::Constant }
}

/// The kernels that list layers.
pub(super) fn kernels(smooth: bool) -> KernelList {
    vec![layers::kernel(variant(smooth))]
}
