//! Pictures in PNG, read row by row.

use super::error::TextureError;
use super::header::TexelFormat;
use super::levels::Texels;
use super::make::MakeProgress;
use super::watched_file::WatchedFile;
use png::{BitDepth, Decoder, Limits, Reader, Transformations};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The first bytes of a file.
const SIGNATURE: [u8; 8] = [137, 80, 78, 71, 13, 10, 26, 10];

/// The most bytes of chunks that are not texels.
const CHUNK_BYTES_MAX: usize = 4 << 20;

/// Bytes of a texel, at most.
const TEXEL_BYTES_MAX: usize = 8;

/// A picture whose rows are read one after the other.
pub(super) struct PngRows<'a> {
    reader: Reader<BufReader<WatchedFile<'a>>>,
    path: &'a Path,
    pub(super) size: [u32; 2],
    pub(super) channels: u32,
    /// What its channels are stored as.
    pub(super) format: TexelFormat,
    /// The channel of an alpha that the colours are not yet multiplied with.
    pub(super) straight_alpha: Option<usize>,
    /// How many rows were read.
    read: u32,
}

impl<'a> PngRows<'a> {
    /// Begins to read a picture, as long as `progress` says so; `None` if it is no PNG, has its rows in another order
    /// or in several frames, or is damaged.
    pub(super) fn open(path: &'a Path, progress: &'a MakeProgress<'a>) -> Result<Option<Self>, TextureError> {
        let mut file = WatchedFile::open(path, progress)?;
        let begins = file.fill_buf().map_err(|error| TextureError::of_io(path, error))?.starts_with(&SIGNATURE);
        Ok(if begins { Self::of_file(path, file) } else { None })
    }

    fn of_file(path: &'a Path, file: BufReader<WatchedFile<'a>>) -> Option<Self> {
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
        let straight_alpha = channels.is_multiple_of(2).then(|| channels - 1);
        Some(Self { reader, path, size, channels: channels as u32, format, straight_alpha, read: 0 })
    }

    pub(super) fn samples(&self) -> u64 {
        self.size.map(u64::from).iter().product::<u64>().saturating_mul(self.channels.into())
    }

    /// Returns the next rows, so many if there are as many; `None` after the last one.
    pub(super) fn next_rows(&mut self, count: u32) -> Result<Option<Texels>, TextureError> {
        let [width, height] = self.size;
        let count = count.min(height - self.read);
        if count == 0 {
            return Ok(None);
        }
        let row_bytes = width as usize * self.channels as usize * self.format.bytes();
        let mut bytes = vec![0; row_bytes * count as usize];
        for row in bytes.chunks_exact_mut(row_bytes) {
            self.read_row(row)?;
        }
        self.read += count;
        if self.read == height {
            // The rest of the data, with its checksum.
            self.read_row(&mut [])?;
        }
        let (mut texels, format) = (Texels::empty([width, count], self.channels), self.format);
        texels.fill_rows(|y, row| to_floats(&bytes[y as usize * row_bytes..][..row_bytes], format, row));
        Ok(Some(texels))
    }

    fn read_row(&mut self, row: &mut [u8]) -> Result<(), TextureError> {
        self.reader.read_row(row).map(drop).map_err(|error| TextureError::of_png(self.path, error))
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
