//! ShadingInterpolation (RISpec 4.2.1): one colour a micropolygon, or colours interpolated between its vertices.

use super::{ExrChannels, draw, draw_with};

/// A square that fills the picture, with colours at its corners that any bilinear patch shows as a plane: red runs
/// along x, green along y.
fn ramp(attributes: &str) -> ExrChannels {
    let scene = draw(&format!(
        "Format 64 64 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nHider \"hidden\" \"jitter\" 0\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         ScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"constant\"\n{attributes}\nTranslate 0 0 1\n\
         Patch \"bilinear\" \"P\" [-1 1 0 1 1 0 -1 -1 0 1 -1 0] \"varying color Cs\" [0 0 0 1 0 0 0 1 0 1 1 0]\nWorldEnd\n"
    ));
    scene.clean("a.exr")
}

/// The largest distance from the plane, over red and green.
fn error(picture: &ExrChannels) -> f32 {
    let at = |x: usize, y: usize| {
        let [r, g, _] = picture.rgb(x, y);
        (r - (x as f32 + 0.5) / 64.0).abs().max((g - (y as f32 + 0.5) / 64.0).abs())
    };
    (0..64 * 64).map(|pixel| at(pixel % 64, pixel / 64)).fold(0.0, f32::max)
}

#[test]
fn smooth_colours_are_those_of_the_vertices_and_linear_between_them() {
    // Micropolygons of 16 x 16 pixels: constant ones are off by up to half of their width.
    let constant = error(&ramp("ShadingRate 256"));
    assert!((0.1..0.13).contains(&constant), "{constant}");
    let smooth = error(&ramp("ShadingRate 256 ShadingInterpolation \"smooth\""));
    assert!(smooth < 1e-3, "{smooth}");
}

#[test]
fn smooth_translucent_colours_and_opacities_too() {
    let smooth = ramp("ShadingRate 256 ShadingInterpolation \"smooth\" Opacity 0.5 0.5 0.5");
    // constant multiplies by Os
    let [r, g, _] = smooth.rgb(10, 50);
    assert!((2.0 * r - 10.5 / 64.0).abs() < 1e-3 && (2.0 * g - 50.5 / 64.0).abs() < 1e-3, "{r} {g}");
    let veil = "surface veil() { Oi = t; Ci = Oi * Cs; }";
    let scene = draw_with(
        &[("veil.sl", veil)],
        "Format 32 32 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nHider \"hidden\" \"jitter\" 0\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Display \"+$DIR/t.exr\" \"exr\" \"varying float t\"\nScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"veil\"\nShadingRate 64\n\
         ShadingInterpolation \"smooth\"\nTranslate 0 0 1\nPatch \"bilinear\" \"P\" [-1 1 0 1 1 0 -1 -1 0 1 -1 0]\nWorldEnd\n",
    );
    let (colour, depth) = (scene.clean("a.exr"), scene.clean("t.exr"));
    for y in [3, 12, 29] {
        let t = (y as f32 + 0.5) / 32.0;
        // Inside a pixel t is averaged, and t * t for what is weighted by opacity.
        assert!((colour.at("A", 7, y) - t).abs() < 2e-3, "{} {t}", colour.at("A", 7, y));
        assert!((depth.at("t", 7, y) - t * t).abs() < 3e-3, "{} {t}", depth.at("t", 7, y));
    }
}

#[test]
fn constant_neighbours_of_smooth_ones_keep_their_bits() {
    let scene = |second: &str| {
        let scene = draw(&format!(
            "Format 48 48 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nTranslate 0 0 3\nWorldBegin\n\
             LightSource \"distantlight\" 1\nSurface \"matte\"\nShadingRate 9\nAttributeBegin\nTranslate -0.5 0 0\n\
             Sphere 0.4 -0.4 0.4 360\nAttributeEnd\n{second}\nTranslate 0.5 0 0\nSphere 0.4 -0.4 0.4 360\nWorldEnd\n"
        ));
        scene.clean("a.exr")
    };
    let (plain, mixed) = (scene(""), scene("ShadingInterpolation \"smooth\""));
    let same = |x: std::ops::Range<usize>| {
        x.flat_map(|x| (0..48).map(move |y| (x, y))).all(|(x, y)| plain.rgb(x, y) == mixed.rgb(x, y))
    };
    assert!(same(0..24) && !same(24..48));
}

/// A slanted square whose colours are a plane; `move_it` opens its place. With a sample a pixel, each sees the plane
/// at its own time and through its own point of the lens.
fn blurred(camera: &str, move_it: &str, attributes: &str) -> ExrChannels {
    let lift = "displacement lift() { P += 0.4 * normalize(N); }";
    // Of more loop trips than a submission makes.
    let slow =
        "displacement slow() { float i, way = 0; for (i = 0; i < 5000; i += 1) way += 8e-5; P += way * normalize(N); }";
    let scene = draw_with(
        &[("lift.sl", lift), ("slow.sl", slow)],
        &format!(
            "Format 48 48 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n{camera}\nWorldBegin\n\
             Surface \"constant\"\n{attributes}\nTranslate 0 0 4\n{move_it}\nRotate 30 1 0 0\n\
             Patch \"bilinear\" \"P\" [-3 3 0 3 3 0 -3 -3 0 3 -3 0] \"varying color Cs\" [0 0 0 1 0 0 0 1 0 1 1 0]\nWorldEnd\n"
        ),
    );
    scene.clean("a.exr")
}

#[test]
fn smooth_colours_of_what_is_blurred_are_those_at_the_time_of_the_sample() {
    let perspective = "Projection \"perspective\" \"fov\" [40]";
    let shutter = format!("{perspective}\nShutter 0 1");
    let lens = format!("{perspective}\nDepthOfField 8 4 2");
    let shutter_and_lens = format!("{shutter}\nDepthOfField 8 4 2");
    let path = "MotionBegin [0 0.4 1]\nTranslate 0 0 0\nTranslate 0.1 -0.2 0.3\nTranslate 0.8 0.5 1\nMotionEnd";
    let turned = "MotionBegin [0 1]\nRotate 0 0 0 1\nRotate 100 0 0 1\nMotionEnd";
    let more = format!(
        "{shutter}\nHider \"hidden\" \"depthfilter\" \"midpoint\"\nDisplay \"+$DIR/z.exr\" \"exr\" \"z\"\n\
         Display \"+$DIR/n.exr\" \"exr\" \"varying normal N\""
    );
    let cases = [
        (&shutter, path, ""),
        (&more, turned, "Opacity 0.5 0.5 0.5"),
        (&shutter, path, "Displacement \"slow\"\nAttribute \"displacementbound\" \"sphere\" [0.5]"),
        (&shutter, turned, "Opacity 0.5 0.5 0.5"),
        (&lens, "", ""),
        (&lens, "", "Opacity 0.5 0.5 0.5\nDisplacement \"lift\"\nAttribute \"displacementbound\" \"sphere\" [0.5]"),
        (&shutter_and_lens, path, "Displacement \"lift\"\nAttribute \"displacementbound\" \"sphere\" [0.5]"),
    ];
    for (camera, move_it, attributes) in cases {
        let [coarse, fine] = ["ShadingRate 256 ShadingInterpolation \"smooth\"", "ShadingRate 1"]
            .map(|rate| blurred(camera, move_it, &format!("{attributes}\n{rate}")));
        let off = |(x, y)| {
            let [[r, g, _], [other_r, other_g, _]] = [coarse.rgb(x, y), fine.rgb(x, y)];
            (r - other_r).abs().max((g - other_g).abs())
        };
        let largest = (0..48).flat_map(|y| (0..48).map(move |x| (x, y))).map(off).fold(0.0, f32::max);
        assert!(largest < 0.02, "{camera}, {move_it}, {attributes}: {largest}");
    }
}

#[test]
fn what_stands_still_beside_smooth_motion_keeps_its_bits() {
    let scene = |moves: &str| {
        let scene = draw(&format!(
            "Format 48 24 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nDisplay \"+$DIR/n.exr\" \"exr\" \"varying normal N\"\nShutter 0 1\n\
             ScreenWindow -2 2 -1 1\nTranslate 0 0 3\nWorldBegin\nLightSource \"distantlight\" 1\nSurface \"matte\"\nShadingRate 9\n\
             ShadingInterpolation \"smooth\"\nAttributeBegin\nTranslate -1 0 0\nSphere 0.7 -0.7 0.7 360\nAttributeEnd\n\
             Translate 1 0 0\n{moves}\nSphere 0.7 -0.7 0.7 360\nWorldEnd\n"
        ));
        [scene.clean("a.exr"), scene.clean("n.exr")]
    };
    let still = scene("");
    let moving = scene("MotionBegin [0 1]\nTranslate 0 0 0\nTranslate 0.2 0.1 0\nMotionEnd");
    let same = |part: std::ops::Range<usize>, at: usize| {
        let channels = if at == 0 { ["R", "G", "B"] } else { ["N.x", "N.y", "N.z"] };
        let pixels = part.flat_map(|x| (0..24).map(move |y| (x, y)));
        let equal = |(x, y)| channels.iter().all(|name| still[at].at(name, x, y) == moving[at].at(name, x, y));
        pixels.into_iter().all(equal)
    };
    for at in 0..2 {
        assert!(same(0..24, at) && !same(24..48, at), "picture {at}");
    }
}
