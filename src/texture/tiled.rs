//! Pictures without tiles that are used as textures: tiled once, into a folder.

use super::error::TextureError;
use super::exr_tiles::ExrAttributes;
use super::file::{FileIdentity, TextureFile};
use super::make::{MakeKind, MakeRequest, go_on, make};
use super::patient_file::Patience;
use exr::meta::MetaData;
use rustc_hash::FxHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens a texture or a point cloud. A picture without tiles or levels is made into a texture in the folder `cache`
/// first, unless it is there already, and `notify` is called with a message. A texture is given up where the system
/// does not answer for `patience`.
///
/// # Errors
/// If it can neither be read nor made into a texture.
pub fn open_or_tile(
    patience: &Arc<Patience>,
    path: &Path,
    cache: &Path,
    notify: &dyn Fn(&str),
) -> Result<TextureFile, TextureError> {
    match TextureFile::open_within(patience, path) {
        Err(TextureError::NotTiled { .. } | TextureError::Unknown(_)) => {}
        Err(TextureError::PointCloud(_)) => return TextureFile::open_points(path),
        opened => return opened,
    }
    let tiled = tiled_path(path, cache)?;
    if let Ok(file) = TextureFile::open_within(patience, &tiled) {
        return Ok(file);
    }
    fs::create_dir_all(cache)
        .map_err(|error| TextureError::Write { path: cache.to_owned(), reason: error.to_string() })?;
    let kind = if is_depth_file(path) { MakeKind::Shadow } else { MakeKind::Plain };
    make(&MakeRequest::new(kind, vec![path.to_owned()], tiled.clone()), &go_on)?;
    let (what, made, advice) = match kind {
        MakeKind::Shadow => ("a depth file", "shadow map", "MakeShadow makes it where the scene says"),
        _ => ("a picture without tiles", "texture", "`anthill texture make` chooses its wrap modes and filter"),
    };
    let (path, tiled_name) = (path.display(), tiled.display());
    notify(&format!("\"{path}\" is {what}: it was made into the {made} \"{tiled_name}\"; {advice}"));
    TextureFile::open_within(patience, &tiled)
}

/// Whether a picture is what `Display "z" "shadow" "z"` draws, which other renderers read as a shadow map as it is.
fn is_depth_file(path: &Path) -> bool {
    let Ok(meta) = MetaData::read_from_file(path, false) else { return false };
    let header = meta.headers.first();
    header.is_some_and(|header| header.channels.list.len() == 1 && ExrAttributes(header).matrices().is_some())
}

/// Is increased when the same picture becomes another texture than before.
const MAKER_VERSION: u32 = 2;

/// Returns where the texture of a picture is kept. A picture that changes gets another one.
fn tiled_path(path: &Path, cache: &Path) -> Result<PathBuf, TextureError> {
    let identity = FileIdentity::of(path)?;
    let real = fs::canonicalize(path).map_err(|error| TextureError::of_io(path, error))?;
    let mut hasher = FxHasher::default();
    (MAKER_VERSION, real, identity.bytes, identity.modified).hash(&mut hasher);
    Ok(cache.join(format!("{:016x}.tex", hasher.finish())))
}
