//! Widths of curves and points: lengths in object space, transformed as everything there (RISpec 5.5, 5.6).

use super::{ExrChannels, draw};

/// A picture of 64 x 64 pixels, 8 of them a unit.
fn drawn(objects: &str) -> ExrChannels {
    let scene = draw(&format!(
        "Format 64 64 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Projection \"orthographic\"\nScreenWindow -4 4 -4 4\nTranslate 0 0 9\nWorldBegin\nSurface \"constant\"\n{objects}\nWorldEnd\n"
    ));
    scene.clean("a.exr")
}

/// Pixels covered in the column at x.
fn column(picture: &ExrChannels, x: usize) -> f32 {
    (0..64).map(|y| picture.at("A", x, y)).sum()
}

/// Pixels covered in the row at y.
fn row(picture: &ExrChannels, y: usize) -> f32 {
    (0..64).map(|x| picture.at("A", x, y)).sum()
}

#[test]
fn a_curve_is_as_wide_as_the_transformation_makes_it_across() {
    let along_x = "Curves \"linear\" [2] \"nonperiodic\" \"P\" [-1 0 0 1 0 0] \"constantwidth\" 1";
    let along_y = "Curves \"linear\" [2] \"nonperiodic\" \"P\" [0 -1 0 0 1 0] \"constantwidth\" 1";
    for (scale, rows, columns) in
        [("2 2 2", 16.0, 16.0), ("3 2 2", 16.0, 24.0), ("2 2 5", 16.0, 16.0), ("3 -1 -2", 8.0, 24.0)]
    {
        for normal in ["", " \"N\" [0 0 -1 0 0 -1]", " \"N\" [0 0 1 0 0 1]"] {
            let got = column(&drawn(&format!("Scale {scale}\n{along_x}{normal}")), 32);
            assert!((got - rows).abs() < 0.1, "{scale}{normal}: {got} rows");
            let got = row(&drawn(&format!("Scale {scale}\n{along_y}{normal}")), 32);
            assert!((got - columns).abs() < 0.1, "{scale}{normal}: {got} columns");
        }
    }
}

#[test]
fn a_vertex_width_of_a_cubic_curve_follows_its_basis() {
    let curve =
        |width: &str| drawn(&format!("Curves \"cubic\" [4] \"nonperiodic\" \"P\" [-3 0 0 -1 0 0 1 0 0 3 0 0] {width}"));
    // In the middle a Bezier curve has 3/4 of what its inner control points say, and a quarter of its ends.
    let vertex = curve("\"vertex float width\" [1 3 3 1]");
    assert!((column(&vertex, 32) - 20.0).abs() < 0.2, "{}", column(&vertex, 32));
    let varying = curve("\"varying float width\" [1 3]");
    assert!((column(&varying, 32) - 16.0).abs() < 0.2, "{}", column(&varying, 32));
}

#[test]
fn a_point_is_as_wide_as_the_transformation_makes_it() {
    for (scale, [width, height]) in [("2 2 2", [2.0, 2.0]), ("3 2 1", [3.0, 2.0]), ("1 2 7", [1.0, 2.0])] {
        let picture = drawn(&format!("Scale {scale}\nPoints \"P\" [0 0 0] \"constantwidth\" 1"));
        let area: f32 = picture.channel("A").iter().sum();
        let wanted = std::f32::consts::FRAC_PI_4 * width * height * 64.0;
        assert!((area / wanted - 1.0).abs() < 0.02, "{scale}: {area} is not {wanted}");
        let got = [row(&picture, 32), column(&picture, 32)];
        assert!((got[0] - 8.0 * width).abs() < 0.5 && (got[1] - 8.0 * height).abs() < 0.5, "{scale}: {got:?}");
    }
}

/// A curve a tenth of a pixel wide, as wide as `min_width` pixels at least.
fn hair(min_width: &str, curve: &str) -> ExrChannels {
    let scene = draw(&format!(
        "Format 64 64 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Projection \"perspective\" \"fov\" 90\nOption \"hair\" \"minwidth\" {min_width}\nScreenWindow -4 4 -4 4\nTranslate 0 0 9\nWorldBegin\n\
         Surface \"constant\"\nColor [.5 1 0]\n{curve}\nWorldEnd\n"
    ));
    scene.clean("a.exr")
}

#[test]
fn a_hair_thinner_than_a_pixel_is_even_and_covers_what_it_would() {
    // At depth 9 a pixel is 9/8 of a unit.
    let along = |width: f32, more: &str| {
        format!("Curves \"linear\" [2] \"nonperiodic\" \"P\" [-33 .3 0 33 .3 0] \"constantwidth\" {width}{more}")
    };
    for more in ["", " \"N\" [0 0 -1 0 0 -1]"] {
        let columns = |picture: &ExrChannels, name: &str| -> Vec<f32> {
            (8..56).map(|x| (0..64).map(|y| picture.at(name, x, y)).sum()).collect()
        };
        let wide = hair("1.5", &along(0.1125, more));
        for (name, wanted) in [("A", 0.1), ("R", 0.05), ("G", 0.1), ("B", 0.0)] {
            let found = columns(&wide, name);
            assert!(found.iter().all(|sum| (sum - wanted).abs() <= 0.15 * wanted), "{name}{more}: {found:?}");
        }
        // Dots without it: many columns have no sample on a hair that is narrower than they lie apart.
        let own = columns(&hair("0", &along(0.045, more)), "A");
        assert!(own.contains(&0.0), "{more}: {own:?}");
        // What is wider stays as it is.
        assert_eq!(hair("1.5", &along(2.25, more)).channel("A"), hair("0", &along(2.25, more)).channel("A"));
    }
}

#[test]
fn a_picture_of_depth_has_hairs_of_their_own_width() {
    let depths = |min_width: &str| {
        let scene = draw(&format!(
            "Format 16 16 1\nPixelSamples 8 8\nPixelFilter \"box\" 1 1\nProjection \"perspective\" \"fov\" 90\nDisplay \"$DIR/a.z\" \"zfile\" \"z\"\n\
             Option \"curve\" \"minwidth\" {min_width}\nTranslate 0 0 9\nWorldBegin\n\
             Curves \"linear\" [2] \"nonperiodic\" \"P\" [-33 .3 0 33 .3 0] \"constantwidth\" .4\nWorldEnd\n"
        ));
        assert!(scene.messages.is_empty(), "{:?}", scene.messages);
        std::fs::read(scene.folder().join("a.z")).expect("a depth picture")
    };
    assert_eq!(depths("2"), depths("0"));
}

/// A quarter of the unit circle, as a cubic curve whose points have weights, and the points without.
fn arc() -> ([[f64; 4]; 4], [[f64; 3]; 4]) {
    let root = 0.5_f64.sqrt();
    let quadratic = [[1.0, 0.0, 0.0, 1.0], [root, root, 0.0, root], [0.0, 1.0, 0.0, 1.0]];
    let mixed = |a: [f64; 4], b: [f64; 4]| std::array::from_fn(|i| (a[i] + 2.0 * b[i]) / 3.0);
    let points = [quadratic[0], mixed(quadratic[0], quadratic[1]), mixed(quadratic[2], quadratic[1]), quadratic[2]];
    (points, points.map(|[x, y, z, w]| [x / w, y / w, z / w]))
}

fn text<const N: usize>(points: &[[f64; N]]) -> String {
    points.as_flattened().iter().map(|value| format!("{value} ")).collect()
}

#[test]
fn a_curve_with_weights_is_a_circle_and_its_vertex_values_follow_it() {
    let (weighted, plain) = arc();
    let curve = |positions: &str, more: &str| {
        format!("Curves \"cubic\" [4] \"nonperiodic\" {positions} \"constantwidth\" .1{more}")
    };
    let pw = format!("\"Pw\" [{}]", text(&weighted));
    let colours = format!(" \"vertex color Cs\" [{}]", text(&plain));
    let ribbon = format!("{colours} \"N\" [0 0 -1 0 0 -1]");
    for more in [colours, ribbon] {
        let picture = drawn(&format!("Scale 3 3 3\n{}", curve(&pw, &more)));
        let area: f32 = picture.channel("A").iter().sum();
        let wanted = 0.1 * std::f32::consts::FRAC_PI_2 * 24.0 * 24.0;
        assert!((area / wanted - 1.0).abs() < 0.01, "{area} is not {wanted}");
        for (x, y) in (0..64).flat_map(|x| (0..64).map(move |y| (x, y))) {
            let alpha = picture.at("A", x, y);
            if alpha == 0.0 {
                continue;
            }
            let (px, py) = ((x as f32 - 31.5) / 24.0, (31.5 - y as f32) / 24.0);
            let radius = px.hypot(py);
            assert!((radius - 1.0).abs() < 0.05 + 0.75 / 24.0, "({x}, {y}) is {radius} from the middle");
            if alpha == 1.0 {
                let found = ["R", "G"].map(|name| picture.at(name, x, y));
                let close = (found[0] - px / radius).abs() < 0.03 && (found[1] - py / radius).abs() < 0.03;
                assert!(close, "({px}, {py}) is {found:?}");
            }
        }
    }
    // A shape with weights at one time alone moves; what P has instead is within a hair of it here.
    let moving = format!(
        "Scale 3 3 3\nMotionBegin [0 1]\n{}\n{}\nMotionEnd",
        curve(&format!("\"P\" [{}]", text(&plain)), ""),
        curve(&pw, "")
    );
    let area: f32 = drawn(&moving).channel("A").iter().sum();
    assert!(area > 60.0, "{area}");
}
