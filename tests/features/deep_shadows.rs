//! Deep shadow maps: `Display "f.dshad" "deepshad" "deepopacity"` (Lokovic and Veach 2000).

use super::{draw, draw_with};
use anthill::deep::{DeepReader, TILE_SIDE, Visibility};
use anthill::film::DisplayState::Whole;
use std::fs::File;
use std::path::Path;

/// The function of a pixel of the first tile.
fn light(file: &Path, [x, y]: [u32; 2]) -> Visibility {
    let mut file = File::open(file).expect("it was written");
    let reader = DeepReader::open(&mut file).expect("it is a deep file");
    let width = reader.header().size[0].min(TILE_SIDE);
    let (tile, _) = reader.read_tile(&mut file, [0, 0]).expect("it is whole");
    tile[(y * width + x) as usize].clone()
}

/// Cards of half opacity at 2 and 3, and an opaque one at 5 that covers the left half; a pixel is 0.25 wide.
fn cards(more: &str) -> String {
    let card = |z: f32, right: f32| format!("Polygon \"P\" [-2 -2 {z}  {right} -2 {z}  {right} 2 {z}  -2 2 {z}]\n");
    format!(
        "Format 8 8 1\nScreenWindow -1 1 -1 1\nPixelSamples 4 4\nHider \"hidden\" \"jitter\" [0]\n\
         Display \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\n{more}WorldBegin\nSurface \"constant\"\n\
         Opacity 0.5 0.5 0.5\n{}{}Opacity 1 1 1\n{}WorldEnd\n",
        card(2.0, 2.0),
        card(3.0, 2.0),
        card(5.0, 0.125)
    )
}

#[test]
fn half_opaque_cards_let_half_of_the_light_through() {
    let scene = draw(&cards("Display \"+$DIR/a.exr\" \"exr\" \"rgba\"\n"));
    assert_eq!((scene.messages.clone(), scene.displays.clone()), (vec![], vec![Whole; 2]));
    let depths = [1.0, 2.5, 4.0, 6.0];
    for (x, behind) in [(1, 0.0), (4, 0.125), (6, 0.25)] {
        let light = light(&scene.folder().join("d.dshad"), [x, 3]);
        assert_eq!(depths.map(|z| light.at(z)), [1.0, 0.5, 0.25, behind], "column {x}: {light:?}");
    }
    // The picture beside it is the same as without it.
    let alone = draw(&cards("").replace("d.dshad\" \"deepshad\" \"deepopacity", "a.exr\" \"exr\" \"rgba"));
    assert_eq!(scene.picture("a.exr").rgb(4, 3), alone.clean("a.exr").rgb(4, 3));
}

#[test]
fn nothing_is_lit_behind_what_passes_the_opacity_threshold() {
    let scene = draw(&cards("Option \"limits\" \"color othreshold\" [0.7 0.7 0.7]\n"));
    let light = light(&scene.folder().join("d.dshad"), [6, 3]);
    assert_eq!([2.5, 3.5].map(|z| light.at(z)), [0.5, 0.0], "{light:?}");
}

/// A card of one micropolygon whose opacity runs from 0 at x = -2 to 1 at 2 and moves by 0.8 to the right.
#[test]
fn smooth_opacities_of_what_moves_are_those_at_the_time_of_each_sample() {
    let scene = draw_with(
        &[("veil.sl", "surface veil() { Oi = s; Ci = Oi * Cs; }")],
        "Format 8 8 1\nScreenWindow -1 1 -1 1\nPixelSamples 4 4\nHider \"hidden\" \"jitter\" [0]\nShutter 0 1\n\
         Display \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\nWorldBegin\nSurface \"veil\"\nShadingRate 1024\n\
         ShadingInterpolation \"smooth\"\nMotionBegin [0 1]\nTranslate 0 0 3\nTranslate 0.8 0 3\nMotionEnd\n\
         Patch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\nWorldEnd\n",
    );
    assert_eq!(scene.messages, Vec::<String>::new());
    for x in [0, 3, 7] {
        let light = light(&scene.folder().join("d.dshad"), [x, 3]);
        let middle = (x as f32 + 0.5) / 4.0 - 1.0;
        let expected = 1.0 - (middle - 0.4 + 2.0) / 4.0;
        assert!((light.at(4.0) - expected).abs() < 0.01, "column {x}: {expected}, {light:?}");
    }
}

/// A slab of 200 thin cards: a line within the tolerance.
#[test]
fn many_thin_layers_become_few_knots() {
    let card = |i: u32| format!("Disk {} 4 360\n", 2.0 + 0.01 * i as f32);
    let cards: String = (0..200).map(card).collect();
    for (error, most) in [(0.01, 12), (0.05, 6)] {
        let scene = draw(&format!(
            "Format 4 4 1\nScreenWindow -1 1 -1 1\nPixelSamples 2 2\nOption \"limits\" \"float deepshadowerror\" [{error}]\n\
             Display \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\nWorldBegin\nSurface \"constant\"\nOpacity 0.01 0.01 0.01\n\
             {cards}WorldEnd\n"
        ));
        assert_eq!(scene.messages, [] as [&str; 0]);
        let light = light(&scene.folder().join("d.dshad"), [1, 1]);
        assert!(light.knots().len() <= most, "{light:?}");
        for layers in [10, 50, 120, 199_u16] {
            let (found, truth) = (light.at(2.005 + 0.01 * f32::from(layers)), 0.99_f32.powi(i32::from(layers) + 1));
            assert!((found - truth).abs() < error + 1e-4, "{found} for {truth} behind {layers} layers");
        }
    }
}

/// A stack of cards at depths that repeat, more than a sample's layers are sorted by insertion, each covering another
/// part of a pixel, in front of an opaque wall: what is left is the mean over the samples, with any memory.
#[test]
fn light_is_the_mean_of_all_samples_behind_every_card() {
    let edge = |i: usize| -1.0 + 0.05 * (i % 8) as f32;
    let z = |i: usize| 2.0 + 0.25 * (i / 5) as f32;
    let card = |i: usize| format!("Polygon \"P\" [{0} -2 {1}  2 -2 {1}  2 2 {1}  {0} 2 {1}]\n", edge(i), z(i));
    let cards: String = (0..60).map(card).collect();
    for (side, samples) in [(4, 16), (8, 64), (33, 1089)] {
        let scene = draw(&format!(
            "Format 1 1 1\nScreenWindow -1 -0.5 -0.25 0.25\nPixelFilter \"box\" 1 1\nPixelSamples {side} {side}\nHider \"hidden\" \"jitter\" [0]\n\
             Option \"limits\" \"float deepshadowerror\" [0.0]\n\
             Display \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\nWorldBegin\nSurface \"constant\"\n\
             Opacity 0.1 0.2 0.3\n{cards}Opacity 1 1 1\nDisk 8 4 360\nWorldEnd\n"
        ));
        assert_eq!(scene.messages, [] as [&str; 0]);
        let light = light(&scene.folder().join("d.dshad"), [0, 0]);
        // Columns of samples are 0.5 / side wide.
        let column = |i: u32| -1.0 + 0.5 * (i as f32 + 0.5) / side as f32;
        for behind in [2.1_f32, 3.1, 4.1, 4.6, 7.0] {
            let sample = |i: u32| -> f32 {
                let seen = (0..60).filter(|&card| z(card) < behind && edge(card) < column(i)).count() as i32;
                let through = [0.9_f32, 0.8, 0.7].map(|each| each.powi(seen));
                if through.iter().all(|each| *each <= 0.004) { 0.0 } else { through.iter().sum::<f32>() / 3.0 }
            };
            let truth = (0..side).map(sample).sum::<f32>() / side as f32;
            let found = light.at(behind);
            assert!((found - truth).abs() < 1e-4, "{samples} samples, {behind}: {found} for {truth}");
        }
        assert_eq!(light.at(9.0), 0.0);
    }
}

/// More thin cards than a cell lists at once, and an opaque one among the first over half of a pixel: what is listed
/// later is lost in the other half, and comes on top of what the opaque card took.
#[test]
fn an_opaque_surface_takes_no_light_from_later_slabs() {
    let card = |i: u32| format!("Disk {} 8 360\n", 2.0 + 0.01 * i as f32);
    let cards: String = (0..900).map(card).collect();
    let scene = draw(&format!(
        "Format 9 9 1\nScreenWindow -1 1 -1 1\nPixelSamples 4 4\nHider \"hidden\" \"jitter\" [0]\n\
         Display \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\nWorldBegin\nSurface \"constant\"\n\
         Opacity 0.002 0.002 0.002\n{cards}Opacity 1 1 1\nPolygon \"P\" [-2 -2 3  0 -2 3  0 2 3  -2 2 3]\nWorldEnd\n"
    ));
    assert_eq!(scene.messages, [] as [&str; 0]);
    let light = light(&scene.folder().join("d.dshad"), [4, 4]);
    for (behind, cards) in [(2.505_f32, 51), (3.505, 151), (7.005, 501), (12.0, 900)] {
        let through = 0.998_f32.powi(cards);
        let truth = if behind < 3.0 { through } else { 0.5 * through };
        assert!((light.at(behind) - truth).abs() < 0.011, "{} for {truth} at {behind}", light.at(behind));
    }
}

/// The middle pixel of a map of what `world` draws.
fn middle(projection: &str, world: &str) -> Visibility {
    let scene = draw(&format!(
        "Format 9 9 1\nScreenWindow -1 1 -1 1\nPixelSamples 2 2\n{projection}\nOption \"limits\" \"float deepshadowerror\" [0.0]\n\
         Display \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\nWorldBegin\nSurface \"constant\"\n{world}WorldEnd\n"
    ));
    assert_eq!(scene.messages, [] as [&str; 0]);
    light(&scene.folder().join("d.dshad"), [4, 4])
}

/// Fog makes cards of half opacity at 2 and 4 denser, each by its distance.
#[test]
fn an_atmosphere_takes_light_at_the_surfaces_in_it() {
    let card = |z: f32| format!("Polygon \"P\" [-9 -9 {z}  9 -9 {z}  9 9 {z}  -9 9 {z}]\n");
    let fog = "Opacity 0.5 0.5 0.5\nAtmosphere \"fog\" \"distance\" [2]\n";
    let light = middle("Projection \"perspective\" \"fov\" [5]", &format!("{fog}{}{}", card(2.0), card(4.0)));
    let near = 0.5 * (-1.0_f32).exp();
    for (z, truth) in [(1.9, 1.0), (3.0, near), (4.1, near * 0.5 * (-2.0_f32).exp())] {
        assert!((light.at(z) - truth).abs() < 1e-3, "{} for {truth} at {z}", light.at(z));
    }
}

/// Two spheres behind each other, from 4 to 6 and from 4.5 to 6.5: light is lost where a sample enters what is left of
/// them and where it leaves it.
#[test]
fn solids_take_light_where_they_are_entered_and_left() {
    let ball = |z: f32| {
        format!(
            "SolidBegin \"primitive\"\nTransformBegin\nTranslate 0 0 {z}\nSphere 1 -1 1 360\nTransformEnd\nSolidEnd\n"
        )
    };
    let places = [3.9, 4.25, 4.75, 5.75, 6.25, 6.6];
    let solid = |operation: &str, opacity: f32| {
        let balls = format!("{}{}", ball(5.0), ball(5.5));
        let colour = format!("ShadingRate 0.1\nOpacity {opacity} {opacity} {opacity}\n");
        let light = middle("", &format!("{colour}SolidBegin \"{operation}\"\n{balls}SolidEnd\n"));
        places.map(|z| light.at(z))
    };
    for (operation, opacity, truth) in [
        ("union", 0.5, [1.0, 0.5, 0.5, 0.5, 0.5, 0.25]),
        ("difference", 0.5, [1.0, 0.5, 0.25, 0.25, 0.25, 0.25]),
        ("intersection", 0.5, [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]),
        ("intersection", 1.0, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    ] {
        let found = solid(operation, opacity);
        let near = found.iter().zip(truth).all(|(found, truth)| (found - truth).abs() < 1e-3);
        assert!(near, "{operation} of opacity {opacity}: {found:?}");
    }
}

/// Strands from left to right at depths from 3 to 7, each bent and leaning into the depth.
fn strands() -> String {
    let mut seed = 1_u32;
    let mut number = |low: f32, high: f32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (high - low) * (seed >> 8) as f32 / 16_777_216.0
    };
    let strand = |_| {
        let (y, z) = (number(-1.0, 1.0), number(3.5, 6.5));
        let points =
            [-1.2_f32, -0.4, 0.4, 1.2].map(|x| format!("{x} {} {}", y + number(-0.4, 0.4), z + number(-0.5, 0.5)));
        format!("Curves \"cubic\" [4] \"nonperiodic\" \"P\" [{}] \"constantwidth\" [0.12]\n", points.join("  "))
    };
    (0..120).map(strand).collect()
}

/// What pictures that end at a depth let through is the light there: those of the same samples, composited.
#[test]
fn hair_lets_through_what_pictures_up_to_a_depth_do() {
    let depths = [3.5_f32, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.5];
    let strands = strands();
    let frame = |number: usize, display: String| {
        format!(
            "FrameBegin {number}\nFormat 16 16 1\nPixelSamples 6 6\nPixelFilter \"box\" 1 1\nScreenWindow -1 1 -1 1\n{display}\n\
             WorldBegin\nSurface \"constant\"\nOpacity 0.4 0.4 0.4\n{strands}WorldEnd\nFrameEnd\n"
        )
    };
    let picture = |(number, z): (usize, f32)| {
        let display = format!("Display \"$DIR/{number}.exr\" \"exr\" \"rgba\" \"string exrpixeltype\" \"float\"");
        frame(number, format!("Clipping 0.1 {z}\n{display}"))
    };
    let pictures: String = (0..).zip(depths).map(picture).collect();
    let deep = frame(99, "Display \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"".into());
    let scene = draw(&format!("{pictures}{deep}"));
    assert_eq!(scene.messages, [] as [&str; 0]);
    let mut errors = Vec::new();
    for (number, z) in (0..).zip(depths) {
        let picture = scene.picture(&format!("{number}.exr"));
        for (pixel, alpha) in (0..).zip(picture.channel("A")) {
            let found = light(&scene.folder().join("d.dshad"), [pixel % 16, pixel / 16]).at(z);
            errors.push((found - (1.0 - alpha)).abs());
        }
    }
    let mean = errors.iter().sum::<f32>() / errors.len() as f32;
    let largest = errors.iter().copied().fold(0.0, f32::max);
    assert!(mean > 0.0 && mean < 0.005 && largest < 0.022, "mean {mean}, largest {largest}");
}

/// A light above cards of half opacity at y = 2 and 1 lights a floor: `shadow()` reads the deep map.
#[test]
fn shadows_are_as_deep_as_the_map_says() {
    let quad = |y: f32, right: f32| format!("Polygon \"P\" [-9 {y} -9  {right} {y} -9  {right} {y} 9  -9 {y} 9]\n");
    let view = "ScreenWindow -4 4 -4 4\nPixelSamples 2 2\nTranslate 0 0 10\nRotate -90 1 0 0\nWorldBegin\n";
    let scene = draw(&format!(
        "FrameBegin 1\nFormat 100 100 1\nDisplay \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\n{view}\
         Surface \"constant\"\nOpacity 0.5 0.5 0.5\n{}{}WorldEnd\nFrameEnd\n\
         FrameBegin 2\nFormat 32 32 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\n{view}\
         LightSource \"shadowdistant\" 1 \"from\" [0 9 0] \"to\" [0 0 0] \"string shadowname\" [\"$DIR/d.dshad\"]\n\
         Surface \"matte\" \"Ka\" [0] \"Kd\" [1]\n{}WorldEnd\nFrameEnd\n",
        quad(2.0, 1.0),
        quad(1.0, -1.0),
        quad(0.0, 9.0)
    ));
    let picture = scene.clean("a.exr");
    let found = [-3.0_f32, 0.0, 3.0].map(|x| picture.rgb(((x + 4.0) * 4.0) as usize, 16)[0]);
    assert!((found[2] - 1.0).abs() < 1e-3, "{found:?}");
    assert!((found[0] - 0.25).abs() < 1e-3 && (found[1] - 0.5).abs() < 1e-3, "{found:?}");
}
