//! Vulkan: the only folder that names it, and the only one with unsafe code (the single file `src/heap.rs` apart).
//!
//! A host thread opens devices ([`open`]), allocates buffers, and submits recordings
//! ([`crate::pipeline::recording::Recording`]) to a [`Device`]; compiling threads work behind it. [`Device`] and the
//! instance inside it are the only owners: buffers, tickets and kernels are handles that stay harmless when what they
//! stand for is gone.

#![allow(unsafe_code)]

mod as_gpu;
mod breadcrumbs;
mod buffer_memory;
mod cache;
mod capture;
mod capture_kernels;
mod check;
mod command_times;
mod compile;
mod compile_log;
mod device;
mod device_fault;
mod driver_cache;
mod empty_dispatch;
mod encode;
mod error;
mod execute;
mod fault;
mod frame_boundary;
mod glsl_lines;
mod instance;
mod kept;
mod kernel;
mod memory;
mod mutant;
mod open;
mod physical;
mod pipeline;
mod precompile;
mod profile;
mod requirements;
mod select;
mod shared;
mod specialise;
mod spirv_words;
mod storage_form;
mod submission_resources;
mod threads;
mod tools;
mod trail;
mod transfer;

pub use as_gpu::AsGpu;
pub use cache::default_cache_folder;
pub use capture::{Capture, CaptureError, capture_layer};
pub use command_times::{CommandKind, CommandTime, CommandTimes, CommandTotal, DeviceTimes, SubmissionTimes};
pub use compile_log::{CompileLog, CompiledKernel, Compiling};
pub use device::{Device, OpenOptions};
pub use driver_cache::avoid_full_driver_cache;
pub use error::{GpuError, MORE_TIME, OpenDeviceTitle};
pub use execute::Ticket;
pub use fault::{Fault, FaultKind, Faults};
pub use kept::KeptDevices;
pub use kernel::KernelCounts;
pub use memory::{BLOCK_BYTES, MemoryUse, Usage, created_bytes, fitting_bytes};
pub use mutant::Mutant;
pub use open::{Opening, open, open_each, reopen};
pub use physical::{DeviceInfo, DeviceKind, MissingRequirement, devices};
pub use profile::StageTime;
pub use requirements::SHADER_CLOCK;
pub use select::select;
pub use specialise::specialised;
pub use threads::single_threaded_cpu_devices;
pub use tools::DeviceTools;
pub use trail::Breadcrumbs;
pub use transfer::STAGING_BUFFERS;
