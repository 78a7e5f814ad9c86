//! Composite: what each subpixel sees, translucent surfaces front to back, then the opaque one.

use super::buffers::{FrameSlices, RegionCapacity, RegionSlices};
use super::kernels::{composite, composite_clear, composite_slab, place_entries};
use super::portion;
use super::recording::Recording;
use super::select::RegionPixels;
use std::ops::Range;

/// Appends the start of compositing where anything is translucent: nothing gathered, everything shines through in the subpixels `some`.
pub fn record_clear(
    recording: &mut Recording,
    (slices, capacity): (&RegionSlices, &RegionCapacity),
    (region, pixel_samples): (&RegionPixels, u32),
    some: &Range<u64>,
) {
    let subpixels = region.count() * u64::from(pixel_samples);
    let bindings = composite_clear::Bindings { resolved: slices.resolved };
    let ([first, last], groups) = portion(some, subpixels, composite_clear::LOCAL_SIZE);
    let push = composite_clear::Push { first, last, resolved_records: capacity.resolved_records() as u32 };
    recording.dispatch(composite_clear::dispatch(groups, &bindings, &push));
}

/// Appends the noting of where the colours of `some` of a slab's entries are kept.
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

/// Appends the compositing of a slab's entries, or what an earlier round of the same slab left over (`again`), in the subpixels `some` of
/// the region; a round begins with subpixel 0. Values of variables count by
/// the opacity they were found at, but for the `weighted` ones, which hold it already.
pub fn record_slab(
    recording: &mut Recording,
    frame: &FrameSlices,
    (slices, capacity): (&RegionSlices, &RegionCapacity),
    (region, pixel_samples): (&RegionPixels, u32),
    (weighted, again, some): ([u32; 2], bool, &Range<u64>),
) {
    let [region_width, region_height] = region.size();
    let subpixels = region.count() * u64::from(pixel_samples);
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
        unfinished: slices.unfinished,
    };
    let ([first, last], groups) = portion(some, subpixels, composite_slab::LOCAL_SIZE);
    let push = composite_slab::Push {
        region_x: region.sampled[0],
        region_y: region.sampled[1],
        region_width,
        region_height,
        cells: capacity.cells() as u32,
        value_records: capacity.value_records() as u32,
        resolved_records: capacity.resolved_records() as u32,
        variables: capacity.variables as u32,
        weighted_first: weighted[0],
        weighted_second: weighted[1],
        first,
        last,
    };
    let variant = if capacity.smooth { composite_slab::Variant::Smooth } else { composite_slab::Variant::Constant };
    recording.dispatch(composite_slab::dispatch(variant, groups, &bindings, &push));
}

/// Appends the compositing of the opaque surfaces whose colours are at `places`, in the pixels `some` of the region.
pub fn record(
    recording: &mut Recording,
    frame: &FrameSlices,
    (slices, capacity): (&RegionSlices, &RegionCapacity),
    (region, pixel_samples): (&RegionPixels, u32),
    (places, some): (Range<u32>, &Range<u64>),
) {
    let variant = match (capacity.translucent(), capacity.smooth) {
        (false, false) => composite::Variant::Opaque,
        (true, false) => composite::Variant::Close,
        (false, true) => composite::Variant::OpaqueSmooth,
        (true, true) => composite::Variant::CloseSmooth,
    };
    let bindings = composite::Bindings {
        keys: slices.keys,
        visible: slices.visible,
        colour_base: slices.colour_base,
        colours: slices.colours,
        resolved: slices.resolved,
        visible_before: slices.visible_before,
        frame_buffer: frame.frame,
    };
    let ([first, last], groups) = portion(some, region.count(), composite::LOCAL_SIZE);
    let push = composite::Push {
        region_x: region.sampled[0],
        region_y: region.sampled[1],
        region_width: region.size()[0],
        first,
        last,
        pixel_samples,
        value_records: capacity.value_records() as u32,
        resolved_records: capacity.resolved_records() as u32,
        variables: capacity.variables as u32,
        first_place: places.start,
        last_place: places.end,
    };
    recording.dispatch(composite::dispatch(variant, groups, &bindings, &push));
}
