//! A picture begins on a device: its grids go there, and what memory is left is divided among the regions in flight. Where there is too
//! little, what the picture needs at least is worked out.

use crate::gpu::{GpuError, Usage};
use crate::pipeline::buffers::{CountSlices, GridPageSlices, RegionCapacity, RegionSlices};
use crate::pipeline::select::DepthBuckets;
use crate::render::device::memory::needs::Needs;
use crate::render::device::memory::{Demand, GridResidency, least_bytes, solve};
use crate::render::device::renderer::{COUNT_CAPACITY_MIN, DeviceError, DeviceRenderer};
use crate::render::grids::picture_grids::{GridTotals, PictureGrids};
use crate::render::resident::geometry_pages::GeometryPages;
use crate::render::resident::grid_pages::GridPages;
use crate::stats::human_bytes;
use std::sync::Arc;

impl DeviceRenderer {
    /// Takes in the grids of the whole picture and divides what memory is left among the regions in flight.
    pub(crate) fn begin_picture(&mut self, counted: &Arc<PictureGrids>) -> Result<(), DeviceError> {
        self.bound(&counted.bounds_measured)?;
        let GridTotals { near, far, .. } = counted.totals;
        self.world.depth = DepthBuckets::new(near.max(self.picture.world.frame.near), far);
        let demand = self.demand(counted);
        let taken = self.world.pages.take_memory(&mut self.device);
        let at_least = Demand { page_grids: GridResidency::least(demand.frame_grids).page_grids, ..demand };
        taken.map_err(|error| self.explained(error.into(), Some(&at_least)))?;
        let choices = self.picture.grid_residency.map_or_else(
            || GridResidency::choices(demand.frame_grids, self.free_bytes()),
            |residency| vec![residency, GridResidency::least(demand.frame_grids)],
        );
        let (least, faster) = choices.split_last().expect("there is always the least");
        for &residency in faster {
            match self.begin_with(counted, &demand, residency) {
                Err(DeviceError::Gpu(GpuError::OutOfMemory { .. }) | DeviceError::TooLittleMemory { .. }) => {
                    self.end_picture();
                }
                begun => return begun,
            }
        }
        // Pages took a share of what was there before grids were counted; one at a time leaves the most.
        let kept = self.world.pages.keep_one(&mut self.device).map_err(DeviceError::from);
        let begun = kept.and_then(|()| self.begin_with(counted, &demand, *least));
        begun.map_err(|error| self.explained(error, Some(&at_least)))
    }

    fn begin_with(
        &mut self,
        counted: &Arc<PictureGrids>,
        demand: &Demand,
        residency: GridResidency,
    ) -> Result<(), DeviceError> {
        let GridResidency { page_grids, seats } = residency;
        let mut slices = Vec::new();
        for _ in 0..seats {
            let buffer = self.device.allocate("grids", GridPageSlices::bytes(page_grids), Usage::DeviceOnly)?;
            self.buffers.push(buffer);
            slices.push(GridPageSlices::cut(buffer, page_grids).expect("the buffer was made for it"));
        }
        self.world.grids = GridPages::new(Arc::clone(counted), page_grids, slices)?;
        self.divide_memory(&Demand { page_grids, ..*demand })
    }

    fn demand(&self, counted: &PictureGrids) -> Demand {
        let world = &self.picture.world;
        let [x0, y0, x1, y1] = world.frame.sampled_px.map(i64::from);
        let samples = u64::from(world.frame.samples[0] * world.frame.samples[1]);
        Demand {
            frame_grids: counted.list.len().max(1) as u64,
            page_grids: 1,
            pixel_grids_max: counted.totals.pixel_grids_max,
            pixel_samples: samples,
            picture_subpixels: ((x1 - x0) * (y1 - y0)).cast_unsigned() * samples,
            variables: self.picture.variables,
            bins: world.hide_bins.len().max(world.shade_bins.len()).max(1) as u64,
            translucent: world.hide_bins.iter().any(|bin| bin.translucent),
            smooth: world.smooth,
            slot_records_max: self.world.slot_records_max(),
        }
    }

    /// Gives each region in flight its buffer: as large as the memory that is left permits, and fewer regions where a pixel needs much.
    /// Buffers that share blocks leave gaps, so that less may fit than there is; then they are made smaller.
    fn divide_memory(&mut self, demand: &Demand) -> Result<(), DeviceError> {
        let free = self.free_bytes();
        // The least may still fit into gaps.
        let least = least_bytes(demand);
        for in_flight in (1..=self.picture.in_flight).rev() {
            let most = (free / in_flight as u64).min(self.device.info().allocation_bytes_max);
            let shares = std::iter::successors(Some(most), |each| Some(each - each / 8).filter(|each| *each > least));
            for each in shares.chain([least]) {
                let Some(capacity) = solve(demand, each) else { continue };
                match self.take_seats(in_flight, &capacity) {
                    Err(DeviceError::Gpu(GpuError::OutOfMemory { .. })) => {}
                    Err(error) => return Err(error),
                    Ok(()) => {
                        self.capacity = Some(capacity);
                        return Ok(());
                    }
                }
            }
        }
        Err(self.too_little(Some(demand)))
    }

    /// Makes the buffers of regions, or none.
    fn take_seats(&mut self, in_flight: usize, capacity: &RegionCapacity) -> Result<(), DeviceError> {
        let kept = self.buffers.len();
        for seat in 0..in_flight {
            match self.device.allocate("region", capacity.bytes(), Usage::DeviceOnly) {
                Ok(buffer) => {
                    self.buffers.push(buffer);
                    self.seats.push(RegionSlices::cut(buffer, capacity).expect("the buffer was made for it"));
                    self.free.push(seat);
                }
                Err(error) => {
                    self.seats.clear();
                    self.free.clear();
                    for buffer in self.buffers.drain(kept..) {
                        self.device.free(buffer);
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// Where memory is missing: how much the picture needs at least, and what for. `demand` is known once grids are counted.
    pub(crate) fn explained(&self, error: DeviceError, demand: Option<&Demand>) -> DeviceError {
        if matches!(error, DeviceError::Gpu(GpuError::OutOfMemory { .. })) { self.too_little(demand) } else { error }
    }

    fn too_little(&self, demand: Option<&Demand>) -> DeviceError {
        let frame = self.buffers[0];
        let (pages_bytes, page_bytes) = GeometryPages::bytes(&self.picture.world.pages);
        let page = if pages_bytes > page_bytes { "one page of geometry" } else { "geometry" };
        let mut needs = Needs::default()
            .with("the device itself", 1, 1)
            .with("instances and shader parameters", 1, frame.bytes())
            .with(page, 1, page_bytes)
            .with("staging", 1, self.device.staging_bytes(frame))
            .with("the scene's reserve", 1, self.picture.reserve_bytes);
        needs = match demand {
            None => needs.with(
                "counting",
                1,
                CountSlices::bytes(self.picture.world.runs.len().max(1) as u64, COUNT_CAPACITY_MIN),
            ),
            Some(demand) => {
                let (page, all) = (demand.page_grids, demand.frame_grids);
                let list = if page < all {
                    format!("a page of the list of {all} grids")
                } else {
                    format!("the list of {all} grids")
                };
                needs.with(list, 1, GridPageSlices::bytes(page)).with(
                    "the pixels of one region",
                    1,
                    least_bytes(demand),
                )
            }
        };
        DeviceError::TooLittleMemory {
            device: self.device.title().to_string(),
            limit: human_bytes(self.device.memory().budget_bytes),
            needs,
            counted: demand.is_some(),
        }
    }
}
