//! The steps of a chain through loads.

use super::Chain;
use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::RegionCapacity;
use crate::pipeline::kernels::constants::{BATCHES, SIZE_CLASSES};
use crate::pipeline::look::HideSublist;
use crate::pipeline::plan::{AssignBin, Grids, PipelineStage, Repeat, Schedule};
use crate::pipeline::program::ProgramKind;
use crate::pipeline::recording::Recording;
use crate::pipeline::slab::Slab;
use crate::pipeline::stage::{LoopKind, StagePart, Work};
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::loads::{LoadLimits, Loads, plan};
use crate::render::region::loop_watch::{LoopWatch, long_load_vertices};
use crate::render::region::pace::Portion;
use crate::render::region::prints::RegionPrints;
use crate::render::region::record::{LoadJob, StageRun, empty_recording};
use std::ops::Range;

/// A load runs in dispatches that cannot be cut any more. It has at most this many times the vertices that a submission
/// should have when the load is planned, because the next submissions may be costlier.
const LOAD_PORTIONS: u64 = 4;

/// From the first sublist that is displaced to the last.
fn displaced_sublists(world: &DeviceWorld) -> Range<usize> {
    let displaced = |sublist: &HideSublist| sublist.displace.is_some();
    let sublists = &world.drawn.hide_sublists;
    let first = sublists.iter().position(displaced).unwrap_or(0);
    first..sublists.iter().rposition(displaced).map_or(first, |last| last + 1)
}

/// Sublists of opaque grids, which come first.
pub(super) fn opaque_sublists(world: &DeviceWorld) -> usize {
    world.drawn.hide_sublists.iter().filter(|sublist| !sublist.translucent).count()
}

impl Chain {
    /// Plans the loads that go through the stage at `at` and those that are fused with it.
    pub(super) fn start_loads(&mut self, device: &mut Device, world: &DeviceWorld, at: usize) -> Result<(), GpuError> {
        let stages = self.pipeline.stages();
        if let Schedule::Begin(label) = stages[at].schedule {
            self.current.label = label;
        }
        let fused =
            |stage: &&PipelineStage| stage.assign_bin == stages[at].assign_bin && stage.schedule == Schedule::Fused;
        let end = at + 1 + stages[at + 1..].iter().take_while(fused).count();
        self.current.at = (at..end).collect();
        self.current.following = self.after(world, end - 1);
        self.loads = match stages[at].assign_bin {
            AssignBin::Depth(Grids::Opaque) => self.hide_loads(world, 0..opaque_sublists(world), Slab::WHOLE),
            AssignBin::Depth(Grids::Displaced) => self.hide_loads(world, displaced_sublists(world), Slab::WHOLE),
            AssignBin::Depth(Grids::Translucent) => self.hide_loads(
                world,
                opaque_sublists(world)..world.drawn.hide_sublists.len(),
                self.slab.slabs.current(),
            ),
            _ => self.shade_loads(device, world)?,
        };
        self.counts.rounds += u64::from(stages[at].repeat == Repeat::Rounds);
        self.watch = LoopWatch::default();
        Ok(())
    }

    /// Whether the loads under way are shaded; else they are hidden or sampled.
    pub(super) fn shades(&self) -> bool {
        self.load_stages()[0].assign_bin == AssignBin::Shading
    }

    /// Vertices of a load or of a submission: what they are known to print and bake, where they are shaded, fits.
    fn printing_vertices(&self, world: &DeviceWorld) -> u64 {
        if self.shades() { RegionPrints::vertices_max(&self.region, &world.kernels) } else { u64::MAX }
    }

    pub(super) fn load_limits(&self, world: &DeviceWorld) -> LoadLimits {
        let RegionCapacity { arena, slots, .. } = self.region.capacity;
        let portions = |work| self.submission.quota.of(work).saturating_mul(LOAD_PORTIONS);
        let most = self.printing_vertices(world);
        let (usual, long) =
            (portions(Work::Load).min(most), long_load_vertices(self.submission.quota.of(Work::Trips)).min(most));
        LoadLimits {
            records: arena as u32,
            slots: slots as u32,
            vertices: [usual, usual, long],
            first_vertices: u64::MAX,
            pages: world.pages.resident_max(),
        }
    }

    /// The loads of some sublists, batch by batch, of those batches that have something in a slab.
    fn hide_loads(&self, world: &DeviceWorld, sublists: Range<usize>, slab: Slab) -> Loads {
        let classes = SIZE_CLASSES as usize;
        let per_batch = self.region.capacity.sublists as usize * classes;
        let limits = self.load_limits(world);
        let mut loads = Loads::new(Vec::new(), limits.pages);
        let mut first = 0;
        for batch in 0..BATCHES as usize {
            let start = first;
            let counts = &self.selection.counts[batch * per_batch..(batch + 1) * per_batch];
            let before: u32 = counts[..sublists.start * classes].iter().sum();
            let wanted = &counts[sublists.start * classes..sublists.end * classes];
            first += counts.iter().sum::<u32>();
            if self.outside(batch, slab) {
                continue;
            }
            loads.loads.extend(plan(
                wanted,
                sublists.clone(),
                start + before,
                |sublist| world.hide_cost(sublist),
                limits,
            ));
            if wanted.iter().any(|&count| count > 0) {
                loads.batch_ends.push(loads.loads.len() - 1);
            }
        }
        loads
    }

    /// Whether nothing of a depth batch lies in a slab.
    fn outside(&self, batch: usize, slab: Slab) -> bool {
        let [near, far] = self.selection.batch_depths.get(batch).copied().unwrap_or([0, u32::MAX]);
        u64::from(near) > slab.high >> 32 || u64::from(far) < slab.low >> 32
    }

    fn shade_loads(&self, device: &mut Device, world: &DeviceWorld) -> Result<Loads, GpuError> {
        let sublists = world.drawn.shade_sublists.len();
        let counts = device.read(self.region.slices.counts.part(0..sublists as u64 * u64::from(SIZE_CLASSES)))?;
        let limits = self.load_limits(world);
        Ok(Loads::new(plan(&counts, 0..sublists, 0, |sublist| world.shade_cost(sublist), limits), limits.pages))
    }

    /// The next submission of loads, if any are left.
    pub(super) fn step_loads(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
    ) -> Result<Option<Recording>, GpuError> {
        if let Some(recording) = self.step_loops(device, world)? {
            return Ok(Some(recording));
        }
        Ok(if self.loads.done() { None } else { Some(self.record_loads(device, world)?) })
    }

    /// The next submission of loads that go through their stages at once.
    fn record_loads(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<Recording, GpuError> {
        let work = self.next_work(self.loads.next);
        let most = self.submission.quota.of(work).min(self.printing_vertices(world));
        let most = if work == Work::LoopLoad { most.min(self.textures.vertices_max) } else { most };
        let some = self.loads.take(most);
        if self.should_name(world, &some, ProgramKind::Colour) {
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
        let mut recording = empty_recording(self.current.label, &self.region);
        let (work, vertices) = (self.next_work(some.start), self.vertices(some.clone()));
        self.submission.portion = Portion::of(work, vertices);
        self.begin_textures(world, &mut recording, some.clone());
        if work == Work::LoopLoad {
            self.begin_unwatched(&mut recording, &some);
        }
        let stages = self.load_stages();
        if self.shades() && !again {
            self.counts.shaded_vertices += vertices;
        }
        self.prints.begin(&mut recording, &self.region, self.shades());
        let runs: Vec<StageRun> = stages.iter().map(|&stage| StageRun { stage, part: StagePart::Whole }).collect();
        for index in some {
            world.record_load(device, &mut recording, &self.region, &self.load_job(index, &runs))?;
        }
        Ok(recording)
    }

    /// A load on its way through some stages.
    pub(super) fn load_job<'a>(&'a self, index: usize, runs: &'a [StageRun]) -> LoadJob<'a> {
        let first = &self.pipeline.stages()[self.current.at[0]];
        LoadJob {
            load: &self.loads.loads[index],
            stages: runs,
            slab: match first.assign_bin {
                AssignBin::Depth(Grids::Translucent) => self.slab.slabs.current(),
                _ => Slab::WHOLE,
            },
            places: self.places(first.repeat),
            ends_batch: self.loads.batch_ends.contains(&index),
            missed_passes: None,
        }
    }
}
