//! The physical devices of this machine: their properties, features and limits, and what they lack.

use super::error::GpuError;
use super::instance::{Instance, Layers};
use super::memory::BLOCK_BYTES;
use super::profile::DeviceClock;
use super::requirements::{FEATURES, Features, LIMITS, NeededFor, SUBGROUP_OPERATIONS};
use super::tools::DeviceTools;
use crate::diagnostic::Reporter;
use ash::{ext, khr, nv, vk};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

/// The type of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// A driver that computes on the host's processor.
    Cpu,
    /// Any other device.
    Other,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete GPU",
            Self::Integrated => "integrated GPU",
            Self::Virtual => "virtual GPU",
            Self::Cpu => "CPU",
            Self::Other => "other",
        })
    }
}

/// A feature or limit that anthill needs and a device does not offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingRequirement {
    /// Vulkan's name of the feature or limit.
    pub name: &'static str,
    /// What is needed.
    pub needed: String,
    /// What the device has.
    pub has: String,
    /// What it is needed for.
    pub reason: &'static str,
    /// Whether no kernel can be run without it; otherwise only rendering is impossible.
    pub fatal: bool,
}

impl MissingRequirement {
    /// Returns the name, and for a limit also the needed and the actual value.
    pub fn what(&self) -> String {
        if self.has == NOT_OFFERED {
            return self.name.to_string();
        }
        format!("{} (needs {}, has {})", self.name, self.needed, self.has)
    }
}

/// The value of `has` for a feature that a device does not offer.
const NOT_OFFERED: &str = "not offered";

/// A physical device.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceInfo {
    /// The index that `--devices` takes; it is the same in every run as long as drivers and GPUs do not change.
    pub index: usize,
    /// The driver's name for it.
    pub name: String,
    /// The type of the device.
    pub kind: DeviceKind,
    /// The driver's name.
    pub driver: String,
    /// The driver's version as its vendor writes it.
    pub driver_info: String,
    /// The driver's version as a number.
    pub driver_version: u32,
    /// The Vulkan version.
    pub api_version: String,
    /// The PCI vendor ID.
    pub vendor_id: u32,
    /// The vendor's number for the model.
    pub device_id: u32,
    /// The PCI address, if the driver reports it; it is equal for one GPU seen through two drivers.
    pub pci: Option<String>,
    /// The UUID of the device in hexadecimal digits; CPU drivers give all their devices the same.
    pub uuid: String,
    /// The UUID of the driver's pipeline caches, in hexadecimal digits.
    pub cache_uuid: String,
    /// Bytes of the largest heap of device memory.
    pub memory_bytes: u64,
    /// Whether the host can access all of that memory, so that no data has to be copied.
    pub host_visible: bool,
    /// Number of invocations in a subgroup.
    pub subgroup_size: u32,
    /// Nanoseconds per tick of the device's clock; 0 if it has none.
    pub timestamp_ns: f32,
    /// What tools find on it, if it was listed to be described.
    pub tools: DeviceTools,
    /// The features that anthill knows, and whether the device offers them.
    pub features: BTreeMap<&'static str, bool>,
    /// The limits that anthill checks.
    pub limits: BTreeMap<&'static str, u64>,
    /// Size in bytes of the largest memory block.
    pub allocation_bytes_max: u64,
    /// What the device lacks; empty if it can render.
    pub lacking: Vec<MissingRequirement>,
    /// Whether the device can render.
    pub usable: bool,
}

impl DeviceInfo {
    /// Whether two devices have the same model and driver, so that they compute the same bits.
    pub fn is_like(&self, other: &Self) -> bool {
        // CPU drivers report their version only in the text.
        let driver = |d: &Self| (d.driver_version, d.driver.clone(), d.driver_info.clone());
        let identity = |d: &Self| (d.vendor_id, d.device_id, d.name.clone());
        identity(self) == identity(other) && driver(self) == driver(other)
    }

    /// Whether another listing of this machine's devices means the same device by `other`: GPUs keep their UUID when
    /// another is unplugged, devices of CPU drivers have nothing but their index.
    pub fn is_same(&self, other: &Self) -> bool {
        let place = if self.is_gpu() { self.uuid == other.uuid } else { self.index == other.index };
        place && self.is_like(other)
    }

    /// Whether the device is a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self.kind, DeviceKind::Discrete | DeviceKind::Integrated | DeviceKind::Virtual)
    }

    /// Whether the device offers the feature of this Vulkan name. Features that anthill does not know count as missing.
    pub fn has(&self, feature: &str) -> bool {
        self.features.get(feature).copied().unwrap_or(false)
    }
}

/// A physical device, with what is needed to open it.
#[derive(Clone)]
pub(super) struct Physical {
    pub(super) raw: vk::PhysicalDevice,
    pub(super) info: DeviceInfo,
    pub(super) limits: vk::PhysicalDeviceLimits,
    /// The queue family that will be used, if one can compute.
    pub(super) family: Option<u32>,
    /// That queue's clock.
    pub(super) clock: Option<DeviceClock>,
    /// Whether the driver can note checkpoints.
    pub(super) checkpoints: bool,
    /// Whether it says that kernels may have instructions for debuggers alone (VK_KHR_shader_non_semantic_info).
    pub(super) takes_debug_info: bool,
}

/// Returns every device that the loader finds, usable or not, in the loader's order.
///
/// # Errors
/// If there is no loader or driver, or a driver fails; having no device is not an error.
pub fn devices(validate: bool) -> Result<Vec<DeviceInfo>, GpuError> {
    let instance = Instance::new(Layers { validation: validate, capture: false }, &Arc::new(Reporter::silent()))?;
    let listed = enumerate(&instance)?
        .into_iter()
        .map(|physical| DeviceInfo { tools: DeviceTools::of(&instance, &physical), ..physical.info });
    Ok(listed.collect())
}

/// Returns the same as [`devices`], with handles that are valid for this instance.
pub(super) fn enumerate(instance: &Instance) -> Result<Vec<Physical>, GpuError> {
    // SAFETY: the reference to `instance` keeps the VkInstance alive during the call.
    let listed = unsafe { instance.raw().enumerate_physical_devices() };
    let raws = match listed {
        Ok(raws) => raws,
        // Loaders return these if they find no driver at all.
        Err(vk::Result::ERROR_INITIALIZATION_FAILED | vk::Result::ERROR_INCOMPATIBLE_DRIVER) => Vec::new(),
        Err(result) => return Err(GpuError::NoInstance { reason: result.to_string() }),
    };
    Ok(raws.into_iter().enumerate().map(|(index, raw)| inspect(instance.raw(), index, raw)).collect())
}

/// Queries the properties of a device.
fn inspect(instance: &ash::Instance, index: usize, raw: vk::PhysicalDevice) -> Physical {
    // SAFETY: `enumerate`, the only caller, has just listed `raw` from this instance.
    let basic = unsafe { instance.get_physical_device_properties(raw) };
    let current = basic.api_version >= vk::API_VERSION_1_2;
    let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
    let mut features = Features::default();
    // SAFETY: `enumerate`, the only caller, has just listed `raw` from this instance.
    let extensions = unsafe { instance.enumerate_device_extension_properties(raw) }.unwrap_or_default();
    let has = |name: &CStr| extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name));
    let has_pci = has(ext::pci_bus_info::NAME);
    if current {
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut v11).push_next(&mut v12);
        if has_pci {
            properties = properties.push_next(&mut pci);
        }
        // SAFETY: the device supports Vulkan 1.2 (`current`), and the PCI extension if its struct is chained
        // (`has_pci`); the chained structs are locals that outlive the call.
        unsafe { instance.get_physical_device_properties2(raw, &mut properties) };
        features = offered_features(instance, raw, has);
    }
    let family = compute_family(instance, raw);
    let limits = basic.limits;
    let clock = family.and_then(|family| clock(family.timestamp_bits, limits.timestamp_period));
    // SAFETY: `enumerate`, the only caller, has just listed `raw` from this instance.
    let memory = unsafe { instance.get_physical_device_memory_properties(raw) };
    let (memory_bytes, host_visible) = device_memory(&memory);
    let mut driver = DriverProperties {
        api: basic.api_version,
        computes: family.is_some(),
        features,
        limits,
        subgroup_size: v11.subgroup_size,
        votes: in_kernels(&v11, vk::SubgroupFeatureFlags::VOTE),
        memory_bytes,
        allocation_bytes_max: v11.max_memory_allocation_size,
    };
    let lacking = lacking(&mut driver);
    let mut features = driver.features;
    let info = DeviceInfo {
        index,
        name: name_or_index(text(basic.device_name_as_c_str().ok()), index),
        kind: kind(basic.device_type),
        driver: text(v12.driver_name_as_c_str().ok()),
        driver_info: text(v12.driver_info_as_c_str().ok()),
        driver_version: basic.driver_version,
        api_version: version(basic.api_version),
        vendor_id: basic.vendor_id,
        device_id: basic.device_id,
        pci: has_pci
            .then(|| format!("{:04x}:{:02x}:{:02x}.{}", pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function)),
        uuid: hexadecimal(&v11.device_uuid),
        cache_uuid: hexadecimal(&basic.pipeline_cache_uuid),
        memory_bytes,
        host_visible,
        subgroup_size: v11.subgroup_size,
        timestamp_ns: clock.map_or(0.0, |_| limits.timestamp_period),
        tools: DeviceTools::default(),
        features: offered(&mut features, &v11),
        limits: LIMITS.iter().map(|row| (row.name, (row.value)(&limits))).collect(),
        allocation_bytes_max: v11.max_memory_allocation_size,
        usable: lacking.is_empty(),
        lacking,
    };
    let checkpoints = has(nv::device_diagnostic_checkpoints::NAME);
    let takes_debug_info = has(khr::shader_non_semantic_info::NAME);
    Physical { raw, info, limits, family: family.map(|f| f.index), clock, checkpoints, takes_debug_info }
}

/// Returns the features of a device of Vulkan 1.2 that has these extensions.
fn offered_features(instance: &ash::Instance, raw: vk::PhysicalDevice, has: impl Fn(&CStr) -> bool) -> Features {
    let mut features = Features::default();
    let mut offered = vk::PhysicalDeviceFeatures2::default().push_next(&mut features.v12);
    if has(khr::shader_clock::NAME) {
        offered = offered.push_next(&mut features.clock);
    }
    if has(ext::device_fault::NAME) {
        offered = offered.push_next(&mut features.fault);
    }
    if has(ext::frame_boundary::NAME) {
        offered = offered.push_next(&mut features.boundary);
    }
    // SAFETY: `inspect`, the only caller, has found that the device supports Vulkan 1.2, to which one chained struct
    // belongs, and the extensions to which the others do if they are chained; all outlive the call.
    unsafe { instance.get_physical_device_features2(raw, &mut offered) };
    features.core = offered.features;
    features
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the features of the table, and operations of subgroups in kernels.
fn offered(features: &mut Features, v11: &vk::PhysicalDeviceVulkan11Properties<'_>) -> BTreeMap<&'static str, bool> {
    let table = FEATURES.iter().map(|row| (row.name, *(row.field)(features) == vk::TRUE));
    table.chain(SUBGROUP_OPERATIONS.iter().map(|(name, flag)| (*name, in_kernels(v11, *flag)))).collect()
}

/// Whether kernels may use an operation of subgroups.
fn in_kernels(v11: &vk::PhysicalDeviceVulkan11Properties<'_>, operation: vk::SubgroupFeatureFlags) -> bool {
    v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE)
        && v11.subgroup_supported_operations.contains(operation)
}

/// What a driver reports about a device; nothing is used before it is checked.
#[derive(Default)]
struct DriverProperties {
    api: u32,
    computes: bool,
    features: Features,
    limits: vk::PhysicalDeviceLimits,
    subgroup_size: u32,
    votes: bool,
    memory_bytes: u64,
    allocation_bytes_max: u64,
}

/// Returns what the device lacks of the table.
fn lacking(driver: &mut DriverProperties) -> Vec<MissingRequirement> {
    let DriverProperties { api, computes, features, limits, .. } = driver;
    let (api, computes) = (*api, *computes);
    let mut lacks = Vec::new();
    let mut lack = |name, needed: &str, has: String, reason, fatal| {
        lacks.push(MissingRequirement { name, needed: needed.to_string(), has, reason, fatal });
    };
    if api < vk::API_VERSION_1_2 {
        lack("Vulkan", "at least 1.2", version(api), "kernels are SPIR-V 1.5", true);
    }
    if !computes {
        lack("compute queue", "one", "none".to_string(), "every stage is a compute kernel", true);
    }
    for row in FEATURES.iter().filter(|row| row.needed_for != NeededFor::Nothing) {
        if *(row.field)(features) != vk::TRUE {
            lack(row.name, "offered", NOT_OFFERED.to_string(), row.reason, row.needed_for == NeededFor::Running);
        }
    }
    if !driver.votes {
        let reason = "neighbours that look for samples of what moves agree on when to test them";
        lack("subgroupVote", "offered", NOT_OFFERED.to_string(), reason, false);
    }
    let least = |name, value: u64, bound: u64, reason| (value < bound).then_some((name, value, bound, reason));
    let sizes = [
        least("device memory", driver.memory_bytes, BLOCK_BYTES, "geometry and pixels are kept in the device's memory"),
        least("maxMemoryAllocationSize", driver.allocation_bytes_max, BLOCK_BYTES, "memory is allocated in blocks"),
        least("subgroupSize", driver.subgroup_size.into(), 1, "a workgroup is made of subgroups"),
    ];
    for (name, value, bound, reason) in sizes.into_iter().flatten() {
        lack(name, &format!("at least {bound}"), value.to_string(), reason, true);
    }
    for row in LIMITS {
        let value = (row.value)(limits);
        if !row.bound.holds(value) {
            lack(row.name, &row.bound.text(), value.to_string(), row.reason, false);
        }
    }
    lacks
}

#[derive(Clone, Copy)]
struct QueueFamily {
    index: u32,
    timestamp_bits: u32,
}

/// Returns the clock of a queue whose timestamps have `bits` bits, with `tick_ns` nanoseconds per tick; `None` if these
/// make no sense.
fn clock(bits: u32, tick_ns: f32) -> Option<DeviceClock> {
    if !(tick_ns.is_finite() && tick_ns > 0.0) {
        return None;
    }
    let mask = u64::MAX.checked_shr(64_u32.checked_sub(bits)?)?;
    Some(DeviceClock { tick_s: f64::from(tick_ns) * 1e-9, mask })
}

/// Returns the queue family to use: one that computes, preferably one that also draws, since that is every driver's
/// best tested queue.
fn compute_family(instance: &ash::Instance, raw: vk::PhysicalDevice) -> Option<QueueFamily> {
    // SAFETY: `inspect` passes the device that `enumerate` has just listed from this instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(raw) };
    let computing = || (0_u32..).zip(&families).filter(|(_, f)| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let both = computing().find(|(_, f)| f.queue_flags.contains(vk::QueueFlags::GRAPHICS));
    let (index, family) = both.or_else(|| computing().next())?;
    Some(QueueFamily { index, timestamp_bits: family.timestamp_valid_bits })
}

/// Returns the size of the largest device-local heap, and whether the host can access the memory from which buffers are
/// allocated.
fn device_memory(memory: &vk::PhysicalDeviceMemoryProperties) -> (u64, bool) {
    let local = |flags: vk::MemoryHeapFlags| flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
    let bytes = memory.memory_heaps_as_slice().iter().filter(|heap| local(heap.flags)).map(|heap| heap.size).max();
    // The allocator takes the first type that is local to the device.
    let types = memory.memory_types_as_slice();
    let first = types.iter().find(|t| t.property_flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL));
    let visible = first.is_some_and(|t| t.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE));
    (bytes.unwrap_or(0), visible)
}

fn kind(kind: vk::PhysicalDeviceType) -> DeviceKind {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    }
}

/// Returns the driver's name for the device, or a substitute if it is blank.
fn name_or_index(name: String, index: usize) -> String {
    if name.trim().is_empty() { format!("unnamed device {index}") } else { name }
}

fn text(string: Option<&CStr>) -> String {
    string.map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

fn version(api: u32) -> String {
    let (major, minor, patch) = (vk::api_version_major(api), vk::api_version_minor(api), vk::api_version_patch(api));
    format!("{major}.{minor}.{patch}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the report of a driver that offers everything.
    fn good() -> DriverProperties {
        let mut features = Features::default();
        FEATURES.iter().for_each(|row| *(row.field)(&mut features) = vk::TRUE);
        let limits = vk::PhysicalDeviceLimits {
            max_storage_buffer_range: u32::MAX,
            max_texel_buffer_elements: u32::MAX,
            min_texel_buffer_offset_alignment: 16,
            max_per_stage_descriptor_sampled_images: 64,
            max_per_stage_descriptor_storage_buffers: u32::MAX,
            min_storage_buffer_offset_alignment: 16,
            max_compute_work_group_invocations: 1024,
            max_compute_work_group_size: [1024; 3],
            max_compute_work_group_count: [u32::MAX; 3],
            max_compute_shared_memory_size: 1 << 16,
            max_push_constants_size: 256,
            ..vk::PhysicalDeviceLimits::default()
        };
        let (api, bytes) = (vk::API_VERSION_1_3, 1 << 30);
        DriverProperties {
            api,
            computes: true,
            features,
            limits,
            subgroup_size: 32,
            votes: true,
            memory_bytes: bytes,
            allocation_bytes_max: bytes,
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_name() {
        assert!(lacking(&mut good()).is_empty());
        type Spoil = fn(&mut DriverProperties);
        let table: [(&str, Spoil); 11] = [
            ("maxTexelBufferElements", |driver| driver.limits.max_texel_buffer_elements = 65_536),
            ("Vulkan", |driver| driver.api = 0),
            ("compute queue", |driver| driver.computes = false),
            ("shaderInt64", |driver| driver.features.core.shader_int64 = vk::FALSE),
            ("maxComputeWorkGroupSize[0]", |driver| driver.limits.max_compute_work_group_size = [0; 3]),
            ("maxComputeWorkGroupInvocations", |driver| driver.limits.max_compute_work_group_invocations = 0),
            ("minStorageBufferOffsetAlignment", |driver| driver.limits.min_storage_buffer_offset_alignment = u64::MAX),
            ("subgroupSize", |driver| driver.subgroup_size = 0),
            ("subgroupVote", |driver| driver.votes = false),
            ("device memory", |driver| driver.memory_bytes = 0),
            ("maxMemoryAllocationSize", |driver| driver.allocation_bytes_max = 0),
        ];
        for (name, spoil) in table {
            let mut driver = good();
            spoil(&mut driver);
            let lacks = lacking(&mut driver);
            assert_eq!(lacks.iter().map(|lack| lack.name).collect::<Vec<_>>(), [name]);
            assert!(!lacks[0].needed.is_empty() && !lacks[0].reason.is_empty());
        }
        // A driver that reports nothing at all, and one without any heap.
        assert!(lacking(&mut DriverProperties::default()).len() > 10);
        assert_eq!(device_memory(&vk::PhysicalDeviceMemoryProperties::default()), (0, false));
    }

    #[test]
    fn clocks_that_make_no_sense_are_none_and_no_name_gets_one() {
        for tick in [f32::NAN, f32::INFINITY, 0.0, -1.0] {
            assert!(clock(64, tick).is_none(), "{tick}");
        }
        assert!(clock(0, 1.0).is_none() && clock(65, 1.0).is_none() && clock(u32::MAX, 1.0).is_none());
        assert!(clock(64, 1.0).is_some() && clock(36, 52.08).is_some());
        assert_eq!([name_or_index(" ".into(), 3), name_or_index("gpu".into(), 3)], ["unnamed device 3", "gpu"]);
    }
}
