//! Select: the grids that a region needs, ranked in stable order and sorted into depth batches and bins.

use super::buffers::{ActiveRegion, FrameSlices, GridPageSlices};
use super::kernels::constants::{BATCHES, BLOCK_PX, CLUSTER_GRIDS, DEPTH_BUCKETS, SLOT_LOG2_MIN};
use super::kernels::{gather, plan_batches, select, sort_count, sort_scatter};
use super::needed_kernels::{KernelList, KernelVariants};
use super::recording::{Groups, Recording};
use super::scan::PrefixSum;
use super::{covering, portion, scan};
use std::ops::Range;

/// log2 of the vertices of a slot, by size class.
pub fn slot_log2(class: u32) -> u32 {
    SLOT_LOG2_MIN + class
}

/// Micropolygons that slots are expected to have: half as many as vertices. They are a third in hair, and 0.6 in broad
/// grids (bench/results/2026-11-lists.md).
pub fn micropolygons_expected(slots: u32, slot_log2: u32) -> u64 {
    u64::from(slots) << (slot_log2 - 1)
}

/// A region's pixels: what is sampled, and what of it is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionPixels {
    /// Sampled: x0, y0, x1, y1, half-open; includes the filter's apron, so it may begin at negative pixels.
    pub sampled: [i32; 4],
    /// Delivered: x0, y0, x1, y1, half-open.
    pub inside: [u32; 4],
}

impl RegionPixels {
    /// Sampled pixels along x and y.
    pub fn size(&self) -> [u32; 2] {
        let [x0, y0, x1, y1] = self.sampled;
        [(x1 - x0).cast_unsigned(), (y1 - y0).cast_unsigned()]
    }

    /// Sampled pixels.
    pub fn count(&self) -> u64 {
        let [width, height] = self.size();
        u64::from(width) * u64::from(height)
    }

    /// Delivered pixels along x and y.
    pub fn inside_size(&self) -> [u32; 2] {
        let [x0, y0, x1, y1] = self.inside;
        [x1 - x0, y1 - y0]
    }

    /// Where the delivered rectangle begins inside the sampled one.
    pub fn inside_offset(&self) -> [u32; 2] {
        [0, 1].map(|axis| (self.inside[axis].cast_signed() - self.sampled[axis]).cast_unsigned())
    }

    /// 4x4-pixel blocks.
    pub fn blocks(&self) -> u64 {
        let [width, height] = self.size();
        u64::from(width.div_ceil(BLOCK_PX)) * u64::from(height.div_ceil(BLOCK_PX))
    }
}

/// How depth falls into buckets: float bits, less `base`, shifted right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthBuckets {
    /// Bits of the nearest depth.
    pub base: u32,
    /// Bits to drop.
    pub shift: u32,
}

impl DepthBuckets {
    /// Buckets for depths between `nearest` and `farthest`, equal steps of the logarithm (nearly).
    pub fn new(nearest: f32, farthest: f32) -> Self {
        let base = nearest.max(f32::MIN_POSITIVE).to_bits();
        let span = farthest.max(nearest).max(f32::MIN_POSITIVE).to_bits().saturating_sub(base);
        let mut shift = 0;
        while span >> shift >= DEPTH_BUCKETS {
            shift += 1;
        }
        Self { base, shift }
    }
}

/// Appends the start of a selection: nothing is selected.
pub fn record_clear(recording: &mut Recording, region: &ActiveRegion) {
    recording.concurrent(|recording| {
        recording.fill(region.slices.chosen, 0);
        recording.fill(region.slices.histogram, 0);
    });
}

fn choice_variant(variants: KernelVariants) -> select::Variant {
    select::Variant { serial: variants.serial }
}

/// Appends the choice of grids that the region needs, from `some` clusters of a page.
pub fn record_choice(
    recording: &mut Recording,
    variants: KernelVariants,
    page: &GridPageSlices,
    region: &ActiveRegion,
    some: &Range<u64>,
) {
    let GridPageSlices { listed, order, clusters } = *page;
    let bindings = select::Bindings { clusters, grid_bounds: listed.bounds, order, chosen: region.slices.chosen };
    let variant = choice_variant(variants);
    let ([first, last], groups) = cluster_portion(variants, some, page, select::kernel(variant).local_size());
    let ([x0, y0, x1, y1], count) = (region.pixels.sampled, order.count() as u32);
    let push = select::Push { first, last, count, x0, y0, x1, y1 };
    recording.dispatch(select::dispatch(variant, groups, &bindings, &push));
}

/// Appends the ranking of all that are chosen, which counts them.
pub fn record_ranks(recording: &mut Recording, variants: KernelVariants, region: &ActiveRegion) {
    let slices = &region.slices;
    let sum = PrefixSum {
        values: slices.chosen,
        offsets: slices.ranks,
        count: slices.chosen.count() as u32,
        summed: scan::Summed::Bits,
        total: slices.selected_count,
    };
    scan::record(recording, variants, slices.scan, &sum);
}

fn gather_variant(variants: KernelVariants) -> gather::Variant {
    gather::Variant { serial: variants.serial }
}

/// Appends the copying of the chosen grids of `some` clusters of a page into the region's list.
pub fn record_gather(
    recording: &mut Recording,
    variants: KernelVariants,
    page: &GridPageSlices,
    region: &ActiveRegion,
    depth: DepthBuckets,
    some: &Range<u64>,
) {
    let (GridPageSlices { listed, order, clusters }, slices) = (*page, &region.slices);
    let bindings = gather::Bindings {
        clusters,
        order,
        chosen: slices.chosen,
        ranks: slices.ranks,
        page_grids: listed.grids,
        page_bounds: listed.bounds,
        grids: slices.grids.grids,
        grid_bounds: slices.grids.bounds,
        histogram: slices.histogram,
    };
    let variant = gather_variant(variants);
    let ([first, last], groups) = cluster_portion(variants, some, page, gather::kernel(variant).local_size());
    let ([x0, y0, x1, y1], count) = (region.pixels.sampled, order.count() as u32);
    let (capacity, depth_base, depth_shift) = (region.capacity.grids as u32, depth.base, depth.shift);
    let push = gather::Push { first, last, count, x0, y0, x1, y1, capacity, depth_base, depth_shift };
    recording.dispatch(gather::dispatch(variant, groups, &bindings, &push));
}

/// Some clusters of a page, and the workgroups for them: an invocation each (serial) or a workgroup each.
fn cluster_portion(
    variants: KernelVariants,
    some: &Range<u64>,
    page: &GridPageSlices,
    local_size: [u32; 3],
) -> ([u32; 2], Groups) {
    let (range, groups) = portion(some, page.clusters.count(), local_size);
    if variants.serial {
        return (range, groups);
    }
    (range, covering(u64::from(range[1] - range[0]) * u64::from(CLUSTER_GRIDS), local_size))
}

/// Into how many depth batches grids are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Batches, at most.
    pub count: u32,
    /// Vertices of a batch, at least.
    pub vertices_min: u32,
}

impl BatchLimits {
    /// At most `count` batches, for the devices that `variants` are for.
    pub fn new(count: u32, variants: KernelVariants) -> Self {
        Self { count, vertices_min: if variants.serial { 0 } else { BATCH_VERTICES_MIN_GPU } }
    }
}

/// Vertices of a depth batch on a GPU, at least: several for each invocation that a large one runs at once
/// (bench/results/2026-11-h200.md).
const BATCH_VERTICES_MIN_GPU: u32 = 1 << 21;

/// Appends what comes after the last page: the depth batches, and the order in which grids are hidden. At most
/// `selected_max` grids are selected.
pub fn record_batches(
    recording: &mut Recording,
    variants: KernelVariants,
    frame: &FrameSlices,
    region: &ActiveRegion,
    batches: BatchLimits,
    depth: DepthBuckets,
    selected_max: u64,
) {
    let bindings = plan_batches::Bindings { histogram: region.slices.histogram, batches: region.slices.batches };
    let batches_per_vertex = if batches.vertices_min == 0 { f32::MAX } else { 1.0 / batches.vertices_min as f32 };
    let push = plan_batches::Push { batch_count: batches.count.clamp(1, BATCHES), batches_per_vertex };
    recording.dispatch(plan_batches::dispatch(1, &bindings, &push));
    let order = SortOrder { depth, places: 0..u32::MAX, selected_max };
    record_sort(recording, variants, frame, region, &order, SORT_FOR_HIDING);
}

/// The counting sort for hiding.
const SORT_FOR_HIDING: sort_count::Variant = sort_count::Variant { shade: false };
/// The counting sort for shading.
pub(super) const SORT_FOR_SHADING: sort_count::Variant = sort_count::Variant { shade: true };

/// The keys of a counting sort of the selected grids.
#[derive(Clone, Debug)]
pub(super) struct SortOrder {
    /// Depth buckets (hiding).
    pub depth: DepthBuckets,
    /// Only grids with colours in these places take part (shading).
    pub places: Range<u32>,
    /// At least as many as are selected.
    pub selected_max: u64,
}

/// Appends a counting sort of the selected grids by bin and size class.
pub(super) fn record_sort(
    recording: &mut Recording,
    variants: KernelVariants,
    frame: &FrameSlices,
    region: &ActiveRegion,
    order: &SortOrder,
    by: sort_count::Variant,
) {
    let (slices, capacity) = (&region.slices, &region.capacity);
    recording.fill(slices.counts, 0);
    let groups = covering(order.selected_max.min(capacity.grids), sort_count::LOCAL_SIZE);
    let bindings = sort_count::Bindings {
        grids: slices.grids.grids,
        grid_bounds: slices.grids.bounds,
        instances: frame.instances,
        batches: slices.batches,
        needed: slices.needed,
        counts: slices.counts,
        sort_keys: slices.sort_keys,
        places: slices.places,
        total: slices.selected_count,
        colour_base: slices.colour_base,
    };
    let push = sort_count::Push {
        capacity: capacity.grids as u32,
        bin_count: capacity.bins as u32,
        depth_base: order.depth.base,
        depth_shift: order.depth.shift,
        first_place: order.places.start,
        last_place: order.places.end,
    };
    recording.dispatch(sort_count::dispatch(by, groups, &bindings, &push));
    let sum = PrefixSum {
        values: slices.counts,
        offsets: slices.offsets,
        count: capacity.sort_keys() as u32,
        summed: scan::Summed::WORD,
        total: slices.scan.total,
    };
    scan::record(recording, variants, slices.scan, &sum);
    let bindings = sort_scatter::Bindings {
        sort_keys: slices.sort_keys,
        places: slices.places,
        offsets: slices.offsets,
        sorted: if by.shade { slices.sorted_shade } else { slices.sorted_hide },
        total: slices.selected_count,
    };
    let push = sort_scatter::Push { capacity: capacity.grids as u32 };
    recording.dispatch(sort_scatter::dispatch(groups, &bindings, &push));
}

/// The kernels that choose grids.
pub(super) fn choice_kernels(variants: KernelVariants) -> KernelList {
    vec![select::kernel(choice_variant(variants))]
}

/// The kernels that rank the chosen grids.
pub(super) fn rank_kernels(variants: KernelVariants) -> KernelList {
    scan::kernels(variants, scan::Summed::Bits)
}

/// The kernels that copy the chosen grids.
pub(super) fn gather_kernels(variants: KernelVariants) -> KernelList {
    vec![gather::kernel(gather_variant(variants))]
}

/// The kernels that make depth batches and sort grids for hiding.
pub(super) fn batch_kernels(variants: KernelVariants) -> KernelList {
    [vec![plan_batches::kernel()], sort_kernels(variants, SORT_FOR_HIDING)].concat()
}

/// The kernels of a counting sort of grids.
pub(super) fn sort_kernels(variants: KernelVariants, by: sort_count::Variant) -> KernelList {
    let scan = scan::kernels(variants, scan::Summed::WORD);
    [vec![sort_count::kernel(by)], scan, vec![sort_scatter::kernel()]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_buckets_span_the_scene() {
        let bucket = |d: DepthBuckets, z: f32| (z.to_bits() - d.base) >> d.shift;
        let depth = DepthBuckets::new(0.1, 1000.0);
        assert_eq!(bucket(depth, 0.1), 0);
        assert!((DEPTH_BUCKETS / 2..DEPTH_BUCKETS).contains(&bucket(depth, 1000.0)));
        let flat = DepthBuckets::new(5.0, 5.0);
        assert_eq!(bucket(flat, 5.0), 0);
    }

    #[test]
    fn a_region_knows_its_inside() {
        let region = RegionPixels { sampled: [-1, 7, 12, 20], inside: [0, 8, 11, 19] };
        assert_eq!(region.size(), [13, 13]);
        assert_eq!(region.inside_offset(), [1, 1]);
        assert_eq!(region.inside_size(), [11, 11]);
        assert_eq!(region.blocks(), 16);
    }
}
