//! The PNG encoder: 8 or 16 bits, grey or colour, with alpha that is not associated.

use super::develop::DevelopedRows;
use super::metadata::SOFTWARE;
use super::plan::SampleBits;
use super::quantize::{dither_noise, quantize};
use super::{FilmWriteError, PictureInfo};
use crate::files::FileSink;
use crate::scene::Quantize;
use png::{BitDepth, ColorType, Encoder, EncodingError};
use std::io::{self, Write};

/// Writes the picture: 1 float per pixel is grey, 3 are colour, 4 are premultiplied colour and alpha.
pub(super) fn write(
    sink: &mut dyn FileSink,
    picture: &PictureInfo<'_>,
    settings: &[Quantize],
    bits: SampleBits,
    mut rows: DevelopedRows<'_>,
) -> Result<(), FilmWriteError> {
    let floats = rows.floats();
    let mut writer = encoder(sink, picture, floats, bits)?.write_header()?;
    let mut stream = writer.stream_writer()?;
    let mut bytes = Vec::new();
    for y in picture.crop.rows() {
        bytes.clear();
        for (pixel, x) in rows.row(y).chunks_exact(floats).zip(picture.crop.columns()) {
            for (&value, channel) in straight(pixel).iter().zip(0..floats as u32) {
                let sample = quantize(value, &settings[channel as usize], bits.limit(), dither_noise([x, y], channel));
                match bits {
                    SampleBits::Eight => bytes.push(sample as u8),
                    SampleBits::Sixteen => bytes.extend(sample.to_be_bytes()),
                }
            }
        }
        stream.write_all(&bytes).map_err(EncodingError::IoError)?;
    }
    stream.finish()?;
    writer.finish()?;
    Ok(())
}

/// Checks that a PNG file can describe a picture.
pub(super) fn check(picture: &PictureInfo<'_>, floats: usize, bits: SampleBits) -> Result<(), FilmWriteError> {
    encoder(&mut io::sink(), picture, floats, bits)?.write_header()?;
    Ok(())
}

fn encoder<'a, W: Write>(
    sink: W,
    picture: &PictureInfo<'_>,
    floats: usize,
    bits: SampleBits,
) -> Result<Encoder<'a, W>, EncodingError> {
    let [width, height] = picture.crop.size();
    let mut encoder = Encoder::new(sink, width, height);
    encoder.set_depth(if bits == SampleBits::Eight { BitDepth::Eight } else { BitDepth::Sixteen });
    encoder.set_color(match floats {
        1 => ColorType::Grayscale,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.add_text_chunk("Software".into(), SOFTWARE.into())?;
    if let Some(note) = &picture.partial_note {
        encoder.add_text_chunk("Comment".into(), note.clone())?;
    }
    Ok(encoder)
}

/// Divides a pixel's colour by its alpha. Light that is added without covering anything (colour with alpha 0) cannot be
/// represented in a PNG.
fn straight(pixel: &[f32]) -> [f32; 4] {
    match *pixel {
        [r, g, b, a] if a > 0.0 => [r / a, g / a, b / a, a],
        [_, _, _, a] => [0.0, 0.0, 0.0, a],
        [r, g, b] => [r, g, b, 0.0],
        [grey] => [grey, 0.0, 0.0, 0.0],
        _ => [0.0; 4],
    }
}
