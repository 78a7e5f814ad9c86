//! The OpenEXR encoder: scan lines, written some blocks at a time, so that not all of them are in memory at once.

use super::develop::DevelopedRows;
use super::metadata::SOFTWARE;
use super::plan::ExrChannel;
use super::{FilmWriteError, PictureInfo};
use crate::exr_blocks::{self, ZIP_LEVEL};
use crate::files::FileSink;
use crate::parallel::in_parallel;
use exr::block::chunk::{Chunk, CompressedBlock, CompressedScanLineBlock};
use exr::block::{BlockIndex, UncompressedBlock, writer::ChunksWriter};
use exr::compression::Compression;
use exr::math::Vec2;
use exr::meta::header::{Header, ImageAttributes, LayerAttributes};
use exr::meta::{
    BlockDescription, MetaData,
    attribute::{AttributeValue, ChannelDescription, IntegerBounds, LineOrder, SampleType, Text},
};

/// About how many bytes are compressed at once; few in tests, so that small pictures take several turns.
const BYTES_AT_ONCE: usize = if cfg!(test) { 1 << 12 } else { 1 << 24 };

/// Writes the picture. `channels` names the floats of a pixel in the order in which `rows` interleaves them.
pub(super) fn write(
    sink: &mut dyn FileSink,
    picture: &PictureInfo<'_>,
    compression: Compression,
    channels: &[ExrChannel],
    mut rows: DevelopedRows<'_>,
) -> Result<(), FilmWriteError> {
    let order = by_name(channels);
    let header = file_header(picture, compression, order.iter().map(|&index| &channels[index]));
    let headers = match &picture.older {
        Some(older) => older.headers_with(header),
        None => std::iter::once(header).collect(),
    };
    let (part, top) = (headers.len() - 1, picture.crop.corner()[1]);
    exr::block::write(sink, headers, true, |meta, writer| {
        picture.older.as_ref().map_or(Ok(()), |older| older.copy(writer))?;
        let channel_list = &meta.headers[part].channels;
        let mut bytes_of = |block: BlockIndex| {
            UncompressedBlock::collect_block_data_from_lines(channel_list, block, |line| {
                let channel = order[line.location.channel];
                let row = rows.row(top + line.location.position.y() as i32);
                let samples = row.iter().skip(channel).step_by(channels.len());
                exr_blocks::encode(line.value, samples, channels[channel].half);
            })
        };
        if matches!(compression, Compression::ZIP1 | Compression::ZIP16) {
            return write_zipped(&meta, part, writer, bytes_of);
        }
        let blocks = meta.collect_ordered_blocks(|index| UncompressedBlock { index, data: bytes_of(index) });
        writer.on_progress(|_| ()).compress_all_blocks_parallel(&meta, blocks)
    })?;
    Ok(())
}

/// Checks that OpenEXR can describe a picture.
pub(super) fn check(
    picture: &PictureInfo<'_>,
    compression: Compression,
    channels: &[ExrChannel],
) -> Result<(), FilmWriteError> {
    let header = file_header(picture, compression, by_name(channels).into_iter().map(|index| &channels[index]));
    let mut has_long_names = false;
    Ok(header.validate(false, &mut has_long_names, true)?)
}

/// Files list channels by name: returns the position in a pixel of each channel of the file.
fn by_name(channels: &[ExrChannel]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..channels.len()).collect();
    order.sort_by_key(|&index| &channels[index].name);
    order
}

/// Writes all blocks of a part, some at a time, compressed by [`exr_blocks`].
fn write_zipped(
    meta: &MetaData,
    part: usize,
    writer: &mut impl ChunksWriter,
    mut bytes_of: impl FnMut(BlockIndex) -> Vec<u8>,
) -> exr::error::UnitResult {
    let header = &meta.headers[part];
    let blocks = meta.enumerate_ordered_header_block_indices();
    let blocks: Vec<(usize, BlockIndex)> = blocks.filter(|(_, block)| block.layer == part).collect();
    let block_bytes = header.max_block_byte_size();
    for some in blocks.chunks((BYTES_AT_ONCE / block_bytes).max(1)) {
        let raw = some.iter().map(|&(number, block)| (number, block, bytes_of(block))).collect();
        let packed = |(number, block, bytes)| (number, block, exr_blocks::packed(bytes, ZIP_LEVEL));
        for (number, block, compressed_pixels_le) in in_parallel(raw, packed) {
            let y_coordinate = header.own_attributes.layer_position.y() + block.pixel_position.y() as i32;
            let block = CompressedScanLineBlock { y_coordinate, compressed_pixels_le };
            let compressed_block = CompressedBlock::ScanLine(block);
            writer.write_chunk(number, Chunk { layer_index: part, compressed_block })?;
        }
    }
    Ok(())
}

fn file_header<'a>(
    picture: &PictureInfo<'_>,
    compression: Compression,
    channels: impl Iterator<Item = &'a ExrChannel>,
) -> Header {
    let [width, height] = picture.crop.size().map(|side| side as usize);
    let channels = channels
        .map(|channel| {
            let sample_type = if channel.half { SampleType::F16 } else { SampleType::F32 };
            let linear = !matches!(channel.name.as_str(), "R" | "G" | "B");
            ChannelDescription::new(text(&channel.name), sample_type, linear)
        })
        .collect();
    let mut header = Header::new(text(""), (width, height), channels)
        .with_encoding(compression, BlockDescription::ScanLines, LineOrder::Increasing)
        .with_shared_attributes(image_attributes(picture));
    header.own_attributes = layer_attributes(picture);
    header
}

pub(super) fn image_attributes(picture: &PictureInfo<'_>) -> ImageAttributes {
    let [width, height] = picture.header.resolution.map(|side| side as usize);
    let [x, y] = picture.origin;
    let mut attributes = ImageAttributes::new(IntegerBounds::new((x, y), (width, height)));
    attributes.pixel_aspect = picture.header.pixel_aspect;
    // The crate writes `other` in the order of a std HashMap, which changes from run to run. Equal pictures must be
    // equal files: never more than one entry here, nor in those of the layer.
    let note = picture.partial_note.as_ref().map(|note| (text("partial"), AttributeValue::Text(text(note))));
    attributes.other = note.into_iter().collect();
    attributes
}

fn layer_attributes(picture: &PictureInfo<'_>) -> LayerAttributes {
    let header = picture.header;
    let [x, y] = picture.corner();
    let [center_x, center_y] = header.screen_window_center;
    LayerAttributes {
        layer_position: Vec2(x, y),
        screen_window_center: Vec2(center_x, center_y),
        screen_window_width: header.screen_window_width,
        world_to_camera: Some(header.world_to_camera),
        world_to_normalized_device: Some(header.world_to_ndc),
        near_clip_plane: Some(header.clip[0]),
        far_clip_plane: Some(header.clip[1]),
        horizontal_field_of_view: header.field_of_view.map(|[x, _]| x),
        vertical_field_of_view: header.field_of_view.map(|[_, y]| y),
        software_name: Some(text(SOFTWARE)),
        // With this one OpenImageIO reads depths as a shadow map.
        other: std::iter::once((text("worldToScreen"), AttributeValue::Matrix4x4(header.world_to_screen))).collect(),
        ..LayerAttributes::default()
    }
}

/// Converts text of this module, which is ASCII: literals, numbers and sanitized channel names.
pub(super) fn text(string: &str) -> Text {
    Text::new_or_none(string).expect("attribute texts are ASCII")
}
