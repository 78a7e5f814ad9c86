//! The cache of open files that are not being read, kept for the next reader. It is bounded for all textures
//! together: the least recently used (LRU) file is evicted, and closed.

use super::block::TexelBlock;
use super::exr_tiles::ExrReader;
use super::tiff_tiles::TiffReader;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many files that are not being read stay open. As many more are open as threads read at once.
const IDLE_MAX: usize = 64;

/// What reads a file.
#[derive(Debug)]
pub(super) enum TileReader {
    Exr(ExrReader),
    /// A reader of TIFF stays at one level, because going to another parses a directory.
    Tiff(Box<TiffReader>),
}

/// An open file with the block that was read last.
#[derive(Debug)]
pub(super) struct TextureHandle {
    pub(super) reader: TileReader,
    /// Level and place (x, y) of `block`.
    pub(super) at: Option<(u32, [u32; 2])>,
    pub(super) block: TexelBlock,
}

/// Whose handle it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandleOwner {
    /// The number of the open texture.
    pub(super) texture: u64,
    /// The level that a reader of TIFF stays at.
    pub(super) level: u32,
}

/// Handles that are not in use, the most recently used at the end.
static IDLE: Mutex<VecDeque<(HandleOwner, TextureHandle)>> = Mutex::new(VecDeque::new());

/// Returns a number that no other open texture has.
pub(super) fn new_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Takes an idle handle, if possible the one that read the block `at` last.
pub(super) fn take(owner: HandleOwner, at: (u32, [u32; 2])) -> Option<TextureHandle> {
    let mut idle = IDLE.lock();
    let fits = |entry: &(HandleOwner, TextureHandle)| entry.0 == owner;
    let same = idle.iter().rposition(|entry| fits(entry) && entry.1.at == Some(at));
    let found = same.or_else(|| idle.iter().rposition(fits))?;
    idle.remove(found).map(|(_, handle)| handle)
}

/// Keeps a handle for the next reader. Where too many are kept, the least recently used (LRU) one is evicted.
pub(super) fn put_back(owner: HandleOwner, handle: TextureHandle) {
    let mut idle = IDLE.lock();
    idle.push_back((owner, handle));
    let too_many = idle.len().saturating_sub(IDLE_MAX);
    let evicted: Vec<_> = idle.drain(..too_many).collect();
    drop(idle);
    drop(evicted);
}

/// Closes what is open of a texture.
pub(super) fn close(texture: u64) {
    IDLE.lock().retain(|(owner, _)| owner.texture != texture);
}
