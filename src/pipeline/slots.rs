//! Slots: the grids of a load that are not culled, a piece at a time, and the lists of their rows and micropolygons.

use super::buffers::{RegionSlices, StageMemory};
use super::kernels::{arm, cull};
use super::piece::Piece;
use super::portion::covering;
use super::recording::{Recording, Slice};
use super::slab::Slab;
use super::stage::LoadInput;
use super::variants::KernelList;

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
    StageMemory { frame, region }: StageMemory<'_>,
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

/// Appends the making of a load's slots.
pub(super) fn record_load(recording: &mut Recording, input: &LoadInput<'_>) {
    let slices = &input.region.slices;
    let pieces: Vec<Piece> = input.pieces.iter().map(|piece| piece.piece).collect();
    record_pieces(recording, slices, &pieces);
    let sorted = if input.shades { slices.sorted_shade } else { slices.sorted_hide };
    recording.unordered(|recording| {
        for piece in &pieces {
            let first = input.first + piece.slot_base;
            // What is shaded is seen.
            let source = SlotSource { sorted, first, cull: input.culls && !input.shades, slab: input.slab };
            record_cull(recording, input.memory(), piece, &source);
        }
    });
    record_arm(recording, slices, pieces.len());
}

/// The kernels that make slots, for all that is diced.
pub(super) fn kernels() -> KernelList {
    vec![cull::kernel(), arm::kernel()]
}
