//! The cache of texture tiles on the host: a bounded number of them, for all devices. Where it is full, it evicts about
//! the least recently used (LRU) tile: the oldest one that was not asked for again (second chance, or CLOCK).

use super::{TileKey, TileTexels};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// A tile, or its promise: the second thread that asks for it waits for the first to read it.
type PromisedTile = Arc<OnceLock<Arc<TileTexels>>>;

/// The tiles that are kept, for as long as there is room.
#[derive(Debug)]
pub(super) struct TileCache {
    tiles_max: usize,
    kept: Mutex<KeptTiles>,
}

#[derive(Debug, Default)]
struct KeptTiles {
    tiles: FxHashMap<TileKey, KeptTile>,
    /// The next to be evicted in front.
    order: VecDeque<TileKey>,
}

#[derive(Debug)]
struct KeptTile {
    texels: PromisedTile,
    /// Whether it was asked for since it joined `order`: then it stays for another turn.
    asked_again: bool,
}

impl TileCache {
    /// Creates a cache of `bytes` bytes, but at least of one tile.
    pub(super) fn new(bytes: usize) -> Self {
        Self { tiles_max: (bytes / size_of::<TileTexels>()).max(1), kept: Mutex::default() }
    }

    /// Returns a tile, which is read if it is not there. Only its readers wait for it.
    pub(super) fn get_or_read(&self, key: TileKey, read: impl FnOnce() -> Arc<TileTexels>) -> Arc<TileTexels> {
        let promised = self.promised(key);
        Arc::clone(promised.get_or_init(read))
    }

    fn promised(&self, key: TileKey) -> PromisedTile {
        let mut kept = self.kept.lock();
        if let Some(tile) = kept.tiles.get_mut(&key) {
            tile.asked_again = true;
            return Arc::clone(&tile.texels);
        }
        while kept.tiles.len() >= self.tiles_max {
            kept.evict();
        }
        let texels = PromisedTile::default();
        kept.tiles.insert(key, KeptTile { texels: Arc::clone(&texels), asked_again: false });
        kept.order.push_back(key);
        texels
    }
}

impl KeptTiles {
    /// Evicts the tile that joined longest ago, among those that were not asked for again.
    fn evict(&mut self) {
        while let Some(key) = self.order.pop_front() {
            match self.tiles.get_mut(&key) {
                Some(tile) if tile.asked_again => {
                    tile.asked_again = false;
                    self.order.push_back(key);
                }
                _ => {
                    self.tiles.remove(&key);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TILE_WORDS;
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn key(x: u32) -> TileKey {
        TileKey { texture: 0, level: 0, plane: 0, at: [x, 0] }
    }

    fn holds(cache: &TileCache, x: u32) -> bool {
        cache.kept.lock().tiles.contains_key(&key(x))
    }

    #[test]
    fn what_is_asked_for_again_outlives_what_is_not() {
        let cache = TileCache::new(3 * size_of::<TileTexels>());
        let get = |x: u32| cache.get_or_read(key(x), || Arc::new([x; TILE_WORDS]))[0];
        // Tile 0 is asked for again each time; of the rest, the oldest goes.
        let found: Vec<u32> = [0, 1, 0, 2, 0, 3, 0, 4, 0].map(get).to_vec();
        assert_eq!(found, [0, 1, 0, 2, 0, 3, 0, 4, 0]);
        assert_eq!([0, 1, 2, 3, 4].map(|x| holds(&cache, x)), [true, false, false, true, true]);
    }

    #[test]
    fn a_cache_smaller_than_a_tile_holds_one() {
        let cache = TileCache::new(0);
        for x in [1, 2, 1] {
            assert_eq!(cache.get_or_read(key(x), || Arc::new([x; TILE_WORDS]))[9], x);
        }
        assert_eq!(cache.kept.lock().order, [key(1)]);
    }

    #[test]
    fn threads_that_ask_at_once_read_once() {
        let cache = TileCache::new(1 << 20);
        let reads = AtomicU32::new(0);
        let read = || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            Arc::new([7 + reads.fetch_add(1, Ordering::Relaxed); TILE_WORDS])
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(cache.get_or_read(key(0), read)[0], 7));
            }
        });
        assert_eq!(reads.into_inner(), 1);
    }
}
