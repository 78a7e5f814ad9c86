//! Lists of grids on the host: in memory while they are small beside what devices may take, otherwise in a temporary
//! file, from which parts are read when they are wanted. However many grids a picture has, the host's memory holds few
//! of them at once.

use crate::files::with_handles;
use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::pipeline::kernels::records::{GridBound, Subpatch};
use crate::stats::human_bytes;
use bytemuck::Pod;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of a grid in a list, with its bound and its place.
pub(crate) const LISTED_GRID_BYTES: u64 = (size_of::<Subpatch>() + size_of::<GridBound>() + size_of::<u32>()) as u64;
/// Grids that are read or written at once, at most: few enough to stay in a cache of the processor.
pub(crate) const BLOCK_GRIDS: usize = 1 << 11;

/// Why a list of grids is unavailable.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum ListError {
    /// There is no room for the list.
    #[error("a list of the picture's grids needs {} and fits neither in memory nor in {folder}: {reason}", human_bytes(*bytes))]
    NoRoom { bytes: u64, folder: String, reason: String },
    /// The file with the list cannot be read.
    #[error("a list of {} of the picture's grids cannot be read back: {reason}", human_bytes(*bytes))]
    Unreadable { bytes: u64, reason: String },
    /// The user stopped the render while grids were counted.
    #[error("interrupted while grids were counted")]
    Interrupted,
}

impl ListError {
    fn no_room(bytes: u64, error: &io::Error) -> Self {
        let folder = std::env::temp_dir().display().to_string();
        Self::NoRoom { bytes, folder, reason: error.to_string() }
    }

    /// Returns what the user can do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::NoRoom { .. } => {
                "free space there, name another folder with TMPDIR, or allow more memory with --host-memory"
            }
            Self::Unreadable { .. } => {
                "name a folder on another disk with TMPDIR, or allow more memory with --host-memory"
            }
            Self::Interrupted => "",
        }
    }
}

/// Grids with their bounds and their places in authored order, in columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GridColumns {
    pub grids: Vec<Subpatch>,
    pub bounds: Vec<GridBound>,
    pub order: Vec<u32>,
}

impl GridColumns {
    fn with_capacity(count: usize) -> Self {
        Self { grids: Vec::with_capacity(count), bounds: Vec::with_capacity(count), order: Vec::with_capacity(count) }
    }

    fn clear(&mut self) {
        self.grids.clear();
        self.bounds.clear();
        self.order.clear();
    }
}

/// Where lists of grids are stored; it exists as long as one of its lists.
#[derive(Debug)]
pub(crate) struct GridStore {
    charge: Charge,
    /// Bytes that lists may still take in memory.
    memory_left: AtomicU64,
    /// Created when the first list goes there.
    file: Mutex<Option<GridFile>>,
}

/// A temporary file of lists.
#[derive(Clone, Debug)]
struct GridFile {
    file: Arc<Mutex<File>>,
    /// Bytes of it that belong to lists.
    used_bytes: u64,
}

/// A part of a file.
#[derive(Clone, Debug)]
struct FilePart {
    file: Arc<Mutex<File>>,
    /// Where it begins, in bytes.
    start: u64,
}

impl FilePart {
    /// Acts on the file at a distance from the part's start.
    fn at<T>(&self, bytes: u64, act: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(self.start + bytes))?;
        act(&mut file)
    }
}

impl GridStore {
    /// Creates a store that uses a file once lists take `memory_bytes` of the host's memory, or all that its bound
    /// permits.
    pub(crate) fn new(memory: &Arc<HostMemory>, memory_bytes: u64) -> Arc<Self> {
        // Not lent: a device that hangs may keep a list for ever. Reading ahead waits for the world that is drawn,
        // which is freed later.
        let charge = Charge::new(memory);
        Arc::new(Self { charge, memory_left: memory_bytes.into(), file: Mutex::default() })
    }

    /// Stores a list.
    pub(crate) fn keep(self: &Arc<Self>, columns: GridColumns) -> Result<GridList, ListError> {
        let count = columns.grids.len();
        GridWriter { store: Arc::clone(self), part: self.choose(count)?, count, columns, written: 0 }.finish()
    }

    /// Returns a list of `count` grids, written from front to back.
    pub(crate) fn writer(self: &Arc<Self>, count: usize) -> Result<GridWriter, ListError> {
        let part = self.choose(count)?;
        let columns = GridColumns::with_capacity(if part.is_some() { BLOCK_GRIDS.min(count) } else { count });
        Ok(GridWriter { store: Arc::clone(self), part, count, columns, written: 0 })
    }

    /// Returns where a list goes: to a part of the file, or to memory (`None`). Where the file has no room, the list
    /// may take more memory than lists should.
    fn choose(&self, count: usize) -> Result<Option<FilePart>, ListError> {
        let bytes = count as u64 * LISTED_GRID_BYTES;
        let in_memory = || self.charge.try_take(ChargeKind::Grids, bytes);
        if self.memory_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok() {
            if in_memory() {
                return Ok(None);
            }
            self.memory_left.fetch_add(bytes, Relaxed);
        }
        match self.reserve(bytes) {
            Ok(part) => Ok(Some(part)),
            Err(_) if in_memory() => Ok(None),
            Err(error) => Err(ListError::no_room(bytes, &error)),
        }
    }

    /// Reserves a part of the file.
    fn reserve(&self, bytes: u64) -> io::Result<FilePart> {
        let mut shared = self.file.lock();
        let grid_file = match &mut *shared {
            Some(grid_file) => grid_file,
            none => {
                none.insert(GridFile { file: Arc::new(Mutex::new(with_handles(tempfile::tempfile)?)), used_bytes: 0 })
            }
        };
        let start = grid_file.used_bytes;
        allocate(&grid_file.file.lock(), start, bytes)?;
        grid_file.used_bytes += bytes;
        Ok(FilePart { file: Arc::clone(&grid_file.file), start })
    }
}

/// Reserves space in a file, so that a full disk is known before anything is written. Where the file system cannot do
/// that, writing fails later.
#[cfg(target_os = "linux")]
fn allocate(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::empty(), at, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Does nothing: writing fails where there is no space.
#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File, _at: u64, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// A list that is being written.
#[derive(Debug)]
pub(crate) struct GridWriter {
    store: Arc<GridStore>,
    /// Its part of the file; `None` for a list in memory.
    part: Option<FilePart>,
    count: usize,
    /// The list; of one that goes to the file, what is not written yet.
    columns: GridColumns,
    /// Grids in the file.
    written: usize,
}

impl GridWriter {
    /// Appends grids with their bounds and places.
    pub(crate) fn push(
        &mut self,
        grids: &[Subpatch],
        bounds: &[GridBound],
        order: impl Iterator<Item = u32>,
    ) -> Result<(), ListError> {
        self.columns.grids.extend_from_slice(grids);
        self.columns.bounds.extend_from_slice(bounds);
        self.columns.order.extend(order);
        if self.columns.grids.len() < BLOCK_GRIDS { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), ListError> {
        let Some(part) = &self.part else { return Ok(()) };
        let columns = &self.columns;
        let bytes: [&[u8]; 3] = [
            bytemuck::cast_slice(&columns.grids),
            bytemuck::cast_slice(&columns.bounds),
            bytemuck::cast_slice(&columns.order),
        ];
        let starts = column_starts(self.count);
        for (column, start) in bytes.into_iter().zip(starts.map(|(start, size)| start + size * self.written as u64)) {
            let written = part.at(start, |file| file.write_all(column));
            written.map_err(|error| ListError::no_room(self.count as u64 * LISTED_GRID_BYTES, &error))?;
        }
        self.written += columns.grids.len();
        self.columns.clear();
        Ok(())
    }

    /// Returns the list, complete.
    pub(crate) fn finish(mut self) -> Result<GridList, ListError> {
        self.flush()?;
        let storage = match self.part {
            None => ListStorage::Memory(self.columns),
            Some(part) => ListStorage::File { part, count: self.count },
        };
        Ok(GridList { storage, _store: Some(self.store) })
    }
}

/// Returns where the columns of a list begin in its part of the file, and the bytes of an element of each.
fn column_starts(count: usize) -> [(u64, u64); 3] {
    let mut at = 0;
    [size_of::<Subpatch>(), size_of::<GridBound>(), size_of::<u32>()].map(|size| {
        let start = at;
        at += (count * size) as u64;
        (start, size as u64)
    })
}

/// A list of grids.
#[derive(Debug)]
pub(crate) struct GridList {
    storage: ListStorage,
    /// Keeps the store, and with it the charge for the list's memory.
    _store: Option<Arc<GridStore>>,
}

#[derive(Debug)]
enum ListStorage {
    /// The list itself.
    Memory(GridColumns),
    /// A part of the file, and how many grids are there.
    File { part: FilePart, count: usize },
}

impl Default for GridList {
    fn default() -> Self {
        Self::from(GridColumns::default())
    }
}

/// A list in memory that the bound of host memory does not count.
impl From<GridColumns> for GridList {
    fn from(columns: GridColumns) -> Self {
        Self { storage: ListStorage::Memory(columns), _store: None }
    }
}

impl GridList {
    /// Returns how many grids there are.
    pub(crate) fn len(&self) -> usize {
        match &self.storage {
            ListStorage::Memory(columns) => columns.grids.len(),
            ListStorage::File { count, .. } => *count,
        }
    }

    /// Whether it is in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.storage, ListStorage::Memory(_))
    }

    /// Reads some grids.
    pub(crate) fn grids(&self, range: Range<usize>) -> Result<Cow<'_, [Subpatch]>, ListError> {
        self.column(0, range, |columns| &columns.grids)
    }

    /// Reads the bounds of some grids.
    pub(crate) fn bounds(&self, range: Range<usize>) -> Result<Cow<'_, [GridBound]>, ListError> {
        self.column(1, range, |columns| &columns.bounds)
    }

    /// Reads the places of some grids in authored order.
    pub(crate) fn order(&self, range: Range<usize>) -> Result<Cow<'_, [u32]>, ListError> {
        self.column(2, range, |columns| &columns.order)
    }

    fn column<T: Pod>(
        &self,
        column: usize,
        range: Range<usize>,
        of: fn(&GridColumns) -> &Vec<T>,
    ) -> Result<Cow<'_, [T]>, ListError> {
        let (part, count) = match &self.storage {
            ListStorage::Memory(columns) => return Ok(Cow::Borrowed(&of(columns)[range])),
            ListStorage::File { part, count } => (part, *count),
        };
        let (start, size) = column_starts(count)[column];
        let mut elements = vec![T::zeroed(); range.len()];
        let first = start + size * range.start as u64;
        let read = part.at(first, |file| file.read_exact(bytemuck::cast_slice_mut(&mut elements)));
        let bytes = count as u64 * LISTED_GRID_BYTES;
        read.map_err(|error| ListError::Unreadable { bytes, reason: error.to_string() })?;
        Ok(Cow::Owned(elements))
    }
}

/// Cuts a range into blocks that are read at once.
pub(crate) fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(BLOCK_GRIDS).map(move |first| first..(first + BLOCK_GRIDS).min(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(range: Range<u32>) -> GridColumns {
        let grid = |primitive| Subpatch { primitive, shape: primitive % 7, ..Subpatch::default() };
        let bound = |x| GridBound { x, y: 3 * x, zmin: x as f32, zmax: 2.0 * x as f32 };
        GridColumns {
            grids: range.clone().map(grid).collect(),
            bounds: range.clone().map(bound).collect(),
            order: range.map(|place| 5 * place).collect(),
        }
    }

    fn holds(list: &GridList, range: Range<usize>, expected: &GridColumns) -> bool {
        list.grids(range.clone()).expect("read") == expected.grids
            && list.bounds(range.clone()).expect("read") == expected.bounds
            && list.order(range).expect("read") == expected.order
    }

    #[test]
    fn lists_that_are_too_large_for_memory_are_the_same_in_a_file() {
        let memory = HostMemory::new(1 << 30);
        let store = GridStore::new(&memory, 1000 * LISTED_GRID_BYTES);
        let long = 3 * BLOCK_GRIDS as u32 + 17;
        let lists = [0..1000, 1000..1001, 7..long].map(|range| store.keep(columns(range)).expect("kept"));
        assert_eq!(lists.each_ref().map(GridList::is_in_memory), [true, false, false]);
        assert_eq!(memory.usage(), format!("{} of grids", human_bytes(1000 * LISTED_GRID_BYTES)));
        assert!(holds(&lists[0], 10..20, &columns(10..20)) && holds(&lists[1], 0..1, &columns(1000..1001)));
        assert!(holds(&lists[2], 0..long as usize - 7, &columns(7..long)));
        for block in blocks(3..lists[2].len()) {
            let (first, last) = (block.start as u32 + 7, block.end as u32 + 7);
            assert!(holds(&lists[2], block, &columns(first..last)));
        }
        drop(store);
        assert!(holds(&lists[1], 0..1, &columns(1000..1001)), "a list keeps its store");
        drop(lists);
        assert_eq!(memory.usage(), "nothing");
    }

    #[test]
    fn what_the_bound_of_host_memory_refuses_goes_to_the_file_without_waiting() {
        let memory = HostMemory::new(100 * LISTED_GRID_BYTES);
        let lent = Charge::new(&memory);
        assert!(lent.take(ChargeKind::Geometry, 50 * LISTED_GRID_BYTES));
        lent.lend();
        let store = GridStore::new(&memory, u64::MAX);
        let [first, second] = [0..50, 0..1].map(|range| store.keep(columns(range)).expect("kept"));
        assert!(first.is_in_memory() && !second.is_in_memory());
        assert!(holds(&second, 0..1, &columns(0..1)));
    }

    #[test]
    fn a_list_that_cannot_be_read_back_is_an_error() {
        let store = GridStore::new(&HostMemory::new(u64::MAX), 0);
        let list = store.keep(columns(0..100)).expect("kept");
        let GridFile { file, .. } = store.file.lock().clone().expect("it is there");
        file.lock().set_len(50 * size_of::<Subpatch>() as u64).expect("shorter");
        assert!(list.grids(0..50).is_ok());
        let error = list.bounds(0..1).expect_err("it is gone").to_string();
        assert_eq!(error, "a list of 5.1 KiB of the picture's grids cannot be read back: failed to fill whole buffer");
    }

    /// Reading ahead waits for worlds, which are given back even by a device that hangs.
    #[test]
    fn reading_does_not_wait_for_a_list() {
        let memory = HostMemory::new(100 * LISTED_GRID_BYTES);
        let list = GridStore::new(&memory, u64::MAX).keep(columns(0..60)).expect("kept");
        assert!(!Charge::new(&memory).take(ChargeKind::Geometry, 50 * LISTED_GRID_BYTES));
        drop(list);
        assert!(Charge::new(&memory).take(ChargeKind::Geometry, 50 * LISTED_GRID_BYTES));
    }
}
