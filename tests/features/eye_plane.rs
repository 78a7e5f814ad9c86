//! What moves past the eye, or far out of the picture: it is seen for as long as it is in front of the eye and inside
//! of the picture, and is cut no finer than it must be then. What is broader than it is far from the eye is seen too.

use super::{RenderedScene, draw};

const SIZE: usize = 24;
/// The tangent of half the field of view.
const HALF: f64 = 0.5;

/// A square picture with 8x8 samples a pixel of a thing that moves.
fn moving(options: &str, thing: &str) -> RenderedScene {
    let fov = 2.0 * HALF.atan().to_degrees();
    draw(&format!(
        "Format {SIZE} {SIZE} 1\nPixelSamples 8 8\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Shutter 0 1\nProjection \"perspective\" \"fov\" {fov}\n{options}\nWorldBegin\nSurface \"constant\"\n{thing}\nWorldEnd\n"
    ))
}

/// A square of half-size 1/2 whose depth changes by `slope` per unit of x goes from depth 2 to -0.2. A ray (u, v, 1)
/// meets it at depth z / (1 - slope u) while it is at z, inside of it as long as that is less than
/// 1 / (2 max(|u|, |v|)) and not before hither.
fn assert_passes_the_eye(near: f64, attributes: &str, slope: f64, opacity: f64) {
    let (from, to) = (2.0, -0.2);
    let corner = |x: f64, y: f64| format!("{x} {y} {} ", slope * x);
    let corners = [corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)].concat();
    let motion = format!("MotionBegin [0 1]\nTranslate 0 0 {from}\nTranslate 0 0 {to}\nMotionEnd");
    let clipping = format!("Clipping {near} 100");
    let drawn = moving(&clipping, &format!("{attributes}\n{motion}\nPolygon \"P\" [{corners}]"));
    let picture = drawn.clean("a.exr");
    assert!(drawn.micropolygons < 40_000, "{} micropolygons", drawn.micropolygons);
    let tangent = |at: usize| ((at as f64 + 0.5) / SIZE as f64 * 2.0 - 1.0) * HALF;
    let mut differences = 0.0;
    for y in 0..SIZE {
        for x in 0..SIZE {
            let (u, v) = (tangent(x), -tangent(y));
            let slant = 1.0 - slope * u;
            let seen = ((0.5 * slant / u.abs().max(v.abs())).min(from) - near * slant).max(0.0) / (from - to) * opacity;
            let difference = f64::from(picture.at("A", x, y)) - seen;
            assert!(difference.abs() < 0.08, "({x}, {y}): {seen} off by {difference}");
            differences += difference;
        }
    }
    let mean = differences / (SIZE * SIZE) as f64;
    assert!(mean.abs() < 0.003, "{mean}");
}

#[test]
fn a_square_passes_the_eye() {
    assert_passes_the_eye(1e-6, "", 0.0, 1.0);
    assert_passes_the_eye(1.0, "", 0.0, 1.0);
}

#[test]
fn a_tilted_square_is_partly_behind_the_eye_when_the_shutter_closes() {
    assert_passes_the_eye(1e-6, "", 0.6, 1.0);
    assert_passes_the_eye(1.0, "", 0.6, 1.0);
    assert_passes_the_eye(1e-6, "Opacity .5 .5 .5", 0.6, 0.5);
}

/// The eye passes between balls, none of which it meets.
#[test]
fn balls_beside_the_way_of_the_eye_are_cut_no_finer_than_they_are_seen() {
    let ball = |x: f64| format!("TransformBegin Translate {x} -.6 0 Sphere .4 -.4 .4 360 TransformEnd\n");
    let balls = [ball(-1.0), ball(1.0)].concat();
    let drawn = moving("", &format!("MotionBegin [0 1]\nTranslate 0 0 4\nTranslate 0 0 -.1\nMotionEnd\n{balls}"));
    let picture = drawn.clean("a.exr");
    assert!(drawn.micropolygons < 30_000, "{} micropolygons", drawn.micropolygons);
    for x in 0..SIZE {
        let (left, right) = (picture.at("A", x, SIZE - 3), picture.at("A", SIZE - 1 - x, SIZE - 3));
        assert!((left - right).abs() < 0.1, "{x}: {left} and {right}");
    }
    assert!(picture.at("A", 1, SIZE - 3) > 0.05 && picture.at("A", SIZE / 2, SIZE / 2) == 0.0);
}

/// A square of side 1 at depth 2 is in the picture for a ten thousandth of its way.
#[test]
fn what_goes_far_out_of_the_picture_is_cut_no_finer_than_in_it() {
    let way = "MotionBegin [0 1]\nTranslate -.5 0 2\nTranslate 1e4 0 2\nMotionEnd";
    let drawn = moving("", &format!("{way}\nTranslate 0 0 .5\nSphere .5 -.5 .5 360"));
    let alpha = drawn.clean("a.exr").channel("A").iter().sum::<f32>();
    assert!(drawn.micropolygons < 10_000, "{} micropolygons", drawn.micropolygons);
    assert!(alpha < 2.0, "{alpha}");
}

/// What covers the picture has none of its borders in it, and a ball's outline may be far from any line that is
/// measured.
#[test]
fn what_is_larger_than_the_picture_is_as_fine_as_where_it_stands_still() {
    let things =
        ["Polygon \"P\" [-9 -9 0 9 -9 0 9 9 0 -9 9 0]", "Translate 0 -40 20\nRotate 45 0 0 1\nSphere 40 -40 40 360"];
    for thing in things {
        let way = |end: f64| format!("MotionBegin [0 1]\nTranslate 0 0 2\nTranslate {end} 0 2\nMotionEnd\n{thing}");
        let [moves, stands] = [0.05, 0.0].map(|end| moving("", &way(end)));
        let covered = |drawn: &RenderedScene| drawn.clean("a.exr").channel("A").iter().sum::<f32>();
        assert!(moves.micropolygons * 2 > stands.micropolygons, "{thing}: {} micropolygons", moves.micropolygons);
        let (found, expected) = (covered(&moves), covered(&stands));
        assert!((found - expected).abs() < 0.02 * expected && expected > 50.0, "{thing}: {found} of {expected}");
    }
}

/// A picture of something that stands still.
fn still(thing: &str) -> RenderedScene {
    let fov = 2.0 * HALF.atan().to_degrees();
    draw(&format!(
        "Format {SIZE} {SIZE} 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Projection \"perspective\" \"fov\" {fov}\nWorldBegin\nSurface \"constant\"\n{thing}\nWorldEnd\n"
    ))
}

#[test]
fn points_and_curves_broader_than_they_are_far_away_fill_the_picture() {
    let point = |width: f64, more: &str| format!("Points \"P\" [0 0 7] \"constantwidth\" {width} {more}");
    let square = "\"constant string type\" \"patch\"";
    let line =
        |width: f64| format!("Curves \"linear\" [2] \"nonperiodic\" \"P\" [-20 0 7 20 0 7] \"constantwidth\" {width}");
    let bent = |width: f64| {
        format!("Curves \"cubic\" [4] \"nonperiodic\" \"P\" [-20 0 7 -7 1 7 7 -1 7 20 0 7] \"constantwidth\" {width}")
    };
    let of = |width: f64| [point(width, ""), point(width, square), line(width), bent(width)];
    for width in [12.0, 13.0, 14.0, 60.0] {
        for thing in of(width) {
            let drawn = still(&thing);
            let picture = drawn.clean("a.exr");
            assert!(picture.channel("A").iter().all(|alpha| *alpha == 1.0), "{thing}");
            assert!(drawn.micropolygons < 60_000, "{thing}: {} micropolygons", drawn.micropolygons);
        }
    }
}

#[test]
fn points_behind_the_eye_and_at_it_cost_nothing() {
    for place in ["0 0 -.01", "0 0 -1e-5", "0 0 5e-7", ".3 .2 -.1"] {
        let drawn = still(&format!("Points \"P\" [{place}] \"constantwidth\" 0.05"));
        assert_eq!(drawn.picture("a.exr").channel("A").iter().sum::<f32>(), 0.0, "{place}");
        assert_eq!(drawn.micropolygons, 0, "{place}");
        assert_eq!(drawn.message_count("eyesplits"), 0, "{place}: {:?}", drawn.messages);
    }
}
