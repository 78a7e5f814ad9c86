//! Dicing of every primitive kind against the surfaces in double precision.

use super::grids::{Diced, Split, dice, split};
use super::lab::Lab;
use super::scene::{Scene, Thing, placed};
use super::zoo;
use crate::reference::surface::Surface;
use crate::reference::{blob, edge, limit};
use anthill::scene::Shape;
use glam::{DMat3, DVec3};
use std::collections::BTreeMap;

fn vec(p: [f32; 4]) -> DVec3 {
    DVec3::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]))
}

fn diced(things: Vec<Thing>, perspective: bool) -> (Scene, Split, Vec<Diced>) {
    diced_scene(zoo::scene(things, perspective))
}

fn diced_scene(scene: Scene) -> (Scene, Split, Vec<Diced>) {
    let mut lab = Lab::new();
    let loaded = scene.load(&mut lab);
    let split = split(&mut lab, &scene, &loaded);
    assert!(!split.grids.is_empty());
    let diced = dice(&mut lab, &scene, &loaded, &split);
    (scene, split, diced)
}

/// Calls `check` for each vertex of each grid with its exact parameters.
fn each_vertex(
    (scene, split, diced): &(Scene, Split, Vec<Diced>),
    mut check: impl FnMut(&Surface<'_>, [f64; 2], [[f32; 4]; 4]),
) {
    for (grid, vertices) in split.grids.iter().zip(diced) {
        let surface = scene.surface(grid);
        for (j, i) in (0..=vertices.nv).flat_map(|j| (0..=vertices.nu).map(move |i| (j, i))) {
            let uv = surface.parameters(grid, i as u32, j as u32);
            let at = vertices.at(i, j);
            check(&surface, uv, [0, 1, 2, 3].map(|c| vertices.channels[c][at]));
        }
    }
}

#[test]
fn vertices_lie_where_the_surface_is() {
    for perspective in [true, false] {
        each_vertex(&diced(zoo::everything(), perspective), |surface, [u, v], channels| {
            let expected = surface.position(u, v);
            let error = (vec(channels[0]) - expected).length() / expected.length();
            assert!(error < 1e-6, "{surface:?} at {u} {v}: {:?} for {expected}", channels[0]);
        });
    }
}

/// u and v of the whole surface, of which the primitive covers `range`.
fn surface_uv(shape: &Shape, primitive: usize, [u, v]: [f64; 2]) -> [f64; 2] {
    let [u0, v0, u1, v1] = uv_range(shape, primitive);
    let [u, v] = match shape {
        Shape::Limit(patches) if patches.triangles => limit::barycentric([u, v]),
        _ => [u, v],
    };
    [u0 * (1.0 - u) + u1 * u, v0 * (1.0 - v) + v1 * v]
}

fn uv_range(shape: &Shape, primitive: usize) -> [f64; 4] {
    let range = match shape {
        Shape::Patches(patches) => patches.uv_range[primitive],
        Shape::Limit(patches) => patches.uv_range[primitive],
        Shape::Curves(curves) => [0.0, curves.v_range[primitive][0], 1.0, curves.v_range[primitive][1]],
        Shape::Facets(facets) => facets.uv_range.get(primitive).copied().unwrap_or([0.0, 0.0, 1.0, 1.0]),
        _ => [0.0, 0.0, 1.0, 1.0],
    };
    range.map(f64::from)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * (1.0 + b.abs())
}

#[test]
fn parameters_and_texture_coordinates_are_bilinear() {
    each_vertex(&diced(zoo::everything(), true), |surface, uv, channels| {
        let [u, v] = surface_uv(surface.shape, surface.primitive, uv);
        // TextureCoordinates of scene.rs, at (0,0) (1,0) (0,1) (1,1).
        let mix = |a: f64, b: f64, t: f64| a * (1.0 - t) + b * t;
        let s = mix(mix(0.1, 0.9, u), mix(0.0, 1.5, u), v);
        let t = mix(mix(0.2, 0.3, u), mix(1.2, 0.8, u), v);
        let found = channels.map(|c| f64::from(c[3]));
        assert!(found.iter().zip([u, v, s, t]).all(|(a, b)| near(*a, b)), "{surface:?} at {uv:?}: {found:?}");
    });
}

#[test]
fn polygons_have_their_object_xy_and_their_face_normal() {
    let mut thing = zoo::mesh(5);
    let Shape::Facets(facets) = &mut thing.shape else { panic!("a mesh is facets") };
    facets.polygon = true;
    facets.face_normals = facets.corners.iter().map(|c| [0.6, 0.0, if c[0] % 2 == 0 { 0.8 } else { -0.8 }]).collect();
    let inverse = thing.camera_from_object.inverse();
    each_vertex(&diced(vec![thing], true), |surface, [u, v], channels| {
        let object = inverse.transform_point3(surface.position(u, v));
        let found = channels.map(|c| f64::from(c[3]));
        let expected = [object.x, object.y, object.x, object.y];
        assert!(found.iter().zip(expected).all(|(a, b)| near(*a, b)), "{found:?} for {expected:?}");
        let cosine = vec(channels[1]).normalize().dot(surface.normal(u, v));
        assert!(cosine > 1.0 - 1e-6, "{cosine}");
    });
}

#[test]
fn tangents_are_derivatives_by_the_parameters_of_the_whole_surface() {
    each_vertex(&diced(zoo::everything(), true), |surface, [u, v], channels| {
        let [du, dv] = surface.tangents(u, v);
        let [u0, v0, u1, v1] = uv_range(surface.shape, surface.primitive);
        let expected = [du / (u1 - u0), dv / (v1 - v0)];
        // At a paraboloid's tip the slope is infinite; there is none in the zoo.
        for (found, expected) in [vec(channels[2]), vec(channels[3])].into_iter().zip(expected) {
            let scale = expected.length().max(0.01);
            assert!((found - expected).length() < 2e-4 * scale, "{surface:?} at {u} {v}: {found} for {expected}");
        }
    });
}

#[test]
fn normals_point_along_du_x_dv_also_where_a_border_has_collapsed() {
    for perspective in [true, false] {
        each_vertex(&diced(zoo::everything(), perspective), |surface, [u, v], channels| {
            let (found, expected) = (vec(channels[1]), surface.normal(u, v));
            assert!(found.length() > 0.0, "{surface:?} at {u} {v} has no normal");
            let cosine = found.normalize().dot(expected);
            assert!(cosine > 0.9999, "{surface:?} at {u} {v}: {found} for {expected}, {cosine}");
        });
    }
}

#[test]
fn vertices_at_one_place_have_the_same_parameters_whatever_the_rates_of_their_grids() {
    for rate in [1.0, 0.1] {
        let (scene, split, grids) = diced(zoo::everything().into_iter().map(|t| t.rate(rate)).collect(), true);
        let mut found: BTreeMap<(u32, u32, [u64; 2]), [u32; 2]> = BTreeMap::new();
        let (mut shared, mut different) = (0, 0);
        for (grid, vertices) in split.grids.iter().zip(&grids) {
            let surface = scene.surface(grid);
            // A polygon's u and v are its x and y, and a place that has collapsed has many.
            let collapsed = matches!(surface.shape, Shape::Facets(_));
            for (j, i) in (0..=vertices.nv).flat_map(|j| (0..=vertices.nu).map(move |i| (j, i))).filter(|_| !collapsed)
            {
                let at = vertices.at(i, j);
                let uv = [0, 1].map(|c| vertices.channels[c][at][3].to_bits());
                let place = (grid.instance, grid.primitive, edge::vertex(grid, i as u32, j as u32));
                if let Some(other) = found.insert(place, uv) {
                    shared += 1;
                    different += u32::from(other != uv);
                }
            }
        }
        assert!(shared > 1000 && different == 0, "rate {rate}: {different} of {shared} differ");
    }
}

/// A border segment between two different vertices, by their bits, in order; -0 is 0.
type Segment = [[u32; 3]; 2];

fn segment(a: [f32; 3], b: [f32; 3]) -> Option<Segment> {
    let bits = |p: [f32; 3]| p.map(|x| (x + 0.0).to_bits());
    let mut segment = [bits(a), bits(b)];
    segment.sort_unstable();
    (segment[0] != segment[1]).then_some(segment)
}

/// How often each border segment occurs; degenerate ones do not count.
fn segments(grids: &[Diced]) -> BTreeMap<Segment, u32> {
    let mut found = BTreeMap::new();
    for grid in grids {
        let (nu, nv) = (grid.nu, grid.nv);
        let along_u = [0, nv].into_iter().flat_map(|j| (0..nu).map(move |i| ((i, j), (i + 1, j))));
        let along_v = [0, nu].into_iter().flat_map(|i| (0..nv).map(move |j| ((i, j), (i, j + 1))));
        for (a, b) in along_u.chain(along_v) {
            if let Some(segment) = segment(grid.p(a.0, a.1), grid.p(b.0, b.1)) {
                *found.entry(segment).or_insert(0) += 1;
            }
        }
    }
    found
}

/// Every border segment of a closed surface is a border of exactly two grids.
fn check_closed(thing: Thing, what: &str) {
    let (_, split, grids) = diced(vec![thing], true);
    assert_eq!(split.lost, 0);
    let segments = segments(&grids);
    let open = segments.values().filter(|times| *times % 2 != 0).count();
    assert!(open == 0 && segments.len() > 50, "{what}: {open} of {} segments are open", segments.len());
}

#[test]
fn a_closed_surface_has_no_open_border() {
    for rate in [0.25, 1.0, 7.0] {
        for (n, thing) in zoo::closed().into_iter().enumerate() {
            check_closed(thing.rate(rate), &format!("thing {n}, rate {rate}"));
        }
    }
}

#[test]
fn the_points_of_a_blob_are_on_the_surface_of_its_field() {
    each_vertex(&diced(vec![zoo::blob().rate(30.0)], true), |surface, uv, channels| {
        let Shape::Blobs(blobs) = surface.shape else { panic!("{surface:?}") };
        let object = surface.camera_from_object.inverse().transform_point3(vec(channels[0]));
        let error = blob::distance(blobs, surface.primitive, object);
        assert!(error < 1e-5, "{error} at {uv:?}");
        let outwards = blob::outwards(blobs, surface.primitive, object);
        let matrix = DMat3::from_mat4(surface.camera_from_object);
        let expected = (matrix.inverse().transpose() * outwards * matrix.determinant().signum()).normalize();
        let off = 1.0 - vec(channels[1]).normalize().dot(expected);
        assert!(off < 1e-4, "{off} at {uv:?}: {:?} for {expected}", channels[1]);
    });
}

#[test]
fn crumpled_facets_have_no_open_border() {
    for seed in 0..6 {
        check_closed(zoo::crumpled_facets(seed).rate([1.0, 0.2, 3.0][seed as usize % 3]), &format!("seed {seed}"));
    }
}

#[test]
fn crumpled_patches_have_no_open_border() {
    for seed in 0..6 {
        check_closed(zoo::crumpled_patches(seed).rate([1.0, 0.2, 3.0][seed as usize % 3]), &format!("seed {seed}"));
    }
}

#[test]
fn crumpled_rational_patches_have_no_open_border() {
    for (seed, degree) in [1, 2, 3, 4, 7].into_iter().enumerate() {
        let thing = zoo::crumpled_rational(seed as u64, degree).rate([1.0, 0.2, 3.0][seed % 3]);
        check_closed(thing, &format!("degree {degree}"));
    }
}

#[test]
fn limit_patches_of_closed_cages_have_no_open_border() {
    for (n, rate) in [(3, 1.0), (4, 0.3), (7, 3.0)] {
        let thing = zoo::prism(n, [0.0, 1.5, 10.0, 3.3][n % 4], placed(0.2, 0.1, 4.0, 0.7));
        check_closed(thing.rate(rate), &format!("prism of {n}"));
    }
    for seed in 0..4 {
        let (triangles, rate) = (seed % 2 == 1, [1.0, 3.0, 0.5][seed as usize % 3]);
        check_closed(zoo::crumpled_cage(seed, 5, triangles).rate(rate), &format!("cage {seed}"));
    }
}

/// Open segments must lie on the outer border, which `outside` tells.
fn check_border(thing: Thing, outside: impl Fn(DVec3) -> bool) {
    let object_from_camera = thing.camera_from_object.inverse();
    let (_, split, grids) = diced(vec![thing], true);
    assert!(split.grids.len() > 20, "{} grids", split.grids.len());
    let mut inner = 0;
    for ([a, b], times) in segments(&grids) {
        let object =
            |p: [u32; 3]| object_from_camera.transform_point3(DVec3::from(p.map(|x| f64::from(f32::from_bits(x)))));
        let (a, b) = (object(a), object(b));
        assert!(times == 2 || times == 1 && outside(a) && outside(b), "{a} {b}: {times} times");
        inner += u32::from(times == 2);
    }
    assert!(inner > 100);
}

#[test]
fn facets_that_share_vertices_share_border_vertices_whatever_their_orientation() {
    check_border(zoo::mesh(7), |p| p.x.abs().max(p.y.abs()) > 1.0 - 1e-5);
}

#[test]
fn patches_that_share_control_points_share_border_vertices_whatever_their_orientation() {
    let rim = |t: f64, low: f64, high: f64| t < low + 1e-4 || t > high - 1e-4;
    check_border(zoo::patch_row(), |p| rim(p.x, -1.2, 1.2) || rim(p.y, -0.5, 0.55));
    check_border(zoo::rational_row(), |p| rim(p.x, -1.2, 1.2) || rim(p.y, -0.5, 0.55));
}

#[test]
fn no_border_inside_a_primitive_is_open() {
    for rate in [1.0, 0.1] {
        let things = zoo::everything().into_iter().map(|t| t.rate(rate)).collect();
        let (_, split, grids) = diced_scene(zoo::wide_scene(things, true));
        let segments = segments(&grids);
        let mut inner = 0;
        for (grid, vertices) in split.grids.iter().zip(&grids) {
            let [u0, v0, u1, v1] = edge::rectangle(grid);
            let (nu, nv) = (vertices.nu, vertices.nv);
            let along_u = [(v0, 0), (v1, nv)].map(|(at, j)| (at, (0..nu).map(|i| ((i, j), (i + 1, j))).collect()));
            let along_v = [(u0, 0), (u1, nu)].map(|(at, i)| (at, (0..nv).map(|j| ((i, j), (i, j + 1))).collect()));
            for (at, border) in along_u.into_iter().chain(along_v) {
                let border: Vec<((usize, usize), (usize, usize))> = border;
                for (a, b) in border.into_iter().filter(|_| at != 0 && at != edge::UNIT) {
                    let Some(segment) = segment(vertices.p(a.0, a.1), vertices.p(b.0, b.1)) else { continue };
                    assert_eq!(segments[&segment] % 2, 0, "{a:?} to {b:?} of {grid:?}");
                    inner += 1;
                }
            }
        }
        assert!(inner > 1000);
    }
}

#[test]
fn a_lid_closes_at_its_point() {
    // Only the rim and the two straight sides are open: the border at v = 0 is one point.
    check_border(zoo::lid().rate(0.1), |p| {
        let angle = p.y.atan2(p.x);
        p.truncate().length() < 1e-6 || p.truncate().length() > 1.0 || !(1e-3..1.4).contains(&angle)
    });
}

#[test]
fn an_octant_is_a_part_of_a_sphere() {
    each_vertex(&diced(vec![zoo::octant()], true), |surface, _, channels| {
        let centre = surface.camera_from_object.transform_point3(DVec3::ZERO);
        let out = vec(channels[0]) - centre;
        assert!((out.length() - 1.0).abs() < 2e-6, "{}", out.length());
        let cosine = out.normalize().dot(vec(channels[1]).normalize());
        assert!(cosine.abs() > 0.9999, "{cosine} at {out}");
    });
}

/// Calls `off` for each vertex, in object space; it must be 0.
fn check_distance(thing: Thing, off: impl Fn(DVec3) -> f64) {
    let (mut worst, mut count) = (0.0_f64, 0);
    each_vertex(&diced(vec![thing], true), |surface, _, channels| {
        worst = worst.max(off(surface.camera_from_object.inverse().transform_point3(vec(channels[0]))).abs());
        count += 1;
    });
    assert!(worst < 1e-5 && count > 1000, "{worst} of {count} vertices");
}

#[test]
fn a_circle_of_nurbs_is_a_circle() {
    let tube = [[0.8, -0.5, 1.0], [0.8, 0.5, 1.0]];
    check_distance(zoo::revolved(&tube, placed(0.1, 0.2, 4.0, 0.6)), |p| p.truncate().length() - 0.8);
}

#[test]
fn a_torus_of_nurbs_is_a_torus() {
    let side = 0.5_f64.sqrt();
    let ring = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1], [1, 0]];
    let profile: Vec<[f64; 3]> = ring
        .into_iter()
        .enumerate()
        .map(|(k, [r, z])| [0.8 + 0.3 * f64::from(r), 0.3 * f64::from(z), if k % 2 == 1 { side } else { 1.0 }])
        .collect();
    check_distance(zoo::revolved(&profile, placed(0.1, 0.2, 4.0, 0.6)), |p| {
        DVec3::new(p.truncate().length() - 0.8, 0.0, p.z).length() - 0.3
    });
}

#[test]
fn a_large_point_is_one_disk() {
    // Not in the middle of the picture: its rim's parts are of different lengths in pixels.
    for (x, y) in [(0.0, 0.0), (1.1, 0.4), (-0.9, -0.7)] {
        let shape = super::scene::points(vec![[x, y, 0.0]], vec![1.2]);
        let thing = Thing::new(shape, placed(0.0, 0.0, 3.0, 0.0));
        let object_from_camera = thing.camera_from_object.inverse();
        let centre = DVec3::new(f64::from(x), f64::from(y), 0.0);
        let (_, split, grids) = diced(vec![thing], true);
        assert!(split.grids.len() > 4);
        for ([a, b], times) in segments(&grids) {
            let distance = |p: [u32; 3]| {
                let p = DVec3::from(p.map(|x| f64::from(f32::from_bits(x))));
                (object_from_camera.transform_point3(p) - centre).length()
            };
            let rim = distance(a) > 0.599 && distance(b) > 0.599;
            assert!(times == 2 || times == 1 && rim, "at {x} {y}: {} to {}, {times}", distance(a), distance(b));
        }
    }
}
