//! What the header of a picture says of it as a texture.

use super::error::TextureError;
use super::exr_tiles::ExrAttributes;
use super::file::TextureContainer;
use super::header::{TextureKind, WrapMode};
use super::make::{MakeKind, MakeRequest, go_on};
use super::tiff_samples::StoredSamples;
use super::tiff_tiles::{TiffTextureTags, decoder};
use super::watched_file::WatchedFile;
use exr::meta::MetaData;
use exr::meta::header::Header;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use tiff::tags::Tag;

/// What the header of a picture, or of a texture, says of it as a texture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SourceTags {
    kind: TextureKind,
    wrap: [WrapMode; 2],
    /// Whether it has nothing but depths, and a camera that saw them.
    pub(super) is_depth_file: bool,
    /// How many parts it has that are depth files, if all are.
    parts: usize,
    /// The name of the program that wrote it.
    pub(super) software: String,
}

impl SourceTags {
    /// Reads the header of a file; of containers that do not say, it is a plain picture.
    pub(super) fn read(path: &Path) -> Result<Self, TextureError> {
        let mut file = WatchedFile::open(path, &go_on)?;
        match TextureContainer::find(path, &mut file)? {
            TextureContainer::Exr => {
                let meta = MetaData::read_from_buffered(file, false);
                let meta = meta.map_err(|error| TextureError::of_exr(path, error))?;
                let header = meta.headers.first().ok_or_else(|| TextureError::corrupt(path, "it has no parts"))?;
                let are_depths = meta.headers.iter().all(is_of_depths);
                Ok(Self { parts: if are_depths { meta.headers.len() } else { 1 }, ..Self::of_exr(header) })
            }
            TextureContainer::Tiff => Self::of_tiff(path, file),
            TextureContainer::Deep | TextureContainer::Points | TextureContainer::Other => Ok(Self::default()),
        }
    }

    fn of_exr(header: &Header) -> Self {
        let attributes = ExrAttributes(header);
        Self {
            kind: attributes.kind(),
            wrap: attributes.wrap(),
            is_depth_file: is_of_depths(header),
            parts: 1,
            software: header.own_attributes.software_name.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }

    fn of_tiff<R: Read + Seek>(path: &Path, file: R) -> Result<Self, TextureError> {
        let mut decoder = decoder(path, file)?;
        let TiffTextureTags { kind, wrap, matrices, .. } = TiffTextureTags::read(path, &mut decoder)?;
        let is_depth_file = kind == TextureKind::Shadow
            && matrices.is_some()
            && StoredSamples::find(path, &mut decoder)?.channels() == 1;
        let software = decoder.get_tag_ascii_string(Tag::Software).unwrap_or_default();
        Ok(Self { kind, wrap, is_depth_file, parts: 1, software })
    }

    /// Returns how many maps of depths it has: several, if pictures were appended to it.
    pub(super) fn maps(&self) -> usize {
        self.parts.max(1)
    }

    /// Returns the request for a texture of this picture, of the same kind and with the same wraps.
    ///
    /// # Errors
    /// If there is no such texture of one picture.
    pub(super) fn request(&self, picture: &Path, texture: PathBuf) -> Result<MakeRequest, TextureError> {
        let kind = match self.kind {
            _ if self.is_depth_file && self.maps() > 1 => MakeKind::Occlusion,
            _ if self.is_depth_file => MakeKind::Shadow,
            TextureKind::LatLong => MakeKind::LatLong,
            TextureKind::Cube => {
                let reason = "it is a cube that is not stored as a texture: make one of its six faces with `anthill \
                              texture make --kind cube`";
                return Err(TextureError::unsupported(picture, reason));
            }
            TextureKind::Occlusion => {
                let reason = "it is an occlusion map that is not stored as one: make it again of its depth files";
                return Err(TextureError::unsupported(picture, reason));
            }
            TextureKind::Plain | TextureKind::Shadow | TextureKind::DeepShadow | TextureKind::Points => MakeKind::Plain,
        };
        Ok(MakeRequest { wrap: self.wrap, ..MakeRequest::new(kind, vec![picture.to_owned()], texture) })
    }
}

/// Whether a part of an OpenEXR file has nothing but depths, and a camera that saw them.
fn is_of_depths(header: &Header) -> bool {
    header.channels.list.len() == 1 && ExrAttributes(header).matrices().is_some()
}

/// Whether a picture is what `Display "z" "shadow" "z"` draws, which is read as a shadow map as it is.
///
/// # Errors
/// If its header cannot be read.
pub fn is_depth_file(path: &Path) -> Result<bool, TextureError> {
    Ok(SourceTags::read(path)?.is_depth_file)
}
