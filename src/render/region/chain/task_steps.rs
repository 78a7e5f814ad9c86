//! The steps of a chain through tasks.

use super::Chain;
use crate::gpu::{Device, GpuError};
use crate::pipeline::composite::slab_units;
use crate::pipeline::plan::{PipelineStage, Repeat, Schedule};
use crate::pipeline::recording::Recording;
use crate::pipeline::stage::{Execution, Finding, PageOrder, RecordTask, Task, TaskState, Work, WorkSpread};
use crate::render::region::cell_lists::{CellLists, CumulativeWork};
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::stage_tasks::{GridPage, StageTask};
use std::ops::Range;
use std::sync::Arc;

impl Chain {
    /// Starts the stage at `at` and those that are fused with it; the first submission of them.
    pub(super) fn start_tasks(
        &mut self,
        device: &mut Device,
        world: &mut DeviceWorld,
        at: usize,
    ) -> Result<Recording, GpuError> {
        let stages = self.pipeline.stages();
        self.current.label = match stages[at].schedule {
            Schedule::Begin(label) => label,
            Schedule::Fused => stages[at].process.descriptor().stage,
        };
        self.current.at.clear();
        let mut at = at;
        loop {
            self.push_tasks(device, world, stages[at])?;
            self.current.at.push(at);
            if stages[at].process.descriptor().finding == Some(Finding::Unfinished) {
                self.slab.composite_calls += 1;
                // Whether the slab is done is not known yet.
                break;
            }
            self.current.following = self.after(world, at);
            let fused = |stage: &&PipelineStage| stage.schedule == Schedule::Fused && !stage.assign_bin.is_loads();
            match stages.get(self.current.following).filter(fused) {
                Some(stage) if !self.needs_cell_lists(stage) => at = self.current.following,
                _ => break,
            }
        }
        self.record_tasks(device, world)
    }

    /// Whether a stage begins a submission after all, to learn first how its work is spread over cells.
    fn needs_cell_lists(&self, stage: &PipelineStage) -> bool {
        let units = self.region.cells() + u64::from(self.slab.entries);
        let sorts =
            matches!(stage.process.descriptor().run, Execution::Task(task) if task.spread == Some(WorkSpread::Sorting));
        sorts && units > self.submission.quota.of(Work::SortCells)
    }

    fn push_tasks(&mut self, device: &mut Device, world: &DeviceWorld, stage: PipelineStage) -> Result<(), GpuError> {
        let descriptor = stage.process.descriptor();
        let Execution::Task(task) = descriptor.run else { return Ok(()) };
        // How many grids are selected is known only after that.
        let selects = descriptor.finding == Some(Finding::Selection);
        let state = TaskState {
            grids: if selects { world.grids.selected_max(&self.region.pixels) } else { self.counts.selected },
            entries: self.slab.entries,
            carried: self.slab.carried,
            slab: self.slab.slabs.current(),
            last_slab: self.slab.slabs.is_last(),
            places: self.places(stage.repeat),
            again: self.slab.composite_calls > 0,
            kept: self.kept(world),
        };
        let spread = self.spread(device, &task)?;
        let task = StageTask { stage, task, grid_page: None, state, spread };
        let RecordTask::Pages(order, _) = task.task.record else {
            self.tasks.push(task);
            return Ok(());
        };
        let pages: Arc<[usize]> = world.grids.pages_meeting(&self.region.pixels).into();
        let mut places: Vec<usize> = (0..pages.len()).collect();
        if order == PageOrder::Backward {
            places.reverse();
        }
        for at in places {
            let grid_page = Some(GridPage { pages: Arc::clone(&pages), at });
            self.tasks.push(StageTask { grid_page, ..task.clone() });
        }
        Ok(())
    }

    /// How the work of a task is spread over its items, where that matters and is known.
    fn spread(&mut self, device: &mut Device, task: &Task) -> Result<Option<CumulativeWork>, GpuError> {
        let (cells, samples) = (self.region.capacity.cells(), self.region.capacity.pixel_samples);
        let slab = slab_units(&self.region, self.slab.entries);
        let calls = self.slab.composite_calls;
        Ok(match task.spread {
            Some(WorkSpread::Sorting) if self.tasks.is_empty() => Some(self.cell_lists(device)?.sorting()),
            Some(WorkSpread::Layers) => Some(self.cell_lists(device)?.layers(cells, samples)),
            Some(WorkSpread::Compositing) if slab > self.submission.quota.of(Work::Slab) as f64 => {
                Some(self.cell_lists(device)?.compositing(cells, samples, calls))
            }
            _ => None,
        })
    }

    /// How the slab's entries are spread over cells.
    fn cell_lists(&mut self, device: &mut Device) -> Result<&CellLists, GpuError> {
        if self.slab.lists.is_none() {
            let offsets = device.read(self.region.slices.cell_offsets.part(0..self.region.cells()))?;
            self.slab.lists = Some(CellLists::new(offsets, self.slab.entries));
        }
        Ok(self.slab.lists.as_ref().expect("it was just read"))
    }

    /// The places of colours that a stage works on: those of the round, or as many as the store has.
    pub(super) fn places(&self, repeat: Repeat) -> Range<u32> {
        if repeat == Repeat::Rounds { self.rounds.places.clone() } else { 0..self.region.capacity.colours as u32 }
    }

    pub(super) fn record_tasks(&mut self, device: &mut Device, world: &mut DeviceWorld) -> Result<Recording, GpuError> {
        let (recording, portion) =
            self.tasks.record(device, world, &self.region, self.current.label, self.submission.quota)?;
        self.submission.portion = portion;
        Ok(recording)
    }
}
