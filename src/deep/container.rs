//! OpenEXR files of deep tiles with the channels A, Z and ZBack: a sample is what happens to the light between two
//! depths. Written and read tile by tile; the `exr` crate has no deep data.

use super::visibility::{Knot, Visibility};
use crate::exr_blocks::{ZIP_LEVEL, packed, zipped};
use flate2::{Decompress, FlushDecompress, Status};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Pixels along a side of a tile.
pub const TILE_SIDE: u32 = 64;
const TILE_PIXELS: usize = (TILE_SIDE * TILE_SIDE) as usize;

const MAGIC: u32 = 20_000_630;
/// Version 2, and the bit for data that is not an image's.
const VERSION: u32 = 2 | 1 << 11;
/// Names may have more than 31 characters.
const LONG_NAMES: u32 = 1 << 10;
const CHANNELS: [&str; 3] = ["A", "Z", "ZBack"];
/// The largest header and the largest tile that are read.
const HEADER_BYTES_MAX: usize = 1 << 20;
const TILE_BYTES_MAX: u64 = 1 << 28;
const SIDE_MAX: i64 = 1 << 22;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DeepError {
    /// It cannot be read at all.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Corrupt(&'static str),
    /// It is not a deep file of the form that is read.
    #[error("{0}")]
    Unsupported(&'static str),
}

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct DeepHeader {
    /// Width and height.
    pub size: [u32; 2],
    /// The first pixel's place in the whole picture, and that picture's size.
    pub corner: [i32; 2],
    /// The size of the whole picture.
    pub whole: [u32; 2],
    /// The camera, as shadow maps have it: rows for row vectors.
    pub camera_from_world: [f32; 16],
    /// Places in the map from world space.
    pub ndc_from_world: [f32; 16],
    /// The program that wrote it.
    pub software: String,
    /// The most samples of a pixel.
    pub samples_max: u32,
}

impl DeepHeader {
    /// Returns the number of tiles along x and y.
    pub fn tiles(&self) -> [u32; 2] {
        self.size.map(|side| side.div_ceil(TILE_SIDE))
    }

    /// Returns the width and height of a tile.
    fn tile_size(&self, at: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|axis| (self.size[axis] - at[axis] * TILE_SIDE).min(TILE_SIDE))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = [MAGIC, VERSION].map(u32::to_le_bytes).concat();
        let window = |low: [i32; 2], size: [u32; 2]| {
            [low[0], low[1], low[0] + size[0] as i32 - 1, low[1] + size[1] as i32 - 1].map(i32::to_le_bytes).concat()
        };
        let floats = |floats: &[f32]| floats.iter().flat_map(|float| float.to_le_bytes()).collect::<Vec<u8>>();
        let mut channels = Vec::new();
        for name in CHANNELS {
            channels.extend(name.bytes().chain([0]));
            // Floats, not linear, a sample for each pixel.
            channels.extend([2_u32, 0, 1, 1].iter().flat_map(|word| word.to_le_bytes()));
        }
        channels.push(0);
        let tiles = self.tiles().iter().product::<u32>();
        let mut attribute = |name: &str, kind: &str, value: &[u8]| {
            out.extend(name.bytes().chain([0]).chain(kind.bytes()).chain([0]));
            out.extend((value.len() as u32).to_le_bytes());
            out.extend(value);
        };
        attribute("channels", "chlist", &channels);
        attribute("chunkCount", "int", &tiles.to_le_bytes());
        attribute("compression", "compression", &[2]); // ZIPS
        attribute("dataWindow", "box2i", &window(self.corner, self.size));
        attribute("displayWindow", "box2i", &window([0, 0], self.whole));
        attribute("lineOrder", "lineOrder", &[0]);
        attribute("maxSamplesPerPixel", "int", &self.samples_max.to_le_bytes());
        attribute("pixelAspectRatio", "float", &floats(&[1.0]));
        attribute("screenWindowCenter", "v2f", &floats(&[0.0, 0.0]));
        attribute("screenWindowWidth", "float", &floats(&[1.0]));
        attribute("software", "string", self.software.as_bytes());
        attribute("textureformat", "string", b"Shadow");
        attribute("tiles", "tiledesc", &[[TILE_SIDE; 2].map(u32::to_le_bytes).concat(), vec![0]].concat());
        attribute("type", "string", b"deeptile");
        attribute("version", "int", &1_u32.to_le_bytes());
        attribute("worldToCamera", "m44f", &floats(&self.camera_from_world));
        attribute("worldToNDC", "m44f", &floats(&self.ndc_from_world));
        out.push(0);
        out
    }
}

/// The visibilities of a tile's pixels, row by row.
pub type DeepTile = Vec<Visibility>;

/// A sample: from `z` to `back` this part of the light ends.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DeepSample {
    alpha: f32,
    z: f32,
    back: f32,
}

/// Returns the samples of a function: what is between its knots, without what does nothing.
fn samples_of(light: &Visibility) -> impl Iterator<Item = DeepSample> + '_ {
    let falls = light.knots().windows(2).filter(|pair| pair[0].light > pair[1].light);
    falls.map(|pair| DeepSample { alpha: 1.0 - pair[1].light / pair[0].light, z: pair[0].z, back: pair[1].z })
}

/// Returns the function of samples, in whatever order they are.
fn of_samples(samples: &mut [DeepSample]) -> Visibility {
    samples.sort_by(|a, b| a.z.total_cmp(&b.z).then(a.back.total_cmp(&b.back)));
    let (mut knots, mut light, mut depth) = (Vec::<Knot>::new(), 1.0_f32, 0.0_f32);
    for sample in samples.iter().filter(|sample| sample.z.is_finite() && sample.alpha > 0.0) {
        let z = sample.z.max(depth);
        let back = if sample.back.is_finite() { sample.back.max(z) } else { z };
        let after = light * (1.0 - sample.alpha.min(1.0));
        if knots.last() != Some(&Knot { z, light }) {
            knots.push(Knot { z, light });
        }
        knots.push(Knot { z: back, light: after });
        (light, depth) = (after, back);
    }
    Visibility::of_knots(knots).unwrap_or_default()
}

/// Writes tiles in order, row by row, and the table of where they are at the end.
#[derive(Debug)]
pub struct DeepWriter<W> {
    out: W,
    header: DeepHeader,
    offsets: Vec<u64>,
    position: u64,
    table: u64,
}

impl<W: Write + Seek> DeepWriter<W> {
    /// Writes the header, and room for the table.
    ///
    /// # Errors
    /// If that fails.
    pub fn new(mut out: W, header: DeepHeader) -> io::Result<Self> {
        let bytes = header.bytes();
        let table = bytes.len() as u64;
        let tiles = header.tiles().iter().product::<u32>() as usize;
        out.write_all(&bytes)?;
        out.write_all(&vec![0; 8 * tiles])?;
        Ok(Self { out, header, offsets: Vec::with_capacity(tiles), position: table + 8 * tiles as u64, table })
    }

    /// Writes the next tile: `pixel` gives the function of each of its pixels in the picture.
    ///
    /// # Errors
    /// If that fails.
    pub fn write_tile(&mut self, pixel: impl Fn([u32; 2]) -> Visibility) -> io::Result<()> {
        let (across, number) = (self.header.tiles()[0], self.offsets.len() as u32);
        let at = [number % across, number / across];
        let [width, height] = self.header.tile_size(at);
        let (mut counts, mut data) = (Vec::new(), Vec::new());
        for y in 0..height {
            let place = |x| [at[0] * TILE_SIDE + x, at[1] * TILE_SIDE + y];
            let row: Vec<Vec<DeepSample>> = (0..width).map(|x| samples_of(&pixel(place(x))).collect()).collect();
            let mut sum = 0;
            for samples in &row {
                sum += samples.len() as u32;
                counts.extend(sum.to_le_bytes());
            }
            let flat = || row.iter().flatten();
            data.extend(flat().flat_map(|sample| sample.alpha.to_le_bytes()));
            data.extend(flat().flat_map(|sample| sample.z.to_le_bytes()));
            data.extend(flat().flat_map(|sample| sample.back.to_le_bytes()));
        }
        let unpacked = data.len() as u64;
        let (counts, data) = (pack_counts(counts), packed(data, ZIP_LEVEL));
        let mut chunk = [at[0], at[1], 0, 0].map(u32::to_le_bytes).concat();
        chunk.extend([counts.len() as u64, data.len() as u64, unpacked].iter().flat_map(|size| size.to_le_bytes()));
        chunk.extend(counts.into_iter().chain(data));
        self.offsets.push(self.position);
        self.position += chunk.len() as u64;
        self.out.write_all(&chunk)
    }

    /// Writes the table.
    ///
    /// # Errors
    /// If that fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(self.table))?;
        let table: Vec<u8> = self.offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        self.out.write_all(&table)?;
        self.out.seek(SeekFrom::Start(self.position))?;
        self.out.flush()
    }
}

/// Where the tiles of a file are.
#[derive(Clone, Debug)]
pub struct DeepReader {
    header: DeepHeader,
    offsets: Vec<u64>,
    /// The place of A, Z and ZBack among the file's channels, and bytes of a sample of each of them.
    places: [Option<usize>; 3],
    channel_bytes: Vec<usize>,
    compressed: bool,
}

impl DeepReader {
    /// Whether a file that begins like this is one of deep data.
    pub fn is_deep(first: &[u8]) -> bool {
        let word = |at: usize| first.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
        word(0) == Some(MAGIC) && word(4).is_some_and(|version| version & 1 << 11 != 0)
    }

    /// Reads the header and the table.
    ///
    /// # Errors
    /// If it is not a deep file of tiles of this size.
    pub fn open(file: &mut (impl Read + Seek)) -> Result<Self, DeepError> {
        let bytes = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let mut fields = HeaderReader { file, left: HEADER_BYTES_MAX };
        let (magic, version) = (fields.word()?, fields.word()?);
        if magic != MAGIC || version & !LONG_NAMES != VERSION {
            return Err(DeepError::Unsupported("deep files of one part are read"));
        }
        let attributes = fields.attributes()?;
        let value = |name: &str| attributes.iter().find(|(known, _)| known == name).map(|(_, value)| &value[..]);
        if value("type") != Some(b"deeptile") {
            return Err(DeepError::Unsupported("it has deep scan lines; deep tiles of 64 x 64 pixels are read"));
        }
        let tiles = [[TILE_SIDE; 2].map(u32::to_le_bytes).concat(), vec![0]].concat();
        if value("tiles") != Some(&tiles) {
            return Err(DeepError::Unsupported(
                "its deep tiles have other sizes; 64 x 64 pixels in one level are read",
            ));
        }
        let compressed = match value("compression") {
            Some([0]) => false,
            Some([2]) => true,
            _ => return Err(DeepError::Unsupported("its compression is not ZIPS")),
        };
        let window = |name| value(name).and_then(box_of).ok_or(DeepError::Corrupt("it has no windows"));
        let (corner, size) = window("dataWindow")?;
        let (_, whole) = window("displayWindow")?;
        let matrix = |name| value(name).and_then(floats).and_then(|floats| floats.try_into().ok());
        let no_camera = DeepError::Unsupported("it has no camera, so it is not a shadow map");
        let (Some(camera_from_world), Some(ndc_from_world)) = (matrix("worldToCamera"), matrix("worldToNDC")) else {
            return Err(no_camera);
        };
        let (names, channel_bytes) =
            value("channels").and_then(channels).ok_or(DeepError::Corrupt("its channels are damaged"))?;
        let places = CHANNELS.map(|name| names.iter().position(|known| known == name));
        let are_floats = places.iter().flatten().all(|&place| channel_bytes[place] == 4);
        if places[0].is_none() || places[1].is_none() || !are_floats {
            return Err(DeepError::Unsupported("it lacks the channels A and Z as floats"));
        }
        let software = value("software").map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
        let header = DeepHeader { size, corner, whole, camera_from_world, ndc_from_world, software, samples_max: 0 };
        let count = header.tiles().map(u64::from).iter().product::<u64>();
        if count > bytes / 8 {
            return Err(DeepError::Corrupt("it is cut short"));
        }
        let mut table = vec![0; 8 * count as usize];
        file.read_exact(&mut table)?;
        let offsets = table.as_chunks::<8>().0.iter().map(|offset| u64::from_le_bytes(*offset)).collect();
        Ok(Self { header, offsets, places, channel_bytes, compressed })
    }

    /// Returns what the file says of itself.
    pub fn header(&self) -> &DeepHeader {
        &self.header
    }

    /// Reads a tile. Returns it with the bytes that were read.
    ///
    /// # Errors
    /// If there is no such tile, or it is damaged.
    pub fn read_tile(&self, file: &mut (impl Read + Seek), at: [u32; 2]) -> Result<(DeepTile, usize), DeepError> {
        let number = (at[1] * self.header.tiles()[0] + at[0]) as usize;
        let offset = *self.offsets.get(number).ok_or(DeepError::Corrupt("it lacks a tile"))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut head = [0; 40];
        file.read_exact(&mut head)?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let size = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if [word(0), word(4), word(8), word(12)] != [at[0], at[1], 0, 0] {
            return Err(DeepError::Corrupt("a tile is in another's place"));
        }
        let [packed_counts, packed, unpacked] = [16, 24, 32].map(size);
        if packed_counts > 8 * TILE_PIXELS as u64 || packed > TILE_BYTES_MAX || unpacked > TILE_BYTES_MAX {
            return Err(DeepError::Corrupt("a tile is too large"));
        }
        let [width, height] = self.header.tile_size(at).map(|side| side as usize);
        let counts = self.part(file, packed_counts, 4 * (width * height) as u64)?;
        let data = self.part(file, packed, unpacked)?;
        let tile = self.pixels(&counts, &data, width).ok_or(DeepError::Corrupt("a tile's samples are damaged"))?;
        Ok((tile, head.len() + (packed_counts + packed) as usize))
    }

    fn part(&self, file: &mut impl Read, packed: u64, unpacked: u64) -> Result<Vec<u8>, DeepError> {
        let mut bytes = vec![0; packed as usize];
        file.read_exact(&mut bytes)?;
        if packed == unpacked || !self.compressed {
            return Ok(bytes);
        }
        unpack(&bytes, unpacked as usize).ok_or(DeepError::Corrupt("a tile cannot be decompressed"))
    }

    /// Returns the functions of a tile's pixels from its rows of sums of samples, and of samples channel by channel.
    fn pixels(&self, counts: &[u8], data: &[u8], width: usize) -> Option<DeepTile> {
        let sample_bytes: usize = self.channel_bytes.iter().sum();
        let begins = |place: usize| self.channel_bytes[..place].iter().sum::<usize>();
        let (mut tile, mut row_begin) = (Vec::new(), 0_usize);
        for row in counts.as_chunks::<4>().0.chunks(width) {
            let ends: Vec<usize> = row.iter().map(|end| u32::from_le_bytes(*end) as usize).collect();
            let all = *ends.last()?;
            let row_data = data.get(row_begin..row_begin.checked_add(all.checked_mul(sample_bytes)?)?)?;
            row_begin += row_data.len();
            let float = |place: usize, sample: usize| {
                let at = begins(place) * all + 4 * sample;
                row_data.get(at..at + 4).and_then(|b| b.try_into().ok()).map(f32::from_le_bytes)
            };
            let mut first = 0;
            for end in ends {
                let mut samples = Vec::new();
                for sample in first..end.max(first) {
                    let z = float(self.places[1]?, sample)?;
                    let back = self.places[2].map_or(Some(z), |place| float(place, sample))?;
                    samples.push(DeepSample { alpha: float(self.places[0]?, sample)?, z, back });
                }
                tile.push(of_samples(&mut samples));
                first = end;
            }
        }
        Some(tile)
    }
}

/// Reads what is before the tiles, at most `left` bytes.
struct HeaderReader<'a, R> {
    file: &'a mut R,
    left: usize,
}

impl<R: Read> HeaderReader<'_, R> {
    fn take(&mut self, count: usize) -> Result<Vec<u8>, DeepError> {
        self.left = self.left.checked_sub(count).ok_or(DeepError::Corrupt("its header is too long"))?;
        let mut bytes = vec![0; count];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn word(&mut self) -> Result<u32, DeepError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn name(&mut self) -> Result<String, DeepError> {
        let mut name = Vec::new();
        loop {
            match self.take(1)?[0] {
                0 => return Ok(String::from_utf8_lossy(&name).into_owned()),
                byte => name.push(byte),
            }
        }
    }

    fn attributes(&mut self) -> Result<Vec<(String, Vec<u8>)>, DeepError> {
        let mut attributes = Vec::new();
        loop {
            let name = self.name()?;
            if name.is_empty() {
                return Ok(attributes);
            }
            self.name()?;
            let bytes = self.word()? as usize;
            attributes.push((name, self.take(bytes)?));
        }
    }
}

fn box_of(bytes: &[u8]) -> Option<([i32; 2], [u32; 2])> {
    let side: Vec<i32> = bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
    let [x0, y0, x1, y1] = side[..] else { return None };
    let size = [i64::from(x1) - i64::from(x0) + 1, i64::from(y1) - i64::from(y0) + 1];
    let is_possible = size.iter().all(|side| (1..=SIDE_MAX).contains(side));
    is_possible.then(|| ([x0, y0], size.map(|side| side as u32)))
}

fn floats(bytes: &[u8]) -> Option<Vec<f32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| words.iter().map(|word| f32::from_le_bytes(*word)).collect())
}

/// Returns the names of a list of channels, and the bytes of a sample of each.
fn channels(mut list: &[u8]) -> Option<(Vec<String>, Vec<usize>)> {
    let (mut names, mut bytes) = (Vec::new(), Vec::new());
    while *list.first()? != 0 {
        let end = list.iter().position(|byte| *byte == 0)?;
        names.push(String::from_utf8_lossy(&list[..end]).into_owned());
        let kind = list.get(end + 1..end + 5)?;
        bytes.push(if kind == [1, 0, 0, 0] { 2 } else { 4 });
        list = list.get(end + 17..)?;
    }
    Some((names, bytes))
}

/// Returns the sums of samples of a tile's pixels. OpenEXR's C++ library takes every table as packed that is shorter
/// than that of a tile of 64 x 64 pixels, its C library every table that is not as long as it is unpacked. So that of a
/// smaller tile, at the right or lower edge, is packed even where that makes it longer, but never just as long.
fn pack_counts(counts: Vec<u8>) -> Vec<u8> {
    if counts.len() == 4 * TILE_PIXELS {
        return packed(counts, ZIP_LEVEL);
    }
    let zip = zipped(&counts, ZIP_LEVEL);
    if zip.len() == counts.len() { zipped(&counts, 0) } else { zip }
}

fn unpack(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    let status = Decompress::new(true).decompress_vec(packed, &mut bytes, FlushDecompress::Finish).ok()?;
    if status != Status::StreamEnd || bytes.len() != size {
        return None;
    }
    for i in 1..size {
        bytes[i] = bytes[i].wrapping_add(bytes[i - 1]).wrapping_sub(128);
    }
    let (even, odd) = bytes.split_at(size.div_ceil(2));
    Some((0..size).map(|i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] }).collect())
}

#[cfg(test)]
mod tests;
