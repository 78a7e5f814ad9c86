//! Resources and attributes of the user's.

use super::*;

fn colors(body: &str) -> Vec<[f32; 3]> {
    drawn(body).drawables.iter().map(|drawable| drawable.attributes.color).collect()
}

const SPHERE: &str = "Sphere 1 -1 1 360\n";
const RED: [f32; 3] = [1.0, 0.0, 0.0];
const SAVE: &str = "Resource \"a\" \"attributes\" \"string operation\" \"save\"\n";

fn restore(subset: &str) -> String {
    format!("Resource \"a\" \"attributes\" \"string operation\" [\"restore\"] \"string subset\" [\"{subset}\"]\n")
}

#[test]
fn resources_save_and_restore_attributes() {
    let red = format!(
        "AttributeBegin\nColor 1 0 0\nTranslate 1 0 0\nMatte 1\nBasis \"b-spline\" 1 \"b-spline\" 1\n{SAVE}AttributeEnd\n"
    );
    for (subset, color, x, matte) in [
        ("all", RED, 1.0, true),
        ("shading", RED, 0.0, false),
        ("transform", [1.0; 3], 1.0, false),
        ("hiding", [1.0; 3], 0.0, true),
        ("geometrydefinition", [1.0; 3], 0.0, false),
        ("geometrymodification", [1.0; 3], 0.0, false),
    ] {
        let world = drawn(&format!("{red}{}{SPHERE}", restore(subset)));
        let drawable = &world.drawables[0];
        let found = (drawable.attributes.color, placed(drawable, [0.0; 3])[0], drawable.attributes.matte);
        assert_eq!(found, (color, x, matte), "{subset}");
    }
    // A restored state ends with its block, and each object has its own.
    let object = format!("ObjectBegin 1\n{SAVE}Color 0 1 0\n{SPHERE}{}{SPHERE}ObjectEnd\n", restore("all"));
    let green = [0.0, 1.0, 0.0];
    let body =
        format!("{object}AttributeBegin\nColor 1 0 0\nObjectInstance 1\nAttributeEnd\nObjectInstance 1\n{SPHERE}");
    assert_eq!(colors(&body), [green, RED, green, [1.0; 3], [1.0; 3]]);
}

#[test]
fn resources_end_with_their_block() {
    let inner = format!("ResourceBegin\nColor 1 0 0\n{SAVE}Color 0 0 1\nResourceEnd\n{}{SPHERE}", restore("all"));
    assert_eq!(faults(&inner), [("badhandle", 7)]);
    let outer = format!("{SAVE}ResourceBegin\nColor 1 0 0\n{SAVE}ResourceEnd\n{}{SPHERE}", restore("all"));
    assert_eq!(colors(&outer), [[1.0; 3]]);
    // The end of a world ends its resources.
    let two = format!("WorldBegin\n{SAVE}WorldEnd\nWorldBegin\n{}WorldEnd\n", restore("all"));
    assert_eq!(read_text(&two).codes(), [("badhandle", 5)]);
}

#[test]
fn resources_that_are_wrong() {
    assert_eq!(faults("Resource \"a\" \"attributes\""), [("badargument", 2)]);
    assert_eq!(faults(&restore("everything")), [("badargument", 2)]);
    assert_eq!(faults("Resource \"a\" \"vstruct\" \"string operation\" \"save\""), [("unimplement", 2)]);
}

#[test]
fn attributes_and_options_of_the_user_are_kept_and_steer_conditions() {
    let text = |value: &str| {
        format!(
            "Option \"user\" \"string pass\" \"final\"\nWorldBegin\nAttribute \"user\" \"uniform float wet\" {value} \"string kind\" \"oak\"\n\
             IfBegin \"$user:wet > .5 && $user:kind == 'oak' && $user:pass == 'final'\"\nColor 1 0 0\nIfEnd\n{SPHERE}WorldEnd\n"
        )
    };
    for (value, color) in [("0.75", RED), ("[.25]", [1.0; 3])] {
        let world = clean(&text(value));
        let attributes = &world.drawables[0].attributes;
        assert_eq!(attributes.color, color);
        assert!(attributes.other.contains_key("user:wet") && world.options.other.contains_key("user:pass"));
    }
}
