//! NURBS and rational patches: their Bezier pieces, variables and refusals.

use super::*;
use crate::scene::{Class, Patches};

fn patches(world: &World) -> &Patches {
    match only_shape(world) {
        Shape::Patches(patches) => patches,
        other => panic!("{other:?}"),
    }
}

fn text(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(|value| format!("{value} ")).collect()
}

/// The knots of a whole circle, of a half one, and of a Bezier curve of some order.
const CIRCLE: &str = "9 3 [0 0 0 .25 .25 .5 .5 .75 .75 1 1 1]";
const HALF: &str = "5 3 [0 0 0 1 1 2 2 2]";
const CUBIC: &str = "4 4 [0 0 0 0 1 1 1 1]";

/// Control points (x, y, w) of the first `count` eighths of a unit circle.
fn arc(count: usize) -> Vec<[f64; 3]> {
    let corners = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1], [1, 0]];
    let weight = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 0.5_f64.sqrt() };
    let point = |i: usize| [f64::from(corners[i][0]), f64::from(corners[i][1]), weight(i)];
    (0..count).map(point).collect()
}

/// A profile (radius, height, weight) turned about z.
fn revolved(profile: &[[f64; 3]]) -> String {
    let points = profile.iter().flat_map(|[r, z, b]| {
        arc(9).into_iter().flat_map(move |[x, y, a]| [x * r * a * b, y * r * a * b, z * a * b, a * b])
    });
    format!("\"Pw\" [{}]", text(points))
}

/// The profile of a sphere of that radius, from pole to pole.
fn meridian(radius: f64) -> Vec<[f64; 3]> {
    arc(9)[6..].iter().chain(&arc(3)[1..]).map(|[x, y, w]| [x * radius, y * radius, *w]).collect()
}

fn bezier(mut points: Vec<[f64; 4]>, t: f64) -> [f64; 4] {
    while points.len() > 1 {
        let pairs = points.windows(2);
        points = pairs.map(|p| std::array::from_fn(|i| p[0][i] * (1.0 - t) + p[1][i] * t)).collect();
    }
    points[0]
}

/// A point of a patch: of the control points, of values in their place, or of both.
fn at(patches: &Patches, values: Option<&[f32]>, patch: usize, [u, v]: [f64; 2]) -> [f64; 3] {
    let each = patches.control_count();
    let point = |k: usize| {
        let k = each * patch + k;
        let weight = patches.weights.get(k).copied().unwrap_or(1.0);
        let p = values.map_or(patches.control[k], |values| [values[k], 0.0, 0.0]);
        [p[0], p[1], p[2], weight].map(f64::from)
    };
    let points: Vec<[f64; 4]> = (0..each).map(point).collect();
    let rows = points.chunks(patches.degrees[0] as usize + 1).map(|row| bezier(row.to_vec(), u)).collect();
    let [x, y, z, w] = bezier(rows, v);
    [x / w, y / w, z / w]
}

/// Calls `check` with points all over a surface and their u, v.
fn each_point(patches: &Patches, mut check: impl FnMut([f64; 3], [f64; 2])) {
    for (patch, range) in patches.uv_range.iter().enumerate() {
        for k in 0..36 {
            let [u, v] = [k % 6, k / 6].map(|i| f64::from(i) / 5.0);
            let [u0, v0, u1, v1] = range.map(f64::from);
            check(at(patches, None, patch, [u, v]), [u0 + (u1 - u0) * u, v0 + (v1 - v0) * v]);
        }
    }
}

#[test]
fn surfaces_of_revolution_are_exact() {
    let world = drawn(&format!("NuPatch {CIRCLE} 0 1 {HALF} 0 2 {}", revolved(&meridian(3.0))));
    let sphere = patches(&world);
    assert_eq!((sphere.degrees, sphere.corners.len()), ([2, 2], 8));
    each_point(sphere, |[x, y, z], _| assert!((x.hypot(y).hypot(z) - 3.0).abs() < 2e-6, "{x} {y} {z}"));
    let ring: Vec<[f64; 3]> = arc(9).iter().map(|[x, y, w]| [2.0 + 0.5 * x, 0.5 * y, *w]).collect();
    let world = drawn(&format!("NuPatch {CIRCLE} 0 1 {CIRCLE} 0 1 {}", revolved(&ring)));
    assert_eq!(patches(&world).corners.len(), 16);
    each_point(patches(&world), |[x, y, z], _| {
        assert!(((x.hypot(y) - 2.0).hypot(z) - 0.5).abs() < 2e-6, "{x} {y} {z}");
    });
}

#[test]
fn a_bezier_patch_is_the_same_as_a_nu_patch() {
    let points = text((0..48).map(|i| f64::from(i * i % 17)));
    let wanted =
        drawn(&format!("Patch \"bicubic\" \"P\" [{points}] \"vertex float f\" [{}]", text((0..16).map(f64::from))));
    let found = drawn(&format!(
        "NuPatch {CUBIC} 0 1 {CUBIC} 0 1 \"P\" [{points}] \"vertex float f\" [{}]",
        text((0..16).map(f64::from))
    ));
    assert_eq!(only_shape(&found), only_shape(&wanted));
    assert_eq!(found.drawables[0].geometry.primvars, wanted.drawables[0].geometry.primvars);
}

/// Order 3 by 2 over uneven knots, of which one is double; not clamped.
const UNEVEN: &str = "NuPatch 6 3 [0 1 2 2 3 5 6 8 9]";

#[test]
fn neighbours_share_control_points_bit_for_bit() {
    let points = text((0..36).map(|i| (f64::from(i) * 12.9898).sin()));
    let world = drawn(&format!("{UNEVEN} 2 6 2 2 [0 0 1 1] 0 1 \"P\" [{points}]"));
    let patches = patches(&world);
    let ranges: Vec<[f32; 2]> = patches.uv_range.iter().map(|range| [range[0], range[2]]).collect();
    assert_eq!(ranges, [[0.0, 0.25], [0.25, 0.75], [0.75, 1.0]]);
    for patch in 0..2 {
        for row in 0..2 {
            assert_eq!(patches.control[6 * patch + 3 * row + 2], patches.control[6 * (patch + 1) + 3 * row]);
        }
    }
}

#[test]
fn a_range_within_the_knots_draws_that_part() {
    let points = text((0..36).map(|i| (f64::from(i) * 12.9898).sin()));
    let draw = |range: &str| drawn(&format!("{UNEVEN} {range} 2 2 [0 0 1 1] 0 1 \"P\" [{points}]"));
    let (whole, part) = (draw("2 6"), draw("2.5 4"));
    each_point(patches(&part), |found, [u, v]| {
        let whole = patches(&whole);
        let u = (0.5 + 1.5 * u) / 4.0;
        let patch = if u <= 0.25 { 0 } else { 1 };
        let [u0, _, u1, _] = whole.uv_range[patch].map(f64::from);
        let wanted = at(whole, None, patch, [(u - u0) / (u1 - u0), v]);
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} for {wanted:?} at {u} {v}");
    });
    let outcome = read_text(&format!("WorldBegin\n{UNEVEN} 1 7 2 2 [0 0 1 1] 0 1 \"P\" [{points}]\nWorldEnd"));
    assert_eq!(outcome.codes(), [("range", 2)]);
    assert_eq!(only_shape(outcome.world()), only_shape(&whole), "all that the knots allow");
}

fn floats<'w>(world: &'w World, name: &str) -> (Class, &'w [f32]) {
    let primvars = &world.drawables[0].geometry.primvars;
    let primvar = primvars.iter().find(|primvar| &*primvar.name == name).expect("it is there");
    let PrimvarData::Floats(values) = &primvar.data else { panic!("{name} is numbers") };
    (primvar.class, values)
}

#[test]
fn variables_of_every_class_follow_the_segments() {
    // Four segments along u, of which the second has no length; u from 2.5 to 4 leaves parts of the first and third.
    let points = text((0..36).map(|i| f64::from(i % 5)));
    let world = drawn(&format!(
        "{UNEVEN} 2.5 4 2 2 [0 0 1 1] 0 1 \"P\" [{points}] \"constant float c\" 7 \"uniform float u\" [10 11 12 13] \
         \"varying float w\" [0 1 2 3 4 100 101 102 103 104] \"vertex float x\" [{}] \
         \"facevarying float f\" [0 2 4 6 9 9 9 9 10 14 18 22 9 9 9 9]",
        text((0..12).map(|i| f64::from(3 * i % 5)))
    ));
    assert_eq!(floats(&world, "c"), (Class::Constant, &[7.0][..]));
    let shape = patches(&world);
    // The spans are 2..3, 3..5, 5..6: knots[2..=6] = 2 2 3 5 6; the first one has no length.
    assert_eq!(shape.corners.len(), 2);
    assert_eq!(floats(&world, "u"), (Class::Uniform, &[11.0, 12.0][..]));
    assert_eq!(floats(&world, "w"), (Class::Varying, &[1.5, 2.0, 2.5, 101.5, 102.0, 102.5][..]));
    assert_eq!(shape.corners.as_ref(), [[0, 1, 3, 4], [1, 2, 4, 5]]);
    assert_eq!(floats(&world, "f"), (Class::FaceVarying, &[9.0, 9.0, 9.0, 9.0, 10.0, 12.0, 18.0, 20.0][..]));
    let (class, x) = floats(&world, "x");
    let of_points: Vec<f32> = shape.control.iter().map(|p| p[0]).collect();
    assert_eq!((class, x), (Class::Vertex, of_points.as_slice()), "as P, whose x it is");
}

#[test]
fn patches_and_meshes_may_be_rational() {
    let arc = [[1.0, 0.0, 1.0], [1.0, 1.0, 0.5_f64.sqrt()], [0.0, 1.0, 1.0]];
    // A quarter circle as a cubic: its degree raised by one.
    let raised = |i: usize| {
        let h = |k: usize| [arc[k][0] * arc[k][2], arc[k][1] * arc[k][2], arc[k][2]];
        let share = i as f64 / 3.0;
        let (a, b) = (h(i.max(1) - 1), h(i.min(2)));
        std::array::from_fn::<f64, 3, _>(|c| share * a[c] + (1.0 - share) * b[c])
    };
    let row = |z: f64| (0..4).flat_map(move |i| [raised(i)[0], raised(i)[1], z * raised(i)[2], raised(i)[2]]);
    let points = text((0..4).flat_map(|j| row(f64::from(j))));
    // A vertex variable spreads as P does: x is the same as that of the points.
    let x = text((0..16).map(|k| raised(k % 4)[0] / raised(k % 4)[2]));
    for request in ["Patch \"bicubic\"", "PatchMesh \"bicubic\" 4 \"nonperiodic\" 4 \"nonperiodic\""] {
        let world = drawn(&format!("{request} \"Pw\" [{points}] \"vertex float x\" [{x}]"));
        let (_, x) = floats(&world, "x");
        assert_eq!(patches(&world).degrees, [3, 3]);
        each_point(patches(&world), |p, uv| {
            assert!((p[0].hypot(p[1]) - 1.0).abs() < 1e-6 && (p[2] - 3.0 * uv[1]).abs() < 1e-6, "{p:?}");
            let found = at(patches(&world), Some(x), 0, uv)[0];
            assert!((found - p[0]).abs() < 1e-6, "{found} for {p:?}");
        });
    }
    let world = drawn("Patch \"bilinear\" \"Pw\" [0 0 0 1  3 0 0 3  0 1 0 1  3 3 0 3] \"varying float w\" [1 2 3 4]");
    assert_eq!((patches(&world).degrees, floats(&world, "w").1), ([1, 1], &[1.0, 2.0, 3.0, 4.0][..]));
    assert_eq!(at(patches(&world), None, 0, [0.5, 0.0])[0], 0.75, "three quarters of the way");
}

#[test]
fn weights_scale_together_and_may_move() {
    let shape = |scale: f64| {
        let points = [[0.0, 0.0, 0.0, 1.0], [3.0, 0.0, 0.0, 3.0], [0.0, 1.0, 0.0, 1.0], [3.0, 3.0, 0.0, 3.0]];
        format!("Patch \"bilinear\" \"Pw\" [{}]", text(points.into_iter().flatten().map(|x| x * scale)))
    };
    assert_eq!(only_shape(&drawn(&shape(1.0))), only_shape(&drawn(&shape(1024.0))));
    let still = "Patch \"bilinear\" \"Pw\" [0 0 0 1  1 0 0 1  0 1 0 1  1 1 0 1]";
    let outcome = read_text(&format!("WorldBegin\nMotionBegin [0 1]\n{still}\n{}\nMotionEnd\nWorldEnd", shape(1.0)));
    // One is a facet and one is rational: they are not of one kind.
    assert_eq!(outcome.codes(), [("consistency", 5)]);
    let cubic = |w: f64| {
        let points = (0..16).flat_map(|k| [f64::from(k % 4), f64::from(k / 4), 0.0, if k == 5 { w } else { 1.0 }]);
        format!("Patch \"bicubic\" \"Pw\" [{}]", text(points))
    };
    let text = format!("WorldBegin\nMotionBegin [0 1]\n{}\n{}\nMotionEnd\nWorldEnd", cubic(1.0), cubic(3.0));
    let world = clean(&text);
    let Shape::Patches(middle) = world.drawables[0].geometry.shape.at(0.5) else { panic!("patches") };
    assert_eq!((middle.weights[0], middle.weights[5]), (0.75, 1.25), "from 1 to 1 / 2 and to 3 / 2");
}

#[test]
fn what_is_wrong_is_refused_with_its_reason() {
    let points = text((0..48).map(f64::from));
    let cases = [
        (format!("NuPatch {CUBIC} 0 1 4 4 [0 0 0 1 0 1 1 1] 0 1 \"P\" [{points}]"), "range", "must not decrease"),
        (format!("NuPatch {CUBIC} 0 1 4 4 [0 0 0 0 1 1 1] 0 1 \"P\" [{points}]"), "badarray", "it has 7 knots in v"),
        (format!("NuPatch 4 1 [0 1 2 3 4] 0 1 {CUBIC} 0 1 \"P\" [{points}]"), "range", "order 1 in u is not a surface"),
        (format!("NuPatch 4 0 [0 1 2 3] 0 1 {CUBIC} 0 1 \"P\" [{points}]"), "range", "order 0 in u"),
        (format!("NuPatch 30 25 [0] 0 1 {CUBIC} 0 1 \"P\" [{points}]"), "limitcheck", "more than 24"),
        (format!("NuPatch 3 4 [0 0 0 0 1 1 1] 0 1 {CUBIC} 0 1 \"P\" [{points}]"), "range", "too few for order 4"),
        (format!("NuPatch {CUBIC} 1 0 {CUBIC} 0 1 \"P\" [{points}]"), "range", "umin (1) must be less than umax (0)"),
        (format!("NuPatch {CUBIC} 0 1 {CUBIC} 2 3 \"P\" [{points}]"), "range", "outside of its knots, 0 to 1"),
        (format!("NuPatch 4 4 [1 1 1 1 1 1 1 1] 0 1 {CUBIC} 0 1 \"P\" [{points}]"), "range", "are all 1"),
        (format!("NuPatch 4 4 [0 0 0 0 1 1 1 1e99] 0 1 {CUBIC} 0 1 \"P\" [{points}]"), "math", "not a finite number"),
        (format!("NuPatch {CUBIC} 0 1 {CUBIC} 0 1 \"P\" [0 0 0]"), "badarray", "3 numbers and needs 48"),
        (format!("NuPatch {CUBIC} 0 1 {CUBIC} 0 1 \"Pw\" [{points} {points}]"), "range", "a weight in \"Pw\" is"),
        (format!("NuPatch {CUBIC} 0 1 {CUBIC} 0 1"), "missingdata", "no positions"),
    ];
    for (request, code, reason) in cases {
        let request = request.replace("\"Pw\" [0 ", "\"Pw\" [1 1 1 -2 ");
        let outcome = read_text(&format!("WorldBegin\n{request}\nWorldEnd"));
        assert_eq!((outcome.codes(), outcome.world().drawables.len()), (vec![(code, 2)], 0), "{request}");
        assert!(outcome.messages[0].message.contains(reason), "{}", outcome.messages[0].message);
    }
}

#[test]
fn parts_of_too_many_control_points_are_refused() {
    let knots = text((0..10_024).map(f64::from));
    let outcome = read_text(&format!(
        "WorldBegin\nNuPatch 10000 24 [{knots}] 23 10000 10000 24 [{knots}] 23 10000 \"P\" [0]\nWorldEnd"
    ));
    assert_eq!(outcome.codes(), [("limitcheck", 2)]);
    let outcome = read_text("WorldBegin\nNuPatch 2000000000 24 [0] 0 1 2 2 [0 0 1 1] 0 1 \"P\" [0]\nWorldEnd");
    assert_eq!(outcome.codes(), [("limitcheck", 2)]);
}

/// A flat square of order 2, and a trim curve's arguments for one closed triangle of it.
const FLAT: &str = "NuPatch 2 2 [0 0 1 1] 0 1 2 2 [0 0 1 1] 0 1 \"P\" [0 0 0 1 0 0 0 1 0 1 1 0]";
const TRIANGLE: &str = "TrimCurve [1] [2] [0 0 1 2 3 3] [0] [3] [4] [.2 .8 .5 .2] [.2 .2 .8 .2] [1 1 1 1]";

#[test]
fn trim_loops_belong_to_the_surfaces_that_follow() {
    let world = clean(&format!("WorldBegin\n{FLAT}\n{TRIANGLE}\n{FLAT}\n{FLAT}\nWorldEnd"));
    let trims: Vec<_> = world.drawables.iter().map(|drawable| drawable.geometry.shape.first().trim()).collect();
    assert_eq!(trims.len(), 3, "what is trimmed is not joined with what is not");
    assert!(trims[0].is_none());
    let trim = trims[1].expect("it is trimmed");
    assert_eq!((trim.pieces.len(), trim.draws_outside), (3, false));
    assert!(trim.pieces.windows(2).all(|pair| pair[0].ends[1] == pair[1].ends[0]), "the loop is closed");
    assert!(trim.pieces.iter().all(|piece| piece.control.is_empty()), "it is straight");
}

#[test]
fn curves_are_cut_into_pieces_that_rise_or_fall() {
    let control = arc(9);
    let axis = |i: usize| text(control.iter().map(|p| if i == 2 { p[2] } else { (0.5 + 0.4 * p[i]) * p[2] }));
    let curve = format!(
        "TrimCurve [1] [3] [0 0 0 .25 .25 .5 .5 .75 .75 1 1 1] [0] [1] [9] [{}] [{}] [{}]",
        axis(0),
        axis(1),
        axis(2)
    );
    let world = clean(&format!("WorldBegin\n{curve}\n{FLAT}\nWorldEnd"));
    let trim = only_shape(&world).trim().expect("it is trimmed").clone();
    assert!((16..200).contains(&trim.pieces.len()), "{}", trim.pieces.len());
    for piece in trim.pieces.iter() {
        let rises = |axis: usize| piece.ends[1][axis] >= piece.ends[0][axis];
        for pair in piece.control.windows(2) {
            let point = |p: [f32; 3]| [p[0] / p[2], p[1] / p[2]];
            let (a, b) = (point(pair[0]), point(pair[1]));
            assert!((0..2).all(|i| b[i] == a[i] || (b[i] > a[i]) == rises(i) || (b[i] - a[i]).abs() < 1e-6));
        }
    }
}

#[test]
fn trim_curves_that_are_wrong_are_refused_with_their_reason() {
    let one = "TrimCurve [1] [2] [0 0 1 2 3 3] [0] [3] [4] [.2 .8 .5 .2] [.2 .2 .8 .2] [1 1 1 1]";
    let cases = [
        (one.replacen("[1]", "[2]", 1), "badarray", "1 orders for 2 curves"),
        (one.replacen("[1]", "[0]", 1), "range", "a loop has 0 curves"),
        (one.replace("[1] [2]", "[1] [1]"), "range", "curve 1 has order 1 and 4 points"),
        (one.replace("[0 0 1 2 3 3]", "[0 0 2 1 3 3]"), "range", "must not decrease"),
        (one.replace("[0 0 1 2 3 3]", "[0 0 1 2]"), "badarray", "it has 4 knots in curve 1"),
        (one.replace("[0] [3]", "[3] [0]"), "range", "must be less than"),
        (one.replace("[0] [3]", "[0 0] [3]"), "badarray", "2 least parameters for 1 curves"),
        (one.replace("[4]", "[9]"), "badarray", "curve 1 needs 9 numbers of u"),
        (one.replace("[.2 .8 .5 .2]", "[.2 .8]"), "badarray", "curve 1 needs 4 numbers of u, and there are 2"),
        (one.replace("[1 1 1 1]", "[1 1 0 1]"), "range", "point 3 of curve 1"),
        (one.replace("[1 1 1 1]", "[1 1 -1 1]"), "range", "w must be more than 0"),
    ];
    for (request, code, reason) in cases {
        let outcome = read_text(&format!("WorldBegin\n{request}\n{FLAT}\nWorldEnd"));
        assert_eq!(outcome.codes(), [(code, 2)], "{request}: {:?}", outcome.messages);
        assert!(outcome.messages[0].message.contains(reason), "{}", outcome.messages[0].message);
        assert!(only_shape(outcome.world()).trim().is_none(), "the surface is drawn untrimmed");
    }
    let outcome = read_text("WorldBegin\nAttribute \"trimcurve\" \"sense\" \"left\"\nWorldEnd");
    assert_eq!(outcome.codes(), [("badargument", 2)]);
}

#[test]
fn an_open_trim_loop_is_closed_and_reported() {
    let open = TRIANGLE.replace("[.2 .8 .5 .2]", "[.2 .8 .5 .4]");
    let outcome = read_text(&format!("WorldBegin\n{open}\n{FLAT}\nWorldEnd"));
    assert_eq!(outcome.codes(), [("consistency", 2)]);
    assert!(outcome.messages[0].message.contains("loop 1 is not closed"), "{:?}", outcome.messages[0].message);
    let trim = only_shape(outcome.world()).trim().expect("it is trimmed").clone();
    let (first, last) = (&trim.pieces[0], &trim.pieces[trim.pieces.len() - 1]);
    assert_eq!((trim.pieces.len(), first.ends[0]), (4, last.ends[1]));
}

#[test]
fn loops_too_dense_for_one_surface_leave_it_untrimmed() {
    let (count, tooth) = (2000, |k: usize| if k.is_multiple_of(2) { 0.0 } else { 1.0 });
    let knots = text([0.0].into_iter().chain((0..count).map(|k| k as f64)).chain([(count - 1) as f64]));
    let u = text((0..count).map(|k| k as f64 / count as f64));
    let v = text((0..count).map(tooth));
    let w = text((0..count).map(|_| 1.0));
    let curve = format!("TrimCurve [1] [2] [{knots}] [0] [{}] [{count}] [{u}] [{v}] [{w}]", count - 1);
    let outcome = read_text(&format!("WorldBegin\n{curve}\n{FLAT}\nWorldEnd"));
    assert_eq!(outcome.codes(), [("consistency", 2), ("limitcheck", 3)], "{:?}", outcome.messages);
    assert!(only_shape(outcome.world()).trim().is_none());
}
