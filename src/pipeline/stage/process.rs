//! The names of what stages compute, and what a pipeline says of each of its stages.

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
    /// Keeps what samples see of opaque surfaces for another drawing of the same region.
    KeepVisible,
    /// Begins a region whose samples see what was kept of it: nothing is selected, and nothing opaque is to be hidden.
    RecallVisible,
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
}
