//! Pictures of unusual sizes and windows.

use super::{RenderedScene, draw};

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
