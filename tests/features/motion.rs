//! Motion blur and depth of field (RISpec 4.1.1 Shutter and DepthOfField, 6.3), against what can be computed.

use super::{ExrChannels, RenderedScene, draw};

const SIZE: usize = 64;

/// The sums of a channel over the rows of each column.
fn columns(picture: &ExrChannels, channel: &str) -> Vec<f64> {
    (0..SIZE).map(|x| (0..SIZE).map(|y| f64::from(picture.at(channel, x, y))).sum()).collect()
}

/// A picture of 64 x 64 pixels, of which four are a unit, through a box filter.
fn picture(samples: u32, options: &str, world: &str) -> ExrChannels {
    scene(samples, options, world).clean("a.exr")
}

fn scene(samples: u32, options: &str, world: &str) -> RenderedScene {
    draw(&format!(
        "Format {SIZE} {SIZE} 1\nPixelSamples {samples} {samples}\nPixelFilter \"box\" 1 1\nQuantize \"rgba\" 0 0 0 0\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\nScreenWindow -8 8 -8 8\nShadingRate 0.25\n{options}\n\
         WorldBegin\nSurface \"constant\"\nTranslate 0 0 1\n{world}\nWorldEnd\n"
    ))
}

/// How much of a column of pixels [x, x + 1] a disk of radius r covers, whose centre is at c.
fn chord(x: f64, c: f64, r: f64) -> f64 {
    let steps = 64;
    let at = |i: i32| x + (f64::from(i) + 0.5) / f64::from(steps) - c;
    (0..steps).map(|i| 2.0 * (r * r - at(i).powi(2)).max(0.0).sqrt()).sum::<f64>() / f64::from(steps)
}

/// What a moving disk of radius 6 pixels leaves in each column, with its centre at `centre(t)`.
fn swept(centre: impl Fn(f64) -> f64) -> Vec<f64> {
    let times = 200;
    let of = |x: usize| {
        let at = |i: i32| chord(x as f64, centre((f64::from(i) + 0.5) / f64::from(times)), 6.0);
        (0..times).map(at).sum::<f64>() / f64::from(times)
    };
    (0..SIZE).map(of).collect()
}

#[track_caller]
fn assert_profile(picture: &ExrChannels, expected: &[f64], error: f64) {
    let found = columns(picture, "A");
    for (x, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < error, "column {x}: {found} for {expected}");
    }
    let (sum, all): (f64, f64) = (found.iter().sum(), expected.iter().sum());
    // The chords of a disk's rim leave some of its area out.
    assert!((sum - all).abs() < (0.005 + 0.1 * error) * all, "{sum} for {all}");
}

const KEYS: &str = "MotionBegin [0 1]\nTranslate -4 0 0\nTranslate 4 0 0\nMotionEnd\nDisk 0 1.5 360";

#[test]
fn a_moving_disk_leaves_the_integral_of_its_way() {
    let line = swept(|t| 16.0 + 32.0 * t);
    assert_profile(&picture(16, "Shutter 0 1", KEYS), &line, 0.08);
    // Few samples are noisier, and right on the whole.
    assert_profile(&picture(4, "Shutter 0 1", KEYS), &line, 0.7);
    // The shutter may be open for a part of the way, or before and after it.
    assert_profile(&picture(16, "Shutter 0.25 0.5", KEYS), &swept(|t| 24.0 + 8.0 * t), 0.08);
    assert_profile(&picture(16, "Shutter -1 1", KEYS), &swept(|t| 16.0 + 32.0 * (2.0 * t - 1.0).max(0.0)), 0.1);
}

/// How much light has come in by a time, of a shutter that opens until a, is open until b and closes by 1.
fn light([a, b]: [f64; 2], t: f64) -> f64 {
    let opening = if a > 0.0 { 0.5 * t.min(a).powi(2) / a } else { 0.0 };
    let closing = if b < 1.0 { 0.5 * (1.0 - b - (1.0 - t.max(b)).powi(2) / (1.0 - b)) } else { 0.0 };
    (opening + (t.clamp(a, b) - a) + closing) / (0.5 * (1.0 + b - a))
}

#[test]
fn an_edge_is_covered_as_the_shutter_opens_and_closes() {
    // The edge of a large card moves over all 64 columns: a point of it is covered from when the edge is there.
    let card = "MotionBegin [0 1]\nTranslate -8 0 0\nTranslate 8 0 0\nMotionEnd\nPolygon \"P\" [-99 -9 0 0 -9 0 0 9 0 -99 9 0]";
    for opening in [[0.0, 1.0], [0.5, 0.5], [0.25, 1.0], [0.0, 0.25], [0.125, 0.625], [1.0, 1.0], [0.0, 0.0]] {
        let option = format!("Shutter 0 1\nOption \"shutter\" \"shutteropening\" [{} {}]", opening[0], opening[1]);
        for (samples, error, mean_error) in [(4, 0.04, 0.003), (1, 0.25, 0.02)] {
            let found = columns(&picture(samples, &option, card), "A");
            for (x, sum) in found.iter().enumerate() {
                let expected = 1.0 - light(opening, (x as f64 + 0.5) / SIZE as f64);
                let found = sum / SIZE as f64;
                assert!(
                    (found - expected).abs() < error,
                    "{opening:?}, {samples} samples, column {x}: {found} for {expected}"
                );
            }
            // The mean of what is covered is that of the edge's place.
            let (all, mean) = (
                found.iter().sum::<f64>() / 4096.0,
                (0..640).map(|i| 1.0 - light(opening, (f64::from(i) + 0.5) / 640.0)).sum::<f64>() / 640.0,
            );
            assert!((all - mean).abs() < mean_error, "{opening:?}: {all} for {mean}");
        }
    }
}

#[test]
fn the_offset_moves_keys_and_what_is_outside_the_shutter_does_not_matter() {
    let line = swept(|t| 24.0 + 8.0 * t);
    for options in ["\"offset\" [10]", "\"offset\" [10] \"clampmotion\" 0", "\"clampmotion\" 1 \"offset\" [10]"] {
        let options = format!("Shutter 10.25 10.5\nOption \"shutter\" {options}");
        assert_profile(&picture(16, &options, KEYS), &line, 0.08);
    }
}

#[test]
fn keys_cameras_and_shapes_move_alike() {
    let bent = |t: f64| 32.0 + if t < 0.25 { 64.0 * (0.25 - t) } else { 16.0 * (t - 0.25) / 0.75 };
    let three = "MotionBegin [0 0.25 1]\nTranslate 4 0 0\nTranslate 0 0 0\nTranslate 4 0 0\nMotionEnd\nDisk 0 1.5 360";
    assert_profile(&picture(16, "Shutter 0 1", three), &swept(bent), 0.1);
    let line = swept(|t| 16.0 + 32.0 * t);
    let camera = "Shutter 0 1\nMotionBegin [0 1]\nTranslate -4 0 0\nTranslate 4 0 0\nMotionEnd";
    assert_profile(&picture(16, camera, "Disk 0 1.5 360"), &line, 0.08);
    let both = "Shutter 0 1\nMotionBegin [0 1]\nTranslate -1 0 0\nTranslate 1 0 0\nMotionEnd";
    let slower = KEYS.replace('4', "3");
    assert_profile(&picture(16, both, &slower), &line, 0.08);
    let instance = "ObjectBegin 1\nDisk 0 1.5 360\nObjectEnd\nMotionBegin [0 1]\nTranslate -4 0 0\nTranslate 4 0 0\nMotionEnd\nObjectInstance 1";
    assert_profile(&picture(16, "Shutter 0 1", instance), &line, 0.08);
    let points = "MotionBegin [0 1]\nPoints \"P\" [-4 0 0] \"constantwidth\" [3]\nPoints \"P\" [4 0 0] \"constantwidth\" [3]\nMotionEnd";
    assert_profile(&picture(16, "Shutter 0 1", points), &line, 0.12);
}

/// A blob of one leaf at two times: its place along x and the radius of its surface.
fn moving_blob(keys: [[f64; 2]; 2]) -> String {
    let blob = |[x, radius]: [f64; 2]| {
        let r = 2.0 * radius;
        format!("Blobby 1 [1001 0] [{r} 0 0 0 0 {r} 0 0 0 0 {r} 0 {x} 0 4 1] [\"\"]\n")
    };
    format!("MotionBegin [0 1]\n{}{}MotionEnd", blob(keys[0]), blob(keys[1]))
}

#[test]
fn blobs_move_and_grow() {
    let blob = moving_blob([[-4.0, 1.5], [4.0, 1.5]]);
    assert_profile(&picture(16, "Shutter 0 1", &blob), &swept(|t| 16.0 + 32.0 * t), 0.08);
    assert_profile(&picture(16, "Shutter 0.25 0.5", &blob), &swept(|t| 24.0 + 8.0 * t), 0.08);
    // A disk of radius 1 + 2 t, 16 pixels a square unit.
    let found: f64 = columns(&picture(16, "Shutter 0 1", &moving_blob([[0.0, 1.0], [0.0, 3.0]])), "A").iter().sum();
    let area = 16.0 * std::f64::consts::PI * (1.0 + 2.0 + 4.0 / 3.0);
    assert!((found - area).abs() < 0.004 * area, "{found} for {area}");
}

#[test]
fn translucent_surfaces_move_like_opaque_ones() {
    let half: Vec<f64> = swept(|t| 16.0 + 32.0 * t).iter().map(|x| 0.5 * x).collect();
    assert_profile(&picture(16, "Shutter 0 1", &format!("Opacity 0.5 0.5 0.5\n{KEYS}")), &half, 0.05);
}

#[test]
fn what_grows_or_deforms_is_drawn_at_every_time() {
    // A square of side 2 + 4 t: the mean of its area is 1/3 of (36 - 8) / 4 ... squares of pixels 16 times as many.
    let quad = |s: f64| format!("Polygon \"P\" [-{s} -{s} 0  {s} -{s} 0  {s} {s} 0  -{s} {s} 0]\n");
    let shapes = [
        format!("MotionBegin [0 1]\n{}{}MotionEnd", quad(1.0), quad(3.0)),
        "MotionBegin [0 1]\nPatch \"bilinear\" \"P\" [-1 1 0 1 1 0 -1 -1 0 1 -1 0]\nPatch \"bilinear\" \"P\" [-3 3 0 3 3 0 -3 -3 0 3 -3 0]\nMotionEnd"
            .to_owned(),
        "MotionBegin [0 1]\nCurves \"linear\" [2] \"nonperiodic\" \"P\" [0 -1 0 0 1 0] \"constantwidth\" [2]\n\
         Curves \"linear\" [2] \"nonperiodic\" \"P\" [0 -3 0 0 3 0] \"constantwidth\" [6]\nMotionEnd"
            .to_owned(),
    ];
    let area = 16.0 * (4.0 + 16.0 / 2.0 + 16.0 / 3.0);
    for shape in shapes {
        let picture = picture(8, "Shutter 0 1", &shape);
        let found: f64 = columns(&picture, "A").iter().sum();
        assert!((found - area).abs() < 0.01 * area, "{found} for {area}: {shape}");
        assert_eq!(picture.at("A", 32, 32), 1.0, "{shape}");
    }
}

/// Each ray from its centre is covered for as long as the disk has swept over it.
#[test]
fn a_disk_that_closes_uncovers_each_angle_in_turn() {
    let closes = picture(8, "Shutter 0 1", "MotionBegin [0 1]\nDisk 0 6 360\nDisk 0 6 90\nMotionEnd");
    for y in 0..SIZE {
        for x in 0..SIZE {
            let [east, north] = [x as f64 - 31.5, 31.5 - y as f64];
            let turned = north.atan2(east).to_degrees().rem_euclid(360.0);
            // Straight ways are inside of the arc, and a pixel at the first ray is on both of its sides.
            if (8.0..22.0).contains(&east.hypot(north)) && turned.min(360.0 - turned) > 6.0 {
                let (found, expected) = (f64::from(closes.at("A", x, y)), ((360.0 - turned) / 270.0).min(1.0));
                assert!((found - expected).abs() < 0.06, "({x}, {y}): {found} for {expected}");
            }
        }
    }
}

#[test]
fn a_closed_shutter_shows_the_time_when_it_opens() {
    for (shutter, centre) in [("0 0", 16.0), ("0.5 0.5", 32.0), ("1 1", 48.0), ("2 2", 48.0)] {
        assert_profile(&picture(8, &format!("Shutter {shutter}"), KEYS), &swept(|_| centre), 0.1);
    }
    let options = "Shutter 0.5 1\nHider \"hidden\" \"samplemotion\" 0";
    assert_profile(&picture(8, options, KEYS), &swept(|_| 32.0), 0.1);
}

#[test]
fn what_stands_still_has_the_same_bits_beside_what_moves() {
    let still = "Sides 2\nTranslate 0 2 0\nSphere 1.5 -1.5 1.5 360\nTorus 2 0.3 0 360 360\n";
    let alone = picture(4, "", still);
    let moving = picture(
        4,
        "Shutter 0 1",
        &format!(
            "{still}Translate 0 -7 0\n{KEYS}\nMotionBegin [0 1]\nSphere 0.5 -0.5 0.5 360\nSphere 0.7 -0.7 0.7 360\nMotionEnd"
        ),
    );
    for y in 0..32 {
        for x in 0..SIZE {
            assert_eq!(alone.at("A", x, y).to_bits(), moving.at("A", x, y).to_bits(), "{x} {y}");
        }
    }
}

/// Focal distance 4; a lens of radius 0.01; 3200 pixels for a unit of x / z, so that all is near the axis.
fn through_lens(samples: u32, world: &str) -> ExrChannels {
    through_aperture("0 0 0 0", samples, world)
}

fn through_aperture(aperture: &str, samples: u32, world: &str) -> ExrChannels {
    lens_scene(aperture, samples, world).clean("a.exr")
}

fn lens_scene(aperture: &str, samples: u32, world: &str) -> RenderedScene {
    draw(&format!(
        "Format {SIZE} {SIZE} 1\nPixelSamples {samples} {samples}\nPixelFilter \"box\" 1 1\nQuantize \"rgba\" 0 0 0 0\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\nProjection \"perspective\" \"fov\" 90\n\
         ScreenWindow -0.01 0.01 -0.01 0.01\nShadingRate 0.25\nDepthOfField 50 1 4\nShutter 0 1\nHider \"hidden\" \"aperture\" [{aperture}]\nWorldBegin\nSurface \"constant\"\n\
         {world}\nWorldEnd\n"
    ))
}

/// A point of radius `r` pixels at pixels (x, y) from the middle.
fn point(x: f64, y: f64, z: f64, r: f64) -> String {
    let at = |pixels: f64| pixels * z / 3200.0;
    format!("Points \"P\" [{} {} {z}] \"constantwidth\" [{}]\n", at(x), -at(y), at(2.0 * r))
}

#[test]
fn a_point_out_of_focus_is_a_disk_of_the_lens_equations_radius() {
    for z in [2.0, 3.0, 4.0, 8.0, 1000.0] {
        // The circle of confusion has the radius 32 |1 / 4 - 1 / z|. Four points are seen by more samples than one.
        let (radius, r) = (32.0 * (0.25_f64 - 1.0 / z).abs(), 1.5);
        let centres = [[-16.2, -15.7], [15.5, -16.1], [-15.9, 16.4], [16.0, 15.6]];
        let points: String = centres.iter().map(|&[x, y]| point(x, y, z, r)).collect();
        let picture = through_lens(16, &points);
        let (mut sum, mut square, mut farthest) = (0.0, 0.0, 0.0_f64);
        for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
            let [cx, cy] = centres[x / 32 + 2 * (y / 32)];
            let distance = (x as f64 - 31.5 - cx).hypot(y as f64 - 31.5 - cy);
            let alpha = f64::from(picture.at("A", x, y));
            (sum, square) = (sum + alpha, square + alpha * distance * distance);
            if alpha > 0.0 {
                farthest = farthest.max(distance);
            }
        }
        let area = 4.0 * std::f64::consts::PI * r * r;
        assert!((sum - area).abs() < 0.03 * area, "z {z}: area {sum} for {area}");
        // Uniform disks have mean squared radii of R^2 / 2, which add up; a pixel adds 1/6.
        let expected = 0.5 * (radius * radius + r * r) + 1.0 / 6.0;
        assert!((square / sum - expected).abs() < 0.03 * expected, "z {z}: {} for {expected}", square / sum);
        assert!(farthest < radius + r + 1.0, "z {z}: {farthest} for {radius}");
    }
}

/// Of a picture of one point in its middle: the mean of the squared distance, and how far it reaches right and left,
/// up and down.
fn spot(picture: &ExrChannels) -> (f64, [f64; 4]) {
    let (mut sum, mut square, mut reach) = (0.0, 0.0, [0.0_f64; 4]);
    for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
        let alpha = f64::from(picture.at("A", x, y));
        let [right, down] = [x, y].map(|x| x as f64 - 31.5);
        (sum, square) = (sum + alpha, square + alpha * (right * right + down * down));
        if alpha > 0.0 {
            reach = [right, -right, -down, down]
                .iter()
                .zip(reach)
                .map(|(a, b)| a.max(b))
                .collect::<Vec<_>>()
                .try_into()
                .expect("4");
        }
    }
    (square / sum, reach)
}

#[test]
fn a_point_out_of_focus_has_the_shape_of_the_aperture() {
    // What is far is displaced as the point of the lens that sees it; what is near to the other side.
    let (r, z) = (1.5, 1000.0);
    let radius: f64 = 32.0 * (0.25 - 1.0 / z);
    let third = 0.5 * radius;
    let whole = radius;
    for (aperture, square, reach) in [
        // A triangle with a corner on the x axis, then above.
        ("3 0 0 0", 0.25, [whole, third, 0.866 * whole, 0.866 * whole]),
        ("3 90 0 0", 0.25, [0.866 * whole, 0.866 * whole, whole, third]),
        ("4 45 0 0", 1.0 / 3.0, [0.707 * whole; 4]),
        ("6 0 0 0", 2.5 / 6.0, [whole, whole, 0.866 * whole, 0.866 * whole]),
        ("3 0 1 0", 0.5, [whole; 4]),
        ("2 0 0 0", 0.5, [whole; 4]),
        // Brighter at the rim, or in the middle.
        ("0 0 0 1", 0.5 + 1.0 / 6.0, [whole; 4]),
        ("0 0 0 -1", 0.5 - 1.0 / 6.0, [whole; 4]),
    ] {
        let (found, reached) = spot(&through_aperture(aperture, 16, &point(0.0, 0.0, z, r)));
        let expected = square * radius * radius + 0.5 * r * r + 1.0 / 6.0;
        assert!((found - expected).abs() < 0.06 * expected, "{aperture}: {found} for {expected}");
        for (side, (found, expected)) in reached.into_iter().zip(reach).enumerate() {
            assert!((found - expected - 0.5).abs() < 2.0, "{aperture}, side {side}: {found} for {expected}");
        }
    }
    // Between a triangle and a circle, and bent inwards.
    let spots = ["-1", "-0.5", "0", "0.5", "1"].map(|roundness| {
        let aperture = format!("3 0 {roundness} 0");
        spot(&through_aperture(&aperture, 16, &point(0.0, 0.0, z, r))).1[1]
    });
    assert!(spots.is_sorted() && spots[4] >= spots[0] + 4.0, "{spots:?}");
    for (found, expected) in [(spots[0], third + r), (spots[4], whole + r)] {
        assert!((found - expected).abs() < 1.0, "{spots:?}");
    }
    // Nearer than the focus it is upside down.
    let near = 1.0 / (0.25 + radius / 32.0);
    let (_, reached) = spot(&through_aperture("3 0 0 0", 16, &point(0.0, 0.0, near, r)));
    assert!(reached[1] > reached[0] + 2.0, "{reached:?}");
}

#[test]
fn a_point_that_moves_out_of_focus_is_seen_through_all_of_the_lens_at_any_time() {
    // Along a line of 40 pixels, out of focus by a circle of radius 8: across, the spread is that of the disk, in every
    // part of the way.
    let (from, to) = (point(-20.0, 0.0, 2.0, 2.0), point(20.0, 0.0, 2.0, 2.0));
    let picture = through_lens(16, &format!("MotionBegin [0 1]\n{from}{to}MotionEnd"));
    let sums = columns(&picture, "A");
    let mean = sums[24..40].iter().sum::<f64>() / 16.0;
    // 40 pixels of way for an area of 4 pi.
    assert!((mean - std::f64::consts::PI / 10.0).abs() < 0.01, "{mean}");
    for start in [20, 28, 36] {
        let square =
            |x: usize| (0..SIZE).map(|y| f64::from(picture.at("A", x, y)) * (y as f64 - 31.5).powi(2)).sum::<f64>();
        let found = (start..start + 8).map(square).sum::<f64>() / (8.0 * mean);
        let expected = 0.25 * (8.0 * 8.0 + 2.0 * 2.0) + 1.0 / 12.0;
        assert!((found - expected).abs() < 0.15 * expected, "columns from {start}: {found} for {expected}");
    }
}

#[test]
fn what_is_in_focus_stays_sharp_and_parallel_projections_have_no_lens() {
    // Eight pixels to each side.
    let square = "Polygon \"P\" [-0.01 -0.01 4 0.01 -0.01 4 0.01 0.01 4 -0.01 0.01 4]";
    let picture = through_lens(8, square);
    assert_eq!([23, 24, 39, 40].map(|x| picture.at("A", x, 32)), [0.0, 1.0, 1.0, 0.0]);
    let flat = draw(
        "Format 64 64 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nPixelFilter \"box\" 1 1\nScreenWindow -4 4 -4 4\nDepthOfField 0.5 1 4\nWorldBegin\n\
         Surface \"constant\"\nPolygon \"P\" [-1 -1 9 1 -1 9 1 1 9 -1 1 9]\nWorldEnd\n",
    );
    assert_eq!([23, 24, 39, 40].map(|x| flat.clean("a.exr").at("A", x, 32)), [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn blur_makes_micropolygons_as_much_larger_as_its_factor_says() {
    // A square of 32 x 32 pixels, 64 x 64 micropolygons, on its way over 24 pixels: the area of micropolygons grows by
    // 24 / 16 of the factor, where that is more than 1.
    let square =
        "MotionBegin [0 1]\nTranslate -3 0 0\nTranslate 3 0 0\nMotionEnd\nPolygon \"P\" [-4 -4 0 4 -4 0 4 4 0 -4 4 0]";
    for (factor, expected) in [(0.0, 4096), (0.5, 4096), (8.0 / 3.0, 1024), (32.0 / 3.0, 256)] {
        let world = format!("GeometricApproximation \"motionfactor\" {factor}\n{square}");
        assert_eq!(scene(2, "Shutter 0 1", &world).micropolygons, expected, "{factor}");
        assert_eq!(scene(2, "Shutter 0 0", &world).micropolygons, 4096, "{factor}");
    }
    // A square of 20 x 20 pixels at the horizon is out of focus by a circle of 16 pixels.
    let card = "Polygon \"P\" [-3.125 -3.125 1000 3.125 -3.125 1000 3.125 3.125 1000 -3.125 3.125 1000]";
    let count = |factor: &str| {
        let world = format!("GeometricApproximation \"focusfactor\" {factor}\n{card}");
        lens_scene("0 0 0 0", 2, &world).micropolygons
    };
    assert_eq!([count("0"), count("0.9")], [1600, 1600]);
    let (four, sixteen) = (count("4.016"), count("16.07"));
    assert!((400..=450).contains(&four) && (100..=121).contains(&sixteen), "{four}, {sixteen}");
}

#[test]
fn loosened_micropolygons_leave_no_cracks() {
    // A bent sheet of many patches that turns and comes nearer, in front of all of the picture.
    let row = |y: i32| {
        (0..13).map(|x| format!("{} {} {} ", x - 6, y - 6, 0.4 * f64::from((x * 7 + y * 5) % 4))).collect::<String>()
    };
    let points: String = (0..13).map(row).collect();
    let world = format!(
        "Sides 2\nBasis \"bezier\" 3 \"bezier\" 3\nGeometricApproximation \"motionfactor\" 4\n\
         MotionBegin [0 1]\nTranslate 0 0 0\nTranslate 1 0.5 -0.3\nMotionEnd\nMotionBegin [0 1]\nRotate 0 0 0 1\nRotate 50 0 0 1\nMotionEnd\n\
         Scale 2.2 2.2 1\nPatchMesh \"bicubic\" 13 \"nonperiodic\" 13 \"nonperiodic\" \"P\" [{points}]"
    );
    let (loose, fine) = (
        scene(4, "Shutter 0 1", &world),
        scene(4, "Shutter 0 1", &world.replace("\"motionfactor\" 4", "\"motionfactor\" 0")),
    );
    assert!(loose.micropolygons < fine.micropolygons / 2, "{} of {}", loose.micropolygons, fine.micropolygons);
    let picture = loose.clean("a.exr");
    assert!(picture.channel("A").iter().all(|alpha| *alpha == 1.0));
}

/// A sphere of radius 6 pixels as a primitive solid, with its own motion.
const MOVING_BALL: &str = "TransformBegin\nMotionBegin [0 1]\nTranslate -4 0 5\nTranslate 4 0 5\nMotionEnd\n\
    SolidBegin \"primitive\"\nSphere 1.5 -1.5 1.5 360\nSolidEnd\nTransformEnd\n";

#[test]
fn moving_solids_are_cut_at_every_time() {
    // All that is left of the middle stands still.
    let left = "SolidBegin \"primitive\"\nPointsPolygons [4 4 4 4 4 4] [0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4 1 5 7 3] \
        \"P\" [-9 -9 1 0 -9 1 -9 9 1 0 9 1 -9 -9 9 0 -9 9 -9 9 9 0 9 9]\nSolidEnd\n";
    let all = swept(|t| 16.0 + 32.0 * t);
    let side = |right: bool| -> Vec<f64> {
        all.iter().enumerate().map(|(x, sum)| if (x >= SIZE / 2) == right { *sum } else { 0.0 }).collect()
    };
    let solid = |operation: &str| format!("SolidBegin \"{operation}\"\n{MOVING_BALL}{left}SolidEnd\n");
    assert_profile(&picture(8, "Shutter 0 1", &solid("difference")), &side(true), 0.25);
    assert_profile(&picture(8, "Shutter 0 1", &solid("intersection")), &side(false), 0.25);
    let half = format!("Opacity 0.5 0.5 0.5\n{}", solid("difference"));
    // Its front and its back.
    let both: Vec<f64> = side(true).iter().map(|sum| 0.75 * sum).collect();
    assert_profile(&picture(8, "Shutter 0 1", &half), &both, 0.25);
}

#[test]
fn levels_of_detail_share_the_samples_of_what_moves() {
    // Of 1024 pixels, a quarter of the way from 512 to 2560.
    let levels = "Detail [-4 4 -4 4 0 0]\nMotionBegin [0 1]\nTranslate -4 0 0\nTranslate 4 0 0\nMotionEnd\n\
        DetailRange [0 0 512 2560]\nColor [1 0 0]\nDisk 0 1.5 360\n\
        DetailRange [512 2560 1e38 1e38]\nColor [0 1 0]\nDisk 0 1.5 360";
    for opacity in [1.0, 0.5] {
        let world = format!("Opacity {opacity} {opacity} {opacity}\n{levels}");
        let picture = picture(8, "Shutter 0 1", &world);
        let line: Vec<f64> = swept(|t| 16.0 + 32.0 * t).iter().map(|sum| opacity * sum).collect();
        assert_profile(&picture, &line, 0.3);
        let sum = |channel| columns(&picture, channel).iter().sum::<f64>();
        assert!((sum("G") / sum("A") - 0.25).abs() < 0.02, "{} of {}", sum("G"), sum("A"));
        assert!((sum("R") + sum("G") - sum("A")).abs() < 0.5);
    }
}

/// Requests for a shape whose points are shifted along x.
fn shifted(request: impl Fn(&str) -> String, points: &[[f64; 3]], by: f64) -> String {
    request(&points.iter().map(|[x, y, z]| format!("{} {y} {z} ", x + by)).collect::<String>())
}

#[track_caller]
fn assert_moves_alike(before: &str, points: &[[f64; 3]], request: impl Fn(&str) -> String) {
    let [at, first, last] = [0.0, -4.0, 4.0].map(|by| shifted(&request, points, by));
    let view = format!("Translate 0 0 5\nRotate 30 1 0 0\n{before}");
    let of_shape = picture(16, "Shutter 0 1", &format!("{view}MotionBegin [0 1]\n{first}{last}MotionEnd"));
    let motion = "MotionBegin [0 1]\nTranslate -4 0 0\nTranslate 4 0 0\nMotionEnd\n";
    let of_transformation = picture(16, "Shutter 0 1", &format!("{view}{motion}{at}"));
    let (found, expected) = (columns(&of_shape, "A"), columns(&of_transformation, "A"));
    let all: f64 = expected.iter().sum();
    let off: f64 = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs()).sum();
    assert!(all > 20.0 && off < 1e-3 * all, "{off} of {all}: {at}");
}

#[test]
fn shapes_of_all_kinds_move_as_with_a_transformation() {
    let cube: Vec<[f64; 3]> =
        (0..8).map(|i| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -2.0 } else { 2.0 })).collect();
    let octahedron =
        [[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, -2.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, -2.0]];
    let catmull_clark = |points: &str| {
        format!(
            "SubdivisionMesh \"catmull-clark\" [4 4 4 4 4 4] [0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4 1 5 7 3] \
             [\"crease\"] [2 1] [0 1] [2] \"P\" [{points}]\n"
        )
    };
    let loops = |points: &str| {
        format!(
            "SubdivisionMesh \"loop\" [3 3 3 3 3 3 3 3] [0 2 4 2 1 4 1 3 4 3 0 4 2 0 5 1 2 5 3 1 5 0 3 5] \"P\" [{points}]\n"
        )
    };
    let square =
        [[-2.0, -2.0, 0.0], [0.0, -2.0, 0.0], [2.0, -2.0, 0.0], [-2.0, 2.0, 0.0], [0.0, 2.0, 0.0], [2.0, 2.0, 0.0]];
    let trimmed = |points: &str| format!("NuPatch 3 2 [-1 -1 1 3 3] -1 3 2 2 [0 0 1 1] 0 1 \"P\" [{points}]\n");
    let trim = "TrimCurve [1] [2] [0 0 1 2 3 3] [0] [3] [4] [0 2 1 0] [.25 .25 .75 .25] [1 1 1 1]\n";
    assert_moves_alike("", &cube, catmull_clark);
    assert_moves_alike("", &octahedron, loops);
    assert_moves_alike(trim, &square, trimmed);
    let blob = |points: &str| {
        let p: Vec<&str> = points.split_whitespace().collect();
        let (ends, middle, unit) = (p[..6].join(" "), p[6..].join(" "), "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1");
        format!("Blobby 2 [1002 0 1001 23 0 2 0 1] [{ends} 1.5 {unit} 2 0 0 0 0 3 0 0 0 0 2 0 {middle} 1] [\"\"]\n")
    };
    assert_moves_alike("", &[[-2.0, -1.0, 0.0], [2.0, 0.0, 1.0], [0.5, 1.0, 0.0]], blob);
}
