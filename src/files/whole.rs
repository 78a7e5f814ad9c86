//! Writing files completely or not at all: under a temporary name in the same directory, then renamed.

use super::{handles, special};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// What the encoders write to.
pub(crate) trait FileSink: Write + Seek {}

impl<T: Write + Seek> FileSink for T {}

/// How a file of a name can be written.
#[derive(Debug)]
enum FileTarget {
    /// A file, existing or new, which is replaced by renaming.
    File(PathBuf),
    /// A device or pipe (`/dev/null`), which must not be replaced and is written to.
    Special(PathBuf),
}

impl FileTarget {
    /// Follows links, so that their target is replaced and not the link.
    fn find(path: &Path) -> io::Result<Self> {
        let path = resolve(path)?;
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")),
            Ok(found) if !found.is_file() => Ok(Self::Special(path)),
            // Renaming needs no permission of the file itself.
            Ok(found) if found.permissions().readonly() || !special::has_access(&path) => {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "is read-only"))
            }
            Ok(_) => Ok(Self::File(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::File(path)),
            Err(error) => Err(error),
        }
    }
}

/// The most links that are followed one after the other.
const LINKS_MAX: usize = 40;

/// Returns the absolute path without links of a file that exists or could be created, also through a link that leads
/// nowhere yet.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        let folder = folder_of(&path).to_owned();
        match fs::read_link(&path) {
            Ok(target) => path = folder.join(target),
            Err(_) => {
                let name = path.file_name().ok_or_else(no_file_name)?;
                return Ok(folder.canonicalize().map_err(|error| plain(&error))?.join(name));
            }
        }
    }
    Err(io::Error::other("there are too many links"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn no_file_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "is not a file name")
}

/// The longest name of a file.
const NAME_BYTES_MAX: usize = 255;

/// Returns the beginning of a name, so short that `more` bytes can be added.
fn short_name(name: &OsStr, more: usize) -> OsString {
    let room = NAME_BYTES_MAX - more;
    if name.len() <= room {
        return name.to_owned();
    }
    let mut short = name.to_string_lossy().into_owned();
    short.truncate(short.floor_char_boundary(room));
    short.into()
}

/// Returns `path` with a suffix added to its name, which is shortened if it would be too long.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = short_name(path.file_name().unwrap_or_default(), suffix.len());
    name.push(suffix);
    path.with_file_name(name)
}

/// The bytes that a temporary file's name has more than the file's.
const TEMPORARY_BYTES: usize = ". .123456.part".len();

/// Creates a temporary file in the directory of `path`, with the permissions of the file of that name, or of an
/// ordinary new file.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or_else(no_file_name)?;
    let mut prefix = OsString::from(".");
    prefix.push(short_name(name, TEMPORARY_BYTES));
    prefix.push(".");
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode_of(path).unwrap_or(0o666)));
    let temporary = handles::with_reserve(|| builder.tempfile_in(folder_of(path))).map_err(|error| plain(&error))?;
    keep_mode(temporary.as_file(), path);
    Ok(temporary)
}

/// Creates a file without a name, for what is kept while `path` is written: in the same directory, or in that for
/// temporary files where `path` is a device or pipe.
pub(crate) fn unnamed_beside(path: &Path) -> io::Result<File> {
    let created = match FileTarget::find(path)? {
        FileTarget::File(path) => handles::with_handles(|| tempfile::tempfile_in(folder_of(&path))),
        FileTarget::Special(_) => handles::with_handles(tempfile::tempfile),
    };
    created.map_err(|error| plain(&error))
}

#[cfg(unix)]
fn mode_of(path: &Path) -> Option<u32> {
    Some(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).ok()?.permissions()) & 0o777)
}

/// Gives a new file the permissions of the one that it will replace, if there is one.
pub(crate) fn keep_mode(file: &File, replaced: &Path) {
    #[cfg(unix)]
    if let Some(mode) = mode_of(replaced) {
        // A file system without permissions has nothing to keep.
        let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (file, replaced);
}

/// Returns the error without the name of the temporary file, which means nothing to the user.
fn plain(error: &io::Error) -> io::Error {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such directory".into(),
        _ if handles::is_short(error) => "the process may open no more files (`ulimit -n`)".into(),
        kind => kind.to_string(),
    };
    io::Error::new(error.kind(), reason)
}

/// Checks whether `path` can be written now: its directory exists and is writable, and `path` is not a directory.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match FileTarget::find(path)? {
        FileTarget::File(path) => temporary_beside(&path)?.close(),
        FileTarget::Special(path) => special::check(&path),
    }
}

/// Writes a file with `encode`. After an error nothing has changed: an older file of this name is still there.
pub(crate) fn write_whole<E: From<io::Error>>(
    path: &Path,
    encode: impl FnOnce(&mut dyn FileSink) -> Result<(), E>,
) -> Result<(), E> {
    let mut pending = PendingFile::create(path)?;
    let mut buffered = BufWriter::with_capacity(1 << 18, &mut pending);
    encode(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    Ok(pending.finish()?)
}

/// A file that is being written, and appears under its name when it is finished. Until then an older file of this name
/// stays as it is. If it is dropped, it is removed.
#[derive(Debug)]
pub struct PendingFile {
    target: PendingTarget,
    /// Dropped after the file is closed.
    _reserve: RenewedReserve,
}

/// Keeps handles in reserve again when the file for which they may have been given up is closed.
#[derive(Debug)]
struct RenewedReserve;

impl Drop for RenewedReserve {
    fn drop(&mut self) {
        handles::keep_reserve();
    }
}

#[derive(Debug)]
enum PendingTarget {
    File {
        temporary: NamedTempFile,
        path: PathBuf,
    },
    /// Its bytes go to the device or pipe all at once.
    Special {
        bytes: Cursor<Vec<u8>>,
        path: PathBuf,
    },
}

impl PendingFile {
    /// Begins to write the file of this name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = match FileTarget::find(path)? {
            FileTarget::File(path) => PendingTarget::File { temporary: temporary_beside(&path)?, path },
            FileTarget::Special(path) => {
                special::check(&path)?;
                PendingTarget::Special { bytes: Cursor::new(Vec::new()), path }
            }
        };
        Ok(Self { target, _reserve: RenewedReserve })
    }

    /// Gives the file its name, once all of it is on the disk: some systems notice only then that the disk is full.
    ///
    /// # Errors
    /// If that fails. An older file of this name is still there.
    pub fn finish(self) -> io::Result<()> {
        match self.target {
            PendingTarget::File { temporary, path } => settle(temporary.as_file())
                .and_then(|()| temporary.persist(path).map(|_: File| ()).map_err(|failed| failed.error)),
            PendingTarget::Special { bytes, path } => special::write(&path, bytes.get_ref()),
        }
    }

    fn sink(&mut self) -> &mut dyn FileSink {
        match &mut self.target {
            PendingTarget::File { temporary, .. } => temporary.as_file_mut(),
            PendingTarget::Special { bytes, .. } => bytes,
        }
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink().flush()
    }
}

impl Seek for PendingFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.sink().seek(position)
    }
}

/// Waits until what was written to a file is on the disk, where the file system can do so.
fn settle(file: &File) -> io::Result<()> {
    match file.sync_data() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        settled => settled,
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
        // A link that leads nowhere yet stays a link.
        let (new, dangling) = (directory.path().join("new.exr"), directory.path().join("dangling.exr"));
        std::os::unix::fs::symlink("new.exr", &dangling).expect("links work");
        write_bytes(&dangling, b"new").expect("writable");
        assert!(fs::symlink_metadata(&dangling).expect("there").is_symlink());
        assert_eq!(fs::read(&new).expect("there"), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.exr");
        write_bytes(&path, b"first").expect("writable");
        assert_eq!(mode_of(&path).map(|mode| mode & 0o600), Some(0o600));
        for mode in [0o600, 0o640, 0o666, 0o200] {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            fs::set_permissions(&path, permissions).expect("its owner");
            write_bytes(&path, b"next").expect("writable");
            assert_eq!(mode_of(&path), Some(mode));
        }
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o444)).expect("its owner");
        let error = write_bytes(&path, b"other").expect_err("it is read-only");
        assert_eq!(error.to_string(), "is read-only");
        assert_eq!(fs::read(&path).expect("readable"), b"next");
    }

    #[test]
    fn names_may_be_as_long_as_the_system_allows() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for name in ["a".repeat(250), "é".repeat(125), "a".repeat(NAME_BYTES_MAX)] {
            let path = directory.path().join(name);
            write_bytes(&path, b"long").expect("writable");
            assert_eq!(fs::read(&path).expect("there"), b"long");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_without_a_reader_do_not_block() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        check_writable(&path).expect("somebody may read it later");
        let error = write_bytes(&path, b"lost").expect_err("nobody reads it");
        assert_eq!(error.to_string(), "no program reads from this pipe");
        // Of any size, once there is a reader.
        let (from, bytes) = (path.clone(), vec![7; 1 << 20]);
        let reader = std::thread::spawn(move || fs::read(from));
        while write_bytes(&path, &bytes).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(reader.join().expect("no panic").expect("readable"), bytes);
    }
}
