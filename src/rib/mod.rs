//! RIB: bytes to requests to [`World`]s.
//!
//! [`read`] goes through one input. Every request is looked up in one table (`requests`), reads its arguments from the
//! `lexer` and becomes an `effect`: a change of the graphics state or a primitive. Effects are applied at once,
//! collected by a motion block (`moving`), or kept by an object and applied again at each instance (`objects`). What the state
//! is at a primitive goes into a [`crate::scene::Drawable`]; at WorldEnd the finished [`World`] is handed over, so that the next
//! one may be read while it is drawn.
//!
//! All input is untrusted. A fault ends the request it is in and is reported with file, line and column; reading goes on at the
//! next request. Counts are believed only as far as the values that were really read.

mod archives;
mod args;
mod attributes;
mod basis;
mod blocks;
mod declare;
mod displays;
mod effect;
mod fault;
mod freeze;
mod geometry;
mod lexer;
mod motion;
mod moving;
mod number;
mod objects;
mod options;
mod params;
mod primitives;
mod reader;
mod requests;
mod scoped;
mod search;
mod shaders;
mod source;
mod state;
mod transforms;
mod unsupported;
mod worlds;

#[cfg(test)]
mod tests;

pub use source::Input;

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::host_memory::{Charge, HostMemory};
use crate::scene::{Camera, Options, SearchPaths, World};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What the command line says and RIB cannot change. Which frames are drawn and under which names is decided where the worlds go.
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
}

/// How much untrusted input may ask for. What is beyond is left out with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Archives read in all: archives that read archives can grow without bound.
    pub archive_reads: u64,
    /// Blocks open at once.
    pub blocks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { archive_reads: 1 << 22, blocks: 1 << 16 }
    }
}

/// What [`read`] needs to know besides the input.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The standard search paths: what `@` stands for, and what holds until a RIB sets its own.
    pub search: SearchPaths,
    /// What the command line says.
    pub overrides: RibOverrides,
    /// Bounds for untrusted input.
    pub limits: Limits,
    /// What texts and worlds are taken from.
    pub memory: Arc<HostMemory>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search: SearchPaths::default(),
            overrides: RibOverrides::default(),
            limits: Limits::default(),
            memory: HostMemory::of_machine(),
        }
    }
}

/// Who takes the worlds of an input.
pub trait WorldConsumer {
    /// Bytes of host memory that the film of a world takes. Asked at WorldBegin, so that geometry leaves room for it.
    fn film_bytes(&self, _options: &Options, _camera: &Camera) -> u64 {
        0
    }

    /// Takes a world, with the charge for all that it holds: what the world takes is free when that is dropped. Breaking ends the reading.
    fn take(&mut self, world: World, charge: Arc<Charge>) -> ControlFlow<()>;
}

impl<F: FnMut(World) -> ControlFlow<()>> WorldConsumer for F {
    fn take(&mut self, world: World, _charge: Arc<Charge>) -> ControlFlow<()> {
        self(world)
    }
}

/// Why reading ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The input could not be opened or unpacked; the message was reported.
    Unreadable,
    /// An error under `ErrorHandler "abort"`.
    Aborted,
    /// The taker of worlds said so.
    Consumer,
}

/// What happened in one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Worlds handed over.
    pub worlds: u32,
    /// Requests read.
    pub requests: u64,
    /// Errors reported, repeats included.
    pub errors: u64,
    /// Whether something is left out for want of host memory.
    pub cut: bool,
    /// Why it ended before the end of the input.
    pub stopped: Option<Stopped>,
}

/// Reads one input and hands each world to `worlds` as soon as it is complete. Inputs share nothing but the settings.
///
/// Faults of the input go to `reporter` and never end the reading, except under `ErrorHandler "abort"`. Texts and worlds take host memory
/// from `settings.memory`; where that is used up, the rest of the text, or of the world's objects, is left out with a severe error, and what
/// came before is drawn.
pub fn read(input: &Input, settings: &Settings, reporter: &Reporter, worlds: &mut dyn WorldConsumer) -> Summary {
    match source::Source::load(input, &settings.memory) {
        Ok(source) => reader::Reader::new(settings, reporter, worlds).read(&Arc::new(source)),
        Err(error) => {
            let location = SourceLocation { file: input.name().into(), line: 0, column: 0 };
            let message = format!("cannot read it: {error}");
            reporter.report(Diagnostic::new(Severity::Severe, "nofile", location, message));
            Summary { errors: 1, stopped: Some(Stopped::Unreadable), ..Summary::default() }
        }
    }
}
