//! File handles where the system gives the process no more: idle ones are closed for others to be opened, and a few are
//! kept in reserve, so that pictures are written whatever else is open.

use parking_lot::Mutex;
use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

/// Handles in reserve: of a file that is being written, and of its folder.
const RESERVE: usize = 2;

/// How often something is tried again, and the pause before: other threads read files, and close them soon.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// What closes idle handles.
static CLOSERS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Handles that nothing needs.
static RESERVED: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Has idle handles closed by `close` where there are too few.
pub(crate) fn close_when_short(close: fn()) {
    CLOSERS.lock().push(close);
}

/// Opens handles that are given up where a file must be written and there are too few.
pub(crate) fn keep_reserve() {
    let mut reserved = RESERVED.lock();
    while reserved.len() < RESERVE {
        let Ok(file) = any_file() else { return };
        reserved.push(file);
    }
}

/// Does what opens files. Where the process may open no more, idle ones are closed, and it is done again.
///
/// # Errors
/// Those of `open`.
pub(crate) fn with_handles<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..TRIES {
        match open() {
            Err(error) if is_short(&error) => make_room(),
            done => return done,
        }
    }
    open()
}

/// Does what opens a file that must be written, if need be with the handles in reserve.
///
/// # Errors
/// Those of `open`.
pub(super) fn with_reserve<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match open() {
        Err(error) if is_short(&error) => {
            RESERVED.lock().clear();
            with_handles(open)
        }
        done => done,
    }
}

/// Whether an error came of too many open files. Where it hides what the system said, the system is asked again.
pub(super) fn is_short(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(code) => is_code(code),
        None => any_file().is_err_and(|error| error.raw_os_error().is_some_and(is_code)),
    }
}

fn make_room() {
    let closers = CLOSERS.lock().clone();
    closers.iter().for_each(|close| close());
    thread::sleep(PAUSE);
}

#[cfg(unix)]
fn any_file() -> io::Result<File> {
    File::open("/dev/null")
}

#[cfg(not(unix))]
fn any_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn is_code(code: i32) -> bool {
    use rustix::io::Errno;
    code == Errno::MFILE.raw_os_error() || code == Errno::NFILE.raw_os_error()
}

#[cfg(not(target_os = "linux"))]
fn is_code(_: i32) -> bool {
    false
}

/// Returns how many files the process may have open, if the system limits that.
#[cfg(target_os = "linux")]
pub(crate) fn handles_max() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn handles_max() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn what_needs_a_handle_is_tried_again_once_others_are_closed() {
        static CLOSED: AtomicU32 = AtomicU32::new(0);
        close_when_short(|| {
            CLOSED.fetch_add(1, Ordering::Relaxed);
        });
        let none = || io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        let mut left = 2;
        let mut opened = || {
            left -= 1;
            if left >= 0 { Err(none()) } else { Ok(left) }
        };
        assert_eq!(with_handles(&mut opened).expect("the third time"), -1);
        assert!(CLOSED.load(Ordering::Relaxed) >= 2);
        // What fails otherwise fails at once.
        let mut tries = 0;
        let failed: io::Result<()> = with_handles(|| {
            tries += 1;
            Err(io::ErrorKind::NotFound.into())
        });
        assert_eq!((failed.map_err(|error| error.kind()), tries), (Err(io::ErrorKind::NotFound), 1));
    }
}
