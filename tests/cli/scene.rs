//! Bad scenes: each error is explained, and everything else is rendered.

use super::{Ran, anthill, directory};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The first line of every scene: 32 by 32 pixels that show the square from -1 to 1.
const HEAD: &str = "Display \"a.exr\" \"exr\" \"rgba\" Format 32 32 1 PixelFilter \"box\" 1 1 PixelSamples 4 4 Translate 0 0 5 \
                    WorldBegin Surface \"constant\"\n";

/// A good sphere, which is rendered whatever else is wrong.
const BALL: &str = "Sphere 0.5 -0.5 0.5 360\n";

/// The area of the sphere in pixels, which is pi/16 of the picture.
const BALL_PIXELS: f64 = 201.06;

/// Renders a scene whose lines from the second on are `body`.
fn render(directory: &Path, body: &str, flags: &[&str]) -> Ran {
    fs::write(directory.join("a.rib"), format!("{HEAD}{body}WorldEnd\n")).expect("writable");
    anthill(directory, &[&["render", "a.rib"], flags].concat())
}

/// The sum of alpha over all pixels of a picture.
fn covered(picture: &Path) -> f64 {
    let image = exr::prelude::read_first_flat_layer_from_file(picture).expect("an OpenEXR picture");
    let alpha = image.layer_data.channel_data.list.iter().find(|channel| channel.name.eq("A")).expect("alpha");
    alpha.sample_data.values_as_f32().map(f64::from).sum()
}

/// Renders a bad scene. It must print these messages, render the good sphere, and exit with 0.
fn check(body: &str, expected: &[&str]) {
    let directory = directory();
    fs::write(directory.path().join("bad.sl"), "surface bad() {\n    Ci = Cs * nothing;\n}\n").expect("writable");
    let ran = render(directory.path(), body, &["--validate"]);
    assert_eq!(ran.messages(), expected, "{body}");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{body}");
    let covered = covered(&directory.path().join("a.exr"));
    assert!((covered - BALL_PIXELS).abs() < 4.0, "{body}: {covered} pixels are covered");
    let survived = expected.iter().filter(|line| line.contains(": error: ")).count();
    assert!(survived == 0 || ran.err.contains(" survived\n"), "{}", ran.err);
}

#[test]
fn broken_requests_are_skipped() {
    let unknown = [
        "a.rib:2:1: error: unknown request Bogus [unregistered]",
        "  help: everything up to the next request is skipped",
    ];
    check(&format!("Bogus 1 2 \"x\" [3]\nBogus\n{BALL}"), &unknown);
    check(
        &format!("Sphere 0.5 -0.5 0.5\n{BALL}"),
        &["a.rib:2:1: error: Sphere lacks arguments: expected 4 numbers, found 3 [syntaxerror]"],
    );
    let open = [
        "a.rib:3:1: error: Surface: a request inside an array of numbers or strings [syntaxerror]",
        "  help: the array begins at line 2, column 22; is its ] missing?",
    ];
    check(&format!("Surface \"matte\" \"Kd\" [0.5\n{BALL}"), &open);
    let nesting = [
        "a.rib:4:1: error: FrameEnd without FrameBegin [nesting]",
        "  help: the innermost open block is AttributeBegin at a.rib:3:1",
        "a.rib:5:1: error: AttributeBegin at a.rib:3:1 is still open at WorldEnd [nesting]",
        "  help: it is closed here",
    ];
    check(&format!("{BALL}AttributeBegin\nFrameEnd\n"), &nesting);
}

/// Requests that this version does not support get one warning, however often they occur.
#[test]
fn unsupported_requests_are_named_once() {
    let volume = "Volume \"box\" [-1 1 -1 1 -1 1] [0 0 0]\n";
    let expected = ["a.rib:2:1: warning: Volume: volume primitives are not supported and are left out [unimplement]"];
    check(&format!("{volume}{volume}{BALL}"), &expected);
}

/// The default surface replaces them. There is one message for a name, however often it is used.
#[test]
fn unknown_shaders_are_replaced() {
    let body = format!("Surface \"nosuch\"\n{BALL}Translate 0 0 1 Surface \"nosuch\"\n{BALL}");
    let expected = [
        "a.rib:2:1: error: there is no surface shader \"nosuch\" [noshader]",
        "  help: looked for nosuch.sl in .; Option \"searchpath\" \"shader\" sets where to look",
    ];
    check(&body, &expected);
    check(
        &format!("Surface \"distantlight\"\n{BALL}"),
        &["a.rib:2:1: error: \"distantlight\" is a light shader, not a surface shader [noshader]"],
    );
}

#[test]
fn errors_in_shaders_point_at_their_source() {
    let expected = [
        "./bad.sl:2:15: error: unknown variable `nothing` [rsl]",
        " --> ./bad.sl:2:15",
        "  |",
        "2 |     Ci = Cs * nothing;",
        "  |               ^^^^^^^ not found",
    ];
    check(&format!("Surface \"bad\"\n{BALL}Translate 0 0 1 Surface \"bad\"\n{BALL}"), &expected);
}

#[test]
fn parameters_that_do_not_fit_are_left_out() {
    let expected = [
        "a.rib:2:34: error: Surface: \"Kd\" takes numbers, not a string [badargument]",
        "a.rib:2:1: warning: shader \"matte\" has no parameter \"nosuch\" [badtoken]",
        "  help: it has Ka, Kd",
    ];
    check(&format!("Surface \"matte\" \"float nosuch\" 3 \"Kd\" \"x\"\n{BALL}"), &expected);
}

#[test]
fn numbers_that_are_not_finite_leave_only_their_primitive_out() {
    let expected = ["a.rib:2:1: note: Polygon is left out: a position is not a finite number [math]"];
    check(&format!("Polygon \"P\" [0 0 0 1 0 0 nan 1 0]\nPolygon \"P\" [0 0 0 1 0 0 0 1e999 0]\n{BALL}"), &expected);
    check(
        &format!("Sphere nan -0.5 0.5 360\n{BALL}"),
        &["a.rib:2:8: error: Sphere: a number here is not finite [math]"],
    );
}

#[test]
fn transformations_that_flatten_are_ignored() {
    let expected = [
        "a.rib:2:1: error: Scale: this transformation cannot be inverted and is ignored [math]",
        "  help: it flattens everything to a plane, a line or a point",
        "a.rib:3:1: error: ConcatTransform: this transformation cannot be inverted and is ignored [math]",
        "  help: it flattens everything to a plane, a line or a point",
    ];
    check(&format!("Scale 0 1 1\nConcatTransform [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]\n{BALL}"), &expected);
}

#[test]
fn strict_makes_survived_errors_count() {
    let directory = directory();
    assert_eq!(render(directory.path(), &format!("Bogus\n{BALL}"), &["--strict"]).code, Some(1));
    assert_eq!(render(directory.path(), BALL, &["--strict"]).code, Some(0));
}

/// Options that are out of range are clamped.
#[test]
fn bad_options_are_clamped() {
    let directory = directory();
    let scene = format!("PixelSamples 0 0\n{}{BALL}WorldEnd\n", HEAD.replace("PixelSamples 4 4 ", ""));
    fs::write(directory.path().join("a.rib"), scene).expect("writable");
    let ran = anthill(directory.path(), &["render", "a.rib"]);
    assert_eq!(ran.messages(), ["a.rib:1:1: error: PixelSamples 0 0: clamped to 1 1 [range]"]);
    assert_eq!(ran.code, Some(0));
    assert!((covered(&directory.path().join("a.exr")) - BALL_PIXELS).abs() < 10.0);
}

/// Shaders are found in the folders of `--shaders` and `ANTHILL_SHADERS`; `--option` sets options, `-d` the driver.
#[test]
fn flags_that_people_know_from_other_renderers() {
    let directory = directory();
    fs::create_dir_all(directory.path().join("lib/more")).expect("writable");
    let shader = "surface only_here() { Ci = (0, 1, 0); Oi = 1; }\n";
    fs::write(directory.path().join("lib/more/only_here.sl"), shader).expect("writable");
    let body = format!("Surface \"only_here\"\n{BALL}");
    let is_missing = |ran: &Ran| ran.err.contains("there is no surface shader \"only_here\"");
    assert!(is_missing(&render(directory.path(), &body, &[])));
    let found = render(directory.path(), &body, &["--shaders", "lib:lib/more", "-q", "-t", "1"]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""));
    let variable = [("ANTHILL_SHADERS", OsStr::new("lib/more"))];
    let ran = super::run(directory.path(), &["render", "a.rib", "-v"], &variable, "");
    assert!(ran.code == Some(0) && !is_missing(&ran), "{}", ran.err);
    assert!(ran.err.contains("note: rendering on device ") && ran.err.contains(" regions, "), "{}", ran.err);
    let flags = ["-d", "png", "--option", "Exposure 0.5 1 Quantize \"rgba\" 255 0 255 0", "-q"];
    let ran = render(directory.path(), &body, &flags);
    assert!(is_missing(&ran) && !ran.err.contains("anthill: a.exr"), "{}", ran.err);
    let bytes = fs::read(directory.path().join("a.exr")).expect("written");
    assert!(bytes.starts_with(b"\x89PNG"), "the name stays");
}

/// The most samples per pixel that a scene may ask for, too.
#[test]
fn a_pixel_may_have_65536_samples() {
    let directory = directory();
    let ran = render(directory.path(), BALL, &["--samples", "256", "256", "--crop", "0.4", "0.5", "0.4", "0.5"]);
    assert_eq!((ran.code, ran.messages()), (Some(0), vec![]), "{}", ran.err);
}
