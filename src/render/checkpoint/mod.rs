//! Checkpoints: what is finished goes to a file every now and then, and a later run draws only what is missing.
//!
//! A [`Checkpoint`] is opened before anything is drawn, told of each world as it begins and ends, and closed. While a world is drawn a
//! thread writes its film, row by row: drawing does not wait for it. No pixel depends on who draws which region, so the picture of a
//! resumed render has the bits of one that was never stopped.

mod file;
mod identity;
mod lock;

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::film::{DisplayOutcome, Film, check_writable};
use crate::gpu::DeviceInfo;
use crate::options::CheckpointOptions;
use crate::pipeline::look::ImagerProgram;
use crate::render::device::picture::Picture;
use crate::scene::World;
use crossbeam::channel::{RecvTimeoutError, bounded};
use file::{Header, WorldState};
use flate2::read::ZlibDecoder;
use lock::Lock;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What a world that begins still needs.
pub(crate) enum Begun {
    /// To be drawn, as far as the film lacks pixels.
    Draw,
    /// Nothing: an earlier run wrote its displays.
    Written(Vec<DisplayOutcome>),
}

/// Why a checkpoint cannot be used; for the user.
#[derive(Debug, thiserror::Error)]
#[error("checkpoint \"{}\": {reason}", path.display())]
pub(crate) struct Refusal {
    path: PathBuf,
    reason: String,
    /// What to do about it.
    pub(crate) hint: &'static str,
}

const ANEW: &str = "without --resume the render starts from the beginning and replaces it";
const ELSEWHERE: &str = "--checkpoint names a file that anthill may make and replace";

/// A render's checkpoint.
pub(crate) struct Checkpoint {
    path: PathBuf,
    options: CheckpointOptions,
    reporter: Arc<Reporter>,
    header: Header,
    /// Pixels of the world that an earlier run was at, until that world comes.
    kept: Option<Vec<u8>>,
    /// The file holds pixels of the world that is drawn.
    has_pixels: bool,
    /// Worlds were finished since the file was written.
    outdated: bool,
    written: Instant,
    failed: bool,
    _lock: Lock,
}

impl Checkpoint {
    /// Takes hold of the file and, to resume, reads it.
    pub(crate) fn open(options: &CheckpointOptions, reporter: &Arc<Reporter>) -> Result<Self, Refusal> {
        // What a link points at is replaced, not the link.
        let path = options.path.canonicalize().unwrap_or_else(|_| options.path.clone());
        let refusal = |reason: String, hint| Refusal { path: options.path.clone(), reason, hint };
        check_writable(&path).map_err(|error| refusal(format!("cannot write it: {error}"), ELSEWHERE))?;
        if path.exists() && !(path.is_file() && file::may_be_replaced(&path).unwrap_or(false)) {
            return Err(refusal("it is there and is not a checkpoint".into(), ELSEWHERE));
        }
        let lock = Lock::take(file::with_suffix(&path, ".lock"));
        let lock = lock.map_err(|error| refusal(error.to_string(), "each render needs a checkpoint of its own"))?;
        let renderer = identity::of_renderer();
        let found = if options.resume { file::read(&path) } else { Ok(None) };
        let found = found.map_err(|error| refusal(error.to_string(), ANEW))?;
        if options.resume && found.is_none() {
            let message = format!("there is no checkpoint \"{}\": starting from the beginning", options.path.display());
            reporter.report(Diagnostic::new(Severity::Info, "checkpoint", SourceLocation::default(), message));
        }
        if found.as_ref().is_some_and(|found| found.header.renderer != renderer) {
            return Err(refusal("another version of anthill made it".into(), ANEW));
        }
        let (header, pixels) = found.map(|found| (found.header, found.pixels)).unwrap_or_default();
        let kept = header.current.map(|_| pixels);
        Ok(Self {
            path,
            options: options.clone(),
            reporter: Arc::clone(reporter),
            header: Header { renderer, ..header },
            has_pixels: false,
            kept,
            outdated: false,
            written: Instant::now(),
            failed: false,
            _lock: lock,
        })
    }

    /// Tells it which devices draw. Other ones may compute other last bits.
    pub(crate) fn set_devices<'a>(&mut self, devices: impl Iterator<Item = &'a DeviceInfo>) -> Result<(), Refusal> {
        let devices = identity::of_devices(devices);
        if !self.header.worlds.is_empty() && self.header.devices != devices {
            let before = self.header.devices.join("; ");
            let reason =
                format!("other devices or drivers drew it ({before}), whose pixels may differ in their last bits");
            return Err(self.refuse(reason));
        }
        self.header.devices = devices;
        Ok(())
    }

    fn refuse(&self, reason: impl Into<String>) -> Refusal {
        Refusal { path: self.options.path.clone(), reason: reason.into(), hint: ANEW }
    }

    fn note(&self, severity: Severity, place: &SourceLocation, message: String) {
        self.reporter.report(Diagnostic::new(severity, "checkpoint", place.clone(), message));
    }

    /// A world begins, the `number`th that is drawn. Its film gets the pixels that are finished.
    pub(crate) fn begin(
        &mut self,
        number: u32,
        (world, picture, imager): (&World, &Picture, Option<&ImagerProgram>),
        film: &Film,
    ) -> Result<Begun, Refusal> {
        let identity = identity::of_world(world, picture, imager, film.layout());
        let Some(known) = self.header.worlds.get(&number) else {
            self.enter(number, identity);
            return Ok(Begun::Draw);
        };
        if known.identity != identity {
            let reason = format!("the scene, its shaders or the flags have changed since (world {number} differs)");
            return Err(self.refuse(reason));
        }
        if known.finished
            && let Some(displays) = film.written_before()
        {
            self.note(Severity::Info, &world.location, format!("world {number} was drawn and written before"));
            return Ok(Begun::Written(displays));
        }
        if self.header.current != Some(number) {
            // Drawn anew; while pixels of a later world wait, the file stays as it is.
            self.enter(number, identity);
            return Ok(Begun::Draw);
        }
        if let Some(pixels) = self.kept.take() {
            if !pixels.is_empty() {
                film.restore(&mut ZlibDecoder::new(pixels.as_slice())).map_err(|_| self.refuse("it is damaged"))?;
                self.has_pixels = true;
            }
            let (finished, count) = film.progress();
            let message = format!("{finished} of {count} pixels of world {number} were drawn before");
            self.note(Severity::Info, &world.location, message);
        }
        Ok(Begun::Draw)
    }

    fn enter(&mut self, number: u32, identity: String) {
        self.header.worlds.insert(number, WorldState { identity, finished: false });
        if self.kept.is_none() {
            self.header.current = Some(number);
            self.has_pixels = false;
        }
    }

    /// Draws, and meanwhile writes what is finished; once more in the end if pixels are missing.
    pub(crate) fn keep_while(&mut self, film: &Film, draw: impl FnOnce()) {
        if self.kept.is_some() {
            return draw();
        }
        std::thread::scope(|scope| {
            let (stop, stopped) = bounded::<()>(0);
            scope.spawn(move || {
                let mut saved = film.progress().0;
                while stopped.recv_deadline(self.written + self.options.interval) == Err(RecvTimeoutError::Timeout) {
                    let finished = film.progress().0;
                    if finished > saved || self.outdated {
                        self.write(Some(film));
                        saved = finished;
                    }
                    self.written = Instant::now();
                }
                let (finished, count) = film.progress();
                if finished < count && finished > 0 {
                    self.write(Some(film));
                }
            });
            draw();
            drop(stop);
        });
    }

    /// A world has ended, with all its displays written or not.
    pub(crate) fn end(&mut self, number: u32, whole: bool) {
        if !whole {
            return;
        }
        if let Some(state) = self.header.worlds.get_mut(&number) {
            state.finished = true;
        }
        if self.kept.is_some() {
            return;
        }
        (self.header.current, self.has_pixels, self.outdated) = (None, false, true);
        if self.written.elapsed() >= self.options.interval {
            self.write(None);
        }
    }

    /// The render is over. When everything was written whole, nothing is left to resume and the file goes.
    pub(crate) fn close(mut self, all_written: bool) {
        let nothing_waits = self.kept.is_none() && self.header.worlds.values().all(|world| world.finished);
        if all_written && nothing_waits {
            let _ = std::fs::remove_file(file::part_of(&self.path));
            match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let message = format!("cannot remove \"{}\": {error}", self.options.path.display());
                    self.note(Severity::Warning, &SourceLocation::default(), message);
                }
                _ => {}
            }
        } else if self.outdated && self.kept.is_none() && !self.has_pixels {
            self.write(None);
        }
    }

    /// Writes the file. Rendering goes on if that fails, and is told so once.
    fn write(&mut self, film: Option<&Film>) {
        match file::write(&self.path, &self.header, film) {
            Ok(()) => (self.has_pixels, self.outdated) = (film.is_some(), false),
            Err(error) if !std::mem::replace(&mut self.failed, true) => {
                let path: &Path = &self.options.path;
                let message = format!("cannot write the checkpoint \"{}\": {error}", path.display());
                self.note(Severity::Warning, &SourceLocation::default(), message);
            }
            Err(_) => {}
        }
        self.written = Instant::now();
    }
}
