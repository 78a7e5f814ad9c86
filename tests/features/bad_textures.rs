//! Files that are no textures, or not those that shaders look up: one clear message each, and the rest is drawn.

use super::draw_with;
use crate::determinism::make_texture;
use anthill::film::DisplayState::Whole;
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
