//! What a study runs: which devices, which configuration is the baseline, and which runs fill the drivers' caches
//! first.

use crate::gpu::{DeviceInfo, DeviceKind, GpuError, select};
use crate::pipeline::plan::NamedPipeline;
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// Devices that render together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// The devices as typed: `0,1`, `all`, or a part of a name.
    pub selection: String,
    /// Their indices in `anthill devices`, in order. An index may occur several times.
    pub indices: Vec<usize>,
    /// The distinct models and drivers among them. Configurations with equal `models` must render the same bits.
    pub models: Vec<usize>,
    /// How many of the devices are processors, which share cores with one another.
    pub on_processor: usize,
    /// The pipeline that they draw with, if a study compares pipelines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<&'static str>,
}

/// As flags: `0,1`, or `0 --pipeline batches`.
impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.selection)?;
        self.pipeline.map_or(Ok(()), |name| write!(f, " --pipeline {name}"))
    }
}

/// The configurations of a study, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The configurations; at least one, all different.
    pub configurations: Vec<Configuration>,
    /// The index of the first configuration with one device, which all others are compared with.
    pub baseline: usize,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PlanError {
    /// A selection names no device, or one that cannot render.
    #[error(transparent)]
    Devices(#[from] GpuError),
    /// No configuration has a single device, so there is nothing to compare with.
    #[error("no --devices names one device alone: speed-up is relative to one device, as in --devices 0 --devices 0,1")]
    NoBaseline,
    /// A configuration is given twice.
    #[error("--devices {0} is given twice: use --repeat to run each list several times")]
    Twice(String),
}

impl Plan {
    /// Returns the plan for these selections on a machine with these devices.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn new(selections: &[String], devices: &[DeviceInfo]) -> Result<Self, PlanError> {
        let mut configurations: Vec<Configuration> = Vec::new();
        for selection in selections {
            let selection = selection.trim().to_string();
            if configurations.iter().any(|known| known.selection == selection) {
                return Err(PlanError::Twice(selection));
            }
            let indices = select(devices, &selection)?;
            let model = |&index: &usize| devices.iter().position(|device| device.is_like(&devices[index]));
            let mut models: Vec<usize> = indices.iter().filter_map(model).collect();
            models.sort_unstable();
            models.dedup();
            let on_processor = indices.iter().filter(|&&index| devices[index].kind == DeviceKind::Cpu).count();
            configurations.push(Configuration { selection, indices, models, on_processor, pipeline: None });
        }
        let baseline = configurations.iter().position(|configuration| configuration.indices.len() == 1);
        Ok(Self { baseline: baseline.ok_or(PlanError::NoBaseline)?, configurations })
    }

    /// Returns the plan that runs each configuration with each of these pipelines.
    pub fn with_pipelines(self, pipelines: &[&'static NamedPipeline]) -> Self {
        let with_each = |configuration: &Configuration| -> Vec<Configuration> {
            let with =
                |pipeline: &&NamedPipeline| Configuration { pipeline: Some(pipeline.name), ..configuration.clone() };
            pipelines.iter().map(with).collect()
        };
        let baseline = self.baseline * pipelines.len();
        Self { configurations: self.configurations.iter().flat_map(with_each).collect(), baseline }
    }

    /// Configurations to run once before anything is measured, so that every device's driver has its kernels compiled.
    /// These are as few as fill all caches; the largest configuration, which is the fastest to run, comes first.
    ///
    /// CPU drivers may compile for the set of cores that a process has, so where runs are `pinned` to as many cores as
    /// they have devices, caches are filled for each number of cores.
    pub fn warm_up(&self, pinned: bool) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.configurations.len()).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(self.configurations[place].indices.len()));
        let mut warm: Vec<(usize, usize, Option<&str>)> = Vec::new();
        order.retain(|&place| {
            let Configuration { models, indices, pipeline, .. } = &self.configurations[place];
            let cores = if pinned { indices.len() } else { 0 };
            let is_new = models.iter().any(|&model| !warm.contains(&(model, cores, *pipeline)));
            warm.extend(models.iter().map(|&model| (model, cores, *pipeline)));
            is_new
        });
        order
    }

    /// Returns the largest number of devices that render together.
    pub fn devices_max(&self) -> usize {
        self.configurations.iter().map(|configuration| configuration.indices.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::DeviceTools;
    use std::collections::BTreeMap;

    fn device(index: usize, name: &str) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.into(),
            kind: DeviceKind::Cpu,
            driver: "driver".into(),
            driver_info: String::new(),
            driver_version: 1,
            api_version: "1.3.0".into(),
            vendor_id: 1,
            device_id: 2,
            pci: None,
            uuid: String::new(),
            cache_uuid: String::new(),
            memory_bytes: 1 << 30,
            host_visible: true,
            subgroup_size: 4,
            timestamp_ns: 1.0,
            tools: DeviceTools::default(),
            features: BTreeMap::new(),
            limits: BTreeMap::new(),
            allocation_bytes_max: 1 << 30,
            lacking: vec![],
            usable: true,
        }
    }

    #[test]
    fn plans_need_one_device_to_compare_with() {
        let devices = [device(0, "a"), device(1, "a"), device(2, "b")];
        let plan =
            |selections: &[&str]| Plan::new(&selections.iter().map(ToString::to_string).collect::<Vec<_>>(), &devices);
        let good = plan(&["0,1", "1", "0,2,2"]).expect("a plan");
        assert_eq!((good.baseline, good.devices_max()), (1, 3));
        let models: Vec<_> = good.configurations.iter().map(|one| one.models.clone()).collect();
        assert_eq!(models, [vec![0], vec![0], vec![0, 2]]);
        // The third configuration fills the caches of both models.
        assert_eq!(good.warm_up(false), [2]);
        let cores: Vec<usize> =
            good.warm_up(true).iter().map(|&place| good.configurations[place].indices.len()).collect();
        assert_eq!(cores, [3, 2, 1], "caches depend on the number of cores that a run has");
        assert_eq!(plan(&["0", "0,1", "2"]).map(|plan| plan.warm_up(false)), Ok(vec![1, 2]));
        assert_eq!(plan(&["0,1"]), Err(PlanError::NoBaseline));
        assert_eq!(plan(&["0", " 0"]), Err(PlanError::Twice("0".into())));
        assert!(matches!(plan(&["0", "7"]), Err(PlanError::Devices(_))));
    }
}
