//! The textures of a render, which its devices share: a name is decided about once for a picture, and a tile is read
//! once as long as it stays in the host's cache.

mod stored_texture;
#[cfg(test)]
mod tests;
mod tile_cache;

pub use stored_texture::{StoredTexture, TextureReads};

use super::TILE_WORDS;
use super::error::TextureError;
use super::file::{FileIdentity, TextureFile};
use super::header::TextureKind;
use super::patient_file::{Patience, answered};
use super::read_limits::ReadLimits;
use super::tiled::{TiledPicture, TilingWatch, open_or_tile};
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::{FileClaims, FileRole, read_file, spellings};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tile_cache::TileCache;

/// The words of a tile.
pub type TileTexels = [u32; TILE_WORDS];

/// The most textures of a render: keys of tiles have 20 bits for them.
const TEXTURES_MAX: usize = 1 << 20;

/// Tiles that a thread reads one after the other, because neighbours may share a block of the file.
const TILES_PER_TURN: usize = 8;

/// Bytes of the tiles that are kept on the host.
const KEPT_BYTES: usize = 256 << 20;

/// What a file is looked for as, which decides the words of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoughtFile {
    /// A texture.
    Texture,
    /// A point cloud.
    Points,
}

impl SoughtFile {
    fn word(self) -> &'static str {
        match self {
            Self::Texture => "texture",
            Self::Points => "point cloud",
        }
    }

    /// Returns what is seen instead of one that cannot be used.
    fn stand_in(self) -> &'static str {
        match self {
            Self::Texture => "its colours are white, and all else is 0",
            Self::Points => "texture3d() finds nothing in it",
        }
    }
}

/// A tile of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileKey {
    /// The texture's number.
    pub texture: u32,
    /// Its level.
    pub level: u32,
    /// Which channels.
    pub plane: u32,
    /// Its place: along x, along y.
    pub at: [u32; 2],
}

/// Why a device loads tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileNeed {
    /// Programs missed them.
    Missed,
    /// Programs are likely to miss them soon.
    Ahead,
}

/// A name as a shader gives it, and the folders in which it is looked for.
type NamedTexture = (String, Arc<[String]>);

/// The textures of a render.
pub struct TextureStore {
    reporter: Arc<Reporter>,
    files: Arc<FileClaims>,
    /// Where pictures without tiles are made into textures.
    tiled: PathBuf,
    tiling: TilingWatch,
    /// Pictures that were made into textures and are not reported yet, with the places where they are used.
    unreported: Mutex<Vec<(TiledPicture, SourceLocation)>>,
    /// What was decided about each name for the current picture.
    names: Mutex<FxHashMap<NamedTexture, Option<u32>>>,
    /// Held while a texture is opened, which may mean to make it: two threads do not make the same one.
    opening: Mutex<()>,
    /// How long the system may take to answer.
    patience: Arc<Patience>,
    /// What reading points may take.
    limits: ReadLimits,
    textures: Mutex<Vec<Arc<StoredTexture>>>,
    /// What the program's own textures are recognised by.
    own: Mutex<FxHashMap<PathBuf, String>>,
    kept: TileCache,
    /// How often there was no file of a name that can be used.
    lost: AtomicU64,
    /// Depth files that scenes say are shadow maps.
    depth_files: Mutex<FxHashSet<PathBuf>>,
}

impl TextureStore {
    /// Begins without textures, which are claimed in `files`. Pictures without tiles are made into textures in the
    /// folder `tiled`. What the system does not answer for `patience` cannot be read.
    pub fn new(reporter: Arc<Reporter>, files: Arc<FileClaims>, tiled: PathBuf, patience: Duration) -> Self {
        Self::with_cache(reporter, files, tiled, patience, KEPT_BYTES)
    }

    /// Does what [`Self::new`] does, with `bytes` bytes for tiles on the host.
    pub fn with_cache(
        reporter: Arc<Reporter>,
        files: Arc<FileClaims>,
        tiled: PathBuf,
        patience: Duration,
        bytes: usize,
    ) -> Self {
        Self {
            reporter,
            files,
            tiled,
            tiling: TilingWatch::none(),
            unreported: Mutex::default(),
            names: Mutex::default(),
            opening: Mutex::default(),
            patience: Patience::new(patience),
            limits: ReadLimits::default(),
            textures: Mutex::default(),
            own: Mutex::default(),
            kept: TileCache::new(bytes),
            lost: AtomicU64::new(0),
            depth_files: Mutex::default(),
        }
    }

    /// Has this watch all textures that are made of pictures without tiles.
    #[must_use]
    pub fn watched(self, tiling: TilingWatch) -> Self {
        Self { tiling, ..self }
    }

    /// Reports the pictures that were made into textures since the last call: one message for pictures, and one for
    /// depth files.
    pub fn report_tiled(&self) {
        let made = std::mem::take(&mut *self.unreported.lock());
        for is_shadow_map in [false, true] {
            let some = made.iter().filter(|(picture, _)| picture.is_shadow_map == is_shadow_map);
            let (pictures, places): (Vec<_>, Vec<_>) = some.map(|(picture, place)| (picture, place)).unzip();
            if let Some(place) = places.first() {
                self.reporter.warn("texture", place, TiledPicture::message(&pictures));
            }
        }
    }

    /// Reads points within these limits.
    pub fn within(self, limits: ReadLimits) -> Self {
        Self { limits, ..self }
    }

    /// Reports that one grid looks up more tiles than there are slots, and gets more.
    pub fn report_more_slots(&self, slots: usize) {
        let message = format!(
            "one grid looks up more than {slots} tiles of textures, which is all that fit: more memory is used for them \
             than --texture-memory allows"
        );
        self.reporter.warn("texture", &SourceLocation::default(), &message);
    }

    /// Reports that one grid looks up more tiles than there are slots, and that there is no memory for more.
    pub fn report_too_few_slots(&self, slots: usize) {
        let message = format!(
            "one grid looks up more than {slots} tiles of textures, and there is no device memory for more; the rest \
             count as 0"
        );
        self.reporter.error("texture", &SourceLocation::default(), message);
    }

    /// Reports a texture or a point cloud that is looked up as something that it is not.
    pub fn report_misuse(&self, sought: SoughtFile, name: &str, location: &SourceLocation, what: &str) {
        self.reporter.error("texture", location, format!("the {} {name:?} {what}", sought.word()));
    }

    /// Reports a grey texture of which shaders look a colour up.
    pub fn report_grey(&self, name: &str, location: &SourceLocation) {
        let message = format!("the texture {name:?} is grey, and shaders look a colour up in it: it is red");
        let note = Diagnostic::new(Severity::Info, "texture", location.clone(), message);
        self.reporter.report(note.hint(
            "channels that a texture lacks are 0 (RISpec, \"fill\"): `float texture(...)` is the same in all three",
        ));
    }

    /// Forgets what names stand for, because files may be made between pictures. Files that have not changed keep
    /// their numbers and their tiles, except for points that the last picture did not name.
    pub fn begin_picture(&self) {
        let named = std::mem::take(&mut *self.names.lock());
        let named: FxHashSet<u32> = named.into_values().flatten().collect();
        let is_same = |texture: &StoredTexture| {
            let found = FileIdentity::within(&self.patience, &texture.identity().path);
            found.is_ok_and(|found| found == *texture.identity())
        };
        self.free_points_but(|number, texture| named.contains(&number) && is_same(texture));
    }

    /// Frees all points, between pictures. Returns whether there were any.
    pub fn free_points(&self) -> bool {
        self.names.lock().clear();
        self.free_points_but(|_, _| false)
    }

    /// Frees the points of textures that are not to be kept. Returns whether there were any.
    fn free_points_but(&self, keep: impl Fn(u32, &StoredTexture) -> bool) -> bool {
        let textures = self.textures.lock().clone();
        let points = (0..).zip(&textures).filter(|(_, texture)| texture.file().holds_points());
        let freed = points.filter(|(number, texture)| !keep(*number, texture) && texture.file().free_points());
        freed.count() > 0
    }

    /// Does what may take memory. If there is too little, points that the picture has not named are freed, and it is
    /// done again.
    fn with_room<T>(&self, open: impl Fn() -> Result<T, TextureError>) -> Result<T, TextureError> {
        let make_room = || {
            let named: FxHashSet<u32> = self.names.lock().values().copied().flatten().collect();
            self.free_points_but(|number, _| named.contains(&number))
        };
        open().or_else(|error| if error.is_for_memory() && make_room() { open() } else { Err(error) })
    }

    /// Returns the number of the texture or point cloud of a name, which is looked for in `folders`; `None`, with one
    /// message, if there is none that can be read. `location` is where it is used. All devices get the same answer
    /// within a picture.
    pub fn find(
        &self,
        sought: SoughtFile,
        name: &str,
        folders: &Arc<[String]>,
        location: &SourceLocation,
    ) -> Option<u32> {
        let key = (name.to_owned(), Arc::clone(folders));
        let known = || self.names.lock().get(&key).copied();
        if let Some(known) = known() {
            return known;
        }
        let _opening = self.opening.lock();
        // Another thread may have opened it meanwhile.
        if let Some(known) = known() {
            return known;
        }
        let found = self.open(sought, name, folders, location);
        self.lost.fetch_add(found.is_none().into(), Ordering::Relaxed);
        self.names.lock().insert(key, found);
        found
    }

    /// Adds a texture that the program has made for itself, wherever scenes may read and write. It is recognised by
    /// `contents`, as its path is another one in each run.
    pub fn add_own(&self, path: &Path, contents: String) {
        self.own.lock().insert(path.into(), contents);
    }

    /// Notes that a scene makes a shadow map of a depth file in its place: it is used as it is, without a message.
    pub fn expect_depth_file(&self, path: &Path) {
        self.depth_files.lock().extend(real_path(path));
    }

    /// Returns what the file that a name stands for is recognised by, `None` if there is none: its path, size and time;
    /// of a texture that the scene makes itself, which is as new after each run, what is in it.
    pub fn identity(&self, name: &str, folders: &[String]) -> Option<String> {
        if let Some(contents) = self.own.lock().get(Path::new(name)) {
            return Some(contents.clone());
        }
        let identity = candidates(name, folders).find_map(|path| FileIdentity::of(&path).ok())?;
        let made = self.files.makes(&identity.path).then(|| read_file(&identity.path).ok()).flatten();
        Some(match made {
            Some(bytes) => {
                let mut hasher = FxHasher::default();
                bytes.hash(&mut hasher);
                format!("{} {:016x}", identity.path.display(), hasher.finish())
            }
            None => format!("{identity:?}"),
        })
    }

    fn open(&self, sought: SoughtFile, name: &str, folders: &[String], location: &SourceLocation) -> Option<u32> {
        // A folder or a pipe of the name is reported only if there is no file.
        let first = |what| self.first_of(candidates(name, folders), what);
        let found =
            first(Path::is_file).and_then(|file| file.map_or_else(|| first(Path::exists), |file| Ok(Some(file))));
        let report = |error| {
            // Then nothing more is drawn.
            if matches!(error, TextureError::Stopped) {
                return;
            }
            let (word, stand_in) = (sought.word(), sought.stand_in());
            let message = format!("the {word} {name:?} cannot be used: {error}; {stand_in}");
            self.reporter.error("texture", location, message);
        };
        let Some(path) = found.map_err(report).ok()? else {
            let looked = candidates(name, folders).map(|path| format!("\"{}\"", path.display())).collect::<Vec<_>>();
            let message = format!("there is no {} {name:?}: {}", sought.word(), sought.stand_in());
            let error = Diagnostic::new(Severity::Error, "nofile", location.clone(), message);
            let mut hint =
                format!("looked for {}; Option \"searchpath\" \"texture\" sets where to look", looked.join(", "));
            if name.contains(',') {
                hint +=
                    "; only shadow() takes a list of names, and none that an attribute, an option or a message holds";
            }
            self.reporter.report(error.hint(hint));
            return None;
        };
        let identity = FileIdentity::within(&self.patience, &path);
        if let Some(number) = identity.as_ref().ok().and_then(|identity| self.number_of(identity)) {
            let read = || self.texture(number).map_or(Ok(()), |known| known.file().read_points_again(&self.limits));
            return self.with_room(read).map(|()| number).map_err(report).ok();
        }
        let is_own = self.own.lock().contains_key(&path);
        let claim = || if is_own { Ok(()) } else { self.files.claim(&path, FileRole::TextureRead) };
        let claimed = identity.and_then(|_| claim().map_err(TextureError::from));
        let open = || open_or_tile(&self.patience, &self.limits, &path, &self.tiled, &self.tiling);
        let opened = claimed.and_then(|()| self.with_room(open));
        let opened = opened.and_then(|(file, tiled)| {
            let depth_files = self.depth_files.lock();
            let unexpected =
                tiled.filter(|tiled| !real_path(&tiled.picture).is_some_and(|path| depth_files.contains(&path)));
            self.unreported.lock().extend(unexpected.map(|tiled| (tiled, location.clone())));
            self.add(file, location)
        });
        opened.map_err(report).ok()
    }

    /// Returns the first of some paths that is something; an error where the system does not say whether it is.
    fn first_of(
        &self,
        mut paths: impl Iterator<Item = PathBuf>,
        what: fn(&Path) -> bool,
    ) -> Result<Option<PathBuf>, TextureError> {
        let asked = |path: PathBuf| {
            let about = path.clone();
            let is = answered(&self.patience, move || Ok(what(&about)));
            is.map_err(|error| TextureError::of_io(&path, error)).map(|is| is.then_some(path)).transpose()
        };
        paths.find_map(asked).transpose()
    }

    fn number_of(&self, identity: &FileIdentity) -> Option<u32> {
        let textures = self.textures.lock();
        textures.iter().position(|known| known.identity() == identity).map(|number| number as u32)
    }

    fn add(&self, file: TextureFile, location: &SourceLocation) -> Result<u32, TextureError> {
        if let Some(number) = self.number_of(file.identity()) {
            return Ok(number);
        }
        let mut textures = self.textures.lock();
        if textures.len() == TEXTURES_MAX {
            let reason = format!("a render uses at most {TEXTURES_MAX} textures");
            return Err(TextureError::unsupported(&file.identity().path, reason));
        }
        textures.push(Arc::new(StoredTexture::new(file, location.clone())));
        Ok(textures.len() as u32 - 1)
    }

    /// Returns a texture by its number.
    pub fn texture(&self, number: u32) -> Option<Arc<StoredTexture>> {
        self.textures.lock().get(number as usize).cloned()
    }

    /// Returns the texels of tiles that a device lacks, in the order of `keys`, read by several threads where they are
    /// many.
    pub fn tiles(&self, keys: &[TileKey], need: TileNeed) -> Vec<Arc<TileTexels>> {
        self.count(keys, need);
        let turns: Vec<&[TileKey]> = keys.chunks(TILES_PER_TURN).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some((turn, keys)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, turns.get(i)?)))
            {
                done.push((turn, keys.iter().map(|&key| self.tile(key)).collect::<Vec<_>>()));
            }
            done
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(turns.len());
        let mut done = thread::scope(|scope| {
            // Where the system has no thread to give, fewer read.
            let helper = |_| thread::Builder::new().name("textures".into()).spawn_scoped(scope, work).ok();
            let helpers: Vec<_> = (1..threads).filter_map(helper).collect();
            let mut done = work();
            done.extend(helpers.into_iter().flat_map(|helper| helper.join().expect("reading a tile does not panic")));
            done
        });
        done.sort_unstable_by_key(|(turn, _)| *turn);
        done.into_iter().flat_map(|(_, tiles)| tiles).collect()
    }

    /// Returns the texels of a tile: zeros, with one message a texture, where it cannot be read. All planes of a tile
    /// of a deep map are kept when the first is read: lookups need several, and decoding takes long.
    pub fn tile(&self, key: TileKey) -> Arc<TileTexels> {
        let mut is_new = false;
        let tile = self.kept.get_or_read(key, || {
            is_new = true;
            self.read(key)
        });
        let header = self.texture(key.texture).filter(|_| is_new).map(|texture| texture.header().clone());
        if let Some(header) = header.filter(|header| header.kind == TextureKind::DeepShadow) {
            for plane in 0..header.planes() {
                let key = TileKey { plane, ..key };
                self.kept.get_or_read(key, || self.read(key));
            }
        }
        tile
    }

    fn read(&self, key: TileKey) -> Arc<TileTexels> {
        let mut texels = Box::new([0; TILE_WORDS]);
        if let Some(texture) = self.texture(key.texture) {
            texture.read(key, &mut texels, &self.reporter);
        }
        Arc::from(texels)
    }

    /// Returns how many textures and point clouds could not be read so far, whole or in part, each once a picture.
    pub fn lost_count(&self) -> u64 {
        let textures = self.textures.lock();
        let damaged = textures.iter().filter(|texture| texture.is_damaged()).count() as u64;
        self.lost.load(Ordering::Relaxed) + damaged
    }

    /// Returns the file of each texture, and what was asked for and read of it so far, in the order of numbers.
    pub fn statistics(&self) -> Vec<(PathBuf, TextureReads)> {
        let textures = self.textures.lock().clone();
        textures.iter().map(|texture| (texture.identity().path.clone(), texture.statistics())).collect()
    }

    /// Counts the tiles that a submission of a device used, by the textures' numbers.
    pub fn count_requests(&self, tiles: impl IntoIterator<Item = (u32, u64)>) {
        for (number, tiles) in tiles {
            if let Some(texture) = self.texture(number) {
                texture.count_requests(tiles);
            }
        }
    }

    /// Counts lookups of a texture, by its number.
    pub fn count_lookups(&self, number: u32, lookups: u64) {
        self.texture(number).inspect(|texture| texture.count_lookups(lookups));
    }

    fn count(&self, keys: &[TileKey], need: TileNeed) {
        let mut asked: FxHashMap<u32, u64> = FxHashMap::default();
        keys.iter().for_each(|key| *asked.entry(key.texture).or_default() += 1);
        for (number, tiles) in asked {
            if let Some(texture) = self.texture(number) {
                texture.count_asked(tiles, need);
            }
        }
    }
}

impl fmt::Debug for TextureStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextureStore").field("textures", &self.textures).finish_non_exhaustive()
    }
}

fn real_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Returns where a texture may be. An absolute name, or one with folders, is also used as it is. Names are also looked
/// for in Latin-1.
pub fn candidates<'a>(name: &'a str, folders: &'a [String]) -> impl Iterator<Item = PathBuf> + 'a {
    let alone = folders.is_empty() || Path::new(name).components().count() > 1;
    let here = alone.then(|| PathBuf::from(name));
    folders.iter().map(move |folder| Path::new(folder).join(name)).chain(here).flat_map(spellings)
}
