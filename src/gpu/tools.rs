//! What a device and the loader offer to tools that measure, capture and debug.

use super::instance::{CAPTURE_LAYER, Instance};
use super::physical::Physical;
use super::requirements::{DEVICE_FAULT, FRAME_BOUNDARY, SHADER_CLOCK};
use serde::Serialize;

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
    /// Whether the driver, once the device is lost, can say why.
    pub device_fault: bool,
    /// Whether tools can be told where a picture or a region ends.
    pub frame_boundary: bool,
    /// The version of RenderDoc's layer, if it is installed.
    pub renderdoc: Option<String>,
    /// The tools that observe the device now.
    pub observers: Vec<String>,
}

impl DeviceTools {
    /// Asks the loader and the driver of a physical device that was listed from this instance.
    pub(super) fn of(instance: &Instance, physical: &Physical) -> Self {
        Self {
            timestamp_bits: physical.clock.map_or(0, |clock| clock.mask.count_ones()),
            shader_clock: physical.info.has(SHADER_CLOCK),
            names: instance.debug_utils(),
            checkpoints: physical.checkpoints,
            device_fault: physical.info.has(DEVICE_FAULT),
            frame_boundary: physical.info.has(FRAME_BOUNDARY),
            renderdoc: instance.layer_version(CAPTURE_LAYER),
            observers: instance.observers(physical.raw).unwrap_or_default(),
        }
    }

    /// Returns what there is and what is missing, in words.
    pub fn words(&self) -> (Vec<String>, Vec<String>) {
        let all = [
            (self.timestamp_bits > 0, format!("timestamps of {} bits", self.timestamp_bits), "timestamps"),
            (self.shader_clock, "a clock in kernels".into(), "a clock in kernels"),
            (self.names, "names for captures".into(), "names for captures"),
            (self.checkpoints, "checkpoints of lost devices".into(), "checkpoints of lost devices"),
            (self.device_fault, "reasons of lost devices".into(), "reasons of lost devices"),
            (self.frame_boundary, "ends of frames".into(), "ends of frames"),
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
        let lost = ["checkpoints of lost devices", "reasons of lost devices"];
        assert_eq!(missing, ["a clock in kernels", lost[0], lost[1], "ends of frames", "RenderDoc's layer"]);
        (tools.renderdoc, tools.observers) = (Some("1.24".into()), vec!["RenderDoc".into()]);
        (tools.checkpoints, tools.device_fault, tools.frame_boundary) = (true, true, true);
        assert_eq!(tools.words().0[2..], [lost[0], lost[1], "ends of frames", "RenderDoc's layer 1.24", "RenderDoc"]);
        assert_eq!(tools.words().1, ["a clock in kernels"]);
    }
}
