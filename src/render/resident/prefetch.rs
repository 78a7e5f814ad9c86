//! Which tiles are loaded before programs miss them: a lookup is mostly followed by lookups next to it, and each round
//! of misses costs runs.

use crate::render::resident::texture_tiles::{MissedKey, coarser, level_of, place_of};
use crate::texture::{TextureHeader, TextureKind};
use std::collections::BTreeSet;

/// The most tiles of a level that is loaded whole: 2,048 x 2,048 texels.
const WHOLE_LEVEL_TILES: u64 = 1024;
/// The most tiles of a point cloud that is loaded whole: as many as there are slots at most.
const WHOLE_CLOUD_TILES: u64 = 1 << 16;
/// log2 of the tiles to a side of the aligned block that is loaded of larger levels.
const NEAR_LOG2: u32 = 2;

/// Returns the tiles of a texture that are likely to be looked up where these were missed, the likeliest first; some
/// come several times. They are of the same levels and of coarser ones.
///
/// Of deep shadow maps there are none: lookups need few of their planes, but the host decodes all of them.
pub(super) fn tiles_near<'a>(
    header: &'a TextureHeader,
    missed: &'a [MissedKey],
) -> impl Iterator<Item = MissedKey> + 'a {
    let missed = if header.kind == TextureKind::DeepShadow { &[] } else { missed };
    let is_whole = |level: u32| {
        let tiles = header.level_tiles(level).map(u64::from).iter().product::<u64>();
        tiles <= if header.kind == TextureKind::Points { WHOLE_CLOUD_TILES } else { WHOLE_LEVEL_TILES }
    };
    let at_levels = missed.iter().flat_map(|&[what, at]| {
        let finest = level_of(what);
        (0..header.levels.saturating_sub(finest)).map(move |levels| ([coarser(what, levels), at], levels))
    });
    let wholes: BTreeSet<u32> =
        at_levels.clone().map(|([what, _], _)| what).filter(|&what| is_whole(level_of(what))).collect();
    let blocks = at_levels.flat_map(|([what, at], levels)| {
        let first = place_of(at).map(|place| place >> levels >> NEAR_LOG2 << NEAR_LOG2);
        tiles_of(header, what, first, [1 << NEAR_LOG2; 2])
    });
    // The coarsest are few.
    let wholes = wholes.into_iter().rev().flat_map(|what| tiles_of(header, what, [0; 2], [u32::MAX; 2]));
    blocks.chain(wholes)
}

/// Returns the tiles of a level that there are from `first` on, at most `most` along each side.
fn tiles_of(header: &TextureHeader, what: u32, first: [u32; 2], most: [u32; 2]) -> impl Iterator<Item = MissedKey> {
    let tiles = header.level_tiles(level_of(what));
    let end: [u32; 2] = std::array::from_fn(|axis| first[axis].saturating_add(most[axis]).min(tiles[axis]));
    (first[1]..end[1]).flat_map(move |y| (first[0]..end[0]).map(move |x| [what, x | y << 16]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::{TexelFormat, WrapMode};

    fn header(kind: TextureKind, side: u32, levels: u32) -> TextureHeader {
        TextureHeader {
            width: side,
            height: side,
            levels,
            channels: 3,
            format: TexelFormat::U8,
            kind,
            wrap: [WrapMode::Black; 2],
            matrices: None,
            fov: None,
        }
    }

    fn near(header: &TextureHeader, missed: &[MissedKey]) -> BTreeSet<MissedKey> {
        tiles_near(header, missed).collect()
    }

    fn key(level: u32, plane: u32, at: [u32; 2]) -> MissedKey {
        [7 | level << 20 | plane << 25, at[0] | at[1] << 16]
    }

    #[test]
    fn a_small_level_comes_whole_with_all_that_are_coarser() {
        let header = header(TextureKind::Plain, 512, 10);
        let all = near(&header, &[key(0, 0, [3, 5])]);
        assert_eq!(all.len() as u64, header.tile_count());
        let coarser = near(&header, &[key(1, 0, [3, 1])]);
        assert!(coarser.is_subset(&all) && coarser.len() == all.len() - 64);
        // Those next to it are first.
        let first: BTreeSet<MissedKey> = tiles_near(&header, &[key(0, 0, [3, 5])]).take(16).collect();
        assert_eq!(first, (0..16).map(|i| key(0, 0, [i % 4, 4 + i / 4])).collect());
    }

    #[test]
    fn of_a_large_level_only_the_block_around_a_tile_comes() {
        let header = header(TextureKind::Plain, 64 * 34, 3);
        let expected = |plane| {
            let block = (0..4).map(move |i| key(0, plane, [32 + i % 2, 12 + i / 2]));
            let block = block.chain((4..8).map(move |i| key(0, plane, [32 + i % 2, 12 + i / 2])));
            let whole = |level: u32, side: u32| (0..side * side).map(move |i| key(level, plane, [i % side, i / side]));
            block.chain(whole(1, 17)).chain(whole(2, 9)).collect::<BTreeSet<_>>()
        };
        assert_eq!(near(&header, &[key(0, 0, [33, 13])]), expected(0));
        // A plane is not loaded because of another.
        assert_eq!(near(&header, &[key(0, 2, [33, 13])]), expected(2));
    }

    #[test]
    fn a_cloud_comes_whole_and_a_deep_map_not_at_all() {
        let cloud = header(TextureKind::Points, 64 * 40, 1);
        assert_eq!(near(&cloud, &[key(0, 0, [39, 39])]).len(), 1600);
        // Of one that no device has room for, only the block around a tile.
        assert_eq!(near(&header(TextureKind::Points, 64 * 257, 1), &[key(0, 0, [39, 39])]).len(), 16);
        assert!(near(&header(TextureKind::DeepShadow, 512, 1), &[key(0, 0, [1, 1])]).is_empty());
    }
}
