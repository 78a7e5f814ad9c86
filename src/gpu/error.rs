//! What can go wrong with devices, and what to do about it.

use std::fmt;
use std::time::Duration;

/// How an opened device is called in messages: its number among the opened ones and the driver's name for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDeviceTitle {
    /// Number among the opened devices, from 0.
    pub number: u32,
    /// The driver's name for it.
    pub name: String,
}

impl fmt::Display for OpenDeviceTitle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {} ({})", self.number, self.name)
    }
}

/// Trouble with Vulkan or one of its devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is no Vulkan loader on this machine.
    #[error("the Vulkan loader could not be opened: {reason}")]
    NoLoader {
        /// The dynamic linker's words.
        reason: String,
    },
    /// The loader refused to start.
    #[error("Vulkan could not be started: {reason}")]
    NoInstance {
        /// Vulkan's result code.
        reason: String,
    },
    /// Validation was asked for and its layer is not installed.
    #[error("the validation layer VK_LAYER_KHRONOS_validation is not installed")]
    NoValidationLayer,
    /// The loader found no driver with a device.
    #[error("Vulkan found no device")]
    NoDevice,
    /// There are devices, but none with what anthill needs.
    #[error("no Vulkan device has what anthill needs: {}", lacks.join("; "))]
    NoUsableDevice {
        /// A line a device: its name and what it lacks.
        lacks: Vec<String>,
    },
    /// A device selection names nothing.
    #[error("there is no device {asked:?} (known: {})", known.join(", "))]
    UnknownDevice {
        /// The part of the selection that fits no device.
        asked: String,
        /// `index name` of every device.
        known: Vec<String>,
    },
    /// A selected device lacks something.
    #[error("device {index} ({name}) cannot be used: it lacks {}", lacking.join(", "))]
    Lacking {
        /// Index in the list of physical devices.
        index: usize,
        /// The driver's name for it.
        name: String,
        /// Features and limits.
        lacking: Vec<String>,
    },
    /// The share of device memory that the user granted is used up, or the driver has no more.
    #[error("{device}: no memory for {} of {name}: {} of {} are in use", mib(*asked_bytes), mib(*used_bytes), mib(*budget_bytes))]
    OutOfMemory {
        /// The device.
        device: OpenDeviceTitle,
        /// What the memory was for.
        name: &'static str,
        /// Bytes asked for.
        asked_bytes: u64,
        /// Bytes taken from the driver so far.
        used_bytes: u64,
        /// The user's limit.
        budget_bytes: u64,
    },
    /// The user grants so little memory that not even an idle device fits.
    #[error("{device} may use {} of memory and needs {} before anything is drawn", mib(*budget_bytes), mib(*needed_bytes))]
    TooLittleMemory {
        /// The device.
        device: OpenDeviceTitle,
        /// Bytes that an idle device takes.
        needed_bytes: u64,
        /// The user's limit.
        budget_bytes: u64,
    },
    /// The driver ran out of memory of its own, the device's or the host's.
    #[error("{device}: the driver has no memory left for {doing}")]
    DriverOutOfMemory {
        /// The device.
        device: OpenDeviceTitle,
        /// What was tried.
        doing: String,
    },
    /// One buffer or memory block larger than the device permits.
    #[error("{device}: {name} of {} is larger than the device permits ({})", mib(*asked_bytes), mib(*limit_bytes))]
    TooLarge {
        /// The device.
        device: OpenDeviceTitle,
        /// What was asked for.
        name: &'static str,
        /// Bytes asked for.
        asked_bytes: u64,
        /// The device's limit.
        limit_bytes: u64,
    },
    /// The device is gone: reset, hung or unplugged. Nothing more can be done with it.
    #[error("{device} was lost while {doing}")]
    Lost {
        /// The device.
        device: OpenDeviceTitle,
        /// What was going on.
        doing: String,
    },
    /// Something took longer than it may.
    #[error("{device} did not finish {waited_for} within {} s", timeout.as_secs_f64())]
    Timeout {
        /// The device.
        device: OpenDeviceTitle,
        /// What was waited for.
        waited_for: String,
        /// How long.
        timeout: Duration,
    },
    /// A kernel cannot be used on this device.
    #[error("{device}: kernel {kernel} cannot be used: {reason}")]
    Kernel {
        /// The device.
        device: OpenDeviceTitle,
        /// The kernel's label.
        kernel: String,
        /// Why.
        reason: String,
    },
    /// A recording asks for something that this device does not permit: a mistake of the program, found before it reaches the driver.
    #[error("{device}: recording {recording:?} is not valid: {reason}")]
    Recording {
        /// The device.
        device: OpenDeviceTitle,
        /// The recording's label.
        recording: String,
        /// What and why.
        reason: String,
    },
    /// The host wants to read or write memory that it cannot.
    #[error("{device}: the host cannot reach {range}: {reason}")]
    NotReachable {
        /// The device.
        device: OpenDeviceTitle,
        /// Part of which buffer.
        range: String,
        /// Why.
        reason: &'static str,
    },
    /// What a device should take is not to be had from the host.
    #[error("{device}: no data for it: {reason}")]
    Source {
        /// The device.
        device: OpenDeviceTitle,
        /// What is wrong with the source.
        reason: String,
    },
    /// Any other refusal of Vulkan.
    #[error("{device}: {doing} failed: {reason}")]
    Vulkan {
        /// The device.
        device: OpenDeviceTitle,
        /// What was tried.
        doing: String,
        /// Vulkan's result code.
        reason: String,
    },
    /// Single-threaded CPU devices were asked for when it was too late to ask the driver for them.
    #[error("single-threaded CPU devices must be asked for before the program starts threads")]
    ThreadsAlreadyRun,
}

/// Bytes for people.
fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

impl GpuError {
    /// What the user can do about it; empty when there is nothing to say.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoLoader { .. } => {
                "install the Vulkan loader and a driver: libvulkan1 and mesa-vulkan-drivers on Debian and Ubuntu"
            }
            Self::NoInstance { .. } | Self::NoDevice => {
                "install a Vulkan driver: your GPU vendor's, or mesa-vulkan-drivers, which also brings a CPU device"
            }
            Self::NoValidationLayer => "install vulkan-validationlayers, or leave out --validate",
            Self::NoUsableDevice { .. } | Self::Lacking { .. } => {
                "`anthill devices` lists every device with what it lacks; a newer driver may help, and mesa-vulkan-drivers brings \
                 a CPU device that has everything"
            }
            Self::UnknownDevice { .. } => {
                "give `all`, `alike`, or a list of indices and parts of names, such as 0,1 or nvidia; `anthill devices` lists them"
            }
            Self::TooLittleMemory { .. } => {
                "give it more with --memory: 16M draw small scenes, the more the faster; without the flag it is three quarters of what \
                 the device has"
            }
            Self::Timeout { .. } => "if it only needs longer, --timeout gives it more time",
            Self::Source { .. } => "name a folder on another disk for temporary files with TMPDIR",
            Self::OutOfMemory { .. } => "give the device more with --memory, if it has more",
            Self::ThreadsAlreadyRun => "set LP_NUM_THREADS=0 in the environment instead",
            _ => "",
        }
    }

    /// Whether the device should be opened anew, or its work be done by others: it is gone, hangs, or its driver refuses.
    pub fn ends_device(&self) -> bool {
        matches!(self, Self::Lost { .. } | Self::Timeout { .. } | Self::DriverOutOfMemory { .. } | Self::Vulkan { .. })
    }

    /// Whether no device can be used at all, as opposed to trouble with one that was.
    pub fn is_no_usable_device(&self) -> bool {
        matches!(
            self,
            Self::NoLoader { .. }
                | Self::NoInstance { .. }
                | Self::NoValidationLayer
                | Self::NoDevice
                | Self::NoUsableDevice { .. }
                | Self::UnknownDevice { .. }
                | Self::Lacking { .. }
        )
    }
}
