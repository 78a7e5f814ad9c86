//! Files that are no textures, or not those that shaders look up: one clear message each, and the rest is drawn.

use super::draw_with;
use crate::determinism::make_texture;
use anthill::film::DisplayState::Whole;
use anthill::texture::{MakeKind, MakeRequest, WrapMode, go_on, make};
use std::fs;
use std::path::Path;

const SHADERS: [(&str, &str); 3] = [
    ("plain.sl", "surface plain(string map = \"\";) { Oi = 1; Ci = color texture(map, s, t, \"width\", 0); }"),
    ("mirror.sl", "surface mirror(string map = \"\";) { Oi = 1; Ci = color environment(map, vector (s, t, 1)); }"),
    ("shaded.sl", "surface shaded(string map = \"\";) { Oi = 1; Ci = 1 - shadow(map, P); }"),
];

/// Files for all cases.
fn write_files(folder: &Path) {
    make_texture(folder, "whole.tx", [256, 256]);
    let whole = fs::read(folder.join("whole.tx")).expect("it was made");
    fs::write(folder.join("cut.tx"), &whole[..whole.len() / 2]).expect("writable");
    let mut damaged = whole;
    // In the first tile.
    damaged[200..3000].fill(0x5a);
    fs::write(folder.join("damaged.tx"), damaged).expect("writable");
    fs::write(folder.join("empty.tx"), "").expect("writable");
    fs::write(folder.join("text.tx"), "not a picture at all, but longer than a header of one").expect("writable");
    fs::create_dir(folder.join("folder.tx")).expect("writable");
    #[cfg(unix)]
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe.tx")).status().expect("it runs").success());
}

#[test]
fn what_is_no_texture_is_said_once_and_the_rest_is_drawn() {
    let long = "n".repeat(5000);
    let cases = [
        ("plain", "cut.tx", "is damaged or incomplete"),
        ("plain", "damaged.tx", "what cannot be read of this texture is 0"),
        ("plain", "empty.tx", "it is empty"),
        ("plain", "text.tx", "is not a picture of a known format"),
        ("plain", "folder.tx", "is a folder, not a file"),
        #[cfg(unix)]
        ("plain", "pipe.tx", "is a pipe or a device, not a file"),
        ("plain", "missing.tx", "there is no texture"),
        ("mirror", &long, "there is no texture"),
        ("shaded", "whole.tx", "is no shadow map"),
        ("mirror", "s.shad", "is a shadow map"),
    ];
    let folder = tempfile::tempdir().expect("a temporary directory");
    write_files(folder.path());
    let at = folder.path().display().to_string();
    let looks: String = cases
        .iter()
        .zip(0_u8..)
        .map(|((shader, map, _), i)| {
            let [x, right] = [i, i + 1].map(|edge| 0.2 * f32::from(edge) - 1.0);
            format!(
                "Surface \"{shader}\" \"string map\" [\"{map}\"]\nPatch \"bilinear\" \"P\" [{x} 1 1 {right} 1 1 {x} 0 1 {right} 0 1]\n"
            )
        })
        .collect();
    let scene = draw_with(
        &SHADERS,
        &format!(
            "Option \"searchpath\" \"texture\" [\"{at}\"]\n\
             FrameBegin 1\nFormat 16 16 1\nDisplay \"{at}/s.z\" \"zfile\" \"z\"\nWorldBegin\nDisk 1 0.5 360\nWorldEnd\n\
             MakeShadow \"{at}/s.z\" \"{at}/s.shad\"\nFrameEnd\n\
             FrameBegin 2\nFormat 160 160 1\nScreenWindow -1 1 -1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\n{looks}\
             Surface \"constant\"\nColor [0.25 0.5 0.75]\nPolygon \"P\" [-1 0 1 1 0 1 1 -1 1 -1 -1 1]\nWorldEnd\nFrameEnd\n"
        ),
    );
    for (shader, map, words) in cases {
        let about = |message: &&String| message.contains(words) && message.contains(&map[..map.len().min(12)]);
        assert_eq!(scene.messages.iter().filter(about).count(), 1, "{shader} {map}: {:#?}", scene.messages);
    }
    assert_eq!(scene.messages.len(), cases.len(), "{:#?}", scene.messages);
    assert!(scene.messages.iter().all(|message| message.len() < 1500), "{:#?}", scene.messages);
    assert_eq!(scene.displays, [Whole; 3]);
    assert_eq!(scene.picture("a.exr").rgb(80, 120), [0.25, 0.5, 0.75]);
}

/// Looks up at a place, with a width and a blur by number, of which all but the first are not finite.
const ODD: &str = "surface odd(string map = \"\"; float how = 0;) {\n\
    float inf = 1e30 * 1e30 * (1 + s); float nan = inf - inf; color c = -1;\n\
    if (how == 0) c = texture(map, s, t);\n\
    if (how == 1) c = texture(map, nan, t);\n\
    if (how == 2) c = texture(map, s, inf);\n\
    if (how == 3) c = texture(map, s, t, \"width\", inf);\n\
    if (how == 4) c = texture(map, s, t, \"width\", nan, \"blur\", nan);\n\
    if (how == 5) c = texture(map, s, t, \"blur\", inf, \"filter\", \"lanczos\");\n\
    if (how == 6) c = texture(map, s, t, -inf, t, s, inf, inf, nan);\n\
    Ci = 0.5 + 0.5 * c; Oi = 1; }";

#[test]
fn textures_of_odd_sizes_are_looked_up_at_any_place() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let at = folder.path().display().to_string();
    make_texture(folder.path(), "dot.tx", [1, 1]);
    make_texture(folder.path(), "odd.tx", [37, 301]);
    let file = fs::File::create(folder.path().join("wide.png")).expect("writable");
    let mut encoder = png::Encoder::new(file, 100_000, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&[255; 300_000])).expect("writable");
    let [picture, wide] = ["wide.png", "wide.tx"].map(|name| folder.path().join(name));
    let request = MakeRequest { wrap: [WrapMode::Clamp; 2], ..MakeRequest::new(MakeKind::Plain, vec![picture], wide) };
    make(&request, &go_on).expect("it can be made");
    let looks: String = ["dot.tx", "odd.tx", "wide.tx"]
        .iter()
        .zip(0_u8..)
        .flat_map(|(map, row)| (0..7_u8).map(move |how| (map, row, how)))
        .map(|(map, row, how)| {
            let [x, y] = [how, row].map(f32::from);
            let [right, below] = [x + 1.0, y + 1.0];
            format!(
                "Surface \"odd\" \"string map\" [\"{map}\"] \"float how\" [{how}]\n\
                 Patch \"bilinear\" \"P\" [{x} -{y} 1 {right} -{y} 1 {x} -{below} 1 {right} -{below} 1]\n"
            )
        })
        .collect();
    let scene = draw_with(
        &[("odd.sl", ODD)],
        &format!(
            "Option \"searchpath\" \"texture\" [\"{at}\"]\nFormat 56 24 1\nScreenWindow 0 7 -3 0\n\
             Display \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\n{looks}WorldEnd\n"
        ),
    );
    assert_eq!(scene.messages, [""; 0]);
    let picture = scene.picture("a.exr");
    for (row, how) in (0..3).flat_map(|row| (0..7).map(move |how| (row, how))) {
        let found = picture.rgb(8 * how + 4, 8 * row + 4);
        // 0 where the middle of the place is not finite, a colour of the texture elsewhere.
        let is_nowhere = matches!(how, 1 | 2 | 6);
        let least = if row == 2 { 1.0 - 1e-5 } else { 0.5 };
        let expected = if is_nowhere { 0.5..=0.5 } else { least..=1.0 };
        assert!(found.iter().all(|value| expected.contains(value)), "row {row}, way {how}: {found:?}");
    }
}
