//! Regions in flight on a device: begun, polled in turn, and traced.

use crate::gpu::GpuError;
use crate::pipeline::buffers::{ActiveRegion, RegionCapacity};
use crate::pipeline::pixels::RegionPixels;
use crate::render::device::renderer::{DeviceRenderer, RunningRegion};
use crate::render::device::tracks::Shown;
use crate::render::region::chain::{RegionRun, RegionStatus};
use crate::render::region::region_result::{RegionCounts, RegionResult};
use crate::render::resident::texture_tiles::TextureTiles;
use crate::schedule::Region;
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
        let doing = self.in_flight.first().map_or_else(String::new, |region| region.run.doing().to_string());
        self.device.with_position(doing)
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
            self.shared.visibility.end(region.region, false);
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
        let keeps = self.picture.keeps_visibility().filter(|_| self.shared.pipeline.reshading().is_some());
        let recalls = keeps.is_some_and(|keeps| self.shared.visibility.begin(region, keeps.key, active.subpixels()));
        let begun = RegionRun::begin(&mut self.device, &mut self.shared, active, self.pace.quota(), recalls);
        let run = begun.inspect_err(|_| {
            // An interrupted device goes on with other pictures.
            self.regions.as_mut().expect("the picture has begun").free.push(part);
            self.shared.visibility.end(region, false);
        })?;
        self.in_flight.push(RunningRegion { region, part, run, begun: Instant::now(), device_s: 0.0 });
        self.show_counters();
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
        let ticket = region.run.ticket();
        let stages_s: Vec<f64> = self.device.stage_times(ticket).iter().map(|time| time.seconds).collect();
        region.device_s += stages_s.iter().sum::<f64>();
        let seconds = stages_s.iter().sum::<f64>();
        let missed = region.run.note_loops(&mut self.device, &mut self.shared, seconds)?;
        self.tracks.add_misses(&self.device, ticket, missed);
        self.pace.took(region.run.portion(), &stages_s);
        let status = region.run.advance(&mut self.device, &mut self.shared, self.pace.quota())?;
        region.run.take_tile_load().into_iter().for_each(|load| self.tracks.add_load(load));
        self.tracks.add_submissions(&mut self.device);
        self.show_counters();
        if matches!(status, RegionStatus::Working) {
            // The region that was begun first comes first again next time.
            self.in_flight.rotate_left(1);
            return Ok(RegionPoll::Advanced);
        }
        let region = self.in_flight.remove(index);
        self.regions.as_mut().expect("a region is in flight").free.push(region.part);
        self.shared.visibility.end(region.region, matches!(status, RegionStatus::Finished(_)));
        self.show_counters();
        Ok(match status {
            RegionStatus::Finished(result) if self.is_drawn_again(region.region, &result.counts) => {
                self.begin(region.region)?;
                RegionPoll::Advanced
            }
            RegionStatus::Finished(result) => {
                self.device.end_frame(&format!("region {}", region.region));
                self.tracks.add_region(region.part, region.region, region.begun, &result.counts);
                RegionPoll::Finished(region.region, Box::new(RegionResult { device_s: region.device_s, ..*result }))
            }
            _ => {
                self.tracks.add_too_large(region.part, region.region);
                RegionPoll::TooLarge(region.region)
            }
        })
    }

    /// Whether a finished region is to be drawn once more, recalled.
    fn is_drawn_again(&self, region: Region, counts: &RegionCounts) -> bool {
        let again = self.picture.keeps_visibility().filter(|keeps| keeps.again && counts.recalled_regions == 0);
        again.is_some_and(|keeps| self.shared.visibility.has(region, keeps.key))
    }

    /// Adds memory, tiles and regions to the trace, where they changed.
    fn show_counters(&mut self) {
        let memory = self.device.memory().categories;
        let tiles = self.shared.textures.as_ref().map_or(0, TextureTiles::resident);
        self.tracks.count(Shown { memory, tiles, regions: self.in_flight.len() as u64 });
    }
}
