//! What the shading language promises, where only a whole render shows it.

use super::{RenderedScene, assert_near, draw_as, draw_with};

/// A square before the camera under a shader of this text.
fn square(shader: &str, options: &str, attributes: &str) -> RenderedScene {
    draw_with(
        &[("look.sl", shader)],
        &format!(
            "Format 32 32 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n{options}\nScreenWindow -1 1 -1 1\nWorldBegin\n\
             Surface \"look\"\n{attributes}\nTranslate 0 0 2\nPatch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\nWorldEnd\n"
        ),
    )
}

#[test]
fn options_and_attributes_that_no_request_set_have_answers() {
    let shader = "surface look() {
        uniform float dof[3] = {0, 0, 0}, frame = 9;
        uniform string way = \"\";
        float found = option(\"DepthOfField\", dof) + option(\"Frame\", frame) + attribute(\"Ri:Orientation\", way);
        Ci = color (found == 3 && dof[0] >= 1e38, frame / 10, way == \"inside\");
        Oi = 1;
    }";
    assert_near(square(shader, "", "").clean("a.exr").rgb(16, 16), [1.0, 0.0, 0.0]);
    assert_near(square(shader, "", "ReverseOrientation").clean("a.exr").rgb(16, 16), [1.0, 0.0, 1.0]);
    assert_near(square(shader, "", "Scale -1 1 1").clean("a.exr").rgb(16, 16), [1.0, 0.0, 0.0]);
}

/// Macros of the command line are there when a scene's shaders and their include files are read.
#[test]
fn macros_choose_parts_of_shaders() {
    let shader = "#include \"parts.h\"
        surface look() { Ci = PART; Oi = 1; }";
    let parts = "#if defined(PRMAN) && LEVEL > 1
        #define PART color (0, LEVEL / 4, 0)
        #elif defined(ANTHILL) && !defined(PRMAN) && !defined(BMRT) && !defined(AQSIS)
        #define PART color (1, 0, 0)
        #endif";
    let rib = "Format 8 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nWorldBegin\n\
               Surface \"look\"\nTranslate 0 0 2\nPatch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\nWorldEnd\n";
    for (macros, expected) in [(&[][..], [1.0, 0.0, 0.0]), (&["PRMAN", "LEVEL=2"], [0.0, 0.5, 0.0])] {
        let drawn = draw_as(&[("look.sl", shader), ("parts.h", parts)], rib, &|options| {
            options.overrides.macros = macros.iter().map(ToString::to_string).collect();
        });
        assert_near(drawn.clean("a.exr").rgb(4, 4), expected);
    }
}

#[test]
fn texts_that_depend_on_parameters_are_known() {
    let shader = "surface look(string kind = \"wood\"; string names[2] = {\"a\", \"b\"};) {
        uniform string name = concat(kind, \".\", names[1]);
        Ci = color (match(\"^w.*b$\", name), name == \"wood.b\", format(\"<%s>\", kind) == \"<stone>\");
        Oi = 1;
    }";
    assert_near(square(shader, "", "").clean("a.exr").rgb(16, 16), [1.0, 1.0, 0.0]);
    let stone = square(shader, "", "Surface \"look\" \"string kind\" \"stone\"");
    assert_near(stone.clean("a.exr").rgb(16, 16), [0.0, 0.0, 1.0]);
}

#[test]
fn parameters_may_be_formats_and_names_of_attributes_and_options() {
    let shader = "surface look(string shape = \"%d|\", rate = \"ShadingRate\", made = \"a\";) {
        float found = 0, size[3] = {0, 0, 0};
        Ci = color (format(shape, 7) == \"7|\", attribute(rate, found) == 1 && found == 2, option(made, size) * size[0]);
        Oi = 1;
    }";
    let look = "Surface \"look\" \"string made\" \"Format\"";
    assert_near(square(shader, "", &format!("ShadingRate 2\n{look}")).clean("a.exr").rgb(16, 16), [1.0, 1.0, 32.0]);
    let other = "Surface \"look\" \"string shape\" \"%d\" \"string rate\" \"nothing\"";
    assert_near(square(shader, "", other).clean("a.exr").rgb(16, 16), [0.0, 0.0, 0.0]);
}

#[test]
fn each_object_has_its_own_texts() {
    for class in ["constant", "uniform"] {
        texts_of_class(class);
    }
}

fn texts_of_class(class: &str) {
    let half = |name: &str, x: f32| {
        format!(
            "Patch \"bilinear\" \"P\" [{x} 2 0 {} 2 0 {x} -2 0 {} -2 0] \"{class} string kind\" [\"{name}\"]\n",
            x + 2.0,
            x + 2.0
        )
    };
    let scene = draw_with(
        &[(
            "look.sl",
            "surface look(string kind = \"none\";) { Ci = color (match(\"left\", kind), match(\"right\", kind), 0); Oi = 1; }",
        )],
        &format!(
            "Format 32 32 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"look\"\n\
             Translate 0 0 2\n{}{}WorldEnd\n",
            half("left", -2.0),
            half("right", 0.0)
        ),
    );
    let picture = scene.clean("a.exr");
    assert_near(picture.rgb(4, 16), [1.0, 0.0, 0.0]);
    assert_near(picture.rgb(28, 16), [0.0, 1.0, 0.0]);
}

/// Where a cone of half angle a about the normal shines, the mean of the cosine is (1 + cos a) / 2.
#[test]
fn a_broad_sun_shines_from_all_its_directions() {
    let sun = "light sun(float angle = 0;) { solar (vector \"camera\" (0, 0, 1), angle) Cl = 1; }";
    let dull = "surface dull() { Ci = diffuse(faceforward(normalize(N), I)); Oi = 1; }";
    let mean = |angle: f32| {
        let scene = draw_with(
            &[("sun.sl", sun), ("dull.sl", dull)],
            &format!(
                "Format 48 48 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nScreenWindow -1 1 -1 1\nShadingRate 0.25\nWorldBegin\n\
                 LightSource \"sun\" 1 \"float angle\" {angle}\nSurface \"dull\"\nTranslate 0 0 2\n\
                 Patch \"bilinear\" \"P\" [-2 2 0 2 2 0 -2 -2 0 2 -2 0]\nWorldEnd\n"
            ),
        );
        let picture = scene.clean("a.exr");
        let red = picture.channel("R");
        red.iter().sum::<f32>() / red.len() as f32
    };
    for angle in [0.0, 0.5, 1.0, 1.5] {
        let (found, wanted) = (mean(angle), 0.5 + 0.5 * angle.cos());
        assert!((found - wanted).abs() < 0.01, "{angle}: {found} is not {wanted}");
    }
}

#[test]
fn imagers_know_the_place_in_the_picture() {
    let scene = draw_with(
        &[("place.sl", "imager place() { Ci = color (s, t, 0); }")],
        "Format 32 16 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nImager \"place\"\nWorldBegin\nTranslate 0 0 2\n\
         Surface \"constant\"\nDisk 0 1 360\nWorldEnd\n",
    );
    assert_eq!(scene.message_count("is not a variable of imager shaders"), 2, "{:?}", scene.messages);
    assert_near(scene.picture("a.exr").rgb(7, 3), [7.5 / 32.0, 3.5 / 16.0, 0.0]);
}

/// Two renders, and one of a part of the picture, draw the same numbers.
#[test]
fn random_numbers_are_the_same_in_every_render() {
    let shader = "surface look() { Ci = random(); Oi = 1; }";
    let [first, second] = [square(shader, "", ""), square(shader, "", "")].map(|scene| scene.clean("a.exr"));
    assert_eq!(first.channel("G"), second.channel("G"));
    assert!(first.channel("G").iter().any(|&x| x != first.at("G", 0, 0)), "numbers differ from point to point");
    let cropped = square(shader, "CropWindow 0.25 0.75 0.25 0.75", "").clean("a.exr");
    let inside = |x: usize, y: usize| (first.at("G", x, y), cropped.at("G", x - 8, y - 8));
    for (x, y) in [(8, 8), (15, 20), (23, 23)] {
        let (whole, part) = inside(x, y);
        assert_eq!(whole, part, "{x} {y}");
    }
}

/// They do not follow from what a crop leaves out, which devices do not even get.
#[test]
fn random_numbers_do_not_depend_on_what_is_beside_a_crop() {
    let points: String = (0..40).map(|i| format!("-0.9 {} 1 ", 0.02 * f64::from(i))).collect();
    let drawn = |window: &str| {
        let rib = format!(
            "Format 32 16 1\n{window}\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"look\"\n\
             Points \"P\" [{points}] \"constantwidth\" 0.01\nPolygon \"P\" [0.1 -1 1 2 -1 1 2 1 1 0.1 1 1]\nWorldEnd\n"
        );
        draw_with(&[("look.sl", "surface look() { Ci = random(); Oi = 1; }")], &rib).clean("a.exr")
    };
    let (whole, part) = (drawn(""), drawn("CropWindow 0.5 1 0 1"));
    for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x, y))) {
        assert_eq!(part.rgb(x, y), whole.rgb(x + 16, y), "{x} {y}");
    }
}

/// What a displacement shader puts out reaches surface and lights at each point.
#[test]
fn outputs_of_the_displacement_reach_surface_and_lights() {
    let bump = "displacement bump(output varying float h = 5; output varying color c = 0; float amount = 0.25;) {
        h = xcomp(transform(\"object\", P));
        c = color (ycomp(transform(\"object\", P)), amount, 0);
        P += 0.5 * amount * normalize(N);
        N = calculatenormal(P);
    }";
    let look = "surface look(varying float k = 1;) {
        float h = 9, found = displacement(\"h\", h), none = displacement(\"g\", h);
        color c = 0, lit = 0;
        found += displacement(\"c\", c);
        illuminance (P) lit += Cl;
        Ci = k * color (h, comp(c, 0), comp(lit, 0)) * (found == 2 && none == 0 && comp(c, 1) == 0.25);
        Oi = 1;
    }";
    let lamp =
        "light lamp() { float h = 0; solar (vector \"camera\" (0, 0, 1), 0) Cl = displacement(\"h\", h) * h / 2; }";
    let scene = draw_with(
        &[("bump.sl", bump), ("look.sl", look), ("lamp.sl", lamp)],
        "Format 32 32 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nProjection \"orthographic\"\n\
         ScreenWindow 0 1 0 1\nWorldBegin\nLightSource \"lamp\" 1\nAttribute \"displacementbound\" \"sphere\" [0.2]\n\
         Surface \"look\"\nDisplacement \"bump\"\nTranslate 0 0 2\n\
         Patch \"bilinear\" \"P\" [0 1 0 1 1 0 0 0 0 1 0 0] \"varying float k\" [1 1 1 1]\nWorldEnd\n",
    );
    let picture = scene.clean("a.exr");
    for (x, y) in [(4, 9), (16, 16), (27, 3)] {
        let (across, up) = ((x as f32 + 0.5) / 32.0, 1.0 - (y as f32 + 0.5) / 32.0);
        let [r, g, b] = picture.rgb(x, y);
        let near = (r - across).abs() < 0.03 && (g - up).abs() < 0.03 && (b - r / 2.0).abs() < 1e-3;
        assert!(near, "{x} {y}: {:?}", [r, g, b]);
    }
}

/// Arrays of the light, the displacement and, in the atmosphere, the surface; and elements of arrays as variables.
#[test]
fn shaders_ask_each_other_for_arrays() {
    let lamp = "light lamp(output float a[3] = {0.125, 0.2, 0.375};) { a[1] = 0.25; solar (vector \"camera\" (0, 0, 1), 0) Cl = 1; }";
    let still = "displacement still(output varying float b[2] = {0, 0};) { b[1] = s; }";
    let look = "surface look(output varying float k[2] = {0, 0};) {
        float a[3] = {0, 0, 0}, b[2] = {0, 0};
        illuminance (P) k[0] = lightsource(\"a\", a) * (a[0] + a[1] + a[2]);
        k[1] = displacement(\"b\", b) * b[1];
        Ci = 0;
        Oi = 1;
    }";
    let air = "volume air() { float k[2] = {0, 0}, few[1]; Ci = color (surface(\"k\", k), k[0], k[1]) + surface(\"k\", few); }";
    let scene = draw_with(
        &[("lamp.sl", lamp), ("still.sl", still), ("look.sl", look), ("air.sl", air)],
        "Format 32 32 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Declare \"k[1]\" \"varying float\"\nDisplay \"+$DIR/k.exr\" \"exr\" \"k[1]\"\n\
         Projection \"orthographic\"\nScreenWindow 0 1 0 1\nWorldBegin\nLightSource \"lamp\" 1\nSurface \"look\"\n\
         Attribute \"displacementbound\" \"sphere\" [0.1]\nDisplacement \"still\"\nAtmosphere \"air\"\nTranslate 0 0 2\n\
         Patch \"bilinear\" \"P\" [0 1 0 1 1 0 0 0 0 1 0 0]\nWorldEnd\n",
    );
    let (picture, variable) = (scene.clean("a.exr"), scene.picture("k.exr"));
    for x in [4, 16, 27] {
        let [r, g, b] = picture.rgb(x, 16);
        let across = (x as f32 + 0.5) / 32.0;
        assert!(r == 1.0 && g == 0.75 && (b - across).abs() < 0.03, "{x}: {:?}", [r, g, b]);
        assert!((variable.at("k[1]", x, 16) - b).abs() < 1e-3, "{x}: {b}");
    }
}

/// A light sees the surface's output as it is when the surface looks at the light, and its parameters.
#[test]
fn lights_see_the_surface() {
    let lamp = "light lamp() {
        float k = 0, p = 0, found = surface(\"k\", k) + surface(\"p\", p);
        solar (vector \"camera\" (0, 0, 1), 0) Cl = color (k, p, found / 2);
    }";
    let look = "surface look(output varying float k = 0.1; float p = 0.25;) {
        k = s;
        color before = diffuse(normal (0, 0, -1));
        k = 0.5;
        Ci = color (comp(before, 0), comp(diffuse(normal (0, 0, -1)), 0), comp(before, 1) + comp(before, 2));
        Oi = 1;
        k = 2;
    }";
    let picture = draw_with(
        &[("lamp.sl", lamp), ("look.sl", look)],
        "Format 32 32 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nProjection \"orthographic\"\n\
         ScreenWindow 0 1 0 1\nWorldBegin\nLightSource \"lamp\" 1\nSurface \"look\" \"float p\" 0.75\nTranslate 0 0 2\n\
         Patch \"bilinear\" \"P\" [0 1 0 1 1 0 0 0 0 1 0 0]\nWorldEnd\n",
    )
    .clean("a.exr");
    for x in [4, 16, 27] {
        let [r, g, b] = picture.rgb(x, 16);
        let across = (x as f32 + 0.5) / 32.0;
        assert!((r - across).abs() < 0.03 && (g - 0.5).abs() < 1e-6 && (b - 1.75).abs() < 1e-6, "{x}: {:?}", [r, g, b]);
    }
}
