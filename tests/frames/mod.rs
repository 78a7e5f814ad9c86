//! Whole pictures, drawn by the program on a CPU device under validation, with kernels that the driver has optimised:
//! compared with computed values (`camera`, `colour`, `coverage`, `depth`), then every scene of `scenes/tests` with the
//! picture that was last approved (`golden`).
//!
//! Goldens are updated only on demand: `ANTHILL_RENEW_GOLDENS=1 cargo test frames::golden`. Look at every new one
//! before it is committed: `anthill preview tests/frames/golden/NAME.exr NAME.png`.

mod camera;
mod colour;
mod coverage;
mod depth;
mod golden;

use crate::as_gpu::optimise_kernels;
use exr::prelude::read_first_flat_layer_from_file;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Returns the index of a CPU device, or `all` on a machine without one.
fn device() -> &'static str {
    static DEVICE: OnceLock<String> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let output = Command::new(env!("CARGO_BIN_EXE_anthill")).args(["devices", "--json"]).output();
        let devices: serde_json::Value =
            serde_json::from_slice(&output.expect("the binary runs").stdout).expect("JSON");
        let cpu = devices.as_array().expect("a list").iter().find(|d| d["kind"] == "cpu" && d["usable"] == true);
        cpu.map_or("all".into(), |device| device["index"].to_string())
    })
}

/// A message of the program.
struct ReportedMessage {
    place: String,
    code: String,
    message: String,
}

/// Draws scenes in a directory and returns the messages. Fails unless every display is whole.
fn draw(folder: &Path, scenes: &[impl AsRef<Path>]) -> Vec<ReportedMessage> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(folder).arg("render").args(scenes.iter().map(AsRef::as_ref)).stdin(Stdio::null());
    let output = optimise_kernels(&mut command)
        .args(["--validate", "--progress", "off", "--stats", "stats.json", "--devices", device()])
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stderr);
    // A scene whose blocks are not closed may be the beginning of a longer one.
    let ends_early = text.contains("the file ends early");
    assert_eq!(output.status.code(), Some(i32::from(ends_early)), "{text}");
    let stats = std::fs::read(folder.join("stats.json")).expect("statistics");
    let stats: serde_json::Value = serde_json::from_slice(&stats).expect("JSON");
    let outputs = stats["outputs"].as_array().expect("a list");
    assert!(outputs.iter().all(|output| output["state"] == "whole"), "{text}");
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let said = |w: &serde_json::Value| ReportedMessage {
        place: word(&w["place"]),
        code: word(&w["code"]),
        message: word(&w["message"]),
    };
    stats["warnings"].as_array().expect("a list").iter().map(said).collect()
}

/// A picture file: named channels of floats, row by row from the top.
#[derive(Clone, Debug)]
struct FramePicture {
    width: usize,
    height: usize,
    channels: Vec<(String, Vec<f32>)>,
}

impl FramePicture {
    fn read(path: &Path) -> Self {
        let image = read_first_flat_layer_from_file(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let layer = image.layer_data;
        let channel = |c: &exr::image::AnyChannel<exr::image::FlatSamples>| {
            (c.name.to_string(), c.sample_data.values_as_f32().collect())
        };
        let channels = layer.channel_data.list.iter().map(channel).collect();
        Self { width: layer.size.x(), height: layer.size.y(), channels }
    }

    /// Returns one channel.
    fn channel(&self, name: &str) -> &[f32] {
        let found = self.channels.iter().find(|(own, _)| own == name);
        found.map_or_else(|| panic!("no channel {name}"), |(_, values)| values)
    }

    /// Returns a pixel of one channel.
    fn at(&self, name: &str, x: usize, y: usize) -> f64 {
        f64::from(self.channel(name)[y * self.width + x])
    }

    /// Iterates over the coordinates of all pixels.
    fn coordinates(&self) -> impl Iterator<Item = (usize, usize)> {
        let width = self.width;
        (0..self.width * self.height).map(move |i| (i % width, i / width))
    }
}

/// A scene of a test: the text before and after WorldBegin, and shaders by name.
struct TestScene<'a> {
    options: &'a str,
    world: &'a str,
    shaders: &'a [(&'a str, &'a str)],
}

impl<'a> TestScene<'a> {
    fn new(options: &'a str, world: &'a str) -> Self {
        Self { options, world, shaders: &[] }
    }

    /// Draws a picture in floats with these channels (`rgba`, `z`, `varying float s`), 64x64 pixels unless `options`
    /// says otherwise. Fails if there are any messages.
    fn picture(&self, channels: &str) -> FramePicture {
        let folder = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in self.shaders {
            std::fs::write(folder.path().join(format!("{name}.sl")), text).expect("writable");
        }
        let Self { options, world, .. } = self;
        let display = format!("Display \"a.exr\" \"exr\" \"{channels}\" \"exrpixeltype\" \"float\"");
        let text = format!("Format 64 64 1\n{display}\n{options}\nWorldBegin\n{world}\nWorldEnd\n");
        std::fs::write(folder.path().join("a.rib"), text).expect("writable");
        let said = draw(folder.path(), &["a.rib"]);
        let said: Vec<String> = said.iter().map(|s| format!("{}: {} [{}]", s.place, s.message, s.code)).collect();
        assert!(said.is_empty(), "{}", said.join("\n"));
        FramePicture::read(&folder.path().join("a.exr"))
    }
}

/// Fails with the pixel where a channel differs most from its expected value, if it differs by more than `tolerance`.
fn check(picture: &FramePicture, channel: &str, tolerance: f64, wanted: impl Fn(usize, usize) -> f64) {
    let off = |&(x, y): &(usize, usize)| (picture.at(channel, x, y) - wanted(x, y)).abs();
    assert!(picture.channel(channel).iter().all(|v| v.is_finite()), "{channel}: not finite");
    let worst = picture.coordinates().max_by(|a, b| off(a).total_cmp(&off(b))).expect("pixels");
    let (found, right) = (picture.at(channel, worst.0, worst.1), wanted(worst.0, worst.1));
    assert!(off(&worst) <= tolerance, "{channel} at {worst:?}: {found} instead of {right}");
}
