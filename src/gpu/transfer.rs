//! Transfers data between host and device: in place if the host can access the device's memory, otherwise through
//! staging buffers.

use super::device::Device;
use super::error::GpuError;
use super::execute::Ticket;
use super::memory::Usage;
use crate::pipeline::recording::{Buffer, BufferRange, Recording, Slice};
use crate::stats::MemoryCategory;
use bytemuck::Pod;

/// Size of a staging buffer: a part of the device's limit, at most so large that a copy's fixed cost does not count.
const STAGING_PART: u64 = 64;
const STAGING_BYTES_MAX: u64 = 8 << 20;
const STAGING_BYTES_MIN: u64 = 1 << 16;

/// Returns the size of each staging buffer of a device that may use `budget_bytes` bytes of memory.
fn staging_buffer_bytes(budget_bytes: u64) -> u64 {
    (budget_bytes / STAGING_PART).clamp(STAGING_BYTES_MIN, STAGING_BYTES_MAX).next_multiple_of(STAGING_BYTES_MIN)
}

/// The most staging buffers that a device has.
pub const STAGING_BUFFERS: u64 = 3;

/// The staging buffers of a device, made when first needed.
#[derive(Default)]
pub(super) struct Staging {
    /// Two buffers used in turn: the host fills one while the device copies from the other.
    uploads: Vec<(Buffer, Option<Ticket>)>,
    next_upload: usize,
    readback: Option<Buffer>,
}

impl Staging {
    /// Returns every buffer, for freeing.
    pub(super) fn take(&mut self) -> Vec<Buffer> {
        let uploads = self.uploads.drain(..).map(|(buffer, _)| buffer);
        uploads.chain(self.readback.take()).collect()
    }
}

impl Device {
    /// Returns the bytes of each of the [`STAGING_BUFFERS`] that uploading to a buffer and reading it back needs: 0 if
    /// the host can access its memory.
    pub fn staging_bytes(&self, buffer: Buffer) -> u64 {
        let in_place = self.memory.mapped(BufferRange { buffer, offset: 0, bytes: 0 }).is_some();
        if in_place { 0 } else { self.staging_chunk() }
    }

    fn staging_chunk(&self) -> u64 {
        staging_buffer_bytes(self.memory().budget_bytes)
    }

    /// Writes records. Recordings submitted earlier do not see them, those submitted later do.
    ///
    /// # Errors
    /// If there is no memory for staging, or the device is lost.
    ///
    /// # Panics
    /// If slice and data differ in length.
    pub fn upload<T: Pod>(&mut self, to: Slice<T>, data: &[T]) -> Result<(), GpuError> {
        assert_eq!(to.count(), data.len() as u64, "upload to {}", to.range());
        self.check_reachable(to.range())?;
        self.collect()?;
        let bytes: &[u8] = bytemuck::cast_slice(data);
        if self.memory.last_use(to.range().buffer) <= self.submissions.done()
            && let Some(place) = self.memory.mapped_mut(to.range())
        {
            place.copy_from_slice(bytes);
            return Ok(());
        }
        let staged = self.upload_in_chunks(to.cast::<u8>(), bytes);
        if matches!(staged, Err(GpuError::OutOfMemory { .. })) && self.memory.mapped(to.range()).is_some() {
            // Without memory for staging, wait until the buffer can be written in place.
            self.wait_for_use(to.range().buffer)?;
            let place = self.memory.mapped_mut(to.range()).expect("memory stays mapped as long as its buffer lives");
            place.copy_from_slice(bytes);
            return Ok(());
        }
        staged
    }

    /// Writes records to several places, none twice, in as few copies of staging buffers as they fit.
    ///
    /// # Errors
    /// As [`Self::upload`].
    ///
    /// # Panics
    /// As [`Self::upload`].
    pub fn upload_all<T: Pod>(&mut self, parts: &[(Slice<T>, &[T])]) -> Result<(), GpuError> {
        let chunk = self.staging_chunk() as usize;
        let mut rest = parts;
        while let [(to, data), more @ ..] = rest {
            let mut bytes = 0;
            let fits = |(_, data): &&(Slice<T>, &[T])| {
                bytes += size_of_val(*data);
                bytes <= chunk
            };
            let count = rest.iter().take_while(fits).count();
            let together = match count {
                0 | 1 => false,
                _ => self.upload_together(&rest[..count])?,
            };
            if !together {
                self.upload(*to, data)?;
            }
            rest = if together { &rest[count..] } else { more };
        }
        Ok(())
    }

    /// Writes what fits a staging buffer by one submission; `false` if it is better written one by one: in place, or
    /// without memory for staging.
    fn upload_together<T: Pod>(&mut self, parts: &[(Slice<T>, &[T])]) -> Result<bool, GpuError> {
        self.collect()?;
        let (first, done) = (parts[0].0.range(), self.submissions.done());
        if self.memory.last_use(first.buffer) <= done && self.memory.mapped(first).is_some() {
            return Ok(false);
        }
        let staging = match self.staging_for_upload() {
            Err(GpuError::OutOfMemory { .. }) => return Ok(false),
            staging => staging?,
        };
        let mut recording = Recording::new(format!("upload {}", first.buffer.name()));
        let mut at = 0;
        let mut copies = Vec::new();
        for (to, data) in parts {
            assert_eq!(to.count(), data.len() as u64, "upload to {}", to.range());
            self.check_reachable(to.range())?;
            let bytes: &[u8] = bytemuck::cast_slice(data);
            let from = staging.slice::<u8>().part(at..at + bytes.len() as u64);
            at += bytes.len() as u64;
            let place = self.memory.mapped_mut(from.range()).expect("upload memory is visible to the host");
            place.copy_from_slice(bytes);
            copies.push((from, to.cast::<u8>()));
        }
        recording.concurrent(|recording| copies.into_iter().for_each(|(from, to)| recording.copy(from, to)));
        self.submit_staged(&recording)?;
        Ok(true)
    }

    fn upload_in_chunks(&mut self, to: Slice<u8>, bytes: &[u8]) -> Result<(), GpuError> {
        let mut offset = 0;
        for chunk in bytes.chunks(self.staging_chunk() as usize) {
            self.upload_staged(to.part(offset..offset + chunk.len() as u64), chunk)?;
            offset += chunk.len() as u64;
        }
        Ok(())
    }

    /// Writes at most what a staging buffer holds.
    fn upload_staged(&mut self, to: Slice<u8>, data: &[u8]) -> Result<(), GpuError> {
        let buffer = self.staging_for_upload()?;
        let from = buffer.slice::<u8>().part(0..data.len() as u64);
        let place = self.memory.mapped_mut(from.range()).expect("upload memory is visible to the host");
        place.copy_from_slice(data);
        let mut recording = Recording::new(format!("upload {}", to.range().buffer.name()));
        recording.copy(from, to);
        self.submit_staged(&recording)
    }

    /// Returns the next staging buffer for uploads, which no submission still uses.
    fn staging_for_upload(&mut self) -> Result<Buffer, GpuError> {
        if self.staging.uploads.len() < 2 {
            let buffer = self.allocate(MemoryCategory::Staging.name(), self.staging_chunk(), Usage::Upload)?;
            self.staging.uploads.push((buffer, None));
        }
        self.staging.next_upload = (self.staging.next_upload + 1) % self.staging.uploads.len();
        let (buffer, last) = self.staging.uploads[self.staging.next_upload];
        if let Some(ticket) = last {
            self.wait(ticket, self.timeout)?;
        }
        Ok(buffer)
    }

    /// Submits copies from the staging buffer that [`Self::staging_for_upload`] gave last.
    fn submit_staged(&mut self, recording: &Recording) -> Result<(), GpuError> {
        self.staging.uploads[self.staging.next_upload].1 = Some(self.submit_transfer(recording)?);
        Ok(())
    }

    /// Reads records, after waiting for the submissions that use their buffer.
    ///
    /// # Errors
    /// If waiting times out, there is no memory for staging, or the device is lost.
    pub fn read<T: Pod>(&mut self, from: Slice<T>) -> Result<Vec<T>, GpuError> {
        self.check_reachable(from.range())?;
        let mut records = vec![T::zeroed(); from.count() as usize];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut records);
        if self.memory.mapped(from.range()).is_some() {
            self.wait_for_use(from.range().buffer)?;
            let place = self.memory.mapped(from.range()).expect("memory stays mapped as long as its buffer lives");
            bytes.copy_from_slice(place);
            return Ok(records);
        }
        let mut offset = 0;
        for chunk in bytes.chunks_mut(self.staging_chunk() as usize) {
            let part = from.cast::<u8>().part(offset..offset + chunk.len() as u64);
            self.read_staged(part, chunk)?;
            offset += chunk.len() as u64;
        }
        Ok(records)
    }

    /// Reads at most what a staging buffer holds.
    fn read_staged(&mut self, from: Slice<u8>, data: &mut [u8]) -> Result<(), GpuError> {
        let size = self.staging_chunk();
        let buffer = match self.staging.readback {
            Some(buffer) => buffer,
            None => *self.staging.readback.insert(self.memory.allocate(
                MemoryCategory::Staging.name(),
                size,
                Usage::Readback,
            )?),
        };
        let to = buffer.slice::<u8>().part(0..data.len() as u64);
        let mut recording = Recording::new(format!("read {}", from.range().buffer.name()));
        recording.copy(from, to);
        let ticket = self.submit_transfer(&recording)?;
        self.wait(ticket, self.timeout)?;
        let place = self.memory.mapped(to.range()).expect("readback memory is visible to the host");
        data.copy_from_slice(place);
        Ok(())
    }

    /// Returns the records in place, in a buffer that the host can access and no unfinished submission uses.
    ///
    /// # Errors
    /// [`GpuError::NotReachable`] if the host cannot access the buffer now.
    pub fn mapped<T: Pod>(&mut self, slice: Slice<T>) -> Result<&[T], GpuError> {
        self.check_idle(slice.range())?;
        let place = self.memory.mapped(slice.range()).and_then(|bytes| bytemuck::try_cast_slice(bytes).ok());
        place.ok_or_else(|| not_reachable(self, slice.range(), "its memory is not visible to the host"))
    }

    /// Returns the records in place for writing, as for [`Self::mapped`].
    ///
    /// # Errors
    /// [`GpuError::NotReachable`] if the host cannot access the buffer now.
    pub fn mapped_mut<T: Pod>(&mut self, slice: Slice<T>) -> Result<&mut [T], GpuError> {
        self.check_idle(slice.range())?;
        let error = not_reachable(self, slice.range(), "its memory is not visible to the host");
        let place = self.memory.mapped_mut(slice.range()).and_then(|bytes| bytemuck::try_cast_slice_mut(bytes).ok());
        place.ok_or(error)
    }

    fn check_idle(&mut self, range: BufferRange) -> Result<(), GpuError> {
        self.check_reachable(range)?;
        self.collect()?;
        if self.memory.last_use(range.buffer) > self.submissions.done() {
            return Err(not_reachable(self, range, "a submission that is not done uses it"));
        }
        Ok(())
    }

    fn check_reachable(&self, range: BufferRange) -> Result<(), GpuError> {
        match self.memory.raw(range.buffer) {
            Some(_) => Ok(()),
            None => Err(not_reachable(self, range, "the buffer was freed or belongs to another device")),
        }
    }
}

fn not_reachable(device: &Device, range: BufferRange, reason: &'static str) -> GpuError {
    GpuError::NotReachable { device: device.title().clone(), range: range.to_string(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staging_is_a_small_part_of_the_limit() {
        let mib = |n: u64| n << 20;
        assert_eq!(staging_buffer_bytes(mib(4)), 1 << 16);
        assert_eq!(staging_buffer_bytes(mib(64)), mib(1));
        assert_eq!(staging_buffer_bytes(mib(512)), mib(8));
        assert_eq!(staging_buffer_bytes(mib(80_000)), mib(8));
    }
}
