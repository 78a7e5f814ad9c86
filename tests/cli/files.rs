//! No file is lost: roles that meet in one file, files of every kind in every role, and folders that are not left.

use super::{anthill, directory, run, without_driver};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const WORLD: &str = "Format 8 8 1\nWorldBegin\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n";

/// Contents of all regular files in a folder by name, hidden ones included.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let files = entries.filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_file()));
    files
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into(), fs::read(&path).expect("readable")))
        .collect()
}

fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
}

#[test]
fn no_two_flags_share_a_file() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("k.exr"), format!("Display \"d.exr\" \"exr\" \"rgba\"\n{WORLD}")).expect("writable");
    fs::write(at("old.exr"), "an older file").expect("writable");
    fs::hard_link(at("old.exr"), at("hard.exr")).expect("links work");
    symlink("k.exr", at("link.exr")).expect("links work");
    symlink("new.exr", at("dangling.exr")).expect("links work");
    let before = contents(folder.path());
    let flags = ["-o", "--stats", "--trace", "--checkpoint"];
    let named = |flag: &str| match flag {
        "-o" => "(a picture to write)".to_string(),
        flag => format!("(the file of {flag})"),
    };
    let mut runs = Vec::new();
    for flag in flags {
        for name in ["k.exr", "./k.exr", "link.exr"] {
            runs.push((vec![flag, name], ["(the scene)".into(), named(flag)]));
        }
        for other in flags.into_iter().filter(|other| *other != flag) {
            for [one, two] in [["new.exr", "dangling.exr"], ["old.exr", "hard.exr"], ["new.exr", "./new.exr"]] {
                runs.push((vec![flag, one, other, two], [named(flag), named(other)]));
            }
        }
    }
    for (flags, roles) in runs {
        let check = if flags.contains(&"--checkpoint") { "--strict" } else { "--check" };
        let ran = without_driver(folder.path(), &[&["render", "k.exr", check], &flags[..]].concat());
        let named = ran.messages().len() == 1 && roles.iter().all(|role| ran.err.contains(role.as_str()));
        assert!(ran.code == Some(2) && named, "{flags:?}: {:?} {}", ran.code, ran.err);
        assert_eq!(contents(folder.path()), before, "{flags:?}");
    }
}

#[test]
fn no_display_overwrites_what_is_used_otherwise() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("part.rib"), "Sphere 0.5 -0.5 0.5 360\n").expect("writable");
    fs::write(at("red.sl"), "surface red() { Ci = Os * color(1, 0, 0); }").expect("writable");
    symlink("part.rib", at("link")).expect("links work");
    let world = "Format 8 8 1 WorldBegin Surface \"red\" ReadArchive \"part.rib\" WorldEnd\n";
    let table = [
        ("k.rib", vec![], "the scene"),
        ("part.rib", vec![], "an archive"),
        ("link", vec![], "an archive"),
        ("x", vec!["--stats", "x"], "the file of --stats"),
        ("x", vec!["--trace", "./x"], "the file of --trace"),
    ];
    for (display, flags, role) in table {
        fs::write(at("k.rib"), format!("Display \"{display}\" \"tiff\" \"rgba\"\n{world}")).expect("writable");
        let before = contents(folder.path());
        let ran = without_driver(folder.path(), &[&["render", "k.rib", "--check"], &flags[..]].concat());
        let expected = format!("k.rib:1:1: error: \"{display}\" (a picture to write) is the same file as");
        assert!(ran.messages()[0].starts_with(&expected), "{}", ran.err);
        assert!(ran.code == Some(2) && ran.messages()[0].contains(&format!("({role})")), "{}", ran.err);
        let mut after = contents(folder.path());
        after.remove("x");
        assert_eq!(after, before, "{display}");
        let _ = fs::remove_file(at("x"));
    }
    // Shaders are read after displays are claimed.
    fs::write(at("k.rib"), format!("Display \"red.sl\" \"tiff\" \"rgba\"\n{world}")).expect("writable");
    let before = contents(folder.path());
    let ran = without_driver(folder.path(), &["render", "k.rib", "--check"]);
    assert!(ran.code == Some(2) && ran.err.contains("(a shader)"), "{}", ran.err);
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn a_second_picture_of_one_name_is_left_out() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    let world = format!("Display \"a.exr\" \"exr\" \"rgba\"\n{WORLD}");
    fs::write(at("one.rib"), &world).expect("writable");
    fs::write(at("two.rib"), format!("{world}{}", world.replace("0.5", "0.2"))).expect("writable");
    assert_eq!(anthill(folder.path(), &["render", "one.rib"]).code, Some(0));
    let one = fs::read(at("a.exr")).expect("written");
    let ran = anthill(folder.path(), &["render", "two.rib"]);
    assert!(
        ran.code == Some(2) && ran.err.contains("two.rib:6:1: error: \"a.exr\" (a picture to write)"),
        "{}",
        ran.err
    );
    assert!(fs::read(at("a.exr")).expect("written") == one, "the first picture stays");
    for (args, code) in [(["a.exr", "a.exr"], 2), (["a.exr", "./a.exr"], 2), (["a.exr", "a.png"], 0)] {
        assert_eq!(anthill(folder.path(), &[&["preview"], &args[..]].concat()).code, Some(code), "{args:?}");
        assert!(fs::read(at("a.exr")).expect("written") == one);
    }
}

/// What a file is before it is named as an output.
const KINDS: [&str; 8] = ["new", "file", "link", "dangling", "pipe", "folder", "missing/file", "/dev/null"];

/// Makes a folder with a file of each kind, and one with the longest name.
fn kinds(folder: &Path) -> String {
    let at = |name: &str| folder.join(name);
    fs::write(at("file"), "old").expect("writable");
    fs::write(at("target"), "old").expect("writable");
    symlink("target", at("link")).expect("links work");
    symlink("made", at("dangling")).expect("links work");
    pipe(&at("pipe"));
    fs::create_dir(at("folder")).expect("writable");
    "n".repeat(250)
}

/// Nothing blocks; what cannot be written is said, and nothing else changes.
#[test]
fn files_of_every_kind_are_written_or_refused() {
    for flag in ["--stats", "--trace"] {
        let folder = directory();
        let long = kinds(folder.path());
        fs::write(folder.path().join("k.rib"), WORLD).expect("writable");
        for kind in KINDS.into_iter().chain([long.as_str()]) {
            let ran = without_driver(folder.path(), &["render", "k.rib", "--check", flag, kind]);
            let (code, message) = match kind {
                "pipe" => (1, "no program reads from this pipe"),
                "folder" => (2, "is a directory"),
                "missing/file" => (2, "there is no such directory"),
                _ => (0, ""),
            };
            assert!(ran.code == Some(code) && ran.err.contains(message), "{flag} {kind}: {:?} {}", ran.code, ran.err);
        }
        let after = contents(folder.path());
        let names: Vec<&str> = after.keys().map(String::as_str).collect();
        assert_eq!(names, ["file", "k.rib", "made", "new", &long, "target"]);
        let is_json = |name: &&str| serde_json::from_slice::<serde_json::Value>(&after[*name]).is_ok();
        assert!(names.iter().filter(|name| **name != "k.rib").all(is_json), "{flag}");
        for link in ["link", "dangling"] {
            assert!(fs::symlink_metadata(folder.path().join(link)).expect("there").is_symlink());
        }
    }
}

#[test]
fn pictures_may_be_files_of_every_kind() {
    let folder = directory();
    let long = format!("{}.exr", "n".repeat(246));
    kinds(folder.path());
    let before = contents(folder.path());
    for kind in KINDS.into_iter().chain([long.as_str()]) {
        let scene = format!("Display \"{kind}\" \"exr\" \"rgba\"\n{WORLD}");
        let ran = run(folder.path(), &["render", "-", "--check"], &[], &scene);
        let expected = i32::from(matches!(kind, "folder" | "missing/file"));
        assert_eq!(ran.code, Some(expected), "{kind}: {}", ran.err);
    }
    assert_eq!(contents(folder.path()), before, "--check writes no picture");
    let displays = ["file", "link", "dangling", "pipe", "/dev/null", long.as_str()];
    let displays = displays.map(|kind| format!("Display \"+{kind}\" \"exr\" \"rgba\"\n")).concat();
    let ran = run(folder.path(), &["render", "-"], &[], &format!("{}{WORLD}", displays.replacen('+', "", 1)));
    assert!(ran.code == Some(1) && ran.messages().len() == 1, "{}", ran.err);
    assert!(ran.messages()[0].contains("cannot write \"pipe\": no program reads from this pipe"), "{}", ran.err);
    let after = contents(folder.path());
    assert_eq!(after.len(), 4, "{:?}", after.keys());
    assert!(["target", "made", &long].iter().all(|name| after[*name] == after["file"] && !after["file"].is_empty()));
}

#[test]
fn checkpoints_are_refused_where_they_would_do_harm() {
    let folder = directory();
    let long = kinds(folder.path());
    for (name, text) in [("a.ckpt.lock", "mine"), ("b.ckpt.part", "mine")] {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    fs::write(folder.path().join("k.rib"), format!("Display \"o.exr\" \"exr\" \"rgba\"\n{WORLD}")).expect("writable");
    let before = contents(folder.path());
    let refused = ["file", "link", "pipe", "folder", "missing/file", "/dev/null", "a.ckpt", "b.ckpt", "o.exr/x"];
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

#[test]
fn nothing_outside_of_a_folder_is_touched() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("in")).expect("writable");
    fs::write(at("secret.rib"), "Bogus\n").expect("writable");
    fs::write(at("secret.sl"), "surface secret() { Ci = 1; }").expect("writable");
    fs::write(at("in/own.rib"), "Sphere 0.5 -0.5 0.5 360\n").expect("writable");
    fs::write(at("in/own.sl"), "surface own() { Ci = 1; }").expect("writable");
    symlink("../secret.rib", at("in/link.rib")).expect("links work");
    symlink("..", at("in/up")).expect("links work");
    let absolute = at("secret.rib").display().to_string();
    let world = |display: &str, archive: &str, shader: &str| {
        format!(
            "Option \"searchpath\" \"archive\" [\".:..\"] \"shader\" [\".:..\"]\nDisplay \"{display}\" \"exr\" \"rgba\"\n\
             Format 8 8 1\nWorldBegin\nSurface \"{shader}\"\nReadArchive \"{archive}\"\nWorldEnd\n"
        )
    };
    let check = |scene: &str| {
        fs::write(at("in/k.rib"), scene).expect("writable");
        without_driver(&at("in"), &["render", "k.rib", "--check", "--confine", "."])
    };
    assert_eq!(check(&world("a.exr", "own.rib", "own")).code, Some(0));
    for (display, archive, shader, code) in [
        ("../a.exr", "own.rib", "own", Some(1)),
        ("up/a.exr", "own.rib", "own", Some(1)),
        ("/dev/null", "own.rib", "own", Some(1)),
        ("a.exr", "secret.rib", "own", Some(1)),
        ("a.exr", "link.rib", "own", Some(1)),
        ("a.exr", absolute.as_str(), "own", Some(1)),
        ("a.exr", "up/secret.rib", "own", Some(1)),
        ("a.exr", "own.rib", "secret", Some(0)),
    ] {
        let ran = check(&world(display, archive, shader));
        assert!(
            ran.code == code && ran.err.contains("--confine"),
            "{display} {archive} {shader}: {:?} {}",
            ran.code,
            ran.err
        );
        assert!(!ran.err.contains("Bogus"), "{}", ran.err);
    }
    for flags in [&["--stats", "../s"][..], &["--trace", "up/t"], &["--checkpoint", "../c"], &["-o", "../o.exr"]] {
        let ran = without_driver(&at("in"), &[&["render", "k.rib", "--confine", "."], flags].concat());
        assert!(ran.code == Some(2) && ran.err.contains("--confine"), "{flags:?}: {}", ran.err);
    }
    assert_eq!(without_driver(&at("in"), &["render", "../secret.rib", "--check", "--confine", "."]).code, Some(2));
    assert_eq!(contents(folder.path()).len(), 2, "nothing was written");
}
