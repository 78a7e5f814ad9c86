//! What other programs write, and older files have.

use super::*;
use crate::scene::{ParamValue, Projection};

const QUAD: &str = "Polygon \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]";

/// The codes, lines and texts of the messages about the inside of a world, which begins in line 2.
fn said(body: &[u8]) -> Vec<(&'static str, u32, String)> {
    let outcome = read_bytes([b"WorldBegin\n", body, b"\nWorldEnd\n"].concat(), &Settings::default());
    outcome.messages.iter().map(|m| (m.code, m.location.line, format!("{} {}", m.message, m.hint))).collect()
}

#[test]
fn the_imager_background_has_its_colour_by_any_name() {
    for (declared, name) in [("", "color"), ("Declare \"color\" \"uniform color\"\n", "color"), ("", "bgcolor")] {
        let world = clean(&format!("{declared}Imager \"background\" \"{name}\" [0 0 1]\nWorldBegin\n{QUAD}\nWorldEnd"));
        let params = &world.options.imager.as_ref().expect("an imager").params;
        assert_eq!((params.len(), &*params[0].name), (1, "bgcolor"), "{declared}");
        assert_eq!(params[0].value, ParamValue::Floats(vec![0.0, 0.0, 1.0]), "{declared}");
    }
    let other = clean(&format!("Imager \"mine\" \"color\" [0 0 1]\nWorldBegin\n{QUAD}\nWorldEnd"));
    assert_eq!(&*other.options.imager.as_ref().expect("an imager").params[0].name, "color");
}

#[test]
fn a_periodic_mesh_of_two_vertices_goes_there_and_back() {
    let world = drawn("PatchMesh \"bilinear\" 2 \"periodic\" 2 \"nonperiodic\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0]");
    let Shape::Facets(facets) = only_shape(&world) else { panic!("it is bilinear") };
    assert_eq!(facets.corners.as_ref(), [[0, 1, 2, 3], [1, 0, 3, 2]]);
    assert_eq!(faults("PatchMesh \"bilinear\" 1 \"periodic\" 2 \"nonperiodic\" \"P\" [0 0 0 0 1 0]"), [("range", 2)]);
}

#[test]
fn old_words_for_periodic() {
    let mesh = |wrap: &str| {
        let text =
            format!("PatchMesh \"bilinear\" 3 \"{wrap}\" 2 \"{wrap}\" \"P\" [0 0 0 1 0 0 2 0 0 0 1 0 1 1 0 2 1 0]");
        only_shape(&drawn(&text)).clone()
    };
    assert!(
        mesh("nowrap") == mesh("nonperiodic") && mesh("wrap") == mesh("periodic") && mesh("wrap") != mesh("nowrap")
    );
    let curves = |wrap: &str| {
        let text = format!("Curves \"linear\" [3] \"{wrap}\" \"P\" [0 0 0 1 0 0 2 0 0]");
        only_shape(&drawn(&text)).clone()
    };
    assert!(curves("nowrap") == curves("nonperiodic") && curves("wrap") == curves("periodic"));
    assert_eq!(faults("Curves \"linear\" [3] \"open\" \"P\" [0 0 0 1 0 0 2 0 0]"), [("badargument", 2)]);
}

#[test]
fn whole_floats_are_integers() {
    let text = "FrameBegin 1.0\nWorldBegin\nPointsPolygons [4.0] [0 1.0 2. 3e0] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0] \"uniform int id\" [7.0]\n\
                LightSource \"ambientlight\" 2.0\nIlluminate 2 0\nSides 1.0\nWorldEnd\nFrameEnd";
    let world = clean(text);
    assert_eq!((world.options.frame, numbers(&world, "id")), (Some(1), vec![7.0]));
    for (wrong, code) in
        [("1.5", "badargument"), ("1e20", "range"), ("3e9", "range"), ("NaN", "badargument"), ("-inf", "badargument")]
    {
        assert_eq!(faults(&format!("Sides {wrong}")), [(code, 2)], "{wrong}");
    }
    assert!(said(b"Sides 1.5")[0].2.contains("expected an integer, found 1.5"));
}

#[test]
fn an_empty_projection_is_none() {
    let projection = |text: &str| clean(&format!("{text}\nWorldBegin\n{QUAD}\nWorldEnd")).camera.projection;
    assert_eq!(projection("Projection \"\""), Projection::Orthographic);
}

#[test]
fn transformations_before_projection_move_the_screen() {
    let camera = |text: &str| clean(&format!("Format 10 10 1\n{text}\nWorldBegin\n{QUAD}\nWorldEnd")).camera;
    let moved = camera("Translate 0.5 0 0\nScale 2 4 1\nProjection \"perspective\"\nTranslate 0 0 9");
    assert_eq!(moved.screen_window, [-0.75, 0.25, -0.25, 0.25]);
    assert_eq!(track(&moved.camera_from_world), [(0.0, [0.0, 0.0, 9.0])]);
    let window = camera("Scale 2 2 1\nProjection \"orthographic\"\nScreenWindow -4 4 -2 2").screen_window;
    assert_eq!(window, [-2.0, 2.0, -1.0, 1.0]);
    let rolled = camera("Rotate 90 0 0 1\nProjection \"perspective\"\nTranslate 1 0 9");
    assert_eq!(rolled.screen_window, [-1.0, 1.0, -1.0, 1.0]);
    assert_eq!(track(&rolled.camera_from_world), [(0.0, [0.0, 1.0, 9.0])]);
    // A move after which nothing is left of the window, whichever it is.
    for lost in ["Translate 1e20 0 0", "Translate 0 -1e20 0"] {
        let outcome =
            read_text(&format!("{lost}\nProjection \"perspective\"\nScreenWindow -2 2 -1 1\nWorldBegin\nWorldEnd"));
        assert_eq!(outcome.codes(), [("range", 4)], "{lost}");
        assert_eq!(outcome.world().camera.screen_window, [-2.0, 2.0, -1.0, 1.0], "{lost}");
    }
    // The last projection counts.
    let again = camera("Scale 2 2 1\nProjection \"orthographic\"\nIdentity\nProjection \"orthographic\"");
    assert_eq!(again.screen_window, [-1.0, 1.0, -1.0, 1.0]);
    let moving = "MotionBegin [0 1]\nTranslate 0 0 0\nTranslate 1 0 0\nMotionEnd\nProjection \"orthographic\"\nWorldBegin WorldEnd";
    assert_eq!(read_text(moving).codes(), [("unimplement", 5)]);
}

#[test]
fn names_that_are_not_utf_8_are_latin_1() {
    let text = b"Display \"caf\xe9.exr\" \"exr\" \"rgba\"\nDeclare \"h\xf6he\" \"float\"\nWorldBegin\n\
                 Surface \"matte\" \"h\xf6he\" [2] \"string map\" \"\xe9.tx\"\nSphere 1 -1 1 360 \"constant float gr\xfc\xdfe\" [1]\nWorldEnd\n";
    let outcome = read_bytes(text.to_vec(), &Settings::default());
    assert_eq!(outcome.codes(), []);
    let world = outcome.world();
    assert_eq!(world.options.displays[0].name, "café.exr");
    let drawable = &world.drawables[0];
    let params = &drawable.attributes.surface.as_ref().expect("matte").params;
    assert_eq!((&*params[0].name, params[0].ty.is_some()), ("höhe", true));
    assert_eq!(params[1].value, ParamValue::Strings(vec!["é.tx".into()]));
    assert_eq!(&*drawable.geometry.primvars[0].name, "grüße");
    // UTF-8 stays what it is.
    let utf8 = read_text(&format!("Display \"café.exr\" \"exr\" \"rgba\"\nWorldBegin\n{QUAD}\nWorldEnd"));
    assert_eq!(utf8.world().options.displays[0].name, "café.exr");
}

#[test]
fn a_scene_in_utf_16() {
    let text = format!(
        "\u{feff}##RenderMan RIB\r\nDisplay \"é.exr\" \"exr\" \"rgba\"\r\nWorldBegin\r\n{QUAD}\r\nSides 7\r\nWorldEnd\r\n"
    );
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [little.clone(), big, little[2..].to_vec()] {
        let outcome = read_bytes(bytes, &Settings::default());
        assert_eq!(outcome.codes(), [("range", 5)]);
        assert_eq!((outcome.world().drawables.len(), &*outcome.world().options.displays[0].name), (1, "é.exr"));
    }
}

#[test]
fn paths_with_single_back_slashes_get_a_hint() {
    let messages = said(br#"Surface "paintedplastic" "texturename" "C:\textures\new.tif""#);
    let hints: Vec<_> = messages.iter().filter(|message| message.0 == "badargument").collect();
    assert_eq!(hints.len(), 1, "{messages:?}");
    assert!(
        hints[0].1 == 2 && hints[0].2.contains(r#""\t" in this string is a tab in paths, write / or \\"#),
        "{hints:?}"
    );
    // Once, wherever the others are.
    let twice = said(b"Surface \"a\" \"string map\" \"maps\\map.tx\"\nSurface \"b\" \"string map\" \"maps\\map.tx\"");
    assert_eq!(twice.iter().filter(|message| message.0 == "badargument").count(), 1, "{twice:?}");
    assert!(twice[0].2.contains(r#""\m" in this string is "m" alone"#), "{twice:?}");
    let fine =
        said(br#"Surface "a" "string map" "C:\\textures\\new.tif" "string text" "%f\n" "string other" "a/b.tx""#);
    assert!(fine.iter().all(|message| message.0 != "badargument"), "{fine:?}");
}

#[test]
fn an_order_of_buckets_has_no_effect_and_says_so() {
    for option in ["Option \"bucket\" \"order\" [\"spiral\"]", "Option \"render\" \"bucketorder\" [\"random\"]"] {
        let outcome = read_text(&format!("{option}\nWorldBegin\n{QUAD}\nWorldEnd"));
        assert_eq!(outcome.codes(), [("badtoken", 1)], "{option}");
        assert!(outcome.messages[0].message.contains("in an order of their own"), "{:?}", outcome.messages);
    }
}
