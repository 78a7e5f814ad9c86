//! The table of the features and limits that anthill needs from a device, with reasons.

use crate::pipeline::recording::{
    BINDING_ALIGNMENT, BINDING_BYTES_MAX, BINDINGS_MAX, PUSH_BYTES_MAX, SHARED_BYTES_MAX, WORKGROUP_INVOCATIONS_MAX,
    WORKGROUPS_MAX, viewed_bytes,
};
use ash::{ext, khr, vk};
use std::ffi::CStr;

/// What a feature or limit is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NeededFor {
    /// It is needed to run any kernel.
    Running,
    /// It is needed to render; tests may open a device without it.
    Rendering,
    /// It is used if offered, but not needed.
    Nothing,
}

/// Features as Vulkan reports and enables them.
#[derive(Default)]
pub(super) struct Features {
    pub(super) core: vk::PhysicalDeviceFeatures,
    pub(super) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// Those of VK_KHR_shader_clock.
    pub(super) clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
    /// Those of VK_EXT_device_fault.
    pub(super) fault: vk::PhysicalDeviceFaultFeaturesEXT<'static>,
    /// Those of VK_EXT_frame_boundary.
    pub(super) boundary: vk::PhysicalDeviceFrameBoundaryFeaturesEXT<'static>,
}

/// The feature by which kernels read the clock of their subgroup.
pub const SHADER_CLOCK: &str = "shaderSubgroupClock";

/// The feature by which a driver says why a device was lost.
pub(super) const DEVICE_FAULT: &str = "deviceFault";

/// The feature by which submissions mark where frames end.
pub(super) const FRAME_BOUNDARY: &str = "frameBoundary";

/// A feature: its Vulkan name, what it is needed for and why, its field, and the extension that it belongs to.
pub(super) struct FeatureRow {
    pub(super) name: &'static str,
    pub(super) needed_for: NeededFor,
    pub(super) reason: &'static str,
    pub(super) field: fn(&mut Features) -> &mut vk::Bool32,
    /// `None` if it belongs to Vulkan 1.2.
    pub(super) extension: Option<&'static CStr>,
}

/// The features, in the order in which `anthill devices` lists them.
pub(super) const FEATURES: &[FeatureRow] = &[
    FeatureRow {
        name: "timelineSemaphore",
        needed_for: NeededFor::Running,
        reason: "one counter per queue records which submissions are done",
        field: |f| &mut f.v12.timeline_semaphore,
        extension: None,
    },
    FeatureRow {
        name: "shaderInt64",
        needed_for: NeededFor::Rendering,
        reason: "a depth key is depth and micropolygon number in one 64-bit word",
        field: |f| &mut f.core.shader_int64,
        extension: None,
    },
    FeatureRow {
        name: "shaderBufferInt64Atomics",
        needed_for: NeededFor::Rendering,
        reason: "the nearest micropolygon of a sample is an atomic minimum of depth keys",
        field: |f| &mut f.v12.shader_buffer_int64_atomics,
        extension: None,
    },
    FeatureRow {
        name: "shaderSampledImageArrayDynamicIndexing",
        needed_for: NeededFor::Nothing,
        reason: "texture tiles of several formats in one kernel",
        field: |f| &mut f.core.shader_sampled_image_array_dynamic_indexing,
        extension: None,
    },
    FeatureRow {
        name: "robustBufferAccess",
        needed_for: NeededFor::Nothing,
        reason: "a wrong index in a compiled shader then damages only its own picture",
        field: |f| &mut f.core.robust_buffer_access,
        extension: None,
    },
    FeatureRow {
        name: SHADER_CLOCK,
        needed_for: NeededFor::Nothing,
        reason: "what each line of a shader costs, in clocks",
        field: |f| &mut f.clock.shader_subgroup_clock,
        extension: Some(khr::shader_clock::NAME),
    },
    FeatureRow {
        name: DEVICE_FAULT,
        needed_for: NeededFor::Nothing,
        reason: "the driver says why a device was lost",
        field: |f| &mut f.fault.device_fault,
        extension: Some(ext::device_fault::NAME),
    },
    FeatureRow {
        name: FRAME_BOUNDARY,
        needed_for: NeededFor::Nothing,
        reason: "tools find where a picture or a region ends",
        field: |f| &mut f.boundary.frame_boundary,
        extension: Some(ext::frame_boundary::NAME),
    },
];

/// A limit: its Vulkan name, the bound that every kernel relies on and why, and its value.
pub(super) struct LimitRow {
    pub(super) name: &'static str,
    pub(super) bound: LimitBound,
    pub(super) reason: &'static str,
    pub(super) value: fn(&vk::PhysicalDeviceLimits) -> u64,
}

/// The bound that a limit must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitBound {
    /// The device must permit this much.
    AtLeast(u64),
    /// The device must not require more than this.
    AtMost(u64),
}

impl LimitBound {
    /// Whether a device's value meets the bound.
    pub(super) fn holds(self, value: u64) -> bool {
        match self {
            LimitBound::AtLeast(least) => value >= least,
            LimitBound::AtMost(most) => value <= most,
        }
    }

    /// Returns the bound for messages, such as `at least 256`.
    pub(super) fn text(self) -> String {
        match self {
            LimitBound::AtLeast(least) => format!("at least {least}"),
            LimitBound::AtMost(most) => format!("at most {most}"),
        }
    }
}

/// The limits, in the order in which `anthill devices` lists them.
pub(super) const LIMITS: &[LimitRow] = &[
    LimitRow {
        name: "maxStorageBufferRange",
        bound: LimitBound::AtLeast(BINDING_BYTES_MAX),
        reason: "one binding holds the samples of a region",
        value: |l| u64::from(l.max_storage_buffer_range),
    },
    LimitRow {
        name: "maxPerStageDescriptorStorageBuffers",
        bound: LimitBound::AtLeast(BINDINGS_MAX),
        reason: "kernels bind up to 16 buffers",
        value: |l| u64::from(l.max_per_stage_descriptor_storage_buffers),
    },
    LimitRow {
        name: "minStorageBufferOffsetAlignment",
        bound: LimitBound::AtMost(BINDING_ALIGNMENT),
        reason: "arenas place slices at multiples of 256 bytes",
        value: |l| l.min_storage_buffer_offset_alignment,
    },
    LimitRow {
        name: "maxTexelBufferElements",
        bound: LimitBound::AtLeast(viewed_bytes(BINDING_BYTES_MAX) / 4),
        reason: "kernels read words of a binding as texels",
        value: |l| u64::from(l.max_texel_buffer_elements),
    },
    LimitRow {
        name: "minTexelBufferOffsetAlignment",
        bound: LimitBound::AtMost(BINDING_ALIGNMENT),
        reason: "arenas place slices at multiples of 256 bytes",
        value: |l| l.min_texel_buffer_offset_alignment,
    },
    LimitRow {
        name: "maxPerStageDescriptorSampledImages",
        bound: LimitBound::AtLeast(BINDINGS_MAX),
        reason: "kernels bind up to 16 buffers of texels",
        value: |l| u64::from(l.max_per_stage_descriptor_sampled_images),
    },
    LimitRow {
        name: "maxComputeWorkGroupInvocations",
        bound: LimitBound::AtLeast(WORKGROUP_INVOCATIONS_MAX),
        reason: "a grid of 16x16 vertices is one workgroup",
        value: |l| u64::from(l.max_compute_work_group_invocations),
    },
    LimitRow {
        name: "maxComputeWorkGroupSize[0]",
        bound: LimitBound::AtLeast(WORKGROUP_INVOCATIONS_MAX),
        reason: "a grid of 16x16 vertices is one workgroup",
        value: |l| u64::from(l.max_compute_work_group_size[0]),
    },
    LimitRow {
        name: "maxComputeWorkGroupCount[0]",
        bound: LimitBound::AtLeast(WORKGROUPS_MAX),
        reason: "kernels place this many workgroups along x before they continue along y",
        value: |l| u64::from(l.max_compute_work_group_count[0]),
    },
    LimitRow {
        name: "maxComputeSharedMemorySize",
        bound: LimitBound::AtLeast(SHARED_BYTES_MAX),
        reason: "a grid's vertices and their derivatives are shared in a workgroup",
        value: |l| u64::from(l.max_compute_shared_memory_size),
    },
    LimitRow {
        name: "maxPushConstantsSize",
        bound: LimitBound::AtLeast(PUSH_BYTES_MAX),
        reason: "parameters of a dispatch",
        value: |l| u64::from(l.max_push_constants_size),
    },
];

/// Operations between the invocations of a subgroup, by the names that [`CAPABILITIES`] uses: a kernel that uses one
/// cannot run where the device lacks it. Rendering needs votes: they decide when an invocation does its work, not what.
pub(super) const SUBGROUP_OPERATIONS: &[(&str, vk::SubgroupFeatureFlags)] = &[
    ("subgroupVote", vk::SubgroupFeatureFlags::VOTE),
    ("subgroupArithmetic", vk::SubgroupFeatureFlags::ARITHMETIC),
    ("subgroupBallot", vk::SubgroupFeatureFlags::BALLOT),
    ("subgroupShuffle", vk::SubgroupFeatureFlags::SHUFFLE),
    ("subgroupShuffleRelative", vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE),
];

/// A SPIR-V capability that a kernel may declare, and the feature of the table that permits it; `None` if Vulkan 1.2
/// always does.
const CAPABILITIES: &[(u32, &str, Option<&str>)] = &[
    (0, "Matrix", None),
    (1, "Shader", None),
    (11, "Int64", Some("shaderInt64")),
    (12, "Int64Atomics", Some("shaderBufferInt64Atomics")),
    (29, "SampledImageArrayDynamicIndexing", Some("shaderSampledImageArrayDynamicIndexing")),
    (46, "SampledBuffer", None),
    (50, "ImageQuery", None),
    (61, "GroupNonUniform", None),
    (62, "GroupNonUniformVote", Some("subgroupVote")),
    (63, "GroupNonUniformArithmetic", Some("subgroupArithmetic")),
    (64, "GroupNonUniformBallot", Some("subgroupBallot")),
    (65, "GroupNonUniformShuffle", Some("subgroupShuffle")),
    (66, "GroupNonUniformShuffleRelative", Some("subgroupShuffleRelative")),
    (5055, "ShaderClockKHR", Some(SHADER_CLOCK)),
];

/// Returns why a module cannot run with the enabled features, by the capabilities that it declares; `None` if it can.
pub(super) fn missing_capability(words: &[u32], enabled: impl Fn(&str) -> bool) -> Option<String> {
    const OP_CAPABILITY: u32 = 17;
    const HEADER_WORDS: usize = 5;
    let declarations = words.get(HEADER_WORDS..).unwrap_or(&[]).chunks_exact(2);
    for declaration in declarations.take_while(|words| words[0] == 2 << 16 | OP_CAPABILITY) {
        match CAPABILITIES.iter().find(|(id, ..)| *id == declaration[1]) {
            None => {
                return Some(format!("it needs SPIR-V capability {}, which anthill never enables", declaration[1]));
            }
            Some((_, name, Some(feature))) if !enabled(feature) => {
                return Some(format!("it needs SPIR-V capability {name}, which the device lacks ({feature})"));
            }
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::missing_capability;

    fn module(capabilities: &[u32]) -> Vec<u32> {
        let mut words = vec![0x0723_0203, 0x0001_0500, 0, 10, 0];
        capabilities.iter().for_each(|capability| words.extend([2 << 16 | 17, *capability]));
        words.extend([3 << 16 | 14, 0, 1]);
        words
    }

    #[test]
    fn capabilities_need_their_features() {
        let all = |_: &str| true;
        let none = |_: &str| false;
        assert_eq!(missing_capability(&module(&[1, 11, 12]), all), None);
        assert_eq!(missing_capability(&module(&[1]), none), None);
        let lacking = missing_capability(&module(&[1, 11]), none).expect("Int64 is lacking");
        assert!(lacking.contains("shaderInt64"), "{lacking}");
        let unknown = missing_capability(&module(&[1, 5345]), all).expect("no such capability is enabled");
        assert!(unknown.contains("5345"), "{unknown}");
        assert_eq!(missing_capability(&[], all), None);
    }
}
