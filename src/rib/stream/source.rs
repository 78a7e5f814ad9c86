//! Sources of RIB: files, standard input and memory, plain or gzip-compressed.

use crate::files::{FileClaims, read_utf_16, spellings, utf_16_of, with_handles};
use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::stats::human_bytes;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source of RIB text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file. Archives that are not found on the search path are also searched next to it.
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
    /// Interprets a command-line argument: `-` is standard input, anything else a file.
    pub fn from_argument(argument: impl Into<PathBuf>) -> Self {
        let path = argument.into();
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path) }
    }

    /// Returns the name that messages use.
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
pub(crate) struct Source {
    /// The name that messages use.
    pub(crate) name: Arc<str>,
    /// The file's directory, in which archives are searched last.
    pub(crate) directory: Option<PathBuf>,
    /// The decompressed text.
    pub(crate) bytes: Vec<u8>,
    /// Why the end is missing, if it is.
    pub(crate) truncated: Option<Truncated>,
    /// The charge for the text.
    charge: Charge,
}

/// Why the end of a text is missing, with a message for the user.
#[derive(Debug)]
pub(crate) enum Truncated {
    /// Decompressing it failed part of the way through.
    Damaged(String),
    /// It does not fit in the memory for texts.
    TooLong(String),
}

/// A text's buffer grows by at least this much, if there is enough memory.
const GROWTH_BYTES: u64 = 64 << 10;

impl Source {
    /// Reads `input` to its end, or until the memory for texts is used up.
    pub(crate) fn load(input: &Input, memory: &Arc<HostMemory>) -> io::Result<Self> {
        match input {
            Input::File(path) => Self::open(path, memory),
            Input::Stdin => Self::empty("-", memory).filled(io::stdin().lock(), None),
            Input::Memory { name, bytes } => {
                Self::empty(name, memory).filled(bytes.as_slice(), Some(bytes.len() as u64))
            }
        }
    }

    /// Reads a file, or a pipe that the user names.
    pub(crate) fn open(path: &Path, memory: &Arc<HostMemory>) -> io::Result<Self> {
        let file = with_handles(|| File::open(path))?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        let mut source = Self::empty(&path.display().to_string(), memory);
        source.directory = path.parent().map(Path::to_owned);
        source.filled(file, metadata.is_file().then_some(metadata.len()))
    }

    pub(crate) fn empty(name: &str, memory: &Arc<HostMemory>) -> Self {
        let charge = Charge::new(memory);
        Self { name: name.into(), directory: None, bytes: Vec::new(), truncated: None, charge }
    }

    /// Whether its end is missing because it does not fit.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self.truncated, Some(Truncated::TooLong(_)))
    }

    /// Reads plain or compressed bytes; `length` is their number, if it is known.
    fn filled(mut self, packed: impl Read, length: Option<u64>) -> io::Result<Self> {
        let (magic, whole) = begin(packed)?;
        if magic != [0x1f, 0x8b] {
            self.decode(whole, length)?;
        } else if let Err(error) = self.decode(MultiGzDecoder::new(io::BufReader::new(whole)), None) {
            self.truncated = Some(Truncated::Damaged(format!("its gzip data is damaged: {error}")));
        }
        Ok(self)
    }

    /// Reads text of `length` bytes, if that is known, to its end, or until memory is used up. UTF-16 becomes UTF-8.
    fn decode(&mut self, text: impl Read, length: Option<u64>) -> io::Result<()> {
        let (begin, text) = begin(text)?;
        match utf_16_of(&begin) {
            Some(encoding) => self.fill(read_utf_16(text, encoding), length.map(|length| length / 2)),
            None => self.fill(text, length),
        }
    }

    /// Reads text to its end, or until memory is used up.
    fn fill(&mut self, mut text: impl Read, length: Option<u64>) -> io::Result<()> {
        // One byte more than expected detects the end.
        let mut wanted = length.map_or(GROWTH_BYTES, |length| length.saturating_add(1));
        loop {
            let room = self.bytes.capacity() - self.bytes.len();
            if room > 0 {
                if text.by_ref().take(room as u64).read_to_end(&mut self.bytes)? < room {
                    return Ok(());
                }
                continue;
            }
            if !self.grow(wanted) {
                break;
            }
            wanted = GROWTH_BYTES.max(self.bytes.len() as u64 / 2);
        }
        if text.take(1).read_to_end(&mut Vec::new())? > 0 {
            self.truncated = Some(Truncated::TooLong(self.too_long(length)));
        }
        Ok(())
    }

    /// Appends to it what a program wrote; `false` if it does not fit in the memory for texts.
    pub(crate) fn append(&mut self, piece: &[u8]) -> bool {
        while self.bytes.capacity() - self.bytes.len() < piece.len() {
            let wanted = GROWTH_BYTES.max(self.bytes.len() as u64 / 2);
            if !self.grow(wanted) {
                self.truncated = Some(Truncated::TooLong(self.too_long(None)));
                return false;
            }
        }
        self.bytes.extend_from_slice(piece);
        true
    }

    /// Makes room for `wanted` bytes, or for as many as memory allows.
    fn grow(&mut self, mut wanted: u64) -> bool {
        while wanted > 0 {
            if self.charge.try_take(ChargeKind::Text, wanted) {
                return usize::try_from(wanted).is_ok_and(|more| self.bytes.try_reserve_exact(more).is_ok());
            }
            wanted /= 2;
        }
        false
    }

    fn too_long(&self, length: Option<u64>) -> String {
        let memory = self.charge.memory();
        let length = length.map_or_else(|| "is too long".to_owned(), |length| format!("takes {}", human_bytes(length)));
        let (limit, text_max) = (human_bytes(memory.limit_bytes()), human_bytes(memory.text_bytes_max()));
        let usage = memory.usage();
        format!(
            "the text {length}: texts may use {text_max} of {limit} of host memory, and {usage} are in use; it is cut off here"
        )
    }

    /// Creates a source of plain text.
    #[cfg(test)]
    pub(crate) fn of_test(text: &[u8]) -> Self {
        Self::empty("t", &HostMemory::new(u64::MAX)).filled(text, None).expect("memory can be read")
    }
}

/// Returns the first two bytes of a source, and all of it.
fn begin<R: Read>(mut source: R) -> io::Result<(Vec<u8>, impl Read)> {
    let mut begin = Vec::new();
    source.by_ref().take(2).read_to_end(&mut begin)?;
    Ok((begin.clone(), io::Cursor::new(begin).chain(source)))
}

/// Searches for an archive: an absolute name is used as it is, any other is searched in `folders`. Only regular files
/// are found, so that no device or pipe named in a RIB can block the renderer. Outside of the folder that may be used
/// nothing is looked at; a name that could only be there is returned, to be refused.
pub(crate) fn find_archive<'a>(
    name: &str,
    folders: impl IntoIterator<Item = &'a Path>,
    files: &FileClaims,
) -> Option<PathBuf> {
    let name = Path::new(name);
    let candidates: Vec<PathBuf> = if name.is_absolute() {
        vec![name.to_owned()]
    } else {
        let in_folder = |folder: &Path| if folder == Path::new(".") { name.to_owned() } else { folder.join(name) };
        folders.into_iter().map(in_folder).collect()
    };
    let candidates = candidates.into_iter().flat_map(spellings);
    let (inside, outside): (Vec<_>, Vec<_>) = candidates.partition(|path| files.check_inside(path).is_ok());
    inside.into_iter().find(|path| path.is_file()).or_else(|| outside.into_iter().next())
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

    /// Reads a text from memory, with a limit of twice `bytes_max`, half of which texts may use.
    fn load(bytes: Vec<u8>, bytes_max: u64) -> Source {
        let input = Input::Memory { name: "memory".into(), bytes };
        Source::load(&input, &HostMemory::new(2 * bytes_max)).expect("memory can be read")
    }

    #[test]
    fn gzip_is_found_by_its_magic_bytes() {
        assert_eq!(load(gzip(b"WorldBegin"), 100).bytes, b"WorldBegin");
        // Two members after each other are one text.
        let two = [gzip(b"World"), gzip(b"End")].concat();
        assert_eq!(load(two, 100).bytes, b"WorldEnd");
    }

    #[test]
    fn utf_16_is_read_plain_and_compressed() {
        let text: Vec<u8> = "\u{feff}Format 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(load(text.clone(), 100).bytes, b"Format 1");
        assert_eq!(load(gzip(&text), 100).bytes, b"Format 1");
        assert_eq!(load(text[2..].to_vec(), 100).bytes, b"Format 1");
    }

    #[test]
    fn a_damaged_gzip_keeps_what_came_before_the_damage() {
        let text: Vec<u8> = (0..10_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let packed = gzip(&text);
        let source = load(packed[..packed.len() / 2].to_vec(), 1 << 20);
        assert!(matches!(source.truncated, Some(Truncated::Damaged(_))));
        assert!(!source.bytes.is_empty() && text.starts_with(&source.bytes));
    }

    #[test]
    fn gzip_bombs_and_endless_streams_are_cut_where_memory_ends() {
        let kept = |source: &Source| (source.bytes.len(), source.is_cut());
        assert_eq!(kept(&load(gzip(&vec![b' '; 1 << 20]), 1000)), (1000, true));
        assert_eq!(kept(&load(gzip(&[b' '; 1000]), 1000)), (1000, false));
        assert_eq!(kept(&load(vec![b' '; 1001], 1000)), (1000, true));
        assert_eq!(kept(&load(vec![b' '; 1000], 1000)), (1000, false));
        let memory = HostMemory::new(1 << 20);
        let endless = Source::empty("-", &memory).filled(io::repeat(b' '), None).expect("it can be read");
        assert_eq!(kept(&endless), (1 << 19, true));
        // Dropping a text frees its memory.
        drop(endless);
        assert_eq!(memory.usage(), "nothing");
    }

    #[test]
    fn archives_are_looked_for_in_folders_in_their_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        for (folder, text) in [(&first, "1"), (&second, "2")] {
            std::fs::create_dir(folder).expect("a new folder");
            std::fs::write(folder.join("x.rib"), text).expect("a new file");
        }
        std::fs::write(second.join("y.rib"), "").expect("a new file");
        let find = |name, files: &FileClaims| find_archive(name, [first.as_path(), second.as_path()], files);
        let free = FileClaims::default();
        assert_eq!(find("x.rib", &free), Some(first.join("x.rib")));
        assert_eq!(find("y.rib", &free), Some(second.join("y.rib")));
        assert_eq!(find("z.rib", &free), None);
        assert_eq!(find("/dev/zero", &free), None);
        // What is inside comes first, and what is outside is not looked at.
        let confined = FileClaims::confined_to(&second).expect("a folder");
        assert_eq!(find("x.rib", &confined), Some(second.join("x.rib")));
        assert_eq!(find("z.rib", &confined), Some(first.join("z.rib")));
    }
}
