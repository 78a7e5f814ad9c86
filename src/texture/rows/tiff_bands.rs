//! TIFF, read by strips or by rows of tiles.

use super::{PictureHead, RowBands};
use crate::texture::error::TextureError;
use crate::texture::levels::{SAMPLES_MAX, Texels, check_size};
use crate::texture::tiff_directory::{DescribedTiff, TiffPart};
use crate::texture::tiff_samples::StoredSamples;
use crate::texture::tiff_tiles::{ChannelOrder, TiffTextureTags, decoder, whole_tiles};
use crate::texture::watched_file::WatchedFile;
use crate::texture::window::PictureWindow;
use std::io::{BufReader, Read, Seek};
use std::ops::Range;
use std::path::Path;
use tiff::decoder::Decoder;
use tiff::tags::{ExtraSamples, Tag};

/// The decoder of one plane.
type PlaneDecoder<'a> = Decoder<DescribedTiff<BufReader<WatchedFile<'a>>>>;

/// The first image of a file.
pub(super) struct TiffBands<'a> {
    path: &'a Path,
    /// One for each of the planes that its tiles or strips are divided into.
    planes: Vec<PlaneDecoder<'a>>,
    samples: StoredSamples,
    size: [u32; 2],
    /// Rows of a strip or a tile, and how many of them there are in a row.
    rows: u32,
    across: u32,
}

impl<'a> TiffBands<'a> {
    /// Reads what the directory of the image says.
    pub(super) fn open(path: &'a Path, file: BufReader<WatchedFile<'a>>) -> Result<(PictureHead, Self), TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        let again = || BufReader::new(file.get_ref().clone());
        let mut first = decoder(path, DescribedTiff::plain(again()))?;
        let tags = TiffTextureTags::read(path, &mut first)?;
        let samples = StoredSamples::find(path, &mut first)?;
        let order = ChannelOrder::find(path, &mut first, samples.stored, samples.is_plain)?;
        let (width, height) = first.dimensions().map_err(of_tiff)?;
        let channels = samples.channels();
        check_size(path, width.into(), height.into(), channels.into())?;
        let head = PictureHead {
            stored: [width, height],
            window: PictureWindow::of_tiff(path, &mut first, [width, height], channels)?,
            channels,
            names: None,
            format: samples.format,
            matrices: tags.matrices,
            straight_alpha: straight_alpha(path, &mut first, channels)?,
        };
        let (planes, described_width) = if order == ChannelOrder::Plain {
            (vec![unlimited(first)], width)
        } else {
            let planes = order.planes(samples.stored);
            let size = whole_tiles(path, &mut first)?;
            check_size(path, size[0].into(), size[1].into(), samples.stored.into())?;
            let described = |plane| {
                let part = TiffPart { channels: samples.stored / planes, size, plane, planes };
                Ok(unlimited(decoder(path, DescribedTiff::new(path, &mut first, again(), &part)?)?))
            };
            ((0..planes).map(described).collect::<Result<_, TextureError>>()?, size[0])
        };
        let (chunk_width, rows) = planes[0].chunk_dimensions();
        let across = described_width.div_ceil(chunk_width.max(1));
        let rows = rows.clamp(1, height.max(1));
        Ok((head, Self { path, planes, samples, size: [width, height], rows, across }))
    }

    /// Decodes a strip or a tile of a plane into its places among the rows of a band.
    fn read_chunk(&mut self, [plane, band, x]: [u32; 3], rows: &mut [f32]) -> Result<(), TextureError> {
        let of_tiff = |error| TextureError::of_tiff(self.path, error);
        let (stored, planes) = (self.samples.stored as usize, self.planes.len());
        let decoder = &mut self.planes[plane as usize];
        let index = band * self.across + x;
        let (column, (width, height)) = (x * decoder.chunk_dimensions().0, decoder.chunk_data_dimensions(index));
        let row_samples = width as usize * (stored / planes);
        let values = self.samples.as_floats(decoder.read_chunk(index).map_err(of_tiff)?, row_samples);
        if values.len() != row_samples * height as usize {
            return Err(TextureError::corrupt(self.path, "its samples are not as many as its header says"));
        }
        let row_values = self.size[0] as usize * stored;
        let begin = column as usize * stored + plane as usize;
        for (line, row) in values.chunks_exact(row_samples.max(1)).zip(rows.chunks_exact_mut(row_values)) {
            row[begin..].iter_mut().step_by(planes).zip(line).for_each(|(place, value)| *place = *value);
        }
        Ok(())
    }
}

impl RowBands for TiffBands<'_> {
    fn band_rows(&self) -> u32 {
        self.rows
    }

    fn read(&mut self, bands: Range<u32>) -> Result<Vec<f32>, TextureError> {
        let [width, height] = self.size;
        let rows = bands.start * self.rows..(bands.end * self.rows).min(height);
        let mut texels = Texels::empty([width, rows.len() as u32], self.samples.stored);
        let band_values = self.rows as usize * width as usize * self.samples.stored as usize;
        for (band, rows) in bands.zip(texels.values.chunks_mut(band_values)) {
            for plane in 0..self.planes.len() as u32 {
                (0..self.across).try_for_each(|x| self.read_chunk([plane, band, x], rows))?;
            }
        }
        Ok(self.samples.meant(texels).values)
    }

    fn decoded_bytes(&self) -> u64 {
        // As they are decoded, and as floats that mean something else.
        self.samples.decoded_bytes() + size_of::<f32>() as u64
    }
}

/// Returns the channel of an alpha that colours are not multiplied with.
fn straight_alpha<R: Read + Seek>(
    path: &Path,
    decoder: &mut Decoder<R>,
    channels: u32,
) -> Result<Option<usize>, TextureError> {
    let extra = decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples);
    let extra = extra.map_err(|error| TextureError::of_tiff(path, error))?.unwrap_or_default();
    let straight = extra.iter().position(|&meaning| meaning == ExtraSamples::UnassociatedAlpha.to_u16());
    Ok(straight.and_then(|index| (channels as usize + index).checked_sub(extra.len())))
}

/// Returns the decoder, which reads what [`check_size`] allows.
fn unlimited<R: Read + Seek>(decoder: Decoder<R>) -> Decoder<R> {
    let mut limits = tiff::decoder::Limits::default();
    limits.decoding_buffer_size = SAMPLES_MAX as usize * 4;
    limits.intermediate_buffer_size = limits.decoding_buffer_size;
    decoder.with_limits(limits)
}
