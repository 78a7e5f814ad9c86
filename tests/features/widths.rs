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
