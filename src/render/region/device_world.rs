//! What all regions of a world share on one device.

use crate::pipeline::buffers::{ActiveRegion, FrameSlices};
use crate::pipeline::kernels::constants::SLOT_LOG2_MAX;
use crate::pipeline::layout::{HideLayout, ShadeLayout};
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::piece::ListRecords;
use crate::pipeline::plan::Pipeline;
use crate::pipeline::stage::{StageSettings, TaskInput, TaskState, WorldPrograms};
use crate::pipeline::world::DrawnWorld;
use crate::render::region::bakes::BakeMemory;
use crate::render::region::layers::DeepSettings;
use crate::render::region::loads::SublistCost;
use crate::render::resident::geometry_pages::GeometryPages;
use crate::render::resident::grid_pages::GridPages;
use crate::render::resident::texture_tiles::TextureTiles;
use crate::render::resident::visibility_store::VisibilityStore;
use std::sync::Arc;

/// What all regions of a world share on one device.
pub(crate) struct DeviceWorld {
    pub drawn: Arc<DrawnWorld>,
    pub kernels: Arc<[ShadingKernel]>,
    pub frame: FrameSlices,
    pub grids: GridPages,
    pub pipeline: Pipeline,
    pub pages: GeometryPages,
    /// What the stages are given.
    pub settings: StageSettings,
    /// How the light at each depth is kept, where a display asks for it.
    pub deep: Option<DeepSettings>,
    /// The host's memory for what shaders bake.
    pub bake_memory: Arc<BakeMemory>,
    /// Which kernels turned out to have long loops, by number.
    pub long_loops: Vec<bool>,
    /// Tiles of textures, where programs look them up.
    pub textures: Option<TextureTiles>,
    /// What the samples of regions see, kept for the next drawing.
    pub visibility: VisibilityStore,
}

impl DeviceWorld {
    /// The compiled programs, and what is known of their loops.
    pub(crate) fn programs(&self) -> WorldPrograms<'_> {
        WorldPrograms { kernels: &self.kernels, long_loops: &self.long_loops }
    }

    /// What a task is given where its region stands so.
    pub(crate) fn task_input<'a>(&'a self, region: &'a ActiveRegion, state: &'a TaskState) -> TaskInput<'a> {
        let batches = self.pipeline.batches();
        TaskInput { region, frame: &self.frame, settings: &self.settings, batches, state }
    }

    /// What hiding or sampling a sublist needs.
    pub(crate) fn hide_cost(&self, sublist: usize) -> SublistCost {
        let (sublist, programs) = (&self.drawn.hide_sublists[sublist], self.programs());
        let (vertex, slot) = HideLayout::cost(programs.get(sublist.displace), sublist);
        let vertex = vertex + programs.state_channels(sublist.displace);
        SublistCost { vertex, slot, page: sublist.page, loops: programs.loops(sublist.displace) }
    }

    /// What shading a sublist needs.
    pub(crate) fn shade_cost(&self, sublist: usize) -> SublistCost {
        let (sublist, programs) = (&self.drawn.shade_sublists[sublist], self.programs());
        let (vertex, slot) = ShadeLayout::cost(programs.get(sublist.displace), programs.get(sublist.shade), sublist);
        let vertex = vertex + programs.state_channels(sublist.displace) + programs.state_channels(sublist.shade);
        SublistCost {
            vertex,
            slot,
            page: sublist.page,
            loops: programs.loops(sublist.displace).max(programs.loops(sublist.shade)),
        }
    }

    /// The programs of a sublist: displacement, then colour.
    pub(crate) fn programs_of(&self, sublist: usize, shades: bool) -> [Option<usize>; 2] {
        match shades {
            true => [self.drawn.shade_sublists[sublist].displace, self.drawn.shade_sublists[sublist].shade],
            false => [self.drawn.hide_sublists[sublist].displace, None],
        }
    }

    /// Whether a program can name the tiles of its textures before it runs.
    pub(crate) fn names_tiles(&self, number: Option<usize>) -> bool {
        self.programs().get(number).is_some_and(|kernel| kernel.demand.is_some())
    }

    /// Records that the largest slot of any sublist takes up, with all loops saved.
    pub(crate) fn slot_records_max(&self) -> u64 {
        let state =
            |number: Option<usize>| u64::from(self.programs().get(number).map_or(0, ShadingKernel::saved_channels));
        let records = |cost: SublistCost, programs: [Option<usize>; 2]| {
            let saved: u64 = programs.map(state).iter().sum();
            ((u64::from(cost.vertex) + saved) << SLOT_LOG2_MAX)
                + u64::from(cost.slot + ListRecords::of(SLOT_LOG2_MAX).all())
        };
        let hide = (0..self.drawn.hide_sublists.len())
            .map(|sublist| records(self.hide_cost(sublist), self.programs_of(sublist, false)));
        let shade = (0..self.drawn.shade_sublists.len())
            .map(|sublist| records(self.shade_cost(sublist), self.programs_of(sublist, true)));
        hide.chain(shade).max().unwrap_or(256)
    }
}
