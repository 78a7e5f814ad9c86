//! The TIFF encoder: strips of 8- or 16-bit integers or 32-bit floats, any number of samples.

use super::channels::ChannelGroup;
use super::develop::DevelopedRows;
use super::metadata::SOFTWARE;
use super::plan::{OutputFile, SampleBits, TiffSamples};
use super::quantize::{dither_noise, quantize};
use super::{FilmWriteError, PictureInfo};
use crate::files::FileSink;
use tiff::encoder::colortype::{ColorType, Gray8, Gray16, Gray32Float, RGB8, RGB16, RGB32Float};
use tiff::encoder::{
    Compression, ImageEncoder, Rational, TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard, TiffValue,
};
use tiff::tags::{ExtraSamples, Tag};

/// The position of a crop, in pixels if there is no resolution unit.
const X_POSITION: Tag = Tag::Unknown(286);
/// See [`X_POSITION`].
const Y_POSITION: Tag = Tag::Unknown(287);
/// Pixar's tag for the width of the whole picture that a crop was taken from.
const FULL_WIDTH: Tag = Tag::Unknown(33300);
/// Pixar's tag for the height of the whole picture.
const FULL_HEIGHT: Tag = Tag::Unknown(33301);

/// Files with more raw bytes than this are BigTIFF: offsets of the plain format end at 4 GiB, and compression may add
/// some.
const PLAIN_BYTES_MAX: u64 = 3 << 30;

/// Writes the picture.
pub(super) fn write<'p>(
    sink: &mut dyn FileSink,
    picture: &PictureInfo<'p>,
    output: &OutputFile,
    compression: Compression,
    samples: TiffSamples,
    rows: DevelopedRows<'p>,
) -> Result<(), FilmWriteError> {
    let [width, height] = picture.crop.size().map(u64::from);
    if width * height * rows.floats() as u64 * 4 > PLAIN_BYTES_MAX {
        write_as::<TiffKindBig>(sink, picture, output, compression, samples, rows)
    } else {
        write_as::<TiffKindStandard>(sink, picture, output, compression, samples, rows)
    }
}

/// Selects the type of a sample, and colour or grey by the number of samples: three or more are colour with extra
/// samples.
pub(super) fn write_as<'p, K: TiffKind>(
    sink: &mut dyn FileSink,
    picture: &PictureInfo<'p>,
    output: &OutputFile,
    compression: Compression,
    samples: TiffSamples,
    rows: DevelopedRows<'p>,
) -> Result<(), FilmWriteError> {
    let encoder = TiffEncoder::<_, K>::new_generic(sink)?.with_compression(compression);
    let strips = TiffStrips { picture, output, encoder, rows };
    let is_colour = strips.rows.floats() >= 3;
    match samples {
        TiffSamples::Float if is_colour => strips.write::<RGB32Float>(|value, _, _| value),
        TiffSamples::Float => strips.write::<Gray32Float>(|value, _, _| value),
        TiffSamples::Integer(bits) => {
            let settings = output.quantize_by_float();
            let integer = |value, at: [i32; 2], channel: u32| {
                quantize(value, &settings[channel as usize], bits.limit(), dither_noise(at, channel))
            };
            match (bits, is_colour) {
                (SampleBits::Eight, true) => {
                    strips.write::<RGB8>(|value, at, channel| integer(value, at, channel) as u8)
                }
                (SampleBits::Eight, false) => {
                    strips.write::<Gray8>(|value, at, channel| integer(value, at, channel) as u8)
                }
                (SampleBits::Sixteen, true) => strips.write::<RGB16>(integer),
                (SampleBits::Sixteen, false) => strips.write::<Gray16>(integer),
            }
        }
    }
}

/// An image about to be written.
struct TiffStrips<'a, 'p, W: FileSink, K: TiffKind> {
    picture: &'a PictureInfo<'p>,
    output: &'a OutputFile,
    encoder: TiffEncoder<W, K>,
    rows: DevelopedRows<'p>,
}

impl<W: FileSink, K: TiffKind> TiffStrips<'_, '_, W, K> {
    /// Writes all strips. `sample` converts a value at a pixel and of a channel to a sample.
    fn write<C: ColorType>(mut self, sample: impl Fn(f32, [i32; 2], u32) -> C::Inner) -> Result<(), FilmWriteError>
    where
        [C::Inner]: TiffValue,
    {
        let [width, height] = self.picture.crop.size();
        let floats = self.rows.floats();
        let mut image = self.encoder.new_image::<C>(width, height)?;
        let extra = extra_samples(self.output, floats - C::BITS_PER_SAMPLE.len());
        if !extra.is_empty() {
            image.extra_samples(&extra)?;
        }
        write_tags(&mut image, self.picture)?;
        // `write_data` is the crate's only function that compresses, and it takes the whole image.
        let mut samples = Vec::with_capacity(width as usize * height as usize * floats);
        for y in self.picture.crop.rows() {
            for (pixel, x) in self.rows.row(y).chunks_exact(floats).zip(self.picture.crop.columns()) {
                samples.extend(pixel.iter().zip(0..).map(|(value, channel)| sample(*value, [x, y], channel)));
            }
        }
        Ok(image.write_data(&samples)?)
    }
}

/// Returns the meaning of the samples beyond the first one or three: alpha is associated, the others are unspecified.
fn extra_samples(output: &OutputFile, count: usize) -> Vec<ExtraSamples> {
    let groups: Vec<&ChannelGroup> = output.groups.iter().map(|group| &group.channel.group).collect();
    let meaning = |index| match groups[..] {
        [ChannelGroup::Colour, ChannelGroup::Alpha, ..] if index == 0 => ExtraSamples::AssociatedAlpha,
        _ => ExtraSamples::Unspecified,
    };
    (0..count).map(meaning).collect()
}

fn write_tags<W: FileSink, C: ColorType, K: TiffKind>(
    image: &mut ImageEncoder<'_, W, C, K>,
    picture: &PictureInfo<'_>,
) -> Result<(), FilmWriteError> {
    let header = picture.header;
    if header.pixel_aspect != 1.0 {
        // Pixels per unit: a pixel that is wider than high is less dense in x.
        const DENSITY: f32 = 1_000_000.0;
        image.x_resolution(Rational { n: (DENSITY / header.pixel_aspect) as u32, d: DENSITY as u32 });
    }
    let [x, y] = picture.corner();
    let directory = image.encoder();
    directory.write_tag(Tag::Software, SOFTWARE)?;
    if let Some(note) = &picture.partial_note {
        directory.write_tag(Tag::ImageDescription, note.as_str())?;
    }
    if picture.crop.size() != header.resolution || picture.origin != [0, 0] {
        let pixels = |value: i32| Rational { n: u32::try_from(value).unwrap_or(0), d: 1 };
        directory.write_tag(X_POSITION, pixels(x))?;
        directory.write_tag(Y_POSITION, pixels(y))?;
        directory.write_tag(FULL_WIDTH, header.resolution[0])?;
        directory.write_tag(FULL_HEIGHT, header.resolution[1])?;
    }
    Ok(())
}
