//! Sampling of translucent grids: entries against every sample and micropolygon.

use super::layers::Layers;
use super::random::Random;
use super::region::{Mesh, Region, flat_frame, pattern, region};
use crate::reference::sample::{entries, numbers};
use crate::reference::shade::bits;
use anthill::pipeline::kernels::constants::NUMBER_MP_BITS;
use anthill::pipeline::kernels::records::Appended;
use anthill::pipeline::plan::Division;
use anthill::pipeline::slab::Slab;
use std::collections::BTreeMap;

fn key(z: f32, number: u32) -> u64 {
    u64::from(z.to_bits()) << 32 | u64::from(number)
}

/// Random micropolygons, some of them large, some at equal depth.
fn quads(random: &mut Random, count: usize, depth: [f32; 2]) -> Vec<Mesh> {
    let quad = |_| {
        let (x, y, z) = (random.float(-1.0, 9.0), random.float(-1.0, 8.0), random.float(depth[0], depth[1]));
        let size = if random.one_in(10) { 9.0 } else { 1.5 };
        let even = random.one_in(3);
        Mesh::quad([0; 4].map(|_| {
            let depth = if even { z.round() } else { z + random.float(-0.3, 0.3) };
            [x + random.float(-size, size), y + random.float(-size, size), depth]
        }))
    };
    (0..count).map(quad).collect()
}

fn layers(samples: [u32; 2], seed: u64) -> Layers {
    let mut random = Random::new(seed);
    let opaque = quads(&mut random, 12, [3.0, 6.0]);
    let translucent = quads(&mut random, 90, [1.0, 6.0]);
    Layers::new(flat_frame(samples, true), region(0, 0, 9, 8), opaque, translucent)
}

/// Samples a slab and compares entries, counts, visible set; then their order.
fn check(layers: &Layers, slab: Slab) -> u32 {
    let (lists, _) = layers.lists(slab);
    let expected = entries(&lists, pattern(&layers.frame));
    let counts = Division::ALL.map(|division| check_entries(layers, slab, division, &lists, &expected));
    assert!(counts.iter().all(|count| *count == counts[0]));
    counts[0]
}

fn check_entries(
    layers: &Layers,
    slab: Slab,
    division: Division,
    lists: &[Vec<u64>],
    expected: &BTreeMap<(u32, u32), u32>,
) -> u32 {
    let mut device = Region { division, ..layers.region() };
    let count = layers.sample(&mut device, slab);
    let (slices, grids) = (device.slices, layers.meshes.len());
    let found = device.lab.read(slices.entries.part(0..u64::from(count)));
    let masks: BTreeMap<(u32, u32), u32> = found.iter().map(|entry| ((entry.cell, entry.number), entry.mask)).collect();
    assert_eq!(masks.len(), found.len(), "an entry is there twice");
    assert!(masks == *expected, "{division:?}: {} entries for {}", masks.len(), expected.len());
    let visible = device.lab.read(slices.visible.part(0..8 * grids as u64));
    assert_eq!(visible, bits(&numbers(lists), grids));
    check_order(layers, &mut device, count);
    count
}

/// After ordering each cell lists its entries by nearest depth, then number.
fn check_order(layers: &Layers, device: &mut Region, count: u32) {
    let slices = device.slices;
    let before = device.lab.read(slices.entries.part(0..u64::from(count)));
    layers.order(device, count);
    let cells = device.pixels.count() * device.capacity.cells();
    let counts = device.lab.read(slices.cell_counts.part(0..cells));
    let offsets = device.lab.read(slices.cell_offsets.part(0..cells));
    let order = device.lab.read(slices.order.part(0..u64::from(count)));
    let mut total = 0;
    for (cell, (&n, &offset)) in (0..).zip(counts.iter().zip(&offsets)) {
        assert_eq!(offset, total);
        total += n;
        let list = &order[offset as usize..(offset + n) as usize];
        let in_cell: Vec<_> = list.iter().map(|&entry| before[entry as usize]).collect();
        assert!(in_cell.iter().all(|entry| entry.cell == cell));
        assert!(in_cell.is_sorted_by_key(|entry| key(entry.zmin, entry.number)), "cell {cell}");
    }
    assert_eq!(total, count);
}

#[test]
fn entries_are_what_samples_see_of_translucent_micropolygons() {
    for (seed, samples) in (0..).zip([[1, 1], [2, 2], [4, 4], [3, 5], [8, 8], [13, 13]]) {
        assert!(check(&layers(samples, seed), Slab::WHOLE) > 100);
    }
}

#[test]
fn slabs_divide_entries_by_depth_and_number() {
    let layers = layers([3, 3], 9);
    let cuts = [
        0,
        key(1.5, 0),
        key(3.0, 0),
        key(3.0, 40 << NUMBER_MP_BITS),
        key(4.0, 0),
        key(4.0, 60 << NUMBER_MP_BITS),
        u64::MAX,
    ];
    let parts: u32 = cuts.windows(2).map(|ends| check(&layers, Slab { low: ends[0], high: ends[1] })).sum();
    assert!(parts >= check(&layers, Slab::WHOLE));
}

#[test]
fn cells_of_many_entries_are_sorted_too() {
    // Those of the nearly sorted lists have at most one place to go.
    let counts = [23, 24, 25, 26, 100, 512, 513, 1500];
    for (count, nearly) in counts.into_iter().flat_map(|count| [(count, false), (count, true)]) {
        let mut random = Random::new(count);
        let depth = |place: u64| {
            let shuffled = if random.one_in(4) { 2.0 } else { random.float(1.0, 9.0) };
            if nearly { 1.0 + (place ^ 1) as f32 / 64.0 } else { shuffled }
        };
        let depths: Vec<f32> = (0..count).map(depth).collect();
        let card = |&z: &f32| Mesh::quad([[-1.0, -1.0, z], [3.0, -1.0, z], [-1.0, 3.0, z], [3.0, 3.0, z]]);
        let cards = depths.iter().map(card).collect();
        let frame = flat_frame([2, 2], true);
        let layers = Layers { room: 4096, ..Layers::new(frame, region(0, 0, 2, 1), Vec::new(), cards) };
        let mut device = layers.region();
        let entries = layers.sample(&mut device, Slab::WHOLE);
        assert_eq!(u64::from(entries), 2 * count);
        if count <= 512 {
            check_order(&layers, &mut device, entries);
        } else {
            layers.order(&mut device, entries);
        }
        // Long lists are reported; one that is too long is left alone.
        let Appended { longest_cell, list_cut, .. } = device.lab.read(device.slices.appended)[0];
        assert_eq!(u64::from(longest_cell), if count > 24 { count } else { 0 });
        if count <= 512 {
            assert_eq!(list_cut, u32::MAX);
            continue;
        }
        // Of the entries that are looked at, three quarters of a list that is not too long lie in front of where it is
        // to be cut; or, where many are equally deep, fewer. Lists are in the order in which a device appends.
        let in_front = looked_at_in_front(&mut device, count, f32::from_bits(list_cut));
        match (count, nearly) {
            (513, false) => assert!((375..=384).contains(&in_front), "{in_front}"),
            (_, false) => assert!((1..=384).contains(&in_front), "{in_front}"),
            (_, true) => assert_eq!(in_front, 384, "{count}"),
        }
    }
}

/// How many entries of a list of `count` lie in front of `z`, as `sort_entries` estimates it from some of them: in the
/// list of two of which more do.
fn looked_at_in_front(device: &mut Region, count: u64, z: f32) -> u64 {
    let (slices, step) = (device.slices, count.div_ceil(1024));
    let order = device.lab.read(slices.order.part(0..2 * count));
    let entries = device.lab.read(slices.entries.part(0..2 * count));
    let in_front = |list: &[u32]| {
        let looked_at = list.iter().step_by(step as usize);
        step * looked_at.filter(|entry| entries[**entry as usize].zmin < z).count() as u64
    };
    order.chunks_exact(count as usize).map(in_front).max().unwrap_or(0)
}

#[test]
fn micropolygons_of_very_many_pixels_are_sampled_to_the_last_one() {
    // Wider than 32-bit arithmetic holds; more pixels than one invocation visits; in many parts.
    let quad = |size: f32, z: f32| Mesh::quad([[-3.0, -2.0, z], [size, 0.5, z], [1.0, size, z], [size, size, z]]);
    let cards = vec![quad(500.0, 3.0), quad(15.0, 2.0), quad(15.9, 2.5), quad(60.0, 2.2)];
    let frame = flat_frame([2, 1], true);
    let layers = Layers { room: 1 << 15, ..Layers::new(frame, region(0, 0, 90, 70), Vec::new(), cards) };
    assert!(check(&layers, Slab::WHOLE) > 8000);
}

#[test]
fn entries_that_do_not_fit_are_counted_and_not_written() {
    let layers = Layers { room: 64, ..layers([2, 2], 3) };
    let (lists, _) = layers.lists(Slab::WHOLE);
    let expected = entries(&lists, pattern(&layers.frame));
    let mut device = layers.region();
    // 64 entries fill their slice to the last byte: `order` follows.
    device.lab.write(device.slices.order, &[77; 64]);
    assert_eq!(layers.sample(&mut device, Slab::WHOLE) as usize, expected.len());
    assert_eq!(device.lab.read(device.slices.order), [77; 64]);
    let counts = device.lab.read(device.slices.cell_counts);
    assert_eq!(counts.iter().sum::<u32>(), 64);
}
