//! The time of shading pipelines, where commands were timed.

use super::Stats;
use std::collections::BTreeMap;

/// What the kernels of a shading pipeline took on a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineTime {
    /// The number of the device.
    pub device: usize,
    /// The pipeline's name.
    pub pipeline: String,
    /// How often its kernels ran.
    pub calls: u64,
    /// Vertices (of an imager: pixels) that it ran for.
    pub vertices: u64,
    /// The time that they took in seconds, by the device's clock.
    pub device_s: f64,
    /// The time that compiling its kernels took, added up; several are compiled at once.
    pub compile_s: f64,
    /// The number of its kernels.
    pub kernels: u64,
    /// Kernels among them that were in the cache.
    pub from_cache: u64,
}

impl Stats {
    /// Whether any device has timed its commands.
    pub fn is_timed(&self) -> bool {
        self.devices.iter().any(|device| device.command_times.is_some())
    }

    /// Returns the shading pipelines of all devices, those that took longest first.
    pub fn pipeline_times(&self) -> Vec<PipelineTime> {
        let mut all: BTreeMap<(usize, &str), PipelineTime> = BTreeMap::new();
        for (device, known) in self.devices.iter().enumerate() {
            for command in known.command_times.iter().flat_map(|times| &times.commands) {
                let Some(pipeline) = &command.pipeline else { continue };
                let time = all.entry((device, pipeline)).or_default();
                // A program that is cut runs all its kernels over the same vertices.
                let is_first = !command.kernel.contains(", kernel ") || command.kernel.contains(", kernel 1 of ");
                let is_whole = is_first && !command.kernel.ends_with("(names tiles)");
                time.calls += command.calls;
                time.vertices += if is_whole { command.items } else { 0 };
                time.device_s += command.device_s;
            }
        }
        for kernel in &self.kernels {
            let Some(pipeline) = &kernel.pipeline else { continue };
            if let Some(time) = all.get_mut(&(kernel.device as usize, pipeline.as_str())) {
                time.kernels += 1;
                time.from_cache += u64::from(kernel.from_cache);
                time.compile_s += kernel.compile_s;
            }
        }
        let named =
            all.into_iter().map(|((device, name), time)| PipelineTime { device, pipeline: name.into(), ..time });
        let mut named: Vec<_> = named.collect();
        named.sort_by(|a, b| b.device_s.total_cmp(&a.device_s));
        named
    }
}
