//! Loads whose programs may have long loops.
//!
//! A program that counts its loop trips runs with [`StagePart::FIRST_TRIPS`] at first, and `Status` says afterwards
//! whether that was enough. Colours are then simply computed again; but vertices must not be hidden or sampled before
//! they are known to be right, so loads with such displacements are *watched*: a submission ends after their program.
//! Where the trips were not enough, the programs of the load count as long from then on. Their grids go in loads of one
//! piece, which save their loops, and a program is submitted again and again until all its loops have ended, each time
//! with about as many trips as a submission should have. How a load goes does not change what it computes.

use super::Chain;
use crate::gpu::{Device, GpuError};
use crate::pipeline::plan::PipelineStage;
use crate::pipeline::program::ProgramKind;
use crate::pipeline::recording::Recording;
use crate::pipeline::stage::{Execution, LoopKind, StagePart, Work};
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::loads::LoadLimits;
use crate::render::region::loop_watch::{WatchedLoad, trips_for};
use crate::render::region::pace::Portion;
use crate::render::region::record::{LoadJob, StageRun, empty_recording};
use std::ops::Range;

/// The program that a stage runs.
pub(super) fn program_of(stage: &PipelineStage) -> Option<ProgramKind> {
    match stage.process.descriptor().run {
        Execution::Load(load) => load.program,
        Execution::Task(_) => None,
    }
}

impl Chain {
    /// Reads what the last submission's loops came to, whose tiles were all there.
    pub(super) fn note_loops(&mut self, device: &mut Device) -> Result<(), GpuError> {
        if self.watch.load.is_none() && self.watch.unwatched.is_none() {
            return Ok(());
        }
        if self.textures.only_named {
            self.watch.going = 0;
            return Ok(());
        }
        self.watch.going = u64::from(device.read(self.region.slices.status.part(0..1))?[0][0]);
        if let Some(WatchedLoad { long: true, trips, .. }) = self.watch.load {
            // Those that are still going have made all trips; of the others nothing is known.
            let made = self.watch.going * u64::from(trips);
            self.watch.made[0] += u64::from(trips);
            self.submission.portion = if made > 0 { Portion::of(Work::Trips, made) } else { Portion::default() };
        }
        Ok(())
    }

    /// The program of a kind that runs for a sublist.
    pub(super) fn program(&self, world: &DeviceWorld, kind: ProgramKind, sublist: usize) -> Option<usize> {
        let [displacement, colour] = world.programs_of(sublist, self.shades());
        match kind {
            ProgramKind::Displacement => displacement,
            ProgramKind::Colour => colour,
        }
    }

    /// What is known of the loops of a stage's programs in a load.
    fn stage_loops(&self, world: &DeviceWorld, index: usize, stage: &PipelineStage) -> LoopKind {
        let Some(kind) = program_of(stage) else { return LoopKind::Short };
        let pieces = self.loads.loads[index].pieces.iter();
        pieces.map(|piece| world.programs().loops(self.program(world, kind, piece.sublist))).max().unwrap_or_default()
    }

    /// The next submission of loads where loops need it: `None` where loads go on as usual.
    pub(super) fn step_loops(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
    ) -> Result<Option<Recording>, GpuError> {
        if let Some(recording) = self.step_textures(device, world)? {
            return Ok(Some(recording));
        }
        let going = self.watch.going;
        if let Some(redone) = self.watch.unwatched.take().filter(|_| going > 0) {
            self.watch.until = redone.end;
            self.loads.next = redone.start;
        }
        if let Some(load) = self.watch.load.take() {
            // Another region may have found out more of the load's other program.
            let begins_again = self.shades() && self.is_stale(world, load.index);
            match going {
                0 if !begins_again => return Ok(Some(self.record_watched(device, world, load)?)),
                0 => {}
                _ if load.long => return Ok(Some(self.record_resumed(device, world, load, going)?)),
                _ => self.mark_long(world, load),
            }
            self.loads.next = load.index;
            self.watch.until = self.watch.until.max(load.index + 1);
        }
        self.replan_next(world);
        let next = self.loads.next;
        let Some(load) = self.loads.loads.get(next) else { return Ok(None) };
        let watched = match load.loops {
            LoopKind::Short => false,
            LoopKind::Counted => next < self.watch.until || !self.shades() || self.may_go_on(world, next),
            LoopKind::Long => true,
        };
        if !watched {
            return Ok(None);
        }
        let vertices = load.vertices;
        if self.shades() && next >= self.watch.until {
            self.counts.shaded_vertices += vertices;
        }
        self.loads.next += 1;
        let load = WatchedLoad { index: next, at: None, long: false, trips: 0, resumed: false };
        Ok(Some(self.record_watched(device, world, load)?))
    }

    /// Notes that loads whose programs count their trips are submitted as usual, in a recording that is still empty.
    pub(super) fn begin_unwatched(&mut self, recording: &mut Recording, some: &Range<usize>) {
        recording.fill(self.region.slices.status.part(0..1), 0);
        self.watch.unwatched = Some(some.clone());
    }

    /// The programs of a watched load were not given enough trips: their loops are long.
    fn mark_long(&mut self, world: &mut DeviceWorld, load: WatchedLoad) {
        let Some(kind) = load.at.and_then(|at| program_of(&self.load_stages()[at])) else { return };
        for piece in &self.loads.loads[load.index].pieces {
            if let Some(number) = self.program(world, kind, piece.sublist)
                && world.kernels[number].resumable.is_some()
            {
                world.long_loops[number] = true;
            }
        }
    }

    /// Whether more is known of a load's loops than when it was planned.
    pub(super) fn is_stale(&self, world: &DeviceWorld, index: usize) -> bool {
        let shades = self.shades();
        let vertex = |sublist| if shades { world.shade_cost(sublist).vertex } else { world.hide_cost(sublist).vertex };
        self.loads.loads[index].pieces.iter().any(|piece| vertex(piece.sublist) != piece.cost.vertex)
    }

    /// Plans the next load again if more is known of its loops than when it was planned, or cuts it where it counts
    /// its trips and is more than a submission should have: the device's speed was not known when it was planned.
    fn replan_next(&mut self, world: &DeviceWorld) {
        let index = self.loads.next;
        let Some(load) = self.loads.loads.get(index) else { return };
        let shades = self.shades();
        let cost = |sublist| if shades { world.shade_cost(sublist) } else { world.hide_cost(sublist) };
        let (counted, textured) = (self.submission.quota.of(Work::LoopLoad), self.textures.vertices_max);
        let vertices = if load.loops == LoopKind::Counted { counted.min(textured) } else { textured };
        let is_too_much = load.loops != LoopKind::Short && load.vertices > vertices;
        if is_too_much || self.is_stale(world, index) {
            let before = self.loads.loads.len();
            let first_vertices = if is_too_much { vertices } else { u64::MAX };
            let limits = LoadLimits { first_vertices, ..self.load_limits(world) };
            self.loads.replan(index, cost, limits);
            if index < self.watch.until {
                self.watch.until += self.loads.loads.len() - before;
            }
        }
    }

    /// The next part of a watched load: what follows the program that has ended, to the next program that is watched.
    fn record_watched(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        mut load: WatchedLoad,
    ) -> Result<Recording, GpuError> {
        let stages = self.load_stages();
        let mut runs = Vec::new();
        let first = load.at.map_or(0, |at| at + 1);
        runs.extend(load.at.map(|at| StageRun { stage: stages[at], part: StagePart::Results }));
        self.submission.portion = Portion::default();
        for (at, &stage) in stages.iter().enumerate().skip(first) {
            let loops = self.stage_loops(world, load.index, &stage);
            if loops == LoopKind::Short {
                runs.push(StageRun { stage, part: StagePart::Whole });
                continue;
            }
            let vertices = self.loads.loads[load.index].vertices;
            let long = loops == LoopKind::Long;
            let trips =
                if long { trips_for(self.submission.quota.of(Work::Trips), vertices) } else { StagePart::FIRST_TRIPS };
            let some = load.index..load.index + 1;
            let named = program_of(&stage).is_some_and(|kind| self.should_name(world, &some, kind));
            let program = StagePart::Program { trips, resume: false, restore: false };
            runs.push(StageRun { stage, part: if named { StagePart::Names } else { program } });
            self.textures.only_named = named;
            if !long && !named {
                self.submission.portion = Portion::of(Work::LoopLoad, vertices);
            }
            let [made, before] = self.watch.made;
            self.watch.made = [0, made.max(before)];
            load = WatchedLoad { at: Some(at), long, trips, resumed: false, ..load };
            self.watch.load = Some(load);
            break;
        }
        self.record_runs(device, world, load.index, &runs, None)
    }

    /// The program of a watched load again, whose loops go on in `going` invocations.
    fn record_resumed(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        load: WatchedLoad,
        going: u64,
    ) -> Result<Recording, GpuError> {
        let trips = trips_for(self.submission.quota.of(Work::Trips), going);
        self.watch.load = Some(WatchedLoad { trips, resumed: true, ..load });
        let part = StagePart::Program { trips, resume: true, restore: false };
        let runs: Vec<StageRun> =
            load.at.map(|at| StageRun { stage: self.load_stages()[at], part }).into_iter().collect();
        self.record_runs(device, world, load.index, &runs, None)
    }

    /// Some stages of a load, see [`LoadInput::missed_passes`](crate::pipeline::stage::LoadInput::missed_passes).
    pub(super) fn record_runs(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        index: usize,
        runs: &[StageRun],
        missed_passes: Option<&[u32]>,
    ) -> Result<Recording, GpuError> {
        let mut recording = empty_recording(self.current.label, &self.region);
        if self.watch.load.is_some() {
            self.begin_textures(world, &mut recording, index..index + 1);
        }
        self.prints.begin(&mut recording, &self.region, self.shades());
        if self.watch.load.is_some() {
            recording.fill(self.region.slices.status.part(0..1), 0);
        }
        self.textures.notes_passes = missed_passes.is_some();
        let job = LoadJob { missed_passes, ..self.load_job(index, runs) };
        world.record_load(device, &mut recording, &self.region, &job)?;
        Ok(recording)
    }
}
