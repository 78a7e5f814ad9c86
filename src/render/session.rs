//! A render session: devices that outlive worlds, and worlds drawn on them one after the other.

use super::count::{CountJob, Counted, jobs};
use super::driver::{Driver, DriverError, Picture, Tracks};
use super::region::RegionCounts;
use super::result::interleave;
use super::tiles::{micropolygons, summed_area};
use super::worker::{Garage, Worker, driver_failure, take_back};
use crate::diagnostic::{Diagnostic, Place, Reporter, Severity};
use crate::film::{ChannelGroup, DisplayOutcome, Film};
use crate::gpu::{Device, OpenOptions, open};
use crate::options::RenderOptions;
use crate::pipeline::frame::filter_apron;
use crate::pipeline::plan::Pipeline;
use crate::pipeline::world::DrawnWorld;
use crate::progress::{Event, Observer};
use crate::scene::{ValueType, World};
use crate::schedule::{self, Incomplete, Job, Opener, Policy, Region, Report};
use crate::shading;
use crate::stats::{Counts, DeviceStats, Stage, Stats};
use crate::trace::Trace;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Geometry pages hold this much (DESIGN 3.2), and this much in a test mode that makes paging happen in small scenes.
const PAGE_BYTES: u64 = 64 << 20;

/// Primitives of one job of the counting pass.
const JOB_PRIMITIVES: u32 = 1 << 15;

/// Regions in flight on each device.
const IN_FLIGHT: usize = 2;

/// Test aids, from the environment (ARCHITECTURE.md, "Test aids").
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aids {
    /// `ANTHILL_PERTURB`: splits, delays and steals by this seed.
    pub perturb: Option<u64>,
    /// `ANTHILL_PAGE_KIB`: size of geometry pages.
    pub page_bytes: Option<u64>,
}

impl Aids {
    /// Reads them; a value that is no number is an error.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let number = |name: &str| match std::env::var(name) {
            Err(_) => Ok(None),
            Ok(text) => text.parse().map(Some).map_err(|_| format!("{name}={text}: a whole number is expected")),
        };
        let page_kib: Option<u64> = number("ANTHILL_PAGE_KIB")?;
        Ok(Self { perturb: number("ANTHILL_PERTURB")?, page_bytes: page_kib.map(|kib| kib << 10) })
    }
}

/// Devices and what is kept between worlds.
pub(crate) struct Session<'a> {
    pub options: &'a RenderOptions,
    pub reporter: &'a Arc<Reporter>,
    pub observer: &'a dyn Observer,
    pub aids: Aids,
    pub stats: Stats,
    devices: Vec<Option<Device>>,
    shading: shading::Library,
    open_options: OpenOptions,
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
            devices: devices.into_iter().map(Some).collect(),
            shading: shading::Library::new().expect("the helper library was built with the compiler"),
            open_options,
        }
    }

    /// Draws a world and writes its displays.
    pub(crate) fn draw(&mut self, world: &World) -> Drawn {
        let nothing = Drawn { displays: Vec::new(), interrupted: false };
        let film_bytes = self.options.host_memory_bytes.unwrap_or(u64::MAX);
        let Some(mut film) = Film::new(world, film_bytes, self.reporter) else { return nothing };
        film.check_outputs(self.reporter);
        let crop = film.crop();
        let pixels = u64::from(crop[2] - crop[0]) * u64::from(crop[3] - crop[1]);
        self.observer.notice(Event::WorldBegin { frame: world.options.frame, pixels });
        let picture = self.picture(world, &film);
        if !self.options.check {
            let begin = Instant::now();
            self.draw_picture(&picture, &mut film);
            self.stats.render += begin.elapsed();
        }
        let begin = Instant::now();
        let displays = film.finish(None, self.reporter);
        self.stats.stages.add(Stage::Write, begin.elapsed());
        self.observer.notice(Event::WorldEnd);
        Drawn { displays, interrupted: self.observer.is_cancelled() }
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
            pipeline: Pipeline::ANTHILL,
            in_flight: IN_FLIGHT,
            reserve_bytes: u64::from(world.options.reserve_kib) << 10,
        })
    }

    fn draw_picture(&mut self, picture: &Arc<Picture>, film: &mut Film) {
        let drivers = self.drivers(picture);
        let (mut drivers, mut counted) = self.count(drivers, picture);
        if !picture.world.unbounded.is_empty() && drivers.iter().any(Option::is_some) {
            (drivers, counted) = self.count_measured(drivers, &counted, picture, film.crop());
        }
        if drivers.iter().all(Option::is_none) {
            let hint = "see `anthill devices`; more memory, or fewer devices, may help";
            let severe = Diagnostic::new(Severity::Severe, "system", Place::default(), "no device is left to draw on");
            self.reporter.report(severe.hint(hint));
            return;
        }
        for (instance, count) in &counted.lost {
            let (name, place) = &picture.world.origins[*instance as usize];
            let message = format!("{count} parts of {} reach behind the eye and are left out", whose(name));
            self.reporter.warn("eyesplits", place, message);
        }
        self.draw_regions(picture, drivers, &Arc::new(counted), film);
    }

    /// A driver on every device that is left.
    fn drivers(&mut self, picture: &Arc<Picture>) -> Vec<Option<Driver>> {
        let begin = Instant::now();
        let mut drivers = Vec::new();
        let trace = &self.options.trace;
        for (number, device) in self.devices.iter_mut().enumerate() {
            let driver = device.take().map(|device| Driver::new(device, Arc::clone(picture), tracks(trace, number)));
            drivers.push(driver.and_then(|driver| keep(driver, self.reporter)));
        }
        self.stats.stages.add(Stage::Upload, begin.elapsed());
        drivers
    }

    /// The counting pass: every device takes a share of the jobs; what a failing one leaves is counted by another.
    fn count(&mut self, drivers: Vec<Option<Driver>>, picture: &Picture) -> (Vec<Option<Driver>>, Counted) {
        let all = jobs(&picture.world.runs, JOB_PRIMITIVES);
        let mut lists: Vec<Option<Counted>> = vec![None; all.len()];
        let mut drivers = drivers;
        while lists.iter().any(Option::is_none) && drivers.iter().any(Option::is_some) {
            let open: Vec<usize> = (0..all.len()).filter(|&i| lists[i].is_none()).collect();
            let alive = drivers.iter().filter(|driver| driver.is_some()).count();
            let share = open.len().div_ceil(alive);
            let mut shares = open.chunks(share);
            let mut works = Vec::new();
            for driver in drivers.iter_mut().filter(|driver| driver.is_some()) {
                works.push((driver, shares.next().unwrap_or(&[])));
            }
            let results: Vec<_> = std::thread::scope(|scope| {
                let all = &all;
                let work = |(driver, share): (&mut Option<Driver>, &[usize])| {
                    let jobs: Vec<CountJob> = share.iter().map(|&i| all[i].clone()).collect();
                    let counted = driver.as_mut().map(|driver| driver.count(&jobs));
                    if matches!(counted, Some(Err(_))) {
                        *driver = None;
                    }
                    (share.to_vec(), counted)
                };
                let threads: Vec<_> = works.into_iter().map(|w| scope.spawn(move || work(w))).collect();
                threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).collect()
            });
            for (share, counted) in results {
                match counted {
                    Some(Ok(counted)) => share.into_iter().zip(counted).for_each(|(i, c)| lists[i] = Some(c)),
                    Some(Err(error)) => report(self.reporter, &error),
                    None => {}
                }
            }
        }
        let mut counted = Counted::default();
        for list in lists.into_iter().flatten() {
            counted.grids.extend(list.grids);
            counted.bounds.extend(list.bounds);
            counted.lost.extend(list.lost);
        }
        (drivers, counted)
    }

    /// Displacements without a declared bound are displaced once and measured; then everything is counted again.
    fn count_measured(
        &mut self,
        mut drivers: Vec<Option<Driver>>,
        counted: &Counted,
        picture: &Picture,
        crop: [u32; 4],
    ) -> (Vec<Option<Driver>>, Counted) {
        let mut moved = Vec::new();
        for place in &mut drivers {
            let Some(driver) = place else { continue };
            match driver.measure(counted, crop) {
                Ok(measured) => {
                    moved = measured;
                    break;
                }
                Err(error) => {
                    report(self.reporter, &error);
                    *place = None;
                }
            }
        }
        let world = &picture.world;
        // A little more than measured: vertices of the next count lie elsewhere on the surface.
        let bound = |&instance: &u32| (instance, moved.get(instance as usize).copied().unwrap_or(0.0) * 1.05);
        let bounds: Vec<(u32, f32)> = world.unbounded.iter().map(bound).collect();
        self.advise_bounds(picture, &bounds);
        for place in &mut drivers {
            if let Some(Err(error)) = place.as_mut().map(|driver| driver.bound(&bounds)) {
                report(self.reporter, &error.into());
                *place = None;
            }
        }
        self.count(drivers, picture)
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

    fn draw_regions(
        &mut self,
        picture: &Arc<Picture>,
        drivers: Vec<Option<Driver>>,
        counted: &Arc<Counted>,
        film: &mut Film,
    ) {
        let crop = film.crop();
        let Some(whole) = Region::new(crop) else { return };
        let table = summed_area(whole, counted, &picture.world.instances);
        let policy = self.policy(&table, drivers.len());
        let garages: Vec<Garage> = drivers.iter().map(|_| Garage::default()).collect();
        let openers = drivers.into_iter().zip(&garages).enumerate();
        let openers = openers.map(|(number, (driver, garage))| self.opener(number, driver, picture, counted, garage));
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
        if std::env::var("ANTHILL_DEBUG").is_ok() {
            eprintln!("{totals:?}");
        }
        self.report_totals(&totals);
        self.add_counts(picture, counted, &totals);
        let mut moved = vec![0.0_f32; picture.world.instances.len()];
        self.devices = garages.iter().map(|garage| take_back(garage, &mut moved)).collect();
        self.check_bounds(picture, &moved);
        self.add_devices(&report);
    }

    fn policy(&self, table: &schedule::SummedArea, devices: usize) -> Policy {
        let mut policy = Policy::new(table.work(table.picture()), devices);
        policy.perturb = self.aids.perturb;
        if let Some(timeout) = self.options.timeout {
            policy.hang_timeout = timeout;
        }
        policy
    }

    /// Opens device `number` for the scheduler: the first time with the driver that counted, after a failure anew.
    fn opener(
        &self,
        number: usize,
        driver: Option<Driver>,
        picture: &Arc<Picture>,
        counted: &Arc<Counted>,
        garage: &Garage,
    ) -> Opener<Worker> {
        let (picture, counted, garage) = (Arc::clone(picture), Arc::clone(counted), Arc::clone(garage));
        let apron = filter_apron(&picture.filter);
        let (open_options, index, trace) = (self.open_options.clone(), number, self.options.trace.clone());
        let first = Mutex::new(driver);
        Box::new(move |attempt| {
            let mut driver = match first.lock().take() {
                Some(driver) => driver,
                None if attempt == 0 => {
                    return Err(schedule::Failure::Unusable("it failed before".into()));
                }
                None => reopen(index, &open_options, (&picture, &trace)).map_err(|error| driver_failure(&error))?,
            };
            driver.begin_picture(&counted).map_err(|error| driver_failure(&error))?;
            Ok(Worker::new(driver, Arc::clone(&garage), picture.in_flight, apron))
        })
    }

    fn report_incomplete(&self, incomplete: &Incomplete) {
        if self.observer.is_cancelled() {
            return;
        }
        let severe = Diagnostic::new(Severity::Severe, "system", Place::default(), incomplete.to_string());
        self.reporter.report(severe);
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
        for (slot, (device, report)) in self.devices.iter().zip(&report.devices).enumerate() {
            let mut stats = DeviceStats {
                regions: report.regions,
                stolen: report.stolen,
                splits: report.splits,
                retries: report.retries,
                busy: report.busy,
                idle: report.idle,
                ..DeviceStats::default()
            };
            if let Some(device) = device {
                describe(&mut stats, device);
            }
            self.stats.add_device(slot, stats);
        }
    }
}

/// What messages call an object.
fn whose(name: &str) -> String {
    if name.is_empty() { "this object".to_string() } else { format!("object {name:?}") }
}

fn describe(stats: &mut DeviceStats, device: &Device) {
    let info = device.info();
    stats.index = info.index as u32;
    stats.name.clone_from(&info.name);
    stats.driver.clone_from(&info.driver);
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

fn reopen(
    index: usize,
    options: &OpenOptions,
    (picture, trace): (&Arc<Picture>, &Trace),
) -> Result<Driver, DriverError> {
    let device = open(&index.to_string(), options)?.remove(0);
    Driver::new(device, Arc::clone(picture), tracks(trace, index))
}

fn report(reporter: &Reporter, error: &DriverError) {
    reporter.error("system", &Place::default(), format!("{error}; it draws no more of this picture"));
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
