//! Small scenes, each for one request or one rule of the RI, rendered from RIB text to OpenEXR files with known
//! contents.

mod appended_maps;
mod auto_shadows;
mod bad_textures;
mod baked_points;
mod blobby;
mod clipping;
mod conventions;
mod cracks;
mod deep_shadows;
mod depth;
mod detail;
mod displaced;
mod edits;
mod eye_plane;
mod finite;
mod formats;
mod imager;
mod imaging;
mod interpolation;
mod kept_programs;
mod language;
mod lights;
mod line_profile;
mod long_loops;
mod lookups;
mod many_steps;
mod motion;
mod motion_samples;
mod moving_maps;
mod nurbs;
mod occlusion;
mod outputs;
mod overscan;
mod painted;
mod passes;
mod pipelines;
mod points;
mod primvar_types;
mod printing;
mod raymarch;
mod shortfalls;
mod solids;
mod spaces;
mod surfaces;
mod texts;
mod textures;
mod trim;
mod velocity;
mod widths;

use anthill::diagnostic::{Reporter, Severity};
use anthill::film::DisplayState;
use anthill::gpu::KeptDevices;
use anthill::options::RenderOptions;
use exr::prelude::{FlatSamples, read_first_flat_layer_from_file};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;

/// The devices of all features, so that each kernel is compiled once for a test thread.
static KEPT_DEVICES: LazyLock<KeptDevices> = LazyLock::new(KeptDevices::default);

/// The result of rendering a scene.
pub(crate) struct RenderedScene {
    directory: TempDir,
    /// All messages but details.
    pub(crate) messages: Vec<String>,
    /// The state of each display.
    pub(crate) displays: Vec<DisplayState>,
    /// How many pictures were drawn, maps of lights included.
    pub(crate) worlds: usize,
    /// Micropolygons that the scene was cut into.
    pub(crate) micropolygons: u64,
    /// Vertices that were shaded.
    pub(crate) shaded_vertices: u64,
    /// Submissions that were made again because they lacked tiles of textures.
    pub(crate) reruns: u64,
    /// Lookups of textures by shaders, where they are counted.
    pub(crate) lookups: Option<u64>,
    /// The kernels that were compiled for it, each after the number of its device.
    pub(crate) kernels: Vec<String>,
}

/// Draws RIB text, in which `$DIR` is a temporary directory that also contains the shaders, given as file names and
/// RSL.
pub(crate) fn draw_with(shaders: &[(&str, &str)], rib: &str) -> RenderedScene {
    draw_as(shaders, rib, &|_| ())
}

/// Draws RIB text as [`draw_with`], with options that `change` changes.
pub(crate) fn draw_as(shaders: &[(&str, &str)], rib: &str, change: &dyn Fn(&mut RenderOptions)) -> RenderedScene {
    let directory = tempfile::tempdir().expect("a directory for pictures");
    let path = directory.path().display().to_string();
    for (name, text) in shaders {
        fs::write(directory.path().join(name), text).expect("a shader is written");
    }
    let scene = directory.path().join("scene.rib");
    let rib = format!("Option \"searchpath\" \"shader\" [\"$DIR\"]\n{rib}");
    fs::write(&scene, rib.replace("$DIR", &path)).expect("a scene is written");
    let reporter = Arc::new(Reporter::silent());
    let mut options = RenderOptions {
        scenes: vec![scene],
        devices: "0".into(),
        memory_bytes: Some(256 << 20),
        validate: true,
        ..RenderOptions::default()
    };
    change(&mut options);
    let outcome = anthill::render_on_kept(&options, &reporter, &(), &KEPT_DEVICES);
    let all = reporter.all();
    let said = all.iter().filter(|(diagnostic, _)| diagnostic.severity > Severity::Detail);
    let messages = said.map(|(diagnostic, _)| diagnostic.to_string()).collect();
    let displays = outcome.displays.iter().map(|display| display.state).collect();
    let stats = &outcome.stats;
    let (worlds, micropolygons) = (stats.worlds.len(), stats.counts.micropolygons);
    let (shaded_vertices, reruns) = (stats.counts.shaded_vertices, stats.texture.reruns);
    let kernels = stats.kernels.iter().map(|kernel| format!("{} {}", kernel.device, kernel.kernel)).collect();
    let lookups = stats.texture.lookups;
    RenderedScene { directory, messages, displays, worlds, micropolygons, shaded_vertices, reruns, lookups, kernels }
}

/// Draws RIB text with the built-in shaders.
pub(crate) fn draw(rib: &str) -> RenderedScene {
    draw_with(&[], rib)
}

impl RenderedScene {
    /// Reads the picture of that name, of a scene without messages.
    pub(crate) fn clean(&self, name: &str) -> ExrChannels {
        assert!(self.messages.is_empty(), "{:?}", self.messages);
        self.picture(name)
    }

    /// Reads the picture of that name.
    pub(crate) fn picture(&self, name: &str) -> ExrChannels {
        ExrChannels::read(&self.directory.path().join(name))
    }

    /// The folder that `$DIR` stands for.
    pub(crate) fn folder(&self) -> &Path {
        self.directory.path()
    }

    /// Returns how many messages contain these words.
    pub(crate) fn message_count(&self, words: &str) -> usize {
        self.messages.iter().filter(|message| message.contains(words)).count()
    }
}

/// An OpenEXR file's channels by name.
pub(crate) struct ExrChannels {
    width: usize,
    channels: BTreeMap<String, Vec<f32>>,
}

impl ExrChannels {
    pub(crate) fn read(path: &Path) -> Self {
        let image = read_first_flat_layer_from_file(path).expect("a picture was written");
        let floats = |samples: &FlatSamples| samples.values_as_f32().collect();
        let layer = &image.layer_data;
        let channels = layer.channel_data.list.iter().map(|c| (c.name.to_string(), floats(&c.sample_data))).collect();
        Self { width: layer.size.x(), channels }
    }

    /// A channel, row by row.
    pub(crate) fn channel(&self, name: &str) -> &[f32] {
        let names: Vec<&String> = self.channels.keys().collect();
        self.channels.get(name).unwrap_or_else(|| panic!("no channel {name} among {names:?}"))
    }

    /// A channel at a pixel, if there is such a channel.
    pub(crate) fn find(&self, name: &str, x: usize, y: usize) -> Option<f32> {
        self.channels.get(name).map(|values| values[y * self.width + x])
    }

    /// A channel at a pixel.
    pub(crate) fn at(&self, name: &str, x: usize, y: usize) -> f32 {
        self.channel(name)[y * self.width + x]
    }

    /// Red, green, blue at a pixel.
    pub(crate) fn rgb(&self, x: usize, y: usize) -> [f32; 3] {
        ["R", "G", "B"].map(|name| self.at(name, x, y))
    }
}

/// Fails unless two colours are as close as half floats permit.
#[track_caller]
pub(crate) fn assert_near(got: [f32; 3], wanted: [f32; 3]) {
    let near = got.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 1e-3 * b.abs().max(1.0));
    assert!(near, "{got:?} is not {wanted:?}");
}
