//! A render session: devices that outlive worlds, and worlds drawn on them one after the other.

use super::count::Counted;
use super::counting::{Counting, Ready, report};
use super::driver::{Driver, DriverError, Picture, Tracks};
use super::imager::{DeviceImager, Devices};
use super::region::RegionCounts;
use super::result::interleave;
use super::tiles::{micropolygons, summed_area};
use super::worker::{Garage, Worker, driver_failure, take_back};
use crate::diagnostic::{Diagnostic, Place, Reporter, Severity};
use crate::film::{ChannelGroup, DisplayOutcome, Film};
use crate::gpu::{Device, DeviceInfo, DeviceKind, OpenOptions, open};
use crate::options::RenderOptions;
use crate::pipeline::frame::filter_apron;
use crate::pipeline::imager::ImagerProgram;
use crate::pipeline::plan::Pipeline;
use crate::pipeline::world::DrawnWorld;
use crate::progress::{Event, Observer};
use crate::scene::{ValueType, World};
use crate::schedule::perturb::IN_FLIGHT_MAX;
use crate::schedule::{self, Incomplete, Job, Opener, Policy, Region, Report};
use crate::shading;
use crate::stats::{Counts, DeviceStats, Stage, Stats, human_bytes};
use crate::trace::Trace;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Geometry pages hold this much.
const PAGE_BYTES: u64 = 64 << 20;
/// Where `ANTHILL_PAGE_KIB` makes them small, so many are resident at once.
const PAGES_IN_TESTS: u64 = 4;

/// Regions in flight on each device.
const IN_FLIGHT: usize = 2;

/// What to do where devices fail.
const NO_DEVICE_HINT: &str =
    "give them more with --memory, name others with --devices (`anthill devices` lists them), or name fewer at once";

/// A device that fails in so many worlds one after the other draws no more.
const REOPENED_MAX: u32 = 3;

/// Test aids, from the environment (ARCHITECTURE.md, "Test aids").
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aids {
    /// `ANTHILL_PERTURB`: splits, delays and steals by this seed.
    pub perturb: Option<u64>,
    /// `ANTHILL_PAGE_KIB`: size of geometry pages.
    pub page_bytes: Option<u64>,
    /// `ANTHILL_CAPTURE`: the region of each device that RenderDoc is told to capture.
    pub captured_region: Option<u64>,
}

impl Aids {
    /// Reads them; a value that is no number is an error.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let number = |name: &str| match std::env::var(name) {
            Err(_) => Ok(None),
            Ok(text) => text.parse().map(Some).map_err(|_| format!("{name}={text}: a whole number is expected")),
        };
        let page_kib: Option<u64> = number("ANTHILL_PAGE_KIB")?;
        Ok(Self {
            perturb: number("ANTHILL_PERTURB")?,
            page_bytes: page_kib.map(|kib| kib << 10),
            captured_region: number("ANTHILL_CAPTURE")?,
        })
    }

    /// Regions in flight on each device, at most.
    fn in_flight(&self) -> usize {
        match (self.captured_region, self.perturb) {
            (Some(_), _) => 1,
            (None, Some(_)) => IN_FLIGHT_MAX,
            (None, None) => IN_FLIGHT,
        }
    }
}

/// Devices and what is kept between worlds.
pub(crate) struct Session<'a> {
    pub options: &'a RenderOptions,
    pub reporter: &'a Arc<Reporter>,
    pub observer: &'a dyn Observer,
    pub aids: Aids,
    pub stats: Stats,
    slots: Vec<DeviceSlot>,
    shading: shading::Library,
}

/// One of the devices that the user named: what it is, how it is opened again after a failure, and itself between worlds.
struct DeviceSlot {
    info: DeviceInfo,
    open_options: OpenOptions,
    device: Option<Device>,
    /// How often in a row it was opened anew.
    reopened: u32,
}

impl DeviceSlot {
    fn new(device: Device, open_options: &OpenOptions) -> Self {
        let open_options = OpenOptions { memory_bytes: Some(device.memory().budget_bytes), ..open_options.clone() };
        Self { info: device.info().clone(), open_options, device: Some(device), reopened: 0 }
    }

    /// The device, opened anew where it failed in the world before. One that always fails is given up.
    fn take(&mut self) -> Option<Device> {
        if let Some(device) = self.device.take() {
            self.reopened = 0;
            return Some(device);
        }
        self.reopened += 1;
        if self.reopened > REOPENED_MAX {
            return None;
        }
        // Why it does not open was told when it failed.
        open(&self.info.index.to_string(), &self.open_options).ok()?.pop()
    }
}

/// The slots' devices one after the other; one that failed is opened anew.
struct InTurn<'a> {
    slots: &'a mut [DeviceSlot],
    next: usize,
}

impl Devices for InTurn<'_> {
    fn take(&mut self) -> Option<Device> {
        loop {
            let slot = self.slots.get_mut(self.next)?;
            self.next += 1;
            let again = || open(&slot.info.index.to_string(), &slot.open_options).ok()?.pop();
            if let Some(device) = slot.device.take().or_else(again) {
                return Some(device);
            }
        }
    }

    fn give_back(&mut self, device: Device) {
        self.slots[self.next - 1].device = Some(device);
    }
}

/// How drawing a world ended.
pub(crate) struct Drawn {
    pub displays: Vec<DisplayOutcome>,
    pub interrupted: bool,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        options: &'a RenderOptions,
        (reporter, observer): (&'a Arc<Reporter>, &'a dyn Observer),
        (devices, open_options): (Vec<Device>, OpenOptions),
        aids: Aids,
    ) -> Self {
        Self {
            options,
            reporter,
            observer,
            aids,
            stats: Stats::default(),
            slots: devices.into_iter().map(|device| DeviceSlot::new(device, &open_options)).collect(),
            shading: shading::Library::new().expect("the helper library was built with the compiler"),
        }
    }

    /// Says so where the devices are not all of one model and driver.
    pub(crate) fn advise_devices(&self) {
        let Some(first) = self.slots.first() else { return };
        let chosen = ["all", "alike"].contains(&self.options.devices.trim());
        if chosen && self.slots.iter().all(|slot| slot.info.kind == DeviceKind::Cpu) {
            let message = format!("no GPU that can render was found: {} draws, on the processor", first.info.name);
            let note = Diagnostic::new(Severity::Info, "devices", Place::default(), message);
            self.reporter.report(note.hint("`anthill devices` lists every device with what it lacks"));
        }
        let Some(other) = self.slots.iter().find(|slot| !slot.info.is_like(&first.info)) else { return };
        let message =
            format!("{} and {} differ: a pixel's last bits depend on who draws it", first.info.name, other.info.name);
        let hint = "--devices alike keeps to identical ones";
        self.reporter.report(Diagnostic::new(Severity::Warning, "devices", Place::default(), message).hint(hint));
    }

    /// Draws a world and writes its displays.
    pub(crate) fn draw(&mut self, world: &World) -> Drawn {
        let undrawn = |displays| Drawn { displays, interrupted: false };
        let bytes_max = self.options.host_memory_bytes.unwrap_or(u64::MAX);
        let mut film = match Film::new(world, bytes_max, self.reporter) {
            Ok(film) => film,
            Err(displays) => return undrawn(displays),
        };
        film.check_outputs(self.reporter);
        if self.options.check {
            self.picture(world, &film);
            self.shading.imager(world, self.reporter);
            return undrawn(film.undrawn());
        }
        if film.is_pointless() || !self.fits_host(world, &film) {
            return undrawn(film.missing());
        }
        let crop = film.crop();
        let pixels = u64::from(crop[2] - crop[0]) * u64::from(crop[3] - crop[1]);
        self.observer.notice(Event::WorldBegin { frame: world.options.frame, pixels });
        let picture = self.picture(world, &film);
        let imager = self.shading.imager(world, self.reporter);
        let begin = Instant::now();
        self.draw_picture(&picture, &mut film);
        self.stats.render += begin.elapsed();
        let displays = self.write(film, imager);
        self.observer.notice(Event::WorldEnd);
        Drawn { displays, interrupted: self.observer.is_cancelled() }
    }

    /// Lets the imager have the picture, and writes it.
    fn write(&mut self, film: Film, imager: Option<ImagerProgram>) -> Vec<DisplayOutcome> {
        let begin = Instant::now();
        let displays = match imager {
            None => film.finish(None, self.reporter),
            Some(program) => {
                let mut devices = InTurn { slots: &mut self.slots, next: 0 };
                let imager = DeviceImager::new(program, &mut devices, self.reporter);
                let displays = film.finish(Some(&imager), self.reporter);
                imager.finish();
                displays
            }
        };
        self.stats.stages.add(Stage::Write, begin.elapsed());
        displays
    }

    /// Whether geometry, as read and as devices take it, and film fit the host memory that the user grants; says so where they do not.
    fn fits_host(&self, world: &World, film: &Film) -> bool {
        let Some(limit) = self.options.host_memory_bytes else { return true };
        let (film_bytes, geometry_bytes) = (film.bytes(), 2 * world.bytes());
        let needed = film_bytes + geometry_bytes;
        if needed <= limit {
            return true;
        }
        let message = format!(
            "this world needs {} of host memory and may use {}: {} for its geometry, {} for its film",
            human_bytes(needed),
            human_bytes(limit),
            human_bytes(geometry_bytes),
            human_bytes(film_bytes)
        );
        let severe = Diagnostic::new(Severity::Severe, "limitcheck", world.place.clone(), message);
        self.reporter.report(severe.hint("give it more with --host-memory, or render a smaller Format or a crop"));
        false
    }

    /// Shaders and geometry of a world, ready for devices.
    fn picture(&mut self, world: &World, film: &Film) -> Arc<Picture> {
        let begin = Instant::now();
        let variables = variables(film);
        let shaded = self.shading.shade(world, &variables, self.reporter);
        self.stats.stages.add(Stage::Compile, begin.elapsed());
        let begin = Instant::now();
        let page_bytes = self.aids.page_bytes.unwrap_or(PAGE_BYTES);
        let drawn = DrawnWorld::new(world, &shaded.looks, page_bytes);
        self.stats.stages.add(Stage::Upload, begin.elapsed());
        self.stats.counts.primitives += drawn.primitive_count();
        let wants_depth = film.layout().offset(&ChannelGroup::Depth).is_some();
        Arc::new(Picture {
            world: Arc::new(drawn),
            kernels: shaded.kernels,
            params: shaded.params,
            space_table: shaded.space_table,
            filter: world.options.filter,
            depth_filter: wants_depth.then(|| world.options.hider.depth_filter.clone()),
            variables: variables.len() as u64,
            weighted: ["Ci", "Oi"]
                .map(|name| variables.iter().position(|v| &*v.0 == name).map_or(u32::MAX, |n| n as u32)),
            pipeline: Pipeline::ANTHILL,
            in_flight: self.aids.in_flight(),
            reserve_bytes: u64::from(world.options.reserve_kib) << 10,
            pages_bytes_max: self.aids.page_bytes.map_or(u64::MAX, |bytes| PAGES_IN_TESTS * bytes),
            captured_region: self.aids.captured_region,
        })
    }

    fn draw_picture(&mut self, picture: &Arc<Picture>, film: &mut Film) {
        let drivers = self.drivers(picture);
        let ready = Counting { picture, crop: film.crop(), reporter: self.reporter }.run(drivers);
        let Some(first) = ready.iter().flatten().next() else {
            let severe = Diagnostic::new(Severity::Severe, "system", Place::default(), "no device is left to draw on");
            self.reporter.report(severe.hint(NO_DEVICE_HINT));
            return;
        };
        let counted = Arc::clone(&first.counted);
        self.advise_bounds(picture, &counted.bounds_measured);
        for (instance, count) in &counted.lost {
            let (name, place) = &picture.world.origins[*instance as usize];
            let message = format!("{count} parts of {} reach behind the eye and are left out", whose(name));
            self.reporter.warn("eyesplits", place, message);
        }
        self.draw_regions(picture, ready, &counted, film);
    }

    /// A driver on every device that is left.
    fn drivers(&mut self, picture: &Arc<Picture>) -> Vec<Option<Driver>> {
        let begin = Instant::now();
        let mut drivers = Vec::new();
        let trace = &self.options.trace;
        for (number, slot) in self.slots.iter_mut().enumerate() {
            let driver = slot.take().map(|device| Driver::new(device, Arc::clone(picture), tracks(trace, number)));
            drivers.push(driver.and_then(|driver| keep(driver, self.reporter)));
        }
        self.stats.stages.add(Stage::Upload, begin.elapsed());
        drivers
    }

    fn advise_bounds(&self, picture: &Picture, bounds: &[(u32, f32)]) {
        for (instance, bound) in bounds {
            let (name, place) = &picture.world.origins[*instance as usize];
            let message = format!("{} is displaced without a declared bound; it was measured", whose(name));
            let hint = format!(
                "declare Attribute \"displacementbound\" \"sphere\" [{bound}] \"coordinatesystem\" [\"camera\"]"
            );
            let warning = Diagnostic::new(Severity::Warning, "displacementbound", place.clone(), message);
            self.reporter.report(warning.hint(hint));
        }
    }

    /// Tells of displacements that went beyond their declared bounds: what lies outside may be missing.
    fn check_bounds(&self, picture: &Picture, moved: &[f32]) {
        for (index, (instance, &moved)) in picture.world.instances.iter().zip(moved).enumerate() {
            let undeclared = picture.world.unbounded.binary_search(&(index as u32)).is_ok();
            if moved <= instance.displacement_bound * 1.0001 || undeclared {
                continue;
            }
            let (name, place) = &picture.world.origins[index];
            let factor = moved / instance.displacement_bound;
            let message =
                format!("{} is displaced {factor:.2} times as far as its displacementbound says", whose(name));
            let warning = Diagnostic::new(Severity::Warning, "displacementbound", place.clone(), message);
            self.reporter
                .report(warning.hint("what lies outside the bound may be missing: make it larger by that factor"));
        }
    }

    fn draw_regions(&mut self, picture: &Arc<Picture>, ready: Vec<Option<Ready>>, counted: &Counted, film: &mut Film) {
        let crop = film.crop();
        let Some(whole) = Region::new(crop) else { return };
        let table = summed_area(whole, counted, &picture.world.instances);
        let policy = self.policy(&table, ready.len());
        let garages: Vec<Garage> = ready.iter().map(|_| Garage::default()).collect();
        let openers = ready.into_iter().zip(&garages).enumerate();
        let openers = openers.map(|(number, (ready, garage))| self.opener(number, ready, picture, garage));
        let job = Job { table: Arc::new(table), regions: vec![whole], policy, hook: Arc::new(|_| {}) };
        let layout = film.layout().clone();
        let mut totals = RegionCounts::default();
        let cancel = AtomicBool::new(false);
        let mut sink = |region: Region, result: Box<super::region::RegionResult>| {
            totals.add(&result.counts);
            film.deposit(region.to_array(), &interleave(&layout, region.pixel_count(), &result));
            self.observer.notice(Event::Pixels { finished: film.progress().0 });
            cancel.store(self.observer.is_cancelled(), Ordering::Relaxed);
        };
        let outcome = schedule::render(job, openers.collect(), &mut sink, &cancel);
        let report = match outcome {
            Ok(report) => report,
            Err(incomplete) => {
                self.report_incomplete(&incomplete);
                incomplete.report
            }
        };
        self.report_totals(&totals);
        self.add_counts(picture, counted, &totals);
        let mut moved = vec![0.0_f32; picture.world.instances.len()];
        for (slot, garage) in self.slots.iter_mut().zip(&garages) {
            slot.device = take_back(garage, &mut moved);
        }
        self.check_bounds(picture, &moved);
        self.add_devices(&report);
    }

    fn policy(&self, table: &schedule::SummedArea, devices: usize) -> Policy {
        let mut policy = Policy::new(table.work(table.picture()), devices);
        policy.perturb = self.aids.perturb;
        if let Some(timeout) = self.options.timeout {
            policy.hang_timeout = timeout;
            policy.open_timeout = timeout;
        }
        policy
    }

    /// Opens device `number` for the scheduler: the first time with the driver that counted, after a failure anew.
    fn opener(&self, number: usize, ready: Option<Ready>, picture: &Arc<Picture>, garage: &Garage) -> Opener<Worker> {
        let (picture, garage) = (Arc::clone(picture), Arc::clone(garage));
        let apron = filter_apron(&picture.filter);
        let slot = &self.slots[number];
        let (index, open_options, trace) = (slot.info.index, slot.open_options.clone(), self.options.trace.clone());
        let (driver, counted) = ready.map(|ready| (ready.driver, ready.counted)).unzip();
        let first = Mutex::new(driver);
        Box::new(move |attempt| {
            let Some(counted) = &counted else {
                return Err(schedule::Failure::Unusable("it failed before".into()));
            };
            let again = || {
                let device = open(&index.to_string(), &open_options)?.remove(0);
                Driver::new(device, Arc::clone(&picture), tracks(&trace, number))
            };
            let begin = |mut driver: Driver| match driver.begin_picture(counted) {
                Ok(()) => Ok(driver),
                Err(error) => {
                    // The next world may ask for less.
                    *garage.lock() = Some(driver);
                    Err(error)
                }
            };
            let driver = first.lock().take().filter(|_| attempt == 0).map_or_else(again, Ok).and_then(begin);
            let driver = driver.map_err(|error| driver_failure(&error))?;
            Ok(Worker::new(driver, Arc::clone(&garage), picture.in_flight, apron))
        })
    }

    fn report_incomplete(&self, incomplete: &Incomplete) {
        if self.observer.is_cancelled() {
            return;
        }
        let severe = Diagnostic::new(Severity::Severe, "system", Place::default(), incomplete.to_string());
        self.reporter.report(severe.hint(NO_DEVICE_HINT));
    }

    fn report_totals(&self, totals: &RegionCounts) {
        let place = Place::default();
        if totals.lost_samples > 0 {
            let message = format!("{} micropolygons are too large to be sampled whole", totals.lost_samples);
            self.reporter.warn("limitcheck", &place, message);
        }
        if totals.long_loops > 0 {
            let message = format!("{} shading points ran out of loop trips; their loops were ended", totals.long_loops);
            self.reporter.warn("limitcheck", &place, message);
        }
    }

    fn add_counts(&mut self, picture: &Picture, counted: &Counted, totals: &RegionCounts) {
        let frame = &picture.world.frame;
        let [x0, y0, x1, y1] = frame.sampled_px.map(i64::from);
        let counts: &mut Counts = &mut self.stats.counts;
        counts.grids += counted.grids.len() as u64;
        counts.micropolygons += counted.grids.iter().map(micropolygons).sum::<u64>();
        counts.shaded_vertices += totals.shaded_vertices;
        let samples = u64::from(frame.samples[0] * frame.samples[1]);
        counts.sample_points += ((x1 - x0) * (y1 - y0)).cast_unsigned() * samples;
    }

    fn add_devices(&mut self, report: &Report) {
        for (number, (slot, report)) in self.slots.iter().zip(&report.devices).enumerate() {
            let mut stats = DeviceStats {
                regions: report.regions,
                stolen: report.stolen,
                splits: report.splits,
                retries: report.retries,
                busy: report.busy,
                idle: report.idle,
                ..DeviceStats::default()
            };
            stats.index = slot.info.index as u32;
            stats.name.clone_from(&slot.info.name);
            stats.driver.clone_from(&slot.info.driver);
            if let Some(device) = &slot.device {
                add_use(&mut stats, device);
            }
            self.stats.add_device(number, stats);
        }
    }
}

/// What messages call an object.
fn whose(name: &str) -> String {
    if name.is_empty() { "this object".to_string() } else { format!("object {name:?}") }
}

/// Memory and time that a device took.
fn add_use(stats: &mut DeviceStats, device: &Device) {
    stats.peak_bytes = device.memory().peak_bytes;
    stats.limit_bytes = device.memory().budget_bytes;
    for stage in Stage::ALL {
        if let Some(seconds) = device.stage_seconds().get(stage.name()) {
            stats.stages.add(stage, Duration::from_secs_f64(*seconds));
        }
    }
}

fn tracks(trace: &Trace, device: usize) -> Tracks {
    Tracks {
        regions: trace.track(&format!("device {device}: regions")),
        stages: trace.track(&format!("device {device}: stages")),
    }
}

fn keep(driver: Result<Driver, DriverError>, reporter: &Reporter) -> Option<Driver> {
    driver.inspect_err(|error| report(reporter, error)).ok()
}

/// Outputs besides colour, alpha and depth that the film wants, in its order.
fn variables(film: &Film) -> Vec<(Arc<str>, ValueType)> {
    let variable = |group: &ChannelGroup| match group {
        ChannelGroup::Variable { name, ty } => Some((name.clone(), *ty)),
        _ => None,
    };
    film.layout().groups().iter().filter_map(variable).collect()
}
