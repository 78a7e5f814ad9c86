//! Pictures whose rows are read one after the other, so that they need not be in memory as a whole.

mod exr_bands;
mod png_bands;
mod tiff_bands;

use super::error::TextureError;
use super::file::TextureContainer;
use super::header::{ShadowMatrices, TexelFormat};
use super::levels::Texels;
use super::make::MakeProgress;
use super::watched_file::WatchedFile;
use super::window::PictureWindow;
use exr_bands::ExrBands;
use png_bands::PngBands;
use std::io::BufReader;
use std::mem;
use std::ops::Range;
use std::path::Path;
use tiff_bands::TiffBands;

/// What a picture's file says of it.
#[derive(Clone, Debug)]
pub(super) struct PictureHead {
    /// Width and height of what the file has.
    pub(super) stored: [u32; 2],
    /// Its place in the whole picture, if it is not all of it.
    pub(super) window: Option<PictureWindow>,
    pub(super) channels: u32,
    /// The names of the channels, if the file has names.
    pub(super) names: Option<Vec<String>>,
    /// What its channels are stored as.
    pub(super) format: TexelFormat,
    /// The camera that it was rendered with.
    pub(super) matrices: Option<ShadowMatrices>,
    /// The channel of an alpha that the colours are not yet multiplied with.
    pub(super) straight_alpha: Option<usize>,
}

impl PictureHead {
    /// Returns the width and height of the whole picture.
    pub(super) fn size(&self) -> [u32; 2] {
        self.window.map_or(self.stored, PictureWindow::whole)
    }

    /// Returns the samples of the whole picture.
    pub(super) fn samples(&self) -> u64 {
        self.size().map(u64::from).iter().product::<u64>().saturating_mul(self.channels.into())
    }

    /// Whether all values are from 0 to 1 because of how they are stored.
    pub(super) fn has_integers(&self) -> bool {
        matches!(self.format, TexelFormat::U8 | TexelFormat::U16)
    }
}

/// The rows of a file, as many at a time as it packs together.
trait RowBands {
    /// Returns how many rows a band has, of which the last may have fewer.
    fn band_rows(&self) -> u32;

    /// Returns the values of some bands. Only OpenEXR and TIFF can go back, or leave bands out.
    fn read(&mut self, bands: Range<u32>) -> Result<Vec<f32>, TextureError>;

    /// Returns the bytes of a sample while it is decoded, besides those of its float.
    fn decoded_bytes(&self) -> u64;
}

/// A picture that is read row by row.
pub(super) struct PictureRows<'a> {
    pub(super) head: PictureHead,
    bands: Box<dyn RowBands + 'a>,
    /// The values of rows of the file that were read and not all returned yet, and the number of the first.
    left: Vec<f32>,
    left_begin: u32,
    /// The next row of the whole picture.
    next: u32,
}

impl<'a> PictureRows<'a> {
    /// Begins to read a picture, as long as `progress` says so; `None` if it cannot be read by rows.
    pub(super) fn open(path: &'a Path, progress: &'a MakeProgress<'a>) -> Result<Option<Self>, TextureError> {
        let mut file = WatchedFile::open(path, progress)?;
        match TextureContainer::find(path, &mut file)? {
            TextureContainer::Exr => Self::of_exr(path, file, 0).map(Some),
            TextureContainer::Tiff => Self::of_tiff(path, file).map(Some),
            TextureContainer::Other => {
                PngBands::open(path, file)?.map(|(head, bands)| Self::new(path, head, Box::new(bands))).transpose()
            }
            TextureContainer::Deep | TextureContainer::Points => Ok(None),
        }
    }

    /// Begins to read a part of an OpenEXR file.
    pub(super) fn of_exr(path: &'a Path, file: BufReader<WatchedFile<'a>>, part: usize) -> Result<Self, TextureError> {
        let (head, bands) = ExrBands::open(path, file, part)?;
        Self::new(path, head, Box::new(bands))
    }

    /// Begins to read a TIFF file.
    pub(super) fn of_tiff(path: &'a Path, file: BufReader<WatchedFile<'a>>) -> Result<Self, TextureError> {
        let (head, bands) = TiffBands::open(path, file)?;
        Self::new(path, head, Box::new(bands))
    }

    fn new(path: &Path, head: PictureHead, bands: Box<dyn RowBands + 'a>) -> Result<Self, TextureError> {
        if head.stored.contains(&0) || head.channels == 0 {
            return Err(TextureError::unsupported(path, "it has no texels"));
        }
        Ok(Self { head, bands, left: Vec::new(), left_begin: 0, next: 0 })
    }

    /// Returns the next rows, so many if there are as many; `None` after the last one.
    pub(super) fn next_rows(&mut self, count: u32) -> Result<Option<Texels>, TextureError> {
        let rows = self.next..self.next.saturating_add(count).min(self.head.size()[1]);
        if rows.is_empty() {
            return Ok(None);
        }
        self.next = rows.end;
        let Some(window) = self.head.window else { return self.stored_rows(rows).map(Some) };
        let needed = window.stored_rows(&rows, self.head.stored[1]);
        let begin = needed.start;
        let stored = self.stored_rows(needed)?;
        Ok(Some(window.placed(rows, &stored, begin, self.head.names.as_deref())))
    }

    /// Begins again with the first row: of OpenEXR and TIFF only.
    pub(super) fn rewind(&mut self) {
        (self.left, self.left_begin, self.next) = (Vec::new(), 0, 0);
    }

    fn row_values(&self) -> usize {
        self.head.stored[0] as usize * self.head.channels as usize
    }

    /// Returns rows of the file: none that were returned before.
    fn stored_rows(&mut self, rows: Range<u32>) -> Result<Texels, TextureError> {
        let size = [self.head.stored[0], rows.len() as u32];
        let channels = self.head.channels;
        if rows.is_empty() {
            return Ok(Texels::empty(size, channels));
        }
        let (row_values, band) = (self.row_values(), self.bands.band_rows());
        if rows.start >= self.left_end() {
            (self.left, self.left_begin) = (Vec::new(), rows.start / band * band);
        }
        if self.left_end() < rows.end {
            let returned = (rows.start - self.left_begin).min(self.left_end() - self.left_begin);
            self.left.drain(..returned as usize * row_values);
            self.left_begin += returned;
            let read = self.bands.read(self.left_end() / band..rows.end.div_ceil(band))?;
            if self.left.is_empty() { self.left = read } else { self.left.extend(read) }
        }
        let at = (rows.start - self.left_begin) as usize * row_values;
        let count = rows.len() * row_values;
        let values = if count == self.left.len() {
            self.left_begin = rows.end;
            mem::take(&mut self.left)
        } else {
            self.left[at..at + count].to_vec()
        };
        Ok(Texels { size, channels, values })
    }

    /// Returns the number of the row after those that are left.
    fn left_end(&self) -> u32 {
        self.left_begin + (self.left.len() / self.row_values()) as u32
    }

    /// Returns about how many bytes it takes to read `count` rows at a time, with those that are returned.
    pub(super) fn bytes(&self, count: u32) -> u64 {
        const FLOAT_BYTES: u64 = size_of::<f32>() as u64;
        let band = self.bands.band_rows();
        // Rows that are read together are returned as they are.
        let is_copied = !count.is_multiple_of(band) || self.head.window.is_some();
        let rows = u64::from(if is_copied { count.saturating_add(band) } else { count });
        let rows = rows.min(self.head.stored[1].into());
        let of_file = rows * self.row_values() as u64 * (self.bands.decoded_bytes() + FLOAT_BYTES);
        let width = self.head.window.map_or(self.head.stored[0], |window| window.whole()[0].max(self.head.stored[0]));
        let copy = u64::from(count) * u64::from(width) * u64::from(self.head.channels) * FLOAT_BYTES;
        of_file + if is_copied { copy } else { 0 }
    }
}
