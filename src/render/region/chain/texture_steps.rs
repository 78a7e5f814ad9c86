//! Loads whose programs look textures up.
//!
//! A program that misses tiles goes on with placeholders, and what it computed is worthless. So the tiles are loaded,
//! and the same loads, or the same program of a watched load, are submitted again until nothing is missed. What a
//! sequence of such runs needs is never replaced within it, so that each run comes further; where it is more than there
//! are slots, the next loads are smaller. How a load goes does not change what it computes.
//!
//! As long as tiles are missed, a submission goes before each that only names tiles: the demand slices of the programs
//! (spirv-gen's `passes::demand`) run on the same vertices, and what they miss is loaded first.

use super::Chain;
use super::long_loops::program_of;
use crate::gpu::{Device, GpuError};
use crate::pipeline::look::{MISSES_CLAIMS, MISSES_PASSES};
use crate::pipeline::plan::PipelineStage;
use crate::pipeline::program::ProgramKind;
use crate::pipeline::recording::Recording;
use crate::pipeline::stage::{StagePart, Work};
use crate::pipeline::textures::record_misses_begin;
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::loads::Load;
use crate::render::region::loop_watch::WatchedLoad;
use crate::render::region::pace::Portion;
use crate::render::region::record::{StageRun, empty_recording};
use crate::render::region::texture_watch::{TileLoad, TileMisses};
use crate::render::resident::texture_tiles::{TextureTiles, TilesLoaded};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Words of the head of the list of missed tiles in which replaced values are kept.
const KEPT_WORDS: Range<u64> = 4..8;

/// Vertices of a grid, at most. A grid that needs more tiles than there are slots gets more slots. Where there is no
/// memory for them it goes on with what it has, and that is reported.
const GRID_VERTICES: u64 = 256;

impl Chain {
    /// Whether any program of a load looks textures up.
    fn looks_up(&self, world: &DeviceWorld, load: &Load) -> bool {
        let programs = load.pieces.iter().flat_map(|piece| world.programs_of(piece.sublist, self.shades()));
        programs.flatten().any(|number| world.kernels[number].uses_textures)
    }

    /// Prepares a recording, which is still empty, for loads that may look textures up.
    pub(super) fn begin_textures(&mut self, world: &mut DeviceWorld, recording: &mut Recording, some: Range<usize>) {
        let record = self.region.replaced_record();
        let counted = self.region.slices.pixels.part(record..record + 1).cast::<u32>();
        let misses = self.region.slices.misses;
        // What was replaced among the values of a run that is worthless does not count.
        let again = self.shades() && std::mem::take(&mut self.textures.is_worthless);
        if again {
            recording.copy(misses.part(KEPT_WORDS), counted);
        }
        if !some.into_iter().any(|index| self.looks_up(world, &self.loads.loads[index])) {
            return;
        }
        let Some(textures) = &mut world.textures else { return };
        let stamp = textures.next_stamp();
        self.textures.stamp = Some(stamp);
        self.textures.since.get_or_insert(stamp);
        if self.shades() && !again {
            recording.copy(counted, misses.part(KEPT_WORDS));
        }
        record_misses_begin(recording, misses);
    }

    /// Whether tiles should be named first that programs of a stage look up in some loads, and can be.
    pub(super) fn should_name(&self, world: &DeviceWorld, some: &Range<usize>, kind: ProgramKind) -> bool {
        let mut pieces = self.loads.loads[some.clone()].iter().flat_map(|load| &load.pieces);
        world.textures.as_ref().is_some_and(TextureTiles::should_be_named)
            && pieces.any(|piece| world.names_tiles(self.program(world, kind, piece.sublist)))
    }

    /// A submission of loads that are shaded next, which only names the tiles that this takes.
    pub(super) fn record_names(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        some: Range<usize>,
    ) -> Result<Recording, GpuError> {
        let mut recording = empty_recording(self.current.label, &self.region);
        self.submission.portion = Portion::default();
        self.textures.only_named = true;
        self.begin_textures(world, &mut recording, some.clone());
        self.begin_unwatched(&mut recording, &some);
        let run = |&stage: &PipelineStage| {
            let names = program_of(&stage) == Some(ProgramKind::Colour);
            StageRun { stage, part: if names { StagePart::Names } else { StagePart::Whole } }
        };
        let runs: Vec<StageRun> = self.load_stages().iter().map(run).collect();
        for index in some {
            world.record_load(device, &mut recording, &self.region, &self.load_job(index, &runs))?;
        }
        Ok(recording)
    }

    /// Reads what the last submission missed, which is done and took `seconds`.
    pub(super) fn note_misses(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        seconds: f64,
    ) -> Result<TileMisses, GpuError> {
        let (Some(stamp), Some(textures)) = (self.textures.stamp.take(), &mut world.textures) else {
            return Ok(TileMisses::default());
        };
        let missed = textures.read_misses(device, self.region.slices.misses, stamp)?;
        let noted = std::mem::take(&mut self.textures.notes_passes);
        let misses = TileMisses { tiles: missed.len(), only_named: self.textures.only_named };
        if self.textures.since == Some(stamp) {
            textures.note_first_run(!missed.is_empty());
        }
        self.counts.missed_tiles += missed.len() as u64;
        let (loss, took) = (&mut self.counts.texture_loss, Duration::from_secs_f64(seconds));
        match misses {
            TileMisses { only_named: true, .. } => loss.naming += took,
            TileMisses { tiles: 0, .. } => {}
            _ => {
                loss.submissions += 1;
                loss.discarded += took;
            }
        }
        if missed.is_empty() {
            self.textures.clear();
            self.textures.vertices_max = self.textures.vertices_max.saturating_add(self.textures.vertices_max / 8);
            return Ok(misses);
        }
        self.textures.missed = true;
        let passes = self.region.slices.misses.part(MISSES_PASSES + 1..MISSES_CLAIMS);
        self.textures.missed_passes = if noted { Some(device.read(passes)?) } else { None };
        self.textures.is_worthless = self.shades();
        self.textures.needed.extend(missed);
        // What it printed is printed again.
        self.prints.forget();
        self.watch.going = 0;
        Ok(misses)
    }

    /// What comes after the last submission if it missed tiles or only named some: the same loads with these tiles;
    /// `None` where loads go on as usual, perhaps smaller.
    pub(super) fn step_textures(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
    ) -> Result<Option<Recording>, GpuError> {
        let only_named = std::mem::take(&mut self.textures.only_named);
        let missed = std::mem::take(&mut self.textures.missed);
        if !missed && !only_named {
            return Ok(None);
        }
        let watched = self.watch.load.take();
        let some = match (watched, self.watch.unwatched.take()) {
            (Some(load), _) => load.index..load.index + 1,
            (None, Some(some)) => some,
            (None, None) => return Ok(None),
        };
        let mut loaded = if missed { self.load_needed(device, world, &some, only_named)? } else { TilesLoaded::All };
        let vertices = self.vertices(some.clone());
        let goes_on = some.clone().any(|index| self.keeps_passes(world, index));
        if missed && !only_named {
            let passes = self.passes_again(world, &some, watched);
            self.counts.texture_loss.repeated_passes += passes;
        }
        if only_named && loaded != TilesLoaded::All && vertices <= GRID_VERTICES {
            // More may have been named than the grid needs.
            self.textures.clear();
            loaded = TilesLoaded::All;
        }
        let is_stale = some.clone().any(|index| self.is_stale(world, index));
        if loaded == TilesLoaded::All && !is_stale {
            match watched {
                Some(load) => return self.record_program_again(device, world, load, only_named).map(Some),
                None if only_named || !goes_on => {
                    return self.record_some(device, world, some, !only_named).map(Some);
                }
                // One by one, so that what passes have saved is not overwritten.
                None => self.watch.until = self.watch.until.max(some.end),
            }
        }
        if let TilesLoaded::TooMany(_) = loaded {
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

    /// Loads what some loads were found to need; where they are a single grid, in more memory if need be, unless tiles
    /// were only named, which may be too many.
    fn load_needed(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        some: &Range<usize>,
        only_named: bool,
    ) -> Result<TilesLoaded, GpuError> {
        let may_grow = !only_named && self.vertices(some.clone()) <= GRID_VERTICES;
        let (Some(since), Some(textures)) = (self.textures.since, &mut world.textures) else {
            return Ok(TilesLoaded::All);
        };
        let begin = Instant::now();
        let mut loaded = textures.load(device, &self.textures.needed, since)?;
        // Where there is no memory for them, what samples see is given up first.
        while let TilesLoaded::TooMany(lacking) = loaded
            && may_grow
            && (textures.grow(device, lacking)? || world.visibility.give_up(device)?)
        {
            loaded = textures.load(device, &self.textures.needed, since)?;
        }
        world.frame.textures = Some(textures.slices());
        let load = TileLoad { begin, took: begin.elapsed(), tiles: self.textures.needed.len() };
        self.counts.texture_loss.loading += load.took;
        self.textures.loaded = Some(load);
        Ok(loaded)
    }

    /// The program of a watched load again, from where the last submission began with it.
    fn record_program_again(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        load: WatchedLoad,
        only_named: bool,
    ) -> Result<Recording, GpuError> {
        let part = StagePart::Program { trips: load.trips, resume: load.resumed, restore: load.resumed };
        let stage = load.at.map(|at| self.load_stages()[at]);
        let runs: Vec<StageRun> = stage.map(|stage| StageRun { stage, part }).into_iter().collect();
        if !load.long {
            self.submission.portion = Portion::of(Work::LoopLoad, self.vertices(load.index..load.index + 1));
        }
        self.watch.load = Some(load);
        // The first run goes on with zeros: what it names is often of use, all of a small texture say.
        let missed = self.textures.missed_passes.take().unwrap_or_default();
        self.record_runs(device, world, load.index, &runs, (!only_named).then_some(&missed[..]))
    }

    /// Whether any program of a load goes on from the pass that missed tiles.
    fn keeps_passes(&self, world: &DeviceWorld, index: usize) -> bool {
        let pieces = &self.loads.loads[index].pieces;
        let mut programs = pieces.iter().flat_map(|piece| world.programs_of(piece.sublist, self.shades())).flatten();
        programs.any(|number| world.kernels[number].keeps_passes())
    }

    /// Whether a load should be watched because its programs will miss tiles, and can go on from that pass.
    pub(super) fn may_go_on(&self, world: &DeviceWorld, index: usize) -> bool {
        world.textures.as_ref().is_some_and(TextureTiles::should_be_named) && self.keeps_passes(world, index)
    }

    /// The passes of programs that the last submission has run and that are run again because tiles were missed.
    fn passes_again(&self, world: &DeviceWorld, some: &Range<usize>, watched: Option<WatchedLoad>) -> u64 {
        let kind = watched.and_then(|load| load.at).and_then(|at| program_of(&self.load_stages()[at]));
        let noted = self.textures.missed_passes.as_ref();
        let again = |number: usize, missed: u32| {
            let kernel = &world.kernels[number];
            let first = if noted.is_some() { kernel.first_pass_again(missed) } else { 0 };
            u64::from(missed.saturating_add(1).min(kernel.passes.len() as u32).saturating_sub(first))
        };
        let mut sum = 0;
        for piece in self.loads.loads[some.clone()].iter().flat_map(|load| &load.pieces) {
            let programs = match kind {
                Some(kind) => [self.program(world, kind, piece.sublist), None],
                None => world.programs_of(piece.sublist, self.shades()),
            };
            let at = piece.piece.number as usize;
            let missed = noted.and_then(|passes| passes.get(at)).copied().unwrap_or(u32::MAX);
            sum += programs.into_iter().flatten().map(|number| again(number, missed)).sum::<u64>();
        }
        sum
    }
}
