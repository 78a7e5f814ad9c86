//! NURBS surfaces and rational patches.

use super::{assert_near, draw, draw_with};

const OPTIONS: &str = "Format 64 64 1\nPixelSamples 2 2\nDisplay \"$DIR/a.exr\" \"file\" \"rgb\"\n\
    Quantize \"rgba\" 0 0 0 0\nProjection \"orthographic\"\nScreenWindow -1 1 -1 1\nWorldBegin\nTranslate 0 0 5\n";

/// A wavy square of 4 x 4 points.
fn points() -> String {
    let point = |k: i32| {
        let (x, y) = (f64::from(k % 4) / 1.7 - 0.9, f64::from(k / 4) / 1.7 - 0.9);
        format!("{x} {y} {} ", (5.0 * x).sin() * (4.0 * y).cos())
    };
    (0..16).map(point).collect()
}

#[test]
fn a_bezier_patch_is_the_same_picture_as_a_nu_patch() {
    let picture = |request: &str| {
        let light = "LightSource \"distantlight\" 1 \"to\" [0.4 0.3 1]\n";
        let rib = format!("{OPTIONS}{light}Surface \"plastic\"\n{request} \"P\" [{}]\nWorldEnd\n", points());
        draw(&rib).clean("a.exr").channel("R").to_vec()
    };
    let patch = picture("Patch \"bicubic\"");
    let cubic = "4 4 [0 0 0 0 1 1 1 1] 0 1";
    assert_eq!(picture(&format!("NuPatch {cubic} {cubic}")), patch);
    assert!(patch.iter().filter(|red| **red > 0.1).count() > 1000, "there is something to see");
    // B-splines, as knots at whole numbers and as a basis.
    let uniform = "4 4 [0 1 2 3 4 5 6 7] 3 4";
    let basis = "Basis \"b-spline\" 1 \"b-spline\" 1\nPatch \"bicubic\"";
    let (a, b) = (picture(&format!("NuPatch {uniform} {uniform}")), picture(basis));
    let off = a.iter().zip(&b).filter(|(a, b)| (**a - **b).abs() > 0.01).count();
    assert!(off < 5, "{off} pixels differ");
}

/// Shows by how much u, v and k are off what they should be at that place of the square; 0.5 is nothing.
const PROBE: (&str, &str) = (
    "probe.sl",
    "surface probe(varying float k = 0) {\n\
     Ci = 0.5 + color(u - 0.5 * (1 + xcomp(P)), v - 0.5 * (1 - ycomp(P)), k - (1 - abs(xcomp(P)))); Oi = 1; }",
);
/// Likewise s, t and k, which should be x.
const TEXTURED: (&str, &str) = (
    "textured.sl",
    "surface textured(varying float k = 0) {\n\
     Ci = 0.5 + color(s - (1 + xcomp(P)), t - 1.5 * (1 - ycomp(P)), k - xcomp(P)); Oi = 1; }",
);

fn check_grey(shader: (&str, &str), channels: usize, text: &str) {
    let picture = draw_with(&[shader], &format!("{OPTIONS}{text}\nWorldEnd\n")).clean("a.exr");
    for (x, y) in (2..62).flat_map(|y| (2..62).map(move |x| (x, y))) {
        let mut found = picture.rgb(x, y);
        found[channels..].fill(0.5);
        assert_near(found, [0.5; 3]);
    }
}

#[test]
fn parameters_run_over_the_whole_surface_and_variables_over_its_segments() {
    // Two segments in u, one in v, of order 2: u from 0 to 2 is x from -1 to 1.
    let surface = "NuPatch 3 2 [0 0 1 2 2] 0 2 2 2 [0 0 1 1] 0 1 \
        \"P\" [-1 1 0  0 1 0  1 1 0  -1 -1 0  0 -1 0  1 -1 0]";
    check_grey(PROBE, 3, &format!("Surface \"probe\"\n{surface} \"varying float k\" [0 1 0  0 1 0]"));
    let coordinates = "TextureCoordinates 0 0 2 0 0 3 2 3\n";
    check_grey(TEXTURED, 2, &format!("{coordinates}Surface \"textured\"\n{surface}"));
    let vertex = "\"vertex float k\" [-1 0 1  -1 0 1]";
    check_grey(TEXTURED, 3, &format!("{coordinates}Surface \"textured\"\n{surface} {vertex}"));
}

#[test]
fn a_vertex_variable_spreads_as_rational_positions_do() {
    // k is x, wherever the weights put that x; so are s and t, which are vertex variables too.
    let surface = "Patch \"bilinear\" \"Pw\" [-1 1 0 1  3 3 0 3  -2 -2 0 2  1 -1 0 1]";
    let values = "\"vertex float k\" [-1 1 -1 1] \"vertex float s\" [0 2 0 2] \"vertex float t\" [0 0 3 3]";
    check_grey(TEXTURED, 3, &format!("Surface \"textured\"\n{surface} {values}"));
}

#[test]
fn a_heavy_point_near_the_eye_costs_no_part_of_the_surface() {
    // Where weights differ a thousand times, parameters are very uneven, and bounds of the whole patch say nothing.
    let point = |k: i32| {
        let w = if k == 9 { 1000.0 } else { 1.0 };
        let [x, y, z] = [f64::from(k % 4) - 1.5, f64::from(k / 4) - 1.5, 0.1 * f64::from(k * 7 % 5)];
        format!("{} {} {} {w} ", x * w, y * w, z * w)
    };
    let points: String = (0..16).map(point).collect();
    let options = OPTIONS.replace("orthographic", "perspective").replace("Translate 0 0 5", "Translate 0 0 0.9");
    let scene = format!("{options}Surface \"constant\"\nPatch \"bicubic\" \"Pw\" [{points}]\nWorldEnd\n");
    let picture = draw(&scene).clean("a.exr");
    // So uneven a surface has cracks, a sample wide (docs/limits.md).
    assert!(picture.channel("R").iter().all(|red| *red > 0.4), "it covers the picture");
}
