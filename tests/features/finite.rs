//! Values of shaders that are not finite: they are replaced and counted, and none reaches a file.

use super::{RenderedScene, assert_near, draw_with};

/// NaN in the left quarter of the picture, infinity in the next one; 0.5 in the right half. The upper half has an
/// opacity that is NaN.
const BAD: &str = "surface bad(output varying float seen = 0;) {
    float large = 1e30 + u, huge = large * large, none = huge - huge;
    Ci = xcomp(P) < -0.5 ? color(none, 0, 1) : xcomp(P) < 0 ? color(0, -huge, 0) : color(0.5);
    Oi = ycomp(P) > 0 ? color(1, none, 1) : color(1);
    seen = xcomp(P) < 0 ? huge : 3;
}";

fn scene(options: &str, attributes: &str) -> RenderedScene {
    draw_with(
        &[("bad.sl", BAD)],
        &format!(
            "Format 32 32 1\nPixelSamples 2 2\nPixelFilter \"gaussian\" 3 3\n{options}\n\
             Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"string exrpixeltype\" \"float\"\n\
             Display \"+$DIR/seen.exr\" \"exr\" \"varying float seen\"\nScreenWindow -1 1 -1 1\nWorldBegin\n\
             Attribute \"identifier\" \"string name\" \"glass\"\nSurface \"bad\"\n{attributes}\nTranslate 0 0 2\n\
             Patch \"bilinear\" \"P\" [-1 1 0 1 1 0 -1 -1 0 1 -1 0]\nWorldEnd\n"
        ),
    )
}

#[test]
fn what_is_not_finite_is_black_and_opaque_and_counted_once() {
    for attributes in ["", "ShadingInterpolation \"smooth\""] {
        let scene = scene("", attributes);
        assert_eq!(scene.messages.len(), 1, "{:?}", scene.messages);
        let message = &scene.messages[0];
        assert!(message.contains("values that are not finite") && message.contains("\"glass\""), "{message}");
        let (picture, seen) = (scene.picture("a.exr"), scene.picture("seen.exr"));
        for name in ["R", "G", "B", "A"] {
            assert!(picture.channel(name).iter().all(|value| value.is_finite()), "{name} {attributes}");
        }
        assert!(seen.channel("seen").iter().all(|value| value.is_finite()), "{attributes}");
        for y in [6, 24] {
            assert_near(picture.rgb(4, y), [0.0; 3]);
            assert_near(picture.rgb(12, y), [0.0; 3]);
            assert_near(picture.rgb(26, y), [0.5; 3]);
            assert_near([4, 12, 26].map(|x| picture.at("A", x, y)), [1.0; 3]);
            assert_near([4, 12, 26].map(|x| seen.at("seen", x, y)), [0.0, 0.0, 3.0]);
        }
    }
}

#[test]
fn colours_of_1e38_do_not_add_up_to_infinity() {
    let scene = draw_with(
        &[("sun.sl", "surface sun() { Ci = 3e38; Oi = 0.5; }")],
        "Format 16 16 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nScreenWindow -1 1 -1 1\n\
         WorldBegin\nSurface \"sun\"\nTranslate 0 0 2\nPatch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\n\
         Translate 0 0 1\nPatch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\nWorldEnd\n",
    );
    let red = scene.clean("a.exr").at("R", 8, 8);
    assert!((red / 1.5e30 - 1.0).abs() < 1e-3, "{red}");
}

/// What a loop of 50,000 trips has not finished is infinite, and is never seen.
#[test]
fn loops_that_have_not_ended_yet_are_not_counted() {
    let late = "surface late() {
        float i, last = 0, large = 1e30 + u;
        for (i = 0; i < 50000; i += 1) last = max(last, i);
        Ci = last < 49999 ? large * large : 1;
    }";
    let scene = draw_with(
        &[("late.sl", late)],
        "Format 16 16 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"late\"\n\
         Translate 0 0 2\nPatch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\nWorldEnd\n",
    );
    assert_near(scene.clean("a.exr").rgb(8, 8), [1.0; 3]);
}

#[test]
fn imagers_write_finite_pixels() {
    let imager = "imager hot() { float large = 1e30 + xcomp(P); if (xcomp(P) < 4) Ci = large * large; alpha = 1; }";
    let scene = draw_with(
        &[("hot.sl", imager)],
        "Format 16 16 1\nImager \"hot\"\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\" \"string exrpixeltype\" \"float\"\n\
         ScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"constant\"\nTranslate 0 0 2\n\
         Patch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\nWorldEnd\n",
    );
    assert_eq!(scene.message_count("not finite (NaN or infinity) for 64 pixels"), 1, "{:?}", scene.messages);
    let picture = scene.picture("a.exr");
    assert_near(picture.rgb(2, 8), [0.0; 3]);
    assert_near(picture.rgb(8, 8), [1.0; 3]);
}
