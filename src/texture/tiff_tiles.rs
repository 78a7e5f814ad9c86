//! Tiles of TIFF files, read one at a time. Each level is an image of its own.

use super::block::TexelBlock;
use super::error::TextureError;
use super::header::{ShadowMatrices, TexelFormat, TextureHeader, TextureKind, WrapMode};
use super::patient_file::PatientFile;
use super::tiff_directory::{DescribedTiff, TiffPart};
use super::tiff_samples::StoredSamples;
use super::window::PictureWindow;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use tiff::decoder::{ChunkType, Decoder, Limits};
use tiff::tags::{CompressionMethod, Tag};

/// An open file, at one of its images.
pub(super) type TiffReader = Decoder<DescribedTiff<BufReader<PatientFile>>>;

/// Pixar's tag of what a texture is a picture of.
pub(super) const TEXTURE_FORMAT: Tag = Tag::Unknown(33302);
/// Pixar's tag of what is seen outside of a texture.
pub(super) const WRAP_MODES: Tag = Tag::Unknown(33303);
/// Pixar's tag of the cotangent of half the angle of view of a cube's faces.
pub(super) const FOV_COT: Tag = Tag::Unknown(33304);
/// Pixar's tag of [`ShadowMatrices::screen_from_world`].
pub(super) const WORLD_TO_SCREEN: Tag = Tag::Unknown(33305);
/// Pixar's tag of [`ShadowMatrices::camera_from_world`].
pub(super) const WORLD_TO_CAMERA: Tag = Tag::Unknown(33306);

/// The most bytes of a table of offsets: 8 for each tile of the largest picture.
const TABLE_BYTES_MAX: usize = 256 << 20;

/// The largest tile that is read.
const BLOCK_TEXELS_MAX: u64 = 1 << 22;

/// How a file's tiles are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct TiffTiles {
    tile: [u32; 2],
    order: ChannelOrder,
}

/// How a file stores the channels of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelOrder {
    /// Next to each other, as many as the crate decodes.
    Plain,
    /// Next to each other, more than that, or with another meaning, or in tiles that it cuts wrongly.
    Together,
    /// Each in tiles or strips of its own.
    Separate,
}

impl ChannelOrder {
    /// Returns the order of the image that `decoder` is at, with this many channels. Where they are not `plain` the
    /// crate must not change them.
    pub(super) fn find<R: Read + Seek>(
        path: &Path,
        decoder: &mut Decoder<R>,
        channels: u32,
        plain: bool,
    ) -> Result<Self, TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        if channels > 1 && is_separate(path, decoder)? {
            return Ok(Self::Separate);
        }
        if !plain {
            return Ok(Self::Together);
        }
        let decoded = u32::from(decoder.colortype().map_err(of_tiff)?.num_samples());
        let packing = decoder.find_tag_unsigned(Tag::Compression).map_err(of_tiff)?;
        let is_cut = decoder.get_chunk_type() == ChunkType::Tile
            && packing.map(CompressionMethod::from_u16_exhaustive) == Some(CompressionMethod::LZW);
        Ok(if decoded < channels || is_cut { Self::Together } else { Self::Plain })
    }

    /// Planes of a level, each with tiles or strips of its own.
    pub(super) fn planes(self, channels: u32) -> u32 {
        if self == Self::Separate { channels } else { 1 }
    }
}

impl TiffTiles {
    /// Reads what stands in the directories of all levels.
    pub(super) fn open(path: &Path, file: BufReader<PatientFile>) -> Result<(TextureHeader, Self), TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        let mut decoder = decoder(path, file)?;
        let tags = TiffTextureTags::read(path, &mut decoder)?;
        if decoder.get_chunk_type() != ChunkType::Tile {
            return Err(TextureError::NotTiled { path: path.to_owned(), lacks: "tiles" });
        }
        let mut header = first_header(path, &mut decoder, tags)?;
        if PictureWindow::of_tiff(path, &mut decoder, [header.width, header.height], header.channels)?.is_some() {
            return Err(TextureError::PartOfPicture(path.to_owned()));
        }
        let (width, height) = decoder.chunk_dimensions();
        if u64::from(width) * u64::from(height) > BLOCK_TEXELS_MAX {
            return Err(TextureError::NotTiled { path: path.to_owned(), lacks: "small tiles" });
        }
        let whole = super::header::whole_levels(header.width, header.height);
        let order = ChannelOrder::find(path, &mut decoder, header.channels, true)?;
        while decoder.more_images() && header.levels < whole {
            decoder.next_image().map_err(of_tiff)?;
            let is_next = decoder.dimensions().map_err(of_tiff)? == header.level_size(header.levels).into()
                && decoder.get_chunk_type() == ChunkType::Tile
                && decoder.chunk_dimensions() == (width, height)
                && channels(path, &mut decoder)? == (header.format, header.channels)
                && ChannelOrder::find(path, &mut decoder, header.channels, true)? == order;
            if !is_next {
                break;
            }
            header.levels += 1;
        }
        Ok((header, Self { tile: [width, height], order }))
    }

    /// Returns the width and height of a tile of the file.
    pub(super) fn tile(self) -> [u32; 2] {
        self.tile
    }

    /// Opens a file again, at a level.
    pub(super) fn reader(
        self,
        path: &Path,
        file: PatientFile,
        header: &TextureHeader,
        level: u32,
    ) -> Result<TiffReader, TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        let again = file.clone();
        let mut decoder = decoder(path, DescribedTiff::plain(BufReader::new(file)))?;
        decoder.seek_to_image(level as usize).map_err(of_tiff)?;
        if self.order == ChannelOrder::Plain {
            return Ok(decoder);
        }
        let planes = self.order.planes(header.channels);
        let [width, height] = whole_tiles(path, &mut decoder)?;
        let height = height.checked_mul(planes).ok_or_else(|| TextureError::unsupported(path, "it is too high"))?;
        let part = TiffPart { channels: header.channels / planes, size: [width, height], plane: 0, planes: 1 };
        let described = DescribedTiff::new(path, &mut decoder, BufReader::new(again), &part)?;
        self::decoder(path, described)
    }

    /// Decodes a tile of the file, of the level that the reader is at. Returns it with the bytes that were read.
    pub(super) fn read(
        self,
        path: &Path,
        decoder: &mut TiffReader,
        header: &TextureHeader,
        [x, y]: [u32; 2],
    ) -> Result<(TexelBlock, usize), TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        let (width, rows) = decoder.dimensions().map_err(of_tiff)?;
        let across = width.div_ceil(self.tile[0]);
        let planes = self.order.planes(header.channels);
        let planes: Result<Vec<TexelBlock>, _> = (0..planes)
            .map(|plane| {
                let index = (y + plane * (rows / planes / self.tile[1])) * across + x;
                read_chunk(path, decoder, header.channels / planes, header.format, index)
            })
            .collect();
        let block = TexelBlock::interleaved(planes?, header.format);
        let bytes = block.bytes.len();
        Ok((block, bytes))
    }
}

/// Decodes a tile of `channels` channels.
fn read_chunk(
    path: &Path,
    decoder: &mut TiffReader,
    channels: u32,
    format: TexelFormat,
    index: u32,
) -> Result<TexelBlock, TextureError> {
    let of_tiff = |error| TextureError::of_tiff(path, error);
    if index >= decoder.tile_count().map_err(of_tiff)? {
        return Err(TextureError::NoSuchTile(path.to_owned()));
    }
    let layout = decoder.image_chunk_buffer_layout(index).map_err(of_tiff)?;
    let mut bytes = vec![0; layout.complete_len];
    decoder.read_chunk_bytes(index, &mut bytes).map_err(of_tiff)?;
    let (width, height) = decoder.chunk_data_dimensions(index);
    let needed = width as usize * height as usize * channels as usize * format.bytes();
    if bytes.len() < needed {
        return Err(TextureError::corrupt(path, "a tile is too small"));
    }
    bytes.truncate(needed);
    Ok(TexelBlock { width, height, bytes })
}

pub(super) fn decoder<R: Read + Seek>(path: &Path, file: R) -> Result<Decoder<R>, TextureError> {
    let mut limits = Limits::default();
    limits.ifd_value_size = TABLE_BYTES_MAX;
    let decoder = Decoder::new(file).map_err(|error| TextureError::of_tiff(path, error))?;
    Ok(decoder.with_limits(limits))
}

/// Returns what the first image says; one level.
fn first_header<R: Read + Seek>(
    path: &Path,
    decoder: &mut Decoder<R>,
    tags: TiffTextureTags,
) -> Result<TextureHeader, TextureError> {
    let (width, height) = decoder.dimensions().map_err(|error| TextureError::of_tiff(path, error))?;
    if width == 0 || height == 0 {
        return Err(TextureError::unsupported(path, "it has no texels"));
    }
    let (format, channels) = channels(path, decoder)?;
    let TiffTextureTags { kind, wrap, matrices, fov } = tags;
    Ok(TextureHeader { width, height, levels: 1, channels, format, kind, wrap, matrices, fov })
}

/// Returns what the channels of an image are stored as, and how many a texel has, if that is as textures have it.
fn channels<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>) -> Result<(TexelFormat, u32), TextureError> {
    let samples = StoredSamples::find(path, decoder)?;
    let lacks = TextureError::NotTiled { path: path.to_owned(), lacks: "samples of 8 or 16 bits or floats" };
    if samples.is_plain { Ok((samples.format, samples.stored)) } else { Err(lacks) }
}

/// Returns the width and height of an image, up to the ends of its last tiles if it has any.
pub(super) fn whole_tiles<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>) -> Result<[u32; 2], TextureError> {
    let (width, height) = decoder.dimensions().map_err(|error| TextureError::of_tiff(path, error))?;
    if decoder.get_chunk_type() == ChunkType::Strip {
        return Ok([width, height]);
    }
    let tile = decoder.chunk_dimensions();
    let whole = width.checked_next_multiple_of(tile.0).zip(height.checked_next_multiple_of(tile.1));
    whole
        .map(|(width, height)| [width, height])
        .ok_or_else(|| TextureError::unsupported(path, "its tiles are too large"))
}

/// Whether each channel is in strips or tiles of its own.
fn is_separate<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>) -> Result<bool, TextureError> {
    let found = decoder.find_tag_unsigned::<u16>(Tag::PlanarConfiguration);
    Ok(found.map_err(|error| TextureError::of_tiff(path, error))? == Some(2))
}

/// What Pixar's tags say of a texture.
#[derive(Debug)]
pub(super) struct TiffTextureTags {
    pub(super) kind: TextureKind,
    pub(super) wrap: [WrapMode; 2],
    pub(super) matrices: Option<ShadowMatrices>,
    pub(super) fov: Option<f32>,
}

impl TiffTextureTags {
    /// Reads the tags, and refuses textures of other renderers.
    pub(super) fn read<R: Read + Seek>(path: &Path, decoder: &mut Decoder<R>) -> Result<Self, TextureError> {
        let mut text = |tag| decoder.get_tag_ascii_string(tag).ok();
        let (format, wrap, software) = (text(TEXTURE_FORMAT), text(WRAP_MODES), text(Tag::Software));
        let format = format.unwrap_or_default();
        if let Some(maker) = foreign(&format, &software.unwrap_or_default()) {
            return Err(TextureError::Foreign { path: path.to_owned(), maker });
        }
        let mut matrix = |tag| -> Option<[f32; 16]> { decoder.get_tag_f32_vec(tag).ok()?.try_into().ok() };
        let (camera, screen) = (matrix(WORLD_TO_CAMERA), matrix(WORLD_TO_SCREEN));
        let matrices = camera.zip(screen).map(|(camera, screen)| ShadowMatrices::of_screen(camera, &screen));
        let kind = TextureKind::named(&format);
        let cotangent = decoder.get_tag_f32(FOV_COT).ok().filter(|value| kind == TextureKind::Cube && *value > 0.0);
        let fov = cotangent.map(|value| (1.0 / value).atan().to_degrees() * 2.0);
        Ok(Self { kind, wrap: wrap.map(|names| WrapMode::pair(&names)).unwrap_or_default(), matrices, fov })
    }
}

/// Returns the renderer that alone can read a texture: those of Aqsis and Pixie have levels of their own in one image.
fn foreign(format: &str, software: &str) -> Option<&'static str> {
    let is_texture = !format.is_empty();
    [("Aqsis", "Aqsis"), ("Pixie", "Pixie")].into_iter().find_map(|(word, maker)| {
        (format.starts_with(word) || is_texture && software.starts_with(word)).then_some(maker)
    })
}
