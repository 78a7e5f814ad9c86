//! Which pipeline a device draws with: the one that was asked for, or the one that was measured to be the fastest on
//! its model and driver (`anthill explore --keep`, or automatically after long renders), or the usual one of its kind.
//! It changes no pixel.

use crate::files::{read_file, write_bytes};
use crate::gpu::{DeviceInfo, DeviceKind, default_cache_folder};
use crate::pipeline::plan::NamedPipeline;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// What a render knows of the choice of pipelines.
#[derive(Clone, Debug, Default)]
pub struct PipelineChoice {
    /// The pipeline that all devices draw with, if the user named one.
    pub named: Option<&'static NamedPipeline>,
    /// What was kept for devices.
    pub kept: KeptPipelines,
}

impl PipelineChoice {
    /// Returns the pipeline of a device for a picture whose shaders bake or do not.
    pub fn of(&self, device: &DeviceInfo, bakes: bool) -> &'static NamedPipeline {
        let usual = NamedPipeline::usual(device.kind == DeviceKind::Cpu);
        let chosen = self.named.or_else(|| self.kept.of(device)).unwrap_or(usual);
        if bakes { chosen.for_baking() } else { chosen }
    }
}

/// The fastest pipeline of each device that was explored, by model and driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptPipelines(BTreeMap<String, String>);

/// Returns what devices of one model and driver have in common; CPU drivers say their version only in the text.
pub fn model_and_driver(device: &DeviceInfo) -> String {
    let DeviceInfo { vendor_id, device_id, name, driver, driver_info, driver_version, .. } = device;
    format!("{vendor_id:04x}:{device_id:04x} {name}, {driver} {driver_info} {driver_version:08x}")
}

impl KeptPipelines {
    /// Returns `$XDG_CACHE_HOME/anthill/pipelines.json`, or the same in `~/.cache`; `None` without a home folder.
    pub fn default_file() -> Option<PathBuf> {
        Some(default_cache_folder()?.with_file_name("pipelines.json"))
    }

    /// Reads a file; one that does not exist is empty.
    ///
    /// # Errors
    /// When the file cannot be read, or is not one of ours.
    pub fn read(path: &Path) -> io::Result<Self> {
        read_by_model(path).map(Self)
    }

    /// Writes a file, and its folder if there is none.
    ///
    /// # Errors
    /// When that fails.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_by_model(&self.0, path)
    }

    /// Keeps a pipeline for all devices like this one.
    pub fn keep(&mut self, device: &DeviceInfo, pipeline: &NamedPipeline) {
        self.0.insert(model_and_driver(device), pipeline.name.into());
    }

    /// Returns what was kept for devices like this one. What another version of the program kept may be unknown to this
    /// one.
    pub fn of(&self, device: &DeviceInfo) -> Option<&'static NamedPipeline> {
        self.of_model(&model_and_driver(device))
    }

    /// Returns what was kept for devices of a model and driver.
    pub fn of_model(&self, model: &str) -> Option<&'static NamedPipeline> {
        NamedPipeline::find(self.0.get(model)?)
    }
}

/// How long devices have drawn without a pipeline kept for them, in seconds, by model and driver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawnTimes(BTreeMap<String, f64>);

impl DrawnTimes {
    /// Returns `drawn.json` beside [`KeptPipelines::default_file`].
    pub fn default_file() -> Option<PathBuf> {
        Some(default_cache_folder()?.with_file_name("drawn.json"))
    }

    /// Reads a file; one that does not exist, or is not one of ours, is empty.
    pub fn read(path: &Path) -> Self {
        Self(read_by_model(path).unwrap_or_default())
    }

    /// Writes a file, and its folder if there is none.
    ///
    /// # Errors
    /// When that fails.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_by_model(&self.0, path)
    }

    /// Adds to the time of a model and driver. Where that becomes `limit`, it begins at 0 again, and the answer is
    /// true.
    pub fn add(&mut self, model: &str, drawn: Duration, limit: Duration) -> bool {
        let total = self.0.entry(model.into()).or_default();
        *total += drawn.as_secs_f64();
        let is_due = *total >= limit.as_secs_f64();
        if is_due {
            *total = 0.0;
        }
        is_due
    }
}

/// Reads a file of values by model and driver; one that does not exist is empty.
fn read_by_model<T: DeserializeOwned>(path: &Path) -> io::Result<BTreeMap<String, T>> {
    match read_file(path) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error),
    }
}

/// Writes what [`read_by_model`] reads.
fn write_by_model<T: Serialize>(values: &BTreeMap<String, T>, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    write_bytes(path, &serde_json::to_vec_pretty(values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::devices;
    use crate::pipeline::plan::CATALOGUE;

    #[test]
    fn what_was_kept_is_read_again_and_what_was_named_wins() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("cache").join("pipelines.json");
        assert_eq!(KeptPipelines::read(&path).expect("no file is no error"), KeptPipelines::default());
        let known = devices(false).expect("a driver");
        let (device, mut other) = (&known[0], DeviceInfo { kind: DeviceKind::Cpu, ..known[0].clone() });
        other.driver_info += ", a later one";
        let [first, second, third] = [0, 1, 2].map(|at| &CATALOGUE[at]);
        let mut kept = KeptPipelines::default();
        kept.keep(device, third);
        kept.keep(device, second);
        kept.write(&path).expect("it can be written");
        let kept = KeptPipelines::read(&path).expect("it was written");
        assert_eq!([kept.of(device), kept.of(&other)], [Some(second), None]);
        let choice = PipelineChoice { named: None, kept };
        assert_eq!([choice.of(device, false), choice.of(&other, false)], [second, first]);
        other.kind = DeviceKind::Discrete;
        assert_eq!(choice.of(&other, false).name, "batches-expanded");
        assert_eq!(PipelineChoice { named: Some(third), ..choice.clone() }.of(device, true), third);
        let shading_all = PipelineChoice { named: NamedPipeline::find("shade-first"), ..choice };
        let names = [false, true].map(|bakes| shading_all.of(device, bakes).name);
        assert_eq!(names, ["shade-first", "one-batch"]);
    }

    #[test]
    fn names_of_other_versions_and_damaged_files() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("pipelines.json");
        let device = &devices(false).expect("a driver")[0];
        let text = format!("{{\"{}\": \"of-tomorrow\"}}", model_and_driver(device));
        fs::write(&path, text).expect("it can be written");
        assert_eq!(KeptPipelines::read(&path).expect("it is one of ours").of(device), None);
        fs::write(&path, "{").expect("it can be written");
        assert_eq!(KeptPipelines::read(&path).map_err(|error| error.kind()), Err(io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn times_add_up_over_renders_until_they_are_due() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("cache").join("drawn.json");
        let (limit, render) = (Duration::from_secs(60), Duration::from_secs(25));
        let mut due = Vec::new();
        for _ in 0..5 {
            let mut times = DrawnTimes::read(&path);
            due.push([times.add("a", render, limit), times.add("b", render / 2, limit)]);
            times.write(&path).expect("it can be written");
        }
        let all = [[false, false], [false, false], [true, false], [false, false], [false, true]];
        assert_eq!(due, all);
        fs::write(&path, "{").expect("it can be written");
        assert_eq!(DrawnTimes::read(&path), DrawnTimes::default());
    }
}
