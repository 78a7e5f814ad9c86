//! The program on a terminal of its own.

use super::mutate::{NAMES, Random, corpus, mutated};
use super::{MESSAGE_BYTES_MAX, is_printable, mutation_count};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// No run takes longer, even on a busy machine.
const RUN_MAX: Duration = Duration::from_secs(60);

/// Runs the program with its output on a terminal that passes bytes on unchanged. Returns the exit code and what the
/// terminal got.
fn run_on_terminal(directory: &Path, args: &[&str]) -> (Option<i32>, Vec<u8>) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).expect("a terminal");
    unlockpt(&controller).expect("a terminal");
    let name = ptsname(&controller, Vec::new()).expect("a terminal has a name");
    let path = Path::new(OsStr::from_bytes(name.as_bytes()));
    // A process without a terminal would get this one as its own, and be ended when it closes.
    let flags = OFlags::NOCTTY.bits() as i32;
    let terminal = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).expect("a terminal");
    let mut modes = tcgetattr(&terminal).expect("modes");
    modes.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &modes).expect("modes");
    let (out, err) = (terminal.try_clone().expect("a handle"), terminal);
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(directory).args(args).stdin(Stdio::null()).stdout(out).stderr(err);
    let mut child = command.spawn().expect("the binary runs");
    // Holds the terminal's own end, without which reading would not end.
    drop(command);
    let mut controller = File::from(controller);
    let reader = std::thread::spawn(move || {
        let (mut all, mut part) = (Vec::new(), [0; 4096]);
        // When the program has ended, reading fails.
        while let Ok(count @ 1..) = controller.read(&mut part) {
            all.extend_from_slice(&part[..count]);
        }
        all
    });
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begin.elapsed() > RUN_MAX {
            // It may have ended meanwhile.
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    (status.code(), reader.join().expect("a reader"))
}

/// Checks a scene with the program.
fn check(directory: &Path, text: &[u8]) {
    std::fs::write(directory.join("a.rib"), text).expect("writable");
    let (code, shown) = run_on_terminal(directory, &["render", "--check", "a.rib"]);
    let told = || format!("{code:?} {}\nof {}", shown.escape_ascii(), text.escape_ascii());
    assert!(code.is_some_and(|code| code <= 2), "{}", told());
    assert!(is_printable(&shown), "{}", told());
    let mut lines = shown.split(|&byte| byte == b'\n');
    assert!(lines.all(|line| line.len() <= MESSAGE_BYTES_MAX && !line.starts_with(b"R90000")), "{}", told());
    assert!(shown.windows(8).any(|part| part == b"anthill:"), "{}", told());
}

#[test]
fn hostile_scenes_do_not_reach_the_terminal() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for name in NAMES {
        let scene = "Display \"N\" \"exr\" \"rgba\" Display \"+N\" \"N\" \"N\" Display \"+x\" \"tiff\" \"rgb\" \"compression\" \"N\"\n\
            Hider \"N\" Projection \"N\" Imager \"N\" Option \"N\" \"N\" 1 Option \"searchpath\" \"shader\" \"N\" Declare \"N\" \"N\"\n\
            FrameBegin 1 WorldBegin Attribute \"N\" \"N\" [1] Attribute \"identifier\" \"name\" \"N\" CoordinateSystem \"N\"\n\
            CoordSysTransform \"M\" LightSource \"N\" 1 Surface \"N\" \"N\" 1 Displacement \"N\" Sphere 1 -1 1 360 \"N\" 1\n\
            ReadArchive \"N\" ObjectInstance \"N\" Basis \"N\" 1 \"N\" 1 Patch \"N\" \"P\" [1] Geometry \"N\" Sides \"N\" WorldEnd\n";
        let mut whole = Vec::new();
        for part in scene.split_inclusive("N\"") {
            match part.strip_suffix("N\"") {
                Some(before) => whole.extend([before.as_bytes(), name, b"\""].concat()),
                None => whole.extend_from_slice(part.as_bytes()),
            }
        }
        check(directory.path(), &whole);
    }
}

#[test]
fn mutated_scenes_do_not_reach_the_terminal() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (corpus, mut random) = (corpus(), Random(2));
    for _ in 0..mutation_count().div_ceil(100) {
        check(directory.path(), &mutated(&corpus, &mut random));
    }
}
