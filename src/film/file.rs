//! Writing files completely or not at all: under a temporary name in the same directory, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// What the encoders write to.
pub(super) trait FileSink: Write + Seek {}

impl<T: Write + Seek> FileSink for T {}

/// How a file of a name can be written.
enum FileTarget {
    /// A file, existing or new, which is replaced by renaming.
    File(PathBuf),
    /// A device or pipe (`/dev/null`), which must not be replaced and is written to.
    Special(PathBuf),
}

impl FileTarget {
    /// Follows links, so that their target is replaced and not the link.
    fn find(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")),
            Ok(found) if found.is_file() => Ok(Self::File(path.canonicalize()?)),
            Ok(_) => Ok(Self::Special(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::File(path.to_owned())),
            Err(error) => Err(error),
        }
    }
}

/// Creates a temporary file in the directory of `path`, with the permissions of an ordinary new file.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "is not a file name"))?;
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory).map_err(|error| io::Error::new(error.kind(), plain_reason(&error)))
}

/// Returns the reason without the name of the temporary file, which means nothing to the user.
fn plain_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such directory".into(),
        kind => kind.to_string(),
    }
}

/// Checks whether `path` can be written now: its directory exists and is writable, and `path` is not a directory.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match FileTarget::find(path)? {
        FileTarget::File(path) => temporary_beside(&path)?.close(),
        FileTarget::Special(path) => OpenOptions::new().write(true).open(path).map(drop),
    }
}

/// Writes a file with `encode`. After an error nothing has changed: an older file of this name is still there.
pub(super) fn write_whole<E: From<io::Error>>(
    path: &Path,
    encode: impl FnOnce(&mut dyn FileSink) -> Result<(), E>,
) -> Result<(), E> {
    match FileTarget::find(path)? {
        FileTarget::File(path) => {
            let mut temporary = temporary_beside(&path)?;
            let mut buffered = BufWriter::with_capacity(1 << 18, temporary.as_file_mut());
            encode(&mut buffered)?;
            buffered.flush()?;
            drop(buffered);
            temporary.persist(&path).map(|_: File| ()).map_err(|failed| failed.error.into())
        }
        FileTarget::Special(path) => {
            let mut bytes = Cursor::new(Vec::new());
            encode(&mut bytes)?;
            Ok(OpenOptions::new().write(true).open(path)?.write_all(bytes.get_ref())?)
        }
    }
}

/// Writes a file of these bytes, completely or not at all.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, |sink| sink.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("the test's directory is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_or_left_alone() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.exr");
        write_whole::<io::Error>(&path, |sink| sink.write_all(b"first")).expect("writable");
        let failed = write_whole(&path, |sink| {
            sink.write_all(b"sec")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(failed.map_err(|error| error.to_string()), Err("no more".into()));
        assert_eq!(fs::read(&path).expect("still there"), b"first");
        assert_eq!(names_in(directory.path()), ["a.exr"]);
        check_writable(&path).expect("writable");
        assert_eq!(names_in(directory.path()), ["a.exr"]);
    }

    #[test]
    fn reasons_of_failed_writes_are_plain() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let reason = |path: &Path| check_writable(path).map_err(|error| error.to_string());
        assert_eq!(reason(&directory.path().join("no/such/a.exr")), Err("there is no such directory".into()));
        assert_eq!(reason(directory.path()), Err("is a directory".into()));
        assert!(reason(&directory.path().join("..")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_survive() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (real, link) = (directory.path().join("real.exr"), directory.path().join("link.exr"));
        fs::write(&real, b"old").expect("writable");
        std::os::unix::fs::symlink(&real, &link).expect("links work");
        write_whole::<io::Error>(&link, |sink| sink.write_all(b"new")).expect("writable");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&real).expect("there"), b"new");

        write_whole::<io::Error>(Path::new("/dev/null"), |sink| sink.write_all(b"gone")).expect("writable");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&real).expect("there").permissions());
        assert_eq!(mode & 0o600, 0o600);
    }
}
