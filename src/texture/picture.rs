//! Pictures that textures are made of, read whole.

use super::baked_picture::baked_picture;
use super::channel_order::channel_order;
use super::error::TextureError;
use super::exr_tiles::ExrAttributes;
use super::file::TextureContainer;
use super::header::{ShadowMatrices, TexelFormat, TextureKind};
use super::levels::{SAMPLES_MAX, Texels, check_size};
use super::make::MakeProgress;
use super::read_limits::PointCharge;
use super::tiff_directory::{DescribedTiff, TiffPart};
use super::tiff_samples::StoredSamples;
use super::tiff_tiles::{ChannelOrder, TiffTextureTags, decoder, whole_tiles};
use super::watched_file::WatchedFile;
use super::window::PictureWindow;
use exr::image::{AnyChannel, FlatSamples};
use exr::meta::MetaData;
use exr::meta::attribute::SampleType;
use exr::prelude::{ReadChannels, ReadLayers, read};
use image::{DynamicImage, ImageFormat, ImageReader};
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::tags::{ExtraSamples, Tag};

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
        let read = Self::read_whole(path, at_work, progress);
        // An interrupted file is an error of the container's own kind.
        if read.is_err() && progress(1.0).is_break() { Err(TextureError::Stopped) } else { read }
    }

    fn read_whole(path: &Path, at_work: &PointCharge<'_>, progress: &MakeProgress<'_>) -> Result<Self, TextureError> {
        let mut file = WatchedFile::open(path, progress)?;
        let picture = match TextureContainer::find(path, &mut file)? {
            TextureContainer::Deep => {
                return Err(TextureError::unsupported(path, "it has deep data; shadow() reads it as it is"));
            }
            TextureContainer::Exr => read_exr(path, file),
            TextureContainer::Tiff => read_tiff(path, file),
            TextureContainer::Points => read_points(path, at_work, progress),
            TextureContainer::Other => read_other(path, file),
        }?;
        let [width, height] = picture.texels.size;
        if width == 0 || height == 0 || picture.texels.channels == 0 {
            return Err(TextureError::unsupported(path, "it has no texels"));
        }
        Ok(picture)
    }
}

fn read_exr(path: &Path, mut file: BufReader<WatchedFile<'_>>) -> Result<SourcePicture, TextureError> {
    let of_exr = |error| TextureError::of_exr(path, error);
    let meta = MetaData::read_from_buffered(&mut file, false).map_err(of_exr)?;
    file.rewind().map_err(|error| TextureError::of_io(path, error))?;
    let header = meta.headers.first().ok_or_else(|| TextureError::corrupt(path, "it has no parts"))?;
    if ExrAttributes(header).kind() == TextureKind::Points {
        return Err(TextureError::PointCloud(path.to_owned()));
    }
    for header in &meta.headers {
        let [width, height] = [header.layer_size.x(), header.layer_size.y()].map(|side| side as u64);
        check_size(path, width, height, header.channels.list.len() as u64)?;
    }
    let window = PictureWindow::of_exr(path, header)?;
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_buffered(file)
        .map_err(of_exr)?;
    let layer = image.layer_data;
    let list: Vec<AnyChannel<FlatSamples>> = layer.channel_data.list.into_iter().collect();
    let order = channel_order(&header.channels.list);
    let size = [layer.size.x(), layer.size.y()];
    let texel_count = size[0] * size[1];
    let is_whole = order.len() == list.len() && list.iter().all(|channel| channel.sample_data.len() == texel_count);
    if !is_whole {
        return Err(TextureError::unsupported(path, "its parts or channels differ in size"));
    }
    let mut texels = Texels::empty(size.map(|side| side as u32), list.len() as u32);
    for (to, &from) in order.iter().enumerate() {
        let places = texels.values.iter_mut().skip(to).step_by(list.len());
        places.zip(list[from].sample_data.values_as_f32()).for_each(|(place, value)| *place = value);
    }
    let is_half = header.channels.list.iter().all(|channel| channel.sample_type == SampleType::F16);
    let names: Vec<String> = order.iter().map(|&index| list[index].name.to_string()).collect();
    Ok(SourcePicture {
        texels: match window {
            Some(window) => window.placed(&texels, Some(&names)),
            None => texels,
        },
        names: Some(names),
        format: if is_half { TexelFormat::F16 } else { TexelFormat::F32 },
        matrices: ExrAttributes(header).matrices(),
        straight_alpha: None,
        is_of_points: false,
    })
}

fn read_tiff(path: &Path, file: BufReader<WatchedFile<'_>>) -> Result<SourcePicture, TextureError> {
    let of_tiff = |error| TextureError::of_tiff(path, error);
    let again = || file.get_ref().try_clone().map(BufReader::new).map_err(|error| TextureError::of_io(path, error));
    let mut decoder = decoder(path, again()?)?;
    let tags = TiffTextureTags::read(path, &mut decoder)?;
    let samples = StoredSamples::find(path, &mut decoder)?;
    let order = ChannelOrder::find(path, &mut decoder, samples.stored, samples.is_plain)?;
    let (width, height) = decoder.dimensions().map_err(of_tiff)?;
    let channels = samples.channels();
    check_size(path, width.into(), height.into(), channels.into())?;
    let window = PictureWindow::of_tiff(path, &mut decoder, [width, height], channels)?;
    let extra = decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).map_err(of_tiff)?.unwrap_or_default();
    let straight = extra.iter().position(|&meaning| meaning == ExtraSamples::UnassociatedAlpha.to_u16());
    let straight_alpha = straight.and_then(|index| (channels as usize + index).checked_sub(extra.len()));
    let texels = if order == ChannelOrder::Plain {
        tiff_texels(path, decoder, &samples, [width, height])?
    } else {
        let planes = order.planes(samples.stored);
        let size = whole_tiles(path, &mut decoder)?;
        check_size(path, size[0].into(), size[1].into(), samples.stored.into())?;
        let mut texels = Texels::empty([width, height], samples.stored);
        for plane in 0..planes {
            let part = TiffPart { channels: samples.stored / planes, size, plane, planes };
            let described = self::decoder(path, DescribedTiff::new(path, &mut decoder, again()?, &part)?)?;
            read_part(path, described, &part, &samples, &mut texels)?;
        }
        samples.meant(texels)
    };
    let texels = match window {
        Some(window) => window.placed(&texels, None),
        None => texels,
    };
    Ok(SourcePicture {
        texels,
        names: None,
        format: samples.format,
        matrices: tags.matrices,
        straight_alpha,
        is_of_points: false,
    })
}

/// Reads a described part into its places among texels, one tile or strip at a time: of tiles packed with LZW the crate
/// loses its place where it reads rows.
fn read_part<R: Read + Seek>(
    path: &Path,
    decoder: Decoder<R>,
    part: &TiffPart,
    samples: &StoredSamples,
    texels: &mut Texels,
) -> Result<(), TextureError> {
    let of_tiff = |error| TextureError::of_tiff(path, error);
    let mut decoder = unlimited(decoder);
    let (tile_width, tile_height) = decoder.chunk_dimensions();
    let across = part.size[0].div_ceil(tile_width);
    let [width, height] = texels.size;
    for index in 0..across * part.size[1].div_ceil(tile_height) {
        let [x, y] = [index % across * tile_width, index / across * tile_height];
        let (chunk_width, rows) = decoder.chunk_data_dimensions(index);
        let row_samples = chunk_width * part.channels;
        let values = samples.as_floats(decoder.read_chunk(index).map_err(of_tiff)?, row_samples as usize);
        check_count(path, &values, row_samples * rows)?;
        for (line, row) in values.chunks_exact(row_samples as usize).zip(y..height) {
            let begin = (row * width + x) * texels.channels + part.plane;
            let end = (row + 1) * width * texels.channels;
            let places = texels.values[begin as usize..end as usize].iter_mut().step_by(part.planes as usize);
            places.zip(line).for_each(|(place, value)| *place = *value);
        }
    }
    Ok(())
}

/// Returns the image that the decoder is at, of plain samples.
fn tiff_texels<R: Read + Seek>(
    path: &Path,
    decoder: Decoder<R>,
    samples: &StoredSamples,
    size: [u32; 2],
) -> Result<Texels, TextureError> {
    let mut result = DecodingResult::U8(Vec::new());
    let read = unlimited(decoder).read_image_to_buffer(&mut result);
    read.map_err(|error| TextureError::of_tiff(path, error))?;
    let row_samples = size[0] * samples.stored;
    let values = samples.as_floats(result, row_samples as usize);
    check_count(path, &values, row_samples * size[1])?;
    Ok(Texels { size, channels: samples.stored, values })
}

/// Returns the decoder, which reads what [`check_size`] allows.
fn unlimited<R: Read + Seek>(decoder: Decoder<R>) -> Decoder<R> {
    let mut limits = tiff::decoder::Limits::default();
    limits.decoding_buffer_size = SAMPLES_MAX as usize * 4;
    limits.intermediate_buffer_size = limits.decoding_buffer_size;
    decoder.with_limits(limits)
}

fn check_count(path: &Path, values: &[f32], count: u32) -> Result<(), TextureError> {
    let is_right = values.len() == count as usize;
    is_right.then_some(()).ok_or_else(|| TextureError::corrupt(path, "its samples are not as many as its header says"))
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
