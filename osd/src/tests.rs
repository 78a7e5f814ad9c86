//! Limit patches against the masks of limits, splines, and what must be refused.

use super::*;

fn cage<'c>(sizes: &'c [i32], vertices: &'c [i32], vertex_count: u32) -> Cage<'c> {
    Cage {
        scheme: Scheme::CatmullClark,
        boundary: Boundary::EdgesAndCorners,
        face_varying: FaceVarying::Linear,
        chaikin: false,
        smooth_triangles: false,
        vertex_count,
        face_sizes: sizes,
        face_vertices: vertices,
        crease_edges: &[],
        crease_sharpness: &[],
        corner_vertices: &[],
        corner_sharpness: &[],
        holes: &[],
        channels: &[],
    }
}

fn values(vertex: &[f32]) -> Values<'_> {
    Values { vertex_width: 3, vertex, varying_width: 0, varying: &[], channels: &[] }
}

#[test]
fn a_flat_grid_has_one_patch_a_face() {
    let at = |x: i32, y: i32| y * 4 + x;
    let faces: Vec<i32> = (0..9)
        .flat_map(|f| {
            let (x, y) = (f % 3, f / 3);
            [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)]
        })
        .collect();
    let points: Vec<f32> = (0..16).flat_map(|i| [(i % 4) as f32, (i / 4) as f32, 0.0]).collect();
    let mut refiner = Refiner::new(&cage(&[4; 9], &faces, 16)).expect("a valid cage");
    let all: Vec<i32> = (0..9).collect();
    let patches = refiner.refine(&all, 3, 3, 1000, &values(&points)).expect("patches");
    let places = patches.places();
    assert_eq!(places.len(), 9);
    for (place, control) in places.iter().zip(patches.vertex_values().chunks_exact(60)) {
        assert!(place.regular && place.depth == 0);
        let (x, y) = ((place.face % 3) as f32, (place.face / 3) as f32);
        for k in 0..16 {
            let want = [x + (k % 4) as f32 / 3.0, y + (k / 4) as f32 / 3.0, 0.0];
            for i in 0..3 {
                assert!(
                    (control[3 * k + i] - want[i]).abs() < 1e-6,
                    "{place:?}, point {k}: {:?}",
                    &control[3 * k..3 * k + 3]
                );
            }
        }
    }
}

#[test]
fn what_the_library_trusts_is_checked() {
    let refused = |cage: Cage<'_>| Refiner::new(&cage).expect_err("it must be refused");
    assert_eq!(refused(cage(&[4], &[0, 1, 2, 4], 4)), CageError::Index);
    assert_eq!(refused(cage(&[4], &[0, 1, 2, -1], 4)), CageError::Index);
    assert_eq!(refused(cage(&[4], &[0, 1, 2], 4)), CageError::Lengths);
    assert_eq!(refused(cage(&[3], &[0, 1, 2, 3], 4)), CageError::Lengths);
    assert_eq!(refused(cage(&[-1], &[], 4)), CageError::Lengths);
    assert_eq!(refused(cage(&[2], &[0, 1], 4)), CageError::Face(0));
    assert_eq!(refused(cage(&[4], &[0, 1, 2, 1], 4)), CageError::Face(0));
    assert_eq!(refused(Cage { scheme: Scheme::Loop, ..cage(&[4], &[0, 1, 2, 3], 4) }), CageError::Face(0));
    assert_eq!(refused(Cage { holes: &[1], ..cage(&[3], &[0, 1, 2], 3) }), CageError::Index);
    assert_eq!(
        refused(Cage { crease_edges: &[[0, 3]], crease_sharpness: &[1.0], ..cage(&[3], &[0, 1, 2], 3) }),
        CageError::Index
    );
    assert_eq!(refused(Cage { crease_edges: &[[0, 1]], ..cage(&[3], &[0, 1, 2], 3) }), CageError::Lengths);
    let nan = Cage { corner_vertices: &[0], corner_sharpness: &[f32::NAN], ..cage(&[3], &[0, 1, 2], 3) };
    assert_eq!(refused(nan), CageError::Sharpness);
    let channel = [Channel { value_count: 2, values: &[0, 1, 2] }];
    assert_eq!(refused(Cage { channels: &channel, ..cage(&[3], &[0, 1, 2], 3) }), CageError::Index);
    let fan: Vec<i32> = (0..2000).flat_map(|i| [0, i + 1, i + 2]).collect();
    assert_eq!(refused(cage(&[3; 2000], &fan, 2002)), CageError::Valence(2000));
}

/// Limit positions of an evenly refined mesh.
fn even_limit(refiner: &mut Refiner, level: i32, positions: &[f32], room: usize) -> Vec<[f32; 3]> {
    let mut limits = vec![[0.0; 3]; room];
    // SAFETY: there are as many positions as vertices, and room for as many limits as is said.
    let count = unsafe {
        ffi::osd_even_limit(refiner.raw.as_ptr(), level, positions.as_ptr(), limits.as_mut_ptr().cast(), room)
    };
    assert!(count <= room, "{count}");
    limits.truncate(count);
    limits
}

fn bernstein(n: usize, t: f64) -> Vec<f64> {
    let mut weights = vec![1.0];
    for _ in 0..n {
        let low = weights.iter().map(|w| w * (1.0 - t)).chain([0.0]);
        let high = [0.0].into_iter().chain(weights.iter().map(|w| w * t));
        weights = low.zip(high).map(|(a, b)| a + b).collect();
    }
    weights
}

/// A point of a Gregory patch.
fn quad_at(control: &[f32], u: f64, v: f64) -> [f64; 3] {
    let part = |a: f64, b: f64| if a + b == 0.0 { 0.5 } else { a / (a + b) };
    let (s, t) = (1.0 - u, 1.0 - v);
    let parts = [(5, part(u, v)), (6, part(v, s)), (10, part(s, t)), (9, part(t, u))];
    let (along_u, along_v) = (bernstein(3, u), bernstein(3, v));
    std::array::from_fn(|i| {
        let point = |k: usize| f64::from(control[3 * k + i]);
        (0..16)
            .map(|k| {
                let pair = parts.iter().position(|(p, _)| *p == k);
                let value = pair.map_or(point(k), |n| parts[n].1 * point(k) + (1.0 - parts[n].1) * point(16 + n));
                along_u[k % 4] * along_v[k / 4] * value
            })
            .sum()
    })
}

/// A prism of `n` sides whose lids are one face each.
fn prism(n: i32) -> (Vec<i32>, Vec<i32>, Vec<f32>) {
    let sides = (0..n).flat_map(|i| [i, (i + 1) % n, n + (i + 1) % n, n + i]);
    let vertices = sides.chain((0..n).rev()).chain(n..2 * n).collect();
    let point = |k: i32| {
        let angle = (k % n) as f32 / n as f32 * std::f32::consts::TAU;
        [angle.cos(), angle.sin() + 0.1 * (k % 3) as f32, if k < n { -0.7 } else { 0.9 }]
    };
    (vec![4; n as usize].into_iter().chain([n, n]).collect(), vertices, (0..2 * n).flat_map(point).collect())
}

#[test]
fn patches_of_creased_cages_lie_on_evenly_refined_limits() {
    for n in 3..13 {
        let (sizes, vertices, positions) = prism(n);
        // Round the foot and up one side, of all degrees.
        let creases: Vec<[i32; 2]> = (0..n).map(|i| [i, (i + 1) % n]).chain([[0, n]]).collect();
        let sharpness: Vec<f32> = (0..=n).map(|i| [0.4, 1.0, 2.5, 10.0][((i + n) % 4) as usize]).collect();
        let corners = [n + 1];
        let creased = Cage {
            crease_edges: &creases,
            crease_sharpness: &sharpness,
            corner_vertices: &corners,
            corner_sharpness: &[1.5],
            chaikin: n % 2 == 0,
            ..cage(&sizes, &vertices, 2 * n as u32)
        };
        let mut refiner = Refiner::new(&creased).expect("a valid cage");
        let all: Vec<i32> = (0..sizes.len() as i32).collect();
        let patches = refiner.refine(&all, 5, 5, 100_000, &values(&positions)).expect("patches");
        let (places, control) = (patches.places(), patches.vertex_values().to_vec());
        let limits = even_limit(&mut refiner, 5, &positions, 200_000);
        let mut cells = std::collections::HashMap::<[i32; 3], Vec<[f32; 3]>>::new();
        let cell = |p: [f64; 3]| p.map(|x| (x * 20.0).floor() as i32);
        for limit in limits {
            cells.entry(cell(limit.map(f64::from))).or_default().push(limit);
        }
        let mut worst = [0.0_f64; 2];
        for (place, control) in places.iter().zip(control.chunks_exact(60)) {
            // Places of vertices of level 5.
            let level = place.depth + u32::from(sizes[place.face as usize] != 4);
            // Where a Gregory patch has its points between the corners is its own choice.
            let steps = if place.regular { 1 << (5 - level).min(3) } else { 1 };
            for k in 0..(steps + 1) * (steps + 1) {
                let [u, v] = [k % (steps + 1), k / (steps + 1)].map(|at| f64::from(at) / f64::from(steps));
                let p = quad_at(control, u, v);
                let home = cell(p);
                let around = (0..27).map(|k| [home[0] + k % 3 - 1, home[1] + k / 3 % 3 - 1, home[2] + k / 9 - 1]);
                let square = |q: &[f32; 3]| (0..3).map(|i| (p[i] - f64::from(q[i])).powi(2)).sum::<f64>();
                let near = around.filter_map(|cell| cells.get(&cell)).flatten().map(square).fold(f64::MAX, f64::min);
                let worst = &mut worst[usize::from(place.regular)];
                *worst = worst.max(near.sqrt());
            }
        }
        assert!(worst[0] < 2e-3 && worst[1] < 2e-7, "prism of {n}: {worst:?} in {} patches", places.len());
    }
}

/// Limits at the centre of a fan of `n` quadrilaterals (Halstead, Kass, DeRose 1993): the position, and the tangents
/// along and across spoke 0.
fn halstead(n: usize, centre: [f64; 3], edges: &[[f64; 3]], faces: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let count = n as f64;
    let turn = |i: f64| std::f64::consts::TAU * i / count;
    let a = 1.0 + turn(1.0).cos() + (turn(0.5)).cos() * (2.0 * (9.0 + turn(1.0).cos())).sqrt();
    let position = std::array::from_fn(|k| {
        let sum = |points: &[[f64; 3]]| points.iter().map(|p| p[k]).sum::<f64>();
        (count * count * centre[k] + 4.0 * sum(edges) + sum(faces)) / (count * (count + 5.0))
    });
    let tangent = std::array::from_fn(|k| {
        (0..n)
            .map(|i| {
                let at = i as f64;
                a * turn(at).cos() * edges[i][k] + (turn(at).cos() + turn(at + 1.0).cos()) * faces[i][k]
            })
            .sum()
    });
    [position, tangent]
}

#[test]
fn extraordinary_vertices_have_the_position_and_tangents_of_the_limit() {
    for n in 3..=10_usize {
        // A fan of n quadrilaterals round vertex 0, with one more ring, so that nothing here is near the boundary.
        let angle = |i: f64| std::f64::consts::TAU * i / n as f64;
        let ring = |i: usize, half: bool, radius: f64| {
            let at = angle(i as f64 + if half { 0.5 } else { 0.0 });
            let bump = 0.2 * ((3 * i) % 5) as f64 - 0.3 * f64::from(half);
            [(radius * at.cos()) as f32, (radius * at.sin() + 0.1 * bump) as f32, (0.3 * bump) as f32].map(f64::from)
        };
        let edges: Vec<[f64; 3]> = (0..n).map(|i| ring(i, false, 1.0)).collect();
        let faces: Vec<[f64; 3]> = (0..n).map(|i| ring(i, true, 1.3)).collect();
        let centre = [0.05_f32, -0.03, 0.21].map(f64::from);
        let points = std::iter::once(centre).chain(edges.iter().copied()).chain(faces.iter().copied());
        let positions: Vec<f32> = points.flat_map(|p| p.map(|x| x as f32)).collect();
        let (e, f) = (|i: usize| (1 + i % n) as i32, |i: usize| (1 + n + i % n) as i32);
        let vertices: Vec<i32> = (0..n).flat_map(|i| [0, e(i), f(i), e(i + 1)]).collect();
        let sizes = vec![4; n];
        let mut refiner = Refiner::new(&cage(&sizes, &vertices, 1 + 2 * n as u32)).expect("a valid cage");
        let all: Vec<i32> = (0..n as i32).collect();
        let patches = refiner.refine(&all, 3, 3, 10_000, &values(&positions)).expect("patches");
        let [position, tangent] = halstead(n, centre, &edges, &faces);
        let unit = |p: [f64; 3]| {
            let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
            p.map(|x| x / length)
        };
        let mut found = 0;
        for (place, control) in patches.places().iter().zip(patches.vertex_values().chunks_exact(60)) {
            if place.corner != [0, 0] || place.face != 0 {
                continue;
            }
            found += 1;
            let point = |k: usize| [0, 1, 2].map(|i| f64::from(control[3 * k + i]));
            let off = (0..3).map(|i| (point(0)[i] - position[i]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "valence {n}: {off}");
            // dP/du along spoke 0; its length shrinks with the patch, which f32 positions cannot show to more digits.
            let step: [f64; 3] = std::array::from_fn(|i| point(1)[i] - point(0)[i]);
            let length = step.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (along, wanted) = (unit(step), unit(tangent));
            let off = (0..3).map(|i| (along[i] - wanted[i]).abs()).fold(0.0, f64::max) * length;
            assert!(off < 1e-6, "valence {n}: tangent {along:?} for {wanted:?}");
        }
        assert_eq!(found, 1, "valence {n}: the patch at the vertex");
    }
}
