//! Dice: grids become vertices. Each primitive kind has one kernel, the only code that computes P.

use super::buffers::{FrameSlices, GridSlices, PageSlices, RegionSlices, Vec4};
use super::covering;
use super::geometry::Kind;
use super::kernels::dice;
use super::recording::{Recording, Slice};

/// Invocations a slot: one a row of vertices.
const ROWS: u64 = 16;

/// Geometry channel (P, u).
pub const POSITION: u32 = 1;
/// Geometry channel (N, v).
pub const NORMAL: u32 = 2;
/// Geometry channels (dPdu, s) and (dPdv, t).
pub const TANGENTS: u32 = 4 | 8;

/// Slots of one size, and where their vertices stand in the arena. Channel `c` of the piece begins at record
/// `base + c * vertices()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First slot.
    pub slot_base: u32,
    /// log2 of the vertices of a slot.
    pub slot_log2: u32,
    /// Slots.
    pub slot_count: u32,
    /// First record in the arena.
    pub base: u32,
}

impl Piece {
    /// Vertices, empty ones included: the distance between channels.
    pub fn vertices(&self) -> u32 {
        self.slot_count << self.slot_log2
    }
}

fn variant(kind: Kind) -> dice::Variant {
    match kind {
        Kind::Quadric => dice::Variant::Quadric,
        Kind::Facet => dice::Variant::Facet,
        Kind::Patch => dice::Variant::Patch,
        Kind::Curve => dice::Variant::Curve,
        Kind::Point => dice::Variant::Point,
    }
}

/// Appends the dicing of a piece: the channels of `channels` go to `base` in the arena.
pub fn record(
    recording: &mut Recording,
    (frame, grids, page): (&FrameSlices, GridSlices, PageSlices),
    slices: &RegionSlices,
    kind: Kind,
    piece: &Piece,
    (base, channels): (u32, u32),
) {
    let arena: Slice<Vec4> = slices.arena;
    let bindings = dice::Bindings {
        frame_buffer: frame.frame,
        instances: frame.instances,
        primitives: page.primitives,
        data: page.data,
        grids: grids.grids,
        slots: slices.slots,
        arena,
    };
    let push = dice::Push {
        slot_base: piece.slot_base,
        slot_log2: piece.slot_log2,
        slot_count: piece.slot_count,
        vertex_base: base,
        channel_stride: piece.vertices(),
        channels,
    };
    let groups = covering(u64::from(piece.slot_count) * ROWS, [64, 1, 1]);
    recording.dispatch(dice::dispatch(variant(kind), groups, &bindings, &push));
}
