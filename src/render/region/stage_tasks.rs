//! Tasks: the stages of a region between its loads. Each goes through items of one kind, as many at once as a
//! submission should have.
//!
//! A task gives the same bits however it is cut: an item is gone through by one invocation, and none reads what another
//! of the same task writes, except for sums and minima that come out the same in any order.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{ActiveRegion, GridPageSlices, clusters};
use crate::pipeline::kernels::constants::{CELL_SAMPLES, CLUSTER_GRIDS, VISIBLE_WORDS};
use crate::pipeline::plan::{AssignBin, Process};
use crate::pipeline::recording::Recording;
use crate::pipeline::sample::Slab;
use crate::pipeline::solids::{self, CarriedStates};
use crate::pipeline::{composite, filter, hide, layers, sample, select, shade};
use crate::render::region::cell_lists::CumulativeWork;
use crate::render::region::pace::{Filling, Portion, Quota, Work};
use crate::render::region::record::{DeviceWorld, empty_recording};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A page of the list of grids, by its place among those that a region goes through.
#[derive(Clone, Debug)]
pub(crate) struct GridPage {
    pub pages: Arc<[usize]>,
    pub at: usize,
}

/// A stage to be recorded, with what it goes through.
#[derive(Clone, Debug)]
pub(crate) struct StageTask {
    pub process: Process,
    pub assign_bin: AssignBin,
    /// The page of the list of grids that it goes through, if it goes through one.
    pub grid_page: Option<GridPage>,
    /// At least as many grids as are selected.
    pub grids: u64,
    /// Entries of the slab at work.
    pub entries: u32,
    /// The states of solids in which the slab begins.
    pub carried: CarriedStates,
    /// The slab at work, and whether nothing lies behind it.
    pub slab: Slab,
    pub last_slab: bool,
    /// Places of the colour store that the round fills.
    pub places: Range<u32>,
    /// Whether some of the slab was composited before.
    pub again: bool,
    /// How work is spread over items, where that is known.
    pub spread: Option<CumulativeWork>,
}

/// What there is to do in a task.
struct Extent {
    work: Work,
    /// What the work can be cut into.
    items: u64,
    /// Whether it is not cut nevertheless.
    whole: bool,
    units: Units,
}

/// Units of work of items.
enum Units {
    /// This many in all, for what cannot be cut.
    All(u64),
    /// This many for each item.
    Even(f64),
    Uneven(CumulativeWork),
}

impl Extent {
    fn bins(&self) -> u64 {
        if self.whole { 1 } else { self.items }
    }

    /// The items of some bins.
    fn items_of(&self, bins: Range<u64>) -> Range<u64> {
        if self.whole { 0..self.items } else { bins }
    }

    fn units_of(&self, bins: Range<u64>) -> f64 {
        let items = self.items_of(bins.clone());
        match &self.units {
            _ if bins.is_empty() => 0.0,
            Units::All(units) => *units as f64,
            Units::Even(each) => (items.end - items.start) as f64 * each,
            Units::Uneven(before) => (before[items.end as usize] - before[items.start as usize]) as f64,
        }
    }
}

/// Units of work of all subpixels together and of the entries that they look at, with so many entries in the slab.
pub(crate) fn slab_units(region: &ActiveRegion, entries: u32) -> f64 {
    let looks = u64::from(entries) * region.capacity.pixel_samples.min(CELL_SAMPLES.into());
    (region.subpixels() + looks) as f64
}

impl Extent {
    /// As many of `some` bins from `done` on as have at most `layers` layers; one in any case.
    fn listed_at_once(&self, done: u64, some: u64, layers: u64) -> u64 {
        let fits = |some: &u64| self.units_of(done..done + some) <= layers as f64;
        let (mut low, mut high) = (1, some);
        while low < high {
            let middle = low.midpoint(high + 1);
            if fits(&middle) { low = middle } else { high = middle - 1 }
        }
        low
    }
}

impl StageTask {
    fn work(&self) -> Work {
        match self.process {
            Process::ClearSelection | Process::ClearEntries | Process::CarrySolids => Work::Fill,
            Process::MarkAll => Work::Fill,
            Process::Choose => Work::Choose,
            Process::Rank | Process::ListEntries => Work::Scan,
            Process::Gather => Work::Gather,
            Process::SortForHiding | Process::SortForShading => Work::Sort,
            Process::ClearResolved => Work::Clear,
            Process::ScatterEntries => Work::Scatter,
            Process::SortEntries => Work::SortCells,
            Process::CutSolids | Process::KeepSolids => Work::CutSolids,
            Process::Mark => Work::Mark,
            Process::BlurSamples => Work::BlurSamples,
            Process::MarkUnseen | Process::NumberVisible => Work::Number,
            Process::PlaceEntries => Work::PlaceEntries,
            Process::ListLayers => Work::Layers,
            Process::CompositeSlab => {
                if self.again {
                    Work::SlabRest
                } else {
                    Work::Slab
                }
            }
            Process::CompositeOpaque => Work::Composite,
            Process::Filter => Work::Filter,
            Process::FilterDepth => Work::Depth,
            Process::Dice | Process::Displace | Process::Hide | Process::RenewBlocks => Work::Load,
            Process::Sample | Process::Shade => Work::Load,
        }
    }

    fn units(&self, world: &DeviceWorld, region: &ActiveRegion) -> Units {
        let (capacity, samples) = (&region.capacity, f64::from(region.pixel_samples()));
        match self.process {
            Process::ClearSelection => {
                Units::All((2 + u64::from(capacity.behind)) * region.subpixels() + capacity.choice_words())
            }
            Process::Choose | Process::Gather => Units::Even(f64::from(CLUSTER_GRIDS)),
            Process::Rank => Units::All(capacity.choice_words()),
            Process::SortForHiding | Process::SortForShading => Units::All(self.grids + capacity.sort_keys()),
            Process::ClearEntries => {
                Units::All(2 * region.cells() + region.subpixels() + u64::from(VISIBLE_WORDS) * self.grids)
            }
            Process::CarrySolids => Units::All(self.carried.count.into()),
            Process::ListEntries => Units::All(region.cells()),
            // An entry looks at all of its cell.
            Process::CutSolids | Process::KeepSolids => {
                Units::Even(1.0 + f64::from(self.entries) / region.cells().max(1) as f64)
            }
            Process::SortEntries => Units::Even(1.0 + f64::from(self.entries) / region.cells().max(1) as f64),
            Process::MarkUnseen | Process::NumberVisible => Units::All(self.grids),
            Process::CompositeSlab => {
                Units::Even(slab_units(region, self.entries) / region.pixels.count().max(1) as f64)
            }
            Process::MarkAll => Units::All(VISIBLE_WORDS.into()),
            Process::BlurSamples | Process::Mark => Units::Even(samples),
            Process::CompositeOpaque | Process::FilterDepth => Units::Even(samples),
            Process::Filter => {
                let visits = filter::window_samples(capacity.pixel_samples, &world.widest_filter);
                Units::Even((visits * capacity.filtered) as f64)
            }
            _ => Units::Even(1.0),
        }
    }

    fn extent(&self, world: &DeviceWorld, region: &ActiveRegion) -> Extent {
        let items = match self.process.finest_bins() {
            Some(AssignBin::Clusters) => self.grid_page.as_ref().map_or(0, |page| page.clusters(world)),
            Some(AssignBin::Pixels) => region.pixels.count(),
            Some(AssignBin::Delivered) => region.pixels.inside_size().map(u64::from).iter().product(),
            Some(AssignBin::Subpixels) => region.subpixels(),
            Some(AssignBin::Cells) => region.cells(),
            Some(AssignBin::Entries) => self.entries.into(),
            Some(AssignBin::Whole | AssignBin::Depth(_) | AssignBin::Shading) | None => 1,
        };
        let units = match (&self.spread, self.units(world, region)) {
            (Some(spread), _) => Units::Uneven(Arc::clone(spread)),
            (None, Units::All(units)) => Units::All(units.max(1)),
            (None, units) => units,
        };
        Extent { work: self.work(), items: items.max(1), whole: self.assign_bin == AssignBin::Whole, units }
    }
}

impl GridPage {
    fn clusters(&self, world: &DeviceWorld) -> u64 {
        clusters(world.grids.grid_count(self.pages[self.at]))
    }

    fn is_resident(&self, world: &DeviceWorld) -> bool {
        world.grids.is_resident(self.pages[self.at])
    }

    fn upload(&self, device: &mut Device, world: &mut DeviceWorld) -> Result<GridPageSlices, GpuError> {
        world.grids.make_resident(device, self.pages[self.at], &self.pages)
    }
}

/// The tasks that are left of those under way.
#[derive(Debug, Default)]
pub(crate) struct StageTasks {
    left: VecDeque<StageTask>,
    /// Bins of the first that are done.
    done: u64,
    /// The part of the first that is done, and tasks done since there were none.
    part: f64,
    ended: u32,
    /// What the last submission lists of layers.
    listed: Option<ListedLayers>,
}

/// The pixels whose layers are listed, and the rooms for layers before each pixel of the region.
#[derive(Clone, Debug)]
pub(crate) struct ListedLayers {
    pub pixels: Range<u64>,
    pub rooms: CumulativeWork,
}

impl ListedLayers {
    /// The rooms of some of the pixels among those that are listed.
    pub(crate) fn rooms_of(&self, pixels: Range<u64>) -> Range<u64> {
        let before = |pixel: u64| self.rooms[pixel as usize] - self.rooms[self.pixels.start as usize];
        before(pixels.start)..before(pixels.end)
    }
}

impl StageTasks {
    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The part that is recorded, from 0 to 1, counting tasks alike.
    pub(crate) fn part(&self) -> f64 {
        let ended = f64::from(self.ended);
        (ended + self.part) / (ended + self.left.len() as f64).max(1.0)
    }

    /// What the last submission listed of layers, if it did; once.
    pub(crate) fn take_listed(&mut self) -> Option<ListedLayers> {
        self.listed.take()
    }

    /// Adds a task.
    pub(crate) fn push(&mut self, task: StageTask) {
        if self.left.is_empty() {
            self.ended = 0;
        }
        self.left.push_back(task);
    }

    /// The next submission: as many tasks, and as many bins of the last of them, as it should have. A page of grids
    /// that must be uploaded may replace one that has been recorded, so it begins a submission.
    pub(crate) fn record(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        region: &ActiveRegion,
        label: &str,
        quota: Quota,
    ) -> Result<(Recording, Portion), GpuError> {
        let mut filling = Filling::new(quota);
        let mut recording = empty_recording(label, region);
        let mut reads_pages = false;
        while let Some(task) = self.left.front() {
            if reads_pages && task.grid_page.as_ref().is_some_and(|page| !page.is_resident(world)) {
                break;
            }
            let (extent, done) = (task.extent(world, region), self.done);
            let some = filling.take(extent.work, extent.bins() - done, |some| extent.units_of(done..done + some));
            if some == 0 {
                break;
            }
            let lists = task.process == Process::ListLayers;
            let some = if lists { extent.listed_at_once(done, some, region.capacity.layers()) } else { some };
            if let Some(rooms) = task.spread.as_ref().filter(|_| lists) {
                self.listed = Some(ListedLayers { pixels: done..done + some, rooms: Arc::clone(rooms) });
            }
            world.record_task(device, &mut recording, region, task, &extent.items_of(done..done + some))?;
            reads_pages |= task.grid_page.is_some();
            self.done += some;
            self.part = self.done as f64 / extent.bins() as f64;
            if self.done < extent.bins() {
                break;
            }
            self.left.pop_front();
            (self.done, self.part) = (0, 0.0);
            self.ended += 1;
        }
        Ok((recording, filling.portion()))
    }
}

impl DeviceWorld {
    /// Appends `some` items of a task.
    fn record_task(
        &mut self,
        device: &mut Device,
        recording: &mut Recording,
        region: &ActiveRegion,
        task: &StageTask,
        some: &Range<u64>,
    ) -> Result<(), GpuError> {
        let page = task.grid_page.as_ref().map(|page| page.upload(device, self)).transpose()?;
        recording.stage(task.process.stage(), |recording| match (task.process, page) {
            (Process::Choose, Some(page)) => select::record_choice(recording, self.variants, &page, region, some),
            (Process::Gather, Some(page)) => {
                select::record_gather(recording, self.variants, &page, region, self.depth, some);
            }
            _ => self.record_in_region(recording, region, task, some),
        });
        Ok(())
    }

    /// Appends `some` items of a task that needs nothing but what the region has.
    fn record_in_region(&self, recording: &mut Recording, region: &ActiveRegion, task: &StageTask, some: &Range<u64>) {
        let (variants, frame, places) = (self.variants, &self.frame, task.places.clone());
        match task.process {
            Process::ClearSelection => {
                hide::record_clear(recording, region);
                select::record_clear(recording, region);
            }
            Process::BlurSamples => hide::record_blur_samples(recording, frame, region, some),
            Process::Rank => select::record_ranks(recording, variants, region),
            Process::SortForHiding => {
                let batches = select::BatchLimits::new(self.pipeline.batches(), variants);
                select::record_batches(recording, variants, frame, region, batches, self.depth, task.grids);
            }
            Process::ClearResolved => composite::record_clear(recording, region, some),
            Process::ClearEntries => sample::record_clear(recording, region, task.grids),
            Process::ListEntries => sample::record_lists(recording, variants, region),
            Process::ScatterEntries => sample::record_scatter(recording, &region.slices, task.entries, some),
            Process::SortEntries => sample::record_sort(recording, region, some),
            Process::NumberVisible => shade::record_places(recording, variants, region, task.grids),
            Process::PlaceEntries => composite::record_places(recording, &region.slices, task.entries, some),
            Process::SortForShading => {
                shade::record_order(recording, variants, frame, region, task.grids, places);
            }
            Process::ListLayers => layers::record(recording, frame, region, task.slab, some),
            Process::CompositeSlab => {
                let samples = region.capacity.pixel_samples;
                let subpixels = some.start * samples..some.end * samples;
                composite::record_slab(recording, frame, region, &self.composition, task.again, &subpixels);
            }
            Process::CarrySolids => solids::record_carry(recording, region, task.carried),
            Process::CutSolids => {
                let slab = (task.entries, task.last_slab);
                solids::record_cut(recording, frame, region, task.carried, slab, some);
            }
            Process::KeepSolids => solids::record_keep(recording, frame, region, task.entries, some),
            Process::Mark => shade::record_mark(recording, region, some),
            Process::MarkAll => shade::record_mark_all(recording, region),
            Process::MarkUnseen => shade::record_mark_unseen(recording, frame, region, task.grids),
            Process::CompositeOpaque => composite::record(recording, frame, region, &self.composition, places, some),
            Process::Filter => filter::record(recording, frame, region, &self.filtered, some),
            Process::FilterDepth => {
                let by = self.depth_filter.unwrap_or_default();
                filter::record_depth(recording, region, by, some);
            }
            Process::Choose | Process::Gather => unreachable!("these come with a page"),
            Process::Dice | Process::Displace | Process::Hide | Process::RenewBlocks => unreachable!("loads' stages"),
            Process::Sample | Process::Shade => unreachable!("loads' stages"),
        }
    }
}
