//! Depth, and displacement, which moves it.

use super::{TestScene, check};

const PERSPECTIVE: &str = "Projection \"perspective\" \"fov\" [90]\n";

#[test]
fn a_plane_has_its_depth_exactly() {
    let plane = "Surface \"constant\"\nTranslate 0 0 5\nPatch \"bilinear\" \"P\" [-9 -9 0  9 -9 0  -9 9 0  9 9 0]";
    for projection in [PERSPECTIVE, "ScreenWindow -4 4 -4 4\n"] {
        let picture = TestScene::new(projection, plane).picture("z");
        assert!(picture.channel("Z").iter().all(|&z| z == 5.0), "{projection}");
    }
}

#[test]
fn a_sloped_plane_has_the_depth_of_its_nearest_sample() {
    // z = 5 + x / 2; along the ray x = a z it is 5 / (1 - a / 2).
    let plane = "Surface \"constant\"\nPatch \"bilinear\" \"P\" [-9 -20 0.5  20 -20 15  -9 20 0.5  20 20 15]";
    let picture = TestScene::new(&format!("PixelSamples 8 8\n{PERSPECTIVE}"), plane).picture("z");
    let depth = |x: f64| 5.0 / (1.0 - (x - 32.0) / 32.0 / 2.0);
    for (x, y) in picture.coordinates() {
        let (found, left) = (picture.at("Z", x, y), x as f64);
        assert!(depth(left) - 1e-3 <= found && found <= depth(left + 0.3), "pixel {x}, {y}: {found}");
    }
}

#[test]
fn what_is_empty_is_infinitely_far() {
    let picture = TestScene::new(PERSPECTIVE, "Surface \"constant\"\nTranslate 0 0 4\nDisk 0 2 360").picture("z");
    assert_eq!(picture.at("Z", 32, 32), 4.0);
    assert!(picture.at("Z", 1, 1) > 1e30);
}

#[test]
fn a_sphere_is_as_deep_as_its_equation_says() {
    let options = "PixelSamples 1 1\nHider \"hidden\" \"jitter\" [0]\nScreenWindow -2 2 -2 2\nShadingRate 0.25\n";
    let world = "Surface \"constant\"\nTranslate 0 0 5\nRotate 50 1 1 0\nSphere 1.5 -1.5 1.5 360";
    let picture = TestScene::new(options, world).picture("z");
    for (x, y) in picture.coordinates() {
        let at = |i: usize| (i as f64 + 0.5 - 32.0) / 16.0;
        let square = 1.5 * 1.5 - at(x).powi(2) - at(y).powi(2);
        if square > 0.15 {
            let wanted = 5.0 - square.sqrt();
            let found = picture.at("Z", x, y);
            assert!((found - wanted).abs() < 0.01, "pixel {x}, {y}: {found} instead of {wanted}");
        }
    }
}

const LIFT: &str = "displacement lift(float amount = 0;) { P += amount * normalize(N); N = calculatenormal(P); }";

#[test]
fn displacement_moves_a_plane() {
    // N of a patch with u to the right and v up points away from the eye, in a left-handed space.
    let shaders = [("lift", LIFT)];
    for (shape, sign) in [
        ("Patch \"bilinear\" \"P\" [-9 -9 0  9 -9 0  -9 9 0  9 9 0]", 1.0),
        ("Patch \"bilinear\" \"P\" [9 -9 0  -9 -9 0  9 9 0  -9 9 0]", -1.0),
        ("ReverseOrientation\nPatch \"bilinear\" \"P\" [-9 -9 0  9 -9 0  -9 9 0  9 9 0]", -1.0),
    ] {
        for amount in [0.5, -1.25] {
            let bound = "Attribute \"displacementbound\" \"sphere\" [1.3] \"coordinatesystem\" [\"object\"]";
            let world = format!(
                "Surface \"constant\"\nDisplacement \"lift\" \"uniform float amount\" [{amount}]\n{bound}\nTranslate 0 0 5\n{shape}"
            );
            let scene = TestScene { shaders: &shaders, ..TestScene::new("ScreenWindow -4 4 -4 4\n", &world) };
            check(&scene.picture("z"), "Z", 1e-5, |_, _| 5.0 + sign * amount);
        }
    }
}

#[test]
fn what_is_displaced_towards_the_eye_hides_what_stood_in_front() {
    let shaders = [("lift", LIFT)];
    let world = "Surface \"constant\"\nColor [1 0 0]\nAttributeBegin\nTranslate 0 0 4\nDisk 0 2 360\nAttributeEnd\nColor [0 1 0]\n\
        Displacement \"lift\" \"uniform float amount\" [-2]\nAttribute \"displacementbound\" \"sphere\" [2] \"coordinatesystem\" [\"object\"]\n\
        Translate 0 0 5\nPatch \"bilinear\" \"P\" [-9 -9 0  9 -9 0  -9 9 0  9 9 0]";
    let scene = TestScene { shaders: &shaders, ..TestScene::new("ScreenWindow -4 4 -4 4\n", world) };
    let picture = scene.picture("rgba");
    check(&picture, "G", 1e-6, |_, _| 1.0);
    check(&picture, "R", 1e-6, |_, _| 0.0);
}
