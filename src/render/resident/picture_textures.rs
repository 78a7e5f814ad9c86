//! The textures of a picture: what its programs name, and where they are looked for.

use crate::diagnostic::SourceLocation;
use crate::points::PointChannel;
use crate::shading::NamedTextures;
use crate::texture::{SoughtFile, TextureKind, TextureStore};
use glam::DMat4;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The textures that the programs of a picture look up; all devices share them.
#[derive(Debug)]
pub(crate) struct PictureTextures {
    /// The textures of the render.
    pub store: Arc<TextureStore>,
    /// What programs name.
    pub names: NamedTextures,
    /// Folders that are searched.
    pub folders: Arc<[String]>,
    /// Where the picture is, for names that programs compute.
    pub location: SourceLocation,
    /// Device memory for tiles, if the user or the scene gives it.
    pub memory_bytes: Option<u64>,
    /// The space in which programs compute.
    pub current_from_world: DMat4,
}

impl PictureTextures {
    /// Returns the textures of programs that name these, without folders.
    #[cfg(test)]
    pub(crate) fn of(names: NamedTextures) -> Arc<Self> {
        let reporter = Arc::new(crate::diagnostic::Reporter::silent());
        Arc::new(Self {
            store: Arc::new(TextureStore::new(reporter, Arc::default(), "tiled".into(), crate::options::HANG_TIMEOUT)),
            names,
            folders: Arc::default(),
            location: SourceLocation::default(),
            memory_bytes: None,
            current_from_world: DMat4::IDENTITY,
        })
    }

    /// Opens all textures whose names are known, each with one message if there is none or if it is not what it is
    /// looked up as.
    pub(crate) fn open_known(&self) {
        for (&token, location) in &self.names.known {
            let Some(texture) = self.find(token).and_then(|number| self.store.texture(number)) else { continue };
            let misuse = |what: &str| {
                self.store.report_misuse(self.sought(token), &self.names.texts[token as usize], location, what);
            };
            let header = texture.header();
            self.check_kind(token, header.kind, &misuse);
            let is_picture = matches!(header.kind, TextureKind::Plain | TextureKind::LatLong | TextureKind::Cube);
            if is_picture && header.channels < 3 && self.names.as_colours.contains(&token) {
                self.store.report_grey(&self.names.texts[token as usize], location);
            }
            if let Some(channels) = texture.point_channels() {
                self.check_channels(token, channels, &misuse);
            }
        }
    }

    /// Reports lookups that a file of this kind has no answer to.
    fn check_kind(&self, token: u32, kind: TextureKind, misuse: &dyn Fn(&str)) {
        let NamedTextures { as_shadows, as_occlusions, as_environments, as_textures, as_points, .. } = &self.names;
        let is_map = matches!(kind, TextureKind::Shadow | TextureKind::DeepShadow);
        let is_cloud = kind == TextureKind::Points;
        let is_occlusion = kind == TextureKind::Occlusion;
        if as_shadows.contains(&token) && !(is_map || is_occlusion) {
            misuse("is no shadow map: shadow() finds no shadow in it");
        }
        if as_occlusions.contains(&token) && !is_occlusion {
            misuse("is no occlusion map: occlusion() finds no shadow in it");
        }
        if is_occlusion && (as_environments.contains(&token) || as_textures.contains(&token)) {
            misuse("is an occlusion map or several shadow maps: texture() and environment() of it are 0");
        }
        if as_environments.contains(&token) && is_map {
            misuse("is a shadow map: environment() of it is 0");
        }
        if is_cloud && (as_environments.contains(&token) || as_textures.contains(&token)) {
            misuse("is no texture: texture() and environment() of it are 0");
        }
        if as_points.contains_key(&token) && !is_cloud {
            misuse("is a picture: texture3d() finds nothing in it");
        }
    }

    /// Reports channels that a point cloud lacks, or that do not fit what they are written to.
    fn check_channels(&self, token: u32, channels: &[PointChannel], misuse: &dyn Fn(&str)) {
        for (wanted, is_triple) in self.names.as_points.get(&token).into_iter().flatten() {
            match channels.iter().find(|channel| channel.name == **wanted) {
                None => {
                    let names = channels.iter().map(|channel| channel.name.as_str()).collect::<Vec<_>>().join(", ");
                    misuse(&format!("has no channel {wanted:?}, which is 0; its channels are: {names}"));
                }
                Some(channel) if channel.kind.floats() > 1 && !is_triple => {
                    let kind = channel.kind.word();
                    misuse(&format!(
                        "has a {kind} in the channel {wanted:?}, of which a float gets only the first part"
                    ));
                }
                Some(_) => {}
            }
        }
    }

    /// Returns what messages call the file of a name.
    fn sought(&self, token: u32) -> SoughtFile {
        if self.names.as_points.contains_key(&token) { SoughtFile::Points } else { SoughtFile::Texture }
    }

    /// Whether another picture's programs name the same, and compute in the same space with as much memory.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let Self { store, names, folders, location: _, memory_bytes, current_from_world } = self;
        Arc::ptr_eq(store, &other.store)
            && names.texts == other.names.texts
            && names.known.keys().eq(other.names.known.keys())
            && (names.environments, names.computed) == (other.names.environments, other.names.computed)
            && *folders == other.folders
            && *memory_bytes == other.memory_bytes
            && *current_from_world == other.current_from_world
    }

    /// Returns the number in the store of the texture that a token names.
    pub(crate) fn find(&self, token: u32) -> Option<u32> {
        let name = self.names.texts.get(token as usize).filter(|name| !name.is_empty())?;
        let location = self.names.known.get(&token).unwrap_or(&self.location);
        self.store.find(self.sought(token), name, &self.folders, location)
    }

    /// Returns the most textures that programs may look up.
    pub(crate) fn textures_max(&self) -> usize {
        if self.names.computed { self.names.texts.len() } else { self.names.known.len() }.max(1)
    }

    /// Returns the number of tiles of all textures that may be looked up.
    pub(crate) fn tiles_max(&self) -> u64 {
        if self.names.computed {
            return u64::MAX;
        }
        // Several names may be those of one file.
        let numbers: BTreeSet<u32> = self.names.known.keys().filter_map(|&token| self.find(token)).collect();
        let stored = numbers.into_iter().filter_map(|number| self.store.texture(number));
        stored.map(|texture| texture.header().tile_count()).sum()
    }

    /// Returns what the files behind the names are recognised by.
    pub(crate) fn identities(&self) -> Vec<Option<String>> {
        identities(&self.names, &self.store, &self.folders)
    }
}

/// Returns what the files behind names are recognised by.
pub(crate) fn identities(names: &NamedTextures, store: &TextureStore, folders: &[String]) -> Vec<Option<String>> {
    let all = if names.computed { 0..names.texts.len() as u32 } else { 0..0 };
    let tokens: BTreeSet<u32> = names.known.keys().copied().chain(all).collect();
    let texts = tokens.into_iter().map(|token| &names.texts[token as usize]);
    texts.map(|name| store.identity(name, folders)).collect()
}
