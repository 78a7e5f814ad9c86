//! The light that reaches each depth of a region's pixels, for deep shadow maps: made of the layers that samples list,
//! slab by slab, and of the opaque surfaces behind them.
//!
//! A sample's light is multiplied front to back as compositing does it, and ends where that stops. So it does not
//! matter how depth is cut into slabs, nor in which order layers are listed.

use crate::deep::{Visibility, VisibilityBuilder, whole_light};
use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::ActiveRegion;
use crate::pipeline::kernels::constants::KEY_EMPTY;
use crate::pipeline::kernels::records::{Listed, ListedLayer};
use crate::pipeline::sample::Slab;
use crate::render::region::chain::Chain;

/// What is known so far of the light in a region.
#[derive(Debug, Default)]
pub(super) struct RegionLight {
    /// Layers of the slab at work.
    listed: Vec<ListedLayer>,
    /// Whether the last submission listed some.
    pub(super) listing: bool,
    /// The pixels that the region delivers, once the first slab is done.
    pixels: Vec<VisibilityBuilder>,
    /// What is left of the light of each of their samples.
    through: Vec<[f32; 3]>,
    /// The depth keys of the sampled pixels.
    keys: Vec<u64>,
}

/// How a picture's deep shadow map is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeepSettings {
    /// The largest error of the light.
    pub tolerance: f32,
    /// The opacity beyond which nothing behind is lit.
    pub opacity_threshold: [f32; 3],
}

fn mean(light: [f32; 3]) -> f32 {
    (light[0] + light[1] + light[2]) / 3.0
}

impl RegionLight {
    /// The light behind a slab. Layers and opaque surfaces of earlier slabs are in it already.
    fn pass(&mut self, region: &ActiveRegion, slab: Slab, settings: DeepSettings) {
        let samples = region.capacity.pixel_samples;
        let inside = InsideSamples::new(region);
        if self.pixels.is_empty() {
            self.pixels = vec![VisibilityBuilder::new(samples, settings.tolerance); inside.pixels()];
            self.through = vec![[1.0; 3]; inside.pixels() * samples as usize];
        }
        let mut layers = std::mem::take(&mut self.listed);
        layers.sort_unstable_by_key(|layer| (layer.subpixel, layer.depth, layer.number));
        // (pixel, depth bits, light that is lost)
        let mut lost: Vec<(u32, u32, u64)> = Vec::new();
        for layer in &layers {
            let Some(sample) = inside.of(layer.subpixel.into()) else { continue };
            let through = &mut self.through[sample];
            if *through == [0.0; 3] {
                continue;
            }
            let before = mean(*through);
            let opacity = [layer.red, layer.green, layer.blue];
            (0..3).for_each(|i| through[i] *= 1.0 - opacity[i]);
            if (0..3).all(|i| through[i] <= 1.0 - settings.opacity_threshold[i]) {
                *through = [0.0; 3];
            }
            lost.push((
                (sample as u64 / samples) as u32,
                layer.depth,
                whole_light(before) - whole_light(mean(*through)),
            ));
        }
        for (subpixel, key) in self.keys.iter().enumerate().filter(|(_, key)| **key >= slab.low && **key < slab.high) {
            let depth = (key >> 32) as u32;
            let Some(sample) = inside.of(subpixel as u64).filter(|_| depth != KEY_EMPTY) else { continue };
            let before = mean(std::mem::take(&mut self.through[sample]));
            lost.push(((sample as u64 / samples) as u32, depth, whole_light(before)));
        }
        lost.sort_unstable();
        for (pixel, depth, lost) in lost.into_iter().filter(|(_, _, lost)| *lost > 0) {
            self.pixels[pixel as usize].lose(f32::from_bits(depth), lost);
        }
    }
}

/// Where the samples of the pixels that a region delivers are.
struct InsideSamples {
    width: u64,
    offset: [u64; 2],
    size: [u64; 2],
    samples: u64,
}

impl InsideSamples {
    fn new(region: &ActiveRegion) -> Self {
        Self {
            width: region.pixels.size()[0].into(),
            offset: region.pixels.inside_offset().map(u64::from),
            size: region.pixels.inside_size().map(u64::from),
            samples: region.capacity.pixel_samples,
        }
    }

    fn pixels(&self) -> usize {
        (self.size[0] * self.size[1]) as usize
    }

    /// The number of a sample among those inside, if it is.
    fn of(&self, subpixel: u64) -> Option<usize> {
        let (pixel, sample) = (subpixel / self.samples, subpixel % self.samples);
        let x = (pixel % self.width).checked_sub(self.offset[0]).filter(|x| *x < self.size[0])?;
        let y = (pixel / self.width).checked_sub(self.offset[1]).filter(|y| *y < self.size[1])?;
        Some(((y * self.size[0] + x) * self.samples + sample) as usize)
    }
}

impl Chain {
    /// Reads the layers that the last submission listed, which is done.
    pub(super) fn note_layers(&mut self, device: &mut Device) -> Result<(), GpuError> {
        if std::mem::take(&mut self.light.listing) {
            let slices = &self.region.slices;
            let Listed { listed } = device.read(slices.listed)?[0];
            let listed = u64::from(listed).min(self.region.capacity.layers);
            self.light.listed.extend(device.read(slices.layers.part(0..listed))?);
        }
        Ok(())
    }

    /// A slab is composited.
    pub(super) fn pass_slab(
        &mut self,
        device: &mut Device,
        slab: Slab,
        settings: DeepSettings,
    ) -> Result<(), GpuError> {
        if self.light.keys.is_empty() {
            let subpixels = self.region.subpixels();
            self.light.keys = device.read(self.region.slices.keys.part(0..subpixels))?;
        }
        self.light.pass(&self.region, slab, settings);
        Ok(())
    }

    /// The light in each pixel that the region delivers.
    pub(super) fn take_light(&mut self) -> Vec<Visibility> {
        std::mem::take(&mut self.light).pixels.into_iter().map(VisibilityBuilder::finish).collect()
    }
}
