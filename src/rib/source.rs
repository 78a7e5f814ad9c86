//! Where RIB comes from: files, standard input, memory; plain or gzip.

use crate::scene::SearchPaths;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Something to read RIB from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file; archives that are on no search path are also looked for beside it.
    File(PathBuf),
    /// Standard input, to its end; messages call it `-`.
    Stdin,
    /// Bytes already in memory, with the name that messages use.
    Memory {
        /// Name for messages.
        name: String,
        /// The RIB, plain or gzip.
        bytes: Vec<u8>,
    },
}

impl Input {
    /// What a command-line argument means: `-` is standard input, all else a file.
    pub fn from_argument(argument: impl Into<PathBuf>) -> Self {
        let path = argument.into();
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path) }
    }

    /// The name that messages use.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
            Self::Memory { name, .. } => name.clone(),
        }
    }
}

/// The whole text of one input or archive.
#[derive(Debug)]
pub(super) struct Source {
    /// The name that messages use.
    pub(super) name: Arc<str>,
    /// The file's folder, in which archives are looked for last.
    pub(super) directory: Option<PathBuf>,
    /// The text, unpacked.
    pub(super) bytes: Vec<u8>,
    /// Why the end is missing, where unpacking failed half way.
    pub(super) truncated: Option<String>,
}

impl Source {
    /// Reads `input` whole, at most `bytes_max` of it.
    pub(super) fn load(input: &Input, bytes_max: u64) -> io::Result<Self> {
        match input {
            Input::File(path) => Self::open(path, bytes_max),
            Input::Stdin => Self::unpack("-", None, read_limited(io::stdin().lock(), bytes_max)?, bytes_max),
            Input::Memory { name, bytes } => Self::unpack(name, None, bytes.clone(), bytes_max),
        }
    }

    /// Reads a file. Only regular files and pipes that the user names are read to their end; both stop at `bytes_max`.
    pub(super) fn open(path: &Path, bytes_max: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let bytes = read_limited(&mut file, bytes_max)?;
        let directory = path.parent().map(Path::to_owned);
        Self::unpack(&path.display().to_string(), directory, bytes, bytes_max)
    }

    fn unpack(name: &str, directory: Option<PathBuf>, bytes: Vec<u8>, bytes_max: u64) -> io::Result<Self> {
        let mut source = Self { name: name.into(), directory, bytes, truncated: None };
        if !source.bytes.starts_with(&[0x1f, 0x8b]) {
            return if source.bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(source) };
        }
        let mut text = Vec::new();
        // One byte more than allowed tells a full buffer from a file that ends exactly there.
        let mut decoder = MultiGzDecoder::new(source.bytes.as_slice()).take(bytes_max.saturating_add(1));
        if let Err(error) = decoder.read_to_end(&mut text) {
            source.truncated = Some(format!("its gzip data is damaged: {error}"));
        }
        if text.len() as u64 > bytes_max {
            return Err(too_large(bytes_max));
        }
        source.bytes = text;
        Ok(source)
    }
}

fn read_limited(reader: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

fn too_large(bytes_max: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than the limit of {bytes_max} bytes"))
}

/// Looks for an archive: an absolute name as it is, any other in the folders of the archive path, then beside the file that asks.
/// Only regular files are found, so that no device or pipe named in a RIB can block the renderer.
pub(super) fn find_archive(name: &str, paths: &SearchPaths, beside: Option<&Path>) -> Option<PathBuf> {
    let name = Path::new(name);
    if name.is_absolute() {
        return name.is_file().then(|| name.to_owned());
    }
    let folders = paths.archive.iter().map(Path::new).chain(beside);
    folders
        .map(|folder| if folder == Path::new(".") { name.to_owned() } else { folder.join(name) })
        .find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("writing to memory");
        encoder.finish().expect("writing to memory")
    }

    fn memory(bytes: Vec<u8>) -> Input {
        Input::Memory { name: "memory".into(), bytes }
    }

    #[test]
    fn gzip_is_found_by_its_magic_bytes() {
        let source = Source::load(&memory(gzip(b"WorldBegin")), 100).expect("it fits");
        assert_eq!(source.bytes, b"WorldBegin");
        // Two members after each other are one text.
        let two = [gzip(b"World"), gzip(b"End")].concat();
        assert_eq!(Source::load(&memory(two), 100).expect("it fits").bytes, b"WorldEnd");
    }

    #[test]
    fn a_damaged_gzip_keeps_what_came_before_the_damage() {
        let text: Vec<u8> = (0..10_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let packed = gzip(&text);
        let source = Source::load(&memory(packed[..packed.len() / 2].to_vec()), 1 << 20).expect("it fits");
        assert!(source.truncated.is_some() && !source.bytes.is_empty() && text.starts_with(&source.bytes));
    }

    #[test]
    fn a_gzip_bomb_and_a_long_file_stop_at_the_limit() {
        assert!(Source::load(&memory(gzip(&vec![b' '; 1 << 20])), 1000).is_err());
        assert!(Source::load(&memory(gzip(&[b' '; 1000])), 1000).is_ok());
        assert_eq!(read_limited(&[0u8; 11][..], 10).map_err(|e| e.kind()), Err(io::ErrorKind::FileTooLarge));
    }

    #[test]
    fn archives_are_looked_for_on_the_path_then_beside_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        for (folder, text) in [(&first, "1"), (&second, "2")] {
            std::fs::create_dir(folder).expect("a new folder");
            std::fs::write(folder.join("x.rib"), text).expect("a new file");
        }
        std::fs::write(second.join("y.rib"), "").expect("a new file");
        let paths = SearchPaths { archive: vec![first.display().to_string()], ..SearchPaths::default() };
        assert_eq!(find_archive("x.rib", &paths, Some(&second)), Some(first.join("x.rib")));
        assert_eq!(find_archive("y.rib", &paths, Some(&second)), Some(second.join("y.rib")));
        assert_eq!(find_archive("z.rib", &paths, Some(&second)), None);
        assert_eq!(find_archive("/dev/zero", &paths, None), None);
    }
}
