//! What scenes and shaders of other renderers rely on where the standard leaves it open, or says it in passing.

use super::{ExrChannels, RenderedScene, assert_near, draw, draw_with};

/// What is seen under a parallel camera of 4 by 4 units, 32 by 32 pixels, from 5 units away.
fn parallel(shaders: &[(&str, &str)], options: &str, world: &str) -> RenderedScene {
    draw_with(
        shaders,
        &format!(
            "Format 32 32 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
             {options}\nProjection \"orthographic\"\nScreenWindow -2 2 -2 2\nTranslate 0 0 5\nWorldBegin\n{world}\nWorldEnd\n"
        ),
    )
}

const SQUARE: &str = "Patch \"bilinear\" \"P\" [-2 -2 0 2 -2 0 -2 2 0 2 2 0]";

fn reds(picture: &ExrChannels, places: [(usize, usize); 2]) -> [f32; 2] {
    places.map(|(x, y)| picture.at("R", x, y))
}

#[test]
fn the_line_of_sight_of_a_parallel_camera_is_as_long_as_the_depth() {
    let bands: String = [1.0, 5.0, 20.0, 45.0]
        .into_iter()
        .zip([-4, -2, 0, 2])
        .map(|(z, x)| format!("Polygon \"P\" [{x} -1 {z} {0} -1 {z} {0} 1 {z} {x} 1 {z}]\n", x + 2))
        .collect();
    let picture = draw(&format!(
        "Display \"$DIR/fog.exr\" \"exr\" \"rgba\"\nFormat 80 20 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\n\
         Projection \"orthographic\"\nScreenWindow -4 4 -1 1\nWorldBegin\n\
         Atmosphere \"fog\" \"distance\" 10 \"background\" [0 0 0]\nSurface \"constant\"\n{bands}WorldEnd\n"
    ))
    .clean("fog.exr");
    for (x, depth) in [(10, 1.0_f32), (30, 5.0), (50, 20.0), (70, 45.0)] {
        assert_near(picture.rgb(x, 10), [(-depth / 10.0).exp(); 3]);
    }
}

/// The Companion's glow is of this form: where only the opacity is set, there is nothing.
#[test]
fn a_colour_that_is_set_on_some_paths_is_black_on_the_others() {
    let glow = "surface glow() { if (u < 0.5) Oi = 0; else { Ci = color (0, 1, 0); Oi = 1; } }";
    let sum = "surface sum() { Ci += 0.5 * Cs; }";
    let plain = "surface plain() { Oi = 0.5; }";
    let none = "surface none() { }";
    let at = |name: &str, text: &str, x: usize| {
        let world = format!("Color 0.5 1 0.25\nOpacity 1 1 0.5\nSurface \"{name}\"\n{SQUARE}");
        parallel(&[(&format!("{name}.sl"), text)], "", &world).clean("a.exr").rgb(x, 16)
    };
    assert_near(at("glow", glow, 4), [0.0; 3]);
    assert_near(at("glow", glow, 28), [0.0, 1.0, 0.0]);
    assert_near(at("sum", sum, 16), [0.25, 0.5, 0.125]);
    for (name, text) in [("plain", plain), ("none", none)] {
        assert_near(at(name, text, 16), [0.5, 1.0, 0.25]);
    }
}

/// Squares, each with a `k` that grows along one side only, an `even` that does not change, and how long P's derivative
/// by `k` and `s` is.
fn slopes() -> Vec<(String, f64)> {
    // Nine thirds, so that nothing is a power of two.
    let (ends, all) = ("0 1 0 1", "0 0.333333 0.666667 1 ".repeat(4));
    let even = |class: &str, count: usize| format!("\"{class} color even\" [{}]", "0.1 0.7 0.3 ".repeat(count));
    let cubic: Vec<String> =
        (0..16).map(|i| format!("{} {} 0", -1.8 + 1.2 * f64::from(i % 4), -1.8 + 1.2 * f64::from(i / 4))).collect();
    let quads: Vec<String> =
        (0..9).map(|face| 4 * (face / 3) + face % 3).map(|i| format!("{i} {} {} {}", i + 1, i + 5, i + 4)).collect();
    let downwards = ["0", "0.333333", "0.666667", "1"].map(|t| format!("{t} ").repeat(4)).concat();
    let bilinear = "\"P\" [-1.8 -1.8 0 1.8 -1.8 0 -1.8 1.8 0 1.8 1.8 0]";
    let nurbs = |k: &str| {
        let knots = "[0 0 0 0 1 1 1 1] 0 1";
        format!("NuPatch 4 4 {knots} 4 4 {knots} \"P\" [{}] {k}", cubic.join(" "))
    };
    let mesh = |k: &str| {
        let (faces, quads) = ("4 ".repeat(9), quads.join(" "));
        let tags = "[\"interpolateboundary\"] [0 0] [] []";
        format!(
            "SubdivisionMesh \"catmull-clark\" [{faces}] [{quads}] {tags} \"P\" [{}] {k} \
             \"varying float s\" [{all}] \"varying float t\" [{downwards}]",
            cubic.join(" ")
        )
    };
    vec![
        (format!("Patch \"bilinear\" {bilinear} \"varying float k\" [{ends}] {}", even("varying", 4)), 3.6),
        (format!("Patch \"bilinear\" {bilinear} \"vertex float k\" [{ends}] {}", even("vertex", 4)), 3.6),
        (
            format!("Patch \"bicubic\" \"P\" [{}] \"vertex float k\" [{all}] {}", cubic.join(" "), even("vertex", 16)),
            3.6,
        ),
        (nurbs(&format!("\"varying float k\" [{ends}] {}", even("varying", 4))), 3.6),
        (nurbs(&format!("\"vertex float k\" [{all}] {}", even("vertex", 16))), 3.6),
        (mesh(&format!("\"varying float k\" [{all}] {}", even("varying", 16))), 3.6),
        (mesh(&format!("\"varying float k\" [{all}] {}", even("vertex", 16))), 3.6),
        // A polygon's s and t are its x and y.
        (
            format!(
                "Polygon \"P\" [-1.8 -1.8 0 1.8 -1.8 0 1.8 1.8 0 -1.8 1.8 0] \"facevarying float k\" [-1.8 1.8 1.8 -1.8] {}",
                even("facevarying", 4)
            ),
            1.0,
        ),
    ]
}

/// `k` grows along one side only, whatever carries it and however the object is turned.
#[test]
fn derivatives_of_what_does_not_change_are_nothing() {
    let shader = "surface slopes(varying float k = 0; float wanted = 1; varying color even = 0;) {
        float along = length(Deriv(P, s)), given = length(Deriv(P, k));
        Ci = color (abs(along - wanted) < 0.01 * wanted, abs(given - wanted) < 0.01 * wanted, comp(even, 1) == 0.7
            && Dv(s) == 0 && Du(t) == 0 && Dv(mix(s, s, t)) == 0);
    }";
    for (object, wanted) in slopes() {
        let world = format!("ShadingRate 0.3\nSurface \"slopes\" \"wanted\" {wanted}\n{object}");
        let picture = parallel(&[("slopes.sl", shader)], "", &world).clean("a.exr");
        for (x, y) in (4..28).flat_map(|x| (4..28).map(move |y| (x, y))) {
            assert_eq!(picture.rgb(x, y), [1.0; 3], "{x} {y}: {object}");
        }
    }
}

#[test]
fn parameters_of_imagers_arrive_as_they_are_written() {
    let show = "imager show(vector dir = vector (0.2, 0.4, 0.6); point at = point (0.1, 0.3, 0.5);
        normal way = normalize(vector (0, 3, 4)); point two[2] = {(0.5, 0.25, 0.125), (1, 2, 3)}; float which = 0;) {
        vector v = which == 0 ? dir : which == 1 ? vector at : which == 2 ? vector way : vector two[0];
        Ci = color (xcomp(v), ycomp(v), zcomp(v));
    }";
    let shown = |parameters: &str| {
        let imager = format!("Imager \"show\" {parameters}");
        let scene = draw_with(
            &[("show.sl", show)],
            &format!(
                "Format 16 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nProjection \"perspective\" \"fov\" 40\n\
                 Translate 1 2 3\n{imager}\nWorldBegin\nTranslate 0 0 5\nSphere 1 -1 1 360\nWorldEnd\n"
            ),
        );
        scene.clean("a.exr").rgb(2, 2)
    };
    assert_near(shown(""), [0.2, 0.4, 0.6]);
    assert_near(shown("\"float which\" 1"), [0.1, 0.3, 0.5]);
    assert_near(shown("\"float which\" 1 \"point at\" [0.5 0.25 0.75]"), [0.5, 0.25, 0.75]);
    assert_near(shown("\"float which\" 2"), [0.0, 0.6, 0.8]);
    assert_near(shown("\"float which\" 3"), [0.5, 0.25, 0.125]);
}

/// Shader space differs from object space, and both from the world's and the camera's.
#[test]
fn defaults_that_name_no_space_are_in_shader_space() {
    let look = "surface look(point a[2] = {point \"world\" (1, 2, 3), (1, 1, 1)}; vector b = normalize(vector (2, 0, 0));
        point c = point \"shader\" (0, 0, 0) + vector (0, 1, 0); normal d[2] = {(0, 0, 1), normal \"object\" (0, 0, 1)};) {
        point shader_a = transform(\"shader\", a[1]), world_a = transform(\"world\", a[0]);
        Ci = color (distance(shader_a, point (1, 1, 1)) + distance(world_a, point (1, 2, 3)),
            distance(point vtransform(\"shader\", b), point (1, 0, 0)) + distance(transform(\"shader\", c), point (0, 1, 0)),
            distance(point ntransform(\"shader\", d[0]), point (0, 0, 1)));
    }";
    let world = format!(
        "Translate 0.5 0 0\nRotate 90 0 0 1\nScale 2 2 2\nTransformBegin\nTranslate 0.1 0 0\nRotate 30 1 2 3\nSurface \"look\"\n\
         TransformEnd\n{SQUARE}"
    );
    let [r, g, b] = parallel(&[("look.sl", look)], "", &world).clean("a.exr").rgb(16, 16);
    assert!(r.max(g).max(b) < 1e-5, "{:?}", [r, g, b]);
}

/// A surface that grows by a half, and is coloured by where it was before.
const GROWS: &str = "surface grows(float by = 0.5; output varying float far = 0;) {
    far = length(transform(\"shader\", P));
    P += by * normalize(N);
    N = calculatenormal(P);
    Oi = 1;
    Ci = color (far, length(transform(\"shader\", P)), normalize(N) . normalize(-I));
}";

#[test]
fn a_surface_that_moves_p_is_hidden_where_it_moves_it() {
    let ball = "Surface \"grows\"\nSphere 1 -1 1 360";
    for (bound, measured) in [("", 1), ("Attribute \"displacementbound\" \"sphere\" [0.5]\n", 0)] {
        let scene = parallel(&[("grows.sl", GROWS)], "", &format!("{bound}{ball}"));
        let said = scene.message_count("this object is displaced without a declared bound");
        assert_eq!((said, scene.messages.len()), (measured, measured), "{:?}", scene.messages);
        let picture = scene.picture("a.exr");
        let covered = picture.channel("A").iter().filter(|&&a| a == 1.0).count() as f32 / 64.0;
        assert!((covered - std::f32::consts::PI * 2.25).abs() < 0.3, "{covered}");
        // 11.5 pixels, 1.4375 units from the middle: beyond the sphere as it was.
        assert!(reds(&picture, [(16, 16), (27, 16)]).iter().all(|far| (far - 1.0).abs() < 0.01));
        assert!((picture.at("G", 20, 12) - 1.5).abs() < 0.01);
        assert!(picture.at("B", 16, 16) > 0.99 && picture.at("B", 27, 16) < 0.4);
    }
}

/// What displays take of P is where the geometry is; `moved` is where the surface believes that it moved it.
#[test]
fn both_halves_of_a_surface_that_moves_p_see_the_same() {
    let shader = "surface lit(float by = 0.5; output varying point moved = 0; output varying float same = 0;) {
        point before = P;
        normal Nf = faceforward(normalize(N), I);
        P += comp(diffuse(Nf), 0) * Nf + vector (0, 0, 0.001 * random());
        moved = P;
        same = distance(point I, before) < 1e-6 && abs(zcomp(normalize(Ng))) > 0.99999
            && distance(point dPdu, point (4, 0, 0)) < 1e-5 && distance(point dPdv, point (0, 4, 0)) < 1e-5;
        Ci = Cs;
    }";
    let lamp = "light lamp(float intensity = 0.25;) { solar (vector \"camera\" (0, 0, 1), 0) Cl = intensity; }";
    let asks = "light asks() { float by = 0; displacement(\"by\", by);
        solar (vector \"camera\" (0, 0, 1), 0) Cl = by; }";
    let shaders = [("lit.sl", shader), ("lamp.sl", lamp), ("asks.sl", asks)];
    let (lamp, asks) = ("LightSource \"lamp\" 1\n", "LightSource \"asks\" 2\n");
    for (lights, light) in
        [(String::new(), 0.0), (lamp.into(), 0.25), (asks.into(), 0.5), (format!("{lamp}{asks}"), 0.75)]
    {
        let picture = draw_with(
            &shaders,
            &format!(
                "Format 32 32 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nProjection \"perspective\" \"fov\" 30\n\
                 DisplayChannel \"varying point P\"\nDisplayChannel \"varying point moved\"\n\
                 DisplayChannel \"varying float same\"\nDisplay \"$DIR/a.exr\" \"exr\" \"P,moved,same\" \
                 \"string exrpixeltype\" \"float\"\nTranslate 0 0 5\nWorldBegin\n{lights}Attribute \"displacementbound\" \"sphere\" [1]\n\
                 Surface \"lit\"\n{SQUARE}\nWorldEnd\n"
            ),
        )
        .clean("a.exr");
        for axis in ["x", "y", "z"] {
            let [p, moved] = ["P", "moved"].map(|name| picture.channel(&format!("{name}.{axis}")));
            assert_eq!(p, moved, "{axis} in light of {light}");
        }
        let mut above = picture.channel("P.z").iter().map(|z| z - (5.0 - light));
        assert!(above.all(|above| (-1e-5..0.001_01).contains(&above)), "in light of {light}");
        assert!(picture.channel("same").iter().all(|&same| same == 1.0), "in light of {light}");
    }
}

#[test]
fn a_surface_beside_a_displacement_moves_nothing_and_says_so() {
    let out = "displacement out() { P += 0.25 * normalize(N); N = calculatenormal(P); }";
    let scene = parallel(
        &[("grows.sl", GROWS), ("out.sl", out)],
        "",
        "Attribute \"displacementbound\" \"sphere\" [0.25]\nDisplacement \"out\"\nSurface \"grows\"\nSphere 1 -1 1 360\nTranslate 9 9 0\nSphere 1 -1 1 360",
    );
    let words = "the surface shader \"grows\" moves P, which has no effect beside a displacement shader";
    assert_eq!((scene.message_count(words), scene.messages.len()), (1, 1), "{:?}", scene.messages);
    let picture = scene.picture("a.exr");
    assert_eq!((picture.at("A", 25, 16), picture.at("A", 27, 16)), (1.0, 0.0));
}

#[test]
fn categories_can_be_joined() {
    let lamp =
        "light lamp(string __category = \"\"; color tint = 1;) { solar (vector \"camera\" (0, 0, 1), 0) Cl = tint; }";
    let look = "surface look(string which = \"\";) { Ci = 0; illuminance (which, P) Ci += Cl; }";
    let lights = [("key", "1 0 0"), ("key,rim", "0 1 0"), ("", "0 0 1")].map(|(words, tint)| {
        format!("LightSource \"lamp\" \"{tint}\" \"string __category\" \"{words}\" \"color tint\" [{tint}]\n")
    });
    for (pattern, wanted) in [
        ("key", [1.0, 1.0, 0.0]),
        ("key&-rim", [1.0, 0.0, 0.0]),
        ("key&rim", [0.0, 1.0, 0.0]),
        ("-rim", [1.0, 0.0, 1.0]),
        ("key,-rim", [1.0, 0.0, 0.0]),
        ("", [1.0, 1.0, 1.0]),
    ] {
        let world = format!("{}Surface \"look\" \"string which\" \"{pattern}\"\n{SQUARE}", lights.concat());
        let picture = parallel(&[("lamp.sl", lamp), ("look.sl", look)], "", &world).clean("a.exr");
        assert_eq!(picture.rgb(16, 16), wanted, "{pattern}");
    }
}

#[test]
fn any_number_of_categories_is_told_apart() {
    let lamp = "light lamp(string __category = \"\";) { solar (vector \"camera\" (0, 0, 1), 0) Cl = 1; }";
    let look = "surface look(string which = \"\";) { Ci = 0; illuminance (which, P) Ci += Cl; }";
    let lights: String =
        (0..70).map(|i| format!("LightSource \"lamp\" {i} \"string __category\" \"all,k{i}\"\n")).collect();
    for (which, wanted) in [("k31", 1.0), ("k35,k64", 2.0), ("-k69", 69.0), ("all", 70.0), ("k70", 0.0)] {
        let world = format!("{lights}Surface \"look\" \"string which\" \"{which}\"\n{SQUARE}");
        let picture = parallel(&[("lamp.sl", lamp), ("look.sl", look)], "", &world).clean("a.exr");
        assert_eq!(picture.at("R", 16, 16), wanted, "{which}");
    }
}

#[test]
fn normals_against_the_winding_are_reported() {
    let sun = "LightSource \"distantlight\" 1 \"from\" [0 0 -1] \"to\" [0 0 0]\nSurface \"matte\"\n";
    let [front, back] = ["0 0 -1 ".repeat(4), "0 0 1 ".repeat(4)];
    let (clockwise, other) = ("-2 -2 0 -2 2 0 2 2 0 2 -2 0", "-2 -2 0 2 -2 0 2 2 0 -2 2 0");
    for (requests, points, normals, is_turned) in [
        ("", clockwise, &front, false),
        ("", other, &front, true),
        ("", other, &back, false),
        ("ReverseOrientation", other, &front, false),
        ("Scale 1 -1 1", clockwise, &front, false),
        ("Scale 1 -1 1\nReverseOrientation", clockwise, &front, true),
    ] {
        let world = format!("{sun}{requests}\nPolygon \"P\" [{points}] \"N\" [{normals}]");
        let scene = parallel(&[], "", &world);
        let case = format!("{requests} {points} {normals}: {:?}", scene.messages);
        assert_eq!(
            scene.message_count("the normals \"N\" point against the winding"),
            usize::from(is_turned),
            "{case}"
        );
        let lit = scene.picture("a.exr").at("R", 16, 16);
        assert_eq!(lit, f32::from(!is_turned), "{case}");
    }
    // Of two meshes of one attribute state the second.
    let mesh = |points: &str| format!("PointsPolygons [4] [0 1 2 3] \"P\" [{points}] \"N\" [{front}]\n");
    let both = parallel(&[], "", &format!("{sun}{}Translate 0 0 1\n{}", mesh(clockwise), mesh(other)));
    assert_eq!(both.message_count("the normals \"N\" point against the winding"), 1, "{:?}", both.messages);
    // Nothing asks for the winding.
    let plain = "surface plain() { Ci = diffuse(normalize(N)); }";
    for surface in ["constant", "plain"] {
        let world = format!("{sun}Surface \"{surface}\"\nPolygon \"P\" [{other}] \"N\" [{front}]");
        let scene = parallel(&[("plain.sl", plain)], "", &world);
        assert_eq!(scene.clean("a.exr").at("R", 16, 16), 1.0, "{surface}");
    }
    let mixed =
        format!("{sun}PointsPolygons [4 4] [0 1 2 3 4 5 6 7] \"P\" [{other} {clockwise}] \"N\" [{front} {front}]");
    assert!(parallel(&[], "", &mixed).messages.is_empty());
}
