//! No file is lost: roles that meet in one file, and folders that are not left.

use super::{anthill, directory, without_driver};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const WORLD: &str = "Format 8 8 1\nWorldBegin\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n";

/// Contents of all regular files in a folder by name, hidden ones included.
pub(super) fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let files = entries.filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_file()));
    files
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into(), fs::read(&path).expect("readable")))
        .collect()
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
