//! What the user asks of a render: every flag of the command line with its meaning, none of its spelling.

use crate::film::OutputName;
use crate::trace::Trace;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// How long a device's queue may stand still before it is taken to hang, unless the user says otherwise.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// Frame numbers: a union of ranges, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames(pub Vec<RangeInclusive<i32>>);

impl Frames {
    /// Whether a frame is among them. A world without FrameBegin counts as the frame of its place in the scene, from 1.
    pub fn contains(&self, frame: i32) -> bool {
        self.0.iter().any(|range| range.contains(&frame))
    }
}

/// What takes the place of what the RIB says, in every world.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Overrides {
    /// Format: width and height in pixels; at least 1. The pixel aspect ratio stays.
    pub format: Option<[u32; 2]>,
    /// CropWindow: xmin, xmax, ymin, ymax in NDC; increasing, between 0 and 1.
    pub crop: Option<[f64; 4]>,
    /// PixelSamples in x and y; at least 1.
    pub samples: Option<[u32; 2]>,
    /// ShadingRate of every primitive, in pixels; positive.
    pub shading_rate: Option<f32>,
}

/// Where finished pixels are kept while others are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// The file; it is removed when every display was written whole.
    pub path: PathBuf,
    /// Time between two writes of it.
    pub interval: Duration,
    /// Go on from what the file holds.
    pub resume: bool,
}

/// A whole render: scenes in, displays out.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// RIB files, read one after the other as one stream; `-` is standard input.
    pub scenes: Vec<PathBuf>,
    /// The name that replaces the primary picture of each world.
    pub output: Option<OutputName>,
    /// Which devices draw, as [`crate::gpu::select`] reads it: `all`, `alike`, or a list of indices and names.
    pub devices: String,
    /// Bound of one opened device's share of device memory, everything included.
    pub memory_bytes: Option<u64>,
    /// Bound of host memory for texts of scenes, geometry and films; `None` is half of the machine's memory.
    pub host_memory_bytes: Option<u64>,
    /// Frames to draw; `None` is all of them.
    pub frames: Option<Frames>,
    /// What overrides the RIB.
    pub overrides: Overrides,
    /// Cut each picture into about this many regions of different sizes before drawing begins, so that a cost model can be fitted to their
    /// times; `None` begins with the whole picture.
    pub regions: Option<NonZeroUsize>,
    /// Read the scene, compile its shaders and check its outputs, but draw nothing. No device is opened.
    pub check: bool,
    /// Run under Vulkan's validation layers and report what they say as errors.
    pub validate: bool,
    /// How long a device may make no progress, and compiling one kernel may take; `None` is [`HANG_TIMEOUT`], and ten minutes for compiling.
    pub timeout: Option<Duration>,
    /// Where finished pixels are kept, so that a render that was stopped can go on.
    pub checkpoint: Option<CheckpointOptions>,
    /// Where slices of time are written.
    pub trace: Trace,
}
