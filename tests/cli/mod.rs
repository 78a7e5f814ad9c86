//! The program as users run it: streams and exit codes of the binary.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the binary in a directory.
fn anthill(directory: &Path, args: &[impl AsRef<OsStr>]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(directory).args(args).stdin(Stdio::null()).output().expect("the binary runs")
}

fn texts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn results_go_to_standard_output() {
    let directory = directory();
    let (code, out, err) = texts(&anthill(directory.path(), &["--version"]));
    assert_eq!((code, out, err.as_str()), (Some(0), format!("anthill {}\n", env!("CARGO_PKG_VERSION")), ""));
    let (code, out, err) = texts(&anthill(directory.path(), &["render", "--help"]));
    assert!(code == Some(0) && out.contains("Examples:") && err.is_empty(), "{out}{err}");
}

#[test]
fn wrong_usage_exits_with_2_and_says_why_on_standard_error() {
    let directory = directory();
    std::fs::write(directory.path().join("a.rib"), "WorldBegin WorldEnd\n").expect("writable");
    let table = [
        (vec![], "Usage: anthill <COMMAND>"),
        (vec!["render"], "<SCENE.rib>"),
        (vec!["render", "none.rib"], "cannot read \"none.rib\""),
        (vec!["render", "a.rib", "--no-such-flag"], "unexpected argument '--no-such-flag'"),
        (vec!["render", "a.rib", "-o", "a"], "must end with .exr, .tif, .tiff or .png"),
        (vec!["render", "a.rib", "--memory", "1"], "expected a size such as 512M"),
        (vec!["render", "a.rib", "--stats", "no/such/stats.json"], "cannot write \"no/such/stats.json\""),
        (vec!["scale", "a.rib"], "`anthill scale` is not supported yet"),
        (vec!["texture", "make", "a.tif", "a.tex"], "`anthill texture` is not supported yet"),
    ];
    for (args, expected) in table {
        let (code, out, err) = texts(&anthill(directory.path(), &args));
        assert!(code == Some(2) && out.is_empty() && err.contains(expected), "{args:?}: {code:?} {err}");
    }
}

#[test]
fn devices_are_listed_for_people_and_for_programs() {
    let directory = directory();
    let (code, out, err) = texts(&anthill(directory.path(), &["devices", "--json"]));
    let (text_code, text, _) = texts(&anthill(directory.path(), &["devices"]));
    if out.is_empty() {
        // No loader.
        assert!(code == Some(3) && text_code == code && !err.is_empty(), "{err}");
        return;
    }
    let devices: serde_json::Value = serde_json::from_str(&out).expect("valid JSON");
    let devices = devices.as_array().expect("a list");
    let usable = devices.iter().filter(|device| device["usable"] == true).count();
    assert_eq!((code, text_code), if usable > 0 { (Some(0), Some(0)) } else { (Some(3), Some(3)) }, "{err}");
    assert_eq!(text.matches(": can render\n").count(), usable, "{text}");
    assert!(devices.iter().all(|device| device["name"].as_str().is_some_and(|name| text.contains(name))), "{text}");
}

#[test]
fn previews_are_made_of_pictures_only() {
    let directory = directory();
    let colours = |x: usize, _: usize| (x as f32, 0.5_f32, 0.0_f32, 1.0_f32);
    exr::prelude::write_rgba_file(directory.path().join("a.exr"), 2, 1, colours).expect("writable");
    let (code, out, err) = texts(&anthill(directory.path(), &["preview", "a.exr", "a.png"]));
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "", ""));
    let file = std::io::BufReader::new(std::fs::File::open(directory.path().join("a.png")).expect("written"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = [0; 6];
    reader.next_frame(&mut pixels).expect("two pixels");
    assert_eq!(pixels, [0, 188, 0, 255, 188, 0]);

    for (input, output, message) in [
        ("a.png", "b.png", "cannot read \"a.png\""),
        ("none.exr", "b.png", "cannot read \"none.exr\""),
        ("a.exr", "no/such/b.png", "cannot write \"no/such/b.png\": there is no such directory"),
    ] {
        let (code, out, err) = texts(&anthill(directory.path(), &["preview", input, output]));
        assert!(code == Some(1) && out.is_empty() && err.contains(message), "{input} {output}: {err}");
    }
}

/// A child that does not outlive its test.
#[cfg(target_os = "linux")]
struct Killed(std::process::Child);

#[cfg(target_os = "linux")]
impl Drop for Killed {
    fn drop(&mut self) {
        // Both fail when it has ended, which is well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A render that waits (for a reader of the pipe that its statistics go to) survives the first interrupt and ends at the second.
#[cfg(target_os = "linux")]
#[test]
fn the_second_interrupt_ends_the_program() {
    use std::time::{Duration, Instant};
    const SIGINT: u32 = 2;
    const SIGTERM: u32 = 15;
    let directory = directory();
    std::fs::write(directory.path().join("a.rib"), "WorldBegin WorldEnd\n").expect("writable");
    let shell = |script: &str| {
        let status =
            Command::new("sh").current_dir(directory.path()).args(["-c", script]).status().expect("there is a shell");
        assert!(status.success(), "{script}");
    };
    shell("mkfifo pipe");
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(directory.path()).args(["render", "a.rib", "--stats", "pipe"]).stderr(Stdio::null());
    let mut child = Killed(command.spawn().expect("the binary runs"));
    let deadline = Instant::now() + Duration::from_secs(20);
    let wait_for = |condition: &dyn Fn() -> bool| {
        while !condition() {
            assert!(Instant::now() < deadline, "the program is not where it should be");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let status = format!("/proc/{}/status", child.0.id());
    // Bit masks of signals: those that the program handles, those that wait to be delivered.
    let has_signal = |field: &str, signal: u32| {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| u64::from_str_radix(line.strip_prefix(field)?.trim(), 16).ok());
        mask.unwrap_or(0) >> (signal - 1) & 1 != 0
    };
    // The program asks for SIGTERM last.
    wait_for(&|| has_signal("SigCgt:", SIGTERM));
    let interrupt = format!("kill -INT {}", child.0.id());
    shell(&interrupt);
    wait_for(&|| !has_signal("ShdPnd:", SIGINT));
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.0.try_wait().expect("a child").is_none(), "the first interrupt is survived");
    shell(&interrupt);
    assert_eq!(child.0.wait().expect("a child").code(), Some(130));
}
