//! How far displacement moves things: seen by regions as they are drawn, and measured before where no bound is
//! declared.

use crate::gpu::GpuError;
use crate::pipeline::kernels::records::{Frame, FrameBuffer, Instance};
use crate::pipeline::plan::Pipeline;
use crate::render::device::error::DeviceError;
use crate::render::device::regions_in_flight::RegionPoll;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::grids::picture_grids::PictureGrids;
use crate::schedule::Region;
use std::sync::Arc;

/// What grids are counted of.
#[derive(Clone, Copy)]
pub(crate) struct CountedView<'a> {
    /// The pixels that are sampled: x0, y0, x1, y1, half-open.
    pub sampled_px: [i32; 4],
    /// Displacement bounds of instances that declare none, in camera space.
    pub bounds: &'a [(u32, f32)],
}

impl DeviceRenderer {
    /// Grids are counted of this from now on.
    pub(crate) fn set_view(&mut self, view: &CountedView<'_>) -> Result<(), GpuError> {
        let frame_record = Frame { sampled_px: view.sampled_px, ..self.picture.world.frame };
        self.device.upload(self.shared.frame.frame, &[FrameBuffer { frame_record }])?;
        self.declare_bounds(view.bounds)
    }

    /// Returns how far displacement has moved the vertices of each instance so far, in camera space.
    pub(crate) fn displaced(&mut self) -> Result<Vec<f32>, GpuError> {
        let displaced_by = self.device.read(self.shared.frame.displaced_by)?;
        Ok(displaced_by.into_iter().map(f32::from_bits).collect())
    }

    /// Declares displacement bounds, in camera space, of some instances.
    pub(crate) fn declare_bounds(&mut self, bounds: &[(u32, f32)]) -> Result<(), GpuError> {
        for &(instance, displacement_bound) in bounds {
            let record = Instance { displacement_bound, ..self.picture.world.instances[instance as usize] };
            let at = u64::from(instance);
            self.device.upload(self.shared.frame.instances.part(at..at + 1), &[record])?;
        }
        Ok(())
    }

    /// Displaces everything in some pixels once and returns how far each instance's vertices moved in camera space.
    pub(crate) fn measure_displacement(
        &mut self,
        grids: &Arc<PictureGrids>,
        pixels: Region,
    ) -> Result<Vec<f32>, DeviceError> {
        self.begin_picture(grids)?;
        self.shared.pipeline = Pipeline::MEASURE;
        let result = self.measure_regions(pixels);
        self.shared.pipeline = self.picture.pipeline_of(self.device.info());
        self.end_picture();
        result?;
        Ok(self.displaced()?)
    }

    fn measure_regions(&mut self, pixels: Region) -> Result<(), DeviceError> {
        let mut regions = vec![pixels];
        while let Some(region) = regions.pop() {
            if self.is_too_large(region) || self.measure_region(region)? {
                regions.extend(region.halves().into_iter().flatten());
            }
        }
        Ok(())
    }

    /// Whether a region has more subpixels than there is room for.
    fn is_too_large(&self, region: Region) -> bool {
        let subpixels = |samples: u64| self.region_pixels(region).count() * samples;
        self.region_capacity().is_some_and(|capacity| subpixels(capacity.pixel_samples) > capacity.subpixels)
    }

    /// Displaces what is in a region, and returns whether it selects more grids than there is room for.
    fn measure_region(&mut self, region: Region) -> Result<bool, DeviceError> {
        self.begin(region)?;
        loop {
            if self.picture.interrupt.is_raised() {
                let device = self.device.title().clone();
                return Err(GpuError::Interrupted { device, doing: "measuring displacements".to_owned() }.into());
            }
            match self.poll(self.device.timeout())? {
                RegionPoll::Finished(..) => return Ok(false),
                RegionPoll::TooLarge(_) => return Ok(true),
                RegionPoll::Advanced => {}
                RegionPoll::Waiting => return Err(self.timed_out()),
            }
        }
    }

    fn timed_out(&self) -> DeviceError {
        let device = self.device.title().clone();
        GpuError::Timeout { device, waited_for: self.waiting_for(), timeout: self.device.timeout() }.into()
    }
}
