//! Dice: grids become vertices. Each primitive kind has a kernel; P is computed in glsl/lib/grid/grid_row.glsl alone.

use super::bound_split::KindMotion;
use super::buffers::{GeometrySources, Vec4};
use super::hidden::DicedKind;
use super::hide;
use super::kernels::constants::{CHANNEL_COVERAGE, CHANNEL_DPDU, CHANNEL_DPDV, CHANNEL_PARAMETERS, CHANNEL_POSITION};
use super::kernels::dice;
use super::look::{Interpolation, ShadingKernel};
use super::piece::{Per, Piece, RegionPiece};
use super::recording::{Recording, Slice};
use super::slots;
use super::stage::{Bins, Execution, LoadInput, LoadStage, LoadedPiece, Need, Process, Repeats, StageDescriptor, When};
use super::variants::KernelList;

/// See [`Process::Dice`].
pub(super) const DICE: StageDescriptor = StageDescriptor {
    stage: "dice",
    needs: &[
        Need::when(When::ByDepth, Process::SortForHiding),
        Need::when(When::ByDepthTranslucent, Process::Hide),
        Need::when(When::ByDepthTranslucent, Process::ClearEntries),
        Need::when(When::ByShading, Process::SortForShading),
    ],
    stands_for: &[],
    bins: Bins::AnyLoads,
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| [slots::kernels(), kernels(demand.traits.kinds.iter().copied())].concat(),
    run: Execution::Load(LoadStage { begins: true, program: None, is_idle: |_| false, record: record_load }),
    finding: None,
};

/// Geometry channels (dPdu, s) and (dPdv, t).
pub const CHANNEL_TANGENTS: u32 = CHANNEL_DPDU | CHANNEL_DPDV;

/// What is diced of a piece, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiceOutput {
    /// First record in the arena.
    pub base: u32,
    /// Channels, one behind the other.
    pub channels: u32,
    /// The keyframe of its motion at which it is diced; `None` at shutter open.
    pub keyframe: Option<u32>,
}

/// Appends the dicing of a piece, of primitives of a kind.
pub fn record(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    DicedKind { kind, full }: DicedKind,
    output: DiceOutput,
) {
    let RegionPiece { region, sources: GeometrySources { frame, page }, piece } = of;
    let slices = &region.slices;
    let arena: Slice<Vec4> = slices.arena;
    let bindings = dice::Bindings {
        frame_buffer: frame.frame,
        instances: frame.instances,
        primitives: page.primitives,
        data: page.data,
        grids: slices.grids.grids,
        slots: slices.slots,
        arena,
        pieces: slices.pieces,
        motion: frame.motion,
        lists: arena.cast(),
    };
    let push = dice::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: output.base,
        channel_stride: piece.vertices(),
        channels: output.channels,
        keyframe: output.keyframe.unwrap_or(0),
    };
    let variant = dice::Variant { kind, full, moving: output.keyframe.is_some() };
    recording.dispatch(dice::dispatch(variant, of.groups(Per::Row), &bindings, &push));
}

/// Appends the making of a load's slots and the dicing of their grids.
fn record_load(recording: &mut Recording, input: &LoadInput<'_>) {
    slots::record_load(recording, input);
    recording.unordered(|recording| {
        for piece in input.pieces {
            if input.shades {
                record_shaded(recording, input, piece);
            } else if !hide::dices_itself(input, piece) {
                record_hidden(recording, input, piece);
            }
        }
    });
}

/// Where a program whose input channels begin at `input` expects P at the motion's second keyframe, if it reads
/// dPdtime.
fn next_position(kernel: Option<&ShadingKernel>, piece: &Piece, input: u32) -> Option<u32> {
    Some(input + (kernel?.velocity_channel? + 1) * piece.vertices())
}

/// Appends the dicing of a piece that is to be hidden or sampled.
fn record_hidden(recording: &mut Recording, input: &LoadInput<'_>, piece: &LoadedPiece<'_>) {
    let (sublist, displace, layout) = input.hidden(piece);
    let (of, kind) = (input.in_region(piece), DicedKind::of(sublist.kind, input.world.full));
    let mut record = |base: u32, channels: u32, keyframe: Option<u32>| {
        record(recording, &of, kind, DiceOutput { base, channels, keyframe });
    };
    if let Some(kernel) = displace {
        record(layout.input, kernel.geometry_channels | CHANNEL_PARAMETERS, None);
    } else if sublist.keyframes == 1 {
        record(layout.input, CHANNEL_POSITION, None);
    }
    if sublist.keyframes > 1 {
        if let Some(base) = next_position(displace, &piece.piece, layout.input) {
            record(base, CHANNEL_POSITION, Some(1));
        }
        let base = layout.positions.base;
        (0..sublist.keyframes)
            .for_each(|keyframe| record(base + keyframe * piece.piece.vertices(), CHANNEL_POSITION, Some(keyframe)));
    }
}

/// Appends the dicing of a piece that is to be shaded.
fn record_shaded(recording: &mut Recording, input: &LoadInput<'_>, piece: &LoadedPiece<'_>) {
    let (sublist, [displace, shade], layout) = input.shaded(piece);
    let (of, kind) = (input.in_region(piece), DicedKind::of(sublist.kind, input.world.full));
    let mut record = |base: u32, channels: u32, keyframe: Option<u32>| {
        record(recording, &of, kind, DiceOutput { base, channels, keyframe });
    };
    if let Some(base) = layout.coverage {
        record(base, CHANNEL_COVERAGE, None);
    }
    for keyframe in 0..sublist.keyframe_channels() {
        record(layout.keyframes + keyframe * piece.piece.vertices(), CHANNEL_POSITION, Some(keyframe));
    }
    let mut record_at = |base: u32, channels: u32, keyframe: Option<u32>| {
        if channels != 0 {
            record(base, channels | CHANNEL_PARAMETERS, keyframe);
        }
    };
    for (kernel, base) in [(displace, layout.displace_input), (shade, layout.input)] {
        if let Some(base) = next_position(kernel, &piece.piece, base).filter(|_| input.world.moves(sublist.kind)) {
            record_at(base, CHANNEL_POSITION, Some(1));
        }
    }
    // Interpolated colours need the vertices' positions, unless they have those at keyframes.
    let needs_positions = input.world.interpolation == Interpolation::Smooth || sublist.keyframes == 1;
    let positions = if needs_positions { CHANNEL_POSITION } else { 0 };
    let wanted = shade.map_or(0, |kernel| kernel.geometry_channels | positions);
    match displace {
        None => record_at(layout.input, wanted, None),
        Some(displace) => {
            record_at(layout.displace_input, displace.geometry_channels, None);
            // P and N come from the displacement program.
            record_at(layout.input, wanted & CHANNEL_TANGENTS, None);
        }
    }
}

/// The kernels that dice primitives of some kinds, at shutter open and, where they move, at other times.
fn kernels(kinds: impl IntoIterator<Item = KindMotion>) -> KernelList {
    let of_kind = |KindMotion { kind, moves, full, .. }| {
        let kernel = |moving| dice::kernel(dice::Variant { kind, full, moving });
        [Some(kernel(false)), moves.then(|| kernel(true))].into_iter().flatten()
    };
    kinds.into_iter().flat_map(of_kind).collect()
}
