//! Textures written: tiles of 64 x 64 texels of every level, in OpenEXR or TIFF.

use super::TILE_TEXELS;
use super::brick_map;
use super::error::{TextureError, WriteFailure};
use super::header::{TexelFormat, TextureHeader, TextureKind};
use super::make::MakeProgress;
use super::packed_tiles::{PackedTiles, TextureTags};
use super::tiff_tiles::{FOV_COT, TEXTURE_FORMAT, WORLD_TO_CAMERA, WORLD_TO_SCREEN, WRAP_MODES};
use crate::files::{FileSink, OutputBudget};
use exr::block::chunk::{Chunk, CompressedBlock, CompressedTileBlock, TileCoordinates};
use exr::block::writer::ChunksWriter;
use exr::compression::Compression;
use exr::math::{RoundingMode, Vec2};
use exr::meta::attribute::{
    AttributeValue, ChannelDescription, EnvironmentMap, LevelMode, LineOrder, SampleType, Text, TileDescription,
};
use exr::meta::header::{Header, LayerAttributes};
use exr::meta::{BlockDescription, MetaData};
use std::path::Path;
use tiff::encoder::{DirectoryEncoder, TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard};
use tiff::tags::{PhotometricInterpretation, Tag};

/// Is increased when the same pictures become another texture than before.
pub(super) const MAKER_VERSION: u32 = 4;

/// Returns the name and version of the program, as stored in files.
fn software() -> String {
    format!("anthill {} {}", env!("CARGO_PKG_VERSION"), maker_mark())
}

/// Returns the end of the program's name in textures that are made as they are today.
fn maker_mark() -> String {
    format!("(texture maker {MAKER_VERSION})")
}

/// Whether the program of this name, as stored in a file, makes textures as this one does.
pub(super) fn is_of_this_maker(software: &str) -> bool {
    software.ends_with(&maker_mark())
}

/// Files with more raw bytes than this are BigTIFF.
const PLAIN_BYTES_MAX: u64 = 3 << 30;

/// Writes a texture, if `budget` has room for it. After an error an older file of this name is still there.
pub(super) fn write(
    path: &Path,
    tags: &TextureTags<'_>,
    tiles: &mut dyn PackedTiles,
    budget: &OutputBudget,
    progress: &MakeProgress<'_>,
) -> Result<(), TextureError> {
    let all = tags.header.tile_count() / u64::from(tags.header.planes());
    let mut tiles = ShownTiles { tiles, done: 0, all, progress };
    let written = budget.write_whole(path, |sink| match tags.header.format {
        TexelFormat::U8 | TexelFormat::U16 => write_tiff(sink, tags, &mut tiles),
        TexelFormat::F16 | TexelFormat::F32 => write_exr(sink, tags, &mut tiles),
    });
    written.map_err(|failure| failure.of(path))
}

/// Tiles that show how many of them were taken.
struct ShownTiles<'a> {
    tiles: &'a mut dyn PackedTiles,
    done: u64,
    all: u64,
    progress: &'a MakeProgress<'a>,
}

impl ShownTiles<'_> {
    /// Returns the next tiles of a level, or `None` after its last one.
    fn next(&mut self, level: u32) -> Result<Option<Vec<Vec<u8>>>, WriteFailure> {
        if (self.progress)(self.done as f32 / self.all as f32).is_break() {
            return Err(WriteFailure::Stopped);
        }
        let tiles = self.tiles.next(level)?;
        self.done += tiles.len() as u64;
        Ok(Some(tiles).filter(|tiles| !tiles.is_empty()))
    }
}

fn write_exr(sink: &mut dyn FileSink, tags: &TextureTags<'_>, tiles: &mut ShownTiles<'_>) -> Result<(), WriteFailure> {
    let mut blocks = Ok(());
    let written = exr::block::write(sink, std::iter::once(exr_header(tags)).collect(), true, |meta, writer| {
        // Without its last blocks the file is not complete, which is an error.
        blocks = write_blocks(&meta, writer, tags.header.levels, tiles);
        Ok(())
    });
    blocks.and_then(|()| Ok(written?))
}

fn write_blocks(
    meta: &MetaData,
    writer: &mut impl ChunksWriter,
    levels: u32,
    tiles: &mut ShownTiles<'_>,
) -> Result<(), WriteFailure> {
    let mut blocks = meta.enumerate_ordered_header_block_indices();
    for level in 0..levels {
        while let Some(packed) = tiles.next(level)? {
            for (bytes, (number, block)) in packed.into_iter().zip(&mut blocks) {
                let tile_index = block.pixel_position / meta.headers[0].max_block_pixel_size();
                let coordinates = TileCoordinates { tile_index, level_index: block.level };
                let tile = CompressedTileBlock { coordinates, compressed_pixels_le: bytes };
                writer.write_chunk(number, Chunk { layer_index: 0, compressed_block: CompressedBlock::Tile(tile) })?;
            }
        }
    }
    Ok(())
}

fn exr_header(tags: &TextureTags<'_>) -> Header {
    let TextureHeader { width, height, levels, format, kind, wrap, .. } = *tags.header;
    let sample_type = match format {
        _ if tags.points.is_some() => SampleType::U32,
        TexelFormat::F16 => SampleType::F16,
        _ => SampleType::F32,
    };
    let mut names = tags.exr_names();
    names.sort();
    let channels = names.iter().map(|name| ChannelDescription::new(text(name), sample_type, true)).collect();
    let level_mode = if levels > 1 { LevelMode::MipMap } else { LevelMode::Singular };
    let tile_size = Vec2(TILE_TEXELS as usize, TILE_TEXELS as usize);
    let tiles = TileDescription { tile_size, level_mode, rounding_mode: RoundingMode::Down };
    let mut header = Header::new(text(""), (width as usize, height as usize), channels).with_encoding(
        Compression::ZIP16,
        BlockDescription::Tiles(tiles),
        LineOrder::Increasing,
    );
    let format_name = AttributeValue::Text(text(kind.name()));
    header.own_attributes = LayerAttributes {
        software_name: Some(text(&software())),
        wrap_mode_name: Some(text(&wrap.map(super::WrapMode::name).join(","))),
        environment_map: (kind == TextureKind::LatLong).then_some(EnvironmentMap::LatitudeLongitude),
        world_to_camera: tags.header.matrices.map(|matrices| matrices.camera_from_world),
        world_to_normalized_device: tags.header.matrices.map(|matrices| matrices.ndc_from_world),
        horizontal_field_of_view: tags.header.fov,
        // The crate writes each `other` in an order that changes from run to run: never more than one entry.
        other: std::iter::once((text("textureformat"), format_name)).collect(),
        ..LayerAttributes::default()
    };
    // For OpenImageIO, as pictures of depths have it.
    let screen = tags.header.matrices.map(|matrices| matrices.screen_from_world());
    let screen = screen.map(|matrix| (text("worldToScreen"), AttributeValue::Matrix4x4(matrix)));
    let points = tags.points.map(brick_map::listed).map(|list| AttributeValue::Text(text(&list)));
    let points = points.map(|list| (text(brick_map::CHANNELS), list));
    header.shared_attributes.other = screen.or(points).into_iter().collect();
    header
}

/// Text of this module is ASCII; names of channels come from files of the same kind.
fn text(string: &str) -> Text {
    Text::new_or_none(string).unwrap_or_else(|| Text::new_or_none("unnamed").expect("it is ASCII"))
}

fn write_tiff(sink: &mut dyn FileSink, tags: &TextureTags<'_>, tiles: &mut ShownTiles<'_>) -> Result<(), WriteFailure> {
    let header = tags.header;
    let texels = |level| header.level_size(level).map(u64::from).iter().product::<u64>();
    let samples = (0..header.levels).map(texels).sum::<u64>() * u64::from(header.channels);
    if samples * header.format.bytes() as u64 > PLAIN_BYTES_MAX {
        write_levels(TiffEncoder::<_, TiffKindBig>::new_generic(sink)?, header, tiles)
    } else {
        write_levels(TiffEncoder::<_, TiffKindStandard>::new_generic(sink)?, header, tiles)
    }
}

fn write_levels<W: FileSink, K: TiffKind>(
    mut encoder: TiffEncoder<W, K>,
    header: &TextureHeader,
    tiles: &mut ShownTiles<'_>,
) -> Result<(), WriteFailure> {
    for level in 0..header.levels {
        let mut directory = encoder.image_directory()?;
        let (mut offsets, mut counts) = (Vec::new(), Vec::new());
        while let Some(packed) = tiles.next(level)? {
            for bytes in packed {
                offsets.push(directory.write_data(bytes.as_slice())?);
                counts.push(u32::try_from(bytes.len())?);
            }
        }
        // Offsets of the plain format have 32 bits.
        let plain: Result<Vec<u32>, _> = offsets.iter().map(|&offset| u32::try_from(offset)).collect();
        match plain {
            Ok(plain) => directory.write_tag(Tag::TileOffsets, plain.as_slice())?,
            Err(_) => directory.write_tag(Tag::TileOffsets, offsets.as_slice())?,
        }
        directory.write_tag(Tag::TileByteCounts, counts.as_slice())?;
        write_tags(&mut directory, header, level)?;
        directory.finish()?;
    }
    Ok(())
}

fn write_tags<W: FileSink, K: TiffKind>(
    directory: &mut DirectoryEncoder<'_, W, K>,
    header: &TextureHeader,
    level: u32,
) -> Result<(), WriteFailure> {
    /// Compressed by zlib, as Adobe does.
    const ADOBE_DEFLATE: u16 = 8;
    /// Samples are differences to the texel on the left.
    const HORIZONTAL: u16 = 2;
    let channels = u16::try_from(header.channels)?;
    let [width, height] = header.level_size(level);
    let bits = 8 * header.format.bytes() as u16;
    let is_colour = channels >= 3;
    let colours = if is_colour { PhotometricInterpretation::RGB } else { PhotometricInterpretation::BlackIsZero };
    directory.write_tag(Tag::NewSubfileType, u32::from(level > 0))?;
    directory.write_tag(Tag::ImageWidth, width)?;
    directory.write_tag(Tag::ImageLength, height)?;
    directory.write_tag(Tag::BitsPerSample, vec![bits; channels.into()].as_slice())?;
    directory.write_tag(Tag::Compression, ADOBE_DEFLATE)?;
    directory.write_tag(Tag::PhotometricInterpretation, colours)?;
    directory.write_tag(Tag::SamplesPerPixel, channels)?;
    directory.write_tag(Tag::PlanarConfiguration, 1_u16)?;
    directory.write_tag(Tag::Predictor, HORIZONTAL)?;
    directory.write_tag(Tag::TileWidth, TILE_TEXELS)?;
    directory.write_tag(Tag::TileLength, TILE_TEXELS)?;
    directory.write_tag(Tag::SampleFormat, vec![1_u16; channels.into()].as_slice())?;
    directory.write_tag(Tag::Software, software().as_str())?;
    // Alpha is multiplied in; all further channels are unspecified.
    let extra: Vec<u16> = (if is_colour { 3 } else { 1 }..channels).map(|c| u16::from(c == 1 || c == 3)).collect();
    if !extra.is_empty() {
        directory.write_tag(Tag::ExtraSamples, extra.as_slice())?;
    }
    directory.write_tag(TEXTURE_FORMAT, header.kind.name())?;
    directory.write_tag(WRAP_MODES, header.wrap.map(super::WrapMode::name).join(",").as_str())?;
    if let Some(fov) = header.fov {
        directory.write_tag(FOV_COT, 1.0 / (fov.to_radians() * 0.5).tan())?;
    }
    if let Some(matrices) = header.matrices {
        directory.write_tag(WORLD_TO_CAMERA, matrices.camera_from_world.as_slice())?;
        directory.write_tag(WORLD_TO_SCREEN, matrices.screen_from_world().as_slice())?;
    }
    Ok(())
}
