//! Displace: the displacement program moves P and sets N.

use super::hidden::KeyframedPositions;
use super::kernels::{carry, displaced};
use super::look::Interpolation;
use super::piece::{Per, RegionPiece};
use super::program::{self, ProgramKind, ProgramPlaces, ProgramRun};
use super::recording::Recording;
use super::stage::{
    AssignBin, Bins, Execution, KernelDemand, LoadInput, LoadStage, LoadedPiece, Need, Process, Repeats,
    StageDescriptor,
};
use super::variants::KernelList;

/// See [`Process::Displace`].
pub(super) const DISPLACE: StageDescriptor = StageDescriptor {
    stage: "displace",
    needs: &[Need::always(Process::Dice)],
    stands_for: &[],
    bins: Bins::AnyLoads,
    repeats: Repeats::Free,
    only_with: None,
    kernels,
    run: Execution::Load(LoadStage {
        begins: false,
        program: Some(ProgramKind::Displacement),
        is_idle: |input| !input.pieces.iter().any(|piece| is_displaced(input, piece)),
        record: record_load,
    }),
    finding: None,
};

fn is_displaced(input: &LoadInput<'_>, piece: &LoadedPiece<'_>) -> bool {
    match input.shades {
        true => input.world.shade_sublists[piece.sublist].displace.is_some(),
        false => input.world.hide_sublists[piece.sublist].displace.is_some(),
    }
}

/// Appends the displacement of a load.
fn record_load(recording: &mut Recording, input: &LoadInput<'_>) {
    for piece in input.pieces {
        match input.shades {
            true => record_shaded(recording, input, piece),
            false => record_hidden(recording, input, piece),
        }
    }
}

/// Appends the displacement of a piece that is to be hidden or sampled.
fn record_hidden(recording: &mut Recording, input: &LoadInput<'_>, piece: &LoadedPiece<'_>) {
    let (sublist, Some(kernel), layout) = input.hidden(piece) else { return };
    let of = input.in_region(piece);
    if let Some(loops) = input.part.program() {
        let places = ProgramPlaces {
            input_base: layout.input,
            undisplaced_base: layout.input,
            output_base: layout.output,
            uniform_base: layout.uniform,
        };
        let loops = input.loop_run(&of.piece, sublist.displace, layout.state, loops);
        let (kind, primvars) = (ProgramKind::Displacement, sublist.displace_primvars);
        let run = ProgramRun { kind, kernel, primitives: sublist.kind, primvars, places, loops };
        program::record(recording, &of, &run);
    }
    if input.part.has_results() {
        let displaced = DisplacedPositions { from_base: layout.input, to_base: layout.output };
        record_measure(recording, &of, displaced);
        if sublist.keyframes > 1 {
            record_carry(recording, &of, displaced, layout.positions);
        }
    }
}

/// Appends the displacement of a piece that is to be shaded.
fn record_shaded(recording: &mut Recording, input: &LoadInput<'_>, piece: &LoadedPiece<'_>) {
    let (sublist, [Some(kernel), _], layout) = input.shaded(piece) else { return };
    let of = input.in_region(piece);
    let [input_base, output_base] = [layout.displace_input, layout.input];
    if let Some(loops) = input.part.program() {
        let uniform_base = layout.displace_uniform;
        let places = ProgramPlaces { input_base, undisplaced_base: input_base, output_base, uniform_base };
        let state = of.piece.base + layout.records;
        let loops = input.loop_run(&of.piece, sublist.displace, state, loops);
        let (kind, primvars) = (ProgramKind::Displacement, sublist.displace_primvars);
        let run = ProgramRun { kind, kernel, primitives: sublist.kind, primvars, places, loops };
        program::record(recording, &of, &run);
    }
    if input.part.has_results() && sublist.keyframe_channels() > 0 {
        let positions = KeyframedPositions { base: layout.keyframes, keyframes: sublist.keyframes, trimmed: false };
        let displaced = DisplacedPositions { from_base: input_base, to_base: output_base };
        record_carry(recording, &of, displaced, positions);
    }
}

/// Where the positions of a piece's vertices at shutter open are in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplacedPositions {
    /// The first record before displacement.
    pub from_base: u32,
    /// The first record after it.
    pub to_base: u32,
}

/// Appends the measuring of how far a piece's vertices were displaced.
pub fn record_measure(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    DisplacedPositions { from_base, to_base }: DisplacedPositions,
) {
    let RegionPiece { region, sources, piece } = of;
    let slices = &region.slices;
    let bindings = displaced::Bindings {
        slots: slices.slots,
        pieces: slices.pieces,
        arena: slices.arena,
        displaced_by: sources.frame.displaced_by,
    };
    let push = displaced::Push { slot_base: piece.slot_base, piece: piece.number, from_base, to_base };
    recording.dispatch(displaced::dispatch(of.groups(Per::Slot), &bindings, &push));
}

/// Appends the taking along of a piece's displacement at shutter open to the keyframes of its motion.
pub fn record_carry(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    DisplacedPositions { from_base, to_base }: DisplacedPositions,
    positions: KeyframedPositions,
) {
    let RegionPiece { region, sources, piece } = of;
    let slices = &region.slices;
    let bindings = carry::Bindings {
        slots: slices.slots,
        pieces: slices.pieces,
        motion: sources.frame.motion,
        arena: slices.arena,
    };
    let push = carry::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        from_base,
        to_base,
        keyframes_base: positions.base,
        keyframe_count: positions.keyframes,
        keyframe_stride: piece.vertices(),
    };
    recording.dispatch(carry::dispatch(of.groups(Per::Vertex), &bindings, &push));
}

/// The kernels that displace: what is hidden is measured, and what moves takes its displacement along.
fn kernels(demand: &KernelDemand<'_>) -> KernelList {
    let traits = demand.traits;
    if !traits.displaced {
        return Vec::new();
    }
    let measures = matches!(demand.stage.assign_bin, AssignBin::Depth(_));
    let keeps_keyframes = matches!(traits.interpolation, Interpolation::Blurred(_));
    let mut kernels = program::kernels(ProgramKind::Displacement, &traits.displacement_primvars);
    kernels.extend(measures.then(displaced::kernel));
    let carries = (measures || keeps_keyframes) && traits.kinds.iter().any(|kind| kind.moves);
    kernels.extend(carries.then(carry::kernel));
    kernels
}
