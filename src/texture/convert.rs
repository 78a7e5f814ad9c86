//! Levels of textures as plain pictures.

use super::error::{TextureError, WriteFailure};
use super::file::TextureFile;
use super::header::{TexelFormat, TextureHeader, TextureKind};
use super::levels::{Texels, check_size};
use super::packed_tiles::TextureTags;
use super::{TILE_TEXELS, TILE_WORDS};
use crate::files::{FileSink, write_whole};
use exr::image::write::WritableImage;
use exr::image::{AnyChannel, AnyChannels, FlatSamples, Image};
use half::f16;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use std::path::Path;

/// Writes a level of a texture as a picture, all six faces of a cube as they are packed: OpenEXR, or PNG of 8 bits, or
/// of 16 where the texture has more. Nothing changes the values but what PNG needs: they are clamped from 0 to 1, and
/// colours are divided by alpha.
///
/// # Errors
/// If the texture has no such level, cannot be read or is a point cloud, or if the picture cannot be written.
pub fn convert(file: &TextureFile, level: u32, picture: &Path) -> Result<(), TextureError> {
    let header = file.header();
    if header.kind == TextureKind::Points {
        return Err(TextureError::PointCloud(file.identity().path.clone()));
    }
    if level >= header.levels {
        let path = file.identity().path.display().to_string();
        let message = format!("\"{path}\" has no level {level}: its last one is {}", header.levels - 1);
        return Err(TextureError::Request(message));
    }
    let extension = picture.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let write = match &*extension {
        "exr" => write_exr,
        "png" if header.channels <= 4 => write_png,
        "png" => {
            let message = format!("PNG holds at most 4 channels, but there are {}: write OpenEXR", header.channels);
            return Err(TextureError::Request(message));
        }
        _ => return Err(TextureError::Request(format!("\"{}\" must end with .exr or .png", picture.display()))),
    };
    let texels = texels_of(file, level)?;
    write_whole(picture, |sink| write(sink, header, &texels)).map_err(|failure| failure.of(picture))
}

/// Reads all tiles of a level.
fn texels_of(file: &TextureFile, level: u32) -> Result<Texels, TextureError> {
    let header = file.header();
    let (size @ [width, height], channels) = (header.level_size(level), header.channels);
    check_size(&file.identity().path, width.into(), height.into(), channels.into())?;
    let mut texels = Texels::empty(size, channels);
    let each = header.format.channels_per_word();
    let [across, down] = header.level_tiles(level);
    let mut tile = [0; TILE_WORDS];
    for (row, column) in (0..down).flat_map(|row| (0..across).map(move |column| (row, column))) {
        for plane in 0..header.planes() {
            file.read_tile(level, plane, column, row, &mut tile)?;
            for (y, x) in (0..TILE_TEXELS).flat_map(|y| (0..TILE_TEXELS).map(move |x| (y, x))) {
                let [left, top] = [column * TILE_TEXELS + x, row * TILE_TEXELS + y];
                if left >= width || top >= height {
                    continue;
                }
                let texel = texels.at_mut([left, top]);
                let word = tile[(y * TILE_TEXELS + x) as usize];
                let kept = texel.iter_mut().skip((plane * each) as usize).take(each as usize);
                kept.zip(0..).for_each(|(value, channel)| *value = component(word, header.format, channel));
            }
        }
    }
    Ok(texels)
}

/// Returns a channel of a word.
fn component(word: u32, format: TexelFormat, channel: u32) -> f32 {
    let bits = word >> (channel * (32 / format.channels_per_word()));
    match format {
        TexelFormat::U8 => (bits & 0xff) as f32 / 255.0,
        TexelFormat::U16 => (bits & 0xffff) as f32 / 65535.0,
        TexelFormat::F16 => f16::from_bits(bits as u16).to_f32(),
        TexelFormat::F32 => f32::from_bits(word),
    }
}

fn write_exr(sink: &mut dyn FileSink, header: &TextureHeader, texels: &Texels) -> Result<(), WriteFailure> {
    let names = TextureTags { header, names: None, points: None }.exr_names();
    let channels = names.iter().enumerate().map(|(index, name)| {
        let values = texels.values.iter().skip(index).step_by(names.len());
        let samples = match header.format {
            TexelFormat::F16 => FlatSamples::F16(values.map(|&value| f16::from_f32(value)).collect()),
            _ => FlatSamples::F32(values.copied().collect()),
        };
        AnyChannel::new(name.as_str(), samples)
    });
    let [width, height] = texels.size.map(|side| side as usize);
    let image = Image::from_channels((width, height), AnyChannels::sort(channels.collect()));
    image.write().to_buffered(sink)?;
    Ok(())
}

fn write_png(sink: &mut dyn FileSink, header: &TextureHeader, texels: &Texels) -> Result<(), WriteFailure> {
    let channels = texels.channels as usize;
    let is_small = header.format == TexelFormat::U8;
    let kinds = if is_small {
        [ExtendedColorType::L8, ExtendedColorType::La8, ExtendedColorType::Rgb8, ExtendedColorType::Rgba8]
    } else {
        [ExtendedColorType::L16, ExtendedColorType::La16, ExtendedColorType::Rgb16, ExtendedColorType::Rgba16]
    };
    let has_alpha = channels.is_multiple_of(2);
    let mut bytes = Vec::with_capacity(texels.values.len() * if is_small { 1 } else { 2 });
    for texel in texels.values.chunks_exact(channels) {
        let alpha = if has_alpha && texel[channels - 1] > 0.0 { texel[channels - 1] } else { 1.0 };
        for (channel, value) in texel.iter().enumerate() {
            let is_alpha = has_alpha && channel == channels - 1;
            let value = if is_alpha { *value } else { value / alpha }.clamp(0.0, 1.0);
            if is_small {
                bytes.push((value * 255.0 + 0.5) as u8);
            } else {
                bytes.extend(((value * 65535.0 + 0.5) as u16).to_ne_bytes());
            }
        }
    }
    PngEncoder::new(sink).write_image(&bytes, texels.size[0], texels.size[1], kinds[channels - 1])?;
    Ok(())
}
