//! Pages of geometry on a device: where a scene is larger than the device, the least recently used page makes room for the next.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::buffers::PageSlices;
use crate::pipeline::geometry::Page;
use crate::pipeline::recording::{Arena, Buffer};
use std::sync::Arc;

/// The pages of a world, and which of them are on a device.
#[derive(Debug)]
pub(crate) struct GeometryPages {
    pages: Arc<[Page]>,
    seats: Vec<Seat>,
    seat_bytes: u64,
    budget_bytes: u64,
    clock: u64,
}

#[derive(Debug)]
struct Seat {
    buffer: Buffer,
    /// The page that is there, or that it is kept for.
    page: Option<usize>,
    /// Where the page lies, once it is there.
    slices: Option<PageSlices>,
    last_use: u64,
}

/// Bytes that a page takes up in a buffer.
fn page_bytes(page: &Page) -> u64 {
    Arena::bytes_for(&[(page.primitives.len().max(1) as u64, 64), (page.data.len().max(1) as u64, 16)])
}

impl GeometryPages {
    /// No page is resident yet; at most `budget_bytes` of them ever will be, but always at least one.
    pub(crate) fn new(pages: Arc<[Page]>, budget_bytes: u64) -> Self {
        let seat_bytes = pages.iter().map(page_bytes).max().unwrap_or(0);
        Self { pages, seats: Vec::new(), seat_bytes, budget_bytes, clock: 0 }
    }

    /// Bytes of all pages together, and of the largest one.
    pub(crate) fn bytes(pages: &[Page]) -> (u64, u64) {
        (pages.iter().map(page_bytes).sum(), pages.iter().map(page_bytes).max().unwrap_or(0))
    }

    /// How many pages can be resident at once: a submission must not need more.
    pub(crate) fn resident_max(&self) -> usize {
        if self.all_fit() { self.pages.len().max(1) } else { (self.budget_bytes / self.seat_bytes).max(1) as usize }
    }

    fn all_fit(&self) -> bool {
        Self::bytes(&self.pages).0 <= self.budget_bytes
    }

    /// Takes the memory of all pages that may ever be resident, before others take what is left: buffers that share blocks need more than
    /// their bytes. Where there is too little, one page at a time is resident.
    pub(crate) fn take_memory(&mut self, device: &mut Device) -> Result<(), GpuError> {
        if !self.seats.is_empty() {
            return Ok(());
        }
        match self.take_seats(device) {
            Err(GpuError::OutOfMemory { .. }) => self.keep_one(device),
            other => other,
        }
    }

    /// All fit: each gets a buffer of its own size. Else seats of equal size are used over and over.
    fn take_seats(&mut self, device: &mut Device) -> Result<(), GpuError> {
        let own = |page: usize| (Some(page), page_bytes(&self.pages[page]));
        let seats: Vec<(Option<usize>, u64)> = match self.all_fit() {
            true => (0..self.pages.len()).map(own).collect(),
            false => vec![(None, self.seat_bytes); self.resident_max()],
        };
        for (page, bytes) in seats {
            let buffer = device.allocate("page", bytes, Usage::DeviceOnly).inspect_err(|_| self.free(device))?;
            self.seats.push(Seat { buffer, page, slices: None, last_use: 0 });
        }
        Ok(())
    }

    /// A page on the device, brought there if it is not. Submissions before see what was there, those after see the page: also a
    /// recording that is not yet submitted, so that it may bring at most [`Self::resident_max`] pages.
    pub(crate) fn make_resident(&mut self, device: &mut Device, page: usize) -> Result<PageSlices, GpuError> {
        self.clock += 1;
        let kept = self.seats.iter().position(|seat| seat.page == Some(page));
        let oldest = || (0..self.seats.len()).min_by_key(|&i| self.seats[i].last_use).expect("their memory was taken");
        let seat = kept.unwrap_or_else(oldest);
        let seat = &mut self.seats[seat];
        seat.last_use = self.clock;
        if let (Some(slices), Some(_)) = (seat.slices, kept) {
            return Ok(slices);
        }
        (seat.page, seat.slices) = (Some(page), None);
        Ok(*seat.slices.insert(upload(device, seat.buffer, &self.pages[page])?))
    }

    /// From now on one page is resident at a time.
    pub(crate) fn keep_one(&mut self, device: &mut Device) -> Result<(), GpuError> {
        self.free(device);
        self.budget_bytes = self.budget_bytes.min(self.seat_bytes);
        self.take_seats(device)
    }

    /// Frees the buffers.
    pub(crate) fn free(&mut self, device: &mut Device) {
        for seat in self.seats.drain(..) {
            device.free(seat.buffer);
        }
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
