//! Select: the grids that a region needs, ranked in stable order and sorted into depth batches and sublists.

use super::buffers::{ActiveRegion, GridPageSlices, StageMemory};
use super::hide;
use super::kernels::constants::{BATCHES, CLUSTER_GRIDS};
use super::kernels::{gather, plan_batches, select, sort_count, sort_scatter};
use super::portion::{covering, portion};
use super::recording::{DispatchExtent, Recording};
use super::scan::{self, PrefixSum};
use super::stage::{
    AssignBin, Bins, DepthBuckets, Execution, Finding, Need, PageOrder, Process, RecordTask, Repeats, StageDescriptor,
    StageSettings, Task, Units, Work, no_kernels,
};
use super::variants::{KernelList, KernelVariants};
use std::ops::Range;

/// See [`Process::ClearSelection`].
pub(super) const CLEAR_SELECTION: StageDescriptor = StageDescriptor {
    stage: "select",
    needs: &[],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: None,
    kernels: no_kernels,
    run: Execution::Task(Task {
        work: Work::Fill,
        units: |input| {
            let capacity = &input.region.capacity;
            Units::All((2 + u64::from(capacity.behind)) * input.region.subpixels() + capacity.choice_words())
        },
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            hide::record_clear(recording, input.region);
            record_clear(recording, input.region);
        }),
    }),
    finding: None,
};

/// See [`Process::Choose`].
pub(super) const CHOOSE: StageDescriptor = StageDescriptor {
    stage: "select",
    needs: &[Need::always(Process::ClearSelection)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Clusters),
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| vec![select::kernel(choice_variant(demand.variants))],
    run: Execution::Task(Task {
        work: Work::Choose,
        units: |_| Units::Even(f64::from(CLUSTER_GRIDS)),
        spread: None,
        record: RecordTask::Pages(PageOrder::Forward, |recording, input, page, some| {
            record_choice(recording, input.settings.variants, input.region, PageClusters { page, some });
        }),
    }),
    finding: None,
};

/// See [`Process::Rank`].
pub(super) const RANK: StageDescriptor = StageDescriptor {
    stage: "select",
    needs: &[Need::always(Process::Choose)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| scan::kernels(demand.variants, scan::Summed::Bits),
    run: Execution::Task(Task {
        work: Work::Scan,
        units: |input| Units::All(input.region.capacity.choice_words()),
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            record_ranks(recording, input.settings.variants, input.region);
        }),
    }),
    finding: None,
};

/// See [`Process::Gather`].
pub(super) const GATHER: StageDescriptor = StageDescriptor {
    stage: "select",
    needs: &[Need::always(Process::Rank)],
    stands_for: &[],
    bins: Bins::Items(AssignBin::Clusters),
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| vec![gather::kernel(gather_variant(demand.variants))],
    run: Execution::Task(Task {
        work: Work::Gather,
        units: |_| Units::Even(f64::from(CLUSTER_GRIDS)),
        spread: None,
        record: RecordTask::Pages(PageOrder::Backward, |recording, input, page, some| {
            let StageSettings { variants, depth, .. } = input.settings;
            record_gather(recording, *variants, input.region, *depth, PageClusters { page, some });
        }),
    }),
    finding: None,
};

/// See [`Process::SortForHiding`].
pub(super) const SORT_FOR_HIDING: StageDescriptor = StageDescriptor {
    stage: "select",
    needs: &[Need::always(Process::Gather)],
    stands_for: &[],
    bins: Bins::Whole,
    repeats: Repeats::Free,
    only_with: None,
    kernels: |demand| [vec![plan_batches::kernel()], sort_kernels(demand.variants, BY_HIDING)].concat(),
    run: Execution::Task(Task {
        work: Work::Sort,
        units: |input| Units::All(input.state.grids + input.region.capacity.sort_keys()),
        spread: None,
        record: RecordTask::Region(|recording, input, _| {
            let variants = input.settings.variants;
            let batches = BatchLimits::new(input.batches, variants);
            let order = HidingOrder { batches, depth: input.settings.depth };
            record_batches(recording, variants, input.memory(), order, input.state.grids);
        }),
    }),
    finding: Some(Finding::Selection),
};

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

/// Some clusters of a page of grids.
#[derive(Clone, Copy, Debug)]
pub struct PageClusters<'a> {
    /// The page.
    pub page: &'a GridPageSlices,
    /// The clusters, by number in the page.
    pub some: &'a Range<u64>,
}

impl PageClusters<'_> {
    /// The first and the last (exclusive) cluster, and the workgroups for them: an invocation each (serial) or a
    /// workgroup each.
    fn portion(self, variants: KernelVariants, local_size: [u32; 3]) -> ([u32; 2], DispatchExtent) {
        let (range, groups) = portion(self.some, self.page.clusters.count(), local_size);
        if variants.serial {
            return (range, groups);
        }
        (range, covering(u64::from(range[1] - range[0]) * u64::from(CLUSTER_GRIDS), local_size))
    }
}

/// Appends the choice of grids that the region needs, from some clusters of a page.
pub fn record_choice(
    recording: &mut Recording,
    variants: KernelVariants,
    region: &ActiveRegion,
    some: PageClusters<'_>,
) {
    let GridPageSlices { listed, order, clusters } = *some.page;
    let bindings = select::Bindings { clusters, grid_bounds: listed.bounds, order, chosen: region.slices.chosen };
    let variant = choice_variant(variants);
    let ([first, last], groups) = some.portion(variants, select::kernel(variant).local_size());
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

/// Appends the copying of the chosen grids of some clusters of a page into the region's list.
pub fn record_gather(
    recording: &mut Recording,
    variants: KernelVariants,
    region: &ActiveRegion,
    depth: DepthBuckets,
    some: PageClusters<'_>,
) {
    let (GridPageSlices { listed, order, clusters }, slices) = (*some.page, &region.slices);
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
    let ([first, last], groups) = some.portion(variants, gather::kernel(variant).local_size());
    let ([x0, y0, x1, y1], count) = (region.pixels.sampled, order.count() as u32);
    let (capacity, depth_base, depth_shift) = (region.capacity.grids as u32, depth.base, depth.shift);
    let push = gather::Push { first, last, count, x0, y0, x1, y1, capacity, depth_base, depth_shift };
    recording.dispatch(gather::dispatch(variant, groups, &bindings, &push));
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

/// By what grids are ordered for hiding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HidingOrder {
    /// Into how many depth batches they are cut.
    pub batches: BatchLimits,
    /// How depth falls into buckets, which batches consist of.
    pub depth: DepthBuckets,
}

/// Appends what comes after the last page: the depth batches, and the order in which grids are hidden. At most
/// `selected_max` grids are selected.
pub fn record_batches(
    recording: &mut Recording,
    variants: KernelVariants,
    memory: StageMemory<'_>,
    HidingOrder { batches, depth }: HidingOrder,
    selected_max: u64,
) {
    let slices = &memory.region.slices;
    let bindings = plan_batches::Bindings { histogram: slices.histogram, batches: slices.batches };
    let batches_per_vertex = if batches.vertices_min == 0 { f32::MAX } else { 1.0 / batches.vertices_min as f32 };
    let push = plan_batches::Push { batch_count: batches.count.clamp(1, BATCHES), batches_per_vertex };
    recording.dispatch(plan_batches::dispatch(1, &bindings, &push));
    let order = SortOrder { depth, places: 0..u32::MAX, selected_max };
    record_sort(recording, variants, memory, &order, BY_HIDING);
}

/// The counting sort for hiding.
const BY_HIDING: sort_count::Variant = sort_count::Variant { shade: false };
/// The counting sort for shading.
pub(super) const BY_SHADING: sort_count::Variant = sort_count::Variant { shade: true };

/// The sort keys of a counting sort of the selected grids.
#[derive(Clone, Debug)]
pub(super) struct SortOrder {
    /// Depth buckets (hiding).
    pub depth: DepthBuckets,
    /// Only grids with colours in these places take part (shading).
    pub places: Range<u32>,
    /// At least as many as are selected.
    pub selected_max: u64,
}

/// Appends a counting sort of the selected grids by sublist and size class.
pub(super) fn record_sort(
    recording: &mut Recording,
    variants: KernelVariants,
    StageMemory { frame, region }: StageMemory<'_>,
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
        sublist_count: capacity.sublists as u32,
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

/// The kernels of a counting sort of grids.
pub(super) fn sort_kernels(variants: KernelVariants, by: sort_count::Variant) -> KernelList {
    let scan = scan::kernels(variants, scan::Summed::WORD);
    [vec![sort_count::kernel(by)], scan, vec![sort_scatter::kernel()]].concat()
}
