//! Handles of device memory: buffers, byte ranges of them, typed slices, and arenas that slices are cut from.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// A buffer of an opened device: a handle, copied freely; the device owns the memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Buffer {
    name: &'static str,
    device: u32,
    index: u32,
    generation: u32,
    bytes: u64,
}

impl Buffer {
    /// A handle, as devices make them: `index` and `generation` find the buffer in device `device`.
    pub fn new(name: &'static str, device: u32, index: u32, generation: u32, bytes: u64) -> Self {
        Self { name, device, index, generation, bytes }
    }

    /// The name it was allocated under.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The number of the opened device that it belongs to.
    pub fn device(self) -> u32 {
        self.device
    }

    /// Its place in the device's list of buffers.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How often that place was used before, which distinguishes a freed buffer's handle from its successor's.
    pub fn generation(self) -> u32 {
        self.generation
    }

    /// Its size.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// The whole buffer as records; bytes at the end that fill no record are left out.
    pub fn slice<T>(self) -> Slice<T> {
        let count = self.bytes / record_bytes::<T>();
        Slice::new(self, 0, count)
    }

    /// `count` records from a byte offset on.
    ///
    /// # Panics
    /// When they are not inside the buffer.
    pub fn slice_at<T>(self, offset_bytes: u64, count: u64) -> Slice<T> {
        Slice::new(self, offset_bytes, count)
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}.{}@{}", self.name, self.index, self.generation, self.device)
    }
}

/// Bytes of a buffer. Displays as `name[first..end]`, or `name` when it is the whole buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferRange {
    /// The buffer.
    pub buffer: Buffer,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl BufferRange {
    /// Whether the two share a byte.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.offset < other.offset + other.bytes
            && other.offset < self.offset + self.bytes
    }
}

impl fmt::Display for BufferRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.offset == 0 && self.bytes == self.buffer.bytes {
            f.write_str(self.buffer.name)
        } else {
            write!(f, "{}[{}..{}]", self.buffer.name, self.offset, self.offset + self.bytes)
        }
    }
}

/// Records of type `T` in a buffer: a handle, copied freely.
pub struct Slice<T> {
    range: BufferRange,
    record: PhantomData<fn() -> T>,
}

impl<T> Clone for Slice<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice<T> {}

impl<T> PartialEq for Slice<T> {
    fn eq(&self, other: &Self) -> bool {
        self.range == other.range
    }
}

impl<T> fmt::Debug for Slice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.range, std::any::type_name::<T>())
    }
}

impl<T> Slice<T> {
    fn new(buffer: Buffer, offset: u64, count: u64) -> Self {
        let bytes = count.checked_mul(record_bytes::<T>());
        let fits = bytes.and_then(|b| b.checked_add(offset)).is_some_and(|end| end <= buffer.bytes);
        assert!(fits, "{count} records at byte {offset} of {buffer:?} with {} bytes", buffer.bytes);
        let range = BufferRange { buffer, offset, bytes: bytes.unwrap_or(0) };
        Self { range, record: PhantomData }
    }

    /// The bytes.
    pub fn range(self) -> BufferRange {
        self.range
    }

    /// Number of records.
    pub fn count(self) -> u64 {
        self.range.bytes / record_bytes::<T>()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.range.bytes == 0
    }

    /// Some of the records.
    ///
    /// # Panics
    /// When the slice has fewer.
    pub fn part(self, records: Range<u64>) -> Self {
        assert!(records.start <= records.end && records.end <= self.count(), "records {records:?} of {self:?}");
        let offset = self.range.offset + records.start * record_bytes::<T>();
        Self::new(self.range.buffer, offset, records.end - records.start)
    }

    /// The same bytes as records of another type; bytes at the end that fill no record are left out.
    pub fn cast<U>(self) -> Slice<U> {
        Slice::new(self.range.buffer, self.range.offset, self.range.bytes / record_bytes::<U>())
    }
}

/// Bytes of a record; never zero, so that it can divide.
fn record_bytes<T>() -> u64 {
    const { assert!(size_of::<T>() > 0, "records have a size") };
    size_of::<T>() as u64
}

/// The most bytes by which a view of texels is larger than what is read.
pub const VIEW_SLACK: u64 = 256;

/// Returns the size of the view of `bytes` bytes of texels. lavapipe takes the second lowest byte of a size for the
/// last level of a texture, and compiles a kernel again where that is 0, when before it was not: here it never is.
pub const fn viewed_bytes(bytes: u64) -> u64 {
    if (bytes >> 8) & 0xff == 0 { bytes + VIEW_SLACK } else { bytes }
}

/// Bytes that a slice takes up in an arena: views of it do not reach the next one. Instead of an empty slice devices
/// bind a buffer of their own.
fn taken_bytes(bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { viewed_bytes(bytes).next_multiple_of(super::BINDING_ALIGNMENT) }
}

/// A buffer that slices are cut from one after the other, each aligned for binding: a stated amount of memory is
/// divided once, instead of growing.
#[derive(Clone, Copy, Debug)]
pub struct Arena {
    buffer: Buffer,
    used: u64,
    largest: u64,
}

/// What slices take up in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaNeeds {
    /// Bytes of all, alignment included.
    pub bytes: u64,
    /// Bytes of the largest one.
    pub largest_bytes: u64,
}

/// More than any memory has, and few enough to compute with.
const MEASURED_BYTES_MAX: u64 = 1 << 62;

/// An arena has no room for a slice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} has no room for {asked_bytes} bytes: {left_bytes} are left")]
pub struct ArenaFull {
    /// The arena's buffer.
    pub name: &'static str,
    /// Bytes wanted.
    pub asked_bytes: u64,
    /// Bytes left.
    pub left_bytes: u64,
}

impl Arena {
    /// An arena that takes up a whole buffer.
    pub fn new(buffer: Buffer) -> Self {
        Self { buffer, used: 0, largest: 0 }
    }

    /// What the slices that `cut` cuts take up: it is run on an arena that has room for all, but no memory, so that a
    /// layout is written once. More than can be computed is `u64::MAX`.
    pub fn measure<T>(cut: impl FnOnce(&mut Self) -> Result<T, ArenaFull>) -> ArenaNeeds {
        let mut arena = Self::new(Buffer::new("measured", u32::MAX, 0, 0, MEASURED_BYTES_MAX));
        match cut(&mut arena) {
            Ok(_) => ArenaNeeds { bytes: arena.used, largest_bytes: arena.largest },
            Err(_) => ArenaNeeds { bytes: u64::MAX, largest_bytes: u64::MAX },
        }
    }

    /// Cuts the next `count` records.
    ///
    /// # Errors
    /// [`ArenaFull`] when they do not fit; nothing is cut then.
    pub fn cut<T>(&mut self, count: u64) -> Result<Slice<T>, ArenaFull> {
        let left_bytes = self.left_bytes();
        let asked_bytes = count.saturating_mul(record_bytes::<T>());
        if asked_bytes > left_bytes {
            return Err(ArenaFull { name: self.buffer.name, asked_bytes, left_bytes });
        }
        let slice = self.buffer.slice_at(self.used, count);
        self.used += taken_bytes(asked_bytes);
        self.largest = self.largest.max(asked_bytes);
        Ok(slice)
    }

    /// Bytes not cut yet.
    pub fn left_bytes(&self) -> u64 {
        self.buffer.bytes.saturating_sub(self.used)
    }
}
