//! Lights that make their shadow maps by themselves (ATT-59, ATT-60; OPT-55).

use super::{draw, draw_as};
use anthill::files::FileClaims;
use anthill::film::DisplayState::Whole;
use anthill::texture::{TILE_WORDS, TextureFile, TextureKind};

/// A floor at y = 0 below a card from x = -1 to 1 at y = 1, seen from above; light from above.
fn scene(attributes: &str, light: &str) -> String {
    frame(1, "", attributes, light)
}

fn frame(number: u32, camera: &str, attributes: &str, light: &str) -> String {
    format!(
        "FrameBegin {number}\nFormat 32 32 1\nDisplay \"$DIR/a{number}.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\n\
         {camera}Translate 0 0 10\nRotate -90 1 0 0\nScreenWindow -4 4 -4 4\nOrientation \"rh\"\nWorldBegin\n\
         AttributeBegin\nAttribute \"autoshadows\" \"int[2] res\" [512 512]\n{attributes}\n{light}\nAttributeEnd\nIlluminate 1 1\n\
         Surface \"matte\" \"Ka\" [0] \"Kd\" [1]\nPolygon \"P\" [-9 0 -9  9 0 -9  9 0 9  -9 0 9]\n\
         Attribute \"visibility\" \"camera\" [1]\nPolygon \"P\" [-1 1 -1  1 1 -1  1 1 1  -1 1 1]\nWorldEnd\nFrameEnd\n"
    )
}

const LIGHTS: [(&str, &str, f32); 3] = [
    // 45 degrees from the left: the card's shadow lies from x = 0 to 2.
    ("distant", "LightSource \"distantlight\" 1 \"from\" [-3 3 0] \"to\" [0 0 0]", 1.5),
    (
        "spot",
        "LightSource \"spotlight\" 1 \"from\" [-3 4 0] \"to\" [0 0 0] \"coneangle\" [0.9] \"intensity\" [20]",
        1.5,
    ),
    ("point", "LightSource \"pointlight\" 1 \"from\" [-3 4 0] \"intensity\" [20]", 1.5),
];

/// The pixel at a place of the floor.
fn at(x: f32, z: f32) -> [usize; 2] {
    [x, z].map(|side| ((side + 4.0) * 4.0) as usize)
}

#[test]
fn lights_cast_shadows_by_themselves() {
    for (name, light, dark) in LIGHTS {
        let [lit, shadowed] = ["\"off\"", "\"on\""]
            .map(|on| draw(&scene(&format!("Attribute \"light\" \"string shadows\" {on}"), light)));
        for (x, expected) in [(dark, 0.0), (-2.5, 1.0), (3.5, 1.0)] {
            let [px, py] = at(x, 0.0);
            let [before, after] = [&lit, &shadowed].map(|scene| scene.clean("a1.exr").rgb(px, py)[0]);
            assert!(before > 0.05, "{name}: no light at x = {x}");
            assert!((after / before - expected).abs() < 0.02, "{name}: {after} of {before} at x = {x}");
        }
        // The card has light on it: it casts no shadow on itself.
        let [px, py] = at(-0.3, 0.3);
        assert_eq!(shadowed.picture("a1.exr").rgb(px, py), lit.picture("a1.exr").rgb(px, py), "{name}");
    }
}

#[test]
fn a_map_that_is_named_is_kept_and_drawn_once_for_all_frames() {
    let keep = "Attribute \"autoshadows\" \"string shadowmapname\" [\"$DIR/k.shad\"]";
    let frames = [frame(1, "", keep, LIGHTS[1].1), frame(2, "Translate 0.5 0 0\n", keep, LIGHTS[1].1)].concat();
    let moved = frame(3, "", keep, &LIGHTS[1].1.replace("-3 4 0", "-2 4 0"));
    let scene = draw(&format!("{frames}{moved}"));
    assert_eq!((scene.messages.clone(), scene.displays.clone()), (vec![], vec![Whole; 3]));
    assert_eq!(scene.worlds, 5, "three pictures and two maps");
    let file = TextureFile::open(&scene.folder().join("k.shad")).expect("it is kept");
    assert_eq!((file.header().kind, file.header().width, file.header().height), (TextureKind::Shadow, 512, 512));
    // In the middle: halfway between card and floor along the light's axis, which is sqrt(20) long.
    let mut tile = [0; TILE_WORDS];
    file.read_tile(0, 0, 4, 4, &mut tile).expect("it is readable");
    let depths = tile.map(f32::from_bits);
    let card = depths.iter().copied().filter(|depth| *depth < 1e30).fold(0.0, f32::max);
    assert!(card > 3.5 && card < 5.0, "{card}");
}

#[test]
fn an_ambient_light_casts_no_shadow_which_is_no_fault() {
    let scene = draw(&scene("Attribute \"light\" \"string shadows\" \"on\"", "LightSource \"ambientlight\" 1"));
    assert_eq!((scene.messages, scene.displays, scene.worlds), (vec![], vec![Whole], 1));
}

/// The shader's own call is not repeated: its map is the light's.
#[test]
fn a_light_that_looks_shadows_up_gets_the_map() {
    let light = "LightSource \"shadowspot\" 1 \"from\" [-3 4 0] \"to\" [0 0 0] \"coneangle\" [0.9] \"intensity\" [20]";
    let on = "Attribute \"light\" \"string shadows\" \"on\"";
    let [own, scaled] = [light, LIGHTS[1].1].map(|light| draw(&scene(on, light)));
    let [own, scaled] = [&own, &scaled].map(|scene| scene.clean("a1.exr"));
    for x in [1.5, -2.5, 3.5, 0.3] {
        let [px, py] = at(x, 0.2);
        let [own, scaled] = [&own, &scaled].map(|picture| picture.rgb(px, py)[0]);
        assert!((own - scaled).abs() < 0.02 * (0.05 + scaled), "{own} for {scaled} at x = {x}");
    }
}

/// With a bias that is larger than the distance of card and floor, there is no shadow.
#[test]
fn option_shadow_sets_the_bias_of_lookups_without_one() {
    let on = "Attribute \"light\" \"string shadows\" \"on\"";
    let plain = scene(on, LIGHTS[0].1);
    let biased =
        plain.replace("PixelSamples", "Option \"shadow\" \"float bias\" [9] \"int samples\" [4]\nPixelSamples");
    let [px, py] = at(1.5, 0.0);
    let [plain, biased] = [plain, biased].map(|text| draw(&text).clean("a1.exr").rgb(px, py)[0]);
    assert!(plain < 0.02 && biased > 0.5, "{plain}, {biased}");
}

/// The maps are the program's own: a scene that is confined to its folder casts the same shadows.
#[test]
fn a_confined_scene_casts_shadows() {
    let on = scene("Attribute \"light\" \"string shadows\" \"on\"", LIGHTS[0].1);
    let confined = draw_as(&[], &on, &|options| {
        let folder = options.scenes[0].parent().expect("a scene in a folder");
        options.files = FileClaims::confined_to(folder).expect("a folder").into();
    });
    let [px, py] = at(1.5, 0.0);
    assert!(confined.clean("a1.exr").rgb(px, py)[0] < 0.02);
}

/// Objects are kept out of maps by any spelling of that, and stay in the picture.
#[test]
fn objects_that_cast_no_shadows_are_not_in_the_maps() {
    let plain = scene("Attribute \"light\" \"string shadows\" \"on\"", LIGHTS[0].1);
    let spelt = |attribute: &str| plain.replace("Attribute \"visibility\" \"camera\" [1]", attribute);
    let ([shadow_x, shadow_y], [card_x, card_y]) = (at(1.5, 0.0), at(-0.3, 0.3));
    for (attribute, casts) in [
        ("Attribute \"visibility\" \"int transmission\" [0]", false),
        ("Attribute \"visibility\" \"string transmission\" [\"transparent\"]", false),
        ("Attribute \"visibility\" \"shadow\" [0]", false),
        ("Attribute \"render\" \"casts_shadows\" \"none\"", false),
        ("Attribute \"render\" \"integer visibility\" [3]", false),
        ("Attribute \"visibility\" \"int transmission\" [1]", true),
        ("Attribute \"visibility\" \"transmission\" [\"opaque\"]", true),
        ("Attribute \"render\" \"string casts_shadows\" \"Os\"", true),
        ("Attribute \"render\" \"visibility\" [7]", true),
    ] {
        let picture = draw(&spelt(attribute)).clean("a1.exr");
        let lit = picture.rgb(shadow_x, shadow_y)[0];
        assert!(if casts { lit < 0.02 } else { lit > 0.5 }, "{attribute}: {lit}");
        assert!(picture.rgb(card_x, card_y)[0] > 0.5, "{attribute}: the card is in the picture");
    }
}

/// A solid is in the maps as a whole, or not at all.
#[test]
fn a_solid_casts_a_shadow_unless_none_of_its_surfaces_does() {
    let plain = scene("Attribute \"light\" \"string shadows\" \"on\"", LIGHTS[0].1);
    let card = "Polygon \"P\" [-1 1 -1  1 1 -1  1 1 1  -1 1 1]";
    let solid = |first: &str, second: &str| {
        let sphere = "Translate 0 1.5 0\nSphere 1 -1 1 360";
        let part = |attribute: &str| {
            format!(
                "SolidBegin \"primitive\"\nAttribute \"visibility\" \"int transmission\" [{attribute}]\n{sphere}\nSolidEnd\n"
            )
        };
        plain.replace(card, &format!("SolidBegin \"union\"\n{}{}SolidEnd", part(first), part(second)))
    };
    // The shadow of the spheres' middle.
    let [x, y] = at(1.5, 0.0);
    for (first, second, casts) in [("1", "1", true), ("0", "1", true), ("0", "0", false)] {
        let lit = draw(&solid(first, second)).clean("a1.exr").rgb(x, y)[0];
        assert!(if casts { lit < 0.02 } else { lit > 0.5 }, "{first} {second}: {lit}");
    }
}
