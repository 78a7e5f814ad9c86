//! Surfaces without a shader, and what surface shaders know (RISpec 4.2).

use super::{assert_near, draw, draw_with};

const CAMERA: &str = "Format 64 64 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
     Display \"+$DIR/z.exr\" \"zfile\" \"z\"\nProjection \"orthographic\"\nScreenWindow -2 2 -2 2\nTranslate 0 0 5\nWorldBegin\n";

#[test]
fn the_null_surface_has_colour_opacity_and_depth() {
    let scene = draw(&format!("{CAMERA}Surface \"null\"\nColor 0.2 0.6 1\nSphere 1 -1 1 360\nWorldEnd\n"));
    let (colour, depth) = (scene.clean("a.exr"), scene.clean("z.exr"));
    let covered: f32 = colour.channel("A").iter().sum();
    assert!((covered - 16.0 * 16.0 * std::f32::consts::PI).abs() < 4.0, "{covered}");
    assert_near(colour.rgb(32, 32), [0.2, 0.6, 1.0]);
    assert!((depth.at("Z", 32, 32) - 4.0).abs() < 0.01, "{}", depth.at("Z", 32, 32));
}

#[test]
fn the_null_surface_is_displaced_and_translucent_like_any_other() {
    let grow = "displacement grow() { P += 0.5 * normalize(N); N = calculatenormal(P); }";
    let scene = draw_with(
        &[("grow.sl", grow)],
        &format!(
            "{CAMERA}Surface \"null\"\nDisplacement \"grow\"\nAttribute \"displacementbound\" \"sphere\" 0.5\nColor 0.2 0.6 1\n\
             Opacity 0.5 0.5 0.5\nSides 1\nSphere 1 -1 1 360\nWorldEnd\n"
        ),
    );
    let colour = scene.clean("a.exr");
    let covered: f32 = colour.channel("A").iter().sum();
    assert!((covered - 0.5 * 24.0 * 24.0 * std::f32::consts::PI).abs() < 6.0, "{covered}");
    assert_near(colour.rgb(32, 32), [0.1, 0.3, 0.5]);
}

#[test]
fn the_default_surface_falls_off_with_the_square_of_the_cosine() {
    for (degrees, wanted) in [(0.0, 1.0), (45.0, 0.6), (60.0, 0.4)] {
        let scene = draw(&format!(
            "{CAMERA}Color 1 0.5 0.25\nRotate {degrees} 0 1 0\nPolygon \"P\" [-1 -1 0 -1 1 0 1 1 0 1 -1 0]\nWorldEnd\n"
        ));
        assert_near(scene.clean("a.exr").rgb(32, 32), [wanted, 0.5 * wanted, 0.25 * wanted]);
    }
}

#[test]
fn a_mirror_flips_every_orientation() {
    // The two squares of each row are seen or not seen alike.
    let square = "Polygon \"P\" [-.5 -.5 0 .5 -.5 0 .5 .5 0 -.5 .5 0]";
    for (left, right) in [("rh", "inside"), ("lh", "outside")] {
        for mirror in ["", "Scale 1 1 -1", "Scale -1 1 1"] {
            let half = |orientation: &str, x: i32| {
                format!(
                    "AttributeBegin\nOrientation \"{orientation}\"\nTranslate {x} 0 0\n{mirror}\n{square}\nAttributeEnd\n"
                )
            };
            let scene = draw(&format!("{CAMERA}Sides 1\n{}{}WorldEnd\n", half(left, -1), half(right, 1)));
            let picture = scene.picture("a.exr");
            assert_eq!(picture.at("A", 16, 32), picture.at("A", 48, 32), "{left} {right} {mirror:?}");
        }
    }
}

#[test]
fn each_object_sees_its_own_scoped_coordinate_system() {
    let shader = "surface own(string space = \"\";) { Ci = color(xcomp(transform(space, P)), xcomp(transform(\"own\", P)), 0); Oi = 1; }";
    let square = |x: f32| {
        format!(
            "AttributeBegin\nTranslate {x} 0 0\nScopedCoordinateSystem \"own\"\nSurface \"own\" \"string space\" \"own\"\n\
             Polygon \"P\" [-.5 -.5 0 .5 -.5 0 .5 .5 0 -.5 .5 0]\nAttributeEnd\n"
        )
    };
    let scene = draw_with(&[("own.sl", shader)], &format!("{CAMERA}{}{}WorldEnd\n", square(-1.0), square(1.0)));
    let picture = scene.clean("a.exr");
    // A quarter to the right of each centre.
    for x in [20, 52] {
        let [own, literal, _] = picture.rgb(x, 32);
        assert!((own - 0.28).abs() < 0.04 && own == literal, "{own} {literal} at {x}");
    }
}
