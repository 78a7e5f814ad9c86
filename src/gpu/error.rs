//! Errors of Vulkan and its devices, with hints for the user.

use crate::stats::human_bytes;
use std::fmt;
use std::time::Duration;

/// The hint for a device that made no progress.
pub const MORE_TIME: &str = "if the device is only slow, give it more time with --timeout";

/// The name of an opened device in messages: its number and the driver's name for it.
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

/// A failure of Vulkan or of one of its devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is no Vulkan loader on this machine.
    #[error("the Vulkan loader could not be opened: {reason}")]
    NoLoader {
        /// The message of the dynamic linker.
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
    /// RenderDoc's layer is listed, but the loader cannot use it.
    #[error("RenderDoc's Vulkan layer could not be loaded: {reason}")]
    NoCaptureLayer {
        /// Vulkan's result code.
        reason: String,
    },
    /// The loader found no driver with a device.
    #[error("Vulkan found no device")]
    NoDevice,
    /// There are devices, but none with what anthill needs.
    #[error("no Vulkan device has what anthill needs: {}", lacks.join("; "))]
    NoUsableDevice {
        /// One line for each device: its name and what it lacks.
        lacks: Vec<String>,
    },
    /// Part of a device selection matches no device.
    #[error("there is no device {asked:?} (known: {})", known.join(", "))]
    UnknownDevice {
        /// The part of the selection that matches no device.
        asked: String,
        /// `index name` of every device.
        known: Vec<String>,
    },
    /// A selected device lacks features or limits that anthill needs.
    #[error("device {index} ({name}) cannot be used: it lacks {}", lacking.join(", "))]
    Lacking {
        /// Index in the list of physical devices.
        index: usize,
        /// The driver's name for it.
        name: String,
        /// The missing features and limits.
        lacking: Vec<String>,
    },
    /// The device memory that the user allowed is used up, or the driver has no more.
    #[error("{device}: {}", no_memory(*asked_bytes, name, [*used_bytes, *budget_bytes]))]
    OutOfMemory {
        /// The device.
        device: OpenDeviceTitle,
        /// What the memory was needed for.
        name: &'static str,
        /// Bytes asked for.
        asked_bytes: u64,
        /// Bytes taken from the driver so far.
        used_bytes: u64,
        /// The user's limit.
        budget_bytes: u64,
    },
    /// The user allows less memory than an idle device needs.
    #[error("{device} may use {} of memory but needs {} before anything is drawn", human_bytes(*budget_bytes), human_bytes(*needed_bytes))]
    TooLittleMemory {
        /// The device.
        device: OpenDeviceTitle,
        /// Bytes that an idle device needs.
        needed_bytes: u64,
        /// The user's limit.
        budget_bytes: u64,
    },
    /// The driver itself ran out of device or host memory.
    #[error("{device}: the driver ran out of memory while {doing}")]
    DriverOutOfMemory {
        /// The device.
        device: OpenDeviceTitle,
        /// What was being done, such as `making a buffer`.
        doing: String,
    },
    /// A buffer or memory block is larger than the device permits.
    #[error("{device}: {name} of {} is larger than the device permits ({})", human_bytes(*asked_bytes), human_bytes(*limit_bytes))]
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
    #[error("{device} was lost while {doing}{found}")]
    Lost {
        /// The device.
        device: OpenDeviceTitle,
        /// What was being done, such as `waiting`.
        doing: String,
        /// What is known of where the device was and why, such as `; it was in hide: 37 grids`; empty if nothing is.
        found: String,
    },
    /// Something took longer than it was allowed to.
    #[error("{device} did not finish {waited_for} within {} s", timeout.as_secs_f64())]
    Timeout {
        /// The device.
        device: OpenDeviceTitle,
        /// What was waited for.
        waited_for: String,
        /// The time that was allowed.
        timeout: Duration,
    },
    /// The user stopped the render while this was waited for.
    #[error("{device}: interrupted while {doing}")]
    Interrupted {
        /// The device.
        device: OpenDeviceTitle,
        /// What was being done, such as `compiling kernel dice`.
        doing: String,
    },
    /// A kernel cannot be used on this device.
    #[error("{device}: kernel {kernel} cannot be used: {reason}")]
    Kernel {
        /// The device.
        device: OpenDeviceTitle,
        /// The kernel's label.
        kernel: String,
        /// Why the kernel cannot be used.
        reason: String,
    },
    /// A recording contains something that this device does not permit: a bug of the program, found before it reaches
    /// the driver.
    #[error("{device}: recording {recording:?} is not valid: {reason}")]
    Recording {
        /// The device.
        device: OpenDeviceTitle,
        /// The recording's label.
        recording: String,
        /// The command that is not valid, and why.
        reason: String,
    },
    /// The host asked for memory that it cannot read or write.
    #[error("{device}: the host cannot access {range}: {reason}")]
    NotReachable {
        /// The device.
        device: OpenDeviceTitle,
        /// The buffer and the range in it.
        range: String,
        /// Why the host cannot access it.
        reason: &'static str,
    },
    /// Data for a device could not be read on the host.
    #[error("{device}: its input data could not be read: {reason}")]
    Source {
        /// The device.
        device: OpenDeviceTitle,
        /// What went wrong when reading it.
        reason: String,
    },
    /// Any other error that Vulkan returned.
    #[error("{device}: {doing} failed: {reason}")]
    Vulkan {
        /// The device.
        device: OpenDeviceTitle,
        /// What was being done, such as `making a buffer`.
        doing: String,
        /// Vulkan's result code.
        reason: String,
    },
    /// Single-threaded CPU devices were requested too late to configure the driver.
    #[error("single-threaded CPU devices must be requested before the program starts threads")]
    ThreadsAlreadyRun,
}

/// Returns what the message of [`GpuError::OutOfMemory`] says after the device: whether the user's limit is reached, or
/// the driver has no more.
fn no_memory(asked_bytes: u64, name: &str, [used_bytes, budget_bytes]: [u64; 2]) -> String {
    let [asked, used, budget] = [asked_bytes, used_bytes, budget_bytes].map(human_bytes);
    match is_within(asked_bytes, used_bytes, budget_bytes) {
        true => format!("the driver has no memory for {asked} of {name}, while {used} of {budget} are in use"),
        false => format!("no memory for {asked} of {name}: {used} of {budget} are in use"),
    }
}

/// Whether the user's limit allows what the driver has no memory for.
fn is_within(asked_bytes: u64, used_bytes: u64, budget_bytes: u64) -> bool {
    used_bytes.saturating_add(asked_bytes) <= budget_bytes
}

/// Whether the system limits the addresses of this process, among which drivers have to find room.
#[cfg(target_os = "linux")]
fn is_address_space_limited() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::As).current.is_some()
}

#[cfg(not(target_os = "linux"))]
fn is_address_space_limited() -> bool {
    false
}

impl GpuError {
    /// Returns what the user can do about the error; empty if nothing.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoLoader { .. } | Self::NoInstance { .. } | Self::NoDevice if is_address_space_limited() => {
                "the memory of this process is limited (`ulimit -v`), and a driver that finds no room in it does not load: \
                 raise that limit, or limit the resident memory (a control group) instead; if no driver is installed, \
                 install the Vulkan loader (libvulkan1) and your GPU vendor's driver, or mesa-vulkan-drivers, which also \
                 provides a CPU device"
            }
            Self::NoLoader { .. } => {
                "install the Vulkan loader and a driver: libvulkan1 and mesa-vulkan-drivers on Debian and Ubuntu"
            }
            Self::NoInstance { .. } | Self::NoDevice => {
                "install a Vulkan driver: your GPU vendor's, or mesa-vulkan-drivers, which also provides a CPU device"
            }
            Self::NoValidationLayer => "install vulkan-validationlayers, or leave out --validate",
            Self::NoCaptureLayer { .. } => {
                "its library may be missing, damaged or for another processor: install RenderDoc again"
            }
            Self::NoUsableDevice { .. } | Self::Lacking { .. } => {
                "`anthill devices` lists what each device lacks; a newer driver may help, and mesa-vulkan-drivers provides a CPU \
                 device that lacks nothing"
            }
            Self::UnknownDevice { .. } => {
                "give `all`, `alike`, or a list of indices and parts of names, such as 0,1 or nvidia; `anthill devices` lists them"
            }
            Self::TooLittleMemory { .. } => {
                "give it more with --memory: 16M is enough for small scenes, and more is faster; the default is three quarters of \
                 the device's memory"
            }
            Self::Timeout { .. } => MORE_TIME,
            Self::Lost { found, .. } if found.is_empty() => {
                "with --breadcrumbs always, the message names the kernel that the device was in"
            }
            Self::Source { .. } => "set TMPDIR to a folder on another disk for temporary files",
            Self::OutOfMemory { asked_bytes, used_bytes, budget_bytes, .. }
                if is_within(*asked_bytes, *used_bytes, *budget_bytes) =>
            {
                "other programs use the device's memory, or the memory of this process is limited (`ulimit -v`)"
            }
            Self::OutOfMemory { .. } => "give the device more with --memory, if it has more",
            Self::ThreadsAlreadyRun => "set LP_NUM_THREADS=0 in the environment instead",
            _ => "",
        }
    }

    /// Whether the device can no longer be used as it is, because it is lost, hangs, or its driver fails: it should be
    /// opened again, or its work be given to other devices.
    pub fn ends_device(&self) -> bool {
        matches!(self, Self::Lost { .. } | Self::Timeout { .. } | Self::DriverOutOfMemory { .. } | Self::Vulkan { .. })
    }

    /// Whether the render is being stopped, so that this is no failure.
    pub fn is_interruption(&self) -> bool {
        matches!(self, Self::Interrupted { .. })
    }

    /// Whether no device could be used at all, as opposed to a failure of one that was in use.
    pub fn is_no_usable_device(&self) -> bool {
        matches!(
            self,
            Self::NoLoader { .. }
                | Self::NoInstance { .. }
                | Self::NoValidationLayer
                | Self::NoCaptureLayer { .. }
                | Self::NoDevice
                | Self::NoUsableDevice { .. }
                | Self::UnknownDevice { .. }
                | Self::Lacking { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_limit_and_the_drivers_are_told_apart() {
        let of = |asked_bytes: u64, used_bytes: u64| {
            let device = OpenDeviceTitle { number: 0, name: "a".into() };
            let error =
                GpuError::OutOfMemory { device, name: "a list", asked_bytes, used_bytes, budget_bytes: 64 << 20 };
            (error.to_string(), error.hint())
        };
        let (said, hint) = of(48 << 20, 32 << 20);
        assert_eq!(said, "device 0 (a): no memory for 48.0 MiB of a list: 32.0 MiB of 64.0 MiB are in use");
        assert!(hint.contains("--memory"), "{hint}");
        let (said, hint) = of(256, 0);
        let driver = "device 0 (a): the driver has no memory for 256 B of a list, while 0 B of 64.0 MiB are in use";
        assert_eq!(said, driver);
        assert!(hint.contains("ulimit -v"), "{hint}");
    }
}
