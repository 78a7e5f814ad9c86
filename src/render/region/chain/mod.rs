//! One region on its way through the pipeline: a chain of short submissions, each resumable. Between two of them the
//! host reads what the device found and decides what is next (docs/scheduling.md).
//!
//! Which stage follows which is not said here but by the [`Pipeline`] that the chain goes through, stage by stage; here
//! is how slabs and rounds repeat, and what the host reads after a stage (`findings.rs`). What takes longer than a
//! submission should is cut into several, between which other regions have their turn: loads by [`Loads::take`], all
//! else by [`StageTasks`].

mod findings;
mod load_steps;
mod long_loops;
mod progress;
mod task_steps;
mod texture_steps;

use crate::gpu::{Device, GpuError, Ticket};
use crate::pipeline::buffers::ActiveRegion;
use crate::pipeline::kept::KeptSlices;
use crate::pipeline::plan::{Pipeline, PipelineStage, Repeat};
use crate::pipeline::recording::Recording;
use crate::pipeline::stage::{CarriedStates, PictureFeatures};
use crate::render::region::cell_lists::CellLists;
use crate::render::region::costs::RegionCosts;
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::layers::RegionLight;
use crate::render::region::loads::Loads;
use crate::render::region::loop_watch::LoopWatch;
use crate::render::region::pace::{Portion, Quota};
use crate::render::region::prints::RegionPrints;
use crate::render::region::region_result::{RegionCounts, RegionResult};
use crate::render::region::slabs::Slabs;
use crate::render::region::stage_tasks::StageTasks;
use crate::render::region::texture_watch::{TextureWatch, TileLoad, TileMisses};
use std::ops::Range;

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
    /// Begins a region: submits its first stages. `recalls` says that what its samples see was kept.
    pub(crate) fn begin(
        device: &mut Device,
        world: &mut DeviceWorld,
        region: ActiveRegion,
        quota: Quota,
        recalls: bool,
    ) -> Result<Self, GpuError> {
        let recalled = world.pipeline.reshading().filter(|_| recalls);
        let mut chain = Chain::new(recalled.unwrap_or(world.pipeline), region, quota);
        chain.counts.recalled_regions = u64::from(recalled.is_some());
        let recording = chain.start_tasks(device, world, 0)?;
        Ok(Self { ticket: chain.submit(device, &recording)?, chain })
    }

    /// The submission that [`Self::advance`] waits for.
    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// What the last submission was for.
    pub(crate) fn doing(&self) -> &'static str {
        self.chain.current.label
    }

    /// The fraction of the region that is done, or submitted, from 0 to 1: an estimate of time.
    pub(crate) fn fraction(&self) -> f64 {
        self.chain.fraction()
    }

    /// What the last submission was made of.
    pub(crate) fn portion(&self) -> &Portion {
        &self.chain.submission.portion
    }

    /// Reads what the last submission, which is done and took `seconds`, missed of textures, what its loops came
    /// to, and what it printed. [`Self::portion`] is right only then. What it missed, for the trace.
    pub(crate) fn note_loops(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        seconds: f64,
    ) -> Result<TileMisses, GpuError> {
        let missed = self.chain.note_misses(device, world, seconds)?;
        if missed.tiles == 0 {
            self.chain.note_effects(device, world)?;
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
struct Chain {
    region: ActiveRegion,
    pipeline: Pipeline,
    current: CurrentStages,
    /// What is left of the stages under way, if they are not loads.
    tasks: StageTasks,
    /// What is left of them, if they are.
    loads: Loads,
    /// What is known of the loops of the loads.
    watch: LoopWatch,
    /// What is known of the textures that they look up.
    textures: TextureWatch,
    /// What shaders have printed and baked.
    prints: RegionPrints,
    /// What is known of the light at each depth, for deep shadow maps.
    light: RegionLight,
    selection: Selection,
    slab: SlabAtWork,
    rounds: Rounds,
    submission: Submission,
    counts: RegionCounts,
    /// What its parts should cost, for progress.
    costs: RegionCosts,
}

/// The stages under way.
#[derive(Default)]
struct CurrentStages {
    /// Their numbers in the pipeline.
    at: Vec<usize>,
    /// The stage that follows them, unless what they find changes that.
    following: usize,
    /// The name of their submissions.
    label: &'static str,
}

/// What selection has found.
#[derive(Default)]
struct Selection {
    /// Grids of each sort key: (batch, sublist, size class).
    counts: Vec<u32>,
    /// Bits of the nearest and the farthest depth of each depth batch.
    batch_depths: Vec<[u32; 2]>,
}

/// The slabs of the region, and the one at work.
struct SlabAtWork {
    slabs: Slabs,
    /// The states of solids in which it begins.
    carried: CarriedStates,
    /// How often it was composited.
    composite_calls: u32,
    /// Its entries.
    entries: u32,
    /// How they are spread over cells, once that was asked.
    lists: Option<CellLists>,
}

/// Rounds of shading what opaque samples see.
struct Rounds {
    /// Micropolygons that opaque samples see.
    visible: u32,
    /// The places of colours of the round at work.
    places: Range<u32>,
}

/// What submissions are made of.
struct Submission {
    /// What the next one should be made of.
    quota: Quota,
    /// What the last one was made of.
    portion: Portion,
}

impl Chain {
    fn new(pipeline: Pipeline, region: ActiveRegion, quota: Quota) -> Self {
        Self {
            pipeline,
            current: CurrentStages::default(),
            tasks: StageTasks::default(),
            loads: Loads::new(Vec::new(), 1),
            watch: LoopWatch::default(),
            textures: TextureWatch::default(),
            prints: RegionPrints::default(),
            light: RegionLight::default(),
            selection: Selection::default(),
            slab: SlabAtWork {
                slabs: Slabs::new(&[], 1, 0.0),
                carried: CarriedStates::default(),
                composite_calls: 0,
                entries: 0,
                lists: None,
            },
            rounds: Rounds { visible: 0, places: 0..region.capacity.colours as u32 },
            submission: Submission { quota, portion: Portion::default() },
            counts: RegionCounts::default(),
            costs: RegionCosts::default(),
            region,
        }
    }

    fn submit(&mut self, device: &mut Device, recording: &Recording) -> Result<Ticket, GpuError> {
        #[cfg(test)]
        crate::render::region::recorded::keep(recording);
        self.counts.submissions += 1;
        device.submit(recording)
    }

    /// What comes after the last submission, which is done.
    fn step(&mut self, device: &mut Device, world: &mut DeviceWorld, quota: Quota) -> Result<ChainStep, GpuError> {
        self.submission = Submission { quota, portion: Portion::default() };
        if !self.tasks.is_empty() {
            return Ok(ChainStep::Submit(self.record_tasks(device, world)?));
        }
        if let Some(recording) = self.step_loads(device, world)? {
            return Ok(ChainStep::Submit(recording));
        }
        loop {
            let at = match self.conclude(device, world)? {
                // What it is left out by may have changed since.
                NextStage::At(at) => self.at_or_after(world, at),
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
        }
    }

    /// Reads what the last submission, whose tiles were all there, printed, and what layers it listed.
    fn note_effects(&mut self, device: &mut Device, world: &DeviceWorld) -> Result<(), GpuError> {
        self.prints.note(device, &self.region, &world.kernels, &world.bake_memory)?;
        match (world.deep, self.tasks.take_listed()) {
            (Some(settings), Some(listed)) => self.light.note(device, &self.region, settings, &listed),
            _ => Ok(()),
        }
    }

    /// The stage after the one at `at`: the next one that has something to do, or the first of the next slab or round.
    fn after(&mut self, world: &DeviceWorld, at: usize) -> usize {
        let stages = self.pipeline.stages();
        let repeat = stages[at].repeat;
        let ends_repetition = stages.get(at + 1).is_none_or(|next| next.repeat != repeat);
        if ends_repetition && self.repeats(repeat) {
            return self.first_of(repeat);
        }
        self.at_or_after(world, at + 1)
    }

    /// The first stage from `at` on that has something to do.
    fn at_or_after(&self, world: &DeviceWorld, at: usize) -> usize {
        let (stages, kept_visibility) = (self.pipeline.stages(), self.kept(world).is_some());
        let features = PictureFeatures { kept_visibility, ..world.settings.features };
        let rest = stages[at..].iter().position(|stage| !stage.is_left_out(&features));
        rest.map_or(stages.len(), |further| at + further)
    }

    /// Where what its samples see is kept, if it is.
    fn kept(&self, world: &DeviceWorld) -> Option<KeptSlices> {
        world.visibility.slices(self.region.pixels.inside)
    }

    /// The first stage of slabs or rounds.
    fn first_of(&self, repeat: Repeat) -> usize {
        self.pipeline.stages().iter().position(|stage| stage.repeat == repeat).unwrap_or(0)
    }

    /// Whether there is another slab or round, which becomes the one at work.
    fn repeats(&mut self, repeat: Repeat) -> bool {
        match repeat {
            Repeat::Once => false,
            Repeat::Slabs => self.slab.slabs.next(),
            Repeat::Rounds => {
                let more = self.rounds.places.end < self.rounds.visible;
                if more {
                    self.rounds.places = self.rounds.places.end
                        ..self.rounds.places.end.saturating_add(self.region.capacity.colours as u32);
                }
                more
            }
        }
    }

    /// The stages of the loads under way.
    fn load_stages(&self) -> &'static [PipelineStage] {
        &self.pipeline.stages()[self.current.at[0]..=self.current.at[self.current.at.len() - 1]]
    }
}
