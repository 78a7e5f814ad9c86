//! Loads whose programs look textures up.
//!
//! A program that misses tiles goes on with placeholders, and what it computed is worthless. So the tiles are loaded,
//! and the same loads, or the same program of a watched load, are submitted again until nothing is missed. What a
//! sequence of such runs needs is never replaced within it, so that each run comes further; where it is more than there
//! are slots, the next loads are smaller. How a load goes does not change what it computes.

use crate::gpu::{Device, GpuError};
use crate::pipeline::recording::Recording;
use crate::pipeline::textures::record_misses_begin;
use crate::render::region::chain::Chain;
use crate::render::region::loads::Load;
use crate::render::region::loop_watch::WatchedLoad;
use crate::render::region::record::{DeviceWorld, StagePart, StageRun};
use crate::render::resident::texture_tiles::{MissedKey, TextureTiles, TilesLoaded};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Words of the head of the list of missed tiles in which replaced values are kept.
const KEPT_WORDS: Range<u64> = 4..8;

/// Vertices of a grid, at most. A grid that needs more tiles than there are slots gets more slots. Where there is no
/// memory for them it goes on with what it has, and that is reported.
const GRID_VERTICES: u64 = 256;

/// What a region knows of the textures that its loads look up.
#[derive(Debug)]
pub(crate) struct TextureWatch {
    /// The stamp of the last submission, if it looked textures up and its list was not read yet.
    stamp: Option<u32>,
    /// The stamp of the first of the runs that are made until nothing is missed.
    since: Option<u32>,
    /// What these runs missed.
    needed: FxHashSet<MissedKey>,
    /// Whether the last run missed anything.
    missed: bool,
    /// Vertices of a submission, at most: what they look up fits.
    pub vertices_max: u64,
    /// The last load of tiles, until it is traced.
    pub loaded: Option<TileLoad>,
}

/// When a region's tiles were loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileLoad {
    pub begin: Instant,
    pub took: Duration,
    /// What programs had missed.
    pub tiles: usize,
}

impl Default for TextureWatch {
    fn default() -> Self {
        let needed = FxHashSet::default();
        Self { stamp: None, since: None, needed, missed: false, vertices_max: u64::MAX, loaded: None }
    }
}

impl TextureWatch {
    /// Nothing is missed any more, or other loads are tried.
    fn clear(&mut self) {
        (self.since, self.missed) = (None, false);
        self.needed.clear();
    }
}

impl Chain {
    /// Whether any program of a load looks textures up.
    fn looks_up(&self, world: &DeviceWorld, load: &Load) -> bool {
        let programs = load.pieces.iter().flat_map(|piece| world.programs(piece.bin, self.shades()));
        programs.flatten().any(|number| world.kernels[number].uses_textures)
    }

    /// Prepares a recording, which is still empty, for loads that look textures up. `again` says whether it repeats the
    /// last one.
    pub(super) fn begin_textures(
        &mut self,
        world: &mut DeviceWorld,
        recording: &mut Recording,
        some: Range<usize>,
        again: bool,
    ) {
        if !some.into_iter().any(|index| self.looks_up(world, &self.loads.loads[index])) {
            return;
        }
        let Some(textures) = &mut world.textures else { return };
        let stamp = textures.next_stamp();
        self.textures.stamp = Some(stamp);
        self.textures.since.get_or_insert(stamp);
        let misses = self.region.slices.misses;
        if self.shades() {
            // What was replaced among the values of a run that is worthless does not count.
            let record = self.region.replaced_record();
            let counted = self.region.slices.pixels.part(record..record + 1).cast::<u32>();
            let kept = misses.part(KEPT_WORDS);
            if again { recording.copy(kept, counted) } else { recording.copy(counted, kept) }
        }
        record_misses_begin(recording, misses, stamp);
    }

    /// Reads what the last submission missed, which is done and took so many seconds: how many tiles.
    pub(super) fn note_misses(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        seconds: f64,
    ) -> Result<usize, GpuError> {
        let (Some(stamp), Some(textures)) = (self.textures.stamp.take(), &mut world.textures) else {
            return Ok(0);
        };
        let missed = textures.read_misses(device, self.region.slices.misses, stamp)?;
        if missed.is_empty() {
            self.textures.clear();
            self.textures.vertices_max = self.textures.vertices_max.saturating_add(self.textures.vertices_max / 8);
            return Ok(0);
        }
        let count = missed.len();
        self.textures.missed = true;
        self.textures.needed.extend(missed);
        self.counts.texture_loss.submissions += 1;
        self.counts.texture_loss.discarded += Duration::from_secs_f64(seconds);
        // What it printed is printed again.
        self.printing = false;
        self.watch.going = 0;
        Ok(count)
    }

    /// The last submission again, if it missed tiles, with these tiles; `None` where loads go on as usual, perhaps
    /// smaller.
    pub(super) fn step_textures(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
    ) -> Result<Option<Recording>, GpuError> {
        if !std::mem::take(&mut self.textures.missed) {
            return Ok(None);
        }
        let (Some(since), Some(textures)) = (self.textures.since, &mut world.textures) else { return Ok(None) };
        let begin = Instant::now();
        let mut loaded = textures.load(device, &self.textures.needed, since)?;
        let load = TileLoad { begin, took: begin.elapsed(), tiles: self.textures.needed.len() };
        self.counts.texture_loss.loading += load.took;
        self.textures.loaded = Some(load);
        let watched = self.watch.load.take();
        let some = match (watched, self.watch.unwatched.take()) {
            (Some(load), _) => load.index..load.index + 1,
            (None, Some(some)) => some,
            (None, None) => return Ok(None),
        };
        if let TilesLoaded::TooMany(lacking) = loaded
            && self.vertices(some.clone()) <= GRID_VERTICES
            && textures.grow(device, lacking)?
        {
            world.frame.textures = Some(textures.slices());
            loaded = textures.load(device, &self.textures.needed, since)?;
        }
        let is_stale = some.clone().any(|index| self.is_stale(world, index));
        if loaded == TilesLoaded::All && !is_stale {
            return match watched {
                Some(load) => self.record_program_again(device, world, load).map(Some),
                None => self.record_some(device, world, some, true).map(Some),
            };
        }
        if let TilesLoaded::TooMany(_) = loaded {
            let vertices = self.vertices(some.clone());
            if vertices <= GRID_VERTICES {
                world.textures.iter().for_each(TextureTiles::report_too_few_slots);
                self.textures.clear();
                self.watch.load = watched;
                return Ok(None);
            }
            self.textures.vertices_max = vertices / 2;
        }
        self.textures.clear();
        self.loads.next = some.start;
        if watched.is_some() {
            self.watch.until = self.watch.until.max(some.end);
        }
        Ok(None)
    }

    /// The program of a watched load again, from where the last submission began with it.
    fn record_program_again(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        load: WatchedLoad,
    ) -> Result<Recording, GpuError> {
        let part = StagePart::Program { trips: load.trips, resume: load.resumed, restore: load.resumed };
        let stage = load.at.map(|at| self.load_stages()[at]);
        let runs: Vec<StageRun> = stage.map(|stage| StageRun { stage, part }).into_iter().collect();
        self.watch.load = Some(load);
        self.record_runs(device, world, load.index, &runs, true)
    }
}
