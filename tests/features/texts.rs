//! Texts that shaders compute, most of them names of textures (RISpec 15.7, 15.9).

use super::{RenderedScene, assert_near, draw_with};

/// The colour of the texture `$DIR/map.N.tex`.
fn colour(number: usize) -> [f32; 3] {
    [[0.0; 3], [1.0, 0.25, 0.0], [0.0, 1.0, 0.25], [0.25, 0.0, 1.0]][number]
}

const PAINT: &str = "surface paint(color c = 0;) { Ci = c; Oi = 1; }";

/// Paints the textures 1 to 3, and then a world.
fn drawn(shaders: &[(&str, &str)], world: &str) -> RenderedScene {
    let painted = |number: usize| {
        let [r, g, b] = colour(number);
        format!(
            "Format 16 16 1\nDisplay \"$DIR/{number}.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"paint\" \"color c\" [{r} {g} {b}]\n\
             Polygon \"P\" [-2 2 1 2 2 1 2 -2 1 -2 -2 1]\nWorldEnd\n\
             MakeTexture \"$DIR/{number}.exr\" \"$DIR/map.{number}.tex\" \"clamp\" \"clamp\" \"box\" 1 1\n"
        )
    };
    let rib = format!(
        "{}Format 32 8 1\nScreenWindow -4 4 -1 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\n{world}\n",
        (1..=3).map(painted).collect::<String>()
    );
    draw_with(&[&[("paint.sl", PAINT)], shaders].concat(), &rib)
}

/// Four squares from left to right, each after its attributes.
fn squares(attributes: [&str; 4]) -> String {
    let square = |(at, attributes): (usize, &str)| {
        let x = 2.0 * at as f32 - 4.0;
        let points = format!("[{x} 1 1 {} 1 1 {x} -1 1 {} -1 1]", x + 2.0, x + 2.0);
        format!("AttributeBegin\n{attributes}\nPatch \"bilinear\" \"P\" {points}\nAttributeEnd\n")
    };
    attributes.into_iter().enumerate().map(square).collect()
}

fn seen(scene: &RenderedScene) -> [[f32; 3]; 4] {
    let picture = scene.clean("a.exr");
    [4, 12, 20, 28].map(|x| picture.rgb(x, 4))
}

#[test]
fn textures_are_named_by_numbers_attributes_options_and_objects() {
    let look = |name: &str, code: &str| {
        format!(
            "surface {name}(string dir = \"\"; float number = 1;) {{ string map = \"\"; {code} Ci = color texture(map, 0.5, 0.5); Oi = 1; }}"
        )
    };
    let shaders = [
        ("number.sl", look("number", "map = format(\"%smap.%d.tex\", dir, number + 1);")),
        ("attribute.sl", look("attribute", "attribute(\"user:map\", map);")),
        (
            "option.sl",
            look("option", "float n = 0; option(\"user:number\", n); map = concat(dir, format(\"map.%d.tex\", n));"),
        ),
        (
            "object.sl",
            look("object", "attribute(\"identifier:name\", map); map = concat(dir, \"map.\", map, \".tex\");"),
        ),
    ];
    let shaders: Vec<(&str, &str)> = shaders.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let world = squares([
        "Surface \"number\" \"string dir\" [\"$DIR/\"] \"float number\" 2",
        "Attribute \"user\" \"string map\" [\"$DIR/map.1.tex\"]\nSurface \"attribute\"",
        "Surface \"option\" \"string dir\" [\"$DIR/\"]",
        "Attribute \"identifier\" \"string name\" [\"3\"]\nSurface \"object\" \"string dir\" [\"$DIR/\"]",
    ]);
    let scene = drawn(&shaders, &format!("Option \"user\" \"float number\" 2\nWorldBegin\n{world}WorldEnd"));
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    for (found, number) in seen(&scene).into_iter().zip([3, 1, 2, 3]) {
        assert_near(found, colour(number));
    }
}

#[test]
fn textures_are_named_by_counters_branches_and_computed_attributes() {
    let head = "(string dir = \"\"; float which = 1;) { uniform float i; string map; Ci = 0; Oi = 1; ";
    let counter = format!(
        "surface counter{head} for (i = 1; i <= 3; i += 1) Ci += i * color texture(format(\"%smap.%d.tex\", dir, i), 0.5, 0.5); }}"
    );
    // The name differs from point to point, but is one of two.
    let branch = format!(
        "surface branch{head} if (s < 2 * which) map = concat(dir, \"map.1.tex\"); else map = concat(dir, \"map.2.tex\");
            Ci = color texture(map, 0.5, 0.5); }}"
    );
    let asked = format!(
        "surface asked{head} attribute(format(\"user:map%d\", which + 1), map); Ci = color texture(map, 0.5, 0.5); }}"
    );
    let nested = format!(
        "surface nested{head} uniform float j; for (i = 0; i < 2; i += 1) for (j = 1; j < 3; j += 1) if (i * 2 + j == 3)
            Ci += color texture(format(\"%smap.%d.tex\", dir, i * 2 + j), 0.5, 0.5); }}"
    );
    let shaders = [("counter.sl", &*counter), ("branch.sl", &*branch), ("asked.sl", &*asked), ("nested.sl", &*nested)];
    let given = "\"string dir\" [\"$DIR/\"]";
    let maps = "Attribute \"user\" \"string map1\" [\"$DIR/map.1.tex\"] \"string map2\" [\"$DIR/map.2.tex\"]\n";
    let world = squares([
        &format!("Surface \"counter\" {given}"),
        &format!("Surface \"branch\" {given} \"float which\" 0"),
        &format!("{maps}Surface \"asked\" {given}"),
        &format!("Surface \"nested\" {given}"),
    ]);
    let scene = drawn(&shaders, &format!("WorldBegin\n{world}WorldEnd"));
    // The fourth of the names of nested loops is not there.
    let missing = |message: &String| !message.contains("map.4.tex");
    assert!(!scene.messages.iter().any(missing), "{:?}", scene.messages);
    let picture = scene.picture("a.exr");
    let sum: [f32; 3] = std::array::from_fn(|i| (1..=3).map(|number| number as f32 * colour(number)[i]).sum());
    for (x, expected) in [(4, sum), (12, colour(2)), (20, colour(2)), (28, colour(3))] {
        assert_near(picture.rgb(x, 4), expected);
    }
}

#[test]
fn lights_have_textures_of_their_own_names() {
    let light = "light slide(string dir = \"\"; float number = 1; point from = point (0, 0, 0);) {
        solar(vector \"camera\" (0, 0, 1), 0) Cl = color texture(format(\"%smap.%d.tex\", dir, number), 0.5, 0.5); }";
    let show = "surface show() { Ci = diffuse(N); Oi = 1; }";
    let lights: String = (1..=3)
        .map(|number| format!("LightSource \"slide\" {number} \"string dir\" [\"$DIR/\"] \"float number\" {number}\n"))
        .collect();
    let off = "Surface \"show\"\nIlluminate 1 0\nIlluminate 2 0\nIlluminate 3 0\n";
    let on = [1, 2, 3].map(|number| format!("{off}Illuminate {number} 1"));
    let world = squares([&on[0], &on[1], &on[2], "Surface \"show\""]);
    let scene = drawn(&[("slide.sl", light), ("show.sl", show)], &format!("WorldBegin\n{lights}{world}WorldEnd"));
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    for (found, number) in seen(&scene).into_iter().zip(1..=3) {
        assert_near(found, colour(number));
    }
    assert_near(seen(&scene)[3], std::array::from_fn(|i| (1..=3).map(|number| colour(number)[i]).sum()));
}

#[test]
fn a_name_that_differs_from_point_to_point_is_reported() {
    let tiles = "surface tiles(string dir = \"\";) { Ci = color texture(format(\"%smap.%d.tex\", dir, floor(3 * s)), s, t); Oi = 1; }";
    let world = squares(["Surface \"tiles\""; 4]);
    let scene = drawn(&[("tiles.sl", tiles)], &format!("WorldBegin\n{world}WorldEnd"));
    let expected = "format \"%smap.%d.tex\": texts that are only known point by point are empty";
    assert_eq!(scene.message_count(expected), 1, "{:?}", scene.messages);
    assert_eq!(scene.messages.len(), 1, "{:?}", scene.messages);
    let place = format!("tiles.sl:1:{}", 1 + tiles.find("format(").expect("a call"));
    assert!(scene.messages[0].contains(&place), "{place}: {:?}", scene.messages);
}

/// Nothing would ever end a loop that waits for a text that a kernel cannot make: it makes no trip, wherever the text
/// is kept.
#[test]
fn loops_until_a_text_is_made_end() {
    let loops = [
        "while (match(\"y*\", name) == 0 && name != \"yyy\") { name = concat(name, format(\"%d\", s)); n = 0; }",
        "while (names[1] != \"yyy\") { names[1] = concat(names[1], format(\"%d\", s)); n = 0; }",
        "while (n > 0) { name = concat(name, format(\"%d\", s)); if (name == \"yyy\") break; n += 0; }",
        "for (i = 0; name != \"yyy\"; i += 1) { if (i > 2) name = format(\"%d\", s); n = 0; }",
    ];
    for code in loops {
        let waits = format!(
            "surface waits() {{ string name = \"\", names[2] = {{ \"\", \"\" }}; float i, n = 1; {code} Ci = n; Oi = 1; }}"
        );
        let world = squares(["Surface \"waits\""; 4]);
        let scene = drawn(&[("waits.sl", &waits)], &format!("WorldBegin\n{world}WorldEnd"));
        let said = scene.message_count("format \"%d\": texts that are only known point by point are empty");
        assert_eq!(said, 1, "{code}: {:?}", scene.messages);
        assert_near(scene.picture("a.exr").rgb(4, 4), [1.0; 3]);
    }
}

#[test]
fn objects_and_lights_that_differ_in_names_share_a_kernel() {
    let many = "surface many(string dir = \"\", kind = \"\";) {
        Ci = color texture(concat(dir, kind, \".tex\"), 0.5, 0.5) * diffuse(N); Oi = 1; }";
    let slide = "light shared(string dir = \"\", kind = \"\";) {
        solar(vector \"camera\" (0, 0, 1), 0) Cl = color texture(concat(dir, kind, \".tex\"), 0.5, 0.5); }";
    let of = |shader: &str, number: usize| {
        format!("\"{shader}\" \"string dir\" [\"$DIR/\"] \"string kind\" [\"map.{number}\"]")
    };
    let lights: String = (1..=3)
        .map(|number| of("shared", number).replacen(' ', &format!(" {number} "), 1))
        .map(|light| format!("LightSource {light}\n"))
        .collect();
    let surfaces = [1, 2, 3, 1].map(|number| format!("Surface {}", of("many", number)));
    let world = squares([0, 1, 2, 3].map(|at| surfaces[at].as_str()));
    let scene = drawn(&[("many.sl", many), ("shared.sl", slide)], &format!("WorldBegin\n{lights}{world}WorldEnd"));
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    let light: [f32; 3] = std::array::from_fn(|i| (1..=3).map(|number| colour(number)[i]).sum());
    for (found, number) in seen(&scene).into_iter().zip([1, 2, 3, 1]) {
        assert_near(found, std::array::from_fn(|i| light[i] * colour(number)[i]));
    }
    let mut kernels: Vec<&String> = scene.kernels.iter().filter(|name| name.ends_with(" shade many")).collect();
    kernels.sort();
    assert!(!kernels.is_empty() && kernels.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", scene.kernels);
}

/// Also where a uniform number chooses an element of an array.
#[test]
fn texts_are_matched_for_each_object() {
    let matched = "surface matched(string kind = \"\", kinds[3] = {\"a\", \"b\", \"ab\"}; float n = 0;) {
        string own[3] = { \"x\", concat(kind, \"y\"), \"z\" };
        Ci = color (match(\"^a\", kind), match(\"b$\", kinds[n]), match(\"ay\", own[n])); Oi = 1; }";
    let of = |kind: &str, n: usize| format!("Surface \"matched\" \"string kind\" [\"{kind}\"] \"float n\" {n}");
    let surfaces = [of("ab", 0), of("b", 1), of("a", 1), of("", 2)];
    let world = squares([0, 1, 2, 3].map(|at| surfaces[at].as_str()));
    let scene = drawn(&[("matched.sl", matched)], &format!("WorldBegin\n{world}WorldEnd"));
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    for (found, expected) in seen(&scene).into_iter().zip([[1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 1, 0]]) {
        assert_near(found, expected.map(|x| x as f32));
    }
}

#[test]
fn texts_of_all_kinds_are_made_for_each_object() {
    let say = "surface say(string a = \"x\"; float n = 1; color c = 0;) {
        string text = format(\"%s-%d %c\", a, n * 2, c), name = \"\";
        option(concat(\"user:\", a), name);
        Ci = color (text == \"x-2 0.000000 0.000000 0.000000\", match(\"^y-6\", text), name == \"found\"); Oi = 1; }";
    let world = squares([
        "Surface \"say\"",
        "Surface \"say\" \"string a\" [\"y\"] \"float n\" 3",
        "Surface \"say\" \"string a\" [\"z\"]",
        "Surface \"say\" \"float n\" 2",
    ]);
    let world = format!("Option \"user\" \"string z\" [\"found\"]\nWorldBegin\n{world}WorldEnd");
    let scene = drawn(&[("say.sl", say)], &world);
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    let expected = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]];
    seen(&scene).into_iter().zip(expected).for_each(|(found, expected)| assert_near(found, expected));
}
