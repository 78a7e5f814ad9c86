//! The least device memory that a picture can be drawn with, and what takes it: for the message where there is less.

use crate::gpu::BLOCK_BYTES;
use crate::stats::human_bytes;
use std::fmt;

/// Sizes are rounded up to this, which no driver's alignment exceeds.
const ROUNDING_BYTES: u64 = 1 << 20;
/// What takes less is not worth a word.
const TINY_BYTES: u64 = 1 << 10;

/// One thing that takes device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    what: String,
    /// Buffers of this kind.
    count: u64,
    /// Bytes of each.
    bytes: u64,
}

/// All that takes device memory while a picture is drawn as sparingly as it can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs(Vec<Part>);

impl Needs {
    /// With `count` buffers of `bytes` each.
    #[must_use]
    pub(crate) fn with(mut self, what: impl Into<String>, count: u64, bytes: u64) -> Self {
        self.0.push(Part { what: what.into(), count, bytes });
        self
    }

    /// A limit under which the picture can be drawn, in whole MiB. Large buffers have blocks of their own; small ones share blocks, of which
    /// at most one is less than half full, because a buffer goes where there is room.
    pub(crate) fn mib(&self) -> u64 {
        let (large, small): (Vec<&Part>, Vec<&Part>) =
            self.0.iter().filter(|part| part.bytes > 0).partition(|part| part.bytes >= BLOCK_BYTES);
        let large: u64 = large.iter().map(|part| part.count * part.bytes.next_multiple_of(ROUNDING_BYTES)).sum();
        let (count, bytes) =
            small.iter().fold((0, 0), |(n, sum), part| (n + part.count, sum + part.count * part.bytes));
        let blocks = count.min(2 * bytes / BLOCK_BYTES + 1);
        (large + blocks * BLOCK_BYTES).div_ceil(1 << 20)
    }
}

/// `32.0 MiB for 655360 grids, 2.5 MiB for 2 regions, in blocks of 4.0 MiB`, the largest first; what is tiny is left out.
impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<(u64, &str)> = self.0.iter().map(|part| (part.count * part.bytes, &*part.what)).collect();
        parts.retain(|(bytes, _)| *bytes >= TINY_BYTES);
        parts.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        for (bytes, what) in parts {
            write!(f, "{} for {what}, ", human_bytes(bytes))?;
        }
        write!(f, "in blocks of {}", human_bytes(BLOCK_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_buffers_share_blocks_and_the_largest_comes_first() {
        let needs =
            Needs::default().with("2 regions", 2, 3 << 20).with("7 grids", 1, (9 << 20) + 1).with("a frame", 1, 100);
        // Each region in a block, and the frame beside one of them: but in an order that nobody knows.
        assert_eq!(needs.mib(), 10 + 3 * 4);
        assert_eq!(needs.to_string(), "9.0 MiB for 7 grids, 6.0 MiB for 2 regions, in blocks of 4.0 MiB");
        assert_eq!(Needs::default().with("a frame", 1, 100).with("a page", 1, 100).with("nothing", 1, 0).mib(), 4);
    }
}
