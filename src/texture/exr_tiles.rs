//! Tiles of OpenEXR files, read one at a time: the table of offsets is kept, and the crate decodes single chunks.

use super::block::TexelBlock;
use super::brick_map::{self, BrickMap};
use super::channel_order::channel_order;
use super::error::TextureError;
use super::header::{ShadowMatrices, TexelFormat, TextureHeader, TextureKind, WrapMode};
use super::patient_file::PatientFile;
use super::window::PictureWindow;
use exr::block::UncompressedBlock;
use exr::block::chunk::Chunk;
use exr::meta::attribute::{
    AttributeValue, ChannelDescription, ChannelList, EnvironmentMap, LevelMode, SampleType, Text,
};
use exr::meta::header::Header;
use exr::meta::{BlockDescription, MetaData};
use half::f16;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The largest tile that is read.
const BLOCK_TEXELS_MAX: usize = 1 << 22;

/// What is needed to find and decode any tile of a file.
#[derive(Debug)]
pub(super) struct ExrTiles {
    meta: MetaData,
    /// Where each tile begins in the file, level by level, row by row.
    offsets: Vec<u64>,
    /// The first offset of each level.
    level_begins: Vec<usize>,
    /// Width and height of a tile.
    tile: [u32; 2],
    /// The file's channel of each channel of the texture.
    order: Vec<usize>,
    /// What the tiles of a brick map hold.
    pub(super) bricks: Option<BrickMap>,
}

/// An open file.
pub(super) type ExrReader = BufReader<PatientFile>;

impl ExrTiles {
    /// Reads what stands before the tiles.
    pub(super) fn open(
        path: &Path,
        file: &mut ExrReader,
        file_bytes: u64,
    ) -> Result<(TextureHeader, Self), TextureError> {
        let of_exr = |error| TextureError::of_exr(path, error);
        let meta = MetaData::read_from_buffered(&mut *file, false).map_err(of_exr)?;
        MetaData::validate(&meta.headers, false).map_err(of_exr)?;
        let header = meta.headers.first().ok_or_else(|| TextureError::corrupt(path, "it has no parts"))?;
        let no_levels = TextureError::NotTiled { path: path.to_owned(), lacks: "levels that are rounded down" };
        let tiles = tiles_of(path, header)?;
        if PictureWindow::of_exr(path, header)?.is_some() {
            return Err(TextureError::PartOfPicture(path.to_owned()));
        }
        let Some((levels, level_begins)) = levels(header, tiles) else { return Err(no_levels) };
        let count = level_begins.last().copied().unwrap_or_default();
        if count as u64 > file_bytes / 8 {
            return Err(TextureError::of_io(path, std::io::ErrorKind::UnexpectedEof.into()));
        }
        let mut bytes = vec![0; count * 8];
        file.read_exact(&mut bytes).map_err(|error| TextureError::of_io(path, error))?;
        let offset = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        let offsets = bytes.chunks_exact(8).map(offset).collect();
        let (format, order) = channels(path, header)?;
        let texture = texture_header(path, header, levels, format)?;
        let is_points = texture.kind == TextureKind::Points;
        let list = ExrAttributes(header).text(brick_map::CHANNELS);
        let bricks = is_points.then(|| BrickMap::open(path, list.as_deref(), header, &texture)).transpose()?;
        Ok((texture, Self { offsets, level_begins, tile: tiles.map(|side| side as u32), order, bricks, meta }))
    }

    /// Returns the width and height of a tile of the file.
    pub(super) fn tile(&self) -> [u32; 2] {
        self.tile
    }

    /// Decodes a tile of the file. Returns it with the bytes that were read.
    pub(super) fn read(
        &self,
        path: &Path,
        file: &mut ExrReader,
        header: &TextureHeader,
        level: u32,
        [x, y]: [u32; 2],
    ) -> Result<(TexelBlock, usize), TextureError> {
        let of_exr = |error| TextureError::of_exr(path, error);
        let across = header.level_size(level)[0].div_ceil(self.tile[0]);
        let index = self.level_begins[level as usize] + (y * across + x) as usize;
        let offset = *self.offsets.get(index).ok_or_else(|| TextureError::NoSuchTile(path.to_owned()))?;
        file.seek(SeekFrom::Start(offset)).map_err(|error| TextureError::of_io(path, error))?;
        let chunk = Chunk::read(file, &self.meta).map_err(of_exr)?;
        let end = file.stream_position().map_err(|error| TextureError::of_io(path, error))?;
        let is_first_part = chunk.layer_index == 0;
        let block = UncompressedBlock::decompress_chunk(chunk, &self.meta, false).map_err(of_exr)?;
        let place = [x * self.tile[0], y * self.tile[1]].map(|texel| texel as usize);
        let at = block.index;
        let is_right = at.level.x() == level as usize && [at.pixel_position.x(), at.pixel_position.y()] == place;
        if !(is_right && is_first_part) {
            return Err(TextureError::corrupt(path, "a tile is in another's place"));
        }
        // The words of a brick map stay as they are.
        let channels = &self.meta.headers[0].channels;
        let texels = interleaved(channels, &self.order, &block, header.format, self.bricks.is_some());
        Ok((texels, (end - offset) as usize))
    }
}

/// Puts the channels of a texel next to each other, in this order. Whole numbers become floats, or stay `words`.
pub(super) fn interleaved(
    channels: &ChannelList,
    order: &[usize],
    block: &UncompressedBlock,
    format: TexelFormat,
    words: bool,
) -> TexelBlock {
    let [width, height] = [block.index.pixel_size.x(), block.index.pixel_size.y()];
    let texel_bytes = order.len() * format.bytes();
    let mut bytes = vec![0; width * height * texel_bytes];
    let row_bytes = channels.bytes_per_pixel * width;
    for (to, &from) in order.iter().enumerate() {
        let before: usize = channels.list[..from].iter().map(|c| c.sample_type.bytes_per_sample()).sum();
        let kind = if words { SampleType::F32 } else { channels.list[from].sample_type };
        let sample_bytes = kind.bytes_per_sample();
        for y in 0..height {
            let begin = y * row_bytes + before * width;
            let samples = block.data[begin..begin + width * sample_bytes].chunks_exact(sample_bytes);
            let texels = bytes[y * width * texel_bytes..].chunks_exact_mut(texel_bytes);
            for (texel, sample) in texels.zip(samples) {
                let place = &mut texel[to * format.bytes()..(to + 1) * format.bytes()];
                copy_sample(place, sample, kind);
            }
        }
    }
    TexelBlock { width: width as u32, height: height as u32, bytes }
}

/// Copies a sample as it is, or makes a float of it.
fn copy_sample(place: &mut [u8], sample: &[u8], kind: SampleType) {
    match (kind, sample) {
        (SampleType::F16, &[a, b]) if place.len() == 4 => {
            place.copy_from_slice(&f16::from_ne_bytes([a, b]).to_f32().to_ne_bytes());
        }
        (SampleType::U32, &[a, b, c, d]) => {
            place.copy_from_slice(&(u32::from_ne_bytes([a, b, c, d]) as f32).to_ne_bytes());
        }
        _ => place.copy_from_slice(sample),
    }
}

/// Returns the width and height of a file's tiles.
fn tiles_of(path: &Path, header: &Header) -> Result<[usize; 2], TextureError> {
    let BlockDescription::Tiles(tiles) = header.blocks else {
        return Err(TextureError::NotTiled { path: path.to_owned(), lacks: "tiles" });
    };
    if header.deep {
        return Err(TextureError::unsupported(path, "it has deep data"));
    }
    let size = [tiles.tile_size.x(), tiles.tile_size.y()];
    if size.contains(&0) || size[0].saturating_mul(size[1]) > BLOCK_TEXELS_MAX {
        return Err(TextureError::NotTiled { path: path.to_owned(), lacks: "small tiles" });
    }
    Ok(size)
}

/// Returns how many levels a file has, and the first tile of each, with the number of all tiles at the end. None if the
/// levels are not those of a texture.
fn levels(header: &Header, tile: [usize; 2]) -> Option<(u32, Vec<usize>)> {
    let BlockDescription::Tiles(tiles) = header.blocks else { return None };
    let size = [header.layer_size.x(), header.layer_size.y()];
    let count = match tiles.level_mode {
        LevelMode::Singular => 1,
        LevelMode::MipMap => exr::meta::compute_level_count(tiles.rounding_mode, size[0].max(size[1])),
        LevelMode::RipMap => return None,
    };
    let mut begins = vec![0_usize];
    for level in 0..count {
        let sides = size.map(|side| exr::meta::compute_level_size(tiles.rounding_mode, side, level));
        if sides != size.map(|side| (side >> level).max(1)) {
            return None;
        }
        let tiles = sides[0].div_ceil(tile[0]).checked_mul(sides[1].div_ceil(tile[1]))?;
        begins.push(begins[level].checked_add(tiles)?);
    }
    Some((count as u32, begins))
}

/// Returns what the texture's channels are stored as, and the file's channel of each: files list them by name.
fn channels(path: &Path, header: &Header) -> Result<(TexelFormat, Vec<usize>), TextureError> {
    let list = &header.channels.list;
    let is_half = list.iter().all(|channel| channel.sample_type == SampleType::F16);
    check_sampling(path, header)?;
    Ok((if is_half { TexelFormat::F16 } else { TexelFormat::F32 }, channel_order(list)))
}

/// Refuses channels that have fewer texels than others.
pub(super) fn check_sampling(path: &Path, header: &Header) -> Result<(), TextureError> {
    let is_whole = |channel: &ChannelDescription| channel.sampling.x() == 1 && channel.sampling.y() == 1;
    let are_whole = header.channels.list.iter().all(is_whole);
    let refused = || TextureError::unsupported(path, "some of its channels have fewer texels than others");
    are_whole.then_some(()).ok_or_else(refused)
}

fn texture_header(
    path: &Path,
    header: &Header,
    levels: u32,
    format: TexelFormat,
) -> Result<TextureHeader, TextureError> {
    let size = [header.layer_size.x(), header.layer_size.y()].map(u32::try_from);
    let [Ok(width), Ok(height)] = size else { return Err(TextureError::corrupt(path, "its size is impossible")) };
    let attributes = ExrAttributes(header);
    Ok(TextureHeader {
        width,
        height,
        levels,
        channels: header.channels.list.len() as u32,
        format,
        kind: attributes.kind(),
        wrap: attributes.wrap(),
        matrices: attributes.matrices(),
        fov: attributes.fov(),
    })
}

/// What attributes say of a texture.
pub(super) struct ExrAttributes<'a>(pub(super) &'a Header);

impl ExrAttributes<'_> {
    /// Returns a text among the attributes that the crate does not know.
    fn text(&self, name: &str) -> Option<String> {
        let header = self.0;
        let name = Text::new_or_none(name)?;
        let mut found = [&header.own_attributes.other, &header.shared_attributes.other].into_iter();
        match found.find_map(|attributes| attributes.get(&name))? {
            AttributeValue::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> TextureKind {
        if let Some(name) = self.text("textureformat") {
            let is_points = name == TextureKind::Points.name();
            return if is_points { TextureKind::Points } else { TextureKind::named(&name) };
        }
        match self.0.own_attributes.environment_map {
            Some(EnvironmentMap::LatitudeLongitude) => TextureKind::LatLong,
            Some(EnvironmentMap::Cube) => TextureKind::Cube,
            None => TextureKind::Plain,
        }
    }

    pub(super) fn wrap(&self) -> [WrapMode; 2] {
        let own = self.text("wrapmodes");
        let standard = || self.0.own_attributes.wrap_mode_name.as_ref().map(ToString::to_string);
        own.or_else(standard).map(|names| WrapMode::pair(&names)).unwrap_or_default()
    }

    fn fov(&self) -> Option<f32> {
        self.0.own_attributes.horizontal_field_of_view
    }

    /// Returns the camera that anthill's pictures name, shadow maps among them.
    pub(super) fn matrices(&self) -> Option<ShadowMatrices> {
        let attributes = &self.0.own_attributes;
        Some(ShadowMatrices {
            camera_from_world: attributes.world_to_camera?,
            ndc_from_world: attributes.world_to_normalized_device?,
        })
    }
}
