//! Fuse: opaque grids are diced and hidden by one kernel, which keeps their vertices in shared memory (Piko's *fused*
//! pipelines).

use super::buffers::GeometrySources;
use super::hidden::DicedKind;
use super::kernels::dice_hide;
use super::piece::{Per, RegionPiece};
use super::recording::{Kernel, Recording};
use std::sync::Arc;

fn variant(DicedKind { kind, full }: DicedKind) -> dice_hide::Variant {
    dice_hide::Variant { kind, full }
}

/// Appends the dicing and hiding of a piece, apart from the rest pass.
pub(super) fn record_piece(recording: &mut Recording, of: &RegionPiece<'_>, kind: DicedKind) {
    let RegionPiece { region, sources: GeometrySources { frame, page }, piece } = of;
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = dice_hide::Bindings {
        frame_buffer: frame.frame,
        instances: frame.instances,
        primitives: page.primitives,
        data: page.data,
        grids: slices.grids.grids,
        slots: slices.slots,
        arena: slices.arena,
        pieces: slices.pieces,
        keys: slices.keys,
        dirty: slices.dirty,
        rest: slices.rest,
        blocks: slices.blocks,
    };
    let push = dice_hide::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: piece.base,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
    };
    recording.dispatch(dice_hide::dispatch(variant(kind), of.groups(Per::SlotRow), &bindings, &push));
}

/// The kernel that dices and hides primitives of a kind.
pub(super) fn kernel(kind: DicedKind) -> &'static Arc<Kernel> {
    dice_hide::kernel(variant(kind))
}
