//! What shaders print. Kernels append records to `Status` in any order, and a point may be computed several times: for
//! several regions, rounds or slabs, or because its loops were long. So records are read after each submission that
//! shades, put in order, and repeats are dropped; the picture's first lines are kept whatever regions it was drawn in.

use crate::gpu::{Device, GpuError};
use crate::host_memory::Charge;
use crate::pipeline::buffers::ActiveRegion;
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::recording::Recording;
use crate::render::region::bakes::{BakeMemory, BakedPoints, point_bytes};
use crate::shading::prints::{LeftRecord, PrintedRecord, records};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Calls of `printf` that are kept.
const CALLS_MAX: usize = 1000;

/// The first calls of `printf` of a picture, or of a region of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PrintedCalls {
    /// By the grid, the vertex, and the number of the call there.
    pub first: BTreeMap<[u32; 3], PrintedRecord>,
    /// Whether there were more.
    pub more: bool,
    /// Words for which a submission had no room.
    pub lost_words: u64,
}

impl PrintedCalls {
    fn insert(&mut self, place: [u32; 3], record: PrintedRecord) {
        self.first.insert(place, record);
        if self.first.len() > CALLS_MAX {
            self.first.pop_last();
            self.more = true;
        }
    }

    /// Adds those of another region.
    pub(crate) fn add(&mut self, other: Self) {
        self.more |= other.more;
        self.lost_words += other.lost_words;
        other.first.into_iter().for_each(|(place, record)| self.insert(place, record));
    }
}

/// The number in authored order of the grid of each rank: the bits that are set in `chosen`.
fn authored_numbers(chosen: &[u32]) -> Vec<u32> {
    let bits = |(word, at): (&u32, u32)| {
        let word = *word;
        (0..32).filter(move |bit| word >> bit & 1 != 0).map(move |bit| 32 * at + bit)
    };
    chosen.iter().zip(0..).flat_map(bits).collect()
}

/// Words of records that a region has room for.
fn room(region: &ActiveRegion) -> u64 {
    4 * region.capacity.prints.saturating_sub(1)
}

/// What the shaders of a region have printed and baked so far, by ranks of grids.
#[derive(Debug, Default)]
pub(crate) struct RegionPrints {
    /// Whether what the last submission printed is to be read.
    printing: bool,
    printed: PrintedCalls,
    baked: BakedPoints,
    /// The memory that these take.
    charge: Option<Charge>,
}

/// What the shaders of a finished region have printed and baked, and the memory of the points.
pub(crate) struct TakenPrints {
    pub printed: PrintedCalls,
    pub baked: BakedPoints,
    pub charge: Option<Arc<Charge>>,
}

impl RegionPrints {
    /// Vertices of a load or of a submission that are shaded: what they are known to print and bake fits.
    pub(crate) fn vertices_max(region: &ActiveRegion, kernels: &[ShadingKernel]) -> u64 {
        let words: u64 = kernels.iter().map(|kernel| u64::from(kernel.print_words)).max().unwrap_or(0);
        // A displacement program prints and then a colour program.
        if room(region) == 0 { u64::MAX } else { room(region) / (2 * words).max(1) }
    }

    /// Makes room for what the loads of a recording, which is still empty, print. Displacement prints where its
    /// results are shaded, not where they are hidden, which culling and regions decide.
    pub(crate) fn begin(&mut self, recording: &mut Recording, region: &ActiveRegion, shades: bool) {
        let prints = region.capacity.prints;
        if prints == 0 {
            return;
        }
        let places = region.slices.status.part(1..1 + prints);
        if shades {
            recording.fill(places, 0);
        }
        let most = if shades { room(region) as u32 } else { 0 };
        recording.write(places.part(0..1), &[[0, most, 0, 0]]);
        self.printing = shades;
    }

    /// Forgets what the last submission printed, because it is printed again.
    pub(crate) fn forget(&mut self) {
        self.printing = false;
    }

    /// Reads what the last submission printed, which is done.
    pub(crate) fn note(
        &mut self,
        device: &mut Device,
        region: &ActiveRegion,
        kernels: &[ShadingKernel],
        bake_memory: &BakeMemory,
    ) -> Result<(), GpuError> {
        if !std::mem::take(&mut self.printing) {
            return Ok(());
        }
        let status = region.slices.status;
        let used = u64::from(device.read(status.part(1..2))?[0][0]);
        let kept = used.min(room(region));
        if kernels.iter().any(|kernel| kernel.bakes) {
            self.baked.lost_words += used - kept;
        } else {
            self.printed.lost_words += used - kept;
        }
        if kept > 0 {
            let words = device.read(status.part(2..2 + kept.div_ceil(4)))?;
            self.keep(&records(&words.as_flattened()[..kept as usize]), bake_memory);
        }
        Ok(())
    }

    /// Keeps records. Where memory for points is short, all points are forgotten.
    fn keep(&mut self, records: &[([u32; 3], LeftRecord)], bake_memory: &BakeMemory) {
        let bytes_of = |record: &LeftRecord| match record {
            LeftRecord::Printed(_) => 0,
            LeftRecord::Baked(_, floats) => point_bytes(floats.len()),
        };
        let bytes: u64 = records.iter().map(|(_, record)| bytes_of(record)).sum();
        let charge = self.charge.get_or_insert_with(|| bake_memory.charge());
        let fits = bytes == 0 || bake_memory.take(charge, bytes);
        if !fits {
            (self.baked, self.charge) = (BakedPoints::default(), None);
        }
        for (place, record) in records {
            match record {
                LeftRecord::Printed(record) => self.printed.insert(*place, record.clone()),
                LeftRecord::Baked(call, floats) if fits => self.baked.insert(*place, *call, floats),
                LeftRecord::Baked(..) => {}
            }
        }
    }

    /// What the region printed and baked: ranks of grids become their numbers in the picture.
    pub(crate) fn take(&mut self, device: &mut Device, region: &ActiveRegion) -> Result<TakenPrints, GpuError> {
        let Self { mut printed, baked, charge, .. } = std::mem::take(self);
        let charge = charge.filter(|_| !baked.calls.is_empty()).map(Arc::new);
        if printed.first.is_empty() && baked.calls.is_empty() {
            return Ok(TakenPrints { printed, baked, charge });
        }
        let numbers = authored_numbers(&device.read(region.slices.chosen)?);
        let renumbered =
            |[rank, vertex, call]: [u32; 3]| [numbers.get(rank as usize).copied().unwrap_or(u32::MAX), vertex, call];
        printed.first = printed.first.into_iter().map(|(place, record)| (renumbered(place), record)).collect();
        Ok(TakenPrints { printed, baked: baked.sorted(renumbered), charge })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::HostMemory;
    use crate::shading::bakes::BakeCall;

    #[test]
    fn points_are_forgotten_where_memory_is_short() {
        let memory = HostMemory::new(4 * 10 * point_bytes(8));
        let (bake_memory, mut prints) = (BakeMemory::new(&memory), RegionPrints::default());
        let points = |first: u32| -> Vec<([u32; 3], LeftRecord)> {
            let point = |at| ([at, 0, 0], LeftRecord::Baked(BakeCall::default(), vec![0.5; 8]));
            (first..first + 6).map(point).collect()
        };
        let count = |prints: &RegionPrints| prints.baked.calls.values().map(|calls| calls.places.len()).sum::<usize>();
        prints.keep(&points(0), &bake_memory);
        assert_eq!((count(&prints), bake_memory.is_short()), (6, false));
        prints.keep(&points(6), &bake_memory);
        assert_eq!((count(&prints), bake_memory.is_short()), (0, true));
        // What was charged is free for others, but not for more points.
        assert_eq!(memory.usage(), "nothing");
        prints.keep(&points(12), &bake_memory);
        assert_eq!(prints.baked, BakedPoints::default());
    }

    fn calls(numbers: impl Iterator<Item = u32>) -> PrintedCalls {
        let mut calls = PrintedCalls::default();
        numbers.for_each(|number| calls.insert([number, 0, 0], PrintedRecord::default()));
        calls
    }

    #[test]
    fn the_first_calls_are_kept_in_whatever_order_regions_end() {
        let all = calls(0..1500);
        assert!(all.more && all.first.len() == 1000 && all.first.contains_key(&[999, 0, 0]));
        // Regions overlap.
        let parts = [calls(900..1500), calls((0..1000).rev()), calls((0..1500).filter(|n| n % 7 == 0))];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let mut sum = PrintedCalls::default();
            order.iter().for_each(|&part| sum.add(parts[part].clone()));
            assert_eq!(sum, all);
        }
        assert!(!calls(0..1000).more);
    }

    #[test]
    fn ranks_are_set_bits() {
        assert_eq!(authored_numbers(&[0b1010, 0, 1 << 31]), [1, 3, 95]);
    }
}
