//! What reading needs besides the input.

use super::stream::source::Input;
use crate::files::FileClaims;
use crate::host_memory::HostMemory;
use crate::progress::Interrupt;
use crate::scene::SearchPaths;
use std::sync::Arc;
use std::time::Duration;

/// Settings of the command line that take precedence over the RIB. The consumer of the worlds decides which frames are
/// drawn and under which names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RibOverrides {
    /// Picture size in pixels, of worlds that show a picture (not of depth passes).
    pub format: Option<[u32; 2]>,
    /// Crop window xmin xmax ymin ymax in 0 to 1, or beyond with overscan, of worlds that show a picture.
    pub crop: Option<[f64; 4]>,
    /// Whether crop windows may go beyond 0 and 1, of worlds that show a picture.
    pub overscan: bool,
    /// Samples per pixel in x and y, of worlds that show a picture.
    pub pixel_samples: Option<[u32; 2]>,
    /// Shading rate of every object.
    pub shading_rate: Option<f32>,
    /// Memory for textures in kilobytes, of every world.
    pub texture_memory_kib: Option<u32>,
}

/// Limits on what untrusted input may request. Anything beyond them is left out with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Total number of archive reads; nested archives could otherwise grow without bound.
    pub archive_reads: u64,
    /// Number of blocks that are open at once.
    pub blocks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { archive_reads: 1 << 22, blocks: 1 << 16 }
    }
}

/// Everything that [`read`](super::read) needs besides the input.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The standard search paths: the value of `@`, and the paths in effect until a RIB sets its own.
    pub search: SearchPaths,
    /// Directories that are searched before those of the paths.
    pub search_first: SearchPaths,
    /// Directories that are searched after those of the paths, and at `@`.
    pub search_last: SearchPaths,
    /// Texts that are read before the input.
    pub prologue: Vec<String>,
    /// Settings of the command line.
    pub overrides: RibOverrides,
    /// How long programs that the input names may take for an answer; `None` runs no program.
    pub programs: Option<Duration>,
    /// Fragments of edits that are made of each world, in this order (docs/edits.md).
    pub edits: Vec<Input>,
    /// Whether worlds are edited after they were read: then they keep hidden objects, which edits may show.
    pub is_live: bool,
    /// Bounds for untrusted input.
    pub limits: Limits,
    /// The host memory that texts and worlds are charged to.
    pub memory: Arc<HostMemory>,
    /// Ends the reading once it is raised.
    pub interrupt: Interrupt,
    /// The files of the render; archives are claimed before they are opened.
    pub files: Arc<FileClaims>,
}

impl Settings {
    /// Whether worlds are edited, now or later.
    pub(crate) fn expects_edits(&self) -> bool {
        self.is_live || !self.edits.is_empty()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search: SearchPaths::default(),
            search_first: SearchPaths::default(),
            search_last: SearchPaths::default(),
            prologue: Vec::new(),
            overrides: RibOverrides::default(),
            programs: None,
            edits: Vec::new(),
            is_live: false,
            limits: Limits::default(),
            memory: HostMemory::of_machine(),
            interrupt: Interrupt::default(),
            files: Arc::default(),
        }
    }
}
