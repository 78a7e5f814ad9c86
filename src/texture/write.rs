//! Textures written: tiles of 64 x 64 texels of every level, in OpenEXR or TIFF.

use super::TILE_TEXELS;
use super::brick_map;
use super::error::TextureError;
use super::header::{TexelFormat, TextureHeader, TextureKind};
use super::levels::Texels;
use super::make::MakeProgress;
use super::tiff_tiles::{FOV_COT, TEXTURE_FORMAT, WORLD_TO_CAMERA, WORLD_TO_SCREEN, WRAP_MODES};
use crate::exr_blocks;
use crate::files::{FileSink, OutputBudget};
use crate::parallel::in_parallel;
use crate::points::PointChannel;
use exr::block::chunk::{Chunk, CompressedBlock, CompressedTileBlock, TileCoordinates};
use exr::block::{BlockIndex, UncompressedBlock, writer::ChunksWriter};
use exr::compression::Compression;
use exr::math::{RoundingMode, Vec2};
use exr::meta::BlockDescription;
use exr::meta::attribute::{
    AttributeValue, ChannelDescription, EnvironmentMap, LevelMode, LineOrder, SampleType, Text, TileDescription,
};
use exr::meta::header::{Header, LayerAttributes};
use std::cell::Cell;
use std::path::Path;
use tiff::encoder::{DirectoryEncoder, TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard};
use tiff::tags::{PhotometricInterpretation, Tag};

/// Is increased when the same pictures become another texture than before.
pub(super) const MAKER_VERSION: u32 = 3;

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

/// Tiles that are compressed between two reports of progress.
const TILES_AT_ONCE: usize = 256;

/// How hard compression tries. The next level makes half-float files 4 to 6% smaller, and making them a third longer.
const ZLIB_LEVEL: i32 = 1;

/// Files with more raw bytes than this are BigTIFF.
const PLAIN_BYTES_MAX: u64 = 3 << 30;

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct MadeLevels<'a> {
    pub(super) header: &'a TextureHeader,
    pub(super) levels: &'a [Texels],
    pub(super) names: Option<&'a [String]>,
    /// The channels of the points that a brick map holds.
    pub(super) points: Option<&'a [PointChannel]>,
}

/// Why writing failed.
pub(super) enum WriteFailure {
    /// The caller wanted to stop.
    Stopped,
    /// For this reason, in words.
    Because(String),
}

impl WriteFailure {
    /// Returns the error of writing this file.
    pub(super) fn of(self, path: &Path) -> TextureError {
        match self {
            Self::Stopped => TextureError::Stopped,
            Self::Because(reason) => TextureError::Write { path: path.to_owned(), reason },
        }
    }
}

impl<E: std::error::Error> From<E> for WriteFailure {
    fn from(error: E) -> Self {
        Self::Because(error.to_string())
    }
}

/// Writes a texture, if `budget` has room for it. After an error an older file of this name is still there.
pub(super) fn write(
    path: &Path,
    made: &MadeLevels<'_>,
    budget: &OutputBudget,
    progress: &MakeProgress<'_>,
) -> Result<(), TextureError> {
    let written = budget.write_whole(path, |sink| match made.header.format {
        TexelFormat::U8 | TexelFormat::U16 => write_tiff(sink, made, progress),
        TexelFormat::F16 | TexelFormat::F32 => write_exr(sink, made, progress),
    });
    written.map_err(|failure| failure.of(path))
}

fn write_exr(sink: &mut dyn FileSink, made: &MadeLevels<'_>, progress: &MakeProgress<'_>) -> Result<(), WriteFailure> {
    let names = exr_names(made);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&index| &names[index]);
    let header = exr_header(made, order.iter().map(|&index| names[index].as_str()));
    let is_half = made.header.format == TexelFormat::F16;
    let stopped = Cell::new(false);
    let written = exr::block::write(sink, std::iter::once(header).collect(), true, |meta, writer| {
        let channel_list = &meta.headers[0].channels;
        let compressed = |block: BlockIndex| {
            let bytes = UncompressedBlock::collect_block_data_from_lines(channel_list, block, |line| {
                let at = line.location;
                let texels = &made.levels[at.level.x()];
                let first = (at.position.y() * texels.size[0] as usize + at.position.x()) * names.len();
                let samples = texels.values[first + order[at.channel]..].iter().step_by(names.len());
                exr_blocks::encode(line.value, samples, is_half);
            });
            exr_blocks::packed(bytes, ZLIB_LEVEL)
        };
        let blocks = meta.collect_ordered_blocks(|index| UncompressedBlock { index, data: Vec::new() });
        let blocks: Vec<(usize, BlockIndex)> = blocks.map(|(number, block)| (number, block.index)).collect();
        for (turn, some) in blocks.chunks(TILES_AT_ONCE).enumerate() {
            stopped.set(progress((turn * TILES_AT_ONCE) as f32 / blocks.len() as f32).is_break());
            // Without its last blocks the file is not complete, which is an error.
            if stopped.get() {
                break;
            }
            let made = in_parallel(some.to_vec(), |(number, block)| (number, block, compressed(block)));
            for (number, block, bytes) in made {
                let tile_index = block.pixel_position / meta.headers[0].max_block_pixel_size();
                let coordinates = TileCoordinates { tile_index, level_index: block.level };
                let tile = CompressedTileBlock { coordinates, compressed_pixels_le: bytes };
                writer.write_chunk(number, Chunk { layer_index: 0, compressed_block: CompressedBlock::Tile(tile) })?;
            }
        }
        Ok(())
    });
    if stopped.get() { Err(WriteFailure::Stopped) } else { Ok(written?) }
}

/// Returns the names of channels that a reader puts in the order of the texture.
pub(super) fn exr_names(made: &MadeLevels<'_>) -> Vec<String> {
    let count = made.header.channels as usize;
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    match made.names {
        Some(names) if names.len() == count => names.to_vec(),
        _ if matches!(made.header.kind, TextureKind::Shadow | TextureKind::Occlusion) => owned(&["Z"]),
        _ => match count {
            1 | 2 => owned(&["Y", "A"][..count]),
            3 | 4 => owned(&["R", "G", "B", "A"][..count]),
            _ => (0..count).map(|channel| format!("channel{channel:03}")).collect(),
        },
    }
}

fn exr_header<'a>(made: &MadeLevels<'_>, names: impl Iterator<Item = &'a str>) -> Header {
    let TextureHeader { width, height, format, kind, wrap, .. } = *made.header;
    let sample_type = match format {
        _ if made.points.is_some() => SampleType::U32,
        TexelFormat::F16 => SampleType::F16,
        _ => SampleType::F32,
    };
    let channels = names.map(|name| ChannelDescription::new(text(name), sample_type, true)).collect();
    let level_mode = if made.levels.len() > 1 { LevelMode::MipMap } else { LevelMode::Singular };
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
        world_to_camera: made.header.matrices.map(|matrices| matrices.camera_from_world),
        world_to_normalized_device: made.header.matrices.map(|matrices| matrices.ndc_from_world),
        horizontal_field_of_view: made.header.fov,
        // The crate writes each `other` in an order that changes from run to run: never more than one entry.
        other: std::iter::once((text("textureformat"), format_name)).collect(),
        ..LayerAttributes::default()
    };
    // For OpenImageIO, as pictures of depths have it.
    let screen = made.header.matrices.map(|matrices| matrices.screen_from_world());
    let screen = screen.map(|matrix| (text("worldToScreen"), AttributeValue::Matrix4x4(matrix)));
    let points = made.points.map(brick_map::listed).map(|list| AttributeValue::Text(text(&list)));
    let points = points.map(|list| (text(brick_map::CHANNELS), list));
    header.shared_attributes.other = screen.or(points).into_iter().collect();
    header
}

/// Text of this module is ASCII; names of channels come from files of the same kind.
fn text(string: &str) -> Text {
    Text::new_or_none(string).unwrap_or_else(|| Text::new_or_none("unnamed").expect("it is ASCII"))
}

fn write_tiff(sink: &mut dyn FileSink, made: &MadeLevels<'_>, progress: &MakeProgress<'_>) -> Result<(), WriteFailure> {
    let samples: u64 = made.levels.iter().map(|level| level.values.len() as u64).sum();
    if samples * made.header.format.bytes() as u64 > PLAIN_BYTES_MAX {
        write_levels(TiffEncoder::<_, TiffKindBig>::new_generic(sink)?, made, progress)
    } else {
        write_levels(TiffEncoder::<_, TiffKindStandard>::new_generic(sink)?, made, progress)
    }
}

fn write_levels<W: FileSink, K: TiffKind>(
    mut encoder: TiffEncoder<W, K>,
    made: &MadeLevels<'_>,
    progress: &MakeProgress<'_>,
) -> Result<(), WriteFailure> {
    let (mut done, all) = (0, made.header.tile_count() / u64::from(made.header.planes()));
    for (level, texels) in made.levels.iter().enumerate() {
        let mut directory = encoder.image_directory()?;
        let tiles = texels.size.map(|side| side.div_ceil(TILE_TEXELS));
        let places: Vec<[u32; 2]> = (0..tiles[1]).flat_map(|y| (0..tiles[0]).map(move |x| [x, y])).collect();
        let (mut offsets, mut counts) = (Vec::new(), Vec::new());
        for places in places.chunks(TILES_AT_ONCE) {
            if progress(done as f32 / all as f32).is_break() {
                return Err(WriteFailure::Stopped);
            }
            done += places.len() as u64;
            for bytes in in_parallel(places.to_vec(), |tile| compressed_tile(texels, tile, made.header.format)) {
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
        write_tags(&mut directory, texels, made, level)?;
        directory.finish()?;
    }
    Ok(())
}

fn write_tags<W: FileSink, K: TiffKind>(
    directory: &mut DirectoryEncoder<'_, W, K>,
    texels: &Texels,
    made: &MadeLevels<'_>,
    level: usize,
) -> Result<(), WriteFailure> {
    /// Compressed by zlib, as Adobe does.
    const ADOBE_DEFLATE: u16 = 8;
    /// Samples are differences to the texel on the left.
    const HORIZONTAL: u16 = 2;
    let header = made.header;
    let channels = u16::try_from(texels.channels)?;
    let bits = 8 * header.format.bytes() as u16;
    let is_colour = channels >= 3;
    let colours = if is_colour { PhotometricInterpretation::RGB } else { PhotometricInterpretation::BlackIsZero };
    directory.write_tag(Tag::NewSubfileType, u32::from(level > 0))?;
    directory.write_tag(Tag::ImageWidth, texels.size[0])?;
    directory.write_tag(Tag::ImageLength, texels.size[1])?;
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

/// Returns a tile as integers, as differences along rows, compressed. Texels outside of the picture are 0.
fn compressed_tile(texels: &Texels, tile: [u32; 2], format: TexelFormat) -> Vec<u8> {
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
