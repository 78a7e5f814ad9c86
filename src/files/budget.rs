//! The bytes that the pictures and textures of a render may take on disk, and how many are left.

use super::whole::{FileSink, write_whole};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many bytes files may take together.
#[derive(Debug)]
pub struct OutputBudget {
    limit_bytes: Option<u64>,
    left_bytes: AtomicU64,
    is_reached: AtomicBool,
}

impl Default for OutputBudget {
    fn default() -> Self {
        Self::new(None)
    }
}

impl OutputBudget {
    /// Allows this many bytes; `None` any number.
    pub fn new(limit_bytes: Option<u64>) -> Self {
        let left_bytes = AtomicU64::new(limit_bytes.unwrap_or(u64::MAX));
        Self { limit_bytes, left_bytes, is_reached: AtomicBool::new(false) }
    }

    /// Whether files may need more than there is.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit_bytes.is_some()
    }

    /// Returns the limit once files needed more.
    pub fn reached(&self) -> Option<u64> {
        self.limit_bytes.filter(|_| self.is_reached.load(Ordering::Relaxed))
    }

    /// Writes a file as [`write_whole`] does, if there are as many bytes left.
    pub(crate) fn write_whole<E: From<io::Error>>(
        &self,
        path: &Path,
        encode: impl FnOnce(&mut dyn FileSink) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut taken = TakenBytes { budget: self, bytes: 0, is_kept: false };
        write_whole(path, |sink| encode(&mut CountedSink { sink, taken: &mut taken, at: 0 }))?;
        taken.is_kept = true;
        Ok(())
    }

    /// Whether there were as many bytes left, which are taken then.
    fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        let fits = self.left_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        self.is_reached.fetch_or(!fits, Ordering::Relaxed);
        fits
    }
}

/// The bytes that were taken for a file.
struct TakenBytes<'a> {
    budget: &'a OutputBudget,
    bytes: u64,
    /// Whether there is such a file.
    is_kept: bool,
}

impl Drop for TakenBytes<'_> {
    /// Gives back the bytes of a file that is not kept.
    fn drop(&mut self) {
        if !self.is_kept {
            self.budget.left_bytes.fetch_add(self.bytes, Ordering::Relaxed);
        }
    }
}

/// A file that is being written, whose bytes are taken as it grows.
struct CountedSink<'a, 'b> {
    sink: &'a mut dyn FileSink,
    taken: &'a mut TakenBytes<'b>,
    at: u64,
}

impl Write for CountedSink<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let more = (self.at + bytes.len() as u64).saturating_sub(self.taken.bytes);
        if !self.taken.budget.take(more) {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "more than --max-output allows"));
        }
        self.taken.bytes += more;
        let written = self.sink.write(bytes)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Seek for CountedSink<'_, '_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.sink.seek(to)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_written_as_long_as_there_are_bytes_left() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let budget = OutputBudget::new(Some(100));
        let write = |name: &str, bytes: usize| {
            budget.write_whole::<io::Error>(&at(name), |sink| {
                sink.write_all(&vec![1; bytes])?;
                // What is written again is there once.
                sink.seek(SeekFrom::Start(2))?;
                sink.write_all(&[2; 8])
            })
        };
        write("first", 60).expect("it fits");
        assert_eq!((fs::read(at("first")).expect("there").len(), budget.reached()), (60, None));
        let refused = write("second", 41).expect_err("40 are left").to_string();
        assert_eq!(refused, "more than --max-output allows");
        assert!(!at("second").exists() && budget.reached() == Some(100));
        // A file that is encoded, but does not get its name.
        let unnamed = at("unnamed");
        let written = budget.write_whole::<io::Error>(&unnamed, |sink| {
            fs::create_dir(&unnamed)?;
            sink.write_all(&[3; 30])
        });
        assert!(written.is_err());
        write("third", 40).expect("what was not kept is given back");
        assert!(write("fourth", 10).is_err());
        assert!(OutputBudget::default().write_whole::<io::Error>(&at("any"), |sink| sink.write_all(&[0; 200])).is_ok());
    }
}
