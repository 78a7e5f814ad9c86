//! Previews of OpenEXR pictures: PNG, sRGB, 8 bits.

use crate::files::{FileSink, write_whole};
use exr::image::{AnyChannel, FlatSamples};
use exr::meta::MetaData;
use exr::prelude::{ReadChannels, ReadLayers, read};
use png::{BitDepth, ColorType, Decoder, Encoder, SrgbRenderingIntent, Transformations};
use std::fs::File;
use std::io::{BufReader, Cursor, Read as _};
use std::path::Path;

/// Why a preview could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The picture cannot be read.
    #[error("cannot read \"{path}\": {reason}")]
    Read {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: exr::error::Error,
    },
    /// The picture is too large for a preview.
    #[error("\"{path}\" is too large for a preview")]
    TooLarge {
        /// The file.
        path: String,
    },
    /// The preview cannot be written.
    #[error("cannot write \"{path}\": {reason}")]
    Write {
        /// The file.
        path: String,
        /// What went wrong.
        reason: png::EncodingError,
    },
}

/// The largest picture that is previewed: width times height times channels.
const SAMPLES_MAX: usize = 1 << 30;

/// A preview of a picture: sRGB, 8 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewImage {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// One plane of bytes for grey, three for colour; none of a picture without channels.
    planes: Vec<Vec<u8>>,
}

impl PreviewImage {
    /// Returns a pixel's colour: black outside the picture, and of a picture without channels.
    pub fn colour(&self, [x, y]: [u32; 2]) -> [u8; 3] {
        let inside = x < self.size[0] && y < self.size[1];
        let index = y as usize * self.size[0] as usize + x as usize;
        let byte = |plane: &Vec<u8>| plane.get(index).copied().unwrap_or(0);
        match &self.planes[..] {
            [red, green, blue, ..] if inside => [byte(red), byte(green), byte(blue)],
            [grey, ..] if inside => [byte(grey); 3],
            _ => [0; 3],
        }
    }
}

/// Reads a preview of an OpenEXR or PNG picture, whatever its name; `None` if it is neither, or cannot be read.
pub fn shown_image(input: &Path) -> Option<PreviewImage> {
    let mut begin = [0; 4];
    File::open(input).and_then(|mut file| file.read_exact(&mut begin)).ok()?;
    if begin != *b"\x89PNG" {
        return preview_image(input, 1.0).ok();
    }
    let mut decoder = Decoder::new(BufReader::new(File::open(input).ok()?));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let mut bytes = vec![0; reader.output_buffer_size()?];
    let frame = reader.next_frame(&mut bytes).ok()?;
    let channels = frame.color_type.samples();
    let (colours, has_alpha) = (if channels < 3 { 1 } else { 3 }, channels.is_multiple_of(2));
    // Its alpha is straight, and previews are over black.
    let over_black = |pixel: &[u8], channel: usize| match pixel.last() {
        Some(&alpha) if has_alpha => (u32::from(pixel[channel]) * u32::from(alpha) / 255) as u8,
        _ => pixel[channel],
    };
    let plane = |channel| bytes.chunks_exact(channels).map(|pixel| over_black(pixel, channel)).collect();
    Some(PreviewImage { size: [frame.width, frame.height], planes: (0..colours).map(plane).collect() })
}

/// Writes an OpenEXR picture's data window as an sRGB PNG of 8 bits. See [`preview_image()`].
///
/// # Errors
/// If the picture cannot be read or the PNG cannot be written.
pub fn preview(input: &Path, output: &Path, gain: f32) -> Result<(), PreviewError> {
    let PreviewImage { size, planes } = preview_image(input, gain)?;
    let written = write_whole(output, |sink| encode(sink, size, &planes));
    written.map_err(|reason| PreviewError::Write { path: output.display().to_string(), reason })
}

/// Reads a preview of an OpenEXR picture's data window: colours times `gain`, premultiplied and so over black. Colours
/// are the channels R, G and B, or else those of the first layer (`name.R`) that has them. A picture without colours is
/// grey: its `Y`, if there is one, or else its first channel, stretched from the smallest to the largest finite value
/// below 1e30; in a depth channel (`Z`) near values are bright.
///
/// # Errors
/// If the picture cannot be read or is too large for a preview.
pub fn preview_image(input: &Path, gain: f32) -> Result<PreviewImage, PreviewError> {
    let path = || input.display().to_string();
    let unreadable = |reason| PreviewError::Read { path: path(), reason };
    // A header can claim any size, and the reader would allocate that much memory.
    let meta = MetaData::read_from_file(input, false).map_err(unreadable)?;
    if meta
        .headers
        .iter()
        .any(|header| header.layer_size.area().saturating_mul(header.channels.list.len()) > SAMPLES_MAX)
    {
        return Err(PreviewError::TooLarge { path: path() });
    }
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_file(input)
        .map_err(unreadable)?;
    let layer = image.layer_data;
    let planes = planes(&layer.channel_data.list, gain);
    let size = [layer.size.width(), layer.size.height()].map(|side| side as u32);
    Ok(PreviewImage { size, planes })
}

/// Encodes a PNG of sRGB colours, row by row, one for each pixel of the picture.
pub fn encode_png(size: [u32; 2], colours: &[[u8; 3]]) -> Vec<u8> {
    let planes: Vec<Vec<u8>> = (0..3).map(|channel| colours.iter().map(|colour| colour[channel]).collect()).collect();
    let mut bytes = Cursor::new(Vec::new());
    encode(&mut bytes, size, &planes).expect("as many colours as pixels, and room in memory");
    bytes.into_inner()
}

/// Returns one plane of bytes for grey, three for colour.
fn planes(channels: &[AnyChannel<FlatSamples>], gain: f32) -> Vec<Vec<u8>> {
    let find = |name: &str| channels.iter().find(|channel| channel.name.as_slice() == name.as_bytes());
    let shown = |channel: &AnyChannel<FlatSamples>| {
        channel.sample_data.values_as_f32().map(|value| srgb_byte(value * gain)).collect()
    };
    let colours = |layer: &str| {
        let [r, g, b] = ["R", "G", "B"].map(|part| find(&format!("{layer}{part}")));
        Some([r?, g?, b?])
    };
    let layered = || channels.iter().find_map(|channel| colours(channel.name.to_string().strip_suffix('R')?));
    match (colours("").or_else(layered), find("Y"), channels.first()) {
        (Some(colours), ..) => colours.map(shown).into(),
        (_, Some(y), _) => vec![shown(y)],
        (.., first) => first.map(stretched).into_iter().collect(),
    }
}

/// Returns a channel as bytes, stretched from its smallest to its largest value.
fn stretched(channel: &AnyChannel<FlatSamples>) -> Vec<u8> {
    /// Values beyond this mean that there is nothing (RI_INFINITY).
    const LARGE: f32 = 1e30;
    let is_shown = |value: &f32| value.is_finite() && value.abs() < LARGE;
    let fold = |(low, high): (f32, f32), value: f32| (low.min(value), high.max(value));
    let samples = &channel.sample_data;
    let (low, high) = samples.values_as_f32().filter(is_shown).fold((f32::MAX, f32::MIN), fold);
    let is_depth = channel.name.as_slice() == b"Z";
    let byte = |value: f32| {
        let unit = if high > low { (value - low) / (high - low) } else { 0.0 };
        let unit = if is_depth { 1.0 - unit } else { unit };
        if is_shown(&value) { srgb_byte(unit) } else { 0 }
    };
    samples.values_as_f32().map(byte).collect()
}

/// Applies the sRGB transfer function (IEC 61966-2-1), rounded to a byte.
fn srgb_byte(linear: f32) -> u8 {
    let linear = f64::from(linear).clamp(0.0, 1.0);
    let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    // NaN becomes 0.
    (encoded * 255.0 + 0.5) as u8
}

fn encode(sink: &mut dyn FileSink, [width, height]: [u32; 2], planes: &[Vec<u8>]) -> Result<(), png::EncodingError> {
    let mut encoder = Encoder::new(sink, width, height);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_color(if planes.len() == 3 { ColorType::Rgb } else { ColorType::Grayscale });
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    let pixel_count = planes.first().map_or(0, Vec::len);
    let bytes: Vec<u8> = (0..pixel_count).flat_map(|index| planes.iter().map(move |plane| plane[index])).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_a_layer_are_colours() {
        let channel = |name: &str, value: f32| AnyChannel::new(name, FlatSamples::F32(vec![value]));
        let layer = ["a.A", "a.B", "a.G", "a.R"].map(|name| channel(name, if name == "a.G" { 1.0 } else { 0.0 }));
        assert_eq!(planes(&layer, 1.0), [[0], [255], [0]]);
        let both = [channel("B", 0.0), channel("G", 0.0), channel("R", 1.0), channel("a.R", 0.0)];
        assert_eq!(planes(&both, 1.0), [[255], [0], [0]]);
        assert_eq!(planes(&[channel("OR", 0.3)], 1.0).len(), 1);
    }
}
