//! Solids: volumes bounded by surfaces, and what is made of them by constructive solid geometry (RISpec 5.5).

use crate::diagnostic::SourceLocation;

/// How the parts of a solid make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolidOperation {
    /// Surfaces bound it: a point is inside where an odd number of them is before it.
    Primitive,
    /// The points of any part.
    Union,
    /// The points of all parts.
    Intersection,
    /// The points of the first part that are in no other one.
    Difference,
}

/// The most primitives of one tree.
pub const TREE_PRIMITIVES_MAX: u32 = 256;

/// Index into [`super::World::solids`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SolidId(pub u32);

/// One solid of a tree. Its parts are the solids that name it, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// How its parts make it.
    pub operation: SolidOperation,
    /// The solid that it is a part of, which comes before it; it is not a primitive.
    pub parent: Option<SolidId>,
    /// Where it begins.
    pub location: SourceLocation,
}
