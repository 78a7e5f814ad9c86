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
    let flags = ["-o", "--stats", "--trace", "--report", "--checkpoint"];
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

/// Whatever a render reads, and by whatever flag or request that file is to be written. What is read is often known
/// only after a file was chosen.
#[test]
fn nothing_that_a_render_reads_is_overwritten() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    let read = ["k.rib", "part.rib", "red.sl", "shade.h"];
    fs::write(at("part.rib"), "Sphere 0.5 -0.5 0.5 360\n").expect("writable");
    fs::write(at("red.sl"), "#include \"shade.h\"\nsurface red() { Ci = SHADE; }").expect("writable");
    fs::write(at("shade.h"), "#define SHADE color(1, 0, 0)\n").expect("writable");
    let world = "Format 8 8 1 WorldBegin Surface \"red\" ReadArchive \"part.rib\" WorldEnd\n";
    for (victim, role) in read.into_iter().zip(["the scene", "an archive", "a shader", "a shader"]) {
        symlink(victim, at("v.0001.exr")).expect("links work");
        let writers = [
            (vec!["-o", "v.0001.exr"], "a picture to write"),
            (vec!["-o", "v.#.exr"], "a picture to write"),
            (vec![], "a picture to write"),
            (vec!["--stats", "v.0001.exr"], "the file of --stats"),
            (vec!["--trace", "v.0001.exr"], "the file of --trace"),
            (vec!["--checkpoint", "v.0001.exr"], "is not a checkpoint"),
        ];
        for (flags, writer) in writers {
            let display = if flags.is_empty() { victim } else { "o.exr" };
            fs::write(at("k.rib"), format!("Display \"{display}\" \"tiff\" \"rgba\"\n{world}")).expect("writable");
            let before = contents(folder.path());
            let ran = anthill(folder.path(), &[&["render", "k.rib", "--devices", "0"], &flags[..]].concat());
            let named = [role, writer].iter().filter(|words| ran.err.contains(**words)).count();
            let is_said = named == 2 || named == 1 && flags.contains(&"--checkpoint");
            assert!(ran.code == Some(2) && is_said, "{victim} {flags:?}: {:?} {}", ran.code, ran.err);
            let _ = fs::remove_file(at("o.exr"));
            assert_eq!(contents(folder.path()), before, "{victim} {flags:?}");
        }
        fs::remove_file(at("v.0001.exr")).expect("a link");
    }
    // What standard input comes from.
    let before = contents(folder.path());
    let script = "exec \"$0\" render - --check --stats k.rib < k.rib";
    let mut shell = std::process::Command::new("sh");
    let ran = shell.current_dir(folder.path()).args(["-c", script, env!("CARGO_BIN_EXE_anthill")]).output();
    assert_eq!(ran.expect("there is a shell").status.code(), Some(2));
    assert_eq!(contents(folder.path()), before);
}

/// The archive is found while the picture is drawn, or before: either is refused, and the file stays.
#[test]
fn a_picture_does_not_replace_the_archive_of_a_later_frame() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("part.rib"), "Sphere 0.5 -0.5 0.5 360\n").expect("writable");
    let frames = "Format 8 8 1\nFrameBegin 1\nDisplay \"part.rib\" \"exr\" \"rgba\"\nWorldBegin\nWorldEnd\nFrameEnd\n\
        FrameBegin 2\nDisplay \"o.exr\" \"exr\" \"rgba\"\nWorldBegin\nReadArchive \"part.rib\"\nWorldEnd\nFrameEnd\n";
    fs::write(at("k.rib"), frames).expect("writable");
    let before = contents(folder.path());
    let ran = anthill(folder.path(), &["render", "k.rib", "--devices", "0"]);
    assert!(ran.code == Some(2) && ran.err.contains("(an archive)"), "{}", ran.err);
    fs::remove_file(at("o.exr")).expect("the second frame is written");
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn other_commands_overwrite_nothing_that_they_read() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    let colours = |x: usize, _: usize| (x as f32, 0.5_f32, 0.0_f32, 1.0_f32);
    exr::prelude::write_rgba_file(at("a.exr"), 2, 1, colours).expect("writable");
    fs::write(at("red.sl"), "#include \"shade.h\"\nsurface red() { Ci = SHADE; }").expect("writable");
    fs::write(at("shade.h"), "#define SHADE color(1, 0, 0)\n").expect("writable");
    for study in ["study", "other", "third", "man"] {
        fs::create_dir(at(study)).expect("writable");
    }
    let scene = "Format 8 8 1 WorldBegin ReadArchive \"third/picture.1.exr\" WorldEnd\n";
    for (name, text) in [("k.rib", scene), ("study/picture.1.exr", scene), ("third/picture.1.exr", "Sphere 1 -1 1 360")]
    {
        fs::write(at(name), text).expect("writable");
    }
    fs::write(at("other/runs.csv"), "mine").expect("writable");
    symlink("../k.rib", at("other/drew.7.png")).expect("links work");
    symlink("anthill-render.1", at("man/anthill.1")).expect("links work");
    symlink("a.exr", at("link")).expect("links work");
    let all = || ["", "study", "other", "third", "man"].map(|name| contents(&at(name)));
    let before = all();
    let table: [(&[&str], &str); 9] = [
        (&["preview", "a.exr", "a.exr"], "(the picture to read)"),
        (&["preview", "a.exr", "link"], "(the picture to read)"),
        (&["shader", "compile", "red.sl", "-o", "red.sl"], "(a shader)"),
        (&["shader", "compile", "red.sl", "-o", "./shade.h"], "(a shader)"),
        (&["scale", "study/picture.1.exr", "--devices", "0", "-o", "study"], "(the scene)"),
        (&["scale", "k.rib", "--devices", "0", "-o", "other"], "it exists and is not a file of a study"),
        (&["scale", "k.rib", "--devices", "0", "-o", "third"], "it exists and is not a file of a study"),
        (&["scale", "a.exr", "--devices", "0", "-o", "other/drew.7.png"], "cannot write"),
        (&["man", "-o", "nowhere"], "there is no such directory"),
    ];
    for (args, message) in table {
        let ran = anthill(folder.path(), args);
        let code = if args[0] == "man" { 1 } else { 2 };
        assert!(ran.code == Some(code) && ran.err.contains(message), "{args:?}: {:?} {}", ran.code, ran.err);
        assert!(all() == before, "{args:?}");
    }
    let ran = anthill(folder.path(), &["man", "-o", "man"]);
    assert!(ran.code == Some(2) && ran.err.contains("(a manual page)"), "{:?} {}", ran.code, ran.err);
    assert!(at("man/anthill.1").is_symlink());
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
    for flags in [
        &["--stats", "../s"][..],
        &["--trace", "up/t"],
        &["--report", "../r"],
        &["--checkpoint", "../c"],
        &["-o", "../o.exr"],
    ] {
        let ran = without_driver(&at("in"), &[&["render", "k.rib", "--confine", "."], flags].concat());
        assert!(ran.code == Some(2) && ran.err.contains("--confine"), "{flags:?}: {}", ran.err);
    }
    assert_eq!(without_driver(&at("in"), &["render", "../secret.rib", "--check", "--confine", "."]).code, Some(2));
    assert_eq!(contents(folder.path()).len(), 2, "nothing was written");
}

/// What shaders and procedurals name is read only inside, too.
#[test]
fn shaders_and_procedurals_of_a_confined_scene_read_nothing_outside() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("in")).expect("writable");
    fs::write(at("secret.h"), "Bogus\n").expect("writable");
    fs::write(at("secret.rib"), "Bogus\n").expect("writable");
    exr::prelude::write_rgba_file(at("t.exr"), 2, 2, |_, _| (0.0_f32, 1.0_f32, 0.0_f32, 1.0_f32)).expect("writable");
    fs::write(at("in/inc.sl"), "#include \"../secret.h\"\nsurface inc() { Ci = 1; }").expect("writable");
    fs::write(at("in/look.sl"), "surface look() { Ci = color texture(\"../t.exr\"); }").expect("writable");
    for body in [
        "Surface \"inc\"",
        "Surface \"look\"",
        "Procedural \"DelayedReadArchive\" [\"../secret.rib\"] [-1 1 -1 1 -1 1]",
    ] {
        let world = WORLD.replace("Sphere", &format!("{body}\nSphere"));
        fs::write(at("in/k.rib"), format!("Display \"a.exr\" \"exr\" \"rgba\"\n{world}")).expect("writable");
        let ran = anthill(&at("in"), &["render", "k.rib", "--devices", "0", "--confine", "."]);
        let is_said = ran.err.contains("the only folder that --confine allows");
        assert!(is_said && !ran.err.contains("Bogus"), "{body}: {:?} {}", ran.code, ran.err);
    }
    assert_eq!(contents(folder.path()).len(), 3, "nothing was written");
}
