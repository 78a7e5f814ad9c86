//! Exclusive prefix sums over 32-bit values (Harris et al. 2007; glsl/lib/scan.glsl).

use super::buffers::{ScanSlices, scan_tiles};
use super::kernels::records::Total;
use super::kernels::{scan_apply, scan_reduce, scan_sums};
use super::recording::{Recording, Slice};
use super::{Device, covering};

/// Values of a tile.
pub const TILE: u32 = 1024;

/// Appends the exclusive prefix sum of `count` values, each taken `& mask`; the grand total goes to `total`.
pub fn record(
    recording: &mut Recording,
    device: Device,
    values: Slice<u32>,
    offsets: Slice<u32>,
    count: u32,
    mask: u32,
    (scratch, total): (ScanSlices, Slice<Total>),
) {
    let tiles = scan_tiles(u64::from(count)) as u32;
    let (reduce, sums, apply) = if device.serial {
        (scan_reduce::Variant::Serial, scan_sums::Variant::Serial, scan_apply::Variant::Serial)
    } else {
        (scan_reduce::Variant::Parallel, scan_sums::Variant::Parallel, scan_apply::Variant::Parallel)
    };
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
