//! Primitives and their variables.

use super::*;
use crate::scene::{Class, Facets, Patches, QuadricShape, ValueType};

fn facets(world: &World) -> &Facets {
    match only_shape(world) {
        Shape::Facets(facets) => facets,
        other => panic!("{other:?}"),
    }
}

fn patches(world: &World) -> &Patches {
    match only_shape(world) {
        Shape::Patches(patches) => patches,
        other => panic!("{other:?}"),
    }
}

/// The numbers 0, 1, ... as text.
fn row(count: usize) -> String {
    (0..count).map(|i| i.to_string()).collect::<Vec<_>>().join(" ")
}

/// `count` points that are not on a plane.
fn scattered(count: usize) -> String {
    let point = |i: usize| format!("{} {} {}", i % 7, (i * i) % 11, (i * 5) % 13);
    (0..count).map(point).collect::<Vec<_>>().join(" ")
}

#[test]
fn quadrics() {
    let shape = |text: &str| match only_shape(&drawn(text)) {
        Shape::Quadric(quadric) => (quadric.shape, quadric.sweep_degrees),
        other => panic!("{other:?}"),
    };
    assert_eq!(shape("Sphere 2 -9 1 -180"), (QuadricShape::Sphere { radius: 2.0, zmin: -2.0, zmax: 1.0 }, -180.0));
    assert_eq!(shape("Cone 3 1 360"), (QuadricShape::Cone { height: 3.0, radius: 1.0 }, 360.0));
    assert_eq!(shape("Cylinder 1 0 2 90"), (QuadricShape::Cylinder { radius: 1.0, zmin: 0.0, zmax: 2.0 }, 90.0));
    let p = ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0]);
    assert_eq!(shape("Hyperboloid 1 0 0 1 1 1 360"), (QuadricShape::Hyperboloid { p1: p.0, p2: p.1 }, 360.0));
    assert_eq!(shape("Paraboloid 1 .5 2 360"), (QuadricShape::Paraboloid { rmax: 1.0, zmin: 0.5, zmax: 2.0 }, 360.0));
    assert_eq!(shape("Disk .5 1 360"), (QuadricShape::Disk { height: 0.5, radius: 1.0 }, 360.0));
    let torus = QuadricShape::Torus { major: 2.0, minor: 0.5, phi_min: 0.0, phi_max: std::f32::consts::TAU };
    assert_eq!(shape("Torus 2 .5 0 360 360"), (torus, 360.0));
}

#[test]
fn quadrics_that_are_odd_or_nothing() {
    assert_eq!(faults("Sphere 1 -1 1 400"), [("range", 2)]);
    assert_eq!(faults("Torus 2 1 0 500 360"), [("range", 2)]);
    assert_eq!(faults("Paraboloid 1 -1 2 360"), [("range", 2)]);
    for nothing in [
        "Sphere 0 -1 1 360",
        "Sphere 1 2 3 360",
        "Sphere 1 -1 1 0",
        "Cone 1 0 360",
        "Cylinder 1 2 2 360",
        "Disk 0 0 360",
        "Torus 1 0 0 360 360",
        "Hyperboloid 0 0 0 0 0 1 360",
        "Paraboloid 1 0 0 360",
    ] {
        let outcome = read_text(&format!("WorldBegin\n{nothing}\nWorldEnd"));
        assert_eq!((outcome.codes(), outcome.world().drawables.len()), (vec![("range", 2)], 0), "{nothing}");
        assert_eq!(outcome.summary.errors, 0, "{nothing}: only a note");
    }
}

#[test]
fn value_counts_of_all_classes() {
    // Request, then the number of values of uniform, varying, vertex and facevarying.
    let cases = [
        (format!("Polygon \"P\" [{}]", scattered(5)), [1, 5, 5, 5]),
        (format!("GeneralPolygon [4 3] \"P\" [{}]", "0 0 0 9 0 0 9 9 0 0 9 0 1 1 0 2 1 0 1 2 0"), [1, 7, 7, 7]),
        (format!("PointsPolygons [3 4] [0 1 2 2 1 3 5] \"P\" [{}]", scattered(6)), [2, 6, 6, 7]),
        (
            format!(
                "PointsGeneralPolygons [2 1] [4 3 3] [0 1 2 3 4 5 6 0 1 4] \"P\" [{}]",
                "0 0 0 9 0 0 9 9 0 0 9 0 1 1 0 2 1 0 1 2 0"
            ),
            [2, 7, 7, 10],
        ),
        (format!("Patch \"bilinear\" \"P\" [{}]", scattered(4)), [1, 4, 4, 4]),
        (format!("Patch \"bicubic\" \"P\" [{}]", scattered(16)), [1, 4, 16, 4]),
        (format!("PatchMesh \"bilinear\" 3 \"nonperiodic\" 4 \"periodic\" \"P\" [{}]", scattered(12)), [8, 12, 12, 32]),
        (format!("PatchMesh \"bicubic\" 7 \"nonperiodic\" 6 \"periodic\" \"P\" [{}]", scattered(42)), [4, 6, 42, 16]),
        ("Sphere 1 -1 1 360".to_owned(), [1, 4, 4, 4]),
        (format!("Points \"P\" [{}]", scattered(9)), [1, 9, 9, 9]),
        (format!("Curves \"cubic\" [4 7] \"nonperiodic\" \"P\" [{}]", scattered(11)), [2, 5, 11, 5]),
        (format!("Curves \"cubic\" [6 9] \"periodic\" \"P\" [{}]", scattered(15)), [2, 5, 15, 5]),
        (format!("Curves \"linear\" [3 4] \"nonperiodic\" \"P\" [{}]", scattered(7)), [2, 7, 7, 7]),
        (format!("Curves \"linear\" [3 4] \"periodic\" \"P\" [{}]", scattered(7)), [2, 7, 7, 7]),
    ];
    for (request, counts) in cases {
        for (class, count) in ["uniform", "varying", "vertex", "facevarying"].into_iter().zip(counts) {
            let right = format!("{request} \"{class} float x\" [{}]", row(count));
            assert_eq!(drawn(&right).drawables[0].geometry.primvars.len(), 1, "{right}");
            let few = format!("WorldBegin\n{request} \"{class} float x\" [{}]\nWorldEnd", row(count - 1));
            let outcome = read_text(&few);
            assert_eq!((outcome.codes(), outcome.summary.errors), (vec![("badarray", 2)], 1), "{few}");
            assert!(outcome.world().drawables[0].geometry.primvars.is_empty(), "{few}");
            let many = format!("WorldBegin\n{request} \"{class} color x\" [{}]\nWorldEnd", row(3 * count + 1));
            let outcome = read_text(&many);
            assert_eq!((outcome.codes(), outcome.summary.errors), (vec![("badarray", 2)], 0), "{many}");
        }
    }
}

#[test]
fn primitive_variables_of_every_type() {
    let world = drawn(
        "Patch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0] \"uniform int i\" 7 \"constant string tex\" \"a.tx\" \"uniform hpoint h\" [1 2 3 4] \"constant matrix m\" [1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1]\n\
         \"varying vector[2] vv\" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23] \"Cs\" [1 0 0 0 1 0 0 0 1 1 1 1] \"uniform normal Np\" [0 0 1]",
    );
    let primvars = &world.drawables[0].geometry.primvars;
    let kinds: Vec<_> = primvars.iter().map(|p| (&*p.name, p.class, p.ty, p.array_len)).collect();
    assert_eq!(
        kinds,
        [
            ("i", Class::Uniform, ValueType::Int, 1),
            ("tex", Class::Constant, ValueType::String, 1),
            ("h", Class::Uniform, ValueType::HPoint, 1),
            ("m", Class::Constant, ValueType::Matrix, 1),
            ("vv", Class::Varying, ValueType::Vector, 2),
            ("Cs", Class::Varying, ValueType::Color, 1),
            ("N", Class::Uniform, ValueType::Normal, 1),
        ]
    );
    assert_eq!(numbers(&world, "i"), [7.0]);
    assert_eq!(numbers(&world, "vv").len(), 24);
}

#[test]
fn st_becomes_s_and_t_and_a_later_variable_wins() {
    let world = drawn(
        "Patch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0] \"s\" [9 9 9 9] \"st\" [0 1 2 3 4 5 6 7] \"Cs\" [1 1 1 1 1 1 1 1 1 1 1 1] \"uniform color Cs\" [0 0 1]",
    );
    assert_eq!(numbers(&world, "s"), [0.0, 2.0, 4.0, 6.0]);
    assert_eq!(numbers(&world, "t"), [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(numbers(&world, "Cs"), [0.0, 0.0, 1.0]);
    assert_eq!(world.drawables[0].geometry.primvars.len(), 3);
}

#[test]
fn a_polygon_and_its_pieces() {
    let world = drawn("Polygon \"P\" [0 0 0 2 0 0 2 2 0 1 3 0 0 2 0]");
    let mesh = facets(&world);
    assert!(mesh.polygon && mesh.uv_range.is_empty());
    assert_eq!(
        (mesh.corners.len(), mesh.face.as_ref(), mesh.face_normals.as_ref()),
        (3, &[0, 0, 0][..], &[[0.0, 0.0, 1.0]][..])
    );
    assert_eq!(mesh.corners, mesh.face_corners);
    let world = drawn(
        "PointsGeneralPolygons [1 2] [4 4 3] [4 5 6 7 0 1 2 3 8 9 10] \"P\" [0 0 0 9 0 0 9 9 0 0 9 0  0 0 5 0 9 5 9 9 5 9 0 5  1 1 0 2 1 0 1 2 0]",
    );
    let mesh = facets(&world);
    assert_eq!(mesh.corners[0], [4, 5, 7, 6]);
    assert_eq!(mesh.face_corners[0], [0, 1, 3, 2]);
    assert_eq!(mesh.face_normals[0], [0.0, 0.0, -1.0]);
    // The second face has seven corners and a hole: seven triangles.
    assert_eq!(mesh.face.iter().filter(|face| **face == 1).count(), 7);
    assert!(mesh.face_corners.iter().skip(1).flatten().all(|corner| (4..11).contains(corner)));
}

#[test]
fn meshes_that_contradict_themselves() {
    let cases = [
        ("PointsPolygons [3] [0 1] \"P\" [0 0 0 1 0 0 0 1 0]", "consistency"),
        ("PointsPolygons [3] [0 1 -2] \"P\" [0 0 0 1 0 0 0 1 0]", "consistency"),
        ("PointsPolygons [-3] [0 1 2] \"P\" [0 0 0 1 0 0 0 1 0]", "consistency"),
        ("PointsPolygons [3] [0 1 9] \"P\" [0 0 0 1 0 0 0 1 0]", "badarray"),
        ("PointsPolygons [3] [0 1 2000000000] \"P\" [0 0 0 1 0 0 0 1 0]", "badarray"),
        ("PointsPolygons [2147483647 2147483647] [0 1 2] \"P\" [0 0 0]", "consistency"),
        ("PointsGeneralPolygons [2] [3] [0 1 2] \"P\" [0 0 0 1 0 0 0 1 0]", "consistency"),
        ("PointsGeneralPolygons [0 1] [3] [0 1 2] \"P\" [0 0 0 1 0 0 0 1 0]", "consistency"),
        ("GeneralPolygon [3 3] \"P\" [0 0 0 1 0 0 0 1 0]", "badarray"),
        ("Polygon \"Cs\" [1 0 0]", "missingdata"),
        ("Polygon \"string P\" [\"a\"]", "badargument"),
        ("Polygon \"vertex point[2] P\" [0 0 0 1 0 0]", "badtoken"),
        ("Polygon \"P\" [0 0 0 1 0 0]", "range"),
        ("Polygon \"P\" [0 0 0 1 0 0 2 0 0]", "range"),
        ("Polygon \"P\" []", "range"),
        ("Polygon \"P\" [0 0 0 1 0 NaN 0 1 0]", "math"),
        ("Polygon \"P\" [0 0 0 1 0 1e39 0 1 0]", "math"),
        ("PointsPolygons [] [] \"P\" []", "range"),
        ("Polygon \"P\" [0 0 0 1 0 0 0 1 0] \"varying color Cs\" [1 2]", "badarray"),
        ("PatchMesh \"bilinear\" 1 \"nonperiodic\" 2 \"nonperiodic\" \"P\" [0 0 0 1 1 1]", "range"),
        ("PatchMesh \"bicubic\" 4000000000 \"nonperiodic\" 4 \"nonperiodic\" \"P\" [0]", "range"),
        ("PatchMesh \"bicubic\" 2000000000 \"nonperiodic\" 2000000002 \"nonperiodic\" \"P\" [0]", "badarray"),
        ("PatchMesh \"bicubic\" 7 \"periodic\" 4 \"nonperiodic\" \"P\" [0]", "consistency"),
        ("PatchMesh \"bicubic\" -4 \"nonperiodic\" 4 \"nonperiodic\" \"P\" [0]", "range"),
        ("Patch \"bicubic\" \"P\" [0 0 0]", "badarray"),
        ("Curves \"cubic\" [3] \"nonperiodic\" \"P\" [0 0 0 1 1 1 2 2 2]", "range"),
        ("Curves \"cubic\" [2000000000] \"nonperiodic\" \"P\" [0 0 0]", "badarray"),
        ("Curves \"linear\" [] \"nonperiodic\" \"P\" []", "range"),
        ("Curves \"linear\" [2] \"nonperiodic\" \"P\" [0 0 0 1 1 1] \"constantwidth\" [-1]", "math"),
        ("Points \"P\" []", "range"),
        ("Points \"P\" [0 0 0] \"width\" NaN", "math"),
    ];
    for (text, code) in cases {
        let outcome = read_text(&format!("WorldBegin\n{text}\nSphere 1 -1 1 360\nWorldEnd"));
        let codes: Vec<_> = outcome.messages.iter().map(|message| message.code).collect();
        let surplus = text.contains(" 2000000000 ") || text.contains("[2000000000]");
        assert_eq!(codes, if surplus { vec!["consistency", code] } else { vec![code] }, "{text}");
        let kept = text.starts_with("Polygon") && code == "badarray";
        assert_eq!(outcome.world().drawables.len(), if kept { 2 } else { 1 }, "{text}");
    }
}

#[test]
fn bilinear_meshes_wrap_and_cover_the_unit_square() {
    let world = drawn(&format!("PatchMesh \"bilinear\" 3 \"periodic\" 2 \"nonperiodic\" \"P\" [{}]", scattered(6)));
    let facets = facets(&world);
    assert_eq!(facets.corners.as_ref(), [[0, 1, 3, 4], [1, 2, 4, 5], [2, 0, 5, 3]]);
    assert_eq!(facets.face_corners[2], [8, 9, 10, 11]);
    assert_eq!(facets.uv_range[1], [1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0]);
    assert!(!facets.polygon && facets.face_normals.is_empty());
}

/// Where a bicubic patch of power values would be at (u, v), to compare with.
fn bezier_point(control: &[[f32; 3]], u: f64, v: f64) -> [f64; 3] {
    let b = |t: f64| [(1.0 - t).powi(3), 3.0 * t * (1.0 - t).powi(2), 3.0 * t * t * (1.0 - t), t.powi(3)];
    std::array::from_fn(|axis| {
        let terms = control.iter().enumerate().map(|(k, point)| b(u)[k % 4] * b(v)[k / 4] * f64::from(point[axis]));
        terms.sum()
    })
}

#[test]
fn bicubic_patches_of_every_basis() {
    let plain = format!("Patch \"bicubic\" \"P\" [{}]", scattered(16));
    let world = drawn(&plain);
    let positions: Vec<f32> = scattered(16).split(' ').map(|number| number.parse().expect("a number")).collect();
    assert_eq!(patches(&world).control.as_flattened(), positions, "Bezier is the identity");
    for (basis, matrix) in [
        (
            "b-spline",
            [[-1., 3., -3., 1.], [3., -6., 3., 0.], [-3., 0., 3., 0.], [1., 4., 1., 0.]]
                .map(|r| r.map(|v: f64| v / 6.0)),
        ),
        (
            "catmull-rom",
            [[-1., 3., -3., 1.], [2., -5., 4., -1.], [-1., 0., 1., 0.], [0., 2., 0., 0.]]
                .map(|r| r.map(|v: f64| v / 2.0)),
        ),
        ("hermite", [[2., 1., -2., 1.], [-3., -2., 3., -1.], [0., 1., 0., 0.], [1., 0., 0., 0.]]),
        ("power", [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]]),
    ] {
        let world = drawn(&format!("Basis \"{basis}\" 1 \"{basis}\" 1\n{plain}"));
        let weights = |t: f64| -> [f64; 4] {
            let powers = [t * t * t, t * t, t, 1.0];
            std::array::from_fn(|i| (0..4).map(|k| powers[k] * matrix[k][i]).sum())
        };
        for (u, v) in [(0.0, 0.0), (0.3, 0.7), (1.0, 0.5)] {
            let found = bezier_point(&patches(&world).control, u, v);
            for axis in 0..3 {
                let wanted: f64 =
                    (0..16).map(|k| weights(u)[k % 4] * weights(v)[k / 4] * f64::from(positions[3 * k + axis])).sum();
                assert!((found[axis] - wanted).abs() < 1e-4, "{basis} at {u} {v}: {} and {wanted}", found[axis]);
            }
        }
    }
}

#[test]
fn neighbours_in_a_mesh_share_their_border_bit_for_bit() {
    for (basis, step, nu, nv) in
        [("b-spline", 1, 7, 6), ("catmull-rom", 1, 7, 6), ("bezier", 3, 10, 7), ("hermite", 2, 8, 6)]
    {
        let values: Vec<String> =
            (0..nu * nv * 3).map(|i| format!("{:.6}", (i as f64 * 12.9898).sin() * 43.758_545)).collect();
        for (wrap_u, wrap_v) in [("nonperiodic", "nonperiodic"), ("periodic", "nonperiodic"), ("periodic", "periodic")]
        {
            let (nu, nv) = (
                if wrap_u == "periodic" { nu / step * step } else { nu },
                if wrap_v == "periodic" { nv / step * step } else { nv },
            );
            let text = format!(
                "Basis \"{basis}\" {step} \"{basis}\" {step}\nPatchMesh \"bicubic\" {nu} \"{wrap_u}\" {nv} \"{wrap_v}\" \"P\" [{}]",
                values[..nu * nv * 3].join(" ")
            );
            let world = drawn(&text);
            let patches = patches(&world);
            let at = |patch: usize, u: usize, v: usize| patches.control[16 * patch + 4 * v + u].map(f32::to_bits);
            let mut shared = 0;
            for (a, corners_a) in patches.corners.iter().enumerate() {
                for (b, corners_b) in patches.corners.iter().enumerate() {
                    if corners_a[1] == corners_b[0] && corners_a[3] == corners_b[2] {
                        shared += 1;
                        assert!(
                            (0..4).all(|i| at(a, 3, i) == at(b, 0, i)),
                            "{basis} {wrap_u}: patches {a} and {b} along v"
                        );
                    }
                    if corners_a[2] == corners_b[0] && corners_a[3] == corners_b[1] {
                        shared += 1;
                        assert!(
                            (0..4).all(|i| at(a, i, 3) == at(b, i, 0)),
                            "{basis} {wrap_v}: patches {a} and {b} along u"
                        );
                    }
                }
            }
            assert!(shared > 3, "{basis}: {shared} borders");
        }
    }
}

#[test]
fn vertex_variables_of_cubics_are_converted_like_positions() {
    let text = format!(
        "Basis \"b-spline\" 1 \"b-spline\" 1\nPatch \"bicubic\" \"P\" [{0}] \"vertex point Q\" [{0}] \"vertex float[2] f\" [{1}]",
        scattered(16),
        row(32)
    );
    let world = drawn(&text);
    let control = patches(&world).control.as_flattened().to_vec();
    assert_eq!(numbers(&world, "Q"), control);
    assert_eq!(numbers(&world, "f").len(), 32);
    assert_eq!(
        faults(&format!("Patch \"bicubic\" \"P\" [{}] \"vertex string x\" [{}]", scattered(16), "\"a\" ".repeat(16))),
        [("badtoken", 2)]
    );
}

#[test]
fn height_fields_and_homogeneous_points() {
    let world = drawn("Patch \"bilinear\" \"Pz\" [1 2 3 4]");
    assert_eq!(facets(&world).positions.as_ref(), [[0.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 1.0, 3.0], [1.0, 1.0, 4.0]]);
    let world = drawn("PatchMesh \"bilinear\" 3 \"nonperiodic\" 2 \"nonperiodic\" \"Pz\" [0 0 0 0 0 0]");
    assert_eq!(facets(&world).positions[4], [0.5, 1.0, 0.0]);
    let world = drawn("Patch \"bilinear\" \"Pw\" [0 0 0 2 2 0 0 2 0 2 0 2 2 2 4 2]");
    assert_eq!(facets(&world).positions[3], [1.0, 1.0, 2.0]);
    assert_eq!(faults("Patch \"bilinear\" \"Pw\" [0 0 0 2 2 0 0 2 0 2 0 2 2 2 4 0]"), [("range", 2)]);
    assert_eq!(faults("Polygon \"Pw\" [0 0 0 2 2 0 0 2 0 2 0 1]"), [("unimplement", 2)]);
    assert_eq!(faults("Polygon \"Pz\" [0 0 0]"), [("badtoken", 2)]);
}

/// The widths at both ends of every segment.
fn end_widths(curves: &CurveSegments) -> Vec<[f32; 2]> {
    curves.widths.iter().map(|width| [width[0], width[3]]).collect()
}

#[test]
fn curves_and_their_widths() {
    let world =
        drawn("Curves \"linear\" [3 2] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 0 0 5 0 0 6 0 0] \"width\" [1 2 3 4 5]");
    let linear = curves(&world);
    assert_eq!(linear.control.as_flattened(), [0., 0., 0., 1., 0., 0., 1., 0., 0., 2., 0., 0., 5., 0., 0., 6., 0., 0.]);
    assert_eq!(linear.ends.as_ref(), [[0, 1], [1, 2], [3, 4]]);
    assert_eq!(
        (linear.face.as_ref(), linear.v_range.as_ref()),
        (&[0, 0, 1][..], &[[0.0, 0.5], [0.5, 1.0], [0.0, 1.0]][..])
    );
    assert_eq!(end_widths(linear), [[1.0, 2.0], [2.0, 3.0], [4.0, 5.0]]);
    let polyline = "Curves \"linear\" [3] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 0 0] \"vertex float a\" [1 2 3] \"facevarying float b\" [1 2 3]";
    let classes: Vec<_> = drawn(polyline).drawables[0].geometry.primvars.iter().map(|primvar| primvar.class).collect();
    assert_eq!(classes, [Class::Varying, Class::Varying]);
    let world = drawn("Curves \"linear\" [3] \"periodic\" \"P\" [0 0 0 1 0 0 2 0 0] \"width\" [1 2 3]");
    assert_eq!((curves(&world).ends[2], end_widths(curves(&world))[2]), ([2, 0], [3.0, 1.0]));
    let cubic = format!("Curves \"cubic\" [7] \"nonperiodic\" \"P\" [{}]", scattered(7));
    for (width, wanted) in [
        ("", [[1.0, 1.0], [1.0, 1.0]]),
        ("\"constantwidth\" .5", [[0.5, 0.5], [0.5, 0.5]]),
        ("\"uniform float width\" 3", [[3.0, 3.0], [3.0, 3.0]]),
        ("\"width\" [1 2 3]", [[1.0, 2.0], [2.0, 3.0]]),
        ("\"vertex float width\" [1 9 9 2 9 9 3]", [[1.0, 2.0], [2.0, 3.0]]),
    ] {
        let world = drawn(&format!("{cubic} {width}"));
        assert_eq!(end_widths(curves(&world)), wanted, "{width}");
        assert!(curves(&world).normals.is_empty() && curves(&world).cubic);
        assert!(world.drawables[0].geometry.primvars.is_empty());
    }
    // A vertex width follows the basis inside a segment, the others are linear; an overshoot does not turn negative.
    let widths = |text: &str| curves(&drawn(text)).widths.to_vec();
    let vertex = widths(&format!("{cubic} \"vertex float width\" [1 9 8 2 7 6 3]"));
    assert_eq!(vertex, [[1.0, 9.0, 8.0, 2.0], [2.0, 7.0, 6.0, 3.0]]);
    assert_eq!(widths(&format!("{cubic} \"width\" [0 3 3]")), [[0.0, 1.0, 2.0, 3.0], [3.0; 4]]);
    let rom =
        "Basis \"bezier\" 3 \"catmull-rom\" 1\nCurves \"cubic\" [4] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 0 0 3 0 0]";
    assert_eq!(widths(&format!("{rom} \"vertex float width\" [6 0 3 3]")), [[0.0, 0.0, 2.5, 3.0]]);
    let world = drawn(&format!("{cubic} \"N\" [1 0 0 0 1 0 0 0 1]"));
    assert_eq!(
        curves(&world).normals.as_ref(),
        [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]
    );
}

#[test]
fn curve_segments_share_their_ends_bit_for_bit() {
    for (basis, step, count) in [("b-spline", 1, 9), ("catmull-rom", 1, 9), ("bezier", 3, 10), ("hermite", 2, 10)] {
        let values: Vec<String> =
            (0..count * 3).map(|i| format!("{:.5}", (f64::from(i) * 7.77).cos() * 19.19)).collect();
        let text = format!(
            "Basis \"bezier\" 3 \"{basis}\" {step}\nCurves \"cubic\" [{count}] \"nonperiodic\" \"P\" [{}] \"vertex color Q\" [{0}]",
            values.join(" ")
        );
        let world = drawn(&text);
        let segments: Vec<&[[f32; 3]]> = curves(&world).control.chunks(4).collect();
        assert!(segments.len() > 2);
        assert!(
            segments.windows(2).all(|pair| pair[0][3].map(f32::to_bits) == pair[1][0].map(f32::to_bits)),
            "{basis}"
        );
        assert_eq!(numbers(&world, "Q"), curves(&world).control.as_flattened());
    }
    assert_eq!(faults(&format!("Curves \"cubic\" [6] \"nonperiodic\" \"P\" [{}]", scattered(6))), [("consistency", 2)]);
    assert_eq!(faults(&format!("Curves \"cubic\" [7] \"periodic\" \"P\" [{}]", scattered(7))), [("range", 2)]);
}

#[test]
fn points_and_their_widths() {
    for (width, wanted) in [
        ("", [1.0, 1.0]),
        ("\"constantwidth\" 2", [2.0, 2.0]),
        ("\"width\" [3 4]", [3.0, 4.0]),
        ("\"vertex float width\" [5 6]", [5.0, 6.0]),
    ] {
        let world = drawn(&format!("Points \"P\" [0 0 0 1 1 1] {width}"));
        assert_eq!(points(&world).widths.as_ref(), wanted, "{width}");
    }
    assert_eq!(faults("Points \"P\" [0 0 0] \"constant string type\" \"blobby\""), [("unimplement", 2)]);
    drawn("Points \"P\" [0 0 0] \"constant string type\" \"disk\"");
}

#[test]
fn runs_of_primitives_become_one_geometry() {
    let quad = |x: usize| {
        format!(
            "Patch \"bilinear\" \"P\" [{x} 0 0 {x} 1 0 {x} 0 1 {x} 1 1] \"uniform float id\" {x} \"varying float w\" [{x} 0 0 9] \"facevarying float f\" [0 1 2 {x}]\n"
        )
    };
    let world = drawn(&(0..5).map(quad).collect::<String>());
    let mesh = facets(&world);
    assert_eq!((mesh.corners.len(), mesh.positions.len()), (5, 20));
    assert_eq!((mesh.corners[3], mesh.face_corners[3], mesh.face[3]), ([12, 13, 14, 15], [12, 13, 14, 15], 3));
    assert_eq!(
        (numbers(&world, "id"), numbers(&world, "w")[12], numbers(&world, "f")[19]),
        (vec![0.0, 1.0, 2.0, 3.0, 4.0], 3.0, 4.0)
    );
    let polygons = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]\nPointsPolygons [3 3] [0 1 2 2 1 0] \"P\" [0 0 0 1 0 0 0 1 0]\nGeneralPolygon [3] \"P\" [0 0 0 1 0 0 0 1 0]";
    let world = drawn(polygons);
    assert_eq!((facets(&world).face.as_ref(), facets(&world).corners[2]), (&[0, 1, 2, 3][..], [5, 4, 3, 3]));
    assert_eq!(facets(&world).face_corners[3], [9, 10, 11, 11]);
    let patch = format!("Patch \"bicubic\" \"P\" [{}] \"s\" [0 1 0 1]\n", scattered(16));
    let world = drawn(&patch.repeat(3));
    assert_eq!(
        (patches(&world).corners[2], patches(&world).face_corners[2], patches(&world).face[2]),
        ([8, 9, 10, 11], [8, 9, 10, 11], 2)
    );
    let curve =
        "Curves \"linear\" [2 3] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 0 0 3 0 0 4 0 0] \"uniform float id\" [7 8]\n";
    let world = drawn(&curve.repeat(2));
    assert_eq!((curves(&world).face.as_ref(), curves(&world).ends[4]), (&[0, 1, 1, 2, 3, 3][..], [7, 8]));
    assert_eq!(numbers(&world, "id"), [7.0, 8.0, 7.0, 8.0]);
    let world = drawn(&"Points \"P\" [0 0 0 1 1 1] \"constantwidth\" 2 \"Cs\" [1 0 0 0 1 0]\n".repeat(4));
    assert_eq!((points(&world).widths.len(), numbers(&world, "Cs").len()), (8, 24));
}

#[test]
fn what_differs_is_not_joined() {
    let cases = [
        "Points \"P\" [0 0 0]\nColor 1 0 0\nPoints \"P\" [0 0 0]",
        "Points \"P\" [0 0 0]\nTranslate 1 0 0\nPoints \"P\" [0 0 0]",
        "Points \"P\" [0 0 0]\nPoints \"P\" [0 0 0] \"Cs\" [1 0 0]",
        "Points \"P\" [0 0 0] \"constant float id\" 1\nPoints \"P\" [0 0 0] \"constant float id\" 2",
        "Points \"P\" [0 0 0] \"uniform float id\" 1\nPoints \"P\" [0 0 0] \"uniform float id\" 2",
        "Points \"P\" [0 0 0] \"varying float id\" 1\nPoints \"P\" [0 0 0] \"vertex float id\" 2",
        "Polygon \"P\" [0 0 0 1 0 0 0 1 0]\nPatch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0]",
        "Curves \"linear\" [2] \"nonperiodic\" \"P\" [0 0 0 1 0 0]\nCurves \"linear\" [2] \"nonperiodic\" \"P\" [0 0 0 1 0 0] \"N\" [0 0 1 0 0 1]",
        "Sphere 1 -1 1 360\nSphere 1 -1 1 360",
        "Points \"P\" [0 0 0] \"varying string way\" \"up\"\nPoints \"P\" [0 0 0] \"varying string way\" \"down\"",
    ];
    for text in cases {
        assert_eq!(drawn(text).drawables.len(), 2, "{text}");
    }
    // Equal constants are one constant.
    assert_eq!(drawn(&"Points \"P\" [0 0 0] \"constant float id\" 1\n".repeat(3)).drawables.len(), 1);
    let way = |text: &str| {
        format!("Patch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0] \"uniform string way\" [\"{text}\"]\n")
    };
    assert_eq!(drawn(&["up", "up", "down", "down", "up"].map(way).concat()).drawables.len(), 3);
}

#[test]
fn texts_that_differ_within_a_request_are_reported() {
    let mesh = |texts: &str| {
        faults(&format!(
            "PointsPolygons [3 3] [0 1 2 0 2 3] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0] \"uniform string way\" [{texts}]"
        ))
    };
    assert_eq!(mesh("\"a\" \"b\""), [("unimplement", 2)]);
    assert_eq!(mesh("\"a\" \"a\""), []);
}
