//! Pictures that textures are made of, read whole.

use super::baked_picture::baked_picture;
use super::error::TextureError;
use super::file::TextureContainer;
use super::header::{ShadowMatrices, TexelFormat};
use super::levels::{SAMPLES_MAX, Texels, check_size};
use super::make::MakeProgress;
use super::read_limits::PointCharge;
use super::row_levels::STRIP_ROWS;
use super::rows::{PictureHead, PictureRows};
use super::watched_file::WatchedFile;
use image::{DynamicImage, ImageFormat, ImageReader};
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

/// A picture, and what its file says of it.
#[derive(Clone, Debug)]
pub(super) struct SourcePicture {
    pub(super) texels: Texels,
    /// The names of the channels, if the file has names.
    pub(super) names: Option<Vec<String>>,
    /// What its channels are stored as.
    pub(super) format: TexelFormat,
    /// The camera that it was rendered with.
    pub(super) matrices: Option<ShadowMatrices>,
    /// The channel of an alpha that the colours are not yet multiplied with.
    pub(super) straight_alpha: Option<usize>,
    /// Whether it was made of points.
    pub(super) is_of_points: bool,
}

impl SourcePicture {
    /// Whether it has colours or masks from 0 to 1: neither depths nor points, and no lights that are brighter.
    pub(super) fn is_from_0_to_1(&self) -> bool {
        let has_depths = self.texels.channels == 1 && self.matrices.is_some();
        !self.is_of_points && !has_depths && self.texels.values.iter().all(|value| (0.0..=1.0).contains(value))
    }

    /// Reads a picture, as long as `progress` says so. Memory for points is taken by `at_work`.
    pub(super) fn read(
        path: &Path,
        at_work: &PointCharge<'_>,
        progress: &MakeProgress<'_>,
    ) -> Result<Self, TextureError> {
        Self::read_part(path, 0, at_work, progress)
    }

    /// Reads a picture, of an OpenEXR file the part of this number.
    pub(super) fn read_part(
        path: &Path,
        part: usize,
        at_work: &PointCharge<'_>,
        progress: &MakeProgress<'_>,
    ) -> Result<Self, TextureError> {
        let read = Self::read_whole(path, part, at_work, progress);
        // An interrupted file is an error of the container's own kind.
        if read.is_err() && progress(1.0).is_break() { Err(TextureError::Stopped) } else { read }
    }

    fn read_whole(
        path: &Path,
        part: usize,
        at_work: &PointCharge<'_>,
        progress: &MakeProgress<'_>,
    ) -> Result<Self, TextureError> {
        let mut file = WatchedFile::open(path, progress)?;
        let picture = match TextureContainer::find(path, &mut file)? {
            TextureContainer::Deep => {
                return Err(TextureError::unsupported(path, "it has deep data; shadow() reads it as it is"));
            }
            TextureContainer::Exr => Self::of_rows(PictureRows::of_exr(path, file, part)?),
            TextureContainer::Tiff => Self::of_rows(PictureRows::of_tiff(path, file)?),
            TextureContainer::Points => read_points(path, at_work, progress),
            TextureContainer::Other => read_other(path, file),
        }?;
        let [width, height] = picture.texels.size;
        if width == 0 || height == 0 || picture.texels.channels == 0 {
            return Err(TextureError::unsupported(path, "it has no texels"));
        }
        Ok(picture)
    }

    fn of_rows(mut rows: PictureRows<'_>) -> Result<Self, TextureError> {
        let mut values = Vec::with_capacity(rows.head.samples() as usize);
        while let Some(some) = rows.next_rows(STRIP_ROWS)? {
            values.extend(some.values);
        }
        let (size, PictureHead { channels, names, format, matrices, straight_alpha, .. }) =
            (rows.head.size(), rows.head);
        let texels = Texels { size, channels, values };
        Ok(Self { texels, names, format, matrices, straight_alpha, is_of_points: false })
    }
}

fn read_points(
    path: &Path,
    at_work: &PointCharge<'_>,
    progress: &MakeProgress<'_>,
) -> Result<SourcePicture, TextureError> {
    let texels = baked_picture(path, at_work, progress)?;
    Ok(SourcePicture {
        texels,
        names: None,
        format: TexelFormat::F32,
        matrices: None,
        straight_alpha: None,
        is_of_points: true,
    })
}

/// Returns a reader of PNG, JPEG, Radiance HDR or Targa.
pub(super) fn image_reader<R: BufRead + Seek>(path: &Path, file: R) -> Result<ImageReader<R>, TextureError> {
    let mut reader = ImageReader::new(file).with_guessed_format().map_err(|error| TextureError::of_io(path, error))?;
    if reader.format().is_none() {
        // Targa begins with no sign of what it is.
        let is_targa = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tga"));
        if !is_targa {
            return Err(TextureError::Unknown(path.to_owned()));
        }
        reader.set_format(ImageFormat::Tga);
    }
    Ok(reader)
}

/// Reads PNG, JPEG, Radiance HDR and Targa.
fn read_other(path: &Path, file: BufReader<WatchedFile<'_>>) -> Result<SourcePicture, TextureError> {
    let mut reader = image_reader(path, file)?;
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(SAMPLES_MAX * 4);
    reader.limits(limits);
    let image = reader.decode().map_err(|error| TextureError::of_image(path, error))?;
    let (width, height, colour) = (image.width(), image.height(), image.color());
    let channels = u32::from(colour.channel_count());
    check_size(path, width.into(), height.into(), channels.into())?;
    let bytes = |values: &[u8]| values.iter().map(|&value| f32::from(value) / 255.0).collect();
    let words = |values: &[u16]| values.iter().map(|&value| f32::from(value) / 65535.0).collect();
    let (format, values): (_, Vec<f32>) = match &image {
        DynamicImage::ImageLuma8(image) => (TexelFormat::U8, bytes(image)),
        DynamicImage::ImageLumaA8(image) => (TexelFormat::U8, bytes(image)),
        DynamicImage::ImageRgb8(image) => (TexelFormat::U8, bytes(image)),
        DynamicImage::ImageRgba8(image) => (TexelFormat::U8, bytes(image)),
        DynamicImage::ImageLuma16(image) => (TexelFormat::U16, words(image)),
        DynamicImage::ImageLumaA16(image) => (TexelFormat::U16, words(image)),
        DynamicImage::ImageRgb16(image) => (TexelFormat::U16, words(image)),
        DynamicImage::ImageRgba16(image) => (TexelFormat::U16, words(image)),
        // Radiance's pixels have 8 bits and an exponent.
        DynamicImage::ImageRgb32F(image) => (TexelFormat::F16, image.to_vec()),
        _ => return Err(TextureError::unsupported(path, "its samples are not of 8 or 16 bits or floats")),
    };
    let straight_alpha = colour.has_alpha().then(|| channels as usize - 1);
    let texels = Texels { size: [width, height], channels, values };
    Ok(SourcePicture { texels, names: None, format, matrices: None, straight_alpha, is_of_points: false })
}
