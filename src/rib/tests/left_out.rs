//! Curves and points of which some cannot be drawn: they cost only themselves.

use super::*;
use crate::diagnostic::Severity;

fn read_one(body: &str) -> (World, Diagnostic) {
    let mut outcome = read_text(&format!("WorldBegin\n{body}\nWorldEnd"));
    assert_eq!(outcome.messages.len(), 1, "{:?}", outcome.messages);
    (outcome.worlds.remove(0), outcome.messages.remove(0))
}

const SEVEN: &str = "0 0 0 1 0 0 2 0 0 3 0 0 4 0 0 5 0 0 6 0 0";

#[test]
fn a_short_curve_is_left_out_with_its_number() {
    for varying in
        ["", "\"varying float x\" [0 1 5 6]", "\"varying float x\" [0 1 8 5 6]", "\"varying float x\" [0 1 8 9 5 6]"]
    {
        let (world, message) = read_one(&format!(
            "Curves \"linear\" [3 1 3] \"nonperiodic\" \"P\" [{SEVEN}] \"uniform float id\" [7 8 9] {}",
            varying.replace("0 1", "0 1 2").replace("5 6", "4 5 6")
        ));
        let curves = curves(&world);
        assert_eq!(
            curves.control.iter().map(|p| p[0]).collect::<Vec<_>>(),
            [0., 1., 1., 2., 4., 5., 5., 6.],
            "{varying}"
        );
        assert_eq!(
            (curves.face.as_ref(), numbers(&world, "id")),
            (&[0, 0, 2, 2][..], vec![7.0, 8.0, 9.0]),
            "{varying}"
        );
        if !varying.is_empty() {
            let x = numbers(&world, "x");
            let ends: Vec<_> = curves.ends.iter().map(|ends| ends.map(|end| x[end as usize])).collect();
            assert_eq!(ends, [[0., 1.], [1., 2.], [4., 5.], [5., 6.]], "{varying}");
        }
        assert_eq!((message.severity, message.code), (Severity::Error, "range"));
        assert!(message.message.contains("curve 1 of 3 is left out: it has 1 vertices and needs 2"), "{message:?}");
    }
}

#[test]
fn curves_that_no_basis_or_number_fits() {
    let cubic = "Curves \"cubic\" [4 3] \"nonperiodic\"";
    let (world, message) = read_one(&format!("{cubic} \"P\" [{SEVEN}]"));
    assert_eq!((curves(&world).face.as_ref(), message.code), (&[0][..], "range"));
    let periodic = "Basis \"bezier\" 3 \"bezier\" 3\nCurves \"cubic\" [4 3] \"periodic\"";
    let (world, message) = read_one(&format!("{periodic} \"P\" [{SEVEN}]"));
    assert_eq!(curves(&world).face.as_ref(), [1]);
    assert!(message.message.contains("curve 0 of 2 is left out: it has 4 vertices, not a multiple"), "{message:?}");
    let nan = SEVEN.replace("1 0 0", "NaN 0 0");
    let (world, message) =
        read_one(&format!("Curves \"linear\" [3 4] \"nonperiodic\" \"P\" [{nan}] \"uniform float width\" [1 2]"));
    assert_eq!((curves(&world).face.as_ref(), curves(&world).widths[0]), (&[1, 1, 1][..], [2.0; 4]));
    assert_eq!((message.severity, message.code), (Severity::Info, "math"));
    let (world, message) = read_one(&format!(
        "Curves \"linear\" [2 2 3] \"nonperiodic\" \"P\" [{SEVEN}] \"uniform float width\" [-1 2 NaN]"
    ));
    assert_eq!((curves(&world).face.as_ref(), curves(&world).widths.as_ref()), (&[1][..], &[[2.0; 4]][..]));
    assert!(
        message.message.contains("2 of 3 curves are left out: the first of them, curve 0, has a width"),
        "{message:?}"
    );
}

#[test]
fn a_point_that_is_not_finite_is_left_out_with_its_number() {
    let text = "Points \"P\" [0 0 0 1 NaN 0 2 0 0 3 0 0] \"width\" [1 2 3 -4] \"varying color Cs\" [0 0 0 1 1 1 2 2 2 3 3 3] \"constant float k\" 5";
    let (world, message) = read_one(text);
    assert_eq!(points(&world).positions.as_ref(), [[0.0; 3], [2.0, 0.0, 0.0]]);
    assert_eq!(points(&world).widths.as_ref(), [1.0, 3.0]);
    assert_eq!((numbers(&world, "Cs"), numbers(&world, "k")), (vec![0., 0., 0., 2., 2., 2.], vec![5.0]));
    assert!(message.message.contains("2 of 4 points are left out: the first of them, point 1,"), "{message:?}");
    let (world, message) = read_one("Points \"P\" [0 0 0 1 0 1e39]");
    assert_eq!(points(&world).positions.len(), 1);
    assert!(message.message.contains("point 1 of 2 is left out: it has"), "{message:?}");
}

/// The varying values at the ends of the only segments.
fn values_at_ends(world: &World, name: &str) -> Vec<[f32; 2]> {
    let values = numbers(world, name);
    curves(world).ends.iter().map(|ends| ends.map(|end| values[end as usize])).collect()
}

#[test]
fn curves_behind_one_that_is_left_out_keep_their_values() {
    let points = |count: usize| (0..count).map(|i| format!("{i} 0 0 ")).collect::<String>();
    let basis = "Basis \"bezier\" 3 \"bezier\" 3\nCurves \"cubic\"";
    // A segment for three vertices, whatever is left.
    let (world, _) =
        read_one(&format!("{basis} [10 6] \"periodic\" \"P\" [{}] \"varying float x\" [0 1 2 3 4]", points(16)));
    assert_eq!(values_at_ends(&world, "x"), [[3., 4.], [4., 3.]]);
    // Two that are unequally short have unequal numbers of values.
    let (world, message) = read_one(&format!(
        "Curves \"linear\" [1 0 2] \"nonperiodic\" \"P\" [{}] \"varying float x\" [0 1 2]",
        points(3)
    ));
    assert_eq!(values_at_ends(&world, "x"), [[1., 2.]]);
    assert!(
        message.message.contains("2 of 3 curves are left out: the first of them, curve 0, has 1 vert"),
        "{message:?}"
    );
    let (world, _) =
        read_one(&format!("{basis} [2 3 4] \"nonperiodic\" \"P\" [{}] \"varying float x\" [0 1 2 3]", points(9)));
    assert_eq!(values_at_ends(&world, "x"), [[2., 3.]]);
}

#[test]
fn a_curve_of_bad_weights_is_left_out_with_its_number() {
    let good = "0 0 0 1 1 0 0 2 2 0 0 1 3 0 0 1";
    for (weight, what) in [("0", "is not more than 0"), ("-1", "is not more than 0"), ("NaN", "is not a finite number")]
    {
        for (kind, ends) in [("linear", vec![1; 3]), ("cubic", vec![1])] {
            let bad = good.replace("0 0 2 2", &format!("0 0 {weight} 2"));
            let (world, message) = read_one(&format!("Curves \"{kind}\" [4 4] \"nonperiodic\" \"Pw\" [{bad} {good}]"));
            assert_eq!(curves(&world).face.as_ref(), ends, "{kind} {weight}");
            assert_eq!(curves(&world).control[1][0], 0.5);
            let wanted = format!("curve 0 of 2 is left out: it has a weight in \"Pw\" that {what}");
            assert_eq!((message.severity, message.code), (Severity::Error, "range"));
            assert!(message.message.contains(&wanted), "{message:?}");
        }
    }
}

#[test]
fn a_curve_that_its_basis_spoils_is_left_out_with_its_number() {
    let curve = |values: [f64; 4]| values.map(|w| format!("1 0 0 {w} ")).concat();
    let (world, message) = read_one(&format!(
        "Basis \"catmull-rom\" 1 \"catmull-rom\" 1\nCurves \"cubic\" [4 4] \"nonperiodic\" \"Pw\" [{} {}] \"uniform float width\" [1 2]",
        curve([1.0, 1.0, 1.5, 1.0]),
        curve([900.0, 1.0, 1.0, 1.0]),
    ));
    assert_eq!((curves(&world).face.as_ref(), curves(&world).widths.as_ref()), (&[0][..], &[[1.0; 4]][..]));
    assert!(
        message.message.contains("curve 1 of 2 is left out: it has a weight of 0 or less in its basis"),
        "{message:?}"
    );
    let far = "3e38 0 0 3e38 0 0 3e38 0 0 3e38 0 0";
    let (world, message) = read_one(&format!(
        "Basis \"power\" 4 \"power\" 4\nCurves \"cubic\" [4 4] \"nonperiodic\" \"P\" [{far} 1 0 0 1 0 0 1 0 0 1 0 0]"
    ));
    assert_eq!(curves(&world).face.as_ref(), [1]);
    assert_eq!((message.severity, message.code), (Severity::Info, "math"));
    assert!(message.message.contains("curve 0 of 2 is left out: it has a position"), "{message:?}");
}

/// The texts of a variable are those of the points that are left.
#[test]
fn strings_at_points_are_kept_where_a_point_is_left_out() {
    let text = |values: &str| {
        format!("Points \"P\" [0 0 0 NaN 0 0] \"vertex string map\" [{values}] \"vertex float x\" [1 2]")
    };
    let (world, _) = read_one(&text("\"a\" \"a\""));
    let map = &world.drawables[0].geometry.primvars[0];
    assert_eq!(map.data, PrimvarData::Strings(vec!["a".into()].into()));
    assert_eq!(numbers(&world, "x"), [1.0]);
}
