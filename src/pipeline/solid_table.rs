//! Solids on a device: a number for each primitive, and how the primitives of a tree make it, as steps that
//! `cut_solids.comp` goes through.
//!
//! A primitive's state at a sample is a bit, inside or not. A tree is an expression of its primitives' states in
//! postfix order, in the order of their numbers. What needs more of the evaluation's stack comes first, so that it
//! never needs more than one word more than the logarithm of the number of primitives.

use super::kernels::constants::{
    SOLID_DIFFERENCE, SOLID_DIFFERENCE_REVERSED, SOLID_INTERSECTION, SOLID_PRIMITIVE, SOLID_PRIMITIVES_MAX, SOLID_UNION,
};
use crate::diagnostic::SourceLocation;
use crate::scene::{Solid, SolidId, SolidOperation, TREE_PRIMITIVES_MAX, World};

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
