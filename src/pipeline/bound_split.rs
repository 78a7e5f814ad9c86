//! Bound/split: from primitives to grids, in rounds, in parallel with scan and compact (RenderAnts, section 5.1).
//!
//! A round bounds every subpatch of a list that is no grid yet (`open`) and decides: drop, dice, or split in two; grids
//! are copied. A scan of the numbers of children gives each child its place, so that the list stays in authored order
//! whatever runs when. The host reads [`Round`] after each round; when no subpatch was split, the list holds grids
//! only.

use super::buffers::{CountSlices, GeometrySources};
use super::geometry::PrimitiveKind;
use super::kernels::constants::VERDICT_CHILDREN;
use super::kernels::records::Round;
use super::kernels::{bound_split, round, seed, split};
use super::portion::covering;
use super::recording::Recording;
use super::scan::{self, PrefixSum};
use super::variants::{KernelList, KernelVariants};

// Eye splits are ordinary ones.
const _: () = assert!(crate::scene::EYE_SPLITS_MAX == super::kernels::constants::LEVEL_MAX);

/// A chunk of primitives: a range of the numbers that its drawables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// First drawable of the chunk's page run.
    pub drawable_base: u32,
    /// Drawables.
    pub drawable_count: u32,
    /// First primitive, counted from the first drawable.
    pub first: u32,
    /// Primitives.
    pub count: u32,
}

/// A list of subpatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLength {
    /// All of them.
    pub count: u32,
    /// Those that are no grids yet.
    pub open: u32,
}

/// Returns the state before the first round over a list.
pub fn first_round(ListLength { count, open }: ListLength) -> Round {
    Round {
        round_count: count,
        round_splits: 0,
        round_dropped: 0,
        round_dropped_instance: 0,
        round_needed: count,
        round_last_splits: 0,
        round_open: open,
        round_next_open: 0,
    }
}

/// Appends the start of a chunk: its primitives as subpatches, in list 0.
pub fn record_seed(recording: &mut Recording, slices: &CountSlices, chunk: Chunk) {
    let Chunk { drawable_base, drawable_count, first, count } = chunk;
    let bindings = seed::Bindings { drawables: slices.drawables, list: slices.lists[0], open: slices.open };
    let push = seed::Push { drawable_base, drawable_count, first, count };
    recording.dispatch(seed::dispatch(covering(u64::from(count), seed::LOCAL_SIZE), &bindings, &push));
    recording.write(slices.round, &[first_round(ListLength { count, open: count })]);
}

/// Kinds of which any primitive has what few have, so that all are left to kernels that do more (`FULL`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FullKinds {
    /// Whether curves have weights or a least width.
    pub curves: bool,
    /// Whether grounds repel blobs.
    pub blobs: bool,
}

impl FullKinds {
    /// Whether a kind is one of them.
    pub fn has(self, kind: PrimitiveKind) -> bool {
        match kind {
            PrimitiveKind::Curve => self.curves,
            PrimitiveKind::Blob => self.blobs,
            _ => false,
        }
    }
}

/// Primitives of one kind, as bound/split treats them: with all that moves in any of them, or as standing still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindMotion {
    /// The kind.
    pub kind: PrimitiveKind,
    /// Whether any primitive of the kind moves, anywhere in the world.
    pub moves: bool,
    /// Whether blur makes the micropolygons of any of them larger.
    pub loose: bool,
    /// Whether they need all that their kind may have.
    pub full: bool,
}

fn variant(KindMotion { kind, moves, loose, full }: KindMotion) -> bound_split::Variant {
    bound_split::Variant { kind, full, loose, moving: moves || loose }
}

/// A round over a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitRound<'a> {
    /// The primitives of which the list has any.
    pub kinds: &'a [KindMotion],
    /// Which of the two lists it is; the children are in the other one.
    pub from: usize,
    /// How long it is.
    pub length: ListLength,
}

/// Appends one round.
pub fn record_round(
    recording: &mut Recording,
    variants: KernelVariants,
    GeometrySources { frame, page }: GeometrySources<'_>,
    slices: &CountSlices,
    SplitRound { kinds, from, length: ListLength { count, open } }: SplitRound<'_>,
) {
    let to = 1 - from;
    recording.unordered(|recording| {
        for &kind in kinds {
            let bindings = bound_split::Bindings {
                frame_buffer: frame.frame,
                instances: frame.instances,
                primitives: page.primitives,
                data: page.data,
                list: slices.lists[from],
                bounds: slices.bounds[from],
                children: slices.children[from],
                round: slices.round,
                motion: frame.motion,
                open: slices.open,
            };
            let groups = covering(u64::from(open), bound_split::LOCAL_SIZE);
            recording.dispatch(bound_split::dispatch(variant(kind), groups, &bindings));
        }
    });
    let sum = PrefixSum {
        values: slices.children[from],
        offsets: slices.offsets,
        count,
        summed: scan::Summed::Masked(VERDICT_CHILDREN),
        total: slices.scan.total,
    };
    scan::record(recording, variants, slices.scan, &sum);
    let capacity = slices.lists[to].count() as u32;
    let bindings = split::Bindings {
        list_in: slices.lists[from],
        bounds_in: slices.bounds[from],
        children: slices.children[from],
        offsets: slices.offsets,
        list_out: slices.lists[to],
        bounds_out: slices.bounds[to],
        round: slices.round,
        children_out: slices.children[to],
        open: slices.open,
    };
    let groups = covering(u64::from(count), split::LOCAL_SIZE);
    recording.dispatch(split::dispatch(groups, &bindings, &split::Push { capacity }));
    let bindings = round::Bindings { total: slices.scan.total, round: slices.round };
    recording.dispatch(round::dispatch(1, &bindings, &round::Push { capacity }));
}

/// The kernels that bound and split primitives of some kinds.
pub(super) fn kernels(kinds: impl IntoIterator<Item = KindMotion>, variants: KernelVariants) -> KernelList {
    let bounds = kinds.into_iter().map(|kind| bound_split::kernel(variant(kind)));
    let scan = scan::kernels(variants, scan::Summed::Masked(VERDICT_CHILDREN));
    let others = [seed::kernel(), split::kernel(), round::kernel()];
    others.into_iter().chain(bounds).chain(scan).collect()
}
