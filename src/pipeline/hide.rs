//! Hide: opaque grids, nearest first, lower the depth keys of the samples they cover; grids behind them are
//! dropped before they are diced, and micropolygons behind them are passed over.

use super::bin;
use super::buffers::{ActiveRegion, GeometrySources, RegionSlices, StageMemory};
use super::fuse;
use super::hidden::{DicedKind, Division, HiddenSurfaces, HidingForm, KeyframedPositions, SampleTests};
use super::kernels::constants::KEY_EMPTY;
use super::kernels::records::{Culled, Rest};
use super::kernels::{block, blur_samples, hide, hide_blurred};
use super::piece::{Per, RegionPiece};
use super::portion::{covering, portion};
use super::recording::{Dispatch, DispatchExtent, Recording};
use super::stage::{
    AssignBin, Bins, Execution, Feature, Finding, Grids, KernelDemand, LoadInput, LoadStage, LoadedPiece, Need,
    Process, RecordTask, Repeats, StageDescriptor, Task, Units, Work,
};
use super::variants::KernelList;
use std::ops::Range;

/// See [`Process::BlurSamples`].
pub(super) const BLUR_SAMPLES: StageDescriptor = StageDescriptor {
    stage: "hide",
    needs: &[],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Pixels),
    repeats: Repeats::Free,
    only_with: Some(Feature::Blur),
    kernels: |_| vec![blur_samples::kernel()],
    run: Execution::Task(Task {
        work: Work::BlurSamples,
        units: |input| Units::Even(input.region.pixel_samples().into()),
        spread: None,
        record: RecordTask::Region(|recording, input, some| {
            record_blur_samples(recording, input.memory(), some);
        }),
    }),
    finding: None,
};

/// See [`Process::Hide`].
pub(super) const HIDE: StageDescriptor = StageDescriptor {
    stage: "hide",
    needs: &[Need::always(Process::BlurSamples), Need::always(Process::Dice)],
    stands_for: &[],
    bins: Bins::Loads(AssignBin::Depth(Grids::Opaque)),
    repeats: Repeats::Free,
    only_with: None,
    kernels,
    run: Execution::Load(LoadStage { begins: false, program: None, is_idle: |_| false, record: record_load }),
    finding: Some(Finding::Culled),
};

/// See [`Process::RenewBlocks`].
pub(super) const RENEW_BLOCKS: StageDescriptor = StageDescriptor {
    stage: "hide",
    needs: &[Need::always(Process::Hide)],
    stands_for: &[],
    bins: Bins::Loads(AssignBin::Depth(Grids::Opaque)),
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| vec![block::kernel(block_variant(HiddenSurfaces::for_midpoints(demand.displays.midpoints())))],
    run: Execution::Load(LoadStage {
        begins: false,
        program: None,
        is_idle: |input| !input.ends_batch,
        record: |recording, input| record_blocks(recording, input.region),
    }),
    finding: None,
};

/// Appends the start of hiding: empty samples, nothing hidden.
pub fn record_clear(recording: &mut Recording, region: &ActiveRegion) {
    let (slices, blocks) = (&region.slices, region.pixels.blocks());
    recording.concurrent(|recording| {
        recording.fill(slices.keys.part(0..region.subpixels()), KEY_EMPTY);
        if region.capacity.behind {
            recording.fill(slices.behind.part(0..region.subpixels()), KEY_EMPTY);
        }
        recording.fill(slices.dirty.part(0..blocks), 0);
        recording.write(slices.rest, &[rest_start()]);
        record_clear_found(recording, region);
    });
}

/// Appends what is cleared whether or not it is known what samples see: no depths of blocks, nothing found.
pub(super) fn record_clear_found(recording: &mut Recording, region: &ActiveRegion) {
    let (slices, blocks) = (&region.slices, region.pixels.blocks());
    recording.fill(slices.blocks.part(0..blocks), KEY_EMPTY);
    recording.write(slices.culled, &[Culled { culled_grids: 0, culled_micropolygons: 0 }]);
    recording.fill(slices.status.part(0..1), 0);
    let replaced = region.replaced_record();
    recording.fill(slices.pixels.part(replaced..replaced + 1), 0);
}

/// Appends the making of the samples of what moves or is out of focus, in the pixels `some` of the region: when each is
/// taken, and through which point of the lens.
pub fn record_blur_samples(recording: &mut Recording, memory: StageMemory<'_>, some: &Range<u64>) {
    let StageMemory { frame, region } = memory;
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
    of: &RegionPiece<'_>,
    dispatch: impl Fn(HidePass, DispatchExtent) -> Dispatch,
) {
    recording.dispatch(dispatch(HidePass::First, of.groups(Per::Micropolygon)));
    record_rest(recording, &of.region.slices, dispatch);
}

/// Appends the rest pass, as `dispatch` makes it, and disarms it.
fn record_rest(
    recording: &mut Recording,
    slices: &RegionSlices,
    dispatch: impl Fn(HidePass, DispatchExtent) -> Dispatch,
) {
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

pub(super) fn block_variant(surfaces: HiddenSurfaces) -> block::Variant {
    block::Variant { behind: surfaces == HiddenSurfaces::NearestTwo }
}

/// Whether bins are hidden one by one, if there is room for lists.
fn is_binned(surfaces: HiddenSurfaces, tests: SampleTests, division: Division) -> bool {
    let binned = matches!(division, Division::Binned | Division::BinnedFused);
    binned && surfaces == HiddenSurfaces::Nearest && bin::can_hide(tests)
}

/// Whether pieces are diced and hidden at once, if they are not displaced.
fn is_fused(surfaces: HiddenSurfaces, tests: SampleTests, division: Division) -> bool {
    division == Division::Fused && surfaces == HiddenSurfaces::Nearest && bin::can_hide(tests)
}

/// Whether a piece is diced by the kernel that hides it, with the positions that dicing gives.
pub(super) fn dices_itself(input: &LoadInput<'_>, piece: &LoadedPiece<'_>) -> bool {
    let (sublist, displace, layout) = input.hidden(piece);
    let tests = layout.positions.tests(input.frame);
    let is_plain = !sublist.translucent && displace.is_none();
    is_plain && is_fused(HiddenSurfaces::of(input.region), tests, input.form.division)
}

/// Appends the hiding of a load.
fn record_load(recording: &mut Recording, input: &LoadInput<'_>) {
    for piece in input.pieces {
        let (sublist, _, layout) = input.hidden(piece);
        let of = input.in_region(piece);
        if dices_itself(input, piece) {
            record_fused(recording, &of, DicedKind::of(sublist.kind, input.world.full));
        } else {
            record_piece(recording, &of, layout.positions, input.form);
        }
    }
}

/// Appends the dicing and hiding of a piece for which [`dices_itself`] holds.
fn record_fused(recording: &mut Recording, of: &RegionPiece<'_>, diced: DicedKind) {
    fuse::record_piece(recording, of, diced);
    let (bindings, push) = sharp(of, of.piece.base);
    record_rest(recording, &of.region.slices, |_, groups| hide::dispatch(REST_FUSED, groups, &bindings, &push));
}

/// Appends the hiding of a piece.
pub fn record_piece(recording: &mut Recording, of: &RegionPiece<'_>, positions: KeyframedPositions, form: HidingForm) {
    if positions.tests(of.sources.frame).blurred {
        record_blurred(recording, of, positions, form.division);
    } else {
        record_sharp(recording, of, positions, form);
    }
}

fn record_blurred(recording: &mut Recording, of: &RegionPiece<'_>, positions: KeyframedPositions, division: Division) {
    let RegionPiece { region, sources: GeometrySources { frame, page }, piece } = of;
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
        keyframe_count: positions.keyframes,
        keyframe_stride: piece.vertices(),
    };
    let (tests, surfaces) = (positions.tests(frame), HiddenSurfaces::of(region));
    record_passes(recording, of, |pass, groups| {
        hide_blurred::dispatch(blurred_variant(surfaces, pass, tests, division), groups, &bindings, &push)
    });
}

/// What the kernel for what neither moves nor is out of focus reads and writes.
fn sharp(of: &RegionPiece<'_>, vertex_base: u32) -> (hide::Bindings, hide::Push) {
    let RegionPiece { region, sources: GeometrySources { frame, page }, piece } = of;
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

fn record_sharp(recording: &mut Recording, of: &RegionPiece<'_>, positions: KeyframedPositions, form: HidingForm) {
    let (bindings, push) = sharp(of, positions.base);
    let (tests, surfaces) = (positions.tests(of.sources.frame), HiddenSurfaces::of(of.region));
    let variant = |pass| variant(surfaces, pass, tests, form.division);
    let dispatch = |pass, groups| hide::dispatch(variant(pass), groups, &bindings, &push);
    let binned = is_binned(surfaces, tests, form.division);
    if binned && bin::record_piece(recording, of, positions, form) {
        record_rest(recording, &of.region.slices, dispatch);
    } else {
        record_passes(recording, of, dispatch);
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

/// The kernels that hide what a world has.
fn kernels(demand: &KernelDemand<'_>) -> KernelList {
    let surfaces = HiddenSurfaces::for_midpoints(demand.displays.midpoints());
    let form = demand.traits.form;
    let hiding = demand.traits.tests.iter().flat_map(|&tests| tests_kernels(surfaces, tests, form));
    let fused = demand.traits.diced.iter().flat_map(|&(kind, tests)| fused_kernels(surfaces, tests, form, kind));
    hiding.chain(fused).collect()
}

/// The kernels that hide what is tested so.
fn tests_kernels(surfaces: HiddenSurfaces, tests: SampleTests, form: HidingForm) -> KernelList {
    let kernel = |pass| match tests.blurred {
        true => hide_blurred::kernel(blurred_variant(surfaces, pass, tests, form.division)),
        false => hide::kernel(variant(surfaces, pass, tests, form.division)),
    };
    let binned = is_binned(surfaces, tests, form.division);
    let own = HidePass::ALL.map(kernel).to_vec();
    if binned { [own, bin::kernels(form)].concat() } else { own }
}

/// The kernels that dice and hide at once primitives of a kind that are not displaced; none if they are not.
fn fused_kernels(surfaces: HiddenSurfaces, tests: SampleTests, form: HidingForm, kind: DicedKind) -> KernelList {
    if !is_fused(surfaces, tests, form.division) {
        return Vec::new();
    }
    vec![fuse::kernel(kind), hide::kernel(REST_FUSED)]
}
