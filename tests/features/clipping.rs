//! Clipping and ClippingPlane (RISpec 4.1.1): exact at every sample, whatever the micropolygons.

use super::{ExrChannels, RenderedScene, draw};

/// A plane through the origin that leans: its depth is 5 + x, for x in -4 to 4; 80 x 80 pixels.
fn plane(projection: &str, options: &str, attributes: &str) -> ExrChannels {
    let scene = draw(&format!(
        "Format 80 80 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nHider \"hidden\" \"jitter\" 0\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgbaz\"\nScreenWindow -1 1 -1 1\n{projection}\n{options}\nWorldBegin\nSurface \"constant\"\n\
         {attributes}\nTranslate 0 0 5\nPatch \"bilinear\" \"P\" [-4 4 -4 4 4 4 -4 -4 -4 4 -4 4]\nWorldEnd\n"
    ));
    scene.clean("a.exr")
}

const PERSPECTIVE: &str = "Projection \"perspective\" \"fov\" 90";
/// Five units of screen are a unit of space.
const PARALLEL: &str = "Projection \"orthographic\"\nScale 0.2 0.2 1";

/// Camera x and z of what is seen at the centre of column x of the pixels.
fn seen_at(x: usize, perspective: bool) -> (f32, f32) {
    let screen = (x as f32 + 0.5) / 40.0 - 1.0;
    if !perspective {
        return (5.0 * screen, 5.0 + 5.0 * screen);
    }
    // x / z = screen, z = 5 + x
    let z = 5.0 / (1.0 - screen);
    (screen * z, z)
}

#[test]
fn hither_and_yon_cut_through_micropolygons() {
    for (projection, perspective) in [(PERSPECTIVE, true), (PARALLEL, false)] {
        for attributes in ["ShadingRate 400", "ShadingRate 400 Opacity 0.5 0.5 0.5"] {
            let picture = plane(projection, "Clipping 4.6 6.2", attributes);
            for x in 0..80 {
                let (_, z) = seen_at(x, perspective);
                let distance = (z - 4.6).abs().min((z - 6.2).abs());
                // Half a pixel is less than this.
                if distance > 0.08 {
                    let there = picture.at("A", x, 40) > 0.0;
                    assert_eq!(there, z > 4.6 && z < 6.2, "{projection} {attributes}: column {x} at depth {z}");
                }
            }
        }
    }
}

#[test]
fn clipping_planes_remove_their_normals_side() {
    // x > 1.1 goes, and so does y > 0.7 x + 0.2, written with another point and length of the normal.
    let planes = "ClippingPlane 1.1 9 3 2 0 0\nClippingPlane 1 0.9 7 -1.4 2 0";
    for (projection, perspective) in [(PERSPECTIVE, true), (PARALLEL, false)] {
        // In camera space: the projection's scale does not count.
        let (projection, after) = projection.split_once('\n').unwrap_or((projection, ""));
        for attributes in ["ShadingRate 200", "ShadingRate 200 Opacity 0.5 0.5 0.5"] {
            let picture = plane(projection, &format!("{after}\n{planes}"), attributes);
            for (x, y) in (0..80).flat_map(|x| (0..80).map(move |y| (x, y))) {
                let (px, z) = seen_at(x, perspective);
                let screen = 1.0 - (y as f32 + 0.5) / 40.0;
                let py = if perspective { screen * z } else { 5.0 * screen };
                let (first, second) = (px - 1.1, py - 0.7 * px - 0.2);
                let on_the_patch = px.abs() < 3.9 && py.abs() < 3.9;
                if on_the_patch && first.abs().min(second.abs()) > 0.3 {
                    let there = picture.at("A", x, y) > 0.0;
                    assert_eq!(there, first < 0.0 && second < 0.0, "{projection}: {px} {py}");
                }
            }
        }
    }
}

/// Each plane takes a loop trip at each sample, and drivers end long loops silently.
#[test]
fn many_planes_remove_what_few_do_from_large_micropolygons() {
    let moves = "MotionBegin [0 1] Translate 0 0 0 Translate .1 0 0 MotionEnd";
    let kinds = [("", ""), ("", "Opacity .5 .5 .5"), ("", moves), ("DepthOfField 8 1 4\n", moves)];
    // They remove what is behind the eye.
    let useless = |count: usize| -> String { (0..count).map(|i| format!("ClippingPlane 0 0 -{i} 0 0 -1\n")).collect() };
    for (lens, kind) in kinds {
        let [few, many] = [0, 60].map(|count| {
            let options = format!("Shutter 0 1\n{lens}ClippingPlane 1.1 0 0 2 0.1 0\n{}", useless(count));
            let picture = draw(&format!(
                "Format 32 32 1\nPixelSamples 16 16\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
                 ScreenWindow -1 1 -1 1\nProjection \"perspective\" \"fov\" 90\n{options}\nWorldBegin\nSurface \"constant\"\n\
                 ShadingRate 256\nTranslate 0 0 5\n{kind}\nPatch \"bilinear\" \"P\" [-4 4 0 4 4 0 -4 -4 0 4 -4 .3]\nWorldEnd\n"
            ));
            picture.clean("a.exr").channel("A").to_vec()
        });
        assert!(few == many, "{lens}{kind}");
        assert!(few.iter().filter(|a| **a > 0.0).count() > 200);
    }
}

/// A floor below the eye that reaches as far in all directions.
fn floor(half: &str, options: &str) -> RenderedScene {
    draw(&format!(
        "{options}\nFormat 64 64 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nProjection \"perspective\" \"fov\" 90\nWorldBegin\n\
         Surface \"constant\"\nAttribute \"identifier\" \"name\" \"floor\"\nTranslate 0 -1 0\n\
         Polygon \"P\" [-{half} 0 -{half} -{half} 0 {half} {half} 0 {half} {half} 0 -{half}]\nWorldEnd\n"
    ))
}

#[test]
fn a_large_floor_under_the_eye_is_drawn_whole() {
    let picture = floor("1e4", "").clean("a.exr");
    for y in 34..64 {
        assert!((0..64).all(|x| picture.at("A", x, y) == 1.0), "row {y}");
    }
}

#[test]
fn parts_lost_at_the_eye_name_their_object_and_the_option() {
    for (half, options, words) in [("1e4", "Option \"limits\" \"eyesplits\" 10", "[16]"), ("1e7", "", "at its maximum")]
    {
        let scene = floor(half, options);
        let found = ["floor", "\"eyesplits\"", words].map(|words| scene.message_count(words));
        assert_eq!((found, scene.messages.len()), ([1; 3], 1), "{:?}", scene.messages);
    }
}
