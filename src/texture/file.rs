//! An open texture, whose tiles any thread may read.

use super::TILE_TEXELS;
use super::TILE_WORDS;
use super::block::{BlockPart, TexelBlock};
use super::deep_tiles::DeepTiles;
use super::error::TextureError;
use super::exr_tiles::ExrTiles;
use super::handles::{self, HandleOwner, TextureHandle, TileReader};
use super::header::{TexelFormat, TextureHeader, TextureKind, whole_levels};
use super::occlusion;
use super::patient_file::{Patience, PatientFile, answered};
use super::point_tiles::PointTiles;
use super::read_limits::ReadLimits;
use super::tiff_tiles::TiffTiles;
use crate::deep::DeepReader;
use crate::files::what_is_no_file;
use crate::points::PointChannel;
use std::fs::{self, Metadata};
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// By which a file is known to be the same, and unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    /// The file as it was named.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, if the system says so.
    pub modified: Option<SystemTime>,
}

impl FileIdentity {
    /// Finds a file. Folders, pipes and devices are none.
    ///
    /// # Errors
    /// If it is missing or no file.
    pub fn of(path: &Path) -> Result<Self, TextureError> {
        Self::within(&Patience::new(PATIENCE), path)
    }

    /// As [`Self::of`], within a time.
    ///
    /// # Errors
    /// Also if the system does not answer for `patience`.
    pub(super) fn within(patience: &Patience, path: &Path) -> Result<Self, TextureError> {
        let asked = path.to_owned();
        let found =
            answered(patience, move || fs::metadata(asked)).map_err(|error| TextureError::of_io(path, error))?;
        if let Some(what) = what_is_no_file(&found) {
            return Err(TextureError::NotAFile { path: path.to_owned(), what });
        }
        Ok(Self::new(path, &found))
    }

    fn new(path: &Path, found: &Metadata) -> Self {
        Self { path: path.to_owned(), bytes: found.len(), modified: found.modified().ok() }
    }
}

/// How tiles are found in a file.
#[derive(Debug)]
enum TileTable {
    Exr(Box<ExrTiles>),
    Deep(Box<DeepTiles>),
    Tiff(TiffTiles),
    Points(Box<PointTiles>),
}

/// An open texture. Reading opens the file again where need be, and closes it when too many others are open.
#[derive(Debug)]
pub struct TextureFile {
    header: TextureHeader,
    identity: FileIdentity,
    table: TileTable,
    number: u64,
    patience: Arc<Patience>,
}

/// How long the system may take to answer, where no other time is given.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextureContainer {
    Exr,
    Deep,
    Tiff,
    Points,
    Other,
}

impl TextureContainer {
    /// Looks at the first bytes of a file, and goes back to its beginning.
    pub(super) fn find(path: &Path, file: &mut (impl Read + Seek)) -> Result<Self, TextureError> {
        let of_io = |error| TextureError::of_io(path, error);
        let mut magic = Vec::new();
        file.take(8).read_to_end(&mut magic).map_err(of_io)?;
        file.rewind().map_err(of_io)?;
        Ok(match *magic {
            _ if DeepReader::is_deep(&magic) => Self::Deep,
            [0x76, 0x2f, 0x31, 0x01, ..] => Self::Exr,
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => Self::Tiff,
            [b'p', b'l', b'y', b'\n' | b'\r', ..] => Self::Points,
            [] => return Err(TextureError::corrupt(path, "it is empty")),
            _ => Self::Other,
        })
    }
}

impl TextureFile {
    /// Opens a texture: tiled OpenEXR or TIFF, brick maps among them.
    ///
    /// # Errors
    /// If it cannot be read, or is a picture without tiles ([`TextureError::NotTiled`]) or a part of one
    /// ([`TextureError::PartOfPicture`]), a point cloud ([`TextureError::PointCloud`]) or something else.
    pub fn open(path: &Path) -> Result<Self, TextureError> {
        Self::open_within(&Patience::new(PATIENCE), path)
    }

    /// Opens a texture, and gives it up where the system does not answer for `patience`, now or later.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn open_within(patience: &Arc<Patience>, path: &Path) -> Result<Self, TextureError> {
        let identity = FileIdentity::within(patience, path)?;
        let file = PatientFile::open(path, patience).map_err(|error| TextureError::of_io(path, error))?;
        let mut file = BufReader::new(file);
        let (mut header, table) = match TextureContainer::find(path, &mut file)? {
            TextureContainer::Exr => {
                let (header, tiles) = ExrTiles::open(path, &mut file, identity.bytes)?;
                (header, TileTable::Exr(Box::new(tiles)))
            }
            TextureContainer::Deep => {
                let (header, tiles) = DeepTiles::open(path, &mut file)?;
                (header, TileTable::Deep(Box::new(tiles)))
            }
            TextureContainer::Tiff => {
                let (header, tiles) = TiffTiles::open(path, file)?;
                (header, TileTable::Tiff(tiles))
            }
            TextureContainer::Points => return Err(TextureError::PointCloud(path.to_owned())),
            TextureContainer::Other => return Err(TextureError::Unknown(path.to_owned())),
        };
        check(path, &header)?;
        if header.kind == TextureKind::Cube {
            // The levels at which each face has whole texels.
            header.levels = header.levels.min(whole_levels(header.height / 2, 1));
        }
        Ok(Self { header, identity, table, number: handles::new_number(), patience: Arc::clone(patience) })
    }

    /// Opens a point cloud, which is read whole. Its tiles are the words that devices look it up in.
    ///
    /// # Errors
    /// If it is none, or is damaged.
    pub fn open_points(path: &Path) -> Result<Self, TextureError> {
        Self::open_points_within(path, &ReadLimits::default())
    }

    /// Opens a point cloud, if the limits allow it.
    ///
    /// # Errors
    /// As for [`Self::open_points`]; if there is not enough memory, and if it was stopped.
    pub fn open_points_within(path: &Path, limits: &ReadLimits) -> Result<Self, TextureError> {
        let identity = FileIdentity::of(path)?;
        let (header, tiles) = PointTiles::open(path, limits)?;
        let table = TileTable::Points(Box::new(tiles));
        Ok(Self { header, identity, table, number: handles::new_number(), patience: Patience::new(PATIENCE) })
    }

    /// Whether it is a point cloud that is in memory.
    pub(super) fn holds_points(&self) -> bool {
        matches!(&self.table, TileTable::Points(tiles) if tiles.is_there())
    }

    /// Frees what a point cloud takes. Returns whether there was any.
    pub(super) fn free_points(&self) -> bool {
        matches!(&self.table, TileTable::Points(tiles) if tiles.free())
    }

    /// Reads a point cloud again that was freed; nothing happens to what was not.
    ///
    /// # Errors
    /// As for [`Self::open_points_within`], and if the file is no longer the same.
    pub(super) fn read_points_again(&self, limits: &ReadLimits) -> Result<(), TextureError> {
        let TileTable::Points(tiles) = &self.table else { return Ok(()) };
        if tiles.is_there() {
            return Ok(());
        }
        let path = &self.identity.path;
        let (header, again) = PointTiles::open(path, limits)?;
        let is_same = FileIdentity::of(path)? == self.identity;
        if !is_same || header != self.header || again.channels != tiles.channels {
            return Err(TextureError::Changed(path.clone()));
        }
        tiles.replace_words(again);
        Ok(())
    }

    /// Returns what the file says of itself.
    pub fn header(&self) -> &TextureHeader {
        &self.header
    }

    /// Returns the channels of a point cloud.
    pub fn point_channels(&self) -> Option<&[PointChannel]> {
        match &self.table {
            TileTable::Points(tiles) => Some(&tiles.channels),
            TileTable::Exr(tiles) => tiles.bricks.as_ref().map(|bricks| &*bricks.channels),
            _ => None,
        }
    }

    /// Returns the file when it was opened.
    pub fn identity(&self) -> &FileIdentity {
        &self.identity
    }

    /// Reads a tile of a level: tile (`x`, `y`) begins at texel (64 `x`, 64 `y`). Words of texels outside of the
    /// picture are 0. Returns the bytes that were read and decoded; none if the file's block was at hand.
    ///
    /// # Errors
    /// If there is no such tile, or it cannot be read.
    pub fn read_tile(
        &self,
        level: u32,
        plane: u32,
        x: u32,
        y: u32,
        out: &mut [u32; TILE_WORDS],
    ) -> Result<usize, TextureError> {
        let tiles = self.header.level_tiles(level);
        if level >= self.header.levels || plane >= self.header.planes() || x >= tiles[0] || y >= tiles[1] {
            return Err(TextureError::NoSuchTile(self.identity.path.clone()));
        }
        out.fill(0);
        let size = self.header.level_size(level);
        let begin = [x, y].map(|tile| tile * TILE_TEXELS);
        let end = [0, 1].map(|axis| (begin[axis] + TILE_TEXELS).min(size[axis]));
        let stored = match &self.table {
            TileTable::Exr(tiles) => tiles.tile(),
            TileTable::Deep(tiles) => tiles.tile(),
            TileTable::Tiff(tiles) => tiles.tile(),
            TileTable::Points(tiles) => {
                let is_there = tiles.copy([x, y], out);
                return if is_there { Ok(0) } else { Err(TextureError::NoSuchTile(self.identity.path.clone())) };
            }
        };
        let mut bytes = 0;
        for block_y in begin[1] / stored[1]..end[1].div_ceil(stored[1]) {
            for block_x in begin[0] / stored[0]..end[0].div_ceil(stored[0]) {
                let block = [block_x, block_y];
                let first = [0, 1].map(|axis| begin[axis].max(block[axis] * stored[axis]));
                let part = BlockPart {
                    from: [0, 1].map(|axis| first[axis] - block[axis] * stored[axis]),
                    to: [0, 1].map(|axis| first[axis] - begin[axis]),
                    size: [0, 1].map(|axis| end[axis].min((block[axis] + 1) * stored[axis]) - first[axis]),
                };
                bytes += self.with_block(level, block, |found| {
                    found.copy_to(part, self.header.format, self.header.channels, plane, out);
                })?;
            }
        }
        if let TileTable::Exr(tiles) = &self.table
            && let Some(bricks) = &tiles.bricks
        {
            bricks.check_tile(&self.identity.path, [x, y], out)?;
        }
        if self.header.kind == TextureKind::Occlusion {
            occlusion::check_tile(&self.identity.path, &self.header, [x, y], out)?;
        }
        Ok(bytes)
    }

    /// Reads a block of the file, or takes the one that was read last, and hands it to `use_block`.
    fn with_block(&self, level: u32, at: [u32; 2], use_block: impl FnOnce(&TexelBlock)) -> Result<usize, TextureError> {
        let path = &self.identity.path;
        let kept_level = if matches!(self.table, TileTable::Tiff(_)) { level } else { 0 };
        let owner = HandleOwner { texture: self.number, level: kept_level };
        let mut handle = match handles::take(owner, (level, at)) {
            Some(handle) => handle,
            None => self.reopened(level)?,
        };
        let mut bytes = 0;
        if handle.at != Some((level, at)) {
            let read = match (&self.table, &mut handle.reader) {
                (TileTable::Exr(tiles), TileReader::Exr(file)) => tiles.read(path, file, &self.header, level, at),
                (TileTable::Deep(tiles), TileReader::Exr(file)) => tiles.read(path, file, &self.header, at),
                (TileTable::Tiff(tiles), TileReader::Tiff(decoder)) => tiles.read(path, decoder, &self.header, at),
                _ => Err(TextureError::NoSuchTile(path.clone())),
            };
            (handle.block, bytes) = read?;
            handle.at = Some((level, at));
        }
        use_block(&handle.block);
        handles::put_back(owner, handle);
        Ok(bytes)
    }

    /// Opens the file again, which must not have changed.
    fn reopened(&self, level: u32) -> Result<TextureHandle, TextureError> {
        let path = &self.identity.path;
        let of_io = |error| TextureError::of_io(path, error);
        if FileIdentity::within(&self.patience, path)? != self.identity {
            return Err(TextureError::Changed(path.clone()));
        }
        let file = PatientFile::open(path, &self.patience).map_err(of_io)?;
        if FileIdentity::new(path, &file.metadata().map_err(of_io)?) != self.identity {
            return Err(TextureError::Changed(path.clone()));
        }
        let reader = match &self.table {
            TileTable::Exr(_) | TileTable::Deep(_) => TileReader::Exr(BufReader::new(file)),
            TileTable::Tiff(tiles) => TileReader::Tiff(Box::new(tiles.reader(path, file, &self.header, level)?)),
            TileTable::Points(_) => return Err(TextureError::NoSuchTile(path.clone())),
        };
        Ok(TextureHandle { reader, at: None, block: TexelBlock::default() })
    }
}

impl Drop for TextureFile {
    fn drop(&mut self) {
        handles::close(self.number);
    }
}

/// The most channels of a texture: as many as planes of floats that a tile's key can name.
const CHANNELS_MAX: u32 = 64;

/// The longest side of a texture: a tile's key has 16 bits for each coordinate.
pub(super) const SIDE_MAX: u32 = 1 << 22;

pub(super) fn check(path: &Path, header: &TextureHeader) -> Result<(), TextureError> {
    let [width, height] = [header.width, header.height];
    if width == 0 || height == 0 || header.channels == 0 {
        return Err(TextureError::unsupported(path, "it has no texels"));
    }
    if header.channels > CHANNELS_MAX {
        let reason = format!("it has {} channels; {CHANNELS_MAX} are supported", header.channels);
        return Err(TextureError::unsupported(path, reason));
    }
    if width.max(height) > SIDE_MAX {
        let reason = format!("it is {width} x {height} texels large; {SIDE_MAX} along a side are supported");
        return Err(TextureError::unsupported(path, reason));
    }
    if header.kind == TextureKind::Cube && u64::from(width) * 2 != u64::from(height) * 3 {
        return Err(TextureError::unsupported(path, "its six faces are not packed three wide and two high"));
    }
    if header.kind == TextureKind::Cube && !(height / 2).is_power_of_two() {
        return Err(TextureError::unsupported(path, "the sides of its six faces are no powers of two"));
    }
    if header.kind == TextureKind::Occlusion
        && (header.format, header.channels, header.levels) != (TexelFormat::F32, 1, 1)
    {
        return Err(TextureError::corrupt(path, "it is an occlusion map, but not of one channel of floats"));
    }
    if header.levels < whole_levels(width, height)
        && !matches!(
            header.kind,
            TextureKind::Shadow
                | TextureKind::DeepShadow
                | TextureKind::Cube
                | TextureKind::Points
                | TextureKind::Occlusion
        )
    {
        return Err(TextureError::NotTiled { path: path.to_owned(), lacks: "smaller levels" });
    }
    Ok(())
}
