//! Samples of what moves: how noisy pictures with few of them are, and what long rotations leave.

use super::{ExrChannels, assert_near, draw, draw_with};

const SIZE: usize = 64;

/// A picture of 64 x 64 pixels, of which four are a unit, with that many samples in a pixel.
fn picture([nx, ny]: [u32; 2], world: &str) -> ExrChannels {
    let scene = draw(&format!(
        "Format {SIZE} {SIZE} 1\nPixelSamples {nx} {ny}\nPixelFilter \"box\" 1 1\nQuantize \"rgba\" 0 0 0 0\nShutter 0 1\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\nScreenWindow -8 8 -8 8\nShadingRate 1\n\
         WorldBegin\nSurface \"constant\"\nTranslate 0 0 1\n{world}\nWorldEnd\n"
    ));
    scene.clean("a.exr")
}

/// A card that covers all of the picture until the middle of the time.
const HALF_OF_THE_TIME: &str = "MotionBegin [0 .499 .501 1]\nTranslate 0 0 0\nTranslate 0 0 0\nTranslate 99 0 0\nTranslate 99 0 0\nMotionEnd\nDisk 0 20 360";

#[test]
fn errors_with_one_sample_are_those_of_chance_and_no_lattice() {
    let picture = picture([1, 1], HALF_OF_THE_TIME);
    let error = |x: usize, y: usize| f64::from(picture.at("A", x, y)) - 0.5;
    for (dx, dy) in (0..8).flat_map(|dx| (0..8).map(move |dy| (dx, dy))).filter(|shift| *shift != (0, 0)) {
        let pairs = (0..SIZE - dy).flat_map(|y| (0..SIZE - dx).map(move |x| (x, y)));
        let products: Vec<f64> = pairs.map(|(x, y)| 4.0 * error(x, y) * error(x + dx, y + dy)).collect();
        let correlation = products.iter().sum::<f64>() / products.len() as f64;
        // Standard deviations of about 1/60.
        assert!(correlation.abs() < 0.075, "pixels {dx}, {dy} apart: {correlation}");
    }
}

#[test]
fn the_parts_of_the_shutter_are_shared_out_in_each_pixel() {
    // With an even number of samples half of them are before the middle, but for those that the jump may catch.
    for samples in [[2, 1], [2, 2], [4, 2]] {
        let picture = picture(samples, HALF_OF_THE_TIME);
        let off = picture.channel("A").iter().filter(|alpha| **alpha != 0.5).count();
        assert!(off < SIZE * SIZE / 50, "{samples:?}: {off}");
    }
}

#[test]
fn variance_falls_at_least_as_fast_as_samples_grow() {
    let world = "MotionBegin [0 1]\nTranslate -4 -1 0\nTranslate 4 1 0\nMotionEnd\nDisk 0 2 360";
    let truth = picture([16, 16], world);
    let variance = |samples: [u32; 2]| {
        let picture = picture(samples, world);
        let squares = picture.channel("A").iter().zip(truth.channel("A")).map(|(a, b)| f64::from(a - b).powi(2));
        squares.sum::<f64>() / (SIZE * SIZE) as f64
    };
    let one = variance([1, 1]);
    for (samples, n) in [([2, 1], 2.0), ([2, 2], 4.0), ([4, 4], 16.0), ([8, 8], 64.0)] {
        let found = variance(samples);
        assert!(found < 1.1 * one / n, "{n} samples: {found} for {one} of one");
    }
}

#[test]
fn rotations_by_more_than_half_a_turn_go_all_the_way() {
    // A disk of radius 4 pixels, 20 from the middle, goes around by 300 degrees, counterclockwise from the right.
    for turn in [300.0, -300.0, 200.0] {
        let world =
            format!("MotionBegin [0 1]\nRotate 0 0 0 1\nRotate {turn} 0 0 1\nMotionEnd\nTranslate 5 0 0\nDisk 0 1 360");
        let picture = picture([8, 8], &world);
        let mut sectors = [0.0; 36];
        for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
            let alpha = f64::from(picture.at("A", x, y));
            let [right, up] = [x as f64 - 31.5, 31.5 - y as f64];
            // Keys are at most 15 degrees apart: chords are inside by up to 0.9% of the radius.
            let radius = right.hypot(up);
            assert!(alpha == 0.0 || (15.0..25.0).contains(&radius), "{turn}: {alpha} at {radius}");
            let degrees = (up.atan2(right).to_degrees() * f64::signum(turn)).rem_euclid(360.0);
            sectors[(degrees / 10.0) as usize] += alpha;
        }
        // Points are on chords, so what turns shrinks in between: by (2 + cos) / 3 of its area, in the mean.
        let step = f64::abs(turn) / f64::ceil(f64::abs(turn) / 15.0);
        let area = 16.0 * std::f64::consts::PI * (2.0 + step.to_radians().cos()) / 3.0;
        let all: f64 = sectors.iter().sum();
        assert!((all - area).abs() < 0.03 * area, "{turn}: {all} for {area}");
        // The disk reaches 12 degrees before its middle.
        for (i, found) in sectors.iter().enumerate() {
            let [from, to] = [i as f64 * 10.0, (i + 1) as f64 * 10.0];
            let end = f64::abs(turn);
            let expected = area * 10.0 / end;
            if from >= 15.0 && to <= end - 15.0 {
                assert!((found - expected).abs() < 0.25 * expected, "{turn}, from {from}: {found} for {expected}");
            } else if from >= end + 15.0 && to <= 345.0 {
                assert_eq!(*found, 0.0, "{turn}, from {from}");
            }
        }
    }
}

#[test]
fn shaders_know_the_shutter_and_their_values_move_with_the_surface() {
    let shader =
        "surface clock(output varying color kept = 0;) { Oi = Os; kept = color(time, dtime, u); Ci = Os * kept; }";
    for (shutter, time, opacity) in
        [("0.25 1", [0.25, 0.75], 1.0), ("0 0", [0.0, 0.0], 1.0), ("-1 1", [-1.0, 2.0], 0.5)]
    {
        let scene = draw_with(
            &[("clock.sl", shader)],
            &format!(
                "Format 32 32 1\nPixelSamples 4 4\nShutter {shutter}\nScreenWindow -2 2 -2 2\nQuantize \"rgba\" 0 0 0 0\n\
                 Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\n\
                 Display \"+$DIR/k.exr\" \"exr\" \"varying color kept\" \"exrpixeltype\" \"float\"\nWorldBegin\nSurface \"clock\"\n\
                 Opacity {opacity} {opacity} {opacity}\nMotionBegin [0 1]\nTranslate -1 0 3\nTranslate 1 0.5 3\nMotionEnd\nDisk 0 1 360\nWorldEnd\n"
            ),
        );
        let (picture, kept) = (scene.clean("a.exr"), scene.picture("k.exr"));
        let mut seen = 0;
        for (x, y) in (0..32).flat_map(|y| (0..32).map(move |x| (x, y))) {
            let (rgb, alpha) = (picture.rgb(x, y), picture.at("A", x, y));
            assert_near([rgb[0], rgb[1], 0.0], [time[0] * alpha, time[1] * alpha, 0.0]);
            let copy = ["R", "G", "B"].map(|c| kept.at(&format!("kept.{c}"), x, y));
            assert!((0..3).all(|i| (copy[i] - rgb[i]).abs() < 1e-3), "{shutter}, {x} {y}: {copy:?} for {rgb:?}");
            seen += usize::from(alpha > 0.05 && alpha < 0.45);
        }
        assert!(seen > 20, "{shutter}: {seen} pixels are blurred");
    }
}
