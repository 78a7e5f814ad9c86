//! Shade: the colour programs run on grids of which some sample sees a micropolygon, or that are baked unseen; the
//! colours of what is seen are kept.

use super::buffers::{ActiveRegion, StageMemory};
use super::kernels::constants::{COVERAGE_WHOLE, OPACITY_NONE, VISIBLE_WORDS};
use super::kernels::{mark, mark_unseen, needed, pack};
use super::look::{Interpolation, ShadingKernel};
use super::piece::{Per, Piece};
use super::portion::{covering, portion};
use super::program::{self, ProgramKind, ProgramPlaces, ProgramRun};
use super::recording::Recording;
use super::scan::{self, PrefixSum};
use super::select::{self, SortOrder, record_sort};
use super::stage::{
    AssignBin, Bins, DepthBuckets, Execution, Feature, Finding, KernelDemand, LoadInput, LoadStage, LoadedPiece, Need,
    Process, RecordTask, Repeat, Repeats, StageDescriptor, Task, Units, When, Work, no_kernels,
};
use super::variants::{KernelList, KernelVariants};
use std::ops::Range;

/// What marking needs: slabs use the same marks and the same colour store before. Without them nothing translucent is
/// drawn.
const MARK_NEEDS: &[Need] =
    &[Need::always(Process::Hide), Need::when(When::With(Process::CompositeSlab), Process::CompositeSlab)];

/// See [`Process::Mark`].
pub(super) const MARK: StageDescriptor = StageDescriptor {
    stage: "shade",
    needs: MARK_NEEDS,
    stands_for: &[],
    bins: Bins::Items(AssignBin::Pixels),
    repeats: Repeats::Free,
    only_with: None,
    kernels: |_| vec![mark::kernel()],
    run: Execution::Task(Task {
        work: Work::Mark,
        units: |input| Units::Even(input.region.pixel_samples().into()),
        spread: None,
        record: RecordTask::Region(|recording, input, some| record_mark(recording, input.region, some)),
    }),
    finding: None,
};

/// See [`Process::MarkAll`].
pub(super) const MARK_ALL: StageDescriptor = StageDescriptor {
    stage: "shade",
    needs: MARK_NEEDS,
    stands_for: &[Process::Mark],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: None,
    kernels: no_kernels,
    run: Execution::Task(Task {
        work: Work::Fill,
        units: |_| Units::All(VISIBLE_WORDS.into()),
        spread: None,
        record: RecordTask::Region(|recording, input, _| record_mark_all(recording, input.region)),
    }),
    finding: None,
};

/// See [`Process::MarkUnseen`].
pub(super) const MARK_UNSEEN: StageDescriptor = StageDescriptor {
    stage: "shade",
    needs: &[Need::always(Process::Mark)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: Some(Feature::UnseenBakes),
    kernels: |_| vec![mark_unseen::kernel()],
    run: Execution::Task(Task {
        work: Work::Number,
        units: |input| Units::All(input.state.grids),
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            record_mark_unseen(recording, input.memory(), input.state.grids);
        }),
    }),
    finding: None,
};

/// See [`Process::NumberVisible`].
pub(super) const NUMBER_VISIBLE: StageDescriptor = StageDescriptor {
    stage: "shade",
    needs: &[
        Need::when(When::Repeated(Repeat::Slabs), Process::Sample),
        Need::when(When::Repeated(Repeat::Once), Process::Mark),
        Need::when(When::Repeated(Repeat::Rounds), Process::Mark),
    ],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| [vec![needed::kernel()], scan::kernels(demand.variants, scan::Summed::WORD)].concat(),
    run: Execution::Task(Task {
        work: Work::Number,
        units: |input| Units::All(input.state.grids),
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            record_places(recording, input.settings.variants, input.region, input.state.grids);
        }),
    }),
    finding: Some(Finding::Visible),
};

/// See [`Process::SortForShading`].
pub(super) const SORT_FOR_SHADING: StageDescriptor = StageDescriptor {
    stage: "shade",
    needs: &[Need::always(Process::NumberVisible)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::First(Repeat::Rounds),
    only_with: None,
    kernels: |demand| select::sort_kernels(demand.variants, select::BY_SHADING),
    run: Execution::Task(Task {
        work: Work::Sort,
        units: |input| Units::All(input.state.grids + input.region.capacity.sort_keys()),
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            let (selected, places) = (input.state.grids, input.state.places.clone());
            record_order(recording, input.settings.variants, input.memory(), selected, places);
        }),
    }),
    finding: None,
};

/// See [`Process::Shade`].
pub(super) const SHADE: StageDescriptor = StageDescriptor {
    stage: "shade",
    needs: &[Need::always(Process::Dice)],
    stands_for: &[],
    bins: Bins::Loads(AssignBin::Shading),
    repeats: Repeats::Inside,
    only_with: None,
    kernels,
    run: Execution::Load(LoadStage {
        begins: false,
        program: Some(ProgramKind::Colour),
        is_idle: |_| false,
        record: record_load,
    }),
    finding: None,
};

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
pub fn record_mark_unseen(recording: &mut Recording, memory: StageMemory<'_>, selected: u64) {
    let StageMemory { frame, region } = memory;
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

/// Appends the sorting of the grids that have colours in `places` by shading sublist and size class.
pub fn record_order(
    recording: &mut Recording,
    variants: KernelVariants,
    memory: StageMemory<'_>,
    selected: u64,
    places: Range<u32>,
) {
    let order = SortOrder { depth: DepthBuckets { base: 0, shift: 0 }, places, selected_max: selected };
    record_sort(recording, variants, memory, &order, select::BY_SHADING);
}

/// The colours of a piece that are to be kept.
#[derive(Clone, Debug)]
pub struct PieceColours<'a> {
    /// The colour program; `None` for matte grids, which leave nothing.
    pub kernel: Option<&'a ShadingKernel>,
    /// First record of the positions: at shutter open, or at the first keyframe.
    pub position_base: u32,
    /// Keyframes at which positions are there, see [`ShadeSublist::keyframes`](super::look::ShadeSublist::keyframes).
    pub position_keyframes: u32,
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
    StageMemory { frame, region }: StageMemory<'_>,
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
        position_keyframes: colours.position_keyframes,
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

/// Appends the shading of a load.
fn record_load(recording: &mut Recording, input: &LoadInput<'_>) {
    for piece in input.pieces {
        record_colours(recording, input, piece);
        if input.part.has_results() {
            record_results(recording, input, piece);
        }
    }
}

/// Appends the colour program of a piece.
fn record_colours(recording: &mut Recording, input: &LoadInput<'_>, piece: &LoadedPiece<'_>) {
    let ((sublist, [_, Some(kernel)], layout), Some(loops)) = (input.shaded(piece), input.part.program()) else {
        return;
    };
    let (of, vertices) = (input.in_region(piece), piece.piece.vertices());
    let displacement = input.programs.state_channels(sublist.displace) * vertices;
    let state = of.piece.base + layout.records + displacement;
    let loops = input.loop_run(&of.piece, sublist.shade, state, loops);
    let places = ProgramPlaces {
        input_base: layout.input,
        undisplaced_base: if sublist.displace.is_some() { layout.displace_input } else { layout.input },
        output_base: layout.output,
        uniform_base: layout.uniform,
    };
    let (kind, primvars) = (ProgramKind::Colour, sublist.shade_primvars);
    let run = ProgramRun { kind, kernel, primitives: sublist.kind, primvars, places, loops };
    program::record(recording, &of, &run);
}

/// Appends the keeping of the visible colours that a piece's program has left.
fn record_results(recording: &mut Recording, input: &LoadInput<'_>, piece: &LoadedPiece<'_>) {
    let (sublist, [_, kernel], layout) = input.shaded(piece);
    let position_base = if sublist.keyframes > 1 { layout.keyframes } else { layout.input };
    let colours = PieceColours {
        kernel,
        position_base,
        position_keyframes: sublist.keyframes,
        output_base: layout.output,
        coverage_base: layout.coverage,
        places: input.places.clone(),
    };
    record_pack(recording, input.memory(), &piece.piece, &colours);
}

/// The kernels that shade and keep colours.
fn kernels(demand: &KernelDemand<'_>) -> KernelList {
    let traits = demand.traits;
    let mut kernels = Vec::new();
    if traits.coloured {
        kernels = program::kernels(ProgramKind::Colour, &traits.colour_primvars);
    }
    kernels.push(pack::kernel(pack_variant(traits.interpolation)));
    kernels
}
