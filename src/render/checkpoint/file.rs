//! The checkpoint file. A new one replaces the last by renaming; later pixels are appended to it, so that each is
//! written once. A crash while it is written leaves what was there before.
//!
//! | bytes | meaning |
//! |---|---|
//! | 16 | [`MAGIC`] |
//! | 4 | [`FORMAT`], little-endian, like all numbers |
//! | 8 | the length of the file that counts: what follows is not whole yet |
//! | 4 | CRC-32 of these 8 bytes |
//! | | parts: 8 bytes with a part's length, 4 with its CRC-32, the part |
//!
//! The first part is the header ([`CheckpointHeader`]), JSON. All others are pixels of the current world
//! ([`Film::save`](crate::film::Film::save)), which do not overlap.

use crate::files::{beside, keep_mode, number_of, open_file, read_file, with_handles};
use crate::options::{LOCK_SUFFIX, PART_SUFFIX};
use flate2::{Crc, CrcWriter};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Begins every checkpoint.
const MAGIC: &[u8; 16] = b"anthill pictures";
/// Changes with the format.
const FORMAT: u32 = 2;
const SUM_BYTES: usize = 4;
/// A length and a CRC-32.
const LENGTH_BYTES: usize = 8 + SUM_BYTES;
/// Where the length of the file that counts is.
const COMMIT_AT: usize = MAGIC.len() + 4;
/// Where the first part is.
const PARTS_AT: usize = COMMIT_AT + LENGTH_BYTES;

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
    /// Pixels of the current world.
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
    io::Read::read_to_end(&mut io::Read::take(open_file(path)?, MAGIC.len() as u64), &mut begin)?;
    Ok(begin.is_empty() || begin == MAGIC)
}

/// Reads a checkpoint; `None` if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<CheckpointContents>, CheckpointReadError> {
    match read_file(path) {
        Ok(bytes) => parse(bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn parse(mut bytes: Vec<u8>) -> Result<CheckpointContents, CheckpointReadError> {
    use CheckpointReadError::{Damaged, Foreign, Format};
    let rest = bytes.strip_prefix(MAGIC).ok_or(Foreign)?;
    let format = u32::from_le_bytes(*rest.first_chunk().ok_or(Damaged)?);
    if format != FORMAT {
        return Err(Format(format));
    }
    let (end, sum) = length_at(&bytes, COMMIT_AT).ok_or(Damaged)?;
    if sum_of(&(end as u64).to_le_bytes()) != sum || end > bytes.len() {
        return Err(Damaged);
    }
    bytes.truncate(end);
    let mut header = None;
    // Pixels move to the front, without the lengths between them.
    let (mut at, mut moved) = (PARTS_AT, 0);
    while at < end {
        let (length, sum) = length_at(&bytes, at).ok_or(Damaged)?;
        let begin = at + LENGTH_BYTES;
        at = begin.checked_add(length).filter(|next| *next <= end).ok_or(Damaged)?;
        if sum_of(&bytes[begin..at]) != sum {
            return Err(Damaged);
        }
        if header.is_none() {
            header = Some(serde_json::from_slice(&bytes[begin..at]).map_err(|_| Damaged)?);
        } else {
            bytes.copy_within(begin..at, moved);
            moved += length;
        }
    }
    bytes.truncate(moved);
    Ok(CheckpointContents { header: header.ok_or(Damaged)?, pixels: bytes })
}

/// Returns the length and the CRC-32 at a place.
fn length_at(bytes: &[u8], at: usize) -> Option<(usize, u32)> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk()?;
    Some((usize::try_from(u64::from_le_bytes(*length)).ok()?, u32::from_le_bytes(*rest.first_chunk()?)))
}

fn length_bytes(length: u64, sum: u32) -> Vec<u8> {
    [&length.to_le_bytes()[..], &sum.to_le_bytes()].concat()
}

fn sum_of(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Returns where the next checkpoint is written before it is renamed. Only the holder of the lock writes there.
pub(super) fn part_of(path: &Path) -> PathBuf {
    beside(path, PART_SUFFIX)
}

/// Returns the file that the process which uses a checkpoint locks.
pub(super) fn lock_of(path: &Path) -> PathBuf {
    beside(path, LOCK_SUFFIX)
}

/// A checkpoint to which pixels can be appended.
#[derive(Debug)]
pub(super) struct CheckpointFile {
    file: File,
    /// The length that counts.
    length: u64,
}

impl CheckpointFile {
    /// Replaces the checkpoint at `path` with `header` and what `pixels` writes.
    pub(super) fn create<T>(
        path: &Path,
        header: &CheckpointHeader,
        pixels: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        let part = part_of(path);
        // Left by a program that was killed. A link is removed and not followed.
        if let Err(error) = fs::remove_file(&part)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let file = with_handles(|| File::create_new(&part))?;
        keep_mode(&file, path);
        let made = Self::begin(file, header, pixels);
        let made = made.and_then(|made| fs::rename(&part, path).map(|()| made));
        if made.is_err() {
            // On a full disk it would take space that the pictures need.
            let _ = fs::remove_file(part);
        }
        made
    }

    fn begin<T>(
        file: File,
        header: &CheckpointHeader,
        pixels: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        let mut made = Self { file, length: PARTS_AT as u64 };
        let text = serde_json::to_vec(header)?;
        made.file.write_all(MAGIC)?;
        made.file.write_all(&FORMAT.to_le_bytes())?;
        made.write_part(|out| out.write_all(&text))?;
        let written = made.write_part(pixels)?;
        made.commit()?;
        Ok((made, written))
    }

    /// Appends what `pixels` writes. If that fails, the file counts as it was.
    pub(super) fn append<T>(&mut self, pixels: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        let before = self.length;
        let written = self.write_part(pixels).and_then(|written| {
            // Otherwise the length may reach the disk before the bytes do.
            self.file.sync_data()?;
            self.commit().map(|()| written)
        });
        if written.is_err() {
            self.length = before;
            let _ = self.commit();
            let _ = self.file.set_len(before);
        }
        written
    }

    /// Whether this is still the file of that name.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let found = self.file.metadata().and_then(|own| Ok((own, path.metadata()?)));
        found.is_ok_and(|(own, there)| number_of(&own) == number_of(&there))
    }

    fn write_part<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        let begin = self.length + LENGTH_BYTES as u64;
        self.file.seek(SeekFrom::Start(begin))?;
        let mut out = CrcWriter::new(BufWriter::with_capacity(1 << 18, &self.file));
        let written = write(&mut out)?;
        let sum = out.crc().sum();
        out.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?;
        let end = self.file.stream_position()?;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&length_bytes(end - begin, sum))?;
        self.length = end;
        Ok(written)
    }

    /// From now on all parts that were written count.
    fn commit(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(COMMIT_AT as u64))?;
        self.file.write_all(&length_bytes(self.length, sum_of(&self.length.to_le_bytes())))?;
        self.file.sync_data()
    }
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

    fn created(path: &Path, header: &CheckpointHeader) -> CheckpointFile {
        CheckpointFile::create(path, header, |out| out.write_all(b"some")).expect("the folder can be written").0
    }

    fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.ckpt");
        created(&path, &header());
        let bytes = fs::read(&path).expect("just written");
        (folder, path, bytes)
    }

    fn full_disk(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&[7; 999])?;
        out.flush()?;
        Err(io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn on_a_full_disk_the_last_good_file_stays_and_nothing_else_is_left() {
        let (folder, path, good) = written();
        let later = CheckpointHeader { current: None, ..header() };
        let error = CheckpointFile::create(&path, &later, full_disk).expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).expect("still there"), good);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        // Once there is space again, it is written.
        let mut file = created(&path, &later);
        let good = fs::read(&path).expect("still there");
        file.append(full_disk).expect_err("the disk is full");
        assert_eq!(fs::read(&path).expect("still there"), good);
        file.append(|out| out.write_all(b"more")).expect("there is space");
        assert_eq!(read(&path).expect("a checkpoint").expect("it is there").pixels, b"somemore");
    }

    #[test]
    fn a_part_that_is_not_whole_does_not_count() {
        let (_folder, path, _) = written();
        let mut file = created(&path, &header());
        let before = fs::read(&path).expect("just written");
        file.write_part(|out| out.write_all(b"killed meanwhile")).expect("writable");
        let after = fs::read(&path).expect("just written");
        assert!(after.len() > before.len());
        for length in before.len()..=after.len() {
            assert_eq!(parse(after[..length].to_vec()).expect("a checkpoint").pixels, b"some", "{length} bytes");
        }
        assert!(file.is_at(&path));
        fs::remove_file(&path).expect("writable");
        assert!(!file.is_at(&path));
        let _other = created(&path, &header());
        assert!(!file.is_at(&path) || !cfg!(unix));
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
        created(&path, &header());
        assert_eq!(fs::read(&victim).expect("there"), b"precious");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let long = folder.path().join("x".repeat(250));
        created(&long, &header());
        assert!(read(&long).expect("a checkpoint").is_some());
    }

    #[test]
    fn what_is_written_is_read() {
        let (folder, path, _) = written();
        let contents = read(&path).expect("a checkpoint").expect("it is there");
        assert_eq!(contents, CheckpointContents { header: header(), pixels: b"some".to_vec() });
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
        assert!(may_be_replaced(&path).expect("readable"));
        assert!(read(&folder.path().join("none")).expect("no error").is_none());
    }

    #[test]
    fn torn_and_changed_files_are_refused() {
        let (_folder, path, bytes) = written();
        for length in 0..bytes.len() {
            let expected = if length < MAGIC.len() { "it is not a checkpoint" } else { "it is damaged" };
            assert_eq!(
                parse(bytes[..length].to_vec()).map_err(|e| e.to_string()),
                Err(expected.into()),
                "{length} bytes"
            );
        }
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 4;
            assert!(parse(changed).is_err(), "byte {position}");
        }
        let mut newer = bytes;
        newer[MAGIC.len()] = 1;
        let expected = "it has format 1, but this program reads only format 2";
        assert_eq!(parse(newer).map_err(|e| e.to_string()), Err(expected.into()));
        fs::write(&path, "WorldBegin").expect("writable");
        assert!(!may_be_replaced(&path).expect("readable"));
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let (_folder, path, bytes) = written();
        fs::create_dir(part_of(&path)).expect("writable");
        assert!(CheckpointFile::create(&path, &CheckpointHeader::default(), |_| Ok(())).is_err());
        assert_eq!(fs::read(&path).expect("still there"), bytes);
    }
}
