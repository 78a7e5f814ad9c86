//! Surfaces without a shader, and what surface shaders know (RISpec 4.2).

use super::draw;

const CAMERA: &str = "Format 64 64 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
     Display \"+$DIR/z.exr\" \"zfile\" \"z\"\nProjection \"orthographic\"\nScreenWindow -2 2 -2 2\nTranslate 0 0 5\nWorldBegin\n";

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
