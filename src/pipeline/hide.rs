//! Hide: opaque grids, nearest first, lower the depth keys of the samples they cover; what lies behind is dropped undiced.

use super::buffers::{FrameSlices, RegionSlices};
use super::covering;
use super::dice::{Per, Piece};
use super::kernels::constants::KEY_EMPTY;
use super::kernels::records::{Culled, Rest};
use super::kernels::{arm, block, cull, hide};
use super::recording::{Recording, Slice};
use super::sample::Slab;
use super::select::RegionPixels;

/// Appends the start of hiding: empty samples, nothing hidden.
pub fn record_clear(recording: &mut Recording, slices: &RegionSlices, (region, pixel_samples): (&RegionPixels, u32)) {
    recording.concurrent(|recording| {
        let subpixels = region.count() * u64::from(pixel_samples);
        recording.fill(slices.keys.part(0..subpixels), KEY_EMPTY);
        recording.fill(slices.blocks.part(0..region.blocks()), KEY_EMPTY);
        recording.fill(slices.dirty.part(0..region.blocks()), 0);
        recording.write(slices.culled, &[Culled { culled_grids: 0, culled_micropolygons: 0 }]);
        recording.fill(slices.status, 0);
        recording.write(slices.rest, &[rest_start()]);
    });
}

/// The rest pass runs nothing unless a kernel arms it, with as many parts along z as the largest micropolygon has.
pub(super) fn rest_start() -> Rest {
    Rest { rest_groups_x: 0, rest_groups_y: 1, rest_groups_z: 1, rest_lost: 0 }
}

/// Appends the rest pass's return to that.
pub(super) fn record_disarm(recording: &mut Recording, slices: &RegionSlices) {
    recording.write(slices.rest.cast::<[u32; 3]>().part(0..1), &[[0, 1, 1]]);
}

/// Appends the making of a piece's slots from the grids of an order from `first` on; those outside the slab get none, nor hidden ones unless
/// `enabled` is off.
pub fn record_cull(
    recording: &mut Recording,
    frame: &FrameSlices,
    slices: &RegionSlices,
    region: &RegionPixels,
    (sorted, first, piece): (Slice<u32>, u32, &Piece),
    (enabled, slab): (bool, Slab),
) {
    let [region_width, region_height] = region.size();
    let bindings = cull::Bindings {
        sorted,
        grids: slices.grids.grids,
        grid_bounds: slices.grids.bounds,
        instances: frame.instances,
        blocks: slices.blocks,
        slots: slices.slots,
        culled: slices.culled,
        pieces: slices.pieces,
    };
    let push = cull::Push {
        first,
        count: piece.slot_count,
        slot_base: piece.slot_base,
        piece: piece.number,
        region_x: region.sampled[0],
        region_y: region.sampled[1],
        region_width,
        region_height,
        enabled: u32::from(enabled),
        slab_low_z: (slab.low >> 32) as u32,
        slab_high_z: (slab.high >> 32) as u32,
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

/// Appends the hiding of a piece whose positions begin at record `vertex_base`.
pub fn record_piece(
    recording: &mut Recording,
    frame: &FrameSlices,
    slices: &RegionSlices,
    region: &RegionPixels,
    (piece, vertex_base): (&Piece, u32),
) {
    let [region_width, region_height] = region.size();
    let bindings = hide::Bindings {
        frame_buffer: frame.frame,
        slots: slices.slots,
        arena: slices.arena,
        keys: slices.keys,
        dirty: slices.dirty,
        rest: slices.rest,
        pieces: slices.pieces,
        clip_planes: frame.clip_planes,
    };
    let push = hide::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base,
        region_x: region.sampled[0],
        region_y: region.sampled[1],
        region_width,
        region_height,
    };
    let groups = piece.groups(slices, Per::Micropolygon);
    let (first, rest) = match frame.clip_planes.is_empty() {
        true => (hide::Variant::First, hide::Variant::Rest),
        false => (hide::Variant::FirstClipped, hide::Variant::RestClipped),
    };
    recording.dispatch(hide::dispatch(first, groups, &bindings, &push));
    // Armed only by micropolygons of thousands of samples; costs next to nothing otherwise.
    recording.dispatch(hide::dispatch(rest, slices.rest.cast::<[u32; 3]>().part(0..1), &bindings, &push));
    record_disarm(recording, slices);
}

/// Appends the renewal of the farthest depth of the blocks that hiding changed.
pub fn record_blocks(recording: &mut Recording, slices: &RegionSlices, region: &RegionPixels, pixel_samples: u32) {
    let [region_width, region_height] = region.size();
    let bindings = block::Bindings { keys: slices.keys, dirty: slices.dirty, blocks: slices.blocks };
    let push = block::Push { region_width, region_height, pixel_samples };
    recording.dispatch(block::dispatch(covering(region.blocks(), block::LOCAL_SIZE), &bindings, &push));
}
