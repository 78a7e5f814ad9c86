//! A whole render: opens devices while the first world is read, and draws worlds while the next one is read.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::keep_reserve;
use crate::film::{DisplayOutcome, OutputNaming, RepeatedFrame, set_driver};
use crate::gpu::{GpuError, KeptDevices, OpenOptions, Opening, open_each};
use crate::host_memory::HostMemory;
use crate::options::{HANG_TIMEOUT, RenderOptions};
use crate::outcome::{Ending, Outcome};
use crate::progress::Observer;
use crate::render::checkpoint::Checkpoint;
use crate::render::report::world_statistics;
use crate::render::session::devices::DeviceSlot;
use crate::render::session::draw::{Session, SessionSetup, WorldOutcome, is_whole, report_checkpoint_error};
use crate::render::session::limits::{self, RenderLimits};
use crate::render::session::progress_ticker::ProgressTicker;
use crate::render::session::read_passes;
use crate::render::session::reading::{BegunReading, ReadItem, ReadSummary, ReadWorld, STARVED_POLL};
use crate::render::session::test_aids::TestAids;
use crate::scene::{Options, World};
use crate::stats::{Stage, Stats};
use crossbeam::channel::{never, select};
use std::sync::Arc;
use std::time::Instant;

/// See [`crate::render()`] and [`crate::render_on_kept`].
pub(crate) fn run(
    options: &RenderOptions,
    reporter: &Arc<Reporter>,
    observer: &dyn Observer,
    kept: Option<&KeptDevices>,
) -> Outcome {
    let ticker = ProgressTicker::new(observer, RenderLimits::new(options, reporter));
    ticker.tick_while(|| run_ticking(options, reporter, &ticker, kept))
}

/// As [`run`], while the observer is kept up to date.
fn run_ticking(
    options: &RenderOptions,
    reporter: &Arc<Reporter>,
    ticker: &ProgressTicker<'_>,
    kept: Option<&KeptDevices>,
) -> Outcome {
    let ended = |ending| Outcome { ending, displays: Vec::new(), stats: Stats::default() };
    let Some(aids) = TestAids::or_report(reporter) else { return ended(Ending::WrongUsage) };
    keep_reserve();
    let refused = |error| {
        report_checkpoint_error(reporter, &error);
        ended(Ending::WrongUsage)
    };
    let checkpoint = options.checkpoint.as_ref().map(|checkpoint| Checkpoint::open(checkpoint, reporter)).transpose();
    let checkpoint = match checkpoint {
        Ok(checkpoint) => checkpoint,
        Err(error) => return refused(error),
    };
    let memory = host_memory(options);
    let reading = BegunReading::begin(options, reporter, &memory, &ticker.interrupt);
    let (mut session, open_options) = match open_session(options, reporter, ticker, &aids, &memory, kept) {
        Ok(opened) => opened,
        Err(ending) => return ended(ending),
    };
    if let Some(Err(error)) = checkpoint.map(|checkpoint| session.use_checkpoint(checkpoint)) {
        return refused(error);
    }
    session.advise_devices();
    let Drawn { ending, displays, is_cut_short } = draw_all(&mut session, &memory, &reading);
    session.end_capture();
    let read = reading.end();
    let is_all_done = !is_cut_short && !read.cut_short && displays.iter().all(is_whole);
    let ending = limits::ending_of(ending, &ticker.interrupt, is_all_done);
    let stats = take_statistics(&mut session, &read);
    let has_nothing = read.worlds + read.textures == 0;
    let nothing = displays.is_empty() && has_nothing && reporter.count_at_least(Severity::Error) > 0;
    let unreadable = ending == Ending::Finished && (read.unreadable || nothing);
    let disturbed = aids.check_faults(reporter);
    let ending = match ending {
        Ending::Finished if !options.check && !session.slots.iter().any(DeviceSlot::has_opened) => Ending::NoDevice,
        Ending::Finished if options.files.clashed() => Ending::Clashing,
        Ending::Finished if unreadable => Ending::Unreadable,
        Ending::Finished if !disturbed => Ending::FaultNotReached,
        ending => ending,
    };
    session.close_checkpoint(ending, &displays);
    if let Some(kept) = kept {
        keep_devices(&mut session, &open_options, kept);
    }
    // What was not read may have worlds, and the frames that are asked for.
    if !read.cut_short {
        advise_on_nothing(options, reporter, &read, session.world_count());
    }
    Outcome { ending, displays, stats }
}

/// Returns the host's memory for what a render holds.
pub(super) fn host_memory(options: &RenderOptions) -> Arc<HostMemory> {
    options.host_memory_bytes.map_or_else(HostMemory::of_machine, HostMemory::new)
}

/// Opens the devices, and begins a session with them. Returns it with how they were opened.
///
/// # Errors
/// How a render without devices ends; why there are none was reported.
pub(super) fn open_session<'a>(
    options: &'a RenderOptions,
    reporter: &'a Arc<Reporter>,
    ticker: &'a ProgressTicker<'a>,
    aids: &TestAids,
    memory: &Arc<HostMemory>,
    kept: Option<&KeptDevices>,
) -> Result<(Session<'a>, OpenOptions), Ending> {
    let opening = Instant::now();
    let open_options = open_options(options, reporter, ticker, aids);
    let devices = open_devices(options, &open_options, kept).map_err(|error| {
        let severe = Diagnostic::new(Severity::Severe, "nodevice", SourceLocation::default(), error.to_string());
        reporter.report(severe.hint(error.hint()));
        let wrong = matches!(error, GpuError::UnknownDevice { .. } | GpuError::TooLittleMemory { .. });
        if wrong { Ending::WrongUsage } else { Ending::NoDevice }
    })?;
    let opened = Instant::now();
    let mut tuning = aids.tuning();
    tuning.bucket_px = tuning.bucket_px.or(options.pipelines.named.and_then(|pipeline| pipeline.colours.bucket_px()));
    let setup = SessionSetup { options, reporter, ticker, tuning, memory: Arc::clone(memory) };
    let mut session = Session::new(setup, devices);
    session.stats.open = opened - opening;
    session.phases.slice("open devices", opening, opened, &[]);
    Ok((session, open_options))
}

/// Returns the statistics of a session that ends, after what was read.
pub(super) fn take_statistics(session: &mut Session<'_>, read: &ReadSummary) -> Stats {
    let mut stats = std::mem::take(&mut session.stats);
    stats.stages.add(Stage::Parse, read.took);
    stats.left_out += read.left_out;
    stats.lost_files += session.textures.lost_count();
    let counted = session.options.line_profile.is_some();
    world_statistics::add_textures(&mut stats, &session.textures.statistics(), counted);
    stats
}

/// Says why nothing is drawn, where a scene was read that has nothing to draw.
fn advise_on_nothing(options: &RenderOptions, reporter: &Reporter, read: &ReadSummary, drawn_worlds: u32) {
    if read.worlds + read.textures == 0 {
        let place = options.scenes.first().map(|scene| scene.display().to_string().as_str().into());
        let place = SourceLocation { file: place.unwrap_or_default(), ..SourceLocation::default() };
        let message = "the scene has no world, so nothing is drawn";
        let warning = Diagnostic::new(Severity::Warning, "nothing", place, message);
        reporter.report(warning.hint("put what is to be drawn between WorldBegin and WorldEnd"));
    } else if options.frames.is_some() && read.worlds > 0 && drawn_worlds == 0 {
        let message = format!("--frames names no frame of the scene, which has {}", read.worlds);
        reporter.warn("nothing", &SourceLocation::default(), message);
    }
}

/// How devices are opened.
fn open_options(
    options: &RenderOptions,
    reporter: &Arc<Reporter>,
    ticker: &ProgressTicker<'_>,
    aids: &TestAids,
) -> OpenOptions {
    OpenOptions {
        validate: options.validate,
        memory_bytes: options.memory_bytes,
        faults: aids.faults.clone(),
        as_gpu: aids.as_gpu.clone(),
        interrupt: ticker.interrupt.clone(),
        compile_log: Arc::clone(&ticker.compile_log),
        timeout: options.timeout.unwrap_or(HANG_TIMEOUT),
        time_commands: options.profile || options.trace.is_on(),
        breadcrumbs: options.breadcrumbs,
        ..OpenOptions::new(Arc::clone(reporter))
    }
}

/// Leaves the devices to later renders, if all of them are still open.
fn keep_devices(session: &mut Session<'_>, open_options: &OpenOptions, kept: &KeptDevices) {
    let interrupted = session.ticker.interrupt.is_raised();
    if !interrupted && session.slots.iter().all(|slot| slot.device.is_some()) {
        let devices = session.slots.iter_mut().filter_map(|slot| slot.device.take()).collect();
        kept.keep(&session.options.devices, open_options, devices);
    }
}

/// Opens the devices, and reports those that fail.
///
/// # Errors
/// When no device opens, and trying again would not help.
fn open_devices(
    options: &RenderOptions,
    open_options: &OpenOptions,
    kept: Option<&KeptDevices>,
) -> Result<Vec<DeviceSlot>, GpuError> {
    let openings = match kept {
        _ if options.check => Vec::new(),
        Some(kept) => kept.open_each(&options.devices, open_options)?,
        None => open_each(&options.devices, open_options)?,
    };
    let hopeless = |opening: &Opening| opening.device.as_ref().err().filter(|error| !error.ends_device()).cloned();
    if let Some(errors) = openings.iter().map(hopeless).collect::<Option<Vec<GpuError>>>()
        && let Some(first) = errors.into_iter().next()
    {
        return Err(first);
    }
    Ok(openings.into_iter().map(|opening| DeviceSlot::new(opening, open_options)).collect())
}

/// What came of drawing.
struct Drawn {
    ending: Ending,
    displays: Vec<DisplayOutcome>,
    /// Whether something that was taken is not drawn.
    is_cut_short: bool,
}

/// Draws worlds and makes textures as they come. With `-o` or `--crop` all worlds must be known first, as far as memory
/// permits, because the name may fit only one, and pictures that others read are drawn whole.
fn draw_all(session: &mut Session<'_>, memory: &HostMemory, reading: &BegunReading) -> Drawn {
    let mut displays = Vec::new();
    let options = session.options;
    let mut naming = options.output.as_ref().map(OutputNaming::new);
    loop {
        let is_cropped = options.overrides.crop.is_some();
        let mut batch = next_batch(session, memory, reading, naming.is_some() || is_cropped);
        if session.ticker.interrupt.is_raised() {
            return Drawn { ending: Ending::Interrupted, displays, is_cut_short: !batch.is_empty() };
        }
        if batch.is_empty() {
            return Drawn { ending: Ending::Finished, displays, is_cut_short: false };
        }
        if let Some(Err(message)) = naming.as_mut().map(|naming| name_pictures(session, naming, &mut batch)) {
            session.reporter.report(Diagnostic::new(Severity::Severe, "usage", SourceLocation::default(), message));
            return Drawn { ending: Ending::WrongUsage, displays, is_cut_short: true };
        }
        if is_cropped {
            read_passes::uncrop(&mut batch, &session.shading, memory, session.reporter);
        }
        let mut rest = batch.into_iter();
        while let Some(item) = rest.next() {
            let is_last = rest.as_slice().is_empty() && reading.is_over();
            let done = match item {
                ReadItem::World(read) => draw_one(session, *read, is_last),
                ReadItem::Texture(texture, _charge) => session.make_texture(*texture, &displays),
                ReadItem::Settle(done) => {
                    let _ = done.send(());
                    continue;
                }
            };
            displays.extend(done.displays);
            session.ticker.limits.check_output(session.options, &session.ticker.interrupt);
            let is_over = session.ticker.interrupt.is_raised().then_some(Ending::Interrupted);
            if let Some(ending) = done.ending.or(is_over.filter(|_| session.ticker.interrupt.limit().is_some())) {
                return Drawn { ending, displays, is_cut_short: !rest.as_slice().is_empty() };
            }
        }
    }
}

fn draw_one(session: &mut Session<'_>, read: ReadWorld, is_last: bool) -> WorldOutcome {
    let ReadWorld { mut world, charge } = read;
    choose_driver(session.options, &mut world);
    session.draw(world, &charge, is_last)
}

/// Gives a world the display driver of the command line.
fn choose_driver(options: &RenderOptions, world: &mut World) {
    if let Some(driver) = &options.display_type {
        set_driver(&mut world.options, driver);
    }
}

/// Gives the pictures of the next worlds the name of `-o`, except those that textures are made of.
///
/// # Errors
/// If it fits only one picture, and there are more.
fn name_pictures(session: &Session<'_>, naming: &mut OutputNaming<'_>, batch: &mut [ReadItem]) -> Result<(), String> {
    let mut worlds: Vec<&mut World> = Vec::new();
    for item in batch {
        match item {
            ReadItem::World(read) => worlds.push(&mut read.world),
            ReadItem::Texture(texture, _) => naming.keep(texture.make.inputs.iter().cloned()),
            ReadItem::Settle(_) => {}
        }
    }
    let mut each: Vec<&mut Options> = worlds.iter_mut().map(|world| &mut world.options).collect();
    let repeated = naming.apply(&mut each)?;
    repeated.iter().for_each(|picture| note_repeated_frame(session, picture, &worlds));
    Ok(())
}

/// Reports that a picture has another number than its frame.
fn note_repeated_frame(session: &Session<'_>, picture: &RepeatedFrame, worlds: &[&mut World]) {
    let RepeatedFrame { world, frame, name } = picture;
    let message = format!("frame {frame} occurs more than once: this picture is written to \"{name}\"");
    let place = worlds[*world].location.clone();
    session.reporter.report(Diagnostic::new(Severity::Info, "frames", place, message));
}

/// Returns the next item, or all that are left; fewer where reading waits for memory that only drawn worlds free, or
/// for their files. Empty at the end. Meanwhile the devices prepare for the world that is being read.
pub(super) fn next_batch(
    session: &Session<'_>,
    memory: &HostMemory,
    reading: &BegunReading,
    all: bool,
) -> Vec<ReadItem> {
    let mut batch = Vec::new();
    let mut outlines = reading.outlines.clone();
    loop {
        select! {
            recv(reading.items) -> item => match item {
                Ok(settle @ ReadItem::Settle(_)) => {
                    batch.push(settle);
                    return batch;
                }
                Ok(read) => {
                    reading.drop_outlines();
                    batch.push(read);
                }
                Err(_) => return batch,
            },
            recv(outlines) -> outline => match outline {
                // A world that waits is drawn at once.
                Ok(mut outline) => {
                    if reading.items.is_empty() {
                        choose_driver(session.options, &mut outline);
                        session.foresee(outline);
                    }
                    continue;
                }
                Err(_) => outlines = never(),
            },
            default(STARVED_POLL) => {}
        }
        // Everything that was read before reading waits, whenever that was noticed.
        let enough = !all || memory.is_waited_for() && reading.items.is_empty();
        if session.ticker.interrupt.is_raised() || enough && !batch.is_empty() {
            return batch;
        }
    }
}
