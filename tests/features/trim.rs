//! Trim curves: how much of a surface is left, on which side, in every kind of picture.

use super::{assert_near, draw, draw_as, draw_with};
use anthill::pipeline::plan::NamedPipeline;

/// A frame of 64x64 pixels with 8x8 samples each, and the square from -1 to 1.
fn options(display: &str) -> String {
    format!(
        "Format 64 64 1\nPixelSamples 8 8\nPixelFilter \"box\" 1 1\nQuantize \"rgba\" 0 0 0 0\n\
         Display \"$DIR/a.exr\" \"file\" \"{display}\"\nProjection \"orthographic\"\nScreenWindow -1 1 -1 1\n\
         WorldBegin\nTranslate 0 0 5\nSurface \"constant\"\n"
    )
}

/// A square that fills the picture; u and v run from -1 to 3 and from 0 to 1.
const SQUARE: &str =
    "NuPatch 3 2 [-1 -1 1 3 3] -1 3 2 2 [0 0 1 1] 0 1 \"P\" [-1 -1 0  0 -1 0  1 -1 0  -1 1 0  0 1 0  1 1 0]\n";

fn text(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(|value| format!("{value} ")).collect()
}

/// The arguments of `TrimCurve` for one circle of the square, around (x, y), with its points in homogeneous form.
fn circle([x, y]: [f64; 2], radius: f64) -> String {
    let corners = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1], [1, 0]];
    let weight = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 0.5_f64.sqrt() };
    let at = |i: usize, axis: usize| [x, y][axis] + radius * f64::from(corners[i][axis]);
    let u = text((0..9).map(|i| (2.0 * (at(i, 0) + 1.0) - 1.0) * weight(i)));
    let v = text((0..9).map(|i| 0.5 * (at(i, 1) + 1.0) * weight(i)));
    let w = text((0..9).map(weight));
    let knots = "0 0 0 .25 .25 .5 .5 .75 .75 1 1 1";
    format!("TrimCurve [1] [3] [{knots}] [0] [1] [9] [{u}] [{v}] [{w}]\n")
}

/// The corners of two squares, of half the size and of a quarter, as loops of one curve and of four.
const FRAME: &str = "TrimCurve [1 4] [2 2 2 2 2] [0 0 1 2 3 4 4  0 0 1 1  0 0 1 1  0 0 1 1  0 0 1 1] [0 0 0 0 0] \
    [4 1 1 1 1] [5 2 2 2 2] [0 2 2 0 0  .5 1.5 1.5 1.5 1.5 .5 .5 .5] \
    [.25 .25 .75 .75 .25  .375 .375 .375 .625 .625 .625 .625 .375] [1 1 1 1 1 1 1 1 1 1 1 1 1]\n";

/// The part of the picture that a scene covers.
fn area(rib: &str) -> f64 {
    let picture = draw(&format!("{}{rib}WorldEnd\n", options("rgba"))).clean("a.exr");
    picture.channel("A").iter().map(|a| f64::from(*a)).sum::<f64>() / 4096.0
}

#[track_caller]
fn assert_area(rib: &str, wanted: f64) {
    let found = area(rib);
    assert!((found - wanted).abs() < 1e-3, "{found} is not {wanted}");
}

#[test]
fn a_disc_has_its_area_and_its_complement_the_rest() {
    let disc = std::f64::consts::PI * 0.6 * 0.6 / 4.0;
    let trim = circle([0.1, -0.2], 0.6);
    assert_area(&format!("{trim}{SQUARE}"), disc);
    assert_area(&format!("Attribute \"trimcurve\" \"sense\" \"inside\"\n{trim}{SQUARE}"), disc);
    assert_area(&format!("Attribute \"trimcurve\" \"sense\" \"outside\"\n{trim}{SQUARE}"), 1.0 - disc);
    // Coarse micropolygons cut as finely as small ones.
    assert_area(&format!("ShadingRate 100\n{trim}{SQUARE}"), disc);
}

#[test]
fn loops_within_loops_are_holes() {
    assert_area(&format!("{FRAME}{SQUARE}"), 0.25 - 0.0625);
    assert_area(&format!("Attribute \"trimcurve\" \"sense\" \"outside\"\n{FRAME}{SQUARE}"), 0.75 + 0.0625);
}

#[test]
fn trimming_ends_with_its_block_or_with_no_loops() {
    let trim = circle([0.0, 0.0], 0.5);
    assert_area(&format!("AttributeBegin\n{trim}AttributeEnd\n{SQUARE}"), 1.0);
    assert_area(&format!("{trim}TrimCurve [] [] [] [] [] [] [] [] []\n{SQUARE}"), 1.0);
    // It trims nothing but NURBS.
    assert_area(&format!("{trim}Patch \"bilinear\" \"P\" [-1 -1 0 1 -1 0 -1 1 0 1 1 0]\n"), 1.0);
}

#[test]
fn a_loop_partly_outside_of_the_surface_cuts_what_is_inside() {
    // A quarter of the disc is on the square.
    assert_area(&format!("{}{SQUARE}", circle([1.0, 1.0], 1.2)), std::f64::consts::PI * 1.44 / 4.0 / 4.0);
}

/// A bent surface that runs away from the eye, of 2x2 patches, with its two sides of a wavy loop.
fn bent(sense: &str, more: &str) -> String {
    let point = |k: i32| {
        let (i, j) = (f64::from(k % 5), f64::from(k / 5));
        let (x, y, z) = (i / 2.0 - 1.0, j / 2.0 - 1.0, 1.0 + 0.5 * j + 0.4 * i.sin());
        format!("{} {} {z} ", 2.0 * x * z, 2.0 * y * z)
    };
    let points: String = (0..25).map(point).collect();
    let loops = "TrimCurve [1] [4] [0 0 0 0 1 2 3 4 4 4 4] [0] [4] [7] [.1 .5 1.3 .8 .6 -.3 .1] \
        [.1 -.2 .3 .6 1.2 .8 .1] [1 1 1 1 1 1 1]";
    let knots = "[0 0 0 0 .5 1 1 1 1] 0 1";
    format!(
        "Attribute \"trimcurve\" \"sense\" \"{sense}\"\n{loops}\n{more}NuPatch 5 4 {knots} 5 4 {knots} \"P\" [{points}]\n"
    )
}

#[test]
fn the_two_sides_of_a_loop_meet_without_a_crack_and_do_not_overlap() {
    let options = options("rgba").replace("orthographic", "perspective").replace("Translate 0 0 5", "Translate 0 0 1");
    let draw_all = |rates: [f64; 2], more: &str| {
        let side = |sense: &str, rate: f64| bent(sense, &format!("ShadingRate {rate}\n{more}"));
        let scene = |parts: &str| {
            let picture = draw(&format!("{options}{parts}WorldEnd\n")).clean("a.exr");
            picture.channel("A").to_vec()
        };
        let (inside, outside) = (side("inside", rates[0]), side("outside", rates[1]));
        [scene(&inside), scene(&outside), scene(&format!("{inside}{outside}"))]
    };
    let [inside, outside, both] = draw_all([1.0, 1.0], "");
    let untrimmed = bent("inside", "TrimCurve [] [] [] [] [] [] [] [] []\n");
    let whole = draw(&format!("{options}{untrimmed}WorldEnd\n")).clean("a.exr").channel("A").to_vec();
    assert_eq!(both, whole, "there is no crack");
    let sides = inside.iter().zip(&outside).map(|(a, b)| a + b);
    assert!(sides.zip(&whole).all(|(sides, whole)| sides == *whole), "each sample sees one side");
    assert!(inside.iter().filter(|a| **a == 1.0).count() > 300 && outside.iter().filter(|a| **a == 1.0).count() > 300);
    // Translucent layers are trimmed as opaque ones are.
    let [thin, _, thin_both] = draw_all([1.0, 1.0], "Opacity [.5 .5 .5]\n");
    assert!(thin.iter().zip(&inside).all(|(a, b)| (2.0 * a - b).abs() < 1e-3));
    assert!(thin_both.iter().zip(&whole).all(|(a, b)| (2.0 * a - b).abs() < 1e-3), "nowhere two layers");
}

#[test]
fn depths_and_variables_know_nothing_of_the_loops() {
    let shader = ("probe.sl", "surface probe(varying float k = 0) { Ci = color(u, v, 0.5 + 0.5 * k); Oi = 1; }");
    let variable = "\"varying float k\" [-1 0 1  -1 0 1]";
    let surface = format!("Surface \"probe\"\n{}", SQUARE.replace("\"P\"", &format!("{variable} \"P\"")));
    let picture =
        |trim: &str| draw_with(&[shader], &format!("{}{trim}{surface}WorldEnd\n", options("rgba"))).clean("a.exr");
    let (whole, cut) = (picture(""), picture(&circle([0.0, 0.0], 0.8)));
    for (x, y) in (18..46).flat_map(|y| (18..46).map(move |x| (x, y))) {
        assert_near(cut.rgb(x, y), whole.rgb(x, y));
    }
    let depth = |trim: &str| {
        let scene =
            format!("{}{trim}{SQUARE}WorldEnd\n", options("rgba").replace("\"file\" \"rgba\"", "\"zfile\" \"z\""));
        draw(&scene).clean("a.exr").channel("Z").to_vec()
    };
    let cut = depth(&circle([0.0, 0.0], 0.7));
    assert!((cut[32 * 64 + 32] - 5.0).abs() < 1e-3 && cut[0] > 1e30, "{} and {}", cut[32 * 64 + 32], cut[0]);
}

/// Opaque and translucent, still and moving, clipped, and with depths that are midpoints.
#[test]
fn samples_that_are_shared_out_are_trimmed_to_the_same_bits() {
    let circle = circle([0.1, -0.1], 0.6);
    let moving = "MotionBegin [0 .4 1]\nTranslate 0 0 0\nTranslate .5 .2 -.5\nTranslate .8 -.3 .4\nMotionEnd\n";
    let kinds =
        ["", "Opacity [.5 .5 .5]\n"].into_iter().flat_map(|opacity| ["", moving].map(|motion| (opacity, motion)));
    let placed = |(i, (opacity, motion)): (usize, (&str, &str))| {
        let (x, z) = (0.3 * i as f64 - 0.4, 0.4 * i as f64);
        format!("AttributeBegin\n{opacity}Translate {x} 0 {z}\nRotate 30 0 1 0\n{motion}{circle}{SQUARE}AttributeEnd\n")
    };
    let surfaces: String = kinds.enumerate().map(placed).collect();
    let options = options("rgbaz").replace("Format 64 64", "Format 24 24").replace("Samples 8 8", "Samples 2 2");
    let planes = "ClippingPlane 0.1 0 5.2 0.6 0 1\n";
    let midpoint = "Hider \"hidden\" \"depthfilter\" \"midpoint\"\n";
    // Some micropolygons are so large that a second pass goes on with them.
    let large = "PixelSamples 16 16\nShadingRate 256\n";
    for before in [large.into(), planes.into(), midpoint.into(), format!("{planes}{midpoint}")] {
        let scene = format!(
            "Shutter 0 1\n{}{surfaces}WorldEnd\n",
            options.replace("WorldBegin", &format!("{before}WorldBegin"))
        );
        let [one, shared] = ["one-batch", "one-batch-expanded"].map(|name| {
            let named = NamedPipeline::find(name);
            let drawn = draw_as(&[], &scene, &|options| options.pipelines.named = named);
            drawn.clean("a.exr")
        });
        for channel in ["R", "A", "Z"] {
            assert!(one.channel(channel) == shared.channel(channel), "{before}{channel}");
        }
        let covered = one.channel("A").iter().filter(|a| **a > 0.0).count();
        assert!((50..576).contains(&covered), "{covered}");
    }
}
