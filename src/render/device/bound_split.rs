//! The counting pass on one device: all primitives become grids (bound/split), which shows where the work of the
//! picture is, and gives each grid its number.
//!
//! Primitives are taken in chunks of one page. Rounds of bound/split go on until a chunk's list holds grids only. A
//! list that would outgrow its memory, or take longer than a submission should, is cut in two, and each half goes on by
//! itself (Weber et al. 2015 bound the same growth). Finished lists are appended in authored order, so neither chunks
//! nor cuts show in the numbering.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::KernelVariants;
use crate::pipeline::bound_split::{self, Chunk, KindMotion, ListLength, SplitRound};
use crate::pipeline::buffers::{CountSlices, FrameSlices, GeometrySources};
use crate::pipeline::geometry::PrimitiveKind;
use crate::pipeline::kernels::constants::VERDICT_GRID;
use crate::pipeline::kernels::records::{Drawable, GridBound, Round, Subpatch};
use crate::pipeline::recording::Recording;
use crate::pipeline::stage::Work;
use crate::pipeline::world::{DrawnRun, DrawnWorld};
use crate::progress::{Interrupt, ProgressTally};
use crate::render::device::error::DeviceError;
use crate::render::device::memory::counting_capacity;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::grids::order::ShareGrids;
use crate::render::region::pace::{Pace, Portion};
use crate::render::resident::geometry_pages::GeometryPages;
use crate::stats::MemoryCategory;
use std::ops::Range;

/// Rounds after which a chunk is a broken invariant: 16 levels in u and v and the splits at the eye.
const ROUNDS_MAX: u32 = 64;

/// Grids of a share that are gathered before they are passed on.
const GATHERED_GRIDS: usize = 1 << 16;

/// A share of the counting pass: primitives of one page, in authored order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountingShare {
    page: usize,
    /// The runs of drawables that have the primitives.
    runs: Range<usize>,
    chunk: Chunk,
}

/// Cuts the world's drawables into shares of at most `primitives_max` primitives, in authored order.
pub(crate) fn cut_into_shares(runs: &[DrawnRun], primitives_max: u32) -> Vec<CountingShare> {
    let mut shares = Vec::new();
    let mut start = 0;
    while start < runs.len() {
        let page = runs[start].page;
        let same = runs[start..].iter().take_while(|run| run.page == page).count();
        let total: u64 = runs[start..start + same].iter().map(|run| u64::from(run.count)).sum();
        let mut first = 0;
        while first < total {
            let count = (total - first).min(u64::from(primitives_max)) as u32;
            let chunk = Chunk { drawable_base: start as u32, drawable_count: same as u32, first: first as u32, count };
            shares.push(CountingShare { page, runs: start..start + same, chunk });
            first += u64::from(count);
        }
        start += same;
    }
    shares
}

/// Returns the drawables of a world, whose primitives are numbered from 0 in each stretch of runs in one page.
fn drawables(runs: &[DrawnRun]) -> Vec<Drawable> {
    let mut first = 0;
    let mut page = usize::MAX;
    let drawable = |run: &DrawnRun| {
        if run.page != page {
            (page, first) = (run.page, 0);
        }
        let (primitive, step) = if run.reversed { (run.first + run.count - 1, u32::MAX) } else { (run.first, 1) };
        let drawable = Drawable { first, primitive, instance: run.instance, step };
        first += run.count;
        drawable
    };
    runs.iter().map(drawable).collect()
}

impl DeviceRenderer {
    /// Counts the shares that `next` returns, each with its number, one after another until there are none. `keep` gets
    /// the number of a share and its grids, in parts, and whether the part is the share's last.
    pub(crate) fn count<'a>(
        &mut self,
        next: &mut dyn FnMut() -> Option<(usize, &'a CountingShare)>,
        keep: &mut dyn FnMut(usize, ShareGrids, bool),
    ) -> Result<(), DeviceError> {
        // Of an earlier picture, with other grids.
        self.end_picture();
        let count = self.picture.world.runs.len().max(1) as u64;
        let allocated = self.shared.pages.allocate(&mut self.device);
        allocated.map_err(|error| self.with_needs(error.into(), None))?;
        let capacity = counting_capacity(count, self.free_bytes());
        let bytes = CountSlices::bytes(count, capacity);
        let mut buffer = self.device.allocate(MemoryCategory::Counting.name(), bytes, Usage::DeviceOnly);
        if matches!(buffer, Err(GpuError::OutOfMemory { .. })) && self.free_kept() {
            buffer = self.device.allocate(MemoryCategory::Counting.name(), bytes, Usage::DeviceOnly);
        }
        if matches!(buffer, Err(GpuError::OutOfMemory { .. })) {
            self.shared.pages.keep_one(&mut self.device)?;
            buffer = self.device.allocate(MemoryCategory::Counting.name(), bytes, Usage::DeviceOnly);
        }
        let buffer = buffer.map_err(|error| self.with_needs(error.into(), None))?;
        let slices = CountSlices::cut(buffer, count, capacity).expect("the buffer was made for it");
        let counted = self.count_in(&slices, next, keep);
        self.device.free(buffer);
        counted.map_err(|error| self.with_needs(error, None))
    }

    fn count_in<'a>(
        &mut self,
        slices: &CountSlices,
        next: &mut dyn FnMut() -> Option<(usize, &'a CountingShare)>,
        keep: &mut dyn FnMut(usize, ShareGrids, bool),
    ) -> Result<(), DeviceError> {
        let drawables = drawables(&self.picture.world.runs);
        self.device.upload(slices.drawables.part(0..drawables.len() as u64), &drawables)?;
        while let Some((number, share)) = next() {
            BoundSplit {
                device: &mut self.device,
                world: &self.picture.world,
                frame: &self.shared.frame,
                pages: &mut self.shared.pages,
                slices,
                pace: &mut self.pace,
                interrupt: &self.picture.interrupt,
                tally: &self.picture.tally,
            }
            .count(share, &mut |part, last| keep(number, part, last))?;
        }
        Ok(())
    }
}

/// The grids of a share on their way to the host.
struct ShareOutput<'a> {
    /// Grids that were not passed on yet.
    gathered: ShareGrids,
    /// Takes some grids, and whether they are the share's last.
    keep: &'a mut dyn FnMut(ShareGrids, bool),
}

impl ShareOutput<'_> {
    fn add(&mut self, grids: Vec<Subpatch>, bounds: Vec<GridBound>) {
        self.gathered.grids.extend(grids);
        self.gathered.bounds.extend(bounds);
        if self.gathered.grids.len() >= GATHERED_GRIDS {
            (self.keep)(std::mem::take(&mut self.gathered), false);
        }
    }
}

/// Returns a round's work, in subpatches that are bounded, scanned and copied. Those that are only copied take a
/// quarter of it.
fn round_work(ListLength { count, open }: ListLength) -> u64 {
    u64::from(open) + u64::from((count - open).div_ceil(4))
}

/// Returns the verdicts on a list's subpatches, right for grids only, and the places of those that are no grids.
fn open_subpatches(list: &[Subpatch]) -> (Vec<u32>, Vec<u32>) {
    let is_open = |subpatch: &Subpatch| subpatch.micropolygons() == [0; 2];
    let open = (0..).zip(list).filter(|(_, subpatch)| is_open(subpatch)).map(|(place, _)| place).collect();
    (vec![VERDICT_GRID; list.len()], open)
}

/// Bound/split on one device, with all that it uses there.
struct BoundSplit<'a> {
    device: &'a mut Device,
    world: &'a DrawnWorld,
    frame: &'a FrameSlices,
    pages: &'a mut GeometryPages,
    slices: &'a CountSlices,
    pace: &'a mut Pace,
    interrupt: &'a Interrupt,
    tally: &'a ProgressTally,
}

/// Subpatches in list 0 that go through rounds, and the part of all counting that they are, for progress.
#[derive(Clone, Copy)]
struct ListedPart {
    length: ListLength,
    part: f64,
}

impl BoundSplit<'_> {
    /// Counts one share, and passes its grids on in parts; the last of them is marked.
    fn count(&mut self, share: &CountingShare, keep: &mut dyn FnMut(ShareGrids, bool)) -> Result<(), GpuError> {
        let mut output = ShareOutput { gathered: ShareGrids::default(), keep };
        let of_share: Vec<PrimitiveKind> = share.runs.clone().map(|i| self.kind_of(&self.world.runs[i])).collect();
        // Whatever moves anywhere chooses the kernels, so that they do not depend on how the work was shared.
        let kinds: Vec<KindMotion> =
            self.world.kinds().into_iter().filter(|kind| of_share.contains(&kind.kind)).collect();
        // A device with little memory has room for fewer primitives at once than a share has, and a slow one time for
        // fewer; their order is the same.
        let mut done = 0;
        while done < share.chunk.count {
            let room = self.slices.lists[0].count().min(self.pace.quota().of(Work::Split)) as u32;
            let part =
                Chunk { first: share.chunk.first + done, count: room.min(share.chunk.count - done), ..share.chunk };
            let mut recording = Recording::new("seed");
            recording.stage("bound_split", |recording| bound_split::record_seed(recording, self.slices, part));
            self.device.submit(&recording)?;
            let length = ListLength { count: part.count, open: part.count };
            let listed = ListedPart { length, part: f64::from(part.count) };
            self.rounds(share, &kinds, listed, &mut output)?;
            done += part.count;
        }
        (output.keep)(output.gathered, true);
        Ok(())
    }

    fn kind_of(&self, run: &DrawnRun) -> PrimitiveKind {
        self.world.hide_sublists[self.world.instances[run.instance as usize].hide_sublist as usize].kind
    }

    /// Rounds over list 0 until it holds grids only.
    fn rounds(
        &mut self,
        share: &CountingShare,
        kinds: &[KindMotion],
        ListedPart { mut length, part }: ListedPart,
        output: &mut ShareOutput<'_>,
    ) -> Result<(), GpuError> {
        let mut from = 0;
        let capacity = self.slices.lists[0].count() as u32;
        for _ in 0..ROUNDS_MAX {
            if length.count == 0 {
                self.tally.count(part, 0);
                return Ok(());
            }
            if self.interrupt.is_raised() {
                let device = self.device.title().clone();
                return Err(GpuError::Interrupted { device, doing: "counting".to_owned() });
            }
            let work = round_work(length);
            if length.count > 1 && work > self.pace.quota().of(Work::Split) {
                return self.halves(share, kinds, from, ListedPart { length, part }, output);
            }
            let page = self.pages.make_resident(self.device, share.page)?;
            let mut recording = Recording::new("bound_split");
            let variants = KernelVariants { serial: self.device.prefers_serial_kernels() };
            let sources = GeometrySources { frame: self.frame, page };
            recording.stage("bound_split", |recording| {
                let round = SplitRound { kinds, from, length };
                bound_split::record_round(recording, variants, sources, self.slices, round);
            });
            let ticket = self.device.submit(&recording)?;
            let round: Round = self.device.read(self.slices.round)?[0];
            let stages_s: Vec<f64> = self.device.stage_times(ticket).iter().map(|time| time.seconds).collect();
            self.pace.took(&Portion::of(Work::Split, work), &stages_s);
            if round.round_needed > capacity {
                return self.halves(share, kinds, from, ListedPart { length, part }, output);
            }
            (from, length) = (1 - from, ListLength { count: round.round_count, open: round.round_open });
            if round.round_dropped > 0 {
                output.gathered.lost.push((round.round_dropped_instance, round.round_dropped));
                self.device.upload(self.slices.round, &[Round { round_dropped: 0, ..round }])?;
            }
            if round.round_last_splits == 0 {
                let grids = u64::from(length.count);
                self.tally.count(part, grids);
                let list = self.device.read(self.slices.lists[from].part(0..grids))?;
                output.add(list, self.device.read(self.slices.bounds[from].part(0..grids))?);
                return Ok(());
            }
        }
        unreachable!("bound/split ends after {ROUNDS_MAX} rounds");
    }

    /// Goes on by halves: the list as it was before a round outgrew its memory, or before one that would take too long.
    fn halves(
        &mut self,
        share: &CountingShare,
        kinds: &[KindMotion],
        from: usize,
        ListedPart { length: ListLength { count, .. }, part: all }: ListedPart,
        output: &mut ShareOutput<'_>,
    ) -> Result<(), GpuError> {
        let list = self.device.read(self.slices.lists[from].part(0..u64::from(count)))?;
        let bounds = self.device.read(self.slices.bounds[from].part(0..u64::from(count)))?;
        let middle = list.len() / 2;
        assert!(middle > 0, "two subpatches fit any list");
        for part in [0..middle, middle..list.len()] {
            let records = part.len() as u64;
            self.device.upload(self.slices.lists[0].part(0..records), &list[part.clone()])?;
            self.device.upload(self.slices.bounds[0].part(0..records), &bounds[part.clone()])?;
            let (verdicts, open) = open_subpatches(&list[part.clone()]);
            self.device.upload(self.slices.children[0].part(0..records), &verdicts)?;
            self.device.upload(self.slices.open.part(0..open.len() as u64), &open)?;
            let [count, open] = [part.len(), open.len()].map(|count| count as u32);
            let length = ListLength { count, open };
            self.device.upload(self.slices.round, &[bound_split::first_round(length)])?;
            let listed = ListedPart { length, part: all * part.len() as f64 / list.len() as f64 };
            self.rounds(share, kinds, listed, output)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::kernels::constants::{SHAPE_NU, SHAPE_NV};

    fn run(page: usize, first: u32, count: u32) -> DrawnRun {
        DrawnRun { page, first, count, instance: 9, reversed: false }
    }

    #[test]
    fn grids_of_a_list_keep_their_verdict_and_the_others_are_open() {
        let grid = Subpatch { shape: 3 << SHAPE_NU | 2 << SHAPE_NV, ..Subpatch::default() };
        let open = Subpatch { shape: 5, ..Subpatch::default() };
        let (verdicts, places) = open_subpatches(&[grid, open, grid, open]);
        assert_eq!((verdicts, places), (vec![VERDICT_GRID; 4], vec![1, 3]));
    }

    #[test]
    fn a_round_over_what_is_no_grid_yet_is_as_much_work_as_its_list_is_long() {
        let work = |count, open| round_work(ListLength { count, open });
        assert!((1..9).all(|count| work(count, count) == u64::from(count)));
        assert_eq!([work(8, 0), work(9, 0), work(9, 3)], [2, 3, 5]);
    }

    #[test]
    fn a_share_passes_its_grids_on_whenever_they_are_many() {
        let mut kept = Vec::new();
        let mut keep = |part: ShareGrids, last| kept.push((part.grids.len(), part.bounds.len(), last));
        let mut output = ShareOutput { gathered: ShareGrids::default(), keep: &mut keep };
        for count in [GATHERED_GRIDS - 1, 1, 5, 3 * GATHERED_GRIDS, 7] {
            output.add(vec![Subpatch::default(); count], vec![GridBound::default(); count]);
        }
        assert_eq!(output.gathered.grids.len(), 7);
        let long = 3 * GATHERED_GRIDS + 5;
        assert_eq!(kept, [(GATHERED_GRIDS, GATHERED_GRIDS, false), (long, long, false)]);
    }

    #[test]
    fn shares_stay_inside_pages_and_cover_all() {
        let runs = [run(0, 0, 10), run(0, 10, 5), run(1, 0, 3), run(0, 0, 10)];
        let shares = cut_into_shares(&runs, 8);
        let summary: Vec<_> = shares.iter().map(|s| (s.page, s.runs.clone(), s.chunk.first, s.chunk.count)).collect();
        assert_eq!(summary, [(0, 0..2, 0, 8), (0, 0..2, 8, 7), (1, 2..3, 0, 3), (0, 3..4, 0, 8), (0, 3..4, 8, 2)]);
        let firsts: Vec<u32> = drawables(&runs).iter().map(|d| d.first).collect();
        assert_eq!(firsts, [0, 10, 0, 0]);
    }
}
