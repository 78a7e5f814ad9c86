//! Point clouds, as textures have them: tiles of the words that devices look them up in.

use super::error::TextureError;
use super::header::{TexelFormat, TextureHeader, TextureKind, WrapMode};
use super::point_tree::{self, words};
use super::read_limits::{PointCharge, ReadLimits};
use super::{TILE_TEXELS, TILE_WORDS};
use crate::host_memory::Charge;
use crate::points::{PointChannel, PointCloud};
use parking_lot::RwLock;
use std::path::Path;

/// The tiles of a column: more are in further ones, as a tile's key has 16 bits along each side.
pub(super) const COLUMN_TILES: usize = 1 << 16;

/// Returns the header of a texture of `tiles` tiles of words, in columns of [`COLUMN_TILES`].
pub(super) fn header_of(tiles: usize) -> TextureHeader {
    TextureHeader {
        width: TILE_TEXELS * tiles.div_ceil(COLUMN_TILES) as u32,
        height: TILE_TEXELS * tiles.min(COLUMN_TILES) as u32,
        levels: 1,
        channels: 1,
        format: TexelFormat::F32,
        kind: TextureKind::Points,
        wrap: [WrapMode::Black; 2],
        matrices: None,
        fov: None,
    }
}

/// A cloud that was read.
pub(super) struct PointTiles {
    pub(super) channels: Vec<PointChannel>,
    /// Nothing once they are freed.
    words: RwLock<Option<ChargedWords>>,
}

struct ChargedWords {
    words: Vec<u32>,
    _charge: Charge,
}

impl PointTiles {
    /// Reads a file of points.
    pub(super) fn open(path: &Path, limits: &ReadLimits) -> Result<(TextureHeader, Self), TextureError> {
        let at_work = PointCharge::new(limits, point_tree::needs);
        let cloud = PointCloud::read_within(path, &at_work.reading(&|| true))?;
        let words = words(path, &cloud, &|| limits.goes_on())?;
        drop(at_work);
        let charge = limits.charged(path, size_of_val(&words[..]) as u64)?;
        let header = header_of(words.len() / TILE_WORDS);
        let words = RwLock::new(Some(ChargedWords { words, _charge: charge }));
        Ok((header, Self { channels: cloud.channels, words }))
    }

    /// Whether it was not freed.
    pub(super) fn is_there(&self) -> bool {
        self.words.read().is_some()
    }

    /// Frees what it takes, until it is read again. Returns whether it was there.
    pub(super) fn free(&self) -> bool {
        self.words.write().take().is_some()
    }

    /// Takes the place of one that was freed.
    pub(super) fn replace_words(&self, again: Self) {
        *self.words.write() = again.words.into_inner();
    }

    /// Copies a tile; zeros behind the last one. Returns whether it is there.
    #[must_use]
    pub(super) fn copy(&self, [x, y]: [u32; 2], out: &mut [u32; TILE_WORDS]) -> bool {
        let tile = x as usize * COLUMN_TILES + y as usize;
        let words = self.words.read();
        match words.as_ref().and_then(|charged| charged.words.chunks_exact(TILE_WORDS).nth(tile)) {
            Some(words) => out.copy_from_slice(words),
            None => out.fill(0),
        }
        words.is_some()
    }
}

impl std::fmt::Debug for PointTiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointTiles").field("channels", &self.channels).finish_non_exhaustive()
    }
}
