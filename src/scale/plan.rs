//! What is run: which devices, which of it is the run with one device, and what fills the drivers' caches first.

use crate::gpu::{DeviceInfo, GpuError, select};
use serde::Serialize;
use thiserror::Error;

/// Devices that draw together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// As typed: `0,1`, `all`, a part of a name.
    pub selection: String,
    /// What that names, in order: indices in `anthill devices`; one may stand several times.
    pub indices: Vec<usize>,
    /// Which configurations must draw the same bits: those of equal models and drivers have equal numbers here.
    pub models: Vec<usize>,
}

/// The configurations of a study, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// At least one, all different.
    pub configurations: Vec<Configuration>,
    /// The first configuration of one device: all others are compared with it.
    pub baseline: usize,
}

/// Why there is nothing to study.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PlanError {
    /// A selection names no device, or one that cannot draw.
    #[error(transparent)]
    Devices(#[from] GpuError),
    /// Nothing to compare with.
    #[error(
        "no --devices names one device alone: speed-up is against a run on one device, as in --devices 0 --devices 0,1"
    )]
    NoBaseline,
    /// A configuration stands twice.
    #[error("--devices {0} is given twice: --repeat says how often each is run")]
    Twice(String),
}

impl Plan {
    /// The plan for these selections on a machine with these devices.
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
            configurations.push(Configuration { selection, indices, models });
        }
        let baseline = configurations.iter().position(|configuration| configuration.indices.len() == 1);
        Ok(Self { baseline: baseline.ok_or(PlanError::NoBaseline)?, configurations })
    }

    /// Configurations to run once before anything counts, so that every device's driver has its kernels compiled: a few runs
    /// that fill all caches, largest configuration (and so the quickest run) first.
    pub fn warm_up(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.configurations.len()).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(self.configurations[place].indices.len()));
        let mut warm: Vec<usize> = Vec::new();
        order.retain(|&place| {
            let models = &self.configurations[place].models;
            let is_new = models.iter().any(|model| !warm.contains(model));
            warm.extend(models);
            is_new
        });
        order
    }

    /// The most devices that draw together.
    pub fn devices_max(&self) -> usize {
        self.configurations.iter().map(|configuration| configuration.indices.len()).max().unwrap_or(0)
    }
}
