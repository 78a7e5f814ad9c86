//! What a region knows of the textures that its loads look up.

use crate::render::resident::texture_tiles::MissedKey;
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

/// What a region knows of the textures that its loads look up.
#[derive(Debug)]
pub(crate) struct TextureWatch {
    /// The stamp of the last submission, if it looked textures up and its list was not read yet.
    pub stamp: Option<u32>,
    /// The stamp of the first of the runs that are made until nothing is missed.
    pub since: Option<u32>,
    /// What these runs missed.
    pub needed: FxHashSet<MissedKey>,
    /// Whether the last run missed anything.
    pub missed: bool,
    /// Whether the last run noted which passes of its pieces' programs missed tiles.
    pub notes_passes: bool,
    /// The first ones that did, [`u32::MAX`] where none did, if it noted them.
    pub missed_passes: Option<Vec<u32>>,
    /// Whether what it replaced among the values of programs is not to count.
    pub is_worthless: bool,
    /// Whether the last run only named tiles.
    pub only_named: bool,
    /// Vertices of a submission, at most: what they look up fits.
    pub vertices_max: u64,
    /// The last load of tiles, until it is traced.
    pub loaded: Option<TileLoad>,
}

/// What a submission missed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TileMisses {
    pub tiles: usize,
    /// Whether it only named tiles.
    pub only_named: bool,
}

/// When a region's tiles were loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileLoad {
    pub begin: Instant,
    pub took: Duration,
    /// What programs had missed.
    pub tiles: usize,
}

impl Default for TextureWatch {
    fn default() -> Self {
        let needed = FxHashSet::default();
        Self {
            stamp: None,
            since: None,
            needed,
            missed: false,
            notes_passes: false,
            missed_passes: None,
            is_worthless: false,
            only_named: false,
            vertices_max: u64::MAX,
            loaded: None,
        }
    }
}

impl TextureWatch {
    /// Nothing is missed any more, or other loads are tried.
    pub(crate) fn clear(&mut self) {
        (self.since, self.missed) = (None, false);
        self.needed.clear();
    }
}
