//! Primitive variables of a type that is equivalent to that of the standard variable, or of the shader's parameter.

use super::{assert_near, draw_with};

const CAMERA: &str = "Format 16 16 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\n\
     Projection \"orthographic\"\nScreenWindow -1 1 -1 1\nTranslate 0 0 5\nWorldBegin\nLightSource \"distantlight\" 1\n";

const SHOW: &str = "surface show(varying color mycol = 0; varying point where = point \"object\" (0, 0, 0); varying vector axes[2] = {0, 0};) {\n\
     vector w = vtransform(\"object\", where - point \"object\" (0, 0, 0) + axes[1]);\n\
     Ci = mycol + color(xcomp(w), ycomp(w), zcomp(w)); Oi = 1; }";

/// The middle of a turned square with these variables.
fn middle(surface: &str, variables: &str) -> [f32; 3] {
    let square = "Polygon \"P\" [-1 -1 0 -1 1 0 1 1 0 1 -1 0]";
    let scene = draw_with(
        &[("show.sl", SHOW)],
        &format!("{CAMERA}Rotate 30 0 1 0\nSurface {surface}\n{square} {variables}\nWorldEnd\n"),
    );
    scene.clean("a.exr").rgb(8, 8)
}

#[test]
fn standard_variables_mean_the_same_whatever_their_type() {
    let normals = "[-0.5 0 -1 -0.5 0 -1 -0.5 0 -1 -0.5 0 -1]";
    let lit = middle("\"matte\"", &format!("\"facevarying normal N\" {normals}"));
    assert!(lit[0] > 0.5 && lit[0] < 0.99, "{lit:?}");
    for ty in ["float[3]", "color", "vector", "point"] {
        assert_eq!(middle("\"matte\"", &format!("\"facevarying {ty} N\" {normals}")), lit, "{ty}");
    }
    let colours = "[.2 .4 .6 .2 .4 .6 .2 .4 .6 .2 .4 .6]";
    for ty in ["color", "float[3]", "vector"] {
        assert_near(middle("\"constant\"", &format!("\"varying {ty} Cs\" {colours}")), [0.2, 0.4, 0.6]);
    }
    assert_near(middle("\"constant\"", "\"uniform float Cs\" [0.5]"), [0.5; 3]);
    assert_near(middle("\"constant\"", "\"varying float Os\" [.5 .5 .5 .5]"), [0.5; 3]);
}

#[test]
fn parameters_take_variables_of_equivalent_types() {
    let colours = "[.2 .4 .6 .2 .4 .6 .2 .4 .6 .2 .4 .6]";
    for ty in ["color", "float[3]", "point"] {
        assert_near(middle("\"show\"", &format!("\"varying {ty} mycol\" {colours}")), [0.2, 0.4, 0.6]);
        assert_near(middle("\"show\"", &format!("\"vertex {ty} where\" {colours}")), [0.2, 0.4, 0.6]);
    }
    assert_near(middle("\"show\"", "\"vertex float mycol\" [.5 .5 .5 .5]"), [0.5; 3]);
    assert_near(middle("\"show\"", "\"constant float[6] axes\" [9 9 9 .2 .4 .6]"), [0.2, 0.4, 0.6]);
    // So do values that the shader's request gives.
    for value in ["\"float[3] mycol\" [.2 .4 .6]", "\"mycol\" [.2 .4 .6]"] {
        assert_near(middle(&format!("\"show\" {value}"), ""), [0.2, 0.4, 0.6]);
    }
    assert_near(middle("\"show\" \"float mycol\" [.5]", ""), [0.5; 3]);
}

#[test]
fn variables_of_other_types_are_reported_with_both_types() {
    let square = "Polygon \"P\" [-1 -1 0 -1 1 0 1 1 0 1 -1 0]";
    for (variable, message) in [
        ("\"varying float[2] N\" [0 0 0 0 0 0 0 0]", "\"N\" has the type float[2] and needs normal"),
        (
            "\"constant float[2] mycol\" [1 1]",
            "parameter \"mycol\" of shader \"show\" has the type color; the primitive variable has the type float[2]",
        ),
        (
            "\"constant float axes\" [1]",
            "parameter \"axes\" of shader \"show\" has the type vector[2]; the primitive variable has the type float",
        ),
    ] {
        let scene =
            draw_with(&[("show.sl", SHOW)], &format!("{CAMERA}Surface \"show\"\n{square} {variable}\nWorldEnd\n"));
        assert_eq!((scene.message_count(message), scene.messages.len()), (1, 1), "{:?}", scene.messages);
    }
}
