//! Pictures of unusual sizes and windows.

use super::{RenderedScene, draw};
use anthill::film::DisplayState;

/// An orthographic picture with a sample a pixel.
fn picture(format: &str, window: &str, thing: &str) -> RenderedScene {
    draw(&format!(
        "Format {format}\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Projection \"orthographic\"\nScreenWindow {window}\nHider \"hidden\" \"jitter\" 0\nTranslate 0 0 5\n\
         WorldBegin\nSurface \"constant\"\n{thing}\nWorldEnd\n"
    ))
}

/// A square whose half-size is 3/4.
const SQUARE: &str = "Polygon \"P\" [-.75 -.75 0  .75 -.75 0  .75 .75 0  -.75 .75 0]";

#[test]
fn the_longest_pictures_are_drawn_to_their_last_pixel() {
    for format in ["2 65000 1", "65000 2 1"] {
        let drawn = picture(format, "-1 1 -1 1", SQUARE).clean("a.exr");
        let covered = drawn.channel("A").iter().filter(|alpha| **alpha == 1.0).count();
        // Three quarters of the long side; both pixels of the short one have their samples in the square.
        assert_eq!(covered, 2 * 48_750, "{format}");
    }
}

#[test]
fn windows_that_run_backwards_mirror_the_picture() {
    let thing = "Sides 1\nPolygon \"P\" [.25 -.5 0  .25 .75 0  .75 .75 0  .75 -.5 0]\n\
                 Polygon \"P\" [-.75 -.5 0  -.25 -.5 0  -.25 .5 0  -.75 .5 0]\nMotionBegin [0 1]\nTranslate 0 0 0\n\
                 Translate 0 0 1\nMotionEnd\nSphere .25 -.25 .25 360";
    let alpha = |window: &str| picture("16 16 1", window, thing).clean("a.exr").channel("A").to_vec();
    let plain = alpha("-1 1 -1 1");
    let covered = plain.iter().filter(|alpha| **alpha == 1.0).count();
    assert!((40..70).contains(&covered), "the front of one square and of a ball: {covered}");
    for (window, mirrors) in [("1 -1 -1 1", [true, false]), ("-1 1 1 -1", [false, true]), ("1 -1 1 -1", [true; 2])] {
        let source = |at: usize, mirrored: bool| if mirrored { 15 - at } else { at };
        let wanted: Vec<f32> =
            (0..256).map(|i| plain[16 * source(i / 16, mirrors[1]) + source(i % 16, mirrors[0])]).collect();
        assert_eq!(alpha(window), wanted, "{window}");
    }
}

#[test]
fn pixels_of_any_shape_are_written_whatever_the_format_can_say_of_them() {
    for aspect in ["1e30", "1e-30", "1e300"] {
        let rib = format!(
            "Format 8 4 {aspect}\nFrameBegin 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
                           Display \"+$DIR/a.tif\" \"tiff\" \"rgba\"\nDisplay \"+$DIR/a.png\" \"png\" \"rgba\"\n\
                           WorldBegin\nDisk 1 1e38 360\nWorldEnd\nFrameEnd\n"
        );
        let drawn = draw(&rib);
        assert_eq!(drawn.displays, [DisplayState::Whole; 3], "{aspect}: {:?}", drawn.messages);
    }
}
