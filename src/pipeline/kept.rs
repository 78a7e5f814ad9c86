//! The memory in which what samples see is kept, see [`super::visibility`].

use super::kernels::records::Rest;
use super::recording::{Arena, ArenaFull, Buffer, Slice};
use std::ops::Range;

/// Where what samples see is kept: of several regions, or of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptSlices {
    /// Their depth keys. Where they are of one region, behind those is a record of hiding (`Rest`).
    pub keys: Slice<u64>,
    /// The depths behind, where they are kept.
    pub behind: Slice<u32>,
}

/// Keys that the record behind those of a region takes up.
pub const REST_KEYS: u64 = (size_of::<Rest>() / size_of::<u64>()) as u64;

impl KeptSlices {
    /// Keys that a region of `subpixels` subpixels takes up.
    pub fn keys_of(subpixels: u64) -> u64 {
        subpixels + REST_KEYS
    }

    /// Bytes for `keys` keys, with the depths behind them or without.
    pub fn bytes(keys: u64, behind: bool) -> u64 {
        Arena::measure(|arena| Self::cut_from(arena, keys, behind)).bytes
    }

    /// Cuts a buffer.
    ///
    /// # Errors
    /// [`ArenaFull`] when the buffer is too small.
    pub fn cut(buffer: Buffer, keys: u64, behind: bool) -> Result<Self, ArenaFull> {
        Self::cut_from(&mut Arena::new(buffer), keys, behind)
    }

    fn cut_from(arena: &mut Arena, keys: u64, behind: bool) -> Result<Self, ArenaFull> {
        Ok(Self { keys: arena.cut(keys)?, behind: arena.cut(if behind { keys } else { 0 })? })
    }

    /// Keys that there is room for.
    pub fn count(&self) -> u64 {
        self.keys.count()
    }

    /// A part of it, for one region.
    #[must_use]
    pub fn part(&self, keys: Range<u64>) -> Self {
        let behind = if self.behind.count() == 0 { 0..0 } else { keys.clone() };
        Self { keys: self.keys.part(keys), behind: self.behind.part(behind) }
    }
}
