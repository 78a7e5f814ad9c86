//! Memory that buffers are bound to.

use ash::vk;
use gpu_allocator::vulkan::Allocation;

/// A piece of device memory.
pub(super) enum BufferMemory {
    /// A part of the allocator's memory, which is mapped where the host can see it.
    Managed(Allocation),
    /// Memory of its own that is never mapped. A capture tool copies all mapped memory at each submission.
    Unmapped {
        /// The whole memory.
        memory: vk::DeviceMemory,
        /// Its size.
        bytes: u64,
    },
}

impl BufferMemory {
    /// Returns the memory that the block is a part of, and where in it the block begins.
    pub(super) fn place(&self) -> (vk::DeviceMemory, u64) {
        match self {
            // SAFETY: the memory is only bound to buffers, never freed: `Memory::give_back` gives the block to the
            // allocator.
            Self::Managed(allocation) => (unsafe { allocation.memory() }, allocation.offset()),
            Self::Unmapped { memory, .. } => (*memory, 0),
        }
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Managed(allocation) => allocation.size(),
            Self::Unmapped { bytes, .. } => *bytes,
        }
    }

    /// Returns its bytes, if it is mapped.
    pub(super) fn mapped(&self) -> Option<&[u8]> {
        match self {
            Self::Managed(allocation) => allocation.mapped_slice(),
            Self::Unmapped { .. } => None,
        }
    }

    /// Returns its bytes for writing, if it is mapped.
    pub(super) fn mapped_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Managed(allocation) => allocation.mapped_slice_mut(),
            Self::Unmapped { .. } => None,
        }
    }
}
