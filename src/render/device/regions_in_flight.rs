//! Regions in flight on a device: begun, polled in turn, and traced.

use crate::gpu::{Device, GpuError, StageTime, Ticket};
use crate::pipeline::buffers::{ActiveRegion, RegionCapacity};
use crate::pipeline::pixels::RegionPixels;
use crate::render::device::renderer::{DeviceRenderer, RunningRegion};
use crate::render::region::chain::{RegionRun, RegionStatus};
use crate::render::region::region_result::RegionResult;
use crate::render::region::texture_watch::{TileLoad, TileMisses};
use crate::schedule::Region;
use crate::trace::Track;
use std::time::{Duration, Instant};

/// What happened in a poll.
#[derive(Debug)]
pub(crate) enum RegionPoll {
    /// This region is finished, with this result.
    Finished(Region, Box<RegionResult>),
    /// This region comes to more than fits and has to be cut.
    TooLarge(Region),
    /// A region has submitted its next work.
    Advanced,
    /// No submission has ended.
    Waiting,
}

impl DeviceRenderer {
    /// Returns the number of regions that can be in flight.
    pub(crate) fn in_flight_max(&self) -> usize {
        self.regions.as_ref().map_or(0, |regions| regions.parts.len())
    }

    /// Returns what a region in flight has room for, once the picture has begun.
    pub(crate) fn region_capacity(&self) -> Option<RegionCapacity> {
        self.regions.as_ref().map(|regions| regions.capacity)
    }

    /// Returns what the oldest region in flight waits for.
    pub(crate) fn waiting_for(&self) -> String {
        self.in_flight.first().map_or_else(String::new, |region| region.run.doing().to_string())
    }

    /// Returns the regions in flight, each with the fraction of it that is done: an estimate of time.
    pub(crate) fn fractions(&self) -> impl Iterator<Item = (Region, f64)> + '_ {
        self.in_flight.iter().map(|region| (region.region, region.run.fraction()))
    }

    /// Gives up the regions in flight when their submissions are done, for each of which it waits at most `timeout`.
    pub(crate) fn abandon_regions(&mut self, timeout: Duration) -> Result<(), GpuError> {
        while let Some(region) = self.in_flight.first() {
            self.device.wait(region.run.ticket(), timeout)?;
            let region = self.in_flight.remove(0);
            self.regions.as_mut().expect("a region was in flight").free.push(region.part);
        }
        Ok(())
    }

    /// Whether no region is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Returns the pixels of a region with the filter's apron.
    pub(crate) fn region_pixels(&self, region: Region) -> RegionPixels {
        RegionPixels::new(region, &self.picture.widest_filter)
    }

    /// Begins a region. The picture has begun, and fewer regions than [`Self::in_flight_max`] are in flight.
    pub(crate) fn begin(&mut self, region: Region) -> Result<(), GpuError> {
        let pixels = self.region_pixels(region);
        let regions = self.regions.as_mut().expect("the picture has begun");
        let part = regions.free.pop().expect("no more regions are begun than there is memory for");
        let active = ActiveRegion { pixels, slices: regions.parts[part], capacity: regions.capacity };
        let run = RegionRun::begin(&mut self.device, &mut self.shared, active, self.pace.quota())?;
        self.in_flight.push(RunningRegion { region, part, run, begun: Instant::now(), device_s: 0.0 });
        Ok(())
    }

    /// Advances one region in flight, waiting at most `timeout` for one that can go on.
    pub(crate) fn poll(&mut self, timeout: Duration) -> Result<RegionPoll, GpuError> {
        let mut ready = None;
        for index in 0..self.in_flight.len() {
            if self.device.is_done(self.in_flight[index].run.ticket())? {
                ready = Some(index);
                break;
            }
        }
        let index = match (ready, self.in_flight.first()) {
            (Some(index), _) => index,
            (None, None) => return Ok(RegionPoll::Waiting),
            (None, Some(first)) => match self.device.wait(first.run.ticket(), timeout) {
                Ok(()) => 0,
                Err(GpuError::Timeout { .. }) => return Ok(RegionPoll::Waiting),
                Err(error) => return Err(error),
            },
        };
        self.advance(index)
    }

    fn advance(&mut self, index: usize) -> Result<RegionPoll, GpuError> {
        let region = &mut self.in_flight[index];
        let stages_s = trace_stages(&mut self.tracks.stages, &self.device, region.run.ticket());
        region.device_s += stages_s.iter().sum::<f64>();
        let seconds = stages_s.iter().sum::<f64>();
        let ticket = region.run.ticket();
        let missed = region.run.note_loops(&mut self.device, &mut self.shared, seconds)?;
        trace_misses(&mut self.tracks.textures, &self.device, ticket, missed);
        self.pace.took(region.run.portion(), &stages_s);
        let status = region.run.advance(&mut self.device, &mut self.shared, self.pace.quota())?;
        if let Some(TileLoad { begin, took, tiles }) = region.run.take_tile_load() {
            self.tracks.textures.slice("load tiles", begin, begin + took, &[("tiles", tiles as f64)]);
        }
        if matches!(status, RegionStatus::Working) {
            // The region that was begun first comes first again next time.
            self.in_flight.rotate_left(1);
            return Ok(RegionPoll::Advanced);
        }
        let region = self.in_flight.remove(index);
        self.regions.as_mut().expect("a region is in flight").free.push(region.part);
        trace_region(&mut self.tracks.regions, &region, &status);
        Ok(match status {
            RegionStatus::Finished(result) => {
                RegionPoll::Finished(region.region, Box::new(RegionResult { device_s: region.device_s, ..*result }))
            }
            _ => RegionPoll::TooLarge(region.region),
        })
    }
}

/// Adds the stages of a submission to the trace, and returns the seconds that each took.
fn trace_stages(track: &mut Track, device: &Device, ticket: Ticket) -> Vec<f64> {
    for time in device.stage_times(ticket) {
        let (start, end) = span(device, time);
        track.slice(time.stage, start, end, &[]);
    }
    device.stage_times(ticket).iter().map(|time| time.seconds).collect()
}

/// Returns when a stage of a submission ran.
fn span(device: &Device, time: &StageTime) -> (Instant, Instant) {
    let start = device.opened_at() + Duration::from_secs_f64(time.start_s.max(0.0));
    (start, start + Duration::from_secs_f64(time.seconds))
}

/// Adds a submission to the trace that only named tiles, or missed some.
fn trace_misses(track: &mut Track, device: &Device, ticket: Ticket, missed: TileMisses) {
    let name = match missed {
        TileMisses { only_named: true, .. } => "name tiles",
        TileMisses { tiles: 0, .. } => return,
        _ => "missed tiles, runs again",
    };
    if let ([first, ..], [.., last]) = (device.stage_times(ticket), device.stage_times(ticket)) {
        let numbers = [("tiles", missed.tiles as f64)];
        track.slice(name, span(device, first).0, span(device, last).1, &numbers);
    }
}

fn trace_region(track: &mut Track, region: &RunningRegion, status: &RegionStatus) {
    let name = region.region.to_string();
    let RegionStatus::Finished(result) = status else {
        track.mark(&format!("{name} is too large"), Instant::now(), &[]);
        return;
    };
    let counts = &result.counts;
    let numbers = [
        ("grids", counts.selected as f64),
        ("culled micropolygons", counts.culled_micropolygons as f64),
        ("visible micropolygons", counts.visible_micropolygons as f64),
        ("shaded vertices", counts.shaded_vertices as f64),
        ("entries", counts.entries as f64),
        ("slabs", counts.slabs as f64),
        ("slabs too thick", counts.thick_slabs as f64),
        ("rounds", counts.rounds as f64),
        ("submissions", counts.submissions as f64),
    ];
    track.slice(&name, region.begun, Instant::now(), &numbers);
}
