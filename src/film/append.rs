//! Depth files to which maps are appended: parts of one OpenEXR file, in the order in which they were drawn. All of
//! them are written to a new file that then takes the place of the old one, so the file is whole at any time.

use super::exr::{image_attributes, text};
use super::{FilmWriteError, PictureInfo};
use crate::files::open_file;
use ::exr::block;
use ::exr::block::chunk::Chunk;
use ::exr::block::writer::ChunksWriter;
use ::exr::error::{Error, UnitResult};
use ::exr::meta::attribute::SampleType;
use ::exr::meta::header::Header;
use ::exr::meta::{BlockDescription, Headers, MetaData};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The maps that a file has already, and that stay in it.
pub(super) struct OlderMaps {
    path: PathBuf,
    headers: Headers,
    /// The parts that stay.
    kept: Vec<usize>,
}

impl OlderMaps {
    /// Finds the maps in the file that a picture is appended to; `None` if there is no such file. The last `own` of
    /// them were drawn by this run. An older one that the same camera saw is not kept: the picture takes its place, so
    /// that a scene that is drawn again leaves the same file.
    ///
    /// # Errors
    /// If the file is none that maps of this size can be appended to.
    pub(super) fn find(path: &Path, picture: &PictureInfo<'_>, own: usize) -> Result<Option<Self>, FilmWriteError> {
        if !path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0) {
            return Ok(None);
        }
        let headers = headers_of(path).map_err(|error| no_depths(&error))?;
        let older = headers.len().saturating_sub(own);
        let is_replaced = |header: &Header| {
            let attributes = &header.own_attributes;
            attributes.world_to_camera == Some(picture.header.world_to_camera)
                && attributes.world_to_normalized_device == Some(picture.header.world_to_ndc)
        };
        let kept = (0..headers.len()).filter(|&part| part >= older || !is_replaced(&headers[part])).collect();
        let maps = Self { path: path.to_owned(), headers, kept };
        maps.kept.iter().try_for_each(|&part| check(&maps.headers[part], picture))?;
        Ok(Some(maps))
    }

    /// Returns the headers of these maps and of the one that is appended.
    pub(super) fn headers_with(&self, newest: Header) -> Headers {
        // All parts of a file share these.
        let shared = newest.shared_attributes.clone();
        let kept =
            self.kept.iter().map(|&part| Header { shared_attributes: shared.clone(), ..self.headers[part].clone() });
        let mut headers: Headers = kept.chain([newest]).collect();
        if headers.len() > 1 {
            for (number, header) in headers.iter_mut().enumerate() {
                header.own_attributes.layer_name = Some(text(&format!("map {}", number + 1)));
            }
        } else {
            headers[0].own_attributes.layer_name = None;
        }
        headers
    }

    /// Copies the blocks of these maps as they are.
    pub(super) fn copy(&self, writer: &mut impl ChunksWriter) -> UnitResult {
        if self.kept.is_empty() {
            return Ok(());
        }
        let damaged = |error: Error| Error::Invalid(format!("the maps in it cannot be read: {error}").into());
        let file = open_file(&self.path).map_err(Error::Io)?;
        let chunks = block::read(BufReader::new(file), false).and_then(|reader| reader.all_chunks(false));
        for chunk in chunks.map_err(damaged)? {
            let Chunk { layer_index: part, compressed_block } = chunk.map_err(damaged)?;
            let Some(layer_index) = self.kept.iter().position(|&kept| kept == part) else { continue };
            let place = self.headers[part].get_block_data_indices(&compressed_block).map_err(damaged)?;
            writer.write_chunk(place.tile_index.y(), Chunk { layer_index, compressed_block })?;
        }
        Ok(())
    }
}

fn headers_of(path: &Path) -> Result<Headers, Error> {
    let meta = MetaData::read_from_buffered(BufReader::new(open_file(path)?), false)?;
    MetaData::validate(&meta.headers, false)?;
    Ok(meta.headers)
}

/// Checks that a part of a file is a map of depths, whole and as large as the picture.
fn check(header: &Header, picture: &PictureInfo<'_>) -> Result<(), FilmWriteError> {
    let (own, shared) = (&header.own_attributes, &header.shared_attributes);
    let is_depth = matches!(&header.channels.list[..], [channel]
        if channel.name.to_string() == "Z" && channel.sample_type == SampleType::F32);
    let has_camera = own.world_to_camera.is_some() && own.world_to_normalized_device.is_some();
    if !is_depth || !has_camera || header.deep || header.blocks != BlockDescription::ScanLines {
        return Err(no_depths("it is another picture"));
    }
    let newest = image_attributes(picture);
    let (window, wanted) = (shared.display_window, newest.display_window);
    if window != wanted || shared.pixel_aspect != newest.pixel_aspect {
        let [old, new] = [window.size, wanted.size].map(|size| format!("{} x {}", size.x(), size.y()));
        return Err(FilmWriteError::Append(format!(
            "its maps are {old} pixels large, and this one is {new}: all maps of a file have one Format and one place"
        )));
    }
    if shared.other.contains_key(&text("partial")) {
        return Err(FilmWriteError::Append("a map in it was not drawn whole: draw it again first".into()));
    }
    Ok(())
}

fn no_depths(reason: &(impl std::fmt::Display + ?Sized)) -> FilmWriteError {
    FilmWriteError::Append(format!(
        "it is there already, and is no depth file to append to ({reason}): remove it, or draw its first map with \
         \"append\" 0"
    ))
}
