//! Problems with files: scenes that cannot be read, outputs that cannot be written.

use super::{Ran, anthill, directory, run};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// A scene of one sphere with these displays.
fn scene(displays: &str) -> String {
    format!("{displays}\nFormat 16 16 1\nWorldBegin\nSphere 0.5 -0.5 0.5 360\nWorldEnd\n")
}

/// Renders a scene with these displays.
fn render(directory: &Path, displays: &str, flags: &[&str]) -> Ran {
    fs::write(directory.join("a.rib"), scene(displays)).expect("writable");
    anthill(directory, &[&["render", "a.rib"], flags].concat())
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("readable").map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn scenes_are_read_from_standard_input() {
    let directory = directory();
    let ran = run(directory.path(), &["render", "-"], &[], &scene("Display \"a.exr\" \"exr\" \"rgba\""));
    assert_eq!((ran.code, ran.messages()), (Some(0), vec![]));
    let bad = run(directory.path(), &["render", "-"], &[], "Bogus\n");
    assert_eq!(bad.messages()[0], "-:1:1: error: unknown request Bogus [unregistered]");
    assert_eq!(names(directory.path()), ["a.exr"]);
}

#[test]
fn displays_are_written_independently() {
    let directory = directory();
    let displays =
        "Display \"a.exr\" \"exr\" \"rgba\" Display \"+b.tif\" \"file\" \"rgb\"\nDisplay \"+no/c.exr\" \"zfile\" \"z\"";
    let ran = render(directory.path(), displays, &[]);
    let expected = ["a.rib:2:1: error: cannot write \"no/c.exr\": there is no such directory [badfile]"];
    assert_eq!((ran.code, ran.messages()), (Some(1), expected.to_vec()));
    assert!(ran.err.contains("anthill: 3 files (1 missing): "), "{}", ran.err);
    assert_eq!(names(directory.path()), ["a.exr", "a.rib", "b.tif"]);
    // Only the primary display is renamed.
    assert_eq!(render(directory.path(), displays, &["-o", "x.png"]).code, Some(1));
    assert_eq!(names(directory.path()), ["a.exr", "a.rib", "b.tif", "x.png"]);
}

#[test]
fn a_crop_window_without_a_pixel_writes_nothing() {
    let directory = directory();
    let displays = "Display \"a.exr\" \"exr\" \"rgba\" CropWindow 0.8 0.8 0.45 0.45";
    let error = "a.rib:3:1: error: the crop window 0.8 0.8 0.45 0.45 selects no pixel of 16 by 16; nothing of this world is \
                 drawn [range]";
    for flags in [&[][..], &["--check"]] {
        let ran = render(directory.path(), displays, flags);
        assert_eq!((ran.code, ran.messages()[0]), (Some(1), error), "{flags:?}");
    }
    // A flag that leaves no pixel.
    let ran = render(directory.path(), "Display \"a.exr\" \"exr\" \"rgba\"", &["--crop", "0.501", "0.502", "0", "1"]);
    assert!(ran.code == Some(1) && ran.err.contains("0.501 0.502 0 1 selects no pixel"), "{}", ran.err);
    assert_eq!(names(directory.path()), ["a.rib"]);
}

/// This is known before anything is rendered, so the summary counts no device.
#[test]
fn nothing_is_rendered_for_outputs_that_cannot_be_written() {
    let directory = directory();
    fs::create_dir(directory.path().join("folder.exr")).expect("writable");
    for (name, reason) in [("no/a.exr", "there is no such directory"), ("folder.exr", "is a directory")] {
        let ran = render(directory.path(), &format!("Display \"{name}\" \"exr\" \"rgba\""), &[]);
        assert_eq!(ran.messages(), [format!("a.rib:1:1: error: cannot write \"{name}\": {reason} [badfile]")]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains(&format!("anthill: {name} (missing): ")) && !ran.err.contains(" micropolygons"));
    }
}

#[test]
fn checking_renders_nothing_and_needs_no_device() {
    let directory = directory();
    let check = |displays: &str| {
        fs::write(directory.path().join("a.rib"), scene(displays)).expect("writable");
        run(directory.path(), &["render", "a.rib", "--check"], &[("VK_DRIVER_FILES", "/nonexistent".as_ref())], "")
    };
    let good = check("Display \"a.exr\" \"exr\" \"rgba\"");
    assert_eq!((good.code, good.messages()), (Some(0), vec![]));
    assert!(good.err.starts_with("anthill: checked, nothing rendered: "), "{}", good.err);
    let bad = check("Display \"no/a.exr\" \"exr\" \"rgba\" Surface \"nosuch\"");
    assert_eq!(bad.code, Some(1));
    assert!(bad.err.contains("no surface shader \"nosuch\"") && bad.err.contains("cannot write"), "{}", bad.err);
    assert_eq!(names(directory.path()), ["a.rib"]);
}

#[test]
fn scenes_without_a_world_are_reported() {
    let directory = directory();
    let nothing = ["a.rib: warning: the scene has no world, so nothing is drawn [nothing]"];
    let garbage = "a.rib: error: its gzip data is damaged: unexpected end of file [badfile]";
    let table: [(&[u8], &str, i32); 4] = [
        (b"", nothing[0], 0),
        (b"Format 16 16 1\n", nothing[0], 0),
        (b"\x1f\x8b\x08zzzz", garbage, 1),
        (b"\x9c\x05\x80\xff\xfe\x00 Bogus", "a.rib:", 1),
    ];
    for (bytes, message, code) in table {
        fs::write(directory.path().join("a.rib"), bytes).expect("writable");
        let ran = anthill(directory.path(), &["render", "a.rib"]);
        assert!(ran.messages()[0].starts_with(message), "{bytes:?}: {}", ran.err);
        assert!(ran.code == Some(code) && ran.err.contains(nothing[0]), "{bytes:?}: {}", ran.err);
    }
}

#[test]
fn unknown_frames_are_reported() {
    let directory = directory();
    let ran = render(directory.path(), "Display \"a.exr\" \"exr\" \"rgba\"", &["--frames", "5-7"]);
    let expected = ["anthill: warning: --frames names no frame of the scene, which has 1 [nothing]"];
    assert_eq!((ran.code, ran.messages()), (Some(0), expected.to_vec()));
}

#[test]
fn one_name_for_several_pictures_is_refused_before_rendering() {
    let directory = directory();
    let world = "Display \"a.exr\" \"exr\" \"rgba\" Format 8 8 1 WorldBegin WorldEnd\n";
    fs::write(directory.path().join("a.rib"), world.repeat(2)).expect("writable");
    let ran = anthill(directory.path(), &["render", "a.rib", "-o", "x.exr"]);
    let expected = ["anthill: error: -o x.exr: the scene has 2 pictures; put # where the frame number goes [usage]"];
    assert_eq!((ran.code, ran.messages()), (Some(2), expected.to_vec()));
    assert_eq!(names(directory.path()), ["a.rib"]);
}

/// Options, attributes, declarations and open blocks of a file hold in the next one.
#[test]
fn several_files_are_one_stream() {
    let directory = directory();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).expect("writable");
    write(
        "a.rib",
        "Display \"a.exr\" \"exr\" \"rgba\" Format 8 4 1 ScreenWindow -2 2 -1 1\nDeclare \"gain\" \"float\"\nWorldBegin\n",
    );
    write(
        "b.rib",
        "Surface \"constant\" Translate 0 0 1 Patch \"bilinear\" \"P\" [-3 -3 0 3 -3 0 -3 3 0 3 3 0]\nWorldEnd\n",
    );
    let ran = anthill(directory.path(), &["render", "a.rib", "b.rib"]);
    assert_eq!((ran.code, ran.messages()), (Some(0), vec![]));
    assert_eq!(names(directory.path()), ["a.exr", "a.rib", "b.rib"]);
    // A file that is missing an end is still reported, with its own name.
    let ran = anthill(directory.path(), &["render", "b.rib", "a.rib"]);
    let errors: Vec<&str> = ran.messages().into_iter().filter(|line| line.contains("error")).collect();
    assert_eq!(errors.last(), Some(&"a.rib:3:1: error: WorldBegin has no WorldEnd [nesting]"), "{}", ran.err);
}

#[test]
fn frames_that_repeat_a_number_are_numbered_on() {
    let directory = directory();
    let world =
        "Display \"a.exr\" \"exr\" \"rgba\" Format 8 8 1 FrameBegin 1 WorldBegin Sphere 1 -1 1 360 WorldEnd FrameEnd\n";
    fs::write(directory.path().join("a.rib"), world).expect("writable");
    let ran = anthill(directory.path(), &["render", "a.rib", "a.rib", "-o", "x.##.exr"]);
    let note = "a.rib:1:56: note: frame 1 occurs more than once: this picture is written to \"x.02.exr\" [frames]";
    assert_eq!((ran.code, ran.messages()), (Some(0), vec![note]));
    assert_eq!(names(directory.path()), ["a.rib", "x.01.exr", "x.02.exr"]);
}

#[test]
fn host_memory_is_bounded_and_its_use_is_reported() {
    let directory = directory();
    let picture = "Display \"a.exr\" \"exr\" \"rgba\"";
    let film = render(directory.path(), picture, &["--host-memory", "1K"]);
    let expected = ": error: host memory is used up: 89 B of text are in use out of 1.0 KiB, and another 4.0 KiB for a film of 16 by 16 pixels";
    assert!(film.code == Some(1) && film.messages()[0].contains(expected), "{}", film.err);
    let points = "0 0 0 ".repeat(2000);
    let scene = format!("{picture} Format 16 16 1\nWorldBegin\nSphere 1 -1 1 360\nPoints \"P\" [{points}]\nWorldEnd\n");
    fs::write(directory.path().join("a.rib"), scene).expect("writable");
    let geometry = anthill(directory.path(), &["render", "a.rib", "--host-memory", "32K"]);
    let expected = "a.rib:4:1: error: host memory is used up: 11.8 KiB of text, 384 B of geometry, 4.0 KiB of film are in use out of 32.0 KiB, \
                    and another 187.8 KiB of geometry is needed here; what follows is left out [limitcheck]";
    assert_eq!(geometry.messages()[0], expected);
    // What came before is rendered.
    assert!(
        geometry.err.contains("anthill: a.exr: ") && !geometry.err.contains(" 0 micropolygons"),
        "{}",
        geometry.err
    );
    assert_eq!(geometry.code, Some(1));
    assert_eq!(anthill(directory.path(), &["render", "a.rib", "--host-memory", "1M"]).code, Some(0));
}

#[test]
fn endless_streams_are_cut_and_what_was_read_is_rendered() {
    let directory = directory();
    let head = "Display \"a.exr\" \"exr\" \"rgba\" Format 16 16 1\nWorldBegin\nSphere 0.5 -0.5 0.5 360\n";
    let endless = format!("{head}{}", "# nothing more\n".repeat(100_000));
    let ran = run(directory.path(), &["render", "-", "--host-memory", "256K"], &[], &endless);
    let [message, hint, ..] = ran.messages()[..] else { panic!("{}", ran.err) };
    let expected = "-:8736:14: error: the text is too long: texts may use 128.0 KiB of 256.0 KiB of host memory, and 128.0 KiB of text are \
                    in use; it is cut off here [limitcheck]";
    assert_eq!(message, expected);
    assert!(hint.contains("raise --host-memory"), "{hint}");
    assert!(ran.code == Some(1) && ran.err.contains("anthill: a.exr: "), "{}", ran.err);
    assert_eq!(names(directory.path()), ["a.exr"]);
}

/// Each world takes most of the limit, so they are rendered one by one, even where `-o` would otherwise collect them.
#[test]
fn reading_ahead_waits_for_memory() {
    let directory = directory();
    let points = "0 0 1 ".repeat(4000);
    let world =
        format!("Display \"a\" \"file\" \"rgba\" Format 8 8 1\nWorldBegin\nPoints \"P\" [{points}]\nWorldEnd\n");
    fs::write(directory.path().join("a.rib"), world.repeat(4)).expect("writable");
    let ran = anthill(directory.path(), &["render", "a.rib", "--host-memory", "600K", "-o", "x.#.exr"]);
    assert_eq!((ran.code, ran.messages()), (Some(0), vec![]), "{}", ran.err);
    assert_eq!(names(directory.path()), ["a.rib", "x.0001.exr", "x.0002.exr", "x.0003.exr", "x.0004.exr"]);
    let one_name = anthill(directory.path(), &["render", "a.rib", "--host-memory", "600K", "-o", "x.exr"]);
    assert!(one_name.code == Some(2) && one_name.err.contains("put # where the frame number goes"), "{}", one_name.err);
}

/// If there is no room at all for the list of a picture's grids, that picture is missing, and the next one is rendered.
#[test]
fn a_grid_list_without_room_costs_one_picture() {
    let directory = directory();
    let world = |name: &str, rate: f32| {
        format!(
            "Display \"{name}\" \"exr\" \"rgba\"\nFormat 64 64 1\nShadingRate {rate}\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"
        )
    };
    let scene =
        format!("Projection \"orthographic\" Translate 0 0 3\n{}{}", world("a.exr", 0.001), world("b.exr", 1.0));
    fs::write(directory.path().join("a.rib"), scene).expect("writable");
    let flags = ["render", "a.rib", "--host-memory", "640K"];
    let nowhere = directory.path().join("nowhere");
    let to_file = ("ANTHILL_PERTURB", OsStr::new("1"));
    let ran = run(directory.path(), &flags, &[("TMPDIR", nowhere.as_os_str()), to_file], "");
    let expected = format!("fits neither in memory nor in {}: No such file or directory", nowhere.display());
    assert!(ran.err.contains(&expected) && ran.err.contains("TMPDIR"), "{}", ran.err);
    assert_eq!((ran.code, names(directory.path())), (Some(1), vec!["a.rib".into(), "b.exr".into()]), "{}", ran.err);
    let elsewhere = run(directory.path(), &flags, &[to_file], "");
    assert_eq!(elsewhere.code, Some(0), "{}", elsewhere.err);
    assert_eq!(names(directory.path()), ["a.exr", "a.rib", "b.exr"]);
}
