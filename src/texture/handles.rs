//! The cache of open files that are not being read, kept for the next reader. It is bounded for all textures
//! together: the least recently used (LRU) file is evicted, and closed.

use super::block::TexelBlock;
use super::exr_tiles::ExrReader;
use super::tiff_tiles::TiffReader;
use crate::files::{close_when_short, handles_max};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};

/// How many files that are not being read stay open. As many more are open as threads read at once.
const IDLE_MAX: usize = 64;

/// And the part of the files that the process may have open: 1 / this. Drivers and scenes need some too.
const IDLE_PART: u64 = 4;

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
    static BEGIN: Once = Once::new();
    BEGIN.call_once(|| close_when_short(close_idle));
    let mut idle = IDLE.lock();
    idle.push_back((owner, handle));
    let too_many = idle.len().saturating_sub(idle_max());
    let evicted: Vec<_> = idle.drain(..too_many).collect();
    drop(idle);
    drop(evicted);
}

fn idle_max() -> usize {
    static MAX: OnceLock<usize> = OnceLock::new();
    *MAX.get_or_init(|| handles_max().map_or(IDLE_MAX, |all| IDLE_MAX.min((all / IDLE_PART) as usize)))
}

/// Closes all that are not in use.
fn close_idle() {
    let idle = std::mem::take(&mut *IDLE.lock());
    drop(idle);
}

/// Closes what is open of a texture.
pub(super) fn close(texture: u64) {
    IDLE.lock().retain(|(owner, _)| owner.texture != texture);
}
