//! Breadcrumbs: two words in which a device writes, after each command, how far it has come.

use super::error::GpuError;
use super::shared::DeviceShared;
use ash::vk;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of the words: the number of a submission, of which the lower half counts, and how many of its commands are
/// done.
const BYTES: u64 = 8;

/// The memory that holds the words. The host sees it without being told, even if the device never answers again.
pub(super) struct CrumbBuffer {
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    words: NonNull<[AtomicU32; 2]>,
}

// SAFETY: the words are only read on the host, atomically, and the handles are only used with the device that outlives
// them.
unsafe impl Send for CrumbBuffer {}

impl CrumbBuffer {
    /// Makes the memory, which no limit counts: it is 8 bytes.
    pub(super) fn new(shared: &DeviceShared, types: &vk::PhysicalDeviceMemoryProperties) -> Result<Self, GpuError> {
        let raw = &shared.raw;
        let info = vk::BufferCreateInfo::default().size(BYTES).usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the caller has just created the device, and only it destroys it.
        let buffer = shared.check("making breadcrumbs", unsafe { raw.create_buffer(&info, None) })?;
        // SAFETY: the buffer was created above.
        let requirements = unsafe { raw.get_buffer_memory_requirements(buffer) };
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let fits = |index: &u32| {
            let flags = types.memory_types[*index as usize].property_flags;
            requirements.memory_type_bits >> index & 1 == 1 && flags.contains(wanted)
        };
        let kind = (0..types.memory_type_count).find(fits).expect("Vulkan demands such memory for every buffer");
        let info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(kind);
        // SAFETY: the type is one of the device's. The memory is bound once, to a buffer whose requirements chose its
        // type and size, and mapped once, whole; it has room for the two words, and its start is aligned for them.
        let made = unsafe {
            raw.allocate_memory(&info, None).and_then(|memory| {
                let mapped = raw
                    .bind_buffer_memory(buffer, memory, 0)
                    .and_then(|()| raw.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()));
                match mapped {
                    Ok(words) => {
                        words.cast::<[u32; 2]>().write([0; 2]);
                        Ok((memory, NonNull::new_unchecked(words.cast())))
                    }
                    Err(error) => {
                        raw.free_memory(memory, None);
                        Err(error)
                    }
                }
            })
        };
        if made.is_err() {
            // SAFETY: the buffer was created above, and nothing uses it.
            unsafe { raw.destroy_buffer(buffer, None) };
        }
        let (memory, words) = shared.check("making breadcrumbs", made)?;
        shared.name(buffer, "breadcrumbs");
        Ok(Self { buffer, memory, words })
    }

    /// Returns the lower half of the number of the last submission that began, and how many of its commands are done.
    pub(super) fn read(&self) -> (u32, u32) {
        // SAFETY: the memory is mapped until `destroy` takes `self`.
        let [submission, done] = unsafe { self.words.as_ref() };
        (submission.load(Ordering::Acquire), done.load(Ordering::Acquire))
    }

    /// Frees the memory. The device must be idle.
    pub(super) fn destroy(self, shared: &DeviceShared) {
        // SAFETY: `new` created both from this device, which is idle; freeing memory also ends its mapping.
        unsafe {
            shared.raw.destroy_buffer(self.buffer, None);
            shared.raw.free_memory(self.memory, None);
        }
    }
}
