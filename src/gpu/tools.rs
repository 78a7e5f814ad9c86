//! What a device and the loader offer to tools that measure, capture and debug.

use super::instance::{CAPTURE_LAYER, Instance};
use ash::{ext, khr, nv, vk};
use serde::Serialize;
use std::ffi::CStr;

/// What tools find on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceTools {
    /// Valid bits of the timestamps of its queue, by which kernels are timed; 0 if it has none.
    pub timestamp_bits: u32,
    /// Whether kernels can read a clock.
    pub shader_clock: bool,
    /// Whether objects and commands can be named for captures.
    pub names: bool,
    /// Whether the device, once it is lost, can say which commands it was at.
    pub checkpoints: bool,
    /// The version of RenderDoc's layer, if it is installed.
    pub renderdoc: Option<String>,
    /// The tools that observe the device now.
    pub observers: Vec<String>,
}

impl DeviceTools {
    /// Asks the loader and the driver of a physical device that was listed from this instance.
    pub(super) fn of(instance: &Instance, physical: vk::PhysicalDevice, timestamp_bits: u32) -> Self {
        // SAFETY: callers pass a physical device that they have just listed from this instance.
        let extensions = unsafe { instance.raw().enumerate_device_extension_properties(physical) }.unwrap_or_default();
        let has = |name: &CStr| extensions.iter().any(|one| one.extension_name_as_c_str() == Ok(name));
        Self {
            timestamp_bits,
            shader_clock: has(khr::shader_clock::NAME),
            names: instance.debug_utils(),
            checkpoints: has(nv::device_diagnostic_checkpoints::NAME),
            renderdoc: instance.layer_version(CAPTURE_LAYER),
            observers: if has(ext::tooling_info::NAME) { instance.tools(physical) } else { Vec::new() },
        }
    }

    /// Returns what there is and what is missing, in words.
    pub fn words(&self) -> (Vec<String>, Vec<String>) {
        let all = [
            (self.timestamp_bits > 0, format!("timestamps of {} bits", self.timestamp_bits), "timestamps"),
            (self.shader_clock, "a clock in kernels".into(), "a clock in kernels"),
            (self.names, "names for captures".into(), "names for captures"),
            (self.checkpoints, "checkpoints of lost devices".into(), "checkpoints of lost devices"),
            (
                self.renderdoc.is_some(),
                format!("RenderDoc's layer {}", self.renderdoc.as_deref().unwrap_or_default()),
                "RenderDoc's layer",
            ),
        ];
        let (there, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|(is_there, ..)| *is_there);
        let there = there.into_iter().map(|(_, words, _)| words).chain(self.observers.iter().cloned());
        (there.collect(), missing.into_iter().map(|(.., words)| words.to_owned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_said_to_be_there_or_missing() {
        let mut tools = DeviceTools { timestamp_bits: 64, names: true, ..DeviceTools::default() };
        let (there, missing) = tools.words();
        assert_eq!(there, ["timestamps of 64 bits", "names for captures"]);
        assert_eq!(missing, ["a clock in kernels", "checkpoints of lost devices", "RenderDoc's layer"]);
        (tools.renderdoc, tools.observers) = (Some("1.24".into()), vec!["RenderDoc".into()]);
        assert_eq!(tools.words().0[2..], ["RenderDoc's layer 1.24", "RenderDoc"]);
    }
}
