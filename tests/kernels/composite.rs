//! Compositing against double precision, and in slabs against itself.

use super::layers::{Composited, Layers};
use super::random::Random;
use super::region::{Mesh, flat_frame, region};

pub(super) fn key(z: f32, number: u32) -> u64 {
    u64::from(z.to_bits()) << 32 | u64::from(number)
}

/// Compares colours within 1e-6 of all that was added up, and keys exactly.
fn check(layers: &Layers) -> Composited {
    let found = layers.composited(&[]);
    let (_, opaque) = layers.lists(anthill::pipeline::slab::Slab::WHOLE);
    let records = 2 + layers.variables;
    for (i, sample) in layers.reference().into_iter().enumerate() {
        let of = &found.resolved[i * records..(i + 1) * records];
        let near =
            |a: [f32; 4], b: [f64; 4]| (0..4).all(|k| (f64::from(a[k]) - b[k]).abs() < 1e-6 * (1.0 + b[k].abs()));
        assert!(near(of[0], sample.colour), "sample {i}: {:?} for {sample:?}", of[0]);
        assert_eq!(of[1][3] < 0.0, sample.stopped.is_some(), "sample {i}: {:?} for {sample:?}", of[1]);
        let through = [0, 1, 2].map(|k| (f64::from(of[1][k]) - sample.through[k]).abs());
        assert!(through.iter().all(|off| *off < 1e-6), "sample {i}: {:?} for {sample:?}", of[1]);
        assert!(of[2..].iter().zip(&sample.variables).all(|(a, b)| near(*a, *b)), "sample {i}: {sample:?}");
        assert_eq!(
            found.keys[i],
            sample.stopped.map_or(opaque[i], |key| opaque[i].min(key | 0xffff_ffff)),
            "sample {i}"
        );
    }
    found
}

fn card(random: &mut Random, tilt: f32) -> Mesh {
    let (x, y, z) = (random.float(-2.0, 3.0), random.float(-2.0, 3.0), random.float(2.0, 6.0));
    Mesh::quad(
        [[0.0, 0.0], [5.0, 0.5], [-0.5, 5.0], [5.5, 4.5]]
            .map(|[dx, dy]| [x + dx, y + dy, z + random.float(-tilt, tilt)]),
    )
}

pub(super) fn stack(samples: [u32; 2], count: usize, seed: u64) -> Layers {
    let mut random = Random::new(seed);
    let opaque = (0..4).map(|_| card(&mut random, 0.5)).collect();
    let translucent = (0..count).map(|_| card(&mut random, 0.7)).collect();
    Layers::new(flat_frame(samples, true), region(0, 0, 5, 4), opaque, translucent)
}

#[test]
fn layers_are_composited_front_to_back_through_each_other() {
    for (seed, samples) in (0..).zip([[1, 1], [2, 2], [3, 5], [8, 8], [13, 13]]) {
        let layers = Layers { variables: seed as usize % 3, ..stack(samples, 30, seed) };
        check(&layers);
    }
}

#[test]
fn more_layers_than_one_call_composites() {
    let mut layers = stack([2, 2], 300, 50);
    layers.frame.opacity_threshold = 2.0; // never
    let found = check(&layers);
    assert!(found.calls > 1, "{} calls", found.calls);
}

#[test]
fn opacity_that_passes_the_threshold_hides_what_is_behind() {
    let layers = stack([4, 4], 40, 7);
    let stops = layers.reference().iter().filter(|sample| sample.stopped.is_some()).count();
    assert!(stops > 50);
    check(&layers);
}

#[test]
fn at_equal_depth_lower_numbers_are_in_front() {
    let flat = |z: f32| Mesh::quad([[0.0, 0.0, z], [4.0, 0.0, z], [0.0, 4.0, z], [4.0, 4.0, z]]);
    let cards = [3.0, 2.0, 2.0, 3.0, 2.0, 2.0].map(flat).to_vec();
    check(&Layers::new(flat_frame([2, 2], true), region(0, 0, 4, 4), vec![flat(3.0)], cards));
}

#[test]
fn slabs_do_not_show_in_the_picture() {
    let layers = Layers { variables: 1, ..stack([3, 3], 60, 11) };
    let whole = layers.composited(&[]);
    for cuts in [vec![key(3.0, 0)], vec![key(2.5, 700), key(3.1, 0), key(3.2, 9), key(4.0, 0), key(5.5, 0)]] {
        let parts = layers.composited(&cuts);
        assert!(parts.resolved == whole.resolved && parts.keys == whole.keys, "{cuts:?}");
    }
}

/// Surfaces on one plane: their depths at a sample differ by roundings only.
pub(super) fn on_one_plane() -> Layers {
    let mut random = Random::new(31);
    let quad = |_| {
        let [x, y] = [0; 2].map(|_| random.int(-3000..1000) as f32 / 1024.0);
        Mesh::quad([[0.0, 0.0], [5.0, 0.5], [-0.5, 4.5], [6.0, 5.0]].map(|[dx, dy]| {
            let (x, y) = (x + dx, y + dy);
            [x, y, 3.0 + 0.371 * x - 0.117 * y]
        }))
    };
    let mut layers = Layers::new(flat_frame([4, 4], true), region(0, 0, 4, 3), Vec::new(), (0..40).map(quad).collect());
    layers.frame.opacity_threshold = 2.0;
    layers
}

/// The scalar form has the bits of a device that rounds as the processor does, and what is compared below has whatever
/// bits the device's roundings lead to.
#[test]
fn layers_that_are_cut_by_slabs_are_composited_right_without_them() {
    check(&Layers { variables: 1, ..stack([3, 3], 60, 11) });
    check(&on_one_plane());
}

#[test]
fn slabs_do_not_show_where_depths_differ_by_roundings() {
    let layers = on_one_plane();
    let whole = layers.composited(&[]);
    // Cuts at depths that samples have, at every other sample.
    let (lists, _) = layers.lists(anthill::pipeline::slab::Slab::WHOLE);
    let mut cuts: Vec<u64> = lists.iter().filter(|l| l.len() > 4).step_by(2).map(|list| list[list.len() / 2]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    assert!(cuts.len() > 50);
    let parts = layers.composited(&cuts);
    let differ = parts.resolved.iter().zip(&whole.resolved).filter(|(a, b)| a != b).count();
    assert_eq!(differ, 0, "of {} records", whole.resolved.len());
}

/// Sorted by their nearest depth, which is away from the samples, the cards are at the samples in the opposite order.
pub(super) fn worst_order() -> Layers {
    let count = 512; // as many as a cell may have
    let card = |i: u32| {
        let (near, far) = (1.0 + i as f32 * 1e-5, 9.0 - i as f32 * 2e-3);
        Mesh::quad([[-40.0, -1.0, near], [3.0, -1.0, far], [-40.0, 3.0, near], [3.0, 3.0, far]])
    };
    let mut layers =
        Layers::new(flat_frame([1, 1], true), region(0, 0, 1, 1), Vec::new(), (0..count).map(card).collect());
    layers.frame.opacity_threshold = 2.0;
    layers
}

#[test]
fn layers_in_the_worst_order_are_all_composited() {
    let layers = worst_order();
    let (lists, _) = layers.lists(anthill::pipeline::slab::Slab::WHOLE);
    assert!(lists[0].is_sorted_by_key(|key| std::cmp::Reverse(*key as u32)));
    check(&layers);
}
