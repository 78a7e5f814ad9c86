//! Subdivision meshes: their patches, variables, messages and refusals.

use super::*;
use crate::scene::{Class, LimitPatches};

fn patches(world: &World) -> &LimitPatches {
    match only_shape(world) {
        Shape::Limit(patches) => patches,
        other => panic!("{other:?}"),
    }
}

/// A cube.
const CUBE: &str = "[4 4 4 4 4 4] [0 2 3 1 4 5 7 6 0 1 5 4 2 6 7 3 0 4 6 2 1 3 7 5]";
const CUBE_POINTS: &str = "\"P\" [-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1]";

/// A grid of 3 x 3 faces, flat, over 0..3.
fn grid(tags: &str, variables: &str) -> String {
    let at = |x: usize, y: usize| 4 * y + x;
    let faces: Vec<String> = (0..9)
        .map(|f| {
            let (x, y) = (f % 3, f / 3);
            format!("{} {} {} {}", at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1))
        })
        .collect();
    let points: Vec<String> = (0..16).map(|k| format!("{} {} 0", k % 4, k / 4)).collect();
    let (faces, points) = (faces.join(" "), points.join(" "));
    format!("SubdivisionMesh \"catmull-clark\" [4 4 4 4 4 4 4 4 4] [{faces}] {tags} \"P\" [{points}] {variables}")
}

fn mesh(text: &str) -> ReadOutcome {
    read_text(&format!("WorldBegin\n{text}\nWorldEnd"))
}

const BOUNDARY: &str = "[\"interpolateboundary\"] [1 0] [1] []";

#[test]
fn boundary_rules_choose_which_faces_are_drawn() {
    for (tags, count) in [
        ("", 1),
        ("[] [] [] []", 1),
        ("[\"interpolateboundary\"] [1 0] [0] []", 1),
        ("[\"interpolateboundary\"] [0 0] [] []", 9),
        (BOUNDARY, 9),
        ("[\"interpolateboundary\" \"hole\"] [1 0 2 0] [1 4 8] []", 7),
    ] {
        let outcome = mesh(&grid(tags, ""));
        assert_eq!(outcome.codes(), [], "{tags}");
        let patches = patches(outcome.world());
        assert_eq!((patches.face.len(), patches.plain_count), (count, count), "{tags}");
    }
    // Sharp corners stay where they are, others are cut off.
    let corner = |value: i32| {
        let outcome = mesh(&grid(&format!("[\"interpolateboundary\"] [1 0] [{value}] []"), ""));
        patches(outcome.world()).control.contains(&[0.0; 3])
    };
    assert!(corner(1) && !corner(2));
}

#[test]
fn a_regular_face_is_the_b_spline_patch_of_its_points() {
    let outcome = mesh(&grid("", ""));
    let control = &patches(outcome.world()).control;
    for (k, point) in control.iter().enumerate() {
        let wanted = [1.0 + (k % 4) as f32 / 3.0, 1.0 + (k / 4) as f32 / 3.0, 0.0];
        assert!(point.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{point:?} for {wanted:?}");
    }
    assert_eq!(patches(outcome.world()).uv_range[..], [[0.0, 0.0, 1.0, 1.0]]);
}

#[test]
fn variables_of_every_class_reach_the_patches() {
    let nine = "1 2 3 4 5 6 7 8 9";
    let sixteen: Vec<String> = (0..16).map(|k| k.to_string()).collect();
    let corners: Vec<String> = (0..36).map(|k| k.to_string()).collect();
    let variables = format!(
        "\"constant float c\" [5] \"uniform float n\" [{nine}] \"varying float a\" [{0}] \"vertex float b\" [{0}] \
         \"facevarying float f\" [{1}]",
        sixteen.join(" "),
        corners.join(" ")
    );
    let outcome = mesh(&grid(BOUNDARY, &variables));
    assert_eq!(outcome.codes(), []);
    let geometry = &outcome.world().drawables[0].geometry;
    let values = |name: &str| {
        let primvar = geometry.primvars.iter().find(|p| &*p.name == name).expect("a variable");
        let PrimvarData::Floats(values) = &primvar.data else { panic!("numbers") };
        (primvar.class, values)
    };
    let patches = patches(outcome.world());
    for (i, &face) in patches.face.iter().enumerate() {
        let first = (face / 3 * 4 + face % 3) as f32;
        let (class, varying) = values("a");
        assert_eq!(
            (class, &varying[4 * i..4 * i + 4]),
            (Class::Varying, &[first, first + 1.0, first + 4.0, first + 5.0][..])
        );
        let (class, own) = values("f");
        let f = 4.0 * face as f32;
        assert_eq!((class, &own[4 * i..4 * i + 4]), (Class::FaceVarying, &[f, f + 1.0, f + 3.0, f + 2.0][..]));
        // b is x + 4 y at vertices, so at control points too.
        let (class, vertex) = values("b");
        assert_eq!(class, Class::Vertex);
        for point in patches.first_point(i)..patches.first_point(i + 1) {
            let [x, y, _] = patches.control[point];
            assert!((vertex[point] - (x + 4.0 * y)).abs() < 1e-4, "{} at {x} {y}", vertex[point]);
        }
    }
    assert_eq!(values("n").1.len(), 9);
    // Smooth facevarying values are values of control points, and s and t have one topology.
    let tags = "[\"facevaryinginterpolateboundary\" \"interpolateboundary\"] [1 0 1 0] [1 1] []";
    let outcome = mesh(&grid(tags, &format!("\"facevarying float f\" [{}]", corners.join(" "))));
    assert_eq!(outcome.codes(), []);
    let primvar = &outcome.world().drawables[0].geometry.primvars[0];
    let PrimvarData::Floats(values) = &primvar.data else { panic!("numbers") };
    let Shape::Limit(patches) = only_shape(outcome.world()) else { panic!("patches") };
    assert_eq!((primvar.class, values.len()), (Class::Vertex, patches.control.len()));
}

#[test]
fn irregular_faces_have_gregory_patches_and_seams() {
    let outcome = mesh(&format!("SubdivisionMesh \"catmull-clark\" {CUBE} {CUBE_POINTS}"));
    assert_eq!(outcome.codes(), []);
    let patches = patches(outcome.world());
    // Each corner of each face: one Gregory patch at level 3; beside it three regular ones at levels 3 and 2 each.
    let seams = patches.seams.iter().filter(|seams| seams.iter().any(|seam| *seam != 0)).count();
    assert!(patches.seams.len() > 24 && seams >= 24, "{} and {seams}", patches.seams.len());
    assert_eq!(patches.seam_points.len() % 7, 0);
    assert!(patches.control.as_flattened().iter().all(|x| x.is_finite() && x.abs() <= 1.0));
}

#[test]
fn loop_meshes_are_triangles_and_bilinear_ones_facets() {
    let outcome =
        mesh("SubdivisionMesh \"loop\" [3 3 3 3] [0 2 1 0 1 3 1 2 3 2 0 3] \"P\" [-1 -1 -1 1 -1 -1 0 1 -1 0 0 1]");
    assert_eq!(outcome.codes(), []);
    let limit = patches(outcome.world());
    assert!(limit.triangles && limit.plain_count == 0 && limit.control.len() == 18 * limit.face.len());
    for (faces, count) in [("[4] [0 1 2 3]", 1), ("[3 3] [0 1 2 0 2 3]", 6), ("[4 3] [0 1 2 3 0 2 1]", 7)] {
        let outcome = mesh(&format!("SubdivisionMesh \"bilinear\" {faces} \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]"));
        let Shape::Facets(facets) = only_shape(outcome.world()) else { panic!("facets") };
        assert_eq!(facets.corners.len(), count);
    }
}

#[test]
fn bad_meshes_are_named_and_left_out() {
    let points = "\"P\" [0 0 0 1 0 0 1 1 0 0 1 0]";
    let tags = |tags: &str| format!("\"catmull-clark\" [4] [0 1 2 3] {tags} {points}");
    for (arguments, code, drawn) in [
        (format!("\"butterfly\" [4] [0 1 2 3] {points}"), "badtoken", 0),
        (format!("\"catmull-clark\" [5] [0 1 2 3] {points}"), "consistency", 0),
        (format!("\"catmull-clark\" [] [] {points}"), "consistency", 0),
        (format!("\"catmull-clark\" [-4] [0 1 2 3] {points}"), "consistency", 0),
        (format!("\"catmull-clark\" [4] [0 1 2 -3] {points}"), "consistency", 0),
        (format!("\"catmull-clark\" [4] [0 1 2 4] {points}"), "badarray", 0),
        (format!("\"catmull-clark\" [4] [0 1 2 2147483647] {points}"), "badarray", 0),
        ("\"catmull-clark\" [4] [0 1 2 3]".to_owned(), "missingdata", 0),
        (format!("\"catmull-clark\" [4] [0 1 2 3] {points}"), "consistency", 0),
        (format!("\"catmull-clark\" [2 2] [0 1 2 3] {points}"), "range", 0),
        (format!("\"catmull-clark\" [4] [0 3 0 3] {points}"), "range", 0),
        (format!("\"loop\" [4] [0 1 2 3] {points}"), "consistency", 0),
        ("\"catmull-clark\" [3] [0 1 2] \"P\" [0 0 0 nan 0 0 1 1 0]".to_owned(), "", 0),
        (tags("[\"crease\" \"interpolateboundary\"] [2 1 0] [0 1] [3]"), "consistency", 0),
        (tags("[\"crease\" \"interpolateboundary\"] [2 1 0 0] [0 2] [3]"), "range", 1),
        (tags("[\"crease\" \"interpolateboundary\"] [2 1 0 0] [0 9] [3]"), "badtoken", 1),
        (tags("[\"crease\" \"interpolateboundary\"] [2 2 0 0] [0 1] [3 4]"), "badtoken", 1),
        (tags("[\"corner\" \"interpolateboundary\"] [1 1 0 0] [0] [-3]"), "badtoken", 1),
        (tags("[\"hole\" \"interpolateboundary\"] [1 0 0 0] [7] []"), "badtoken", 1),
        (tags("[\"vertexedit\" \"interpolateboundary\"] [1 0 0 0 0 0] [7] [] []"), "badtoken", 1),
        (tags("[\"interpolateboundary\"] [1 0] [7] []"), "badtoken", 0),
    ] {
        let outcome = mesh(&format!("SubdivisionMesh {arguments}"));
        let shapes = outcome.worlds.first().map_or(0, |world| world.drawables.len());
        assert_eq!(shapes, drawn, "{arguments}: {:?}", outcome.messages);
        assert!(!outcome.messages.is_empty(), "{arguments}");
        if !code.is_empty() {
            assert_eq!(outcome.messages[0].code, code, "{arguments}: {:?}", outcome.messages);
        }
    }
}

#[test]
fn meshes_that_are_no_surfaces_do_no_harm() {
    let boundary = "[\"interpolateboundary\"] [0 0] [] []";
    let points = "\"P\" [0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1]";
    for faces in [
        "[4 4 4] [0 1 2 3 0 1 5 4 1 0 7 6]", // three faces at an edge
        "[3 3] [0 1 2 2 4 5]",               // two at a vertex only
        "[4 4] [0 1 2 3 0 1 2 3]",           // one twice
        "[4 4] [0 1 2 3 3 2 1 0]",           // and turned over
        "[4 4] [0 1 2 3 1 0 4 5]",
        "[4 4] [0 1 2 3 0 1 5 4]", // an edge twice in one direction
        "[3] [0 1 7]",             // vertices that no face names
        "[8] [0 1 2 3 4 5 6 7]",
        "[4 2 4] [0 1 2 3 1 2 4 5 6 7]", // a face that is left out
    ] {
        for scheme in ["catmull-clark", "bilinear"] {
            let outcome = mesh(&format!("SubdivisionMesh \"{scheme}\" {faces} {boundary} {points}"));
            assert_eq!(outcome.world().drawables.len(), 1, "{scheme} {faces}: {:?}", outcome.messages);
        }
    }
    // A point where many faces meet, and one face of many corners.
    let around: Vec<String> = (1..=400).map(|k| format!("0 {k} {}", k % 400 + 1)).collect();
    let points: String = (0..401).map(|k| format!("{} {} 0 ", k % 20, k / 20)).collect();
    let sizes = "3 ".repeat(400);
    let text =
        format!("SubdivisionMesh \"catmull-clark\" [{sizes}] [{}] {boundary} \"P\" [{points}]", around.join(" "));
    assert_eq!(mesh(&text).world().drawables.len(), 1);
}

#[test]
fn keys_of_a_motion_share_the_topology() {
    let mesh = |z: f64| {
        format!(
            "SubdivisionMesh \"catmull-clark\" [4] [0 1 2 3] [\"interpolateboundary\"] [0 0] [] [] \"P\" [0 0 {z} 1 0 0 1 1 0 0 1 0]\n"
        )
    };
    let outcome = read_text(&format!("WorldBegin\nMotionBegin [0 1]\n{}{}MotionEnd\nWorldEnd", mesh(0.0), mesh(1.0)));
    assert_eq!(outcome.codes(), []);
    let shape = &outcome.world().drawables[0].geometry.shape;
    let Shape::Limit(middle) = shape.at(0.5) else { panic!("patches") };
    assert_eq!((shape.keyframes().len(), middle.control[0]), (2, [0.0, 0.0, 0.5]));
}
