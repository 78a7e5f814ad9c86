//! dPdtime: how P changes while the shutter is open, in shaders and as an output.

use super::{ExrChannels, assert_near, draw_with};

/// Pictures of what a world's pixels show and of the output dPdtime. Four pixels are a unit, and the picture's middle
/// is where x and y are 0.
fn pictures(shaders: &[(&str, &str)], shutter: &str, before: &str, world: &str) -> [ExrChannels; 2] {
    let scene = draw_with(
        shaders,
        &format!(
            "Format 32 32 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nShutter {shutter}\nScreenWindow -4 4 -4 4\n\
             Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\" \"quantize\" [0 0 0 0]\n\
             Display \"+$DIR/v.exr\" \"exr\" \"dPdtime\" \"exrpixeltype\" \"float\" \"quantize\" [0 0 0 0]\n\
             {before}\nWorldBegin\n{world}\nWorldEnd\n"
        ),
    );
    ["a.exr", "v.exr"].map(|name| scene.clean(name))
}

fn velocity(picture: &ExrChannels, x: usize, y: usize) -> [f32; 3] {
    ["x", "y", "z"].map(|axis| picture.at(&format!("dPdtime.{axis}"), x, y))
}

const SHOWN: &str = "surface shown() { Oi = Os; Ci = Os * color(xcomp(dPdtime), ycomp(dPdtime), zcomp(dPdtime)); }";

#[test]
fn it_is_the_way_for_each_unit_of_time() {
    let shaders = [("shown.sl", SHOWN)];
    let still = "Translate 0 0 3";
    let ways = [
        // The camera of RIB looks along z; so world and camera have the same axes here.
        ("0 0.5", "", "MotionBegin [0 1]\nTranslate -1 0 3\nTranslate 1 0.5 4\nMotionEnd", [2.0, 0.5, 1.0]),
        (
            "0 1",
            "",
            "MotionBegin [0 0.5 1]\nTranslate 0 0 3\nTranslate 1 0 3\nTranslate 1 9 3\nMotionEnd",
            [2.0, 0.0, 0.0],
        ),
        ("0 2", "MotionBegin [0 2]\nTranslate 0 0 0\nTranslate 1 0 0\nMotionEnd", still, [0.5, 0.0, 0.0]),
        ("0 1", "", still, [0.0; 3]),
        ("0 0", "", "MotionBegin [0 1]\nTranslate -1 0 3\nTranslate 1 0 3\nMotionEnd", [0.0; 3]),
    ];
    for ((shutter, before, motion, wanted), opacity) in ways.into_iter().flat_map(|way| [(way, 1.0), (way, 0.5)]) {
        let world = format!("Surface \"shown\"\nOpacity {opacity} {opacity} {opacity}\n{motion}\nDisk 0 2 360");
        let [shown, output] = pictures(&shaders, shutter, before, &world);
        for (x, y) in (0..32).flat_map(|y| (0..32).map(move |x| (x, y))) {
            let alpha = shown.at("A", x, y);
            assert_near(shown.rgb(x, y), wanted.map(|v| v * alpha));
            if alpha > 0.0 && opacity == 1.0 {
                assert_near(velocity(&output, x, y), wanted.map(|v| v * alpha));
            }
        }
    }
}

#[test]
fn it_follows_deformations_and_displacements() {
    // What grows to twice its size, with what it was displaced by, moves away from its middle by where it is.
    let shaders = [
        ("away.sl", "surface away() { Ci = 0.5 + color(dPdtime - (P - point \"object\" (0, 0, 0))); }"),
        ("out.sl", "displacement out() { P += 0.25 * normalize(N); N = calculatenormal(P); }"),
    ];
    let grow = "MotionBegin [0 1]\nScale 1 1 1\nScale 2 2 2\nMotionEnd";
    let mesh = |size: f32| {
        format!(
            "PointsPolygons [4] [0 1 2 3] \"P\" [-{size} -{size} 0 {size} -{size} 0 {size} {size} 0 -{size} {size} 0]"
        )
    };
    let deforming = format!("MotionBegin [0 1]\n{}\n{}\nMotionEnd", mesh(1.0), mesh(2.0));
    for (displacement, body) in [
        ("", format!("{grow}\nSphere 1 -1 1 360")),
        ("Displacement \"out\"", format!("{grow}\nSphere 1 -1 1 360")),
        ("", deforming),
    ] {
        let bound = "Attribute \"displacementbound\" \"float sphere\" [0.3]";
        let world = format!("Surface \"away\"\nTranslate 0 0 4\n{bound}\n{displacement}\n{body}");
        let [shown, _] = pictures(&shaders, "0 1", "", &world);
        let mut seen = 0;
        for (x, y) in (0..32).flat_map(|y| (0..32).map(move |x| (x, y))) {
            assert_near(shown.rgb(x, y), [0.5 * shown.at("A", x, y); 3]);
            seen += usize::from(shown.at("A", x, y) > 0.0);
        }
        assert!(seen > 100, "{body}: {seen}");
    }
}

#[test]
fn displacements_may_follow_it() {
    let shaders = [("lag.sl", "displacement lag() { P -= 2 * dPdtime; }")];
    let middle = |displacement: &str| {
        let bound = "Attribute \"displacementbound\" \"float sphere\" [2]";
        let motion = "MotionBegin [0 1]\nTranslate 1 0 3\nTranslate 2 0 3\nMotionEnd";
        let [shown, _] = pictures(&shaders, "0 1", "", &format!("{bound}\n{displacement}\n{motion}\nDisk 0 1 360"));
        let sums = (0..32).flat_map(|y| (0..32).map(move |x| (x, y))).fold([0.0; 2], |[sum, all], (x, y)| {
            let alpha = shown.at("A", x, y);
            [sum + alpha * (x as f32 - 15.5) / 4.0, all + alpha]
        });
        sums[0] / sums[1]
    };
    let (plain, lagging) = (middle(""), middle("Displacement \"lag\""));
    assert!((plain - 1.5).abs() < 0.05 && (lagging + 0.5).abs() < 0.05, "{plain} {lagging}");
}
