//! Loads: portions of sorted grids that fit the vertex arena at once. Pure arithmetic.
//!
//! Sorted grids form runs of equal sort key (sublist and size class). A load is a contiguous part of that order: slots
//! are made for all of it, then its pieces go through dicing and the stages after it. Runs are cut wherever the arena
//! or the slots are full, and where more pages would be needed than the device holds at once; the cuts do not show in
//! the picture.

use crate::pipeline::buffers::PIECES_MAX;
use crate::pipeline::kernels::constants::SIZE_CLASSES;
use crate::pipeline::piece::{ListRecords, Piece, slot_log2};
use crate::pipeline::stage::LoopKind;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// What the grids of a sublist need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SublistCost {
    /// Arena records of a vertex.
    pub vertex: u32,
    /// Arena records of a slot, besides its lists.
    pub slot: u32,
    /// The page that must be resident.
    pub page: usize,
    /// What is known of the loops of its programs.
    pub loops: LoopKind,
}

/// What one load may take up at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadLimits {
    /// Records of the arena; at least what one slot of 256 vertices costs.
    pub records: u32,
    /// Slots.
    pub slots: u32,
    /// Vertices, by the kind of loops; one slot in any case.
    pub vertices: [u64; 3],
    /// Vertices of the first load; one slot in any case.
    pub first_vertices: u64,
    /// Pages that can be resident at once.
    pub pages: usize,
}

/// A piece of a load, of one sublist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadPiece {
    pub sublist: usize,
    pub page: usize,
    /// What it was planned by.
    pub cost: SublistCost,
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
    /// The pages that they need.
    pub pages: FxHashSet<usize>,
    /// Vertices, empty ones included: a measure of work.
    pub vertices: u64,
    /// What is known of the loops of its programs.
    pub loops: LoopKind,
}

/// Grids of one sublist and size that follow each other in sorted order.
#[derive(Clone, Copy, Debug)]
struct Run {
    sublist: usize,
    slot_log2: u32,
    count: u32,
}

/// Loads, some of which are recorded already.
pub(crate) struct Loads {
    pub loads: Vec<Load>,
    /// Loads after which a depth batch ends.
    pub batch_ends: Vec<usize>,
    /// The first that is not recorded yet.
    pub next: usize,
    pages_max: usize,
}

impl Loads {
    /// Loads of which those of one submission need at most `pages_max` pages.
    pub(crate) fn new(loads: Vec<Load>, pages_max: usize) -> Self {
        Self { loads, batch_ends: Vec::new(), next: 0, pages_max }
    }

    pub(crate) fn done(&self) -> bool {
        self.next >= self.loads.len()
    }

    /// The fraction of the grids that was taken, from 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        self.fraction_of(0..self.next)
    }

    /// The fraction of the grids that some loads have.
    pub(crate) fn fraction_of(&self, some: Range<usize>) -> f64 {
        let grids = |loads: &[Load]| loads.iter().map(|load| f64::from(load.count)).sum::<f64>();
        grids(self.loads.get(some).unwrap_or_default()) / grids(&self.loads).max(1.0)
    }

    /// The loads of the next submission: up to about `vertices` of work, all with the same kind of loops, and no more
    /// pages than can be resident at once, because a page that is uploaded replaces another before the submission
    /// begins. At least one load.
    pub(crate) fn take(&mut self, vertices: u64) -> Range<usize> {
        let start = self.next;
        let mut sum = 0;
        let mut pages = FxHashSet::default();
        while let Some(load) = self.loads.get(self.next) {
            sum += load.vertices;
            pages.extend(load.pages.iter().copied());
            let full = sum > vertices || pages.len() > self.pages_max || load.loops != self.loads[start].loops;
            if self.next > start && full {
                break;
            }
            self.next += 1;
        }
        start..self.next
    }

    /// Plans the grids of a load again, by what is now known of their programs and of the device's speed.
    pub(crate) fn replan(&mut self, index: usize, cost: impl Fn(usize) -> SublistCost, limits: LoadLimits) {
        let load = &self.loads[index];
        let runs = load.pieces.iter().map(|&LoadPiece { sublist, piece, .. }| Run {
            sublist,
            slot_log2: piece.slot_log2,
            count: piece.slot_count,
        });
        let parts = plan_runs(runs, load.first, cost, limits);
        let more = parts.len() - 1;
        self.loads.splice(index..=index, parts);
        for end in self.batch_ends.iter_mut().filter(|end| **end >= index) {
            *end += more;
        }
    }
}

/// Cuts the grids of some sublists into loads. `counts` has one number for each size class of each sublist of
/// `sublists`, in sorted order; `first` is the first grid's place in that order.
pub(crate) fn plan(
    counts: &[u32],
    sublists: Range<usize>,
    first: u32,
    cost: impl Fn(usize) -> SublistCost,
    limits: LoadLimits,
) -> Vec<Load> {
    let sizes = sublists.zip(counts.chunks_exact(SIZE_CLASSES as usize));
    let runs = sizes.flat_map(|(sublist, counts)| {
        (0..).zip(counts).map(move |(class, &count)| Run { sublist, slot_log2: slot_log2(class), count })
    });
    plan_runs(runs, first, cost, limits)
}

fn plan_runs(
    runs: impl Iterator<Item = Run>,
    first: u32,
    cost: impl Fn(usize) -> SublistCost,
    limits: LoadLimits,
) -> Vec<Load> {
    let mut loads = Vec::new();
    let mut load = Load { first, ..Load::default() };
    let mut records = 0;
    for Run { sublist, slot_log2, count } in runs {
        let cost = cost(sublist);
        let listed = ListRecords::of(slot_log2).all();
        let each = (cost.vertex << slot_log2) + cost.slot + listed;
        let mut left = count;
        while left > 0 {
            let slots_left = limits.slots - load.count;
            let first = if loads.is_empty() { limits.first_vertices } else { u64::MAX };
            let vertices = limits.vertices[cost.loops.max(load.loops) as usize].min(first);
            let vertices_left = vertices.saturating_sub(load.vertices) >> slot_log2;
            let time = vertices_left.max(u64::from(load.count == 0)).min(u64::from(slots_left)) as u32;
            let fit = ((limits.records - records) / each).min(time);
            let paged = load.pages.contains(&cost.page) || load.pages.len() < limits.pages;
            let alone = load.count > 0 && cost.loops.max(load.loops) == LoopKind::Long;
            if fit == 0 || !paged || alone || load.pieces.len() == PIECES_MAX as usize {
                assert!(load.count > 0, "the arena holds a slot of any sublist, and the device its page");
                let next = load.first + load.count;
                loads.push(std::mem::replace(&mut load, Load { first: next, ..Load::default() }));
                records = 0;
                continue;
            }
            let take = fit.min(left);
            let number = load.pieces.len() as u32;
            let (lists, base) = (records, records + take * listed);
            let piece = Piece { number, slot_base: load.count, slot_log2, slot_count: take, base, lists };
            load.pieces.push(LoadPiece { sublist, page: cost.page, cost, piece });
            load.pages.insert(cost.page);
            load.loops = load.loops.max(cost.loops);
            load.count += take;
            load.vertices += u64::from(take) << slot_log2;
            records += take * each;
            left -= take;
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

    const UNIT: SublistCost = SublistCost { vertex: 1, slot: 0, page: 3, loops: LoopKind::Short };
    const ROOM: LoadLimits =
        LoadLimits { records: 1 << 20, slots: 1000, vertices: [u64::MAX; 3], first_vertices: u64::MAX, pages: 1 };

    #[test]
    fn one_load_when_it_fits() {
        let room = LoadLimits { records: 1000, slots: 100, ..ROOM };
        let loads = plan(&[0, 0, 3, 0, 0, 0, 1], 2..3, 7, |_| UNIT, room);
        assert_eq!(loads.len(), 1);
        assert_eq!((loads[0].first, loads[0].count, loads[0].vertices), (7, 4, 48 + 256));
        let small = LoadPiece {
            sublist: 2,
            page: 3,
            cost: UNIT,
            piece: Piece { number: 0, slot_base: 0, slot_log2: 4, slot_count: 3, lists: 0, base: 9 },
        };
        let large = LoadPiece {
            sublist: 2,
            page: 3,
            cost: UNIT,
            piece: Piece { number: 1, slot_base: 3, slot_log2: 8, slot_count: 1, lists: 57, base: 91 },
        };
        assert_eq!(loads[0].pieces, [small, large]);
    }

    #[test]
    fn loads_cover_every_grid_once_whatever_the_room() {
        let counts: Vec<u32> = (0..4 * SIZE_CLASSES).map(|i| i * 7 % 11).collect();
        let total: u32 = counts.iter().sum();
        for records in [2000, 2560, 5000, 1 << 20] {
            for (slots, vertices) in [(1, u64::MAX), (3, u64::MAX), (1000, u64::MAX), (1000, 400), (1000, 0)] {
                let cost = |sublist: usize| SublistCost {
                    vertex: sublist as u32 % 3 + 1,
                    slot: sublist as u32,
                    page: sublist,
                    ..UNIT
                };
                let limits = LoadLimits { records, slots, vertices: [vertices; 3], pages: 4, ..ROOM };
                let loads = plan(&counts, 0..4, 0, cost, limits);
                let mut next = 0;
                for load in &loads {
                    assert_eq!(load.first, next);
                    assert!(load.count <= slots);
                    assert!(load.vertices <= vertices || load.count == 1, "{} vertices", load.vertices);
                    let in_pieces: u32 = load.pieces.iter().map(|p| p.piece.slot_count).sum();
                    assert_eq!(in_pieces, load.count);
                    let mut free = 0;
                    for LoadPiece { sublist, piece, .. } in &load.pieces {
                        let lists = piece.slot_count * ListRecords::of(piece.slot_log2).all();
                        assert_eq!((piece.lists, piece.base), (free, free + lists));
                        free = piece.base
                            + piece.slot_count * ((cost(*sublist).vertex << piece.slot_log2) + cost(*sublist).slot);
                    }
                    assert!(free <= records);
                    next += load.count;
                }
                assert_eq!(next, total);
            }
        }
    }

    #[test]
    fn neither_a_load_nor_a_submission_needs_more_pages_than_are_resident_at_once() {
        let counts = [5; 6 * SIZE_CLASSES as usize];
        for pages in 1..=6 {
            let cost = |sublist: usize| SublistCost { page: sublist, ..UNIT };
            let limits = LoadLimits { records: 5000, pages, ..ROOM };
            let loads = plan(&counts, 0..6, 0, cost, limits);
            assert!(loads.iter().all(|load| load.pages.len() <= pages));
            let mut loads = Loads::new(loads, pages);
            let mut next = 0;
            while !loads.done() {
                let taken = loads.take(u64::MAX);
                assert!(taken.start == next && taken.end > next);
                next = taken.end;
                let needed: FxHashSet<usize> = loads.loads[taken].iter().flat_map(|load| load.pages.clone()).collect();
                assert!(needed.len() <= pages, "{} pages for room for {pages}", needed.len());
            }
            assert_eq!(next, loads.loads.len());
        }
    }

    #[test]
    fn only_the_first_part_of_a_load_that_is_too_much_is_small() {
        let counts = [20; SIZE_CLASSES as usize];
        let counted = |_| SublistCost { loops: LoopKind::Counted, ..UNIT };
        let mut loads = Loads::new(plan(&counts, 0..1, 5, counted, ROOM), 1);
        let (grids, vertices) = (loads.loads[0].count, loads.loads[0].vertices);
        loads.replan(0, counted, LoadLimits { first_vertices: 100, ..ROOM });
        let [first, rest] = &loads.loads[..] else { panic!("{} loads", loads.loads.len()) };
        assert!(first.vertices <= 100 && first.count > 0, "{} vertices", first.vertices);
        assert_eq!((first.first, rest.first), (5, 5 + first.count));
        assert_eq!((first.count + rest.count, first.vertices + rest.vertices), (grids, vertices));
    }

    #[test]
    fn long_loops_go_alone_and_other_loads_of_the_batch_stay_where_they_are() {
        let counts = [5; 4 * SIZE_CLASSES as usize];
        let limits = LoadLimits { records: 40_000, vertices: [u64::MAX, u64::MAX, 300], pages: 4, ..ROOM };
        let short = |sublist: usize| SublistCost { page: sublist, ..UNIT };
        let mut loads = Loads::new(plan(&counts, 0..4, 7, short, limits), 4);
        assert_eq!(loads.loads.len(), 1);
        loads.batch_ends.push(0);
        let long = |sublist| SublistCost { vertex: 3, loops: LoopKind::Long, ..short(sublist) };
        loads.replan(0, |sublist| if sublist == 2 { long(sublist) } else { short(sublist) }, limits);
        assert_eq!(loads.batch_ends, [loads.loads.len() - 1]);
        let mut next = 7;
        for load in &loads.loads {
            assert_eq!(load.first, next);
            next += load.count;
            let is_long = load.pieces.iter().any(|piece| piece.sublist == 2);
            assert_eq!(load.loops == LoopKind::Long, is_long);
            assert!(!is_long || load.pieces.len() == 1 && (load.vertices <= 300 || load.count == 1));
        }
        assert_eq!(next, 7 + counts.iter().sum::<u32>());
    }
}
