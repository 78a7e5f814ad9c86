//! Pictures without tiles that are used as textures: tiled once, into a folder.

use super::error::TextureError;
use super::file::{FileIdentity, TextureFile};
use super::make::{MakeLimits, MakeRequest, make_within};
use super::make_memory::make_bytes;
use super::patient_file::Patience;
use super::read_limits::ReadLimits;
use super::source_tags::SourceTags;
use super::write::MAKER_VERSION;
use crate::files::OutputBudget;
use rustc_hash::FxHasher;
use std::fmt;
use std::fs;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Host memory that is taken until this is dropped.
pub type HostMemoryTaken = Box<dyn Send>;

/// Is called with a picture and the fraction of its texture that is made, and says whether to go on.
pub type TilingProgress = dyn Fn(&Path, f32) -> ControlFlow<()> + Send + Sync;

/// Takes so many bytes of host memory, or says why there are too few.
pub type MemoryTaker = dyn Fn(u64) -> Result<HostMemoryTaken, String> + Send + Sync;

/// Watches textures that are made of pictures without tiles.
pub struct TilingWatch {
    /// Shows how far a texture is made, and stops it.
    pub progress: Box<TilingProgress>,
    /// Takes the memory for making a texture.
    pub take_memory: Box<MemoryTaker>,
}

impl TilingWatch {
    /// Returns a watch that lets everything be made.
    pub fn none() -> Self {
        let take_nothing = |_| {
            let nothing: HostMemoryTaken = Box::new(());
            Ok(nothing)
        };
        Self { progress: Box::new(|_, _| ControlFlow::Continue(())), take_memory: Box::new(take_nothing) }
    }

    /// Makes a texture.
    fn make(&self, request: &MakeRequest, limits: &ReadLimits, picture: &Path) -> Result<(), TextureError> {
        let no_memory = |reason| TextureError::NoMemory { path: picture.to_owned(), reason };
        let _taken = (self.take_memory)(make_bytes(request)?).map_err(no_memory)?;
        let limits = MakeLimits { read: limits, output: &OutputBudget::default() };
        make_within(request, limits, &|fraction| (self.progress)(picture, fraction)).map(|_| ())
    }
}

impl fmt::Debug for TilingWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TilingWatch").finish_non_exhaustive()
    }
}

/// A texture that was made of a picture without tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledPicture {
    /// The picture.
    pub picture: PathBuf,
    /// The texture.
    pub texture: PathBuf,
    /// Whether it is a shadow map, of a depth file.
    pub is_shadow_map: bool,
    /// Whether the picture has tiles, but is only a part of the whole that the texture shows.
    pub is_part: bool,
}

impl TiledPicture {
    /// Returns the message about some of one kind: a few, or very many.
    pub fn message(some: &[&Self]) -> String {
        let Some(Self { picture, texture, is_shadow_map, is_part }) = some.first() else { return String::new() };
        let (picture, folder) = (picture.display(), texture.parent().unwrap_or(texture).display());
        match (is_shadow_map, some.len()) {
            (true, 1) => format!(
                "\"{picture}\" is a depth file: it was made into the shadow map \"{}\"; MakeShadow makes it where the \
                 scene says",
                texture.display()
            ),
            (true, count) => format!(
                "{count} depth files were made into shadow maps in \"{folder}\", the first of them \"{picture}\"; \
                 MakeShadow makes them where the scene says"
            ),
            (false, 1) => format!(
                "\"{picture}\" is {}: it was made into the texture \"{}\"; `anthill texture make` chooses its wrap modes \
                 and filter",
                if *is_part { "a texture of a part of a picture" } else { "a picture without tiles" },
                texture.display()
            ),
            (false, count) => format!(
                "{count} pictures without tiles{} were made into textures in \"{folder}\", the first of them \
                 \"{picture}\"; `anthill texture make` chooses their wrap modes and filters",
                if some.iter().any(|made| made.is_part) { ", or of a part of a picture," } else { "" }
            ),
        }
    }
}

/// Opens a texture or a point cloud. A picture without tiles or levels, or of a part of a picture, is made into a
/// texture of the same kind in the folder `cache` first, unless it is there already, as far as `watch` lets it; what
/// was made now is returned too. A texture is given up where the system does not answer for `patience`, and points
/// where they exceed `limits`.
///
/// # Errors
/// If it can neither be read nor made into a texture.
pub fn open_or_tile(
    patience: &Arc<Patience>,
    limits: &ReadLimits,
    path: &Path,
    cache: &Path,
    watch: &TilingWatch,
) -> Result<(TextureFile, Option<TiledPicture>), TextureError> {
    let is_part = match TextureFile::open_within(patience, path) {
        Err(TextureError::NotTiled { .. } | TextureError::Unknown(_)) => false,
        Err(TextureError::PartOfPicture(_)) => true,
        Err(TextureError::PointCloud(_)) => return Ok((TextureFile::open_points_within(path, limits)?, None)),
        opened => return Ok((opened?, None)),
    };
    let texture = tiled_path(path, cache)?;
    if let Ok(file) = TextureFile::open_within(patience, &texture) {
        return Ok((file, None));
    }
    let tags = SourceTags::read(path)?;
    let request = tags.request(path, texture.clone())?;
    fs::create_dir_all(cache)
        .map_err(|error| TextureError::Write { path: cache.to_owned(), reason: error.to_string() })?;
    watch.make(&request, limits, path)?;
    let file = TextureFile::open_within(patience, &texture)?;
    Ok((file, Some(TiledPicture { picture: path.to_owned(), texture, is_shadow_map: tags.is_depth_file, is_part })))
}

/// Returns where the texture of a picture is kept. A picture that changes gets another one.
fn tiled_path(path: &Path, cache: &Path) -> Result<PathBuf, TextureError> {
    let identity = FileIdentity::of(path)?;
    let real = fs::canonicalize(path).map_err(|error| TextureError::of_io(path, error))?;
    let mut hasher = FxHasher::default();
    (MAKER_VERSION, real, identity.bytes, identity.modified).hash(&mut hasher);
    Ok(cache.join(format!("{:016x}.tex", hasher.finish())))
}

#[cfg(test)]
mod tests;
