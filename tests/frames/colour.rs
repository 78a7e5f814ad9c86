//! Colours that are known: planes, layers, light, exposure, variables.

use super::{TestScene, check, draw};

const PIXELS: &str = "ScreenWindow -4 4 -4 4\nTranslate 0 0 5\n";
const PLANE: &str = "Patch \"bilinear\" \"P\" [-9 -9 0  9 -9 0  -9 9 0  9 9 0]";

fn plane(options: &str, world: &str) -> super::FramePicture {
    TestScene::new(&format!("{options}\n{PIXELS}"), &format!("{world}\n{PLANE}")).picture("rgba")
}

#[test]
fn a_constant_plane_is_exact() {
    let picture = plane("PixelFilter \"box\" 1 1", "Color [0.25 0.625 0.875]\nSurface \"constant\"");
    for (channel, value) in [("R", 0.25), ("G", 0.625), ("B", 0.875), ("A", 1.0)] {
        assert!(picture.channel(channel).iter().all(|&v| v == value), "{channel}");
    }
}

#[test]
fn layers_of_one_opacity_add_up_as_a_geometric_series() {
    for (count, opacity) in [(1, 0.5), (2, 0.5), (3, 0.25), (5, 0.3), (9, 0.1), (24, 0.125)] {
        let layers: String = (0..count).map(|_| format!("Translate 0 0 0.1\n{PLANE}\n")).collect();
        let world = format!("Surface \"constant\"\nColor [1 0.5 0]\nOpacity [{opacity} {opacity} {opacity}]\n{layers}");
        let picture = TestScene::new(PIXELS, &world).picture("rgba");
        let wanted = 1.0 - f64::powi(1.0 - opacity, count);
        check(&picture, "A", 1e-5, |_, _| wanted);
        check(&picture, "R", 1e-5, |_, _| wanted);
        check(&picture, "G", 1e-5, |_, _| 0.5 * wanted);
    }
}

#[test]
fn more_layers_over_a_pixel_than_fit_a_list_are_composited_in_depth_intervals() {
    const LAYERS: u32 = 3000;
    let opacity = 0.001;
    // In no order of depth: 1009 has no factor in common with 3000.
    let layers = || (0..LAYERS).map(|k| k * 1009 % LAYERS);
    let far = |layer: u32| f64::from(layer) / f64::from(LAYERS);
    let points: String = layers().map(|k| format!("-9 -9 {0} 9 -9 {0} 9 9 {0} -9 9 {0}\n", far(k))).collect();
    let colours: String = layers().map(|k| format!("{0} 1 {0}\n", far(k))).collect();
    let corners: Vec<String> = (0..4 * LAYERS).map(|corner| corner.to_string()).collect();
    let world = format!(
        "Surface \"constant\"\nOpacity [{opacity} {opacity} {opacity}]\nPointsPolygons [{}] [{}] \"P\" [{points}] \"uniform color Cs\" [{colours}]",
        "4 ".repeat(LAYERS as usize),
        corners.join(" ")
    );
    let picture = TestScene::new(
        "Format 3 3 1\nPixelSamples 2 2\nProjection \"orthographic\"\nShadingRate 100\nTranslate 0 0 1",
        &world,
    )
    .picture("rgba");
    let through = |layers: u32| f64::powi(1.0 - opacity, layers.cast_signed());
    let red: f64 = (0..LAYERS).map(|k| opacity * through(k) * far(k)).sum();
    check(&picture, "R", 1e-4, |_, _| red);
    check(&picture, "G", 1e-4, |_, _| 1.0 - through(LAYERS));
    check(&picture, "A", 1e-4, |_, _| 1.0 - through(LAYERS));
}

#[test]
fn layers_are_composited_front_to_back_whatever_their_order_in_the_file() {
    let layer =
        |z: f64, colour: &str| format!("TransformBegin\nTranslate 0 0 {z}\nColor [{colour}]\n{PLANE}\nTransformEnd\n");
    let (front, middle, back) = (layer(-1.0, "1 0 0"), layer(0.0, "0 1 0"), layer(1.0, "0 0 1"));
    for order in [[&front, &middle, &back], [&back, &middle, &front], [&middle, &front, &back]] {
        let world = format!("Surface \"constant\"\nOpacity [0.5 0.5 0.5]\n{}{}{}", order[0], order[1], order[2]);
        let picture = TestScene::new(PIXELS, &world).picture("rgba");
        for (channel, value) in [("R", 0.5), ("G", 0.25), ("B", 0.125), ("A", 0.875)] {
            check(&picture, channel, 1e-6, |_, _| value);
        }
    }
}

#[test]
fn opacity_filters_each_colour_on_its_own() {
    let world = format!(
        "Surface \"constant\"\nColor [0 0 0]\nOpacity [0.75 0.5 0]\n{PLANE}\nTranslate 0 0 1\nOpacity [1 1 1]\nColor [0.5 1 1]"
    );
    let picture = plane("", &world);
    for (channel, value) in [("R", 0.125), ("G", 0.5), ("B", 1.0)] {
        check(&picture, channel, 1e-6, |_, _| value);
    }
}

#[test]
fn a_matte_surface_leaves_a_hole() {
    let world =
        format!("Surface \"constant\"\nTransformBegin\nMatte 1\n{PLANE}\nTransformEnd\nMatte 0\nTranslate 0 0 1");
    let picture = plane("", &world);
    check(&picture, "A", 0.0, |_, _| 0.0);
    check(&picture, "R", 0.0, |_, _| 0.0);
}

#[test]
fn matte_takes_the_cosine_of_a_distant_light() {
    for degrees in [0.0_f64, 25.0, 60.0, 85.0, 120.0] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let light = format!(
            "LightSource \"distantlight\" 1 \"intensity\" [0.8] \"from\" [{sine} 0 {}] \"to\" [0 0 0]",
            -cosine
        );
        let picture = plane("", &format!("{light}\nSurface \"matte\" \"Kd\" [0.5]"));
        check(&picture, "R", 1e-5, |_, _| 0.4 * cosine.max(0.0));
    }
}

#[test]
fn a_point_light_is_weaker_with_the_square_of_the_distance() {
    let light = "LightSource \"pointlight\" 1 \"intensity\" [9] \"from\" [0 0 -3]";
    let picture = plane("ShadingRate 0.25", &format!("{light}\nSurface \"matte\""));
    check(&picture, "R", 0.01, |x, y| {
        let at = |i: usize| (i as f64 + 0.5 - 32.0) / 8.0;
        let square = at(x).powi(2) + at(y).powi(2) + 9.0;
        9.0 / square * 3.0 / square.sqrt()
    });
}

#[test]
fn a_sphere_is_lit_by_its_normal() {
    let light = "LightSource \"distantlight\" 1 \"from\" [0.6 0 -0.8] \"to\" [0 0 0]";
    // The pole faces the eye: nothing is special about it.
    for turn in ["", "Rotate 90 1 0 0\n", "Rotate 35 1 0.5 0.25\n"] {
        let world = format!("{light}\nSurface \"matte\"\nShadingRate 0.25\n{turn}Sphere 3.5 -3.5 3.5 360");
        let picture = TestScene::new(PIXELS, &world).picture("rgba");
        for (x, y) in picture.coordinates() {
            let at = |i: usize| (i as f64 + 0.5 - 32.0) / 8.0 / 3.5;
            let square = 1.0 - at(x).powi(2) - at(y).powi(2);
            if square > 0.1 {
                let wanted = (0.6 * at(x) + 0.8 * square.sqrt()).max(0.0);
                let found = picture.at("R", x, y);
                assert!((found - wanted).abs() < 0.03, "{turn}pixel {x}, {y}: {found} instead of {wanted}");
            }
        }
    }
}

#[test]
fn ambient_light_and_illuminate() {
    let lights = "LightSource \"ambientlight\" 1 \"intensity\" [0.25]\nLightSource \"distantlight\" \"a\" \"intensity\" [0.5]\nLightSource \"distantlight\" 7 \"intensity\" [0.125]\n";
    for (switches, value) in [("", 0.875), ("Illuminate \"a\" 0", 0.375), ("Illuminate 7 0\nIlluminate 1 0", 0.5)] {
        let picture = plane("", &format!("{lights}{switches}\nSurface \"matte\""));
        check(&picture, "R", 1e-6, |_, _| value);
    }
}

#[test]
fn exposure_is_gain_then_gamma() {
    let picture = plane("Exposure 2 2", "Color [0.125 0.5 0.02]\nSurface \"constant\"");
    for (channel, value) in [("R", 0.5), ("G", 1.0), ("B", 0.2)] {
        check(&picture, channel, 1e-5, |_, _| value);
    }
    check(&picture, "A", 0.0, |_, _| 1.0);
}

#[test]
fn fog_fades_with_the_distance() {
    let fog = "Atmosphere \"fog\" \"distance\" [4] \"background\" [0 1 0]\nColor [1 0 0]\nSurface \"constant\"\n";
    let world = format!("{fog}{PLANE}");
    let picture = TestScene::new("Projection \"perspective\" \"fov\" [2]\nTranslate 0 0 5\n", &world).picture("rgba");
    let kept = f64::exp(-5.0 / 4.0);
    check(&picture, "R", 1e-3, |_, _| kept);
    check(&picture, "G", 1e-3, |_, _| 1.0 - kept);
}

#[test]
fn varying_values_are_linear_on_a_patch_and_reach_variables() {
    let patch =
        "Patch \"bilinear\" \"P\" [-4 -4 0  4 -4 0  -4 4 0  4 4 0] \"varying color Cs\" [0 0 0  1 0 0  0 1 0  1 1 0]";
    let world = format!("Surface \"constant\"\nShadingRate 0.25\n{patch}");
    let part = |i: usize| (i as f64 + 0.5) / 64.0;
    let picture = TestScene::new(&format!("PixelFilter \"box\" 1 1\n{PIXELS}"), &world).picture("rgba");
    check(&picture, "R", 0.012, |x, _| part(x));
    check(&picture, "G", 0.012, |_, y| 1.0 - part(y));
    for (name, right) in [("s", true), ("t", false), ("u", true), ("v", false)] {
        let picture = TestScene::new(PIXELS, &world).picture(&format!("varying float {name}"));
        let inside = |i: usize| (2..62).contains(&i);
        for (x, y) in picture.coordinates().filter(|&(x, y)| inside(x) && inside(y)) {
            let found = f64::from(picture.channels[0].1[y * 64 + x]);
            let wanted = if right { part(x) } else { 1.0 - part(y) };
            assert!((found - wanted).abs() < 0.012, "{name} at {x}, {y}: {found} instead of {wanted}");
        }
    }
}

#[test]
fn sides_1_leaves_out_what_faces_away() {
    // The patch's normal points away from the eye unless its orientation is reversed.
    let forward = PLANE.replace("-9 -9 0  9 -9 0  -9 9 0  9 9 0", "9 -9 0  -9 -9 0  9 9 0  -9 9 0");
    for (attributes, shape, alpha) in [
        ("Sides 2", PLANE, 1.0),
        ("Sides 1", PLANE, 0.0),
        ("Sides 1\nReverseOrientation", PLANE, 1.0),
        ("Sides 1\nOrientation \"rh\"", PLANE, 1.0),
        ("Sides 1", forward.as_str(), 1.0),
        ("Sides 1\nOrientation \"inside\"", forward.as_str(), 0.0),
        ("Sides 1\nScale -1 1 1", PLANE, 0.0),
        // An orientation follows the coordinate system, and may be set again.
        ("Orientation \"lh\"\nScale -1 1 1\nSides 1", PLANE, 0.0),
        ("Scale -1 1 1\nOrientation \"lh\"\nSides 1", PLANE, 1.0),
    ] {
        let world = format!("Surface \"constant\"\n{attributes}\n{shape}");
        let picture = TestScene::new(PIXELS, &world).picture("rgba");
        check(&picture, "A", 0.0, |_, _| alpha);
        assert_eq!(picture.at("A", 9, 9), alpha, "{attributes}");
    }
}

/// Bytes of a TIFF of 8 bits.
fn quantized(quantize: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let text = format!(
        "Format 64 64 1\nPixelFilter \"box\" 1 1\nDisplay \"a.tif\" \"tiff\" \"rgb\"\n{quantize}\n{PIXELS}WorldBegin\n\
         Color [0.5 0.25 0]\nSurface \"constant\"\n{PLANE}\nWorldEnd\n"
    );
    std::fs::write(folder.path().join("a.rib"), text).expect("writable");
    assert!(draw(folder.path(), &["a.rib"]).is_empty());
    let file = std::fs::File::open(folder.path().join("a.tif")).expect("written");
    match tiff::decoder::Decoder::new(file).and_then(|mut decoder| decoder.read_image()).expect("a TIFF") {
        tiff::decoder::DecodingResult::U8(bytes) => bytes,
        _ => panic!("not of 8 bits"),
    }
}

#[test]
fn quantization_rounds_and_dither_keeps_the_mean() {
    let plain = quantized("Quantize \"rgba\" 255 0 255 0");
    assert!(plain.chunks(3).all(|p| p == [128, 64, 0]), "{:?}", &plain[..3]);
    let limited = quantized("Quantize \"rgba\" 100 30 40 0");
    assert!(limited.chunks(3).all(|p| p == [40, 30, 30]), "{:?}", &limited[..3]);
    let dithered = quantized("Quantize \"rgba\" 255 0 255 0.5");
    let reds: Vec<f64> = dithered.chunks(3).map(|p| f64::from(p[0])).collect();
    let mean = reds.iter().sum::<f64>() / reds.len() as f64;
    assert!(reds.iter().all(|r| (127.0..=128.0).contains(r)) && (mean - 127.5).abs() < 0.05, "{mean}");
}
