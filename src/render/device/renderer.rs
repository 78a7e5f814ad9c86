//! One opened device at work on one picture: what it keeps in memory, from the first upload to the last free.

use crate::gpu::{Device, DeviceInfo, DeviceKind, GpuError};
use crate::pipeline::buffers::{FrameSlices, RegionCapacity, RegionSlices};
use crate::pipeline::plan::Pipeline;
use crate::pipeline::recording::Buffer;
use crate::pipeline::stage::{DepthBuckets, StageSettings};
use crate::pipeline::textures::TextureSlices;
use crate::pipeline::{self, KernelVariants};
use crate::render::device::counters;
use crate::render::device::error::DeviceError;
use crate::render::device::frame;
use crate::render::device::kept::{KeptFrame, KeptOnDevice, KeptPicture, RestingParts};
use crate::render::device::memory::{Demand, free_bytes};
use crate::render::device::picture::{Keeps, Picture};
use crate::render::device::tracks::DeviceTracks;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::region::chain::RegionRun;
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::pace::Pace;
use crate::render::resident::grid_pages::GridPages;
use crate::render::resident::texture_tiles::TextureTiles;
use crate::render::resident::visibility_store::VisibilityStore;
use crate::schedule::Region;
use std::iter;
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
    /// For what the memory was divided, if it is.
    pub(super) divided: Option<DividedMemory>,
    pub(super) in_flight: Vec<RunningRegion>,
    pub(super) pace: Pace,
    pub(super) tracks: DeviceTracks,
    /// What is kept of other pictures, until its memory is needed.
    pub(super) kept: KeptOnDevice,
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

/// For what a device's memory was divided: grids, and what a picture with them asks for.
pub(super) struct DividedMemory {
    pub grids: Arc<PictureGrids>,
    pub demand: Demand,
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
    let reshading = picture.keeps_visibility().and_then(|_| pipeline.reshading());
    for pipeline in iter::once(pipeline).chain(reshading) {
        for kernel in pipeline::kernels_of(&picture.world, &picture.kernels, &pipeline, variants, &picture.displays()) {
            device.prepare(&kernel, &[]);
        }
    }
    let others = picture.kernels.iter().filter(|kernel| !kernel.uses_textures);
    others.flat_map(|kernel| &kernel.passes).for_each(|pass| device.prepare(&pass.kernel, &[]));
    (variants, pipeline)
}

/// A picture that has begun on a device.
struct Begun {
    shared: DeviceWorld,
    frame_buffer: Buffer,
    /// What is there of the picture before it, if that was kept.
    resting: Option<RestingParts>,
}

/// Prepares kernels and uploads what is not there yet.
fn begin(device: &mut Device, kept: &mut KeptOnDevice, picture: &Arc<Picture>) -> Result<Begun, GpuError> {
    let prepared = prepare_kernels(device, picture);
    let last = picture.keeps.level().and_then(|level| kept.pictures.remove(&level));
    let (last_frame, resting) = last.map(|KeptPicture { frame, resting }| (frame, resting)).unzip();
    let begun = frame::begin(device, last_frame, picture).and_then(|(frame_buffer, frame)| {
        let shared = share(device, kept, picture, frame, prepared).inspect_err(|_| device.free(frame_buffer))?;
        Ok((shared, frame_buffer))
    });
    match begun {
        Ok((shared, frame_buffer)) => Ok(Begun { shared, frame_buffer, resting }),
        Err(error) => {
            resting.into_iter().for_each(|resting| resting.free(device));
            Err(error)
        }
    }
}

/// Returns what all regions of a picture share, with the tiles and the pages that the device has kept, if they are
/// the picture's.
fn share(
    device: &mut Device,
    kept: &mut KeptOnDevice,
    picture: &Arc<Picture>,
    mut frame: FrameSlices,
    (variants, pipeline): (KernelVariants, Pipeline),
) -> Result<DeviceWorld, GpuError> {
    let used = picture.textures.names.used.then_some(&picture.textures);
    let textures = used.map(|textures| kept.tiles_of(device, textures, picture.reserve_bytes)).transpose()?;
    frame.textures = textures.as_ref().map(TextureTiles::slices);
    let constants = frame.textures.as_ref().map_or_else(Vec::new, TextureSlices::constants);
    for kernel in picture.kernels.iter().filter(|kernel| kernel.uses_textures) {
        let passes = kernel.passes.iter().map(|pass| &pass.kernel);
        passes.chain(&kernel.demand).for_each(|kernel| device.prepare(kernel, &constants));
    }
    let pages = match kept.pages_of(device, picture) {
        Ok(pages) => pages,
        Err(error) => {
            kept.tiles = textures;
            return Err(error);
        }
    };
    Ok(DeviceWorld {
        drawn: Arc::clone(&picture.world),
        kernels: Arc::clone(&picture.kernels),
        frame,
        grids: GridPages::default(),
        pipeline,
        pages,
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
        visibility: VisibilityStore::default(),
    })
}

impl DeviceRenderer {
    /// Prepares kernels and uploads what every region of a picture needs, except pages of geometry and of grids.
    pub(crate) fn new(device: Device, picture: Arc<Picture>, tracks: DeviceTracks) -> Result<Self, DeviceError> {
        Self::with_kept(device, KeptOnDevice::default(), picture, tracks)
    }

    /// The same on a device that has kept something of earlier pictures: what still holds is not uploaded again.
    pub(crate) fn with_kept(
        mut device: Device,
        mut kept: KeptOnDevice,
        picture: Arc<Picture>,
        tracks: DeviceTracks,
    ) -> Result<Self, DeviceError> {
        let mut begun = begin(&mut device, &mut kept, &picture);
        if matches!(begun, Err(GpuError::OutOfMemory { .. })) && kept.free(&mut device) {
            begun = begin(&mut device, &mut kept, &picture);
        }
        let Begun { mut shared, frame_buffer, resting } = begun.inspect_err(|_| {
            kept.free(&mut device);
        })?;
        let pace = Pace::new(picture.perturb);
        let is_edited = picture.keeps != Keeps::Nothing;
        let pace = if is_edited { pace.live(device.info().kind == DeviceKind::Cpu) } else { pace };
        let resting = resting.unwrap_or_else(|| RestingParts::none(pace));
        let RestingParts { grids, visibility, picture_buffers, regions, divided, pace } = resting;
        (shared.grids, shared.visibility) = (grids, visibility);
        Ok(Self {
            device,
            shared,
            frame_buffer,
            picture_buffers,
            regions,
            divided,
            in_flight: Vec::new(),
            pace,
            tracks,
            kept,
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

    /// Returns what samples see, and the device that keeps it.
    #[cfg(test)]
    pub(crate) fn visibility(&mut self) -> (&mut VisibilityStore, &mut Device) {
        (&mut self.shared.visibility, &mut self.device)
    }

    /// Returns the device.
    #[cfg(test)]
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Frees what [`Self::begin_picture`] allocated.
    pub(super) fn end_picture(&mut self) {
        self.shared.grids = GridPages::default();
        self.shared.visibility.free(&mut self.device);
        for buffer in self.picture_buffers.drain(..) {
            self.device.free(buffer);
        }
        (self.regions, self.divided) = (None, None);
    }

    /// Frees what is kept of other pictures; returns whether that was anything.
    pub(super) fn free_kept(&mut self) -> bool {
        self.kept.free(&mut self.device)
    }

    /// Frees the picture's memory, and what is kept of others, and returns the device.
    pub(crate) fn finish(mut self) -> Device {
        self.read_counters();
        self.finish_uncounted()
    }

    /// Reads what its programs have counted.
    fn read_counters(&mut self) {
        let Picture { counters, line_profile, textures, .. } = &*self.picture;
        if let (Some(slice), Some(profile)) = (self.shared.frame.counters, line_profile) {
            counters::read(&mut self.device, slice, counters, profile, textures);
        }
    }

    /// The same for what was drawn once more: what its programs have counted is left out.
    pub(crate) fn finish_uncounted(mut self) -> Device {
        self.free_kept();
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

    /// Returns the device, and what it keeps of the picture for the next one; nothing if the picture is not edited.
    pub(crate) fn rest(mut self) -> (Device, KeptOnDevice) {
        if self.picture.keeps == Keeps::Nothing {
            return (self.finish(), KeptOnDevice::default());
        }
        self.read_counters();
        self.tracks.add_submissions(&mut self.device);
        let mut kept = self.kept;
        if let Some(level) = self.picture.keeps.level() {
            let frame = KeptFrame { picture: self.picture, buffer: self.frame_buffer, slices: self.shared.frame };
            let resting = RestingParts {
                grids: self.shared.grids,
                visibility: self.shared.visibility,
                picture_buffers: self.picture_buffers,
                regions: self.regions,
                divided: self.divided,
                pace: self.pace,
            };
            kept.pictures.insert(level, KeptPicture { frame, resting });
        } else {
            self.shared.visibility.free(&mut self.device);
            self.picture_buffers.into_iter().chain([self.frame_buffer]).for_each(|buffer| self.device.free(buffer));
        }
        kept.pages = Some(self.shared.pages);
        if let Some(tiles) = self.shared.textures {
            kept.replace_tiles(&mut self.device, tiles);
        }
        (self.device, kept)
    }
}
