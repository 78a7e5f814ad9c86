//! Brick maps: the tree of a point cloud (`point_tree`), stored, so that only the tiles that lookups need are read.
//!
//! A brick map is a tiled OpenEXR file of one level. The texels of its only channel are the words of the tree, as whole
//! numbers; an attribute lists the channels of the points.

use super::error::TextureError;
use super::header::TextureHeader;
use super::levels::Texels;
use super::make::{LEVELS_MADE, MadeTexture, MakeLimits, MakeProgress, MakeRequest, READ, report};
use super::packed_tiles::{LevelTiles, TextureTags};
use super::point_tiles::{COLUMN_TILES, header_of};
use super::point_tree::{self, header_words, node_words, word_bytes, words, write_channels};
use super::read_limits::PointCharge;
use super::write::write;
use super::{TILE_TEXELS, TILE_WORDS};
use crate::files::OutputBudget;
use crate::points::{PointChannel, PointCloud};
use exr::meta::attribute::SampleType;
use exr::meta::header::Header;
use std::ops::Range;
use std::path::Path;

/// The attribute that lists the channels: `color Cs, float a`.
pub(super) const CHANNELS: &str = "pointchannels";

/// The most tiles: addresses of words have 32 bits.
const TILES_MAX: usize = 1 << 20;

/// Channels as the attribute lists them.
pub(super) fn listed(channels: &[PointChannel]) -> String {
    channels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the channels of a list; `None` if it is damaged.
fn parse_channels(list: &str) -> Option<Vec<PointChannel>> {
    let texts = list.split(", ").filter(|_| !list.is_empty());
    let channels: Vec<PointChannel> = texts.map(PointChannel::of_text).collect::<Option<_>>()?;
    let is_first =
        |(at, channel): (usize, &PointChannel)| channels[..at].iter().all(|other| other.name != channel.name);
    channels.iter().enumerate().all(is_first).then_some(channels)
}

/// Makes a brick map of the points of all files, in the order of the files.
pub(super) fn make(
    request: &MakeRequest,
    limits: MakeLimits<'_>,
    progress: &MakeProgress<'_>,
) -> Result<MadeTexture, TextureError> {
    let at_work = PointCharge::new(limits.read, needs);
    let mut cloud = joined(request, &at_work, progress)?;
    report(progress, READ)?;
    let words = words(&request.inputs[0], &cloud, &|| progress(READ).is_continue())?;
    let channels = std::mem::take(&mut cloud.channels);
    drop(cloud);
    let header = write_words(&request.output, &channels, words, limits.output, progress)?;
    Ok(MadeTexture { header, is_new: true })
}

/// Returns the most bytes that points take at work: as a tree is made of them, or its words twice, as they are put into
/// columns.
fn needs(count: u64, floats: u64) -> Result<u64, String> {
    Ok(point_tree::needs(count, floats)?.max(word_bytes(count, floats).saturating_mul(2)))
}

/// Writes whole tiles of words.
fn write_words(
    path: &Path,
    channels: &[PointChannel],
    words: Vec<u32>,
    budget: &OutputBudget,
    progress: &MakeProgress<'_>,
) -> Result<TextureHeader, TextureError> {
    let header = header_of(words.len() / TILE_WORDS);
    let levels = [picture([header.width, header.height], words)];
    let tags = TextureTags { header: &header, names: Some(&["words".into()]), points: Some(channels) };
    let show = |fraction| progress(LEVELS_MADE + (1.0 - LEVELS_MADE) * fraction);
    write(path, &tags, &mut LevelTiles::new(&tags, &levels), budget, &show)?;
    Ok(header)
}

/// Words as texels: tile below tile in each column. Floats that are only copied keep all their bits.
fn picture(size: [u32; 2], words: Vec<u32>) -> Texels {
    if size[0] == TILE_TEXELS {
        return Texels { size, channels: 1, values: words.into_iter().map(f32::from_bits).collect() };
    }
    let mut texels = Texels::empty(size, 1);
    texels.fill_rows(|y, row| {
        for (column, part) in (0..).zip(row.chunks_exact_mut(TILE_TEXELS as usize)) {
            let first = (column * size[1] as usize + y as usize) * TILE_TEXELS as usize;
            let words = words.get(first..).unwrap_or_default();
            part.iter_mut().zip(words).for_each(|(value, word)| *value = f32::from_bits(*word));
        }
    });
    texels
}

/// Returns the points of all files, changed as the request says, with the channels of the first file.
fn joined(
    request: &MakeRequest,
    at_work: &PointCharge<'_>,
    progress: &MakeProgress<'_>,
) -> Result<PointCloud, TextureError> {
    let mut joined = PointCloud::default();
    for (turn, path) in request.inputs.iter().enumerate() {
        let fraction = READ * turn as f32 / request.inputs.len() as f32;
        report(progress, fraction)?;
        let goes_on = || progress(fraction).is_continue();
        let cloud = PointCloud::read_within(path, &at_work.reading(&goes_on))?;
        if turn == 0 {
            joined = cloud;
            continue;
        }
        let places = places(&joined.channels, &cloud.channels).map_err(|what| {
            let first = request.inputs[0].display();
            TextureError::unsupported(path, format!("its channels are not those of \"{first}\": {what}"))
        })?;
        let width = cloud.width();
        for point in 0..cloud.positions.len() {
            let values = &cloud.values[point * width..(point + 1) * width];
            places.iter().for_each(|place| joined.values.extend_from_slice(&values[place.clone()]));
        }
        joined.positions.extend(cloud.positions);
        joined.normals.extend(cloud.normals);
        joined.radii.extend(cloud.radii);
    }
    if request.ignore_normals {
        joined.normals.fill([0.0; 3]);
    }
    joined.radii.iter_mut().for_each(|radius| *radius = (*radius * request.radius_scale).min(f32::MAX));
    Ok(joined)
}

/// Returns where the floats of each wanted channel are among those that were found, or what differs.
fn places(wanted: &[PointChannel], found: &[PointChannel]) -> Result<Vec<Range<usize>>, String> {
    if let Some(extra) = found.iter().find(|channel| wanted.iter().all(|other| other.name != channel.name)) {
        return Err(format!("it also has \"{extra}\""));
    }
    let place = |channel: &PointChannel| {
        let at = found.iter().position(|other| other.name == channel.name);
        let at = at.ok_or_else(|| format!("it lacks \"{channel}\""))?;
        if found[at] != *channel {
            return Err(format!("it has \"{}\" instead of \"{channel}\"", found[at]));
        }
        let first = found[..at].iter().map(|channel| channel.kind.floats()).sum();
        Ok(first..first + channel.kind.floats())
    };
    wanted.iter().map(place).collect()
}

/// What a file says of the tree that it holds.
#[derive(Debug)]
pub(super) struct BrickMap {
    pub(super) channels: Vec<PointChannel>,
    tiles: usize,
    node_words: usize,
}

impl BrickMap {
    /// Reads the attributes of a file, and checks that it has the form of a brick map.
    pub(super) fn open(
        path: &Path,
        list: Option<&str>,
        exr: &Header,
        header: &TextureHeader,
    ) -> Result<Self, TextureError> {
        let corrupt = |reason: &str| TextureError::corrupt(path, format!("it is a brick map, but {reason}"));
        let [across, down] = header.level_tiles(0).map(|tiles| tiles as usize);
        let tiles = across.saturating_mul(down);
        let is_whole = header.width.is_multiple_of(TILE_TEXELS) && header.height.is_multiple_of(TILE_TEXELS);
        let is_in_columns = down == COLUMN_TILES || (across == 1 && down < COLUMN_TILES);
        if !(is_whole && is_in_columns && (1..=TILES_MAX).contains(&tiles)) {
            return Err(corrupt("its size is not that of tiles of points"));
        }
        if header.levels != 1 {
            return Err(corrupt("it has several levels"));
        }
        if !matches!(&*exr.channels.list, [channel] if channel.sample_type == SampleType::U32) {
            return Err(corrupt("it has not one channel of whole numbers"));
        }
        let list = list.ok_or_else(|| corrupt(&format!("it has no attribute \"{CHANNELS}\"")))?;
        let channels =
            parse_channels(list).ok_or_else(|| corrupt(&format!("its attribute \"{CHANNELS}\" is damaged")))?;
        let node_words = node_words(path, &channels)?;
        Ok(Self { channels, tiles, node_words })
    }

    /// Checks that a tile names only nodes that may be there, so that lookups stay inside of the file's tiles.
    pub(super) fn check_tile(
        &self,
        path: &Path,
        [x, y]: [u32; 2],
        tile: &[u32; TILE_WORDS],
    ) -> Result<(), TextureError> {
        let is_right = if [x, y] == [0, 0] {
            let mut expected = vec![0; header_words(&self.channels)];
            write_channels(&self.channels, &mut expected);
            self.may_be_node(tile[0]) && tile[1..expected.len()] == expected[1..]
        } else {
            let mut nodes = tile.chunks_exact(self.node_words);
            nodes.all(|node| node[..2].iter().all(|&address| self.may_be_node(address)))
        };
        if is_right { Ok(()) } else { Err(TextureError::corrupt(path, "a tile of the brick map is no part of a tree")) }
    }

    /// Whether a word is 0 or the place of a node.
    fn may_be_node(&self, address: u32) -> bool {
        let (tile, inside) = (address as usize / TILE_WORDS, address as usize % TILE_WORDS);
        let is_inside = inside.is_multiple_of(self.node_words) && inside + self.node_words <= TILE_WORDS;
        address == 0 || ((1..self.tiles).contains(&tile) && is_inside)
    }
}

#[cfg(test)]
mod tests;
