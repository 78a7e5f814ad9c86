//! Bound/split of every primitive kind: what its grids must be, checked against the surfaces in double precision.

use super::grids::{Split, bound_px, dice, dims, split};
use super::lab::Lab;
use super::random::Random;
use super::scene::{Scene, Thing, camera, facets, options, placed, sphere};
use super::zoo;
use crate::reference::bound_split::{is_partition, leaf, uneven, wanted};
use crate::reference::camera::{in_depth, raster};
use crate::reference::edge::{self, Edge, UNIT};
use crate::reference::surface::Surface;
use anthill::pipeline::kernels::constants::{EDGE_RATE_MAX, FLATNESS, FLATNESS_BLOB};
use anthill::pipeline::kernels::records::{GridBound, Subpatch};
use anthill::scene::{Camera, Shape};
use glam::{DMat4, DVec2, DVec3};
use std::collections::{BTreeMap, BTreeSet};

fn split_scene(scene: &Scene) -> Split {
    let mut lab = Lab::new();
    let loaded = scene.load(&mut lab);
    split(&mut lab, scene, &loaded)
}

/// Grids of each primitive, in the order in which they come; primitives must come in authored order.
fn by_primitive(split: &Split) -> Vec<&[Subpatch]> {
    let parts: Vec<&[Subpatch]> =
        split.grids.chunk_by(|a, b| (a.instance, a.primitive) == (b.instance, b.primitive)).collect();
    assert!(parts.is_sorted_by_key(|part| (part[0].instance, part[0].primitive)), "authored order");
    let primitives: BTreeSet<_> = parts.iter().map(|part| (part[0].instance, part[0].primitive)).collect();
    assert_eq!(primitives.len(), parts.len(), "the grids of a primitive stand together");
    parts
}

fn primitive_count(scene: &Scene) -> usize {
    scene.things.iter().map(|thing| thing.shape.primitive_count()).sum()
}

#[test]
fn grids_are_parts_of_the_parameter_square_in_stable_order() {
    for perspective in [true, false] {
        for rate in [1.0, 0.1] {
            let things = zoo::everything().into_iter().map(|thing| thing.rate(rate)).collect();
            let scene = zoo::wide_scene(things, perspective);
            let split = split_scene(&scene);
            assert_eq!(split.lost, 0);
            let parts = by_primitive(&split);
            assert_eq!(parts.len(), primitive_count(&scene), "a primitive was dropped");
            for part in parts {
                let rectangles: Vec<[u64; 4]> = part.iter().map(edge::rectangle).collect();
                assert!(is_partition(&rectangles, [0, 0, UNIT, UNIT]), "{:?}", part[0]);
            }
        }
    }
}

#[test]
fn grids_have_at_most_16_x_16_vertices_and_all_points_of_their_borders() {
    let scene = zoo::scene(zoo::everything(), true);
    for grid in split_scene(&scene).grids {
        let (nu, nv) = dims(&grid);
        assert!((1..=15).contains(&nu) && (1..=15).contains(&nv), "{nu} x {nv}");
        for (side, edge) in edge::edges(&grid).into_iter().enumerate() {
            let n = if side < 2 { nu } else { nv };
            assert!(edge.points[0] <= edge.points[1] && edge.points[1] - edge.points[0] <= n, "{edge:?} with {n}");
            assert!((1..=15).contains(&edge.rate) && edge.points[1] <= edge.rate, "{edge:?}");
        }
    }
}

/// Raster pixel and depth of a point must be inside a grid's bound.
fn inside(bound: &GridBound, at: DVec2, z: f64) -> bool {
    let [x0, y0, x1, y1] = bound_px(bound).map(f64::from);
    let (zmin, zmax) = (f64::from(bound.zmin), f64::from(bound.zmax));
    at.x >= x0 && at.x < x1 + 1.0 && at.y >= y0 && at.y < y1 + 1.0 && z >= zmin && z <= zmax
}

#[test]
fn bounds_hold_the_surface_and_its_vertices() {
    for perspective in [true, false] {
        let mut lab = Lab::new();
        let scene = zoo::scene(zoo::everything(), perspective);
        let loaded = scene.load(&mut lab);
        let split = split(&mut lab, &scene, &loaded);
        let diced = dice(&mut lab, &scene, &loaded, &split);
        for ((grid, bound), vertices) in split.grids.iter().zip(&split.bounds).zip(&diced) {
            let surface = scene.surface(grid);
            let [u0, v0, u1, v1] = edge::rectangle(grid).map(edge::number);
            for k in 0..49 {
                let (u, v) = (u0 + (u1 - u0) * f64::from(k % 7) / 6.0, v0 + (v1 - v0) * f64::from(k / 7) / 6.0);
                let p = surface.position(u, v);
                assert!(inside(bound, raster(&scene.camera, p), p.z), "{surface:?} at {u} {v}: {p}, {bound:?}");
            }
            for p in vertices.channels[0].iter().map(|p| DVec3::new(p[0].into(), p[1].into(), p[2].into())) {
                assert!(inside(bound, raster(&scene.camera, p), p.z), "{surface:?}: vertex {p}, {bound:?}");
            }
        }
    }
}

#[test]
fn bounds_hold_what_displacement_may_reach() {
    let mut lab = Lab::new();
    let mut scene = zoo::scene(zoo::everything(), true);
    let radius = 0.07_f32;
    scene.drawn.instances.iter_mut().for_each(|instance| instance.displacement_bound = radius);
    let loaded = scene.load(&mut lab);
    let split = split(&mut lab, &scene, &loaded);
    let mut random = Random::new(8);
    for (grid, bound) in split.grids.iter().zip(&split.bounds) {
        let surface = scene.surface(grid);
        let [u0, v0, u1, v1] = edge::rectangle(grid).map(edge::number);
        for _ in 0..12 {
            let (u, v) = (f64::from(random.unit()), f64::from(random.unit()));
            let moved = DVec3::from(random.triple(-1.0, 1.0).map(f64::from)).normalize_or_zero() * f64::from(radius);
            let p = surface.position(u0 + (u1 - u0) * u, v0 + (v1 - v0) * v) + moved;
            assert!(inside(bound, raster(&scene.camera, p), p.z), "{surface:?}: {p}, {bound:?}");
        }
    }
}

#[test]
fn bounds_are_tight() {
    let scene = zoo::scene(zoo::quadrics(), true);
    let split = split_scene(&scene);
    let px: f64 =
        split.bounds.iter().map(bound_px).map(|[x0, y0, x1, y1]| f64::from((x1 - x0 + 1) * (y1 - y0 + 1))).sum();
    let mean = px / split.grids.len() as f64;
    assert!(mean < 25.0 * 25.0, "{mean} pixels for grids of at most 15 x 15 and a rim");
}

/// Random points of the surface that can be seen must lie in some grid and its bound.
fn check_nothing_visible_is_culled(scene: &Scene, split: &Split) -> usize {
    let mut of_primitive: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (index, grid) in split.grids.iter().enumerate() {
        of_primitive.entry((grid.instance, grid.primitive)).or_default().push(index);
    }
    let [x0, y0, x1, y1] = scene.drawn.frame.sampled_px.map(f64::from);
    let (mut random, mut seen) = (Random::new(1), 0);
    for (instance, run) in (0..).zip(&scene.drawn.runs) {
        for primitive in run.first..run.first + run.count {
            let surface = scene.surface(&Subpatch { instance, primitive, shape: 1, ..Subpatch::default() });
            let grids = of_primitive.get(&(instance, primitive)).map_or(&[][..], Vec::as_slice);
            for _ in 0..(30_000 / run.count).min(3000) {
                let (u, v) = (f64::from(random.unit()), f64::from(random.unit()));
                let p = surface.position(u, v);
                let at = raster(&scene.camera, p);
                if !in_depth(&scene.camera, p) || at.x < x0 || at.y < y0 || at.x >= x1 || at.y >= y1 {
                    continue;
                }
                seen += 1;
                let holds = |&index: &usize| {
                    let [u0, v0, u1, v1] = edge::rectangle(&split.grids[index]).map(edge::number);
                    u >= u0 && u <= u1 && v >= v0 && v <= v1 && inside(&split.bounds[index], at, p.z)
                };
                assert!(grids.iter().any(holds), "{surface:?} at {u} {v}: {p}, pixel {at}, is in no grid");
            }
        }
    }
    seen
}

#[test]
fn nothing_visible_is_culled_at_the_rim_of_the_picture() {
    let things: Vec<Thing> = zoo::everything()
        .into_iter()
        .enumerate()
        .map(|(i, mut thing)| {
            let away = DMat4::from_translation(DVec3::new(2.5 - i as f64 * 0.4, 1.9 - i as f64 * 0.3, 0.0));
            thing.camera_from_object = away * thing.camera_from_object;
            thing
        })
        .collect();
    for perspective in [true, false] {
        let camera = camera([200, 150], perspective);
        let (beside, drawn): (Vec<Thing>, Vec<Thing>) =
            things.iter().cloned().partition(|thing| Scene::leaves_out(thing, &camera));
        let scene = Scene::new(drawn, camera, options());
        let split = split_scene(&scene);
        let seen = check_nothing_visible_is_culled(&scene, &split);
        assert!(seen > 1000 && beside.len() > 1, "{seen}, {} left out", beside.len());
        check_nothing_is_seen(beside, &scene);
    }
}

/// Checks that no point of the things is in the picture.
fn check_nothing_is_seen(things: Vec<Thing>, picture: &Scene) {
    let mut wide = picture.camera.clone();
    wide.screen_window = wide.screen_window.map(|side| 20.0 * side);
    let [x0, y0, x1, y1] = picture.drawn.frame.sampled_px.map(f64::from);
    let (scene, mut random) = (Scene::new(things, wide, options()), Random::new(2));
    for (instance, run) in (0..).zip(&scene.drawn.runs) {
        for primitive in run.first..run.first + run.count {
            let surface = scene.surface(&Subpatch { instance, primitive, shape: 1, ..Subpatch::default() });
            for _ in 0..20 {
                let p = surface.position(f64::from(random.unit()), f64::from(random.unit()));
                let at = raster(&picture.camera, p);
                let inside = at.x >= x0 && at.y >= y0 && at.x < x1 && at.y < y1;
                assert!(!(in_depth(&picture.camera, p) && inside), "{surface:?}: {p}, pixel {at}");
            }
        }
    }
}

#[test]
fn nothing_visible_is_culled_between_clipping_planes() {
    let mut camera = camera([200, 150], true);
    camera.clip = [4.7, 5.2];
    let scene = Scene::new(zoo::everything(), camera, options());
    let split = split_scene(&scene);
    assert!(check_nothing_visible_is_culled(&scene, &split) > 1000);
    assert!(split.bounds.iter().all(|bound| bound.zmax >= 4.7 && bound.zmin <= 5.2));
}

/// Things that reach behind the eye: a floor, a room around it, hair past it, patches through it, a sphere behind it.
fn around_the_eye() -> Vec<Thing> {
    let floor =
        facets(vec![[-9.0, -0.5, -9.0], [9.0, -0.5, -9.0], [-9.0, -0.5, 60.0], [9.0, -0.5, 60.0]], vec![[0, 1, 2, 3]]);
    let mut things = vec![Thing::new(floor, DMat4::IDENTITY), Thing::new(sphere(7.0), placed(0.2, 0.1, 1.0, 0.4))];
    things.extend(zoo::hair().into_iter().take(2).chain([zoo::patch_row(), zoo::rational_row(), zoo::mesh(4)]).map(
        |mut thing| {
            thing.camera_from_object = placed(0.1, -0.2, 0.3, 0.4) * DMat4::from_scale(DVec3::splat(2.0));
            thing
        },
    ));
    things
}

#[test]
fn nothing_visible_is_culled_at_the_eye_plane() {
    let scene = zoo::scene(around_the_eye(), true);
    let split = split_scene(&scene);
    assert!(check_nothing_visible_is_culled(&scene, &split) > 1000);
    assert!(split.bounds.iter().all(|bound| bound.zmin >= scene.drawn.frame.eye_z), "a grid reaches the eye");
    let behind = zoo::scene(vec![Thing::new(sphere(1.0), placed(0.0, 0.0, -3.0, 0.0))], true);
    let nothing = split_scene(&behind);
    assert_eq!((nothing.grids.len(), nothing.lost), (0, 0), "what is wholly behind the eye is no loss");
}

#[test]
fn without_eye_splits_what_crosses_the_eye_plane_is_lost_and_counted() {
    let options = anthill::scene::Options { eye_splits: 0, ..options() };
    let scene = Scene::new(vec![around_the_eye().swap_remove(1)], camera([200, 150], true), options);
    let split = split_scene(&scene);
    assert_eq!((split.grids.len(), split.lost), (0, 1));
}

#[test]
fn what_crosses_the_eye_plane_beside_the_picture_is_no_loss() {
    let options = anthill::scene::Options { eye_splits: 0, ..options() };
    let walls = [[40.0, 0.0, 0.0], [-40.0, 0.0, 0.0], [0.0, 40.0, 0.0], [0.0, -40.0, 0.0]]
        .map(|[x, y, z]| Thing::new(sphere(7.0), placed(x, y, z, 0.4)));
    let split = split_scene(&Scene::new(walls.into(), camera([200, 150], true), options));
    assert_eq!((split.grids.len(), split.lost), (0, 0));
}

/// The points on a line of the parameter square from the side where the line is a grid's first border and where it is
/// its last.
type Sides = [BTreeSet<u64>; 2];

/// Checks that both sides of each line have the same points; returns how many lines are inside of primitives.
fn check_lines(scene: &Scene) -> usize {
    let split = split_scene(scene);
    // By primitive, axis along which the line runs, and where it runs.
    let mut lines: BTreeMap<(u32, u32, usize, u64), Sides> = BTreeMap::new();
    for grid in &split.grids {
        let rectangle = edge::rectangle(grid);
        for (side, edge) in edge::edges(grid).into_iter().enumerate() {
            // Sides 0, 1: v0 and v1; 2, 3: u0 and u1.
            let at = rectangle[[1, 3, 0, 2][side]];
            let sides = lines.entry((grid.instance, grid.primitive, side / 2, at)).or_default();
            sides[side % 2].extend(edge.canonical_points());
        }
    }
    let mut inner = 0;
    for (line, [first, last]) in &lines {
        if line.3 != 0 && line.3 != UNIT {
            assert_eq!(first, last, "line {line:?}");
            inner += 1;
        }
    }
    inner
}

#[test]
fn both_sides_of_a_line_have_the_same_points() {
    for perspective in [true, false] {
        assert!(check_lines(&zoo::scene(zoo::everything(), perspective)) > 100);
    }
}

#[test]
fn both_sides_of_a_sheared_line_have_the_same_points() {
    assert!(check_lines(&zoo::low_floor()) > 50);
}

/// Quarter points of a leaf edge in raster space.
fn quarters(surface: &Surface<'_>, camera: &Camera, side: usize, at: f64, [start, end]: [f64; 2]) -> [DVec2; 5] {
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|t| {
        let along = start + (end - start) * t;
        let (u, v) = if side < 2 { (along, at) } else { (at, along) };
        raster(camera, surface.position(u, v))
    })
}

#[test]
fn rates_of_edges_are_what_their_own_points_ask_for() {
    let mut things = zoo::quadrics();
    things.extend([zoo::mesh(6), zoo::patch_row(), zoo::lid(), zoo::dots(), zoo::rational_row(), zoo::octant()]);
    for rate in [1.0, 0.3] {
        let scene = zoo::scene(things.iter().map(|t| t.clone().rate(rate)).collect(), true);
        let px = f64::from(rate).sqrt();
        for grid in split_scene(&scene).grids {
            let surface = scene.surface(&grid);
            if surface.is_octagon(&grid) {
                continue;
            }
            let rectangle = edge::rectangle(&grid).map(edge::number);
            for (side, edge) in edge::edges(&grid).into_iter().enumerate() {
                check_rate(&scene, &surface, (side, rectangle[[1, 3, 0, 2][side]]), &edge, px);
            }
        }
    }
}

fn check_rate(scene: &Scene, surface: &Surface<'_>, (side, at): (usize, f64), edge: &Edge, px: f64) {
    let circle = Surface { rim_chords: 0.0, ..*surface };
    let rim = matches!(surface.shape, Shape::Points(_)) && side < 2;
    let line = |ends| quarters(&circle, &scene.camera, side, at, ends);
    let own = line(leaf(edge));
    let flatness = if matches!(surface.shape, Shape::Blobs(_)) { FLATNESS_BLOB } else { FLATNESS };
    let wanted = |quarters| wanted(quarters, px, flatness);
    let asked = if rim { wanted(own).max(8.0) } else { wanted(own) };
    // Lengths are whole 1/1024 pixels in the kernel, positions in single precision.
    let rounded = [asked - 0.01, asked + 0.01].map(|n| (n - 0.5).ceil().max(1.0));
    let rate = f64::from(edge.rate);
    assert!(rate >= rounded[0] && rate <= rounded[1], "{surface:?} side {side} at {at}: {edge:?} for {asked}");
    // On a primitive's own border, which is there from the first level on, it was not one at the level before.
    if edge.leaf_level > 0 && (at == 0.0 || at == 1.0) {
        let size = UNIT >> (edge.leaf_level - 1);
        let start = edge.leaf_start / size * size;
        let parent = line([edge::number(start), edge::number(start + size)]);
        let open = wanted(parent) + 0.01 > f64::from(EDGE_RATE_MAX) + 0.5 || uneven(parent, px);
        assert!(open, "{surface:?} side {side} at {at}: {edge:?}, its parent asks for {}", wanted(parent));
    }
}
