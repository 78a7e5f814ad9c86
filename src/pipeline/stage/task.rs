//! Tasks: processes that go through items of one kind, as many at once as a submission should have.
//!
//! A task gives the same bits however it is cut: an item is gone through by one invocation, and none reads what another
//! of the same task writes, except for sums and minima that come out the same in any order.

use super::super::buffers::{ActiveRegion, FrameSlices, GridPageSlices, StageMemory};
use super::super::kept::KeptSlices;
use super::super::recording::Recording;
use super::super::slab::Slab;
use super::settings::StageSettings;
use std::ops::Range;

/// How a task is run.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The kind of work, which has a rate of its own.
    pub work: Work,
    /// The units of that work.
    pub units: fn(&TaskInput<'_>) -> Units,
    /// How work is spread over the items, where they differ much.
    pub spread: Option<WorkSpread>,
    /// How some of the items are recorded.
    pub record: RecordTask,
}

/// How some of the items of a task are recorded.
#[derive(Clone, Copy, Debug)]
pub enum RecordTask {
    /// With nothing but what the region has.
    Region(fn(&mut Recording, &TaskInput<'_>, &Range<u64>)),
    /// For each page of the list of grids that the region meets.
    Pages(PageOrder, fn(&mut Recording, &TaskInput<'_>, &GridPageSlices, &Range<u64>)),
}

/// In which order a task goes through pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOrder {
    /// As they are listed.
    Forward,
    /// In reverse, because those that were used last are most likely still resident.
    Backward,
}

/// Units of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Units {
    /// This many in all, for what cannot be cut.
    All(u64),
    /// This many for each item.
    Even(f64),
}

/// By what the work of items that differ much is known: the lists of entries of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkSpread {
    /// A unit for each cell and each entry; only where the task begins a submission.
    Sorting,
    /// A unit for each layer that there must be room for.
    Layers,
    /// A unit for each subpixel and each entry that it looks at; only where that is more than a submission should have.
    Compositing,
}

/// What a task is given.
#[derive(Clone, Copy, Debug)]
pub struct TaskInput<'a> {
    /// The region.
    pub region: &'a ActiveRegion,
    /// What the device keeps for the frame.
    pub frame: &'a FrameSlices,
    /// What all regions of the picture are given.
    pub settings: &'a StageSettings,
    /// Depth batches of a region, at most.
    pub batches: u32,
    /// Where the region stands.
    pub state: &'a TaskState,
}

impl<'a> TaskInput<'a> {
    /// What the stage works in.
    pub(in crate::pipeline) fn memory(&self) -> StageMemory<'a> {
        StageMemory { frame: self.frame, region: self.region }
    }
}

/// Where a region stands when a task begins.
#[derive(Clone, Debug)]
pub struct TaskState {
    /// At least as many grids as are selected.
    pub grids: u64,
    /// Entries of the slab at work.
    pub entries: u32,
    /// The states of solids in which the slab begins.
    pub carried: CarriedStates,
    /// The slab at work.
    pub slab: Slab,
    /// Whether nothing lies behind it.
    pub last_slab: bool,
    /// Places of the colour store that the round fills.
    pub places: Range<u32>,
    /// Whether some of the slab was composited before.
    pub again: bool,
    /// Where what its samples see is kept, if it is.
    pub kept: Option<KeptSlices>,
}

/// The states of primitives that a slab passes on to the next one: which of two lists it reads, and how many are there.
/// It writes the other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CarriedStates {
    /// The list that is read, 0 or 1.
    pub list: u32,
    /// States in it.
    pub count: u32,
}

impl CarriedStates {
    /// What the next slab reads, where this one has written `count` states.
    #[must_use]
    pub fn next(self, count: u32) -> Self {
        Self { list: 1 - self.list, count }
    }
}

/// A kind of work: each has a rate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Loads that are hidden, sampled or shaded: vertices.
    Load,
    /// Loads with programs whose loops may be long: vertices.
    LoopLoad,
    /// Loop trips of such programs, of all vertices together.
    Trips,
    /// Buffers set to one value: words.
    Fill,
    /// Prefix sums: values.
    Scan,
    /// The counting sort of a region's grids: grids and sort keys.
    Sort,
    /// A page's grids, compared with a region.
    Choose,
    /// A page's grids, of which the chosen ones are taken.
    Gather,
    /// A region's grids, whose visible micropolygons are counted and numbered.
    Number,
    /// Subpixels that are cleared.
    Clear,
    /// Entries put into the lists of their cells.
    Scatter,
    /// Entries and cells, where the lists of cells are sorted.
    SortCells,
    /// Entries that solids cut, and the entries of the same cell that each looks at.
    CutSolids,
    /// Entries whose colours' places are found.
    PlaceEntries,
    /// Layers that samples list.
    Layers,
    /// Subpixels that a slab is composited in, and the entries that they look at.
    Slab,
    /// The same after the first call, which finished an unknown part of them; the rate of the first call is used.
    SlabRest,
    /// Samples whose times and points of the lens are worked out.
    BlurSamples,
    /// Subpixels that mark what they see.
    Mark,
    /// Subpixels that opaque surfaces are composited in.
    Composite,
    /// Samples that pixels' filters visit, once for each output.
    Filter,
    /// Samples that pixels' depths are found from.
    Depth,
    /// Subpatches of a round of bound/split.
    Split,
    /// Pixels that the imager shades.
    Imager,
}

impl Work {
    /// All, in order.
    pub const ALL: [Self; 24] = [
        Self::Load,
        Self::LoopLoad,
        Self::Trips,
        Self::Fill,
        Self::Scan,
        Self::Sort,
        Self::Choose,
        Self::Gather,
        Self::Number,
        Self::Clear,
        Self::Scatter,
        Self::SortCells,
        Self::CutSolids,
        Self::PlaceEntries,
        Self::Layers,
        Self::Slab,
        Self::SlabRest,
        Self::BlurSamples,
        Self::Mark,
        Self::Composite,
        Self::Filter,
        Self::Depth,
        Self::Split,
        Self::Imager,
    ];
}
