//! How much of a pixel a shape covers, and how filters weigh it.

use super::{TestScene, check};

/// One unit is one pixel, the origin in the middle of the picture, y up.
const PIXELS: &str = "ScreenWindow -32 32 -32 32\nTranslate 0 0 5\n";

/// The part of the pixel at (x, y) that a disk around the middle covers, by chords.
fn disk_part(radius: f64, x: usize, y: usize) -> f64 {
    let slices = 512;
    let left = x as f64 - 32.0;
    let chord = |i: i32| {
        let v = y as f64 - 32.0 + (f64::from(i) + 0.5) / f64::from(slices);
        let half = (radius * radius - v * v).max(0.0).sqrt();
        (half.min(left + 1.0) - (-half).max(left)).max(0.0)
    };
    (0..slices).map(chord).sum::<f64>() / f64::from(slices)
}

/// A NuPatch of a profile (radius, height, weight) that is turned about z; `along` has the profile's knots.
fn nurbs_of_revolution(profile: &[[f64; 3]], along: &str) -> String {
    let corners =
        [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 1.0], [-1.0, 0.0], [-1.0, -1.0], [0.0, -1.0], [1.0, -1.0]];
    let mut points = String::new();
    for [r, z, b] in profile {
        for (i, [x, y]) in corners.iter().chain(&corners[..1]).enumerate() {
            let w = if i.is_multiple_of(2) { *b } else { b * 0.5_f64.sqrt() };
            points += &format!("{} {} {} {w} ", x * r * w, y * r * w, z * w);
        }
    }
    format!("NuPatch 9 3 [0 0 0 .25 .25 .5 .5 .75 .75 1 1 1] 0 1 {along} \"Pw\" [{points}]")
}

/// The profile of a sphere.
fn half_circle(r: f64) -> [[f64; 3]; 5] {
    let w = 0.5_f64.sqrt();
    [[0.0, -r, 1.0], [r, -r, w], [r, 0.0, 1.0], [r, r, w], [0.0, r, 1.0]]
}

/// The square from -12, -8 to 20, 16: polynomials of degree 23 that happen to be straight.
fn square_of_order_24() -> String {
    let at = |k: u32, low: f64, high: f64| low + (high - low) * f64::from(k) / 23.0;
    let points = (0..576).map(|k| format!("{} {} 0 ", at(k % 24, -12.0, 20.0), at(k / 24, -8.0, 16.0)));
    let knots = format!("24 24 [{}{}] 0 1", "0 ".repeat(24), "1 ".repeat(24));
    format!("NuPatch {knots} {knots} \"P\" [{}]", points.collect::<String>())
}

#[test]
fn round_shapes_cover_their_exact_area_in_every_pixel() {
    let nurbs = [
        nurbs_of_revolution(&[[20.3, 0.0, 1.0], [0.0, 0.0, 1.0]], "2 2 [0 0 1 1] 0 1"),
        nurbs_of_revolution(&half_circle(12.9), "5 3 [0 0 0 1 1 2 2 2] 0 2"),
    ];
    let shapes = [
        ("Disk 0 20.3 360", 20.3),
        ("Sphere 20.3 -20.3 20.3 360", 20.3),
        ("Sphere -12.9 -12.9 12.9 360", 12.9),
        ("Rotate 90 1 0 0\nTorus 0 25.25 -90 90 360", 25.25),
        ("Points \"P\" [0 0 0] \"constantwidth\" [22.5]", 11.25),
        ("Translate 0 0 1\nHyperboloid 17.5 0 0 17.5 0 3 360\nDisk 1 17.5 360", 17.5),
        ("Paraboloid 9.5 0 4 360", 9.5),
        ("Cone 3 15.5 360", 15.5),
        // A disk and a sphere as NURBS.
        (nurbs[0].as_str(), 20.3),
        (nurbs[1].as_str(), 12.9),
    ];
    for (shape, radius) in shapes {
        let options = format!("PixelSamples 16 16\nPixelFilter \"box\" 1 1\n{PIXELS}");
        let picture = TestScene::new(&options, &format!("Surface \"constant\"\n{shape}")).picture("rgba");
        // An edge of 16x16 samples cuts the subpixels of 16 of them, and is off by a few of these at most.
        check(&picture, "A", 0.035, |x, y| disk_part(radius, x, y));
        let area: f64 = picture.channel("A").iter().map(|&a| f64::from(a)).sum();
        let exact = std::f64::consts::PI * radius * radius;
        assert!((area / exact - 1.0).abs() < 0.002, "{shape}: {area} instead of {exact}");
    }
}

#[test]
fn polygons_that_end_between_pixels_fill_their_pixels_and_no_other() {
    let square = |z: &str| format!("\"P\" [-12 -8 {z}  20 -8 {z}  20 16 {z}  -12 16 {z}]");
    let shapes = [
        format!("Polygon {}", square("0")),
        format!("GeneralPolygon [4] {}", square("0")),
        format!("PointsPolygons [4] [0 1 2 3] {}", square("0")),
        format!("PointsGeneralPolygons [1] [4] [0 1 2 3] {}", square("0")),
        "Patch \"bilinear\" \"P\" [-12 -8 0  20 -8 0  -12 16 0  20 16 0]".to_owned(),
        "PatchMesh \"bilinear\" 3 \"nonperiodic\" 2 \"nonperiodic\" \"P\" [-12 -8 0  3 -8 0  20 -8 0  -12 16 0  3 16 0  20 16 0]"
            .to_owned(),
        "Curves \"linear\" [2] \"nonperiodic\" \"P\" [4 -8 0  4 16 0] \"constantwidth\" [32]".to_owned(),
        "Patch \"bilinear\" \"Pw\" [-12 -8 0 1  60 -24 0 3  -24 32 0 2  20 16 0 1]".to_owned(),
        square_of_order_24(),
    ];
    let options = format!("PixelSamples 3 3\nPixelFilter \"box\" 1 1\n{PIXELS}");
    for shape in shapes {
        let picture = TestScene::new(&options, &format!("Surface \"constant\"\n{shape}")).picture("rgba");
        let inside = |x: usize, y: usize| (20..52).contains(&x) && (16..40).contains(&y);
        for (x, y) in picture.coordinates() {
            let wanted = if inside(x, y) { 1.0 } else { 0.0 };
            assert_eq!(picture.at("A", x, y), wanted, "{shape}: pixel {x}, {y}");
        }
    }
}

/// A filter in one dimension: the others are products of it, or the same along an axis as the middle row sees it.
fn weight(kind: &str, width: f64, x: f64) -> f64 {
    let half = width / 2.0;
    match kind {
        _ if x.abs() > half => 0.0,
        "box" => 1.0,
        "triangle" => 1.0 - x.abs() / half,
        "gaussian" => (-2.0 * (x / half) * (x / half)).exp(),
        "mitchell" => match 2.0 * x.abs() / half {
            q if q < 1.0 => (7.0 * q * q * q - 12.0 * q * q + 16.0 / 3.0) / 6.0,
            q => (-7.0 / 3.0 * q * q * q + 12.0 * q * q - 20.0 * q + 32.0 / 3.0) / 6.0,
        },
        "disk" => (1.0 - (x / half) * (x / half)).sqrt(),
        _ => unreachable!("separable filters only"),
    }
}

#[test]
fn an_edge_shows_the_integral_of_the_filter() {
    for (kind, width) in [
        ("box", 1.0),
        ("box", 3.0),
        ("triangle", 2.0),
        ("triangle", 5.0),
        ("gaussian", 2.0),
        ("gaussian", 4.0),
        ("mitchell", 4.0),
        ("disk", 3.0),
    ] {
        let options = format!("PixelSamples 16 16\nPixelFilter \"{kind}\" {width} {width}\n{PIXELS}");
        let world = "Surface \"constant\"\nPatch \"bilinear\" \"P\" [0.25 -40 0  40 -40 0  0.25 40 0  40 40 0]";
        let picture = TestScene::new(&options, world).picture("rgba");
        let steps = 4000;
        let integral = |from: f64| {
            let at = |i: i32| -width / 2.0 + width * (f64::from(i) + 0.5) / f64::from(steps);
            let sum =
                |least: f64| (0..steps).map(at).filter(|&x| x > least).map(|x| weight(kind, width, x)).sum::<f64>();
            sum(from) / sum(f64::NEG_INFINITY)
        };
        let profile: Vec<f64> = (0..64).map(|x| integral(32.25 - (f64::from(x) + 0.5))).collect();
        check(&picture, "A", 0.012, |x, _| profile[x]);
    }
}

#[test]
fn filters_of_any_kind_keep_a_plane_as_it_is() {
    let filters = [
        "box\" 1 1",
        "triangle\" 2 2",
        "gaussian\" 2 2",
        "gaussian\" 5 3",
        "catmull-rom\" 4 4",
        "sinc\" 6 6",
        "mitchell\" 4 4",
        "lanczos\" 6 4",
        "blackman-harris\" 3 3",
        "disk\" 2 2",
        "separable-catmull-rom\" 4 4",
    ];
    for filter in filters {
        let options = format!("PixelSamples 2 3\nPixelFilter \"{filter}\n{PIXELS}");
        let world = "Color [0.25 0.5 0.75]\nSurface \"constant\"\nPatch \"bilinear\" \"P\" [-40 -40 0  40 -40 0  -40 40 0  40 40 0]";
        let picture = TestScene::new(&options, world).picture("rgba");
        for (channel, value) in [("R", 0.25), ("G", 0.5), ("B", 0.75), ("A", 1.0)] {
            // Negative lobes leave weights whose sum is rounded.
            let exact = filter.starts_with("box") || filter.starts_with("triangle") || filter.starts_with("gaussian");
            check(&picture, channel, if exact { 1e-6 } else { 1e-4 }, |_, _| value);
        }
    }
}

#[test]
fn a_crop_window_shows_the_same_pixels() {
    let world = "LightSource \"distantlight\" 1\nSurface \"matte\"\nSphere 25 -25 25 360\nTranslate 10 5 -20\nOpacity [0.5 0.5 0.5]\nSphere 9 -9 9 360";
    let options = format!("PixelFilter \"gaussian\" 3 3\n{PIXELS}");
    let whole = TestScene::new(&options, world).picture("rgba");
    for (window, left, top, width, height) in [("0.25 0.75 0 0.5", 16, 0, 32, 32), ("0.5 1 0.3 1", 32, 20, 32, 44)] {
        let part = TestScene::new(&format!("CropWindow {window}\n{options}"), world).picture("rgba");
        assert_eq!((part.width, part.height), (width, height), "{window}");
        for (x, y) in part.coordinates() {
            for channel in ["R", "G", "B", "A"] {
                let (own, other) = (part.at(channel, x, y), whole.at(channel, x + left, y + top));
                assert_eq!(own.to_bits(), other.to_bits(), "{window}: {channel} of {x}, {y}");
            }
        }
    }
}
