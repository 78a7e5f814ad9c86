//! How large micropolygons come out, and what they must not depend on.

use super::grids::{Diced, Split, bound_px, dice, dims, split, split_in};
use super::lab::Lab;
use super::scene::{Scene, Thing, camera, curves, facets, options, placed, sphere};
use super::zoo;
use crate::reference::camera::raster;
use anthill::pipeline::KernelVariants;
use anthill::scene::{Options, Shape};
use glam::{DMat4, DVec2, DVec3};

fn diced(scene: &Scene) -> (Split, Vec<Diced>) {
    let mut lab = Lab::new();
    let loaded = scene.load(&mut lab);
    let split = split(&mut lab, scene, &loaded);
    let diced = dice(&mut lab, scene, &loaded, &split);
    (split, diced)
}

/// Calls `see` with the raster positions of each micropolygon's corners, (i, j) (i+1, j) (i, j+1) (i+1, j+1).
fn each_micropolygon(scene: &Scene, grids: &[Diced], mut see: impl FnMut([DVec2; 4])) {
    for grid in grids {
        let at = |i, j| raster(&scene.camera, DVec3::from(grid.p(i, j).map(f64::from)));
        for (i, j) in (0..grid.nv).flat_map(|j| (0..grid.nu).map(move |i| (i, j))) {
            see([at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)]);
        }
    }
}

/// Mean area of micropolygons that are not degenerate, in pixels.
fn mean_area(scene: &Scene) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    each_micropolygon(scene, &diced(scene).1, |[a, b, c, d]| {
        let area = 0.5 * (d - a).perp_dot(c - b).abs();
        sum += area;
        count += u32::from(area > 1e-6);
    });
    sum / f64::from(count)
}

/// A rectangle parallel to the picture, `size` pixels large.
fn card(size: [f64; 2]) -> Thing {
    let unit = facets(vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], vec![[0, 1, 2, 3]]);
    let px = 2.0 * 22.5_f64.to_radians().tan() * 5.0 / 150.0;
    let scale = DMat4::from_scale(DVec3::new(size[0] * px, size[1] * px, 1.0));
    Thing::new(unit, DMat4::from_translation(DVec3::new(-2.5, -1.9, 5.0)) * scale)
}

#[test]
fn micropolygons_of_a_flat_card_have_the_area_of_the_shading_rate() {
    for rate in [0.25, 1.0, 4.0] {
        let (mut sum, mut cases) = (0.0, 0.0);
        for size in [[100.0, 100.0], [61.0, 97.3], [33.3, 140.0], [125.7, 20.0], [83.1, 47.9], [180.0, 130.0]] {
            let area = mean_area(&zoo::scene(vec![card(size).rate(rate)], true)) / f64::from(rate);
            // The worst rounding is 7.75 lengths to 8 or 8.5 to 8 in each direction.
            assert!((0.85..1.14).contains(&area), "{size:?} at rate {rate}: {area}");
            sum += area;
            cases += 1.0;
        }
        assert!((0.9..1.1).contains(&(sum / cases)), "rate {rate}: {}", sum / cases);
    }
}

#[test]
fn micropolygons_of_curved_surfaces_are_not_larger() {
    for rate in [0.25, 1.0, 4.0] {
        for thing in [zoo::patch_row(), zoo::quadrics().swap_remove(0), zoo::quadrics().swap_remove(7)] {
            let area = mean_area(&zoo::scene(vec![thing.clone().rate(rate)], true)) / f64::from(rate);
            assert!((0.2..1.1).contains(&area), "{thing:?} at rate {rate}: {area}");
        }
    }
}

#[test]
fn hardly_an_edge_is_much_longer_than_wanted() {
    // With a floor that runs to the horizon: lengths along it change much over a grid.
    let floor =
        facets(vec![[-6.0, -0.9, 1.5], [6.0, -0.9, 1.5], [-6.0, -0.9, 80.0], [6.0, -0.9, 80.0]], vec![[0, 1, 2, 3]]);
    let mut things = zoo::quadrics();
    things.extend([zoo::mesh(6), zoo::patch_row(), zoo::lid(), zoo::dots(), Thing::new(floor, DMat4::IDENTITY)]);
    let scene = zoo::scene(things, true);
    let (mut edges, mut long, mut longest) = (0, 0, 0.0_f64);
    each_micropolygon(&scene, &diced(&scene).1, |[a, b, c, d]| {
        for length in [a.distance(b), c.distance(d), a.distance(c), b.distance(d)] {
            edges += 1;
            long += u32::from(length > 1.5);
            longest = longest.max(length);
        }
    });
    assert!(f64::from(long) < 0.02 * f64::from(edges) && longest < 4.5, "{long} of {edges}, longest {longest}");
}

#[test]
fn a_low_floor_is_not_cut_into_all_the_slivers_that_its_lengths_ask_for() {
    let scene = zoo::low_floor();
    let (mut count, mut long, mut large) = (0, 0, 0);
    each_micropolygon(&scene, &diced(&scene).1, |[a, b, c, d]| {
        let longest = [a.distance(b), c.distance(d), a.distance(c), b.distance(d)].into_iter().fold(0.0, f64::max);
        let area = 0.5 * (d - a).perp_dot(c - b).abs();
        count += 1;
        long += u32::from(longest > 1.5);
        large += u32::from(longest > 6.0 || longest > 1.5 && area > 0.125);
    });
    // By the lengths of its lines there would be 55,707; those along the border are as many as before.
    assert!(count < 32_000 && long > 5000 && large < count / 200, "{count}, {long} long, {large} too large");
}

#[test]
fn hair_is_diced_in_short_grids_of_micropolygons_at_most_twice_as_long_as_wanted() {
    let strands = vec![[-1.0, -0.5, 0.0], [-0.5, 0.9, 0.1], [0.6, -0.9, 0.2], [1.0, 0.6, 0.0]];
    let thing = Thing::new(curves(strands, true, [0.004, 0.02], Vec::new()), placed(0.0, 0.0, 5.0, 0.1));
    let scene = zoo::scene(vec![thing], true);
    let (split, grids) = diced(&scene);
    assert!(split.grids.iter().all(|grid| dims(grid).0 == 1), "half a pixel wide");
    for grid in &grids {
        let at = |j| raster(&scene.camera, DVec3::from(grid.p(0, j).map(f64::from)));
        let lengths: Vec<f64> = (0..grid.nv).map(|j| at(j).distance(at(j + 1))).collect();
        assert!(lengths.iter().sum::<f64>() < 16.6, "{lengths:?}");
        assert!(lengths.iter().all(|length| *length < 2.5), "{lengths:?}");
    }
}

#[test]
fn grids_do_not_depend_on_the_crop_window() {
    let whole = zoo::scene(zoo::everything(), true);
    let split = diced(&whole).0;
    let mut cropped = camera([200, 150], true);
    cropped.crop_window = [0.3, 0.62, 0.4, 0.7];
    let scene = Scene::new(zoo::everything(), cropped, options());
    let part = diced(&scene).0;
    let [x0, y0, x1, y1] = scene.drawn.frame.sampled_px;
    let meets = |px: [i32; 4]| px[0] < x1 && px[2] >= x0 && px[1] < y1 && px[3] >= y0;
    let wanted: Vec<_> = split.grids.iter().zip(&split.bounds).filter(|(_, bound)| meets(bound_px(bound))).collect();
    assert!(wanted.len() > 20 && wanted.len() < split.grids.len() * 3 / 4, "{} of {}", wanted.len(), split.grids.len());
    let found: Vec<_> = part.grids.iter().zip(&part.bounds).collect();
    assert_eq!(found, wanted, "the same grids, as far as they are needed");
}

#[test]
fn grids_do_not_depend_on_the_variant_of_the_scan() {
    let mut lab = Lab::new();
    let scene = zoo::scene(zoo::everything(), true);
    let loaded = scene.load(&mut lab);
    let one = split_in(&mut lab, &scene, &loaded, KernelVariants { serial: true }, 1 << 16).expect("enough memory");
    let other = split_in(&mut lab, &scene, &loaded, KernelVariants { serial: false }, 1 << 16).expect("enough memory");
    assert!(one.grids == other.grids && one.bounds == other.bounds);
}

#[test]
fn a_list_that_outgrows_its_memory_says_what_it_needed() {
    let mut lab = Lab::new();
    let scene = zoo::scene(vec![Thing::new(sphere(1.0), placed(0.0, 0.0, 4.0, 0.2))], true);
    let loaded = scene.load(&mut lab);
    let variants = lab.variants();
    let needed = split_in(&mut lab, &scene, &loaded, variants, 5).expect_err("a sphere has more grids");
    assert!((6..=10).contains(&needed), "{needed}: one round at most doubles a list that fits");
}

#[test]
fn wild_numbers_end_in_finite_work() {
    let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -3e38, 1e-40];
    for x in wild {
        let corners = vec![[0.0, 0.0, 5.0], [x, 0.0, 5.0], [0.0, 1.0, 5.0], [1.0, 1.0, 5.0]];
        let depths = vec![[0.0, 0.0, 5.0], [1.0, 0.0, x], [0.0, 1.0, 5.0], [1.0, 1.0, 5.0]];
        let things = [
            facets(corners, vec![[0, 1, 2, 3]]),
            facets(depths, vec![[0, 1, 2, 3]]),
            curves(vec![[0.0, 0.0, 5.0], [x, 1.0, 5.0], [0.0, 2.0, 5.0], [1.0, 1.0, x]], true, [0.1, 0.1], Vec::new()),
            curves(vec![[0.0, 0.0, 5.0], [1.0, 1.0, 5.0]], false, [0.1, x], Vec::new()),
            super::scene::points(vec![[x, 0.0, 5.0], [0.0, 0.0, 5.0]], vec![0.1, x]),
            sphere(x),
        ];
        for shape in things.into_iter().filter(|shape| !matches!(shape, Shape::Quadric(_)) || x != 1e-40) {
            let options = Options { eye_splits: 4, ..options() };
            let scene = Scene::new(vec![Thing::new(shape, DMat4::IDENTITY)], camera([200, 150], true), options);
            let mut lab = Lab::new();
            let loaded = scene.load(&mut lab);
            let variants = lab.variants();
            // Whatever comes out, it comes out: in bounded rounds, within its memory or saying that it is not.
            drop(split_in(&mut lab, &scene, &loaded, variants, 1 << 14));
        }
    }
}
