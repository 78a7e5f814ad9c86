//! Device memory: buffers allocated within a stated budget. The memory in use is counted here, as CPU drivers enforce
//! no limit.

use super::buffer_memory::BufferMemory;
use super::error::GpuError;
use super::physical::Physical;
use super::shared::DeviceShared;
use crate::pipeline::recording::{Buffer, BufferRange, VIEW_SLACK, viewed_bytes};
use crate::stats::{CategoryBytes, MemoryCategory};
use ash::vk;
use gpu_allocator::vulkan::{AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};
use std::cmp::Reverse;
use std::sync::Arc;

/// How a buffer is used, which determines the type of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Only kernels and copies access the buffer.
    DeviceOnly,
    /// The host writes the buffer, and the device reads it.
    Upload,
    /// The device writes the buffer, and the host reads it.
    Readback,
}

/// Current and peak use of a device's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Bytes of blocks in use; spare ones do not count.
    pub used_bytes: u64,
    /// The most bytes that were allocated at once.
    pub peak_bytes: u64,
    /// The limit in bytes.
    pub budget_bytes: u64,
    /// Bytes in use by category.
    pub categories: CategoryBytes,
    /// The most bytes of each category, which were not all in use at once.
    pub peak_categories: CategoryBytes,
}

/// Size in bytes of the blocks that small buffers share, the smallest that the allocator supports; larger buffers have
/// a block each.
pub const BLOCK_BYTES: u64 = 4 << 20;
/// Blocks of freed buffers that are kept for other ones, at most: those of the regions in flight. To get memory afresh
/// takes a CPU device a tenth of the time of a picture. None is kept where they and what is in use would take more than
/// half of the limit.
const SPARES_MAX: usize = 2;

struct BackedBuffer {
    raw: vk::Buffer,
    block: BufferMemory,
    name: &'static str,
    usage: Usage,
    /// The last submission that uses it.
    last_use: u64,
    freed: bool,
}

#[derive(Default)]
struct BufferSlot {
    generation: u32,
    held: Option<BackedBuffer>,
}

/// The buffers of a device.
pub(super) struct Memory {
    shared: Arc<DeviceShared>,
    /// Dropped when the device closes: it then returns its blocks, which must happen before the device is destroyed.
    allocator: Option<Allocator>,
    slots: Vec<BufferSlot>,
    empty_slots: Vec<u32>,
    /// Blocks of freed `DeviceOnly` buffers, the largest. They do not count as used, and are given up when memory is
    /// short.
    spares: Vec<BufferMemory>,
    usage: MemoryUse,
    /// Bytes of buffers by category.
    buffer_bytes: CategoryBytes,
    allocation_bytes_max: u64,
    access: HostAccess,
    /// What the device's types of memory are.
    types: vk::PhysicalDeviceMemoryProperties,
    /// Bytes of blocks that the allocator does not manage.
    unmanaged_bytes: u64,
}

/// What the host does with memory that only the device needs to access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostAccess {
    /// It accesses it where the driver lets it.
    Direct,
    /// It copies data through staging buffers.
    Staged,
    /// The same, and the memory is not even mapped.
    Unmapped,
}

impl Memory {
    /// Creates memory without buffers.
    pub(super) fn new(
        shared: &Arc<DeviceShared>,
        instance: &ash::Instance,
        physical: &Physical,
        budget_bytes: u64,
        access: HostAccess,
    ) -> Result<Self, GpuError> {
        let mut debug_settings = AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: shared.raw.clone(),
            physical_device: physical.raw,
            debug_settings,
            buffer_device_address: false,
            allocation_sizes: AllocationSizes::new(BLOCK_BYTES, BLOCK_BYTES),
        });
        let allocator = allocator.map_err(|e| GpuError::Vulkan {
            device: shared.title.clone(),
            doing: "preparing device memory".to_string(),
            reason: e.to_string(),
        })?;
        Ok(Self {
            shared: Arc::clone(shared),
            allocator: Some(allocator),
            slots: Vec::new(),
            empty_slots: Vec::new(),
            spares: Vec::new(),
            usage: MemoryUse { budget_bytes, ..MemoryUse::default() },
            buffer_bytes: CategoryBytes::default(),
            allocation_bytes_max: physical.info.allocation_bytes_max,
            access,
            // SAFETY: `physical` was listed from this instance, which the caller keeps.
            types: unsafe { instance.get_physical_device_memory_properties(physical.raw) },
            unmanaged_bytes: 0,
        })
    }

    /// Returns the device's types of memory.
    pub(super) fn types(&self) -> &vk::PhysicalDeviceMemoryProperties {
        &self.types
    }

    /// Returns the current and peak use.
    pub(super) fn usage(&self) -> MemoryUse {
        self.usage
    }

    /// Allocates a buffer.
    pub(super) fn allocate(&mut self, name: &'static str, bytes: u64, usage: Usage) -> Result<Buffer, GpuError> {
        if created_bytes(bytes) > self.allocation_bytes_max {
            let (device, limit_bytes) = (self.shared.title.clone(), self.allocation_bytes_max);
            return Err(GpuError::TooLarge { device, name, asked_bytes: created_bytes(bytes), limit_bytes });
        }
        if bytes > self.usage.budget_bytes {
            return Err(self.out_of_memory(name, bytes));
        }
        let info = vk::BufferCreateInfo::default().size(created_bytes(bytes)).usage(
            vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
                | vk::BufferUsageFlags::INDIRECT_BUFFER
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST,
        );
        // SAFETY: a device is destroyed only after `close` or `forget`, after which nothing is allocated; the size is
        // at least 1 and, by the check above, within the device's limit.
        let raw = self.shared.check("making a buffer", unsafe { self.shared.raw.create_buffer(&info, None) })?;
        match self.bind_memory(raw, name, usage) {
            Ok(block) => {
                self.note_buffer(name, block.bytes());
                Ok(self.store(BackedBuffer { raw, block, name, usage, last_use: 0, freed: false }, bytes))
            }
            Err(error) => {
                // SAFETY: the buffer was created above, and no handle of it was given out.
                unsafe { self.shared.raw.destroy_buffer(raw, None) };
                Err(error)
            }
        }
    }

    /// Allocates the memory of a buffer, within the budget, and binds it.
    fn bind_memory(&mut self, raw: vk::Buffer, name: &'static str, usage: Usage) -> Result<BufferMemory, GpuError> {
        // SAFETY: `allocate`, the only caller, has just created `raw` from this device.
        let requirements = unsafe { self.shared.raw.get_buffer_memory_requirements(raw) };
        let block = match self.take_spare(&requirements, usage) {
            Some(spare) => spare,
            None => {
                self.give_up_useless(requirements.size, usage);
                match self.fresh(&requirements, name, usage) {
                    Err(_) if !self.spares.is_empty() => {
                        self.give_up_spares(u64::MAX);
                        self.fresh(&requirements, name, usage)?
                    }
                    fresh => fresh?,
                }
            }
        };
        // SAFETY: the allocator chose type, size and alignment by the `requirements` of this buffer, or of one that was
        // larger and of equal flags and use, whose types and alignment are the same (Vulkan 1.2, 12.7), and which is
        // destroyed; `allocate` has just created the buffer, so it is not bound yet.
        let bound = unsafe { self.shared.raw.bind_buffer_memory(raw, block.place().0, block.place().1) };
        if let Err(error) = self.shared.check("binding memory", bound) {
            self.give_back(block);
            return Err(error);
        }
        self.shared.name(raw, name);
        Ok(block)
    }

    /// Allocates memory that was not in use before, within the budget.
    fn fresh(
        &mut self,
        requirements: &vk::MemoryRequirements,
        name: &'static str,
        usage: Usage,
    ) -> Result<BufferMemory, GpuError> {
        if self.access == HostAccess::Unmapped && usage == Usage::DeviceOnly {
            return self.fresh_unmapped(requirements, name);
        }
        let location = match usage {
            Usage::DeviceOnly => MemoryLocation::GpuOnly,
            Usage::Upload => MemoryLocation::CpuToGpu,
            Usage::Readback => MemoryLocation::GpuToCpu,
        };
        let description = AllocationCreateDesc {
            name,
            requirements: *requirements,
            location,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let allocation = self.allocator().allocate(&description).map_err(|e| match e {
            AllocationError::OutOfMemory => self.out_of_memory(name, requirements.size),
            other => GpuError::Vulkan {
                device: self.shared.title.clone(),
                doing: format!("allocating {name}"),
                reason: other.to_string(),
            },
        })?;
        let block = BufferMemory::Managed(allocation);
        if self.taken_bytes() > self.usage.budget_bytes {
            self.give_back(block);
            return Err(self.out_of_memory(name, requirements.size));
        }
        self.note_use();
        Ok(block)
    }

    /// Allocates memory of its own, which is not mapped, within the budget.
    fn fresh_unmapped(
        &mut self,
        requirements: &vk::MemoryRequirements,
        name: &'static str,
    ) -> Result<BufferMemory, GpuError> {
        let bytes = requirements.size;
        if self.taken_bytes() + bytes > self.usage.budget_bytes {
            return Err(self.out_of_memory(name, bytes));
        }
        let permitted = |index: &u32| requirements.memory_type_bits >> index & 1 == 1;
        let is_local = |index: &u32| {
            let flags = self.types.memory_types[*index as usize].property_flags;
            flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
        };
        let mut types = (0..self.types.memory_type_count).filter(permitted);
        let chosen = types.clone().find(is_local).or_else(|| types.next()).expect("a buffer fits a type of memory");
        let info = vk::MemoryAllocateInfo::default().allocation_size(bytes).memory_type_index(chosen);
        // SAFETY: the type is one of the device's, which a device outlives (see `allocate`).
        let allocated = unsafe { self.shared.raw.allocate_memory(&info, None) };
        let memory = self.shared.check(&format!("allocating {name}"), allocated)?;
        self.unmanaged_bytes += bytes;
        self.note_use();
        Ok(BufferMemory::Unmapped { memory, bytes })
    }

    /// Returns the bytes that were allocated from the driver.
    fn taken_bytes(&mut self) -> u64 {
        self.allocator().capacity() + self.unmanaged_bytes
    }

    /// Returns the smallest spare block that a buffer fits into, unless much of it would be left over.
    fn take_spare(&mut self, requirements: &vk::MemoryRequirements, usage: Usage) -> Option<BufferMemory> {
        let bytes = requirements.size;
        let fits = |spare: &BufferMemory| (bytes..=bytes + bytes / 4).contains(&spare.bytes());
        let fitting = self.spares.iter().enumerate().filter(|(_, spare)| usage == Usage::DeviceOnly && fits(spare));
        let (at, _) = fitting.min_by_key(|(_, spare)| spare.bytes())?;
        let spare = self.spares.swap_remove(at);
        self.note_use();
        Some(spare)
    }

    /// Keeps the block of a destroyed buffer, if it has one of its own that is among the largest.
    fn keep_spare(&mut self, held: BackedBuffer) {
        if held.usage != Usage::DeviceOnly || held.block.bytes() <= BLOCK_BYTES || !self.is_roomy(0) {
            return self.give_back(held.block);
        }
        self.spares.push(held.block);
        self.spares.sort_by_key(|spare| Reverse(spare.bytes()));
        let smaller = self.spares.split_off(self.spares.len().min(SPARES_MAX));
        smaller.into_iter().for_each(|spare| self.give_back(spare));
        self.note_use();
    }

    /// Whether `more_bytes` more bytes, what is in use and spare blocks take at most half of the limit.
    fn is_roomy(&mut self, more_bytes: u64) -> bool {
        self.taken_bytes() + more_bytes <= self.usage.budget_bytes / 2
    }

    /// Gives up spare blocks before a buffer of `bytes` bytes that has none gets its memory: all where memory may be
    /// short, else those that are too small for it, since what follows is mostly smaller.
    fn give_up_useless(&mut self, bytes: u64, usage: Usage) {
        if !self.is_roomy(bytes) {
            self.give_up_spares(u64::MAX);
        } else if usage == Usage::DeviceOnly {
            self.give_up_spares(bytes);
        }
    }

    /// Gives spare blocks of less than `bytes` bytes back to the driver.
    pub(super) fn give_up_spares(&mut self, bytes: u64) {
        let spares = std::mem::take(&mut self.spares).into_iter();
        let (kept, given_up): (Vec<_>, Vec<_>) = spares.partition(|spare| spare.bytes() >= bytes);
        self.spares = kept;
        given_up.into_iter().for_each(|spare| self.give_back(spare));
    }

    /// Gives spare blocks back to the driver, and forgets how much was in use.
    pub(super) fn end_render(&mut self) {
        self.give_up_spares(u64::MAX);
        (self.usage.peak_bytes, self.usage.peak_categories) = (0, CategoryBytes::default());
    }

    /// The number of buffers that are not destroyed.
    pub(super) fn held_count(&self) -> usize {
        self.slots.iter().filter(|slot| slot.held.is_some()).count()
    }

    fn note_use(&mut self) {
        let spare_bytes: u64 = self.spares.iter().map(BufferMemory::bytes).sum();
        self.usage.used_bytes = self.taken_bytes() - spare_bytes;
        self.usage.categories = self.buffer_bytes;
        let rest = self.usage.used_bytes.saturating_sub(self.buffer_bytes.sum());
        self.usage.categories.add(MemoryCategory::Other, rest);
    }

    /// Notes a buffer that was made.
    fn note_buffer(&mut self, name: &str, bytes: u64) {
        self.buffer_bytes.add(MemoryCategory::of(name), bytes);
        self.note_use();
        self.usage.peak_bytes = self.usage.peak_bytes.max(self.usage.used_bytes);
        self.usage.peak_categories.raise(&self.usage.categories);
    }

    fn allocator(&mut self) -> &mut Allocator {
        self.allocator.as_mut().expect("memory is used only until the device closes")
    }

    fn give_back(&mut self, block: BufferMemory) {
        match block {
            BufferMemory::Managed(allocation) => {
                let freed = self.allocator().free(allocation);
                freed.expect("an allocation is freed once, by the allocator that made it");
            }
            BufferMemory::Unmapped { memory, bytes } => {
                // SAFETY: its buffer is destroyed, or was not bound to it, and the block is given back once.
                unsafe { self.shared.raw.free_memory(memory, None) };
                self.unmanaged_bytes -= bytes;
            }
        }
        self.note_use();
    }

    fn out_of_memory(&self, name: &'static str, asked_bytes: u64) -> GpuError {
        let MemoryUse { used_bytes, budget_bytes, .. } = self.usage;
        GpuError::OutOfMemory { device: self.shared.title.clone(), name, asked_bytes, used_bytes, budget_bytes }
    }

    fn store(&mut self, held: BackedBuffer, bytes: u64) -> Buffer {
        let index = self.empty_slots.pop().unwrap_or_else(|| {
            self.slots.push(BufferSlot::default());
            u32::try_from(self.slots.len() - 1).expect("a device has fewer than 2^32 buffers")
        });
        let name = held.name;
        let slot = &mut self.slots[index as usize];
        slot.held = Some(held);
        Buffer::new(name, self.shared.title.number, index, slot.generation, bytes)
    }

    /// Returns the buffer of a handle; `None` if it was freed or belongs to another device.
    fn held(&self, buffer: Buffer) -> Option<&BackedBuffer> {
        let slot = self.slots.get(buffer.index() as usize)?;
        let current = slot.generation == buffer.generation() && buffer.device() == self.shared.title.number;
        slot.held.as_ref().filter(|held| current && !held.freed)
    }

    /// Vulkan's handle of a buffer.
    pub(super) fn raw(&self, buffer: Buffer) -> Option<vk::Buffer> {
        self.held(buffer).map(|held| held.raw)
    }

    /// Returns the last submission that uses a buffer.
    pub(super) fn last_use(&self, buffer: Buffer) -> u64 {
        self.held(buffer).map_or(0, |held| held.last_use)
    }

    /// Notes that a submission uses a buffer.
    pub(super) fn mark_use(&mut self, buffer: Buffer, submission: u64) {
        if let Some(held) = self.slots.get_mut(buffer.index() as usize).and_then(|slot| slot.held.as_mut()) {
            held.last_use = held.last_use.max(submission);
        }
    }

    /// Returns the bytes of a range, if the host can access them.
    pub(super) fn mapped(&self, range: BufferRange) -> Option<&[u8]> {
        let held = self.held(range.buffer).filter(|held| self.is_host_accessible(held))?;
        held.block.mapped()?.get(span(range))
    }

    /// Returns the bytes of a range for writing, if the host can access them.
    pub(super) fn mapped_mut(&mut self, range: BufferRange) -> Option<&mut [u8]> {
        self.held(range.buffer).filter(|held| self.is_host_accessible(held))?;
        let held = self.slots[range.buffer.index() as usize].held.as_mut()?;
        held.block.mapped_mut()?.get_mut(span(range))
    }

    fn is_host_accessible(&self, held: &BackedBuffer) -> bool {
        self.access == HostAccess::Direct || held.usage != Usage::DeviceOnly
    }

    /// Frees a buffer once no submission uses it. A handle that is not alive is ignored.
    pub(super) fn free(&mut self, buffer: Buffer, done: u64) {
        if self.held(buffer).is_some() {
            if let Some(held) = &mut self.slots[buffer.index() as usize].held {
                held.freed = true;
            }
            self.release(done);
        }
    }

    /// Destroys freed buffers whose last submission is done.
    pub(super) fn release(&mut self, done: u64) {
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            if let Some(held) = slot.held.take_if(|held| held.freed && held.last_use <= done) {
                slot.generation = slot.generation.wrapping_add(1);
                self.empty_slots.push(index as u32);
                self.destroy(held);
            }
        }
    }

    fn destroy(&mut self, held: BackedBuffer) {
        // SAFETY: `release` passes only buffers whose last submission is done, and `close` runs after the queue was
        // waited for or before anything was submitted; both take the buffer out of its slot, so it is destroyed once.
        unsafe { self.shared.raw.destroy_buffer(held.raw, None) };
        self.buffer_bytes.remove(MemoryCategory::of(held.name), held.block.bytes());
        self.keep_spare(held);
    }

    /// Leaks all memory, which a hanging device may still use.
    pub(super) fn forget(&mut self) {
        std::mem::forget(self.allocator.take());
    }

    /// Destroys all buffers, and returns the names of those that were not freed.
    pub(super) fn close(&mut self) -> Vec<&'static str> {
        let held: Vec<BackedBuffer> = self.slots.iter_mut().filter_map(|slot| slot.held.take()).collect();
        let leaked = held.iter().filter(|held| !held.freed).map(|held| held.name).collect();
        held.into_iter().for_each(|held| self.destroy(held));
        self.give_up_spares(u64::MAX);
        self.allocator = None;
        leaked
    }
}

fn span(range: BufferRange) -> std::ops::Range<usize> {
    // Both fit: the buffer is mapped into this process.
    range.offset as usize..(range.offset + range.bytes) as usize
}

/// Returns the size of the buffer that holds `bytes` bytes: enough for a view of them all, and never a power of two,
/// because lavapipe compiles a kernel again for a buffer whose size is a power of two, if that of the one before was
/// not.
pub fn created_bytes(bytes: u64) -> u64 {
    let created = viewed_bytes(bytes);
    if created.is_power_of_two() { created + VIEW_SLACK / 2 } else { created }
}

/// Returns the bytes that may be asked for where `free` bytes are free: the buffer is no larger.
pub fn fitting_bytes(free: u64) -> u64 {
    free.saturating_sub(2 * VIEW_SLACK)
}

#[cfg(test)]
mod tests {
    use super::{VIEW_SLACK, created_bytes, fitting_bytes, viewed_bytes};

    #[test]
    fn no_buffer_has_a_power_of_two() {
        for bytes in
            (0..36).flat_map(|shift| [-1024, -768, -512, -256, -1, 0, 1].map(|more| (1024_i64 << shift) + more))
        {
            let created = created_bytes(bytes as u64);
            assert!(!created.is_power_of_two() && created >= viewed_bytes(bytes as u64), "{bytes}: {created}");
            assert!(created_bytes(fitting_bytes(bytes as u64)) <= (bytes as u64).max(2 * VIEW_SLACK), "{bytes}");
        }
    }
}
