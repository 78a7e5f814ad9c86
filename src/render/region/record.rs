//! Recording of loads: what happens to the slots of one load when it is hidden, sampled or shaded.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{ActiveRegion, FrameSlices, GeometrySources, PageSlices};
use crate::pipeline::displace::{self, ProgramKind, ProgramPlaces, ProgramRun};
use crate::pipeline::hide::{self, SlotSource};
use crate::pipeline::kernels::constants::{CHANNEL_PARAMETERS, CHANNEL_POSITION};
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::plan::{AssignBin, Pipeline, PipelineStage, Process};
use crate::pipeline::recording::{Recording, Slice};
use crate::pipeline::sample::{self, Slab};
use crate::pipeline::select::DepthBuckets;
use crate::pipeline::shade::{self, PieceColours, ShadeLayout};
use crate::pipeline::world::DrawnWorld;
use crate::pipeline::{KernelVariants, dice};
use crate::render::region::loads::{BinCost, Load, LoadPiece};
use crate::render::resident::geometry_pages::GeometryPages;
use crate::render::resident::grid_pages::GridPages;
use crate::scene::Filter;
use std::ops::Range;
use std::sync::Arc;

/// What all regions of a world share on one device.
pub(crate) struct DeviceWorld {
    pub drawn: Arc<DrawnWorld>,
    pub kernels: Arc<[ShadingKernel]>,
    pub frame: FrameSlices,
    pub grids: GridPages,
    pub depth: DepthBuckets,
    pub pipeline: Pipeline,
    pub variants: KernelVariants,
    pub pages: GeometryPages,
    pub filter: Filter,
    /// The hider's depth filter, when a display asks for depth.
    pub depth_filter: Option<String>,
    /// Variables that hold their opacity already, by number.
    pub weighted: [u32; 2],
}

/// An empty recording of one of a region's steps, labelled with the step and the region's pixels.
pub(crate) fn empty_recording(step: &str, region: &ActiveRegion) -> Recording {
    let [x0, y0, x1, y1] = region.pixels.inside;
    Recording::new(format!("{step} [{x0}, {x1}) x [{y0}, {y1})"))
}

/// A load, and what its stages need.
#[derive(Clone, Debug)]
pub(crate) struct LoadJob<'a> {
    pub load: &'a Load,
    /// The stages that it goes through.
    pub stages: &'a [PipelineStage],
    /// The depths that take part.
    pub slab: Slab,
    /// The places of the colour store that the round fills.
    pub places: Range<u32>,
    /// Whether the load is the last of its depth batch.
    pub ends_batch: bool,
}

impl DeviceWorld {
    fn kernel(&self, number: Option<usize>) -> Option<&ShadingKernel> {
        number.map(|number| &self.kernels[number])
    }

    /// What hiding or sampling a bin needs.
    pub(crate) fn hide_cost(&self, bin: usize) -> BinCost {
        let bin = &self.drawn.hide_bins[bin];
        let (vertex, slot) = self
            .kernel(bin.displace)
            .map_or((1, 0), |kernel| (kernel.input_channels + kernel.output_channels, kernel.uniform_records));
        BinCost { vertex, slot, page: bin.page }
    }

    /// What shading a bin needs.
    pub(crate) fn shade_cost(&self, bin: usize) -> BinCost {
        let bin = &self.drawn.shade_bins[bin];
        let (vertex, slot) = ShadeLayout::cost(self.kernel(bin.displace), self.kernel(bin.shade));
        BinCost { vertex, slot, page: bin.page }
    }

    /// Records that the largest slot of any bin takes up.
    pub(crate) fn slot_records_max(&self) -> u64 {
        let records = |cost: BinCost| (u64::from(cost.vertex) << 8) + u64::from(cost.slot);
        let hide = (0..self.drawn.hide_bins.len()).map(|bin| records(self.hide_cost(bin)));
        let shade = (0..self.drawn.shade_bins.len()).map(|bin| records(self.shade_cost(bin)));
        hide.chain(shade).max().unwrap_or(256)
    }

    /// Appends the stages of a load.
    pub(crate) fn record_load(
        &mut self,
        device: &mut Device,
        recording: &mut Recording,
        region: &ActiveRegion,
        job: &LoadJob<'_>,
    ) -> Result<(), GpuError> {
        // They stay resident while the recording grows, see `Loads::take`.
        let pages = job.load.pieces.iter().map(|piece| self.pages.make_resident(device, piece.page));
        let pages: Vec<PageSlices> = pages.collect::<Result<_, _>>()?;
        let pieces: Vec<(&LoadPiece, GeometrySources<'_>)> = job
            .load
            .pieces
            .iter()
            .zip(pages)
            .map(|(piece, page)| (piece, GeometrySources { frame: &self.frame, page }))
            .collect();
        for stage in job.stages {
            self.record_stage(recording, region, job, stage, &pieces);
        }
        Ok(())
    }

    fn record_stage(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        job: &LoadJob<'_>,
        stage: &PipelineStage,
        pieces: &[(&LoadPiece, GeometrySources<'_>)],
    ) {
        let shades = stage.assign_bin == AssignBin::Shading;
        let is_displaced = |piece: &LoadPiece| match shades {
            true => self.drawn.shade_bins[piece.bin].displace.is_some(),
            false => self.drawn.hide_bins[piece.bin].displace.is_some(),
        };
        let nothing_to_do = match stage.process {
            Process::Displace => !job.load.pieces.iter().any(is_displaced),
            Process::RenewBlocks => !job.ends_batch,
            _ => false,
        };
        if nothing_to_do {
            return;
        }
        recording.stage(stage.process.stage(), |recording| {
            match stage.process {
                Process::Dice => return self.record_dice(recording, region, job, shades, pieces),
                Process::RenewBlocks => return hide::record_blocks(recording, region),
                _ => {}
            }
            for (piece, sources) in pieces {
                match stage.process {
                    Process::Displace if shades => self.record_shade_displace(recording, region, piece, *sources),
                    Process::Displace => self.record_displace(recording, region, piece, *sources),
                    Process::Shade => self.record_shade(recording, region, piece, *sources, job.places.clone()),
                    Process::Sample => {
                        let base = self.displaced_base(piece);
                        sample::record_piece(recording, &self.frame, region, job.slab, &piece.piece, base);
                    }
                    _ => {
                        let base = self.displaced_base(piece);
                        hide::record_piece(recording, &self.frame, region, &piece.piece, base);
                    }
                }
            }
        });
    }

    /// Appends the making of a load's slots and the dicing of their grids.
    fn record_dice(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        job: &LoadJob<'_>,
        shades: bool,
        pieces: &[(&LoadPiece, GeometrySources<'_>)],
    ) {
        // What is shaded is seen.
        let cull = !shades && self.pipeline.has(Process::RenewBlocks);
        let sorted = if shades { region.slices.sorted_shade } else { region.slices.sorted_hide };
        self.record_slots(recording, region, job, sorted, cull);
        recording.unordered(|recording| {
            for (piece, sources) in pieces {
                match shades {
                    true => self.record_shade_dice(recording, region, piece, *sources),
                    false => self.record_hide_dice(recording, region, piece, *sources),
                }
            }
        });
    }

    /// Appends the making of a load's slots, whose grids are taken from the order `sorted`.
    fn record_slots(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        job: &LoadJob<'_>,
        sorted: Slice<u32>,
        cull: bool,
    ) {
        let pieces: Vec<_> = job.load.pieces.iter().map(|piece| piece.piece).collect();
        hide::record_pieces(recording, &region.slices, &pieces);
        recording.unordered(|recording| {
            for piece in &pieces {
                let first = job.load.first + piece.slot_base;
                let source = SlotSource { sorted, first, cull, slab: job.slab };
                hide::record_cull(recording, &self.frame, region, piece, &source);
            }
        });
        hide::record_arm(recording, &region.slices, pieces.len());
    }

    fn record_hide_dice(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
    ) {
        let bin = &self.drawn.hide_bins[piece.bin];
        let channels = self.kernel(bin.displace).map_or(CHANNEL_POSITION, |k| k.geometry_channels | CHANNEL_PARAMETERS);
        dice::record(recording, sources, &region.slices, bin.kind, &piece.piece, piece.piece.base, channels);
    }

    /// Where the final positions of a piece to be hidden begin.
    fn displaced_base(&self, piece: &LoadPiece) -> u32 {
        let displace = self.kernel(self.drawn.hide_bins[piece.bin].displace);
        piece.piece.base + displace.map_or(0, |kernel| kernel.input_channels * piece.piece.vertices())
    }

    fn record_displace(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
    ) {
        let bin = &self.drawn.hide_bins[piece.bin];
        let Some(kernel) = self.kernel(bin.displace) else { return };
        let (input_base, output_base) = (piece.piece.base, self.displaced_base(piece));
        let uniform_base = output_base + kernel.output_channels * piece.piece.vertices();
        let places = ProgramPlaces { input_base, output_base, uniform_base };
        let run = ProgramRun { kind: ProgramKind::Displacement, kernel, primvars: bin.displace_primvars, places };
        let slices = &region.slices;
        displace::record_program(recording, sources, slices, &piece.piece, &run);
        displace::record_measure(recording, &self.frame, slices, &piece.piece, input_base, output_base);
    }

    fn layout(&self, piece: &LoadPiece) -> (Option<&ShadingKernel>, Option<&ShadingKernel>, ShadeLayout) {
        let bin = &self.drawn.shade_bins[piece.bin];
        let (displace, shade) = (self.kernel(bin.displace), self.kernel(bin.shade));
        (displace, shade, ShadeLayout::new(&piece.piece, displace, shade))
    }

    fn record_shade_dice(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
    ) {
        let (displace, shade, layout) = self.layout(piece);
        let kind = self.drawn.shade_bins[piece.bin].kind;
        let mut record = |base: u32, channels: u32| {
            if channels != 0 {
                let channels = channels | CHANNEL_PARAMETERS;
                dice::record(recording, sources, &region.slices, kind, &piece.piece, base, channels);
            }
        };
        // Interpolated colours need the vertices' positions.
        let positions = if self.drawn.smooth { CHANNEL_POSITION } else { 0 };
        let wanted = shade.map_or(0, |kernel| kernel.geometry_channels | positions);
        match displace {
            None => record(layout.input, wanted),
            Some(displace) => {
                record(layout.displace_input, displace.geometry_channels);
                // P and N come from the displacement program.
                record(layout.input, wanted & dice::CHANNEL_TANGENTS);
            }
        }
    }

    fn record_shade_displace(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
    ) {
        let (Some(kernel), _, layout) = self.layout(piece) else { return };
        let places = ProgramPlaces {
            input_base: layout.displace_input,
            output_base: layout.input,
            uniform_base: layout.displace_uniform,
        };
        let primvars = self.drawn.shade_bins[piece.bin].displace_primvars;
        let run = ProgramRun { kind: ProgramKind::Displacement, kernel, primvars, places };
        displace::record_program(recording, sources, &region.slices, &piece.piece, &run);
    }

    /// Appends the colour program of a piece and the keeping of its visible colours.
    fn record_shade(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
        places: Range<u32>,
    ) {
        let (_, shade, layout) = self.layout(piece);
        let (position_base, output_base) = (layout.input, layout.output);
        if let Some(kernel) = shade {
            let places = ProgramPlaces { input_base: layout.input, output_base, uniform_base: layout.uniform };
            let primvars = self.drawn.shade_bins[piece.bin].shade_primvars;
            let run = ProgramRun { kind: ProgramKind::Colour, kernel, primvars, places };
            displace::record_program(recording, sources, &region.slices, &piece.piece, &run);
        }
        let colours = PieceColours { kernel: shade, position_base, output_base, places };
        shade::record_pack(recording, &self.frame, region, &piece.piece, &colours);
    }
}
