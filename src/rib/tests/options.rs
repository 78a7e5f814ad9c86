//! Options: camera, image, displays, limits, the command line.

use super::*;
use crate::scene::{
    Aperture, DepthFilter, Display, DisplayMode, FilterKind, ParamValue, Projection, Quantize, ValueType,
};

fn with(options: &str) -> World {
    clean(&format!("{options}\nWorldBegin\nWorldEnd"))
}

fn option_faults(options: &str) -> Vec<(&'static str, u32)> {
    let outcome = read_text(&format!("{options}\nWorldBegin\nWorldEnd"));
    outcome.messages.iter().map(|message| (message.code, message.location.line)).collect()
}

#[test]
fn defaults() {
    let world = with("");
    let (camera, options) = (&world.camera, &world.options);
    assert_eq!((camera.resolution, camera.pixel_aspect), ([640, 480], 1.0));
    assert_eq!(camera.screen_window, [-4.0 / 3.0, 4.0 / 3.0, -1.0, 1.0]);
    assert_eq!((camera.crop_window, camera.projection), ([0.0, 1.0, 0.0, 1.0], Projection::Orthographic));
    assert_eq!((camera.clip, camera.shutter, camera.depth_of_field), ([1e-10, 1e38], [0.0, 0.0], None));
    assert_eq!(
        (options.pixel_samples, options.filter.kind, options.filter.width),
        ([2, 2], FilterKind::Gaussian, [2.0, 2.0])
    );
    assert_eq!((options.exposure, options.eye_splits, options.opacity_threshold), ([1.0, 1.0], 16, [0.996; 3]));
    let display = &options.displays[0];
    assert_eq!(display.parts[0].mode, DisplayMode::Image { rgb: true, a: true, z: false });
    assert_eq!(display.parts[0].quantize, Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.5 });
    assert!(options.hider.jitter && options.hider.name == "hidden" && options.hider.depth_filter == DepthFilter::Min);
}

#[test]
fn formats_windows_and_aspects() {
    let cases: [(&str, [u32; 2], [f64; 4]); 8] = [
        ("Format 200 100 1", [200, 100], [-2.0, 2.0, -1.0, 1.0]),
        ("Format 100 200 1", [100, 200], [-1.0, 1.0, -2.0, 2.0]),
        ("Format 100 100 2", [100, 100], [-2.0, 2.0, -1.0, 1.0]),
        ("Format 200 100 1\nFrameAspectRatio 1", [100, 100], [-1.0, 1.0, -1.0, 1.0]),
        ("Format 200 100 1\nFrameAspectRatio 4", [200, 50], [-4.0, 4.0, -1.0, 1.0]),
        ("Format 200 100 1\nScreenWindow [0 1 0 1]", [200, 100], [0.0, 1.0, 0.0, 1.0]),
        ("Format -1 -1 -1", [640, 480], [-4.0 / 3.0, 4.0 / 3.0, -1.0, 1.0]),
        ("Format 65000 65000 1", [65_000, 65_000], [-1.0, 1.0, -1.0, 1.0]),
    ];
    for (text, resolution, window) in cases {
        let camera = with(text).camera;
        assert_eq!((camera.resolution, camera.screen_window), (resolution, window), "{text}");
    }
    assert_eq!(option_faults("Format 65001 8 1"), [("range", 1)]);
}

#[test]
fn two_crops_that_share_an_edge_tile() {
    let crop = |window: &str| with(&format!("Format 100 30 1\nCropWindow {window}")).camera.crop_px();
    assert_eq!(crop("0 .333 0 1"), [0, 0, 34, 30]);
    assert_eq!(crop("[.333 1 0 1]"), [34, 0, 100, 30]);
    // Windows that select no pixel, and the smallest that selects one.
    for empty in [".5 .5 0 1", "0 1 1 1", "0 0 0 1", ".501 .509 0 1"] {
        let [x0, y0, x1, y1] = crop(empty);
        assert!(x0 == x1 || y0 == y1, "{empty}: {:?}", [x0, y0, x1, y1]);
    }
    assert_eq!(crop(".50 .501 0 .01"), [50, 0, 51, 1]);
}

/// Windows beyond the picture are cut where there is no overscan, which is said where the window was set.
#[test]
fn crops_beyond_the_picture_need_overscan() {
    let drawn = |options: &str| {
        let outcome = read_text(&format!("Format 100 30 1\n{options}\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"));
        let said: Vec<_> = outcome.messages.iter().map(ToString::to_string).collect();
        (outcome.worlds[0].camera.crop_px(), outcome.worlds[0].camera.whole_px(), said.join("\n"))
    };
    let (cut, whole, said) = drawn("CropWindow -.1 1.2 .5 1");
    assert_eq!((cut, whole), ([0, 15, 100, 30], [0, 0, 100, 30]));
    assert!(
        said.contains(":2:1: warning: at WorldBegin, the crop window -0.1 1.2 0.5 1 goes beyond the picture"),
        "{said}"
    );
    let [x0, _, x1, _] = drawn("CropWindow -1 0 0 1").0;
    assert_eq!(x0, x1, "nothing of the picture");
    assert_eq!(drawn("CropWindow -1e-9 1 0 1").2, "", "less than a pixel");
    let option = "Option \"image\" \"overscan\" 1\n";
    let wide = ([-10, 15, 120, 30], [-10, 0, 120, 30], String::new());
    assert_eq!(drawn(&format!("{option}CropWindow -.1 1.2 .5 1")), wide);
    assert_eq!(drawn(&format!("CropWindow -.1 1.2 .5 1\n{option}")), wide, "in any order");
    // The largest picture, with its overscan.
    let (drawn_px, whole, said) = drawn(&format!("{option}CropWindow -1e30 1e30 0 2000"));
    assert_eq!((drawn_px, whole), ([-5000, 0, 60_000, 60_000], [-5000, 0, 60_000, 60_000]));
    assert!(said.contains(":3:1: error: the crop window ") && said.contains("to pixel 59999 59999 of this"), "{said}");
    for bad in ["1 0 0 1", "0 1 1 -1", "nan 1 0 1", "0 inf 0 1"] {
        let (px, _, said) = drawn(&format!("{option}CropWindow {bad}"));
        assert!(px == [0, 0, 100, 30] && said.contains(":3:"), "{bad}: {px:?} {said}");
    }
}

#[test]
fn projections() {
    assert_eq!(with("Projection \"perspective\"").camera.projection, Projection::Perspective { fov_degrees: 90.0 });
    assert_eq!(
        with("Projection \"perspective\" \"fov\" [40]").camera.projection,
        Projection::Perspective { fov_degrees: 40.0 }
    );
    assert_eq!(
        with("Projection \"perspective\" \"fov\" 40\nProjection \"orthographic\"").camera.projection,
        Projection::Orthographic
    );
    assert_eq!(option_faults("Projection \"perspective\" \"fov\" 180"), [("range", 1)]);
    assert_eq!(option_faults("Projection \"fisheye\""), [("incapable", 1)]);
    // Transformations before the projection are not the camera's.
    let outcome = read_text("Translate 1 2 3\nProjection \"perspective\"\nTranslate 0 0 9\nWorldBegin WorldEnd");
    assert_eq!(outcome.codes(), [("unimplement", 2)]);
    assert_eq!(track(&outcome.world().camera.camera_from_world), [(0.0, [0.0, 0.0, 9.0])]);
}

#[test]
fn the_rest_of_the_camera() {
    let outcome = read_text(
        "Clipping .1 1000\nDepthOfField 2.8 .5 10\nShutter 0 .5\nTranslate 0 0 5\nRotate 90 0 1 0\nClippingPlane 0 0 1 0 0 1\nWorldBegin WorldEnd",
    );
    assert_eq!(outcome.codes(), []);
    let camera = &outcome.world().camera;
    assert_eq!(
        (camera.clip, camera.shutter, camera.depth_of_field),
        ([0.1, 1000.0], [0.0, 0.5], Some([2.8, 0.5, 10.0]))
    );
    // The current z axis is the camera's x axis; the plane is one unit along it, five away.
    assert_eq!(camera.clip_planes, [([1.0, 0.0, 5.0], [1.0, 0.0, 0.0])]);
    assert_eq!(with("DepthOfField 2 1 10\nDepthOfField -").camera.depth_of_field, None);
    assert_eq!(with("DepthOfField 2 1 10\nDepthOfField").camera.depth_of_field, None);
    assert_eq!(with("DepthOfField 1e38 1 10").camera.depth_of_field, None);
    assert_eq!(with("Clipping 0 1e38").camera.clip, [1e-10, 1e38]);
}

#[test]
fn there_may_be_256_clipping_planes() {
    let text = format!("{}WorldBegin WorldEnd", "ClippingPlane 0 0 1 0 0 1\n".repeat(257));
    let outcome = read_text(&text);
    assert_eq!(outcome.codes(), [("limitcheck", 257)]);
    assert_eq!(outcome.world().camera.clip_planes.len(), 256);
}

#[test]
fn options_out_of_range_are_ignored_or_clamped() {
    let cases = [
        ("Format 100000 10 1", "range"),
        ("FrameAspectRatio 0", "range"),
        ("ScreenWindow 1 1 0 1", "range"),
        ("CropWindow 1 0 0 1", "range"),
        ("Clipping 10 1", "range"),
        ("Clipping NaN 1", "range"),
        ("ClippingPlane 0 0 0 0 0 0", "range"),
        ("DepthOfField 0 1 1", "range"),
        ("Shutter 1 0", "range"),
        ("Option \"shutter\" \"shutteropening\" [.6 .4]", "range"),
        ("Option \"shutter\" \"shutteropening\" [-.1 .4]", "range"),
        ("PixelSamples 0 0", "range"),
        ("PixelSamples 9999 2", "range"),
        ("PixelFilter \"box\" 0 1", "range"),
        ("PixelFilter \"bessel\" 4 4", "incapable"),
        ("Exposure 1 0", "range"),
        ("Quantize \"rgq\" 1 0 1 0", "badargument"),
        ("Hider \"raytrace\"", "incapable"),
        ("Hider \"hidden\" \"depthfilter\" \"mean\"", "badargument"),
        ("Hider \"hidden\" \"aperture\" [6 0 2 0]", "range"),
        ("ColorSamples [1 0] [1 0]", "range"),
        ("RelativeDetail -1", "range"),
        ("Option \"unheardof\" \"int x\" 1", "badtoken"),
        ("Option \"limits\" \"unheardof\" 1", "badtoken"),
        ("Option \"limits\" \"gridsize\" \"big\"", "badargument"),
        ("Display \"a\" \"file\" \"rgbx\"", "badtoken"),
        ("Display \"a\" \"file\" \"varying string name\"", "badargument"),
        ("Display \"a\" \"file\" \"rgba,x y\"", "badtoken"),
        ("DisplayChannel \"nothing\"", "badtoken"),
        ("Display \"a\" \"file\" \"rgba\" \"filterwidth\" [0 1]", "range"),
        ("Display \"a\" \"file\" \"rgba\" \"filter\" \"zmin\"", "incapable"),
    ];
    for (text, code) in cases {
        assert_eq!(option_faults(text), [(code, 1)], "{text}");
    }
    let world = read_text("PixelSamples 0 3.4\nWorldBegin WorldEnd").worlds.remove(0);
    assert_eq!(world.options.pixel_samples, [1, 3]);
}

#[test]
fn image_options() {
    let mut outcome = read_text(
        "PixelSamples 5 3 PixelFilter \"catmull-rom\" 4 3 Exposure 2 2.2 PixelVariance .1 RelativeDetail .5\n\
         Hider \"hidden\" \"jitter\" 0 \"depthfilter\" \"midpoint\" \"float[4] aperture\" [6 30 .5 -1]\n\
         Option \"limits\" \"int eyesplits\" [6] \"othreshold\" [.9 .9 .9] \"zthreshold\" [.5 .5 .5] \"gridsize\" 128 \"reserve\" 2000 \"texturememory\" 9000\n\
         Option \"user\" \"string pass\" \"final\"\nOption \"statistics\" \"endofframe\" 1\nOption \"aqsis\" \"x\" 1\nImager \"background\" \"color background\" [1 0 0]\nWorldBegin\nWorldEnd",
    );
    assert_eq!(outcome.codes(), [("incapable", 1), ("badtoken", 3), ("badtoken", 5)]);
    let world = outcome.worlds.remove(0);
    let options = &world.options;
    assert_eq!(
        (options.pixel_samples, options.filter.kind, options.filter.width),
        ([5, 3], FilterKind::CatmullRom, [4.0, 3.0])
    );
    assert_eq!((options.exposure, options.relative_detail), ([2.0, 2.2], 0.5));
    assert_eq!((options.eye_splits, options.opacity_threshold, options.z_threshold), (6, [0.9; 3], [0.5; 3]));
    assert_eq!((options.grid_size, options.reserve_kib, options.texture_memory_kib), (128, 2000, 9000));
    assert!(!options.hider.jitter && options.hider.depth_filter == DepthFilter::Midpoint);
    assert_eq!(options.other["user:pass"], ParamValue::Strings(vec!["final".into()]));
    assert_eq!(options.other["hider:aperture"], ParamValue::Floats(vec![6.0, 30.0, 0.5, -1.0]));
    let aperture = Aperture { sides: 6, angle_degrees: 30.0, roundness: 0.5, density: -1.0 };
    assert_eq!(options.hider.aperture, aperture);
    assert!(options.other.contains_key("Ri:PixelVariance") && options.imager.is_some());
}

#[test]
fn the_stochastic_hider_is_the_hidden_one() {
    let hider = clean("Hider \"stochastic\" \"int jitter\" 0\nWorldBegin\nWorldEnd").options.hider;
    assert_eq!((hider.name.as_str(), hider.jitter), ("hidden", false));
}

#[test]
fn search_paths() {
    let mut settings = Settings::default();
    settings.search.shader = vec!["std".to_owned()];
    let text = "Option \"searchpath\" \"shader\" [\"a:b\"]\nOption \"searchpath\" \"string shader\" \"c:&:@\" \"texture\" \"t\"\nWorldBegin WorldEnd";
    let outcome = read_bytes(text, &settings);
    let search = &outcome.world().options.search;
    assert_eq!((search.shader.join(" "), search.texture.join(" ")), ("c a b std".to_owned(), "t".to_owned()));
    assert_eq!(read_bytes("WorldBegin WorldEnd", &settings).world().options.search.shader, ["std"]);
}

/// Folders of the command line come first, those of the environment last, whatever the scene sets.
#[test]
fn search_paths_of_the_user() {
    let mut settings = Settings::default();
    settings.search_first.shader = vec!["first".to_owned(), "a".to_owned()];
    settings.search_last.shader = vec!["last".to_owned()];
    let shader = |path: &str| {
        let text = format!("Option \"searchpath\" \"shader\" \"{path}\"\nWorldBegin WorldEnd");
        read_bytes(text, &settings).world().options.search.shader.join(" ")
    };
    assert_eq!([shader("a:b"), shader("@:b")], ["first a b last", "first a last b"]);
    let none = read_bytes("WorldBegin WorldEnd", &settings);
    assert_eq!(none.world().options.search.shader, ["first", "a", ".", "last"]);
    assert!(none.world().options.search.texture.is_empty());
}

#[test]
fn archives_are_found_in_folders_of_the_user() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("a.rib"), "Sphere 1 -1 1 360\n").expect("writable");
    let path = vec![folder.path().display().to_string()];
    for is_first in [false, true] {
        let mut settings = Settings::default();
        let paths = if is_first { &mut settings.search_first } else { &mut settings.search_last };
        paths.archive.clone_from(&path);
        let outcome = read_bytes("WorldBegin ReadArchive \"a.rib\" WorldEnd", &settings);
        assert_eq!(outcome.world().drawables.len(), 1, "{:?}", outcome.messages);
    }
}

/// The requests of the command line come before those of the scene, which win.
#[test]
fn a_prologue_is_read_first() {
    let prologue = vec!["PixelSamples 3 5".to_owned(), "Format 20 10 1 Bogus".to_owned()];
    let settings = Settings { prologue, ..Settings::default() };
    let outcome = read_bytes("Format 8 4 1\nWorldBegin WorldEnd", &settings);
    assert_eq!((outcome.world().options.pixel_samples, outcome.world().camera.resolution), ([3, 5], [8, 4]));
    assert_eq!(
        outcome.messages[0].to_string().lines().next(),
        Some("--option:1:16: error: unknown request Bogus [unregistered]")
    );
}

#[test]
fn displays_and_their_modes() {
    let world = with(
        "Quantize \"z\" 7 0 7 0\nDeclare \"Cspec\" \"varying color\"\nDisplay \"lost.tif\" \"file\" \"rgb\"\nDisplay \"a.tif\" \"tiff\" \"rgbaz\" \"compression\" \"lzw\" \"int[2] origin\" [3 4]\n\
         Display \"+b.exr\" \"exr\" \"rgba\" \"float[4] quantize\" [0 0 0 0]\nDisplay \"+z\" \"zfile\" \"z\"\nDisplay \"+c\" \"file\" \"Cspec\" \"exposure\" [2 2]\n\
         Display \"+d\" \"file\" \"varying normal Nn\" \"quantize\" [0 65535 0 65535]\nDisplay \"+e\" \"file\" \"N\" \"quantize\" [255 0 255 .5] \"dither\" 0\nQuantize \"rgba\" 1023 0 1023 0\nExposure 3 1",
    );
    let displays = &world.options.displays;
    let names: Vec<&str> = displays.iter().map(|display| display.name.as_str()).collect();
    assert_eq!(names, ["a.tif", "b.exr", "z", "c", "d", "e"]);
    let ones: Vec<f32> = displays.iter().map(|display| display.parts[0].quantize.one).collect();
    // Global quantization is the one in effect at WorldBegin; z has its own.
    assert_eq!(ones, [1023.0, 0.0, 7.0, 1023.0, 65535.0, 255.0]);
    assert_eq!((displays[4].parts[0].quantize.max, displays[5].parts[0].quantize.dither), (65535.0, 0.0));
    assert_eq!((displays[0].parts[0].exposure, displays[3].parts[0].exposure), ([3.0, 1.0], [2.0, 2.0]));
    let variable = |display: &Display| match &display.parts[0].mode {
        DisplayMode::Variable { name, ty, .. } => (name.to_string(), *ty),
        other => panic!("{other:?}"),
    };
    assert_eq!(variable(&displays[3]), ("Cspec".to_owned(), ValueType::Color));
    assert_eq!(variable(&displays[4]), ("Nn".to_owned(), ValueType::Normal));
    assert_eq!(variable(&displays[5]), ("N".to_owned(), ValueType::Normal));
    assert_eq!(displays[0].params["origin"], ParamValue::Ints(vec![3, 4]));
    assert_eq!((displays[0].driver.as_str(), displays[0].location.line), ("tiff", 4));
    for (mode, rgb, a, z) in
        [("rgb", true, false, false), ("a", false, true, false), ("az", false, true, true), ("rgbz", true, false, true)]
    {
        let world = with(&format!("Display \"x\" \"file\" \"{mode}\""));
        assert_eq!(world.options.displays[0].parts[0].mode, DisplayMode::Image { rgb, a, z }, "{mode}");
    }
}

#[test]
fn the_command_line_overrides_the_file() {
    let text = "Option \"limits\" \"texturememory\" 9\nFrameBegin 1\nFormat 512 512 1\nPixelSamples 1 1\nDisplay \"s.z\" \"zfile\" \"z\"\nWorldBegin\nWorldEnd\nFrameEnd\n\
                FrameBegin 2\nFormat 64 64 1\nDisplay \"p.tif\" \"file\" \"rgba\"\nDisplay \"+q.exr\" \"exr\" \"rgba\"\nShadingRate 9\nWorldBegin\nShadingRate 4\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\n\
                FrameBegin 3\nDisplay \"+only.tif\" \"file\" \"rgb\"\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\n";
    let overrides = RibOverrides {
        format: Some([32, 16]),
        crop: Some([0.0, 0.5, 0.0, 1.0]),
        overscan: false,
        pixel_samples: Some([4, 4]),
        shading_rate: Some(0.5),
        texture_memory_kib: Some(8000),
    };
    let outcome = read_with(text, overrides);
    assert!(outcome.messages.is_empty());
    let seen: Vec<_> = outcome
        .worlds
        .iter()
        .map(|w| {
            (
                w.camera.resolution,
                w.camera.crop_window[1],
                w.options.pixel_samples[0],
                w.options.displays[0].name.as_str(),
            )
        })
        .collect();
    let wanted = [([512, 512], 1.0, 1, "s.z"), ([32, 16], 0.5, 4, "p.tif"), ([32, 16], 0.5, 4, "only.tif")];
    assert_eq!(seen, wanted);
    assert_eq!(outcome.worlds[1].options.displays[1].name, "q.exr");
    assert_eq!(outcome.worlds[1].drawables[0].attributes.shading_rate, 0.5);
    assert_eq!(outcome.worlds[2].drawables[0].attributes.shading_rate, 0.5);
    assert!(outcome.worlds.iter().all(|world| world.options.texture_memory_kib == 8000));
}
