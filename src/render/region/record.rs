//! Recording of loads: each stage that a load goes through appends what its descriptor says.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{ActiveRegion, GeometrySources};
use crate::pipeline::hidden::HidingForm;
use crate::pipeline::plan::{AssignBin, PipelineStage, Process};
use crate::pipeline::recording::Recording;
use crate::pipeline::slab::Slab;
use crate::pipeline::stage::{Execution, LoadInput, LoadedPiece, StagePart};
use crate::render::region::device_world::DeviceWorld;
use crate::render::region::loads::Load;
use std::ops::Range;

/// A stage of a load, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageRun {
    pub stage: PipelineStage,
    pub part: StagePart,
}

/// Returns an empty recording of one of a region's steps, labelled with the step and the region's pixels.
pub(crate) fn empty_recording(step: &str, region: &ActiveRegion) -> Recording {
    Recording::new(format!("{step} {}", region.pixels.inside))
}

/// A load, and what its stages need.
#[derive(Clone, Debug)]
pub(crate) struct LoadJob<'a> {
    pub load: &'a Load,
    /// The stages that it goes through.
    pub stages: &'a [StageRun],
    /// The depths that take part.
    pub slab: Slab,
    /// The places of the colour store that the round fills.
    pub places: Range<u32>,
    /// Whether the load is the last of its depth batch.
    pub ends_batch: bool,
    /// See [`LoadInput::missed_passes`].
    pub missed_passes: Option<&'a [u32]>,
}

impl DeviceWorld {
    /// Appends the stages of a load.
    pub(crate) fn record_load(
        &mut self,
        device: &mut Device,
        recording: &mut Recording,
        region: &ActiveRegion,
        job: &LoadJob<'_>,
    ) -> Result<(), GpuError> {
        // They stay resident while the recording grows, see `Loads::take`.
        let mut pages = Vec::with_capacity(job.load.pieces.len());
        for piece in &job.load.pieces {
            pages.push(self.pages.make_resident(device, piece.page)?);
        }
        let loaded = job.load.pieces.iter().zip(pages).map(|(piece, page)| {
            let sources = GeometrySources { frame: &self.frame, page };
            LoadedPiece { sublist: piece.sublist, piece: piece.piece, sources }
        });
        let pieces: Vec<LoadedPiece<'_>> = loaded.collect();
        for run in job.stages {
            self.record_stage(recording, region, job, *run, &pieces);
        }
        Ok(())
    }

    fn record_stage(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        job: &LoadJob<'_>,
        StageRun { stage, part }: StageRun,
        pieces: &[LoadedPiece<'_>],
    ) {
        let descriptor = stage.process.descriptor();
        let Execution::Load(load_stage) = descriptor.run else { return };
        let input = LoadInput {
            world: &self.drawn,
            programs: self.programs(),
            frame: &self.frame,
            region,
            form: HidingForm { division: self.pipeline.division(), variants: self.settings.variants },
            culls: self.pipeline.has(Process::RenewBlocks),
            shades: stage.assign_bin == AssignBin::Shading,
            part,
            first: job.load.first,
            slab: job.slab,
            places: job.places.clone(),
            ends_batch: job.ends_batch,
            pieces,
            missed_passes: job.missed_passes,
        };
        if !(load_stage.is_idle)(&input) {
            recording.stage(descriptor.stage, |recording| (load_stage.record)(recording, &input));
        }
    }
}
