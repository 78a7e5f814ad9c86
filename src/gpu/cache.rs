//! Compiled kernels kept on disk between runs, and in memory between equal devices.
//!
//! There is one file for each kernel and device, with the result of `vkGetPipelineCacheData` after a header of ours:
//! drivers hardly check their own data, so a truncated or foreign file must not reach them. Files are written under a
//! temporary name and renamed.

use super::as_gpu::AsGpu;
use super::physical::DeviceInfo;
use crate::files::read_file;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

/// Begins every file; the digit changes with the format.
const MAGIC: &[u8; 16] = b"anthill kernel 2";

/// Bytes of compiled kernels that are kept in memory, at most.
const MEMORY_BYTES_MAX: usize = 64 << 20;

/// Bytes of the files of a device that are kept, at most.
const FILES_BYTES_MAX: u64 = 1 << 30;

/// After about how many files the folder is looked through for too many of them.
const PRUNED_EVERY: u64 = 64;

/// The key of a compiled kernel: kernel, values of its constants, device model and driver.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CacheKey {
    folder: Arc<str>,
    file: String,
}

impl CacheKey {
    /// Returns the key of a kernel with given constants on devices of one identity.
    pub(super) fn new(identity: &Arc<str>, kernel: u128, constants: &[u32]) -> Self {
        let mut file = format!("{kernel:032x}");
        for constant in constants {
            file.push_str(&format!("-{constant:x}"));
        }
        Self { folder: Arc::clone(identity), file }
    }
}

/// Returns the part of the key that identifies the device: model, driver, the UUID of the driver's caches, and the
/// driver's threads, for which kernels are specialised.
pub(super) fn identity(info: &DeviceInfo, as_gpu: &AsGpu, driver_threads: u32) -> Arc<str> {
    let (vendor, device, version, uuid) = (info.vendor_id, info.device_id, info.driver_version, &info.cache_uuid);
    let mutants = as_gpu.mutants.iter().map(|mutant| format!("-{mutant}")).collect::<String>();
    format!("{vendor:04x}-{device:04x}-{version:08x}-{uuid}-{driver_threads}{mutants}").into()
}

/// Returns the default folder for compiled kernels: `$XDG_CACHE_HOME/anthill/kernels`, or `~/.cache/anthill/kernels`;
/// `None` without a home folder.
pub fn default_cache_folder() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("anthill").join("kernels"))
}

/// Compiled kernels of all opened devices.
pub(super) struct Cache {
    folder: Option<PathBuf>,
    known: Mutex<KnownKernels>,
    failed_writes: AtomicU64,
}

/// Compiled kernels in memory.
#[derive(Default)]
struct KnownKernels {
    kernels: FxHashMap<CacheKey, Arc<Vec<u8>>>,
    bytes: usize,
}

impl KnownKernels {
    /// Adds a kernel. Where there are too many, the others are forgotten.
    fn insert(&mut self, key: CacheKey, data: Arc<Vec<u8>>) {
        if self.bytes + data.len() > MEMORY_BYTES_MAX {
            *self = Self::default();
        }
        self.bytes += data.len();
        if let Some(other) = self.kernels.insert(key, data) {
            self.bytes -= other.len();
        }
    }
}

impl Cache {
    /// Creates a cache in a folder, or in memory only.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, known: Mutex::default(), failed_writes: AtomicU64::new(0) }
    }

    /// Returns a compiled kernel, if it is cached in a complete file.
    pub(super) fn load(&self, key: &CacheKey) -> Option<Arc<Vec<u8>>> {
        if let Some(data) = self.known.lock().kernels.get(key) {
            return Some(Arc::clone(data));
        }
        let data = Arc::new(unwrap(&read_file(&self.path(key)?).ok()?)?.to_vec());
        self.known.lock().insert(key.clone(), Arc::clone(&data));
        Some(data)
    }

    /// Stores a compiled kernel. Only the first failure to write a file is returned: rendering goes on without the
    /// cache.
    pub(super) fn store(&self, key: &CacheKey, data: Vec<u8>) -> Result<(), String> {
        let written = match self.path(key) {
            Some(path) => {
                // Which files these are does not depend on how many a process writes.
                if checksum(key.file.as_bytes()).is_multiple_of(u128::from(PRUNED_EVERY)) {
                    prune(&path, FILES_BYTES_MAX);
                }
                write(&path, &wrap(&data)).map_err(|e| format!("{}: {e}", path.display()))
            }
            None => Ok(()),
        };
        self.known.lock().insert(key.clone(), Arc::new(data));
        let first_failure = written.is_err() && self.failed_writes.fetch_add(1, Ordering::Relaxed) == 0;
        if first_failure { written } else { Ok(()) }
    }

    fn path(&self, key: &CacheKey) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(&*key.folder).join(&key.file))
    }
}

/// Removes the oldest files beside a file, until the others have at most `bytes_max` bytes. What cannot be removed, or
/// was removed by another process, is left.
fn prune(path: &Path, bytes_max: u64) {
    let Some(entries) = path.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    let described = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((about.modified().ok()?, about.len(), entry.path()))
    };
    let mut files: Vec<_> = entries.filter_map(described).collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    let mut bytes = 0;
    for (_, length, file) in files {
        bytes += length;
        if bytes > bytes_max {
            let _ = fs::remove_file(file);
        }
    }
}

fn wrap(data: &[u8]) -> Vec<u8> {
    [MAGIC.as_slice(), &checksum(data).to_le_bytes(), data].concat()
}

fn unwrap(file: &[u8]) -> Option<&[u8]> {
    let (sum, data) = file.strip_prefix(MAGIC)?.split_first_chunk::<16>()?;
    (*sum == checksum(data).to_le_bytes()).then_some(data)
}

/// Detects truncated files, not malice (the cache is the user's own).
fn checksum(data: &[u8]) -> u128 {
    crate::pipeline::recording::hash([data])
}

fn write(path: &Path, data: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}.{number}.tmp", process::id()));
    let written = fs::File::create(&temporary).and_then(|mut file| file.write_all(data));
    let moved = written.and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        // The earlier error is the one that matters.
        let _ = fs::remove_file(&temporary);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CacheKey {
        CacheKey::new(&"10005-0000-00000001-ab".into(), 7, &[4, 255])
    }

    #[test]
    fn what_is_stored_is_found_by_the_next_run() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = Cache::new(Some(folder.path().join("new")));
        assert!(first.load(&key()).is_none());
        first.store(&key(), vec![1, 2, 3]).expect("the folder can be written");
        let second = Cache::new(Some(folder.path().join("new")));
        assert_eq!(second.load(&key()).as_deref(), Some(&vec![1, 2, 3]));
        let names: Vec<_> = fs::read_dir(folder.path().join("new/10005-0000-00000001-ab")).expect("made").collect();
        assert_eq!(names.len(), 1, "no temporary file is left: {names:?}");
    }

    #[test]
    fn the_oldest_files_make_room() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::new(Some(folder.path().to_path_buf()));
        let key = |number| CacheKey::new(&"device".into(), number, &[]);
        for number in 0..5 {
            cache.store(&key(number), vec![0; 1000]).expect("the folder can be written");
            let path = cache.path(&key(number)).expect("there is a folder");
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(60 * number as u64);
            fs::File::options()
                .write(true)
                .open(path)
                .and_then(|file| file.set_modified(time))
                .expect("its time is set");
        }
        let newest = cache.path(&key(4)).expect("there is a folder");
        prune(&newest, 2500);
        let fresh = Cache::new(Some(folder.path().to_path_buf()));
        let left = [0, 1, 2, 3, 4].map(|number| fresh.load(&key(number)).is_some());
        assert_eq!(left, [false, false, false, true, true]);
    }

    #[test]
    fn memory_for_kernels_is_bounded() {
        let cache = Cache::new(None);
        for number in 0..1000 {
            cache.store(&CacheKey::new(&"device".into(), number, &[]), vec![0; 1 << 20]).expect("nothing is written");
            assert!(cache.known.lock().bytes <= MEMORY_BYTES_MAX);
        }
        assert!(cache.known.lock().kernels.len() <= 64);
    }

    #[test]
    fn a_torn_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::new(Some(folder.path().to_path_buf()));
        cache.store(&key(), vec![9; 100]).expect("the folder can be written");
        let path = cache.path(&key()).expect("there is a folder");
        let whole = fs::read(&path).expect("was just written");
        let mut flipped = whole.clone();
        flipped[60] ^= 1;
        for torn in [&whole[..whole.len() - 1], &whole[..20], &[], &flipped] {
            fs::write(&path, torn).expect("the folder can be written");
            let fresh = Cache::new(Some(folder.path().to_path_buf()));
            assert!(fresh.load(&key()).is_none(), "{} bytes", torn.len());
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_reported_once() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let cache = Cache::new(Some(file.path().to_path_buf()));
        assert!(cache.store(&key(), vec![1]).is_err());
        assert!(cache.store(&key(), vec![2]).is_ok());
        assert_eq!(cache.load(&key()).as_deref(), Some(&vec![2]), "it is kept in memory");
    }
}
