//! The host memory that it takes to make a texture, as the headers of its pictures say.

use super::error::TextureError;
use super::file::TextureContainer;
use super::make::{MakeKind, MakeRequest, go_on};
use super::make_stream;
use super::picture::image_reader;
use super::tiff_samples::StoredSamples;
use super::tiff_tiles::decoder;
use super::watched_file::WatchedFile;
use super::window::PictureWindow;
use exr::meta::MetaData;
use image::ImageDecoder;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Bytes of a sample as it is worked with.
const FLOAT_BYTES: u64 = 4;
/// Bytes of a sample of a texture with all its smaller levels, and with what makes them.
pub(super) const LEVELS_BYTES: u64 = 8;
/// Bytes of a sample of a cube: in the levels of its faces, and in the levels that the faces are packed in.
const CUBE_BYTES: u64 = 12;

/// How large a picture is, as its header says.
#[derive(Clone, Copy, Debug)]
pub(super) struct PictureSize {
    /// Width and height of what the file has.
    stored: [u32; 2],
    /// Width and height of the whole picture, if the file has a part of it.
    whole: Option<[u32; 2]>,
    channels: u32,
    /// Bytes of a sample as it is decoded, if it is larger than a float.
    decoded_bytes: u64,
    /// How many parts there are of this size.
    parts: u64,
}

impl PictureSize {
    /// Reads a header; `None` of points and deep data.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, TextureError> {
        let mut file = WatchedFile::open(path, &go_on)?;
        match TextureContainer::find(path, &mut file)? {
            TextureContainer::Exr => Self::of_exr(path, file).map(Some),
            TextureContainer::Tiff => Self::of_tiff(path, file).map(Some),
            TextureContainer::Other => {
                let reader = image_reader(path, file)?;
                let decoder = reader.into_decoder().map_err(|error| TextureError::of_image(path, error))?;
                let (width, height) = decoder.dimensions();
                let channels = decoder.color_type().channel_count().into();
                Ok(Some(Self { stored: [width, height], whole: None, channels, decoded_bytes: FLOAT_BYTES, parts: 1 }))
            }
            TextureContainer::Deep | TextureContainer::Points => Ok(None),
        }
    }

    /// Returns the size of the largest part of an OpenEXR file.
    fn of_exr(path: &Path, file: BufReader<WatchedFile<'_>>) -> Result<Self, TextureError> {
        let meta = MetaData::read_from_buffered(file, false).map_err(|error| TextureError::of_exr(path, error))?;
        let first = meta.headers.first().ok_or_else(|| TextureError::corrupt(path, "it has no parts"))?;
        let whole = PictureWindow::of_exr(path, first)?.map(PictureWindow::whole);
        let of_part = |header: &exr::meta::header::Header| {
            let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
            let stored = [side(header.layer_size.x()), side(header.layer_size.y())];
            let (channels, parts) = (side(header.channels.list.len()), meta.headers.len() as u64);
            Self { stored, whole, channels, decoded_bytes: FLOAT_BYTES, parts }
        };
        let largest = meta.headers.iter().map(of_part).max_by_key(Self::reading_bytes);
        Ok(largest.unwrap_or_else(|| of_part(first)))
    }

    fn of_tiff<R: Read + Seek>(path: &Path, file: R) -> Result<Self, TextureError> {
        let mut decoder = decoder(path, file)?;
        let (width, height) = decoder.dimensions().map_err(|error| TextureError::of_tiff(path, error))?;
        let samples = StoredSamples::find(path, &mut decoder)?;
        let (stored, channels) = ([width, height], samples.channels());
        let whole = PictureWindow::of_tiff(path, &mut decoder, stored, channels)?.map(PictureWindow::whole);
        Ok(Self { stored, whole, channels, decoded_bytes: samples.decoded_bytes().max(FLOAT_BYTES), parts: 1 })
    }

    /// Returns the most texels of it that are in memory together, of one channel.
    pub(super) fn texels_max(&self) -> u64 {
        texels(self.stored).max(self.whole.map_or(0, texels))
    }

    fn samples(&self, size: [u32; 2]) -> u64 {
        texels(size).saturating_mul(self.channels.into())
    }

    /// Returns the bytes that reading it takes: all samples as they are decoded, as floats, and in the whole picture.
    fn reading_bytes(&self) -> u64 {
        let stored = self.samples(self.stored).saturating_mul(self.decoded_bytes + FLOAT_BYTES);
        let whole = self.whole.map_or(0, |whole| self.samples(whole).saturating_mul(FLOAT_BYTES));
        stored.saturating_add(whole)
    }

    /// Returns the bytes that levels take which are made of it: its own samples too, if it gets another size first.
    fn making_bytes(&self, request: &MakeRequest) -> u64 {
        let whole = self.whole.unwrap_or(self.stored);
        let size = request.texture_size(whole);
        let before = if size == whole { 0 } else { self.samples(whole).saturating_mul(FLOAT_BYTES) };
        let each = match request.kind {
            MakeKind::Cube => CUBE_BYTES,
            MakeKind::Occlusion => self.parts.saturating_mul(FLOAT_BYTES),
            _ => LEVELS_BYTES,
        };
        self.samples(size).saturating_mul(each).saturating_add(before)
    }
}

fn texels([width, height]: [u32; 2]) -> u64 {
    u64::from(width) * u64::from(height)
}

/// Returns about how many bytes of host memory it takes to make a texture. Points count as 0: they are charged when
/// they are read.
///
/// # Errors
/// If a picture cannot be read, or is none.
pub fn make_bytes(request: &MakeRequest) -> Result<u64, TextureError> {
    let request = &*request.with_all_maps()?;
    if let Some(bytes) = make_stream::bytes(request)? {
        return Ok(bytes);
    }
    let mut bytes = 0_u64;
    for input in request.inputs.iter().filter(|_| request.kind != MakeKind::BrickMap) {
        if let Some(size) = PictureSize::read(input)? {
            bytes = bytes.saturating_add(size.reading_bytes().max(size.making_bytes(request)));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::ResizeMode;

    #[test]
    fn windows_cubes_and_other_sizes_are_counted() {
        let size = |whole| PictureSize { stored: [10, 10], whole, channels: 3, decoded_bytes: FLOAT_BYTES, parts: 1 };
        let bytes = |kind, resize, size: PictureSize| {
            let request = MakeRequest { resize, ..MakeRequest::new(kind, Vec::new(), "a.tex".into()) };
            size.reading_bytes().max(size.making_bytes(&request))
        };
        let plain = MakeKind::Plain;
        assert_eq!(bytes(plain, ResizeMode::None, size(None)), 300 * 8);
        assert_eq!(bytes(plain, ResizeMode::None, size(Some([10, 10]))), 300 * 12);
        assert_eq!(bytes(plain, ResizeMode::None, size(Some([1000, 10]))), 30_000 * 8);
        assert_eq!(bytes(plain, ResizeMode::Up, size(None)), 16 * 16 * 3 * 8 + 300 * 4);
        assert_eq!(bytes(MakeKind::Cube, ResizeMode::None, size(None)), 16 * 16 * 3 * 12 + 300 * 4);
        assert_eq!(bytes(MakeKind::Cube, ResizeMode::None, size(Some([16, 16]))), 16 * 16 * 3 * 12);
        assert_eq!(bytes(MakeKind::Occlusion, ResizeMode::None, size(None)), 64 * 64 * 3 * 4 + 300 * 4);
        let parts = PictureSize { parts: 6, ..size(None) };
        assert_eq!(bytes(MakeKind::Occlusion, ResizeMode::None, parts), 6 * 64 * 64 * 3 * 4 + 300 * 4);
        let doubles = PictureSize { decoded_bytes: 8, ..size(None) };
        assert_eq!(bytes(plain, ResizeMode::None, doubles), 300 * 12);
        let huge = PictureSize { stored: [u32::MAX; 2], channels: 64, ..size(None) };
        assert_eq!(bytes(plain, ResizeMode::Up, huge), u64::MAX);
    }
}
