//! Recording of loads: what happens to the slots of one load when it is hidden, sampled or shaded.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{ActiveRegion, FrameSlices, GeometrySources, PageSlices};
use crate::pipeline::composite::Composition;
use crate::pipeline::dice::{DiceOutput, Piece};
use crate::pipeline::displace::{self, KeptLoops, LoopRun, LoopState, ProgramKind, ProgramPlaces, ProgramRun};
use crate::pipeline::filter::FilteredRecord;
use crate::pipeline::fuse::DicedKind;
use crate::pipeline::hide::{self, HidingForm, KeyedPositions, SlotSource};
use crate::pipeline::kernels::constants::{CHANNEL_COVERAGE, CHANNEL_PARAMETERS, CHANNEL_POSITION, SLOT_LOG2_MAX};
use crate::pipeline::look::{HideBin, Interpolation, ShadingKernel};
use crate::pipeline::plan::{AssignBin, Pipeline, PipelineStage, Process};
use crate::pipeline::recording::{Recording, Slice};
use crate::pipeline::sample::{self, Slab};
use crate::pipeline::select::DepthBuckets;
use crate::pipeline::shade::{self, PieceColours, ShadeLayout};
use crate::pipeline::world::DrawnWorld;
use crate::pipeline::{KernelVariants, dice};
use crate::render::region::layers::DeepSettings;
use crate::render::region::loads::{BinCost, Load, LoadPiece, LoopKind};
use crate::render::resident::geometry_pages::GeometryPages;
use crate::render::resident::grid_pages::GridPages;
use crate::render::resident::texture_tiles::TextureTiles;
use crate::scene::{DepthFilter, Filter};
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
    pub widest_filter: Filter,
    /// The records of finished pixels.
    pub filtered: Arc<[FilteredRecord]>,
    /// The division's depth filter, when a display asks for depth.
    pub depth_filter: Option<DepthFilter>,
    /// How variables are composited.
    pub composition: Composition,
    /// How the light at each depth is kept, where a display asks for it.
    pub deep: Option<DeepSettings>,
    /// Which kernels turned out to have long loops, by number.
    pub long_loops: Vec<bool>,
    /// Tiles of textures, where programs look them up.
    pub textures: Option<TextureTiles>,
}

/// Loop trips of a program whose loops are not known to be long. More than nearly all shaders make, and few enough for
/// a submission of as many vertices as the first ones have.
pub(crate) const FIRST_TRIPS: u32 = 4096;

/// A stage of a load, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageRun {
    pub stage: PipelineStage,
    pub part: StagePart,
}

/// How the loops of a program run, see [`StagePart::Program`], and whether it only names tiles.
#[derive(Clone, Copy, Debug)]
struct ProgramLoops {
    trips: u32,
    resume: bool,
    restore: bool,
    names_only: bool,
}

/// Loops that are not known to be long.
const FIRST_LOOPS: ProgramLoops = ProgramLoops { trips: FIRST_TRIPS, resume: false, restore: false, names_only: false };

/// A part of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StagePart {
    /// All of it.
    Whole,
    /// Its program, whose loops make at most so many trips, or go on: from where they were, or from where the last run
    /// began.
    Program { trips: u32, resume: bool, restore: bool },
    /// The demand slice of its program, which names the tiles of its textures.
    Names,
    /// What is done with the program's results.
    Results,
}

impl StagePart {
    /// How the program's loops run, if the program runs.
    fn program(self) -> Option<ProgramLoops> {
        match self {
            Self::Whole => Some(FIRST_LOOPS),
            Self::Names => Some(ProgramLoops { names_only: true, ..FIRST_LOOPS }),
            Self::Program { trips, resume, restore } => {
                Some(ProgramLoops { trips, resume, restore, names_only: false })
            }
            Self::Results => None,
        }
    }

    fn has_results(self) -> bool {
        matches!(self, Self::Whole | Self::Results)
    }
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
    pub stages: &'a [StageRun],
    /// The depths that take part.
    pub slab: Slab,
    /// The places of the colour store that the round fills.
    pub places: Range<u32>,
    /// Whether the load is the last of its depth batch.
    pub ends_batch: bool,
}

/// Where a program whose input channels begin at `input` expects P at the motion's second key, if it reads dPdtime.
fn next_position(kernel: Option<&ShadingKernel>, piece: &Piece, input: u32) -> Option<u32> {
    Some(input + (kernel?.velocity_channel? + 1) * piece.vertices())
}

/// Channels for the saved loops of a program, twice where it may have to be run again.
fn saved_channels(kernel: &ShadingKernel) -> u32 {
    let channels = kernel.resumable.as_ref().map_or(0, |resumable| resumable.state_channels);
    if kernel.uses_textures { 2 * channels } else { channels }
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
            .map_or((0, 0), |kernel| (kernel.input_channels + kernel.output_channels, kernel.uniform_records));
        let vertex = vertex + self.key_channels(bin) + self.state_channels(bin.displace);
        BinCost { vertex, slot, page: bin.page, loops: self.loops(bin.displace) }
    }

    /// Channels of positions at the keys of a bin's motion, besides those of its displacement program.
    fn key_channels(&self, bin: &HideBin) -> u32 {
        if bin.displace.is_some() && bin.keys == 1 { 0 } else { bin.keys }
    }

    /// What shading a bin needs.
    pub(crate) fn shade_cost(&self, bin: usize) -> BinCost {
        let bin = &self.drawn.shade_bins[bin];
        let (vertex, slot) = ShadeLayout::cost(self.kernel(bin.displace), self.kernel(bin.shade), bin);
        let vertex = vertex + self.state_channels(bin.displace) + self.state_channels(bin.shade);
        BinCost { vertex, slot, page: bin.page, loops: self.loops(bin.displace).max(self.loops(bin.shade)) }
    }

    /// What is known of the loops of a program.
    pub(crate) fn loops(&self, number: Option<usize>) -> LoopKind {
        let Some(number) = number else { return LoopKind::Short };
        let kernel = &self.kernels[number];
        match (kernel.resumable.is_some(), self.long_loops[number]) {
            (true, true) => LoopKind::Long,
            (true, false) => LoopKind::Counted,
            _ if kernel.uses_textures => LoopKind::Counted,
            _ => LoopKind::Short,
        }
    }

    /// The programs of a bin: displacement, then colour.
    pub(crate) fn programs(&self, bin: usize, shades: bool) -> [Option<usize>; 2] {
        match shades {
            true => [self.drawn.shade_bins[bin].displace, self.drawn.shade_bins[bin].shade],
            false => [self.drawn.hide_bins[bin].displace, None],
        }
    }

    /// Whether a program can name the tiles of its textures before it runs.
    pub(crate) fn names_tiles(&self, number: Option<usize>) -> bool {
        self.kernel(number).is_some_and(|kernel| kernel.demand.is_some())
    }

    /// Channels in which a program saves its loops: none until they turn out to be long.
    fn state_channels(&self, number: Option<usize>) -> u32 {
        self.kernel(number.filter(|&number| self.long_loops[number])).map_or(0, saved_channels)
    }

    /// How the loops of a program run that saves them from `base` on, if it saves them, for so many vertices.
    fn loop_run(&self, number: Option<usize>, base: u32, vertices: u32, loops: ProgramLoops) -> LoopRun {
        let ProgramLoops { trips, resume, restore, names_only } = loops;
        let long = self.loops(number) == LoopKind::Long && !names_only;
        let state = |kernel: &ShadingKernel| {
            let records = kernel.resumable.as_ref().map_or(0, |resumable| resumable.state_channels) * vertices;
            let kept = kernel.uses_textures.then_some(KeptLoops { base: base + records, records, restore });
            LoopState { base, resume, kept }
        };
        LoopRun { trips, saved: self.kernel(number).filter(|_| long).map(state), names_only }
    }

    /// Records that the largest slot of any bin takes up, with all loops saved.
    pub(crate) fn slot_records_max(&self) -> u64 {
        let state = |number: Option<usize>| u64::from(self.kernel(number).map_or(0, saved_channels));
        let records = |cost: BinCost, programs: [Option<usize>; 2]| {
            let saved: u64 = programs.map(state).iter().sum();
            ((u64::from(cost.vertex) + saved) << SLOT_LOG2_MAX)
                + u64::from(cost.slot + dice::ListRecords::of(SLOT_LOG2_MAX).all())
        };
        let hide = (0..self.drawn.hide_bins.len()).map(|bin| records(self.hide_cost(bin), self.programs(bin, false)));
        let shade = (0..self.drawn.shade_bins.len()).map(|bin| records(self.shade_cost(bin), self.programs(bin, true)));
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
                    Process::Displace if shades => self.record_shade_displace(recording, region, piece, *sources, part),
                    Process::Displace => self.record_displace(recording, region, piece, *sources, part),
                    Process::Shade => {
                        self.record_colours(recording, region, piece, *sources, part);
                        if part.has_results() {
                            self.record_pack(recording, region, piece, job.places.clone());
                        }
                    }
                    Process::Sample => {
                        let positions = self.hidden_positions(piece);
                        let division = self.pipeline.division();
                        sample::record_piece(recording, *sources, region, job.slab, &piece.piece, positions, division);
                    }
                    _ if self.dices_when_hidden(region, piece) => {
                        let diced = self.diced_kind(piece);
                        hide::record_fused(recording, *sources, region, &piece.piece, diced);
                    }
                    _ => {
                        let positions = self.hidden_positions(piece);
                        let form = HidingForm { division: self.pipeline.division(), variants: self.variants };
                        hide::record_piece(recording, *sources, region, &piece.piece, positions, form);
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
                    false if self.dices_when_hidden(region, piece) => {}
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

    /// Whether a piece is diced by the kernel that hides it.
    fn dices_when_hidden(&self, region: &ActiveRegion, piece: &LoadPiece) -> bool {
        let bin = &self.drawn.hide_bins[piece.bin];
        let (positions, division) = (self.hidden_positions(piece), self.pipeline.division());
        !bin.translucent && bin.displace.is_none() && hide::dices_itself(&self.frame, region, positions, division)
    }

    fn diced_kind(&self, piece: &LoadPiece) -> DicedKind {
        let kind = self.drawn.hide_bins[piece.bin].kind;
        DicedKind { kind, full: self.drawn.full.has(kind) }
    }

    fn record_hide_dice(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
    ) {
        let bin = &self.drawn.hide_bins[piece.bin];
        let mut record = |base: u32, channels: u32, key: Option<u32>| {
            let output = DiceOutput { base, channels, key, full: self.drawn.full };
            dice::record(recording, sources, &region.slices, bin.kind, &piece.piece, output);
        };
        if let Some(kernel) = self.kernel(bin.displace) {
            record(piece.piece.base, kernel.geometry_channels | CHANNEL_PARAMETERS, None);
        } else if bin.keys == 1 {
            record(piece.piece.base, CHANNEL_POSITION, None);
        }
        if bin.keys > 1 {
            if let Some(base) = next_position(self.kernel(bin.displace), &piece.piece, piece.piece.base) {
                record(base, CHANNEL_POSITION, Some(1));
            }
            let base = self.hidden_positions(piece).base;
            (0..bin.keys).for_each(|key| record(base + key * piece.piece.vertices(), CHANNEL_POSITION, Some(key)));
        }
    }

    /// Where the displaced positions of a piece at shutter open begin.
    fn displaced_base(&self, piece: &LoadPiece) -> u32 {
        let displace = self.kernel(self.drawn.hide_bins[piece.bin].displace);
        piece.piece.base + displace.map_or(0, |kernel| kernel.input_channels * piece.piece.vertices())
    }

    /// Where the final positions of a piece to be hidden are: of displaced ones that move behind the program's outputs.
    fn hidden_positions(&self, piece: &LoadPiece) -> KeyedPositions {
        let bin = &self.drawn.hide_bins[piece.bin];
        let outputs = self.kernel(bin.displace).filter(|_| bin.keys > 1).map_or(0, |kernel| kernel.output_channels);
        let base = self.displaced_base(piece) + outputs * piece.piece.vertices();
        KeyedPositions { base, keys: bin.keys, trimmed: bin.trimmed }
    }

    fn record_displace(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
        part: StagePart,
    ) {
        let bin = &self.drawn.hide_bins[piece.bin];
        let Some(kernel) = self.kernel(bin.displace) else { return };
        let (input_base, output_base) = (piece.piece.base, self.displaced_base(piece));
        let channels = kernel.output_channels + self.key_channels(bin);
        let uniform_base = output_base + channels * piece.piece.vertices();
        let places = ProgramPlaces { input_base, undisplaced_base: input_base, output_base, uniform_base };
        let slices = &region.slices;
        if let Some(trips) = part.program() {
            let state = uniform_base + kernel.uniform_records * piece.piece.slot_count;
            let loops = self.loop_run(bin.displace, state, piece.piece.vertices(), trips);
            let (kind, primvars) = (ProgramKind::Displacement, bin.displace_primvars);
            let run = ProgramRun { kind, kernel, primitives: bin.kind, primvars, places, loops };
            displace::record_program(recording, sources, slices, &piece.piece, &run);
        }
        if part.has_results() {
            displace::record_measure(recording, &self.frame, slices, &piece.piece, input_base, output_base);
            if bin.keys > 1 {
                let (bases, positions) = ([input_base, output_base], self.hidden_positions(piece));
                displace::record_carry(recording, &self.frame, slices, &piece.piece, bases, positions);
            }
        }
    }

    fn layout(&self, piece: &LoadPiece) -> (Option<&ShadingKernel>, Option<&ShadingKernel>, ShadeLayout) {
        let bin = &self.drawn.shade_bins[piece.bin];
        let (displace, shade) = (self.kernel(bin.displace), self.kernel(bin.shade));
        (displace, shade, ShadeLayout::new(&piece.piece, displace, shade, bin))
    }

    fn record_shade_dice(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
    ) {
        let (displace, shade, layout) = self.layout(piece);
        let bin = &self.drawn.shade_bins[piece.bin];
        let mut record = |base: u32, channels: u32, key: Option<u32>| {
            let output = DiceOutput { base, channels, key, full: self.drawn.full };
            dice::record(recording, sources, &region.slices, bin.kind, &piece.piece, output);
        };
        if let Some(base) = layout.coverage {
            record(base, CHANNEL_COVERAGE, None);
        }
        for key in 0..bin.key_channels() {
            record(layout.keys + key * piece.piece.vertices(), CHANNEL_POSITION, Some(key));
        }
        let mut record_at = |base: u32, channels: u32, key: Option<u32>| {
            if channels != 0 {
                record(base, channels | CHANNEL_PARAMETERS, key);
            }
        };
        for (kernel, input) in [(displace, layout.displace_input), (shade, layout.input)] {
            if let Some(base) = next_position(kernel, &piece.piece, input).filter(|_| self.drawn.moves(bin.kind)) {
                record_at(base, CHANNEL_POSITION, Some(1));
            }
        }
        let mut record = |base: u32, channels: u32| record_at(base, channels, None);
        // Interpolated colours need the vertices' positions, unless they have those at keys.
        let needs_positions = self.drawn.interpolation == Interpolation::Smooth || bin.keys == 1;
        let positions = if needs_positions { CHANNEL_POSITION } else { 0 };
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
        part: StagePart,
    ) {
        let (Some(kernel), _, layout) = self.layout(piece) else { return };
        let (bin, slices) = (&self.drawn.shade_bins[piece.bin], &region.slices);
        let (input_base, output_base) = (layout.displace_input, layout.input);
        if let Some(trips) = part.program() {
            let uniform_base = layout.displace_uniform;
            let places = ProgramPlaces { input_base, undisplaced_base: input_base, output_base, uniform_base };
            let loops = self.loop_run(bin.displace, piece.piece.base + layout.records, piece.piece.vertices(), trips);
            let (kind, primvars) = (ProgramKind::Displacement, bin.displace_primvars);
            let run = ProgramRun { kind, kernel, primitives: bin.kind, primvars, places, loops };
            displace::record_program(recording, sources, slices, &piece.piece, &run);
        }
        if part.has_results() && bin.key_channels() > 0 {
            let positions = KeyedPositions { base: layout.keys, keys: bin.keys, trimmed: false };
            displace::record_carry(recording, &self.frame, slices, &piece.piece, [input_base, output_base], positions);
        }
    }

    /// Appends the colour program of a piece.
    fn record_colours(
        &self,
        recording: &mut Recording,
        region: &ActiveRegion,
        piece: &LoadPiece,
        sources: GeometrySources<'_>,
        part: StagePart,
    ) {
        let ((_, Some(kernel), layout), Some(loops)) = (self.layout(piece), part.program()) else { return };
        let bin = &self.drawn.shade_bins[piece.bin];
        let displacement = self.state_channels(bin.displace) * piece.piece.vertices();
        let state = piece.piece.base + layout.records + displacement;
        let loops = self.loop_run(bin.shade, state, piece.piece.vertices(), loops);
        let places = ProgramPlaces {
            input_base: layout.input,
            undisplaced_base: if bin.displace.is_some() { layout.displace_input } else { layout.input },
            output_base: layout.output,
            uniform_base: layout.uniform,
        };
        let (kind, primvars) = (ProgramKind::Colour, bin.shade_primvars);
        let run = ProgramRun { kind, kernel, primitives: bin.kind, primvars, places, loops };
        displace::record_program(recording, sources, &region.slices, &piece.piece, &run);
    }

    /// Appends the keeping of a piece's visible colours.
    fn record_pack(&self, recording: &mut Recording, region: &ActiveRegion, piece: &LoadPiece, places: Range<u32>) {
        let (_, kernel, layout) = self.layout(piece);
        let position_keys = self.drawn.shade_bins[piece.bin].keys;
        let position_base = if position_keys > 1 { layout.keys } else { layout.input };
        let (output_base, coverage_base) = (layout.output, layout.coverage);
        let colours = PieceColours { kernel, position_base, position_keys, output_base, coverage_base, places };
        shade::record_pack(recording, &self.frame, region, &piece.piece, &colours);
    }
}
