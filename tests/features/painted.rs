//! `Hider "paint"` (RISpec 4.1.7): what comes later hides what comes before.

use super::{draw, draw_as};

fn painted(options: &str, objects: &str) -> String {
    format!(
        "Format 16 16 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nHider \"paint\"\n\
         {options}\nWorldBegin\nSurface \"constant\"\n{objects}\nWorldEnd\n"
    )
}

/// A square card in the picture's plane, whose faces are many and behind each other.
fn card(colour: &str, z: f32, side: f32) -> String {
    format!(
        "Color [{colour}]\nPolygon \"P\" [-{side} -{side} {z} {side} -{side} {z} {side} {side} {z} -{side} {side} {z}]"
    )
}

#[test]
fn the_last_of_many_objects_and_the_last_of_many_faces_is_seen() {
    let objects: Vec<String> =
        (0..40).map(|i| card(&format!("0 {} 0", i as f32 / 39.0), 1.0 + i as f32, 9.0)).collect();
    let picture = draw(&painted("", &objects.join("\n"))).clean("a.exr");
    assert_eq!(picture.at("G", 8, 8), 1.0);
    let corners = |z: f32| format!("-1 -1 {z} 1 -1 {z} 1 1 {z} -1 1 {z}");
    let faces = "PointsPolygons [4 4 4] [0 1 2 3 4 5 6 7 8 9 10 11] \"P\"";
    let places = [3.0, 2.0, 4.0].map(corners).join(" ");
    let picture =
        draw(&painted("", &format!("{faces} [{places}] \"uniform color Cs\" [1 0 0 0 1 0 0 0 1]"))).clean("a.exr");
    assert_eq!(["R", "G", "B"].map(|name| picture.at(name, 8, 8)), [0.0, 0.0, 1.0]);
}

#[test]
fn what_moves_and_what_is_out_of_focus_is_painted_in_order_too() {
    let moving = format!("MotionBegin [0 1]\nTranslate 0 0 0\nTranslate 0 0 6\nMotionEnd\n{}", card("0 1 0", 3.0, 9.0));
    for options in ["Shutter 0 1", "Shutter 0 1\nProjection \"perspective\" \"fov\" 40\nDepthOfField 2 0.2 4"] {
        let scene = format!("{}\n{moving}\n{}", card("1 0 0", 4.0, 9.0), card("0 0 1", 5.0, 0.6));
        let picture = draw(&painted(options, &scene)).clean("a.exr");
        assert_eq!(["R", "G", "B"].map(|name| picture.at(name, 8, 8)), [0.0, 0.0, 1.0], "{options}");
        assert_eq!(["R", "G", "B"].map(|name| picture.at(name, 1, 1)), [0.0, 1.0, 0.0], "{options}");
    }
}

#[test]
fn order_is_the_same_in_any_share_of_the_picture() {
    let objects: Vec<String> = (0..12)
        .map(|i| card(&format!("{} 1 0", i as f32 / 12.0), 1.0 + (i * 5 % 12) as f32, 1.0 - i as f32 / 14.0))
        .collect();
    let text = painted("", &(objects.join("\n") + "\nOpacity 0.5 0.25 1\n" + &card("0 0 1", 9.0, 0.3)));
    let one = draw(&text).clean("a.exr");
    let two = draw_as(&[], &text, &|options| {
        options.devices = "0,0".into();
        options.memory_bytes = Some(24 << 20);
    });
    let two = two.clean("a.exr");
    assert!(["R", "G", "B", "A"].iter().all(|name| one.channel(name) == two.channel(name)));
}

#[test]
fn what_needs_depths_is_named() {
    let solid = "SolidBegin \"difference\"\nSolidBegin \"primitive\"\nTranslate 0 0 5\nSphere 1 -1 1 360\nSolidEnd\n\
                 SolidBegin \"primitive\"\nTranslate 0 0 4\nSphere .5 -.5 .5 360\nSolidEnd\nSolidEnd";
    let depth = "ClippingPlane 0 0 9 0 0 1\nDisplay \"+$DIR/z.exr\" \"exr\" \"z\"";
    let scene = draw(&painted(depth, solid));
    let found = |what: &str| scene.messages.iter().filter(|message| message.contains(what)).count();
    let wanted = ["solids are not cut", "ClippingPlane removes nothing", "depths are 1"];
    assert_eq!(wanted.map(found), [1; 3], "{:?}", scene.messages);
    assert_eq!(scene.picture("a.exr").at("A", 8, 8), 1.0);
}
