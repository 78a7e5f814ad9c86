//! A tile as a file stores it, decoded.

use super::header::TexelFormat;
use super::{TILE_TEXELS, TILE_WORDS};

/// A rectangle of texels, decoded: channels of a texel next to each other, in the byte order of this machine.
#[derive(Debug, Default)]
pub(super) struct TexelBlock {
    /// Texels from one row to the next.
    pub(super) width: u32,
    /// Rows.
    pub(super) height: u32,
    pub(super) bytes: Vec<u8>,
}

/// Where a block goes in a tile, and which part of its texels.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPart {
    /// The first texel in the block.
    pub(super) from: [u32; 2],
    /// The first texel in the tile.
    pub(super) to: [u32; 2],
    /// Width and height of what is copied.
    pub(super) size: [u32; 2],
}

impl TexelBlock {
    /// Returns one block of as many channels as there are blocks of one channel, all of one size.
    pub(super) fn interleaved(mut channels: Vec<Self>, format: TexelFormat) -> Self {
        if channels.len() == 1 {
            return channels.remove(0);
        }
        let bytes = format.bytes();
        let (mut width, mut height, mut texels) = (0, 0, Vec::new());
        for (i, channel) in channels.iter().enumerate() {
            (width, height) = (channel.width, channel.height);
            let texel_bytes = channels.len() * bytes;
            texels.resize(channel.bytes.len() * channels.len(), 0);
            let places = texels.chunks_exact_mut(texel_bytes).map(|texel| &mut texel[i * bytes..(i + 1) * bytes]);
            places.zip(channel.bytes.chunks_exact(bytes)).for_each(|(place, value)| place.copy_from_slice(value));
        }
        Self { width, height, bytes: texels }
    }

    /// Copies a part of one plane to a tile. Texels that the block lacks stay as they are.
    pub(super) fn copy_to(
        &self,
        part: BlockPart,
        format: TexelFormat,
        channels: u32,
        plane: u32,
        out: &mut [u32; TILE_WORDS],
    ) {
        let bytes = format.bytes();
        let texel_bytes = channels as usize * bytes;
        let first = (plane * format.channels_per_word()) as usize;
        let kept = (channels as usize).saturating_sub(first).min(format.channels_per_word() as usize);
        let [width, height] = [0, 1].map(|axis| {
            let there = [self.width, self.height][axis].saturating_sub(part.from[axis]);
            part.size[axis].min(there).min(TILE_TEXELS - part.to[axis])
        });
        for y in 0..height {
            let row = ((part.from[1] + y) as usize * self.width as usize + part.from[0] as usize) * texel_bytes;
            let word = ((part.to[1] + y) * TILE_TEXELS + part.to[0]) as usize;
            let texels = self.bytes[row..].chunks_exact(texel_bytes);
            for (word, texel) in out[word..word + width as usize].iter_mut().zip(texels) {
                *word = word_of(&texel[first * bytes..(first + kept) * bytes], bytes);
            }
        }
    }
}

/// Returns the channels of one word, the first in its lowest bits.
fn word_of(texel: &[u8], bytes: usize) -> u32 {
    let value = |channel: &[u8]| match *channel {
        [a] => u32::from(a),
        [a, b] => u32::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]),
        _ => 0,
    };
    let mut shift = 0;
    texel.chunks_exact(bytes).fold(0, |word, channel| {
        let word = word | value(channel) << shift;
        shift += 8 * bytes as u32;
        word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_cut_from_texels() {
        let block = TexelBlock { width: 2, height: 2, bytes: (0..20).collect() };
        let part = BlockPart { from: [1, 0], to: [3, 5], size: [9, 9] };
        let mut tile = [7; TILE_WORDS];
        block.copy_to(part, TexelFormat::U8, 5, 1, &mut tile);
        let at = |x: usize, y: usize| y * 64 + x;
        assert_eq!([tile[at(3, 5)], tile[at(3, 6)], tile[at(4, 5)], tile[at(3, 7)]], [9, 19, 7, 7]);
        block.copy_to(part, TexelFormat::U8, 5, 0, &mut tile);
        assert_eq!(tile[at(3, 5)], 0x0807_0605);
        let halves: Vec<u8> = [1u16, 2, 3].iter().flat_map(|value| value.to_ne_bytes()).collect();
        let block = TexelBlock { width: 1, height: 1, bytes: halves };
        let part = BlockPart { from: [0, 0], to: [0, 0], size: [1, 1] };
        block.copy_to(part, TexelFormat::F16, 3, 0, &mut tile);
        assert_eq!(tile[0], 0x0002_0001);
        block.copy_to(part, TexelFormat::U16, 3, 1, &mut tile);
        assert_eq!(tile[0], 3);
    }
}
