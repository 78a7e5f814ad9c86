//! Which file has which role, so that no role overwrites the file of another, whatever links and names it goes by.

use super::budget::OutputBudget;
use super::map_counts::MapCounts;
use super::whole::resolve;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// A scene on the command line.
    Scene,
    /// An archive that a scene reads.
    Archive,
    /// The source of a shader.
    Shader,
    /// A picture that is read.
    Input,
    /// A picture that is written.
    Picture,
    /// A picture of depths that is appended to others in its file.
    Appended,
    /// An unfinished picture beside an older one.
    Partial,
    /// The statistics of a render.
    Statistics,
    /// The timeline of a render.
    Trace,
    /// What RenderDoc recorded of a render.
    Capture,
    /// The page of a profile.
    Profile,
    /// The page of a render.
    Report,
    /// Saved pixels of a render.
    Checkpoint,
    /// A file of a scaling study.
    Study,
    /// A compiled shader.
    Kernel,
    /// A manual page.
    ManualPage,
    /// A texture that is made.
    MadeTexture,
    /// A picture that a texture is made of where a scene requests it; the scene may have drawn it before.
    MakeInput,
    /// Points that shaders bake; a scene may bake them again, read them, and make textures of them.
    Baked,
    /// A texture that shaders read; the scene may have made or drawn it before.
    TextureRead,
}

impl FileRole {
    fn is_written(self) -> bool {
        !matches!(self, Self::Scene | Self::Archive | Self::Shader | Self::Input | Self::MakeInput | Self::TextureRead)
    }

    /// Whether it may have a file that another role had before, because a scene's worlds and requests are carried out
    /// in order: textures are made of pictures that were drawn, and read, and then made again. `used` says whether
    /// the file was read, or a texture was made of it, since it was written.
    fn may_follow(self, before: Self, used: bool) -> bool {
        match (before, self) {
            (Self::Picture | Self::Appended | Self::MadeTexture, Self::MakeInput | Self::TextureRead)
            | (Self::Picture | Self::Appended, Self::Appended)
            | (Self::MadeTexture, Self::MadeTexture)
            | (Self::Baked, Self::Baked | Self::MakeInput | Self::TextureRead) => true,
            (Self::Picture | Self::Appended, Self::Picture) => used,
            _ => !before.is_written() && !self.is_written(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Scene => "the scene",
            Self::Archive => "an archive",
            Self::Shader => "a shader",
            Self::Input => "the picture to read",
            Self::Picture | Self::Appended => "a picture to write",
            Self::Partial => "an unfinished picture",
            Self::Statistics => "the file of --stats",
            Self::Trace => "the file of --trace",
            Self::Capture => "the file of --capture",
            Self::Profile => "the page of the profile",
            Self::Report => "the file of --report",
            Self::Checkpoint => "the file of --checkpoint",
            Self::Study => "a file of the study",
            Self::Kernel => "a compiled shader",
            Self::ManualPage => "a manual page",
            Self::MadeTexture => "a texture to write",
            Self::Baked => "points to bake",
            Self::MakeInput => "a picture for a texture",
            Self::TextureRead => "a texture that is read",
        }
    }
}

/// A file with its role.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    /// As it was named.
    path: PathBuf,
    role: FileRole,
    /// Set where this role is to write the file, and another one wanted to read what is in it.
    wanted: Option<(PathBuf, FileRole)>,
    /// Whether it was read, or a texture was made of it, since it was last claimed to be written.
    used: bool,
}

impl Claim {
    /// Returns the error that another role cannot have the file.
    fn refusal(&self, path: &Path, role: FileRole) -> FileRefused {
        let other_role = if self.role == role { "used before" } else { self.role.words() };
        FileRefused::Clash { path: path.to_owned(), role: role.words(), other: self.path.clone(), other_role }
    }
}

/// Why a file is neither read nor written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileRefused {
    /// Another role has it, and one of the two would be overwritten.
    #[error("\"{}\" ({role}) is the same file as \"{}\" ({other_role})", path.display(), other.display())]
    Clash {
        /// The file as this role names it.
        path: PathBuf,
        /// What it is to be.
        role: &'static str,
        /// The file as the other role names it.
        other: PathBuf,
        /// What the other role is.
        other_role: &'static str,
    },
    /// It is outside of the only folder that may be used.
    #[error("\"{}\" is outside of \"{}\", the only folder that --confine allows", path.display(), folder.display())]
    Outside {
        /// The file as it is named.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
}

/// The number that the system gives a file: that of its device, and its own.
pub(crate) type FileNumber = (u64, u64);

/// A name in a folder, the same by whatever path it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    folder: PathBuf,
    /// Set where the system numbers files; `folder` is empty then.
    folder_number: Option<FileNumber>,
    name: OsString,
}

#[derive(Debug, Default)]
struct Claimed {
    places: FxHashMap<Place, Claim>,
    /// The place by which a file that existed was claimed.
    numbers: FxHashMap<FileNumber, Place>,
    /// Names by which files were claimed to be read, as a scene may read an archive thousands of times.
    read: FxHashSet<PathBuf>,
}

/// The files that a run of the program reads and writes, with their roles. A role claims its file before it opens it.
#[derive(Debug, Default)]
pub struct FileClaims {
    /// The only folder in which files may be read and written, if there is one, without links in its path.
    folder: Option<PathBuf>,
    claimed: Mutex<Claimed>,
    clashed: AtomicBool,
    budget: OutputBudget,
    maps: MapCounts,
}

impl FileClaims {
    /// Allows only files in this folder.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn confined_to(folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        if !folder.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder"));
        }
        Ok(Self { folder: Some(folder), ..Self::default() })
    }

    /// Allows files that are written only this many bytes together; `None` any number.
    pub fn with_output_limit(self, limit_bytes: Option<u64>) -> Self {
        Self { budget: OutputBudget::new(limit_bytes), ..self }
    }

    /// Returns the bytes that files may take.
    pub fn budget(&self) -> &OutputBudget {
        &self.budget
    }

    /// Returns how many maps were written to depth files.
    pub(crate) fn maps(&self) -> &MapCounts {
        &self.maps
    }

    /// Whether a file was refused because it has another role.
    pub fn clashed(&self) -> bool {
        self.clashed.load(Ordering::Relaxed)
    }

    /// Claims a file for a role. Any number of roles may read it, but only one may write it, and then none may read it,
    /// except textures and the pictures that they are made of, in the order of the scene. Devices such as `/dev/null`
    /// may have any role.
    ///
    /// # Errors
    /// If it is refused; it must not be opened then.
    pub fn claim(&self, path: &Path, role: FileRole) -> Result<(), FileRefused> {
        self.find(path, role, true)
    }

    /// Whether a scene makes this texture itself.
    pub fn makes(&self, path: &Path) -> bool {
        let made = |claimed: &Claimed, place: &Place| {
            claimed.places.get(place).is_some_and(|claim| claim.role == FileRole::MadeTexture)
        };
        place_of(path).is_some_and(|(place, _)| made(&self.claimed.lock(), &place))
    }

    /// Allows a picture to be written once more in the place of the one that was claimed before: the same one, edited.
    pub(crate) fn draw_again(&self, path: &Path) {
        let Some((place, _)) = place_of(path) else { return };
        if let Some(claim) = self.claimed.lock().places.get_mut(&place).filter(|claim| claim.role == FileRole::Picture)
        {
            claim.used = true;
        }
    }

    /// Returns the files that were claimed to be read, with their roles.
    pub(crate) fn read_files(&self) -> Vec<(PathBuf, FileRole)> {
        let claimed = self.claimed.lock();
        let read = claimed.places.values().filter(|claim| !claim.role.is_written());
        read.map(|claim| (claim.path.clone(), claim.role)).collect()
    }

    /// Whether a file could be claimed.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self, path: &Path, role: FileRole) -> Result<(), FileRefused> {
        self.find(path, role, false)
    }

    /// Checks that a file with a role may still be overwritten, which is known only after everything was read.
    ///
    /// # Errors
    /// If another role wanted to read what is in it.
    pub fn check_unwanted(&self, path: &Path) -> Result<(), FileRefused> {
        let Some((place, _)) = place_of(path) else { return Ok(()) };
        let claimed = self.claimed.lock();
        let Some(claim) = claimed.places.get(&place) else { return Ok(()) };
        let Some((reader, role)) = &claim.wanted else { return Ok(()) };
        let reader = Claim { path: reader.clone(), role: *role, wanted: None, used: false };
        Err(reader.refusal(&claim.path, claim.role))
    }

    /// Checks that a file is in the folder that may be used, where links lead.
    ///
    /// # Errors
    /// If it is outside.
    pub fn check_inside(&self, path: &Path) -> Result<(), FileRefused> {
        let Some(folder) = &self.folder else { return Ok(()) };
        if where_links_lead(path).is_some_and(|found| found.starts_with(folder)) {
            return Ok(());
        }
        Err(FileRefused::Outside { path: path.to_owned(), folder: folder.clone() })
    }

    fn find(&self, path: &Path, role: FileRole, keeps: bool) -> Result<(), FileRefused> {
        self.check_inside(path)?;
        if !role.is_written() && self.claimed.lock().read.contains(path) {
            return Ok(());
        }
        // A file in a folder that does not exist cannot be opened.
        let Some((place, found)) = place_of(path) else { return Ok(()) };
        if found.as_ref().is_some_and(|found| is_character_device(found.file_type())) {
            return Ok(());
        }
        let number = found.as_ref().and_then(number_of);
        let mut claimed = self.claimed.lock();
        let place = claimed.of_number(&place, number).unwrap_or(place);
        if let Some(other) = claimed.places.get_mut(&place) {
            if role.may_follow(other.role, other.used) {
                other.used = if keeps { !role.is_written() } else { other.used };
                return Ok(());
            }
            if keeps {
                self.clashed.store(true, Ordering::Relaxed);
            }
            if keeps && !role.is_written() && other.wanted.is_none() {
                other.wanted = Some((path.to_owned(), role));
            }
            return Err(other.refusal(path, role));
        }
        if keeps {
            if !role.is_written() {
                claimed.read.insert(path.to_owned());
            }
            if let Some(number) = number {
                claimed.numbers.insert(number, place.clone());
            }
            claimed.places.insert(place, Claim { path: path.to_owned(), role, wanted: None, used: false });
        }
        Ok(())
    }
}

impl Claimed {
    /// Returns the place by which an existing file was claimed, if it was by another name than `place` (a hard link). A
    /// file that was replaced meanwhile has another number, and its old one may have been given to a new file.
    fn of_number(&self, place: &Place, number: Option<FileNumber>) -> Option<Place> {
        let number = number.filter(|_| !self.places.contains_key(place))?;
        let known = self.numbers.get(&number)?;
        let now = fs::metadata(&self.places.get(known)?.path).ok().as_ref().and_then(number_of);
        (now == Some(number)).then(|| known.clone())
    }
}

/// Returns the path without links of a file, or of the nearest folder above it that exists.
fn where_links_lead(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = resolve(path) {
        return Some(found);
    }
    let absolute = std::path::absolute(path).ok()?;
    absolute.ancestors().skip(1).find_map(|folder| resolve(folder).ok())
}

fn place_of(path: &Path) -> Option<(Place, Option<Metadata>)> {
    let path = resolve(path).ok()?;
    let (folder, name) = (path.parent()?, path.file_name()?.to_owned());
    let folder_number = fs::metadata(folder).ok().as_ref().and_then(number_of);
    let folder = if folder_number.is_some() { PathBuf::new() } else { folder.to_owned() };
    Some((Place { folder, folder_number, name }, fs::metadata(path).ok()))
}

/// Returns the number that identifies this file, where the system numbers files.
#[cfg(unix)]
pub(crate) fn number_of(found: &Metadata) -> Option<FileNumber> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
pub(crate) fn number_of(_: &Metadata) -> Option<FileNumber> {
    None
}

#[cfg(unix)]
fn is_character_device(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&kind)
}

#[cfg(not(unix))]
fn is_character_device(_: FileType) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_has_one_role_by_whatever_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).expect("writable");
        fs::write(at("a.rib"), "WorldBegin").expect("writable");
        fs::hard_link(at("a.rib"), at("hard")).expect("links work");
        for (link, target) in [("soft", "a.rib"), ("dangling", "new.exr"), ("folder", "sub")] {
            std::os::unix::fs::symlink(target, at(link)).expect("links work");
        }
        let claims = FileClaims::default();
        claims.claim(&at("a.rib"), FileRole::Scene).expect("free");
        claims.claim(&at("a.rib"), FileRole::Archive).expect("both only read");
        claims.claim(&at("new.exr"), FileRole::Picture).expect("free");
        claims.claim(&at("folder/x"), FileRole::Trace).expect("free");
        assert!(!claims.clashed());
        for name in ["a.rib", "sub/../a.rib", "soft", "hard", "new.exr", "dangling", "sub/x", "./folder/x"] {
            let refused = claims.check(&at(name), FileRole::Statistics).expect_err("taken");
            assert!(matches!(refused, FileRefused::Clash { role: "the file of --stats", .. }), "{refused}");
        }
        assert!(claims.claim(&at("dangling"), FileRole::Archive).is_err(), "it will be written");
        claims.claim(&at("free"), FileRole::Statistics).expect("free");
        for _ in 0..2 {
            claims.claim(Path::new("/dev/null"), FileRole::Picture).expect("any number of roles");
        }
        claims.claim(&at("no/such/x"), FileRole::Picture).expect("it cannot be opened");
        // Once it was written by renaming, it is still the same.
        fs::write(at("new.exr"), "").expect("writable");
        assert!(claims.check(&at("new.exr"), FileRole::Trace).is_err() && claims.clashed());
    }

    #[test]
    fn what_another_role_wants_to_read_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("part.rib"), "Sphere").expect("writable");
        let claims = FileClaims::default();
        claims.claim(&at("part.rib"), FileRole::Statistics).expect("no other role has it yet");
        claims.check_unwanted(&at("part.rib")).expect("no other role wants to read it");
        assert!(claims.claim(&at("part.rib"), FileRole::Archive).is_err() && claims.clashed());
        let refused = claims.check_unwanted(&at("part.rib")).expect_err("it is an archive");
        let expected = FileRefused::Clash {
            path: at("part.rib"),
            role: "the file of --stats",
            other: at("part.rib"),
            other_role: "an archive",
        };
        assert_eq!(refused, expected);
        claims.check_unwanted(&at("other")).expect("no role has claimed it");
    }

    #[test]
    fn a_frame_may_write_again_what_textures_were_made_of() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let claims = FileClaims::default();
        for frame in 0..3 {
            claims.claim(&at("a.z"), FileRole::Picture).expect("a texture was made of the one before");
            fs::write(at("a.z"), frame.to_string()).expect("writable");
            assert!(claims.check(&at("a.z"), FileRole::Picture).is_err(), "no texture was made of it yet");
            claims.claim(&at("a.z"), FileRole::MakeInput).expect("it was drawn");
            claims.claim(&at("a.shad"), FileRole::MadeTexture).expect("it may be made again");
            claims.claim(&at("a.shad"), FileRole::TextureRead).expect("it was made");
        }
        for _ in 0..2 {
            claims.claim(&at("b.z"), FileRole::Appended).expect("after the map before");
        }
        assert!(claims.check(&at("b.z"), FileRole::Picture).is_err(), "nothing has read the maps");
        claims.claim(&at("b.z"), FileRole::TextureRead).expect("it was drawn");
        claims.claim(&at("b.z"), FileRole::Picture).expect("they were read");
        claims.claim(&at("wood.png"), FileRole::MakeInput).expect("free");
        assert!(!claims.clashed());
        for (name, role) in [
            ("wood.png", FileRole::MadeTexture),
            ("wood.png", FileRole::Picture),
            ("a.shad", FileRole::Picture),
            ("a.z", FileRole::MadeTexture),
            ("a.z", FileRole::Archive),
        ] {
            assert!(claims.check(&at(name), role).is_err(), "{name} {role:?}");
        }
    }

    #[test]
    fn a_new_file_with_the_number_of_a_replaced_one_is_free() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.exr"), "old").expect("writable");
        let claims = FileClaims::default();
        claims.claim(&at("a.exr"), FileRole::Picture).expect("free");
        fs::rename(at("a.exr"), at("b.exr")).expect("writable");
        fs::write(at("a.exr"), "new").expect("writable");
        claims.claim(&at("b.exr"), FileRole::Picture).expect("it has the old number of a.exr");
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_out_of_no_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("in")).expect("writable");
        std::os::unix::fs::symlink("..", at("in/up")).expect("links work");
        std::os::unix::fs::symlink("../out.exr", at("in/out")).expect("links work");
        let claims = FileClaims::confined_to(&at("in")).expect("a folder");
        for name in ["in/a.exr", "in/none/a.exr", "in/./a", "in/up/in/a"] {
            claims.check_inside(&at(name)).unwrap_or_else(|refused| panic!("{refused}"));
        }
        for name in ["a.exr", "in/../a", "in/up/a", "in/out", "inner/a", "none/in/a", "in/up/none/a"] {
            assert!(claims.claim(&at(name), FileRole::Picture).is_err(), "{name}");
        }
        assert!(!claims.clashed() && FileClaims::confined_to(&at("none")).is_err());
    }
}
