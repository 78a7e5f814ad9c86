//! What a live session draws with: a render session whose last world is drawn again and again.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::film::{DisplayOutcome, Film};
use crate::host_memory::Charge;
use crate::options::{Frames, RenderOptions};
use crate::outcome::{Ending, Outcome};
use crate::progress::{Interrupt, Observer};
use crate::render::device::picture::{KeptLevel, WorldImager};
use crate::render::report::{advice, compiled_kernels};
use crate::render::session::devices::DeviceSlot;
use crate::render::session::draw::{Session, WorldOutcome};
use crate::render::session::limits::RenderLimits;
use crate::render::session::live_scene::LiveScene;
use crate::render::session::progress_ticker::ProgressTicker;
use crate::render::session::read_passes;
use crate::render::session::reading::{BegunReading, ReadItem, ReadSummary};
use crate::render::session::resident::{Repeated, Resident};
use crate::render::session::run::{host_memory, next_batch, open_session, take_statistics};
use crate::render::session::test_aids::TestAids;
use crate::scene::World;
use crate::stats::{Stats, WorldStats};
use std::sync::Arc;
use std::time::Duration;

/// Devices, shaders and textures that stay while a scene is edited.
pub(in crate::render) struct LiveRenderer<'a> {
    session: Session<'a>,
    read: ReadSummary,
    /// Ends the live session; edits only stop the picture under way.
    stop: &'a Interrupt,
}

/// How a picture of the last world ended.
pub(in crate::render) enum LiveDrawn {
    /// It was drawn, or stopped in the middle: then the film lacks pixels.
    Film(Box<DrawnFilm>),
    /// There is no picture of this kind: of deep displays, or where shaders bake or print.
    FinalOnly,
    /// There is nothing to draw, or it was not wanted once its shaders were compiled; the reason was reported.
    Nothing(Vec<DisplayOutcome>),
}

/// A film with what its displays need.
pub(in crate::render) struct DrawnFilm {
    pub film: Film,
    imager: Option<WorldImager>,
    pub stats: WorldStats,
    pub repeated: Repeated,
    /// Regions whose visibility was recalled.
    pub recalled: u64,
    pub kernels: u64,
}

/// What a picture of the last world is to be.
pub(in crate::render) enum LiveFormat {
    /// Of a format that is this many times smaller on each side, with one sample a pixel.
    Coarse(u32),
    /// As the scene says.
    Final,
}

/// Runs a live session: `serve` draws until it ends, and returns how. It is not called if no device opens.
pub(in crate::render) fn run_live(
    options: &RenderOptions,
    reporter: &Arc<Reporter>,
    observer: &dyn Observer,
    stop: &Interrupt,
    serve: &mut dyn FnMut(&mut LiveRenderer<'_>) -> Outcome,
) -> Outcome {
    let ended = |ending| Outcome { ending, displays: Vec::new(), stats: Stats::default() };
    let Some(aids) = TestAids::or_report(reporter) else { return ended(Ending::WrongUsage) };
    let ticker = ProgressTicker::new(observer, RenderLimits::new(options, reporter));
    ticker.tick_while(|| {
        let memory = host_memory(options);
        let (mut session, _) = match open_session(options, reporter, &ticker, &aids, &memory, None) {
            Ok(opened) => opened,
            Err(ending) => return ended(ending),
        };
        session.advise_devices();
        session.resident = Some(Resident::default());
        let mut renderer = LiveRenderer { session, read: ReadSummary::default(), stop };
        let Outcome { ending, displays, .. } = serve(&mut renderer);
        let has_device = renderer.session.slots.iter().any(DeviceSlot::has_opened);
        let ending = match ending {
            Ending::Finished if !has_device => Ending::NoDevice,
            Ending::Finished if options.files.clashed() => Ending::Clashing,
            Ending::Finished if renderer.read.unreadable => Ending::Unreadable,
            Ending::Finished if !aids.check_faults(reporter) => Ending::FaultNotReached,
            ending => ending,
        };
        let LiveRenderer { mut session, read, .. } = renderer;
        Outcome { ending, displays, stats: take_statistics(&mut session, &read) }
    })
}

impl LiveRenderer<'_> {
    /// Reads the scene, whose worlds `edit` changes. Where reading needs the files of worlds before, they are drawn
    /// meanwhile. Returns what was read so far if it is stopped.
    pub(in crate::render) fn read(&mut self, edit: &mut dyn FnMut(&mut World) -> bool) -> LiveScene {
        let session = &mut self.session;
        let memory = Arc::clone(&session.memory);
        let reading = BegunReading::begin(session.options, session.reporter, &memory, self.stop);
        let is_cropped = session.options.overrides.crop.is_some();
        let mut scene = LiveScene::default();
        loop {
            let mut batch = next_batch(session, &memory, &reading, true);
            if batch.is_empty() || session.ticker.interrupt.is_raised() {
                break;
            }
            let worlds = batch.iter_mut().filter_map(|item| match item {
                ReadItem::World(read) => Some(&mut read.world),
                ReadItem::Texture(..) | ReadItem::Settle(_) => None,
            });
            for world in worlds {
                edit(world);
            }
            if is_cropped {
                read_passes::uncrop(&mut batch, &session.shading, &memory, session.reporter);
            }
            if !take_batch(session, &mut scene, batch) {
                break;
            }
        }
        let read = reading.end();
        let (took, left_out) = (self.read.took + read.took, self.read.left_out + read.left_out);
        self.read = ReadSummary { took, left_out, ..read };
        self.advise_on_nothing(&scene);
        scene
    }

    /// Returns how long reading has taken so far.
    pub(in crate::render) fn read_time(&self) -> Duration {
        self.read.took
    }

    fn advise_on_nothing(&self, scene: &LiveScene) {
        if scene.has_world() || self.session.ticker.interrupt.is_raised() {
            return;
        }
        let message = match &self.session.options.frames {
            Some(Frames(_)) if self.read.worlds > 0 => {
                "--frames names no frame of the scene, so there is nothing to edit"
            }
            _ => "the scene has no world, so there is nothing to edit",
        };
        let error = Diagnostic::new(Severity::Error, "nothing", SourceLocation::default(), message);
        self.session.reporter.report(error);
    }

    /// Draws the worlds and makes the textures before the last world that are due. Returns whether all are done.
    pub(in crate::render) fn draw_passes(&mut self, scene: &mut LiveScene) -> bool {
        draw_due(&mut self.session, scene, scene.passes())
    }

    /// Makes what comes after the last world. Returns whether all is done.
    pub(in crate::render) fn make_rest(&mut self, scene: &mut LiveScene) -> bool {
        draw_due(&mut self.session, scene, scene.len())
    }

    /// Reads shaders from their files again when they are next needed.
    pub(in crate::render) fn forget_shaders(&mut self) {
        self.session.read_shaders_again();
    }

    /// Draws a picture of the last world. `goes_on` is asked once its shaders are compiled.
    pub(in crate::render) fn draw(
        &mut self,
        scene: &LiveScene,
        format: &LiveFormat,
        goes_on: &dyn Fn() -> bool,
    ) -> LiveDrawn {
        let session = &mut self.session;
        let (Some(read), is_final) = (scene.live(), matches!(format, LiveFormat::Final)) else {
            return LiveDrawn::Nothing(Vec::new());
        };
        let world = match scene.named_world(scene.passes(), session.options) {
            Ok(world) => world.expect("the last world is a world"),
            Err(message) => {
                let severe = Diagnostic::new(Severity::Severe, "usage", SourceLocation::default(), message);
                session.reporter.report(severe);
                return LiveDrawn::Nothing(Vec::new());
            }
        };
        let world = if let LiveFormat::Coarse(divider) = format { world.at_level(*divider) } else { world };
        advice::on_shading_rates(session.reporter, &world);
        let mut world = session.in_shutter(world);
        session.cast_shadows(&mut world);
        session.set_level(Some(format.level()));
        let drawn = match session.live_film(&world, &read.charge, is_final) {
            Ok(film) => session.draw_live(&world, film, is_final, goes_on),
            Err(displays) => LiveDrawn::Nothing(displays),
        };
        session.set_level(None);
        // Each picture has its row in the statistics of the live session.
        session.stats.worlds.clear();
        session.stats.kernels.truncate(KERNELS_KEPT);
        drawn
    }

    /// Writes the displays of a picture of the last world.
    pub(in crate::render) fn write(&mut self, scene: &mut LiveScene, drawn: DrawnFilm) {
        self.session.stats.worlds.push(drawn.stats);
        let displays = self.session.write_displays(drawn.film, drawn.imager);
        self.session.stats.worlds.clear();
        scene.live_done(displays);
    }

    /// Notes that nothing of the last world could be written.
    pub(in crate::render) fn write_nothing(&self, scene: &mut LiveScene, displays: Vec<DisplayOutcome>) {
        scene.live_done(displays);
    }

    /// Returns the statistics so far.
    pub(in crate::render) fn stats(&mut self) -> &mut Stats {
        &mut self.session.stats
    }

    /// Checks the limits of time and of the bytes of files.
    pub(in crate::render) fn check_output(&self) {
        self.session.ticker.limits.check_output(self.session.options, &self.session.ticker.interrupt);
    }
}

/// Rows of compiled kernels that statistics keep, the slowest.
const KERNELS_KEPT: usize = 1000;

/// Takes what was read. Reading waits for what is drawn before it goes on; returns whether it is to go on.
fn take_batch(session: &mut Session<'_>, scene: &mut LiveScene, batch: Vec<ReadItem>) -> bool {
    for item in batch {
        if let ReadItem::Settle(done) = item {
            let end = scene.len();
            draw_due(session, scene, end);
            let _ = done.send(());
        } else {
            scene.push(item);
        }
    }
    if session.memory.is_waited_for() {
        let message = "the scene has more worlds than there is host memory for: a live session holds all of them";
        let error = Diagnostic::new(Severity::Error, "limitcheck", SourceLocation::default(), message);
        session.reporter.report(error.hint("choose fewer with --frames, or allow more with --host-memory"));
        return false;
    }
    true
}

/// Draws the worlds and makes the textures up to the place `end` that are due. Returns whether all are done.
fn draw_due(session: &mut Session<'_>, scene: &mut LiveScene, end: usize) -> bool {
    while let Some(place) = scene.next_due(end) {
        let done = match scene.item(place) {
            ReadItem::World(read) => {
                let charge = Arc::clone(&read.charge);
                match scene.named_world(place, session.options) {
                    Ok(Some(world)) => session.draw(world, &charge, false),
                    Ok(None) | Err(_) => WorldOutcome { displays: Vec::new(), ending: None },
                }
            }
            ReadItem::Texture(texture, _) => session.make_texture((**texture).clone(), &scene.displays()),
            ReadItem::Settle(_) => WorldOutcome { displays: Vec::new(), ending: None },
        };
        if done.ending.is_some() || session.ticker.interrupt.is_raised() {
            return false;
        }
        session.stats.worlds.clear();
        scene.done(place, done.displays);
    }
    true
}

impl LiveFormat {
    /// Returns the level that is kept of it: final pictures, those with one sample, and coarse ones.
    fn level(&self) -> KeptLevel {
        match self {
            Self::Final => KeptLevel::Final,
            Self::Coarse(0 | 1) => KeptLevel::OneSample,
            Self::Coarse(_) => KeptLevel::Coarse,
        }
    }
}

impl Session<'_> {
    /// From now on pictures are drawn of this level; `None` for those that only serve others.
    fn set_level(&mut self, level: Option<KeptLevel>) {
        if let Some(resident) = &mut self.resident {
            resident.level = level;
        }
    }

    /// Returns how often products of pictures were made so far.
    fn repeated(&self) -> Repeated {
        self.resident.as_ref().map_or_else(Repeated::default, |resident| resident.repeated)
    }

    /// Returns the film of a picture of the live world. Only those of final pictures can be written.
    ///
    /// # Errors
    /// The displays, if there is nothing to draw.
    fn live_film(&mut self, world: &World, charge: &Charge, is_final: bool) -> Result<Film, Vec<DisplayOutcome>> {
        if is_final {
            self.open_film(world, charge)
        } else {
            Film::new(world, u64::MAX, &Arc::default(), self.reporter)
        }
    }

    fn draw_live(&mut self, world: &World, film: Film, is_final: bool, goes_on: &dyn Fn() -> bool) -> LiveDrawn {
        let compiled = self.stats.kernels.len();
        let (recalled, repeated) = (self.stats.counts.recalled_regions, self.repeated());
        let (picture, imager) = self.begin_world(world, &film);
        let prints = picture.kernels.iter().any(|kernel| kernel.print_words > 0);
        let wanted = goes_on();
        let is_drawn = wanted && (is_final || !(prints || picture.bakes() || film.wants_light()));
        if is_drawn {
            self.draw_pixels(&picture, &film, None);
        }
        self.end_picture(&picture);
        self.ticker.end_world();
        compiled_kernels::add(&mut self.stats, &self.options.trace, &self.ticker.compile_log);
        let kernels = (self.stats.kernels.len() - compiled) as u64;
        match (is_drawn, wanted) {
            (true, _) => {
                let stats = std::mem::take(self.world_stats());
                let recalled = self.stats.counts.recalled_regions - recalled;
                let repeated = self.repeated().since(repeated);
                LiveDrawn::Film(Box::new(DrawnFilm { film, imager, stats, repeated, recalled, kernels }))
            }
            (false, true) => LiveDrawn::FinalOnly,
            (false, false) => LiveDrawn::Nothing(film.missing()),
        }
    }
}
