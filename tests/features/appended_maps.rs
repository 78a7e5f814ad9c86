//! `append` of the shadow display: several maps in one file, and what `shadow()` finds in them.

use super::{RenderedScene, draw, draw_as, draw_with};
use std::f32::consts::PI;
use std::fs;

/// A light at the origin: disks of radius 0.5 at a distance of 2 along z, along x, and between the two.
const OCCLUDERS: &str = "Translate 0 0 2\nDisk 0 0.5 360\nTranslate 0 0 -2\nRotate 90 0 1 0\nTranslate 0 0 2\nDisk 0 0.5 360\n\
     Translate 0 0 -2\nRotate -45 0 1 0\nTranslate 0 0 2\nDisk 0 0.5 360\n";

/// A map of what the light sees: cameras along z and x, with what is before the projection of the display.
fn map(turned: &str, display: &str) -> String {
    format!(
        "FrameBegin 1\nFormat 200 200 1\nProjection \"perspective\" \"fov\" 90\nPixelSamples 1 1\n{display}\n{turned}\n\
         WorldBegin\n{OCCLUDERS}WorldEnd\nFrameEnd\n"
    )
}

const APPENDED: &str = "Display \"$DIR/l.z\" \"shadow\" \"z\" \"int append\" [1]";
const ALONG_X: &str = "Rotate -90 0 1 0";

/// A wall of 4 by 4 at a distance of 4 from the light, turned to the right by some degrees, as seen from the light.
fn wall(name: &str, angle: i32, map: &str) -> String {
    format!(
        "FrameBegin 2\nFormat 64 64 1\nScreenWindow -2 2 -2 2\nDisplay \"$DIR/{name}\" \"exr\" \"rgb\" \
         \"string exrpixeltype\" \"float\"\nRotate {} 0 1 0\nWorldBegin\nSurface \"lit\" \"map\" \"$DIR/{map}\"\n\
         Rotate {angle} 0 1 0\nPolygon \"P\" [-3 3 4 3 3 4 3 -3 4 -3 -3 4]\nWorldEnd\nFrameEnd\n",
        -angle
    )
}

const LIT: &str = "surface lit(string map = \"\";) { Ci = 1 - shadow(map, P, \"bias\", 0.05); Oi = 1; }";

/// Each disk darkens a circle of radius 1 on its wall, also where the edges of both maps meet.
fn is_shadowed(scene: &RenderedScene, names: [&str; 3]) {
    for name in names {
        let picture = scene.picture(name);
        let at = |x: usize, y: usize| picture.at("R", x, y);
        assert_eq!([at(32, 32), at(32, 20), at(44, 32), at(25, 39)], [0.0; 4], "{name}");
        assert_eq!([at(32, 11), at(53, 32), at(4, 60), at(17, 47)], [1.0; 4], "{name}");
        let dark = (0..64 * 64).map(|i| 1.0 - at(i % 64, i / 64)).sum::<f32>() / (64.0 * 64.0);
        assert!((dark - PI / 16.0).abs() < 0.004, "{name}: {dark}");
    }
}

#[test]
fn two_appended_maps_cast_the_shadows_of_one_light() {
    let walls = |map| [wall("z.exr", 0, map), wall("x.exr", 90, map), wall("between.exr", 45, map)].concat();
    // Between the two, the file has no shadow along x.
    let first = [map("", APPENDED), wall("lit.exr", 90, "l.z")].concat();
    let views = [first, map(ALONG_X, APPENDED)].concat();
    let scene = draw_with(&[("lit.sl", LIT)], &[views.as_str(), &walls("l.z")].concat());
    is_shadowed(&scene, ["z.exr", "x.exr", "between.exr"]);
    assert!(scene.picture("lit.exr").channel("R").iter().all(|lit| *lit == 1.0));
    // The same where the file was there before.
    let file = |scene: &RenderedScene| scene.folder().join("l.z");
    let again = draw_as(&[("lit.sl", LIT)], &[views.as_str(), &walls("l.z")].concat(), &|options| {
        let folder = options.scenes[0].parent().expect("it is in a folder");
        fs::copy(file(&scene), folder.join("l.z")).expect("it can be copied");
    });
    is_shadowed(&again, ["z.exr", "x.exr", "between.exr"]);
    let bytes = [&scene, &again].map(|scene| fs::read(file(scene)).expect("it was drawn"));
    assert!(bytes[0] == bytes[1]);
}

#[test]
fn shadow_and_occlusion_maps_are_made_of_all_maps_of_a_file() {
    let alone = |name: &str| format!("Display \"$DIR/{name}\" \"zfile\" \"z\"");
    let views =
        [map("", APPENDED), map(ALONG_X, APPENDED), map("", &alone("a.z")), map(ALONG_X, &alone("b.z"))].concat();
    let made = "MakeShadow \"$DIR/l.z\" \"$DIR/l.shad\"\nMakeOcclusion [\"$DIR/l.z\"] \"$DIR/l.occ\"\n\
        MakeOcclusion [\"$DIR/a.z\" \"$DIR/b.z\"] \"$DIR/ab.occ\"\n";
    let walls = [wall("z.exr", 0, "l.shad"), wall("x.exr", 90, "ab.occ"), wall("between.exr", 45, "l.occ")].concat();
    let scene = draw_with(&[("lit.sl", LIT)], &[views.as_str(), made, &walls].concat());
    is_shadowed(&scene, ["z.exr", "x.exr", "between.exr"]);
    let bytes = |name: &str| fs::read(scene.folder().join(name)).expect("it was made");
    assert!(bytes("l.shad") == bytes("ab.occ") && bytes("l.occ") == bytes("ab.occ"));
}

#[test]
fn a_file_that_nothing_can_be_appended_to_is_named_and_the_rest_is_drawn() {
    let other = "Display \"$DIR/l.z\" \"exr\" \"rgb\"";
    let read = wall("read.exr", 0, "l.z");
    let alone = map("", "Display \"$DIR/m.z\" \"zfile\" \"z\"");
    let scene = draw(&[map("", other), read, map(ALONG_X, APPENDED), alone].concat());
    assert_eq!(scene.message_count("is no depth file to append to"), 1, "{:?}", scene.messages);
    assert!(scene.folder().join("m.z").exists());
}
