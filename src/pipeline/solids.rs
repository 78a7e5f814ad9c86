//! Solids on a device: a number for each primitive, and how the primitives of a tree make it, as steps that
//! `cut_solids.comp` goes through; and the stages that cut the entries of solids.
//!
//! A primitive's state at a sample is a bit, inside or not. A tree is an expression of its primitives' states in
//! postfix order, in the order of their numbers. What needs more of the evaluation's stack comes first, so that it
//! never needs more than one word more than the logarithm of the number of primitives.

use super::buffers::{ActiveRegion, FrameSlices};
use super::kernels::constants::{
    SOLID_DIFFERENCE, SOLID_DIFFERENCE_REVERSED, SOLID_INTERSECTION, SOLID_PRIMITIVE, SOLID_PRIMITIVES_MAX, SOLID_UNION,
};
use super::kernels::records::Appended;
use super::kernels::{carry_solids, cut_solids, keep_solids};
use super::needed_kernels::KernelList;
use super::recording::Recording;
use super::sample::CELL_ENTRIES_MAX;
use super::{covering, portion};
use crate::diagnostic::SourceLocation;
use crate::scene::{Solid, SolidId, SolidOperation, TREE_PRIMITIVES_MAX, World};
use std::ops::Range;

// Scenes are read without knowing kernels.
const _: () = assert!(TREE_PRIMITIVES_MAX == SOLID_PRIMITIVES_MAX);

/// What devices must know of the solids of a world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidTable {
    /// For each primitive: the first primitive of its tree, how many the tree has, its first step, how many it has.
    pub primitives: Vec<[u32; 4]>,
    /// The steps of all trees.
    pub steps: Vec<u32>,
    /// Where each primitive begins, for messages.
    pub origins: Vec<SourceLocation>,
}

/// A primitive solid as instances name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimitiveSolid {
    /// Its number.
    pub number: u32,
    /// Whether the inside of its surfaces is the outside of its tree: it is subtracted.
    pub subtracted: bool,
}

/// An expression of the states of primitives.
struct Expression {
    steps: Vec<u32>,
    /// The primitives in the order of its steps.
    primitives: Vec<SolidId>,
    /// Words of the stack that it needs.
    stack: u32,
}

impl Expression {
    fn primitive(id: SolidId) -> Self {
        Self { steps: vec![SOLID_PRIMITIVE], primitives: vec![id], stack: 1 }
    }

    /// Combines two. `reversed` is the operation for the other order.
    fn combined(self, other: Self, operation: u32, reversed: u32) -> Self {
        let stack = if self.stack == other.stack { self.stack + 1 } else { self.stack.max(other.stack) };
        let (first, second, last) =
            if self.stack >= other.stack { (self, other, operation) } else { (other, self, reversed) };
        let steps = [first.steps, second.steps, vec![last]].concat();
        Self { steps, primitives: [first.primitives, second.primitives].concat(), stack }
    }
}

/// The expression of a solid, of which `parts` are those of its parts; `None` where it has no points.
fn expression(operation: SolidOperation, parts: Vec<Option<Expression>>) -> Option<Expression> {
    let (first_is_empty, any_is_empty) = (parts.first().is_none_or(Option::is_none), parts.iter().any(Option::is_none));
    let steps = match operation {
        SolidOperation::Primitive => return None,
        SolidOperation::Union => [SOLID_UNION; 2],
        SolidOperation::Intersection if any_is_empty => return None,
        SolidOperation::Intersection => [SOLID_INTERSECTION; 2],
        SolidOperation::Difference if first_is_empty => return None,
        SolidOperation::Difference => [SOLID_DIFFERENCE, SOLID_DIFFERENCE_REVERSED],
    };
    parts.into_iter().flatten().reduce(|all, part| all.combined(part, steps[0], steps[1]))
}

/// Whether each solid is subtracted from its tree: its normals point into what is left.
fn subtracted(solids: &[Solid]) -> Vec<bool> {
    let mut has_part = vec![false; solids.len()];
    let mut result: Vec<bool> = Vec::with_capacity(solids.len());
    for solid in solids {
        let Some(SolidId(parent)) = solid.parent else {
            result.push(false);
            continue;
        };
        let later = std::mem::replace(&mut has_part[parent as usize], true);
        let turns = later && solids[parent as usize].operation == SolidOperation::Difference;
        result.push(result[parent as usize] != turns);
    }
    result
}

impl SolidTable {
    /// The table of a world, and for each of its solids the primitive that it is, if surfaces bound it.
    pub fn new(world: &World) -> (Self, Vec<Option<PrimitiveSolid>>) {
        let solids = &world.solids;
        let mut bounded = vec![false; solids.len()];
        for SolidId(id) in world.drawables.iter().filter_map(|drawable| drawable.solid) {
            bounded[id as usize] = true;
        }
        let subtracted = subtracted(solids);
        let mut table = Self::default();
        let mut primitives = vec![None; solids.len()];
        // Parts come after what they are parts of, and in order.
        let mut parts: Vec<Vec<Option<Expression>>> = solids.iter().map(|_| Vec::new()).collect();
        for (at, solid) in solids.iter().enumerate().rev() {
            let mut own = std::mem::take(&mut parts[at]);
            own.reverse();
            let made = match solid.operation {
                SolidOperation::Primitive => bounded[at].then(|| Expression::primitive(SolidId(at as u32))),
                operation => expression(operation, own),
            };
            match (solid.parent, made) {
                (Some(SolidId(parent)), made) => parts[parent as usize].push(made),
                (None, Some(tree)) => {
                    for (id, number) in tree.primitives.iter().zip(table.primitives.len() as u32..) {
                        let subtracted = subtracted[id.0 as usize];
                        primitives[id.0 as usize] = Some(PrimitiveSolid { number, subtracted });
                    }
                    table.add(tree, solids);
                }
                (None, None) => {}
            }
        }
        (table, primitives)
    }

    fn add(&mut self, tree: Expression, solids: &[Solid]) {
        let (first, count) = (self.primitives.len() as u32, tree.primitives.len());
        let record = [first, count as u32, self.steps.len() as u32, tree.steps.len() as u32];
        self.primitives.extend(std::iter::repeat_n(record, count));
        self.origins.extend(tree.primitives.iter().map(|id| solids[id.0 as usize].location.clone()));
        self.steps.extend(tree.steps);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }
}

/// The states of primitives that a slab passes on to the next one: which of two lists it reads, and how many are there.
/// It writes the other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CarriedStates {
    /// The list that is read, 0 or 1.
    pub list: u32,
    /// States in it.
    pub count: u32,
}

impl CarriedStates {
    /// What the next slab reads, where this one has written `count` states.
    #[must_use]
    pub fn next(self, count: u32) -> Self {
        Self { list: 1 - self.list, count }
    }
}

/// Appends the entries that stand for the states in which the slab begins.
pub fn record_carry(recording: &mut Recording, region: &ActiveRegion, carried: CarriedStates) {
    let slices = &region.slices;
    let written = u64::from(1 - carried.list);
    recording.concurrent(|recording| {
        recording.write(slices.appended, &[Appended { appended: carried.count, longest_cell: 0 }]);
        recording.fill(slices.carried_counts.part(written..written + 1), 0);
    });
    if carried.count == 0 {
        return;
    }
    let bindings =
        carry_solids::Bindings { entries: slices.entries, cell_counts: slices.cell_counts, carried: slices.carried };
    let push = carry_solids::Push { first: carried.list * region.capacity.entries as u32, count: carried.count };
    let groups = covering(carried.count.into(), carry_solids::LOCAL_SIZE);
    recording.dispatch(carry_solids::dispatch(groups, &bindings, &push));
}

fn variant(clipped: bool) -> cut_solids::Variant {
    cut_solids::Variant { clipped }
}

/// Appends the cutting of `some` of `entries` entries: what of them bounds a solid. The slab is the `last` one where
/// nothing lies behind it.
pub fn record_cut(
    recording: &mut Recording,
    frame: &FrameSlices,
    region: &ActiveRegion,
    carried: CarriedStates,
    (entries, last): (u32, bool),
    some: &Range<u64>,
) {
    let slices = &region.slices;
    let bindings = cut_solids::Bindings {
        frame_buffer: frame.frame,
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        grids: slices.grids.grids,
        instances: frame.instances,
        solid_primitives: frame.solid_primitives,
        solid_steps: frame.solid_steps,
        cut: slices.cut_masks,
        carried: slices.carried,
        carried_counts: slices.carried_counts,
        keys: slices.keys,
        noted: slices.pixels.cast(),
        clip_planes: frame.clip_planes,
    };
    let ([first, end], groups) = portion(some, entries.into(), cut_solids::LOCAL_SIZE);
    let written = 1 - carried.list;
    let push = cut_solids::Push {
        first,
        last: end,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        cells: region.capacity.cells() as u32,
        cell_max: CELL_ENTRIES_MAX,
        carried_list: written,
        carried_first: written * region.capacity.entries as u32,
        ends: u32::from(last),
        noted_word: 4 * region.replaced_record() as u32 + 2,
    };
    recording.dispatch(cut_solids::dispatch(variant(!frame.clip_planes.is_empty()), groups, &bindings, &push));
}

/// Appends what becomes of `some` of `entries` entries that were cut: those that opaque solids hide are dropped, the
/// others' micropolygons are visible.
pub fn record_keep(
    recording: &mut Recording,
    frame: &FrameSlices,
    region: &ActiveRegion,
    entries: u32,
    some: &Range<u64>,
) {
    let slices = &region.slices;
    let bindings = keep_solids::Bindings {
        frame_buffer: frame.frame,
        entries: slices.entries,
        cell_offsets: slices.cell_offsets,
        cell_counts: slices.cell_counts,
        order: slices.order,
        grids: slices.grids.grids,
        instances: frame.instances,
        cut: slices.cut_masks,
        visible: slices.visible,
    };
    let ([first, last], groups) = portion(some, entries.into(), keep_solids::LOCAL_SIZE);
    let push = keep_solids::Push {
        first,
        last,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width: region.pixels.size()[0],
        cells: region.capacity.cells() as u32,
        cell_max: CELL_ENTRIES_MAX,
    };
    recording.dispatch(keep_solids::dispatch(groups, &bindings, &push));
}

/// The kernels that pass on states.
pub(super) fn carry_kernels() -> KernelList {
    vec![carry_solids::kernel()]
}

/// The kernels that cut entries.
pub(super) fn cut_kernels(clipped: bool) -> KernelList {
    vec![cut_solids::kernel(variant(clipped))]
}

/// The kernels that drop what solids hide.
pub(super) fn keep_kernels() -> KernelList {
    vec![keep_solids::kernel()]
}
