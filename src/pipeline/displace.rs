//! Displace: the displacement program moves P and sets N.

use super::buffers::{FrameSlices, RegionSlices};
use super::hidden::KeyframedPositions;
use super::kernels::{carry, displaced};
use super::look::Interpolation;
use super::piece::{Per, Piece};
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
    stands_for: None,
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
    let (slices, of) = (&input.region.slices, &piece.piece);
    if let Some(loops) = input.part.program() {
        let places = ProgramPlaces {
            input_base: layout.input,
            undisplaced_base: layout.input,
            output_base: layout.output,
            uniform_base: layout.uniform,
        };
        let loops = input.programs.loop_run(sublist.displace, layout.state, of.vertices(), loops);
        let (kind, primvars) = (ProgramKind::Displacement, sublist.displace_primvars);
        let run = ProgramRun { kind, kernel, primitives: sublist.kind, primvars, places, loops };
        program::record(recording, piece.sources, slices, of, &run);
    }
    if input.part.has_results() {
        record_measure(recording, input.frame, slices, of, layout.input, layout.output);
        if sublist.keyframes > 1 {
            record_carry(recording, input.frame, slices, of, [layout.input, layout.output], layout.positions);
        }
    }
}

/// Appends the displacement of a piece that is to be shaded.
fn record_shaded(recording: &mut Recording, input: &LoadInput<'_>, piece: &LoadedPiece<'_>) {
    let (sublist, [Some(kernel), _], layout) = input.shaded(piece) else { return };
    let (slices, of) = (&input.region.slices, &piece.piece);
    let [input_base, output_base] = [layout.displace_input, layout.input];
    if let Some(loops) = input.part.program() {
        let uniform_base = layout.displace_uniform;
        let places = ProgramPlaces { input_base, undisplaced_base: input_base, output_base, uniform_base };
        let loops = input.programs.loop_run(sublist.displace, of.base + layout.records, of.vertices(), loops);
        let (kind, primvars) = (ProgramKind::Displacement, sublist.displace_primvars);
        let run = ProgramRun { kind, kernel, primitives: sublist.kind, primvars, places, loops };
        program::record(recording, piece.sources, slices, of, &run);
    }
    if input.part.has_results() && sublist.keyframe_channels() > 0 {
        let positions = KeyframedPositions { base: layout.keyframes, keyframes: sublist.keyframes, trimmed: false };
        record_carry(recording, input.frame, slices, of, [input_base, output_base], positions);
    }
}

/// Appends the measuring of how far a piece's vertices were moved, from `from_base` to `to_base` in the arena.
pub fn record_measure(
    recording: &mut Recording,
    frame: &FrameSlices,
    slices: &RegionSlices,
    piece: &Piece,
    from_base: u32,
    to_base: u32,
) {
    let bindings = displaced::Bindings {
        slots: slices.slots,
        pieces: slices.pieces,
        arena: slices.arena,
        displaced_by: frame.displaced_by,
    };
    let push = displaced::Push { slot_base: piece.slot_base, piece: piece.number, from_base, to_base };
    recording.dispatch(displaced::dispatch(piece.groups(slices, Per::Slot), &bindings, &push));
}

/// Appends the taking along of a piece's displacement, from `from_base` to `to_base` at shutter open, to the keyframes
/// of its motion.
pub fn record_carry(
    recording: &mut Recording,
    frame: &FrameSlices,
    slices: &RegionSlices,
    piece: &Piece,
    [from_base, to_base]: [u32; 2],
    positions: KeyframedPositions,
) {
    let bindings =
        carry::Bindings { slots: slices.slots, pieces: slices.pieces, motion: frame.motion, arena: slices.arena };
    let push = carry::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        from_base,
        to_base,
        keyframes_base: positions.base,
        keyframe_count: positions.keyframes,
        keyframe_stride: piece.vertices(),
    };
    recording.dispatch(carry::dispatch(piece.groups(slices, Per::Vertex), &bindings, &push));
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
