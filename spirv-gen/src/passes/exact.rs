//! Operations that have the same bits everywhere.

use crate::ir::{Binary, Op, Unary};

/// Returns whether devices compute what the interpreter does, to the bit.
pub(super) fn is_exact(op: &Op) -> bool {
    match op {
        Op::Compare(_) | Op::Select | Op::Vec3 | Op::Comp(_) | Op::CompAt | Op::SetComp(_) | Op::SetCompAt => true,
        Op::Unary(op) => {
            use Unary::*;
            matches!(op, Neg | Abs | Not | Splat | FloatFromBool | FloatFromU32 | Bits | Token)
        }
        Op::Binary(op) => {
            use Binary::*;
            matches!(op, Add | Sub | Mul | Min | Max | And | Or | BitAnd)
        }
        _ => false,
    }
}
