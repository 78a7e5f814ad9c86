//! What a pass does, and what it uses.

use super::dag::NodeId;

/// What a pass uses, and what its cost is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Operations of code (o): arithmetic, fetches and restores.
    pub operations: u32,
    /// Words of values that are alive at once at most (r).
    pub registers: u32,
    /// Distinct textures, and restores where these are fetches (t).
    pub textures: u32,
    /// Distinct interpolants (v).
    pub interpolants: u32,
    /// Words that are saved.
    pub outputs: u32,
    /// Steps of arithmetic.
    pub steps: u64,
    /// Fetches, without restores.
    pub fetches: u32,
    /// Words that are restored.
    pub restored: u32,
}

/// What one pass does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// What it saves.
    pub outputs: Vec<NodeId>,
    /// What it computes, in this order.
    pub operations: Vec<NodeId>,
    /// What it restores.
    pub restores: Vec<NodeId>,
    /// What it uses.
    pub resources: Resources,
}

impl Pass {
    /// Returns whether it cannot be made smaller: all operands of its only operation are restored.
    pub fn is_indivisible(&self) -> bool {
        self.operations.len() == 1
    }
}
