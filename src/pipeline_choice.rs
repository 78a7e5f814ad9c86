//! Which pipeline a device draws with: the one that was asked for, or the one that was measured to be the fastest on
//! its model and driver (`anthill explore --keep`), or the usual one of its kind. It changes no pixel.

use crate::files::write_bytes;
use crate::gpu::{DeviceInfo, DeviceKind, default_cache_folder};
use crate::pipeline::plan::NamedPipeline;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
    /// The pipeline of a device for a picture whose shaders bake or do not.
    pub fn of(&self, device: &DeviceInfo, bakes: bool) -> &'static NamedPipeline {
        let usual = NamedPipeline::usual(device.kind == DeviceKind::Cpu);
        let chosen = self.named.or_else(|| self.kept.of(device)).unwrap_or(usual);
        if bakes { chosen.for_baking() } else { chosen }
    }
}

/// The fastest pipeline of each device that was explored, by model and driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptPipelines(BTreeMap<String, String>);

/// Devices of one model and driver; CPU drivers say their version only in the text.
fn key(device: &DeviceInfo) -> String {
    let DeviceInfo { vendor_id, device_id, name, driver, driver_info, driver_version, .. } = device;
    format!("{vendor_id:04x}:{device_id:04x} {name}, {driver} {driver_info} {driver_version:08x}")
}

impl KeptPipelines {
    /// `$XDG_CACHE_HOME/anthill/pipelines.json`, or the same in `~/.cache`; `None` without a home folder.
    pub fn default_file() -> Option<PathBuf> {
        Some(default_cache_folder()?.with_file_name("pipelines.json"))
    }

    /// Reads a file; one that does not exist is empty.
    ///
    /// # Errors
    /// When the file cannot be read, or is not one of ours.
    pub fn read(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(text) => Ok(Self(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes a file, and its folder if there is none.
    ///
    /// # Errors
    /// When that fails.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        write_bytes(path, &serde_json::to_vec_pretty(&self.0)?)
    }

    /// Keeps a pipeline for all devices like this one.
    pub fn keep(&mut self, device: &DeviceInfo, pipeline: &NamedPipeline) {
        self.0.insert(key(device), pipeline.name.into());
    }

    /// What was kept for devices like this one. What another version of the program kept may be unknown to this one.
    pub fn of(&self, device: &DeviceInfo) -> Option<&'static NamedPipeline> {
        NamedPipeline::find(self.0.get(&key(device))?)
    }
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
        let text = format!("{{\"{}\": \"of-tomorrow\"}}", key(device));
        fs::write(&path, text).expect("it can be written");
        assert_eq!(KeptPipelines::read(&path).expect("it is one of ours").of(device), None);
        fs::write(&path, "{").expect("it can be written");
        assert_eq!(KeptPipelines::read(&path).map_err(|error| error.kind()), Err(io::ErrorKind::UnexpectedEof));
    }
}
