//! Tiles that wait in a file until those before them are written.

use super::packed_tiles::TILES_AT_ONCE;
use crate::files::unnamed_beside;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Packed tiles of several levels, in a file without a name.
pub(super) struct TileSpool {
    file: File,
    end: u64,
    levels: Vec<WaitingTiles>,
}

/// The tiles of a level.
#[derive(Clone, Debug, Default)]
struct WaitingTiles {
    /// Where in the file each is, and its bytes.
    places: Vec<(u64, usize)>,
    /// How many were taken.
    taken: usize,
}

impl TileSpool {
    /// Creates a file for tiles of so many levels, beside the texture that they are for.
    pub(super) fn new(texture: &Path, levels: u32) -> io::Result<Self> {
        let levels = vec![WaitingTiles::default(); levels as usize];
        Ok(Self { file: unnamed_beside(texture)?, end: 0, levels })
    }

    /// Adds tiles of a level.
    pub(super) fn push(&mut self, level: u32, tiles: &[Vec<u8>]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        for tile in tiles {
            self.file.write_all(tile)?;
            self.levels[level as usize].places.push((self.end, tile.len()));
            self.end += tile.len() as u64;
        }
        Ok(())
    }

    /// Takes some tiles of a level, in the order in which they were added.
    pub(super) fn take(&mut self, level: u32) -> io::Result<Vec<Vec<u8>>> {
        let WaitingTiles { places, taken } = &mut self.levels[level as usize];
        let mut tiles = Vec::new();
        for &(at, bytes) in places[*taken..].iter().take(TILES_AT_ONCE) {
            let mut tile = vec![0; bytes];
            self.file.seek(SeekFrom::Start(at))?;
            self.file.read_exact(&mut tile)?;
            tiles.push(tile);
        }
        *taken += tiles.len();
        Ok(tiles)
    }
}
