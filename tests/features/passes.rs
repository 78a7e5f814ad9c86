//! Pictures that a scene draws and then reads: channels of layers, crops, and maps of all directions.

use super::{ExrChannels, RenderedScene, assert_near, draw_as, draw_with};
use anthill::film::DisplayState::Whole;

const SHOW: (&str, &str) =
    ("show.sl", "surface show(string map = \"\";) { Ci = texture(map, s, t, \"width\", 0); Oi = 1; }");
/// The place in the whole picture.
const PLACE: (&str, &str) =
    ("place.sl", "surface place() { point p = transform(\"NDC\", P); Ci = color(xcomp(p), ycomp(p), 1); Oi = 1; }");

const HEAD: &str = "PixelFilter \"box\" 1 1\nPixelSamples 1 1\nHider \"hidden\" \"jitter\" [0]\nScreenWindow 0 1 0 1\n";
const CARD: &str = "Patch \"bilinear\" \"P\" [0 1 1 1 1 1 0 0 1 1 0 1]\nWorldEnd\n";

/// A picture of a texture from 0 to 1.
fn shown(map: &str, picture: &str, size: u32) -> String {
    format!(
        "Format {size} {size} 1\nDisplay \"$DIR/{picture}\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\n\
         Surface \"show\" \"string map\" \"$DIR/{map}\"\n{CARD}"
    )
}

/// OpenEXR lists channels by name, so that blue comes first.
#[test]
fn channel_0_of_a_layer_is_its_red() {
    let source = "surface source(output varying color mine = 0; output varying vector way = 0;) {\n\
        mine = color(.9, .5, .1); way = vector(.2, .4, .6); Ci = color(.3, .6, .7); Oi = 1; }";
    let displays = [
        ("cs", "Cs", [0.75, 0.5, 0.25]),
        ("ci", "Ci", [0.3, 0.6, 0.7]),
        ("mine", "mine", [0.9, 0.5, 0.1]),
        ("way", "way", [0.2, 0.4, 0.6]),
        ("some", "Ci,a,mine", [0.3, 0.6, 0.7]),
        ("all", "rgba,mine", [0.3, 0.6, 0.7]),
    ];
    let written = displays.map(|(file, mode, _)| format!("Display \"+$DIR/{file}.exr\" \"exr\" \"{mode}\"\n")).concat();
    let read = displays.map(|(file, ..)| {
        let make = format!("MakeTexture \"$DIR/{file}.exr\" \"$DIR/{file}.tex\" \"black\" \"black\" \"box\" 1 1\n");
        make + &shown(&format!("{file}.tex"), &format!("{file}-shown.exr"), 4)
    });
    let rib = format!(
        "{HEAD}DisplayChannel \"varying color mine\" DisplayChannel \"varying vector way\"\nFormat 8 8 1\n\
         Display \"$DIR/first.exr\" \"exr\" \"rgb\"\n{written}WorldBegin\nColor [0.75 0.5 0.25]\nSurface \"source\"\n{CARD}{}",
        read.concat()
    );
    let scene = draw_with(&[SHOW, ("source.sl", source)], &rib);
    assert_eq!(scene.messages, [""; 0]);
    for (file, _, colour) in displays {
        assert_near(scene.picture(&format!("{file}-shown.exr")).rgb(2, 2), colour);
    }
}

/// The part of the picture is where it is in the whole one; beside it is black.
#[test]
fn pictures_of_crops_are_placed_by_their_windows() {
    for (driver, name) in [("exr", "part.exr"), ("tiff", "part.tif")] {
        let rib = format!(
            "{HEAD}FrameBegin 1\nFormat 64 64 1\nCropWindow 0.25 0.75 0.5 1\nDisplay \"$DIR/{name}\" \"{driver}\" \"rgb\"\n\
             WorldBegin\nSurface \"place\"\n{CARD}FrameEnd\n\
             MakeTexture \"$DIR/{name}\" \"$DIR/part.tex\" \"clamp\" \"clamp\" \"box\" 1 1\n{}",
            shown("part.tex", "shown.exr", 32)
        );
        let picture = draw_with(&[SHOW, PLACE], &rib).clean("shown.exr");
        for (x, y) in (0..32).flat_map(|y| (0..32).map(move |x| (x, y))) {
            let is_there = (8..24).contains(&x) && y >= 16;
            let at = |pixel: usize| (pixel as f32 + 0.5) / 32.0;
            let wanted = if is_there { [at(x), at(y), 1.0] } else { [0.0; 3] };
            let found = picture.rgb(x, y);
            // A micropolygon shows the colour of its corner, and an edge mixes with black.
            let is_edge = (7..=8).contains(&x) || (23..=24).contains(&x) || (15..=16).contains(&y);
            let is_near = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 0.04);
            assert!(is_near || is_edge, "{driver} {x} {y}: {found:?} instead of {wanted:?}");
        }
    }
}

/// A light sees a sphere in a part of its map; its shadow is where that of the whole map is.
#[test]
fn shadow_maps_of_crops_cast_their_shadows_where_whole_ones_do() {
    let draw = |crop: &str| {
        let rib = format!(
            "PixelFilter \"box\" 1 1\nFrameBegin 1\nFormat 128 128 1\nPixelSamples 1 1\n{crop}\nDisplay \"$DIR/s.z\" \"zfile\" \"z\"\n\
             Projection \"perspective\" \"fov\" 60\nTranslate 0 0 5\nRotate -90 1 0 0\nWorldBegin\nTranslate 0.5 0 0.3\n\
             Sphere 0.5 -0.5 0.5 360\nWorldEnd\nMakeShadow \"$DIR/s.z\" \"$DIR/s.shad\"\nFrameEnd\n\
             FrameBegin 2\nFormat 48 48 1\nPixelSamples 2 2\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nScreenWindow -2 2 -2 2\n\
             Translate 0 0 10\nRotate -90 1 0 0\nWorldBegin\nLightSource \"shadowspot\" 1 \"from\" [0 5 0] \"to\" [0 0 0] \
             \"coneangle\" 1.2 \"conedeltaangle\" 0.01 \"intensity\" 25 \"shadowname\" [\"$DIR/s.shad\"]\n\
             Surface \"matte\" \"Ka\" 0 \"Kd\" 1\nPolygon \"P\" [-2 -1 -2 -2 -1 2 2 -1 2 2 -1 -2]\nWorldEnd\nFrameEnd\n"
        );
        draw_with(&[], &rib).clean("a.exr").channel("R").to_vec()
    };
    let whole = draw("");
    let dark = whole.iter().filter(|red| **red < 0.01).count();
    assert!((80..400).contains(&dark), "{dark} pixels are in shadow");
    assert_eq!(draw("CropWindow 0.25 0.75 0.25 0.75"), whole);
}

/// `--crop` asks for a part of what is looked at, not of what is read to draw it.
#[test]
fn a_crop_on_the_command_line_is_that_part_of_the_whole_picture() {
    let pass = |name: &str| {
        format!("Format 64 64 1\nDisplay \"$DIR/{name}\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"place\"\n{CARD}")
    };
    let rib = format!(
        "{HEAD}{}MakeTexture \"$DIR/one.exr\" \"$DIR/one.tex\" \"clamp\" \"clamp\" \"box\" 1 1\n{}{}{}",
        pass("one.exr"),
        pass("two.exr"),
        shown("one.tex", "a.exr", 32),
        shown("two.exr", "b.exr", 32)
    );
    let draw = |crop| draw_as(&[SHOW, PLACE], &rib, &|options| options.overrides.crop = crop);
    let (whole, part) = (draw(None), draw(Some([0.0, 0.5, 0.5, 1.0])));
    assert_eq!((&part.displays, part.displays.len()), (&whole.displays, 5));
    for name in ["a.exr", "b.exr"] {
        let [whole, part]: [ExrChannels; 2] = [&whole, &part].map(|scene: &RenderedScene| scene.picture(name));
        for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x, y))) {
            assert_eq!(part.rgb(x, y), whole.rgb(x, y + 16), "{name} {x} {y}");
        }
        assert_eq!(part.channel("R").len(), 16 * 16, "{name} is cropped itself");
    }
}

/// Also where no parameter of a request names the file that is read.
#[test]
fn passes_that_shaders_name_by_themselves_are_drawn_whole() {
    let show = |name: &str, parameter: &str, map: &str| {
        let text = format!("surface {name}({parameter}) {{ Ci = texture({map}, s, t, \"width\", 0); Oi = 1; }}");
        (format!("{name}.sl"), text)
    };
    let shaders = [
        show("default", "string map = \"one.exr\";", "map"),
        show("literal", "", "\"one.exr\""),
        show("made", "string part = \"ne\";", "concat(\"o\", part, \".exr\")"),
        show("given", "string map = \"\";", "map"),
    ];
    let sources: Vec<_> = shaders.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    for shader in ["default", "literal", "made", "given"] {
        let variable = if shader == "given" { "\"constant string map\" [\"one.exr\"]" } else { "" };
        let card = CARD.replace("\nWorldEnd", &format!(" {variable}\nWorldEnd"));
        let picture =
            |name: &str| format!("Display \"$DIR/{name}.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\n");
        let rib = format!(
            "Option \"searchpath\" \"texture\" [\"$DIR\"]\n{HEAD}Format 64 64 1\n{}WorldBegin\nSurface \"place\"\n{CARD}\
             Format 32 32 1\n{}WorldBegin\nSurface \"{shader}\"\n{card}",
            picture("one"),
            picture("shown")
        );
        let draw = |crop| draw_as(&[&sources[..], &[PLACE]].concat(), &rib, &|options| options.overrides.crop = crop);
        let (whole, part) = (draw(None), draw(Some([0.0, 0.5, 0.5, 1.0])));
        let [whole, shown] = [&whole, &part].map(|scene: &RenderedScene| scene.picture("shown.exr"));
        assert_eq!(shown.channel("R").len(), 16 * 16, "{shader}: what is looked at is cropped");
        for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x, y))) {
            assert_eq!(shown.rgb(x, y), whole.rgb(x, y + 16), "{shader} {x} {y}");
        }
        assert_eq!(part.message_count("--crop"), 0, "{:?}", part.messages);
    }
}

/// The ground of a Blobby is read with the request, when nothing is known of later worlds.
#[test]
fn what_is_read_with_its_request_is_drawn_whole() {
    let matrix = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1";
    let rib = format!(
        "{HEAD}Format 16 16 1\nDisplay \"$DIR/g.exr\" \"exr\" \"rgba\"\nDisplay \"+$DIR/g.z\" \"zfile\" \"z\"\nWorldBegin\n{CARD}\
         Display \"$DIR/b.exr\" \"exr\" \"rgba\"\nWorldBegin\n\
         Blobby 2 [1001 0 1003 0 16 0 2 0 1] [{matrix} 1 1 1 1] [\"$DIR/g.z\"]\nWorldEnd\n"
    );
    let scene = draw_as(&[], &rib, &|options| options.overrides.crop = Some([0.0, 0.5, 0.0, 1.0]));
    assert_eq!(scene.message_count("drawn whole, whatever --crop says"), 1, "{:?}", scene.messages);
    assert_eq!(scene.picture("g.exr").channel("R").len(), 16 * 16);
    assert_eq!(scene.picture("b.exr").channel("R").len(), 8 * 16);
}

/// RISpec, MakeLatLongEnvironment: t = 0 is the north pole, +z.
#[test]
fn the_top_of_a_map_by_latitude_is_the_north() {
    let look = "surface look(string map = \"\"; float d[3] = {0, 0, 0};) {\n\
        Ci = environment(map, vector \"current\" (d[0], d[1], d[2]), \"width\", 0); Oi = 1; }";
    // Red above, blue below; green on the right.
    let paint = "surface paint() { point p = transform(\"NDC\", P);\n\
        Ci = color(1 - step(0.5, ycomp(p)), step(0.5, xcomp(p)), step(0.5, ycomp(p))); Oi = 1; }";
    let directions = [[0.0, 0.1, 1.0], [0.0, 0.1, -1.0], [0.0, -0.1, 1.0], [1.0, 1.0, 0.5], [1.0, -1.0, -0.5]];
    let looks = directions.map(|[x, y, z]| {
        let file = format!("{x}{y}{z}.exr");
        format!(
            "Format 4 4 1\nDisplay \"$DIR/{file}\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"look\" \"string map\" \"$DIR/sky.env\" \
             \"float d[3]\" [{x} {y} {z}]\n{CARD}"
        )
    });
    let rib = format!(
        "{HEAD}Format 64 32 1\nDisplay \"$DIR/sky.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"paint\"\n{CARD}\
         MakeLatLongEnvironment \"$DIR/sky.exr\" \"$DIR/sky.env\" \"box\" 1 1\n{}",
        looks.concat()
    );
    let scene = draw_with(&[("look.sl", look), ("paint.sl", paint)], &rib);
    assert_eq!(scene.messages, [""; 0]);
    for [x, y, z] in directions {
        let is_north = if z > 0.0 { 1.0 } else { 0.0 };
        // s grows from x towards y.
        let is_right = if y > 0.0 { 1.0 } else { 0.0 };
        assert_near(scene.picture(&format!("{x}{y}{z}.exr")).rgb(2, 2), [is_north, is_right, 1.0 - is_north]);
    }
}

/// Other renderers' depth files are shadow maps, so their scenes make a shadow map of one in its place.
#[test]
fn a_depth_file_is_made_into_its_own_shadow_map() {
    let frame = |number: u32| {
        format!(
            "FrameBegin {number}\nFormat 64 64 1\nProjection \"perspective\" \"fov\" [40]\nDisplay \"$DIR/s.map\" \"zfile\" \"z\"\n\
             WorldBegin\nDisk 5 0.5 360\nWorldEnd\nMakeShadow \"$DIR/s.map\" \"$DIR/s.map\"\n\
             Display \"$DIR/a{number}.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"dark\" \"string map\" \"$DIR/s.map\"\n\
             Polygon \"P\" [-3 3 6 3 3 6 3 -3 6 -3 -3 6]\nWorldEnd\nFrameEnd\n"
        )
    };
    let dark = "surface dark(string map = \"\";) { Ci = shadow(map, P, \"samples\", 1); Oi = 1; }";
    let scene = draw_with(&[("dark.sl", dark)], &[frame(1), frame(2)].concat());
    assert_eq!((&scene.messages[..], &scene.displays[..]), (&[][..] as &[String], &[Whole; 4][..]));
    let picture = scene.picture("a2.exr");
    assert_near(picture.rgb(32, 32), [1.0; 3]);
    assert_near(picture.rgb(4, 4), [0.0; 3]);
}
