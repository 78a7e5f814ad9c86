//! What is no plain file: writing to devices and pipes, which are not replaced, without ever waiting for a program that
//! does not read; and permissions, which only some systems know.

use super::handles;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// How long the reader of a pipe may read nothing.
#[cfg(target_os = "linux")]
const READER_PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(10);

/// Opens what a program at the other end would have to answer for, without waiting for it.
#[cfg(target_os = "linux")]
const NEVER_WAIT: rustix::fs::OFlags = rustix::fs::OFlags::NONBLOCK.union(rustix::fs::OFlags::NOCTTY);

/// Returns what something is that is no file to read; `None` for a file.
pub(crate) fn what_is_no_file(found: &Metadata) -> Option<&'static str> {
    let what = if found.is_dir() { "a folder" } else { "a pipe or a device" };
    (!found.is_file()).then_some(what)
}

/// Opens a file to read. What is none is an error, and a pipe is not waited for (on other systems than Linux, unless it
/// takes the place of a file at this moment).
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    #[cfg(not(target_os = "linux"))]
    check_file(&path.metadata()?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NEVER_WAIT.bits().cast_signed());
    let file = handles::with_handles(|| options.open(path))?;
    check_file(&file.metadata()?)?;
    Ok(file)
}

fn check_file(found: &Metadata) -> io::Result<()> {
    match what_is_no_file(found) {
        None => Ok(()),
        Some(what) => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a file"))),
    }
}

/// Reads a file whole, as [`open_file`] opens it.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Checks whether a device or pipe can be written. A pipe is not opened, because its reader would see its end.
pub(super) fn check(path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if std::os::unix::fs::FileTypeExt::is_fifo(&path.metadata()?.file_type()) {
        return Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?);
    }
    open(path).map(drop)
}

/// Whether this user may write a file, as far as the system says so without opening it.
pub(super) fn has_access(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    #[cfg(not(target_os = "linux"))]
    return path.exists();
}

/// Writes all of `bytes`.
pub(super) fn write(path: &Path, mut bytes: &[u8]) -> io::Result<()> {
    let mut file = open(path)?;
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(&file)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let opened = OpenOptions::new().write(true).custom_flags(NEVER_WAIT.bits().cast_signed()).open(path);
    opened.map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::NXIO.raw_os_error() => {
            io::Error::new(io::ErrorKind::BrokenPipe, "no program reads from this pipe")
        }
        _ => error,
    })
}

#[cfg(not(target_os = "linux"))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Waits until a pipe takes more.
#[cfg(target_os = "linux")]
fn wait(file: &File) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let time = Timespec { tv_sec: READER_PAUSE_MAX.as_secs().cast_signed(), tv_nsec: 0 };
    match poll(&mut [PollFd::new(file, PollFlags::OUT)], Some(&time)) {
        Ok(0) => {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the program that reads from this pipe has stopped reading"))
        }
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn wait(_: &File) -> io::Result<()> {
    std::thread::sleep(std::time::Duration::from_millis(10));
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn only_files_are_read_and_pipes_are_not_waited_for() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [file, pipe] = ["file", "pipe"].map(|name| folder.path().join(name));
        std::fs::write(&file, b"all of it").expect("writable");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        assert_eq!(read_file(&file).expect("readable"), b"all of it");
        let reason = |path: &Path| read_file(path).expect_err("no file").to_string();
        assert_eq!(reason(&pipe), "it is a pipe or a device, not a file");
        assert_eq!(reason(folder.path()), "it is a folder, not a file");
        assert_eq!(reason(Path::new("/dev/zero")), "it is a pipe or a device, not a file");
        assert_eq!(read_file(&folder.path().join("none")).map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
    }
}
