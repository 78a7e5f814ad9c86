//! Pipelines as data (Piko, Patney et al. 2015): which stages a region goes through, in which order, what bins their
//! work is cut into, and which of them share a submission. `order` below is the one place that says what follows what.
//!
//! A stage's *Process* names what it computes, its *AssignBin* how its work is cut, its *Schedule* whether it begins a
//! submission, and its *Repeat* how often it runs. What holds of a process in any pipeline is said by its descriptor,
//! in the file of its stage ([`super::stage`]). [`crate::render`](mod@crate::render) builds the chain of submissions
//! of a region from a [`Pipeline`]; the kernels to be compiled follow from it too ([`super::kernels_of`]). Another
//! pipeline is another value, so that pipelines can be measured against each other with the same kernels; none of them
//! changes a pixel. A value in which a stage comes before what it needs cannot be made ([`Pipeline::new`]).

mod catalogue;
mod check;
mod lists;

pub use super::hidden::Division;
pub use super::stage::{AssignBin, Grids, PipelineStage, Process, Repeat, Schedule};
pub use catalogue::{CATALOGUE, NamedPipeline};
pub use check::{InvalidPipeline, Requirement};

use super::kernels::constants::BATCHES;
use super::stage::PictureFeatures;
use check::check;
use lists::{depths, displacement, recalling, with, without};

/// The order of stages of [`Pipeline::ANTHILL`].
const fn order() -> [PipelineStage; 40] {
    use AssignBin::{Cells, Clusters, Delivered, Depth, Entries, Pixels, Shading, Subpixels, Whole};
    use Grids::{Opaque, Translucent};
    use PipelineStage as S;
    use Process::*;
    use Schedule::{Begin, Fused};
    [
        // The grids that the region needs, in depth batches, nearest first.
        S::once(ClearSelection, Whole, Begin("select")),
        S::once(Choose, Clusters, Fused),
        S::once(Rank, Whole, Fused),
        S::once(Gather, Clusters, Fused),
        S::once(SortForHiding, Whole, Fused),
        S::once(BlurSamples, Pixels, Fused),
        // Opaque grids lower the depth keys of samples; after each batch, what is hidden is no longer diced.
        S::once(Dice, Depth(Opaque), Begin("hide")),
        S::once(Displace, Depth(Opaque), Fused),
        S::once(Hide, Depth(Opaque), Fused),
        S::once(RenewBlocks, Depth(Opaque), Fused),
        S::once(KeepVisible, Whole, Begin("keep")),
        // Translucent grids leave entries, slab by slab of depth, which are shaded and composited front to back.
        S::once(ClearResolved, Subpixels, Begin("sample")),
        S::in_slabs(ClearEntries, Whole, Fused),
        S::in_slabs(CarrySolids, Whole, Fused),
        S::in_slabs(Dice, Depth(Translucent), Fused),
        S::in_slabs(Displace, Depth(Translucent), Fused),
        S::in_slabs(Sample, Depth(Translucent), Fused),
        S::in_slabs(ListEntries, Whole, Begin("sample")),
        S::in_slabs(ScatterEntries, Entries, Fused),
        S::in_slabs(CutSolids, Entries, Fused),
        S::in_slabs(KeepSolids, Entries, Fused),
        S::in_slabs(SortEntries, Cells, Fused),
        S::in_slabs(NumberVisible, Whole, Fused),
        S::in_slabs(PlaceEntries, Entries, Fused),
        S::in_slabs(SortForShading, Whole, Fused),
        S::in_slabs(Dice, Shading, Begin("shade")),
        S::in_slabs(Displace, Shading, Fused),
        S::in_slabs(Shade, Shading, Fused),
        S::in_slabs(ListLayers, Pixels, Begin("composite")),
        S::in_slabs(CompositeSlab, Pixels, Begin("composite")),
        // What opaque samples see is shaded, in rounds of as many colours as the store holds; so is what bakes unseen.
        S::once(Mark, Pixels, Begin("mark")),
        S::once(MarkUnseen, Whole, Fused),
        S::once(NumberVisible, Whole, Fused),
        S::in_rounds(SortForShading, Whole, Fused),
        S::in_rounds(Dice, Shading, Begin("shade")),
        S::in_rounds(Displace, Shading, Fused),
        S::in_rounds(Shade, Shading, Fused),
        S::in_rounds(CompositeOpaque, Pixels, Begin("composite")),
        S::once(Filter, Delivered, Fused),
        S::once(FilterDepth, Delivered, Fused),
    ]
}

/// A pipeline: the stages of a region in order. Stages that find nothing to do are left out: those of slabs where
/// nothing is translucent, those of solids where there are none, the times of samples where nothing is blurred, the
/// keeping of what samples see where there is no memory for it, the marking of what is unseen where only what is seen
/// bakes, and the filtering of depths where no display wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    batches: u32,
    division: Division,
    bucket_px: Option<u32>,
    stages: &'static [PipelineStage],
}

impl Pipeline {
    /// Hides first, nearest first, and shades what is seen.
    pub const ANTHILL: Self = Self::valid(BATCHES, &order());
    /// Hides everything in one batch, and culls nothing.
    pub const UNBINNED: Self = Self::valid(1, &without::<40, 39>(order(), Process::RenewBlocks));
    /// As [`Self::UNBINNED`], but shades everything, seen or not (RenderAnts). So what samples see need not be kept.
    pub const SHADE_FIRST: Self = Self::valid(
        1,
        &with(
            without::<39, 38>(without::<40, 39>(order(), Process::RenewBlocks), Process::KeepVisible),
            Process::Mark,
            PipelineStage::once(Process::MarkAll, AssignBin::Whole, Schedule::Begin("mark")),
        ),
    );
    /// Shades again what was hidden before: what samples see of opaque surfaces is recalled.
    pub const RESHADE: Self = Self::valid(BATCHES, &recalling(order()));
    /// Hides what is opaque for depths alone, and shades nothing.
    pub const DEPTHS: Self = Self::valid(BATCHES, &depths(without::<40, 39>(order(), Process::KeepVisible)));
    /// Displaces everything that is displaced, only to find out how far it is moved.
    pub const MEASURE: Self = Self::valid(BATCHES, &displacement(order()));

    /// A pipeline of these stages with at most `batches` depth batches in a region.
    ///
    /// # Errors
    /// The first stage that cannot be where it is, and why.
    pub const fn new(batches: u32, stages: &'static [PipelineStage]) -> Result<Self, InvalidPipeline> {
        match check(batches, stages) {
            Ok(()) => Ok(Self { batches, division: Division::Micropolygons, bucket_px: None, stages }),
            Err(invalid) => Err(invalid),
        }
    }

    /// The same for a constant: one that is invalid fails the build.
    const fn valid(batches: u32, stages: &'static [PipelineStage]) -> Self {
        match Self::new(batches, stages) {
            Ok(pipeline) => pipeline,
            Err(invalid) => panic!("{}", invalid.requirement.text()),
        }
    }

    /// The same with another division.
    pub const fn with_division(self, division: Division) -> Self {
        Self { division, ..self }
    }

    /// The same in regions of at most this many pixels along x and y.
    const fn in_buckets(self, px: u32) -> Self {
        Self { bucket_px: Some(px), ..self }
    }

    /// How [`Process::Hide`] and [`Process::Sample`] give micropolygons to invocations.
    pub const fn division(&self) -> Division {
        self.division
    }

    /// The pixels along x and y of the regions that a picture is cut into to begin with; `None` leaves it whole.
    pub const fn bucket_px(&self) -> Option<u32> {
        self.bucket_px
    }

    /// Depth batches of a region, at most.
    pub const fn batches(&self) -> u32 {
        self.batches
    }

    /// The stages in order.
    pub const fn stages(&self) -> &'static [PipelineStage] {
        self.stages
    }

    /// [`Self::RESHADE`] for regions that went through this one, if it keeps what their samples see.
    pub fn reshading(&self) -> Option<Self> {
        self.has(Process::KeepVisible).then_some(Self { stages: Self::RESHADE.stages, ..*self })
    }

    /// Whether any of its stages computes this.
    pub fn has(&self, process: Process) -> bool {
        self.stages.iter().any(|stage| stage.process == process)
    }

    /// Whether it finishes pixels: colours, depths or both.
    pub fn finishes(&self) -> bool {
        self.has(Process::Filter) || self.has(Process::FilterDepth)
    }
}

impl PipelineStage {
    /// Whether it finds nothing to do in a picture with these features.
    pub fn is_left_out(&self, features: &PictureFeatures) -> bool {
        let lacks = self.process.descriptor().only_with.is_some_and(|feature| !features.has(feature));
        lacks || self.repeat == Repeat::Slabs && !features.translucency
    }
}
