//! Unsupported features: each causes one clear message, and the picture is still drawn (ERR-05).

use super::{assert_near, draw, draw_with};

const LOOK: &str = "surface look(string map = \"\"; string other = \"\";) {
    Ci = color(1, 0, 0);
    if (map != \"\") Ci += color texture(map);
    Ci += color texture(\"fixed.tx\", s, t);
    if (other != \"\") Ci += environment(other, N);
    Oi = 1;
}";

const LAMP: &str = "light lamp(string shadows = \"lamp.z\") { illuminate(point \"shader\" (0, 0, 0)) { Cl = 1 - shadow(shadows, Ps); } }";

#[test]
fn missing_textures_are_named_once_each() {
    let scene = draw_with(
        &[
            ("look.sl", LOOK),
            ("lamp.sl", LAMP),
            ("dull.sl", "surface dull() { Ci = 0.5 * diffuse(normalize(N)); Oi = 1; }"),
        ],
        "Format 20 20 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nWorldBegin\nLightSource \"lamp\" 1\n\
         LightSource \"lamp\" 2 \"string shadows\" \"second.z\"\nTranslate 0 0 2\nSurface \"look\" \"string map\" \"one.tx\"\nDisk 0 1 360\n\
         Surface \"look\" \"string map\" \"two.tx\"\nDisk 0 1 360\nDisk 0.5 1 360\nSurface \"look\" \"string other\" \"three.env\"\nDisk 1 0.1 360\n\
         Surface \"dull\"\nDisk 1.2 0.1 360\nWorldEnd\n",
    );
    for name in ["one.tx", "two.tx", "three.env", "fixed.tx", "lamp.z", "second.z"] {
        assert_eq!(scene.message_count(&format!("there is no texture \"{name}\"")), 1, "{name}: {:?}", scene.messages);
    }
    assert_eq!(scene.messages.len(), 6, "{:?}", scene.messages);
    // Red, and a texture without a name; white for each of the two that are missing.
    assert_near(scene.picture("a.exr").rgb(3, 10), [3.0, 2.0, 2.0]);
}

#[test]
fn filters_that_parameters_name_are_reported_if_there_are_none() {
    let look = "color painted(string name, how) { return texture(name, \"filter\", how); }
        surface look(string name = \"\", how = \"disk\";) {
            Ci = texture(name, \"filter\", how) + painted(name, \"wide\") + painted(name, \"box\"); Oi = 1;
        }";
    let scene = draw_with(
        &[("look.sl", look)],
        "Format 20 20 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nWorldBegin\nTranslate 0 0 2\nSurface \"look\"\nDisk 0 1 360\n\
         Surface \"look\" \"how\" \"narrow\"\nDisk 0 1 360\nDisk 0.5 1 360\nSurface \"look\" \"how\" \"box\"\nDisk 1 0.1 360\n\
         Disk 1 0.1 360 \"uniform string how\" \"thick\"\nWorldEnd\n",
    );
    for name in ["wide", "narrow", "thick"] {
        let words = format!("texture lookups have no filter \"{name}\": gaussian is taken; there are gaussian, box");
        assert_eq!(scene.message_count(&words), 1, "{name}: {:?}", scene.messages);
    }
    assert_eq!(scene.messages.len(), 3, "{:?}", scene.messages);
}

/// What cannot be chosen is not reported: `"soft"`, which the shader replaces.
#[test]
fn filters_that_shaders_compute_are_reported_if_there_are_none() {
    let look = "surface look(string name = \"\", how = \"soft\"; float k = 1;) {
            uniform string filter = how, tried[3]; uniform float i;
            if (how == \"soft\") filter = \"gaussian\";
            if (k > 1) filter = \"mitchell\";
            tried[0] = \"box\"; tried[1] = \"tent\"; tried[2] = \"disk\";
            Ci = texture(name, \"filter\", filter) + environment(name, N, \"filter\", filter);
            for (i = 0; i < 3; i += 1) { Ci += texture(name, \"filter\", tried[i * k]); }
            filter = \"box\";
            for (i = 0; i < 9 * k; i += 1) { Ci += texture(name, \"filter\", filter); filter = \"sinc\"; }
            Oi = 1;
        }";
    let scene = draw_with(
        &[("look.sl", look)],
        "Format 20 20 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nWorldBegin\nTranslate 0 0 2\nSurface \"look\"\nDisk 0 1 360\n\
         Surface \"look\" \"how\" \"narrow\"\nDisk 0 1 360\nDisk 0.5 1 360\nWorldEnd\n",
    );
    for (name, line) in [("mitchell", 6), ("tent", 6), ("sinc", 6), ("narrow", 8)] {
        let words =
            format!("scene.rib:{line}:1: warning: texture lookups have no filter \"{name}\": gaussian is taken");
        assert_eq!(scene.message_count(&words), 1, "{name}: {:?}", scene.messages);
    }
    assert_eq!(scene.messages.len(), 4, "{:?}", scene.messages);
}

/// A micropolygon of 1e-16 pixels would take longer than anybody waits, and show nothing more than one of 0.001.
#[test]
fn absurd_shading_rates_are_raised_with_the_name_of_the_object() {
    let ball = |rate: &str| {
        draw(&format!(
            "Format 24 24 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nWorldBegin\n\
             Attribute \"identifier\" \"name\" \"ball\"\nShadingRate {rate}\nTranslate 0 0 2\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n"
        ))
    };
    let least = ball("0.001");
    for rate in ["0.0009", "1e-9", "1e-16"] {
        let absurd = ball(rate);
        assert_eq!(absurd.message_count("object \"ball\" has the shading rate"), 1, "{:?}", absurd.messages);
        assert_eq!(absurd.messages.len(), 1, "{:?}", absurd.messages);
        for channel in ["R", "A"] {
            assert!(
                absurd.picture("a.exr").channel(channel) == least.clean("a.exr").channel(channel),
                "{rate} {channel}"
            );
        }
    }
}

/// Each parameter has another type; none is declared.
const UNDECLARED: &str =
    "surface undeclared(color tint = 0; float parts[2] = {0, 0}; string word = \"\"; point corner = 0;) {
    Ci = tint * parts[1];
    if (word == \"yes\") Ci += color(0, 0, distance(corner, point \"shader\" (1, 2, 3)));
    Oi = 1;
}";

#[test]
fn undeclared_parameters_have_the_types_of_the_shader() {
    let scene = draw_with(
        &[("undeclared.sl", UNDECLARED)],
        "Format 8 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nWorldBegin\nTranslate 0 0 2\n\
         Surface \"undeclared\" \"tint\" [1 0.5 0.25] \"parts\" [4 0.5] \"word\" [\"yes\"] \"corner\" [1 2 5]\n\
         Patch \"bilinear\" \"P\" [-1 -1 0 1 -1 0 -1 1 0 1 1 0]\nWorldEnd\n",
    );
    assert_near(scene.clean("a.exr").rgb(4, 4), [0.5, 0.25, 2.125]);
    let wrong = draw_with(
        &[("undeclared.sl", UNDECLARED)],
        "Format 8 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nWorldBegin\nTranslate 0 0 2\n\
         Surface \"undeclared\" \"tint\" [1 0.5] \"nope\" 3\nPatch \"bilinear\" \"P\" [-1 -1 0 1 -1 0 -1 1 0 1 1 0]\nWorldEnd\n",
    );
    assert_eq!(wrong.message_count("error: parameter \"tint\" of shader \"undeclared\" has the type color"), 1);
    assert_eq!(wrong.message_count("error: \"nope\" is neither declared nor a parameter of shader \"undeclared\""), 1);
    let known = draw(
        "Format 8 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nWorldBegin\nTranslate 0 0 5\n\
         Surface \"plastic\" \"float kd\" 1\nSphere 1 -1 1 360\nSurface \"constant\" \"float Ka\" 1\nSphere 1 -1 1 360\nWorldEnd\n",
    );
    assert_eq!(
        known.message_count("shader \"plastic\" has no parameter \"kd\" [badtoken]\n  help: it has Kd, Ka, Ks, "),
        1
    );
    assert_eq!(known.message_count("shader \"constant\" has no parameter \"Ka\" [badtoken]\n  help: it has none"), 1);
    assert_eq!(wrong.messages.len(), 2, "{:?}", wrong.messages);
}

#[test]
fn a_picture_without_a_micropolygon_says_so() {
    let head = "Format 8 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nWorldBegin\n";
    let hidden = "Attribute \"visibility\" \"camera\" 0\nSphere 0.5 -0.5 0.5 360\n";
    for (body, reasons) in [("Translate 100 0 5\nSphere 1 -1 1 360\n", 0), (hidden, 1), ("", 0)] {
        let scene = draw(&format!("{head}{body}WorldEnd\n"));
        assert_eq!(scene.message_count("warning: nothing is in view: this picture has no micropolygon"), 1, "{body}");
        assert_eq!(scene.message_count("1 are invisible to the camera"), reasons, "{body}");
        assert_eq!(scene.messages.len(), 1 + reasons, "{:?}", scene.messages);
        assert!(scene.picture("a.exr").channel("A").iter().all(|&alpha| alpha == 0.0));
    }
}
