//! Draws a world: opens its film, builds its picture, draws what the film lacks, and writes its displays.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::film::{DisplayOutcome, DisplayState, Film};
use crate::gpu::{DeviceKind, SHADER_CLOCK, default_cache_folder};
use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::options::{HANG_TIMEOUT, RenderOptions};
use crate::outcome::Ending;
use crate::progress::Activity;
use crate::render::checkpoint::{Checkpoint, CheckpointError, WorldStart};
use crate::render::device::imager::DeviceImager;
use crate::render::device::picture::{Picture, WorldImager};
use crate::render::device::renderer::DeviceRenderer;
use crate::render::grids::list::ListError;
use crate::render::report::world_statistics::{self, FailedOn};
use crate::render::report::{advice, compiled_kernels};
use crate::render::session::auto_shadows::AutoShadows;
use crate::render::session::baked_files::BakedPicture;
use crate::render::session::counting_pass::{CountingDevice, CountingFailed, CountingPass};
use crate::render::session::devices::{DeviceReopener, DeviceSlot, DevicesInTurn};
use crate::render::session::drawn_picture::CaptureState;
use crate::render::session::progress_ticker::ProgressTicker;
use crate::render::session::resident::Resident;
use crate::render::session::tiling_watch::tiling_watch;
use crate::render::session::tuning::Tuning;
use crate::scene::World;
use crate::shading::{ProgramCounts, ShaderLibrary};
use crate::stats::{CostStats, ProgramStats, Stage, Stats, WorldStats};
use crate::texture::{ReadLimits, TextureStore};
use crate::trace::Track;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What all worlds of a render are drawn with.
pub(super) struct SessionSetup<'a> {
    pub options: &'a RenderOptions,
    pub reporter: &'a Arc<Reporter>,
    pub ticker: &'a ProgressTicker<'a>,
    pub tuning: Tuning,
    pub memory: Arc<HostMemory>,
}

/// Devices, and what is kept between worlds.
pub(super) struct Session<'a> {
    pub options: &'a RenderOptions,
    pub reporter: &'a Arc<Reporter>,
    pub ticker: &'a ProgressTicker<'a>,
    pub tuning: Tuning,
    pub stats: Stats,
    pub slots: Vec<DeviceSlot>,
    pub memory: Arc<HostMemory>,
    /// What the shaders of the picture that is drawn have baked.
    pub baked: BakedPicture,
    checkpoint: Option<Checkpoint>,
    /// Whether no other picture follows, as far as is known.
    pub is_last: bool,
    /// Worlds that [`Self::draw`] was called with.
    world_count: u32,
    pub shading: ShaderLibrary,
    /// The textures of all worlds.
    pub textures: Arc<TextureStore>,
    /// The maps of lights that cast shadows by themselves.
    pub shadows: AutoShadows,
    /// What is kept of pictures of a world that is edited.
    pub resident: Option<Resident>,
    /// What became of the capture that was asked for.
    pub capture: CaptureState,
    /// The phases of worlds in the trace.
    pub phases: Track,
}

/// Returns the user's folder for textures that are made of pictures without tiles.
fn tiled_folder() -> PathBuf {
    default_cache_folder()
        .map_or_else(|| std::env::temp_dir().join("anthill-textures"), |kernels| kernels.with_file_name("textures"))
}

/// Returns what shaders are compiled with for these devices.
fn shader_library(options: &RenderOptions, slots: &[DeviceSlot], tuning: &Tuning) -> ShaderLibrary {
    let mut shading = ShaderLibrary::new(Arc::clone(&options.files), &options.overrides.macros)
        .expect("the helper library was built with the compiler");
    let has_cpus = slots.iter().any(|slot| slot.info.kind == DeviceKind::Cpu);
    shading.compile_for(has_cpus, tuning.programs);
    if let Some(profile) = &options.line_profile {
        let has_clock = |slot: &DeviceSlot| slot.info.has(SHADER_CLOCK) && !slot.open_options.as_gpu.unclocked_kernels;
        let have_clocks = slots.iter().all(has_clock);
        shading.count_lines(have_clocks && !profile.estimates());
    }
    if options.capture.is_some() {
        shading.describe_kernels();
    }
    shading
}

/// How drawing a world ended.
pub(super) struct WorldOutcome {
    pub displays: Vec<DisplayOutcome>,
    /// Why no other world is drawn after it.
    pub ending: Option<Ending>,
}

impl<'a> Session<'a> {
    pub(super) fn new(setup: SessionSetup<'a>, slots: Vec<DeviceSlot>) -> Self {
        let SessionSetup { options, reporter, ticker, tuning, memory } = setup;
        let (files, patience) = (Arc::clone(&options.files), options.timeout.unwrap_or(HANG_TIMEOUT));
        let textures = TextureStore::new(Arc::clone(reporter), files, tiled_folder(), patience);
        let limits = ReadLimits { memory: Arc::clone(&memory), interrupt: ticker.interrupt.clone() };
        let textures = Arc::new(textures.within(limits).watched(tiling_watch(ticker, &memory)));
        let shading = shader_library(options, &slots, &tuning);
        Self {
            options,
            reporter,
            ticker,
            tuning,
            stats: Stats::default(),
            slots,
            baked: BakedPicture::default(),
            memory,
            checkpoint: None,
            is_last: false,
            world_count: 0,
            shadows: AutoShadows::default(),
            resident: None,
            capture: CaptureState::default(),
            phases: options.trace.track("phases"),
            shading,
            textures,
        }
    }

    /// Forgets the shaders whose files have changed; all of them if none was read before that has, because a new file
    /// may be found in place of others.
    pub(super) fn read_shaders_again(&mut self) {
        if !self.shading.forget_changed_sources() {
            self.shading = shader_library(self.options, &self.slots, &self.tuning);
        }
    }

    /// Reports what the user should know about the devices.
    pub(super) fn advise_devices(&self) {
        let devices: Vec<_> = self.slots.iter().map(|slot| &slot.info).collect();
        advice::on_devices(self.reporter, &devices, &self.options.devices);
    }

    /// Keeps finished pixels in this checkpoint from now on.
    ///
    /// # Errors
    /// When other devices made the checkpoint.
    pub(super) fn use_checkpoint(&mut self, mut checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        checkpoint.set_devices(self.slots.iter().map(|slot| &slot.info))?;
        self.checkpoint = Some(checkpoint);
        Ok(())
    }

    /// Closes the checkpoint when no world is left to draw. It stays on disk if a later run could continue from it.
    pub(super) fn close_checkpoint(&mut self, ending: Ending, displays: &[DisplayOutcome]) {
        let complete = ending == Ending::Finished && displays.iter().all(is_whole);
        if let Some(checkpoint) = self.checkpoint.take() {
            checkpoint.close(complete);
        }
    }

    /// Returns the number of worlds drawn so far.
    pub(super) fn world_count(&self) -> u32 {
        self.world_count
    }

    /// Draws a world and writes its displays. `charge` is for the memory that the world holds; `is_last` says that no
    /// other world follows.
    pub(super) fn draw(&mut self, world: World, charge: &Charge, is_last: bool) -> WorldOutcome {
        advice::on_shading_rates(self.reporter, &world);
        let mut world = self.in_shutter(world);
        self.world_count += 1;
        self.cast_shadows(&mut world);
        self.is_last = is_last;
        let film = match self.open_film(&world, charge) {
            Ok(film) => film,
            Err(displays) => return WorldOutcome { displays, ending: None },
        };
        let (picture, imager) = self.begin_world(&world, &film);
        let mut checkpoint = self.checkpoint.take();
        // What pixels of an earlier run baked is no longer known: such a picture is drawn again.
        let mut saved = checkpoint.as_mut().filter(|_| !picture.bakes());
        let start = match &mut saved {
            Some(checkpoint) => checkpoint.begin(self.world_count, &world, &picture, imager.as_ref(), &film),
            None => Ok(WorldStart::Draw),
        };
        // Geometry as it was read is no longer needed.
        drop(world);
        let drawn = match start {
            Ok(WorldStart::Draw) => Ok(self.draw_film(&picture, film, imager, saved)),
            Ok(WorldStart::AlreadyWritten(displays)) => Ok(displays),
            Err(error) => Err(error),
        };
        self.checkpoint = checkpoint;
        self.ticker.end_world();
        compiled_kernels::add(&mut self.stats, &self.options.trace, &self.ticker.compile_log);
        match drawn {
            Ok(displays) => {
                WorldOutcome { displays, ending: self.ticker.interrupt.is_raised().then_some(Ending::Interrupted) }
            }
            Err(error) => {
                report_checkpoint_error(self.reporter, &error);
                WorldOutcome { displays: Vec::new(), ending: Some(Ending::WrongUsage) }
            }
        }
    }

    /// Returns a world as it is while the shutter is open.
    pub(super) fn in_shutter(&mut self, world: World) -> World {
        match &mut self.resident {
            _ if !world.moves() => world,
            Some(resident) => resident.in_shutter(world),
            None => world.in_shutter(),
        }
    }

    /// Returns the film of a world that is to be drawn.
    ///
    /// # Errors
    /// The displays of a world that is only checked, or that has no pixel to draw.
    pub(super) fn open_film(&mut self, world: &World, charge: &Charge) -> Result<Film, Vec<DisplayOutcome>> {
        // Where memory for the film was refused, that was reported when the world was read.
        let silent = Reporter::silent();
        let refused = charge.refused() == Some(ChargeKind::Film);
        let (bytes_max, reporter) = if refused { (0, &silent) } else { (u64::MAX, &**self.reporter) };
        let mut film = Film::new(world, bytes_max, &self.options.files, reporter)?;
        film.check_outputs(self.reporter);
        if self.options.check || world.options.hider.name == "null" {
            self.build_picture(world, &film);
            self.shading.imager(world, self.reporter);
            return Err(film.undrawn());
        }
        if film.is_pointless() {
            return Err(film.missing());
        }
        Ok(film)
    }

    /// Builds a world's picture and its imager, and begins its statistics.
    pub(super) fn begin_world(&mut self, world: &World, film: &Film) -> (Arc<Picture>, Option<WorldImager>) {
        let (frame, crop) = (world.options.frame, film.crop());
        self.ticker.begin_world(frame);
        self.textures.begin_picture();
        let begin = Instant::now();
        let picture = self.build_picture(world, film);
        let imager = self.imager(world);
        let end = Instant::now();
        self.phases.slice("prepare", begin, end, &[]);
        let prepare = end - begin;
        let ProgramCounts { composed, compiled, kept } = self.shading.take_counts();
        let (crop_px, programs) = (crop.to_array(), ProgramStats { composed, compiled, kept });
        self.stats.worlds.push(WorldStats { frame, crop_px, prepare, programs, ..WorldStats::default() });
        (picture, imager)
    }

    /// Draws what the film lacks, and writes its displays.
    pub(super) fn draw_film(
        &mut self,
        picture: &Arc<Picture>,
        film: Film,
        imager: Option<WorldImager>,
        mut checkpoint: Option<&mut Checkpoint>,
    ) -> Vec<DisplayOutcome> {
        self.draw_pixels(picture, &film, checkpoint.as_deref_mut());
        let displays = self.write_displays(film, imager);
        if let Some(checkpoint) = checkpoint {
            checkpoint.end(self.world_count, displays.iter().all(is_whole));
        }
        self.end_picture(picture);
        displays
    }

    /// Draws what the film lacks.
    pub(super) fn draw_pixels(&mut self, picture: &Arc<Picture>, film: &Film, mut checkpoint: Option<&mut Checkpoint>) {
        let begin = Instant::now();
        if let Some(resident) = &self.resident {
            resident.develop_again(picture, film);
        }
        let (finished, count) = film.progress();
        if finished < count && !self.ticker.interrupt.is_raised() {
            match &mut checkpoint {
                Some(checkpoint) => {
                    let may_be_unwritten = self.options.files.budget().is_limited();
                    checkpoint.save_while(film, may_be_unwritten, || {
                        self.draw_picture(picture, film, begin);
                        // The last save follows.
                        self.ticker.tally.begin(Activity::Writing);
                    });
                }
                None => self.draw_picture(picture, film, begin),
            }
            if let Some(resident) = &mut self.resident {
                resident.keep_pixels(picture, film);
            }
        }
        // Of names that shaders computed.
        self.textures.report_tiled();
        let baked = std::mem::take(&mut self.baked);
        if film.progress().0 == count {
            self.ticker.tally.finish_picture();
            self.write_baked(picture, &baked);
        }
        let (end, world) = (Instant::now(), self.world_stats());
        let (took, counted) = (end - begin, world.count);
        world.draw = took.saturating_sub(counted);
        self.stats.render += took;
        self.phases.slice("count", begin, begin + counted, &[]);
        self.phases.slice("draw", begin + counted, end, &[]);
    }

    /// Adds what devices did for a picture to the statistics, and makes the capture that was asked for.
    pub(super) fn end_picture(&mut self, picture: &Picture) {
        for (number, slot) in self.slots.iter_mut().enumerate() {
            if let Some(device) = &mut slot.device {
                world_statistics::add_times(&mut self.stats, number, device.take_times());
                device.end_frame(&format!("picture {}", self.world_count));
                device.end_picture();
            }
        }
        self.capture_region();
        let (pipelines, bakes) = (&self.options.pipelines, picture.bakes());
        let failed = self.slots.iter().map(|slot| FailedOn {
            info: &slot.info,
            pipeline: pipelines.of(&slot.info, bakes).name,
            counts: slot.failures.take_counts(),
        });
        world_statistics::add_failures(&mut self.stats, &failed.collect::<Vec<_>>());
    }

    /// Runs the imager on the finished picture, if there is one, and writes the displays.
    pub(super) fn write_displays(&mut self, film: Film, imager: Option<WorldImager>) -> Vec<DisplayOutcome> {
        let begin = Instant::now();
        self.ticker.tally.begin(Activity::Writing);
        let silent = Reporter::silent();
        // The depths of a light's map are in a file of the program's own: after Ctrl-C it is not missed.
        let interrupts_map = self.shadows.drawing && self.ticker.interrupt.is_raised();
        let reporter = if interrupts_map { &silent } else { &**self.reporter };
        let displays = match imager {
            None => film.finish(None, reporter),
            Some(imager) => {
                let mut devices = DevicesInTurn::new(&mut self.slots);
                let imager = DeviceImager::new(imager, &mut devices);
                let displays = film.finish(Some(&imager), reporter);
                advice::on_imager(self.reporter, imager.finish());
                displays
            }
        };
        let end = Instant::now();
        self.phases.slice("write", begin, end, &[]);
        let took = end - begin;
        self.stats.stages.add(Stage::Write, took);
        self.world_stats().write = took;
        displays
    }

    /// Returns the statistics of the world that is being drawn.
    pub(super) fn world_stats(&mut self) -> &mut WorldStats {
        self.stats.worlds.last_mut().expect("a world is begun before it is drawn")
    }

    /// Counts the grids of a picture on all devices, and draws its regions. `begin` is when drawing began.
    fn draw_picture(&mut self, picture: &Arc<Picture>, film: &Film, begin: Instant) {
        let reopeners: Vec<_> = self.slots.iter().map(|slot| slot.reopener(picture, &self.options.trace)).collect();
        let setting_up = Instant::now();
        let renderers = self.renderers(&reopeners);
        let devices_s = setting_up.elapsed().as_secs_f64();
        let limits_bytes = self.slots.iter().filter_map(|slot| slot.open_options.memory_bytes).sum();
        let list_bytes = self.tuning.list_bytes(limits_bytes);
        let (memory, whole) = (&self.memory, film.whole());
        let pass = CountingPass { picture, whole, reopeners: &reopeners, memory, list_bytes };
        let count_jobs = pass.share_count_max() as u64;
        let counted = match Resident::count(&mut self.resident, picture, &self.slots, renderers, &pass) {
            Ok(counted) => counted,
            Err(CountingFailed { error, devices }) => return self.give_up(&error, devices),
        };
        let Some(first) = counted.iter().flatten().next() else {
            if !self.ticker.interrupt.is_raised() {
                advice::on_no_device(self.reporter);
            }
            return;
        };
        let grids = Arc::clone(&first.grids);
        advice::on_measured_bounds(self.reporter, picture, &grids.bounds_measured);
        self.ticker.tally.begin(Activity::Drawing);
        advice::on_eye_splits(self.reporter, picture, &grids.lost);
        if !self.shadows.drawing {
            advice::on_nothing_in_view(self.reporter, picture, grids.totals.micropolygons);
        }
        self.stats.left_out += grids.lost.len() as u64;
        let count = begin.elapsed();
        self.world_stats().count = count;
        self.world_stats().cost = Some(CostStats { devices_s, count_jobs, ..CostStats::default() });
        self.draw_regions(picture, counted.into_iter().zip(reopeners).collect(), &grids, film);
    }

    /// Reports that there is no list of grids, so that nothing can be drawn. The devices wait for the next world.
    pub(super) fn give_up(&mut self, error: &ListError, devices: Vec<CountingDevice>) {
        advice::on_no_list(self.reporter, error);
        for device in devices {
            self.slots[device.slot].give_back(device.renderer.rest());
        }
    }

    /// Returns a renderer on each device that is left.
    fn renderers(&mut self, reopeners: &[DeviceReopener]) -> Vec<Option<DeviceRenderer>> {
        let begin = Instant::now();
        let renderer = |(slot, reopener): (&mut DeviceSlot, &DeviceReopener)| {
            slot.take().and_then(|(device, kept)| reopener.or_reopen(reopener.renderer(device, kept)))
        };
        let renderers = self.slots.iter_mut().zip(reopeners).map(renderer).collect();
        self.stats.stages.add(Stage::Upload, begin.elapsed());
        renderers
    }
}

/// Whether a display is written with all its pixels.
pub(super) fn is_whole(display: &DisplayOutcome) -> bool {
    display.state == DisplayState::Whole
}

/// Reports why a checkpoint cannot be used.
pub(super) fn report_checkpoint_error(reporter: &Reporter, error: &CheckpointError) {
    let severe = Diagnostic::new(Severity::Severe, "checkpoint", SourceLocation::default(), error.to_string());
    reporter.report(severe.hint(error.hint));
}
