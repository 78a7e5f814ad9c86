//! Constant folding, common subexpressions, loop-invariant code motion, branches of known conditions, short branches to
//! selects, dead code: over and over until nothing changes.

use super::dead::remove_dead;
use super::translate::{NoRules, translate};
use crate::ir::Body;

/// Rounds after which a body is taken as it is; each costs time linear in its size, and the second usually finds
/// nothing.
const ROUNDS_MAX: usize = 8;

/// Returns an equivalent body that does less.
pub fn simplify(body: &Body) -> Body {
    let mut best = round(body);
    for _ in 1..ROUNDS_MAX {
        let next = round(&best);
        let done = size(&next) >= size(&best);
        best = next;
        if done {
            break;
        }
    }
    best
}

fn round(body: &Body) -> Body {
    let mut body = translate(body, &mut NoRules, true);
    remove_dead(&mut body);
    body
}

/// Returns the number of instructions, and of values carried: what a round can make fewer.
fn size(body: &Body) -> usize {
    let mut size = 0;
    body.walk(body.root(), &mut |i| size += 1 + body.inst(i).results.len());
    size
}
