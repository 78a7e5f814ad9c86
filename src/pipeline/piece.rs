//! Pieces of a load: slots of one size, and what of the arena is theirs; and what kernels that go through them are
//! given.

use super::buffers::{ActiveRegion, GeometrySources, RegionSlices};
use super::kernels::constants::{GRID_ROWS_LOG2, SLOT_LOG2_MIN};
use super::kernels::records::{PairList, Piece as PieceState};
use super::recording::{BufferRange, DispatchExtent, Groups};
use std::mem::offset_of;

/// log2 of the vertices of a slot, by size class.
pub fn slot_log2(class: u32) -> u32 {
    SLOT_LOG2_MIN + class
}

/// Micropolygons that slots are expected to have: half as many as vertices. They are a third in hair, and 0.6 in broad
/// grids (bench/results/2026-11-lists.md).
pub fn micropolygons_expected(slots: u32, slot_log2: u32) -> u64 {
    u64::from(slots) << (slot_log2 - 1)
}

/// Words of a record of the arena.
const WORDS: u32 = 4;

/// Slots of one size, and where their vertices are in the arena. Channel `c` of the piece begins at record
/// `base + c * vertices()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its number in the load, and the index of its state in [`RegionSlices::pieces`].
    pub number: u32,
    /// First slot.
    pub slot_base: u32,
    /// log2 of the vertices of a slot.
    pub slot_log2: u32,
    /// Slots, before culling.
    pub slot_count: u32,
    /// First record in the arena.
    pub base: u32,
    /// First record in the arena of the list of its rows, then of its micropolygons: [`ListRecords`] for each slot.
    pub lists: u32,
}

/// Records of the lists that a slot needs at most: a word for two rows or micropolygons (glsl/lib/grid/pairs.glsl).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRecords {
    /// Of rows.
    pub rows: u32,
    /// Of micropolygons.
    pub micropolygons: u32,
}

impl ListRecords {
    /// Returns those of a slot of 2^`slot_log2` vertices: a row has two or more.
    pub const fn of(slot_log2: u32) -> Self {
        const PAIRS: u32 = 2 * WORDS;
        let vertices = 1_u32 << slot_log2;
        let rows = if vertices / 2 < 1 << GRID_ROWS_LOG2 { vertices / 2 } else { 1 << GRID_ROWS_LOG2 };
        Self { rows: rows.div_ceil(PAIRS), micropolygons: vertices.div_ceil(PAIRS) }
    }

    /// All of them.
    pub const fn all(self) -> u32 {
        self.rows + self.micropolygons
    }
}

/// What a kernel's workgroups go through (glsl/lib/grid/piece.glsl).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// `GROUP_SLOTS` slots.
    Slot,
    /// `GROUP_ROWS` rows of vertices, as they are listed.
    Row,
    /// `GROUP_ROWS` rows of slots, empty ones included.
    SlotRow,
    /// `GROUP_VERTICES` vertices.
    Vertex,
    /// `GROUP_MICROPOLYGONS` micropolygons, as they are listed.
    Micropolygon,
}

impl Piece {
    /// Workgroups for the slots that are left after culling.
    pub fn groups(&self, slices: &RegionSlices, per: Per) -> DispatchExtent {
        let piece = slices.pieces.part(u64::from(self.number)..u64::from(self.number) + 1).range();
        let offset = match per {
            Per::Slot => offset_of!(PieceState, slot_groups),
            Per::Row => offset_of!(PieceState, row_groups),
            Per::SlotRow => offset_of!(PieceState, slot_row_groups),
            Per::Vertex => offset_of!(PieceState, vertex_groups),
            Per::Micropolygon => offset_of!(PieceState, mp_groups),
        };
        let groups = Groups::Indirect(BufferRange { offset: piece.offset + offset as u64, bytes: 12, ..piece });
        DispatchExtent::of(groups, self.slot_count.into(), "grids")
    }

    /// Its state before culling.
    pub fn state(&self) -> PieceState {
        let none = [0; 3];
        let rows = WORDS * self.lists;
        let mps = rows + WORDS * self.slot_count * ListRecords::of(self.slot_log2).rows;
        PieceState {
            count: 0,
            slot_log2: self.slot_log2,
            rows: PairList { pairs: 0, first: rows },
            mps: PairList { pairs: 0, first: mps },
            slot_groups: none,
            row_groups: none,
            slot_row_groups: none,
            vertex_groups: none,
            mp_groups: none,
        }
    }

    /// Vertices, empty ones included: the distance between channels.
    pub fn vertices(&self) -> u32 {
        self.slot_count << self.slot_log2
    }
}

/// A piece of a region's load, and what kernels that go through it read and write.
#[derive(Clone, Copy, Debug)]
pub struct RegionPiece<'a> {
    /// The region.
    pub region: &'a ActiveRegion,
    /// What the piece's primitives are evaluated from.
    pub sources: GeometrySources<'a>,
    /// Its slots.
    pub piece: Piece,
}

impl RegionPiece<'_> {
    /// Workgroups for the slots that are left after culling.
    pub fn groups(&self, per: Per) -> DispatchExtent {
        self.piece.groups(&self.region.slices, per)
    }
}
