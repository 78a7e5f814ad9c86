//! What a shader does with arrays whose length may change.

use crate::span::Span;

/// Elements of an array.
pub(super) const ARRAY_LENGTH_MAX: u32 = 4096;

/// What is done with an array that is or may become resizable: a local one of open length, or a function's argument.
#[derive(Clone, Copy, Default)]
pub(super) struct ArrayUse {
    /// Elements for which there must be room where its length changes.
    pub(super) capacity: Option<u32>,
    /// The shader says for how many elements there must be room.
    pub(super) is_reserved: bool,
    /// Where its length must be known.
    pub(super) fixed: Option<Span>,
    /// `push` is called.
    pub(super) is_pushed: bool,
    /// Loops around its declaration.
    pub(super) loops: u32,
    /// Where it grows to a length that is not known.
    pub(super) grows: Option<Span>,
}

impl ArrayUse {
    /// Returns what is done by both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            capacity: self.capacity.max(other.capacity),
            is_reserved: self.is_reserved || other.is_reserved,
            fixed: self.fixed.or(other.fixed),
            is_pushed: self.is_pushed || other.is_pushed,
            loops: self.loops,
            grows: self.grows.or(other.grows),
        }
    }
}
