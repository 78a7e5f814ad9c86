//! Checkpoints: finished pixels are saved to a file at intervals, and a later run draws only what is missing.
//!
//! A [`Checkpoint`] is opened before anything is drawn, notified when each world begins and ends, and closed. While a
//! world is drawn, a thread appends what is finished to the file, and drawing does not wait for it. No pixel depends on
//! which device draws which region, so the picture of a resumed render has the same bits as one that was never
//! interrupted.

mod file;
mod identity;

pub(crate) use identity::add_programs;
mod lock;

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::{check_writable, resolve};
use crate::film::{DisplayOutcome, Film, SavedPixels};
use crate::gpu::DeviceInfo;
use crate::options::CheckpointOptions;
use crate::render::device::picture::{Picture, WorldImager};
use crate::scene::World;
use crossbeam::channel::{RecvTimeoutError, bounded};
use file::{CheckpointFile, CheckpointHeader, SavedWorld};
use lock::FileLock;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a world still needs when it begins.
pub(crate) enum WorldStart {
    /// The pixels that the film lacks must be drawn.
    Draw,
    /// Nothing is needed, because an earlier run wrote these displays.
    AlreadyWritten(Vec<DisplayOutcome>),
}

/// Why a checkpoint cannot be used, in words for the user.
#[derive(Debug, thiserror::Error)]
#[error("checkpoint \"{}\": {reason}", path.display())]
pub(crate) struct CheckpointError {
    path: PathBuf,
    reason: String,
    /// What to do about it.
    pub(crate) hint: &'static str,
}

const START_OVER: &str = "leave out --resume to render from the beginning and replace it";
const WITHOUT_LINES: &str = "lines are counted by other kernels: add --no-lines to continue what `anthill render` drew, \
                             or leave out --resume to render from the beginning and replace it";
const OTHER_FILE: &str = "name a file with --checkpoint that anthill may create and replace";

/// How often the file is written in an interval, at most, so that no more than this part of the interval is lost of
/// what is finished; the rest is for what is not.
const SAVES: u32 = 4;

/// How often to look for finished pixels.
const LOOK: Duration = Duration::from_millis(50);

/// The part of the interval that regions in flight should take.
const IN_FLIGHT_PART: f64 = 0.8;

/// The least time that regions in flight should take: less would cut them smaller than a submission.
const IN_FLIGHT_TIME_MIN: Duration = Duration::from_millis(100);

/// Returns the time that regions in flight should take at most, so that a killed program loses about the interval,
/// where the estimates of regions are right. Finished pixels are saved within [`LOOK`], or a quarter of the interval
/// where many devices finish regions.
pub(crate) fn in_flight_time_max(interval: Duration) -> Duration {
    interval.mul_f64(IN_FLIGHT_PART).max(IN_FLIGHT_TIME_MIN)
}

/// A render's checkpoint.
pub(crate) struct Checkpoint {
    path: PathBuf,
    options: CheckpointOptions,
    reporter: Arc<Reporter>,
    header: CheckpointHeader,
    /// Pixels of the world that an earlier run was interrupted in, until that world begins.
    resumed: Option<Vec<u8>>,
    /// Whether the file holds pixels of the world that is being drawn.
    has_pixels: bool,
    /// The file as this run wrote it last, and the pixels in it, as long as only pixels are to be added.
    open: Option<(CheckpointFile, SavedPixels)>,
    /// Whether worlds were finished since the file was written.
    outdated: bool,
    written: Instant,
    /// Whether writing the file has failed.
    failed: bool,
    _lock: FileLock,
}

impl Checkpoint {
    /// Locks the file and, to resume, reads it.
    pub(crate) fn open(options: &CheckpointOptions, reporter: &Arc<Reporter>) -> Result<Self, CheckpointError> {
        // The target of a link is replaced, not the link.
        let path = resolve(&options.path).unwrap_or_else(|_| options.path.clone());
        let refusal = |reason: String, hint| CheckpointError { path: options.path.clone(), reason, hint };
        check_writable(&path).map_err(|error| refusal(format!("cannot write it: {error}"), OTHER_FILE))?;
        if path.exists() && !(path.is_file() && file::may_be_replaced(&path).unwrap_or(false)) {
            return Err(refusal("the file exists and is not a checkpoint".into(), OTHER_FILE));
        }
        let part = file::part_of(&path);
        if part.symlink_metadata().is_ok_and(|found| !found.is_file())
            || part.exists() && !file::may_be_replaced(&part).unwrap_or(false)
        {
            return Err(refusal(format!("\"{}\" is not a part of a checkpoint", part.display()), OTHER_FILE));
        }
        let lock = FileLock::take(file::lock_of(&path));
        let lock = lock.map_err(|error| {
            refusal(error.to_string(), "name another file with --checkpoint: each render needs its own")
        })?;
        let renderer = identity::of_renderer();
        let found = if options.resume { file::read(&path) } else { Ok(None) };
        let found = found.map_err(|error| refusal(error.to_string(), START_OVER))?;
        if options.resume && found.is_none() {
            let message = format!("there is no checkpoint \"{}\": starting from the beginning", options.path.display());
            reporter.report(Diagnostic::new(Severity::Info, "checkpoint", SourceLocation::default(), message));
        }
        if found.as_ref().is_some_and(|found| found.header.renderer != renderer) {
            return Err(refusal("another version of anthill wrote it".into(), START_OVER));
        }
        let (header, pixels) = found.map(|found| (found.header, found.pixels)).unwrap_or_default();
        let resumed = header.current.map(|_| pixels);
        Ok(Self {
            path,
            options: options.clone(),
            reporter: Arc::clone(reporter),
            header: CheckpointHeader { renderer, ..header },
            has_pixels: false,
            open: None,
            resumed,
            outdated: false,
            written: Instant::now(),
            failed: false,
            _lock: lock,
        })
    }

    /// Sets the devices that draw.
    ///
    /// # Errors
    /// When other devices made the checkpoint: their pixels may differ in the last bits.
    pub(crate) fn set_devices<'a>(
        &mut self,
        devices: impl Iterator<Item = &'a DeviceInfo>,
    ) -> Result<(), CheckpointError> {
        let devices = identity::of_devices(devices);
        if !self.header.worlds.is_empty() && self.header.devices != devices {
            let before = self.header.devices.join("; ");
            let reason =
                format!("other devices or drivers drew it ({before}); their pixels may differ in the last bits");
            return Err(self.error(reason));
        }
        self.header.devices = devices;
        Ok(())
    }

    fn error(&self, reason: impl Into<String>) -> CheckpointError {
        CheckpointError { path: self.options.path.clone(), reason: reason.into(), hint: START_OVER }
    }

    fn report(&self, severity: Severity, place: &SourceLocation, message: String) {
        self.reporter.report(Diagnostic::new(severity, "checkpoint", place.clone(), message));
    }

    /// Begins the `number`th world that is drawn, and restores the pixels of its film that are finished.
    pub(crate) fn begin(
        &mut self,
        number: u32,
        world: &World,
        picture: &Picture,
        imager: Option<&WorldImager>,
        film: &Film,
    ) -> Result<WorldStart, CheckpointError> {
        let identity = identity::of_world(world, picture, imager, film.layout());
        let Some(known) = self.header.worlds.get(&number) else {
            self.add_world(number, identity);
            return Ok(WorldStart::Draw);
        };
        if known.identity != identity {
            let reason = format!(
                "the scene, its shaders or the flags have changed since it was written (world {number} differs)"
            );
            let counts = picture.line_profile.is_some();
            return Err(CheckpointError {
                hint: if counts { WITHOUT_LINES } else { START_OVER },
                ..self.error(reason)
            });
        }
        if known.finished
            && let Some(displays) = film.written_before()
        {
            self.report(
                Severity::Info,
                &world.location,
                format!("world {number} was drawn and written by an earlier run"),
            );
            return Ok(WorldStart::AlreadyWritten(displays));
        }
        if self.header.current != Some(number) {
            // It is drawn again. While pixels of a later world wait, the file stays as it is.
            self.add_world(number, identity);
            return Ok(WorldStart::Draw);
        }
        if let Some(pixels) = self.resumed.take() {
            if !pixels.is_empty() {
                film.restore(&pixels).map_err(|_| self.error("it is damaged"))?;
                self.has_pixels = true;
            }
            let (finished, count) = film.progress();
            let message = format!("{finished} of {count} pixels of world {number} were drawn by an earlier run");
            self.report(Severity::Info, &world.location, message);
        }
        Ok(WorldStart::Draw)
    }

    fn add_world(&mut self, number: u32, identity: String) {
        self.open = None;
        self.header.worlds.insert(number, SavedWorld { identity, finished: false });
        if self.resumed.is_none() {
            self.header.current = Some(number);
            self.has_pixels = false;
        }
    }

    /// Draws, and saves finished pixels: within a quarter of the interval after some are finished, but no more than a
    /// tenth of the time is spent on it unless the interval asks for more. Once more at the end if pixels are missing,
    /// or if the picture `may_be_unwritten`.
    pub(crate) fn save_while(&mut self, film: &Film, may_be_unwritten: bool, draw: impl FnOnce()) {
        if self.resumed.is_some() {
            return draw();
        }
        std::thread::scope(|scope| {
            let (stop, stopped) = bounded::<()>(0);
            scope.spawn(move || {
                let mut saved = film.progress().0;
                let mut pause = self.options.interval / SAVES;
                while stopped.recv_timeout(pause.min(LOOK)) == Err(RecvTimeoutError::Timeout) {
                    let finished = film.progress().0;
                    if (finished > saved || self.outdated) && self.written.elapsed() >= pause {
                        let begin = Instant::now();
                        self.write(Some(film));
                        saved = finished;
                        let (took, interval) = (begin.elapsed(), self.options.interval);
                        pause = (10 * took).clamp(interval / SAVES, interval).max(took);
                    }
                }
                let (finished, count) = film.progress();
                if finished > 0 && (finished < count || may_be_unwritten) {
                    self.write(Some(film));
                }
            });
            draw();
            drop(stop);
        });
    }

    /// Ends a world; `complete` if all its displays were written.
    pub(crate) fn end(&mut self, number: u32, complete: bool) {
        if !complete {
            return;
        }
        self.open = None;
        if let Some(state) = self.header.worlds.get_mut(&number) {
            state.finished = true;
        }
        if self.resumed.is_some() {
            return;
        }
        (self.header.current, self.has_pixels, self.outdated) = (None, false, true);
        if self.written.elapsed() >= self.options.interval {
            self.write(None);
        }
    }

    /// Ends the render. The file is removed if everything was written, because then nothing is left to resume.
    pub(crate) fn close(mut self, all_written: bool) {
        let nothing_waits = self.resumed.is_none() && self.header.worlds.values().all(|world| world.finished);
        if all_written && nothing_waits {
            let _ = std::fs::remove_file(file::part_of(&self.path));
            match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let message = format!("cannot remove \"{}\": {error}", self.options.path.display());
                    self.report(Severity::Warning, &SourceLocation::default(), message);
                }
                _ => {}
            }
        } else if self.outdated && self.resumed.is_none() && !self.has_pixels {
            self.write(None);
        }
    }

    /// Saves what is new. Rendering continues if that fails, which is reported once.
    fn write(&mut self, film: Option<&Film>) {
        match self.try_write(film) {
            Ok(()) => (self.has_pixels, self.outdated) = (film.is_some(), false),
            Err(error) if !std::mem::replace(&mut self.failed, true) => {
                let path: &Path = &self.options.path;
                let message = format!("cannot write the checkpoint \"{}\": {error}", path.display());
                self.report(Severity::Warning, &SourceLocation::default(), message);
            }
            Err(_) => {}
        }
        self.written = Instant::now();
    }

    /// Appends new pixels, or writes the whole file again if that is not enough.
    fn try_write(&mut self, film: Option<&Film>) -> io::Result<()> {
        let save = |saved: &SavedPixels, out: &mut dyn Write| match film {
            Some(film) => film.save(saved, out),
            None => Ok(SavedPixels::default()),
        };
        match &mut self.open {
            Some((file, saved)) if film.is_some() && file.is_at(&self.path) => {
                *saved = file.append(|out| save(saved, out))?;
            }
            _ => {
                let none = SavedPixels::default();
                self.open = Some(CheckpointFile::create(&self.path, &self.header, |out| save(&none, out))?);
            }
        }
        Ok(())
    }
}
