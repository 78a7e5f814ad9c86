//! Tiles of textures, packed as files hold them.

use super::TILE_TEXELS;
use super::error::WriteFailure;
use super::header::{TexelFormat, TextureHeader, TextureKind};
use super::levels::Texels;
use crate::exr_blocks;
use crate::parallel::in_parallel;
use crate::points::PointChannel;

/// Tiles that are packed between two reports of progress.
pub(super) const TILES_AT_ONCE: usize = 256;

/// How hard compression tries. The next level makes half-float files 4 to 6% smaller, and making them a third longer.
const ZLIB_LEVEL: i32 = 1;

/// What the file of a texture says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextureTags<'a> {
    pub(super) header: &'a TextureHeader,
    pub(super) names: Option<&'a [String]>,
    /// The channels of the points that a brick map holds.
    pub(super) points: Option<&'a [PointChannel]>,
}

impl TextureTags<'_> {
    /// Returns the names of channels that a reader of OpenEXR puts in the order of the texture.
    pub(super) fn exr_names(&self) -> Vec<String> {
        let count = self.header.channels as usize;
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        match self.names {
            Some(names) if names.len() == count => names.to_vec(),
            _ if matches!(self.header.kind, TextureKind::Shadow | TextureKind::Occlusion) => owned(&["Z"]),
            _ => match count {
                1 | 2 => owned(&["Y", "A"][..count]),
                3 | 4 => owned(&["R", "G", "B", "A"][..count]),
                _ => (0..count).map(|channel| format!("channel{channel:03}")).collect(),
            },
        }
    }
}

/// The packed tiles of a texture.
pub(super) trait PackedTiles {
    /// Returns the next tiles of a level, row by row from the top; none after the last one. Levels are asked for one
    /// after the other.
    fn next(&mut self, level: u32) -> Result<Vec<Vec<u8>>, WriteFailure>;
}

/// Tiles of levels that are in memory.
pub(super) struct LevelTiles<'a> {
    levels: &'a [Texels],
    packing: TilePacking,
    /// The level that was asked for last, and how many of its tiles were returned.
    done: (u32, u32),
}

impl<'a> LevelTiles<'a> {
    pub(super) fn new(tags: &TextureTags<'_>, levels: &'a [Texels]) -> Self {
        Self { levels, packing: TilePacking::of(tags), done: (0, 0) }
    }
}

impl PackedTiles for LevelTiles<'_> {
    fn next(&mut self, level: u32) -> Result<Vec<Vec<u8>>, WriteFailure> {
        let texels = &self.levels[level as usize];
        let [across, down] = texels.size.map(|side| side.div_ceil(TILE_TEXELS));
        let begin = if self.done.0 == level { self.done.1 } else { 0 };
        let end = (begin + TILES_AT_ONCE as u32).min(across * down);
        self.done = (level, end);
        let packed = |number: u32| self.packing.packed(texels, [number % across, number / across]);
        Ok(in_parallel((begin..end).collect(), packed))
    }
}

/// How tiles become bytes.
#[derive(Clone, Debug)]
pub(super) struct TilePacking {
    format: TexelFormat,
    /// The channels in the order in which OpenEXR has them.
    order: Vec<usize>,
}

impl TilePacking {
    pub(super) fn of(tags: &TextureTags<'_>) -> Self {
        let names = tags.exr_names();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|&index| &names[index]);
        Self { format: tags.header.format, order }
    }

    /// Returns the tile of this column and row.
    pub(super) fn packed(&self, texels: &Texels, tile: [u32; 2]) -> Vec<u8> {
        match self.format {
            TexelFormat::U8 | TexelFormat::U16 => tiff_tile(texels, tile, self.format),
            TexelFormat::F16 | TexelFormat::F32 => self.exr_tile(texels, tile),
        }
    }

    /// Returns a tile without texels outside of the picture, channel by channel in each row, compressed.
    fn exr_tile(&self, texels: &Texels, tile: [u32; 2]) -> Vec<u8> {
        let channels = texels.channels as usize;
        let begin = tile.map(|place| place * TILE_TEXELS);
        let [width, rows] = [0, 1].map(|axis| (texels.size[axis] - begin[axis]).min(TILE_TEXELS) as usize);
        let line_bytes = width * self.format.bytes();
        let mut bytes = vec![0; line_bytes * channels * rows];
        for (number, line) in bytes.chunks_exact_mut(line_bytes).enumerate() {
            let y = begin[1] as usize + number / channels;
            let first = (y * texels.size[0] as usize + begin[0] as usize) * channels + self.order[number % channels];
            let samples = texels.values[first..].iter().step_by(channels);
            exr_blocks::encode(line, samples, self.format == TexelFormat::F16);
        }
        exr_blocks::packed(bytes, ZLIB_LEVEL)
    }
}

/// Returns a tile as integers, as differences along rows, compressed. Texels outside of the picture are 0.
fn tiff_tile(texels: &Texels, tile: [u32; 2], format: TexelFormat) -> Vec<u8> {
    let channels = texels.channels as usize;
    let row_samples = TILE_TEXELS as usize * channels;
    let begin = tile.map(|place| place * TILE_TEXELS);
    let width = (texels.size[0] - begin[0]).min(TILE_TEXELS) as usize * channels;
    let limit = if format == TexelFormat::U8 { 255 } else { 65535_u16 };
    let mut bytes = Vec::with_capacity(2 * row_samples * TILE_TEXELS as usize);
    for y in begin[1]..begin[1] + TILE_TEXELS {
        let mut row = vec![0_u16; row_samples];
        if y < texels.size[1] {
            let first = (y as usize * texels.size[0] as usize + begin[0] as usize) * channels;
            let values = &texels.values[first..first + width];
            row.iter_mut().zip(values).for_each(|(sample, &value)| *sample = quantized(value, limit));
        }
        for at in (channels..row_samples).rev() {
            row[at] = row[at].wrapping_sub(row[at - channels]);
        }
        match format {
            TexelFormat::U8 => bytes.extend(row.iter().map(|&sample| sample as u8)),
            _ => bytes.extend(row.iter().flat_map(|sample| sample.to_ne_bytes())),
        }
    }
    exr_blocks::deflated(&bytes, ZLIB_LEVEL)
}

/// Returns the nearest integer; NaN becomes 0.
fn quantized(value: f32, limit: u16) -> u16 {
    (value.clamp(0.0, 1.0) * f32::from(limit) + 0.5) as u16
}
