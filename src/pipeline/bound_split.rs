//! Bound/split: from primitives to grids, in rounds, in parallel with scan and compact (RenderAnts, section 5.1).
//!
//! A round bounds every subpatch of a list and decides: drop, dice, or split in two; a scan of the numbers of children gives each child
//! its place, so that the list stays in authored order whatever runs when. What is a grid already is carried along. The host looks at
//! [`Round`] after each round; when no subpatch was split the list holds grids only.

use super::buffers::{CountSlices, FrameSlices, PageSlices};
use super::geometry::Kind;
use super::kernels::constants::VERDICT_CHILDREN;
use super::kernels::records::Round;
use super::kernels::{bound_split, round, seed, split};
use super::recording::Recording;
use super::{Device, covering, scan};

/// Primitives of a chunk: a range of the numbers that its drawables give.
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

/// Appends the start of a chunk: its primitives as subpatches, in list 0.
pub fn record_seed(recording: &mut Recording, slices: &CountSlices, chunk: Chunk) {
    let Chunk { drawable_base, drawable_count, first, count } = chunk;
    let bindings = seed::Bindings { drawables: slices.drawables, list: slices.lists[0] };
    let push = seed::Push { drawable_base, drawable_count, first, count };
    recording.dispatch(seed::dispatch(covering(u64::from(count), seed::LOCAL_SIZE), &bindings, &push));
    let start = Round {
        round_count: count,
        round_splits: 0,
        round_dropped: 0,
        round_dropped_instance: 0,
        round_needed: count,
        round_last_splits: 0,
    };
    recording.write(slices.round, &[start]);
}

const _: () = assert!(bound_split::Variant::ALL.len() == Kind::ALL.len(), "each kind has its bound/split kernel");

fn variant(kind: Kind) -> bound_split::Variant {
    match kind {
        Kind::Quadric => bound_split::Variant::Quadric,
        Kind::Facet => bound_split::Variant::Facet,
        Kind::Patch => bound_split::Variant::Patch,
        Kind::Curve => bound_split::Variant::Curve,
        Kind::Point => bound_split::Variant::Point,
    }
}

/// Appends one round over `count` subpatches of list `from`; the children are in the other list.
pub fn record_round(
    recording: &mut Recording,
    device: Device,
    (frame, page): (&FrameSlices, PageSlices),
    slices: &CountSlices,
    kinds: &[Kind],
    (from, count): (usize, u32),
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
                children: slices.children,
                round: slices.round,
            };
            let groups = covering(u64::from(count), bound_split::LOCAL_SIZE);
            recording.dispatch(bound_split::dispatch(variant(kind), groups, &bindings));
        }
    });
    let total = (slices.scan, slices.scan.total);
    let summed = scan::Summed::Masked(VERDICT_CHILDREN);
    scan::record(recording, device, slices.children, slices.offsets, count, summed, total);
    let capacity = slices.lists[to].count() as u32;
    let bindings = split::Bindings {
        list_in: slices.lists[from],
        bounds_in: slices.bounds[from],
        children: slices.children,
        offsets: slices.offsets,
        list_out: slices.lists[to],
        bounds_out: slices.bounds[to],
        round: slices.round,
    };
    let groups = covering(u64::from(count), split::LOCAL_SIZE);
    recording.dispatch(split::dispatch(groups, &bindings, &split::Push { capacity }));
    let bindings = round::Bindings { total: slices.scan.total, round: slices.round };
    recording.dispatch(round::dispatch(1, &bindings, &round::Push { capacity }));
}
