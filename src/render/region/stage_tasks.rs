//! Tasks: the stages of a region between its loads. Each goes through items of one kind, as many at once as a
//! submission should have.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{ActiveRegion, GridPageSlices, clusters};
use crate::pipeline::plan::{AssignBin, PipelineStage};
use crate::pipeline::recording::Recording;
use crate::pipeline::stage::{Bins, RecordTask, Task, TaskState, Units, Work, WorkSpread};
use crate::render::region::cell_lists::{CumulativeWork, ListedLayers};
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::pace::{Filling, Portion, Quota};
use crate::render::region::record::empty_recording;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A page of the list of grids, by its place among those that a region goes through.
#[derive(Clone, Debug)]
pub(crate) struct GridPage {
    pub pages: Arc<[usize]>,
    pub at: usize,
}

/// A task of a stage, with what it goes through.
#[derive(Clone, Debug)]
pub(crate) struct StageTask {
    pub stage: PipelineStage,
    pub task: Task,
    /// The page of the list of grids that it goes through, if it goes through one.
    pub grid_page: Option<GridPage>,
    /// Where the region stands.
    pub state: TaskState,
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
    /// The units before each item, where items differ.
    spread: Option<CumulativeWork>,
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
        match (&self.spread, self.units) {
            _ if bins.is_empty() => 0.0,
            (Some(before), _) => (before[items.end as usize] - before[items.start as usize]) as f64,
            (None, Units::All(units)) => units.max(1) as f64,
            (None, Units::Even(each)) => (items.end - items.start) as f64 * each,
        }
    }

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
    /// The kind of work; what a first call left of a slab is of another kind.
    fn work(&self) -> Work {
        if self.task.work == Work::Slab && self.state.again { Work::SlabRest } else { self.task.work }
    }

    /// Whether it lists layers, for which there is limited room.
    fn lists_layers(&self) -> bool {
        self.task.spread == Some(WorkSpread::Layers)
    }

    fn extent(&self, world: &DeviceWorld, region: &ActiveRegion) -> Extent {
        let items = match self.stage.process.descriptor().bins {
            Bins::Items(AssignBin::Clusters) => self.grid_page.as_ref().map_or(0, |page| page.clusters(world)),
            Bins::Items(AssignBin::Pixels) => region.pixels.count(),
            Bins::Items(AssignBin::Delivered) => region.pixels.inside.pixel_count(),
            Bins::Items(AssignBin::Subpixels) => region.subpixels(),
            Bins::Items(AssignBin::Cells) => region.cells(),
            Bins::Items(AssignBin::Entries) => self.state.entries.into(),
            _ => 1,
        };
        Extent {
            work: self.work(),
            items: items.max(1),
            whole: self.stage.assign_bin == AssignBin::Whole,
            units: (self.task.units)(&world.task_input(region, &self.state)),
            spread: self.spread.clone(),
        }
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
    /// The fraction of the first that is done, and tasks done since there were none.
    fraction: f64,
    ended: u32,
    /// What the last submission lists of layers.
    listed: Option<ListedLayers>,
}

impl StageTasks {
    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The fraction that is recorded, from 0 to 1, counting tasks alike.
    pub(crate) fn fraction(&self) -> f64 {
        let ended = f64::from(self.ended);
        (ended + self.fraction) / (ended + self.left.len() as f64).max(1.0)
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
            let lists = task.lists_layers();
            let some = if lists { extent.listed_at_once(done, some, region.capacity.layers()) } else { some };
            if let Some(rooms) = task.spread.as_ref().filter(|_| lists) {
                self.listed = Some(ListedLayers { pixels: done..done + some, rooms: Arc::clone(rooms) });
            }
            world.record_task(device, &mut recording, region, task, &extent.items_of(done..done + some))?;
            reads_pages |= task.grid_page.is_some();
            self.done += some;
            self.fraction = self.done as f64 / extent.bins() as f64;
            if self.done < extent.bins() {
                break;
            }
            self.left.pop_front();
            (self.done, self.fraction) = (0, 0.0);
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
        let input = self.task_input(region, &task.state);
        recording.stage(task.stage.process.descriptor().stage, |recording| match (task.task.record, page) {
            (RecordTask::Region(record), _) => record(recording, &input, some),
            (RecordTask::Pages(_, record), Some(page)) => record(recording, &input, &page, some),
            (RecordTask::Pages(..), None) => unreachable!("a task that goes through pages has one"),
        });
        Ok(())
    }
}
