//! Surfaces of all kinds without cracks: no sample inside of an outline sees the background, however finely neighbours
//! are diced, and with any displacement that depends on where a point is.

use super::draw_with;
use std::fmt::Write as _;

/// Surfaces whose outlines have the square from -0.6 to 0.6 inside, and are themselves inside of that from -1.15 to
/// 1.15.
fn surfaces() -> Vec<(&'static str, String)> {
    [quadrics(), polygons(), patches(), nurbs(), subdivision(), others()].concat()
}

fn quadrics() -> Vec<(&'static str, String)> {
    [
        ("sphere", "Sphere 1 -1 1 360"),
        ("sphere, a pole in front", "Rotate 100 1 0 0 Sphere 1 -1 1 360"),
        ("sphere, turned", "Rotate 70 1 2 3 Sphere 1 -1 1 360"),
        ("cylinder", "Rotate 90 1 0 0 Cylinder 1 -1 1 360"),
        ("cone", "Rotate 170 1 0 0 Cone 1 1 360"),
        ("paraboloid", "Rotate 10 1 0 0 Paraboloid 1 0 1 360"),
        ("hyperboloid", "Rotate 90 1 0 0 Hyperboloid 1 -0.2 -1 1 0.2 1 360"),
        ("disk", "Rotate 20 1 1 0 Disk 0.2 1 360"),
        ("torus", "Torus 0.3 0.7 0 360 360"),
    ]
    .map(|(name, rib)| (name, rib.to_owned()))
    .into()
}

/// Points of a bumpy sheet, `n` by `n`, from `-size` to `size`.
fn sheet(n: usize, size: f64) -> String {
    let at = |i: usize| size * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
    let mut text = String::new();
    for (x, y) in (0..n).flat_map(|j| (0..n).map(move |i| (at(i), at(j)))) {
        let _ = write!(text, "{x:.5} {y:.5} {:.5} ", 0.3 * (5.0 * x + 1.0).sin() * (4.0 * y).cos());
    }
    text
}

/// The same with weights between 1 and 3.
fn weighted(points: &str) -> String {
    let numbers: Vec<f64> = points.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let weighted = numbers.chunks(3).zip(0_u32..).flat_map(|(p, k)| {
        let w = 1.0 + f64::from(k * 7 % 5) * 0.5;
        [p[0] * w, p[1] * w, p[2] * w, w]
    });
    weighted.map(|number| format!("{number:.5} ")).collect()
}

/// Faces of a sheet of `n` by `n` points; every `split`th is cut in two triangles. Their sizes, and their vertices.
fn faces(n: usize, split: usize) -> (String, String) {
    let (mut sizes, mut vertices) = (String::new(), String::new());
    for (j, i) in (0..n - 1).flat_map(|j| (0..n - 1).map(move |i| (j, i))) {
        let [a, b, c, d] = [j * n + i, j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i];
        if (j * (n - 1) + i).is_multiple_of(split) {
            sizes.push_str("3 3 ");
            let _ = write!(vertices, "{a} {b} {c} {a} {c} {d} ");
        } else {
            sizes.push_str("4 ");
            let _ = write!(vertices, "{a} {b} {c} {d} ");
        }
    }
    (sizes, vertices)
}

/// A polygon around the middle whose corners have these radii in turn.
fn around(corners: usize, radii: [f64; 2]) -> String {
    let corner = |k: usize| {
        let (angle, radius) = (k as f64 / corners as f64 * std::f64::consts::TAU, radii[k % 2]);
        format!("{:.5} {:.5} 0 ", radius * angle.cos(), radius * angle.sin())
    };
    (0..corners).map(corner).collect()
}

fn polygons() -> Vec<(&'static str, String)> {
    let mesh = |n: usize, split: usize| {
        let (sizes, vertices) = faces(n, split);
        format!("PointsPolygons [{sizes}] [{vertices}] \"P\" [{}]", sheet(n, 1.0))
    };
    let general = || {
        let (sizes, vertices) = faces(6, 4);
        let loops = sizes.replace(['3', '4'], "1");
        format!("PointsGeneralPolygons [{loops}] [{sizes}] [{vertices}] \"P\" [{}]", sheet(6, 1.0))
    };
    vec![
        ("square", "Rotate 13 0 0 1 Polygon \"P\" [-0.9 -0.9 0 0.9 -0.9 0 0.9 0.9 0 -0.9 0.9 0]".into()),
        ("polygon", format!("Rotate 9 1 0 0 Polygon \"P\" [{}]", around(7, [1.0, 1.0]))),
        ("concave polygon", format!("GeneralPolygon [18] \"P\" [{}]", around(18, [1.0, 0.9]))),
        ("bent quadrangles", mesh(7, usize::MAX)),
        ("triangles", mesh(6, 1)),
        ("both", mesh(8, 3)),
        ("general polygons", general()),
    ]
}

fn patches() -> Vec<(&'static str, String)> {
    let mesh = |kind: &str, n: usize, size: f64| {
        format!("PatchMesh \"{kind}\" {n} \"nonperiodic\" {n} \"nonperiodic\" \"P\" [{}]", sheet(n, size))
    };
    let rational = |kind: &str, n: usize| {
        format!("PatchMesh \"{kind}\" {n} \"nonperiodic\" {n} \"nonperiodic\" \"Pw\" [{}]", weighted(&sheet(n, 1.0)))
    };
    let basis = |u: &str, v: &str| {
        format!("Basis \"{u}\" {} \"{v}\" {} ", 1 + 2 * u32::from(u == "bezier"), 1 + 2 * u32::from(v == "bezier"))
    };
    let tube: String = (0..6)
        .flat_map(|j| (0..8).map(move |i| (f64::from(i) * std::f64::consts::TAU / 8.0, f64::from(j))))
        .map(|(angle, j)| format!("{:.5} {:.5} {:.5} ", 1.15 * angle.cos(), 0.42 * (j - 2.5), 1.15 * angle.sin()))
        .collect();
    vec![
        ("bilinear patch", "Patch \"bilinear\" \"P\" [-1 -1 0 1 -1 0.4 -1 1 0.3 1 1 -0.2]".into()),
        ("Bezier patch", format!("Patch \"bicubic\" \"P\" [{}]", sheet(4, 1.0))),
        ("bilinear patches", mesh("bilinear", 6, 1.0)),
        ("Bezier patches", mesh("bicubic", 10, 1.0)),
        ("B-spline patches", basis("b-spline", "b-spline") + &mesh("bicubic", 9, 1.15)),
        ("Catmull-Rom patches", basis("catmull-rom", "catmull-rom") + &mesh("bicubic", 9, 1.15)),
        ("patches of two bases", basis("bezier", "b-spline") + &mesh("bicubic", 7, 1.15)),
        (
            "a tube",
            basis("b-spline", "b-spline")
                + &format!("PatchMesh \"bicubic\" 8 \"periodic\" 6 \"nonperiodic\" \"P\" [{tube}]"),
        ),
        ("rational bilinear patches", rational("bilinear", 6)),
        ("rational Bezier patches", rational("bicubic", 7)),
    ]
}

/// NURBS of `n` by `n` points.
fn nu_patch(n: usize, [u, v]: [usize; 2], points: &str) -> String {
    let knots = |order: usize| -> String {
        (0..n + order).map(|k| format!("{} ", k.clamp(order - 1, n) - (order - 1))).collect()
    };
    let end = |order: usize| n - order + 1;
    format!("NuPatch {n} {u} [{}] 0 {} {n} {v} [{}] 0 {} {points}", knots(u), end(u), knots(v), end(v))
}

fn nurbs() -> Vec<(&'static str, String)> {
    let plain = |n: usize, orders| nu_patch(n, orders, &format!("\"P\" [{}]", sheet(n, 1.0)));
    vec![
        ("NURBS of order 2", plain(5, [2, 2])),
        ("NURBS of orders 3 and 4", plain(7, [3, 4])),
        ("NURBS of orders 6 and 2", plain(8, [6, 2])),
        ("rational NURBS", nu_patch(6, [4, 3], &format!("\"Pw\" [{}]", weighted(&sheet(6, 1.0))))),
    ]
}

fn subdivision() -> Vec<(&'static str, String)> {
    let mesh = |scheme: &str, n: usize, split: usize, tags: [&str; 4]| {
        let (sizes, vertices) = faces(n, split);
        let [names, counts, integers, floats] = tags;
        format!(
            "SubdivisionMesh \"{scheme}\" [{sizes}] [{vertices}] [\"interpolateboundary\" {names}] [0 0 {counts}] [{integers}] [{floats}] \"P\" [{}]",
            sheet(n, 1.0)
        )
    };
    let none = [""; 4];
    let creases = ["\"crease\" \"crease\" \"corner\"", "4 1 3 1 1 1", "7 8 9 10 14 20 26 22", "2.5 10 3"];
    vec![
        ("Catmull-Clark", mesh("catmull-clark", 6, usize::MAX, none)),
        ("Catmull-Clark with triangles", mesh("catmull-clark", 7, 3, none)),
        ("Catmull-Clark with creases", mesh("catmull-clark", 6, 5, creases)),
        ("Loop", mesh("loop", 6, 1, none)),
        ("bilinear subdivision", mesh("bilinear", 6, 4, none)),
    ]
}

const CURVE: &str = "Curves \"cubic\" [7] \"nonperiodic\" \"P\" [0 -1 0 0 -0.6 0 0 -0.3 0.2 0 0 0 0 0.3 -0.2 0 0.6 0 0 1 0] \
    \"constantwidth\" [1.8]";

fn others() -> Vec<(&'static str, String)> {
    let leaf = |x: f64| format!("1.7 0 0 0 0 1.9 0 0 0 0 1.7 0 {x} 0 0 1 ");
    vec![
        ("blob", format!("Blobby 2 [1001 0 1001 16 0 2 0 1] [{}{}] [\"\"]", leaf(-0.1), leaf(0.1))),
        ("disk of a point", "Points \"P\" [0 0 0] \"constantwidth\" [2]".into()),
        ("sphere of a point", "Points \"P\" [0 0 0] \"constantwidth\" [2] \"uniform string type\" [\"sphere\"]".into()),
        ("curve", CURVE.into()),
        ("solid", "SolidBegin \"primitive\" Sphere 1 -1 1 360 SolidEnd".into()),
    ]
}

const COLUMNS: usize = 8;
/// Pixels of the place of a surface, which is 2.4 units wide.
const PLACE: usize = 18;

#[test]
fn no_sample_sees_through_a_surface() {
    let surfaces = surfaces();
    assert_eq!(surfaces.len(), 40);
    let rows = surfaces.len() / COLUMNS;
    // Sideways only a little, lest outlines change.
    let wave = "displacement wave() { point p = transform(\"shader\", P); float x = xcomp(p), y = ycomp(p);
        P += vtransform(\"shader\", \"camera\", vector(0.02 * sin(30 * y), 0.02 * sin(25 * x), 0.2 * sin(9 * x + 7 * y))); }";
    for (rate, displacement) in [(0.1, "Displacement \"wave\""), (0.7, ""), (16.0, "Displacement \"wave\""), (16.0, "")]
    {
        let mut rib = format!(
            "Format {} {} 1\nPixelSamples 16 16\nPixelFilter \"box\" 1 1\nProjection \"orthographic\"\n\
             ScreenWindow 0 {} 0 {}\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\nShadingRate {rate}\nWorldBegin\n\
             Attribute \"displacementbound\" \"float sphere\" [0.3]\n",
            COLUMNS * PLACE,
            rows * PLACE,
            COLUMNS as f64 * 2.4,
            rows as f64 * 2.4
        );
        for (k, (_, surface)) in surfaces.iter().enumerate() {
            let middle = |place: usize| (place as f64 + 0.5) * 2.4;
            let (x, y) = (middle(k % COLUMNS), middle(k / COLUMNS));
            let _ = writeln!(rib, "AttributeBegin\nTranslate {x} {y} 5\n{displacement}\n{surface}\nAttributeEnd");
        }
        let picture = draw_with(&[("wave.sl", wave)], &(rib + "WorldEnd\n")).clean("a.exr");
        let inside = (PLACE as f64 * 0.6 / 2.4) as usize;
        for (k, (name, _)) in surfaces.iter().enumerate() {
            let places = [k % COLUMNS, rows - 1 - k / COLUMNS];
            let [x0, y0] = places.map(|place| place * PLACE + PLACE / 2 - inside);
            let pixels = (0..2 * inside).flat_map(|y| (0..2 * inside).map(move |x| (x0 + x, y0 + y)));
            let open: Vec<_> = pixels.filter(|(x, y)| picture.at("A", *x, *y) != 1.0).collect();
            assert!(open.is_empty(), "{name}, shading rate {rate}, {displacement}: {open:?}");
        }
    }
}
