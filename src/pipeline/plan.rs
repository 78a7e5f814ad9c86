//! Pipelines as data (Piko, Patney et al. 2015): which stages a region goes through, in which order, what bins their
//! work is cut into, and which of them share a submission. `order` below is the one place that says what follows what.
//!
//! A stage's *Process* names its kernels, its *AssignBin* how its work is cut, its *Schedule* whether it begins a
//! submission, and its *Repeat* how often it runs. [`crate::render`](mod@crate::render) builds the chain of submissions
//! of a region from a [`Pipeline`]; the kernels to be compiled follow from it too ([`super::kernels_of`]). Another
//! pipeline is another value, so that pipelines can be measured against each other with the same kernels; none of them
//! changes a pixel. A value in which a stage comes before what it needs cannot be made ([`Pipeline::new`]).

mod catalogue;
mod check;
mod process;

pub use catalogue::{CATALOGUE, Division, NamedPipeline};
pub use check::{InvalidPipeline, Requirement};
pub use process::{AssignBin, Grids, PipelineStage, Process, Repeat, Schedule};

use super::kernels::constants::BATCHES;

/// The order of stages of [`Pipeline::ANTHILL`].
const fn order() -> [PipelineStage; 39] {
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
        // Translucent grids leave entries, slab by slab of depth, which are shaded and composited front to back.
        S::once(ClearResolved, Subpixels, Begin("sample")),
        S::in_slabs(ClearEntries, Whole, Fused),
        S::in_slabs(CarrySolids, Whole, Fused),
        S::in_slabs(Dice, Depth(Translucent), Fused),
        S::in_slabs(Displace, Depth(Translucent), Fused),
        S::in_slabs(Sample, Depth(Translucent), Fused),
        S::in_slabs(ListEntries, Whole, Begin("sample")),
        S::in_slabs(ScatterEntries, Entries, Fused),
        S::in_slabs(SortEntries, Cells, Fused),
        S::in_slabs(CutSolids, Entries, Fused),
        S::in_slabs(KeepSolids, Entries, Fused),
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
/// marking of what is unseen where only what is seen bakes, and the filtering of depths where no display wants it.
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
    pub const UNBINNED: Self = Self::valid(1, &PipelineStage::without::<39, 38>(order(), Process::RenewBlocks));
    /// As [`Self::UNBINNED`], but shades everything, seen or not (RenderAnts).
    pub const SHADE_FIRST: Self = Self::valid(
        1,
        &PipelineStage::with(
            PipelineStage::without::<39, 38>(order(), Process::RenewBlocks),
            Process::Mark,
            PipelineStage::once(Process::MarkAll, AssignBin::Whole, Schedule::Begin("mark")),
        ),
    );
    /// Hides what is opaque for depths alone, and shades nothing.
    pub const DEPTHS: Self = Self::valid(BATCHES, &PipelineStage::depths(order()));
    /// Displaces everything that is displaced, only to find out how far it is moved.
    pub const MEASURE: Self = Self::valid(BATCHES, &PipelineStage::displacement(order()));
}
