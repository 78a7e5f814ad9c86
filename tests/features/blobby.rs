//! Implicit surfaces: leaves of known sizes, operations, values of leaves, edges between facets.

use super::{assert_near, draw, draw_with};

const OPTIONS: &str = "Format 64 64 1\nPixelSamples 8 8\nPixelFilter \"box\" 1 1\nQuantize \"rgba\" 0 0 0 0\n\
    Display \"$DIR/a.exr\" \"file\" \"rgba\"\nProjection \"orthographic\"\nScreenWindow -1 1 -1 1\n\
    WorldBegin\nTranslate 0 0 5\nSurface \"constant\"\n";

/// The floats of a matrix that scales and moves.
fn matrix([x, y, z]: [f64; 3], [dx, dy, dz]: [f64; 3]) -> String {
    format!("{x} 0 0 0  0 {y} 0 0  0 0 {z} 0  {dx} {dy} {dz} 1 ")
}

/// The part of the picture that a scene covers.
fn area(rib: &str) -> f64 {
    // As fine as the samples, so that the outline is no polygon.
    let picture = draw(&format!("{OPTIONS}ShadingRate 0.05\n{rib}\nWorldEnd\n")).clean("a.exr");
    picture.channel("A").iter().map(|a| f64::from(*a)).sum::<f64>() / 4096.0
}

#[track_caller]
fn assert_area(rib: &str, wanted: f64) {
    let found = area(rib);
    assert!((found - wanted).abs() < 2e-3 * wanted, "{found} is not {wanted}");
}

const PI: f64 = std::f64::consts::PI;
const ORIGIN: [f64; 3] = [0.0; 3];

#[test]
fn a_lone_ellipsoid_has_half_its_radii() {
    assert_area(&format!("Blobby 1 [1001 0] [{}] [\"\"]", matrix([1.6; 3], ORIGIN)), PI * 0.8 * 0.8 / 4.0);
    assert_area(&format!("Blobby 1 [1001 0] [{}] [\"\"]", matrix([1.8, 0.6, 1.0], ORIGIN)), PI * 0.9 * 0.3 / 4.0);
    // So does half of one that counts twice: 2 (1 - r^2)^3 is 27/64.
    let radius = (1.0 - (27.0 / 128.0_f64).cbrt()).sqrt();
    let twice = format!("Blobby 2 [1001 0 1001 0 0 2 0 1] [{}] [\"\"]", matrix([1.2; 3], ORIGIN));
    assert_area(&twice, PI * (1.2 * radius).powi(2) / 4.0);
}

#[test]
fn operations_are_those_of_the_field() {
    let one = matrix([1.2; 3], ORIGIN);
    let radius = |field: f64| 1.2 * (1.0 - field.cbrt()).sqrt();
    let threshold = 27.0 / 64.0;
    let circle = |radius: f64| PI * radius * radius / 4.0;
    // Instructions 0 and 1 are the ellipsoid and the constant 0.25.
    let cases = [
        ("1 2 0 1", None),                            // a quarter is nowhere large enough
        ("0 2 0 1", Some(radius(threshold - 0.25))),  // sum
        ("2 2 0 1", Some(radius(threshold))),         // the larger
        ("3 2 0 1", None),                            // the smaller
        ("4 0 1", Some(radius(threshold + 0.25))),    // difference
        ("5 0 1", Some(radius(threshold * 0.25))),    // quotient
        ("6 0 6 2", Some(radius(threshold))),         // the negative of the negative
        ("7 0", Some(radius(threshold))),             // itself
        ("0 3 0 0 0", Some(radius(threshold / 3.0))), // a sum of three
        ("1 2 0 0", Some(radius(threshold.sqrt()))),  // a square
    ];
    for (operation, radius) in cases {
        let blob = format!("Blobby 2 [1001 0 1000 16 {operation}] [{one} 0.25] [\"\"]");
        match radius {
            Some(radius) => assert_area(&blob, circle(radius)),
            None => {
                let drawn = draw(&format!("{OPTIONS}{blob}\nWorldEnd\n"));
                assert_eq!(drawn.message_count("its field is nowhere large enough"), 1, "{:?}", drawn.messages);
            }
        }
    }
}

#[test]
fn a_long_segment_is_a_cylinder_and_two_in_a_row_are_one() {
    // In the middle of a long segment of radius R the field is (1 - (r / R)^2)^3.5.
    let radius = 0.8 * (1.0 - (27.0 / 64.0_f64).powf(2.0 / 7.0)).sqrt();
    let unit = matrix([1.0; 3], ORIGIN);
    assert_area(&format!("Blobby 1 [1002 0] [-3 0 0 3 0 0 0.8 {unit}] [\"\"]"), radius);
    let halves =
        format!("Blobby 2 [1002 0 1002 23 0 2 0 1] [-3 0 0 0.1 0 0 0.8 {unit} 0.1 0 0 3 0 0 0.8 {unit}] [\"\"]");
    assert_area(&halves, radius);
}

#[test]
fn as_many_leaves_meet_as_those_of_a_dense_cloud() {
    let (leaves, order): (String, String) = (0..150).map(|i| ("1001 0 ".to_owned(), format!(" {i}"))).unzip();
    let blob = format!("Blobby 150 [{leaves} 0 150 {order}] [{}] [\"\"]", matrix([0.9; 3], ORIGIN));
    let radius = 0.9 * (1.0 - (27.0 / 64.0 / 150.0_f64).cbrt()).sqrt();
    assert_area(&blob, PI * radius * radius / 4.0);
}

#[test]
fn normals_point_outwards_and_values_belong_to_leaves() {
    let shader = ("probe.sl", "surface probe() { normal n = normalize(N); Ci = 0.5 + 0.5 * color(n); Oi = 1; }");
    let blob = format!("Blobby 1 [1001 0] [{}] [\"\"]", matrix([1.8; 3], ORIGIN));
    let options = OPTIONS.replace("constant", "probe").replace("WorldBegin", "Sides 1\nWorldBegin");
    let picture = draw_with(&[shader], &format!("{options}{blob}\nWorldEnd\n")).clean("a.exr");
    for (x, y) in (16..48).flat_map(|y| (16..48).map(move |x| (x, y))) {
        let place = |i: usize| (i as f32 + 0.5) / 32.0 - 1.0;
        let (px, py) = (place(x) / 0.9, -place(y) / 0.9);
        let wanted = [px, py, -(1.0 - px * px - py * py).sqrt()].map(|n| 0.5 + 0.5 * n);
        let near = picture.rgb(x, y).iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.02);
        assert!(near, "{:?} is not {wanted:?} at {x}, {y}", picture.rgb(x, y));
    }
    // Two apart keep their own colours; the place between two that meet has the mean.
    let pair = |at: f64| {
        let both = matrix([0.8; 3], [-at, 0.0, 0.0]) + &matrix([0.8; 3], [at, 0.0, 0.0]);
        format!("Blobby 2 [1001 0 1001 16 0 2 0 1] [{both}] [\"\"] \"vertex color Cs\" [1 0 0 0 0 1]")
    };
    let apart = draw(&format!("{OPTIONS}{}\nWorldEnd\n", pair(0.5))).clean("a.exr");
    assert_near(apart.rgb(12, 32), [1.0, 0.0, 0.0]);
    assert_near(apart.rgb(52, 32), [0.0, 0.0, 1.0]);
    let [red, green, blue] = draw(&format!("{OPTIONS}{}\nWorldEnd\n", pair(0.3))).clean("a.exr").rgb(31, 32);
    assert!((red - 0.5).abs() < 0.06 && (blue - 0.5).abs() < 0.06 && green == 0.0, "{red} {green} {blue}");
}

#[test]
fn facets_meet_without_cracks() {
    // Larger than the picture, so every sample must see it; turned, so that facets lie in every direction.
    let leaves: String = (0..12)
        .map(|k| {
            let angle = f64::from(k) * 2.4;
            matrix([1.7, 1.2, 0.8], [0.9 * angle.cos(), 0.9 * angle.sin(), 0.1 * f64::from(k % 3)])
        })
        .collect();
    let code: String = (0..12).map(|k| format!("1001 {} ", 16 * k)).collect();
    for rate in [0.2, 1.0, 6.0] {
        let blob = format!(
            "ShadingRate {rate}\nRotate 25 1 2 3\nBlobby 12 [{code} 0 12 0 1 2 3 4 5 6 7 8 9 10 11] [{leaves}] [\"\"]"
        );
        let picture = draw(&format!("{OPTIONS}{blob}\nWorldEnd\n")).clean("a.exr");
        let inside = (12..52).flat_map(|y| (12..52).map(move |x| (x, y)));
        assert_eq!(inside.filter(|(x, y)| picture.at("A", *x, *y) != 1.0).count(), 0, "rate {rate}");
    }
}

/// Where the larger, the smaller or a quotient of two fields has a crease, micropolygons are about as many as
/// elsewhere; the quotient fills the sphere in which the first is not 0, four times as large.
#[test]
fn creases_are_not_diced_finer_than_what_is_beside_them() {
    let micropolygons = |operation: &str| {
        let [left, right] = [-0.3, 0.3].map(|x| matrix([1.0; 3], [x, 0.1, 0.0]));
        let drawn = draw(&format!(
            "Format 96 96 1\nProjection \"perspective\" \"fov\" 25\nDisplay \"$DIR/a.exr\" \"file\" \"rgba\"\nWorldBegin\n\
             Translate 0 0 4\nSurface \"constant\"\nBlobby 2 [1001 0 1001 16 {operation} 0 1] [{left} {right}] [\"\"]\nWorldEnd\n"
        ));
        drawn.clean("a.exr");
        drawn.micropolygons
    };
    let smooth = micropolygons("0 2");
    for (operation, name, most) in [("2 2", "max", 2), ("3 2", "min", 2), ("5", "quotient", 4)] {
        let creased = micropolygons(operation);
        assert!(creased < most * smooth, "{name}: {creased}, and {smooth} where they are added");
    }
}

/// A picture of the depths of a ground z = `z` + `slope` x.
fn ground(projection: &str, z: f64, slope: f64) -> super::RenderedScene {
    let corner = |x: f64, y: f64| format!("{x} {y} {} ", z + slope * x);
    draw(&format!(
        "Format 48 40 1\nDisplay \"$DIR/ground.z\" \"zfile\" \"z\"\nHider \"hidden\" \"depthfilter\" \"min\"\n\
         {projection}\nWorldBegin\nPolygon \"P\" [{}]\nWorldEnd\n",
        [corner(-9.0, -9.0), corner(9.0, -9.0), corner(9.0, 9.0), corner(-9.0, 9.0)].concat()
    ))
}

/// A ball around z = 5 above a ground, seen from the ground: the world's z where it is nearest to it, pixel by pixel.
fn pushed(ground: &super::RenderedScene, shape: [f64; 4]) -> Vec<Option<f64>> {
    let map = ground.folder().join("ground.z");
    let [a, b, c, d] = shape;
    let scene = draw(&format!(
        "Format 33 33 1\nPixelSamples 1 1\nHider \"hidden\" \"int jitter\" [0]\nDisplay \"$DIR/z.exr\" \"exr\" \"z\"\n\
         ScreenWindow -1 1 -1 1\nTranslate 0 0 20\nScale 1 1 -1\nWorldBegin\nShadingRate 0.25\nTranslate 0 0 5\n\
         Blobby 2 [1001 0 1003 0 16 0 2 0 1] [{} {a} {b} {c} {d}] [\"{}\"]\nWorldEnd\n",
        matrix([1.6; 3], ORIGIN),
        map.display()
    ));
    let picture = scene.clean("z.exr");
    let depths = picture.channel("Z");
    depths.iter().map(|depth| (*depth < 1e6).then(|| 20.0 - f64::from(*depth))).collect()
}

#[test]
fn a_ground_pushes_a_blob_away_by_the_heights_above_it() {
    let [a, b, c, d]: [f64; 4] = [1.5, 0.02, 0.3, 0.1];
    let field = |r: f64| {
        let z = 0.6 - r;
        let (bump, s) = (z / c, z / a);
        let bump = if bump < 2.0 { (((6.0 - bump) * bump - 12.0) * bump + 8.0) * bump.powi(3) } else { 0.0 };
        (1.0 - (r / 1.6).powi(2)).powi(3) + (d * bump - b / z) * (1.0 - s * s * (3.0 - 2.0 * s))
    };
    let (mut low, mut high) = (0.0, 0.6);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if field(middle) > 27.0 / 64.0 { low = middle } else { high = middle }
    }
    let middle = 16 * 33 + 16;
    for projection in ["ScreenWindow -2 2 -2 2", "Projection \"perspective\" \"fov\" 60"] {
        let flat = ground(projection, 5.6, 0.0);
        let found = pushed(&flat, [a, b, c, d])[middle].expect("the ball is there");
        assert!((found - (5.0 + low)).abs() < 2e-3, "{projection}: {found} is not {}", 5.0 + low);
        let sloping = ground(projection, 5.55, 0.2);
        let heights = pushed(&sloping, [a, b, c, d]);
        let seen: Vec<(usize, f64)> = (0..).zip(heights).filter_map(|(i, z)| Some((i, z?))).collect();
        assert!(seen.len() > 300, "{}", seen.len());
        let above = |&(i, z): &(usize, f64)| 5.55 + 0.2 * (((i % 33) as f64 - 16.0) / 16.5) - z;
        let least = seen.iter().map(above).fold(f64::INFINITY, f64::min);
        assert!((0.005..0.2).contains(&least), "{projection}: {least} above the ground");
    }
    // What is higher than A is as it would be.
    let far = pushed(&ground("ScreenWindow -2 2 -2 2", 9.0, 0.0), [a, b, c, d]);
    assert!((far[middle].expect("the ball is there") - 5.8).abs() < 1e-3);
}

#[test]
fn a_ground_may_be_the_picture_of_the_frame_before() {
    let frames = format!(
        "FrameBegin 1\nFormat 32 32 1\nScreenWindow -2 2 -2 2\nDisplay \"$DIR/ground.z\" \"zfile\" \"z\"\nWorldBegin\n\
         Polygon \"P\" [-9 -9 5.2 9 -9 5.2 9 9 5.2 -9 9 5.2]\nWorldEnd\nFrameEnd\nFrameBegin 2\n{OPTIONS}\
         Blobby 2 [1001 0 1003 0 16 0 2 0 1] [{} 9 .05 .1 0] [\"$DIR/ground.z\"]\nWorldEnd\nFrameEnd\n",
        matrix([1.6; 3], ORIGIN)
    );
    let picture = draw(&frames).clean("a.exr");
    // Pushed away, it is less broad than alone.
    let covered: f32 = picture.channel("A").iter().sum::<f32>() / 4096.0;
    assert!((0.2..0.45).contains(&covered), "{covered}");
}

#[test]
fn grounds_of_a_motion_have_equally_many_depths() {
    let world = |name: &str, size: &str, z: f64| {
        format!(
            "FrameBegin 1\nFormat {size} 1\nScreenWindow -2 2 -2 2\nDisplay \"$DIR/{name}\" \"zfile\" \"z\"\nWorldBegin\n\
             Polygon \"P\" [-9 -9 {z} 9 -9 {z} 9 9 {z} -9 9 {z}]\nWorldEnd\nFrameEnd\n"
        )
    };
    let blob = |name: &str| {
        let leaf = matrix([1.6; 3], ORIGIN);
        format!("Blobby 2 [1001 0 1003 0 16 0 2 0 1] [{leaf} 9 .05 .1 0] [\"$DIR/{name}\"]")
    };
    for (size, wrong) in [("16 16", false), ("20 16", true)] {
        let maps = world("a.z", "16 16", 5.2) + &world("b.z", size, 5.3);
        let moving = format!("MotionBegin [0 1]\n{}\n{}\nMotionEnd", blob("a.z"), blob("b.z"));
        let scene = draw(&format!("{maps}FrameBegin 2\nShutter 0 1\n{OPTIONS}{moving}\nWorldEnd\nFrameEnd\n"));
        assert_eq!(!scene.messages.is_empty(), wrong, "{size}: {:?}", scene.messages);
    }
}

#[test]
fn a_ground_that_is_not_there_counts_as_nothing() {
    let blob = |name: &str| {
        format!(
            "{OPTIONS}Blobby 2 [1001 0 1003 0 16 0 2 0 1] [{} 1 1 1 1] [{name}]\nWorldEnd",
            matrix([1.6; 3], ORIGIN)
        )
    };
    let scene = draw(&blob("\"nowhere.z\""));
    assert!(scene.messages[0].contains("there is no picture of depths \"nowhere.z\""), "{:?}", scene.messages);
    let covered: f32 = scene.picture("a.exr").channel("A").iter().sum();
    assert!((f64::from(covered) / 4096.0 - PI * 0.64 / 4.0).abs() < 0.01, "{covered}");
    let scene = draw(&blob(""));
    assert!(scene.messages[0].contains("its depths are in string 0, and there are 0"), "{:?}", scene.messages);
}
