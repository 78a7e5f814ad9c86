//! Hide: opaque grids, nearest first, lower the depth keys of the samples they cover; grids behind them are
//! dropped before they are diced, and micropolygons behind them are passed over.

use super::bin;
use super::buffers::{ActiveRegion, FrameSlices, GeometrySources, RegionSlices};
use super::dice::{Per, Piece};
use super::fuse::{self, DicedKind};
pub(super) use super::kernels::axes::Motion as VertexMotion;
use super::kernels::constants::KEY_EMPTY;
use super::kernels::records::{Culled, Rest};
use super::kernels::{arm, block, blur_samples, cull, hide, hide_blurred};
use super::needed_kernels::{KernelList, KernelVariants};
use super::plan::Division;
use super::recording::{Dispatch, Groups, Recording, Slice};
use super::sample::Slab;
use super::{covering, portion};
use std::ops::Range;

/// Appends the start of hiding: empty samples, nothing hidden.
pub fn record_clear(recording: &mut Recording, region: &ActiveRegion) {
    let (slices, blocks) = (&region.slices, region.pixels.blocks());
    recording.concurrent(|recording| {
        recording.fill(slices.keys.part(0..region.subpixels()), KEY_EMPTY);
        if region.capacity.behind {
            recording.fill(slices.behind.part(0..region.subpixels()), KEY_EMPTY);
        }
        recording.fill(slices.blocks.part(0..blocks), KEY_EMPTY);
        recording.fill(slices.dirty.part(0..blocks), 0);
        recording.write(slices.culled, &[Culled { culled_grids: 0, culled_micropolygons: 0 }]);
        recording.fill(slices.status.part(0..1), 0);
        let replaced = region.replaced_record();
        recording.fill(slices.pixels.part(replaced..replaced + 1), 0);
        recording.write(slices.rest, &[rest_start()]);
    });
}

/// Appends the making of the samples of what moves or is out of focus, in the pixels `some` of the region: when each is
/// taken, and through which point of the lens.
pub fn record_blur_samples(recording: &mut Recording, frame: &FrameSlices, region: &ActiveRegion, some: &Range<u64>) {
    let bindings = blur_samples::Bindings {
        frame_buffer: frame.frame,
        lens_cells: frame.lens,
        blur_samples: region.slices.blur_samples,
    };
    let ([first, last], _) = portion(some, region.pixels.count(), blur_samples::LOCAL_SIZE);
    let groups = covering(u64::from(last - first) * u64::from(region.pixel_samples()), blur_samples::LOCAL_SIZE);
    let push = blur_samples::Push {
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        first,
        last,
    };
    recording.dispatch(blur_samples::dispatch(groups, &bindings, &push));
}

/// The rest pass runs nothing unless a kernel arms it, with as many parts along z as the largest micropolygon has.
pub(super) fn rest_start() -> Rest {
    Rest { rest_groups_x: 0, rest_groups_y: 1, rest_groups_z: 1, rest_lost: 0 }
}

/// Appends the two passes over a piece's micropolygons: `dispatch` makes the first pass, which visits up to a set
/// number of samples of each micropolygon, and the rest pass. The first pass arms the rest pass only for micropolygons
/// of thousands of samples; otherwise the rest pass costs next to nothing. It is disarmed afterwards.
pub(super) fn record_passes(
    recording: &mut Recording,
    slices: &RegionSlices,
    piece: &Piece,
    dispatch: impl Fn(HidePass, Groups) -> Dispatch,
) {
    recording.dispatch(dispatch(HidePass::First, piece.groups(slices, Per::Micropolygon)));
    record_rest(recording, slices, dispatch);
}

/// Appends the rest pass, as `dispatch` makes it, and disarms it.
fn record_rest(recording: &mut Recording, slices: &RegionSlices, dispatch: impl Fn(HidePass, Groups) -> Dispatch) {
    let rest = slices.rest.cast::<[u32; 3]>().part(0..1);
    recording.dispatch(dispatch(HidePass::Rest, rest.into()));
    recording.write(rest, &[[0, 1, 1]]);
}

/// Which of the two passes over a piece's micropolygons a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HidePass {
    /// All micropolygons, up to a set number of samples of each.
    First,
    /// The samples that the first pass left.
    Rest,
}

impl HidePass {
    /// Both, in order.
    pub(super) const ALL: [Self; 2] = [Self::First, Self::Rest];
}

/// Which grids become the slots of a piece.
#[derive(Clone, Copy, Debug)]
pub struct SlotSource {
    /// The order that they are taken from.
    pub sorted: Slice<u32>,
    /// The first of them in that order.
    pub first: u32,
    /// Whether hidden grids get no slot.
    pub cull: bool,
    /// Grids outside this slab get no slot.
    pub slab: Slab,
}

/// Appends the making of a piece's slots.
pub fn record_cull(
    recording: &mut Recording,
    frame: &FrameSlices,
    region: &ActiveRegion,
    piece: &Piece,
    source: &SlotSource,
) {
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = cull::Bindings {
        sorted: source.sorted,
        grids: slices.grids.grids,
        grid_bounds: slices.grids.bounds,
        instances: frame.instances,
        blocks: slices.blocks,
        slots: slices.slots,
        culled: slices.culled,
        pieces: slices.pieces,
        arena: slices.arena.cast(),
    };
    let push = cull::Push {
        first: source.first,
        count: piece.slot_count,
        slot_base: piece.slot_base,
        piece: piece.number,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
        enabled: u32::from(source.cull),
        slab_low_z: (source.slab.low >> 32) as u32,
        slab_high_z: (source.slab.high >> 32) as u32,
    };
    recording.dispatch(cull::dispatch(covering(u64::from(piece.slot_count), cull::LOCAL_SIZE), &bindings, &push));
}

/// Appends the start of a load: its pieces, no slots yet.
pub fn record_pieces(recording: &mut Recording, slices: &RegionSlices, pieces: &[Piece]) {
    let states: Vec<_> = pieces.iter().map(Piece::state).collect();
    recording.write(slices.pieces.part(0..pieces.len() as u64), &states);
}

/// Appends what comes after culling: the workgroups that each piece's slots need.
pub fn record_arm(recording: &mut Recording, slices: &RegionSlices, pieces: usize) {
    let push = arm::Push { piece_count: pieces as u32 };
    let groups = covering(pieces as u64, arm::LOCAL_SIZE);
    recording.dispatch(arm::dispatch(groups, &arm::Bindings { pieces: slices.pieces }, &push));
}

/// Which surfaces of a sample are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HiddenSurfaces {
    /// The nearest one, by key.
    Nearest,
    /// Also the depth of the next one behind it.
    NearestTwo,
}

impl HiddenSurfaces {
    /// Those that depths need, which are midpoints or not.
    pub(super) fn for_midpoints(midpoints: bool) -> Self {
        if midpoints { Self::NearestTwo } else { Self::Nearest }
    }

    fn of(region: &ActiveRegion) -> Self {
        Self::for_midpoints(region.capacity.behind)
    }
}

/// What samples are tested for, which chooses the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SampleTests {
    /// Clipping planes.
    pub clipped: bool,
    /// Trim loops.
    pub trimmed: bool,
    /// Whether each has its own time and point of the lens.
    pub blurred: bool,
    /// How vertices move.
    pub motion: VertexMotion,
}

impl VertexMotion {
    pub(super) fn of_keys(keys: u32) -> Self {
        match keys {
            0 | 1 => Self::Still,
            2 => Self::Straight,
            _ => Self::Keyed,
        }
    }
}

fn variant(surfaces: HiddenSurfaces, pass: HidePass, tests: SampleTests, division: Division) -> hide::Variant {
    hide::Variant {
        expanded: division == Division::Expanded,
        behind: surfaces == HiddenSurfaces::NearestTwo,
        rest: pass == HidePass::Rest,
        clipped: tests.clipped,
        trimmed: tests.trimmed,
        fused: false,
    }
}

/// What hides what [`fuse`] left.
const REST_FUSED: hide::Variant =
    hide::Variant { expanded: false, behind: false, rest: true, clipped: false, trimmed: false, fused: true };

fn blurred_variant(
    surfaces: HiddenSurfaces,
    pass: HidePass,
    tests: SampleTests,
    division: Division,
) -> hide_blurred::Variant {
    hide_blurred::Variant {
        expanded: division == Division::Expanded,
        behind: surfaces == HiddenSurfaces::NearestTwo,
        rest: pass == HidePass::Rest,
        clipped: tests.clipped,
        trimmed: tests.trimmed,
        motion: tests.motion,
    }
}

fn block_variant(surfaces: HiddenSurfaces) -> block::Variant {
    block::Variant { behind: surfaces == HiddenSurfaces::NearestTwo }
}

/// Where the positions of a piece's vertices are: at each key of its motion, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyedPositions {
    /// The first record.
    pub base: u32,
    /// Keys; 1 for what stands still.
    pub keys: u32,
    /// Whether its primitives have trim loops.
    pub trimmed: bool,
}

impl KeyedPositions {
    pub(super) fn tests(&self, frame: &FrameSlices) -> SampleTests {
        SampleTests {
            clipped: !frame.clip_planes.is_empty(),
            trimmed: self.trimmed,
            blurred: self.keys > 1 || !frame.lens.is_empty(),
            motion: VertexMotion::of_keys(self.keys),
        }
    }
}

/// How pieces are hidden; the result is the same.
#[derive(Clone, Copy, Debug)]
pub struct HidingForm {
    /// How samples are divided among invocations.
    pub division: Division,
    /// The variants of kernels that are not for hiding alone.
    pub variants: KernelVariants,
}

/// Whether tiles are hidden one by one, if there is room for lists.
fn is_binned(surfaces: HiddenSurfaces, tests: SampleTests, division: Division) -> bool {
    let binned = matches!(division, Division::Binned | Division::BinnedFused);
    binned && surfaces == HiddenSurfaces::Nearest && bin::can_hide(tests)
}

/// Whether pieces are diced and hidden at once, if they are not displaced.
fn is_fused(surfaces: HiddenSurfaces, tests: SampleTests, division: Division) -> bool {
    division == Division::Fused && surfaces == HiddenSurfaces::Nearest && bin::can_hide(tests)
}

/// Whether a piece with these positions, which are those that dicing gives, is diced when it is hidden.
pub fn dices_itself(frame: &FrameSlices, region: &ActiveRegion, positions: KeyedPositions, division: Division) -> bool {
    is_fused(HiddenSurfaces::of(region), positions.tests(frame), division)
}

/// Appends the dicing and hiding of a piece for which [`dices_itself`] holds.
pub fn record_fused(
    recording: &mut Recording,
    sources: GeometrySources<'_>,
    region: &ActiveRegion,
    piece: &Piece,
    diced: DicedKind,
) {
    fuse::record_piece(recording, sources, region, piece, diced);
    let (bindings, push) = sharp(sources, region, piece, piece.base);
    record_rest(recording, &region.slices, |_, groups| hide::dispatch(REST_FUSED, groups, &bindings, &push));
}

/// Appends the hiding of a piece.
pub fn record_piece(
    recording: &mut Recording,
    sources: GeometrySources<'_>,
    region: &ActiveRegion,
    piece: &Piece,
    positions: KeyedPositions,
    form: HidingForm,
) {
    if positions.tests(sources.frame).blurred {
        record_blurred(recording, sources, region, piece, positions, form.division);
    } else {
        record_sharp(recording, sources, region, piece, positions, form);
    }
}

fn record_blurred(
    recording: &mut Recording,
    GeometrySources { frame, page }: GeometrySources<'_>,
    region: &ActiveRegion,
    piece: &Piece,
    positions: KeyedPositions,
    division: Division,
) {
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = hide_blurred::Bindings {
        frame_buffer: frame.frame,
        slots: slices.slots,
        arena: slices.arena.cast(),
        keys: slices.keys,
        dirty: slices.dirty,
        rest: slices.rest,
        pieces: slices.pieces,
        clip_planes: frame.clip_planes,
        behind: slices.behind,
        grids: slices.grids.grids,
        primitives: page.primitives,
        data: page.data,
        motion: frame.motion,
        blur_samples: slices.blur_samples,
    };
    let push = hide_blurred::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: positions.base,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
        key_count: positions.keys,
        key_stride: piece.vertices(),
    };
    let (tests, surfaces) = (positions.tests(frame), HiddenSurfaces::of(region));
    record_passes(recording, slices, piece, |pass, groups| {
        hide_blurred::dispatch(blurred_variant(surfaces, pass, tests, division), groups, &bindings, &push)
    });
}

/// What the kernel for what neither moves nor is out of focus reads and writes.
fn sharp(
    GeometrySources { frame, page }: GeometrySources<'_>,
    region: &ActiveRegion,
    piece: &Piece,
    vertex_base: u32,
) -> (hide::Bindings, hide::Push) {
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = hide::Bindings {
        frame_buffer: frame.frame,
        slots: slices.slots,
        arena: slices.arena.cast(),
        keys: slices.keys,
        dirty: slices.dirty,
        rest: slices.rest,
        pieces: slices.pieces,
        clip_planes: frame.clip_planes,
        behind: slices.behind,
        grids: slices.grids.grids,
        primitives: page.primitives,
        data: page.data,
        blocks: slices.blocks,
    };
    let push = hide::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
    };
    (bindings, push)
}

fn record_sharp(
    recording: &mut Recording,
    sources: GeometrySources<'_>,
    region: &ActiveRegion,
    piece: &Piece,
    positions: KeyedPositions,
    form: HidingForm,
) {
    let (bindings, push) = sharp(sources, region, piece, positions.base);
    let (tests, surfaces) = (positions.tests(sources.frame), HiddenSurfaces::of(region));
    let variant = |pass| variant(surfaces, pass, tests, form.division);
    let dispatch = |pass, groups| hide::dispatch(variant(pass), groups, &bindings, &push);
    let binned = is_binned(surfaces, tests, form.division);
    if binned && bin::record_piece(recording, sources, region, piece, positions, form) {
        record_rest(recording, &region.slices, dispatch);
    } else {
        record_passes(recording, &region.slices, piece, dispatch);
    }
}

/// Appends the update of the farthest depth of the blocks that hiding changed.
pub fn record_blocks(recording: &mut Recording, region: &ActiveRegion) {
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings =
        block::Bindings { keys: slices.keys, dirty: slices.dirty, blocks: slices.blocks, behind: slices.behind };
    let push = block::Push { region_width, region_height, pixel_samples: region.pixel_samples() };
    let groups = covering(region.pixels.blocks(), block::LOCAL_SIZE);
    recording.dispatch(block::dispatch(block_variant(HiddenSurfaces::of(region)), groups, &bindings, &push));
}

/// The kernels that make slots, for all that is diced.
pub(super) fn slot_kernels() -> KernelList {
    vec![cull::kernel(), arm::kernel()]
}

/// The kernels that begin what moves or is out of focus.
pub(super) fn blur_kernels() -> KernelList {
    vec![blur_samples::kernel()]
}

/// The kernels that hide.
pub(super) fn kernels(surfaces: HiddenSurfaces, tests: SampleTests, form: HidingForm) -> KernelList {
    let kernel = |pass| match tests.blurred {
        true => hide_blurred::kernel(blurred_variant(surfaces, pass, tests, form.division)),
        false => hide::kernel(variant(surfaces, pass, tests, form.division)),
    };
    let binned = is_binned(surfaces, tests, form.division);
    let own = HidePass::ALL.map(kernel).to_vec();
    if binned { [own, bin::kernels(form)].concat() } else { own }
}

/// The kernels that dice and hide at once primitives of a kind that are not displaced; none if they are not.
pub(super) fn fused_kernels(
    surfaces: HiddenSurfaces,
    tests: SampleTests,
    division: Division,
    kind: DicedKind,
) -> KernelList {
    if !is_fused(surfaces, tests, division) {
        return Vec::new();
    }
    vec![fuse::kernel(kind), hide::kernel(REST_FUSED)]
}

/// The kernels that update the farthest depths of blocks.
pub(super) fn block_kernels(surfaces: HiddenSurfaces) -> KernelList {
    vec![block::kernel(block_variant(surfaces))]
}
