//! The checkpoint file. It is replaced by renaming, so that a crash while it is written leaves the previous one.
//!
//! | bytes | meaning |
//! |---|---|
//! | 16 | [`MAGIC`] |
//! | 4 | [`FORMAT`], little-endian, like all numbers |
//! | 4 | length of the header |
//! | | the header ([`CheckpointHeader`]), JSON |
//! | | the pixels of the current world ([`Film::save`]), zlib; empty if there are none |
//! | 4 | CRC-32 of everything before it |

use crate::files::{beside, keep_mode};
use crate::film::Film;
use crate::options::{LOCK_SUFFIX, PART_SUFFIX};
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc, CrcWriter};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Begins every checkpoint.
const MAGIC: &[u8; 16] = b"anthill pictures";
/// Changes with the format.
const FORMAT: u32 = 1;
const SUM_BYTES: usize = 4;

/// What a checkpoint was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CheckpointHeader {
    /// The program that wrote it.
    pub(super) renderer: String,
    /// The kinds of devices that drew.
    pub(super) devices: Vec<String>,
    /// Worlds that were begun, by their position among those that are drawn, counted from 1.
    pub(super) worlds: BTreeMap<u32, SavedWorld>,
    /// The world whose pixels the file holds, if any.
    pub(super) current: Option<u32>,
}

/// How far a world was drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedWorld {
    /// A hash of everything that its pictures depend on.
    pub(super) identity: String,
    /// Whether all its displays were written.
    pub(super) finished: bool,
}

/// A checkpoint that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CheckpointContents {
    pub(super) header: CheckpointHeader,
    /// Pixels of the current world, compressed.
    pub(super) pixels: Vec<u8>,
}

/// Why a file cannot be read as a checkpoint.
#[derive(Debug, thiserror::Error)]
pub(super) enum CheckpointReadError {
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    #[error("it is not a checkpoint")]
    Foreign,
    #[error("it has format {0}, but this program reads only format {FORMAT}")]
    Format(u32),
    #[error("it is damaged")]
    Damaged,
}

/// Whether a file begins like a checkpoint, or is empty.
pub(super) fn may_be_replaced(path: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(File::open(path)?, MAGIC.len() as u64), &mut begin)?;
    Ok(begin.is_empty() || begin == MAGIC)
}

/// Reads a checkpoint; `None` if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<CheckpointContents>, CheckpointReadError> {
    match fs::read(path) {
        Ok(bytes) => parse(&bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn parse(bytes: &[u8]) -> Result<CheckpointContents, CheckpointReadError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(CheckpointReadError::Foreign)?;
    let (format, _) = number(rest)?;
    if format != FORMAT {
        return Err(CheckpointReadError::Format(format));
    }
    let (summed, sum) = bytes.split_last_chunk::<SUM_BYTES>().ok_or(CheckpointReadError::Damaged)?;
    let mut crc = Crc::new();
    crc.update(summed);
    if crc.sum() != u32::from_le_bytes(*sum) {
        return Err(CheckpointReadError::Damaged);
    }
    let (_, rest) = number(&summed[MAGIC.len()..])?;
    let (length, rest) = number(rest)?;
    let (header, pixels) = rest.split_at_checked(length as usize).ok_or(CheckpointReadError::Damaged)?;
    let header = serde_json::from_slice(header).map_err(|_| CheckpointReadError::Damaged)?;
    Ok(CheckpointContents { header, pixels: pixels.to_vec() })
}

fn number(bytes: &[u8]) -> Result<(u32, &[u8]), CheckpointReadError> {
    let (number, rest) = bytes.split_first_chunk().ok_or(CheckpointReadError::Damaged)?;
    Ok((u32::from_le_bytes(*number), rest))
}

/// Where the next checkpoint is written before it is renamed. Only the holder of the lock writes there.
pub(super) fn part_of(path: &Path) -> PathBuf {
    beside(path, PART_SUFFIX)
}

/// The file that the process which uses a checkpoint locks.
pub(super) fn lock_of(path: &Path) -> PathBuf {
    beside(path, LOCK_SUFFIX)
}

/// Replaces the checkpoint with `header` and the pixels that `film` has now.
pub(super) fn write(path: &Path, header: &CheckpointHeader, film: Option<&Film>) -> io::Result<()> {
    replace(path, |file| encode(file, header, film))
}

/// Replaces a checkpoint with what `encode` writes to a new file.
fn replace(path: &Path, encode: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    let part = part_of(path);
    // Left by a program that was killed. A link is removed and not followed.
    if let Err(error) = fs::remove_file(&part)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let file = File::create_new(&part)?;
    keep_mode(&file, path);
    let written = encode(file).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // On a full disk it would take space that the pictures need.
        let _ = fs::remove_file(part);
    }
    written
}

fn encode(file: File, header: &CheckpointHeader, film: Option<&Film>) -> io::Result<()> {
    let mut file = CrcWriter::new(BufWriter::with_capacity(1 << 18, file));
    let text = serde_json::to_vec(header)?;
    file.write_all(MAGIC)?;
    file.write_all(&FORMAT.to_le_bytes())?;
    file.write_all(&u32::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes())?;
    file.write_all(&text)?;
    if let Some(film) = film {
        let mut packed = ZlibEncoder::new(&mut file, Compression::fast());
        film.save(&mut packed)?;
        packed.finish()?;
    }
    let sum = file.crc().sum().to_le_bytes();
    let mut file = file.into_inner();
    file.write_all(&sum)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Otherwise the name may reach the disk before the bytes do.
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> CheckpointHeader {
        let state = |identity: &str, finished| SavedWorld { identity: identity.into(), finished };
        CheckpointHeader {
            renderer: "0.1.0 ab".into(),
            devices: vec!["lavapipe \"x\"".into()],
            worlds: [(1, state("aa", true)), (4, state("bb", false))].into(),
            current: Some(4),
        }
    }

    fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.ckpt");
        write(&path, &header(), None).expect("the folder can be written");
        let bytes = fs::read(&path).expect("just written");
        (folder, path, bytes)
    }

    /// What is written goes to a device that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn on_a_full_disk_the_last_good_file_stays_and_nothing_else_is_left() {
        let (folder, path, good) = written();
        let later = CheckpointHeader { current: None, ..header() };
        let full = |_| encode(File::options().write(true).open("/dev/full")?, &later, None);
        let error = replace(&path, full).expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).expect("still there"), good);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        // Once there is space again, it is written.
        write(&path, &later, None).expect("there is space");
        assert_ne!(fs::read(&path).expect("still there"), good);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_its_way_is_not_followed_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, path, _) = written();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").expect("writable");
        std::os::unix::fs::symlink(&victim, part_of(&path)).expect("links work");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its owner");
        write(&path, &header(), None).expect("writable");
        assert_eq!(fs::read(&victim).expect("there"), b"precious");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let long = folder.path().join("x".repeat(250));
        write(&long, &header(), None).expect("writable");
        assert!(read(&long).expect("a checkpoint").is_some());
    }

    #[test]
    fn what_is_written_is_read() {
        let (folder, path, _) = written();
        let contents = read(&path).expect("a checkpoint").expect("it is there");
        assert_eq!(contents, CheckpointContents { header: header(), pixels: Vec::new() });
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
        assert!(may_be_replaced(&path).expect("readable"));
        assert!(read(&folder.path().join("none")).expect("no error").is_none());
    }

    #[test]
    fn torn_and_changed_files_are_refused() {
        let (_folder, path, bytes) = written();
        for length in 0..bytes.len() {
            let expected = if length < MAGIC.len() { "it is not a checkpoint" } else { "it is damaged" };
            assert_eq!(parse(&bytes[..length]).map_err(|e| e.to_string()), Err(expected.into()), "{length} bytes");
        }
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 4;
            assert!(parse(&changed).is_err(), "byte {position}");
        }
        let mut newer = bytes.clone();
        newer[MAGIC.len()] = 2;
        let expected = "it has format 2, but this program reads only format 1";
        assert_eq!(parse(&newer).map_err(|e| e.to_string()), Err(expected.into()));
        fs::write(&path, "WorldBegin").expect("writable");
        assert!(!may_be_replaced(&path).expect("readable"));
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let (_folder, path, bytes) = written();
        fs::create_dir(part_of(&path)).expect("writable");
        assert!(write(&path, &CheckpointHeader::default(), None).is_err());
        assert_eq!(fs::read(&path).expect("still there"), bytes);
    }
}
