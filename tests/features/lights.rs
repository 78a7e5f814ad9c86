//! Light sources.

use super::{assert_near, draw};

/// The colour of a white card at z = 5 in the middle of the picture.
fn lit(lights: &str) -> ([f32; 3], Vec<String>) {
    let drawn = draw(&format!(
        "Format 9 9 1\nScreenWindow -0.01 0.01 -0.01 0.01\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"file\" \"rgb\"\nWorldBegin\n{lights}\n\
         Surface \"matte\"\nPolygon \"P\" [-1 -1 5  1 -1 5  1 1 5  -1 1 5]\nWorldEnd\n"
    ));
    (drawn.picture("a.exr").rgb(4, 4), drawn.messages)
}

#[test]
fn an_area_light_shines_from_the_origin_of_its_coordinate_system() {
    let area = "TransformBegin\nTranslate 0 0 2\nAreaLightSource \"plate\" 1 \"intensity\" [9] \"lightcolor\" [1 .5 .25] \"samples\" [4]\n\
        Translate 5 0 0\nSphere 0.01 -0.01 0.01 360\nTransformEnd\nAreaLightSource \"null\" \"none\"\nIlluminate \"none\" 1";
    let (colour, messages) = lit(area);
    // At a distance of 3, straight on.
    assert_near(colour, [1.0, 0.5, 0.25]);
    assert!(
        messages.len() == 1 && messages[0].contains("AreaLightSource: area lights are not supported"),
        "{messages:?}"
    );
    let (colour, _) = lit(&format!("{area}\nIlluminate 1 0"));
    assert_near(colour, [0.0; 3]);
}
