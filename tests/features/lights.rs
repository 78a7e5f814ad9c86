//! Light sources.

use super::{assert_near, draw_with};

/// The colour of a white card at z = 5 in the middle of the picture.
fn lit(lights: &str) -> ([f32; 3], Vec<String>) {
    lit_by(&[], lights)
}

/// The same by light shaders of these sources.
fn lit_by(shaders: &[(&str, &str)], lights: &str) -> ([f32; 3], Vec<String>) {
    let rib = format!(
        "Format 9 9 1\nScreenWindow -0.01 0.01 -0.01 0.01\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"file\" \"rgb\"\nWorldBegin\n{lights}\n\
         Surface \"matte\"\nPolygon \"P\" [-1 -1 5  1 -1 5  1 1 5  -1 1 5]\nWorldEnd\n"
    );
    let drawn = draw_with(shaders, &rib);
    (drawn.picture("a.exr").rgb(4, 4), drawn.messages)
}

/// An area light that the camera does not see.
fn area(light: &str, shape: &str) -> String {
    format!(
        "AttributeBegin\nAttribute \"visibility\" \"int camera\" [0]\n{light}\n{shape}\nAttributeEnd\nIlluminate 1 1"
    )
}

/// The light of a disk of radius 1 at a distance of 2 is that of a point, by 1 / (2^2 + 1^2) in place of 1 / 2^2.
#[test]
fn a_disk_shines_like_the_integral_over_its_area() {
    let light = "AreaLightSource \"arealight\" 1 \"intensity\" [5] \"lightcolor\" [1 .5 .25]";
    let disk = area(light, "Disk 3 1 360");
    let (colour, messages) = lit(&disk);
    assert!(messages.is_empty(), "{messages:?}");
    let wanted = [1.0, 0.5, 0.25];
    assert!(colour.iter().zip(wanted).all(|(seen, wanted)| (seen / wanted - 1.0).abs() < 0.01), "{colour:?}");
    // Switched off, and turned away.
    assert_near(lit(&format!("{disk}\nIlluminate 1 0")).0, [0.0; 3]);
    assert_near(lit(&area(light, "ReverseOrientation\nDisk 3 1 360")).0, [0.0; 3]);
    // One light in the middle of the polygon.
    let one = format!("Attribute \"light\" \"int nsamples\" [1]\n{light}");
    let square = "Polygon \"P\" [-1 -1 3  1 -1 3  1 1 3  -1 1 3]";
    assert_near(lit(&area(&one, square)).0, [1.25, 0.625, 0.3125]);
}

/// Each `illuminate` and `solar` that a light executes is a light, functions in place of their calls.
#[test]
fn light_statements_of_one_light_add_up() {
    let several = "light several(float side = 1;) {
        void lamp(color c) { extern color Cl; solar (vector (0, 0, 1), 0) Cl = c; }
        lamp(0.25);
        if (side > 0) lamp(color (0.5, 0, 0.25)); else lamp(0.125);
        illuminate (point \"current\" (0, 0, 0)) Cl += 0.125;
    }";
    let (colour, messages) = lit_by(&[("several.sl", several)], "LightSource \"several\" 1");
    assert_near(colour, [0.875, 0.375, 0.625]);
    assert!(messages.is_empty(), "{messages:?}");
    let lights = "LightSource \"several\" 1 \"side\" [-1]\nLightSource \"distantlight\" 2 \"intensity\" [0.25]";
    assert_near(lit_by(&[("several.sl", several)], lights).0, [0.75; 3]);
    // The parts of an area light are parts of each.
    let area = area("AreaLightSource \"several\" 1 \"side\" [-1]", "Translate 0 0 2\nSphere 1e-4 -1e-4 1e-4 360");
    assert_near(lit_by(&[("several.sl", several)], &area).0, [0.5; 3]);
}

/// Also from lights that shine everywhere, whose parts add up to the whole.
#[test]
fn other_shaders_shine_from_areas() {
    let ambient = "AreaLightSource \"ambientlight\" 1 \"intensity\" [0.5]";
    assert_near(lit(&area(ambient, "Sphere 1 -1 1 360")).0, [0.5; 3]);
    // Nearly a point, of which a pointlight makes no difference.
    let point = "AreaLightSource \"pointlight\" 1 \"intensity\" [9]";
    assert_near(lit(&area(point, "Translate 0 0 2\nSphere 1e-4 -1e-4 1e-4 360")).0, [1.0; 3]);
}

#[test]
fn an_area_light_of_curves_shines_from_its_origin_and_says_so() {
    let curves = "Curves \"linear\" [2] \"nonperiodic\" \"P\" [0 0 0 1 0 0] \"constantwidth\" [0.1]";
    let light = "Translate 0 0 3\nAreaLightSource \"arealight\" 1 \"intensity\" [4]";
    let (colour, messages) = lit(&area(light, curves));
    assert_near(colour, [1.0; 3]);
    assert!(messages[0].contains("do not shine from curves") && messages.len() == 2, "{messages:?}");
}
