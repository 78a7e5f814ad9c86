//! What has one value in the picture although a motion block gives it several.

use super::*;

/// The messages about a world's body, which begins in line 3, while the shutter is open.
fn said(shutter: &str, body: &str) -> Vec<(u32, String)> {
    let outcome = read_text(&format!("Shutter {shutter}\nWorldBegin\n{body}\nSphere 1 -1 1 360\nWorldEnd\n"));
    outcome.messages.iter().map(|message| (message.location.line, message.message.clone())).collect()
}

#[test]
fn what_does_not_move_is_named_with_its_line() {
    let quad = "Polygon \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]";
    for (request, first, second) in [
        ("Color", "Color 1 0 0".to_owned(), "Color 0 1 0".to_owned()),
        ("Opacity", "Opacity 1 1 1".into(), "Opacity 0 0 0".into()),
        ("Surface", "Surface \"matte\" \"Kd\" 1".into(), "Surface \"matte\" \"Kd\" 0".into()),
        ("Surface", "Surface \"matte\"".into(), "Surface \"plastic\"".into()),
        ("Displacement", "Displacement \"a\"".into(), "Displacement \"b\"".into()),
        (
            "TextureCoordinates",
            "TextureCoordinates 0 0 1 0 0 1 1 1".into(),
            "TextureCoordinates 0 0 2 0 0 2 2 2".into(),
        ),
        ("ShadingRate", "ShadingRate 1".into(), "ShadingRate 4".into()),
        ("Matte", "Matte 0".into(), "Matte 1".into()),
        ("LightSource", "LightSource \"l\" 1 \"intensity\" 1".into(), "LightSource \"l\" 1 \"intensity\" 5".into()),
        ("Polygon", format!("{quad} \"constant color Cs\" [1 0 0]"), format!("{quad} \"constant color Cs\" [0 1 0]")),
    ] {
        let block = |second: &str| format!("MotionBegin [0 1]\n{first}\n{second}\nMotionEnd");
        let messages = said("0 1", &block(&second));
        assert_eq!(messages.len(), 1, "{request}: {messages:?}");
        assert!(messages[0].0 == 3 && messages[0].1.contains(&format!("moving {request} has")), "{messages:?}");
        // Once for each kind of request; nothing of what stays the same, or of a shutter that does not open.
        assert_eq!(said("0 1", &format!("{0}\n{0}", block(&second))).len(), 1, "{request}");
        assert_eq!((said("0 1", &block(&first)), said("0 0", &block(&second))), (vec![], vec![]), "{request}");
    }
}

#[test]
fn normals_follow_the_positions() {
    let quad = |n: &str| format!("Polygon \"P\" [0 0 0 1 0 0 1 1 0 0 1 0] \"constant normal N\" [{n}]");
    assert_eq!(said("0 1", &format!("MotionBegin [0 1]\n{}\n{}\nMotionEnd", quad("0 0 1"), quad("0 1 0"))), []);
}

#[test]
fn a_light_in_a_moving_coordinate_system_stands_still() {
    let turn = "TransformBegin\nMotionBegin [0 1]\nRotate 0 1 0 0\nRotate 90 1 0 0\nMotionEnd\nLightSource \"distantlight\" 1\nTransformEnd";
    let messages = said("0 1", turn);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].0 == 8 && messages[0].1.starts_with("LightSource: a light in a moving"), "{messages:?}");
    assert_eq!(said("0 0", turn), []);
}
