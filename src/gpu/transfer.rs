//! Transfers data between host and device: in place if the host can access the device's memory, otherwise through
//! staging buffers.

use super::device::Device;
use super::error::GpuError;
use super::execute::Ticket;
use super::memory::Usage;
use crate::pipeline::recording::{Buffer, BufferRange, Recording, Slice};
use bytemuck::Pod;

/// Size of a staging buffer: a part of the device's limit, at most so large that a copy's fixed cost does not count.
const STAGING_PART: u64 = 64;
const STAGING_BYTES_MAX: u64 = 8 << 20;
const STAGING_BYTES_MIN: u64 = 1 << 16;

/// Size of each staging buffer of a device that may use so much memory.
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
    /// Every buffer, for freeing.
    pub(super) fn take(&mut self) -> Vec<Buffer> {
        let uploads = self.uploads.drain(..).map(|(buffer, _)| buffer);
        uploads.chain(self.readback.take()).collect()
    }
}

impl Device {
    /// Bytes of each of the [`STAGING_BUFFERS`] that uploading to a buffer and reading it back needs: 0 if the host can
    /// access its memory.
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
        if self.staging.uploads.len() < 2 {
            let buffer = self.allocate("upload staging", self.staging_chunk(), Usage::Upload)?;
            self.staging.uploads.push((buffer, None));
        }
        self.staging.next_upload = (self.staging.next_upload + 1) % self.staging.uploads.len();
        let (buffer, last) = self.staging.uploads[self.staging.next_upload];
        if let Some(ticket) = last {
            self.wait(ticket, self.timeout)?;
        }
        let from = buffer.slice::<u8>().part(0..data.len() as u64);
        let place = self.memory.mapped_mut(from.range()).expect("upload memory is visible to the host");
        place.copy_from_slice(data);
        let mut recording = Recording::new(format!("upload {}", to.range().buffer.name()));
        recording.copy(from, to);
        self.staging.uploads[self.staging.next_upload].1 = Some(self.submit_transfer(&recording)?);
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
            None => *self.staging.readback.insert(self.memory.allocate("readback staging", size, Usage::Readback)?),
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

    /// The records in place, in a buffer that the host can access and no unfinished submission uses.
    ///
    /// # Errors
    /// [`GpuError::NotReachable`] if the host cannot access the buffer now.
    pub fn mapped<T: Pod>(&mut self, slice: Slice<T>) -> Result<&[T], GpuError> {
        self.check_idle(slice.range())?;
        let place = self.memory.mapped(slice.range()).and_then(|bytes| bytemuck::try_cast_slice(bytes).ok());
        place.ok_or_else(|| not_reachable(self, slice.range(), "its memory is not visible to the host"))
    }

    /// The records in place for writing, as for [`Self::mapped`].
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
