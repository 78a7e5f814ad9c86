//! Pages of geometry on a device: where a scene is larger than the device, the least recently used page makes room for the next.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::buffers::PageSlices;
use crate::pipeline::geometry::Page;
use crate::pipeline::recording::{Arena, Buffer};
use std::sync::Arc;

/// The pages of a world, and which of them are on a device.
#[derive(Debug)]
pub(crate) struct ResidentPages {
    pages: Arc<[Page]>,
    seats: Vec<Seat>,
    seat_bytes: u64,
    budget_bytes: u64,
    used_bytes: u64,
    clock: u64,
}

#[derive(Debug)]
struct Seat {
    buffer: Buffer,
    page: usize,
    slices: PageSlices,
    last_use: u64,
}

/// Bytes that a page takes up in a buffer.
fn page_bytes(page: &Page) -> u64 {
    Arena::bytes_for(&[(page.primitives.len().max(1) as u64, 64), (page.data.len().max(1) as u64, 16)])
}

impl ResidentPages {
    /// No page is resident yet; at most `budget_bytes` of them ever will be, but always at least one.
    pub(crate) fn new(pages: Arc<[Page]>, budget_bytes: u64) -> Self {
        let seat_bytes = pages.iter().map(page_bytes).max().unwrap_or(0);
        Self { pages, seats: Vec::new(), seat_bytes, budget_bytes, used_bytes: 0, clock: 0 }
    }

    /// Bytes of all pages together, and of the largest one.
    pub(crate) fn bytes(pages: &[Page]) -> (u64, u64) {
        (pages.iter().map(page_bytes).sum(), pages.iter().map(page_bytes).max().unwrap_or(0))
    }

    /// How many pages can be resident at once: a submission must not need more.
    pub(crate) fn at_once(&self) -> usize {
        if self.all_fit() { self.pages.len().max(1) } else { (self.budget_bytes / self.seat_bytes).max(1) as usize }
    }

    fn all_fit(&self) -> bool {
        Self::bytes(&self.pages).0 <= self.budget_bytes
    }

    /// A page on the device, brought there if it is not. Submissions before see what was there, those after see the page: also a
    /// recording that is not yet submitted, so that it may bring at most [`Self::at_once`] pages.
    pub(crate) fn bring(&mut self, device: &mut Device, page: usize) -> Result<PageSlices, GpuError> {
        self.clock += 1;
        let clock = self.clock;
        if let Some(seat) = self.seats.iter_mut().find(|seat| seat.page == page) {
            seat.last_use = clock;
            return Ok(seat.slices);
        }
        // All fit: each gets a buffer of its own size. Else seats of equal size are used over and over.
        let bytes = if self.all_fit() { page_bytes(&self.pages[page]) } else { self.seat_bytes };
        let buffer = if self.seats.is_empty() || self.used_bytes + bytes <= self.budget_bytes {
            let buffer = device.allocate("page", bytes, Usage::DeviceOnly)?;
            self.used_bytes += bytes;
            buffer
        } else {
            let oldest = (0..self.seats.len()).min_by_key(|&i| self.seats[i].last_use).expect("there is a seat");
            self.seats.swap_remove(oldest).buffer
        };
        let slices = upload(device, buffer, &self.pages[page]).inspect_err(|_| {
            device.free(buffer);
            self.used_bytes -= bytes;
        })?;
        self.seats.push(Seat { buffer, page, slices, last_use: clock });
        Ok(slices)
    }

    /// Bytes of the buffers that may still be made.
    pub(crate) fn to_come_bytes(&self) -> u64 {
        Self::bytes(&self.pages).0.min(self.budget_bytes) - self.used_bytes
    }

    /// From now on one page is resident at a time. Its memory is taken at once, before others take what is left.
    pub(crate) fn keep_one(&mut self, device: &mut Device) -> Result<(), GpuError> {
        self.free(device);
        self.budget_bytes = self.budget_bytes.min(self.seat_bytes);
        if self.pages.is_empty() { Ok(()) } else { self.bring(device, 0).map(|_| ()) }
    }

    /// Frees the buffers.
    pub(crate) fn free(&mut self, device: &mut Device) {
        for seat in self.seats.drain(..) {
            device.free(seat.buffer);
        }
        self.used_bytes = 0;
    }
}

fn upload(device: &mut Device, buffer: Buffer, page: &Page) -> Result<PageSlices, GpuError> {
    let mut arena = Arena::new(buffer);
    let fits = "a page's buffer is as large as the page";
    let primitives = arena.cut(page.primitives.len().max(1) as u64).expect(fits);
    let data = arena.cut(page.data.len().max(1) as u64).expect(fits);
    device.upload(primitives.part(0..page.primitives.len() as u64), &page.primitives)?;
    device.upload(data.part(0..page.data.len() as u64), &page.data)?;
    Ok(PageSlices { primitives, data })
}
