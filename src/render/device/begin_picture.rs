//! A picture begins on a device: memory is divided, with smaller shares where larger ones do not fit.

use crate::gpu::{GpuError, Usage};
use crate::pipeline::buffers::{GridPageSlices, RegionCapacity, RegionSlices};
use crate::pipeline::frame;
use crate::pipeline::stage::DepthBuckets;
use crate::render::device::error::DeviceError;
use crate::render::device::memory::{
    Demand, GridResidency, LastingBytes, MemoryNeeds, region_choices, regions_in_flight, visibility_bytes,
};
use crate::render::device::renderer::{DeviceRenderer, DividedMemory, RegionMemory};
use crate::render::grids::picture_grids::{GridTotals, PictureGrids};
use crate::render::resident::geometry_pages::PagesBytes;
use crate::render::resident::grid_pages::GridPages;
use crate::render::resident::texture_tiles::TextureTiles;
use crate::render::resident::visibility_store::{KeepVisibility, VisibilityStore};
use crate::scene::DepthFilter;
use crate::stats::{MemoryCategory, human_bytes};
use std::sync::Arc;

impl DeviceRenderer {
    /// Takes the grids of the whole picture, and divides the memory that is left among them and the regions in flight.
    /// What was kept of a picture with the same grids and demands stays; what is kept of others goes where memory is
    /// short.
    pub(crate) fn begin_picture(&mut self, grids: &Arc<PictureGrids>) -> Result<(), DeviceError> {
        self.declare_bounds(&grids.bounds_measured)?;
        let GridTotals { near, far, .. } = grids.totals;
        self.shared.settings.depth = DepthBuckets::new(near.max(self.picture.world.frame.near), far);
        let demand = self.demand(grids);
        let is_same = |divided: &DividedMemory| Arc::ptr_eq(&divided.grids, grids) && divided.demand == demand;
        if self.divided.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        self.end_picture();
        let mut begun = self.divide(grids, demand);
        let is_short = |error: &DeviceError| {
            matches!(error, DeviceError::TooLittleMemory { .. } | DeviceError::Gpu(GpuError::OutOfMemory { .. }))
        };
        if begun.as_ref().is_err_and(is_short) && self.free_kept() {
            self.end_picture();
            begun = self.divide(grids, demand);
        }
        begun?;
        self.divided = Some(DividedMemory { grids: Arc::clone(grids), demand });
        Ok(())
    }

    /// Divides the memory that is free.
    fn divide(&mut self, grids: &Arc<PictureGrids>, demand: Demand) -> Result<(), DeviceError> {
        let least_demand = Demand { page_grids: GridResidency::least(demand.frame_grids).page_grids, ..demand };
        let allocated = self.shared.pages.allocate(&mut self.device);
        allocated.map_err(|error| self.with_needs(error.into(), Some(&least_demand)))?;
        let choices = self.picture.grid_residency.map_or_else(
            || GridResidency::choices(demand.frame_grids, self.free_bytes()),
            |residency| vec![residency, GridResidency::least(demand.frame_grids)],
        );
        let (least, faster) = choices.split_last().expect("there is always the least");
        for &residency in faster {
            match self.begin_with(grids, &demand, residency) {
                Err(DeviceError::Gpu(GpuError::OutOfMemory { .. }) | DeviceError::TooLittleMemory { .. }) => {
                    self.end_picture();
                }
                begun => return begun,
            }
        }
        // Pages of geometry took a share of what was there before grids were counted; keeping one at a time leaves the
        // most.
        let kept = self.shared.pages.keep_one(&mut self.device).map_err(DeviceError::from);
        let begun = kept.and_then(|()| self.begin_with(grids, &demand, *least));
        begun.map_err(|error| self.with_needs(error, Some(&least_demand)))
    }

    /// Allocates pages of grids, then regions.
    fn begin_with(
        &mut self,
        grids: &Arc<PictureGrids>,
        demand: &Demand,
        residency: GridResidency,
    ) -> Result<(), DeviceError> {
        let GridResidency { page_grids, pages } = residency;
        let mut slices = Vec::new();
        let grid_list = MemoryCategory::Grids.name();
        for _ in 0..pages {
            let buffer = self.device.allocate(grid_list, GridPageSlices::bytes(page_grids), Usage::DeviceOnly)?;
            self.picture_buffers.push(buffer);
            slices.push(GridPageSlices::cut(buffer, page_grids).expect("the buffer was made for it"));
        }
        self.shared.grids = GridPages::new(Arc::clone(grids), page_grids, slices)?;
        self.divide_among_regions(&Demand { page_grids, ..*demand })?;
        if let Some(KeepVisibility { bytes_max, .. }) = self.picture.keeps_visibility() {
            let bytes = visibility_bytes(demand, self.free_bytes()).min(bytes_max);
            self.shared.visibility = VisibilityStore::new(&mut self.device, bytes, demand.behind)?;
        }
        Ok(())
    }

    fn demand(&self, grids: &PictureGrids) -> Demand {
        let (world, features) = (&self.picture.world, &self.shared.settings.features);
        Demand {
            frame_grids: grids.list.len().max(1) as u64,
            page_grids: 1,
            pixel_grids_max: grids.totals.pixel_grids_max,
            pixel_samples: u64::from(world.frame.samples[0] * world.frame.samples[1]),
            picture_subpixels: frame::sample_count(&world.frame),
            variables: self.picture.variables,
            filtered: self.picture.filtered.len() as u64,
            sublists: world.hide_sublists.len().max(world.shade_sublists.len()).max(1) as u64,
            translucent: features.translucency,
            interpolation: world.interpolation,
            deep: features.deep_shadows,
            behind: self.picture.depth_filter == Some(DepthFilter::Midpoint),
            blurred: features.blur,
            solids: features.solids,
            prints: self.picture.kernels.iter().any(|kernel| kernel.print_words > 0),
            texture_slots: self.shared.textures.as_ref().map_or(0, TextureTiles::slots_end),
            slot_records_max: self.shared.slot_records_max(),
        }
    }

    /// Allocates the buffer of each region in flight: as large as the memory that is left permits, and for fewer
    /// regions where a pixel needs much.
    fn divide_among_regions(&mut self, demand: &Demand) -> Result<(), DeviceError> {
        let free = self.free_bytes();
        let bytes_max = self.device.info().allocation_bytes_max;
        // A device that stands for a GPU in tests has as many as one.
        let most = self.picture.in_flight.unwrap_or_else(|| regions_in_flight(self.device.prefers_serial_kernels()));
        for in_flight in (1..=most).rev() {
            for capacity in region_choices(demand, in_flight, free, bytes_max) {
                match self.allocate_regions(in_flight, capacity) {
                    Err(DeviceError::Gpu(GpuError::OutOfMemory { .. })) => {}
                    done => return done,
                }
            }
        }
        Err(self.too_little_memory(Some(demand)))
    }

    /// Allocates the buffers of all regions in flight, or none.
    fn allocate_regions(&mut self, in_flight: usize, capacity: RegionCapacity) -> Result<(), DeviceError> {
        let kept = self.picture_buffers.len();
        let mut parts = Vec::new();
        for _ in 0..in_flight {
            match self.device.allocate(MemoryCategory::Regions.name(), capacity.bytes(), Usage::DeviceOnly) {
                Ok(buffer) => {
                    self.picture_buffers.push(buffer);
                    parts.push(RegionSlices::cut(buffer, &capacity).expect("the buffer was made for it"));
                }
                Err(error) => {
                    for buffer in self.picture_buffers.drain(kept..) {
                        self.device.free(buffer);
                    }
                    return Err(error.into());
                }
            }
        }
        self.regions = Some(RegionMemory { capacity, parts, free: (0..in_flight).collect() });
        Ok(())
    }

    /// Returns the error or, where the device is out of memory, one that says how much the picture needs at least, and
    /// for what. `demand` is known once grids are counted.
    pub(super) fn with_needs(&self, error: DeviceError, demand: Option<&Demand>) -> DeviceError {
        match error {
            DeviceError::Gpu(GpuError::OutOfMemory { .. }) => self.too_little_memory(demand),
            error => error,
        }
    }

    fn too_little_memory(&self, demand: Option<&Demand>) -> DeviceError {
        let world = &self.picture.world;
        let needs = |pages: PagesBytes| {
            let lasting = LastingBytes {
                frame: self.frame_buffer.bytes(),
                pages,
                staging: self.device.staging_bytes(self.frame_buffer),
                reserve: self.picture.reserve_bytes,
            };
            match demand {
                None => MemoryNeeds::of_counting(lasting, world.runs.len().max(1) as u64),
                Some(demand) => MemoryNeeds::of_drawing(lasting, demand),
            }
        };
        DeviceError::TooLittleMemory {
            device: self.device.title().to_string(),
            limit: human_bytes(self.device.memory().budget_bytes),
            needs: MemoryNeeds::with_their_pages(PagesBytes::of(&world.pages), needs),
            counted: demand.is_some(),
        }
    }
}
