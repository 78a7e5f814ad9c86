//! Tiles of textures, as programs that look textures up are bound to them, and the list of those that they missed.

use super::look::{
    MISSES_CLAIMS, MISSES_ENTRIES, MISSES_MARKS, MISSES_PASSES, MISSES_PASSES_MAX, MISSES_ROOM, TILE_BUFFERS,
};
use super::recording::{BufferRange, Recording, Slice};

/// Forms of textures, for which kernels have code only if there are any: bits of the specialisation constant
/// TEXTURE_FORMS (glsl/lib/rsl/texture.glsl).
pub mod forms {
    /// Words of two channels of 16 bits.
    pub const WORD16: u32 = 1;
    /// Words of two halves.
    pub const HALF: u32 = 2;
    /// Mirrored ones, and lat-long environments.
    pub const MIRRORED: u32 = 4;
    /// Deep shadow maps.
    pub const DEEP: u32 = 8;
    /// Cubes.
    pub const CUBE: u32 = 16;
    /// Halves or floats, which may be beyond 0 to 1.
    pub const FLOAT: u32 = 32;
    /// Several shadow maps in one.
    pub const VIEWS: u32 = 64;
}

/// Tiles of textures on a device (spirv-gen's abi.rs, "Textures").
#[derive(Clone, Copy, Debug)]
pub struct TextureSlices {
    /// Names, properties, and where tiles are.
    pub directory: Slice<[u32; 4]>,
    /// The buffers of tiles; those that there are not are the first.
    pub tiles: [Slice<u32>; TILE_BUFFERS],
    /// The number of the last buffer that there is.
    pub last: usize,
    /// What textures there are: bits of [`forms`].
    pub forms: u32,
}

/// Returns the words of the list of missed tiles and of the marks of `slots` slots.
pub fn misses_words(slots: u64) -> u64 {
    if slots == 0 { 0 } else { MISSES_MARKS + slots }
}

impl TextureSlices {
    /// The specialisation constants of compiled kernels that look textures up: they read no further buffers of tiles,
    /// and have no code for forms of textures of which there are none. Where there are more than two buffers, they read
    /// all, so that there are fewer variants of a kernel.
    pub fn constants(&self) -> Vec<u32> {
        vec![if self.last < 2 { self.last as u32 } else { TILE_BUFFERS as u32 - 1 }, self.forms]
    }

    /// What compiled kernels that look textures up are bound to, from binding 5 on.
    pub fn bindings(&self, misses: Slice<u32>) -> impl Iterator<Item = BufferRange> + '_ {
        [self.directory.range(), misses.range()].into_iter().chain(self.tiles.iter().map(|tiles| tiles.range()))
    }
}

/// Returns the number of the word, among those of passes, for the piece of this number in a load; 0 where there is
/// none.
pub fn pass_word(piece: u32) -> u32 {
    if u64::from(piece) + 1 < MISSES_PASSES_MAX { piece + 1 } else { 0 }
}

/// Appends the emptying of a list of missed tiles, and of the marks, before programs run that look textures up.
pub fn record_misses_begin(recording: &mut Recording, misses: Slice<u32>) {
    recording.concurrent(|recording| {
        recording.fill(misses.part(MISSES_CLAIMS..MISSES_ENTRIES), 0);
        recording.fill(misses.part(MISSES_PASSES..MISSES_CLAIMS), u32::MAX);
        recording.fill(misses.part(MISSES_MARKS..misses.count()), 0);
        recording.write(misses.part(0..2), &[0, MISSES_ROOM as u32]);
    });
}
