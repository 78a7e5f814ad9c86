//! Displacement that takes surfaces far away: into a crop window, or past the eye.

use super::{RenderedScene, draw_as};

const UP: &str = "displacement up(float h = 1;) { P += h * vtransform(\"shader\", \"current\", vector (0, 1, 0)); }";
const FORTH: &str =
    "displacement forth(float h = 1;) { P += h * vtransform(\"shader\", \"current\", vector (0, 0, 1)); }";

/// A picture of 64x64 pixels.
fn picture(options: &str, world: &str, crop: Option<[f64; 4]>) -> RenderedScene {
    let rib = format!(
        "Format 64 64 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n{options}\n\
         WorldBegin\nSurface \"constant\"\n{world}\nWorldEnd\n"
    );
    draw_as(&[("up.sl", UP), ("forth.sl", FORTH)], &rib, &|options| options.overrides.crop = crop)
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

/// The ground is seen from one unit above up to the horizon, in the lower half of the picture.
#[test]
fn ground_is_seen_however_far_it_might_be_displaced() {
    let ground = "Polygon \"P\" [-1000 -1 -1000 1000 -1 -1000 1000 -1 1000 -1000 -1 1000]";
    for bound in [0.5, 2.0, 3.0, 20.0] {
        let world =
            format!("Attribute \"displacementbound\" \"sphere\" [{bound}]\nDisplacement \"up\" \"h\" 0\n{ground}");
        let drawn = picture("Projection \"perspective\" \"fov\" 40", &world, None);
        let picture = drawn.clean("a.exr");
        let covered: f32 = picture.channel("A").iter().sum();
        // It ends a tenth of a pixel below the horizon.
        assert!((covered - 64.0 * 32.0).abs() < 8.0, "bound {bound}: {covered}");
        assert!(drawn.micropolygons < 100_000, "bound {bound}: {} micropolygons", drawn.micropolygons);
    }
}

/// A camera that hardly moves while the shutter is open.
const MOVING: &str = "Shutter 0 1\nMotionBegin [0 1]\nTranslate 0 0 0\nTranslate .01 0 0\nMotionEnd\n";

/// A wall that is nearer than the near plane, and is displaced to 3.5 units away.
#[test]
fn what_is_displaced_to_before_the_eye_is_as_fine_where_it_moves() {
    let wall = "Attribute \"displacementbound\" \"sphere\" [4]\nDisplacement \"forth\" \"h\" 3\n\
         Polygon \"P\" [-3 -3 .5 3 -3 .5 3 3 .5 -3 3 .5]";
    let options = "Clipping 1 100\nProjection \"perspective\" \"fov\" 40\n";
    let [still, moving] = ["", MOVING].map(|motion| picture(&format!("{options}{motion}"), wall, None));
    for (name, drawn) in [("still", &still), ("moving", &moving)] {
        let covered = drawn.clean("a.exr").channel("A").iter().sum::<f32>();
        assert_eq!(covered, 64.0 * 64.0, "{name}");
    }
    let [still, moving] = [still.micropolygons, moving.micropolygons];
    assert!(still > 4096 && (still / 2..4 * still).contains(&moving), "{still} {moving}");
}
