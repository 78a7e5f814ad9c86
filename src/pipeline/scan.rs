//! Exclusive prefix sums over 32-bit values (Harris et al. 2007; glsl/lib/lists/scan.glsl).

use super::buffers::{ScanSlices, scan_blocks};
use super::kernels::records::Total;
use super::kernels::{scan_apply, scan_reduce, scan_sums};
use super::portion::covering;
use super::recording::{Recording, Slice};
use super::variants::{KernelList, KernelVariants};

/// What is summed of each 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summed {
    /// The bits under a mask, as a number.
    Masked(u32),
    /// How many bits are set.
    Bits,
}

impl Summed {
    /// The whole word.
    pub const WORD: Self = Self::Masked(u32::MAX);
}

/// A prefix sum to be made.
#[derive(Clone, Copy, Debug)]
pub struct PrefixSum {
    /// The words to be summed.
    pub values: Slice<u32>,
    /// Where the sum of the words before each word goes.
    pub offsets: Slice<u32>,
    /// How many words.
    pub count: u32,
    /// What is summed of each word.
    pub summed: Summed,
    /// Where the grand total goes.
    pub total: Slice<Total>,
}

struct Variants {
    reduce: scan_reduce::Variant,
    sums: scan_sums::Variant,
    apply: scan_apply::Variant,
}

fn variants_for(KernelVariants { serial }: KernelVariants, summed: Summed) -> Variants {
    let bits = summed == Summed::Bits;
    Variants {
        reduce: scan_reduce::Variant { serial, bits },
        sums: scan_sums::Variant { serial },
        apply: scan_apply::Variant { serial, bits },
    }
}

/// Appends a prefix sum.
pub fn record(recording: &mut Recording, variants: KernelVariants, scratch: ScanSlices, sum: &PrefixSum) {
    let PrefixSum { values, offsets, count, summed, total } = *sum;
    let blocks = scan_blocks(u64::from(count)) as u32;
    let Variants { reduce, sums, apply } = variants_for(variants, summed);
    let mask = if let Summed::Masked(mask) = summed { mask } else { 0 };
    // Serial: one invocation a block; parallel: one workgroup a block.
    let local_size = scan_reduce::kernel(reduce).local_size();
    let groups = if variants.serial { covering(u64::from(blocks), local_size) } else { blocks.into() };
    let bindings = scan_reduce::Bindings { values, sums: scratch.sums };
    recording.dispatch(scan_reduce::dispatch(reduce, groups, &bindings, &scan_reduce::Push { count, mask }));
    let bindings = scan_sums::Bindings { sums: scratch.sums, total };
    recording.dispatch(scan_sums::dispatch(sums, 1, &bindings, &scan_sums::Push { blocks }));
    let bindings = scan_apply::Bindings { values, sums: scratch.sums, offsets };
    recording.dispatch(scan_apply::dispatch(apply, groups, &bindings, &scan_apply::Push { count, mask }));
}

/// The kernels of a prefix sum.
pub(super) fn kernels(variants: KernelVariants, summed: Summed) -> KernelList {
    let Variants { reduce, sums, apply } = variants_for(variants, summed);
    vec![scan_reduce::kernel(reduce), scan_sums::kernel(sums), scan_apply::kernel(apply)]
}
