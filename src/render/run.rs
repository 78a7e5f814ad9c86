//! A whole render: devices are opened, scenes are read, worlds are drawn. The next world is read while one is drawn.

use super::aids::Aids;
use super::checkpoint::Checkpoint;
use super::session::{Drawn, Session, report_refusal};
use crate::diagnostic::{Diagnostic, Place, Reporter, Severity};
use crate::gpu::{Device, GpuError, OpenOptions, open};
use crate::options::RenderOptions;
use crate::outcome::{Ending, Outcome};
use crate::progress::Observer;
use crate::rib;
use crate::scene::{Options, World};
use crate::stats::{Stage, Stats};
use crossbeam::channel::{Receiver, Sender, bounded};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Worlds that wait to be drawn while others are read.
const READ_AHEAD: usize = 1;

/// See [`crate::render()`].
pub(crate) fn run(options: &RenderOptions, reporter: &Arc<Reporter>, observer: &dyn Observer) -> Outcome {
    let ended = |ending| Outcome { ending, displays: Vec::new(), stats: Stats::default() };
    let aids = match Aids::from_environment() {
        Ok(aids) => aids,
        Err(message) => {
            reporter.report(Diagnostic::new(Severity::Severe, "usage", Place::default(), message));
            return ended(Ending::WrongUsage);
        }
    };
    let refused = |refusal| {
        report_refusal(reporter, &refusal);
        ended(Ending::WrongUsage)
    };
    let checkpoint = options.checkpoint.as_ref().map(|checkpoint| Checkpoint::open(checkpoint, reporter)).transpose();
    let checkpoint = match checkpoint {
        Ok(checkpoint) => checkpoint,
        Err(refusal) => return refused(refusal),
    };
    let devices = match open_devices(options, reporter, &aids) {
        Ok(devices) => devices,
        Err(error) => {
            let severe = Diagnostic::new(Severity::Severe, "nodevice", Place::default(), error.to_string());
            reporter.report(severe.hint(error.hint()));
            let wrong = matches!(error, GpuError::UnknownDevice { .. } | GpuError::TooLittleMemory { .. });
            return ended(if wrong { Ending::WrongUsage } else { Ending::NoDevice });
        }
    };
    let mut session = Session::new(options, (reporter, observer), devices, aids);
    if let Some(Err(refusal)) = checkpoint.map(|checkpoint| session.keep(checkpoint)) {
        return refused(refusal);
    }
    session.advise_devices();
    let (sender, receiver) = bounded(READ_AHEAD);
    let (ending, displays, read) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read(options, reporter, sender));
        let (ending, displays) = draw_all(&mut session, receiver);
        (ending, displays, reading.join().unwrap_or_default())
    });
    let mut stats = std::mem::take(&mut session.stats);
    stats.stages.add(Stage::Parse, read.took);
    let nothing = displays.is_empty() && read.worlds == 0 && reporter.count_at_least(Severity::Error) > 0;
    let unreadable = ending == Ending::Finished && (read.unreadable || nothing);
    let disturbed = session.aids.check_faults(reporter);
    let ending = match ending {
        Ending::Finished if unreadable => Ending::Unreadable,
        Ending::Finished if !disturbed => Ending::Undisturbed,
        ending => ending,
    };
    session.close_checkpoint(ending, &displays);
    if read.worlds == 0 {
        advise_no_world(options, reporter);
    }
    Outcome { ending, displays, stats }
}

/// What came of reading the scenes.
#[derive(Default)]
struct Scenes {
    /// Waiting excluded.
    took: Duration,
    worlds: u64,
    /// One could not be opened or unpacked.
    unreadable: bool,
}

fn advise_no_world(options: &RenderOptions, reporter: &Reporter) {
    let place = options.scenes.first().map(|scene| scene.display().to_string().as_str().into()).unwrap_or_default();
    let place = Place { file: place, ..Place::default() };
    let warning = Diagnostic::new(Severity::Warning, "nothing", place, "the scene has no world: nothing is drawn");
    reporter.report(warning.hint("what is drawn stands between WorldBegin and WorldEnd"));
}

fn open_devices(
    options: &RenderOptions,
    reporter: &Arc<Reporter>,
    aids: &Aids,
) -> Result<(Vec<Device>, OpenOptions), GpuError> {
    let mut open_options = OpenOptions {
        validate: options.validate,
        memory_bytes: options.memory_bytes,
        faults: aids.faults.clone(),
        ..OpenOptions::new(Arc::clone(reporter))
    };
    if let Some(timeout) = options.timeout {
        open_options.timeout = timeout;
        open_options.compile_timeout = timeout;
    }
    let devices = if options.check { Vec::new() } else { open(&options.devices, &open_options)? };
    Ok((devices, open_options))
}

/// Reads all scenes, handing each world on as it is complete.
fn read(options: &RenderOptions, reporter: &Reporter, worlds: Sender<World>) -> Scenes {
    let settings = settings(options);
    let begin = Instant::now();
    let mut waited = Duration::ZERO;
    let mut scenes = Scenes::default();
    for scene in &options.scenes {
        let input = rib::Input::from_argument(scene);
        let summary = rib::read(&input, &settings, reporter, &mut |world| {
            let full = Instant::now();
            let sent = worlds.send(world);
            waited += full.elapsed();
            if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        scenes.worlds += u64::from(summary.worlds);
        scenes.unreadable |= summary.stopped == Some(rib::Stopped::Unreadable);
        if summary.stopped.is_some_and(|stopped| stopped != rib::Stopped::Unreadable) {
            break;
        }
    }
    Scenes { took: begin.elapsed().saturating_sub(waited), ..scenes }
}

fn settings(options: &RenderOptions) -> rib::Settings {
    let overrides = &options.overrides;
    rib::Settings {
        overrides: rib::Overrides {
            format: overrides.format,
            crop: overrides.crop,
            pixel_samples: overrides.samples,
            shading_rate: overrides.shading_rate,
        },
        ..rib::Settings::default()
    }
}

/// Draws worlds as they come. With `-o` all must be known first: its name may fit only one.
fn draw_all(session: &mut Session<'_>, worlds: Receiver<World>) -> (Ending, Vec<crate::film::DisplayOutcome>) {
    let mut displays = Vec::new();
    let options = session.options;
    let wanted = |place: i32, world: &World| {
        let frame = world.options.frame.unwrap_or(place);
        options.frames.as_ref().is_none_or(|frames| frames.contains(frame))
    };
    let seen = Cell::new(0_u64);
    let count = |_: &(World, i32)| seen.set(seen.get() + 1);
    let numbered = worlds.into_iter().zip(1..).inspect(count);
    let mut numbered = numbered.filter(|(world, place)| wanted(*place, world)).map(|(world, _)| world);
    let mut collected;
    let worlds: &mut dyn Iterator<Item = World> = match &options.output {
        None => &mut numbered,
        Some(output) => {
            let mut all: Vec<World> = numbered.collect();
            let mut each: Vec<&mut Options> = all.iter_mut().map(|world| &mut world.options).collect();
            if let Err(message) = output.apply(&mut each) {
                session.reporter.report(Diagnostic::new(Severity::Severe, "usage", Place::default(), message));
                return (Ending::WrongUsage, displays);
            }
            collected = all.into_iter();
            &mut collected
        }
    };
    let mut drawn_count = 0;
    for world in worlds {
        drawn_count += 1;
        let Drawn { displays: drawn, ending } = session.draw(world);
        displays.extend(drawn);
        if let Some(ending) = ending {
            return (ending, displays);
        }
    }
    if drawn_count == 0 && seen.get() > 0 {
        let message = format!("--frames names no frame of the scene, which has {}", seen.get());
        session.reporter.warn("nothing", &Place::default(), message);
    }
    (Ending::Finished, displays)
}
