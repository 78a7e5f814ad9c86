//! A render session: devices that outlive worlds, and worlds drawn on them one after the other.

pub(super) mod counting_shares;
pub(super) mod devices;
pub(super) mod result;
pub(super) mod run;
pub(super) mod test_aids;
pub(super) mod worker;

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::film::{ChannelGroup, DisplayOutcome, DisplayState, Film};
use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::options::{HANG_TIMEOUT, RenderOptions};
use crate::outcome::Ending;
use crate::pipeline::frame::filter_apron;
use crate::pipeline::look::ImagerProgram;
use crate::pipeline::plan::Pipeline;
use crate::pipeline::world::DrawnWorld;
use crate::progress::{Event, Observer};
use crate::render::checkpoint::{Begun, Checkpoint, Refusal};
use crate::render::device::imager::DeviceImager;
use crate::render::device::picture::Picture;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::grids::list::ListError;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::grids::tiles::tile_counts;
use crate::render::region::chain::RegionCounts;
use crate::render::report::advice;
use crate::render::report::region_log::Chronicle;
use crate::render::report::schedule_trace::Decisions;
use crate::render::report::world_cost::cost_of;
use crate::render::report::world_statistics::{self, DrawnOn};
use crate::render::session::counting_shares::{Counting, Member, Ready, Uncounted};
use crate::render::session::devices::{DeviceSlot, InTurn, Record, Reopener};
use crate::render::session::result::interleave;
use crate::render::session::test_aids::Aids;
use crate::render::session::worker::{Garage, Worker, region_room, take_back};
use crate::scene::{ValueType, World};
use crate::schedule::{self, Failure, Opener, Policy, Rates, Region, RenderJob, ScheduleEventKind, SummedArea};
use crate::shading;
use crate::stats::{CostStats, Stage, Stats, WorldStats};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Devices and what is kept between worlds.
pub(crate) struct Session<'a> {
    pub options: &'a RenderOptions,
    pub reporter: &'a Arc<Reporter>,
    pub observer: &'a dyn Observer,
    pub aids: Aids,
    pub stats: Stats,
    memory: Arc<HostMemory>,
    checkpoint: Option<Checkpoint>,
    /// Worlds that [`Self::draw`] was given.
    worlds: u32,
    slots: Vec<DeviceSlot>,
    shading: shading::ShaderLibrary,
}

/// How drawing a world ended.
pub(crate) struct Drawn {
    pub displays: Vec<DisplayOutcome>,
    /// Why no other world is drawn after it.
    pub ending: Option<Ending>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        options: &'a RenderOptions,
        (reporter, observer): (&'a Arc<Reporter>, &'a dyn Observer),
        slots: Vec<DeviceSlot>,
        (aids, memory): (Aids, Arc<HostMemory>),
    ) -> Self {
        Self {
            options,
            reporter,
            observer,
            aids,
            stats: Stats::default(),
            memory,
            checkpoint: None,
            worlds: 0,
            slots,
            shading: shading::ShaderLibrary::new().expect("the helper library was built with the compiler"),
        }
    }

    /// Says what there is to say of the devices.
    pub(crate) fn advise_devices(&self) {
        let devices: Vec<_> = self.slots.iter().map(|slot| &slot.info).collect();
        advice::on_devices(self.reporter, &devices, &self.options.devices);
    }

    /// Keeps what is finished there from now on.
    ///
    /// # Errors
    /// When it was made by other devices.
    pub(crate) fn keep(&mut self, mut checkpoint: Checkpoint) -> Result<(), Refusal> {
        checkpoint.set_devices(self.slots.iter().map(|slot| &slot.info))?;
        self.checkpoint = Some(checkpoint);
        Ok(())
    }

    /// No world is left to be drawn: what a later run could go on from stays, if anything is to be done.
    pub(crate) fn close_checkpoint(&mut self, ending: Ending, displays: &[DisplayOutcome]) {
        let whole = ending == Ending::Finished && displays.iter().all(is_whole);
        if let Some(checkpoint) = self.checkpoint.take() {
            checkpoint.close(whole);
        }
    }

    /// Worlds drawn so far.
    pub(crate) fn worlds(&self) -> u32 {
        self.worlds
    }

    /// Draws a world and writes its displays. `charge` is for what the world holds.
    pub(crate) fn draw(&mut self, world: World, charge: &Charge) -> Drawn {
        advice::on_camera(self.reporter, &world);
        let world = if world.moving_location().is_some() { world.at_shutter_open() } else { world };
        self.worlds += 1;
        let undrawn = |displays| Drawn { displays, ending: None };
        // Where its film was refused, this was told when the world was read.
        let silent = Reporter::silent();
        let refused = charge.refused() == Some(ChargeKind::Film);
        let (bytes_max, reporter) = if refused { (0, &silent) } else { (u64::MAX, &**self.reporter) };
        let mut film = match Film::new(&world, bytes_max, reporter) {
            Ok(film) => film,
            Err(displays) => return undrawn(displays),
        };
        film.check_outputs(self.reporter);
        if self.options.check || world.options.hider.name == "null" {
            self.picture(&world, &film);
            self.shading.imager(&world, self.reporter);
            return undrawn(film.undrawn());
        }
        if film.is_pointless() {
            return undrawn(film.missing());
        }
        let crop = film.crop();
        let pixels = u64::from(crop[2] - crop[0]) * u64::from(crop[3] - crop[1]);
        self.observer.notify(Event::WorldBegin { frame: world.options.frame, pixels });
        let begin = Instant::now();
        let picture = self.picture(&world, &film);
        let imager = self.shading.imager(&world, self.reporter);
        let (frame, prepare) = (world.options.frame, begin.elapsed());
        self.stats.worlds.push(WorldStats { frame, crop_px: crop, prepare, ..WorldStats::default() });
        let mut checkpoint = self.checkpoint.take();
        let begun = checkpoint.as_mut().map(|c| c.begin(self.worlds, (&world, &picture, imager.as_ref()), &film));
        // Geometry as it was read is not needed any more.
        drop(world);
        let drawn = match begun.unwrap_or(Ok(Begun::Draw)) {
            Ok(Begun::Draw) => Ok(self.draw_film(&picture, film, imager, checkpoint.as_mut())),
            Ok(Begun::Written(displays)) => Ok(displays),
            Err(refusal) => Err(refusal),
        };
        self.checkpoint = checkpoint;
        self.observer.notify(Event::WorldEnd);
        match drawn {
            Ok(displays) => Drawn { displays, ending: self.observer.is_cancelled().then_some(Ending::Interrupted) },
            Err(refusal) => {
                report_refusal(self.reporter, &refusal);
                Drawn { displays: Vec::new(), ending: Some(Ending::WrongUsage) }
            }
        }
    }

    /// Draws what the film lacks, and writes its displays.
    fn draw_film(
        &mut self,
        picture: &Arc<Picture>,
        film: Film,
        imager: Option<ImagerProgram>,
        mut checkpoint: Option<&mut Checkpoint>,
    ) -> Vec<DisplayOutcome> {
        let begin = Instant::now();
        let (finished, count) = film.progress();
        self.observer.notify(Event::Pixels { finished });
        if finished < count {
            match &mut checkpoint {
                Some(checkpoint) => checkpoint.keep_while(&film, || self.draw_picture(picture, &film, begin)),
                None => self.draw_picture(picture, &film, begin),
            }
        }
        let (took, world) = (begin.elapsed(), self.world());
        world.draw = took.saturating_sub(world.count);
        self.stats.render += took;
        let displays = self.write(film, imager);
        if let Some(checkpoint) = checkpoint {
            checkpoint.end(self.worlds, displays.iter().all(is_whole));
        }
        let failures: Vec<_> = self.slots.iter().map(|slot| (&slot.info, slot.record.take_counts())).collect();
        world_statistics::add_failures(&mut self.stats, &failures);
        displays
    }

    /// Lets the imager have the picture, and writes it.
    fn write(&mut self, film: Film, imager: Option<ImagerProgram>) -> Vec<DisplayOutcome> {
        let begin = Instant::now();
        let displays = match imager {
            None => film.finish(None, self.reporter),
            Some(program) => {
                let mut devices = InTurn::new(&mut self.slots);
                let imager = DeviceImager::new(program, &mut devices, self.reporter);
                let displays = film.finish(Some(&imager), self.reporter);
                imager.finish();
                displays
            }
        };
        let took = begin.elapsed();
        self.stats.stages.add(Stage::Write, took);
        self.world().write = took;
        displays
    }

    /// The statistics of the world that is drawn.
    fn world(&mut self) -> &mut WorldStats {
        self.stats.worlds.last_mut().expect("a world is begun before it is drawn")
    }

    /// Shaders and geometry of a world, ready for devices.
    fn picture(&mut self, world: &World, film: &Film) -> Arc<Picture> {
        let begin = Instant::now();
        let variables = variables(film);
        let shaded = self.shading.shade(world, &variables, self.reporter);
        self.stats.stages.add(Stage::Compile, begin.elapsed());
        let begin = Instant::now();
        let page_bytes = self.aids.page_bytes();
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
            pages_bytes_max: self.aids.pages_bytes_max(),
            grid_residency: self.aids.grid_residency(),
            perturb: self.aids.perturb,
            captured_region: self.aids.captured_region,
        })
    }

    /// Draws on all devices; `begin` is when the world's render began.
    fn draw_picture(&mut self, picture: &Arc<Picture>, film: &Film, begin: Instant) {
        let reopeners: Vec<_> = self.slots.iter().map(|slot| slot.reopener(picture, &self.options.trace)).collect();
        let setting_up = Instant::now();
        let drivers = self.drivers(&reopeners);
        let devices_s = setting_up.elapsed().as_secs_f64();
        let limits_bytes = self.slots.iter().filter_map(|slot| slot.open_options.memory_bytes).sum();
        let list_bytes = self.aids.list_bytes(limits_bytes);
        let (memory, crop) = (&self.memory, film.crop());
        let counting = Counting { picture, crop, reopeners: &reopeners, memory, list_bytes };
        let count_jobs = counting.job_count_max() as u64;
        let ready = match counting.run(drivers) {
            Ok(ready) => ready,
            Err(Uncounted { error, drivers }) => return self.give_up(&error, drivers),
        };
        let Some(first) = ready.iter().flatten().next() else {
            advice::on_no_device(self.reporter);
            return;
        };
        let counted = Arc::clone(&first.counted);
        advice::on_measured_bounds(self.reporter, picture, &counted.bounds_measured);
        advice::on_eye_splits(self.reporter, picture, &counted.lost);
        let count = begin.elapsed();
        self.world().count = count;
        self.world().cost = Some(CostStats { devices_s, count_jobs, ..CostStats::default() });
        self.draw_regions(picture, ready.into_iter().zip(reopeners).collect(), &counted, film);
    }

    /// The list of grids is not to be had: nothing can be drawn, and the devices wait for the next world.
    fn give_up(&mut self, error: &ListError, drivers: Vec<Member>) {
        advice::on_no_list(self.reporter, error);
        for (place, driver) in drivers {
            self.slots[place].device = Some(driver.finish());
        }
    }

    /// A driver on every device that is left.
    fn drivers(&mut self, reopeners: &[Reopener]) -> Vec<Option<DeviceRenderer>> {
        let begin = Instant::now();
        let driver = |(slot, reopener): (&mut DeviceSlot, &Reopener)| {
            slot.take().and_then(|device| reopener.keep(reopener.driver(device)))
        };
        let drivers = self.slots.iter_mut().zip(reopeners).map(driver).collect();
        self.stats.stages.add(Stage::Upload, begin.elapsed());
        drivers
    }

    fn draw_regions(
        &mut self,
        picture: &Arc<Picture>,
        ready: Vec<(Option<Ready>, Reopener)>,
        counted: &PictureGrids,
        film: &Film,
    ) {
        let crop = film.crop();
        let Some(whole) = Region::new(crop) else { return };
        let counting_up = Instant::now();
        let tiles = match tile_counts(whole, &counted.list, &picture.world.instances) {
            Ok(tiles) => tiles,
            Err(error) => {
                let drivers = ready.into_iter().enumerate();
                let drivers = drivers.filter_map(|(place, (ready, _))| Some((place, ready?.driver)));
                return self.give_up(&error, drivers.collect());
            }
        };
        let table = Arc::new(SummedArea::new(whole, &tiles, Rates::at(picture.world.frame.samples)));
        let policy = self.policy(&table, ready.len());
        let garages: Vec<Garage> = ready.iter().map(|_| Garage::default()).collect();
        let openers = ready.into_iter().zip(&garages).enumerate();
        let openers =
            openers.map(|(device, (ready, garage))| opener(ready, picture, garage, self.aids.slowness(device)));
        let openers = openers.collect();
        let lists = [picture.world.frame.samples, filter_apron(&picture.filter)];
        let chronicle = Arc::new(Chronicle::new(self.world().count, Arc::clone(&table), lists));
        let hook = self.hook(&chronicle, &table);
        let regions = self.first_regions(film, &table);
        let job = RenderJob { table, regions, policy, hook };
        let layout = film.layout().clone();
        let mut totals = RegionCounts::default();
        let mut deposit = Duration::ZERO;
        let cancel = AtomicBool::new(false);
        let mut sink = |region: Region, result: Box<crate::render::region::chain::RegionResult>| {
            totals.add(&result.counts);
            chronicle.measured(region, &result);
            let begin = Instant::now();
            film.deposit(region.to_array(), &interleave(&layout, region.pixel_count(), &result));
            deposit += begin.elapsed();
            self.observer.notify(Event::Pixels { finished: film.progress().0 });
            cancel.store(self.observer.is_cancelled(), Ordering::Relaxed);
        };
        let table_s = counting_up.elapsed().as_secs_f64();
        let outcome = schedule::render(job, openers, &mut sink, &cancel);
        let report = outcome.unwrap_or_else(|incomplete| {
            if !self.observer.is_cancelled() {
                advice::on_missing_regions(self.reporter, &incomplete);
            }
            incomplete.report
        });
        let room = garages.iter().find_map(region_room).unwrap_or_default();
        self.world().regions = chronicle.regions();
        self.world().estimates = chronicle.estimates();
        self.world().cost = self.world().cost.take().map(|known| CostStats {
            devices_s: known.devices_s,
            count_jobs: known.count_jobs,
            table_s,
            deposit_s: deposit.as_secs_f64(),
            start_s: chronicle.starts_s(),
            region_subpixels_max: room[0],
            region_grids_max: room[1],
            ..cost_of(picture, whole, &tiles, counted)
        });
        advice::on_limits(self.reporter, &totals);
        world_statistics::add_counts(&mut self.stats.counts, picture, counted, &totals);
        self.take_devices_back(picture, &garages);
        let devices = self.slots.iter().map(|slot| DrawnOn { info: &slot.info, device: slot.device.as_ref() });
        world_statistics::add_devices(&mut self.stats, devices, &report);
    }

    /// Who hears what the scheduler does: the statistics, the trace, and the records of devices.
    fn hook(&self, chronicle: &Arc<Chronicle>, table: &Arc<SummedArea>) -> schedule::Hook {
        let records: Vec<Arc<Record>> = self.slots.iter().map(|slot| Arc::clone(&slot.record)).collect();
        let chronicle = Arc::clone(chronicle);
        let decisions = Decisions::new(&self.options.trace, Arc::clone(table), records.len());
        Arc::new(move |event: &schedule::ScheduleEvent| {
            chronicle.hear(event);
            decisions.hear(event);
            if let ScheduleEventKind::Failed { failure, reopening, .. } = &event.kind {
                records[event.device].failed_at_work(failure, *reopening);
            }
        })
    }

    fn take_devices_back(&mut self, picture: &Picture, garages: &[Garage]) {
        // Side by side, because memory is given back slowly.
        let taken: Vec<_> = std::thread::scope(|scope| {
            let take = |(slot, garage): (&DeviceSlot, &Garage)| {
                let (garage, record) = (Arc::clone(garage), Arc::clone(&slot.record));
                scope.spawn(move || take_back(&garage, &record))
            };
            let threads: Vec<_> = self.slots.iter().zip(garages).map(take).collect();
            threads.into_iter().map(|thread| thread.join().expect("taking a device back does not panic")).collect()
        });
        let mut moved = vec![0.0_f32; picture.world.instances.len()];
        for (slot, taken) in self.slots.iter_mut().zip(taken) {
            let (device, saw) = taken.unzip();
            slot.device = device;
            moved.iter_mut().zip(saw.into_iter().flatten()).for_each(|(most, moved)| *most = most.max(moved));
        }
        advice::on_exceeded_bounds(self.reporter, picture, &moved);
    }

    /// What the film lacks, cut as `--regions` and the test aids ask for.
    fn first_regions(&self, film: &Film, table: &SummedArea) -> Vec<Region> {
        let regions = film.missing_rectangles().into_iter().filter_map(Region::new);
        let regions = regions.flat_map(|region| self.aids.buckets(region));
        match self.options.regions {
            Some(count) => regions.flat_map(|region| table.uneven_parts(region, count.get())).collect(),
            None => regions.collect(),
        }
    }

    fn policy(&self, table: &SummedArea, devices: usize) -> Policy {
        let mut policy = Policy::new(table.work(table.picture()), devices);
        if self.slots.windows(2).all(|pair| pair[0].info.is_like(&pair[1].info)) {
            policy = policy.of_alike();
        }
        policy.perturb = self.aids.perturb;
        if self.aids.bucket_px.is_some() {
            policy.balance_work_min = u64::MAX;
        }
        let timeout = self.options.timeout.unwrap_or(HANG_TIMEOUT);
        policy.hang_timeout = timeout;
        policy.open_timeout = timeout;
        policy
    }
}

fn is_whole(display: &DisplayOutcome) -> bool {
    display.state == DisplayState::Whole
}

/// Says why a checkpoint cannot be used.
pub(crate) fn report_refusal(reporter: &Reporter, refusal: &Refusal) {
    let severe = Diagnostic::new(Severity::Severe, "checkpoint", SourceLocation::default(), refusal.to_string());
    reporter.report(severe.hint(refusal.hint));
}

/// Opens a device for the scheduler: the first time with the driver that counted, after a failure anew. What goes wrong here is told here.
fn opener(
    (ready, reopener): (Option<Ready>, Reopener),
    picture: &Arc<Picture>,
    garage: &Garage,
    slowness: f64,
) -> Opener<Worker> {
    let (picture, garage) = (Arc::clone(picture), Arc::clone(garage));
    let apron = filter_apron(&picture.filter);
    let (mut first, counted) = ready.map(|ready| (ready.driver, ready.counted)).unzip();
    let unopened = || Failure::Unopened("it failed before".into());
    Box::new(move |attempt| {
        let driver = if attempt == 0 { first.take() } else { None };
        let again = || {
            // What failed before must not hold memory any longer.
            let failed = garage.lock().take();
            drop(failed.map(DeviceRenderer::finish));
            reopener.record.granted().then(|| reopener.open()).flatten()
        };
        let mut driver = driver.or_else(again).ok_or_else(unopened)?;
        let counted = counted.as_ref().ok_or_else(unopened)?;
        while let Err(error) = driver.begin_picture(counted) {
            if !error.ends_device() {
                reopener.record.failed(&error);
                // The next world may ask for less.
                *garage.lock() = Some(driver);
                return Err(Failure::Unopened(error.to_string()));
            }
            drop(driver.finish());
            driver = reopener.instead(&error).ok_or_else(|| Failure::Unopened(error.to_string()))?;
        }
        Ok(Worker::new(driver, Arc::clone(&garage), apron, slowness))
    })
}

/// Outputs besides colour, alpha and depth that the film wants, in its order.
fn variables(film: &Film) -> Vec<(Arc<str>, ValueType)> {
    let variable = |group: &ChannelGroup| match group {
        ChannelGroup::Variable { name, ty } => Some((name.clone(), *ty)),
        _ => None,
    };
    film.layout().groups().iter().filter_map(variable).collect()
}
