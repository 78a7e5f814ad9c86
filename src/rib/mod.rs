//! RIB: bytes to requests to [`World`]s.
//!
//! [`read_stream`] reads inputs one after the other. Every request is looked up in one table (`requests`), reads its
//! arguments from the `lexer` and becomes an `effect`: a change of the graphics state or a primitive. Effects are
//! applied immediately, collected by a motion block (`moving`), or kept by an object and applied again at each instance
//! (`objects`). The state at a primitive becomes a [`crate::scene::Drawable`]; at WorldEnd the finished [`World`] is
//! passed on, so that the next one can be read while it is drawn. So are textures to make, in the order of requests.
//!
//! All input is untrusted. A fault ends the request that contains it and is reported with file, line and column;
//! reading continues at the next request. A count in the input is trusted only as far as values were actually read.

mod archives;
mod area_lights;
mod args;
mod attributes;
mod basis;
mod binary;
mod blocks;
mod branches;
mod calls;
mod capabilities;
mod condition;
mod copy;
mod declare;
mod displays;
mod effect;
mod eye;
mod fault;
mod freeze;
mod frustum;
mod geometry;
mod lexer;
mod motion;
mod moving;
mod number;
mod objects;
mod options;
mod outline;
mod params;
mod primitives;
mod procedural;
mod program;
mod reader;
mod requests;
mod resource;
mod run_program;
mod scoped;
mod search;
mod shaders;
mod solids;
mod source;
mod state;
mod teapot;
mod textures;
mod tokens;
mod transforms;
mod unsupported;
mod worlds;

#[cfg(test)]
mod tests;

pub use capabilities::renderer_resource;
pub use copy::{CopyReport, RibEncoding, copy};
pub use source::Input;
pub use textures::RequestedTexture;

use crate::diagnostic::Reporter;
use crate::files::FileClaims;
use crate::host_memory::{Charge, HostMemory};
use crate::progress::Interrupt;
use crate::scene::{Camera, Options, SearchPaths, World};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Settings of the command line that take precedence over the RIB. The consumer of the worlds decides which frames are
/// drawn and under which names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RibOverrides {
    /// Picture size in pixels, of worlds that show a picture (not of depth passes).
    pub format: Option<[u32; 2]>,
    /// Crop window xmin xmax ymin ymax in 0 to 1, of worlds that show a picture.
    pub crop: Option<[f64; 4]>,
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

/// Everything that [`read`] needs besides the input.
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
    /// Bounds for untrusted input.
    pub limits: Limits,
    /// The host memory that texts and worlds are charged to.
    pub memory: Arc<HostMemory>,
    /// Ends the reading once it is raised.
    pub interrupt: Interrupt,
    /// The files of the render; archives are claimed before they are opened.
    pub files: Arc<FileClaims>,
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
            limits: Limits::default(),
            memory: HostMemory::of_machine(),
            interrupt: Interrupt::default(),
            files: Arc::default(),
        }
    }
}

/// Receives the worlds of an input, and the textures that are made between them.
pub trait WorldConsumer {
    /// Returns the bytes of host memory that the film of a world needs. Called at WorldBegin, so that geometry leaves
    /// room for the film.
    fn film_bytes(&self, _options: &Options, _camera: &Camera) -> u64 {
        0
    }

    /// Takes an outline of a large world that is still being read: all but its drawables as it is so far, and the first
    /// drawable of each sort. What the world needs can be prepared meanwhile; more may follow that needs other things.
    fn foresee(&mut self, _outline: World) {}

    /// Takes a world with the charge for everything in it; dropping the charge frees the world's share of host memory.
    /// Returning `Break` ends the reading.
    fn take(&mut self, world: World, charge: Arc<Charge>) -> ControlFlow<()>;

    /// Takes a texture that is to be made after the worlds so far. Returning `Break` ends the reading.
    fn make(&mut self, _texture: RequestedTexture) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Waits until the files of all worlds so far are written, because the next one is made from them.
    fn settle(&mut self) {}
}

impl<F: FnMut(World) -> ControlFlow<()>> WorldConsumer for F {
    fn take(&mut self, world: World, _charge: Arc<Charge>) -> ControlFlow<()> {
        self(world)
    }
}

/// Why reading ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// An input could not be opened or decompressed, which was reported; the others were read.
    Unreadable,
    /// An error occurred under `ErrorHandler "abort"`.
    Aborted,
    /// The consumer of worlds asked to stop, or the interrupt was raised.
    Consumer,
}

/// The result of reading a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of worlds that were passed to the consumer.
    pub worlds: u32,
    /// Number of textures that were passed to the consumer.
    pub textures: u32,
    /// Number of requests that were read.
    pub requests: u64,
    /// Number of reported errors, repeats included.
    pub errors: u64,
    /// Whether something was not read: the end of a text is missing or does not fit in host memory, it is damaged, or
    /// an archive cannot be read.
    pub incomplete: bool,
    /// Number of requests for geometry that is not supported or not valid.
    pub left_out: u64,
    /// Why reading ended before the end of the input, if it did.
    pub stopped: Option<Stopped>,
}

/// Reads one input and passes each world to `worlds` as soon as it is complete: see [`read_stream`].
pub fn read(input: &Input, settings: &Settings, reporter: &Reporter, worlds: &mut dyn WorldConsumer) -> Summary {
    read_stream(std::slice::from_ref(input), settings, reporter, worlds)
}

/// Reads inputs one after the other as one stream: options, attributes, declarations and objects of one hold in the
/// next, and a block may begin in one and end in another. Each world is passed to `worlds` as soon as it is complete.
///
/// Mistakes in the input are reported to `reporter` and never end the reading, except under `ErrorHandler "abort"`.
/// Texts and worlds are charged to `settings.memory`. When it is used up, the rest of the text or of the world's
/// objects is left out with a severe error, and everything before that is drawn.
pub fn read_stream(
    inputs: &[Input],
    settings: &Settings,
    reporter: &Reporter,
    worlds: &mut dyn WorldConsumer,
) -> Summary {
    let mut reader = reader::Reader::new(settings, reporter, worlds);
    reader.read_prologue();
    for input in inputs {
        match source::Source::load(input, &settings.memory) {
            Ok(source) => reader.read_input(&Arc::new(source)),
            Err(error) => reader.skip_input(input, &error),
        }
        if reader.is_stopped() {
            break;
        }
    }
    reader.finish()
}
