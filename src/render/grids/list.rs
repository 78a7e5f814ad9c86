//! Lists of grids on the host: in memory while they are small beside what devices may take, and else in a temporary file, from which parts
//! are read when they are wanted. However many grids a picture has, the host's memory holds few of them at once.

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

/// Bytes of a grid in a list: with its bound and its place.
pub(crate) const GRID_BYTES: u64 = (size_of::<Subpatch>() + size_of::<GridBound>() + size_of::<u32>()) as u64;
/// Grids that are read or written at once, at most: so few that they stay in a cache of the processor.
pub(crate) const BLOCK_GRIDS: usize = 1 << 11;

/// A list of grids that is not to be had.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum ListError {
    #[error("a list of {} of the picture's grids finds room neither in memory nor in {folder}: {reason}", human_bytes(*bytes))]
    NoRoom { bytes: u64, folder: String, reason: String },
    #[error("a list of {} of the picture's grids cannot be read back: {reason}", human_bytes(*bytes))]
    Unreadable { bytes: u64, reason: String },
}

impl ListError {
    fn no_room(bytes: u64, error: &io::Error) -> Self {
        let folder = std::env::temp_dir().display().to_string();
        Self::NoRoom { bytes, folder, reason: error.to_string() }
    }

    /// What the user can do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::NoRoom { .. } => "make room there, name another folder with TMPDIR, or give more with --host-memory",
            Self::Unreadable { .. } => "name a folder on another disk with TMPDIR, or give more with --host-memory",
        }
    }
}

/// Grids with their bounds and their places in authored order.
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

/// Where lists of grids are kept. Lists keep their store.
#[derive(Debug)]
pub(crate) struct GridStore {
    charge: Charge,
    /// Bytes that lists may still take in memory.
    memory_left: AtomicU64,
    /// Made when the first list goes there; with the bytes of it that lists have.
    file: Mutex<Option<(SharedFile, u64)>>,
}

/// A file that lists share.
type SharedFile = Arc<Mutex<File>>;

/// Goes to a place in a file, and acts there.
fn with_file<T>(file: &SharedFile, at: u64, act: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    let mut file = file.lock();
    file.seek(SeekFrom::Start(at))?;
    act(&mut file)
}

impl GridStore {
    /// A store that takes at most `memory_bytes` of the host's memory, and what it may of the host's bound, before it takes to a file.
    pub(crate) fn new(memory: &Arc<HostMemory>, memory_bytes: u64) -> Arc<Self> {
        // Not lent: a device that is stuck may keep a list for ever. Who reads ahead waits for the world that is drawn, which goes later.
        let charge = Charge::new(memory);
        Arc::new(Self { charge, memory_left: memory_bytes.into(), file: Mutex::default() })
    }

    /// Keeps a list.
    pub(crate) fn keep(self: &Arc<Self>, columns: GridColumns) -> Result<GridList, ListError> {
        let count = columns.grids.len();
        GridWriter { store: Arc::clone(self), at: self.place(count)?, count, columns, written: 0 }.finish()
    }

    /// A list of `count` grids, written from front to back.
    pub(crate) fn writer(self: &Arc<Self>, count: usize) -> Result<GridWriter, ListError> {
        let at = self.place(count)?;
        let columns = GridColumns::with_capacity(if at.is_some() { BLOCK_GRIDS.min(count) } else { count });
        Ok(GridWriter { store: Arc::clone(self), at, count, columns, written: 0 })
    }

    /// Where a list goes: to a place in the file, or to memory. Where the file has no room, also to memory that was not meant for it.
    fn place(&self, count: usize) -> Result<Option<(SharedFile, u64)>, ListError> {
        let bytes = count as u64 * GRID_BYTES;
        let in_memory = || self.charge.try_take(ChargeKind::Grids, bytes);
        if self.memory_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok() {
            if in_memory() {
                return Ok(None);
            }
            self.memory_left.fetch_add(bytes, Relaxed);
        }
        match self.reserve(bytes) {
            Ok(place) => Ok(Some(place)),
            Err(_) if in_memory() => Ok(None),
            Err(error) => Err(ListError::no_room(bytes, &error)),
        }
    }

    /// Room in the file; where it begins.
    fn reserve(&self, bytes: u64) -> io::Result<(SharedFile, u64)> {
        let mut shared = self.file.lock();
        let (file, end) = match &mut *shared {
            Some(made) => made,
            none => none.insert((Arc::new(Mutex::new(tempfile::tempfile()?)), 0)),
        };
        allocate(&file.lock(), *end, bytes)?;
        *end += bytes;
        Ok((Arc::clone(file), *end - bytes))
    }
}

/// Reserves a part of a file, so that a full disk is known before anything is written there. Where the file system cannot, writing tells.
#[cfg(target_os = "linux")]
fn allocate(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::empty(), at, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Writing tells where there is no room.
#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File, _at: u64, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// A list that is being written.
#[derive(Debug)]
pub(crate) struct GridWriter {
    store: Arc<GridStore>,
    /// Where in the file; `None` for a list in memory.
    at: Option<(SharedFile, u64)>,
    count: usize,
    /// The list, or what of it is not in the file yet.
    columns: GridColumns,
    /// Grids in the file.
    written: usize,
}

impl GridWriter {
    /// Appends grids with their bounds and places.
    pub(crate) fn push(
        &mut self,
        (grids, bounds): (&[Subpatch], &[GridBound]),
        order: impl Iterator<Item = u32>,
    ) -> Result<(), ListError> {
        self.columns.grids.extend_from_slice(grids);
        self.columns.bounds.extend_from_slice(bounds);
        self.columns.order.extend(order);
        if self.columns.grids.len() < BLOCK_GRIDS { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), ListError> {
        let Some((file, at)) = &self.at else { return Ok(()) };
        let columns = &self.columns;
        let bytes: [&[u8]; 3] = [
            bytemuck::cast_slice(&columns.grids),
            bytemuck::cast_slice(&columns.bounds),
            bytemuck::cast_slice(&columns.order),
        ];
        let starts = starts(*at, self.count);
        for (column, start) in bytes.into_iter().zip(starts.map(|(start, size)| start + size * self.written as u64)) {
            let written = with_file(file, start, |file| file.write_all(column));
            written.map_err(|error| ListError::no_room(self.count as u64 * GRID_BYTES, &error))?;
        }
        self.written += columns.grids.len();
        self.columns.clear();
        Ok(())
    }

    /// The list, complete.
    pub(crate) fn finish(mut self) -> Result<GridList, ListError> {
        self.flush()?;
        let place = match self.at {
            None => Place::Memory(self.columns),
            Some((file, at)) => Place::File { file, at, count: self.count },
        };
        Ok(GridList { place, _store: Some(self.store) })
    }
}

/// Where the columns of a list in the file begin, and the bytes of an element of each.
fn starts(at: u64, count: usize) -> [(u64, u64); 3] {
    let mut at = at;
    [size_of::<Subpatch>(), size_of::<GridBound>(), size_of::<u32>()].map(|size| {
        let start = at;
        at += (count * size) as u64;
        (start, size as u64)
    })
}

/// A list of grids.
#[derive(Debug)]
pub(crate) struct GridList {
    place: Place,
    /// It has the charge.
    _store: Option<Arc<GridStore>>,
}

#[derive(Debug)]
enum Place {
    Memory(GridColumns),
    File { file: SharedFile, at: u64, count: usize },
}

impl Default for GridList {
    fn default() -> Self {
        Self::from(GridColumns::default())
    }
}

/// A list in memory that no bound counts.
impl From<GridColumns> for GridList {
    fn from(columns: GridColumns) -> Self {
        Self { place: Place::Memory(columns), _store: None }
    }
}

impl GridList {
    /// Grids.
    pub(crate) fn len(&self) -> usize {
        match &self.place {
            Place::Memory(columns) => columns.grids.len(),
            Place::File { count, .. } => *count,
        }
    }

    /// Whether it is in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory(_))
    }

    /// Some grids.
    pub(crate) fn grids(&self, range: Range<usize>) -> Result<Cow<'_, [Subpatch]>, ListError> {
        self.column(0, range, |columns| &columns.grids)
    }

    /// The bounds of some grids.
    pub(crate) fn bounds(&self, range: Range<usize>) -> Result<Cow<'_, [GridBound]>, ListError> {
        self.column(1, range, |columns| &columns.bounds)
    }

    /// The places of some grids in authored order.
    pub(crate) fn order(&self, range: Range<usize>) -> Result<Cow<'_, [u32]>, ListError> {
        self.column(2, range, |columns| &columns.order)
    }

    fn column<T: Pod>(
        &self,
        column: usize,
        range: Range<usize>,
        of: fn(&GridColumns) -> &Vec<T>,
    ) -> Result<Cow<'_, [T]>, ListError> {
        let (file, at, count) = match &self.place {
            Place::Memory(columns) => return Ok(Cow::Borrowed(&of(columns)[range])),
            Place::File { file, at, count } => (file, *at, *count),
        };
        let (start, size) = starts(at, count)[column];
        let mut elements = vec![T::zeroed(); range.len()];
        let first = start + size * range.start as u64;
        let read = with_file(file, first, |file| file.read_exact(bytemuck::cast_slice_mut(&mut elements)));
        let bytes = count as u64 * GRID_BYTES;
        read.map_err(|error| ListError::Unreadable { bytes, reason: error.to_string() })?;
        Ok(Cow::Owned(elements))
    }
}

/// A range in blocks that are read at once.
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
        let store = GridStore::new(&memory, 1000 * GRID_BYTES);
        let long = 3 * BLOCK_GRIDS as u32 + 17;
        let lists = [0..1000, 1000..1001, 7..long].map(|range| store.keep(columns(range)).expect("kept"));
        assert_eq!(lists.each_ref().map(GridList::is_in_memory), [true, false, false]);
        assert_eq!(memory.usage(), format!("{} of grids", human_bytes(1000 * GRID_BYTES)));
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
        let memory = HostMemory::new(100 * GRID_BYTES);
        let lent = Charge::new(&memory);
        assert!(lent.take(ChargeKind::Geometry, 50 * GRID_BYTES));
        lent.lend();
        let store = GridStore::new(&memory, u64::MAX);
        let [first, second] = [0..50, 0..1].map(|range| store.keep(columns(range)).expect("kept"));
        assert!(first.is_in_memory() && !second.is_in_memory());
        assert!(holds(&second, 0..1, &columns(0..1)));
    }

    #[test]
    fn a_list_that_cannot_be_read_back_says_so() {
        let store = GridStore::new(&HostMemory::new(u64::MAX), 0);
        let list = store.keep(columns(0..100)).expect("kept");
        let (file, _) = store.file.lock().clone().expect("it is there");
        file.lock().set_len(50 * size_of::<Subpatch>() as u64).expect("shorter");
        assert!(list.grids(0..50).is_ok());
        let error = list.bounds(0..1).expect_err("it is gone").to_string();
        assert_eq!(error, "a list of 5.1 KiB of the picture's grids cannot be read back: failed to fill whole buffer");
    }

    /// Readers wait for worlds, which come back also from a device that is stuck.
    #[test]
    fn nobody_waits_for_a_list() {
        let memory = HostMemory::new(100 * GRID_BYTES);
        let list = GridStore::new(&memory, u64::MAX).keep(columns(0..60)).expect("kept");
        assert!(!Charge::new(&memory).take(ChargeKind::Geometry, 50 * GRID_BYTES));
        drop(list);
        assert!(Charge::new(&memory).take(ChargeKind::Geometry, 50 * GRID_BYTES));
    }
}
