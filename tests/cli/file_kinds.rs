//! Files of every kind in every role that is written: nothing blocks, what cannot be written is said, and nothing else
//! changes.

use super::files::contents;
use super::{Ran, anthill, directory, run, without_driver};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

const WORLD: &str = "Format 8 8 1\nWorldBegin\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n";

/// What a file is before it is named as an output, and why it cannot be written.
const KINDS: [(&str, Option<&str>); 11] = [
    ("new", None),
    ("file", None),
    ("private", None),
    ("readonly", Some("is read-only")),
    ("link", None),
    ("dangling", None),
    ("pipe", Some("no program reads from this pipe")),
    ("folder", Some("is a directory")),
    ("missing/file", Some("there is no such directory")),
    ("/dev/null", None),
    ("/dev/full", Some("No space left on device")),
];

/// Makes a folder with a file of each kind, and returns the longest name.
fn make_kinds(folder: &Path) -> String {
    let at = |name: &str| folder.join(name);
    for (name, mode) in [("file", 0o644), ("target", 0o644), ("private", 0o600), ("readonly", 0o444)] {
        fs::write(at(name), "old").expect("writable");
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).expect("its owner");
    }
    symlink("target", at("link")).expect("links work");
    symlink("made", at("dangling")).expect("links work");
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo runs").success());
    fs::create_dir(at("folder")).expect("writable");
    "n".repeat(250)
}

/// Writes one output, and says with which exit code it refuses a file that it can check beforehand.
struct WritingRole {
    what: &'static str,
    write: fn(&Path, &str) -> Ran,
    refused: i32,
}

const ROLES: [WritingRole; 6] = [
    WritingRole {
        what: "--stats",
        write: |folder, name| without_driver(folder, &["render", "k.rib", "--check", "--stats", name]),
        refused: 2,
    },
    WritingRole {
        what: "--trace",
        write: |folder, name| without_driver(folder, &["render", "k.rib", "--check", "--trace", name]),
        refused: 2,
    },
    WritingRole {
        what: "--report",
        write: |folder, name| without_driver(folder, &["render", "k.rib", "--check", "--report", name]),
        refused: 2,
    },
    WritingRole {
        what: "Display",
        write: |folder, name| {
            let scene = format!("Display \"{name}\" \"exr\" \"rgba\"\n{WORLD}");
            run(folder, &["render", "-", "--devices", "0"], &[], &scene)
        },
        refused: 1,
    },
    WritingRole { what: "preview", write: |folder, name| anthill(folder, &["preview", "a.exr", name]), refused: 1 },
    WritingRole {
        what: "shader",
        write: |folder, name| anthill(folder, &["shader", "compile", "red.sl", "-o", name]),
        refused: 1,
    },
];

#[test]
fn outputs_may_be_files_of_every_kind() {
    for role in ROLES {
        let folder = directory();
        let at = |name: &str| folder.path().join(name);
        let long = make_kinds(folder.path());
        fs::write(at("k.rib"), WORLD).expect("writable");
        fs::write(at("red.sl"), "surface red() { Ci = 1; }").expect("writable");
        let colours = |x: usize, _: usize| (x as f32, 0.5_f32, 0.0_f32, 1.0_f32);
        exr::prelude::write_rgba_file(at("a.exr"), 2, 1, colours).expect("writable");
        for (kind, refusal) in KINDS.into_iter().chain([(long.as_str(), None)]) {
            // Kernels are written into folders.
            if (role.what, kind) == ("shader", "folder") {
                continue;
            }
            let ran = (role.write)(folder.path(), kind);
            let late = matches!(kind, "pipe" | "/dev/full");
            let code = refusal.map_or(0, |_| if late { 1 } else { role.refused });
            let said = ran.err.contains(refusal.unwrap_or_default());
            assert!(ran.code == Some(code) && said, "{} {kind}: {:?} {}", role.what, ran.code, ran.err);
        }
        let after = contents(folder.path());
        let names: Vec<&str> = after.keys().map(String::as_str).collect();
        let there = ["a.exr", "file", "k.rib", "made", "new", &long, "private", "readonly", "red.sl", "target"];
        assert_eq!(names, there, "{}: nothing else is left", role.what);
        assert_eq!(after["readonly"], b"old", "{}", role.what);
        for written in ["made", "new", &long, "private", "target"] {
            assert_eq!(after[written].first(), after["file"].first(), "{} {written}", role.what);
            assert_ne!(after[written], b"old", "{} {written}", role.what);
        }
        let kind_of = |name: &str| fs::symlink_metadata(at(name)).expect("there").file_type();
        assert!(kind_of("link").is_symlink() && kind_of("dangling").is_symlink() && kind_of("pipe").is_fifo());
        let mode = |name: &str| fs::metadata(at(name)).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode("private"), mode("readonly")), (0o600, 0o444), "{}", role.what);
    }
}

/// `--check` finds what a render could not write, without waiting for the reader of a pipe.
#[test]
fn outputs_of_every_kind_are_checked() {
    let folder = directory();
    let long = make_kinds(folder.path());
    let before = contents(folder.path());
    for (kind, refusal) in KINDS.into_iter().chain([(long.as_str(), None)]) {
        let scene = format!("Display \"{kind}\" \"exr\" \"rgba\"\n{WORLD}");
        let ran = run(folder.path(), &["render", "-", "--check"], &[], &scene);
        let late = matches!(kind, "pipe" | "/dev/full");
        assert_eq!(ran.code, Some(i32::from(refusal.is_some() && !late)), "{kind}: {}", ran.err);
    }
    assert_eq!(contents(folder.path()), before, "--check writes no picture");
}

/// Nobody waits for the reader of a pipe that has the name of a page.
#[test]
fn manual_pages_do_not_block() {
    let folder = directory();
    make_kinds(folder.path());
    fs::rename(folder.path().join("pipe"), folder.path().join("anthill-render.1")).expect("writable");
    let ran = anthill(folder.path(), &["man", "-o", "."]);
    assert!(ran.code == Some(1) && ran.err.contains("no program reads from this pipe"), "{:?} {}", ran.code, ran.err);
}

#[test]
fn checkpoints_are_refused_where_they_would_do_harm() {
    let folder = directory();
    let long = make_kinds(folder.path());
    for (name, text) in [("a.ckpt.lock", "mine"), ("b.ckpt.part", "mine")] {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    fs::write(folder.path().join("k.rib"), format!("Display \"o.exr\" \"exr\" \"rgba\"\n{WORLD}")).expect("writable");
    let before = contents(folder.path());
    let refused = [
        "file",
        "private",
        "readonly",
        "link",
        "pipe",
        "folder",
        "missing/file",
        "/dev/null",
        "/dev/full",
        "a.ckpt",
        "b.ckpt",
        "o.exr/x",
    ];
    for name in refused {
        let ran = without_driver(folder.path(), &["render", "k.rib", "--checkpoint", name]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.err);
        assert_eq!(contents(folder.path()), before, "{name}");
    }
    for name in ["new", "dangling", long.as_str()] {
        let ran = anthill(folder.path(), &["render", "k.rib", "--checkpoint", name, "--checkpoint-interval", "0.01"]);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        fs::remove_file(folder.path().join("o.exr")).expect("written");
        assert_eq!(contents(folder.path()), before, "{name}");
    }
    // The display would be removed when the render is finished.
    let ran = anthill(folder.path(), &["render", "k.rib", "--checkpoint", "o.exr"]);
    assert!(ran.code == Some(2) && ran.err.contains("(the file of --checkpoint)"), "{}", ran.err);
}
