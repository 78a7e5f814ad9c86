//! Pages of geometry on a device: where a scene is larger than the device, the least recently used (LRU) page is
//! evicted for the next.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::buffers::PageSlices;
use crate::pipeline::geometry::Page;
use crate::pipeline::recording::{Arena, ArenaFull, Buffer};
use crate::stats::MemoryCategory;
use std::sync::Arc;

/// The pages of a world, and which of them are on a device.
#[derive(Debug)]
pub(crate) struct GeometryPages {
    pages: Arc<[Arc<Page>]>,
    buffers: Vec<GeometryPageBuffer>,
    /// Bytes of the largest page.
    page_bytes_max: u64,
    /// Bytes of the pages that are resident at once, at most.
    budget_bytes: u64,
    /// Counts uses of pages.
    clock: u64,
}

/// A buffer that holds one page at a time.
#[derive(Debug)]
struct GeometryPageBuffer {
    buffer: Buffer,
    /// The page that is there, or that the buffer is kept for.
    page: Option<usize>,
    /// Parts of the buffer, once the page is there.
    slices: Option<PageSlices>,
    last_use: u64,
}

/// Bytes that pages of geometry take on a device.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PagesBytes {
    /// Bytes of all pages together.
    pub all: u64,
    /// Bytes of the largest page.
    pub largest: u64,
}

impl PagesBytes {
    /// Returns the bytes of these pages.
    pub(crate) fn of(pages: &[Arc<Page>]) -> Self {
        let bytes = || pages.iter().map(|page| page_bytes(page));
        Self { all: bytes().sum(), largest: bytes().max().unwrap_or(0) }
    }
}

/// Returns the bytes that a page takes in a buffer.
fn page_bytes(page: &Page) -> u64 {
    Arena::measure(|arena| cut(arena, page)).bytes
}

impl GeometryPages {
    /// Begins without a resident page; at most `budget_bytes` of them ever will be, but always at least one.
    pub(crate) fn new(pages: Arc<[Arc<Page>]>, budget_bytes: u64) -> Self {
        let page_bytes_max = PagesBytes::of(&pages).largest;
        Self { pages, buffers: Vec::new(), page_bytes_max, budget_bytes, clock: 0 }
    }

    /// Goes on with these pages: what is resident of them stays. Returns whether there is memory for those that are
    /// new; if not, nothing is resident, and their memory has to be divided again.
    pub(crate) fn renew(&mut self, device: &mut Device, pages: Arc<[Arc<Page>]>) -> Result<bool, GpuError> {
        let all_fit = self.all_fit();
        let old = std::mem::replace(&mut self.pages, pages);
        let is_kept = |page: &usize| old.get(*page).zip(self.pages.get(*page)).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
        for buffer in &mut self.buffers {
            buffer.page = buffer.page.filter(is_kept);
            buffer.slices = buffer.slices.filter(|_| buffer.page.is_some());
        }
        let PagesBytes { all, largest } = PagesBytes::of(&self.pages);
        if !all_fit {
            return Ok(largest <= self.page_bytes_max && !self.buffers.is_empty());
        }
        self.page_bytes_max = largest;
        self.budget_bytes = self.budget_bytes.max(all);
        match self.allocate_new(device) {
            Err(GpuError::OutOfMemory { .. }) => Ok(false),
            allocated => allocated.map(|()| true),
        }
    }

    /// Where all pages fit: frees the buffers of pages that are gone, and allocates those of new ones.
    fn allocate_new(&mut self, device: &mut Device) -> Result<(), GpuError> {
        let (kept, gone): (Vec<_>, Vec<_>) = self.buffers.drain(..).partition(|buffer| buffer.page.is_some());
        gone.into_iter().for_each(|buffer| device.free(buffer.buffer));
        self.buffers = kept;
        for page in 0..self.pages.len() {
            if self.buffers.iter().all(|buffer| buffer.page != Some(page)) {
                self.allocate_buffer(device, Some(page), page_bytes(&self.pages[page]))?;
            }
        }
        Ok(())
    }

    /// Returns how many pages can be resident at once: a submission must not need more.
    pub(crate) fn resident_max(&self) -> usize {
        if self.all_fit() { self.pages.len().max(1) } else { (self.budget_bytes / self.page_bytes_max).max(1) as usize }
    }

    fn all_fit(&self) -> bool {
        PagesBytes::of(&self.pages).all <= self.budget_bytes
    }

    /// Allocates the buffers of all pages that may ever be resident, before others take what is left: buffers that
    /// share blocks need more than their bytes. Where there is too little memory, one page at a time is resident.
    pub(crate) fn allocate(&mut self, device: &mut Device) -> Result<(), GpuError> {
        if !self.buffers.is_empty() {
            return Ok(());
        }
        match self.allocate_buffers(device) {
            Err(GpuError::OutOfMemory { .. }) => self.keep_one(device),
            other => other,
        }
    }

    /// Where all pages fit, each gets a buffer of its own size; otherwise buffers of equal size are used over and over.
    fn allocate_buffers(&mut self, device: &mut Device) -> Result<(), GpuError> {
        let own = |page: usize| (Some(page), page_bytes(&self.pages[page]));
        let buffers: Vec<(Option<usize>, u64)> = match self.all_fit() {
            true => (0..self.pages.len()).map(own).collect(),
            false => vec![(None, self.page_bytes_max); self.resident_max()],
        };
        buffers.into_iter().try_for_each(|(page, bytes)| self.allocate_buffer(device, page, bytes))
    }

    /// Allocates a buffer, or frees all.
    fn allocate_buffer(&mut self, device: &mut Device, page: Option<usize>, bytes: u64) -> Result<(), GpuError> {
        let name = MemoryCategory::Geometry.name();
        let buffer = device.allocate(name, bytes, Usage::DeviceOnly).inspect_err(|_| self.free(device))?;
        self.buffers.push(GeometryPageBuffer { buffer, page, slices: None, last_use: 0 });
        Ok(())
    }

    /// Returns a page on the device. If it is not there, evicts the least recently used one and uploads it. Submissions
    /// made before see what was there, those made after see the page. A recording that is not submitted yet sees the
    /// page too, so it may need at most [`Self::resident_max`] pages.
    pub(crate) fn make_resident(&mut self, device: &mut Device, page: usize) -> Result<PageSlices, GpuError> {
        self.clock += 1;
        let kept = self.buffers.iter().position(|buffer| buffer.page == Some(page));
        let place = kept.unwrap_or_else(|| self.evict_lru());
        let buffer = &mut self.buffers[place];
        buffer.last_use = self.clock;
        if let Some(slices) = buffer.slices {
            return Ok(slices);
        }
        buffer.page = Some(page);
        Ok(*buffer.slices.insert(upload(device, buffer.buffer, &self.pages[page])?))
    }

    /// Evicts the least recently used (LRU) page, if all buffers are full, and returns the number of the empty buffer.
    fn evict_lru(&mut self) -> usize {
        let lru = (0..self.buffers.len()).min_by_key(|&i| self.buffers[i].last_use).expect("buffers are allocated");
        (self.buffers[lru].page, self.buffers[lru].slices) = (None, None);
        lru
    }

    /// From now on one page is resident at a time.
    pub(crate) fn keep_one(&mut self, device: &mut Device) -> Result<(), GpuError> {
        self.free(device);
        self.budget_bytes = self.budget_bytes.min(self.page_bytes_max);
        self.allocate_buffers(device)
    }

    /// Frees the buffers.
    pub(crate) fn free(&mut self, device: &mut Device) {
        for page in self.buffers.drain(..) {
            device.free(page.buffer);
        }
    }
}

fn cut(arena: &mut Arena, page: &Page) -> Result<PageSlices, ArenaFull> {
    let [primitives, data] = [page.primitives.len(), page.data.len()].map(|count| count.max(1) as u64);
    Ok(PageSlices { primitives: arena.cut(primitives)?, data: arena.cut(data)? })
}

fn upload(device: &mut Device, buffer: Buffer, page: &Page) -> Result<PageSlices, GpuError> {
    let slices = cut(&mut Arena::new(buffer), page).expect("a page's buffer is as large as the page");
    device.upload(slices.primitives.part(0..page.primitives.len() as u64), &page.primitives)?;
    device.upload(slices.data.part(0..page.data.len() as u64), &page.data)?;
    Ok(slices)
}
