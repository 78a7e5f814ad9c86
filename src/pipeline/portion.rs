//! Which items of a stage a dispatch goes through, and the workgroups for them.

use super::recording::{DispatchExtent, Groups};
use std::ops::Range;

/// All items of a stage: what is recorded in one portion.
pub const ALL: Range<u64> = 0..u64::MAX;

/// First and last (exclusive) of the `count` items that a dispatch of `some` of them goes through, and its extent.
pub(super) fn portion(some: &Range<u64>, count: u64, local_size: [u32; 3]) -> ([u32; 2], DispatchExtent) {
    let some = some.start.min(count)..some.end.min(count);
    ([some.start as u32, some.end as u32], covering(some.end - some.start, local_size))
}

/// The extent of `count` invocations, continued along y where they do not fit along x (glsl/lib/invocation.glsl).
pub(super) fn covering(count: u64, local_size: [u32; 3]) -> DispatchExtent {
    const X_MAX: u64 = 32_768;
    let groups = count.div_ceil(u64::from(local_size[0]));
    let rows = groups.div_ceil(X_MAX).max(1);
    let groups = Groups::Direct([groups.div_ceil(rows) as u32, rows as u32, 1]);
    DispatchExtent::of(groups, count, "invocations")
}
