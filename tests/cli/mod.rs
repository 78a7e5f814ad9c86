//! The program as users run it: streams and exit codes of the binary.

mod capture;
mod devices;
mod documents;
mod estimates;
mod explore;
#[cfg(unix)]
mod file_kinds;
#[cfg(unix)]
mod files;
mod incomplete;
mod input;
#[cfg(unix)]
mod interrupt;
#[cfg(unix)]
mod limits;
mod memory;
mod profile;
mod report;
mod rib;
mod scale;
mod scene;
mod shader;
mod statistics;
mod submissions;
#[cfg(unix)]
mod textures;
mod trace;
mod usage;

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No command that is tested here takes longer, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The result of a run of the program.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    /// The lines of standard error without the note about rendering on the CPU, which appears only on machines without
    /// a GPU, and without the summary, which contains times.
    fn messages(&self) -> Vec<&str> {
        let is_message = |line: &&str| match line.strip_prefix("anthill: ") {
            Some(text) => text.starts_with("error: ") || text.starts_with("warning: "),
            None => !line.contains("`anthill devices` lists every device and what it lacks"),
        };
        self.err.lines().filter(is_message).collect()
    }
}

/// Runs the binary in a directory.
fn anthill(directory: &Path, args: &[impl AsRef<OsStr>]) -> Ran {
    run(directory, args, &[], "")
}

/// Runs the binary with environment variables and a text for standard input. A run that hangs is ended, and fails the
/// test.
fn run(directory: &Path, args: &[impl AsRef<OsStr>], variables: &[(&str, &OsStr)], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(directory).args(args).envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Killed(command.spawn().expect("the binary runs"));
    let (out, err) = (child.0.stdout.take().expect("piped"), child.0.stderr.take().expect("piped"));
    let (out, err) = (thread::spawn(|| text(out)), thread::spawn(|| text(err)));
    // A program that does not read it closes the pipe, which is fine.
    let _ = child.0.stdin.take().expect("piped").write_all(input.as_bytes());
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.0.try_wait().expect("a child") {
            break status;
        }
        assert!(begin.elapsed() < DEADLINE, "the program hangs");
        thread::sleep(Duration::from_millis(2));
    };
    let [out, err] = [out, err].map(|reader| reader.join().expect("a reader"));
    Ran { code: status.code(), out, err }
}

/// Runs the program without any driver, which is enough to read scenes and check outputs.
fn without_driver(folder: &Path, args: &[&str]) -> Ran {
    run(folder, args, &[("VK_DRIVER_FILES", OsStr::new("/nonexistent"))], "")
}

fn text(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("a readable pipe");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// A child that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Both fail if it has ended, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn results_go_to_standard_output() {
    let directory = directory();
    let Ran { code, out, err } = anthill(directory.path(), &["--version"]);
    assert_eq!((code, out, err.as_str()), (Some(0), format!("anthill {}\n", env!("CARGO_PKG_VERSION")), ""));
    let Ran { code, out, err } = anthill(directory.path(), &["render", "--help"]);
    assert!(code == Some(0) && out.contains("Examples:") && err.is_empty(), "{out}{err}");
}

#[test]
fn previews_are_made_from_pictures_only() {
    let directory = directory();
    let colours = |x: usize, _: usize| (x as f32, 0.5_f32, 0.0_f32, 1.0_f32);
    exr::prelude::write_rgba_file(directory.path().join("a.exr"), 2, 1, colours).expect("writable");
    let Ran { code, out, err } = anthill(directory.path(), &["preview", "a.exr", "a.png"]);
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
        let Ran { code, out, err } = anthill(directory.path(), &["preview", input, output]);
        assert!(code == Some(1) && out.is_empty() && err.contains(message), "{input} {output}: {err}");
    }
}

/// A render that waits (for the reader of a full pipe that its statistics go to) survives the first interrupt and ends
/// at the second.
#[cfg(target_os = "linux")]
#[test]
fn the_second_interrupt_ends_the_program() {
    const SIGINT: u32 = 2;
    const SIGTERM: u32 = 15;
    use std::os::unix::fs::OpenOptionsExt;
    let directory = directory();
    std::fs::write(directory.path().join("a.rib"), "WorldBegin WorldEnd\n").expect("writable");
    let shell = |script: &str| {
        let status =
            Command::new("sh").current_dir(directory.path()).args(["-c", script]).status().expect("there is a shell");
        assert!(status.success(), "{script}");
    };
    shell("mkfifo pipe");
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut pipe =
        std::fs::File::options().read(true).write(true).custom_flags(flags).open(directory.path().join("pipe"));
    let pipe = pipe.as_mut().expect("a pipe");
    while pipe.write(&[0; 4096]).is_ok() {}
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(directory.path()).args(["render", "a.rib", "--stats", "pipe"]).stderr(Stdio::null());
    let mut child = Killed(command.spawn().expect("the binary runs"));
    let deadline = Instant::now() + Duration::from_secs(20);
    let wait_for = |condition: &dyn Fn() -> bool| {
        while !condition() {
            assert!(Instant::now() < deadline, "the program does not react to signals");
            thread::sleep(Duration::from_millis(5));
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
    thread::sleep(Duration::from_millis(100));
    assert!(child.0.try_wait().expect("a child").is_none(), "the first interrupt is survived");
    shell(&interrupt);
    assert_eq!(child.0.wait().expect("a child").code(), Some(130));
}
