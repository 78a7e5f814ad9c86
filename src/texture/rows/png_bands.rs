//! PNG, read row by row.

use super::{PictureHead, RowBands};
use crate::texture::error::TextureError;
use crate::texture::header::TexelFormat;
use crate::texture::levels::Texels;
use crate::texture::watched_file::WatchedFile;
use png::{BitDepth, Decoder, Limits, Reader, Transformations};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// The first bytes of a file.
const SIGNATURE: [u8; 8] = [137, 80, 78, 71, 13, 10, 26, 10];

/// The most bytes of chunks that are not texels.
const CHUNK_BYTES_MAX: usize = 4 << 20;

/// Bytes of a texel, at most.
const TEXEL_BYTES_MAX: usize = 8;

/// A picture whose rows come one after the other.
pub(super) struct PngBands<'a> {
    reader: Reader<BufReader<WatchedFile<'a>>>,
    path: &'a Path,
    size: [u32; 2],
    channels: u32,
    format: TexelFormat,
}

impl<'a> PngBands<'a> {
    /// Begins to read a picture; `None` if it is no PNG, has its rows in another order or in several frames, or is
    /// damaged.
    pub(super) fn open(
        path: &'a Path,
        mut file: BufReader<WatchedFile<'a>>,
    ) -> Result<Option<(PictureHead, Self)>, TextureError> {
        let begins = file.fill_buf().map_err(|error| TextureError::of_io(path, error))?.starts_with(&SIGNATURE);
        Ok(if begins { Self::of_file(path, file) } else { None })
    }

    fn of_file(path: &'a Path, file: BufReader<WatchedFile<'a>>) -> Option<(PictureHead, Self)> {
        let mut decoder = Decoder::new_with_limits(file, Limits { bytes: CHUNK_BYTES_MAX });
        let width = decoder.read_header_info().ok()?.width as usize;
        let row_bytes = width.checked_mul(TEXEL_BYTES_MAX)?;
        decoder.set_limits(Limits { bytes: CHUNK_BYTES_MAX.checked_add(row_bytes)? });
        // Palettes become colours, and fewer bits 8.
        decoder.set_transformations(Transformations::EXPAND);
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let reader = decoder.read_info().ok()?;
        let info = reader.info();
        if info.interlaced || info.frame_control.is_some() {
            return None;
        }
        let (size, (colour, bits)) = ([info.width, info.height], reader.output_color_type());
        let channels = colour.samples();
        let format = if bits == BitDepth::Sixteen { TexelFormat::U16 } else { TexelFormat::U8 };
        let head = PictureHead {
            stored: size,
            window: None,
            channels: channels as u32,
            names: None,
            format,
            matrices: None,
            straight_alpha: channels.is_multiple_of(2).then(|| channels - 1),
        };
        let channels = head.channels;
        Some((head, Self { reader, path, size, channels, format }))
    }

    fn read_row(&mut self, row: &mut [u8]) -> Result<(), TextureError> {
        self.reader.read_row(row).map(drop).map_err(|error| TextureError::of_png(self.path, error))
    }
}

impl RowBands for PngBands<'_> {
    fn band_rows(&self) -> u32 {
        1
    }

    fn read(&mut self, rows: Range<u32>) -> Result<Vec<f32>, TextureError> {
        let ([width, height], count) = (self.size, rows.len());
        let row_bytes = width as usize * self.channels as usize * self.format.bytes();
        let mut bytes = vec![0; row_bytes * count];
        for row in bytes.chunks_exact_mut(row_bytes) {
            self.read_row(row)?;
        }
        if rows.end == height {
            // The rest of the data, with its checksum.
            self.read_row(&mut [])?;
        }
        let (mut texels, format) = (Texels::empty([width, count as u32], self.channels), self.format);
        texels.fill_rows(|y, row| to_floats(&bytes[y as usize * row_bytes..][..row_bytes], format, row));
        Ok(texels.values)
    }

    fn decoded_bytes(&self) -> u64 {
        self.format.bytes() as u64
    }
}

fn to_floats(bytes: &[u8], format: TexelFormat, row: &mut [f32]) {
    if format == TexelFormat::U8 {
        row.iter_mut().zip(bytes).for_each(|(value, byte)| *value = f32::from(*byte) / 255.0);
    } else {
        let words = bytes.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
        row.iter_mut().zip(words).for_each(|(value, word)| *value = f32::from(word) / 65535.0);
    }
}
