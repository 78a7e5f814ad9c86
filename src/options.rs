//! What the user asks of a render: the meaning of every flag of the command line, not its spelling.

use crate::files::{FileClaims, beside, resolve};
use crate::film::OutputName;
use crate::gpu::Breadcrumbs;
use crate::line_profile::LineProfile;
use crate::pipeline_choice::PipelineChoice;
use crate::scene::SearchPaths;
use crate::trace::Trace;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a device may make no progress before it counts as hanging, unless the user says otherwise.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// Frame numbers: a union of ranges, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames(pub Vec<RangeInclusive<i32>>);

impl Frames {
    /// Whether a frame is among them. A world without FrameBegin is numbered by its position in the scene, from 1.
    pub fn contains(&self, frame: i32) -> bool {
        self.0.iter().any(|range| range.contains(&frame))
    }
}

/// Settings that override those of the scene, in every world.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Overrides {
    /// Format: width and height in pixels, 1 to [`RESOLUTION_MAX`](crate::scene::RESOLUTION_MAX). The pixel aspect
    /// ratio stays.
    pub format: Option<[u32; 2]>,
    /// CropWindow: xmin, xmax, ymin, ymax in NDC, increasing, between 0 and 1 unless there is overscan.
    pub crop: Option<[f64; 4]>,
    /// Whether crop windows, that of the scene too, may select what is outside of the format.
    pub overscan: bool,
    /// PixelSamples in x and y, at least 1.
    pub samples: Option<[u32; 2]>,
    /// ShadingRate of every primitive in pixels, positive.
    pub shading_rate: Option<f32>,
    /// Macros for the sources of shaders, beside `ANTHILL`: `NAME` (which is 1) or `NAME=VALUE`.
    pub macros: Vec<String>,
}

/// How finished pixels are saved while others are rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// The file. It is removed when every display has been written whole.
    pub path: PathBuf,
    /// The time of work that a killed program loses at most, if regions take as long as was estimated.
    pub interval: Duration,
    /// Whether to continue from what the file contains.
    pub resume: bool,
}

/// A region that is drawn again after the picture, while RenderDoc records what its device does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// The capture's file.
    pub path: PathBuf,
    /// Which region it is.
    pub region: CaptureRegion,
}

/// One of the regions that the first picture was drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureRegion {
    /// The one that took the most time of its device.
    Slowest,
    /// The one with this number, from 0, in the order in which they were begun.
    Number(usize),
    /// The one that holds this pixel in raster space.
    At([i32; 2]),
}

/// What the file that the next checkpoint is written to has more in its name.
pub(crate) const PART_SUFFIX: &str = ".part";
/// What the file that keeps other renders from using the checkpoint has more in its name.
pub(crate) const LOCK_SUFFIX: &str = ".lock";

impl CheckpointOptions {
    /// Returns all files that are written: the checkpoint, the next one before it is renamed, and the lock.
    pub fn files(&self) -> [PathBuf; 3] {
        let path = resolve(&self.path).unwrap_or_else(|_| self.path.clone());
        let [part, lock] = [PART_SUFFIX, LOCK_SUFFIX].map(|suffix| beside(&path, suffix));
        [self.path.clone(), part, lock]
    }
}

/// A whole render: scenes in, displays out.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// RIB files, read one after the other as one stream; `-` is standard input.
    pub scenes: Vec<PathBuf>,
    /// The name that replaces that of the primary picture of each world.
    pub output: Option<OutputName>,
    /// The driver that replaces that of the primary picture of each world.
    pub display_type: Option<String>,
    /// RIB texts that are read before each scene.
    pub prologue: Vec<String>,
    /// Fragments of edits that are made of each world, in this order.
    pub edits: Vec<PathBuf>,
    /// How long programs that scenes name may take for an answer; `None` runs no program.
    pub programs: Option<Duration>,
    /// Folders that are searched before those that scenes name.
    pub search_first: SearchPaths,
    /// Folders that are searched after those that scenes name, and the meaning of `@` in search paths.
    pub search_last: SearchPaths,
    /// The devices to use, as [`crate::gpu::select`] reads them: `all`, `alike`, or a list of indices and names.
    pub devices: String,
    /// Limit of the device memory of each opened device, everything included; `None` is three quarters of what it has.
    pub memory_bytes: Option<u64>,
    /// Device memory for textures, of each opened device; `None` is what the scene says, or else a default.
    pub texture_memory_bytes: Option<u64>,
    /// Limit of the host memory for the text of scenes, geometry and films; `None` is half of the machine's memory.
    pub host_memory_bytes: Option<u64>,
    /// The frames to render; `None` is all of them.
    pub frames: Option<Frames>,
    /// Settings that override those of the scene.
    pub overrides: Overrides,
    /// Cut each picture into about this many regions of different sizes to begin with, so that a cost model can be
    /// fitted to their times; `None` begins with the whole picture.
    pub regions: Option<NonZeroUsize>,
    /// Which pipeline each device draws with. It changes no pixel.
    pub pipelines: PipelineChoice,
    /// Read the scene, compile its shaders and check its outputs, but render nothing. No device is opened.
    pub check: bool,
    /// Run under Vulkan's validation layers and report their messages as errors.
    pub validate: bool,
    /// How long a device may make no progress and a texture's file not answer; `None` is [`HANG_TIMEOUT`]. Compiling
    /// one kernel may take ten times as long.
    pub timeout: Option<Duration>,
    /// How long the render may take; then what is finished is written. The bytes that its files may take are a limit of
    /// [`Self::files`].
    pub time_max: Option<Duration>,
    /// How finished pixels are saved, so that a render that was stopped can continue.
    pub checkpoint: Option<CheckpointOptions>,
    /// The capture that is made after the first picture.
    pub capture: Option<CaptureOptions>,
    /// Time each kernel of each device by itself, for which those that could run at once run one after another. It
    /// changes no pixel. A trace does the same.
    pub profile: bool,
    /// When devices leave breadcrumbs, by which it is found which kernel they were in when they failed. It changes no
    /// pixel.
    pub breadcrumbs: Breadcrumbs,
    /// The trace that timelines are written to.
    pub trace: Trace,
    /// Receives what shading costs by line of RSL, which kernels then count. Pixels are the same.
    pub line_profile: Option<Arc<LineProfile>>,
    /// The files of the render, each with its role. A file is claimed before it is opened.
    pub files: Arc<FileClaims>,
}
