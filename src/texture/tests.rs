//! Textures read, made and damaged.

use super::*;
use std::fs;
use std::path::Path;

/// What opening a file says.
fn refusal(path: &Path) -> String {
    TextureFile::open(path).expect_err("it is no texture").to_string()
}

#[test]
fn what_is_no_texture_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).expect("writable");
    fs::write(at("empty"), "").expect("writable");
    fs::write(at("text"), "Sphere 1 -1 1 360").expect("writable");
    fs::write(at("short.exr"), [0x76, 0x2f, 0x31, 0x01, 2, 0]).expect("writable");
    fs::write(at("short.tif"), b"II*\0\x08\0").expect("writable");
    let table = [
        ("none", "there is no file"),
        ("sub", "is a folder, not a file"),
        ("empty", "is damaged or incomplete: it is empty"),
        ("text", "is not a picture of a known format: TIFF, OpenEXR, PNG"),
        ("short.exr", "is damaged or incomplete: it ends too early"),
        ("short.tif", "is damaged or incomplete: it ends too early"),
    ];
    for (name, reason) in table {
        let message = refusal(&at(name));
        assert!(message.contains(reason) && message.contains(name), "{name}: {message}");
    }
}
