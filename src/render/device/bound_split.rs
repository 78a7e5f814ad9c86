//! The counting pass: once for each picture, all primitives become grids (bound/split), which tells where the work is and numbers it.
//!
//! Primitives are taken in chunks of one page. Rounds of bound/split go on until a chunk's list holds grids only; a list that would
//! outgrow its memory, or take longer than a submission should, is cut in two, and the parts go on by themselves (Weber et al. 2015 bound the
//! same growth). Finished lists are appended in authored order, so neither chunks nor cuts show in the numbering.

use crate::gpu::{Device, GpuError};
use crate::pipeline;
use crate::pipeline::bound_split::{self, Chunk};
use crate::pipeline::buffers::{CountSlices, FrameSlices};
use crate::pipeline::geometry::Kind;
use crate::pipeline::kernels::records::{Drawable, GridBound, Round, Subpatch};
use crate::pipeline::recording::Recording;
use crate::pipeline::world::{DrawnRun, DrawnWorld};
use crate::render::grids::order::ShareGrids;
use crate::render::region::pace::{Pace, Portion, Work};
use crate::render::resident::geometry_pages::GeometryPages;
use std::ops::Range;

/// Rounds after which a chunk is a broken invariant: 16 levels in u and v and the splits at the eye.
const ROUNDS_MAX: u32 = 64;

/// Grids of a job that are gathered before they are given.
const PART_GRIDS: usize = 1 << 16;

/// A job on its way: what was not given yet, and where it goes.
struct JobParts<'a> {
    gathered: ShareGrids,
    give: &'a mut dyn FnMut(ShareGrids, bool),
}

impl JobParts<'_> {
    fn add(&mut self, grids: Vec<Subpatch>, bounds: Vec<GridBound>) {
        self.gathered.grids.extend(grids);
        self.gathered.bounds.extend(bounds);
        if self.gathered.grids.len() >= PART_GRIDS {
            (self.give)(std::mem::take(&mut self.gathered), false);
        }
    }
}

/// A run of drawables in one page, cut into chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountingShare {
    page: usize,
    runs: Range<usize>,
    chunk: Chunk,
}

/// Cuts the world's drawables into jobs of at most `primitives_max` primitives, in authored order.
pub(crate) fn cut_into_shares(runs: &[DrawnRun], primitives_max: u32) -> Vec<CountingShare> {
    let mut jobs = Vec::new();
    let mut start = 0;
    while start < runs.len() {
        let page = runs[start].page;
        let same = runs[start..].iter().take_while(|run| run.page == page).count();
        let total: u64 = runs[start..start + same].iter().map(|run| u64::from(run.count)).sum();
        let mut first = 0;
        while first < total {
            let count = (total - first).min(u64::from(primitives_max)) as u32;
            let chunk = Chunk { drawable_base: start as u32, drawable_count: same as u32, first: first as u32, count };
            jobs.push(CountingShare { page, runs: start..start + same, chunk });
            first += u64::from(count);
        }
        start += same;
    }
    jobs
}

/// The drawables of a world, numbered inside their page runs.
pub(crate) fn drawables(runs: &[DrawnRun]) -> Vec<Drawable> {
    let mut first = 0;
    let mut page = usize::MAX;
    let drawable = |run: &DrawnRun| {
        if run.page != page {
            (page, first) = (run.page, 0);
        }
        let drawable = Drawable { first, primitive: run.first, instance: run.instance, spare0: 0 };
        first += run.count;
        drawable
    };
    runs.iter().map(drawable).collect()
}

/// What counting works with on one device.
pub(crate) struct Counter<'a> {
    pub device: &'a mut Device,
    pub world: &'a DrawnWorld,
    pub frame: &'a FrameSlices,
    pub pages: &'a mut GeometryPages,
    pub slices: &'a CountSlices,
    pub pace: &'a mut Pace,
}

impl Counter<'_> {
    /// Counts one job, and gives its grids in parts; the last of them is marked.
    pub(crate) fn count(
        &mut self,
        job: &CountingShare,
        give: &mut dyn FnMut(ShareGrids, bool),
    ) -> Result<(), GpuError> {
        let mut parts = JobParts { gathered: ShareGrids::default(), give };
        let mut kinds: Vec<Kind> = job.runs.clone().map(|i| self.kind_of(&self.world.runs[i])).collect();
        kinds.sort_unstable();
        kinds.dedup();
        // A device with little memory has room for fewer primitives at once than a job has, and a slow one time; their order is the same.
        let mut done = 0;
        while done < job.chunk.count {
            let room = self.slices.lists[0].count().min(self.pace.quota().of(Work::Split)) as u32;
            let part = Chunk { first: job.chunk.first + done, count: room.min(job.chunk.count - done), ..job.chunk };
            let mut recording = Recording::new("seed");
            recording.stage("bound_split", |recording| bound_split::record_seed(recording, self.slices, part));
            self.device.submit(&recording)?;
            self.rounds(job, &kinds, part.count, &mut parts)?;
            done += part.count;
        }
        (parts.give)(parts.gathered, true);
        Ok(())
    }

    fn kind_of(&self, run: &DrawnRun) -> Kind {
        self.world.hide_bins[self.world.instances[run.instance as usize].hide_bin as usize].kind
    }

    /// Rounds over list 0 until it holds grids only.
    fn rounds(
        &mut self,
        job: &CountingShare,
        kinds: &[Kind],
        mut count: u32,
        parts: &mut JobParts<'_>,
    ) -> Result<(), GpuError> {
        let mut from = 0;
        let capacity = self.slices.lists[0].count() as u32;
        for _ in 0..ROUNDS_MAX {
            if count == 0 {
                return Ok(());
            }
            if count > 1 && u64::from(count) > self.pace.quota().of(Work::Split) {
                return self.halves(job, kinds, (from, count), parts);
            }
            let page = self.pages.make_resident(self.device, job.page)?;
            let mut recording = Recording::new("bound_split");
            let stage = pipeline::Device { serial: self.device.is_cpu() };
            recording.stage("bound_split", |recording| {
                bound_split::record_round(recording, stage, (self.frame, page), self.slices, kinds, (from, count));
            });
            let ticket = self.device.submit(&recording)?;
            let round: Round = self.device.read(self.slices.round)?[0];
            let stages_s: Vec<f64> = self.device.stage_times(ticket).iter().map(|time| time.seconds).collect();
            self.pace.took(&Portion::of(Work::Split, count.into()), &stages_s);
            if round.round_needed > capacity {
                return self.halves(job, kinds, (from, count), parts);
            }
            (from, count) = (1 - from, round.round_count);
            if round.round_dropped > 0 {
                parts.gathered.lost.push((round.round_dropped_instance, round.round_dropped));
                self.device.upload(self.slices.round, &[Round { round_dropped: 0, ..round }])?;
            }
            if round.round_last_splits == 0 {
                let grids = u64::from(count);
                let list = self.device.read(self.slices.lists[from].part(0..grids))?;
                parts.add(list, self.device.read(self.slices.bounds[from].part(0..grids))?);
                return Ok(());
            }
        }
        unreachable!("bound/split ends after {ROUNDS_MAX} rounds");
    }

    /// The list has outgrown its memory, or the next round would take too long: each half of what it was before the round goes on by itself.
    fn halves(
        &mut self,
        job: &CountingShare,
        kinds: &[Kind],
        (from, count): (usize, u32),
        parts: &mut JobParts<'_>,
    ) -> Result<(), GpuError> {
        let list = self.device.read(self.slices.lists[from].part(0..u64::from(count)))?;
        let bounds = self.device.read(self.slices.bounds[from].part(0..u64::from(count)))?;
        let middle = list.len() / 2;
        assert!(middle > 0, "two subpatches fit any list");
        for part in [0..middle, middle..list.len()] {
            let records = part.len() as u64;
            self.device.upload(self.slices.lists[0].part(0..records), &list[part.clone()])?;
            self.device.upload(self.slices.bounds[0].part(0..records), &bounds[part.clone()])?;
            let start = Round {
                round_count: part.len() as u32,
                round_splits: 0,
                round_dropped: 0,
                round_dropped_instance: 0,
                round_needed: 0,
                round_last_splits: 0,
            };
            self.device.upload(self.slices.round, &[start])?;
            self.rounds(job, kinds, part.len() as u32, parts)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(page: usize, first: u32, count: u32) -> DrawnRun {
        DrawnRun { page, first, count, instance: 9 }
    }

    #[test]
    fn a_job_gives_what_it_has_whenever_that_is_much() {
        let mut given = Vec::new();
        let mut give = |part: ShareGrids, last| given.push((part.grids.len(), part.bounds.len(), last));
        let mut parts = JobParts { gathered: ShareGrids::default(), give: &mut give };
        for count in [PART_GRIDS - 1, 1, 5, 3 * PART_GRIDS, 7] {
            parts.add(vec![Subpatch::default(); count], vec![GridBound::default(); count]);
        }
        assert_eq!(parts.gathered.grids.len(), 7);
        let long = 3 * PART_GRIDS + 5;
        assert_eq!(given, [(PART_GRIDS, PART_GRIDS, false), (long, long, false)]);
    }

    #[test]
    fn jobs_stay_inside_pages_and_cover_all() {
        let runs = [run(0, 0, 10), run(0, 10, 5), run(1, 0, 3), run(0, 0, 10)];
        let jobs = cut_into_shares(&runs, 8);
        let summary: Vec<_> = jobs.iter().map(|j| (j.page, j.runs.clone(), j.chunk.first, j.chunk.count)).collect();
        assert_eq!(summary, [(0, 0..2, 0, 8), (0, 0..2, 8, 7), (1, 2..3, 0, 3), (0, 3..4, 0, 8), (0, 3..4, 8, 2)]);
        let firsts: Vec<u32> = drawables(&runs).iter().map(|d| d.first).collect();
        assert_eq!(firsts, [0, 10, 0, 0]);
    }
}
