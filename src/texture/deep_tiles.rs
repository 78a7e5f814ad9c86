//! Tiles of deep shadow maps, as textures have them: each knot of a pixel's light is two channels, its depth and the
//! light there.

use super::block::TexelBlock;
use super::error::TextureError;
use super::exr_tiles::ExrReader;
use super::header::{ShadowMatrices, TexelFormat, TextureHeader, TextureKind, WrapMode};
use crate::deep::{DeepError, DeepReader, KNOTS_MAX, TILE_SIDE, Visibility};
use std::path::Path;

/// What is behind the last knot: nothing is that deep.
const BEHIND_ALL: f32 = 1e38;

/// More samples than knots that tiles have room for become fewer, within this error.
const ERROR: f32 = 0.01;

/// What is needed to find and decode any tile of a file.
#[derive(Debug)]
pub(super) struct DeepTiles(DeepReader);

fn of_deep(path: &Path, error: DeepError) -> TextureError {
    match error {
        DeepError::Io(error) => TextureError::of_io(path, error),
        DeepError::Corrupt(why) => TextureError::corrupt(path, why),
        DeepError::Unsupported(why) => TextureError::unsupported(path, why),
    }
}

impl DeepTiles {
    /// Reads what stands before the tiles.
    pub(super) fn open(path: &Path, file: &mut ExrReader) -> Result<(TextureHeader, Self), TextureError> {
        let reader = DeepReader::open(file).map_err(|error| of_deep(path, error))?;
        let deep = reader.header();
        if deep.corner != [0, 0] || deep.size != deep.whole {
            return Err(TextureError::unsupported(path, "it is a crop of a deep shadow map"));
        }
        let matrices =
            ShadowMatrices { camera_from_world: deep.camera_from_world, ndc_from_world: deep.ndc_from_world };
        let header = TextureHeader {
            width: deep.size[0],
            height: deep.size[1],
            levels: 1,
            channels: 2 * KNOTS_MAX as u32,
            format: TexelFormat::F32,
            kind: TextureKind::DeepShadow,
            wrap: [WrapMode::Clamp; 2],
            matrices: Some(matrices),
            fov: None,
        };
        Ok((header, Self(reader)))
    }

    /// Returns the width and height of a tile of the file.
    pub(super) fn tile(&self) -> [u32; 2] {
        [TILE_SIDE; 2]
    }

    /// Decodes a tile of the file. Returns it with the bytes that were read.
    pub(super) fn read(
        &self,
        path: &Path,
        file: &mut ExrReader,
        header: &TextureHeader,
        at: [u32; 2],
    ) -> Result<(TexelBlock, usize), TextureError> {
        let (tile, bytes) = self.0.read_tile(file, at).map_err(|error| of_deep(path, error))?;
        let width = (header.width - at[0] * TILE_SIDE).min(TILE_SIDE);
        let texels = tile.into_iter().flat_map(texel).flat_map(f32::to_ne_bytes).collect::<Vec<u8>>();
        let height = texels.len() as u32 / (4 * header.channels * width);
        Ok((TexelBlock { width, height, bytes: texels }, bytes))
    }
}

/// Returns the channels of a pixel.
fn texel(light: Visibility) -> [f32; 2 * KNOTS_MAX] {
    let light = light.bounded(ERROR);
    let last = light.knots().last().map_or(1.0, |knot| knot.light);
    let mut channels = [BEHIND_ALL, last].repeat(KNOTS_MAX);
    for (channels, knot) in channels.chunks_exact_mut(2).zip(light.knots()) {
        channels.copy_from_slice(&[knot.z, knot.light]);
    }
    channels.try_into().unwrap_or([0.0; 2 * KNOTS_MAX])
}
