//! Named scenes of every primitive kind.

use super::random::Random;
use super::scene::{Scene, Thing, bezier, camera, curves, facets, options, patches, placed, points, quadric, sphere};
use anthill::diagnostic::Reporter;
use anthill::rib::{Input, Settings, read};
use anthill::scene::{BlobStep, Blobs, Camera, QuadricShape, Shape, World};
use glam::{DMat4, DVec3};
use std::f32::consts::{PI, TAU};
use std::ops::ControlFlow;

/// A picture of 200 x 150 pixels.
pub(crate) fn scene(things: Vec<Thing>, perspective: bool) -> Scene {
    Scene::new(things, camera([200, 150], perspective), options())
}

/// The same in a window twice as wide and high, which nothing reaches out of, even a large point.
pub(crate) fn wide_scene(things: Vec<Thing>, perspective: bool) -> Scene {
    let mut camera = camera([200, 150], perspective);
    camera.screen_window = camera.screen_window.map(|side| 2.0 * side);
    Scene::new(things, camera, options())
}

/// A floor that is seen from so low and aside that both of its directions run nearly along one line in the picture,
/// which holds all of it.
pub(crate) fn low_floor() -> Scene {
    let corners = [[-200.0, -0.5, 500.0], [250.0, -0.5, 450.0], [-400.0, -0.6, 900.0], [450.0, -0.6, 800.0]];
    let floor = Thing::new(facets(corners.to_vec(), vec![[0, 1, 2, 3]]), DMat4::IDENTITY);
    let camera = Camera { screen_window: [-1.5, 1.5, -1.1, 1.1], ..camera([2000, 1500], true) };
    Scene::new(vec![floor], camera, options())
}

fn wide(shape: Shape, x: f64, turn: f64) -> Thing {
    Thing::new(shape, placed(x, 0.1 * x, 5.0, turn))
}

/// Every quadric, whole or in part, turned this way and that.
pub(crate) fn quadrics() -> Vec<Thing> {
    let shapes = [
        (QuadricShape::Sphere { radius: 1.0, zmin: -1.0, zmax: 1.0 }, 360.0),
        (QuadricShape::Sphere { radius: -0.8, zmin: -0.3, zmax: 0.7 }, -200.0),
        (QuadricShape::Cone { height: 1.3, radius: 0.6 }, 360.0),
        (QuadricShape::Cylinder { radius: 0.5, zmin: -0.4, zmax: 0.9 }, 300.0),
        (QuadricShape::Hyperboloid { p1: [0.6, 0.1, -0.6], p2: [-0.2, 0.5, 0.7] }, 360.0),
        (QuadricShape::Paraboloid { rmax: 0.7, zmin: 0.1, zmax: 1.0 }, 360.0),
        (QuadricShape::Disk { height: 0.2, radius: 0.9 }, 90.0),
        (QuadricShape::Torus { major: 0.7, minor: 0.3, phi_min: 0.0, phi_max: TAU }, 360.0),
        (QuadricShape::Torus { major: 0.3, minor: 0.5, phi_min: -1.0, phi_max: PI }, 250.0),
    ];
    let place = |(i, (shape, sweep)): (usize, (QuadricShape, f32))| {
        wide(quadric(shape, sweep), -1.2 + 0.3 * i as f64, 0.5 * i as f64 + 0.2)
    };
    shapes.into_iter().enumerate().map(place).collect()
}

/// A wavy height field of `n` x `n` facets, some of them cut into triangles, in all orientations.
pub(crate) fn mesh(n: usize) -> Thing {
    let mut random = Random::new(3);
    let positions = (0..(n + 1) * (n + 1)).map(|k| {
        let at = |i: usize| -1.0 + 2.0 * i as f32 / n as f32;
        [at(k % (n + 1)), at(k / (n + 1)), random.float(-0.1, 0.1)]
    });
    let positions: Vec<[f32; 3]> = positions.collect();
    let mut corners = Vec::new();
    for k in 0..n * n {
        let (i, j) = (k % n, k / n);
        let [a, b, c, d] = [(j, i), (j, i + 1), (j + 1, i), (j + 1, i + 1)].map(|(y, x)| (y * (n + 1) + x) as u32);
        match k % 10 {
            0 => corners.extend([[a, b, d, d], [a, d, c, c]]),
            1 => corners.extend([[d, a, b, b], [c, a, d, d]]),
            2 => corners.push([a, b, c, d]),
            3 => corners.push([b, d, a, c]),
            4 => corners.push([d, c, b, a]),
            5 => corners.push([c, a, d, b]),
            6 => corners.push([b, a, d, c]),
            7 => corners.push([a, c, b, d]),
            8 => corners.push([c, d, a, b]),
            _ => corners.push([d, b, c, a]),
        }
    }
    wide(facets(positions, corners), 0.1, 0.6)
}

/// A row of patches that share borders, each in another of the eight orientations.
pub(crate) fn patch_row() -> Thing {
    let height = |x: usize, y: usize| (x as f32 * 0.9).sin() * 0.4 + (y as f32 * 1.3 + x as f32).cos() * 0.3;
    let point = |x: usize, y: usize| [x as f32 * 0.1 - 1.2, y as f32 * 0.35 - 0.5, height(x, y)];
    let mut control = Vec::new();
    for n in 0..8 {
        for k in 0..16 {
            let (mut i, mut j) = (k % 4, k / 4);
            if n & 1 == 1 {
                i = 3 - i;
            }
            if n & 2 == 2 {
                j = 3 - j;
            }
            if n & 4 == 4 {
                (i, j) = (j, i);
            }
            control.push(point(3 * n + i, j));
        }
    }
    wide(patches(control), 0.0, 0.4)
}

/// A patch whose v = 0 border is one point, as a teapot's lid has.
pub(crate) fn lid() -> Thing {
    let point = |k: usize| {
        let (i, j) = ((k % 4) as f32 * PI / 6.0, (k / 4) as f32 * 0.4);
        [i.cos() * j, i.sin() * j, 0.3 - j * j * 0.2]
    };
    wide(patches((0..16).map(point).collect()), -0.4, -0.6)
}

/// Control points and weights of a rational patch: each point by its weight.
fn weighted(degrees: [u32; 2], points: &[[f32; 3]], weights: Vec<f32>) -> Shape {
    let control = points.iter().zip(&weights).map(|(p, w)| p.map(|x| x * w)).collect();
    bezier(degrees, control, weights)
}

/// The row of patches with weights, which neighbours share as they share points.
pub(crate) fn rational_row() -> Thing {
    let mut thing = patch_row();
    let Shape::Patches(patches) = &thing.shape else { panic!("a row is patches") };
    let weight = |p: &[f32; 3]| 1.0 + 0.6 * (7.0 * p[0] + 3.0 * p[1]).sin();
    thing.shape = weighted([3; 2], &patches.control, patches.control.iter().map(weight).collect());
    thing
}

/// An eighth of a sphere, exactly: rational and quadratic, with a pole at v = 1.
pub(crate) fn octant() -> Thing {
    let arc = [(1.0, 0.0, 1.0), (1.0, 1.0, 0.5_f32.sqrt()), (0.0, 1.0, 1.0)];
    let pairs = arc.into_iter().flat_map(|high| arc.map(move |low| (low, high)));
    let points: Vec<[f32; 3]> = pairs.clone().map(|((x, y, _), (r, z, _))| [x * r, y * r, z]).collect();
    wide(weighted([2; 2], &points, pairs.map(|((.., a), (.., b))| a * b).collect()), 0.3, 0.8)
}

/// Waves of high and unequal degrees, without weights.
pub(crate) fn waves(degrees: [u32; 2]) -> Thing {
    let [nu, nv] = degrees.map(|degree| degree as usize);
    let point = |k: usize| {
        let (i, j) = (k % (nu + 1), k / (nu + 1));
        let (x, y) = (i as f32 / nu as f32 - 0.5, j as f32 / nv as f32 - 0.5);
        [1.6 * x, 1.2 * y, if (i + j) % 2 == 0 { 0.4 } else { -0.4 }]
    };
    wide(bezier(degrees, (0..(nu + 1) * (nv + 1)).map(point).collect(), Vec::new()), -0.3, 0.5)
}

/// Hair: thin and broad, cubic and straight, facing the camera or with normals.
pub(crate) fn hair() -> Vec<Thing> {
    let mut random = Random::new(5);
    let mut strands = |count: usize, each: usize| -> Vec<[f32; 3]> {
        let strand = |_| {
            let root = random.triple(-0.9, 0.9);
            let mut at = root;
            let step = |_| {
                let here = at;
                let d = random.triple(-0.25, 0.3);
                at = [at[0] + d[0], at[1] + d[1] + 0.1, at[2] + d[2]];
                here
            };
            (0..each).map(step).collect::<Vec<_>>()
        };
        (0..count).flat_map(strand).collect()
    };
    let normals = vec![[[0.1, 0.2, -1.0], [0.8, -0.3, -0.5]]; 6];
    vec![
        wide(curves(strands(30, 4), true, [0.03, 0.005], Vec::new()), 0.0, 0.1),
        wide(curves(strands(6, 4), true, [0.4, 0.7], Vec::new()), 0.3, -0.4),
        wide(curves(strands(8, 2), false, [0.02, 0.06], Vec::new()), -0.2, 0.9),
        wide(curves(strands(6, 4), true, [0.3, 0.2], normals), -0.5, 0.3),
    ]
}

/// Points from a tenth of a pixel to half the picture.
pub(crate) fn dots() -> Thing {
    let mut random = Random::new(6);
    let widths = vec![0.002, 0.01, 0.03, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8, 1.4];
    wide(points(widths.iter().map(|_| random.triple(-1.0, 1.0)).collect(), widths), 0.2, 0.3)
}

/// Random positions in front of a 45 degree camera, near and far.
fn in_view(random: &mut Random) -> [f32; 3] {
    let z = random.float(1.0, 3.0).powi(3);
    [random.float(-0.45, 0.45) * z, random.float(-0.35, 0.35) * z, z]
}

/// The corners (or control points) of a facet (patch) of side `n`, turned to one of its eight orientations.
fn turned(random: &mut Random, n: usize, point: impl Fn(usize, usize) -> u32) -> Vec<u32> {
    let how = random.below(8);
    let at = |k: usize| {
        let (mut i, mut j) = (k % n, k / n);
        if how & 1 == 1 {
            i = n - 1 - i;
        }
        if how & 2 == 2 {
            j = n - 1 - j;
        }
        if how & 4 == 4 { point(j, i) } else { point(i, j) }
    };
    (0..n * n).map(at).collect()
}

/// A torus of 5 x 4 facets between random positions, some of them cut into triangles: closed, whatever it looks like.
pub(crate) fn crumpled_facets(seed: u64) -> Thing {
    let random = &mut Random::new(seed);
    let positions: Vec<[f32; 3]> = (0..20).map(|_| in_view(random)).collect();
    let mut corners = Vec::new();
    for k in 0..20 {
        let point = |i: usize, j: usize| (((k / 5 + j) % 4) * 5 + (k + i) % 5) as u32;
        let c = turned(random, 2, point);
        match random.below(3) {
            0 => corners.extend([[c[0], c[1], c[3], c[3]], [c[0], c[3], c[2], c[2]]]),
            _ => corners.push([c[0], c[1], c[2], c[3]]),
        }
    }
    Thing::new(facets(positions, corners), DMat4::IDENTITY)
}

/// A torus of 3 x 3 patches between random control points.
pub(crate) fn crumpled_patches(seed: u64) -> Thing {
    let random = &mut Random::new(seed);
    let points: Vec<[f32; 3]> = (0..81).map(|_| in_view(random)).collect();
    let mut control = Vec::new();
    for k in 0..9 {
        let point = |i: usize, j: usize| ((3 * (k / 3) + j) % 9 * 9 + (3 * (k % 3) + i) % 9) as u32;
        control.extend(turned(random, 4, point).into_iter().map(|p| points[p as usize]));
    }
    Thing::new(patches(control), DMat4::IDENTITY)
}

/// A torus of 3 x 3 rational patches of some degree between random control points.
pub(crate) fn crumpled_rational(seed: u64, degree: u32) -> Thing {
    let random = &mut Random::new(seed);
    let n = degree as usize;
    let points: Vec<[f32; 3]> = (0..9 * n * n).map(|_| random.triple(-1.0, 1.0)).collect();
    let weights: Vec<f32> = points.iter().map(|_| random.float(0.5, 2.0)).collect();
    let mut control = Vec::new();
    for k in 0..9 {
        let point = |i: usize, j: usize| ((n * (k / 3) + j) % (3 * n) * 3 * n + (n * (k % 3) + i) % (3 * n)) as u32;
        control.extend(turned(random, n + 1, point).into_iter().map(|p| p as usize));
    }
    let of: Vec<[f32; 3]> = control.iter().map(|&p| points[p]).collect();
    Thing::new(weighted([degree; 2], &of, control.iter().map(|&p| weights[p]).collect()), placed(0.1, 0.0, 4.0, 0.3))
}

/// A subdivision mesh, read from the arguments of its request.
pub(crate) fn subdivision(arguments: &str, camera_from_object: DMat4) -> Thing {
    requested(&format!("SubdivisionMesh {arguments}"), camera_from_object)
}

/// What a request draws.
fn requested(request: &str, camera_from_object: DMat4) -> Thing {
    let text = format!("WorldBegin\n{request}\nWorldEnd\n");
    let reporter = Reporter::new(move |diagnostic| panic!("{diagnostic}"));
    let input = Input::Memory { name: "mesh.rib".into(), bytes: text.into_bytes() };
    let mut shape = None;
    read(&input, &Settings::default(), &reporter, &mut |world: World| {
        shape = world.drawables.first().map(|drawable| drawable.geometry.shape.first().clone());
        ControlFlow::Continue(())
    });
    Thing::new(shape.expect("a primitive"), camera_from_object)
}

fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<String>>().join(" ")
}

/// A NURBS surface of nine points of a circle, of order 3, times `profile`, points (radius, z, weight) of a curve of
/// order 3 or 2.
pub(crate) fn revolved(profile: &[[f64; 3]], camera_from_object: DMat4) -> Thing {
    let side = 0.5_f64.sqrt();
    let circle = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1], [1, 0]];
    let points = profile.iter().flat_map(|&[r, z, w]| {
        circle.into_iter().enumerate().flat_map(move |(k, [x, y])| {
            let w = if k % 2 == 1 { w * side } else { w };
            [r * f64::from(x) * w, r * f64::from(y) * w, z * w, w]
        })
    });
    let quarters = "9 3 [0 0 0 .25 .25 .5 .5 .75 .75 1 1 1] 0 1";
    let across = if profile.len() == 9 { quarters } else { "2 2 [0 0 1 1] 0 1" };
    requested(&format!("NuPatch {quarters} {across} \"Pw\" [{}]", list(points)), camera_from_object)
}

/// A prism of `n` sides, closed, with a crease around its foot, of a sharpness, and a sharp corner.
pub(crate) fn prism(n: usize, sharpness: f64, camera_from_object: DMat4) -> Thing {
    let sides = (0..n).flat_map(|i| [i, (i + 1) % n, n + (i + 1) % n, n + i]);
    let vertices = sides.chain((0..n).rev()).chain(n..2 * n);
    let points = (0..2 * n).flat_map(|k| {
        let angle = f64::from((k % n) as u32) / n as f64 * std::f64::consts::TAU;
        [angle.cos(), angle.sin(), if k < n { -0.7 } else { 0.7 }]
    });
    let tags = format!("[\"crease\" \"corner\"] [{} 1 1 1] [{} 0 {n}] [{sharpness} 3]", n + 1, list(0..n));
    let sizes = list(std::iter::repeat_n(4, n).chain([n, n]));
    let arguments = format!("\"catmull-clark\" [{sizes}] [{}] {tags} \"P\" [{}]", list(vertices), list(points));
    subdivision(&arguments, camera_from_object)
}

/// A tetrahedron under Loop's scheme: no regular vertex.
pub(crate) fn tetrahedron() -> Thing {
    let arguments = "\"loop\" [3 3 3 3] [0 2 1 0 1 3 1 2 3 2 0 3] \"P\" [-1 -1 -1 1 -0.8 -1 0 1 -1 0.1 0 0.9]";
    subdivision(arguments, placed(-0.6, 0.3, 5.0, 0.2))
}

/// A grid of `n` x `n` faces whose borders are joined to a torus, of quadrilaterals or of triangles, some of them cut,
/// between random points: extraordinary vertices and faces next to regular ones.
pub(crate) fn crumpled_cage(seed: u64, n: usize, triangles: bool) -> Thing {
    let random = &mut Random::new(seed);
    let at = |i: usize, j: usize| ((j % n) * n + i % n) as u32;
    let (mut sizes, mut vertices) = (Vec::new(), Vec::new());
    for k in 0..n * n {
        let (i, j) = (k % n, k / n);
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        match (triangles, random.below(if triangles { 4 } else { 8 })) {
            (false, 1..) => {
                sizes.push(4);
                vertices.extend([a, b, c, d]);
            }
            (true, 0) => {
                sizes.extend([3, 3]);
                vertices.extend([a, b, d, b, c, d]);
            }
            _ => {
                sizes.extend([3, 3]);
                vertices.extend([a, b, c, c, d, a]);
            }
        }
    }
    let point = |k: usize| {
        let [u, v] = [k % n, k / n].map(|at| at as f64 / n as f64 * std::f64::consts::TAU);
        let around = 0.8 + 0.35 * v.cos();
        [around * u.cos(), around * u.sin(), 0.35 * v.sin()]
    };
    let mut points: Vec<f64> = (0..n * n).flat_map(point).collect();
    points.iter_mut().for_each(|x| *x += f64::from(random.float(-0.06, 0.06)));
    // Sharp edges of all degrees around and along.
    let around = list((0..=n).map(|i| at(i, 1)));
    let along = list((0..4).map(|j| at(2, j)));
    let (names, counts) = ("[\"crease\" \"crease\"]", format!("[{} 1 4 3]", n + 1));
    let tags =
        format!("{names} {counts} [{around} {along}] [{} 1.5 2.25 3]", if seed.is_multiple_of(2) { 10.0 } else { 1.7 });
    let scheme = if triangles { "loop" } else { "catmull-clark" };
    let arguments = format!("\"{scheme}\" [{}] [{}] {tags} \"P\" [{}]", list(sizes), list(vertices), list(points));
    subdivision(&arguments, placed(0.1, 0.2, 4.0, 0.5))
}

/// Everything above, without what is closed.
pub(crate) fn everything() -> Vec<Thing> {
    let mut things = quadrics();
    things.extend([mesh(6), patch_row(), lid(), dots()]);
    things.extend([rational_row(), octant(), waves([7, 2]), waves([1, 23])]);
    things.extend(hair());
    things.extend([prism(3, 0.0, placed(0.6, -0.3, 5.0, 0.4)), tetrahedron()]);
    things
}

/// An ellipsoid and a segment that blend, between which a second ellipsoid takes something away; each facet of the cube
/// around them has one of two programs, which agree.
pub(crate) fn blob() -> Thing {
    let corner = |k: u32| [(k & 1) as f32 - 0.5, (k >> 1 & 1) as f32 - 0.5, (k >> 2) as f32 - 0.5].map(|x| 0.7 * x);
    let ellipsoid = |size: f32, [x, y, z]: [f32; 3]| {
        let k = 1.0 / size;
        BlobStep::Ellipsoid([[k, 0.0, 0.0, -k * x], [0.0, k, 0.0, -k * y], [0.0, 0.0, k, -k * z]])
    };
    let rows = [[1.2, 0.0, 0.0, 0.0], [0.0, 1.1, 0.0, 0.0], [0.0, 0.0, 1.3, 0.1]];
    let segment = BlobStep::Segment { rows, start: [-0.3, 0.0, 0.0], axis: [0.6, 0.0, 0.8], length: 0.7 };
    let (large, small) = (ellipsoid(0.9, [0.1, 0.0, 0.0]), ellipsoid(0.3, [-0.5, 0.2, 0.1]));
    let sum = [large, segment, BlobStep::Add];
    let rest = [small, BlobStep::Subtract];
    let program = [&sum[..], &rest[..]].concat();
    let longer = [&sum[..], &[BlobStep::Constant(0.0), BlobStep::Add], &rest[..]].concat();
    let corners = vec![[0, 2, 1, 3], [4, 5, 6, 7], [0, 1, 4, 5], [2, 6, 3, 7], [0, 4, 2, 6], [1, 3, 5, 7]];
    let shape = Shape::Blobs(Blobs {
        positions: (0..8).map(corner).collect(),
        corners: corners.into(),
        programs: vec![program, longer].into(),
        program: vec![0, 1, 0, 1, 0, 1].into(),
        threshold: 0.421_875,
        reach: 0.6,
    });
    Thing::new(shape, placed(0.2, 0.1, 4.0, 0.8))
}

/// A whole sphere, a whole torus, a box of facets in random orientations and a blob: no border is open.
pub(crate) fn closed() -> Vec<Thing> {
    let torus = QuadricShape::Torus { major: 0.7, minor: 0.3, phi_min: 0.0, phi_max: TAU };
    let corner = |k: u32| [(k & 1) as f32 - 0.5, (k >> 1 & 1) as f32 - 0.5, (k >> 2) as f32 - 0.5];
    let faces = vec![[0, 1, 2, 3], [7, 5, 6, 4], [4, 5, 0, 1], [3, 7, 2, 6], [2, 0, 6, 4], [1, 3, 5, 7]];
    vec![
        Thing::new(sphere(0.9), placed(-0.9, 0.3, 4.0, 0.7)),
        Thing::new(quadric(torus, 360.0), placed(0.9, 0.2, 4.0, 0.9)),
        Thing::new(
            facets((0..8).map(corner).collect(), faces),
            DMat4::from_translation(DVec3::new(0.1, -0.6, 3.5)) * DMat4::from_rotation_y(0.6),
        ),
        blob(),
    ]
}
