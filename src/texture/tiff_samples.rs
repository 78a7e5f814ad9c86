//! What the samples of a TIFF image mean.

use super::error::TextureError;
use super::header::TexelFormat;
use super::levels::Texels;
use std::io::{Read, Seek};
use std::path::Path;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::tags::{PhotometricInterpretation, SampleFormat, Tag};

/// What an image's samples are stored as, and what they stand for.
#[derive(Debug)]
pub(super) struct StoredSamples {
    /// What a texture's channels are stored as.
    pub(super) format: TexelFormat,
    /// Samples of a texel in the file.
    pub(super) stored: u32,
    /// Whether they are the channels of a texture as it stores them.
    pub(super) is_plain: bool,
    bits: u16,
    meaning: SampleMeaning,
}

/// What the first sample of a texel stands for.
#[derive(Debug)]
enum SampleMeaning {
    /// Grey or red.
    Light,
    /// Grey, of which white is 0.
    Darkness,
    /// The number of a colour.
    Palette(Vec<[f32; 3]>),
}

impl StoredSamples {
    /// Returns what the samples of the image are that `decoder` is at.
    pub(super) fn find<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>) -> Result<Self, TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        let all_bits = decoder.find_tag_unsigned_vec::<u16>(Tag::BitsPerSample).map_err(of_tiff)?;
        let all_bits = all_bits.unwrap_or_else(|| vec![1]);
        let formats = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).map_err(of_tiff)?;
        let format =
            formats.as_ref().and_then(|all| all.first()).map(|&format| SampleFormat::from_u16_exhaustive(format));
        let stored = decoder.find_tag_unsigned::<u16>(Tag::SamplesPerPixel).map_err(of_tiff)?.unwrap_or(1);
        let bits = all_bits.first().copied().filter(|first| all_bits.iter().all(|other| other == first));
        let known = bits.and_then(|bits| Some((bits, texel_format(format.unwrap_or(SampleFormat::Uint), bits)?)));
        let Some((bits, (format, is_stored))) = known else {
            let reason = "its samples are neither whole numbers of 1, 2, 4, 8, 16, 32 or 64 bits nor floats";
            return Err(TextureError::unsupported(path, reason));
        };
        if stored == 0 {
            return Err(TextureError::unsupported(path, "it has no channels"));
        }
        let meaning = SampleMeaning::find(path, decoder, bits)?;
        let format = if let SampleMeaning::Palette(colours) = &meaning { palette_format(colours) } else { format };
        let is_plain = is_stored && matches!(meaning, SampleMeaning::Light);
        Ok(Self { format, stored: stored.into(), is_plain, bits, meaning })
    }

    /// Returns the bytes of a sample as it is decoded.
    pub(super) fn decoded_bytes(&self) -> u64 {
        u64::from(self.bits).div_ceil(8)
    }

    /// Returns the channels of a texel.
    pub(super) fn channels(&self) -> u32 {
        if matches!(self.meaning, SampleMeaning::Palette(_)) { self.stored + 2 } else { self.stored }
    }

    /// Returns decoded samples as floats; `row` is how many a row has. Whole numbers go from 0, or -1, to 1.
    pub(super) fn as_floats(&self, decoded: DecodingResult, row: usize) -> Vec<f32> {
        const U32_MAX: f64 = u32::MAX as f64;
        match decoded {
            DecodingResult::U8(bytes) if self.bits < 8 => unpacked(&bytes, self.bits.into(), row),
            DecodingResult::U8(values) => values.into_iter().map(|value| f32::from(value) / 255.0).collect(),
            DecodingResult::U16(values) => values.into_iter().map(|value| f32::from(value) / 65535.0).collect(),
            DecodingResult::U32(values) => {
                values.into_iter().map(|value| (f64::from(value) / U32_MAX) as f32).collect()
            }
            DecodingResult::U64(values) => values.into_iter().map(|value| value as f32 / u64::MAX as f32).collect(),
            DecodingResult::I8(values) => values.into_iter().map(|value| f32::from(value) / 127.0).collect(),
            DecodingResult::I16(values) => values.into_iter().map(|value| f32::from(value) / 32767.0).collect(),
            DecodingResult::I32(values) => values.into_iter().map(|value| value as f32 / i32::MAX as f32).collect(),
            DecodingResult::I64(values) => values.into_iter().map(|value| value as f32 / i64::MAX as f32).collect(),
            DecodingResult::F16(values) => values.into_iter().map(half::f16::to_f32).collect(),
            DecodingResult::F32(values) => values,
            DecodingResult::F64(values) => values.into_iter().map(|value| value as f32).collect(),
        }
    }

    /// Returns the channels that samples stand for.
    pub(super) fn meant(&self, mut texels: Texels) -> Texels {
        let stored = self.stored as usize;
        match &self.meaning {
            SampleMeaning::Light => texels,
            SampleMeaning::Darkness => {
                texels.values.iter_mut().step_by(stored).for_each(|value| *value = 1.0 - *value);
                texels
            }
            SampleMeaning::Palette(colours) => {
                let last = f64::from((1_u32 << self.bits) - 1);
                let mut meant = Texels::empty(texels.size, self.channels());
                let places = meant.values.chunks_exact_mut(stored + 2);
                for (place, texel) in places.zip(texels.values.chunks_exact(stored)) {
                    let number = (f64::from(texel[0]) * last).round() as usize;
                    place[..3].copy_from_slice(colours.get(number).unwrap_or(&[0.0; 3]));
                    place[3..].copy_from_slice(&texel[1..]);
                }
                meant
            }
        }
    }
}

impl SampleMeaning {
    fn find<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>, bits: u16) -> Result<Self, TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        let found = decoder.find_tag_unsigned::<u16>(Tag::PhotometricInterpretation).map_err(of_tiff)?;
        match found.and_then(PhotometricInterpretation::from_u16) {
            Some(PhotometricInterpretation::BlackIsZero | PhotometricInterpretation::RGB) => Ok(Self::Light),
            Some(PhotometricInterpretation::WhiteIsZero) => Ok(Self::Darkness),
            Some(PhotometricInterpretation::RGBPalette) if bits <= 16 => {
                let numbers = decoder.find_tag_unsigned_vec::<u16>(Tag::ColorMap).map_err(of_tiff)?.unwrap_or_default();
                palette(&numbers, bits).ok_or_else(|| TextureError::corrupt(path, "its palette has a wrong size"))
            }
            _ => {
                let reason = "its texels are neither grey, nor red, green and blue, nor numbers of a palette";
                Err(TextureError::unsupported(path, reason))
            }
        }
    }
}

/// Returns the colours of a palette: all reds, then all greens and all blues. Some writers have numbers of 8 bits.
fn palette(numbers: &[u16], bits: u16) -> Option<SampleMeaning> {
    let count = 1_usize << bits;
    if numbers.len() != 3 * count {
        return None;
    }
    let is_small = numbers.iter().all(|number| *number < 256) && numbers.iter().any(|number| *number > 0);
    let is_shifted = !is_small && numbers.iter().all(|number| number & 255 == 0);
    let light = |number: u16| match number {
        _ if is_small => f32::from(number) / 255.0,
        _ if is_shifted => f32::from(number >> 8) / 255.0,
        _ => f32::from(number) / 65535.0,
    };
    let colour = |index| [0, 1, 2].map(|channel| light(numbers[channel * count + index]));
    Some(SampleMeaning::Palette((0..count).map(colour).collect()))
}

/// Returns what holds all colours of a palette exactly.
fn palette_format(colours: &[[f32; 3]]) -> TexelFormat {
    let is_small = |value: &f32| (value * 255.0 - (value * 255.0).round()).abs() < 1e-4;
    if colours.iter().flatten().all(is_small) { TexelFormat::U8 } else { TexelFormat::U16 }
}

/// Returns what a texture stores samples as, and whether that is how they are.
fn texel_format(format: SampleFormat, bits: u16) -> Option<(TexelFormat, bool)> {
    match (format, bits) {
        (SampleFormat::Uint | SampleFormat::Void, 8) => Some((TexelFormat::U8, true)),
        (SampleFormat::Uint | SampleFormat::Void, 16) => Some((TexelFormat::U16, true)),
        (SampleFormat::Uint | SampleFormat::Void, 1 | 2 | 4) => Some((TexelFormat::U8, false)),
        (SampleFormat::Uint | SampleFormat::Void, 32 | 64) => Some((TexelFormat::F32, false)),
        (SampleFormat::Int, 8 | 16 | 32 | 64) => Some((TexelFormat::F32, false)),
        (SampleFormat::IEEEFP, 16) => Some((TexelFormat::F16, true)),
        (SampleFormat::IEEEFP, 32) => Some((TexelFormat::F32, true)),
        (SampleFormat::IEEEFP, 64) => Some((TexelFormat::F32, false)),
        _ => None,
    }
}

/// Returns samples of fewer than 8 bits, the first in the highest bits; each row of `row` samples begins a byte.
fn unpacked(bytes: &[u8], bits: usize, row: usize) -> Vec<f32> {
    let last = (1_u8 << bits) - 1;
    let sample = |bytes: &[u8], index: usize| bytes[index * bits / 8] >> (8 - bits - index * bits % 8) & last;
    let rows = bytes.chunks_exact((row * bits).div_ceil(8));
    rows.flat_map(|bytes| (0..row).map(move |index| f32::from(sample(bytes, index)) / f32::from(last))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::baked_picture::needs;
    use crate::texture::make::go_on;
    use crate::texture::picture::SourcePicture;
    use crate::texture::read_limits::{PointCharge, ReadLimits};
    use std::fs;
    use tiff::TiffResult;
    use tiff::encoder::TiffEncoder;

    /// Bits of a sample, their format, and what they mean, as tags have it.
    type Stored = [u16; 3];

    const UINT: u16 = 1;
    const INT: u16 = 2;
    const FLOAT: u16 = 3;
    const WHITE_IS_0: u16 = 0;
    const BLACK_IS_0: u16 = 1;
    const PALETTE: u16 = 3;

    /// Writes a TIFF of 3 texels a row, in strips of 2 rows.
    fn write(path: &Path, stored: Stored, rows: &[Vec<u8>], palette: &[u16]) -> TiffResult<()> {
        let mut encoder = TiffEncoder::new(fs::File::create(path)?)?;
        let mut directory = encoder.image_directory()?;
        let (mut offsets, mut counts) = (Vec::new(), Vec::new());
        for strip in rows.chunks(2) {
            let bytes = strip.concat();
            offsets.push(directory.write_data(bytes.as_slice())? as u32);
            counts.push(bytes.len() as u32);
        }
        directory.write_tag(Tag::ImageWidth, 3_u32)?;
        directory.write_tag(Tag::ImageLength, rows.len() as u32)?;
        directory.write_tag(Tag::BitsPerSample, stored[0])?;
        directory.write_tag(Tag::Compression, 1_u16)?;
        directory.write_tag(Tag::PhotometricInterpretation, stored[2])?;
        directory.write_tag(Tag::StripOffsets, offsets.as_slice())?;
        directory.write_tag(Tag::SamplesPerPixel, 1_u16)?;
        directory.write_tag(Tag::RowsPerStrip, 2_u32)?;
        directory.write_tag(Tag::StripByteCounts, counts.as_slice())?;
        if !palette.is_empty() {
            directory.write_tag(Tag::ColorMap, palette)?;
        }
        directory.write_tag(Tag::SampleFormat, stored[1])?;
        directory.finish()
    }

    fn check(stored: Stored, rows: &[Vec<u8>], palette: &[u16], format: TexelFormat, expected: &[f32]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.tif");
        write(&path, stored, rows, palette).expect("writable");
        let limits = ReadLimits::none();
        let read = SourcePicture::read(&path, &PointCharge::new(&limits, needs), &go_on).expect("readable");
        assert_eq!((read.format, read.texels.size), (format, [3, rows.len() as u32]), "{stored:?}");
        assert_eq!(read.texels.values, expected, "{stored:?}");
    }

    #[test]
    fn samples_of_any_size_are_read() {
        let rows = [vec![0b1010_0000], vec![0b0110_0000], vec![0b1110_0000]];
        let bits = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        check([1, UINT, BLACK_IS_0], &rows, &[], TexelFormat::U8, &bits);
        check([1, UINT, WHITE_IS_0], &rows, &[], TexelFormat::U8, &bits.map(|bit| 1.0 - bit));
        check([2, UINT, BLACK_IS_0], &[vec![0b0011_0100]], &[], TexelFormat::U8, &[0.0, 1.0, 1.0 / 3.0]);
        check([4, UINT, BLACK_IS_0], &[vec![0xf0, 0x30]], &[], TexelFormat::U8, &[1.0, 0.0, 0.2]);
        check([8, UINT, WHITE_IS_0], &[vec![0, 255, 51]], &[], TexelFormat::U8, &[1.0, 0.0, 0.8]);
        let row = |numbers: [u32; 3]| vec![numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()];
        check([32, UINT, BLACK_IS_0], &row([0, u32::MAX, 1 << 31]), &[], TexelFormat::F32, &[0.0, 1.0, 0.5]);
        let signed = vec![[0_i16, 32767, -32767].iter().flat_map(|number| number.to_ne_bytes()).collect()];
        check([16, INT, BLACK_IS_0], &signed, &[], TexelFormat::F32, &[0.0, 1.0, -1.0]);
        let doubles = vec![[0.25_f64, 7.0, -1.5].iter().flat_map(|number| number.to_ne_bytes()).collect()];
        check([64, FLOAT, BLACK_IS_0], &doubles, &[], TexelFormat::F32, &[0.25, 7.0, -1.5]);
    }

    #[test]
    fn numbers_of_a_palette_are_colours() {
        let rows = [vec![0b0110_1100]];
        let expected = [1.0, 0.2, 0.0, 0.4, 0.0, 1.0, 0.6, 0.0, 0.0];
        // Reds, greens, blues: of 8 bits, in the higher byte alone, or in both.
        let small = [0, 255, 102, 153, 0, 51, 0, 0, 0, 0, 255, 0];
        for palette in [small, small.map(|number| number << 8), small.map(|number| number * 257)] {
            check([2, UINT, PALETTE], &rows, &palette, TexelFormat::U8, &expected);
        }
        let mut fine = small.map(|number| number * 257);
        fine[3] = 12345;
        let finer = [1.0, 0.2, 0.0, 0.4, 0.0, 1.0, 12345.0 / 65535.0, 0.0, 0.0];
        check([2, UINT, PALETTE], &rows, &fine, TexelFormat::U16, &finer);
    }
}
