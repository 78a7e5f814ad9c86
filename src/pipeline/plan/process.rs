//! What a pipeline is made of: stages, and what is declared of each.

use super::check::{InvalidPipeline, check};
use super::{Division, Pipeline};

/// What a stage computes: one kernel, or a few that are only used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Process {
    /// Nothing is selected and nothing is hidden.
    ClearSelection,
    /// Chooses the grids of a page that the region needs.
    Choose,
    /// Numbers the chosen grids of all pages.
    Rank,
    /// Copies the chosen grids of a page to their places in the region's list.
    Gather,
    /// Makes depth batches and sorts the grids into the order of hiding.
    SortForHiding,
    /// Works out when each sample is taken and through which point of the lens, if anything moves or is out of focus.
    BlurSamples,
    /// Makes slots and dices the grids in them.
    Dice,
    /// Runs displacement programs.
    Displace,
    /// Lowers the depth keys of the samples that micropolygons cover, and where the depths of pixels are midpoints the
    /// depths behind them.
    Hide,
    /// Updates the farthest depth of each 4x4-pixel block after each depth batch; only then are hidden grids and
    /// micropolygons culled.
    RenewBlocks,
    /// Clears what is composited of translucent surfaces, if there are any.
    ClearResolved,
    /// Begins a slab: it has no entries, and nothing is visible in it.
    ClearEntries,
    /// Begins a slab with the states in which the one before has left primitive solids.
    CarrySolids,
    /// Lets micropolygons leave entries in the pixels that they cover.
    Sample,
    /// Finds where each cell's list of entries begins.
    ListEntries,
    /// Puts entries into the lists of their cells.
    ScatterEntries,
    /// Sorts the lists of cells by depth.
    SortEntries,
    /// Cuts the entries of solids: only what bounds a solid is left.
    CutSolids,
    /// Drops what opaque solids hide of the entries of solids.
    KeepSolids,
    /// Marks the micropolygons that opaque samples see.
    Mark,
    /// Marks all micropolygons, seen or not.
    MarkAll,
    /// Marks one of each grid of which nothing is seen, if it bakes all the same.
    MarkUnseen,
    /// Counts and numbers the visible micropolygons of each grid.
    NumberVisible,
    /// Looks up where the colours of entries will be.
    PlaceEntries,
    /// Sorts the grids whose colours belong to this round into the order of shading.
    SortForShading,
    /// Runs colour programs and keeps the colours that are seen.
    Shade,
    /// Lists what samples see in a slab and merges it by depth, if a deep shadow map is to be written.
    ListLayers,
    /// Composites the entries of a slab.
    CompositeSlab,
    /// Composites the opaque surfaces behind them.
    CompositeOpaque,
    /// Filters samples into pixels.
    Filter,
    /// Finds the depths of pixels, if a display wants them.
    FilterDepth,
}

impl Process {
    /// The stage that it belongs to, by the name of its file, its kernel tests and its row in the statistics.
    pub const fn stage(self) -> &'static str {
        match self {
            Self::ClearSelection | Self::Choose | Self::Rank | Self::Gather | Self::SortForHiding => "select",
            Self::Dice => "dice",
            Self::Displace => "displace",
            Self::BlurSamples | Self::Hide | Self::RenewBlocks => "hide",
            Self::ClearEntries | Self::Sample | Self::ListEntries | Self::ScatterEntries => "sample",
            Self::SortEntries | Self::PlaceEntries | Self::CarrySolids | Self::CutSolids | Self::KeepSolids => "sample",
            Self::Mark | Self::MarkAll | Self::MarkUnseen => "shade",
            Self::NumberVisible | Self::SortForShading | Self::Shade => "shade",
            Self::ClearResolved | Self::ListLayers | Self::CompositeSlab | Self::CompositeOpaque => "composite",
            Self::Filter | Self::FilterDepth => "filter",
        }
    }

    /// The bins that its work can be cut into, apart from [`AssignBin::Whole`] for what does not go by grids. `None`:
    /// it cannot be cut.
    pub const fn finest_bins(self) -> Option<AssignBin> {
        match self {
            Self::Choose | Self::Gather => Some(AssignBin::Clusters),
            Self::Hide | Self::RenewBlocks => Some(AssignBin::Depth(Grids::Opaque)),
            Self::Sample => Some(AssignBin::Depth(Grids::Translucent)),
            Self::Shade => Some(AssignBin::Shading),
            Self::ClearResolved => Some(AssignBin::Subpixels),
            Self::ScatterEntries | Self::PlaceEntries | Self::CutSolids | Self::KeepSolids => Some(AssignBin::Entries),
            Self::SortEntries => Some(AssignBin::Cells),
            Self::BlurSamples | Self::Mark => Some(AssignBin::Pixels),
            Self::ListLayers | Self::CompositeSlab | Self::CompositeOpaque => Some(AssignBin::Pixels),
            Self::Filter | Self::FilterDepth => Some(AssignBin::Delivered),
            Self::ClearSelection | Self::Rank | Self::SortForHiding | Self::ClearEntries | Self::ListEntries => None,
            Self::CarrySolids => None,
            Self::MarkAll | Self::MarkUnseen | Self::NumberVisible | Self::SortForShading => None,
            Self::Dice | Self::Displace => None,
        }
    }
}

/// Which grids a stage takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grids {
    /// Those that hide.
    Opaque,
    /// Those that leave entries.
    Translucent,
    /// Those that are displaced, opaque or not.
    Displaced,
}

/// How a stage's work is assigned to bins. Bins of items are recorded as many at once as a submission should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignBin {
    /// All in one bin, which is never cut.
    Whole,
    /// Clusters of 64 grids of a page.
    Clusters,
    /// Sampled pixels.
    Pixels,
    /// The pixels that the region delivers.
    Delivered,
    /// Samples of all sampled pixels.
    Subpixels,
    /// Cells of 32 samples of a pixel.
    Cells,
    /// Translucent entries.
    Entries,
    /// Loads of grids by depth batch, nearest first; inside a batch by page, primitive kind and displacement kernel.
    Depth(Grids),
    /// Loads of grids by page, primitive kind, displacement and colour kernel: a sublist for each shading pipeline
    /// (RenderAnts, section 4).
    Shading,
}

impl AssignBin {
    /// Whether the bins are loads of grids, which all stages of a load go through before the next load begins.
    pub const fn is_loads(self) -> bool {
        matches!(self, Self::Depth(_) | Self::Shading)
    }
}

/// When a stage's bins run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// In a new submission of this name, when the host has read what the one before found.
    Begin(&'static str),
    /// In the submission of the stage before, as far as that is not too long for one; loads never share one with other
    /// stages.
    Fused,
}

/// How often a stage runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Once in a region.
    Once,
    /// Once in each slab of depth, if anything is translucent.
    Slabs,
    /// Once for each filling of the colour store.
    Rounds,
}

/// One stage of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineStage {
    /// What it computes.
    pub process: Process,
    /// Its bins.
    pub assign_bin: AssignBin,
    /// When they run.
    pub schedule: Schedule,
    /// How often it runs.
    pub repeat: Repeat,
}

impl PipelineStage {
    /// A stage that runs once.
    pub const fn once(process: Process, assign_bin: AssignBin, schedule: Schedule) -> Self {
        Self { process, assign_bin, schedule, repeat: Repeat::Once }
    }

    /// A stage that runs in each slab.
    pub const fn in_slabs(process: Process, assign_bin: AssignBin, schedule: Schedule) -> Self {
        Self { process, assign_bin, schedule, repeat: Repeat::Slabs }
    }

    /// A stage that runs in each round.
    pub const fn in_rounds(process: Process, assign_bin: AssignBin, schedule: Schedule) -> Self {
        Self { process, assign_bin, schedule, repeat: Repeat::Rounds }
    }

    /// Whether it can be left out of a submission of a world without solids.
    pub const fn is_for_solids(&self) -> bool {
        matches!(self.process, Process::CarrySolids | Process::CutSolids | Process::KeepSolids)
    }

    /// Whether it can be left out of a submission of a world without translucent surfaces.
    pub const fn is_for_translucency(&self) -> bool {
        matches!(self.repeat, Repeat::Slabs) || matches!(self.process, Process::ClearResolved)
    }

    /// Whether it can be left out of a world in which nothing moves or is out of focus.
    pub const fn is_for_blur(&self) -> bool {
        matches!(self.process, Process::BlurSamples)
    }

    /// `stages` without the one `process`.
    ///
    /// # Panics
    /// When `M` is not one less than `N`, or `process` does not occur once.
    pub(super) const fn without<const N: usize, const M: usize>(stages: [Self; N], process: Process) -> [Self; M] {
        let mut kept = [stages[0]; M];
        let (mut from, mut to) = (0, 0);
        while from < N {
            if stages[from].process as u8 != process as u8 {
                kept[to] = stages[from];
                to += 1;
            }
            from += 1;
        }
        assert!(to == M && M + 1 == N, "one stage is left out");
        kept
    }

    /// `stages` with `stage` in the place of `process`.
    pub(super) const fn with<const N: usize>(mut stages: [Self; N], process: Process, stage: Self) -> [Self; N] {
        let mut at = 0;
        while at < N {
            if stages[at].process as u8 == process as u8 {
                stages[at] = stage;
            }
            at += 1;
        }
        stages
    }

    /// Those of `stages` that come before what is translucent, then the filtering of depths.
    pub(super) const fn depths<const N: usize>(stages: [Self; N]) -> [Self; 11] {
        let mut kept = [Self::once(Process::FilterDepth, AssignBin::Delivered, Schedule::Begin("filter")); 11];
        let mut at = 0;
        while !matches!(stages[at].process, Process::ClearResolved) {
            kept[at] = stages[at];
            at += 1;
        }
        assert!(at == 10, "one is left for depths");
        kept
    }

    /// The selection of `stages`, then the dicing and displacing of what is displaced.
    pub(super) const fn displacement<const N: usize>(stages: [Self; N]) -> [Self; 7] {
        let displaced = AssignBin::Depth(Grids::Displaced);
        let dice = Self::once(Process::Dice, displaced, Schedule::Begin("hide"));
        let displace = Self::once(Process::Displace, displaced, Schedule::Fused);
        [stages[0], stages[1], stages[2], stages[3], stages[4], dice, displace]
    }
}

impl Pipeline {
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
    pub(super) const fn valid(batches: u32, stages: &'static [PipelineStage]) -> Self {
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
    pub(super) const fn in_buckets(self, px: u32) -> Self {
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

    /// Whether any of its stages computes this.
    pub fn has(&self, process: Process) -> bool {
        self.stages.iter().any(|stage| stage.process == process)
    }
}
