//! Exclusive prefix sums over 32-bit values (Harris et al. 2007; glsl/lib/scan.glsl).

use super::buffers::{ScanSlices, scan_tiles};
use super::kernels::records::Total;
use super::kernels::{scan_apply, scan_reduce, scan_sums};
use super::recording::{Recording, Slice};
use super::{Device, covering};

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

/// Appends the exclusive prefix sum over `count` words; the grand total goes to `total`.
pub fn record(
    recording: &mut Recording,
    device: Device,
    values: Slice<u32>,
    offsets: Slice<u32>,
    count: u32,
    summed: Summed,
    (scratch, total): (ScanSlices, Slice<Total>),
) {
    let tiles = scan_tiles(u64::from(count)) as u32;
    let sums = if device.serial { scan_sums::Variant::Serial } else { scan_sums::Variant::Parallel };
    let (reduce, apply) = match (device.serial, summed) {
        (true, Summed::Masked(_)) => (scan_reduce::Variant::Serial, scan_apply::Variant::Serial),
        (true, Summed::Bits) => (scan_reduce::Variant::SerialBits, scan_apply::Variant::SerialBits),
        (false, Summed::Masked(_)) => (scan_reduce::Variant::Parallel, scan_apply::Variant::Parallel),
        (false, Summed::Bits) => (scan_reduce::Variant::ParallelBits, scan_apply::Variant::ParallelBits),
    };
    let mask = if let Summed::Masked(mask) = summed { mask } else { 0 };
    // Serial: one invocation a tile; parallel: one workgroup a tile.
    let groups =
        if device.serial { covering(u64::from(tiles), scan_reduce::kernel(reduce).local_size()) } else { tiles.into() };
    let bindings = scan_reduce::Bindings { values, sums: scratch.sums };
    recording.dispatch(scan_reduce::dispatch(reduce, groups, &bindings, &scan_reduce::Push { count, mask }));
    let bindings = scan_sums::Bindings { sums: scratch.sums, total };
    recording.dispatch(scan_sums::dispatch(sums, 1, &bindings, &scan_sums::Push { tiles }));
    let bindings = scan_apply::Bindings { values, sums: scratch.sums, offsets };
    recording.dispatch(scan_apply::dispatch(apply, groups, &bindings, &scan_apply::Push { count, mask }));
}
