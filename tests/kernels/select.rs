//! Selection, depth batches, the counting sorts, and culling, against their references.

use super::grids::listed;
use super::random::Random;
use super::region::{Region, delivered, flat_frame, in_halves};
use crate::reference::scan::exclusive;
use crate::reference::select::{batches, bucket, is_hidden, selected, size_class, slot_log2};
use anthill::pipeline::KernelVariants;
use anthill::pipeline::buffers::{ActiveRegion, FrameSlices, GridPageSlices, GridSlices, StageMemory};
use anthill::pipeline::kernels::constants::{
    BATCHES, CLUSTER_GRIDS, DEPTH_BUCKETS, INSTANCE_FLIP_NORMAL, INSTANCE_MATTE, INSTANCE_ONE_SIDED, SHAPE_NU,
    SHAPE_NV, SIZE_CLASSES, SLOT_FLAGS_SHIFT, SLOT_FLIP, SLOT_MATTE, SLOT_NV_SHIFT, SLOT_ONE_SIDED,
};
use anthill::pipeline::kernels::records::{Cluster, GridBound, Instance, Slot, Subpatch};
use anthill::pipeline::piece::Piece;
use anthill::pipeline::pixels::{RegionPixels, packed_range, unpacked_range};
use anthill::pipeline::select::{self as stage, BatchLimits, HidingOrder, PageClusters};
use anthill::pipeline::shade;
use anthill::pipeline::slab::Slab;
use anthill::pipeline::slots::{self, SlotSource};
use anthill::pipeline::stage::DepthBuckets;
use std::ops::Range;

const SUBLISTS: u32 = 3;
const REGION: RegionPixels = RegionPixels { sampled: [-2, 10, 61, 53], inside: delivered([0, 12, 59, 51]) };
const DEPTHS: [f32; 2] = [0.5, 40.0];

/// Random grids of a frame of 100 x 80 pixels; bounds that end exactly at the region's rim among them.
fn grids(count: u32, random: &mut Random) -> (Vec<Subpatch>, Vec<GridBound>, Vec<Instance>) {
    let instance = |_| Instance {
        hide_sublist: random.below(SUBLISTS),
        shade_sublist: random.below(SUBLISTS),
        flags: random.below((INSTANCE_FLIP_NORMAL | INSTANCE_ONE_SIDED | INSTANCE_MATTE) + 1),
        ..Instance::default()
    };
    let instances: Vec<Instance> = (0..20).map(instance).collect();
    let grid = |_| {
        let [nu, nv] = [0; 2].map(|_| 1 + random.below(15));
        Subpatch { instance: random.below(20), shape: nu << SHAPE_NU | nv << SHAPE_NV, ..Subpatch::default() }
    };
    let grids: Vec<Subpatch> = (0..count).map(grid).collect();
    let bound = |_| {
        let mut range = |low: i32, high: i32, rim: [i32; 2]| {
            let start = if random.one_in(10) { rim[random.below(2) as usize] } else { random.int(low..high) };
            let end = start + random.int(0..20);
            if random.one_in(10) { [rim[0] - 5, rim[0] - random.int(0..2)] } else { [start, end] }
        };
        let (x, y) = (packed_range(range(-10, 100, [-2, 61])), packed_range(range(-10, 80, [10, 53])));
        let zmin = if random.one_in(20) { random.float(-3.0, 100.0) } else { DEPTHS[0] * 80.0_f32.powf(random.unit()) };
        GridBound { x, y, zmin, zmax: zmin + random.unit() }
    };
    let bounds = (0..count).map(bound).collect();
    (grids, bounds, instances)
}

struct Bench {
    region: Region,
    frame: FrameSlices,
    /// The frame's grids, in pages whose order is not that of the grids.
    pages: Vec<GridPageSlices>,
    grid_count: u64,
    depth: DepthBuckets,
}

fn bench(grids: &[Subpatch], bounds: &[GridBound], instances: &[Instance], capacity: u64) -> Bench {
    paged_bench(grids, bounds, instances, capacity, grids.len().max(1))
}

/// With pages of so many grids.
fn paged_bench(
    grids: &[Subpatch],
    bounds: &[GridBound],
    instances: &[Instance],
    capacity: u64,
    page_grids: usize,
) -> Bench {
    let mut region = Region::new(flat_frame([2, 2], true), REGION, |room| {
        room.frame_grids = grids.len() as u64;
        room.grids = capacity;
        room.sublists = u64::from(SUBLISTS);
    });
    let lab = &mut region.lab;
    let instances = lab.upload("instances", instances);
    // By pixel along x, so that many clusters lie beside the region.
    let mut order: Vec<u32> = (0..grids.len() as u32).collect();
    order.sort_by_key(|&grid| unpacked_range(bounds[grid as usize].x));
    let page = |some: &[u32]| {
        let bounds = of(some, bounds);
        let clusters: Vec<Cluster> = bounds.chunks(CLUSTER_GRIDS as usize).map(cluster).collect();
        GridPageSlices {
            listed: GridSlices { grids: lab.upload("grids", &of(some, grids)), bounds: lab.upload("bounds", &bounds) },
            order: lab.upload("order", some),
            clusters: lab.upload("clusters", &clusters),
        }
    };
    let pages = order.chunks(page_grids).map(page).collect();
    let frame = FrameSlices { instances, ..region.frame };
    Bench { region, frame, pages, grid_count: grids.len() as u64, depth: DepthBuckets::new(DEPTHS[0], DEPTHS[1]) }
}

/// The pixels of some bounds together.
fn cluster(bounds: &[GridBound]) -> Cluster {
    let all = |of: fn(&GridBound) -> u32| {
        let low = bounds.iter().map(|bound| unpacked_range(of(bound))[0]).min().expect("a cluster has grids");
        let high = bounds.iter().map(|bound| unpacked_range(of(bound))[1]).max().expect("a cluster has grids");
        packed_range([low, high])
    };
    Cluster { x: all(|bound| bound.x), y: all(|bound| bound.y) }
}

impl Bench {
    fn select(&mut self, batches: u32) {
        self.select_on(self.region.lab.variants(), batches);
    }

    /// Selects with the kernels for such a device.
    fn select_on(&mut self, variants: KernelVariants, batches: u32) {
        let Region { lab, slices, capacity, .. } = &mut self.region;
        let (pages, depth) = (&self.pages, self.depth);
        let region = ActiveRegion { pixels: REGION, slices: *slices, capacity: *capacity };
        let memory = StageMemory { frame: &self.frame, region: &region };
        lab.run(|recording| {
            stage::record_clear(recording, &region);
            for page in pages {
                in_halves(page.clusters.count(), |some| {
                    stage::record_choice(recording, variants, &region, PageClusters { page, some });
                });
            }
            stage::record_ranks(recording, variants, &region);
            for page in pages.iter().rev() {
                in_halves(page.clusters.count(), |some| {
                    stage::record_gather(recording, variants, &region, depth, PageClusters { page, some });
                });
            }
            let order = HidingOrder { batches: BatchLimits { count: batches, vertices_min: 0 }, depth };
            stage::record_batches(recording, variants, memory, order, self.grid_count);
        });
    }
}

#[test]
fn grids_are_selected_in_order_and_sorted_by_batch_sublist_and_size() {
    for (count, batch_count) in [(0, 32), (1, 32), (63, 1), (3000, 32), (3000, 7)] {
        let mut random = Random::new(u64::from(count + batch_count));
        let (grids, bounds, instances) = grids(count, &mut random);
        for serial in [true, false] {
            let mut bench = bench(&grids, &bounds, &instances, 4096);
            bench.select_on(KernelVariants { serial }, batch_count);
            check_selection(&mut bench, &grids, &bounds, &instances, batch_count);
        }
    }
}

#[test]
fn pages_make_no_difference_to_what_is_selected() {
    for (count, page_grids) in [(3000, 16), (3000, 1024), (2048, 1024), (3000, 100), (5, 16)] {
        let mut random = Random::new(u64::from(count) + page_grids as u64);
        let (grids, bounds, instances) = grids(count, &mut random);
        let mut bench = paged_bench(&grids, &bounds, &instances, 4096, page_grids);
        bench.select(32);
        check_selection(&mut bench, &grids, &bounds, &instances, 32);
    }
}

/// What is selected, in which order, and how it is sorted.
fn check_selection(
    bench: &mut Bench,
    grids: &[Subpatch],
    bounds: &[GridBound],
    instances: &[Instance],
    batch_count: u32,
) {
    let expected = selected(bounds, &REGION);
    let (lab, slices) = (&mut bench.region.lab, bench.region.slices);
    let total = lab.read(slices.selected_count)[0].total;
    assert_eq!(total as usize, expected.len());
    let some = 0..u64::from(total);
    assert_eq!(lab.read(slices.grids.grids.part(some.clone())), of(&expected, grids), "ranks keep the order of grids");
    assert_eq!(lab.read(slices.grids.bounds.part(some)), of(&expected, bounds));

    let mut histogram = vec![0; DEPTH_BUCKETS as usize];
    for &grid in &expected {
        histogram[bucket(&bounds[grid as usize], bench.depth) as usize] += 1 << slot_log2(&grids[grid as usize]);
    }
    assert_eq!(lab.read(slices.histogram), histogram);
    let batch = lab.read(slices.batches.part(0..u64::from(DEPTH_BUCKETS)));
    assert!(batch.is_sorted(), "nearest first");
    for (found, (exact, rest)) in batch.iter().zip(batches(&histogram, batch_count)) {
        // Single precision may round a bucket across a border that it touches.
        let touches = rest < 1e-4 && *found + 1 == exact || rest > 1.0 - 1e-4 && *found == exact + 1;
        assert!(*found == exact || touches, "{found} for {exact}");
    }

    let mut farthest = vec![0.0_f32; BATCHES as usize];
    for &grid in &expected {
        let far = &mut farthest[batch[bucket(&bounds[grid as usize], bench.depth) as usize] as usize];
        *far = far.max(bounds[grid as usize].zmax);
    }
    let found = lab.read(slices.batches.part(u64::from(DEPTH_BUCKETS)..u64::from(DEPTH_BUCKETS + BATCHES)));
    assert_eq!(found, farthest.iter().map(|z| z.to_bits()).collect::<Vec<_>>());

    let sort_key = |rank: u32| {
        let grid = expected[rank as usize] as usize;
        let batch = batch[bucket(&bounds[grid], bench.depth) as usize];
        let sublist = instances[grids[grid].instance as usize].hide_sublist;
        (batch * SUBLISTS + sublist) * SIZE_CLASSES + size_class(&grids[grid])
    };
    let sorted = lab.read(slices.sorted_hide.part(0..u64::from(total)));
    check_sorted(&sorted, 0..total, sort_key);
    let mut counts = vec![0; bench.region.capacity.sort_keys() as usize];
    sorted.iter().for_each(|&rank| counts[sort_key(rank) as usize] += 1);
    assert_eq!(lab.read(slices.counts), counts);
    assert_eq!(lab.read(slices.offsets), exclusive(&counts, u32::MAX).0);
}

/// The records of some grids.
fn of<T: Copy>(some: &[u32], records: &[T]) -> Vec<T> {
    some.iter().map(|&grid| records[grid as usize]).collect()
}

/// Each of `ranks` once, by sort key.
fn check_sorted(sorted: &[u32], ranks: impl Iterator<Item = u32>, sort_key: impl Fn(u32) -> u32) {
    let mut once = sorted.to_vec();
    once.sort_unstable();
    assert_eq!(once, ranks.collect::<Vec<_>>(), "every grid once");
    assert!(sorted.is_sorted_by_key(|&rank| sort_key(rank)));
}

#[test]
fn more_grids_than_fit_are_counted_and_nothing_is_written_past_the_end() {
    let (grids, bounds, instances) = grids(2000, &mut Random::new(4));
    let expected = selected(&bounds, &REGION);
    let mut bench = bench(&grids, &bounds, &instances, 64);
    assert!(expected.len() > 64);
    bench.select(32);
    let (lab, slices) = (&mut bench.region.lab, bench.region.slices);
    assert_eq!(lab.read(slices.selected_count)[0].total as usize, expected.len());
    assert_eq!(lab.read(slices.grids.grids), of(&expected[..64], &grids));
    assert_eq!(lab.read(slices.grids.bounds), of(&expected[..64], &bounds));
    // 64 records end where the next slice begins: those behind the lists and `sorted` hold what they should.
    let work: u32 = expected[..64].iter().map(|&grid| 1 << slot_log2(&grids[grid as usize])).sum();
    assert_eq!(lab.read(slices.histogram).iter().sum::<u32>(), work);
    assert_eq!(lab.read(slices.counts).iter().sum::<u32>(), 64);
}

#[test]
fn grids_with_colours_in_a_round_are_sorted_for_shading() {
    let mut random = Random::new(8);
    let (grids, bounds, instances) = grids(2000, &mut random);
    let mut bench = bench(&grids, &bounds, &instances, 4096);
    bench.select(32);
    let total = selected(&bounds, &REGION).len();
    let needed: Vec<u32> = (0..total).map(|_| if random.one_in(3) { 0 } else { random.below(226) }).collect();
    let (base, places) = exclusive(&needed, u32::MAX);
    let (lab, slices) = (&mut bench.region.lab, bench.region.slices);
    lab.write(slices.needed.part(0..total as u64), &needed);
    lab.write(slices.colour_base.part(0..total as u64), &base);
    let chosen = selected(&bounds, &REGION);
    let rounds: [Range<u32>; 5] = [0..places, 0..1000, 1000..1001, 1001..places / 2, places / 2..places + 500];
    for round in rounds {
        let region = bench.region.context();
        let memory = StageMemory { frame: &bench.frame, region: &region };
        let lab = &mut bench.region.lab;
        let variants = lab.variants();
        lab.run(|recording| {
            shade::record_order(recording, variants, memory, total as u64, round.clone());
        });
        let takes_part = |&rank: &u32| {
            let (first, count) = (base[rank as usize], needed[rank as usize]);
            count > 0 && first < round.end && first + count > round.start
        };
        let ranks: Vec<u32> = (0..total as u32).filter(takes_part).collect();
        let sorted = lab.read(slices.sorted_shade.part(0..ranks.len() as u64));
        check_sorted(&sorted, ranks.iter().copied(), |rank| {
            let grid = grids[chosen[rank as usize] as usize];
            instances[grid.instance as usize].shade_sublist * SIZE_CLASSES + size_class(&grid)
        });
        let counted: u32 = lab.read(slices.counts).iter().sum();
        assert_eq!(counted as usize, ranks.len());
    }
}

#[test]
fn culling_drops_only_what_is_hidden_or_outside_the_slab() {
    let mut random = Random::new(12);
    let (grids, bounds, instances) = grids(1500, &mut random);
    let mut bench = bench(&grids, &bounds, &instances, 4096);
    bench.select(32);
    let expected = selected(&bounds, &REGION);
    let total = expected.len() as u32;
    // Blocks that show something near, far, or nothing yet; some of the depths are those of grids.
    let block = |_| match random.below(4) {
        0 => u32::MAX,
        1 => bounds[expected[random.below(total) as usize] as usize].zmin.max(0.0).to_bits(),
        _ => random.float(0.5, 5.0).to_bits(),
    };
    let blocks: Vec<u32> = (0..REGION.blocks()).map(block).collect();
    let slices = bench.region.slices;
    bench.region.lab.write(slices.blocks.part(0..REGION.blocks()), &blocks);
    let order = bench.region.lab.read(slices.sorted_hide.part(0..u64::from(total)));
    let slab = Slab { low: u64::from(1.0_f32.to_bits()) << 32, high: u64::from(20.0_f32.to_bits()) << 32 };
    for (enabled, slab) in [(true, Slab::WHOLE), (false, Slab::WHOLE), (true, slab)] {
        let slots = cull(&mut bench, total, enabled, slab);
        let outside = |bound: &GridBound| {
            let bits = |z: f32| u64::from(z.max(0.0).to_bits());
            bits(bound.zmax) < slab.low >> 32 || bits(bound.zmin) > slab.high >> 32
        };
        let mut kept: Vec<u32> = slots.iter().map(|slot| slot.rank).collect();
        kept.sort_unstable();
        let stays = |&rank: &u32| {
            let bound = &bounds[expected[rank as usize] as usize];
            !(outside(bound) || enabled && is_hidden(bound, &REGION, &blocks))
        };
        // Grids of very many blocks may be kept without a search: there are none here.
        let wanted: Vec<u32> = (0..total).filter(stays).collect();
        assert_eq!(kept, wanted, "culling {enabled}, {slab:?}");
        assert!(!enabled || wanted.len() < order.len());
        slots.iter().for_each(|slot| check_slot(slot, &expected, &grids, &bounds, &instances));
    }
}

/// Makes slots of all sorted grids, as one piece.
fn cull(bench: &mut Bench, total: u32, cull: bool, slab: Slab) -> Vec<Slot> {
    let piece = Piece { number: 3, slot_base: 5, slot_log2: 8, slot_count: total, lists: 7, base: 0 };
    let pieces = [Piece { number: 0, ..piece }, Piece { number: 1, ..piece }, Piece { number: 2, ..piece }, piece];
    let context = bench.region.context();
    let source = SlotSource { sorted: context.slices.sorted_hide, first: 0, cull, slab };
    let (lab, slices) = (&mut bench.region.lab, context.slices);
    let memory = StageMemory { frame: &bench.frame, region: &context };
    lab.run(|recording| {
        slots::record_pieces(recording, &slices, &pieces);
        slots::record_cull(recording, memory, &piece, &source);
        slots::record_arm(recording, &slices, pieces.len());
    });
    let states = lab.read(slices.pieces.part(0..4));
    assert!(states[..3].iter().all(|state| state.count == 0 && state.mp_groups[0] == 0));
    let count = states[3].count;
    let slots: Vec<Slot> = lab.read(slices.slots.part(5..5 + u64::from(count)));
    let dims = |slot: &Slot| [slot.dims & 0xff, slot.dims >> SLOT_NV_SHIFT & 0xff];
    let rows = listed(slots.iter().map(|slot| dims(slot)[1] + 1));
    let micropolygons = listed(slots.iter().map(|slot| dims(slot).iter().product()));
    let groups = |pairs: &[u32], size: usize| [(2 * pairs.len()).div_ceil(size) as u32, 1, 1];
    assert_eq!(states[3].row_groups, groups(&rows, 64));
    assert_eq!(states[3].mp_groups, groups(&micropolygons, 256));
    assert_eq!(states[3].slot_row_groups, [count.div_ceil(4), 1, 1], "a slot of 256 vertices may have 16 rows");
    for (list, expected) in [(states[3].rows, rows), (states[3].mps, micropolygons)] {
        assert_eq!(list.pairs as usize, expected.len());
        let words = u64::from(list.first)..u64::from(list.first + list.pairs);
        let mut found: Vec<u32> = lab.read(slices.arena.cast().part(words));
        found.sort_unstable();
        assert_eq!(found, expected, "each row and micropolygon is listed once");
    }
    slots
}

fn check_slot(slot: &Slot, selected: &[u32], grids: &[Subpatch], bounds: &[GridBound], instances: &[Instance]) {
    let grid = selected[slot.rank as usize];
    let (subpatch, bound) = (&grids[grid as usize], &bounds[grid as usize]);
    let flags = instances[subpatch.instance as usize].flags;
    let expected_flag = |instance: u32, slot: u32| if flags & instance != 0 { slot } else { 0 };
    let expected_flags = expected_flag(INSTANCE_ONE_SIDED, SLOT_ONE_SIDED)
        | expected_flag(INSTANCE_FLIP_NORMAL, SLOT_FLIP)
        | expected_flag(INSTANCE_MATTE, SLOT_MATTE);
    let [nu, nv] = subpatch.micropolygons();
    let dims = nu | nv << SLOT_NV_SHIFT;
    assert_eq!((slot.instance, slot.dims), (subpatch.instance, dims | expected_flags << SLOT_FLAGS_SHIFT));
    assert_eq!((slot.bound_x, slot.bound_y, slot.zmin, slot.zmax), (bound.x, bound.y, bound.zmin, bound.zmax));
}
