//! `anthill rib`, and programs that scenes name.

use super::{Ran, anthill, directory, run};
use std::fs;

const SCENE: &str =
    "FrameBegin 1 WorldBegin # a comment\nSphere .5 -.5 .5 360 \"uniform color x\" [1 0 .25] WorldEnd FrameEnd\n";

#[test]
fn scenes_are_copied_and_counted() {
    let directory = directory();
    let path = directory.path();
    fs::write(path.join("a.rib"), SCENE).expect("writable");
    let wanted = "FrameBegin 1\n WorldBegin\n  Sphere 0.5 -0.5 0.5 360 \"uniform color x\" [1.0 0.0 0.25]\n WorldEnd\nFrameEnd\n";
    let Ran { code, out, err } = anthill(path, &["rib", "cat", "a.rib", "--indent", "1"]);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), wanted, ""));
    let Ran { code, .. } = anthill(path, &["rib", "cat", "a.rib", "--binary", "--gzip", "-o", "b.rib"]);
    assert_eq!(code, Some(0));
    assert!(fs::read(path.join("b.rib")).expect("it is written").starts_with(&[0x1f, 0x8b]));
    assert_eq!(run(path, &["rib", "cat", "b.rib", "--indent", "1"], &[], "").out, wanted);
    assert_eq!(run(path, &["rib", "cat", "-", "--indent", "1"], &[], SCENE).out, wanted);
    assert_eq!(anthill(path, &["rib", "cat", "a.rib", "-o", "./a.rib"]).code, Some(2));
    let stats = anthill(path, &["rib", "stats", "b.rib"]).out;
    assert!(stats.starts_with("b.rib: 5 requests, 8 numbers, 1 strings\n         1  FrameBegin\n"), "{stats}");
    let checked = anthill(path, &["rib", "check", "a.rib"]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(0), "a.rib: 5 requests, 1 world, 1 object, 0 errors\n"));
    fs::write(path.join("c.rib"), "WorldBegin\nReadArchive \"none.rib\"\nWorldEnd\n").expect("writable");
    let checked = anthill(path, &["rib", "check", "c.rib"]);
    assert!(checked.code == Some(1) && checked.err.contains("c.rib:2:1: error"), "{}", checked.err);
}

#[cfg(unix)]
#[test]
fn programs_run_with_a_flag_only() {
    let directory = directory();
    let path = directory.path();
    let scene = "Format 8 8 1 WorldBegin ReadArchive \"|echo ran > ran; echo Sphere 1 -1 1 360\" WorldEnd\n";
    fs::write(path.join("a.rib"), scene).expect("writable");
    let refused = anthill(path, &["render", "a.rib", "--check"]);
    assert!(refused.code == Some(1) && refused.err.contains("--allow-programs"), "{}", refused.err);
    assert!(!path.join("ran").exists());
    let ran = anthill(path, &["render", "a.rib", "--check", "--allow-programs"]);
    assert!(ran.code == Some(0) && path.join("ran").exists(), "{}", ran.err);
    let confined = anthill(path, &["render", "a.rib", "--allow-programs", "--confine", "."]);
    assert_eq!(confined.code, Some(2));
}

/// Folders of the environment are searched last.
#[cfg(unix)]
#[test]
fn folders_come_from_the_environment_too() {
    use std::os::unix::fs::PermissionsExt;
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("lib")).expect("writable");
    fs::write(at("lib/part.rib"), "Sphere 1 -1 1 360\n").expect("writable");
    fs::write(at("lib/ball"), "#!/bin/sh\nread line; echo Sphere 1 -1 1 360; printf '\\377'\n").expect("writable");
    fs::set_permissions(at("lib/ball"), fs::Permissions::from_mode(0o755)).expect("writable");
    exr::prelude::write_rgba_file(at("lib/t.exr"), 2, 2, |_, _| (0.0_f32, 1.0_f32, 0.0_f32, 1.0_f32))
        .expect("writable");
    let lib = std::ffi::OsStr::new("lib");
    for (variable, body) in [
        ("ANTHILL_ARCHIVES", "ReadArchive \"part.rib\""),
        ("ANTHILL_TEXTURES", "Surface \"paintedplastic\" \"texturename\" \"t.exr\" Sphere 1 -1 1 360"),
        ("ANTHILL_PROCEDURALS", "Procedural \"RunProgram\" [\"ball\" \"\"] [-1 1 -1 1 -1 1]"),
    ] {
        let head = "Display \"a.exr\" \"exr\" \"rgba\"\nFormat 8 8 1\nWorldBegin\nTranslate 0 0 3\n";
        fs::write(at("a.rib"), format!("{head}{body}\nWorldEnd\n")).expect("writable");
        let flags = ["render", "a.rib", "--allow-programs", "--strict"];
        let missing = run(folder.path(), &flags, &[], "");
        assert_eq!(missing.code, Some(1), "{variable}: {}", missing.err);
        let found = run(folder.path(), &flags, &[(variable, lib)], "");
        assert_eq!(found.code, Some(0), "{variable}: {}", found.err);
    }
}
