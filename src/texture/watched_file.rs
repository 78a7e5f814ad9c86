//! A picture's file that shows how far it was read, and is no longer read once the caller wants to stop.

use super::error::TextureError;
use super::file::FileIdentity;
use super::make::MakeProgress;
use crate::files::open_file;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open file. Clones share its place.
#[derive(Clone)]
pub(super) struct WatchedFile<'a> {
    file: Arc<File>,
    bytes: u64,
    /// The bytes that it and its clones have read.
    read: Arc<AtomicU64>,
    /// Is called with the fraction that was read.
    progress: &'a MakeProgress<'a>,
}

impl<'a> WatchedFile<'a> {
    /// Opens a picture. What is no file is an error.
    pub(super) fn open(path: &Path, progress: &'a MakeProgress<'a>) -> Result<BufReader<Self>, TextureError> {
        FileIdentity::of(path)?;
        let opened = open_file(path).and_then(|file| Self::new(file, progress));
        opened.map(BufReader::new).map_err(|error| TextureError::of_io(path, error))
    }

    fn new(file: File, progress: &'a MakeProgress<'a>) -> io::Result<Self> {
        let bytes = file.metadata()?.len().max(1);
        Ok(Self { file: Arc::new(file), bytes, read: Arc::default(), progress })
    }

    /// Returns the bytes of the file, at least 1.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Read for WatchedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let fraction = self.read.load(Ordering::Relaxed) as f32 / self.bytes as f32;
        if (self.progress)(fraction.min(1.0)).is_break() {
            return Err(io::Error::other("it was interrupted"));
        }
        let count = (&*self.file).read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for WatchedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self.file).seek(to)
    }
}
