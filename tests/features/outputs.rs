//! Arbitrary output variables (OPT-28): output parameters, primvars, predefined variables; a display each.

use super::{RenderedScene, assert_near, draw_with};

const LOOK: &str = "surface look(output varying color half = 0; output varying normal facing = 0; output float number = 7; float k = 2;) {
    half = 0.5 * Cs;
    facing = normalize(N);
    Ci = Os * Cs;
    Oi = Os;
}";

fn outputs(modes: &[&str], attributes: &str) -> RenderedScene {
    let display = |(number, mode): (usize, &&str)| format!("Display \"+$DIR/{number}.exr\" \"exr\" \"{mode}\"\n");
    let displays: String = modes.iter().enumerate().map(display).collect();
    draw_with(
        &[("look.sl", LOOK)],
        &format!(
            "Format 20 20 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n{displays}ScreenWindow -1 1 -1 1\nWorldBegin\n\
             Surface \"look\"\nColor 1 0.5 0.25\n{attributes}\nTranslate 0 0 4\n\
             Patch \"bilinear\" \"P\" [-1 1 0 1 1 0 -1 -1 0 1 -1 0] \"varying float heat\" [0 1 0 1] \"uniform color tone\" [1 2 3]\nWorldEnd\n"
        ),
    )
}

#[test]
fn each_kind_of_variable_has_its_display() {
    let modes = [
        "varying color half",
        "varying normal facing",
        "uniform float number",
        "varying float heat",
        "uniform color tone",
        "P",
        "N",
        "Cs",
        "Os",
        "s",
        "z",
        "Ci",
        "Oi",
        "uniform float k",
    ];
    let scene = outputs(&modes, "");
    let at = |number: usize, channel: &str| scene.clean(&format!("{number}.exr")).at(channel, 15, 10);
    assert_near([at(0, "half.R"), at(0, "half.G"), at(0, "half.B")], [0.5, 0.25, 0.125]);
    assert_near([at(1, "facing.x"), at(1, "facing.y"), at(1, "facing.z").abs()], [0.0, 0.0, 1.0]);
    assert_near([at(2, "number"), at(4, "tone.B"), at(13, "k")], [7.0, 3.0, 2.0]);
    for (value, wanted) in [(at(3, "heat"), 0.775), (at(5, "P.x"), 0.55), (at(5, "P.z"), 4.0), (at(9, "s"), 0.775)] {
        assert!((value - wanted).abs() < 0.03, "{value} {wanted}");
    }
    assert_near([at(7, "Cs.R"), at(8, "Os.R"), at(10, "Z")], [1.0, 1.0, 4.0]);
    assert_near([at(11, "Ci.G"), at(12, "Oi.G"), at(6, "N.x")], [0.5, 1.0, 0.0]);
}

#[test]
fn translucent_surfaces_weigh_variables_by_opacity_once() {
    let scene = outputs(&["varying color half", "Ci", "Oi", "Cs"], "Opacity 0.5 0.5 0.5");
    let red = |number: usize, name: &str| scene.clean(&format!("{number}.exr")).at(name, 10, 10);
    assert_near([red(0, "half.R"), red(1, "Ci.R"), red(2, "Oi.R")], [0.25, 0.5, 0.5]);
    assert_near([red(3, "Cs.R"), red(3, "Cs.G"), 0.0], [0.5, 0.25, 0.0]);
}

#[test]
fn matte_objects_leave_no_variables() {
    let scene = outputs(&["varying color half", "Oi", "P"], "Matte 1");
    for (number, name) in [(0, "half.R"), (1, "Oi.R"), (2, "P.z")] {
        assert_eq!(scene.clean(&format!("{number}.exr")).at(name, 10, 10), 0.0, "{name}");
    }
    assert_eq!(scene.clean("a.exr").at("A", 10, 10), 0.0);
}
