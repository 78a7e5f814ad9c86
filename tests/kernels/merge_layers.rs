//! What samples see in slabs and how much light is lost there, listed and merged for deep shadow maps, against plain
//! sums over all samples.

use super::composite::{key, on_one_plane, stack, worst_order};
use super::layers::Layers;
use super::region::{Mesh, flat_frame, region};
use crate::reference::layers::PixelLayers;
use anthill::pipeline::slab::Slab;

/// Compares with the reference, in the order of (depth, sample, number), bit by bit.
fn check(layers: &Layers) {
    let found = layers.composited(&[]).slabs.remove(0);
    let expected = layers.lost();
    assert_eq!(found.len(), expected.len());
    for (pixel, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "pixel {pixel}");
    }
}

fn deep(layers: Layers) -> Layers {
    Layers { deep: true, ..layers }
}

fn card(x: [f32; 2], z: f32) -> Mesh {
    Mesh::quad([[x[0], -1.0, z], [x[1], -1.0, z], [x[0], 9.0, z], [x[1], 9.0, z]])
}

/// Two cards over everything, and an opaque one behind them over the left half of a pixel.
#[test]
fn cards_take_the_light_that_their_opacity_says() {
    let wide = [-1.0, 2.0];
    let (wall, cards) = (card([-1.0, 0.5], 5.0), vec![card(wide, 3.0), card(wide, 2.0)]);
    let layers = Layers::new(flat_frame([4, 4], false), region(0, 0, 1, 1), vec![wall], cards);
    let layers = deep(Layers { opacity: Some([0.5, 0.25, 0.0]), ..layers });
    let found = layers.composited(&[]).slabs.remove(0).remove(0);
    assert_eq!(found.len(), 16 + 16 + 8);
    // Of 16 samples, each with one unit in each of three channels.
    let lost = [16.0 * 0.75, 16.0 * (0.75 + 0.4375), 16.0 * (0.75 + 0.4375) + 8.0 * (0.25 + 0.5625 + 1.0)];
    for (z, lost) in [2.0_f32, 3.0, 5.0].into_iter().zip(lost) {
        let last = found.iter().rev().find(|layer| layer.0 == z.to_bits()).map(|layer| layer.1);
        assert_eq!(last, Some((lost * f64::from(1_u32 << 20)) as u64 * (1 << 20)), "at {z}");
    }
}

#[test]
fn layers_of_all_samples_are_merged() {
    for (seed, samples) in (0..).zip([[1, 1], [2, 1], [2, 2], [3, 5], [8, 8], [13, 13]]) {
        check(&deep(Layers { variables: seed as usize % 3, ..stack(samples, 30, seed) }));
    }
    let many = deep(Layers { room: 1 << 18, ..stack([33, 33], 6, 3) });
    check(&Layers { pixels: region(1, 1, 2, 2), ..many });
}

#[test]
fn layers_that_insertion_does_not_sort_are_merged() {
    let mut layers = deep(stack([2, 2], 300, 50));
    layers.frame.opacity_threshold = 2.0; // never
    check(&layers);
    check(&deep(worst_order()));
}

#[test]
fn nothing_is_lost_behind_what_passes_the_opacity_threshold() {
    check(&deep(stack([4, 4], 40, 7)));
}

#[test]
fn layers_of_one_depth_come_in_the_order_of_samples() {
    let everywhere = [-1.0, 5.0];
    let cards = [3.0, 2.0, 2.0, 3.0, 2.0, 2.0].map(|z| card(everywhere, z)).to_vec();
    check(&deep(Layers::new(flat_frame([3, 3], true), region(0, 0, 4, 4), vec![card(everywhere, 3.0)], cards)));
}

/// What is lost behind each depth, once for each depth.
fn by_depth(slabs: &[Vec<PixelLayers>], pixel: usize) -> PixelLayers {
    let (mut all, mut before) = (PixelLayers::new(), 0);
    for slab in slabs {
        for &(depth, lost) in &slab[pixel] {
            if all.last().is_some_and(|last| last.0 == depth) {
                all.pop();
            }
            all.push((depth, before + lost));
        }
        before = all.last().map_or(0, |last| last.1);
    }
    all
}

/// Checks that cuts make no difference, also where a sample ends at an opaque surface in front of layers of others.
fn check_cuts(layers: &Layers, cuts: &[u64]) {
    let [whole, parts] = [&[], cuts].map(|cuts| layers.composited(cuts).slabs);
    assert_eq!(parts.len(), cuts.len() + 1);
    for pixel in 0..whole[0].len() {
        assert_eq!(by_depth(&parts, pixel), by_depth(&whole, pixel), "pixel {pixel}, {} cuts", cuts.len());
    }
}

#[test]
fn slabs_do_not_show_in_what_is_lost() {
    let layers = deep(stack([3, 3], 60, 11));
    check_cuts(&layers, &[key(3.0, 0)]);
    check_cuts(&layers, &[key(2.5, 700), key(3.1, 0), key(3.2, 9), key(4.0, 0), key(5.5, 0)]);
}

#[test]
fn slabs_do_not_show_in_what_is_lost_on_one_plane() {
    let on_one_plane = deep(on_one_plane());
    let (lists, _) = on_one_plane.lists(Slab::WHOLE);
    let mut cuts: Vec<u64> = lists.iter().filter(|l| l.len() > 4).step_by(6).map(|list| list[list.len() / 2]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    assert!(cuts.len() > 10);
    check_cuts(&on_one_plane, &cuts);
}
