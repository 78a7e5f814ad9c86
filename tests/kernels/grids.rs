//! Running bound/split and dice on a scene.

use super::lab::Lab;
use super::region::region;
use super::scene::{Loaded, Scene};
use anthill::pipeline::KernelVariants;
use anthill::pipeline::bound_split::{self, Chunk, ListLength, SplitRound};
use anthill::pipeline::buffers::{ActiveRegion, CountSlices, GeometrySources, RegionCapacity, RegionSlices, Vec4};
use anthill::pipeline::dice::{self, DiceOutput};
use anthill::pipeline::hidden::DicedKind;
use anthill::pipeline::kernels::constants::{
    CHANNEL_NORMAL, CHANNEL_PARAMETERS, CHANNEL_POSITION, PAIR_BITS, SLOT_NV_SHIFT,
};
use anthill::pipeline::kernels::records::{Drawable, GridBound, Piece as PieceState, Round, Slot, Subpatch};
use anthill::pipeline::look::Interpolation;
use anthill::pipeline::piece::{ListRecords, Piece, RegionPiece};
use anthill::pipeline::pixels::unpacked_range;
use anthill::pipeline::slots;

const GRIDS_MAX: u64 = 1 << 18;
const ROUNDS_MAX: u32 = 64;

/// What bound/split makes of a scene.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    pub grids: Vec<Subpatch>,
    pub bounds: Vec<GridBound>,
    /// Subpatches given up at the eye plane.
    pub lost: u32,
}

/// Micropolygons of a grid along u and v.
pub(crate) fn dims(grid: &Subpatch) -> (u32, u32) {
    grid.micropolygons().into()
}

/// The pixels of a bound, inclusive: x0, y0, x1, y1.
pub(crate) fn bound_px(bound: &GridBound) -> [i32; 4] {
    let ([x0, x1], [y0, y1]) = (unpacked_range(bound.x), unpacked_range(bound.y));
    [x0, y0, x1, y1]
}

/// Splits all primitives of a scene.
pub(crate) fn split(lab: &mut Lab, scene: &Scene, loaded: &Loaded) -> Split {
    let variants = lab.variants();
    split_in(lab, scene, loaded, variants, GRIDS_MAX).unwrap_or_else(|needed| panic!("{needed} subpatches at once"))
}

/// The same with room for so many subpatches; an error says how many a round would have needed.
pub(crate) fn split_in(
    lab: &mut Lab,
    scene: &Scene,
    loaded: &Loaded,
    variants: KernelVariants,
    capacity: u64,
) -> Result<Split, u32> {
    let (slices, count) = seed(lab, scene, capacity);
    let mut length = ListLength { count, open: count };
    let kinds: Vec<_> = scene.drawn.kinds().into_iter().collect();
    let mut from = 0;
    for _ in 0..ROUNDS_MAX {
        let sources = GeometrySources { frame: &loaded.frame, page: loaded.page };
        lab.run(|recording| {
            let round = SplitRound { kinds: &kinds, from, length };
            bound_split::record_round(recording, variants, sources, &slices, round);
        });
        let round: Round = lab.read(slices.round)[0];
        if u64::from(round.round_needed) > capacity {
            return Err(round.round_needed);
        }
        (from, length) = (1 - from, ListLength { count: round.round_count, open: round.round_open });
        let left = u64::from(length.count);
        if round.round_last_splits == 0 || left == 0 {
            let grids = lab.read(slices.lists[from].part(0..left));
            let bounds = lab.read(slices.bounds[from].part(0..left));
            return Ok(Split { grids, bounds, lost: round.round_dropped });
        }
    }
    panic!("subpatches are left after {ROUNDS_MAX} rounds");
}

/// Memory for counting, with all primitives of the scene in list 0; and their number.
fn seed(lab: &mut Lab, scene: &Scene, capacity: u64) -> (CountSlices, u32) {
    let mut first = 0;
    let drawables: Vec<Drawable> = (0..)
        .zip(&scene.drawn.runs)
        .map(|(instance, run)| {
            let drawable = Drawable { first, primitive: run.first, instance, step: 1 };
            first += run.count;
            drawable
        })
        .collect();
    let count = drawables.len() as u64;
    let buffer = lab.buffer("count", CountSlices::bytes(count, capacity));
    let slices = CountSlices::cut(buffer, count, capacity).expect("it has the bytes");
    lab.write(slices.drawables, &drawables);
    let chunk = Chunk { drawable_base: 0, drawable_count: count as u32, first: 0, count: first };
    lab.run(|recording| bound_split::record_seed(recording, &slices, chunk));
    (slices, first)
}

/// A diced grid: its channels, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Diced {
    pub nu: usize,
    pub nv: usize,
    /// (P, u), (N, v), (dPdu, s), (dPdv, t).
    pub channels: [Vec<Vec4>; 4],
}

impl Diced {
    /// Index of vertex (i, j).
    pub(crate) fn at(&self, i: usize, j: usize) -> usize {
        j * (self.nu + 1) + i
    }

    /// Position of vertex (i, j).
    pub(crate) fn p(&self, i: usize, j: usize) -> [f32; 3] {
        let [x, y, z, _] = self.channels[0][self.at(i, j)];
        [x, y, z]
    }
}

/// A region of no matter which pixel, with memory for some grids and for `slots` slots of 256 vertices at a time.
pub(crate) fn region_for(lab: &mut Lab, grids: &[Subpatch], slots: u64) -> ActiveRegion {
    let capacity = RegionCapacity {
        frame_grids: 1,
        grids: grids.len() as u64,
        subpixels: 1,
        pixel_samples: 1,
        arena: slots * u64::from(256 * 4 + ListRecords::of(8).all()),
        slots,
        colours: 1,
        entries: 0,
        variables: 0,
        filtered: 1,
        sublists: 1,
        interpolation: Interpolation::Constant,
        behind: false,
        blurred: false,
        solids: false,
        deep: false,
        prints: 0,
        texture_slots: 0,
    };
    let buffer = lab.buffer("region", capacity.bytes());
    let slices = RegionSlices::cut(buffer, &capacity).expect("it has the bytes");
    lab.write(slices.grids.grids, grids);
    ActiveRegion { pixels: region(0, 0, 1, 1), slices, capacity }
}

/// Geometry channels 0 to 3 with the parameters in them.
const ALL_CHANNELS: u32 = CHANNEL_POSITION | CHANNEL_NORMAL | dice::CHANNEL_TANGENTS | CHANNEL_PARAMETERS;

/// Slots of 256 vertices that [`dice`] fills at a time.
const SLOTS: usize = 1024;

/// Dices grids, all channels.
pub(crate) fn dice(lab: &mut Lab, scene: &Scene, loaded: &Loaded, split: &Split) -> Vec<Diced> {
    let region = region_for(lab, &split.grids, SLOTS as u64);
    let slices = region.slices;
    let mut diced: Vec<Option<Diced>> = vec![None; split.grids.len()];
    for (kind, of_kind) in scene.by_kind(&split.grids) {
        for chunk in of_kind.chunks(SLOTS) {
            lab.run(|recording| recording.fill(slices.arena, f32::NAN.to_bits()));
            let piece = lay_slots(lab, &slices, chunk, &split.grids);
            lab.run(|recording| {
                let sources = GeometrySources { frame: &loaded.frame, page: loaded.page };
                let of = RegionPiece { region: &region, sources, piece };
                let output = DiceOutput { base: 0, channels: ALL_CHANNELS, keyframe: None };
                dice::record(recording, &of, DicedKind::of(kind, scene.drawn.full), output);
            });
            let arena = lab.read(slices.arena);
            for (slot, &grid) in chunk.iter().enumerate() {
                diced[grid] = Some(cut_channels(&split.grids[grid], &arena, slot, chunk.len()));
            }
        }
    }
    diced.into_iter().map(|grid| grid.expect("every grid is of some kind")).collect()
}

/// Makes slots 0 and on for some grids: one piece of slots of 256 vertices with four channels, armed.
fn lay_slots(lab: &mut Lab, slices: &RegionSlices, chunk: &[usize], grids: &[Subpatch]) -> Piece {
    let slot = |&grid: &usize| {
        let (nu, nv) = dims(&grids[grid]);
        Slot { dims: nu | nv << SLOT_NV_SHIFT, rank: grid as u32, instance: grids[grid].instance, ..Slot::default() }
    };
    let slots: Vec<Slot> = chunk.iter().map(slot).collect();
    lab.write(slices.slots.part(0..slots.len() as u64), &slots);
    let slot_count = slots.len() as u32;
    let lists = 4 * 256 * slot_count;
    let piece = Piece { number: 0, slot_base: 0, slot_log2: 8, slot_count, lists, base: 0 };
    arm(lab, slices, &piece, &chunk.iter().map(|&grid| grids[grid].micropolygons()).collect::<Vec<_>>());
    piece
}

/// The numbers of slots and pairs that are listed for grids that have so many rows or micropolygons each.
pub(crate) fn listed(counts: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let pairs = |(slot, count): (u32, u32)| (0..count.div_ceil(2)).map(move |pair| slot << PAIR_BITS | pair);
    (0..).zip(counts).flat_map(pairs).collect()
}

/// Makes a piece ready to be dispatched, with all its slots, whose grids have so many micropolygons along u and v.
pub(crate) fn arm(lab: &mut Lab, slices: &RegionSlices, piece: &Piece, grids: &[[u32; 2]]) {
    let number = u64::from(piece.number);
    let mut state = PieceState { count: piece.slot_count, ..piece.state() };
    let lists = [listed(grids.iter().map(|[_, nv]| nv + 1)), listed(grids.iter().map(|[nu, nv]| nu * nv))];
    for (list, words) in [&mut state.rows, &mut state.mps].into_iter().zip(lists) {
        list.pairs = words.len() as u32;
        let first = u64::from(list.first);
        lab.write(slices.arena.cast().part(first..first + words.len() as u64), &words);
    }
    lab.write(slices.pieces.part(number..number + 1), &[state]);
    lab.run(|recording| slots::record_arm(recording, slices, piece.number as usize + 1));
}

/// The channels of one grid's slot; what lies behind its vertices must still be untouched.
fn cut_channels(grid: &Subpatch, arena: &[Vec4], slot: usize, slots: usize) -> Diced {
    let (nu, nv) = dims(grid);
    let count = ((nu + 1) * (nv + 1)) as usize;
    let channel = |c: usize| {
        let part = &arena[(c * slots + slot) * 256..][..256];
        assert!(part[count..].iter().flatten().all(|x| x.to_bits() == f32::NAN.to_bits()), "written past the grid");
        part[..count].to_vec()
    };
    Diced { nu: nu as usize, nv: nv as usize, channels: [0, 1, 2, 3].map(channel) }
}
