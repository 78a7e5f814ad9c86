//! Pictures without tiles that are used as textures: tiled once, into a folder.

use super::error::TextureError;
use super::file::{FileIdentity, TextureFile};
use super::make::{MakeKind, MakeRequest, make};
use rustc_hash::FxHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// Opens a texture. A picture without tiles or levels is made into one in the folder `cache` first, unless it is there
/// already, and `notify` is called with a message.
///
/// # Errors
/// If it can neither be read nor made into a texture.
pub fn open_or_tile(path: &Path, cache: &Path, notify: &dyn Fn(&str)) -> Result<TextureFile, TextureError> {
    match TextureFile::open(path) {
        Err(TextureError::NotTiled { .. } | TextureError::Unknown(_)) => {}
        opened => return opened,
    }
    let tiled = tiled_path(path, cache)?;
    if let Ok(file) = TextureFile::open(&tiled) {
        return Ok(file);
    }
    fs::create_dir_all(cache)
        .map_err(|error| TextureError::Write { path: cache.to_owned(), reason: error.to_string() })?;
    make(&MakeRequest::new(MakeKind::Plain, vec![path.to_owned()], tiled.clone()), &|_| ())?;
    notify(&format!(
        "\"{}\" is a picture without tiles: it was made into the texture \"{}\"; use `anthill texture make` to choose \
         its wrap modes and filter",
        path.display(),
        tiled.display()
    ));
    TextureFile::open(&tiled)
}

/// Where the texture of a picture is kept. A picture that changes gets another one.
fn tiled_path(path: &Path, cache: &Path) -> Result<PathBuf, TextureError> {
    let identity = FileIdentity::of(path)?;
    let real = fs::canonicalize(path).map_err(|error| TextureError::of_io(path, error))?;
    let mut hasher = FxHasher::default();
    (real, identity.bytes, identity.modified).hash(&mut hasher);
    Ok(cache.join(format!("{:016x}.tex", hasher.finish())))
}
