//! A texture that devices ask for tiles of, and what was read of it.

use super::{TileKey, TileNeed, TileTexels};
use crate::diagnostic::{Reporter, SourceLocation};
use crate::points::PointChannel;
use crate::texture::file::{FileIdentity, TextureFile};
use crate::texture::header::TextureHeader;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An open texture.
#[derive(Debug)]
pub struct StoredTexture {
    file: TextureFile,
    /// Where it is first used.
    location: SourceLocation,
    /// Whether the file was replaced or written meanwhile, or does not answer: it is no longer read.
    given_up: AtomicBool,
    use_so_far: Mutex<TextureUseSoFar>,
}

/// What was asked for and read of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextureReads {
    /// The lookups by shaders, as far as they are counted.
    pub lookups: u64,
    /// The tiles that submissions of devices used, each once a submission.
    pub requests: u64,
    /// The tiles that devices lacked.
    pub misses: u64,
    /// The submissions that lacked some, those that only named tiles included.
    pub reruns: u64,
    /// The tiles that devices loaded before any submission lacked them.
    pub prefetched: u64,
    /// The tiles that were read; the others were in the host's cache.
    pub tiles_read: u64,
    /// The tiles among them that had been read before.
    pub redundant_reads: u64,
    /// The bytes that were read and decoded.
    pub bytes_read: u64,
    /// The time that reading took, of all threads together.
    pub read: Duration,
}

#[derive(Debug, Default)]
struct TextureUseSoFar {
    reads: TextureReads,
    has_reported: bool,
    /// 64 neighbours along x an entry.
    marks: FxHashMap<TileRow, TileMarks>,
}

/// Level, plane, row of tiles, and 1/64 of the first tile's place along x.
type TileRow = [u32; 4];

/// A bit for each of 64 tiles.
#[derive(Clone, Copy, Debug, Default)]
struct TileMarks {
    read: u64,
    /// What could not be read once is not read again, so that it is 0 for all devices.
    unreadable: u64,
}

impl StoredTexture {
    pub(super) fn new(file: TextureFile, location: SourceLocation) -> Self {
        Self { file, location, given_up: AtomicBool::new(false), use_so_far: Mutex::default() }
    }

    /// Returns what it is like.
    pub fn header(&self) -> &TextureHeader {
        self.file.header()
    }

    /// Returns the channels of a point cloud.
    pub fn point_channels(&self) -> Option<&[PointChannel]> {
        self.file.point_channels()
    }

    /// Returns the file when it was opened.
    pub fn identity(&self) -> &FileIdentity {
        self.file.identity()
    }

    /// Returns the file.
    pub(super) fn file(&self) -> &TextureFile {
        &self.file
    }

    /// Returns what was asked for and read so far.
    pub fn statistics(&self) -> TextureReads {
        self.use_so_far.lock().reads
    }

    /// Whether a part of it could not be read.
    pub(super) fn is_damaged(&self) -> bool {
        self.use_so_far.lock().has_reported
    }

    /// Counts the tiles that a submission used.
    pub(super) fn count_requests(&self, tiles: u64) {
        self.use_so_far.lock().reads.requests += tiles;
    }

    /// Counts lookups by shaders.
    pub(super) fn count_lookups(&self, lookups: u64) {
        self.use_so_far.lock().reads.lookups += lookups;
    }

    /// Counts a run that lacked `tiles` tiles, or as many tiles that are loaded ahead.
    pub(super) fn count_asked(&self, tiles: u64, need: TileNeed) {
        let reads = &mut self.use_so_far.lock().reads;
        match need {
            TileNeed::Missed => (reads.misses, reads.reruns) = (reads.misses + tiles, reads.reruns + 1),
            TileNeed::Ahead => reads.prefetched += tiles,
        }
    }

    /// Reads a tile into `texels`; zeros, with one message, if that fails.
    pub(super) fn read(&self, key: TileKey, texels: &mut TileTexels, reporter: &Reporter) {
        let row = [key.level, key.plane, key.at[1], key.at[0] / 64];
        let bit = 1 << (key.at[0] % 64);
        let is_lost = self.use_so_far.lock().marks.get(&row).is_some_and(|marks| marks.unreadable & bit != 0);
        if is_lost || self.given_up.load(Ordering::Relaxed) {
            return;
        }
        let began = Instant::now();
        let read = self.file.read_tile(key.level, key.plane, key.at[0], key.at[1], texels);
        let mut so_far = self.use_so_far.lock();
        so_far.reads.read += began.elapsed();
        so_far.reads.tiles_read += 1;
        let marks = so_far.marks.entry(row).or_default();
        let is_redundant = marks.read & bit != 0;
        marks.read |= bit;
        marks.unreadable |= if read.is_err() { bit } else { 0 };
        so_far.reads.redundant_reads += u64::from(is_redundant);
        match read {
            Ok(bytes) => so_far.reads.bytes_read += bytes as u64,
            Err(error) => {
                texels.fill(0);
                self.given_up.fetch_or(error.is_final(), Ordering::Relaxed);
                if !std::mem::replace(&mut so_far.has_reported, true) {
                    let message = format!("{error}; what cannot be read of this texture is 0");
                    reporter.error("texture", &self.location, message);
                }
            }
        }
    }
}
