//! Why a device cannot draw a picture, or can no longer.

use crate::gpu::GpuError;
use crate::render::device::memory::MemoryNeeds;
use crate::render::grids::list::ListError;

/// Why a device could not go on with a picture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeviceError {
    /// The device or its driver failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The list of grids on the host could not be stored or read.
    #[error(transparent)]
    List(#[from] ListError),
    /// The device's limit is too small for the picture.
    #[error("{device} may use {limit} of memory and needs {}{} MiB for this picture: {needs}", if *.counted { "" } else { "more than " }, needs.mib())]
    TooLittleMemory {
        /// The device, as messages name it.
        device: String,
        /// The device's limit.
        limit: String,
        /// What the picture needs at least.
        needs: MemoryNeeds,
        /// Whether `needs` includes the list of grids, whose length is unknown until grids are counted.
        counted: bool,
    },
}

impl DeviceError {
    /// Whether the device has to be opened again before it can be used.
    pub(crate) fn ends_device(&self) -> bool {
        matches!(self, Self::Gpu(error) if error.ends_device())
    }

    /// Whether the device was lost, or makes no progress.
    pub(crate) fn is_lost_or_hangs(&self) -> bool {
        matches!(self, Self::Gpu(GpuError::Lost { .. } | GpuError::Timeout { .. }))
    }

    /// Whether the render is being stopped, so that this is no failure.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, Self::Gpu(error) if error.is_interruption())
            || matches!(self, Self::List(ListError::Interrupted))
    }

    /// Returns what the user can do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Gpu(error) => error.hint(),
            Self::List(error) => error.hint(),
            Self::TooLittleMemory { .. } => "give it that much with --memory, or open fewer devices on the same memory",
        }
    }
}
