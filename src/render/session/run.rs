//! A whole render: devices are opened, scenes are read, worlds are drawn. The next world is read while one is drawn.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::film::{DisplayOutcome, Film, OutputNaming};
use crate::gpu::{GpuError, OpenOptions, Opening, open_each};
use crate::host_memory::{Charge, HostMemory};
use crate::options::{HANG_TIMEOUT, RenderOptions};
use crate::outcome::{Ending, Outcome};
use crate::progress::Observer;
use crate::render::checkpoint::Checkpoint;
use crate::render::session::devices::DeviceSlot;
use crate::render::session::test_aids::Aids;
use crate::render::session::{Drawn, Session, report_refusal};
use crate::rib;
use crate::scene::{Camera, Options, SearchPaths, World};
use crate::stats::{Stage, Stats};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Worlds that wait to be drawn while others are read.
const READ_AHEAD: usize = 1;
/// How often it is looked whether reading waits for memory, while worlds are gathered.
const STARVED_POLL: Duration = Duration::from_millis(20);

/// See [`crate::render()`].
pub(crate) fn run(options: &RenderOptions, reporter: &Arc<Reporter>, observer: &dyn Observer) -> Outcome {
    let ended = |ending| Outcome { ending, displays: Vec::new(), stats: Stats::default() };
    let aids = match Aids::from_environment() {
        Ok(aids) => aids,
        Err(message) => {
            reporter.report(Diagnostic::new(Severity::Severe, "usage", SourceLocation::default(), message));
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
    let opening = Instant::now();
    let devices = match open_devices(options, reporter, &aids) {
        Ok(devices) => devices,
        Err(error) => {
            let severe = Diagnostic::new(Severity::Severe, "nodevice", SourceLocation::default(), error.to_string());
            reporter.report(severe.hint(error.hint()));
            let wrong = matches!(error, GpuError::UnknownDevice { .. } | GpuError::TooLittleMemory { .. });
            return ended(if wrong { Ending::WrongUsage } else { Ending::NoDevice });
        }
    };
    let open = opening.elapsed();
    let memory = options.host_memory_bytes.map_or_else(HostMemory::of_machine, HostMemory::new);
    let mut session = Session::new(options, (reporter, observer), devices, (aids, Arc::clone(&memory)));
    session.stats.open = open;
    if let Some(Err(refusal)) = checkpoint.map(|checkpoint| session.keep(checkpoint)) {
        return refused(refusal);
    }
    session.advise_devices();
    let (sender, receiver) = bounded(READ_AHEAD);
    let stopped = AtomicBool::new(false);
    let (ending, displays, read) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read(options, &memory, reporter, (sender, &stopped)));
        let (ending, displays) = draw_all(&mut session, &memory, &receiver);
        // Who still reads, or waits for memory of worlds that nobody draws any more, comes to its end.
        stopped.store(true, Ordering::Relaxed);
        receiver.into_iter().for_each(drop);
        (ending, displays, reading.join().unwrap_or_default())
    });
    let mut stats = std::mem::take(&mut session.stats);
    stats.stages.add(Stage::Parse, read.took);
    let nothing = displays.is_empty() && read.worlds == 0 && reporter.count_at_least(Severity::Error) > 0;
    let unreadable = ending == Ending::Finished && (read.unreadable || nothing);
    let disturbed = session.aids.check_faults(reporter);
    let ending = match ending {
        Ending::Finished if unreadable => Ending::Unreadable,
        Ending::Finished if !disturbed => Ending::FaultNotReached,
        ending => ending,
    };
    session.close_checkpoint(ending, &displays);
    if read.worlds == 0 {
        advise_no_world(options, reporter);
    } else if ending == Ending::Finished && session.worlds() == 0 {
        let message = format!("--frames names no frame of the scene, which has {}", read.worlds);
        reporter.warn("nothing", &SourceLocation::default(), message);
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
    let place = SourceLocation { file: place, ..SourceLocation::default() };
    let warning = Diagnostic::new(Severity::Warning, "nothing", place, "the scene has no world: nothing is drawn");
    reporter.report(warning.hint("what is drawn stands between WorldBegin and WorldEnd"));
}

/// Opens the devices. Those that fail are told of; it is an error if none can, and trying again would not help.
fn open_devices(options: &RenderOptions, reporter: &Arc<Reporter>, aids: &Aids) -> Result<Vec<DeviceSlot>, GpuError> {
    let mut open_options = OpenOptions {
        validate: options.validate,
        memory_bytes: options.memory_bytes,
        faults: aids.faults.clone(),
        ..OpenOptions::new(Arc::clone(reporter))
    };
    open_options.timeout = options.timeout.unwrap_or(HANG_TIMEOUT);
    open_options.compile_timeout = options.timeout.unwrap_or(open_options.compile_timeout);
    let openings = if options.check { Vec::new() } else { open_each(&options.devices, &open_options)? };
    let hopeless = |opening: &Opening| opening.device.as_ref().err().filter(|error| !error.ends_device()).cloned();
    if let Some(errors) = openings.iter().map(hopeless).collect::<Option<Vec<GpuError>>>()
        && let Some(first) = errors.into_iter().next()
    {
        return Err(first);
    }
    Ok(openings.into_iter().map(|opening| DeviceSlot::new(opening, &open_options)).collect())
}

/// A world that waits to be drawn, with the charge for what it holds.
type Waiting = (World, Arc<Charge>);

/// Hands worlds on as they are complete, those of frames that are not wanted excepted.
struct Hand<'a> {
    options: &'a RenderOptions,
    worlds: Sender<Waiting>,
    /// Set when no more worlds are drawn.
    stopped: &'a AtomicBool,
    /// Worlds read so far, in all scenes.
    count: i32,
    waited: Duration,
}

impl Hand<'_> {
    /// Whether the world that is being read is to be drawn. A world without FrameBegin counts as the frame of its place.
    fn wants(&self, options: &Options) -> bool {
        let frame = options.frame.unwrap_or(self.count.saturating_add(1));
        self.options.frames.as_ref().is_none_or(|frames| frames.contains(frame))
    }
}

impl rib::WorldConsumer for Hand<'_> {
    fn film_bytes(&self, options: &Options, camera: &Camera) -> u64 {
        if self.wants(options) { Film::bytes_of(options, camera) } else { 0 }
    }

    fn take(&mut self, world: World, charge: Arc<Charge>) -> ControlFlow<()> {
        let wanted = self.wants(&world.options);
        self.count = self.count.saturating_add(1);
        if wanted {
            let full = Instant::now();
            // It fails when nobody draws any more.
            let _ = self.worlds.send((world, charge));
            self.waited += full.elapsed();
        }
        let goes_on = !self.stopped.load(Ordering::Relaxed);
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Reads all scenes, handing each world on as it is complete.
fn read(
    options: &RenderOptions,
    memory: &Arc<HostMemory>,
    reporter: &Reporter,
    (worlds, stopped): (Sender<Waiting>, &AtomicBool),
) -> Scenes {
    let settings = settings(options, memory);
    let begin = Instant::now();
    let mut hand = Hand { options, worlds, stopped, count: 0, waited: Duration::ZERO };
    let mut scenes = Scenes::default();
    for scene in &options.scenes {
        let input = rib::Input::from_argument(scene);
        let summary = rib::read(&input, &settings, reporter, &mut hand);
        scenes.worlds += u64::from(summary.worlds);
        scenes.unreadable |= summary.cut || summary.stopped == Some(rib::Stopped::Unreadable);
        if summary.stopped.is_some_and(|stopped| stopped != rib::Stopped::Unreadable) {
            break;
        }
    }
    Scenes { took: begin.elapsed().saturating_sub(hand.waited), ..scenes }
}

fn settings(options: &RenderOptions, memory: &Arc<HostMemory>) -> rib::Settings {
    let overrides = &options.overrides;
    rib::Settings {
        overrides: rib::RibOverrides {
            format: overrides.format,
            crop: overrides.crop,
            pixel_samples: overrides.samples,
            shading_rate: overrides.shading_rate,
        },
        search: SearchPaths::default(),
        limits: rib::Limits::default(),
        memory: Arc::clone(memory),
    }
}

/// Draws worlds as they come. With `-o` all must be known first, as far as memory goes: its name may fit only one.
fn draw_all(
    session: &mut Session<'_>,
    memory: &HostMemory,
    worlds: &Receiver<Waiting>,
) -> (Ending, Vec<DisplayOutcome>) {
    let mut displays = Vec::new();
    let options = session.options;
    let mut naming = options.output.as_ref().map(OutputNaming::new);
    loop {
        let mut batch = next_batch(memory, worlds, naming.is_some());
        if batch.is_empty() {
            return (Ending::Finished, displays);
        }
        let mut each: Vec<&mut Options> = batch.iter_mut().map(|(world, _)| &mut world.options).collect();
        if let Some(Err(message)) = naming.as_mut().map(|naming| naming.apply(&mut each)) {
            session.reporter.report(Diagnostic::new(Severity::Severe, "usage", SourceLocation::default(), message));
            return (Ending::WrongUsage, displays);
        }
        for (world, charge) in batch {
            let Drawn { displays: drawn, ending } = session.draw(world, &charge);
            displays.extend(drawn);
            if let Some(ending) = ending {
                return (ending, displays);
            }
        }
    }
}

/// The next world, or all that are left; of these fewer where reading waits for memory that only drawn worlds give back. None at the end.
fn next_batch(memory: &HostMemory, worlds: &Receiver<Waiting>, all: bool) -> Vec<Waiting> {
    if !all {
        return worlds.recv().into_iter().collect();
    }
    let mut batch = Vec::new();
    loop {
        match worlds.recv_timeout(STARVED_POLL) {
            Ok(waiting) => batch.push(waiting),
            Err(RecvTimeoutError::Disconnected) => return batch,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if memory.is_waited_for() && !batch.is_empty() {
            return batch;
        }
    }
}
