//! Displacement that takes surfaces far away: into a crop window.

use super::{RenderedScene, draw_as};

const UP: &str = "displacement up(float h = 1;) { P += h * vtransform(\"shader\", \"current\", vector (0, 1, 0)); }";

/// A picture of 64x64 pixels.
fn picture(options: &str, world: &str, crop: Option<[f64; 4]>) -> RenderedScene {
    let rib = format!(
        "Format 64 64 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n{options}\n\
         WorldBegin\nSurface \"constant\"\n{world}\nWorldEnd\n"
    );
    draw_as(&[("up.sl", UP)], &rib, &|options| options.overrides.crop = crop)
}

#[test]
fn a_crop_window_shows_what_is_displaced_into_it_from_outside() {
    let options = "Projection \"orthographic\"\nScreenWindow -2 2 -2 2\nTranslate 0 0 5";
    let square = "Displacement \"up\" \"h\" 1.2\nPolygon \"P\" [-.5 -.5 0 .5 -.5 0 .5 .5 0 -.5 .5 0]";
    let whole = picture(options, square, None).picture("a.exr");
    let cropped = picture(options, square, Some([0.25, 0.75, 0.0, 0.25])).picture("a.exr");
    // The square is 16 pixels wide, and so high in the crop window: its upper border is 4.8 pixels from the top.
    let covered: f32 = cropped.channel("A").iter().sum();
    assert!((covered - 16.0 * 11.2).abs() < 9.0, "{covered}");
    for name in ["R", "A"] {
        let part: Vec<f32> =
            (0..16).flat_map(|y| (16..48).map(move |x| (x, y))).map(|(x, y)| whole.at(name, x, y)).collect();
        assert_eq!(cropped.channel(name), part, "{name}");
    }
}
