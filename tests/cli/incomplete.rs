//! Input that is not read whole, or from which something is left out: said, drawn as far as possible, and told by the
//! exit code.

use super::{directory, without_driver};
use std::fs;
use std::io::Write;

const WORLD: &str = "Format 8 8 1\nWorldBegin\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n";

#[test]
fn what_was_not_read_whole_exits_with_1() {
    let folder = directory();
    fs::write(folder.path().join("broken.rib"), "Sphere 0.5 -0.5 0.5 360\nSurface \"pla").expect("writable");
    let sphere = "Sphere 0.5 -0.5 0.5 360\n";
    let whole = &format!("WorldBegin\n{sphere}WorldEnd\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(whole.replace(sphere, &sphere.repeat(400)).as_bytes()).expect("in memory");
    let gzip = gzip.finish().expect("in memory");
    let table: Vec<(&str, Vec<u8>, i32)> = vec![
        ("whole", whole.as_bytes().into(), 0),
        ("a mistake", whole.replace("0.5 360", "0.5 360 Bogus").into(), 0),
        ("no WorldEnd", whole.replace("WorldEnd\n", "").into(), 1),
        ("cut in a request", [whole, "Translate 1"].concat().into(), 1),
        ("cut in a string", [whole, "Surface \"pla"].concat().into(), 1),
        ("missing archive", whole.replace("Sphere", "ReadArchive \"none.rib\" Sphere").into(), 1),
        ("cut archive", whole.replace("Sphere", "ReadArchive \"broken.rib\" Sphere").into(), 1),
        ("a binary byte", [whole.as_bytes(), b"\x9c\x05"].concat(), 1),
        ("whole gzip", gzip.clone(), 0),
        ("cut gzip", gzip[..gzip.len() - 4].to_vec(), 1),
        ("damaged gzip", [&gzip[..20], b"xxxx", &gzip[24..]].concat(), 1),
        ("abort", [b"ErrorHandler \"abort\" Bogus ", whole.as_bytes()].concat(), 1),
    ];
    for (what, bytes, code) in table {
        fs::write(folder.path().join("k.rib"), bytes).expect("writable");
        let ran = without_driver(folder.path(), &["render", "k.rib", "--check"]);
        assert_eq!(ran.code, Some(code), "{what}: {}", ran.err);
    }
}

/// What is left out with no more than a warning counts too.
#[test]
fn strict_counts_geometry_that_was_left_out() {
    let folder = directory();
    let scene = WORLD.replace("WorldEnd", "Geometry \"unheard of\"\nWorldEnd");
    fs::write(folder.path().join("k.rib"), scene).expect("writable");
    for (flag, code) in [("--progress=off", 0), ("--strict", 1)] {
        let ran = without_driver(folder.path(), &["render", "k.rib", "--check", flag]);
        assert!(ran.code == Some(code) && !ran.err.contains("error: "), "{flag}: {:?} {}", ran.code, ran.err);
    }
}

#[test]
fn formats_that_are_not_used_and_frames_that_match_nothing_are_said() {
    let folder = directory();
    for (format, said) in [
        ("Format 1e9 8 1", "the picture stays at 640 by 480 pixels"),
        ("Format 0 8 1", "640 pixels are used"),
        ("Format -1 8 1", ""),
    ] {
        fs::write(folder.path().join("k.rib"), WORLD.replace("Format 8 8 1", format)).expect("writable");
        let ran = without_driver(folder.path(), &["render", "k.rib", "--check"]);
        assert!(ran.err.contains(said) && ran.messages().is_empty() == said.is_empty(), "{format}: {}", ran.err);
    }
    fs::write(folder.path().join("k.rib"), format!("Bogus\n{WORLD}WorldBegin")).expect("writable");
    let ran = without_driver(folder.path(), &["render", "k.rib", "--check", "--frames", "9"]);
    assert!(
        ran.code == Some(1) && ran.err.contains("--frames names no frame of the scene, which has 2"),
        "{}",
        ran.err
    );
}
