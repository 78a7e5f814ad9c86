//! What is written reads back as the same calls.

use super::*;
use crate::host_memory::HostMemory;
use crate::rib::{CopyReport, RibEncoding, copy};
use std::path::Path;

const TEXT: RibEncoding = RibEncoding::Text { indent: 2 };

fn copied(bytes: &[u8], encoding: RibEncoding) -> (Vec<u8>, CopyReport) {
    let input = Input::Memory { name: "t.rib".into(), bytes: bytes.to_vec() };
    let mut out = Vec::new();
    let memory = HostMemory::of_machine();
    let report = copy(&[input], encoding, &memory, &Reporter::silent(), &mut out).expect("writing to memory");
    (out, report)
}

/// Copies by both encodings and back; returns the text.
fn round_trip(name: &str, bytes: &[u8]) -> String {
    let (text, report) = copied(bytes, TEXT);
    let (binary, of_binary) = copied(bytes, RibEncoding::Binary);
    assert_eq!(report, of_binary, "{name}");
    for (again, way) in [(copied(&text, TEXT), "text"), (copied(&binary, TEXT), "binary to text")] {
        assert_eq!(again.1, CopyReport { errors: 0, ..report.clone() }, "{name}: {way}");
        assert_eq!(String::from_utf8_lossy(&again.0), String::from_utf8_lossy(&text), "{name}: {way}");
    }
    assert_eq!(copied(&text, RibEncoding::Binary).0, binary, "{name}: text to binary");
    assert_eq!(copied(&binary, RibEncoding::Binary).0, binary, "{name}: binary to binary");
    String::from_utf8_lossy(&text).into_owned()
}

/// What the worlds of a text hold, without places in it.
fn meaning(bytes: &[u8]) -> Vec<String> {
    let outcome = read_bytes(bytes, &Settings::default());
    let mut found: Vec<String> = outcome.codes().iter().map(|(code, _)| (*code).to_owned()).collect();
    for world in &outcome.worlds {
        found.push(format!("{:?} {:?}", world.camera, world.spaces));
        found.extend(world.lights.iter().map(|light| format!("{:?}", light.shader.params)));
        found.extend(world.drawables.iter().map(|drawable| {
            let Drawable { geometry, world_from_object, attributes, detail, solid, seed: _ } = drawable;
            let surface = attributes.surface.as_ref().map(|surface| &surface.params);
            format!(
                "{:?} {:?} {world_from_object:?} {:?} {:?} {:?} {surface:?} {detail:?} {solid:?}",
                geometry.shape, geometry.primvars, attributes.color, attributes.opacity, attributes.other
            )
        }));
    }
    found
}

fn scenes(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_scene = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "rib");
    let mut paths: Vec<_> = entries.filter(is_scene).collect();
    paths.sort();
    paths
}

#[test]
fn all_scenes_are_copied_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let mut count = 0;
    for folder in [root.clone(), root.join("tests"), root.join("archives")] {
        for path in scenes(&folder) {
            let bytes = std::fs::read(&path).expect("a scene");
            let name = path.display().to_string();
            let text = round_trip(&name, &bytes);
            // What cannot be read is left out of a copy, which then says less of it.
            if bytes.len() < 200_000 && copied(&bytes, TEXT).1.errors == 0 {
                let wanted = meaning(&bytes);
                assert_eq!(meaning(text.as_bytes()), wanted, "{name} as text");
                assert_eq!(meaning(&copied(&bytes, RibEncoding::Binary).0), wanted, "{name} in binary");
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count} scenes");
}

#[test]
fn calls_are_written_plainly() {
    let text = "##RenderMan RIB\n# a comment\nFrameBegin 1 WorldBegin # more\n##Shaders x\nTranslate 1 0.1 1e30 Color [.5 1 0] DepthOfField -\n\
                Sphere 1 -1 1 360 \"P\" [0 1 -0 0.1 1e38 nan] \"uniform string x\" [\"a\\\"b\\\\\\n\" \"\"] \"int n\" [1 -300 70000 -2147483648]\n\
                IfBegin \"1\" Identity ElseIf \"2\" Identity Else Identity IfEnd Unknown \"y\" 1 2.5 WorldEnd FrameEnd";
    let wanted = "##RenderMan RIB\nFrameBegin 1\n  WorldBegin\n##Shaders x\n    Translate 1 0.1 1e30\n    Color [0.5 1.0 0.0]\n    DepthOfField -\n    \
                  Sphere 1 -1 1 360 \"P\" [0.0 1.0 -0.0 0.1 1e38 NaN] \"uniform string x\" [\"a\\\"b\\\\\\n\" \"\"] \"int n\" [1 -300 70000 -2147483648]\n    \
                  IfBegin \"1\"\n      Identity\n    ElseIf \"2\"\n      Identity\n    Else\n      Identity\n    IfEnd\n    Unknown \"y\" 1 2.5\n  WorldEnd\nFrameEnd\n";
    assert_eq!(round_trip("calls", text.as_bytes()), wanted);
}

#[test]
fn numbers_and_strings_of_all_sizes() {
    let ints = ["0", "-1", "127", "128", "-128", "-129", "32767", "-32769", "8388608", "2147483647", "2147483648"];
    let floats = ["0.1", "1.5", "-1e-40", "3.4028235e38", "1e300", "16777217.5", "0.30000000000000004", "inf"];
    let list = |values: &[&str]| values.join(" ");
    let long = format!("Declare \"{}\" \"{}\"\n", "n".repeat(300), "m".repeat(70_000));
    let text = format!(
        "Transform [{0}]\nX {0} \"v\" [{0}] \"i\" [{1}] [{1}] {1} \"s\" 0.1 {2} []\n{long}",
        list(&floats),
        list(&ints),
        "\"é\u{7f}\"",
    );
    round_trip("numbers", text.as_bytes());
    // More requests and strings than there are codes.
    let many: String = (0..300).map(|number| format!("Request{number} \"text{number}\" {number}.5\n")).collect();
    round_trip("requests", many.as_bytes());
    let texts: String = (0..70_000).map(|number| format!("R \"{number}\"\n")).collect();
    round_trip("strings", texts.as_bytes());
}

#[test]
fn damaged_requests_are_left_out() {
    let text =
        b"Sphere 1 -1 1 360\nColor [1 \"a\"]\n] Cone 1 1 360 @\nDisk 0 1 360\n\xa6\x07 1 2\nSurface \"open\nTorus 1";
    let (out, report) = copied(text, TEXT);
    assert_eq!(String::from_utf8_lossy(&out), "Sphere 1 -1 1 360\nDisk 0 1 360\nTorus 1\n");
    assert_eq!(report.errors, 4);
}
