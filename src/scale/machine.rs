//! The machine that a study ran on, as far as a reader needs it to judge the numbers.

use super::plan::Plan;
use crate::gpu::DeviceInfo;
use serde::Serialize;

/// The machine that a study ran on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The name of its processor.
    pub processor: String,
    /// The number of cores that the study may use.
    pub cores: usize,
    /// Its operating system and architecture.
    pub system: String,
    /// The devices that took part.
    pub devices: Vec<StudyDevice>,
    /// Environment variables that choose or configure devices, with their values.
    pub environment: Vec<(String, String)>,
}

/// A device that took part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StudyDevice {
    /// Its index in `anthill devices`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its driver and the driver's version.
    pub driver: String,
}

/// Environment variables that choose or configure devices.
const VARIABLES: [&str; 4] = ["LP_NUM_THREADS", "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT"];

impl Machine {
    /// This machine, with the devices that a plan names.
    pub fn here(plan: &Plan, devices: &[DeviceInfo]) -> Self {
        let mut used: Vec<usize> = plan.configurations.iter().flat_map(|one| one.indices.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let title = |device: &DeviceInfo| StudyDevice {
            index: device.index,
            name: device.name.clone(),
            driver: format!("{} {}", device.driver, device.driver_info).trim().to_string(),
        };
        let set = |name: &str| Some((name.to_string(), std::env::var(name).ok()?));
        Self {
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
            devices: used.iter().filter_map(|&index| devices.get(index)).map(title).collect(),
            environment: VARIABLES.into_iter().filter_map(set).collect(),
        }
    }
}

/// Returns the processor's name, if the system reports it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("unknown processor", |(_, name)| name.trim()).to_string()
}
