//! Occlusion maps, and depth files with several maps: what is seen from many sides, in one picture (spirv-gen's abi.rs,
//! "occlusion").

use super::baked_picture;
use super::error::TextureError;
use super::header::{ShadowMatrices, TexelFormat, TextureHeader, TextureKind, WrapMode};
use super::levels::{SAMPLES_MAX, Texels};
use super::make::{LEVELS_MADE, MadeTexture, MakeLimits, MakeProgress, MakeRequest, check_depths};
use super::packed_tiles::{LevelTiles, TextureTags};
use super::picture::SourcePicture;
use super::read_limits::PointCharge;
use super::source_tags::SourceTags;
use super::write::write;
use super::{TILE_TEXELS, TILE_WORDS};
use std::path::{Path, PathBuf};

/// The most maps.
pub const OCCLUSION_VIEWS_MAX: usize = 1023;

/// The words of a map's matrices, and those before the first.
pub const OCCLUSION_VIEW_WORDS: usize = 32;

const TILE: usize = TILE_TEXELS as usize;

/// Words, and maps below each other.
struct MapStack {
    /// Texels of each map.
    size: [usize; 2],
    maps: usize,
}

impl MapStack {
    /// Returns the number of rows before the maps.
    fn head(&self) -> usize {
        TILE * (OCCLUSION_VIEW_WORDS * (1 + self.maps)).div_ceil(TILE_WORDS)
    }

    /// Returns the number of rows from map to map.
    fn rows(&self) -> usize {
        TILE * self.size[1].div_ceil(TILE)
    }

    /// Returns the size of the whole picture in texels.
    fn picture(&self) -> [usize; 2] {
        [self.size[0].max(TILE), self.head() + self.maps * self.rows()]
    }

    /// Whether it fits into a texture, and may be made in memory.
    fn fits(&self) -> bool {
        let [width, height] = self.picture();
        height <= super::file::SIDE_MAX as usize && width as u64 * height as u64 <= SAMPLES_MAX
    }
}

/// Returns the texels that a map of this size takes in the picture: whole rows of tiles.
pub(super) fn part_size([width, height]: [u32; 2]) -> [u32; 2] {
    [width.max(TILE_TEXELS), height.checked_next_multiple_of(TILE_TEXELS).unwrap_or(u32::MAX)]
}

/// Makes an occlusion map of depths, which are read one after the other. A file may have several maps.
pub(super) fn make(
    request: &MakeRequest,
    limits: MakeLimits<'_>,
    progress: &MakeProgress<'_>,
) -> Result<MadeTexture, TextureError> {
    let at_work = PointCharge::new(limits.read, baked_picture::needs);
    let maps = maps_of(&request.inputs)?;
    let (mut picture, mut stack) = (Texels::empty([0; 2], 1), MapStack { size: [0; 2], maps: maps.len() });
    let mut words = Vec::new();
    for (map, &(path, part)) in maps.iter().enumerate() {
        let show = |read| progress(LEVELS_MADE * (map as f32 + read) / stack.maps as f32);
        let depths = SourcePicture::read_part(path, part, &at_work, &show)?;
        words.extend(matrices_of(check_depths(path, depths.texels.channels, depths.matrices, "an occlusion map")?));
        let size = depths.texels.size.map(|side| side as usize);
        if map == 0 {
            stack.size = size;
            picture = empty(path, &stack)?;
        } else if size != stack.size {
            return Err(of_other_size(path, size, &request.inputs[0], stack.size));
        }
        let first = stack.head() + map * stack.rows();
        for (y, row) in depths.texels.values.chunks_exact(size[0]).enumerate() {
            let at = (first + y) * picture.size[0] as usize;
            picture.values[at..at + size[0]].copy_from_slice(row);
        }
    }
    write_words(&mut picture, &stack, &words);
    let header = header_of(picture.size);
    let (tags, levels) = (TextureTags { header: &header, names: None, points: None }, [picture]);
    let mut tiles = LevelTiles::new(&tags, &levels);
    let show = |fraction| progress(LEVELS_MADE + (1.0 - LEVELS_MADE) * fraction);
    write(&request.output, &tags, &mut tiles, limits.output, &show)?;
    Ok(MadeTexture { header, is_new: true })
}

/// Returns the maps of some files: the file of each, and the part of it.
fn maps_of(files: &[PathBuf]) -> Result<Vec<(&Path, usize)>, TextureError> {
    let mut maps = Vec::new();
    for path in files {
        maps.extend((0..SourceTags::read(path)?.maps()).map(|part| (path.as_path(), part)));
    }
    if maps.len() > OCCLUSION_VIEWS_MAX {
        let reason = format!("there are {} maps of depths; {OCCLUSION_VIEWS_MAX} fit into a texture", maps.len());
        return Err(TextureError::Request(reason));
    }
    Ok(maps)
}

/// Returns the words of a map's matrices.
fn matrices_of(matrices: ShadowMatrices) -> impl Iterator<Item = f32> {
    matrices.camera_from_world.into_iter().chain(matrices.ndc_from_world)
}

fn empty(path: &Path, stack: &MapStack) -> Result<Texels, TextureError> {
    if !stack.fits() {
        let ([width, height], maps) = (stack.size, stack.maps);
        let reason = format!(
            "{maps} maps of {width} x {height} depths are too many for an occlusion map: {SAMPLES_MAX} depths fit, in {} \
             rows",
            super::file::SIDE_MAX
        );
        return Err(TextureError::unsupported(path, reason));
    }
    Ok(Texels::empty(stack.picture().map(|side| side as u32), 1))
}

fn of_other_size(path: &Path, [x, y]: [usize; 2], first: &Path, [width, height]: [usize; 2]) -> TextureError {
    let reason = format!(
        "it has {x} x {y} depths, but \"{}\" has {width} x {height}: those of an occlusion map have one size",
        first.display()
    );
    TextureError::unsupported(path, reason)
}

/// Writes the words before the maps: the left tile of each row of tiles has TILE_WORDS of them.
fn write_words(picture: &mut Texels, stack: &MapStack, matrices: &[f32]) {
    let mut words = vec![stack.maps as f32, stack.size[0] as f32, stack.size[1] as f32];
    words.resize(OCCLUSION_VIEW_WORDS, 0.0);
    words.extend(matrices);
    let width = picture.size[0] as usize;
    for (row, line) in picture.values.chunks_exact_mut(width).zip(words.chunks(TILE)) {
        row[..line.len()].copy_from_slice(line);
    }
}

fn header_of([width, height]: [u32; 2]) -> TextureHeader {
    TextureHeader {
        width,
        height,
        levels: 1,
        channels: 1,
        format: TexelFormat::F32,
        kind: TextureKind::Occlusion,
        wrap: [WrapMode::Clamp; 2],
        matrices: None,
        fov: None,
    }
}

/// Refuses the first tile of a map whose numbers are not those of a picture of its size.
pub(super) fn check_tile(
    path: &Path,
    header: &TextureHeader,
    at: [u32; 2],
    tile: &[u32; TILE_WORDS],
) -> Result<(), TextureError> {
    let number = |word: usize| f32::from_bits(tile[word]) as usize;
    let stack = MapStack { maps: number(0), size: [number(1), number(2)] };
    let is_whole = || {
        let [width, height] = [header.width, header.height].map(|side| side as usize);
        let known = (1..=OCCLUSION_VIEWS_MAX).contains(&stack.maps) && !stack.size.contains(&0);
        known && stack.size[0] <= width && stack.size[1] <= height && stack.picture() == [width, height]
    };
    if at == [0; 2] && !is_whole() {
        return Err(TextureError::corrupt(path, "it does not hold the maps that it says"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_that_are_too_many_or_too_large_do_not_fit() {
        let fits = |maps, side| MapStack { size: [side; 2], maps }.fits();
        assert_eq!([(1023, 64), (1023, 512), (100, 2048), (1023, 1024)].map(|(maps, side)| fits(maps, side)), {
            [true, true, true, false]
        });
        let tall = MapStack { size: [1, 1 << 17], maps: 40 };
        assert!(!tall.fits() && MapStack { maps: 30, ..tall }.fits(), "a texture has 2^22 rows");
    }

    #[test]
    fn numbers_that_are_not_those_of_the_picture_are_refused() {
        let header = header_of([70, 64 * 3]);
        let checked = |at, numbers: [f32; 3]| {
            let mut tile = [0; TILE_WORDS];
            tile.iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_bits());
            check_tile(Path::new("a.occ"), &header, at, &tile).map_err(|error| error.to_string())
        };
        assert_eq!(checked([0, 0], [2.0, 70.0, 40.0]), Ok(()));
        assert_eq!(checked([0, 1], [9.0, 9.0, 9.0]), Ok(()), "depths");
        for numbers in [
            [3.0, 70.0, 40.0],
            [0.0, 70.0, 40.0],
            [2.0, 71.0, 40.0],
            [2.0, 70.0, 80.0],
            [-2.0, 70.0, 40.0],
            [1e9, 70.0, 1e9],
            [f32::NAN; 3],
        ] {
            let message = checked([0, 0], numbers).expect_err("wrong numbers");
            assert!(message.contains("does not hold the maps"), "{numbers:?}: {message}");
        }
    }
}
