//! Shade: the colour programs run on grids of which some sample sees a micropolygon, or that are baked unseen; the
//! colours of what is seen are kept.

use super::buffers::{ActiveRegion, FrameSlices};
use super::dice::{Per, Piece};
use super::kernels::constants::{COVERAGE_WHOLE, OPACITY_NONE};
use super::kernels::{mark, mark_unseen, needed, pack};
use super::look::{Interpolation, ShadeBin, ShadingKernel};
use super::needed_kernels::{KernelList, KernelVariants};
use super::recording::Recording;
use super::scan::PrefixSum;
use super::select::{self, DepthBuckets, SORT_FOR_SHADING, SortOrder, record_sort};
use super::{covering, portion, scan};
use std::ops::Range;

/// Appends the marking of what the samples of the pixels `some` see: the opaque micropolygons behind their keys.
/// Marking begins with pixel 0.
pub fn record_mark(recording: &mut Recording, region: &ActiveRegion, some: &Range<u64>) {
    let slices = &region.slices;
    if some.start == 0 {
        recording.fill(slices.visible, 0);
    }
    let bindings = mark::Bindings { keys: slices.keys, visible: slices.visible };
    let ([first, last], groups) = portion(some, region.pixels.count(), mark::LOCAL_SIZE);
    let push = mark::Push { first, last, pixel_samples: region.pixel_samples() };
    recording.dispatch(mark::dispatch(groups, &bindings, &push));
}

/// Appends the marking of every micropolygon, seen or not.
pub fn record_mark_all(recording: &mut Recording, region: &ActiveRegion) {
    recording.fill(region.slices.visible, u32::MAX);
}

/// Appends the marking of a micropolygon of each grid of which nothing is seen, if it is to be baked all the same.
pub fn record_mark_unseen(recording: &mut Recording, frame: &FrameSlices, region: &ActiveRegion, selected: u64) {
    let slices = &region.slices;
    let bindings = mark_unseen::Bindings {
        grids: slices.grids.grids,
        instances: frame.instances,
        visible: slices.visible,
        total: slices.selected_count,
    };
    let push = mark_unseen::Push { capacity: selected.min(region.capacity.grids) as u32 };
    let groups = covering(u64::from(push.capacity), mark_unseen::LOCAL_SIZE);
    recording.dispatch(mark_unseen::dispatch(groups, &bindings, &push));
}

/// Appends the numbering of visible micropolygons: how many each grid has, where their colours begin, how many there
/// are in all.
pub fn record_places(recording: &mut Recording, variants: KernelVariants, region: &ActiveRegion, selected: u64) {
    let slices = &region.slices;
    let bindings = needed::Bindings {
        visible: slices.visible,
        needed: slices.needed,
        visible_before: slices.visible_before,
        total: slices.selected_count,
    };
    let push = needed::Push { capacity: selected.min(region.capacity.grids) as u32 };
    recording.dispatch(needed::dispatch(covering(u64::from(push.capacity), needed::LOCAL_SIZE), &bindings, &push));
    let sum = PrefixSum {
        values: slices.needed,
        offsets: slices.colour_base,
        count: push.capacity,
        summed: scan::Summed::WORD,
        total: slices.visible_count,
    };
    scan::record(recording, variants, slices.scan, &sum);
}

/// Appends the sorting of the grids that have colours in `places` by shading bin and size class.
pub fn record_order(
    recording: &mut Recording,
    variants: KernelVariants,
    frame: &FrameSlices,
    region: &ActiveRegion,
    selected: u64,
    places: Range<u32>,
) {
    let order = SortOrder { depth: DepthBuckets { base: 0, shift: 0 }, places, selected_max: selected };
    record_sort(recording, variants, frame, region, &order, SORT_FOR_SHADING);
}

/// The colours of a piece that are to be kept.
#[derive(Clone, Debug)]
pub struct PieceColours<'a> {
    /// The colour program; `None` for matte grids, which leave nothing.
    pub kernel: Option<&'a ShadingKernel>,
    /// First record of the positions: at shutter open, or at the first key.
    pub position_base: u32,
    /// Keys at which positions are there, see [`ShadeBin::keys`](super::look::ShadeBin::keys).
    pub position_keys: u32,
    /// First record of the program's outputs.
    pub output_base: u32,
    /// First record of what the vertices cover, if that may be a part.
    pub coverage_base: Option<u32>,
    /// The places of the colour store that this round fills.
    pub places: Range<u32>,
}

fn pack_variant(interpolation: Interpolation) -> pack::Variant {
    pack::Variant { smooth: interpolation.smooth() }
}

/// Appends the keeping of a piece's visible colours.
pub fn record_pack(
    recording: &mut Recording,
    frame: &FrameSlices,
    region: &ActiveRegion,
    piece: &Piece,
    colours: &PieceColours<'_>,
) {
    let (slices, capacity, kernel) = (&region.slices, &region.capacity, colours.kernel);
    let bindings = pack::Bindings {
        slots: slices.slots,
        arena: slices.arena.cast(),
        visible: slices.visible,
        colour_base: slices.colour_base,
        colours: slices.colours,
        pieces: slices.pieces,
        visible_before: slices.visible_before,
        frame_buffer: frame.frame,
        status: slices.status.cast(),
        replaced: slices.pixels.cast(),
    };
    let push = pack::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: colours.output_base,
        channel_stride: piece.vertices(),
        position_base: colours.position_base,
        position_keys: colours.position_keys,
        value_records: capacity.value_records() as u32,
        position_records: capacity.interpolation.position_records(),
        opacity_record: u32::from(capacity.translucent()),
        opacity_channel: kernel.and_then(|k| k.opacity_channel).unwrap_or(OPACITY_NONE),
        variables: capacity.variables as u32,
        first_variable: kernel.and_then(|k| k.variable_channels.first().copied()).unwrap_or(0),
        first_place: colours.places.start,
        last_place: colours.places.end,
        coverage_channel: colours
            .coverage_base
            .map_or(COVERAGE_WHOLE, |base| (base - colours.output_base) / piece.vertices()),
        coloured: u32::from(kernel.is_some()),
        replaced_word: 4 * region.replaced_record() as u32,
    };
    let groups = piece.groups(slices, Per::Micropolygon);
    recording.dispatch(pack::dispatch(pack_variant(capacity.interpolation), groups, &bindings, &push));
}

/// The kernels that mark what samples see.
pub(super) fn mark_kernels() -> KernelList {
    vec![mark::kernel()]
}

/// The kernels that mark what is baked unseen.
pub(super) fn mark_unseen_kernels() -> KernelList {
    vec![mark_unseen::kernel()]
}

/// The kernels that number visible micropolygons.
pub(super) fn place_kernels(variants: KernelVariants) -> KernelList {
    [vec![needed::kernel()], scan::kernels(variants, scan::Summed::WORD)].concat()
}

/// The kernels that sort grids for shading.
pub(super) fn order_kernels(variants: KernelVariants) -> KernelList {
    select::sort_kernels(variants, SORT_FOR_SHADING)
}

/// The kernels that keep colours.
pub(super) fn pack_kernels(interpolation: Interpolation) -> KernelList {
    vec![pack::kernel(pack_variant(interpolation))]
}

/// First records in the arena when a piece is shaded: channels of the displacement program (if any), then inputs and
/// outputs of the colour program, what thin curves cover, positions at keys, then uniform inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadeLayout {
    /// Displacement inputs.
    pub displace_input: u32,
    /// Displacement's uniform inputs.
    pub displace_uniform: u32,
    /// Colour inputs; the displacement's outputs are among its channels.
    pub input: u32,
    /// Colour outputs.
    pub output: u32,
    /// What the vertices of thin curves cover.
    pub coverage: Option<u32>,
    /// Positions at the first of the keys that are kept.
    pub keys: u32,
    /// Colour's uniform inputs.
    pub uniform: u32,
    /// Records in all.
    pub records: u32,
}

/// Channels of the colour inputs: those of the program, and all that the displacement program stores there.
fn input_channels(displace: Option<&ShadingKernel>, shade: Option<&ShadingKernel>) -> u32 {
    shade.map_or(4, |k| k.input_channels).max(displace.map_or(0, |k| k.output_channels))
}

impl ShadeLayout {
    /// Records that one vertex and one slot of a bin take up with its programs.
    pub fn cost(displace: Option<&ShadingKernel>, shade: Option<&ShadingKernel>, bin: &ShadeBin) -> (u32, u32) {
        let input = input_channels(displace, shade);
        let output = shade.map_or(0, |k| k.output_channels);
        let vertex =
            displace.map_or(0, |k| k.input_channels) + input + output + u32::from(bin.thin) + bin.key_channels();
        let slot = displace.map_or(0, |k| k.uniform_records) + shade.map_or(0, |k| k.uniform_records);
        (vertex, slot)
    }

    /// The layout of a piece of a bin.
    pub fn new(piece: &Piece, displace: Option<&ShadingKernel>, shade: Option<&ShadingKernel>, bin: &ShadeBin) -> Self {
        let vertices = piece.vertices();
        let input = piece.base + displace.map_or(0, |k| k.input_channels) * vertices;
        let output = input + input_channels(displace, shade) * vertices;
        let covered = output + shade.map_or(0, |k| k.output_channels) * vertices;
        let keys = covered + u32::from(bin.thin) * vertices;
        let displace_uniform = keys + bin.key_channels() * vertices;
        let uniform = displace_uniform + displace.map_or(0, |k| k.uniform_records) * piece.slot_count;
        let end = uniform + shade.map_or(0, |k| k.uniform_records) * piece.slot_count;
        Self {
            displace_input: piece.base,
            displace_uniform,
            input,
            output,
            coverage: bin.thin.then_some(covered),
            keys,
            uniform,
            records: end - piece.base,
        }
    }
}
