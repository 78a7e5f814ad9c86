//! The host memory that it takes to make a texture, as the headers of its pictures say.

use super::error::TextureError;
use super::file::{FileIdentity, TextureContainer};
use super::make::go_on;
use super::picture::image_reader;
use super::tiff_samples::StoredSamples;
use super::tiff_tiles::decoder;
use super::watched_file::WatchedFile;
use exr::meta::MetaData;
use image::ImageDecoder;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Bytes for a sample of a picture: as it is decoded, as a float, and in all smaller levels.
const SAMPLE_BYTES: u64 = 8;

/// Returns about how many bytes of host memory it takes to make a texture of a picture; 0 of points.
///
/// # Errors
/// If it cannot be read, or is no picture.
pub fn make_bytes(path: &Path) -> Result<u64, TextureError> {
    FileIdentity::of(path)?;
    let of_io = |error| TextureError::of_io(path, error);
    let file = WatchedFile::new(File::open(path).map_err(of_io)?, &go_on).map_err(of_io)?;
    let mut file = BufReader::new(file);
    let samples = match TextureContainer::find(path, &mut file)? {
        TextureContainer::Exr => exr_samples(path)?,
        TextureContainer::Tiff => {
            let mut decoder = decoder(path, file)?;
            let (width, height) = decoder.dimensions().map_err(|error| TextureError::of_tiff(path, error))?;
            samples([width, height], StoredSamples::find(path, &mut decoder)?.channels())
        }
        TextureContainer::Other => {
            let reader = image_reader(path, file)?;
            let decoder = reader.into_decoder().map_err(|error| TextureError::of_image(path, error))?;
            let (width, height) = decoder.dimensions();
            samples([width, height], decoder.color_type().channel_count().into())
        }
        TextureContainer::Deep | TextureContainer::Points => 0,
    };
    Ok(samples.saturating_mul(SAMPLE_BYTES))
}

fn samples([width, height]: [u32; 2], channels: u32) -> u64 {
    (u64::from(width) * u64::from(height)).saturating_mul(channels.into())
}

/// Returns the samples of an OpenEXR file, or of the whole picture that it is a part of.
fn exr_samples(path: &Path) -> Result<u64, TextureError> {
    let meta = MetaData::read_from_file(path, false).map_err(|error| TextureError::of_exr(path, error))?;
    let count = |size: exr::math::Vec2<usize>, channels: usize| {
        (size.x() as u64).saturating_mul(size.y() as u64).saturating_mul(channels as u64)
    };
    let each = meta.headers.iter().map(|header| {
        let channels = header.channels.list.len();
        count(header.layer_size, channels).max(count(header.shared_attributes.display_window.size, channels))
    });
    Ok(each.max().unwrap_or_default())
}
