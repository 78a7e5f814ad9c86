//! Where a device's times go in the trace: rows of the device's process.

use crate::gpu::{Device, Ticket};
use crate::render::region::region_result::RegionCounts;
use crate::render::region::texture_watch::{TileLoad, TileMisses};
use crate::schedule::Region;
use crate::stats::CategoryBytes;
use crate::trace::{Trace, TracedDevice, Track};
use std::time::{Duration, Instant};

/// The rows of a device.
pub(crate) struct DeviceTracks {
    /// Stages of its submissions; in them the kernels.
    stages: Track,
    /// Its regions: a row for each region in flight, since slices of a row must not overlap.
    regions: Vec<Track>,
    /// Submissions that missed tiles of textures.
    misses: Track,
    /// The loading of those tiles.
    loads: Track,
    /// Values that change with time.
    counters: Track,
    trace: Trace,
    device: TracedDevice,
    shown: Option<Shown>,
}

/// The values that counters show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    /// Memory in use.
    pub(super) memory: CategoryBytes,
    /// Tiles of textures on the device.
    pub(super) tiles: u64,
    /// Regions in flight.
    pub(super) regions: u64,
}

impl DeviceTracks {
    /// Creates the rows of a device; those of textures only where a picture looks some up.
    pub(crate) fn new(trace: &Trace, device: &TracedDevice, textures: bool) -> Self {
        let track = |name: &str| trace.device_track(device, name);
        let texture_track = |name: &str| if textures { track(name) } else { Trace::off().track("") };
        Self {
            stages: track("stages and kernels"),
            regions: Vec::new(),
            misses: texture_track("missed tiles"),
            loads: texture_track("tile loads"),
            counters: track("counters"),
            trace: trace.clone(),
            device: device.clone(),
            shown: None,
        }
    }

    /// Returns rows of no trace.
    pub(crate) fn off() -> Self {
        Self::new(&Trace::off(), &TracedDevice::default(), false)
    }

    /// Adds the stages and kernels of submissions that are done.
    pub(super) fn add_submissions(&mut self, device: &mut Device) {
        if !self.trace.is_on() {
            return;
        }
        let opened = device.opened_at();
        let span = |start_s: f64, seconds: f64| {
            let start = opened + Duration::from_secs_f64(start_s.max(0.0));
            (start, start + Duration::from_secs_f64(seconds))
        };
        for submission in device.take_submissions() {
            let mut commands = submission.commands.iter().peekable();
            for stage in submission.stages {
                let end_s = stage.start_s + stage.seconds;
                let (start, end) = span(stage.start_s, stage.seconds);
                self.stages.slice(stage.stage, start, end, &[]);
                while let Some(command) = commands.next_if(|command| command.start_s < end_s) {
                    let (start, end) = span(command.start_s, command.seconds.min(end_s - command.start_s));
                    let items = command.items.map(|items| (items.unit, items.count as f64));
                    self.stages.slice(command.kind.name(), start, end, items.as_slice());
                }
            }
        }
    }

    /// Adds a submission that only named tiles, or missed some.
    pub(super) fn add_misses(&mut self, device: &Device, ticket: Ticket, missed: TileMisses) {
        let name = match missed {
            TileMisses { only_named: true, .. } => "name tiles",
            TileMisses { tiles: 0, .. } => return,
            _ => "missed tiles, runs again",
        };
        if let ([first, ..], [.., last]) = (device.stage_times(ticket), device.stage_times(ticket)) {
            let at = |seconds: f64| device.opened_at() + Duration::from_secs_f64(seconds.max(0.0));
            let numbers = [("tiles", missed.tiles as f64)];
            self.misses.slice(name, at(first.start_s), at(last.start_s + last.seconds), &numbers);
        }
    }

    /// Adds the loading of tiles.
    pub(super) fn add_load(&mut self, TileLoad { begin, took, tiles }: TileLoad) {
        self.loads.slice("load tiles", begin, begin + took, &[("tiles", tiles as f64)]);
    }

    /// Adds a finished region, which was in this part of the memory.
    pub(super) fn add_region(&mut self, part: usize, region: Region, begun: Instant, counts: &RegionCounts) {
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
            ("recalled", counts.recalled_regions as f64),
        ];
        self.region_track(part).slice(&region.to_string(), begun, Instant::now(), &numbers);
    }

    /// Adds that a region comes to more than fits.
    pub(super) fn add_too_large(&mut self, part: usize, region: Region) {
        self.region_track(part).mark(&format!("{region} is too large"), Instant::now(), &[]);
    }

    fn region_track(&mut self, part: usize) -> &mut Track {
        while self.regions.len() <= part {
            let name = match self.regions.len() {
                0 => "regions".to_owned(),
                others => format!("regions {}", others + 1),
            };
            self.regions.push(self.trace.device_track(&self.device, &name));
        }
        &mut self.regions[part]
    }

    /// Adds values that changed.
    pub(super) fn count(&mut self, shown: Shown) {
        if !self.trace.is_on() || self.shown == Some(shown) {
            return;
        }
        self.shown = Some(shown);
        let now = Instant::now();
        let memory: Vec<_> = shown.memory.iter().map(|(category, bytes)| (category.name(), bytes as f64)).collect();
        self.counters.counter("device memory in bytes", now, &memory);
        self.counters.counter("texture tiles", now, &[("tiles", shown.tiles as f64)]);
        self.counters.counter("regions in flight", now, &[("regions", shown.regions as f64)]);
    }
}
