//! One opened device at work on one picture: what it keeps in memory, from the first upload to the last free.

use crate::gpu::{Device, DeviceInfo};
use crate::pipeline::buffers::{RegionCapacity, RegionSlices};
use crate::pipeline::plan::Pipeline;
use crate::pipeline::recording::Buffer;
use crate::pipeline::stage::{DepthBuckets, StageSettings};
use crate::pipeline::textures::TextureSlices;
use crate::pipeline::{self, KernelVariants};
use crate::render::device::counters;
use crate::render::device::error::DeviceError;
use crate::render::device::frame;
use crate::render::device::memory::{free_bytes, geometry_bytes};
use crate::render::device::picture::Picture;
use crate::render::device::tracks::DeviceTracks;
use crate::render::region::chain::RegionRun;
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::pace::Pace;
use crate::render::resident::geometry_pages::{GeometryPages, PagesBytes};
use crate::render::resident::grid_pages::GridPages;
use crate::render::resident::texture_tiles::TextureTiles;
use crate::schedule::Region;
use std::sync::Arc;
use std::time::Instant;

/// One opened device at work on one picture. It counts the picture's grids (`bound_split`), measures displacements
/// without a declared bound (`measure_displacement`), divides its memory (`begin_picture`) and draws regions
/// (`regions_in_flight`).
pub(crate) struct DeviceRenderer {
    pub(super) device: Device,
    pub(super) picture: Arc<Picture>,
    /// What its regions share.
    pub(super) shared: DeviceWorld,
    pub(super) frame_buffer: Buffer,
    /// Buffers of grids and regions, from `begin_picture` on.
    pub(super) picture_buffers: Vec<Buffer>,
    /// Memory of regions, from `begin_picture` on.
    pub(super) regions: Option<RegionMemory>,
    pub(super) in_flight: Vec<RunningRegion>,
    pub(super) pace: Pace,
    pub(super) tracks: DeviceTracks,
}

/// The memory that regions in flight work in: equal parts.
pub(super) struct RegionMemory {
    /// What each part has room for.
    pub capacity: RegionCapacity,
    /// The parts.
    pub parts: Vec<RegionSlices>,
    /// Numbers of the parts in which no region works.
    pub free: Vec<usize>,
}

/// A region in flight.
pub(super) struct RunningRegion {
    pub region: Region,
    /// Number of its part of the memory.
    pub part: usize,
    pub run: RegionRun,
    pub begun: Instant,
    /// Seconds of its submissions so far, by the device's clock.
    pub device_s: f64,
}

/// Begins to compile the kernels of a picture that need no texture, and returns which variants they are, and for which
/// pipeline.
pub(crate) fn prepare_kernels(device: &Device, picture: &Picture) -> (KernelVariants, Pipeline) {
    let variants = KernelVariants { serial: device.prefers_serial_kernels() };
    let pipeline = picture.pipeline_of(device.info());
    for kernel in pipeline::kernels_of(&picture.world, &picture.kernels, &pipeline, variants, &picture.displays()) {
        device.prepare(&kernel, &[]);
    }
    let others = picture.kernels.iter().filter(|kernel| !kernel.uses_textures);
    others.flat_map(|kernel| &kernel.passes).for_each(|pass| device.prepare(&pass.kernel, &[]));
    (variants, pipeline)
}

impl DeviceRenderer {
    /// Prepares kernels and uploads what every region of a picture needs, except pages of geometry and of grids.
    pub(crate) fn new(mut device: Device, picture: Arc<Picture>, tracks: DeviceTracks) -> Result<Self, DeviceError> {
        let (variants, pipeline) = prepare_kernels(&device, &picture);
        let (frame_buffer, mut frame) = frame::upload(&mut device, &picture)?;
        let free = free_bytes(device.memory(), picture.reserve_bytes);
        let used = picture.textures.names.used.then_some(&picture.textures);
        let textures = used.map(|textures| TextureTiles::new(&mut device, textures, free)).transpose();
        let textures = textures.inspect_err(|_| device.free(frame_buffer))?;
        frame.textures = textures.as_ref().map(TextureTiles::slices);
        let constants = frame.textures.as_ref().map_or_else(Vec::new, TextureSlices::constants);
        for kernel in picture.kernels.iter().filter(|kernel| kernel.uses_textures) {
            let passes = kernel.passes.iter().map(|pass| &pass.kernel);
            passes.chain(&kernel.demand).for_each(|kernel| device.prepare(kernel, &constants));
        }
        let pages = &picture.world.pages;
        let free = free_bytes(device.memory(), picture.reserve_bytes);
        let pages_bytes = geometry_bytes(PagesBytes::of(pages), free, picture.pages_bytes_max);
        let shared = DeviceWorld {
            drawn: Arc::clone(&picture.world),
            kernels: Arc::clone(&picture.kernels),
            frame,
            grids: GridPages::default(),
            pipeline,
            pages: GeometryPages::new(Arc::clone(pages), pages_bytes),
            settings: StageSettings {
                variants,
                features: picture.features(),
                depth: DepthBuckets::new(1.0, 1.0),
                composition: picture.composition,
                filtered: Arc::clone(&picture.filtered),
                widest_filter: picture.widest_filter,
                depth_filter: picture.depth_filter,
            },
            deep: picture.deep,
            bake_memory: Arc::clone(&picture.bake_memory),
            long_loops: vec![false; picture.kernels.len()],
            textures,
        };
        Ok(Self {
            device,
            shared,
            frame_buffer,
            picture_buffers: Vec::new(),
            regions: None,
            in_flight: Vec::new(),
            pace: Pace::new(picture.perturb),
            tracks,
            picture,
        })
    }

    /// Returns the bytes of the device's limit that are free, the scene's reserve aside.
    pub(super) fn free_bytes(&self) -> u64 {
        free_bytes(self.device.memory(), self.picture.reserve_bytes)
    }

    /// Returns the samples of a pixel in x and y.
    pub(crate) fn samples(&self) -> [u32; 2] {
        self.picture.world.frame.samples
    }

    /// Returns the seconds that the device has worked since it was opened, by its own clock.
    pub(crate) fn worked_s(&self) -> f64 {
        self.device.stage_seconds().values().sum()
    }

    /// Returns what the device is.
    pub(crate) fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Draws regions with these variants of kernels from now on.
    #[cfg(test)]
    pub(crate) fn use_variants(&mut self, variants: KernelVariants) {
        self.shared.settings.variants = variants;
    }

    /// Returns the device.
    #[cfg(test)]
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Frees what [`Self::begin_picture`] allocated.
    pub(super) fn end_picture(&mut self) {
        self.shared.grids = GridPages::default();
        for buffer in self.picture_buffers.drain(..) {
            self.device.free(buffer);
        }
        self.regions = None;
    }

    /// Frees the picture's memory and returns the device.
    pub(crate) fn finish(mut self) -> Device {
        let Picture { counters, line_profile, textures, .. } = &*self.picture;
        if let (Some(slice), Some(profile)) = (self.shared.frame.counters, line_profile) {
            counters::read(&mut self.device, slice, counters, profile, textures);
        }
        self.finish_uncounted()
    }

    /// The same for what was drawn once more: what its programs have counted is left out.
    pub(crate) fn finish_uncounted(mut self) -> Device {
        self.shared.pages.free(&mut self.device);
        self.end_picture();
        self.device.free(self.frame_buffer);
        if let Some(textures) = self.shared.textures.take() {
            textures.free(&mut self.device);
        }
        self.tracks.add_submissions(&mut self.device);
        if self.picture.is_last {
            // Here this goes on beside the writing of the picture.
            self.device.give_up_blocks();
        }
        self.device
    }
}
