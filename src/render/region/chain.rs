//! One region on its way through the pipeline: a chain of short submissions, each resumable. Between two of them the
//! host reads what the device found and decides what is next (docs/scheduling.md).
//!
//! Which stage follows which is not said here but by the [`Pipeline`] that the chain goes through, stage by stage; here
//! is what the host reads after a stage, and how slabs and rounds repeat. What takes longer than a submission should is
//! cut into several, between which other regions have their turn: loads by [`Loads::take`], all else by [`StageTasks`].

use crate::gpu::{Device, GpuError, Ticket};
use crate::pipeline::buffers::{ActiveRegion, RegionCapacity};
use crate::pipeline::kernels::constants::{BATCHES, SIZE_CLASSES};
use crate::pipeline::look::HideBin;
use crate::pipeline::plan::{AssignBin, Grids, Pipeline, PipelineStage, Process, Repeat, Schedule};
use crate::pipeline::recording::Recording;
use crate::pipeline::sample::Slab;
use crate::pipeline::solids::CarriedStates;
use crate::render::region::bakes::BakedPoints;
use crate::render::region::cell_lists::{CellLists, CumulativeWork};
use crate::render::region::layers::RegionLight;
use crate::render::region::loads::{LoadLimits, Loads, LoopKind, plan};
use crate::render::region::loop_watch::{LoopWatch, long_load_vertices};
use crate::render::region::pace::{Portion, Quota, Work};
use crate::render::region::part::RegionCosts;
use crate::render::region::prints::PrintedCalls;
use crate::render::region::record::{DeviceWorld, LoadJob, StagePart, StageRun, empty_recording};
use crate::render::region::region_result::{RegionCounts, RegionResult};
use crate::render::region::slabs::Slabs;
use crate::render::region::stage_tasks::{GridPage, StageTask, StageTasks, slab_units};
use crate::render::region::texture_watch::{TextureWatch, TileLoad, TileMisses};
use std::ops::Range;
use std::sync::Arc;

/// A load runs in dispatches that cannot be cut any more. It has at most this many times the vertices that a submission
/// should have when the load is planned, because the next submissions may be costlier.
const LOAD_PORTIONS: u64 = 4;

/// Where a region stands after its last submission.
#[derive(Debug)]
pub(crate) enum RegionStatus {
    /// Another submission is under way.
    Working,
    /// Its pixels are ready.
    Finished(Box<RegionResult>),
    /// It comes to more than fits, so it must be cut.
    TooLarge,
}

/// From the first bin that is displaced to the last.
fn displaced_bins(world: &DeviceWorld) -> Range<usize> {
    let displaced = |bin: &HideBin| bin.displace.is_some();
    let bins = &world.drawn.hide_bins;
    let first = bins.iter().position(displaced).unwrap_or(0);
    first..bins.iter().rposition(displaced).map_or(first, |last| last + 1)
}

pub(super) fn opaque_bins(world: &DeviceWorld) -> usize {
    world.drawn.hide_bins.iter().filter(|bin| !bin.translucent).count()
}

/// What is next on a region's chain.
enum ChainStep {
    Submit(Recording),
    Finished,
    TooLarge,
}

/// Where the chain goes when the stages under way are done.
pub(super) enum NextStage {
    /// To this stage; beyond the last one, the region is finished.
    At(usize),
    TooLarge,
}

/// A region in flight.
pub(crate) struct RegionRun {
    chain: Chain,
    ticket: Ticket,
}

impl RegionRun {
    /// Begins a region: submits its first stages.
    pub(crate) fn begin(
        device: &mut Device,
        world: &mut DeviceWorld,
        region: ActiveRegion,
        quota: Quota,
    ) -> Result<Self, GpuError> {
        let mut chain = Chain::new(world.pipeline, region, quota);
        let recording = chain.start_tasks(device, world, 0)?;
        Ok(Self { ticket: chain.submit(device, &recording)?, chain })
    }

    /// The submission that [`Self::advance`] waits for.
    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// What the last submission was for.
    pub(crate) fn doing(&self) -> &'static str {
        self.chain.label
    }

    /// The part of the region that is done, or submitted, from 0 to 1: an estimate of time.
    pub(crate) fn part(&self) -> f64 {
        self.chain.part()
    }

    /// What the last submission was made of.
    pub(crate) fn portion(&self) -> &Portion {
        &self.chain.portion
    }

    /// Reads what the last submission, which is done and took so many seconds, missed of textures, what its loops came
    /// to, and what it printed. [`Self::portion`] is right only then. What it missed, for the trace.
    pub(crate) fn note_loops(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        seconds: f64,
    ) -> Result<TileMisses, GpuError> {
        let missed = self.chain.note_misses(device, world, seconds)?;
        if missed.tiles == 0 {
            self.chain.note_prints(device, world)?;
            self.chain.note_layers(device, world.deep)?;
            self.chain.note_loops(device)?;
        }
        Ok(missed)
    }

    /// The tiles that were loaded since this was last called, for the trace.
    pub(crate) fn take_tile_load(&mut self) -> Option<TileLoad> {
        self.chain.textures.loaded.take()
    }

    /// Goes on when the last submission is done: reads what it found and submits what is next, of at most about
    /// `quota`.
    pub(crate) fn advance(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        quota: Quota,
    ) -> Result<RegionStatus, GpuError> {
        match self.chain.step(device, world, quota)? {
            ChainStep::Submit(recording) => {
                self.ticket = self.chain.submit(device, &recording)?;
                Ok(RegionStatus::Working)
            }
            ChainStep::Finished => Ok(RegionStatus::Finished(Box::new(self.chain.result(device, world)?))),
            ChainStep::TooLarge => Ok(RegionStatus::TooLarge),
        }
    }
}

/// A region's way through its pipeline.
pub(super) struct Chain {
    pub(super) region: ActiveRegion,
    pub(super) pipeline: Pipeline,
    /// The stages under way, by their numbers in the pipeline.
    pub(super) under_way: Vec<usize>,
    /// The stage that follows them, unless what they find changes that.
    pub(super) following: usize,
    /// What is left of them, if they are not loads.
    pub(super) tasks: StageTasks,
    /// What is left of them, if they are.
    pub(super) loads: Loads,
    /// What is known of the loops of the loads.
    pub(super) watch: LoopWatch,
    /// What is known of the textures that they look up.
    pub(super) textures: TextureWatch,
    /// Whether what the last submission printed is to be read.
    pub(super) printing: bool,
    /// What is known of the light at each depth, for deep shadow maps.
    pub(super) light: RegionLight,
    /// What the region has printed so far, by ranks of grids.
    pub(super) printed: PrintedCalls,
    /// What it has baked so far, by ranks of grids.
    pub(super) baked: BakedPoints,
    /// The name of the submissions.
    pub(super) label: &'static str,
    /// Grids of each key after selection: (batch, bin, size class).
    pub(super) hide_counts: Vec<u32>,
    /// Bits of the nearest and the farthest depth of each depth batch.
    pub(super) batch_depths: Vec<[u32; 2]>,
    pub(super) slabs: Slabs,
    /// The states of solids in which the slab at work begins.
    pub(super) carried: CarriedStates,
    /// How often the slab at work was composited.
    pub(super) composite_calls: u32,
    /// Entries of the slab at work.
    pub(super) entries: u32,
    /// How they are spread over cells, once that was asked.
    pub(super) lists: Option<CellLists>,
    /// Micropolygons that opaque samples see.
    pub(super) opaque_visible: u32,
    /// The places of colours of the round at work.
    pub(super) round: Range<u32>,
    pub(super) counts: RegionCounts,
    /// What its parts should cost, for progress.
    pub(super) costs: RegionCosts,
    /// What the next submission should be made of.
    pub(super) quota: Quota,
    /// What the last submission was made of.
    pub(super) portion: Portion,
}

impl Chain {
    fn new(pipeline: Pipeline, region: ActiveRegion, quota: Quota) -> Self {
        Self {
            pipeline,
            under_way: Vec::new(),
            following: 0,
            tasks: StageTasks::default(),
            loads: Loads::new(Vec::new(), 1),
            watch: LoopWatch::default(),
            textures: TextureWatch::default(),
            printing: false,
            light: RegionLight::default(),
            printed: PrintedCalls::default(),
            baked: BakedPoints::default(),
            label: "",
            hide_counts: Vec::new(),
            batch_depths: Vec::new(),
            slabs: Slabs::new(&[], 1, 0.0),
            carried: CarriedStates::default(),
            composite_calls: 0,
            entries: 0,
            lists: None,
            opaque_visible: 0,
            round: 0..region.capacity.colours as u32,
            counts: RegionCounts::default(),
            costs: RegionCosts::default(),
            quota,
            portion: Portion::default(),
            region,
        }
    }

    fn submit(&mut self, device: &mut Device, recording: &Recording) -> Result<Ticket, GpuError> {
        #[cfg(test)]
        super::recorded::keep(recording);
        self.counts.submissions += 1;
        device.submit(recording)
    }

    /// What comes after the last submission, which is done.
    fn step(&mut self, device: &mut Device, world: &mut DeviceWorld, quota: Quota) -> Result<ChainStep, GpuError> {
        (self.quota, self.portion) = (quota, Portion::default());
        if !self.tasks.is_empty() {
            return Ok(ChainStep::Submit(self.record_tasks(device, world)?));
        }
        if let Some(recording) = self.step_loads(device, world)? {
            return Ok(ChainStep::Submit(recording));
        }
        loop {
            let at = match self.conclude(device, world)? {
                NextStage::At(at) => at,
                NextStage::TooLarge => return Ok(ChainStep::TooLarge),
            };
            let Some(stage) = self.pipeline.stages().get(at) else { return Ok(ChainStep::Finished) };
            if !stage.assign_bin.is_loads() {
                return Ok(ChainStep::Submit(self.start_tasks(device, world, at)?));
            }
            self.start_loads(device, world, at)?;
            if let Some(recording) = self.step_loads(device, world)? {
                return Ok(ChainStep::Submit(recording));
            }
            if stage.schedule != Schedule::Fused {
                return Ok(ChainStep::Submit(self.record_loads(device, world)?));
            }
        }
    }

    // Which stages come next.

    /// Whether a stage finds nothing to do in this world.
    fn is_left_out(&self, world: &DeviceWorld, stage: &PipelineStage) -> bool {
        stage.is_for_translucency() && !self.region.capacity.translucent()
            || stage.process == Process::ListLayers && !self.region.capacity.deep
            || stage.is_for_solids() && !self.region.capacity.solids
            || stage.is_for_blur() && !self.region.capacity.blurred
            || stage.process == Process::MarkUnseen && !world.drawn.bakes_unseen
            || stage.process == Process::FilterDepth && world.depth_filter.is_none()
    }

    /// The stage after the one at `at`: the next one that has something to do, or the first of the next slab or round.
    pub(super) fn after(&mut self, world: &DeviceWorld, at: usize) -> usize {
        let stages = self.pipeline.stages();
        let repeat = stages[at].repeat;
        let ends_repetition = stages.get(at + 1).is_none_or(|next| next.repeat != repeat);
        if ends_repetition && self.repeats(repeat) {
            return self.first_of(repeat);
        }
        let rest = stages[at + 1..].iter().position(|stage| !self.is_left_out(world, stage));
        rest.map_or(stages.len(), |further| at + 1 + further)
    }

    /// The first stage of slabs or rounds.
    pub(super) fn first_of(&self, repeat: Repeat) -> usize {
        self.pipeline.stages().iter().position(|stage| stage.repeat == repeat).unwrap_or(0)
    }

    /// Whether there is another slab or round, which becomes the one at work.
    fn repeats(&mut self, repeat: Repeat) -> bool {
        match repeat {
            Repeat::Once => false,
            Repeat::Slabs => self.slabs.next(),
            Repeat::Rounds => {
                let more = self.round.end < self.opaque_visible;
                if more {
                    self.round = self.round.end..self.round.end.saturating_add(self.region.capacity.colours as u32);
                }
                more
            }
        }
    }

    /// Starts the stage at `at` and those that are fused with it; the first submission of them.
    fn start_tasks(&mut self, device: &mut Device, world: &mut DeviceWorld, at: usize) -> Result<Recording, GpuError> {
        let stages = self.pipeline.stages();
        self.label = match stages[at].schedule {
            Schedule::Begin(label) => label,
            Schedule::Fused => stages[at].process.stage(),
        };
        self.under_way.clear();
        let mut at = at;
        loop {
            self.push_tasks(device, world, &stages[at])?;
            self.under_way.push(at);
            if stages[at].process == Process::CompositeSlab {
                // Whether the slab is done is not known yet.
                break;
            }
            self.following = self.after(world, at);
            let fused = |stage: &&PipelineStage| stage.schedule == Schedule::Fused && !stage.assign_bin.is_loads();
            match stages.get(self.following).filter(fused) {
                Some(stage) if !self.needs_cell_lists(stage) => at = self.following,
                _ => break,
            }
        }
        self.record_tasks(device, world)
    }

    /// Whether a stage begins a submission after all, to learn first how its work is spread over cells.
    fn needs_cell_lists(&self, stage: &PipelineStage) -> bool {
        let units = self.region.cells() + u64::from(self.entries);
        stage.process == Process::SortEntries && units > self.quota.of(Work::SortCells)
    }

    fn push_tasks(&mut self, device: &mut Device, world: &DeviceWorld, stage: &PipelineStage) -> Result<(), GpuError> {
        let grids = match stage.process {
            Process::SortForHiding => world.grids.selected_max(&self.region.pixels),
            _ => self.counts.selected,
        };
        let task = StageTask {
            process: stage.process,
            assign_bin: stage.assign_bin,
            grid_page: None,
            grids,
            entries: self.entries,
            carried: self.carried,
            slab: self.slabs.current(),
            last_slab: self.slabs.is_last(),
            places: self.places(stage.repeat),
            again: self.composite_calls > 0,
            spread: self.spread(device, stage.process)?,
        };
        match stage.process {
            Process::Choose | Process::Gather => {
                // Pages are gathered from in reverse, because those that were used last are most likely still resident.
                let pages: Arc<[usize]> = world.grids.pages_meeting(&self.region.pixels).into();
                let mut order: Vec<usize> = (0..pages.len()).collect();
                if stage.process == Process::Gather {
                    order.reverse();
                }
                for at in order {
                    let grid_page = Some(GridPage { pages: Arc::clone(&pages), at });
                    self.tasks.push(StageTask { grid_page, ..task.clone() });
                }
            }
            Process::CompositeSlab => {
                self.composite_calls += 1;
                self.tasks.push(task);
            }
            _ => self.tasks.push(task),
        }
        Ok(())
    }

    /// How the work of a stage is spread over its items, where that matters and is known.
    fn spread(&mut self, device: &mut Device, process: Process) -> Result<Option<CumulativeWork>, GpuError> {
        let (cells, samples) = (self.region.capacity.cells(), self.region.capacity.pixel_samples);
        let long = slab_units(&self.region, self.entries) > self.quota.of(Work::Slab) as f64;
        let calls = self.composite_calls;
        Ok(match process {
            Process::SortEntries if self.tasks.is_empty() => Some(self.cell_lists(device)?.sorting()),
            Process::ListLayers => Some(self.cell_lists(device)?.layers(cells, samples)),
            Process::CompositeSlab if long => Some(self.cell_lists(device)?.compositing(cells, samples, calls)),
            _ => None,
        })
    }

    /// How the slab's entries are spread over cells.
    fn cell_lists(&mut self, device: &mut Device) -> Result<&CellLists, GpuError> {
        if self.lists.is_none() {
            let offsets = device.read(self.region.slices.cell_offsets.part(0..self.region.cells()))?;
            self.lists = Some(CellLists::new(offsets, self.entries));
        }
        Ok(self.lists.as_ref().expect("it was just read"))
    }

    /// The places of colours that a stage works on: those of the round, or as many as the store has.
    fn places(&self, repeat: Repeat) -> Range<u32> {
        if repeat == Repeat::Rounds { self.round.clone() } else { 0..self.region.capacity.colours as u32 }
    }

    fn record_tasks(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<Recording, GpuError> {
        let (recording, portion) = self.tasks.record(device, world, &self.region, self.label, self.quota)?;
        self.portion = portion;
        Ok(recording)
    }

    // Loads.

    /// Plans the loads that go through the stage at `at` and those that are fused with it.
    fn start_loads(&mut self, device: &mut Device, world: &DeviceWorld, at: usize) -> Result<(), GpuError> {
        let stages = self.pipeline.stages();
        if let Schedule::Begin(label) = stages[at].schedule {
            self.label = label;
        }
        let fused =
            |stage: &&PipelineStage| stage.assign_bin == stages[at].assign_bin && stage.schedule == Schedule::Fused;
        let end = at + 1 + stages[at + 1..].iter().take_while(fused).count();
        self.under_way = (at..end).collect();
        self.following = self.after(world, end - 1);
        self.loads = match stages[at].assign_bin {
            AssignBin::Depth(Grids::Opaque) => self.hide_loads(world, 0..opaque_bins(world), Slab::WHOLE),
            AssignBin::Depth(Grids::Displaced) => self.hide_loads(world, displaced_bins(world), Slab::WHOLE),
            AssignBin::Depth(Grids::Translucent) => {
                self.hide_loads(world, opaque_bins(world)..world.drawn.hide_bins.len(), self.slabs.current())
            }
            _ => self.shade_loads(device, world)?,
        };
        self.counts.rounds += u64::from(stages[at].repeat == Repeat::Rounds);
        self.watch = LoopWatch::default();
        Ok(())
    }

    pub(super) fn load_limits(&self, world: &DeviceWorld) -> LoadLimits {
        let RegionCapacity { arena, slots, .. } = self.region.capacity;
        let portions = |work| self.quota.of(work).saturating_mul(LOAD_PORTIONS);
        let most = self.printing_vertices(world);
        let (usual, long) = (portions(Work::Load).min(most), long_load_vertices(self.quota.of(Work::Trips)).min(most));
        LoadLimits {
            records: arena as u32,
            slots: slots as u32,
            vertices: [usual, usual, long],
            first_vertices: u64::MAX,
            pages: world.pages.resident_max(),
        }
    }

    /// The loads of some bins, batch by batch, of those batches that have something in a slab.
    fn hide_loads(&self, world: &DeviceWorld, bins: Range<usize>, slab: Slab) -> Loads {
        let classes = SIZE_CLASSES as usize;
        let per_batch = self.region.capacity.bins as usize * classes;
        let limits = self.load_limits(world);
        let mut loads = Loads::new(Vec::new(), limits.pages);
        let mut first = 0;
        for batch in 0..BATCHES as usize {
            let start = first;
            let counts = &self.hide_counts[batch * per_batch..(batch + 1) * per_batch];
            let before: u32 = counts[..bins.start * classes].iter().sum();
            let wanted = &counts[bins.start * classes..bins.end * classes];
            first += counts.iter().sum::<u32>();
            if self.outside(batch, slab) {
                continue;
            }
            loads.loads.extend(plan(wanted, bins.clone(), start + before, |bin| world.hide_cost(bin), limits));
            if wanted.iter().any(|&count| count > 0) {
                loads.batch_ends.push(loads.loads.len() - 1);
            }
        }
        loads
    }

    /// Whether nothing of a depth batch lies in a slab.
    fn outside(&self, batch: usize, slab: Slab) -> bool {
        let [near, far] = self.batch_depths.get(batch).copied().unwrap_or([0, u32::MAX]);
        u64::from(near) > slab.high >> 32 || u64::from(far) < slab.low >> 32
    }

    fn shade_loads(&self, device: &mut Device, world: &DeviceWorld) -> Result<Loads, GpuError> {
        let bins = world.drawn.shade_bins.len();
        let counts = device.read(self.region.slices.counts.part(0..bins as u64 * u64::from(SIZE_CLASSES)))?;
        let limits = self.load_limits(world);
        Ok(Loads::new(plan(&counts, 0..bins, 0, |bin| world.shade_cost(bin), limits), limits.pages))
    }

    /// The next submission of loads, if any are left.
    fn step_loads(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<Option<Recording>, GpuError> {
        if let Some(recording) = self.step_loops(device, world)? {
            return Ok(Some(recording));
        }
        Ok(if self.loads.done() { None } else { Some(self.record_loads(device, world)?) })
    }

    /// The next submission of loads that go through their stages at once.
    fn record_loads(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<Recording, GpuError> {
        let work = self.next_work(self.loads.next);
        let most = self.quota.of(work).min(self.printing_vertices(world));
        let most = if work == Work::LoopLoad { most.min(self.textures.vertices_max) } else { most };
        let some = self.loads.take(most);
        if self.should_name(world, &some, Process::Shade) {
            return self.record_names(device, world, some);
        }
        self.record_some(device, world, some, false)
    }

    /// What loads from `next` on count as.
    fn next_work(&self, next: usize) -> Work {
        let next = self.loads.loads.get(next).map(|load| load.loops);
        if next.unwrap_or_default() == LoopKind::Short { Work::Load } else { Work::LoopLoad }
    }

    /// Vertices of some loads.
    pub(super) fn vertices(&self, some: Range<usize>) -> u64 {
        self.loads.loads[some].iter().map(|load| load.vertices).sum()
    }

    /// A submission of some loads that go through their stages at once; `again` says whether it was the last one too.
    pub(super) fn record_some(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        some: Range<usize>,
        again: bool,
    ) -> Result<Recording, GpuError> {
        let mut recording = empty_recording(self.label, &self.region);
        let (work, vertices) = (self.next_work(some.start), self.vertices(some.clone()));
        self.portion = Portion::of(work, vertices);
        self.begin_textures(world, &mut recording, some.clone(), again);
        if work == Work::LoopLoad {
            self.begin_unwatched(&mut recording, &some);
        }
        let stages = &self.pipeline.stages()[self.under_way[0]..=self.under_way[self.under_way.len() - 1]];
        if stages[0].assign_bin == AssignBin::Shading && !again {
            self.counts.shaded_vertices += vertices;
        }
        self.begin_prints(&mut recording, stages[0].assign_bin == AssignBin::Shading);
        let runs: Vec<StageRun> = stages.iter().map(|&stage| StageRun { stage, part: StagePart::Whole }).collect();
        for index in some {
            world.record_load(device, &mut recording, &self.region, &self.load_job(index, &runs))?;
        }
        Ok(recording)
    }

    /// A load on its way through some stages.
    pub(super) fn load_job<'a>(&'a self, index: usize, runs: &'a [StageRun]) -> LoadJob<'a> {
        let first = &self.pipeline.stages()[self.under_way[0]];
        LoadJob {
            load: &self.loads.loads[index],
            stages: runs,
            slab: match first.assign_bin {
                AssignBin::Depth(Grids::Translucent) => self.slabs.current(),
                _ => Slab::WHOLE,
            },
            places: self.places(first.repeat),
            ends_batch: self.loads.batch_ends.contains(&index),
        }
    }
}
