//! Loads: portions of sorted grids that fit the vertex arena at once. Pure arithmetic.
//!
//! Sorted grids lie in runs of equal key (bin and size class). A load is a contiguous part of that order: slots are made for all of it,
//! then each of its pieces is diced and what follows. Runs are cut wherever the arena or the slots are full; where they are cut cannot
//! show in the picture.

use crate::pipeline::buffers::PIECES_MAX;
use crate::pipeline::dice::Piece;
use crate::pipeline::select::{SIZE_CLASSES, slot_log2};

/// What one vertex and one slot of a bin cost in arena records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub vertex: u32,
    pub slot: u32,
}

/// Room for one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Records of the arena; at least what one slot of 256 vertices costs.
    pub records: u32,
    /// Slots.
    pub slots: u32,
}

/// A piece of a load, of one bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadPiece {
    pub bin: usize,
    pub piece: Piece,
}

/// A contiguous part of the sorted grids.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Load {
    /// First grid in sorted order.
    pub first: u32,
    /// Grids.
    pub count: u32,
    /// Its pieces.
    pub pieces: Vec<LoadPiece>,
    /// Vertices, empty ones included: a measure of work.
    pub vertices: u64,
}

/// Cuts the grids of some bins into loads. `counts` has one number for each size class of each bin of `bins`, in sorted order;
/// `first` is the first grid's place in that order.
pub(crate) fn plan(
    counts: &[u32],
    bins: std::ops::Range<usize>,
    first: u32,
    cost: impl Fn(usize) -> Cost,
    room: Room,
) -> Vec<Load> {
    let mut loads = Vec::new();
    let mut load = Load { first, ..Load::default() };
    let mut records = 0;
    for (bin, counts) in bins.zip(counts.chunks_exact(SIZE_CLASSES as usize)) {
        let cost = cost(bin);
        for (class, &count) in (0..).zip(counts) {
            let (slot_log2, mp_log2) = slot_log2(class);
            let each = (cost.vertex << slot_log2) + cost.slot;
            let mut left = count;
            while left > 0 {
                let fit = ((room.records - records) / each).min(room.slots - load.count);
                if fit == 0 || load.pieces.len() == PIECES_MAX as usize {
                    assert!(load.count > 0, "the arena holds a slot of any bin");
                    let next = load.first + load.count;
                    loads.push(std::mem::replace(&mut load, Load { first: next, ..Load::default() }));
                    records = 0;
                    continue;
                }
                let take = fit.min(left);
                let number = load.pieces.len() as u32;
                let piece =
                    Piece { number, slot_base: load.count, slot_log2, mp_log2, slot_count: take, base: records };
                load.pieces.push(LoadPiece { bin, piece });
                load.count += take;
                load.vertices += u64::from(take) << slot_log2;
                records += take * each;
                left -= take;
            }
        }
    }
    if load.count > 0 {
        loads.push(load);
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Cost = Cost { vertex: 1, slot: 0 };

    #[test]
    fn one_load_when_it_fits() {
        let room = Room { records: 1000, slots: 100 };
        let loads = plan(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 1], 2..3, 7, |_| UNIT, room);
        assert_eq!(loads.len(), 1);
        assert_eq!((loads[0].first, loads[0].count, loads[0].vertices), (7, 4, 48 + 256));
        let small = LoadPiece {
            bin: 2,
            piece: Piece { number: 0, slot_base: 0, slot_log2: 4, mp_log2: 3, slot_count: 3, base: 0 },
        };
        let large = LoadPiece {
            bin: 2,
            piece: Piece { number: 1, slot_base: 3, slot_log2: 8, mp_log2: 8, slot_count: 1, base: 48 },
        };
        assert_eq!(loads[0].pieces, [small, large]);
    }

    #[test]
    fn loads_cover_every_grid_once_whatever_the_room() {
        let counts: Vec<u32> = (0..40).map(|i| i * 7 % 11).collect();
        let total: u32 = counts.iter().sum();
        for records in [2000, 2560, 5000, 1 << 20] {
            for slots in [1, 3, 1000] {
                let cost = |bin: usize| Cost { vertex: bin as u32 % 3 + 1, slot: bin as u32 };
                let loads = plan(&counts, 0..4, 0, cost, Room { records, slots });
                let mut next = 0;
                for load in &loads {
                    assert_eq!(load.first, next);
                    assert!(load.count <= slots);
                    let in_pieces: u32 = load.pieces.iter().map(|p| p.piece.slot_count).sum();
                    assert_eq!(in_pieces, load.count);
                    let end = load.pieces.iter().map(|p| {
                        let each = (cost(p.bin).vertex << p.piece.slot_log2) + cost(p.bin).slot;
                        p.piece.base + p.piece.slot_count * each
                    });
                    assert!(end.max().is_some_and(|end| end <= records));
                    next += load.count;
                }
                assert_eq!(next, total);
            }
        }
    }
}
