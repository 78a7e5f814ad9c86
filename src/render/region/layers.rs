//! The light that reaches each depth of a region's pixels, for deep shadow maps. The device multiplies the layers of
//! samples and adds them up for each pixel, slab by slab (glsl/layers.comp, glsl/merge_layers.comp); here the finished
//! sums of pixels become functions of few knots.
//!
//! A sample's light is multiplied front to back as compositing does it, and ends where that stops or at an opaque
//! surface; of each slab, devices add up what is lost there. So it does not matter how depth is cut into slabs.

use crate::deep::{Visibility, VisibilityBuilder};
use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::ActiveRegion;
use crate::pipeline::kernels::records::Layer;
use crate::pipeline::layers::merged;
use crate::render::region::cell_lists::ListedLayers;

/// What is known so far of the light in a region.
#[derive(Debug, Default)]
pub(super) struct RegionLight {
    /// The pixels that the region delivers, once some layers are read.
    pixels: Vec<VisibilityBuilder>,
}

/// How a picture's deep shadow map is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeepSettings {
    /// The largest error of the light.
    pub tolerance: f32,
}

impl RegionLight {
    /// The functions so far of the pixels that a region delivers.
    fn pixels(&mut self, region: &ActiveRegion, settings: DeepSettings) -> &mut [VisibilityBuilder] {
        if self.pixels.is_empty() {
            let count = region.pixels.inside.pixel_count() as usize;
            self.pixels = vec![VisibilityBuilder::new(region.capacity.pixel_samples, settings.tolerance); count];
        }
        &mut self.pixels
    }
}

/// The number of a sampled pixel among those that the region delivers, if it is.
fn delivered(region: &ActiveRegion, pixel: u64) -> Option<usize> {
    let width = u64::from(region.pixels.size()[0]);
    let (offset, size) = (region.pixels.inside_offset().map(u64::from), region.pixels.inside.size().map(u64::from));
    let x = (pixel % width).checked_sub(offset[0]).filter(|x| *x < size[0])?;
    let y = (pixel / width).checked_sub(offset[1]).filter(|y| *y < size[1])?;
    Some((y * size[0] + x) as usize)
}

impl RegionLight {
    /// Reads the layers that the last submission listed, which is done.
    pub(super) fn note(
        &mut self,
        device: &mut Device,
        region: &ActiveRegion,
        settings: DeepSettings,
        listed: &ListedLayers,
    ) -> Result<(), GpuError> {
        let counts = device.read(region.slices.pixel_layers.part(listed.pixels.clone()))?;
        let layers = device.read(merged(region).part(listed.rooms_of(listed.pixels.clone())))?;
        let light = self.pixels(region, settings);
        for (pixel, count) in listed.pixels.clone().zip(counts) {
            let Some(inside) = delivered(region, pixel) else { continue };
            let first = listed.rooms_of(listed.pixels.start..pixel).end as usize;
            let layers = layers[first..first + count as usize].iter();
            light[inside].lose(layers.map(|&Layer { depth, lost_low, lost_high }| {
                (f32::from_bits(depth), u64::from(lost_high) << 32 | u64::from(lost_low))
            }));
        }
        Ok(())
    }

    /// The light in each pixel that the region delivers.
    pub(super) fn finish(self) -> Vec<Visibility> {
        self.pixels.into_iter().map(VisibilityBuilder::finish).collect()
    }
}
