//! The machine that a study ran on, and the conditions, as far as a reader needs them to judge the numbers.

use super::load::LoadAverage;
use super::plan::Plan;
use crate::gpu::DeviceInfo;
use serde::Serialize;
use std::process::Command;
use std::time::SystemTime;

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

/// When a study ran, with which build of the program, and how busy the machine was before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Conditions {
    /// When it began, in UTC.
    pub begun: String,
    /// When it ended, in UTC.
    pub ended: String,
    /// The commit of the program, if known.
    pub commit: Option<String>,
    /// The load of the system before the first run.
    pub load_before: Option<LoadAverage>,
    /// The load of the system after the last run, which the study itself caused in part.
    pub load_after: Option<LoadAverage>,
}

impl Conditions {
    /// Returns the conditions at the beginning of a study.
    pub fn now() -> Self {
        let begun = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        Self { ended: begun.clone(), begun, commit: commit(), load_before: LoadAverage::now(), load_after: None }
    }

    /// Returns the conditions of a study that ends now.
    pub fn ended_now(self) -> Self {
        let ended = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        Self { ended, load_after: LoadAverage::now(), ..self }
    }
}

/// Returns the commit that the program was built from (`ANTHILL_COMMIT`, set while it is compiled), or what is checked
/// out where the program is.
fn commit() -> Option<String> {
    if let Some(commit) = option_env!("ANTHILL_COMMIT") {
        return Some(commit.into());
    }
    let program = std::env::current_exe().ok()?;
    let describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude", "*"];
    let found = Command::new("git").arg("-C").arg(program.parent()?).args(describe).output().ok()?;
    let name = String::from_utf8(found.stdout).ok().filter(|_| found.status.success())?;
    Some(format!("{}, as checked out where the program is", name.trim()))
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
