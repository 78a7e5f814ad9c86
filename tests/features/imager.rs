//! Imager (RISpec 4.1.4): filter, exposure, imager, quantization, in this order.

use super::{ExrChannels, RenderedScene, assert_near, draw, draw_with};
use anthill::film::DisplayState;

/// A constant red disk of opacity 1/2 before nothing, 40 x 40 pixels.
fn scene(options: &str) -> String {
    format!(
        "Format 40 40 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n{options}\nScreenWindow -1 1 -1 1\nWorldBegin\nColor 1 0 0\n\
         Opacity 0.5 0.5 0.5\nSurface \"constant\"\nTranslate 0 0 1\nDisk 0 0.5 360\nWorldEnd\n"
    )
}

fn picture(scene: &RenderedScene) -> ExrChannels {
    scene.clean("a.exr")
}

#[test]
fn the_standard_background_fills_what_is_not_covered() {
    let picture = picture(&draw(&scene("Imager \"background\" \"color bgcolor\" [0 0.25 0.5]")));
    assert_near(picture.rgb(2, 2), [0.0, 0.25, 0.5]);
    assert_near(picture.rgb(20, 20), [0.5, 0.125, 0.25]);
    assert!(picture.channel("A").iter().all(|&alpha| alpha == 1.0));
}

#[test]
fn exposure_comes_before_the_imager() {
    let picture = picture(&draw(&scene("Exposure 0.5 1\nImager \"background\" \"color bgcolor\" [0 0.25 0.5]")));
    assert_near(picture.rgb(2, 2), [0.0, 0.25, 0.5]);
    assert_near(picture.rgb(20, 20), [0.25, 0.125, 0.25]);
}

const WHERE: &str = "imager where(float far = 0; point origin = point \"NDC\" (0.5, 0.5, 0);)
{
    point ndc = transform(\"NDC\", P), same = transform(\"raster\", \"NDC\", P);
    Ci = color(xcomp(P), ycomp(P), xcomp(ndc));
    if (far > 0) Ci = color(distance(P, origin), ycomp(same), comp(Oi, 0));
    alpha = xcomp(Du(P)) + 2 * ycomp(Dv(P));
}";

#[test]
fn the_current_space_of_an_imager_is_raster_space() {
    let plain = picture(&draw_with(&[("where.sl", WHERE)], &scene("Imager \"where\"")));
    assert_eq!((plain.at("R", 3, 7), plain.at("G", 3, 7)), (3.5, 7.5));
    assert_near([plain.at("B", 29, 0), plain.at("A", 20, 20), plain.at("A", 39, 39)], [29.5 / 40.0, 3.0, 3.0]);
    let far = picture(&draw_with(&[("where.sl", WHERE)], &scene("Imager \"where\" \"float far\" 1")));
    assert_near(far.rgb(23, 24), [3.5_f32.hypot(4.5), 24.5 / 40.0, 0.5]);
}

#[test]
fn an_imager_sees_the_same_in_a_crop() {
    let noise = [("noise.sl", "imager noise() { Ci = random() + cellnoise(P / 8); alpha = 1; }")];
    let whole = picture(&draw_with(&noise, &scene("Imager \"noise\"")));
    let crop = picture(&draw_with(&noise, &scene("Imager \"noise\"\nCropWindow 0.25 0.75 0.5 1")));
    for (index, &red) in crop.channel("R").iter().enumerate() {
        assert_eq!(red, whole.at("R", 10 + index % 20, 20 + index / 20));
    }
    assert!(whole.channel("R").iter().any(|&red| red != whole.at("R", 0, 0)));
}

#[test]
fn an_opacity_display_shows_what_the_imager_left() {
    let oi = "Display \"+$DIR/o.exr\" \"exr\" \"Oi\"\nImager \"half\"";
    let half = [("half.sl", "imager half() { Oi = 0.5 * Oi + 0.25; }")];
    let scene = draw_with(&half, &scene(oi));
    let picture = scene.clean("o.exr");
    assert_eq!((picture.at("Oi.R", 2, 2), picture.at("Oi.G", 20, 20)), (0.25, 0.5));
}

#[test]
fn an_unavailable_imager_is_reported_and_pixels_are_kept() {
    for (imager, words) in [
        ("Imager \"nonesuch\"", "there is no imager shader \"nonesuch\""),
        ("Imager \"plastic\"", "\"plastic\" is a surface shader, not an imager shader"),
    ] {
        let scene = draw(&scene(imager));
        assert_eq!((scene.message_count(words), scene.messages.len()), (1, 1), "{:?}", scene.messages);
        assert_eq!(scene.displays, [DisplayState::Whole]);
        assert_near(scene.picture("a.exr").rgb(20, 20), [0.5, 0.0, 0.0]);
    }
}
