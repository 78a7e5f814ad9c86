//! Much to loop over for one invocation. Drivers end loops of too many trips silently, so what is asked for in many
//! steps must look like the same in few.

use super::{ExrChannels, RenderedScene, draw};

fn text<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| format!("{value} ")).collect()
}

/// Something, 4x4 samples a pixel.
fn drawn(thing: &str) -> RenderedScene {
    draw(&format!(
        "Format 40 32 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nShutter 0 1\n\
         Projection \"perspective\" \"fov\" 45\nWorldBegin\nLightSource \"distantlight\" 1\nSurface \"matte\"\n\
         Translate 0 0 4\n{thing}\nWorldEnd\n"
    ))
}

/// Red and alpha.
fn channels(picture: &ExrChannels) -> [Vec<f32>; 2] {
    ["R", "A"].map(|channel| picture.channel(channel).to_vec())
}

fn picture(thing: &str) -> [Vec<f32>; 2] {
    channels(&drawn(thing).clean("a.exr"))
}

/// Times from 0 to 1.
fn parts(keys: u16) -> Vec<f64> {
    (0..keys).map(|key| f64::from(key) / f64::from(keys - 1)).collect()
}

/// Something that goes straight, in as many keys as wanted.
fn going(keys: u16, thing: &str) -> [Vec<f32>; 2] {
    let parts = parts(keys);
    let steps: String = parts.iter().map(|part| format!("Translate {} {} 0\n", 0.4 * part, 0.2 * part)).collect();
    picture(&format!("MotionBegin [{}]\n{steps}MotionEnd\n{thing}", text(&parts)))
}

#[track_caller]
fn assert_alike(one: &[Vec<f32>; 2], other: &[Vec<f32>; 2]) {
    for (a, b) in one.iter().zip(other) {
        let difference: f32 = a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
        assert!(difference < 1e-3 * a.iter().sum::<f32>(), "{difference} of {}", a.iter().sum::<f32>());
    }
    assert!(one[1].iter().filter(|alpha| **alpha > 0.0).count() > 100);
}

/// A blobby of `count` balls that are joined by an operation; every fourth is at the same place.
fn balls(count: usize, operation: usize) -> String {
    let places = [[-0.5, -0.2, 0.0], [0.4, -0.3, 0.1], [0.1, 0.5, -0.1], [-0.3, 0.3, 0.2]];
    let code = text((0..count).map(|i| format!("1001 {}", 16 * i)));
    let ball = |i: usize| format!(".8 0 0 0 0 .8 0 0 0 0 .8 0 {} 1", text(places[i % 4]));
    format!("Blobby {count} [{code} {operation} {count} {}] [{}] [\"\"]", text(0..count), text((0..count).map(ball)))
}

#[test]
fn blobs_of_many_leaves_look_the_same_with_many_keys() {
    let sum = balls(60, 0);
    assert_alike(&going(2, &sum), &going(60, &sum));
}

#[test]
fn patches_of_high_degree_look_the_same_with_many_keys() {
    let points = (0..2).flat_map(|j| {
        (0..8).map(move |i| format!("{} {} {}", -1.0 + i as f64 / 3.5, 2 * j - 1, 0.3 * f64::from(i * 7 % 3)))
    });
    let patch =
        format!("NuPatch 8 8 [{} {}] 0 1 2 2 [0 0 1 1] 0 1 \"P\" [{}]", "0 ".repeat(8), "1 ".repeat(8), text(points));
    assert_alike(&going(2, &patch), &going(100, &patch));
}

/// A patch of high degree that deforms, with as many keys as wanted.
fn deforming(keys: u16) -> RenderedScene {
    let knots = format!("{} {}", "0 ".repeat(8), "1 ".repeat(8));
    let point = |part: f64, i: i32, j: i32| {
        let (x, z) = (-1.0 + f64::from(i) / 3.5 + 0.4 * part, 0.3 * part * f64::from(i * 7 % 3));
        format!("{x} {} {z}", 2 * j - 1)
    };
    let patch = |part: &f64| {
        let points = text((0..16).map(|at| point(*part, at % 8, at / 8)));
        format!("NuPatch 8 8 [{knots}] 0 1 2 2 [0 0 1 1] 0 1 \"P\" [{points}]\n")
    };
    let parts = parts(keys);
    drawn(&format!("MotionBegin [{}]\n{}MotionEnd", text(&parts), parts.iter().map(patch).collect::<String>()))
}

/// What deforms has other points at each time, so devices cannot look at as many times.
#[test]
fn patches_that_deform_at_too_many_times_are_followed_at_some_of_them() {
    let many = deforming(200);
    assert_eq!(many.message_count("has 200 times while the shutter is open"), 1, "{:?}", many.messages);
    assert_alike(&channels(&deforming(2).clean("a.exr")), &channels(&many.picture("a.exr")));
}

/// The largest of equal fields is that field.
#[test]
fn blobs_may_have_as_many_leaves_as_are_let_through() {
    assert_eq!(picture(&balls(128, 2)), picture(&balls(4, 2)));
}

#[test]
fn translucent_surfaces_have_256_samples_in_a_row_or_100() {
    for samples in ["256 1", "100 3"] {
        let drawn = draw(&format!(
            "Format 24 24 1\nPixelSamples {samples}\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nShadingRate 256\n\
             Projection \"orthographic\"\nScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"constant\"\nOpacity .5 .5 .5\n\
             Patch \"bilinear\" \"P\" [-2 -2 1 2 -2 1 -2 2 1 2 2 1]\nWorldEnd\n"
        ));
        let alpha = drawn.clean("a.exr").channel("A").to_vec();
        assert!(alpha.iter().all(|alpha| *alpha == 0.5), "{samples}: {alpha:?}");
    }
}
