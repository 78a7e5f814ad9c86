//! Composite: what each subpixel sees, translucent surfaces front to back, then the opaque one.

use super::buffers::{ActiveRegion, FrameSlices, RegionSlices};
use super::kernels::{composite, composite_clear, composite_slab, place_entries};
use super::look::Interpolation;
use super::needed_kernels::KernelList;
use super::portion;
use super::recording::Recording;
use std::ops::Range;

/// How the values of variables are composited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composition {
    /// Variables that hold their opacity already (Ci, Oi), by number.
    pub weighted: [u32; 2],
    /// Variables from this one on show the nearest surface, however opaque.
    pub nearest_from: u32,
}

impl Composition {
    /// All variables are weighted by opacity.
    pub const BY_OPACITY: Self = Self { weighted: [u32::MAX; 2], nearest_from: u32::MAX };
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
    frame: &FrameSlices,
    region: &ActiveRegion,
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
    frame: &FrameSlices,
    region: &ActiveRegion,
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

/// The kernels that clear subpixels.
pub(super) fn clear_kernels() -> KernelList {
    vec![composite_clear::kernel()]
}

/// The kernels that look up where entries' colours are.
pub(super) fn place_kernels() -> KernelList {
    vec![place_entries::kernel()]
}

/// The kernels that composite the entries of a slab, with values of variables or none.
pub(super) fn slab_kernels(interpolation: Interpolation, midpoints: bool, variables: bool) -> KernelList {
    vec![composite_slab::kernel(slab_variant(interpolation, midpoints, variables))]
}

/// The kernels that composite opaque surfaces, with translucent ones in front of some or with none anywhere.
pub(super) fn kernels(translucent: bool, interpolation: Interpolation) -> KernelList {
    vec![composite::kernel(variant(translucent, interpolation))]
}
