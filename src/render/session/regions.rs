//! Has the scheduler render the regions that a film lacks, on all devices, and deposits them in the film.

use crate::film::Film;
use crate::options::HANG_TIMEOUT;
use crate::pipeline::frame::filter_apron;
use crate::progress::ProgressTally;
use crate::render::checkpoint::in_flight_time_max;
use crate::render::device::picture::Picture;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::grids::squares::square_counts;
use crate::render::region::prints::PrintedCalls;
use crate::render::region::region_result::{RegionCounts, RegionResult};
use crate::render::report::advice;
use crate::render::report::region_log::RegionLog;
use crate::render::report::schedule_trace::ScheduleTrace;
use crate::render::report::world_cost::cost_of;
use crate::render::report::world_statistics::{self, DrawnOn};
use crate::render::session::baked_files::BakedPicture;
use crate::render::session::counting_pass::{CountedDevice, CountingDevice};
use crate::render::session::devices::{DeviceReopener, DeviceSlot};
use crate::render::session::draw::Session;
use crate::render::session::failures::FailureLog;
use crate::render::session::limits::region_interval;
use crate::render::session::result::interleave;
use crate::render::session::worker::{IdleRenderer, Worker, opener, region_memory, take_back};
use crate::schedule::{self, Opener, Policy, Rates, Region, RenderJob, ScheduleEventKind, SummedArea};
use crate::stats::CostStats;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What came of the regions of a world.
struct RenderedRegions {
    totals: RegionCounts,
    printed: PrintedCalls,
    baked: BakedPicture,
    /// Time spent on putting regions into the film.
    deposit: Duration,
    report: schedule::Report,
}

impl Session<'_> {
    /// Renders what the film lacks, and takes the devices back.
    pub(super) fn draw_regions(
        &mut self,
        picture: &Arc<Picture>,
        devices: Vec<(Option<CountedDevice>, DeviceReopener)>,
        grids: &Arc<PictureGrids>,
        film: &Film,
    ) {
        let (whole, begin) = (film.crop(), Instant::now());
        let squares = match square_counts(whole, &grids.list, &picture.world.instances) {
            Ok(squares) => squares,
            Err(error) => {
                let counted = devices.into_iter().map(|(counted, _)| counted).enumerate();
                let open =
                    counted.filter_map(|(slot, counted)| Some(CountingDevice { slot, renderer: counted?.renderer }));
                return self.give_up(&error, open.collect());
            }
        };
        let table = Arc::new(SummedArea::new(whole, &squares, Rates::at(picture.world.frame.samples)));
        let lists = [picture.world.frame.samples, filter_apron(&picture.widest_filter)];
        let log = Arc::new(RegionLog::new(self.world_stats().count, Arc::clone(&table), lists));
        let policy = self.policy(&table, devices.len());
        let idle: Vec<IdleRenderer> = devices.iter().map(|_| IdleRenderer::default()).collect();
        let openers = devices.into_iter().zip(&idle).enumerate();
        let openers = openers.map(|(device, ((counted, reopener), idle))| {
            opener(counted, reopener, picture, idle, self.tuning.slowness(device))
        });
        let openers = openers.collect();
        let (regions, hook) = (self.first_regions(film, &table), self.hook(&log, &table));
        let (work, left) = (table.work(whole), regions.iter().map(|region| table.work(*region)).sum());
        self.ticker.tally.begin_drawing(work as f64, work.saturating_sub(left) as f64);
        let table_s = begin.elapsed().as_secs_f64();
        let job = RenderJob { table, regions, policy, hook, compiles: self.compiles() };
        let rendered = self.render_regions(job, openers, film, &picture.film_records, &log);
        let (in_flight, region_max) = idle.iter().find_map(region_memory).unwrap_or((1, [0; 2]));
        let world = self.world_stats();
        world.regions = log.regions();
        world.estimates = log.estimates();
        world.cost = world.cost.take().map(|known| CostStats {
            devices_s: known.devices_s,
            count_jobs: known.count_jobs,
            table_s,
            deposit_s: rendered.deposit.as_secs_f64(),
            start_s: log.starts_s(),
            in_flight,
            region_subpixels_max: region_max[0],
            region_grids_max: region_max[1],
            ..cost_of(picture, whole, &squares, grids)
        });
        if !self.shadows.drawing {
            self.baked = rendered.baked;
        }
        advice::on_prints(self.reporter, picture, &rendered.printed);
        advice::on_limits(self.reporter, &rendered.totals);
        advice::on_open_solids(self.reporter, picture, rendered.totals.open_solids);
        advice::on_replaced_values(self.reporter, picture, rendered.totals.replaced_values);
        world_statistics::add_counts(&mut self.stats.counts, picture, grids, &rendered.totals);
        self.stats.texture_loss.add(&rendered.totals.texture_loss);
        self.take_devices_back(picture, &idle);
        self.keep_for_capture(picture, grids);
        let (pipelines, bakes) = (&self.options.pipelines, picture.bakes());
        let devices = self.slots.iter().map(|slot| DrawnOn {
            info: &slot.info,
            pipeline: pipelines.of(&slot.info, bakes).name,
            device: slot.device.as_ref(),
        });
        world_statistics::add_devices(&mut self.stats, devices, &rendered.report);
    }

    /// Runs the scheduler until all regions are in the film, or no device is left.
    fn render_regions(
        &self,
        job: RenderJob,
        openers: Vec<Opener<Worker>>,
        film: &Film,
        records: &[usize],
        log: &RegionLog,
    ) -> RenderedRegions {
        let layout = film.layout().clone();
        let mut totals = RegionCounts::default();
        let mut printed = PrintedCalls::default();
        let mut baked = BakedPicture::default();
        let mut deposit = Duration::ZERO;
        let mut sink = |region: Region, mut result: Box<RegionResult>| {
            totals.add(&result.counts);
            printed.add(std::mem::take(&mut result.printed));
            baked.add(std::mem::take(&mut result.baked), result.bake_charge.take());
            log.add_result(region, &result);
            let begin = Instant::now();
            film.deposit_light(region, std::mem::take(&mut result.light));
            film.deposit(region, &interleave(&layout, records, region.pixel_count(), &result));
            deposit += begin.elapsed();
        };
        let outcome = schedule::render(job, openers, &mut sink, self.ticker.interrupt.flag());
        let report = outcome.unwrap_or_else(|incomplete| {
            if !self.ticker.interrupt.is_raised() {
                advice::on_missing_regions(self.reporter, &incomplete);
            }
            incomplete.report
        });
        RenderedRegions { totals, printed, baked, deposit, report }
    }

    /// Passes the scheduler's events on to the region log, the trace, and the failure logs of devices.
    fn hook(&self, log: &Arc<RegionLog>, table: &Arc<SummedArea>) -> schedule::Hook {
        let failures: Vec<Arc<FailureLog>> = self.slots.iter().map(|slot| Arc::clone(&slot.failures)).collect();
        let (log, tally) = (Arc::clone(log), Arc::clone(&self.ticker.tally));
        let traced: Vec<_> = self.slots.iter().map(DeviceSlot::traced).collect();
        let trace = ScheduleTrace::new(&self.options.trace, Arc::clone(table), &traced);
        Arc::new(move |event: &schedule::ScheduleEvent| {
            log.add_event(event);
            trace.mark_event(event);
            tally_event(&tally, &event.kind);
            if let ScheduleEventKind::Failed { failure, reopening, .. } = &event.kind {
                failures[event.device].report_at_work(failure, *reopening);
            }
        })
    }

    /// Returns whether a device waits for a kernel that is being compiled.
    fn compiles(&self) -> Box<dyn Fn(usize) -> bool> {
        let numbers: Vec<u32> = self.slots.iter().map(|slot| slot.open_options.first_number).collect();
        let log = Arc::clone(&self.ticker.compile_log);
        Box::new(move |device| log.holds_up(numbers[device]))
    }

    /// Returns idle devices to their slots, and warns about displacement bounds that were exceeded.
    fn take_devices_back(&mut self, picture: &Picture, idle: &[IdleRenderer]) {
        // In parallel, because drivers free memory slowly.
        let taken: Vec<_> = std::thread::scope(|scope| {
            let take = |(slot, idle): (&DeviceSlot, &IdleRenderer)| {
                let (idle, failures) = (Arc::clone(idle), Arc::clone(&slot.failures));
                scope.spawn(move || take_back(&idle, &failures))
            };
            let threads: Vec<_> = self.slots.iter().zip(idle).map(take).collect();
            threads.into_iter().map(|thread| thread.join().expect("taking a device back does not panic")).collect()
        });
        let mut displaced_by = vec![0.0_f32; picture.world.instances.len()];
        for (slot, taken) in self.slots.iter_mut().zip(taken) {
            let (device, saw) = taken.unzip();
            device.into_iter().for_each(|device| slot.give_back(device));
            displaced_by
                .iter_mut()
                .zip(saw.into_iter().flatten())
                .for_each(|(most, displaced_by)| *most = most.max(displaced_by));
        }
        advice::on_exceeded_bounds(self.reporter, picture, &displaced_by);
    }

    /// Returns the regions that the scheduler begins with: what the film lacks, cut as options and test aids ask.
    fn first_regions(&self, film: &Film, table: &SummedArea) -> Vec<Region> {
        let regions = film.missing_regions().into_iter();
        let regions = regions.flat_map(|region| self.tuning.buckets(region));
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
        policy.perturb = self.tuning.perturb;
        if self.tuning.bucket_px.is_some() {
            policy.balance_work_min = u64::MAX;
        }
        policy.in_flight_time_max = region_interval(self.options).map(in_flight_time_max);
        let timeout = self.options.timeout.unwrap_or(HANG_TIMEOUT);
        policy.hang_timeout = timeout;
        policy.open_timeout = timeout;
        policy
    }
}

/// Reports to the tally which regions are in flight.
fn tally_event(tally: &ProgressTally, event: &ScheduleEventKind) {
    match event {
        ScheduleEventKind::Begun { region, work, .. } => tally.begin_region(*region, *work as f64),
        ScheduleEventKind::Finished { region } => tally.end_region(*region, true),
        ScheduleEventKind::Cut { region, .. } | ScheduleEventKind::Refused { region } => {
            tally.end_region(*region, false);
        }
        ScheduleEventKind::Failed { returned, .. } => {
            returned.iter().for_each(|region| tally.end_region(*region, false));
        }
        _ => {}
    }
}
